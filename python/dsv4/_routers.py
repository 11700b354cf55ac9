# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of the programs of routers."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import make_error
from ._dsv4 import Error, InvalidArgument
from ._options import check_flag, check_float, check_int, check_list, check_word, refuse
from ._program import Program, Value
from .recipes import print_f32
from .selection import FLOATS, INDEX_TYPES, INDICES, take_outputs

# Groups that a warp chooses from, and what it may choose, with the shared experts.
_MAX_GROUPS, _MAX_CHOSEN = 32, 32
# Experts that every token has.
_MAX_SHARED = 31

SCORES = ("sqrt_softplus", "sigmoid", "softmax")
NANS = ("last", "first", "zero")

# Chosen experts, also as some engines record them.
_IDS = ("i32", "i64", "i16")
_ID_TYPES = {**INDEX_TYPES, "int16": "i16"}


def print_rows(program: Program, valid_rows: Any, padding: Any) -> str:
    clauses = ""
    if valid_rows is not None:
        value = program.input("valid_rows", valid_rows, INDICES, (1,))
        clauses += f" valid_rows({value} : {value.type})"
    if padding is not None:
        value = program.input("padding", padding, ("i1",), ("tokens",))
        clauses += f" padding({value} : {value.type})"
    return clauses


def _refuse_argument(name: str, message: str) -> Error:
    return make_error(InvalidArgument, f"argument.{name}", name, message)


# ===-- Experts ------------------------------------------------------------------===


class Choice(NamedTuple):
    """How the experts of a token are chosen."""

    k: int
    bias: Any
    bias_vl: Any
    image_tokens: Any
    groups: Any
    replay: Any
    nan: str


def _print_bias(program: Program, choice: Choice, experts: int) -> str:
    """The clauses of the bias, and of that of some tokens."""
    others = {"bias_vl": choice.bias_vl, "image_tokens": choice.image_tokens}
    missing = [name for name, each in {"bias": choice.bias, **others}.items() if each is None]
    if missing and any(each is not None for each in others.values()):
        raise _refuse_argument(
            missing[0],
            f"'{missing[0]}' is needed: 'bias_vl' replaces 'bias' for the 'image_tokens'",
        )
    if choice.bias is None:
        return ""
    value = program.input("bias", choice.bias, FLOATS, (experts,))
    clauses = f" bias({value} : {value.type})"
    if choice.bias_vl is not None:
        other = program.input("bias_vl", choice.bias_vl, FLOATS, (experts,))
        rows = program.input("image_tokens", choice.image_tokens, ("i1",), ("tokens",))
        clauses += f" other_bias({other}, {rows} : {other.type}, {rows.type})"
    return clauses


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
    clauses = _print_bias(program, choice, experts)
    clauses += " order sorted" + (" nan first" if choice.nan == "first" else "")
    return clauses if choice.groups is None else clauses + _print_groups(choice.groups, experts)


def input_experts(program: Program, choice: Choice, shared: int) -> Value:
    """The experts that are chosen already."""
    for name in ("bias", "bias_vl", "image_tokens", "groups"):
        if getattr(choice, name) is not None:
            raise _refuse_argument(
                name, f"'{name}' is for a choice, and 'replay' has one: pass one of them"
            )
    if choice.nan == "first":
        raise refuse("nan", choice.nan, "'last' or 'zero' with 'replay'")
    return program.input("replay", choice.replay, _IDS, ("tokens", choice.k + shared))


