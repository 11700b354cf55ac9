# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Routers: experts of tokens, and their weights."""

from __future__ import annotations

from typing import Any

from ._arrays import make_error
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_float, check_int, check_list, check_word, refuse
from ._program import Program, Value
from .recipes import print_f32
from .selection import FLOATS, INDICES, index_type, take_outputs

# Up to this number of tokens, a block has one warp.
FEW_TOKENS = 256

# A warp chooses: from how many experts, or groups of them, and how many, with the shared ones.
_MAX_EXPERTS, _MAX_GROUPS, _MAX_CHOSEN = 1024, 32, 32
# Experts that every token has.
_MAX_SHARED = 31

SCORES = ("sqrt_softplus", "sigmoid", "softmax")


def _rows_that_count(program: Program, valid_rows: Any, padding: Any) -> str:
    clauses = ""
    if valid_rows is not None:
        value = program.input("valid_rows", valid_rows, INDICES, (1,))
        clauses += f" valid_rows({value} : {value.type})"
    if padding is not None:
        value = program.input("padding", padding, ("i1",), ("tokens",))
        clauses += f" padding({value} : {value.type})"
    return clauses


def _outputs(program: Program, columns: int, index_dtype: str, out: Any) -> tuple[Value, Value]:
    """The ids and the weights of a router, which returns them the other way round."""
    weights, ids = take_outputs(out, 2)
    shape = ("tokens", columns)
    return (
        program.output("ids", index_type(index_dtype), shape, ids, option="index_dtype"),
        program.output("weights", "f32", shape, weights),
    )


def _weigh(
    program: Program,
    logits: Value,
    experts: tuple[str, Value],
    weights: Value,
    *,
    score: str,
    renormalize: bool,
    scale: float,
    shared: int,
    shared_weight: float | None,
    shared_of_sum: float | None,
    weighs_nan: bool,
    scores: Value | None = None,
) -> None:
    """Scores, if there are none yet, and weights of the chosen experts."""
    if scores is None:
        scores = _gate(program, logits, score)
    name, ids = experts
    clauses = " renormalize" if check_flag("renormalize", renormalize) else ""
    scale = check_float("scale", scale)
    if scale != 1.0:
        clauses += f" scale {print_f32(scale)} : f32"
    if not weighs_nan:
        clauses += " nan zero"
    shares = {"shared_weight": shared_weight, "shared_of_sum": shared_of_sum}
    given = {name: check_float(name, each) for name, each in shares.items() if each is not None}
    if shared:
        clauses += f" shared {shared}"
        if len(given) != 1:
            raise make_error(
                InvalidArgument, "option.shared", "shared",
                "'shared' needs 'shared_weight' or 'shared_of_sum', one of them",
            )  # fmt: skip
        if "shared_weight" in given:
            clauses += f" weight {print_f32(given['shared_weight'])} : f32"
        else:
            clauses += f" of_sum {print_f32(given['shared_of_sum'])} : f32"
    found = program.fresh("w")
    program.line(
        f"{found} = dsv4.route_weights {scores}[{name}]{clauses} outs({weights} : {weights.type}) "
        f": {scores.type}, {ids.type}"
    )
    program.returns((name, ids), (found, weights))


def _print_groups(groups: Any, experts: int) -> str:
    """The clause of groups, which have as many experts each."""
    numbers = check_list("groups", groups)
    if len(numbers) != 3:
        raise refuse(
            "groups", groups, "three integers: groups, kept groups, and deciding experts of a group"
        )
    count, kept, by = (check_int("groups", each, 1, experts) for each in numbers)
    if experts % count or count > _MAX_GROUPS or kept > count or by > experts // count:
        raise refuse(
            "groups", groups,
            f"at most {_MAX_GROUPS} groups that divide {experts} experts, no more of them kept, "
            "and no more deciding experts than a group has",
        )  # fmt: skip
    return f" groups {count} keep {kept} by {by}"


def _gate(program: Program, logits: Value, score: str) -> Value:
    score = check_word("score", score, SCORES)
    row = program.empty("f32", logits.shape, logits)
    scores = Value(program.fresh("s"), "f32", logits.shape)
    program.line(
        f"{scores} = dsv4.gate {logits} function {score} outs({row} : {row.type}) : {logits.type}"
    )
    return scores


