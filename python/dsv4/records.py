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

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ._arrays import BYTES, make_error
from ._dsv4 import Error, InvalidArgument
from ._options import (
    check_flag,
    check_int,
    check_list,
    check_name,
    check_word,
    plain_text,
    refuse,
)
from ._show import find_similar, shorten, show

# Packed elements, two per byte.
PACKED = ("f4E2M1FN", "i4")

_DATA = ("f4E2M1FN", "i4", "f8E4M3FN", "bf16", "f16", "f32")
_SCALES = ("f8E8M0FNU", "f8E4M3FN", "bf16", "f16", "f32")

# Elements of a row, and bytes between fields and after pages.
_MAX_VALUES, _MAX_BYTES = 65536, 2**20
_MAX_METADATA, _MAX_FIELDS = 64, 64


class _Field(NamedTuple):
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


class Field(_Field):
    """A field of an entry.

    `element` is 'f4E2M1FN', 'i4', 'f8E4M3FN', 'f8E8M0FNU', 'bf16', 'f16', 'f32' or, for
    metadata, 'i32'. `placement` is 'row', 'tail' or 'array'. A field with `scales` has the scales
    of that field, one `per` number of elements, 'row' (entry) or 'tensor' (cache).

    Raises:
        InvalidArgument: no record has such a field.
    """

    __slots__ = ()

    def __new__(
        cls,
        name: str,
        extent: int,
        element: str,
        placement: str = "row",
        scales: str | None = None,
        per: int | str | None = None,
        interleave: int = 1,
        at: int | None = None,
        pad: int = 0,
        high_first: bool = False,
    ) -> Field:
        made = super().__new__(
            cls,
            check_name("field.name", name),
            check_int("field.extent", extent, 1, _MAX_VALUES),
            check_word("field.element", element, dict.fromkeys((*_DATA, *_SCALES, "i32"))),
            check_word("field.placement", placement, ("row", "tail", "array")),
            None if scales is None else check_name("field.scales", scales),
            _check_per(per, scales),
            check_int("field.interleave", interleave, 1, _MAX_VALUES),
            None if at is None else check_int("field.at", at, 0, _MAX_BYTES),
            check_int("field.pad", pad, 0, _MAX_BYTES),
            check_flag("field.high_first", high_first),
        )
        _check_field(made)
        return made

    @classmethod
    def _make(cls, iterable: Iterable[Any], **unused: Any) -> Field:
        """For `_replace`, whose fields are checked, too."""
        return cls(*iterable)

    @property
    def is_data(self) -> bool:
        return self.scales is None and self.element != "i32"

    @property
    def columns(self) -> int:
        """Stored elements: two of 4 bits are one."""
        return self.extent // 2 if self.element in PACKED else self.extent

    @property
    def element_bytes(self) -> int:
        """The bytes of a stored element."""
        return 1 if self.element in PACKED else BYTES[self.element]

    @property
    def bytes(self) -> int:
        return self.columns * self.element_bytes

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


def join_names(fields: Sequence[Field]) -> str:
    """The names of fields, for a message."""
    return shorten(", ".join(each.name for each in fields))


def _check_per(per: Any, scales: Any) -> int | str | None:
    if scales is None:
        if per is not None:
            raise refuse("field.per", per, "None without 'scales'")
        return None
    if plain_text(per) is not None:
        return check_word("field.per", per, ("row", "tensor"))
    return check_int("field.per", per, 1, _MAX_VALUES)


def _check_field(field: Field) -> None:
    """What fields of a record have to be: the clauses of `#dsv4.record` about one field."""
    is_scale, bits4 = field.scales is not None, field.element in PACKED
    if is_scale and field.element not in _SCALES:
        raise refuse("field.element", field.element, f"{' or '.join(_SCALES)} for scales")
    if not is_scale and field.element not in (*_DATA, "i32"):
        raise refuse("field.element", field.element, f"{' or '.join(_DATA)}, or i32 of metadata")
    if field.element == "i32" and field.extent > _MAX_METADATA:
        raise refuse("field.extent", field.extent, f"at most {_MAX_METADATA} of metadata")
    if bits4 and field.extent % 2:
        raise refuse("field.extent", field.extent, "an even number of elements of 4 bits")
    if field.high_first and not bits4:
        raise refuse("field.high_first", True, f"False for elements of type {field.element}")
    if field.interleave != 1 and (not is_scale or field.extent % field.interleave):
        raise refuse(
            "field.interleave", field.interleave, "1, or a divisor of the extent of scales"
        )
    if field.placement == "array":
        for name, value, none in (("at", field.at, None), ("pad", field.pad, 0)):
            if value != none:
                raise refuse(f"field.{name}", value, f"{none} for a field in an array")
    elif field.per == "tensor":
        raise refuse("field.placement", field.placement, "'array' for a scale per 'tensor'")


