# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of functions, checked before a program is made of them."""

from __future__ import annotations

import operator
import reprlib
import struct
from collections.abc import Iterable
from typing import Any

from ._arrays import make_error
from ._dsv4 import Error, InvalidArgument

# Of numbers in programs.
INT32_MAX = 2**31 - 1


def refuse(name: str, value: Any, expected: str) -> Error:
    """The error of an option of that value."""
    return make_error(
        InvalidArgument, f"option.{name}", name,
        f"'{name}' is {reprlib.repr(value)}, expected {expected}",
    )  # fmt: skip


def check_int(name: str, value: Any, low: int, high: int = INT32_MAX) -> int:
    """The integer, which has to be one from `low` to `high`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        end = f"from {low} to {high}" if high != INT32_MAX else f"of at least {low}, below 2^31"
        raise refuse(name, value, f"an integer {end}")
    return number


def check_float(name: str, value: Any, low: float | None = None) -> float:
    """The number, which has to be finite as f32, and not below `low`."""
    try:
        # Not of a string, which float() reads, too.
        number = value if isinstance(value, (int, float)) else value.__float__()
        struct.pack("<f", number)
        good = abs(number) < float("inf") and (low is None or number >= low)
    except (AttributeError, TypeError, ValueError, OverflowError, struct.error):
        good = False
    if not good:
        end = "" if low is None else f" of at least {low:g}"
        raise refuse(name, value, f"a finite number of type f32{end}")
    return float(number)


def check_word(name: str, value: Any, words: Iterable[str]) -> str:
    """The word, which has to be one of `words`."""
    known = list(words)
    if not isinstance(value, str) or value not in known:
        first = ", ".join(map(repr, known[:-1]))
        raise refuse(name, value, f"{first} or {known[-1]!r}")
    return value
