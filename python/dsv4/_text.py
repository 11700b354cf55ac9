# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where arguments and their types are in the text of a program.

This is no parser of MLIR: it finds what `compile(like=)` writes, and leaves all else to the
compiler, which refuses a text that is wrong. Edits keep the lines of the text, which messages name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SILENT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
_FUNCTION = re.compile(r"\bfunc\.func\s+(?:public\s+|private\s+)?@([\w$.-]+)\s*\(")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_STATEMENT = re.compile(
    r"^[ \t]*(?:(?P<results>%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+)*)\s*=\s*)?"
    r"(?:[a-z]\w*\.[\w.]+|return)\b",
    re.MULTILINE,
)
_TENSOR = re.compile(r"tensor<\s*((?:(?:\?|\d+)\s*x\s*)*)([\w!]+)\s*>")
_OPEN, _CLOSE = "([{<", ")]}>"

Span = tuple[int, int]
Edit = tuple[int, int, str]


class Argument(NamedTuple):
    """An argument of a function in its text."""

    value: str
    type: Span
    # Between the braces, or None.
    attributes: Span | None


class Function(NamedTuple):
    name: str
    arguments: tuple[Argument, ...]
    # Types of results.
    results: tuple[Span, ...]
    # What is between them and the body: attributes.
    head: Span
    body: Span


def _names(results: str) -> list[str]:
    """The values of `%a, %b` or of `%a:2`."""
    found = []
    for name, count in re.findall(r"(%[\w$.-]+)(?::(\d+))?", results):
        found += [f"{name}#{number}" for number in range(int(count))] if count else [name]
    return found


