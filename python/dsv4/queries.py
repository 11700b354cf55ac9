# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queries: norms and rotations of the heads of tokens, also with the entries of a layer."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import describe, make_error
from ._chains import Chain
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_float, check_int, refuse
from ._program import MAX_ROW, Program, Value
from ._types import Array, Arrays, Stream
from .recipes import Recipe, print_format
from .records import Record, find_record
from .rows import FEW_ROWS, check_rotation, float_type, input_angles, rope_op
from .selection import FLOATS
from .writers import add_norm, check_width, make_chain, store_rows

# The smallest normal number of f32: with it, a norm makes zeros of zeros.
_MIN_EPS = 2.0**-126


class _Heads(NamedTuple):
    """How queries are computed. Names of options of their own begin with `of`."""

    of: str
    norm: bool
    weight: Any
    eps: float
    heads: int | None
    scale_inv: Any
    dtype: str | None
    rounding: str


class _Queries:
    """The queries of a program, and where they go."""

    def __init__(self, program: Program, q: Any, out: Any, how: _Heads) -> None:
        self._program = program
        self._how = how
        is_same = out is not None and describe("q", q)[:-1] == describe("out", out)[:-1]
        self._value = program.input("q", out if is_same else q, FLOATS, ("tokens", None, None))
        self._out = out
        count = self._value.shape[1]
        assert isinstance(count, int)
        heads = count if how.heads is None else check_int("heads", how.heads, count, MAX_ROW)
        if not 1 <= count <= MAX_ROW:
            raise make_error(
                InvalidArgument, "argument.extent", "q",
                f"argument 'q': extent 1 is {count}, expected 1 to {MAX_ROW} heads",
            )  # fmt: skip
        if heads > count and how.norm and how.eps < _MIN_EPS:
            raise refuse(
                "eps", how.eps, f"at least {_MIN_EPS:.3g} with more 'heads' than 'q' has"
            )
        self._shape = ("tokens", heads, self._value.shape[2])
        if how.scale_inv is None:
            element = float_type(how.dtype, self._value.element, out)
        elif how.dtype is None:
            element = "f8E4M3FN"
        else:
            raise refuse("dtype", how.dtype, f"None with '{how.of}scale_inv', which is for FP8")
        self._target = Value("%out", element, self._shape)
        if is_same and element == self._value.element and heads == count:
            self._target = self._value
        scale = how.scale_inv
        self._scale = None
        if scale is not None:
            self._scale = program.input(f"{how.of}scale_inv", scale, ("f32",), (1,))

    def make_chain(self) -> Chain:
        """The queries, normalised if they have to be."""
        source, how = self._value, self._how
        if source.shape[1] != self._shape[1]:
            to = self._program.empty(source.element, self._shape, source)
            padded = Value(self._program.fresh("p"), to.element, to.shape)
            self._program.line(
                f"{padded} = dsv4.pad_rows {source} outs({to} : {to.type}) : {source.type}"
            )
            source = padded
        kinds = [each for each in (self._target.element, source.element) if each in FLOATS[1:]]
        narrow = kinds[0] if kinds else "bf16"
        chain = Chain(self._program, source, self._shape, how.rounding, (), narrow)
        add_norm(self._program, chain, how.norm, how.weight, how.eps, how.of)
        return chain

    def write(self, chain: Chain) -> tuple[str, Value]:
        """The queries that a chain computes: their value, and the output that they fill."""
        target, scale = self._target, self._scale
        if scale is None:
            return str(chain.write(target)), target
        rows = chain.quantised(MAX_ROW)
        name = self._program.fresh("f")
        format = print_format(target.element, [("f32", "tensor")])
        self._program.line(
            f"{name} = dsv4.quantize {rows} given inverse({scale} : {scale.type}) "
            f"outs({target} : {target.type}) {{format = {format}, recipe = #dsv4.quantizer<>}} "
            f": {rows.type}"
        )
        return name, target

    def finish(self, written: tuple[str, Value], stream: Any) -> Any:
        self._program.returns(written)
        if self._target is self._value:
            return launch(self._program, ("q",), stream)
        self._program.output("out", self._target.element, self._shape, self._out)
        return launch(self._program, ("out",), stream)


