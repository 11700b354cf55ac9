# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an entry says of its program (docs/KernelCache.md has the format), and what that means for
the extents of a launch."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from ._arrays import BYTES, describe, make_error
from ._dsv4 import InvalidArgument, View

# Of JSON, as docs/KernelCache.md names its members.
_Axis = int | dict[str, int]


class Binding(TypedDict):
    name: str
    storage: str
    element: str
    shape: list[_Axis]
    strides: list[_Axis]
    written: bool
    scalar: bool


class Dim(TypedDict):
    name: str
    binding: int
    axis: int
    isStride: bool
    min: int
    max: int
    multiple: int


# `if` is no name of Python's.
Launch = TypedDict(
    "Launch",
    {
        "symbol": str,
        "schedule": str,
        "if": str,
        "requires": str,
        "grid": list[str],
        "block": list[int],
        "cluster": list[int],
        "sharedBytes": str,
        "programmaticLaunch": bool,
        "workspaceBytes": str,
        "parameters": list[str],
        "registers": int,
        "spillBytes": int,
    },
)


class ProgramInfo(TypedDict):
    name: str
    target: str
    arch: str
    bindings: list[Binding]
    dims: list[Dim]
    kernels: list[Launch]


class Entry(NamedTuple):
    """A compiled program, with the image of each kernel."""

    version: int
    program: ProgramInfo
    images: list[bytes]


_TRAILER = struct.Struct("<8sIIQQ32s")


def read_entry(entry: bytes) -> Entry:
    """An entry that the library wrote, and so has checked."""
    _, version, _, image_bytes, size, _ = _TRAILER.unpack(entry[-_TRAILER.size :])
    metadata = json.loads(entry[image_bytes : image_bytes + size])
    images, at = [], 0
    for length in metadata["images"]:
        images.append(entry[at : at + length])
        at += length
    return Entry(version, metadata["program"], images)


_HEADER = struct.Struct("<40xQ10xHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")


def static_shared_bytes(image: bytes, symbol: str) -> int:
    """The shared memory that a kernel declares, per block: the size of a section of its cubin."""
    at, size, count, names = _HEADER.unpack_from(image)
    sections = [_SECTION.unpack_from(image, at + index * size) for index in range(count)]
    text = sections[names][4]
    wanted = f".nv.shared.{symbol}".encode() + b"\0"
    return next(
        (each[5] for each in sections if image.startswith(wanted, text + each[0])), 0
    )


_BUFFER = re.compile(r"(?:read|write|update)\(([\w.]+)(?: \+ .+?)?, (\d+)[,)]")


def alignments_of(info: ProgramInfo) -> dict[str, int]:
    """What the addresses of the arguments of a program have to be multiples of, by their names."""
    found = {each["name"]: 1 for each in info["bindings"]}
    for launch in info["kernels"]:
        for parameter in launch["parameters"]:
            buffer = _BUFFER.match(parameter)
            if buffer:
                found[buffer[1]] = max(found[buffer[1]], int(buffer[2]))
    return found


# ===-- Expressions ------------------------------------------------------------===

_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.]*|\d+|[<>=!]=|&&|[-+*(),<>])")

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__,
    "!=": int.__ne__,
}  # fmt: skip


class _Unknown(Exception):
    """An extent that nobody gave."""


class _Reader:
    """Evaluates a text of a launch plan (runtime/include/dsv4-runtime/Expression.h)."""

    def __init__(self, text: str, extents: Mapping[str, int]) -> None:
        self.tokens: list[str] = [*_TOKEN.findall(text), ""]
        self.extents = extents

    def take(self) -> str:
        return self.tokens.pop(0)

    def condition(self) -> bool:
        holds = self.comparison()
        while self.tokens[0] == "&&":
            self.take()
            holds = self.comparison() and holds
        return holds

    def comparison(self) -> bool:
        left = self.expression()
        compare = _COMPARISONS[self.take()]
        return compare(left, self.expression())

    def expression(self) -> int:
        value = self.product()
        while self.tokens[0] == "+":
            self.take()
            value += self.product()
        return value

    def product(self) -> int:
        value = self.factor()
        while self.tokens[0] == "*":
            self.take()
            value *= self.factor()
        return value

    def factor(self) -> int:
        token = self.take()
        if token.isdigit():
            return int(token)
        if token == "(":
            value = self.expression()
            self.take()
            return value
        if self.tokens[0] != "(":
            return self.extent(token)
        self.take()
        if self.tokens[0] == ")":
            self.take()
            return self.extent(f"{token}()")
        left = self.expression()
        self.take()
        right = self.expression()
        self.take()
        if token == "ceildiv":
            return -(-left // right)
        return min(left, right) if token == "min" else max(left, right)

    def extent(self, name: str) -> int:
        if name not in self.extents:
            raise _Unknown(name)
        return self.extents[name]


def evaluate(text: str, extents: Mapping[str, int]) -> int | None:
    """An expression of a launch plan, or None where it needs an extent that is not given.
    'multiprocessors()' is one."""
    try:
        return _Reader(text, extents).expression()
    except _Unknown:
        return None


def holds(text: str, extents: Mapping[str, int]) -> bool | None:
    """The same for a condition; the empty one holds."""
    try:
        return not text or _Reader(text, extents).condition()
    except _Unknown:
        return None


def grid_of(launch: Launch, extents: Mapping[str, int]) -> tuple[int, int, int] | None:
    """The blocks of a launch along its axes, or None where an extent is not given. A launch that
    is left out has none."""
    if holds(launch["if"], extents) is False:
        return 0, 0, 0
    x, y, z = (evaluate(each, extents) for each in launch["grid"])
    return None if x is None or y is None or z is None else (x, y, z)


def extents_of(
    info: ProgramInfo, arrays: Sequence[Any], known: Mapping[str, int]
) -> dict[str, int]:
    """The extents and strides of a launch by name. Those that are `known` are the caller's; others
    are those of `arrays`, of which some may be None."""
    extents: dict[str, int] = {}
    for dim in info["dims"]:
        name, number = dim["name"], dim["binding"]
        if name in known:
            extents[name] = known[name]
        elif number < len(arrays) and arrays[number] is not None:
            binding = info["bindings"][number]
            view = describe(binding["name"], arrays[number])
            axis = dim["axis"]
            if axis >= len(view.shape):
                raise make_error(
                    InvalidArgument, "argument.rank", binding["name"],
                    f"argument '{binding['name']}' has rank {len(view.shape)}, expected "
                    f"{len(binding['shape'])}",
                )  # fmt: skip
            extents[name] = _stride(view, axis, binding) if dim["isStride"] else view.shape[axis]
    return extents


def _stride(view: View, axis: int, binding: Binding) -> int:
    """In elements of the binding: pages of a cache are bytes, whatever their array has."""
    own = math.prod(view.shape[axis + 1 :]) if view.strides is None else view.strides[axis]
    return own * BYTES.get(view.element, 1) // BYTES[binding["storage"]]
