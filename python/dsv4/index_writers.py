# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queries and keys of an index: rotated, transformed and quantised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import make_error
from ._chains import Chain
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag
from ._program import Program, Value
from ._types import Array, Arrays, Stream
from .indexer import check_keys
from .recipes import Recipe, check_scales, find_recipe
from .records import Record, find_record
from .rows import (
    FEW_ROWS,
    check_constants,
    check_rotation,
    check_table,
    emit_products,
    hadamard_op,
    input_angles,
    rope_op,
)
from .selection import FLOATS, take_outputs
from .writers import add_rows

# Elements per scale of FP4.
_GROUP = 32


def is_folded(recipe: Recipe, dim: int) -> bool:
    """Whether a recipe has one scale per query, which its weight is multiplied by."""
    if recipe.outer is None:
        if (recipe.payload, recipe.scale) == ("f8E4M3FN", "f32") and recipe.group in ("row", dim):
            return True
        if (recipe.payload, recipe.scale, recipe.group) == ("f4E2M1FN", "f8E8M0FNU", _GROUP):
            return False
    raise make_error(
        InvalidArgument, "option.recipe", "recipe",
        f"'recipe' has the format {recipe.format}, expected f8E4M3FN with f32 scales per 'row', "
        f"or f4E2M1FN with f8E8M0FNU scales per {_GROUP}",
    )  # fmt: skip