@function
def query_norm_rope(
    q: Array,
    table: Array,
    positions: Array,
    *,
    norm: bool = True,
    weight: Array | None = None,
    eps: float = 1e-6,
    heads: int | None = None,
    inverse: bool = False,
    neox: bool = False,
    interleaved: bool = False,
    rounding: str = "none",
    scale_inv: Array | None = None,
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Normalises and rotates the heads of every token, in one kernel.

    >>> q = dsv4.query_norm_rope(q, cos_sin, positions)
    >>> q = dsv4.query_norm_rope(q, cos_sin, positions, heads=64)     # of [tokens, 16, 512]

    Args:
        q: f32, bf16 or f16 `[tokens, H, N]`.
        table: as for `rope`.
        positions: i32 or i64 `[tokens]`: all heads of a token have its position.
        norm: whether heads are normalised, each by itself.
        weight: f32, bf16 or f16 `[N]`, which normalised heads are multiplied by.
        eps: as for `rms_norm`.
        heads: of the result, H or more; None: H. Those after the H are zeros, if the `weight` is
            finite.
        inverse, neox, interleaved: as for `rope`.
        rounding: 'none' or 'last': heads are f32 between norm and rotation; 'each': they are
            rounded to bf16 there (f16, if the result or `q` has that type).
        scale_inv: f32 `[1]`: what heads are multiplied by before they are rounded to FP8 (e4m3).
            With a `rounding` they are rounded to 16 bits before, too.
        dtype: of the result; None: that of `out`, or of `q`, or with `scale_inv` FP8.
        out: `[tokens, heads, N]`, an array to write to, also `q` itself, or an equal view of its
            memory.
        stream: as for `topk`.

    Returns:
        `[tokens, heads, N]`. A token whose position is outside the table is not rotated.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("query_norm_rope")
    pairs = check_rotation(neox, interleaved)
    how = _Heads(
        "", check_flag("norm", norm), weight, check_float("eps", eps, 0), heads, scale_inv, dtype,
        rounding,
    )  # fmt: skip
    queries = _Queries(program, q, out, how)
    program.bucket("tokens", (FEW_ROWS,))
    chain = queries.make_chain()
    angles = input_angles(program, table, positions, ("tokens",))
    inverse = check_flag("inverse", inverse)
    chain.add(rope_op(program, chain.shape, angles, inverse=inverse, **pairs))
    return queries.finish(queries.write(chain), stream)


@function
def norm_rope_insert_(
    q: Array,
    kv: Array,
    cache: Arrays,
    slots: Array,
    table: Array,
    *,
    record: str | Record,
    recipe: str | Recipe | None = None,
    q_norm: bool = True,
    q_weight: Array | None = None,
    q_scale_inv: Array | None = None,
    heads: int | None = None,
    norm: bool | None = None,
    weight: Array | None = None,
    eps: float = 1e-6,
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
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Queries of a layer and its entries of a paged cache, in one kernel: `query_norm_rope` of `q`,
    and `norm_rope_append_` of `kv`.

    >>> q = dsv4.norm_rope_insert_(q, kv, cache, slots, cos_sin, record="v4_584", heads=64,
    ...                            positions=positions, recipe="vllm_v4", rounding="last")

    Args:
        q: f32, bf16 or f16 `[tokens, H, N]`.
        kv: f32, bf16 or f16 `[tokens, values]`: the values of the entries.
        cache, slots, record, recipe, norm, weight, global_scale, page_size, ring, unique,
        page_table, indptr, requests, lengths, lengths_per: as for `norm_rope_append_`.
        table: as for `rope`. Queries and entries are rotated.
        q_norm, q_weight, q_scale_inv: `norm`, `weight` and `scale_inv` of `query_norm_rope`.
        heads, dtype, out: as for `query_norm_rope`.
        eps: of both norms.
        positions: i32 or i64 `[tokens]`; None: `slots`, which are positions then.
        neox, interleaved: as for `rope`.
        rounding: as for `norm_rope_append_`, and for queries as for `query_norm_rope`.
        stream: as for `topk`.

    Returns:
        the queries, `[tokens, heads, N]`.

    Raises:
        InvalidArgument: a shape, stride, record, recipe or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("norm_rope_insert")
    unique = check_flag("unique", unique)
    found = find_record(record)
    pairs, eps = check_rotation(neox, interleaved), check_float("eps", eps, 0)
    norm = weight is not None if norm is None else check_flag("norm", norm)
    how = _Heads(
        "q_", check_flag("q_norm", q_norm), q_weight, eps, heads, q_scale_inv, dtype, rounding
    )
    queries = _Queries(program, q, out, how)
    program.bucket("tokens", (FEW_ROWS,))
    rows = program.input("kv", kv, FLOATS, ("tokens", None))
    check_width("kv", rows.shape[-1], found)
    of_queries = queries.make_chain()
    chain = make_chain(program, rows, rows.shape, found, rounding)
    add_norm(program, chain, norm, weight, eps)
    angles = input_angles(program, table, slots if positions is None else positions, ("tokens",))
    for each in (of_queries, chain):
        each.add(rope_op(program, each.shape, angles, **pairs))
    written = queries.write(of_queries)
    store_rows(
        program, [chain], cache, slots, found, recipe, global_scale=global_scale,
        page_size=page_size, ring=ring, unique=unique, page_table=page_table, indptr=indptr,
        requests=requests, lengths=lengths, lengths_per=lengths_per,
    )  # fmt: skip
    return queries.finish(written, stream)
