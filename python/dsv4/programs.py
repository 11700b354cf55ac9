# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that stand in for kernels of engines, as text for `dsv4.compile`.

    program = dsv4.programs.load("vllm_persistent_topk", k=512)
    kernel = dsv4.compile(program, like={"logits": logits, "lengths": lengths, "output": output})

They are the files of examples/engines, and docs/Engines.md says which call each stands in for. A
file says in its first comment what may vary: numbers with their bounds, and the fragments of the
text where they are.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ._arrays import make_error
from ._dsv4 import InvalidArgument
from ._options import check_float, check_int, plain_text, refuse
from ._program_text import ProgramText
from ._show import find_similar, show
from .recipes import print_decimal
from .records import Record, find_record

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "engines")

# A line of the first comment that begins a part of it. Others continue the part before.
_KEY = re.compile(r"// (What|Bytes|Dims|NVRTC|Parameters|Uses): ?(.*)")
_PARAMETER = re.compile(
    r"(\w+) = ([^\s,]+)(?: \((\S+) to ([^\s,)]+)(?:, multiple of (\d+))?\))?(?:, |$)"
)
_ARGUMENT = re.compile(r'dsv4\.name = "(\w+)"')


# What is checked, and gets into a text.
_Value = int | float | Record


class Parameter(NamedTuple):
    """What may vary in a program: a number from `low` to `high`, or a record, which has no bounds.

    >>> dsv4.programs.parameters("vllm_persistent_topk")
    (Parameter(name='k', default=1024, low=1, high=4096, multiple=1),)
    """

    name: str
    default: int | float | str
    low: int | float | None = None
    high: int | float | None = None
    multiple: int = 1

    def check(self, value: Any) -> int | float | Record:
        """The value of a caller, which has to be one that the parameter can have."""
        if isinstance(self.default, str):
            return find_record(value)
        if isinstance(self.default, float):
            number = check_float(self.name, value)
            if not (self.low or 0) <= number <= (self.high or 0):
                raise refuse(self.name, value, f"a number from {self.low:g} to {self.high:g}")
            return number
        low, high = int(self.low or 0), int(self.high or 0)
        if self.multiple == 1:
            return check_int(self.name, value, low, high)
        try:
            whole = check_int(self.name, value, low, high)
        except InvalidArgument:
            whole = 1
        if whole % self.multiple:
            raise refuse(
                self.name, value, f"a multiple of {self.multiple} from {low} to {high}"
            )
        return whole


class _File(NamedTuple):
    """A file, with what its first comment says."""

    text: str
    # Where the comment ends.
    start: int
    summary: str
    parameters: tuple[Parameter, ...]
    # The numbers as the text has them.
    printed: dict[str, str]
    uses: tuple[str, ...]


def names() -> tuple[str, ...]:
    """The names of all programs.

    >>> "vllm_persistent_topk" in dsv4.programs.names()
    True
    """
    return tuple(
        sorted(each[: -len(".mlir")] for each in os.listdir(_FOLDER) if each.endswith(".mlir"))
    )


def parameters(name: str) -> tuple[Parameter, ...]:
    """What may vary in a program, with the values of the text as it is.

    >>> [each.name for each in dsv4.programs.parameters("deepgemm_fp8_paged_mqa_logits")]
    ['heads', 'page_size']
    """
    return _read(_check_name(name)).parameters


def load(name: str, /, **parameters: Any) -> ProgramText:
    """The text of a program, with other values of its parameters.

    >>> program = dsv4.programs.load("deepgemm_fp8_paged_mqa_logits", heads=32)
    >>> kernel = dsv4.compile(program, target="host")

    Args:
        name: one of `names()`; docs/Engines.md says which call of an engine it stands in for.
        parameters: those of `parameters(name)`. The others are as in the file.

    Raises:
        InvalidArgument: there is no such program or parameter, or it cannot have that value.
    """
    known = _check_name(name)
    file = _read(known)
    by_name = {each.name: each for each in file.parameters}
    values: dict[str, _Value] = {}
    for each, value in parameters.items():
        if each not in by_name:
            raise _refuse_parameter(known, each, list(by_name))
        checked = by_name[each].check(value)
        if not _is_default(by_name[each], checked):
            values[each] = checked
    given: dict[str, int | float | str | Record]
    given = {each.name: values.get(each.name, each.default) for each in file.parameters}
    return ProgramText(
        known,
        _fill(file, values) if values else file.text,
        file.summary,
        given,
        tuple(_ARGUMENT.findall(file.text)),
    )


# ===-- Files -------------------------------------------------------------------===


