# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of KV caches: the byte layout of one entry.

    dsv4.gather(cache, slots, record="v4_584")
    dsv4.gather(cache, slots, record=dsv4.Record([
        dsv4.Field("x", 32, "f4E2M1FN"),
        dsv4.Field("x_scale", 2, "f8E4M3FN", scales="x", per=16),
    ]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from ._arrays import BYTES, make_error
from ._dsv4 import InvalidArgument

# Packed elements, two per byte.
_PACKED = ("f4E2M1FN", "i4")

class Field(NamedTuple):
    """A field of an entry.

    `element` is 'f4E2M1FN', 'i4', 'f8E4M3FN', 'f8E8M0FNU', 'bf16', 'f16', 'f32' or, for
    metadata, 'i32'. `placement` is 'row', 'tail' or 'array'. A field with `scales` has the scales
    of that field, one `per` number of elements, 'row' (entry) or 'tensor' (cache).
    """

    name: str
    extent: int
    element: str
    placement: str = "row"
    scales: str | None = None
    per: int | str | None = None
    interleave: int = 1
    at: int | None = None
    pad: int = 0
    high_first: bool = False

    @property
    def is_data(self) -> bool:
        return self.scales is None and self.element != "i32"

    @property
    def columns(self) -> int:
        """Stored elements: two of 4 bits are one."""
        return self.extent // 2 if self.element in _PACKED else self.extent

    @property
    def bytes(self) -> int:
        return self.columns * (1 if self.element in _PACKED else BYTES[self.element])

    def __str__(self) -> str:
        text = f'<"{self.name}" : {self.extent} x {self.element} in {self.placement}'
        if self.scales is not None:
            text += f' scales "{self.scales}" per {self.per}'
        if self.interleave != 1:
            text += f" interleave {self.interleave}"
        if self.at is not None:
            text += f" at {self.at}"
        if self.pad:
            text += f" pad {self.pad}"
        return text + (" high_first>" if self.high_first else ">")


class Record:
    """The fields of an entry, in storage order, and the bytes that a page is padded to."""

    def __init__(self, fields: Sequence[Field], align: int = 1, name: str = "") -> None:
        self.fields = tuple(fields)
        self.align = align
        self.name = name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Record)
            and self.fields == other.fields
            and self.align == other.align
        )

    def __hash__(self) -> int:
        return hash((self.fields, self.align))

    def __repr__(self) -> str:
        return f"Record({str(self)!r})"

    def __str__(self) -> str:
        if self.name:
            return f"<{self.name}>"
        fields = ", ".join(map(str, self.fields))
        return f"<[{fields}]" + (f", align {self.align}>" if self.align != 1 else ">")

    @property
    def data(self) -> list[Field]:
        return [each for each in self.fields if each.is_data]

    @property
    def values(self) -> int:
        """The values of an entry: the extent of the row that a gather returns."""
        return sum(each.extent for each in self.data)

    @property
    def arrays(self) -> list[Field]:
        """The fields in arrays of their own."""
        return [each for each in self.fields if each.placement == "array"]

    @property
    def has_pages(self) -> bool:
        """Whether there are rows or tails, which are in one buffer."""
        return any(each.placement != "array" for each in self.fields)

    @property
    def stored(self) -> list[Field]:
        """What a gather of fields returns, and an append takes."""
        return [each for each in self.fields if each.per != "tensor"]

    def part_bytes(self, placement: str) -> int:
        end = 0
        for each in self.fields:
            if each.placement == placement:
                start = end if each.at is None else each.at
                end = max(end, start + each.bytes + each.pad)
        return end

    def page_bytes(self, page_size: int) -> int:
        """The bytes of a page of rows and tails."""
        bytes = page_size * (self.part_bytes("row") + self.part_bytes("tail"))
        return -(-bytes // self.align) * self.align

    def page_size(self, page_bytes: int) -> int | None:
        """The entries of a page of `page_bytes`, or None if no number of entries has them."""
        entry = self.part_bytes("row") + self.part_bytes("tail")
        most = page_bytes // entry
        for size in range(most, max(0, most - self.align // entry - 2), -1):
            if self.page_bytes(size) == page_bytes:
                return size
        return None


def _record(name: str, align: int, *fields: Field) -> Record:
    return Record(fields, align, name)


KNOWN_RECORDS: dict[str, Record] = {
    each.name: each
    for each in (
        _record("v32_656", 1,
                Field("nope", 512, "f8E4M3FN"),
                Field("nope_scale", 4, "f32", scales="nope", per=128),
                Field("rope", 64, "bf16")),
        _record("v4_584", 576,
                Field("nope", 448, "f8E4M3FN"),
                Field("rope", 64, "bf16"),
                Field("nope_scale", 7, "f8E8M0FNU", "tail", "nope", 64, pad=1)),
        _record("v41_528", 512,
                Field("kv", 512, "f8E4M3FN"),
                Field("kv_scale", 16, "f8E8M0FNU", "tail", "kv", 32)),
        _record("v41_fp4_288", 256,
                Field("kv", 512, "f4E2M1FN"),
                Field("kv_scale", 32, "f8E4M3FN", "tail", "kv", 16)),
        _record("nvfp4_384", 1,
                Field("nope", 448, "f4E2M1FN"),
                Field("rope", 64, "bf16"),
                Field("nope_scale", 28, "f8E4M3FN", "row", "nope", 16, pad=4)),
        _record("mxfp4_368", 1,
                Field("nope", 448, "f4E2M1FN"),
                Field("nope_scale", 14, "f8E8M0FNU", "row", "nope", 32, pad=2),
                Field("rope", 64, "bf16")),
        _record("int4_368", 1,
                Field("nope", 448, "i4"),
                Field("nope_scale", 14, "f8E4M3FN", "row", "nope", 32, pad=2),
                Field("rope", 64, "bf16")),
        _record("int4_384", 1,
                Field("nope", 448, "i4"),
                Field("nope_scale", 14, "f8E4M3FN", "row", "nope", 32, pad=18),
                Field("rope", 64, "bf16")),
        _record("packed_fp4_384", 1,
                Field("nope", 448, "f4E2M1FN"),
                Field("nope_scale", 28, "f8E4M3FN", "row", "nope", 16, pad=4),
                Field("rope", 64, "bf16")),
        _record("nvfp4_352", 1,
                Field("nope", 512, "f4E2M1FN"),
                Field("rope", 64, "f8E4M3FN"),
                Field("nope_scale", 32, "f8E4M3FN", "row", "nope", 16, interleave=4)),
        _record("nvfp4_432", 1,
                Field("nope", 512, "f4E2M1FN"),
                Field("nope_scale", 32, "f8E4M3FN", "row", "nope", 16),
                Field("rope", 64, "bf16"),
                Field("latent_scale", 1, "f32", "row", "nope", "row", pad=12)),
        _record("nvfp4_380", 1,
                Field("nope", 448, "f4E2M1FN"),
                Field("nope_scale", 28, "f8E4M3FN", "row", "nope", 16),
                Field("rope", 64, "bf16")),
        _record("bf16_1024", 1, Field("kv", 512, "bf16")),
        _record("fp8_512", 1,
                Field("kv", 512, "f8E4M3FN"),
                Field("kv_scale", 1, "f32", "array", "kv", "tensor")),
        _record("nvfp4_arrays_288", 1,
                Field("kv", 512, "f4E2M1FN", "array"),
                Field("kv_scale", 32, "f8E4M3FN", "array", "kv", 16),
                Field("global_scale", 1, "f32", "array", "kv", "tensor")),
        _record("seed_580", 1,
                Field("nope", 448, "f8E4M3FN", "array"),
                Field("rope", 64, "bf16", "array"),
                Field("inv_scale", 1, "f32", "array", "nope", "row")),
        _record("seed_292", 1,
                Field("kv", 512, "f4E2M1FN", "array"),
                Field("kv_scale", 32, "f8E4M3FN", "array", "kv", 16),
                Field("global_scale", 1, "f32", "array", "kv", "row")),
        _record("index_fp8_132", 1,
                Field("key", 128, "f8E4M3FN"),
                Field("key_scale", 1, "f32", "tail", "key", "row")),
        _record("index_mxfp4_68", 1,
                Field("key", 128, "f4E2M1FN"),
                Field("key_scale", 4, "f8E8M0FNU", "tail", "key", 32)),
    )
}  # fmt: skip


_Named = TypeVar("_Named")


def find_named(
    what: str, cls: type[_Named], given: str | _Named, all_known: Mapping[str, _Named]
) -> _Named:
    """The record or recipe of a name, or what is given itself."""
    if isinstance(given, cls):
        return given
    known = all_known.get(given) if isinstance(given, str) else None
    if known is None:
        raise make_error(
            InvalidArgument, f"{what}.unknown", what,
            f"no {what} is known as '{given}'; known are {', '.join(all_known)}",
        )  # fmt: skip
    return known


def find_record(record: str | Record) -> Record:
    """The record of a name, or the record itself."""
    return find_named("record", Record, record, KNOWN_RECORDS)