class Record:
    """The fields of an entry, in storage order, and the bytes that a page is padded to.

    It does not change: kernels are kept for it.

    Raises:
        InvalidArgument: there is no such record.
    """

    __slots__ = ("align", "fields", "name")

    fields: tuple[Field, ...]
    align: int
    name: str

    def __init__(self, fields: Sequence[Field], align: int = 1, name: str = "") -> None:
        given = check_list("record.fields", fields)
        for each in given:
            if type(each) is not Field:
                raise refuse("record.fields", each, "dsv4.Field for each of them")
        put = object.__setattr__
        put(self, "fields", tuple(given))
        put(self, "align", check_int("record.align", align, 1, _MAX_BYTES))
        put(self, "name", "" if plain_text(name) == "" else check_name("record.name", name))
        self._check()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"'{name}' of a record cannot be set: make another record")

    def __reduce__(self) -> Any:
        return Record, (self.fields, self.align, self.name)

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
        if self.is_known:
            return f"<{self.name}>"
        fields = ", ".join(map(str, self.fields))
        return f"<[{fields}]" + (f", align {self.align}>" if self.align != 1 else ">")

    @property
    def is_known(self) -> bool:
        """Whether the compiler knows it by its name."""
        return self.name != "" and KNOWN_RECORDS.get(self.name) == self

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"'{self.name}'" if self.name else f"of {join_names(self.fields)}"

    def _check(self) -> None:
        """The clauses of `#dsv4.record` about several fields."""
        if not self.data:
            raise _refuse_record("a field of data is needed")
        if len(self.fields) > _MAX_FIELDS:
            raise _refuse_record(f"{len(self.fields)} fields, expected at most {_MAX_FIELDS}")
        if self.values > _MAX_VALUES:
            raise _refuse_record(f"{self.values} values, expected at most {_MAX_VALUES}")
        before: dict[str, tuple[Field, int]] = {}
        for each, start in self.starts():
            self._check_place(each, start, before)
            if each.scales is not None:
                _check_scales_of(each, before.get(each.scales, (None, 0))[0])
            before[each.name] = each, start

    @staticmethod
    def _check_place(field: Field, start: int, before: Mapping[str, tuple[Field, int]]) -> None:
        """That a field, which begins at a byte of its entry, does not meet others."""
        name, size = field.name, 1 if field.element in PACKED else BYTES[field.element]
        if name in before:
            raise _refuse_record(f"two fields have the name '{name}'")
        if start % size:
            raise _refuse_record(
                f"field '{name}' starts at byte {start}, expected a multiple of its {size} bytes"
            )
        for other, begin in before.values():
            if (
                field.placement == other.placement != "array"
                and start < begin + other.bytes
                and begin < start + field.bytes
            ):
                raise _refuse_record(f"fields '{other.name}' and '{name}' overlap")

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

    def starts(self) -> list[tuple[Field, int]]:
        """The fields, and the byte of its part of an entry where each begins."""
        found = []
        ends = {"row": 0, "tail": 0, "array": 0}
        for each in self.fields:
            start = ends[each.placement] if each.at is None else each.at
            found.append((each, start))
            if each.placement != "array":
                end = start + each.bytes + each.pad
                ends[each.placement] = max(ends[each.placement], end)
        return found

    def part_bytes(self, placement: str) -> int:
        return max(
            (start + each.bytes + each.pad
             for each, start in self.starts() if each.placement == placement),
            default=0,
        )  # fmt: skip

    @property
    def entry_bytes(self) -> int:
        """The bytes of an entry, wherever they are stored."""
        return (
            self.part_bytes("row")
            + self.part_bytes("tail")
            + sum(each.bytes for each in self.arrays if each.per != "tensor")
        )

    def check_page(self, page_size: int) -> None:
        """The clauses of `!dsv4.cache`: all entries are aligned, and a page is not too long."""
        row, tail = self.part_bytes("row"), self.part_bytes("tail")
        page = self.page_bytes(page_size)
        if page >= 2**31:
            raise refuse("page_size", page_size, f"pages below 2^31 bytes, and not of {page}")
        for each, start in self.starts():
            if each.placement == "array":
                continue
            is_tail = each.placement == "tail"
            strides = [page, *([tail if is_tail else row] if page_size > 1 else [])]
            size = 1 if each.element in PACKED else BYTES[each.element]
            if any(each % size for each in (page_size * row * is_tail + start, *strides)):
                raise refuse(
                    "page_size", page_size,
                    f"one with which field '{each.name}' is aligned to its {size} bytes in every "
                    f"entry (row {row}, tail {tail}, page {page} bytes)",
                )  # fmt: skip

    def page_bytes(self, page_size: int) -> int:
        """The bytes of a page of rows and tails."""
        bytes = page_size * (self.part_bytes("row") + self.part_bytes("tail"))
        return -(-bytes // self.align) * self.align

    def page_sizes_near(self, page_bytes: int) -> list[int]:
        """Numbers of entries whose pages are a little shorter and longer than `page_bytes`."""
        count = page_bytes // (self.part_bytes("row") + self.part_bytes("tail"))
        while count and self.page_bytes(count) > page_bytes:
            count -= 1
        return [each for each in (count, count + 1) if each]

    def page_size(self, page_bytes: int) -> int | None:
        """The entries of a page of `page_bytes`, or None if no number of entries has them."""
        entry = self.part_bytes("row") + self.part_bytes("tail")
        most = page_bytes // entry
        for size in range(most, max(0, most - self.align // entry - 2), -1):
            if self.page_bytes(size) == page_bytes:
                return size
        return None


def _check_scales_of(scale: Field, of: Field | None) -> None:
    if of is None or not of.is_data:
        raise _refuse_record(
            f"'{scale.name}' scales '{scale.scales}', expected a field of data before it"
        )
    groups = 1
    if isinstance(scale.per, int):
        groups, rest = divmod(of.extent, scale.per)
        if rest:
            raise _refuse_record(
                f"the group {scale.per} of scale '{scale.name}' does not divide the {of.extent} "
                f"elements of '{of.name}'"
            )
    if scale.extent != groups:
        raise _refuse_record(
            f"scale '{scale.name}' has {scale.extent} elements, expected {groups}, as many as "
            f"groups of '{of.name}'"
        )


def _refuse_record(why: str) -> Error:
    name = "record.fields"
    return make_error(InvalidArgument, f"option.{name}", name, f"'{name}': {why}")


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
        _record("v41_interleaved_528", 1,
                Field("kv", 512, "f8E4M3FN"),
                Field("kv_scale", 16, "f8E8M0FNU", "row", "kv", 32)),
        _record("v41_fp4_interleaved_288", 1,
                Field("kv", 512, "f4E2M1FN"),
                Field("kv_scale", 32, "f8E4M3FN", "row", "kv", 16)),
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
    what: str, cls: type[_Named], given: Any, all_known: Mapping[str, _Named]
) -> _Named:
    """The record or recipe of a name, or what is given itself."""
    if type(given) is cls:
        return given
    text = plain_text(given)
    known = None if text is None else all_known.get(text)
    if known is not None:
        return known
    where = f"dsv4.KNOWN_{what.upper()}S"
    if text is None:
        said = f"'{what}' is {show(given)}, expected a name of {where}, or a dsv4.{cls.__name__}"
    else:
        similar = find_similar(text, list(all_known))
        said = f"no {what} is known as {show(text)}: " + (
            f"did you mean '{similar}'?" if similar else f"{where} has their names"
        )
    raise make_error(InvalidArgument, f"{what}.unknown", what, said)


def find_record(record: str | Record) -> Record:
    """The record of a name, or the record itself."""
    return find_named("record", Record, record, KNOWN_RECORDS)
