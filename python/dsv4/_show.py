# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What messages say of a caller's values: one line, and short, whatever they are."""

from __future__ import annotations

import numbers
from typing import Any

# Characters of a value, and of a text that another library wrote.
_MAX_VALUE, _MAX_TEXT = 40, 120


def is_array(value: Any) -> bool:
    """Whether it is an array. Scalars of NumPy are none."""
    return hasattr(type(value), "__dlpack__")


def shorten(text: str, length: int = _MAX_TEXT) -> str:
    """The text in one line, and without its middle if it is longer."""
    if len(text) > 2 * length:  # Before anything looks at each character.
        text = f"{text[:length]} {text[-length:]}"
    line = "".join(each if each.isprintable() else " " for each in " ".join(text.split()))
    if len(line) <= length:
        return line
    head = (length - 3) // 2
    return f"{line[:head]}...{line[len(line) - (length - 3 - head):]}"


def show(value: Any) -> str:
    """A value as Python writes it, without its middle if that is long. What is no number or text,
    nor a list of them, is named by its type: it may take a while to say what it is, or fail."""
    kind = type(value)
    if value is None or kind in (bool, float):
        return repr(value)
    if kind is int:
        bits = value.bit_length()
        return repr(value) if bits <= 128 else f"an integer of {bits} bits"
    if kind is str:
        return shorten(repr(value[:_MAX_TEXT]), _MAX_VALUE)
    if kind in (tuple, list):
        end = ", ..." if len(value) > 4 else "," if kind is tuple and len(value) == 1 else ""
        each = ", ".join(
            type_name(item) if isinstance(item, (tuple, list)) else show(item)
            for item in value[:4]
        )
        return f"[{each}{end}]" if kind is list else f"({each}{end})"
    if isinstance(value, numbers.Number) and kind.__module__ == "numpy":
        return shorten(repr(value), _MAX_VALUE)
    return f"of type '{type_name(value)}'"


def type_name(value: Any) -> str:
    """The type of a value, with its module if that is not Python's."""
    kind = type(value)
    module, name = str(kind.__module__), str(kind.__qualname__)
    return shorten(name if module == "builtins" else f"{module}.{name}", _MAX_VALUE)


def find_similar(text: str, known: list[str]) -> str | None:
    """The name of `known` that a typo may be meant for."""
    import difflib  # Errors alone need it.

    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(text[:_MAX_TEXT].lower(), list(by_lower), 1)
    return by_lower[found[0]] if found else None
