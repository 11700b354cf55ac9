# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What arrays say of the arguments of a program: `compile(text, like=...)`.

A text has the element types, the constant extents, and what its ops do. Arrays say whether indices
are i32 or i64, which arguments have strides, how they are aligned, and how long the rows of a
bucket are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._arrays import BYTES, CPU, count_arrays, describe, make_error
from ._dsv4 import CompileFailed, Error, InvalidArgument, TypeMismatch, View
from ._options import IDENTIFIER, check_text, refuse
from ._program import (
    BITS,
    MAX_ALIGNMENT,
    alignment_of,
    buffers_of,
    check_address,
    check_buffer,
    print_buffers,
    print_strides,
)
from ._show import find_similar, shorten, show
from ._text import Argument, Edit, Function, Text
from .records import KNOWN_RECORDS, PACKED, Field, Record
from .selection import INDICES

_T = TypeVar("_T")

_NAME = re.compile(r'\bdsv4\.name\s*=\s*"([^"]*)"')
_DIMS = re.compile(r"\bdsv4\.dims\s*=\s*\[([^\]]*)\]")
_POLICY = re.compile(r"(\w+)\s*=\s*#dsv4\.policy<\s*(?:exact|bucket)")
_FIELD = re.compile(
    r'<\s*"(\w+)"\s*:\s*(\d+)\s*x\s*(\w+)\s+in\s+(\w+)(?:\s+scales\s+"(\w+)"\s+per\s+(\w+))?'
    r"(?:\s+interleave\s+(\d+))?(?:\s+at\s+(\d+))?(?:\s+pad\s+(\d+))?(\s+high_first)?\s*>"
)