def _check_name(name: Any) -> str:
    text = plain_text(name)
    if text is None:
        raise refuse("name", name, "a name of dsv4.programs.names()")
    known = list(names())
    if text not in known:
        similar = find_similar(text, known)
        hint = f"did you mean '{similar}'?" if similar else "dsv4.programs.names() has their names"
        raise make_error(
            InvalidArgument, "program.unknown", "name",
            f"no program is known as {show(text)}: {hint}",
        )  # fmt: skip
    return text


def _refuse_parameter(program: str, name: str, known: list[str]) -> Exception:
    similar = find_similar(name, known)
    if similar:
        hint = f"did you mean '{similar}'?"
    else:
        hint = f"it has {', '.join(known)}" if known else "it has none"
    return make_error(
        InvalidArgument, "program.parameter", name,
        f"program '{program}' has no parameter {show(name)}: {hint}",
    )  # fmt: skip


@functools.cache
def _read(name: str) -> _File:
    with open(os.path.join(_FOLDER, f"{name}.mlir"), encoding="utf-8") as file:
        text = file.read()
    parts: dict[str, str] = {}
    start, key = 0, ""
    for line in text.splitlines(keepends=True):
        if not line.startswith("//"):
            break
        start += len(line)
        begins = _KEY.match(line)
        if begins:
            key = begins[1]
            parts[key] = begins[2].strip()
        else:
            parts[key] += f" {line[2:].strip()}"
    found = _PARAMETER.findall(parts.get("Parameters", ""))
    uses = parts.get("Uses", "")
    return _File(
        text,
        start,
        re.split(r"(?<=[^.])\. |\.$", parts["What"])[0],
        tuple(_read_parameter(*each) for each in found),
        {each[0]: f"<{each[1]}>" if not each[2] else each[1] for each in found},
        tuple(each.strip() for each in uses.split(" | ")) if uses else (),
    )


def _read_parameter(name: str, default: str, low: str, high: str, multiple: str) -> Parameter:
    if not low:
        return Parameter(name, default)
    if "." in default:
        return Parameter(name, float(default), float(low), float(high))
    return Parameter(name, int(default), int(low), int(high), int(multiple or 1))


def _is_default(parameter: Parameter, value: _Value) -> bool:
    if isinstance(value, Record):
        return value == find_record(str(parameter.default))
    # As numbers of type f32 are compared.
    return value == parameter.check(parameter.default)


# ===-- Filling in --------------------------------------------------------------===


def _fill(file: _File, values: Mapping[str, _Value]) -> str:
    """The text with these values in all uses where the file has its own."""
    before = {each.name: each.check(each.default) for each in file.parameters}
    after = {**before, **values}
    spans: dict[tuple[int, int], str] = {}
    for use in file.uses:
        for span, expression in _find(use, file, before):
            if not values.keys().isdisjoint(re.findall(r"\w+", expression)):
                spans[span] = _print(_evaluate(expression, after))
    text = file.text
    for (begin, stop), printed in sorted(spans.items(), reverse=True):
        text = text[:begin] + printed + text[stop:]
    return text


def _find(
    use: str, file: _File, values: Mapping[str, _Value]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Where the values of a fragment are in the text, and the expressions that they have."""
    parts = re.split(r"\{(.*?)\}", use)
    expressions = parts[1::2]
    parts[1::2] = [file.printed.get(each) or repr(_evaluate(each, values)) for each in expressions]
    pattern = "".join(
        f"({re.escape(each)})" if index % 2 else re.escape(each)
        for index, each in enumerate(parts)
    )
    # A number ends where the fragment ends.
    end = "" if parts[-1] else r"(?![\w.])"
    for found in re.compile(pattern + end).finditer(file.text, file.start):
        for group, each in enumerate(expressions, 1):
            yield found.span(group), each


def _print(value: Any) -> str:
    """A checked value, or a number made of such values, as a program has it."""
    return print_decimal(value) if isinstance(value, float) else str(value)


def _evaluate(expression: str, values: Mapping[str, Any]) -> Any:
    """The value of an expression of a file: a sum of products. Whole numbers stay whole."""
    total: Any = None
    for term in expression.split(" + "):
        first, *others = term.split()
        product = _operand(first, values)
        for operation, other in zip(others[::2], others[1::2]):
            by = _operand(other, values)
            if operation == "*":
                product *= by
            else:
                product = product / by if isinstance(by, float) else product // by
        total = product if total is None else total + product
    return total


def _operand(text: str, values: Mapping[str, Any]) -> Any:
    if text.isdigit():
        return int(text)
    name, _, attribute = text.partition(".")
    return getattr(values[name], attribute) if attribute else values[name]