class Results:
    """The outputs of a router, and the ops between the experts that it has and its ids."""

    def __init__(
        self,
        program: Program,
        columns: int,
        *,
        expert_map: Any,
        experts: int,
        index_dtype: str,
        return_replay: bool,
        return_token_experts: bool,
        out: Any,
        more: tuple[str, ...] = (),
    ) -> None:
        """`more` are results between the ids and the replay, which others make."""
        element = _ID_TYPES[check_word("index_dtype", index_dtype, _ID_TYPES)]
        replay = ("recorded",) * check_flag("return_replay", return_replay)
        numbers = ("token_experts",) * check_flag("return_token_experts", return_token_experts)
        self.names = ("weights", "ids", *more, *replay, *numbers)
        self.given = dict(zip(self.names, take_outputs(out, len(self.names))))
        self._program = program
        self._table = None
        if expert_map is not None:
            self._table = program.input("expert_map", expert_map, INDICES, (experts,), "rows")
        shape = ("tokens", columns)
        self.ids = program.output("ids", element, shape, self.given["ids"], option="index_dtype")
        self.weights = program.output("weights", "f32", shape, self.given["weights"])
        self._replay = self._numbers = None
        if replay:
            self._replay = program.output("recorded", "i16", shape, self.given["recorded"])
        if numbers:
            given = self.given["token_experts"]
            self._numbers = program.output("token_experts", "i32", shape, given)
        # Ops that choose have no results of i16. What several ops of a kernel read has no memory.
        self._is_mapped = self._table is not None or element == "i16" or bool(replay)
        self._chosen: list[tuple[str, Value]] = []

    def _destination(self, like: Value) -> Value:
        """Where chosen experts go: to memory, unless they are replaced."""
        if not self._is_mapped:
            return self.ids
        return self._program.empty("i32", self.ids.shape, like)

    def choose(self, op: str, types: str, like: Value) -> tuple[str, Value]:
        """Adds an op that chooses experts. Returns these, and the destination."""
        ids, numbers, chosen = self._destination(like), self._numbers, self._program.fresh("c")
        if numbers is None:
            self._program.line(f"{chosen} = {op} outs({ids} : {ids.type}) : {types}")
        else:
            name = self._program.fresh("n")
            self._program.line(
                f"{chosen}, {name} = {op} token_experts "
                f"outs({ids}, {numbers} : {ids.type}, {numbers.type}) : {types}"
            )
            self._chosen = [(name, numbers)]
        return chosen, ids

    def take(self, given: Value, clauses: str, like: Value) -> tuple[str, Value]:
        """Adds the op that takes experts instead of choosing them. Returns the same."""
        if self._numbers is not None:
            raise refuse("return_token_experts", True, "False with 'replay': nothing is chosen")
        ids = self._destination(like)
        return self._map((str(given), given), clauses, ids), ids

    def _map(self, experts: tuple[str, Value], clauses: str, to: Value) -> str:
        name, source = experts
        mapped = self._program.fresh("m")
        self._program.line(
            f"{mapped} = dsv4.map_indices {name}{clauses} outs({to} : {to.type}) : {source.type}"
        )
        return mapped

    def finish(
        self, experts: tuple[str, Value], weights: str, more: tuple[tuple[str, Value], ...] = ()
    ) -> None:
        """What the program returns, for experts and weights that it has computed."""
        ids = experts[0]
        if self._is_mapped:
            table = self._table
            clause = "" if table is None else f" table({table} : {table.type})"
            ids = self._map(experts, clause, self.ids)
        results = [(ids, self.ids), (weights, self.weights), *more, *self._chosen]
        if self._replay is not None:
            results.append((self._map(experts, "", self._replay), self._replay))
        self._program.returns(*results)


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
        self._given = None
        self._clauses = ""
        if choice.replay is not None:
            self._given = input_experts(program, choice, how.shared)
        else:
            self._clauses = _print_choice(program, choice, experts)
        self._rows = print_rows(program, valid_rows, padding)

    def finish(
        self, logits: Value, name: str, results: Results, more: tuple[tuple[str, Value], ...] = ()
    ) -> None:
        """Adds the ops after the logits, whose value is `name`."""
        program, how = self._program, self._how
        scores = gate(program, logits, name, how.score)
        if self._given is not None:
            chosen = results.take(self._given, self._rows, logits)
        else:
            shared = f" shared {how.shared}" if how.shared else ""
            op = f"dsv4.topk {scores}{self._clauses}{self._rows}{shared}"
            chosen = results.choose(op, scores.type, logits)
        weights = weigh(program, scores, chosen, results.weights, how)
        results.finish(chosen, weights, more)
