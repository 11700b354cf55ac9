# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms, rotations and other ops of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ._arrays import describe, make_error
from ._chains import Op
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import (
    check_flag,
    check_float,
    check_int,
    check_list,
    check_word,
    plain_text,
    refuse,
)
from ._program import MAX_ROW, Program, Value
from ._types import Array, Arrays, Stream
from .recipes import print_decimal, print_f32
from .selection import FLOATS, INDICES

# Up to this number of rows, a row has a whole warp.
FEW_ROWS = 256

FLOAT_TYPES = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}


def float_type(dtype: str | None, default: str, out: Any = None) -> str:
    """The element of `dtype`, or else of `out`, or else the default."""
    if dtype is None:
        element = describe("out", out).element if out is not None else default
        return "bf16" if element == "u16" else element if element in FLOATS else default
    word = plain_text(dtype)
    if word in FLOATS:
        return word
    return FLOAT_TYPES[check_word("dtype", dtype, FLOAT_TYPES)]


_MAX_CONSTANTS = 16


# The extents that are constants: rows, and the axes between tokens and rows.
def rows_shape(name: str, array: Any) -> tuple[str | None, ...]:
    rank = len(describe(name, array).shape)
    return ("tokens",) * min(1, max(0, rank - 1)) + (None,) * max(1, rank - 1)


def _finish(program: Program, rows: Value, target: Value, out: Any, stream: Any) -> Any:
    """Adds the output, which comes after all inputs, unless it is one of them."""
    program.returns((rows.name, target))
    if target.name == "%x":
        return launch(program, ("x",), stream)
    program.output("out", target.element, target.shape, out)
    return launch(program, ("out",), stream)


def _in_place(x: Any, out: Any) -> Any:
    """`out`, if it is `x` or an equal view of its memory, or else `x`."""
    if out is None:
        return x
    read, written = describe("x", x), describe("out", out)
    return out if read[:-1] == written[:-1] else x


def _target(value: Value, x: Any, dtype: str | None, out: Any) -> Value:
    """The destination: `x` itself, if that is where results go."""
    element = float_type(dtype, value.element, out)
    if out is x and element == value.element:
        return value
    return Value("%out", element, value.shape)


def norm_op(
    program: Program, shape: Sequence[int | str], weight: Any, eps: float, name: str = "weight"
) -> Op:
    """The norm of rows of that shape. `name` is that of the weight."""
    clause = ""
    eps = check_float("eps", eps, 0)
    if weight is not None:
        value = program.input(name, weight, FLOATS, (shape[-1],))
        clause = f" weight({value} : {value.type})"

    def emit(x: Value, out: Value) -> Value:
        rows = Value(program.fresh("n"), out.element, out.shape)
        program.line(
            f"{rows} = dsv4.rms_norm {x}{clause} outs({out} : {out.type}) "
            f"{{eps = {print_f32(eps)} : f32}} : {x.type}"
        )
        return rows

    return Op(emit)


def check_table(table: Any, positions: Any) -> None:
    """That positions are not given for nothing."""
    if table is None and positions is not None:
        raise make_error(
            InvalidArgument, "argument.table", "table",
            "'table' is needed with 'positions': without it nothing is rotated",
        )  # fmt: skip


def check_rotation(neox: Any, interleaved: Any) -> dict[str, bool]:
    """How elements of a row and numbers of the table are paired."""
    pairs = {
        "neox": check_flag("neox", neox), "interleaved": check_flag("interleaved", interleaved)
    }  # fmt: skip
    if all(pairs.values()):
        raise refuse("interleaved", interleaved, "False with 'neox'")
    return pairs


class Angles(NamedTuple):
    """What rows are rotated by: the table, and the positions of rows in it."""

    table: Value
    positions: Value


