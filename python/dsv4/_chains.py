# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of ops that rows go through before they are stored, and where they are rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ._options import check_word
from ._program import Program, Value

# Where the rows of a chain are rounded to 16 bits before they are quantised: nowhere, after the
# last op, or after each of them.
ROUNDINGS = ("none", "last", "each")


class Op(NamedTuple):
    """An op of a chain. `emit` adds it to the program, given its rows and its destination, for
    every type of result that fields need. Columns before `first` stay as they are. A kernel has an
    op that is `single` once, so its result has one type."""

    emit: Callable[[Value, Value], Value]
    first: int = 0
    single: bool = False


class Chain:
    """The ops between the rows of a caller and the fields of an entry.

    `plain` are the types of fields that store values as they are: these values have the type of
    the field, whatever the rounding. Rows are rounded to the first of them, or else to `narrow`.
    """

    def __init__(
        self, program: Program, source: Value, shape: Sequence[int | str], rounding: str,
        plain: Sequence[str], narrow: str,
    ) -> None:  # fmt: skip
        self.rounding = check_word("rounding", rounding, ROUNDINGS)
        self.shape = tuple(shape)
        self._program = program
        self._source = source
        self._has_plain = bool(plain)
        self._narrow = plain[0] if plain else narrow
        self._ops: list[Op] = []
        self._last: dict[str, Value] = {}

    def add(self, op: Op) -> None:
        """Adds an op after the others. Rows of the chain are asked for afterwards."""
        if self._ops:
            between = self._narrow if self.rounding == "each" else "f32"
            self._source = self._emit(self._ops[-1], between)
        self._ops.append(op)

    def stored(self, element: str) -> Value:
        """The rows that a field of that type stores as they are."""
        rows = self._rows(element)
        if rows.element != element:  # Of the caller, without ops.
            self._last[element] = rows = self._convert(rows, element)
        return rows

    def write(self, out: Value) -> Value:
        """The rows in the memory of a caller. There is an op in the chain."""
        return self._ops[-1].emit(self._source, out)

    def quantised(self, end: int) -> Value:
        """The rows whose columns before `end` are quantised."""
        if not self._ops:
            return self._source
        last = self._ops[-1]
        if self.rounding != "none" or (last.single and self._has_plain):
            return self._rows(self._narrow)
        return self._source if end <= last.first else self._rows("f32")

    def _rows(self, element: str) -> Value:
        if not self._ops:
            return self._last.get(element, self._source)
        if element not in self._last:
            self._last[element] = self._emit(self._ops[-1], element)
        return self._last[element]

    def _convert(self, rows: Value, element: str) -> Value:
        """The rows in another type."""
        out = self._program.empty(element, self.shape, rows)
        name = self._program.fresh("v")
        self._program.line(
            f"{name} = dsv4.scale_weights {rows} constants [1.0] outs({out} : {out.type}) "
            f": {rows.type}"
        )
        return Value(name, element, self.shape)

    def _emit(self, op: Op, element: str) -> Value:
        return op.emit(self._source, self._program.empty(element, self.shape, self._source))
