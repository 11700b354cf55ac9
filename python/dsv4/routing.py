# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Routers: experts of tokens, and their weights."""

from __future__ import annotations

from typing import Any

from ._dsv4 import InvalidArgument
from ._arrays import make_error
from ._kernels import function, launch
from ._options import check_flag, check_word
from ._program import Program, Value
from ._routers import (
    NANS,
    SCORES,
    Choice,
    Results,
    Router,
    Weights,
    check_experts,
    check_k,
    check_shared,
    gate,
    print_rows,
    weigh,
)
from ._types import Array, Arrays, Stream
from .selection import FLOATS, INDICES

# Up to this number of tokens, a block has one warp.
FEW_TOKENS = 256

# A warp chooses from as many experts.
_MAX_EXPERTS = 1024

# Of a product of hidden rows.
_MAX_HIDDEN, _MAX_PRODUCTS = 8192, 512
# Up to how many rows it has a schedule of its own, of those whose times differ by a tenth.
_DENSE_TOKENS = (8, 32, 64)
# More rows take less time with logits in memory.
_STORED_TOKENS = (*_DENSE_TOKENS, FEW_TOKENS, 1024)


@function
def route(
    logits: Array,
    k: int,
    *,
    bias: Array | None = None,
    bias_vl: Array | None = None,
    image_tokens: Array | None = None,
    replay: Array | None = None,
    score: str = "sqrt_softplus",
    groups: tuple[int, int, int] | None = None,
    renormalize: bool = True,
    scale: float = 1.0,
    shared: int = 0,
    shared_weight: float | None = None,
    shared_of_sum: float | None = None,
    nan: str = "last",
    valid_rows: Array | None = None,
    padding: Array | None = None,
    expert_map: Array | None = None,
    index_dtype: str = "int32",
    return_replay: bool = False,
    return_token_experts: bool = False,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """The k best experts of every token, by score plus bias, and their weights.

    >>> weights, ids = dsv4.route(logits, 6, bias=bias, scale=1.5)
    >>> weights, ids = dsv4.route(logits, 8, bias=bias, score="sigmoid", groups=(8, 4, 2))

    Args:
        logits: f32, bf16 or f16 `[tokens, experts]`.
        k: experts per token, without the shared ones.
        bias: f32, bf16 or f16 `[experts]`, for the choice only: weights do not have it.
        bias_vl, image_tokens: another bias, and bool `[tokens]`: the tokens that have it instead.
        replay: i32, i64 or i16 `[tokens, k + shared]`: experts to weigh again instead of a choice,
            as those of `return_replay`. There is no bias then. One that is not from 0 to `experts`
            - 1 weighs 0.
        score: 'sqrt_softplus', 'sigmoid' or 'softmax'.
        groups: (groups, kept groups, experts whose scores decide about a group).
        renormalize: divide the weights by their sum.
        scale: what the weights are multiplied by, after that.
        shared: experts that every token has, in columns after the k others.
        shared_weight, shared_of_sum: their weight, or its ratio to the sum of the others.
        nan: what an expert of score NaN is (the logit is NaN; with a softmax, one of the token).
            'last': chosen after all others, 'first': before them. If it is chosen, all weights of
            the token are NaN, without `renormalize` its own. 'zero': chosen after all others, and
            its weight is 0.
        valid_rows: i32 or i64 `[1]`, read on the device: later tokens have no experts.
        padding: bool `[tokens]`: tokens without experts.
        expert_map: i32 or i64 `[experts + shared]`: what ids are replaced by once experts are
            weighed, as logical experts by physical ones.
        index_dtype: 'int32', 'int64', 'uint32' or 'int16'.
        return_replay: return the experts before the `expert_map`, too, as int16: with all options
            but those of a choice, `replay` of these has the same weights and ids.
        return_token_experts: return int32 `[tokens, k + shared]`, too, with j * tokens + t in
            column j of token t, by which some engines sort.
        out: where results go, in their order.
        stream: as for `topk`.

    Returns:
        `(weights, ids)`, f32 and integers `[tokens, k + shared]`, the best first. After them the
        replay and the token-expert indices, if asked for.

    Raises:
        InvalidArgument: a shape, stride, k or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("route")
    value = program.input("logits", logits, FLOATS, ("tokens", None))
    experts = check_experts("logits", value.shape[1], 1, _MAX_EXPERTS)
    shared = check_shared(shared)
    k = check_k(k, experts, shared)
    nan = check_word("nan", nan, NANS)
    router = Router(
        program, experts,
        Choice(k, bias, bias_vl, image_tokens, groups, replay, nan),
        Weights(score, renormalize, scale, shared, shared_weight, shared_of_sum, nan),
        valid_rows, padding,
    )  # fmt: skip
    results = Results(
        program, k + shared, expert_map=expert_map, experts=experts + shared,
        index_dtype=index_dtype, return_replay=return_replay,
        return_token_experts=return_token_experts, out=out,
    )  # fmt: skip
    program.bucket("tokens", (FEW_TOKENS,))
    router.finish(value, str(value), results)
    return launch(program, results.names, stream)


@function
def hash_route(
    logits: Array,
    token_ids: Array,
    table: Array,
    *,
    score: str = "sqrt_softplus",
    renormalize: bool = True,
    scale: float = 1.0,
    shared: int = 0,
    shared_weight: float | None = None,
    shared_of_sum: float | None = None,
    nan: str = "last",
    valid_rows: Array | None = None,
    padding: Array | None = None,
    expert_map: Array | None = None,
    index_dtype: str = "int32",
    return_replay: bool = False,
    return_token_experts: bool = False,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Experts by token id, and their weights by score.

    >>> weights, ids = dsv4.hash_route(logits, token_ids, table, scale=1.5)

    Args:
        logits: f32, bf16 or f16 `[tokens, experts]`.
        token_ids: i32 or i64 `[tokens]`.
        table: i32 or i64 `[words, k]`: the experts of each token id.
        score, renormalize, scale, shared, shared_weight, shared_of_sum, valid_rows, padding,
        expert_map, index_dtype, return_replay, return_token_experts, out, stream: as for `route`.
        nan: 'last' or 'zero': whether an expert of score NaN has the weight NaN or 0. Nothing is
            chosen by score.

    Returns:
        As `route`. An id outside the table gives -1 and weights of 0. To weigh a replay again, call
        `route` with it.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("hash_route")
    value = program.input("logits", logits, FLOATS, ("tokens", None))
    words = program.input("token_ids", token_ids, INDICES, ("tokens",))
    experts = program.input("table", table, INDICES, ("words", None))
    clauses = print_rows(program, valid_rows, padding)
    shared = check_shared(shared)
    if shared:
        clauses += f" shared {shared} experts {value.shape[1]}"
    k, count = experts.shape[1], value.shape[1]
    assert isinstance(k, int) and isinstance(count, int)
    program.check_below("table", "token_ids", count)
    how = Weights(
        score, renormalize, scale, shared, shared_weight, shared_of_sum,
        check_word("nan", nan, ("last", "zero")),
    )  # fmt: skip
    results = Results(
        program, k + shared, expert_map=expert_map, experts=count + shared,
        index_dtype=index_dtype, return_replay=return_replay,
        return_token_experts=return_token_experts, out=out,
    )  # fmt: skip
    op = f"dsv4.lookup {experts}[{words}]{clauses}"
    found = results.choose(op, f"{experts.type}, {words.type}", value)
    scores = gate(program, value, str(value), score)
    weights = weigh(program, scores, found, results.weights, how)
    results.finish(found, weights)
    return launch(program, results.names, stream)


# ===-- From hidden rows ----------------------------------------------------------===


def _input_product(program: Program, hidden: Any, gate: Any) -> tuple[Value, Value, int]:
    """Hidden rows, the rows of the experts that they are multiplied with, and how many these are.
    """
    rows = program.input("hidden", hidden, ("bf16",), ("tokens", None))
    width = rows.shape[1]
    assert isinstance(width, int)
    if width > _MAX_HIDDEN:
        raise make_error(
            InvalidArgument, "argument.extent", "hidden",
            f"argument 'hidden': extent 1 is {width}, expected at most {_MAX_HIDDEN}",
        )  # fmt: skip
    weights = program.input("gate", gate, ("bf16", "f32"), (None, width))
    return rows, weights, check_experts("gate", weights.shape[0], 0, _MAX_PRODUCTS)


def _multiply(program: Program, rows: Value, weights: Value, out: Value) -> str:
    """The logits."""
    name = program.fresh("l")
    program.line(
        f"{name} = dsv4.router_logits {rows}, {weights} outs({out} : {out.type}) "
        f": {rows.type}, {weights.type}"
    )
    return name


@function
def router_logits(
    hidden: Array, gate: Array, *, out: Array | None = None, workspace: Array | None = None,
    stream: Stream | None = None,
) -> Any:  # fmt: skip
    """The logits of experts from hidden rows.

    >>> logits = dsv4.router_logits(hidden, gate)

    Args:
        hidden: bf16 `[tokens, H]`, H at most 8192.
        gate: bf16 or f32 `[experts, H]`: a row for each of at most 512 experts.
        out: f32 `[tokens, experts]`, an array to write to, which shares no memory with the others.
        workspace, stream: as for `topk`.

    Returns:
        `hidden @ gate.T`, f32 `[tokens, experts]`. Products are added in f32 and in one order, so
        the logits of a token do not depend on the others.

    Raises:
        InvalidArgument: a shape or stride.
        TypeMismatch: an element type or a device.
    """
    program = Program("router_logits")
    rows, weights, experts = _input_product(program, hidden, gate)
    program.bucket("tokens", _STORED_TOKENS)
    logits = program.output("out", "f32", ("tokens", experts), out)
    program.returns((_multiply(program, rows, weights, logits), logits))
    return launch(program, ("out",), stream, workspace)


@function
def dense_route(
    hidden: Array,
    gate: Array,
    k: int,
    *,
    bias: Array | None = None,
    bias_vl: Array | None = None,
    image_tokens: Array | None = None,
    replay: Array | None = None,
    score: str = "sqrt_softplus",
    groups: tuple[int, int, int] | None = None,
    renormalize: bool = True,
    scale: float = 1.0,
    shared: int = 0,
    shared_weight: float | None = None,
    shared_of_sum: float | None = None,
    nan: str = "last",
    valid_rows: Array | None = None,
    padding: Array | None = None,
    expert_map: Array | None = None,
    index_dtype: str = "int32",
    return_logits: bool = False,
    return_replay: bool = False,
    return_token_experts: bool = False,
    out: Arrays | None = None,
    workspace: Array | None = None,
    stream: Stream | None = None,
) -> Any:
    """The experts of every token and their weights, from hidden rows: `route` of their logits.

    >>> weights, ids = dsv4.dense_route(hidden, gate, 8, bias=bias, score="sigmoid", scale=2.5)

    It is one kernel, in which no logits go to memory, for up to 64 tokens (on the host target for
    any number). It is two, which take less time then, for more tokens, and with 'softmax',
    `return_logits` or a `replay`.

    Args:
        hidden, gate, workspace: as for `router_logits`.
        k, bias, bias_vl, image_tokens, replay, score, groups, renormalize, scale, shared,
        shared_weight, shared_of_sum, nan, valid_rows, padding, expert_map, index_dtype,
        return_replay, return_token_experts, out, stream: as for `route`.
        return_logits: return these, too.

    Returns:
        `(weights, ids)`, and after them the logits, f32 `[tokens, experts]`, the replay and the
        token-expert indices, if asked for: otherwise as `route` of `router_logits`, bit for bit.

    Raises:
        InvalidArgument: a shape, stride, k or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("dense_route")
    rows, product, experts = _input_product(program, hidden, gate)
    shared = check_shared(shared)
    k = check_k(k, experts, shared)
    nan = check_word("nan", nan, NANS)
    score = check_word("score", score, SCORES)
    router = Router(
        program, experts, Choice(k, bias, bias_vl, image_tokens, groups, replay, nan),
        Weights(score, renormalize, scale, shared, shared_weight, shared_of_sum, nan),
        valid_rows, padding,
    )  # fmt: skip
    more = ("logits",) * check_flag("return_logits", return_logits)
    results = Results(
        program, k + shared, expert_map=expert_map, experts=experts + shared,
        index_dtype=index_dtype, return_replay=return_replay,
        return_token_experts=return_token_experts, out=out, more=more,
    )  # fmt: skip
    shape = ("tokens", experts)
    is_many = not program.on_host and program.dims["tokens"] > _DENSE_TOKENS[-1]
    is_stored = bool(more) or score == "softmax" or is_many or replay is not None
    program.bucket("tokens", _STORED_TOKENS if is_stored else _DENSE_TOKENS)
    if is_stored:
        logits = program.output("logits", "f32", shape, results.given.get("logits"))
    else:
        logits = program.empty("f32", shape, rows)
    name = _multiply(program, rows, product, logits)
    # Of the program, it is a result: what only its own ops read has no memory.
    router.finish(logits, name, results, ((name, logits),) * is_stored)
    return launch(program, results.names, stream, workspace)
