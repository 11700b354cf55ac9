# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of functions, checked before a program is made of them.

A value of a caller gets into the text of a program through the functions `check_...` alone. Each
returns a new value of a type of Python itself, whose text dsv4 knows: what a class of the caller
says of itself is never asked for.
"""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Iterable
from typing import Any

from ._arrays import make_error
from ._dsv4 import Error, InvalidArgument
from ._show import is_array, show

# Of numbers in programs.
INT32_MAX = 2**31 - 1

# Of names: of fields, and of arguments of kernels, which are called after them.
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_MAX_NAME = 64


def refuse(name: str, value: Any, expected: str) -> Error:
    """The error of an option of that value."""
    return make_error(
        InvalidArgument, f"option.{name}", name, f"'{name}' is {show(value)}, expected {expected}"
    )


def _is_flag(value: Any) -> bool:
    """Whether it is a boolean of Python or NumPy."""
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))


def check_flag(name: str, value: Any) -> bool:
    """The flag, which has to be a boolean of Python or NumPy, or 0 or 1."""
    if not _is_flag(value) and not (type(value) is int and value in (0, 1)):
        raise refuse(name, value, "True or False")
    return bool(value)


def _is_number(value: Any) -> bool:
    """Whether it may be meant as a number. A flag is none, and an array is none: a plan would know
    its shape, and not the number."""
    return not (_is_flag(value) or is_array(value))


def check_int(
    name: str, value: Any, low: int, high: int = INT32_MAX, why: str | None = None
) -> int:
    """The integer, which has to be one from `low` to `high`. `why` none may be larger."""
    try:
        number = operator.index(value) if _is_number(value) else low - 1
    except Exception:  # Of what the caller passed.
        number = low - 1
    if not low <= number <= high:
        end = f"from {low} to {high}" if high != INT32_MAX else f"of at least {low}, below 2^31"
        reason = f": {why}" if why and number > high else ""
        raise refuse(name, value, f"an integer {end}{reason}")
    return number


def check_float(name: str, value: Any, low: float | None = None) -> float:
    """The number, which has to be finite as f32, and not below `low`."""
    number = float("nan")
    if _is_number(value):
        try:
            # Not of a string, which float() reads, too.
            number = value if type(value) in (int, float) else value.__float__()
            struct.pack("<f", number)
            (number,) = struct.unpack("<d", struct.pack("<d", number))
        except Exception:  # Of what the caller passed.
            number = float("nan")
    if not abs(number) < float("inf") or (low is not None and number < low):
        end = "" if low is None else f" of at least {low:g}"
        raise refuse(name, value, f"a finite number of type f32{end}")
    # 0 for -0, which a number of at least 0 is not.
    return number if low is None else number + 0.0


def plain_text(value: Any) -> str | None:
    """The characters of a string, also of a class of the caller, or None."""
    return str.__str__(value) if issubclass(type(value), str) else None


def check_word(name: str, value: Any, words: Iterable[str]) -> str:
    """The word, which has to be one of `words`."""
    known = list(words)
    word = plain_text(value)
    if word not in known:
        first = ", ".join(map(repr, known[:-1]))
        raise refuse(name, value, f"{first} or {known[-1]!r}")
    return word


def check_name(name: str, value: Any) -> str:
    """The name that a caller gives to something, which has to be an identifier."""
    word = plain_text(value)
    if word is None or len(word) > _MAX_NAME or not IDENTIFIER.fullmatch(word):
        raise refuse(
            name, value, f"a name of at most {_MAX_NAME} letters, digits and '_', no digit first"
        )
    return word


def check_list(name: str, value: Any) -> list[Any]:
    """The elements of a tuple or list."""
    if not isinstance(value, (tuple, list)):
        raise refuse(name, value, "a tuple or a list")
    return list(value)


def check_text(name: str, value: Any) -> str:
    """A text of one line, for the compiler."""
    text = plain_text(value)
    if text is None or not text.isprintable():
        raise refuse(name, value, "a string of one line")
    return text
