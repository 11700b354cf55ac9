# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paged caches in NumPy: the bytes of each field of each entry, and what they mean."""

import numpy as np
import reference
from pairs import Arranged, arrange, decode, encode

from dsv4 import Field, Record

PAGES, SIZE = 6, 4
RECORDS = {
    "f32": Record([Field("x", 16, "f32")]),
    "fp8": Record([
        Field("nope", 32, "f8E4M3FN"), Field("rope", 16, "bf16"),
        Field("nope_scale", 2, "f8E8M0FNU", "tail", "nope", 16, pad=2),
    ], align=32),
    "arrays": Record([
        Field("nope", 32, "f8E4M3FN", "array"), Field("rope", 16, "bf16", "array"),
        Field("scale", 1, "f32", "array", "nope", "row"),
    ]),
    "fp4": Record([
        Field("x", 32, "f4E2M1FN"), Field("x_scale", 2, "f8E4M3FN", scales="x", per=16),
    ]),
}  # fmt: skip
# Of keys of an index.
KEY_RECORDS = {
    "key_fp8": Record([
        Field("key", 64, "f8E4M3FN"), Field("key_scale", 1, "f32", "tail", "key", "row"),
    ]),
    "key_mxfp4": Record([
        Field("key", 64, "f4E2M1FN"), Field("key_scale", 2, "f8E8M0FNU", scales="key", per=32),
    ]),
    "key_bf16": Record([Field("key", 64, "bf16", "array")]),
}  # fmt: skip
RECIPES = {
    "f32": None, "fp8": "deepseek_v4", "arrays": "seed", "fp4": "v41_fp4",
    "key_fp8": "vllm_index_k", "key_mxfp4": "sglang_mxfp4", "key_bf16": None,
}  # fmt: skip
STEPS = {
    "f32": 0, "fp8": 0.07, "arrays": 0.07, "fp4": 0.5, "key_fp8": 0.07, "key_mxfp4": 0.5,
    "key_bf16": 0,
}  # fmt: skip


def arrange_pages(pages: np.ndarray, layout: str, element: int) -> Arranged:
    """Pages of bytes, of which those of a page follow each other."""
    if layout == "apart":
        return arrange(pages, "gaps", 3 * element)
    flat = pages.reshape(len(pages), -1)
    if layout == "shifted":  # As a whole, by an element.
        made = arrange(np.concatenate([np.full(element, 0xA5, np.uint8), flat.reshape(-1)]))
        return Arranged(made.array[element:].reshape(pages.shape), made.memory)
    first = element if layout == "odd" else 0
    gap = {"gaps": 32, "odd": 3 * element}.get(layout, 0)
    wide = np.full((len(pages), first + flat.shape[1]), 0xA5, np.uint8)
    made = arrange(wide, "gaps" if gap else "plain", gap)
    rows = made.array[:, first:]
    rows[...] = flat
    inner = (pages.shape[-1], 1) if pages.ndim > 2 else (1,)
    strides = (rows.strides[0], *inner)
    return Arranged(np.lib.stride_tricks.as_strided(rows, pages.shape, strides), made.memory)


class Store:
    """A cache, and where its fields are."""

    def __init__(self, record: Record, layout: str, fill: int = 0) -> None:
        self.record = record
        self.parts: list[Arranged] = []
        if record.has_pages:
            widest = max(each.element_bytes for each in record.fields)
            shape = (PAGES, record.page_bytes(SIZE))
            if layout == "apart":
                shape = (PAGES, SIZE, record.part_bytes("row"))
            pages = np.full(shape, fill, np.uint8)
            self.parts.append(arrange_pages(pages, layout, widest))
        for each in record.arrays:
            shape = (PAGES, SIZE, each.columns * each.element_bytes)
            pages = np.full(shape, fill, np.uint8)
            self.parts.append(arrange_pages(pages, layout, each.element_bytes))

    @property
    def arguments(self):
        return self.parts[0] if len(self.parts) == 1 else tuple(self.parts)

    def _field(self, field: Field, skip: int = 0) -> np.ndarray:
        """The bytes of a field, [pages, entries, bytes], or those after some of them."""
        if field.placement == "array":
            at = self.record.has_pages + self.record.arrays.index(field)
            return self.parts[at].array
        begin, per = skip, self.record.part_bytes(field.placement)
        for each in self.record.fields:
            if each is field:
                break
            if each.placement == field.placement:
                begin += each.bytes + each.pad
        if field.placement == "tail":
            begin += SIZE * self.record.part_bytes("row")
        pages = self.parts[0].array
        if pages.ndim == 3:
            return pages[:, :, begin : begin + field.bytes]
        return np.lib.stride_tricks.as_strided(
            pages[:, begin:], (PAGES, SIZE, field.bytes), (pages.strides[0], per, 1)
        )

    def read(self, field: Field) -> np.ndarray:
        """The bytes of all entries of a field."""
        return self._field(field).reshape(PAGES * SIZE, field.bytes)

    def write(self, field: Field, slot: int, stored: np.ndarray) -> None:
        self._field(field)[slot // SIZE, slot % SIZE] = np.ascontiguousarray(stored).view(np.uint8)

    def write_padding(self, field: Field, slot: int) -> None:
        """Zeros that fill a field up to a power of two of bytes."""
        whole = field.bytes + field.pad
        if field.pad and whole & (whole - 1) == 0:
            self._field(field, field.bytes)[slot // SIZE, slot % SIZE, : field.pad] = 0


DTYPE = {"f32": np.float32, "bf16": np.uint16}


def make_fields(record: Record, rng, count: int) -> list[np.ndarray]:
    """Stored elements of some entries."""
    fields = []
    for each in record.stored:
        shape = (count, each.columns)
        if each.element in DTYPE:
            values = rng.random(shape) + 0.5 if each.scales else rng.standard_normal(shape)
            fields.append(encode(values, each.element))
        elif each.scales:
            fields.append(rng.integers(40, 60, shape).astype(np.uint8))
        else:
            fields.append(rng.integers(0, 126, shape).astype(np.uint8))
    return fields


def decode_fields(record: Record, fields: list[np.ndarray]) -> np.ndarray:
    """The rows of values of stored elements."""
    by_name = {each.name: stored for each, stored in zip(record.stored, fields)}
    rows = []
    for each in record.data:
        stored = by_name[each.name]
        if each.element in DTYPE:
            rows.append(decode(stored, each.element))
            continue
        is_fp4 = each.element == "f4E2M1FN"
        values = reference.unpack_fp4(stored) if is_fp4 else reference.e4m3_values()[stored]
        scale = next(other for other in record.fields if other.scales == each.name)
        scales = by_name[scale.name]
        if scale.element == "f8E8M0FNU":
            scales = np.where(scales == 255, np.nan, 2.0 ** (scales.astype(float) - 127))
        elif scale.element == "f8E4M3FN":
            scales = reference.e4m3_values()[scales]
        rows.append(values * np.repeat(scales, each.extent // scales.shape[1], axis=1))
    return np.concatenate(rows, 1)
