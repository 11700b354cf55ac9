# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writers: entries of a paged cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import count_arrays, make_error
from ._chains import Chain
from ._dsv4 import Error, InvalidArgument, TypeMismatch
from ._kernels import function, launch
from ._options import check_flag, check_float, check_int, check_list, refuse
from ._program import Program, Value
from .gathers import Clauses, check_per
from .recipes import (
    PAYLOAD_TYPES,
    SCALE_TYPES,
    Recipe,
    check_scales,
    find_recipe,
    print_format,
    recipe_of,
)
from .records import Field, Record, find_record, join_names
from .rows import FEW_ROWS, check_rotation, input_angles, norm_op, rope_op
from .selection import FLOATS, INDICES


def check_ring(ring: Any, least: int, page_size: int) -> int:
    """The entries of a ring, which has whole pages, or is within one."""
    length = check_int("ring", ring, least)
    if length % page_size and page_size % length:
        raise refuse("ring", ring, f"a multiple or a divisor of the {page_size} entries of a page")
    return length


def _print_ring(
    program: Program,
    ring: Any,
    unique: bool,
    page_table: Any,
    indptr: Any,
    requests: Any,
    lengths: Any,
) -> str:
    """The clause of a ring, and what is with one alone."""
    if indptr is not None and (page_table is None or requests is None or ring is not None):
        raise make_error(
            InvalidArgument, "argument.indptr", "indptr",
            "'indptr' needs 'page_table' and 'requests', and no 'ring'",
        )  # fmt: skip
    if ring is not None:
        ring = check_ring(ring, 1, program.page_sizes["cache"])
        if lengths is None:
            raise make_error(
                InvalidArgument, "argument.lengths", "lengths", "'lengths' is needed with 'ring'"
            )
        return f" ring {ring}"
    if lengths is not None:
        raise make_error(
            InvalidArgument, "argument.lengths", "lengths", "'lengths' is for entries of a 'ring'"
        )
    if requests is not None and page_table is None:
        raise make_error(
            InvalidArgument, "argument.requests", "requests",
            "'requests' needs a 'page_table' or a 'ring'",
        )  # fmt: skip
    if page_table is not None and not unique:
        raise refuse("unique", unique, "True with 'page_table' and no 'ring'")
    return ""


def append_op(
    program: Program,
    cache_type: str,
    slots: Value,
    fields: list[Value],
    columns: Sequence[int] | None,
    *,
    ring: int | None = None,
    unique: bool = True,
    page_table: Any = None,
    indptr: Any = None,
    requests: Any = None,
    lengths: Any = None,
    lengths_per: str = "request",
    tokens: str = "tokens",
) -> None:
    """The op that stores the fields of entries."""
    clauses = Clauses(program)
    clauses.add("requests", "requests", requests, (tokens,))
    # Without 'requests' every token is a request.
    per_request = tokens if requests is None else "requests"
    table = ("pages",) if indptr is not None else (per_request, "pages")
    clauses.add("pages", "page_table", page_table, table)
    clauses.add("indptr", "indptr", indptr, ("starts",))
    per_token = check_per(lengths_per) == "token" and requests is not None
    keyword = "lengths per token" if per_token else "lengths"
    clauses.add(keyword, "lengths", lengths, (tokens if per_token else per_request,))
    how = _print_ring(program, ring, unique, page_table, indptr, requests, lengths)
    if unique and ring is None:
        how += " unique"
        if indptr is None:
            program.check_unique(
                str(slots)[1:], "requests" if requests is not None else None,
                "page_table" if page_table is not None else None, "cache",
            )  # fmt: skip
    at = f" columns [{', '.join(map(str, columns))}]" if columns else ""
    program.line(
        f"dsv4.paged_append %cache[{slots}]{how}{clauses.text} "
        f"fields({', '.join(map(str, fields))} : {', '.join(each.type for each in fields)}){at} "
        f": {cache_type}, {slots.type}"
    )


def input_slots(program: Program, slots: Any, unique: bool, ring: int | None) -> Value:
    """Slots or positions of tokens. Where they may repeat, each is searched in the others."""
    access = None if unique or ring is not None else "rows"
    return program.input("slots", slots, INDICES, ("tokens",), access)