class Text:
    """The text of a program, and the same without what is in strings and comments."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bare = _SILENT.sub(lambda found: " " * len(found[0]), text)
        self._aliases: dict[str, str] = {}
        for found in re.finditer(r"^([!#]\w+)\s*=\s*", self.bare, re.MULTILINE):
            self._aliases[found[1]] = text[found.end() : self._end_of_line(found.end())].strip()

    def __getitem__(self, span: Span) -> str:
        return self.text[span[0] : span[1]].strip()

    def functions(self) -> list[Function]:
        found = (self._function(each) for each in _FUNCTION.finditer(self.bare))
        return [each for each in found if each is not None]

    def resolve(self, type: str) -> str:
        """A type without an alias."""
        for _ in range(len(self._aliases)):
            if type not in self._aliases:
                break
            type = self._aliases[type]
        return type

    def tensor(self, type: str) -> tuple[str, str] | None:
        """The extents of a tensor, each with an 'x' after it, and its element."""
        found = _TENSOR.fullmatch(self.resolve(type))
        return (re.sub(r"\s", "", found[1]), self.resolve(found[2])) if found else None

    def retype(self, function: Function, elements: dict[str, str]) -> list[Edit]:
        """Gives values of a function, and those that ops write into them, other elements."""
        elements = dict(elements)
        edits: list[Edit] = []
        for results, uses, written in self._statements(function.body):
            for value, span in uses:
                if value in elements:
                    edits.append((*span, self._with_element(span, elements[value])))
            for result, value in zip(results, written):
                if value in elements:
                    elements[result] = elements[value]
        for each in function.arguments:
            if each.value in elements:
                edits.append((*each.type, self._with_element(each.type, elements[each.value])))
        for value, span in zip(self._returned(function.body), function.results):
            if value in elements:
                edits.append((*span, self._with_element(span, elements[value])))
        return edits

    def edit(self, edits: list[Edit]) -> str:
        text = self.text
        for begin, end, new in sorted(edits, reverse=True):
            text = text[:begin] + new + text[end:]
        return text

    # ===-- Parts --------------------------------------------------------------===

    def _with_element(self, span: Span, element: str) -> str:
        written = _TENSOR.fullmatch(self[span])
        if written:
            begin, end = written.span(2)
            return self[span][:begin] + element + self[span][end:]
        found = self.tensor(self[span])
        return f"tensor<{found[0]}{element}>" if found else self[span]

    def _end(self, begin: int) -> int | None:
        """Where the bracket that opens at `begin` is closed."""
        depth = 0
        for index in range(begin, len(self.bare)):
            each = self.bare[index]
            if each in _OPEN:
                depth += 1
            elif each in _CLOSE and self.bare[index - 1 : index + 1] != "->":
                depth -= 1
                if depth == 0:
                    return index
        return None

    def _end_of_line(self, begin: int) -> int:
        """Of the line on which all brackets are closed."""
        index = begin
        while index < len(self.bare) and self.bare[index] != "\n":
            closed = self._end(index) if self.bare[index] in _OPEN else None
            index = index + 1 if closed is None else closed + 1
        return index

    def _split(self, begin: int, end: int) -> list[Span]:
        """What commas separate, without white space around it."""
        found, start, index = [], begin, begin
        while index <= end:
            if index == end or self.bare[index] == ",":
                found.append(self._strip(start, index))
                start = index + 1
            elif self.bare[index] in _OPEN:
                index = self._end(index) or index
            index += 1
        return [each for each in found if each[0] < each[1]]

    def _strip(self, begin: int, end: int) -> Span:
        while begin < end and self.bare[begin].isspace():
            begin += 1
        while begin < end and self.bare[end - 1].isspace():
            end -= 1
        return begin, end

    def _function(self, found: re.Match[str]) -> Function | None:
        begin = found.end() - 1
        end = self._end(begin)
        if end is None:
            return None
        arguments = [self._argument(each) for each in self._split(begin + 1, end)]
        after = end + 1
        results: list[Span] = []
        arrow = re.compile(r"\s*->\s*").match(self.bare, after)
        if arrow:
            after = arrow.end()
            if self.bare[after : after + 1] == "(":
                closed = self._end(after) or after
                results = self._split(after + 1, closed)
                after = closed + 1
            else:
                type = re.compile(r"[!\w.]+").match(self.bare, after)
                stop = type.end() if type else after
                if self.bare[stop : stop + 1] == "<":
                    stop = (self._end(stop) or stop) + 1
                results, after = [(after, stop)], stop
        head = re.compile(r"\s*(?:attributes\s*)?").match(self.bare, after)
        open = head.end() if head else after
        if head and "attributes" in head[0]:
            open = self.bare.find("{", (self._end(open) or open) + 1)
        close = self._end(open) if open >= 0 and self.bare[open : open + 1] == "{" else None
        if close is None or any(each is None for each in arguments):
            return None
        known = tuple(each for each in arguments if each is not None)
        return Function(found[1], known, tuple(results), (after, open), (open + 1, close))

    def _argument(self, span: Span) -> Argument | None:
        found = re.compile(r"(%[\w$.-]+)\s*:\s*").match(self.bare, *span)
        if not found:
            return None
        begin = index = found.end()
        while index < span[1] and self.bare[index] not in "{ \n":
            index = (self._end(index) or index) + 1 if self.bare[index] in _OPEN else index + 1
        type = begin, index
        open = re.compile(r"\s*\{").match(self.bare, index, span[1])
        if not open:
            return Argument(found[1], type, None)
        return Argument(found[1], type, (open.end(), self._end(open.end() - 1) or span[1]))

    def _statements(
        self, body: Span
    ) -> Iterator[tuple[list[str], list[tuple[str, Span]], list[str]]]:
        """The results of each op, its operands with their types, and those that it writes."""
        begins = list(_STATEMENT.finditer(self.bare, *body))
        ends = [each.start() for each in begins[1:]] + [body[1]]
        for found, end in zip(begins, ends):
            uses: list[tuple[str, Span]] = []
            written: list[str] = []
            values: list[str] = []
            index = found.end()
            while index < end:
                each = self.bare[index]
                if each == "(":
                    closed = self._end(index) or end
                    group = self._typed(index + 1, closed)
                    uses += group
                    if re.search(r"\b(?:outs|fields)$", self.bare[:index][-8:]):
                        written += [value for value, _ in group]
                    index = closed
                elif each in "{<":
                    index = self._end(index) or end
                elif each == ":" and self.bare[index - 1].isspace():
                    types = self._split(index + 1, end)
                    uses += zip(values, types)
                    break
                elif each == "%":
                    value = _VALUE.match(self.bare, index)
                    values.append(value[0] if value else "")
                    index = value.end() - 1 if value else index
                index += 1
            yield _names(found["results"] or ""), uses, written

    def _typed(self, begin: int, end: int) -> list[tuple[str, Span]]:
        """Values and their types of `%a, %b : A, B`."""
        colon = self.bare.find(":", begin, end)
        if colon < 0:
            return []
        values = _VALUE.findall(self.bare, begin, colon)
        return list(zip(values, self._split(colon + 1, end)))

    def _returned(self, body: Span) -> list[str]:
        found = re.compile(r"^[ \t]*return\b([^:]*)", re.MULTILINE).search(self.bare, *body)
        return _VALUE.findall(found[1]) if found else []