class Like:
    """A text that arrays describe."""

    def __init__(self, text: str, entry: str | None, arrays: Mapping[str, Any]) -> None:
        self._text = Text(text)
        self._function = self._find_function(entry)
        self._arguments = dict(zip(self._names(), self._function.arguments))
        self._arrays = self._check_arrays(arrays)
        # Where the first array is: 'cuda' or 'host', and the number of the GPU.
        self.target: str | None = None
        self.device = 0
        # `dsv4.strides` that are in the text, and those for arrays that follow each other, which
        # kernels may need more aligned than they are.
        self._strided: dict[str, str] = {}
        self._unaligned: dict[str, str] = {}
        self._elements: dict[str, str] = {}
        self._extents: dict[str, int] = {}
        self._views: dict[str, list[View]] = {}
        for name, array in self._arrays.items():
            self._describe(name, array)

    def text(self) -> str:
        """The program for such arrays. It has the lines of the text."""
        edits = self._text.retype(self._function, self._elements)
        for name, argument in self._arguments.items():
            edits += self._attributes(name, argument)
        return self._text.edit(edits)

    def bounds(self) -> dict[str, int]:
        """The extents of dims that have to be known, or have a bound."""
        named = _POLICY.findall(self._text[self._function.head])
        return {each: self._extents[each] for each in named if each in self._extents}

    def make(self, build: Callable[[str], _T], alignments: Callable[[_T], Mapping[str, int]]) -> _T:
        """What is built of the program for such arrays. Its alignments are those that it needs of
        the arguments, by their names."""
        try:
            made = build(self.text())
            if self._align(alignments(made)):
                made = build(self.text())
        except CompileFailed as error:
            raise self._explain(error) from None
        return made

    def _align(self, alignments: Mapping[str, int]) -> bool:
        """Takes the addresses of contiguous arrays into the text, where a kernel needs them more
        aligned than they are. Returns whether the text is another one now."""
        needed: dict[str, list[int]] = {}
        for argument, alignment in alignments.items():
            # The arrays of a cache have names of their own after its name.
            needed.setdefault(argument.partition(".")[0], []).append(alignment)
        unserved = [
            name
            for name, views in self._views.items()
            if name not in self._strided
            and any(
                view.address % alignment and 0 not in view.shape
                for view, alignment in zip(views, needed.get(name, []))
            )
        ]
        self._strided.update((name, self._unaligned[name]) for name in unserved)
        return bool(unserved)

    def _explain(self, error: CompileFailed) -> Error:
        """The error of a text that the arrays changed, for those who wrote the text."""
        message = str(error)
        for name in self._strided:
            if f"'{name}'" in message and "'dsv4.strides'" in message:
                return make_error(
                    InvalidArgument, "argument.stride", name,
                    f"argument '{name}': the program needs elements that follow each other: pass a "
                    "contiguous array",
                )  # fmt: skip
        changed = [
            f"{self._elements[each.value]} for '{name}'"
            for name, each in self._arguments.items()
            if each.value in self._elements
        ]
        if changed:
            message += f" (the text with {', '.join(changed)}, which 'like' has)"
        return make_error(type(error), error.id, error.argument, message)

    # ===-- The text -------------------------------------------------------------===

    def _find_function(self, entry: str | None) -> Function:
        functions = self._text.functions()
        found = [each for each in functions if entry in (None, each.name)]
        if len(found) == 1:
            return found[0]
        names = [each.name for each in functions]
        if entry is None and len(names) > 1:
            raise refuse("entry", None, f"one of {', '.join(names)}, which the text has")
        if entry is not None and names:
            raise refuse("entry", entry, f"a function of the text, which has {', '.join(names)}")
        raise make_error(
            InvalidArgument, "like.text", "text",
            "'like' needs a text with a 'func.func' whose brackets are closed",
        )  # fmt: skip

    def _names(self) -> list[str]:
        """Those that the text gives, or else those of values. Where that is no name, or another
        argument has it, the compiler's own."""
        names: list[str] = []
        given = [self._given_name(each) for each in self._function.arguments]
        for number, each in enumerate(self._function.arguments):
            name = each.value[1:]
            if name in (*given, *names) or not IDENTIFIER.fullmatch(name):
                name = f"arg{number}"
            names.append(given[number] or name)
        return names

    def _given_name(self, argument: Argument) -> str | None:
        found = argument.attributes and _NAME.search(self._text[argument.attributes])
        return found[1] if found else None

    def _says_strides(self, argument: Argument) -> bool:
        return bool(argument.attributes and "dsv4.strides" in self._text[argument.attributes])

    def _attributes(self, name: str, argument: Argument) -> list[Edit]:
        """The name of an argument and its strides, where the text has none."""
        has = argument.attributes
        new = []
        if not (has and _NAME.search(self._text[has])):
            new.append(f'dsv4.name = "{name}"')
        if name in self._strided:
            new.append(f"dsv4.strides = {self._strided[name]}")
        if not new:
            return []
        if has is None:
            return [(argument.type[1], argument.type[1], f" {{{', '.join(new)}}}")]
        end = ", " if self._text[has] else ""
        return [(has[0], has[0], ", ".join(new) + end)]

    # ===-- Arrays ---------------------------------------------------------------===

    def _check_arrays(self, arrays: Any) -> dict[str, Any]:
        if not isinstance(arrays, Mapping):
            raise refuse("like", arrays, "arrays by the names of arguments, as a dict")
        found = {check_text("like", name): array for name, array in arrays.items()}
        for name in found:
            if name not in self._arguments:
                known = list(self._arguments)
                similar = find_similar(name, known)
                raise make_error(
                    InvalidArgument, "like.unknown", "like",
                    f"'like' has {show(name)}, and function '{self._function.name}' has no such "
                    "argument: "
                    + (f"did you mean '{similar}'?" if similar else f"it has {', '.join(known)}"),
                )  # fmt: skip
        return found

    def _describe(self, name: str, array: Any) -> None:
        argument = self._arguments[name]
        type = self._text[argument.type]
        tensor = self._text.tensor(type)
        if tensor is not None:
            view = describe(name, array)
            element = self._element(name, argument, view, tensor[1])
            self._check_extents(name, argument, view, element, tensor[0].split("x")[:-1])
            self._take_device(view)
            if not self._says_strides(argument):
                self._add_strides(name, view)
        elif self._text.resolve(type).startswith("!dsv4.cache<"):
            self._add_cache(name, array, self._text.resolve(type), argument)
        else:
            written = shorten(" ".join(type.split()))
            raise make_error(
                InvalidArgument, "like.type", name,
                f"argument '{name}' has the type '{written}', which no array describes: "
                "expected a tensor, such as 'tensor<?x64xf32>', or a cache: leave it out of 'like'",
            )  # fmt: skip

    def _element(self, name: str, argument: Argument, view: View, element: str) -> str:
        if view.element == element or element in BITS.get(view.element, ()):
            return element
        if view.element in INDICES and element in INDICES:
            self._elements[argument.value] = view.element
            return view.element
        raise make_error(
            TypeMismatch, "argument.type", name,
            f"argument '{name}' has elements of type {view.element}, expected "
            f"{'bool' if element == 'i1' else element}, which the text says",
        )  # fmt: skip

    def _check_extents(
        self, name: str, argument: Argument, view: View, element: str, extents: list[str]
    ) -> None:
        if len(view.shape) != len(extents):
            raise make_error(
                InvalidArgument, "argument.rank", name,
                f"argument '{name}' has rank {len(view.shape)}, expected {len(extents)}, which the "
                "text says",
            )  # fmt: skip
        said = argument.attributes and _DIMS.search(self._text[argument.attributes])
        dims = re.findall(r'"([^"]*)"', said[1]) if said else []
        for axis, (extent, expected) in enumerate(zip(view.shape, extents)):
            if element in PACKED and axis == len(extents) - 1:
                extent *= 2
            dim = dims[axis] if axis < len(dims) else ""
            known = int(expected) if expected != "?" else extent
            if expected == "?" and dim:
                known = self._extents.setdefault(dim, extent)
            if extent != known:
                of = f" (dim '{dim}')" if dim else ", which the text says"
                raise make_error(
                    InvalidArgument, "argument.extent", name,
                    f"argument '{name}': extent {axis} is {extent}, expected {known}{of}",
                )  # fmt: skip

    def _take_device(self, view: View) -> None:
        if self.target is None:
            on_host = view.device_type == CPU
            self.target, self.device = ("host", 0) if on_host else ("cuda", view.device)

    def _add_strides(self, name: str, view: View) -> None:
        size = BYTES.get(view.element, 1)
        check_address(name, view, size)
        if 0 in view.shape:
            return
        if view.strides is None:
            axes = ["?"] * (len(view.shape) - 1)
            self._views[name] = [view]
            self._unaligned[name] = print_strides(axes, alignment_of(view.address))
            return
        if len(view.shape) > 1 and view.shape[-1] > 1 and view.strides[-1] != 1:
            raise make_error(
                InvalidArgument, "argument.stride", name,
                f"argument '{name}': elements along the last axis have to follow each other, and "
                f"are {view.strides[-1]} apart: pass a contiguous copy",
            )  # fmt: skip
        if len(view.shape) == 1:
            self._strided[name] = print_strides(["?"], size)
            return
        steps = [s * size for s, n in zip(view.strides[:-1], view.shape) if n > 1]
        alignment = min(map(alignment_of, [view.address, *steps]))
        self._strided[name] = print_strides(["?"] * (len(view.shape) - 1), alignment)

    def _add_cache(self, name: str, arrays: Any, type: str, argument: Argument) -> None:
        given = list(arrays) if isinstance(arrays, (tuple, list)) else [arrays]
        views = [describe(name, each) for each in given]
        for each in views:
            self._take_device(each)
        if self._says_strides(argument):
            return
        record = read_record(type, self._text)
        if record is None:
            if any(each.strides is not None for each in views):
                raise make_error(
                    InvalidArgument, "like.record", name,
                    f"argument '{name}' has a record that 'like' cannot read, and its pages do not "
                    "follow each other: write its 'dsv4.strides' into the text",
                )  # fmt: skip
            return
        buffers = buffers_of(record)
        if len(buffers) != len(views):
            raise make_error(
                InvalidArgument, "argument.count", name,
                f"'{name}' of record {record.title} has {count_arrays(len(buffers))}, got "
                f"{len(views)}",
            )  # fmt: skip
        found = [check_buffer(name, *each, view) for each, view in zip(buffers, views)]
        paged = [each for each in found if each is not None]
        alignments = [
            min(each.stride, MAX_ALIGNMENT if 0 in view.shape else alignment_of(view.address))
            for each, view in zip(found, views)
            if each is not None
        ]
        self._views[name] = views
        self._unaligned[name] = print_buffers(paged, alignments)
        if any(each.strided for each in paged):
            self._strided[name] = self._unaligned[name]


def read_record(type: str, text: Text) -> Record | None:
    """The record of `!dsv4.cache<64 x record>`."""
    said = type[type.index("<") + 1 : -1].partition(" x ")[2].strip()
    said = text.resolve(said).removeprefix("#dsv4.record").strip()
    known = KNOWN_RECORDS.get(said[1:-1].strip())
    if known is not None:
        return known
    align = re.search(r"\]\s*,\s*align\s+(\d+)\s*>$", said)
    rest = re.sub(r"[\s,]", "", _FIELD.sub("", said))
    if rest != (f"<[]align{align[1]}>" if align else "<[]>"):
        return None
    try:
        found = [_field(each) for each in _FIELD.finditer(said)]
        return Record(found, int(align[1]) if align else 1)
    except Error:  # The compiler says what is wrong.
        return None


def _field(found: re.Match[str]) -> Field:
    name, extent, element, placement, scales, per, interleave, at, pad, high_first = found.groups()
    return Field(
        name, int(extent), element, placement, scales,
        int(per) if per and per.isdigit() else per, int(interleave or 1),
        None if at is None else int(at), int(pad or 0), bool(high_first),
    )  # fmt: skip