@function
def append_(
    cache: Any,
    slots: Any,
    fields: Sequence[Any],
    *,
    record: str | Record,
    page_size: int | None = None,
    ring: int | None = None,
    unique: bool = True,
    page_table: Any = None,
    indptr: Any = None,
    requests: Any = None,
    lengths: Any = None,
    lengths_per: str = "request",
    columns: Sequence[int] | None = None,
    stream: Any = None,
) -> None:
    """Writes entries of a paged cache, field by field.

    >>> dsv4.append_(cache, slots, (payload, rope, scales), record="v4_584")

    Args:
        cache, record, page_size: as for `gather`. The cache is changed.
        slots: i32 or i64 `[tokens]`: slots, or with `page_table` or `ring` positions. Nothing is
            written for negative ones.
        fields: an array `[tokens, n]` for every field of the record that is not one scale per
            cache, in their order and in the types of the record, or their bits; FP4 is two per
            byte. Scales are in order, also where the record interleaves them. `[tokens]` will do
            for fields of one element.
        ring: positions go to the ring of their request, of this number of entries.
        unique: no two tokens have one slot. False: the last one wins, which takes longer.
        page_table: i32 or i64 `[requests, pages]`, or `[pages]` with `indptr`.
        indptr: i32 or i64 `[requests + 1]`.
        requests: i32 or i64 `[tokens]`: the request of each token.
        lengths: with `ring`, positions of a request after the launch, so above all of `slots`: i32
            or i64 `[requests]`, `[tokens]` without `requests` or with `lengths_per="token"`.
        columns: the first column of each field in its array; None: 0.
        stream: as for `topk`.

    Raises:
        InvalidArgument: a shape, stride, record or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("append")
    unique = check_flag("unique", unique)
    found = find_record(record)
    stored = found.stored
    fields = check_list("fields", fields)
    if len(fields) != len(stored):
        raise make_error(
            InvalidArgument, "argument.count", "fields",
            f"'fields' has {count_arrays(len(fields))}, expected {len(stored)} "
            f"({join_names(stored)})",
        )  # fmt: skip
    where = input_slots(program, slots, unique, ring)
    if columns is not None:
        columns = [check_int("columns", each, 0) for each in check_list("columns", columns)]
        if len(columns) != len(stored):
            raise refuse("columns", columns, f"{len(stored)} integers, as many as fields")
    values = [
        _field(program, each, array, None if columns is None else columns[i])
        for i, (each, array) in enumerate(zip(stored, fields))
    ]
    type = program.cache("cache", cache, found, page_size)
    append_op(
        program, type, where, values, columns, ring=ring,
        unique=unique, page_table=page_table, indptr=indptr, requests=requests, lengths=lengths,
        lengths_per=lengths_per,
    )  # fmt: skip
    launch(program, (), stream)


def _field(program: Program, field: Field, array: Any, column: int | None) -> Value:
    """The array of a field, from a column on if there is one."""
    shape: tuple[str | None, ...] = ("tokens", None) if _rank(array) != 1 else ("tokens",)
    name = f"field_{field.name}"
    value = program.input(name, array, (field.element,), shape)
    width = value.shape[1] if len(shape) == 2 else 1
    assert isinstance(width, int)
    if width != field.extent if column is None else width < column + field.extent:
        most = "" if column is None else f"at least {column} + "
        raise make_error(
            InvalidArgument, "argument.extent", name,
            f"argument '{name}' has {width} elements per token, expected {most}{field.extent}",
        )  # fmt: skip
    return value


def _rank(array: Any) -> int:
    return len(getattr(array, "shape", (0, 0)))


def is_plain(data: Field, record: Record) -> bool:
    """Whether values are stored as they are."""
    has_scales = any(each.scales == data.name for each in record.fields)
    return not has_scales and data.element != "f8E4M3FN"


def make_chain(
    program: Program, source: Value, shape: Sequence[int | str], record: Record, rounding: str
) -> Chain:
    """A chain to the fields of the record, for rows of that shape."""
    plain = [each.element for each in record.data if is_plain(each, record)]
    narrow = source.element if source.element in ("bf16", "f16") else "bf16"
    return Chain(program, source, shape, rounding, plain, narrow)


def give_scale(program: Program, record: Record, global_scale: Any) -> str:
    """The clause with the scale of all values, which its caller has calibrated."""
    names = [each.name for each in record.fields if each.per == "tensor"]
    if bool(names) != (global_scale is not None):
        has = f"has the scale '{names[0]}' of a whole cache" if names else "has none"
        raise make_error(
            InvalidArgument, "argument.global_scale", "global_scale",
            f"'global_scale' is for records with a scale per cache, and needed there: record "
            f"{record.title} {has}",
        )  # fmt: skip
    if global_scale is None:
        return ""
    value = program.input("global_scale", global_scale, ("f32",), (1,))
    return f" given({value} : {value.type})"


def encode_rows(
    program: Program,
    chain: Chain,
    record: Record,
    recipe: str | Recipe | None,
    global_scale: Any = None,
) -> tuple[list[Value], list[int]]:
    """The stored fields of the rows of a chain, and the column where each begins."""
    columns: dict[str, int] = {}
    values: dict[str, Value] = {}
    begin = 0
    lead = chain.shape[:-1]
    given = give_scale(program, record, global_scale)
    chosen = None if recipe is None else find_recipe(recipe)
    for data in record.data:
        scales = [each for each in record.fields if each.scales == data.name]
        if is_plain(data, record):
            rows = chain.stored(data.element)
            if data.element != rows.element:
                raise make_error(
                    TypeMismatch, "argument.type", None,
                    f"record {record.title} stores '{data.name}' as {data.element}, and the rows "
                    f"have elements of type {rows.element}: convert them first",
                )  # fmt: skip
            values[data.name], columns[data.name] = rows, begin
            begin += data.extent
            continue
        fields = [data, *(each for each in scales if each.per != "tensor")]
        by_tensor = given if any(each.per == "tensor" for each in scales) else ""
        rows = chain.quantised(begin + data.extent)
        levels: list[tuple[str, int | str]] = [
            (each.element, each.per if each.per is not None else "row") for each in scales
        ]
        format = print_format(data.element, levels)
        how = f"format = {format}"
        if scales:
            fitted = _fit_recipe(chosen or recipe_of(record, None), record, data, scales)
            how += f", recipe = {fitted.attribute}"
        shapes = [
            lead if each.per == "row" else (*lead, each.extent) for each in fields
        ]
        outs = [
            program.empty(each.element, shape, rows) for each, shape in zip(fields, shapes)
        ]
        names = [program.fresh("f") for _ in outs]
        program.line(
            f"{', '.join(names)} = dsv4.quantize {rows} columns [{begin}, {data.extent}]"
            f"{by_tensor} outs({', '.join(map(str, outs))} : "
            f"{', '.join(each.type for each in outs)}) "
            f"{{{how}}} : {rows.type}"
        )
        for each, name, out in zip(fields, names, outs):
            values[each.name], columns[each.name] = Value(name, out.element, out.shape), 0
        begin += data.extent
    stored = record.stored
    for each in stored:
        if each.name not in values:
            raise _not_computed(record, each)
    return [values[each.name] for each in stored], [columns[each.name] for each in stored]


def _not_computed(record: Record, field: Field) -> Error:
    return make_error(
        InvalidArgument, "option.record", "record",
        f"record {record.title} has '{field.name}' of {field.element}, which is not computed from "
        "values: pass all its fields to append_()",
    )  # fmt: skip


def _fit_recipe(
    recipe: Recipe, record: Record, data: Field, scales: list[Field]
) -> Recipe:
    """The recipe of a field, whose types are those of the record."""
    for each, known in ((data, PAYLOAD_TYPES), (scales[0], SCALE_TYPES)):
        if each.element not in known:
            raise _not_computed(record, each)
    return check_scales(
        recipe._replace(payload=data.element, scale=scales[0].element, outer=None)
    )


def add_norm(
    program: Program, chain: Chain, norm: bool, weight: Any, eps: float, of: str = ""
) -> None:
    """Adds the norm that the caller asks for, by options whose names begin with `of`."""
    if weight is not None and not norm:
        raise make_error(
            InvalidArgument, f"argument.{of}weight", f"{of}weight",
            f"'{of}weight' is given, and '{of}norm' is False: leave '{of}norm' out, or pass no "
            "weight",
        )  # fmt: skip
    if norm:
        chain.add(norm_op(program, chain.shape, weight, eps, f"{of}weight"))


def add_norm_rope(
    program: Program,
    chain: Chain,
    norm: bool,
    weight: Any,
    eps: float,
    table: Any,
    positions: Any,
    pairs: dict[str, bool],
) -> None:
    """Adds the norm and the rotation that the caller asks for."""
    add_norm(program, chain, norm, weight, eps)
    if table is not None:
        angles = input_angles(program, table, positions, chain.shape[:1])
        chain.add(rope_op(program, chain.shape, angles, **pairs))


def check_width(name: str, extent: int | str, record: Record) -> None:
    if extent != record.values:
        raise make_error(
            InvalidArgument, "argument.extent", name,
            f"argument '{name}' has rows of {extent}, and an entry of record "
            f"{record.title} has {record.values} values",
        )  # fmt: skip


@function
def norm_rope_append_(
    x: Any,
    cache: Any,
    slots: Any,
    *,
    record: str | Record,
    recipe: str | Recipe | None = None,
    norm: bool | None = None,
    weight: Any = None,
    eps: float = 1e-6,
    table: Any = None,
    positions: Any = None,
    neox: bool = False,
    interleaved: bool = False,
    rounding: str = "none",
    global_scale: Any = None,
    page_size: int | None = None,
    ring: int | None = None,
    unique: bool = True,
    page_table: Any = None,
    indptr: Any = None,
    requests: Any = None,
    lengths: Any = None,
    lengths_per: str = "request",
    stream: Any = None,
) -> None:
    """Normalises, rotates, quantises and writes entries of a paged cache, in one kernel.

    >>> dsv4.norm_rope_append_(kv, cache, slots, record="v4_584", weight=weight,
    ...                        table=cos_sin, positions=positions)

    Args:
        x: f32, bf16 or f16 `[tokens, values]`: the values of the entries. Without norm and table
            they have the type that the record stores.
        cache, slots, record, page_size, ring, unique, page_table, indptr, requests, lengths,
        lengths_per: as for `append_`.
        recipe: of the quantiser; None: that of the record (`dsv4.recipes.DEFAULT_RECIPES`).
        norm: whether rows are normalised; None: if there is a `weight`, which False excludes.
        weight, eps: as for `rms_norm`.
        table: as for `rope`; None: rows are not rotated.
        positions: i32 or i64 `[tokens]`, for `table`; None: `slots`, which are positions then.
        neox, interleaved: as for `rope`.
        rounding: where rows are rounded to bf16 (f16, if `x` or a field has that type) before they
            are quantised: 'none': nowhere, ops take and return f32; 'last': after the last op;
            'each': after the norm and after the rotation. docs/Engines.md says which engine does
            which.
        global_scale: f32 `[1]`, for records with a scale per cache: what values are divided by.
        stream: as for `topk`.

    Raises:
        InvalidArgument: a shape, stride, record, recipe or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("norm_rope_append")
    unique = check_flag("unique", unique)
    found = find_record(record)
    pairs, eps = check_rotation(neox, interleaved), check_float("eps", eps, 0)
    norm = weight is not None if norm is None else check_flag("norm", norm)
    rows = program.input("x", x, FLOATS, ("tokens", None))
    program.bucket("tokens", (FEW_ROWS,))
    check_width("x", rows.shape[-1], found)
    chain = make_chain(program, rows, rows.shape, found, rounding)
    add_norm_rope(
        program, chain, norm, weight, eps, table, slots if positions is None else positions,
        pairs,
    )  # fmt: skip
    fields, columns = encode_rows(program, chain, found, recipe, global_scale)
    where = input_slots(program, slots, unique, ring)
    type = program.cache("cache", cache, found, page_size)
    append_op(
        program, type, where, fields, columns, ring=ring, unique=unique, page_table=page_table,
        indptr=indptr, requests=requests, lengths=lengths, lengths_per=lengths_per,
    )  # fmt: skip
    launch(program, (), stream)