def input_angles(
    program: Program, table: Any, positions: Any, rows: Sequence[int | str]
) -> Angles:
    """The inputs of rotations. `rows` are the axes that have positions."""
    return Angles(
        program.input("table", table, FLOATS, ("positions", None)),
        program.input("positions", positions, INDICES, tuple(rows)),
    )


def rope_op(
    program: Program,
    shape: Sequence[int | str],
    angles: Angles,
    *,
    inverse: bool = False,
    neox: bool = False,
    interleaved: bool = False,
) -> Op:
    """The rotation of rows of that shape."""
    table, where = angles
    width, values = table.shape[1], shape[-1]
    assert isinstance(width, int) and isinstance(values, int)
    if width < 2 or width % 2 or width > values:
        raise make_error(
            InvalidArgument, "argument.extent", "table",
            f"argument 'table': extent 1 is {width}, expected an even number from 2 to {values}, "
            "the elements of a row",
        )  # fmt: skip

    def emit(x: Value, out: Value) -> Value:
        rows = Value(program.fresh("t"), out.element, out.shape)
        program.line(
            f"{rows} = dsv4.rope {x}{' inverse' if inverse else ''}{' neox' if neox else ''} "
            f"table({table} : {table.type}){' interleaved' if interleaved else ''} "
            f"positions({where} : {where.type}) outs({out} : {out.type}) : {x.type}"
        )
        return rows

    return Op(emit, values - width)


def hadamard_op(
    program: Program, name: str, shape: Sequence[int | str], scale: float | None = None
) -> Op:
    """The Hadamard transform of rows of that shape, which are argument `name`."""
    columns = shape[-1]
    assert isinstance(columns, int)
    if columns & (columns - 1):
        raise make_error(
            InvalidArgument, "argument.extent", name,
            f"argument '{name}': extent {len(shape) - 1} is {columns}, expected a power of two",
        )  # fmt: skip
    printed = print_f32(columns**-0.5 if scale is None else check_float("scale", scale))

    def emit(x: Value, out: Value) -> Value:
        rows = Value(program.fresh("h"), out.element, out.shape)
        program.line(
            f"{rows} = dsv4.hadamard {x} outs({out} : {out.type}) "
            f"{{scale = {printed} : f32}} : {x.type}"
        )
        return rows

    return Op(emit)


