# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writers: entries of a paged cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import count_arrays, make_error
from ._chains import Chain
from ._dsv4 import Error, InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_float, check_int, check_list, refuse
from ._program import Program, Value
from ._show import shorten
from ._types import Array, Arrays, Stream
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
from .records import PACKED, Field, Record, find_record, join_names
from .rows import (
    FEW_ROWS,
    check_rotation,
    check_table,
    hadamard_op,
    input_angles,
    norm_op,
    rope_op,
)
from .selection import FLOATS, INDICES


def check_ring(ring: Any, min_length: int, page_size: int) -> int:
    """The entries of a ring, which has whole pages, or is within one."""
    length = check_int("ring", ring, min_length)
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
    cache: Arrays,
    slots: Array,
    fields: Sequence[Array],
    *,
    record: str | Record,
    page_size: int | None = None,
    ring: int | None = None,
    unique: bool = True,
    page_table: Array | None = None,
    indptr: Array | None = None,
    requests: Array | None = None,
    lengths: Array | None = None,
    lengths_per: str = "request",
    columns: Sequence[int] | None = None,
    stream: Stream | None = None,
) -> None:
    """Writes entries of a paged cache, field by field.

    >>> dsv4.append_(cache, slots, (payload, rope, scales), record="v4_584")

    Args:
        cache, record, page_size: as for `gather`. The cache is changed.
        slots: i32 or i64 `[tokens]`: slots, or with `page_table` or `ring` positions in the
            sequence of the request. Nothing is written for negative ones.
        fields: an array `[tokens, n]` for every field of the record that is not one scale per
            cache, in their order and in the types of the record, or their bits; FP4 is two per
            byte. Scales are in order, also where the record interleaves them. `[tokens]` will do
            for fields of one element.
        ring: each request has a ring of this number of entries, and position p goes to entry p mod
            `ring` of it: slot request * `ring` + p mod `ring`, or that entry by the page table. Of
            the tokens of a launch that share an entry, the one with the highest position is kept.
        unique: no two tokens have one slot. False: the last one wins, which takes longer.
        page_table: i32 or i64 `[requests, pages]`, or `[pages]` with `indptr`.
        indptr: i32 or i64 `[requests + 1]`.
        requests: i32 or i64 `[tokens]`: the request of each token, whose pages it has; None: token
            i is of request i.
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
    if column is not None and field.element in PACKED and column % 2:
        raise refuse("columns", column, f"even columns of {field.element}: two are a byte")
    if width != field.extent if column is None else width < column + field.extent:
        before = "" if column is None else f"at least {column} + "
        raise make_error(
            InvalidArgument, "argument.extent", name,
            f"argument '{name}' has {width} elements per token, expected {before}{field.extent}",
        )  # fmt: skip
    return value


def _rank(array: Any) -> int:
    return len(getattr(array, "shape", (0, 0)))


def is_plain(data: Field, record: Record) -> bool:
    """Whether values are stored as they are."""
    has_scales = any(each.scales == data.name for each in record.fields)
    return not has_scales and data.element != "f8E4M3FN"


def make_chain(
    program: Program,
    source: Value,
    shape: Sequence[int | str],
    record: Record,
    rounding: str,
    first: int = 0,
) -> Chain:
    """A chain to the fields of the record from a value on, for rows of that shape."""
    end, begin = first + _width(shape), 0
    plain = []
    for each in record.data:
        if first <= begin < end and is_plain(each, record):
            plain.append(each.element)
        begin += each.extent
    narrow = source.element if source.element in ("bf16", "f16") else "bf16"
    return Chain(program, source, shape, rounding, plain, narrow)


def _width(shape: Sequence[int | str]) -> int:
    """The values of a row of that shape."""
    width = shape[-1]
    assert isinstance(width, int)
    return width


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
    chains: Sequence[Chain],
    record: Record,
    recipe: str | Recipe | None,
    global_scale: Any = None,
) -> tuple[list[Value], list[int]]:
    """The stored fields of the rows of chains, which have the values of an entry one after the
    other, and the column where each field begins."""
    columns: dict[str, int] = {}
    values: dict[str, Value] = {}
    left = list(chains)
    chain, begin = left.pop(0), 0
    lead = chain.shape[:-1]
    given = give_scale(program, record, global_scale)
    chosen = None if recipe is None else find_recipe(recipe)
    for data in record.data:
        if begin == _width(chain.shape):
            chain, begin = left.pop(0), 0
        scales = [each for each in record.fields if each.scales == data.name]
        if is_plain(data, record):
            values[data.name], columns[data.name] = chain.stored(data.element), begin
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
    chains: Sequence[Chain],
    norm: bool,
    weight: Any,
    eps: float,
    table: Any,
    positions: Any,
    pairs: dict[str, bool],
) -> None:
    """Adds the norm, of the first chain, and the rotation, of the last, that the caller asks
    for."""
    add_norm(program, chains[0], norm, weight, eps)
    if table is not None:
        angles = input_angles(program, table, positions, chains[-1].shape[:1])
        chains[-1].add(rope_op(program, chains[-1].shape, angles, **pairs))


def _check_parts(rows: Value, k_pe: Value, record: Record) -> None:
    """That two arrays have the values of an entry, and a field begins with the second."""
    width, other = _width(rows.shape), _width(k_pe.shape)
    ends = [sum(each.extent for each in record.data[:i]) for i in range(1, len(record.data))]
    if width in ends and width + other == record.values:
        return
    both = shorten(" or ".join(f"{end} and {record.values - end}" for end in ends))
    raise make_error(
        InvalidArgument, "argument.extent", "k_pe",
        f"arguments 'x' and 'k_pe' have rows of {width} and {other}, and record {record.title} has "
        + (f"{both} values" if both else "one field of values: pass them all as 'x'"),
    )  # fmt: skip


def check_width(name: str, extent: int | str, record: Record) -> None:
    if extent != record.values:
        raise make_error(
            InvalidArgument, "argument.extent", name,
            f"argument '{name}' has rows of {extent}, and an entry of record "
            f"{record.title} has {record.values} values",
        )  # fmt: skip


def store_rows(
    program: Program,
    chains: Sequence[Chain],
    cache: Any,
    slots: Any,
    record: Record,
    recipe: str | Recipe | None,
    *,
    global_scale: Any,
    page_size: int | None,
    ring: int | None,
    unique: bool,
    **where: Any,
) -> None:
    """Adds the ops that quantise the rows of chains and write them to slots."""
    fields, columns = encode_rows(program, chains, record, recipe, global_scale)
    at = input_slots(program, slots, unique, ring)
    type = program.cache("cache", cache, record, page_size)
    append_op(program, type, at, fields, columns, ring=ring, unique=unique, **where)


def add_rows(
    program: Program,
    x: Any,
    cache: Any,
    slots: Any,
    record: str | Record,
    recipe: str | Recipe | None,
    *,
    k_pe: Any = None,
    norm: bool | None,
    weight: Any,
    eps: float,
    table: Any,
    positions: Any,
    neox: bool,
    interleaved: bool,
    hadamard: bool,
    rounding: str,
    global_scale: Any,
    page_size: int | None,
    ring: int | None,
    unique: bool,
    **where: Any,
) -> None:
    """Adds the ops that normalise, rotate, transform, quantise and write rows of a caller."""
    unique = check_flag("unique", unique)
    found = find_record(record)
    pairs, eps = check_rotation(neox, interleaved), check_float("eps", eps, 0)
    check_table(table, positions)
    norm = weight is not None if norm is None else check_flag("norm", norm)
    rows = program.input("x", x, FLOATS, ("tokens", None))
    program.bucket("tokens", (FEW_ROWS,))
    chains = [make_chain(program, rows, rows.shape, found, rounding)]
    if k_pe is None:
        check_width("x", rows.shape[-1], found)
    else:
        last = program.input("k_pe", k_pe, FLOATS, ("tokens", None))
        _check_parts(rows, last, found)
        first = _width(rows.shape)
        chains.append(make_chain(program, last, last.shape, found, rounding, first))
    add_norm_rope(
        program, chains, norm, weight, eps, table, slots if positions is None else positions,
        pairs,
    )  # fmt: skip
    if check_flag("hadamard", hadamard):
        chains[-1].add(hadamard_op(program, "x", chains[-1].shape))
    store_rows(
        program, chains, cache, slots, found, recipe, global_scale=global_scale,
        page_size=page_size, ring=ring, unique=unique, **where,
    )  # fmt: skip


@function
def norm_rope_append_(
    x: Array,
    cache: Arrays,
    slots: Array,
    *,
    record: str | Record,
    k_pe: Array | None = None,
    recipe: str | Recipe | None = None,
    norm: bool | None = None,
    weight: Array | None = None,
    eps: float = 1e-6,
    table: Array | None = None,
    positions: Array | None = None,
    neox: bool = False,
    interleaved: bool = False,
    rounding: str = "none",
    global_scale: Array | None = None,
    page_size: int | None = None,
    ring: int | None = None,
    unique: bool = True,
    page_table: Array | None = None,
    indptr: Array | None = None,
    requests: Array | None = None,
    lengths: Array | None = None,
    lengths_per: str = "request",
    stream: Stream | None = None,
) -> None:
    """Normalises, rotates, quantises and writes entries of a paged cache, in one kernel.

    >>> dsv4.norm_rope_append_(kv, cache, slots, record="v4_584", weight=weight,
    ...                        table=cos_sin, positions=positions)
    >>> dsv4.norm_rope_append_(kv_c, cache, slots, k_pe=k_pe, record="v32_656")

    Args:
        x: f32, bf16 or f16 `[tokens, values]`: the values of the entries.
        k_pe: f32, bf16 or f16 `[tokens, n]`: the last values of the entries, from a field on, if
            they are in an array of their own. Then `x` has those before them, and is normalised,
            and `k_pe` is rotated.
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
    add_rows(
        program, x, cache, slots, record, recipe, k_pe=k_pe, norm=norm, weight=weight, eps=eps,
        table=table, positions=positions, neox=neox, interleaved=interleaved, hadamard=False,
        rounding=rounding, global_scale=global_scale, page_size=page_size, ring=ring,
        unique=unique, page_table=page_table, indptr=indptr, requests=requests, lengths=lengths,
        lengths_per=lengths_per,
    )  # fmt: skip
    launch(program, (), stream)
