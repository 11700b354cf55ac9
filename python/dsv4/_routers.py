# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of the programs of routers."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import make_error
from ._dsv4 import InvalidArgument
from ._options import check_flag, check_float, check_int, check_list, check_word, refuse
from ._program import Program, Value
from .recipes import print_f32
from .selection import INDICES, index_type, take_outputs

# Groups that a warp chooses from, and what it may choose, with the shared experts.
_MAX_GROUPS, _MAX_CHOSEN = 32, 32
# Experts that every token has.
_MAX_SHARED = 31

SCORES = ("sqrt_softplus", "sigmoid", "softmax")
NANS = ("last", "first", "zero")


def print_rows(program: Program, valid_rows: Any, padding: Any) -> str:
    clauses = ""
    if valid_rows is not None:
        value = program.input("valid_rows", valid_rows, INDICES, (1,))
        clauses += f" valid_rows({value} : {value.type})"
    if padding is not None:
        value = program.input("padding", padding, ("i1",), ("tokens",))
        clauses += f" padding({value} : {value.type})"
    return clauses


# ===-- Experts ------------------------------------------------------------------===


class Choice(NamedTuple):
    """How the experts of a token are chosen."""

    bias: Any
    groups: Any
    nan: str


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


def _print_choice(program: Program, choice: Choice, experts: int) -> str:
    """The clauses of a selection, without those of rows and shared experts."""
    clauses = ""
    if choice.bias is not None:
        value = program.input("bias", choice.bias, ("f32",), (experts,))
        clauses = f" bias({value} : {value.type})"
    clauses += " order sorted" + (" nan first" if choice.nan == "first" else "")
    return clauses if choice.groups is None else clauses + _print_groups(choice.groups, experts)


class Results:
    """The outputs of a router."""

    def __init__(
        self, program: Program, columns: int, *, index_dtype: str, out: Any,
        more: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """`more` are results after the ids, which others make."""
        self.names = ("weights", "ids", *more)
        self.given = dict(zip(self.names, take_outputs(out, len(self.names))))
        self._program = program
        shape = ("tokens", columns)
        self.ids = program.output(
            "ids", index_type(index_dtype), shape, self.given["ids"], option="index_dtype"
        )
        self.weights = program.output("weights", "f32", shape, self.given["weights"])

    def finish(self, ids: str, weights: str, more: tuple[tuple[str, Value], ...] = ()) -> None:
        """What the program returns, for experts and weights that it has computed."""
        self._program.returns((ids, self.ids), (weights, self.weights), *more)


# ===-- Weights ------------------------------------------------------------------===


class Weights(NamedTuple):
    """How experts are weighed."""

    score: str
    renormalize: bool
    scale: float
    shared: int
    shared_weight: float | None
    shared_of_sum: float | None
    nan: str


def gate(program: Program, logits: Value, name: str, score: str) -> Value:
    """The scores of logits, whose value is `name`."""
    score = check_word("score", score, SCORES)
    row = program.empty("f32", logits.shape, logits)
    scores = Value(program.fresh("s"), "f32", logits.shape)
    program.line(
        f"{scores} = dsv4.gate {name} function {score} outs({row} : {row.type}) : {logits.type}"
    )
    return scores


def weigh(
    program: Program, scores: Value, experts: tuple[str, Value], weights: Value, how: Weights
) -> str:
    """The weights of the chosen experts."""
    name, ids = experts
    clauses = " renormalize" if check_flag("renormalize", how.renormalize) else ""
    scale = check_float("scale", how.scale)
    if scale != 1.0:
        clauses += f" scale {print_f32(scale)} : f32"
    if how.nan == "zero":
        clauses += " nan zero"
    weights_of_shared = {"shared_weight": how.shared_weight, "shared_of_sum": how.shared_of_sum}
    given = {
        name: check_float(name, each) for name, each in weights_of_shared.items()
        if each is not None
    }  # fmt: skip
    if given and not how.shared:
        name = next(iter(given))
        raise refuse(name, given[name], "None without 'shared' experts")
    if how.shared:
        clauses += f" shared {how.shared}"
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
    return found


# ===-- Checks, and the whole ------------------------------------------------------===


def check_experts(name: str, extent: int | str, axis: int, maximum: int) -> int:
    """The experts of an array, which are a constant."""
    assert isinstance(extent, int)
    if not 1 <= extent <= maximum:
        raise make_error(
            InvalidArgument, "argument.extent", name,
            f"argument '{name}': extent {axis} is {extent}, expected 1 to {maximum} experts",
        )  # fmt: skip
    return extent


def check_shared(shared: Any) -> int:
    return check_int("shared", shared, 0, _MAX_SHARED)


def check_k(k: Any, experts: int, shared: int) -> int:
    return check_int("k", k, 1, min(experts, _MAX_CHOSEN - shared))


class Router:
    """The program of a router by score, once it has its first input."""

    def __init__(
        self, program: Program, experts: int, choice: Choice, how: Weights, valid_rows: Any,
        padding: Any,
    ) -> None:  # fmt: skip
        self._program = program
        self._how = how
        self._clauses = _print_choice(program, choice, experts)
        self._rows = print_rows(program, valid_rows, padding)

    def finish(
        self, logits: Value, name: str, results: Results, more: tuple[tuple[str, Value], ...] = ()
    ) -> None:
        """Adds the ops after the logits, whose value is `name`."""
        program, how = self._program, self._how
        scores = gate(program, logits, name, how.score)
        ids, chosen = results.ids, program.fresh("c")
        shared = f" shared {how.shared}" if how.shared else ""
        program.line(
            f"{chosen} = dsv4.topk {scores}{self._clauses}{self._rows}{shared} "
            f"outs({ids} : {ids.type}) : {scores.type}"
        )
        weights = weigh(program, scores, (chosen, ids), results.weights, how)
        results.finish(chosen, weights, more)
