# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `dsv4.programs.load` returns, and `compile`, `emit` and `explain` take."""

from __future__ import annotations

from typing import Any, NamedTuple

from .records import Record


class ProgramText(NamedTuple):
    """The text of a program, which `dsv4.compile` and `dsv4.emit` take.

    >>> program = dsv4.programs.load("vllm_persistent_topk", k=512)
    >>> program.parameters["k"], program.arguments
    (512, ('logits', 'lengths', 'output'))
    """

    name: str
    text: str
    summary: str
    parameters: dict[str, int | float | str | Record]
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


def text_of(program: Any) -> tuple[Any, str | None]:
    """The text and the name of what `compile` is given."""
    return (program.text, program.name) if type(program) is ProgramText else (program, None)
