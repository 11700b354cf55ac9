# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pairs of options: which calls show all of them, and arrays of every alignment and stride.

A model is a function of dsv4 with its documented options, as the values that a test gives them. A
case is a value for each option. `cover` makes few cases in which every two options meet in every
two of their values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import reference

Case = dict[str, Any]


class Model(NamedTuple):
    """A function and its options, whose first values are the defaults."""

    name: str
    options: dict[str, tuple[Any, ...]]
    # Makes the arguments of a call, and the results that are expected of it.
    make: Callable[[Case, np.random.Generator], Call]
    # Whether the documentation allows a case.
    allows: Callable[[Case], bool] = lambda case: True


class Call(NamedTuple):
    arguments: dict[str, Any]
    # One for each result, or for each array that the call changes.
    expected: dict[str, Expected | None]
    # Why results that are checked together are wrong, or None.
    verify: Callable[[Any], str | None] = lambda results: None


class Expected(NamedTuple):
    values: np.ndarray
    # What is compared: the stored elements, or what they mean.
    decode: Callable[[np.ndarray], np.ndarray] = lambda stored: stored
    rtol: float = 0
    atol: float = 0


# ===-- Cases --------------------------------------------------------------===


def _pairs(model: Model) -> list[tuple[tuple[str, Any], tuple[str, Any]]]:
    items = [[(name, value) for value in values] for name, values in model.options.items()]
    return [pair for a, b in itertools.combinations(items, 2) for pair in itertools.product(a, b)]


def _complete(model: Model, pair: Any, rng: np.random.Generator) -> Case | None:
    """An allowed case with a pair, as near to the defaults as one is found."""
    names = list(model.options)
    for tries in range(600):
        case = {name: values[0] for name, values in model.options.items()}
        for name in rng.permutation(names)[: min(tries // 8, len(names))]:
            case[name] = model.options[name][rng.integers(len(model.options[name]))]
        case.update(pair)
        if model.allows(case):
            return case
    return None


def cover(model: Model, seed: int = 0) -> list[Case]:
    """Few cases that have every pair that is allowed. Another seed makes others."""
    rng = np.random.default_rng(seed)
    left = dict.fromkeys(_pairs(model))
    cases = []
    while left:
        pair = next(iter(left))
        case = _complete(model, pair, rng)
        if case is None:
            del left[pair]
            continue
        fixed = {name for name, _ in pair}
        for name in rng.permutation([each for each in model.options if each not in fixed]):
            best = _count_new(case, name, left)
            for value in model.options[name]:
                other = {**case, name: value}
                count = _count_new(other, name, left)
                if count > best and model.allows(other):
                    case, best = other, count
        for new in itertools.combinations(case.items(), 2):
            left.pop(new, None)
        cases.append(case)
    return cases


def _count_new(case: Case, name: str, left: Any) -> int:
    """The pairs of one option that no case had yet."""
    items = list(case.items())
    at = next(i for i, item in enumerate(items) if item[0] == name)
    return sum(
        ((items[at], item) if at < i else (item, items[at])) in left
        for i, item in enumerate(items)
        if i != at
    )


# ===-- Arrays -------------------------------------------------------------===

# Where an array is in its memory: from its begin, from its second element, in rows with gaps that
# keep them aligned, and in rows that begin anywhere.
LAYOUTS = ("plain", "shifted", "gaps", "odd")
INTEGERS = ("int32", "int64")


def of_rows(layout: str, rank: int) -> str:
    """A layout of an array whose last axis is a row: its elements follow each other."""
    return {"gaps": "plain", "odd": "shifted"}.get(layout, layout) if rank == 1 else layout


class Arranged(NamedTuple):
    """An array in memory of its own."""

    array: np.ndarray
    memory: np.ndarray

    def find_strays(self, before: np.ndarray) -> np.ndarray:
        """The bytes outside of the array that are not as they were."""
        changed = self.memory != before
        inside = np.zeros(len(self.memory), np.uint8)
        _view(inside, self.array, self.memory).view(np.uint8)[...] = 1
        return np.flatnonzero(changed & (inside == 0))


def _view(memory: np.ndarray, array: np.ndarray, of: np.ndarray) -> np.ndarray:
    """The bytes of an array, in other memory than it has."""
    offset = array.__array_interface__["data"][0] - of.ctypes.data
    return np.lib.stride_tricks.as_strided(
        memory[offset:], (*array.shape, array.itemsize), (*array.strides, 1)
    )


def arrange(values: Any, layout: str = "plain", gap: int | None = None) -> Arranged:
    """A copy of an array. `gap` is the elements after each row of a layout with gaps."""
    values = np.asarray(values)
    size = values.itemsize
    if gap is None:
        gap = {"gaps": 32 // size, "odd": 3}.get(layout, 0)
    shape = list(values.shape)
    step = 1
    if values.ndim == 1 and gap:
        step = {"gaps": 2, "odd": 3}[layout]
        shape[0] *= step
    elif values.ndim:
        shape[-1] += gap
    first = size if layout in ("shifted", "odd") else 0
    bytes = int(np.prod(shape)) * size
    whole = np.full(bytes + 64, 0xA5, np.uint8)
    memory = whole[-whole.ctypes.data % 16 :]
    array = memory[first : first + bytes].view(values.dtype).reshape(shape)
    if values.ndim == 1:
        array = array[::step]
    elif values.ndim:
        array = array[..., : values.shape[-1]]
    array[...] = values
    return Arranged(array, memory)


ELEMENTS = {
    "f32": (np.float32, lambda x: np.asarray(x, np.float32), lambda x: np.asarray(x, np.float64)),
    "bf16": (np.uint16, reference.to_bf16, lambda x: reference.from_bf16(x).astype(np.float64)),
    "f16": (np.float16, lambda x: np.asarray(x, np.float16), lambda x: x.astype(np.float64)),
}  # fmt: skip

# How far a rounded value may be from the exact one.
RTOL = {"f32": 2e-5, "bf16": 2.0**-7, "f16": 2.0**-9}


def encode(values: Any, element: str) -> np.ndarray:
    return ELEMENTS[element][1](values)


def decode(stored: np.ndarray, element: str) -> np.ndarray:
    return ELEMENTS[element][2](stored)