@function
def rms_norm(
    x: Array,
    weight: Array | None = None,
    *,
    eps: float = 1e-6,
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Rows divided by their root mean square.

    >>> y = dsv4.rms_norm(x, weight)

    Args:
        x: f32, bf16 or f16 `[..., N]`.
        weight: f32, bf16 or f16 `[N]`, which the rows are multiplied by.
        eps: added to the mean of the squares.
        dtype: of the result: 'float32', 'bfloat16' or 'float16'; None: that of
            `out`, or of `x`.
        out: an array to write to, also `x` itself, or an equal view of its memory.
        stream: as for `topk`.

    Returns:
        `x / sqrt(mean(x * x) + eps) * weight`, of the shape of `x`.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("rms_norm")
    x = _in_place(x, out)
    value = program.input("x", x, FLOATS, rows_shape("x", x))
    target = _target(value, x, dtype, out)
    rows = norm_op(program, value.shape, weight, eps).emit(value, target)
    return _finish(program, rows, target, out, stream)


@function
def rope(
    x: Array,
    table: Array,
    positions: Array,
    *,
    inverse: bool = False,
    neox: bool = False,
    interleaved: bool = False,
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Rows whose last elements are rotated by the angles of their positions.

    >>> y = dsv4.rope(q, cos_sin, positions)

    Args:
        x: f32, bf16 or f16 `[tokens, N]`, `[tokens, heads, N]`, or with more axes.
        table: f32, bf16 or f16 `[positions, D]`: of each position the cosines of D / 2 angles, then
            their sines.
        positions: i32 or i64, the leading axes of `x`, or the first of them alone.
        inverse: rotate back.
        neox: pairs are the elements j and j + D / 2, and not neighbours.
        interleaved: the table has complex numbers, cosine and sine in turn.
        dtype: of the result; None: that of `out`, or of `x`.
        out: an array to write to, also `x` itself, or an equal view of its memory.
        stream: as for `topk`.

    Returns:
        rows of the shape of `x`: the last D elements rotated, the others as they are. A row whose
        position is outside the table is not rotated.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("rope")
    x = _in_place(x, out)
    value = program.input("x", x, FLOATS, rows_shape("x", x))
    if "tokens" in program.dims:
        program.bucket("tokens", (FEW_ROWS,))
    target = _target(value, x, dtype, out)
    axes = len(describe("positions", positions).shape)
    if not 1 <= axes < max(2, len(value.shape)):
        raise make_error(
            InvalidArgument, "argument.rank", "positions",
            f"argument 'positions' has rank {axes}, expected the leading axes of 'x', of rank "
            f"{len(value.shape)}",
        )  # fmt: skip
    turn = rope_op(
        program, value.shape, input_angles(program, table, positions, value.shape[:axes]),
        inverse=check_flag("inverse", inverse), **check_rotation(neox, interleaved),
    )  # fmt: skip
    rows = turn.emit(value, target)
    return _finish(program, rows, target, out, stream)


@function
def hadamard(
    x: Array,
    *,
    scale: float | None = None,
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Rows times a Hadamard matrix.

    >>> y = dsv4.hadamard(x)

    Args:
        x: f32, bf16 or f16 `[..., N]`, N a power of two.
        scale: what the products are multiplied by; None: N^-0.5, with which the transform of a
            transform is the row again.
        dtype: of the result; None: that of `out`, or of `x`.
        out: an array to write to, also `x` itself, or an equal view of its memory.
        stream: as for `topk`.

    Returns:
        `(H x) * scale`, of the shape of `x`, with H of natural (Sylvester) order:
        `H(i, j) = (-1)^popcount(i & j)`. Sums are rounded to f32.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("hadamard")
    x = _in_place(x, out)
    value = program.input("x", x, FLOATS, rows_shape("x", x))
    transform = hadamard_op(program, "x", value.shape, scale)
    target = _target(value, x, dtype, out)
    rows = transform.emit(value, target)
    return _finish(program, rows, target, out, stream)


def check_constants(constants: Any) -> list[float]:
    """The numbers that weights are multiplied by."""
    numbers = [check_float("constants", each) for each in check_list("constants", constants)]
    if len(numbers) > _MAX_CONSTANTS:
        raise refuse("constants", constants, f"at most {_MAX_CONSTANTS} numbers")
    return numbers


def emit_products(
    program: Program, weights: Value, scales: Value | None, constants: list[float], out: Value
) -> Value:
    """Weights times scales and constants."""
    clauses = "" if scales is None else f" scales({scales} : {scales.type})"
    if constants:
        clauses += f" constants [{', '.join(map(print_decimal, constants))}]"
    rows = Value(program.fresh("w"), out.element, out.shape)
    program.line(
        f"{rows} = dsv4.scale_weights {weights}{clauses} outs({out} : {out.type}) "
        f": {weights.type}"
    )
    return rows


@function
def scale_weights(
    weights: Array,
    scales: Array | None = None,
    constants: Sequence[float] = (),
    *,
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Weights times the scales of quantised rows and constants.

    >>> values, scales = dsv4.quantize(q, "vllm_index_q")
    >>> folded = dsv4.scale_weights(weights, scales, (128**-0.5, 64**-0.5), dtype="float32")

    Whoever multiplies the quantised rows by the result needs no scales.

    Args:
        weights: f32, bf16 or f16 `[..., N]`.
        scales: f32 of the shape of `weights`; None: 1.
        constants: at most 16 numbers.
        dtype: of the result; None: that of `out`, or of `weights`.
        out: an array to write to, which shares no memory with the others.
        stream: as for `topk`.

    Returns:
        `((weights * scales) * constants[0]) * constants[1] ...`, of the shape of `weights`, every
        product rounded to f32.

    Raises:
        InvalidArgument: a shape, stride or option, or neither `scales` nor `constants`.
        TypeMismatch: an element type or a device.
    """
    program = Program("scale_weights")
    numbers = check_constants(constants)
    if scales is None and not numbers:
        raise refuse("constants", constants, "numbers, or 'scales'")
    value = program.input("weights", weights, FLOATS, rows_shape("weights", weights))
    of_rows = None
    if scales is not None:
        of_rows = program.input("scales", scales, ("f32",), tuple(value.shape))
    target = Value("%out", float_type(dtype, value.element, out), value.shape)
    rows = emit_products(program, value, of_rows, numbers, target)
    return _finish(program, rows, target, out, stream)


@function
def concat_rows(
    x: Array, y: Array, *, out: Array | None = None, stream: Stream | None = None
) -> Any:
    """Rows of two arrays one after the other.

    >>> keys = dsv4.concat_rows(k_pe, k_nope)

    Args:
        x: f32, bf16 or f16 `[..., N]`: the first columns.
        y: `[..., M]` of the same type and otherwise the same shape: the others.
        out: `[..., N + M]`, an array to write to, which shares no memory with the others.
        stream: as for `topk`.

    Returns:
        `[..., N + M]`, copied bit by bit.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("concat_rows")
    first = program.input("x", x, FLOATS, rows_shape("x", x))
    second = program.input("y", y, (first.element,), (*first.shape[:-1], None))
    own, other = first.shape[-1], second.shape[-1]
    assert isinstance(own, int) and isinstance(other, int)
    if own + other > MAX_ROW:
        raise make_error(
            InvalidArgument, "argument.extent", "y",
            f"argument 'y': extent {len(first.shape) - 1} is {other}, expected at most "
            f"{MAX_ROW - own}: rows of the result have {MAX_ROW} elements at most",
        )  # fmt: skip
    target = Value("%out", first.element, (*first.shape[:-1], own + other))
    rows = Value(program.fresh("c"), target.element, target.shape)
    program.line(
        f"{rows} = dsv4.concat_rows {first}, {second} outs({target} : {target.type}) "
        f": {first.type}, {second.type}"
    )
    return _finish(program, rows, target, out, stream)


@function
def pad_rows(
    x: Array, rows: int, *, out: Array | None = None, stream: Stream | None = None
) -> Any:
    """Rows, such as the heads of each token, and rows of zeros after them.

    >>> padded = dsv4.pad_rows(q, 64)              # [tokens, 16, 512] to [tokens, 64, 512]

    Args:
        x: f32, bf16 or f16 `[..., H, N]`.
        rows: how many there are in the result, H or more.
        out: `[..., rows, N]`, an array to write to, which shares no memory with `x`.
        stream: as for `topk`.

    Returns:
        `[..., rows, N]`: the rows of `x`, copied bit by bit, then zeros.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("pad_rows")
    rank = len(describe("x", x).shape)
    if rank < 2:
        raise make_error(
            InvalidArgument, "argument.rank", "x",
            f"argument 'x' has rank {rank}, expected 2 or more: rows and their elements",
        )  # fmt: skip
    lead = ("tokens",) * (rank > 2)
    value = program.input("x", x, FLOATS, (*lead, *(None,) * (rank - len(lead))))
    heads = value.shape[-2]
    assert isinstance(heads, int)
    count = check_int("rows", rows, max(1, heads), MAX_ROW)
    target = Value("%out", value.element, (*value.shape[:-2], count, value.shape[-1]))
    padded = Value(program.fresh("p"), target.element, target.shape)
    program.line(
        f"{padded} = dsv4.pad_rows {value} outs({target} : {target.type}) : {value.type}"
    )
    return _finish(program, padded, target, out, stream)