@function
def route(
    logits: Any,
    k: int,
    *,
    bias: Any = None,
    score: str = "sqrt_softplus",
    groups: tuple[int, int, int] | None = None,
    renormalize: bool = True,
    scale: float = 1.0,
    shared: int = 0,
    shared_weight: float | None = None,
    shared_of_sum: float | None = None,
    nan: str = "last",
    valid_rows: Any = None,
    padding: Any = None,
    index_dtype: str = "int32",
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The k best experts of every token, by score plus bias, and their weights.

    >>> weights, ids = dsv4.route(logits, 6, bias=bias, scale=1.5)
    >>> weights, ids = dsv4.route(logits, 8, bias=bias, score="sigmoid", groups=(8, 4, 2))

    Args:
        logits: f32, bf16 or f16 `[tokens, experts]`.
        k: experts per token, without the shared ones.
        bias: f32 `[experts]`, for the choice only: weights do not have it.
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
        index_dtype: 'int32', 'int64' or 'uint32'.
        out: `(weights, ids)` to write to.
        stream: as for `topk`.

    Returns:
        `(weights, ids)`: f32 and integers `[tokens, k + shared]`, the best first.

    Raises:
        InvalidArgument: a shape, stride, k or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("route")
    value = program.input("logits", logits, FLOATS, ("tokens", None))
    clauses = ""
    if bias is not None:
        biases = program.input("bias", bias, ("f32",), (value.shape[1],))
        clauses += f" bias({biases} : {biases.type})"
    experts = value.shape[1]
    assert isinstance(experts, int)
    if experts > _MAX_EXPERTS:
        raise make_error(
            InvalidArgument, "argument.extent", "logits",
            f"argument 'logits': extent 1 is {experts}, expected at most {_MAX_EXPERTS} experts",
        )  # fmt: skip
    shared = check_int("shared", shared, 0, _MAX_SHARED)
    k = check_int("k", k, 1, min(experts, _MAX_CHOSEN - shared))
    nan = check_word("nan", nan, ("last", "first", "zero"))
    clauses += " order sorted" + (" nan first" if nan == "first" else "")
    if groups is not None:
        clauses += _print_groups(groups, experts)
    clauses += _rows_that_count(program, valid_rows, padding)
    if shared:
        clauses += f" shared {shared}"
    ids, weights = _outputs(program, k + shared, index_dtype, out)
    program.bucket("tokens", (FEW_TOKENS,))
    scores = _gate(program, value, score)
    chosen = program.fresh("c")
    program.line(f"{chosen} = dsv4.topk {scores}{clauses} outs({ids} : {ids.type}) : {scores.type}")
    _weigh(
        program, value, (chosen, ids), weights, score=score, renormalize=renormalize, scale=scale,
        shared=shared, shared_weight=shared_weight, shared_of_sum=shared_of_sum,
        weighs_nan=nan != "zero", scores=scores,
    )  # fmt: skip
    return launch(program, ("weights", "ids"), stream)


@function
def hash_route(
    logits: Any,
    token_ids: Any,
    table: Any,
    *,
    score: str = "sqrt_softplus",
    renormalize: bool = True,
    scale: float = 1.0,
    shared: int = 0,
    shared_weight: float | None = None,
    shared_of_sum: float | None = None,
    nan: str = "last",
    valid_rows: Any = None,
    padding: Any = None,
    index_dtype: str = "int32",
    out: Any = None,
    stream: Any = None,
) -> Any:
    """Experts by token id, and their weights by score.

    >>> weights, ids = dsv4.hash_route(logits, token_ids, table, scale=1.5)

    Args:
        logits: f32, bf16 or f16 `[tokens, experts]`.
        token_ids: i32 or i64 `[tokens]`.
        table: i32 or i64 `[words, k]`: the experts of each token id.
        score, renormalize, scale, shared, shared_weight, shared_of_sum, valid_rows, padding,
        index_dtype, out, stream: as for `route`.
        nan: 'last' or 'zero': whether an expert of score NaN has the weight NaN or 0. Nothing is
            chosen by score.

    Returns:
        `(weights, ids)`: f32 and integers `[tokens, k + shared]`. An id outside the table gives -1
        and weights of 0.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("hash_route")
    value = program.input("logits", logits, FLOATS, ("tokens", None))
    words = program.input("token_ids", token_ids, INDICES, ("tokens",))
    experts = program.input("table", table, INDICES, ("words", None))
    clauses = _rows_that_count(program, valid_rows, padding)
    shared = check_int("shared", shared, 0, _MAX_SHARED)
    if shared:
        clauses += f" shared {shared} experts {value.shape[1]}"
    k, count = experts.shape[1], value.shape[1]
    assert isinstance(k, int) and isinstance(count, int)
    program.check_below("table", "token_ids", count)
    ids, weights = _outputs(program, k + shared, index_dtype, out)
    found = program.fresh("c")
    program.line(
        f"{found} = dsv4.lookup {experts}[{words}]{clauses} outs({ids} : {ids.type}) "
        f": {experts.type}, {words.type}"
    )
    _weigh(
        program, value, (found, ids), weights, score=score, renormalize=renormalize, scale=scale,
        shared=shared, shared_weight=shared_weight, shared_of_sum=shared_of_sum,
        weighs_nan=check_word("nan", nan, ("last", "zero")) == "last",
    )  # fmt: skip
    return launch(program, ("weights", "ids"), stream)