@function
def index_query(
    q: Array,
    weights: Array,
    table: Array | None = None,
    positions: Array | None = None,
    *,
    recipe: str | Recipe,
    constants: Sequence[float] = (),
    neox: bool = False,
    interleaved: bool = False,
    hadamard: bool = False,
    rounding: str = "none",
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Queries of an index, rotated and quantised, and the weights that `index_score` takes.

    >>> q8, weights = dsv4.index_query(q, weights, cos_sin, positions, recipe="deepgemm_fp8",
    ...                                constants=(128**-0.5 * 64**-0.5,), hadamard=True)
    >>> q4, scales, weights = dsv4.index_query(q, weights, cos_sin, positions,
    ...                                        recipe="sglang_mxfp4", rounding="each")

    Args:
        q: f32, bf16 or f16 `[tokens, heads, dim]`.
        weights: f32, bf16 or f16 `[tokens, heads]`.
        table: as for `rope`; None: queries are not rotated.
        positions: i32 or i64 `[tokens]`, for `table`.
        recipe: of FP8 with an f32 scale per row, such as 'deepgemm_fp8' and 'vllm_index_q', or of
            FP4 with E8M0 scales per 32, such as 'sglang_mxfp4' and 'deepseek_fp4'.
        constants: at most 16 numbers, which weights are multiplied by.
        neox, interleaved: as for `rope`.
        hadamard: transform queries after the rotation, as `hadamard` does. Keys have to be, too.
        rounding: as for `norm_rope_append_`: where queries are rounded to 16 bits.
        out: where results go, in their order.
        stream: as for `topk`.

    Returns:
        of FP8 `(values, weights)`: the f32 weights hold the scales. Of FP4 `(values, scales,
        weights)`: values are two per byte, and scales E8M0 `[tokens, heads, dim / 32]`.

    Raises:
        InvalidArgument: a shape, stride, recipe or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("index_query")
    numbers = check_constants(constants)
    pairs = check_rotation(neox, interleaved)
    hadamard = check_flag("hadamard", hadamard)
    value = program.input("q", q, FLOATS, ("tokens", None, None))
    program.bucket("tokens", (FEW_ROWS,))
    heads, dim = value.shape[1:]
    assert isinstance(heads, int) and isinstance(dim, int)
    chosen = check_scales(find_recipe(recipe))
    folded = is_folded(chosen, dim)
    if not folded and dim % _GROUP:
        raise make_error(
            InvalidArgument, "argument.extent", "q",
            f"argument 'q': extent 2 is {dim}, expected a multiple of {_GROUP}",
        )  # fmt: skip
    weight = program.input("weights", weights, FLOATS, ("tokens", heads))
    rows = _turn(program, value, table, positions, pairs, hadamard, rounding)
    results = ("values",) + ("scales",) * (not folded) + ("products",)
    given = dict(zip(results, take_outputs(out, len(results))))
    payload = program.output("values", chosen.payload, value.shape, given["values"])
    if folded:
        chosen = chosen._replace(group="row")
        scales = program.empty("f32", ("tokens", heads), rows)
    else:
        scales = program.output(
            "scales", chosen.scale, ("tokens", heads, dim // _GROUP), given["scales"]
        )
    product = program.output("products", "f32", ("tokens", heads), given["products"])
    values, of = program.fresh("q"), Value(program.fresh("q"), scales.element, scales.shape)
    program.line(
        f"{values}, {of} = dsv4.quantize {rows} outs({payload}, {scales} : {payload.type}, "
        f"{scales.type}) {{format = {chosen.format}, recipe = {chosen.attribute}}} : {rows.type}"
    )
    # The op needs something to multiply by.
    products = emit_products(
        program, weight, of if folded else None, numbers if folded else numbers or [1.0], product
    )
    returned = [(values, payload), (of.name, scales), (products.name, product)]
    program.returns(*(returned[:1] + returned[2:] if folded else returned))
    return launch(program, results, stream)


def _turn(
    program: Program,
    q: Value,
    table: Any,
    positions: Any,
    pairs: dict[str, bool],
    hadamard: bool,
    rounding: str,
) -> Value:
    """Adds the rotation and the transform of queries. Returns the rows that are quantised."""
    narrow = q.element if q.element in ("bf16", "f16") else "bf16"
    chain = Chain(program, q, q.shape, rounding, (), narrow)
    check_table(table, positions)
    if table is not None and positions is None:
        raise make_error(
            InvalidArgument, "argument.positions", "positions",
            "'positions' are needed with a 'table'",
        )  # fmt: skip
    if table is not None:
        angles = input_angles(program, table, positions, q.shape[:1])
        chain.add(rope_op(program, q.shape, angles, **pairs))
    if hadamard:
        chain.add(hadamard_op(program, "q", q.shape))
    dim = q.shape[-1]
    assert isinstance(dim, int)
    return chain.quantised(dim)


@function
def index_append_(
    x: Array,
    cache: Arrays,
    slots: Array,
    *,
    record: str | Record,
    recipe: str | Recipe | None = None,
    norm: bool | None = None,
    weight: Array | None = None,
    eps: float = 1e-6,
    table: Array | None = None,
    positions: Array | None = None,
    neox: bool = False,
    interleaved: bool = False,
    hadamard: bool = False,
    rounding: str = "none",
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
    """Normalises, rotates, transforms, quantises and writes keys of an index, in one kernel.

    >>> dsv4.index_append_(k, cache, slots, record="index_fp8_132", weight=weight, table=cos_sin,
    ...                    positions=positions, hadamard=True)

    Args:
        x: f32, bf16 or f16 `[tokens, dim]`: the keys.
        cache, slots, recipe, norm, weight, eps, table, positions, neox, interleaved, rounding,
        page_size, ring, unique, page_table, indptr, requests, lengths, lengths_per: as for
            `norm_rope_append_`.
        record: as for `index_score`.
        hadamard: transform keys after the rotation, as `hadamard` does. Queries have to be, too.
        stream: as for `topk`.

    Raises:
        InvalidArgument: a shape, stride, record, recipe or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("index_append")
    found = find_record(record)
    check_keys(found)
    add_rows(
        program, x, cache, slots, found, recipe, norm=norm, weight=weight, eps=eps, table=table,
        positions=positions, neox=neox, interleaved=interleaved, hadamard=hadamard,
        rounding=rounding, global_scale=None, page_size=page_size, ring=ring, unique=unique,
        page_table=page_table, indptr=indptr, requests=requests, lengths=lengths,
        lengths_per=lengths_per,
    )  # fmt: skip
    launch(program, (), stream)
