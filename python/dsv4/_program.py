# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the functions: their text, and the arrays that they are launched with.

A function makes a Program from its arrays: each says its element type, which of its extents are
constants, and its strides. Everything that a kernel depends on is in the text, so the text is the
key of the kernel.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ._arrays import (
    BYTES,
    CPU,
    as_new,
    count_arrays,
    describe,
    make_allocator,
    make_error,
    make_on_stream,
    makes_on_streams,
)
from ._dsv4 import Error, InvalidArgument, TypeMismatch, Unavailable, View
from ._options import check_int
from ._show import shorten
from .records import PACKED, Record

# What an array may have instead of an element, and how it reads in a message.
BITS = {
    "u16": ("bf16",),
    "u8": ("f8E4M3FN", "f8E8M0FNU", "f4E2M1FN", "i4", "i1"),
    "u32": ("ui32",),
}

MAX_ALIGNMENT = 16

# Elements of a row, and entries of a page.
MAX_ROW = 65536
MAX_PAGE_SIZE = 2**20


class Value:
    """A value of the program: `str` is its name, `type` its type."""

    __slots__ = ("element", "name", "shape", "type")

    def __init__(self, name: str, element: str, shape: Sequence[int | str]) -> None:
        self.name = name
        self.element = element
        self.shape = shape
        axes = "".join(f"{'?' if isinstance(each, str) else each}x" for each in shape)
        self.type = f"tensor<{axes}{element}>"

    def __str__(self) -> str:
        return self.name


class _Argument(NamedTuple):
    """An argument in the text of a program."""

    head: str
    # `dsv4.strides` for memory that is aligned as its strides are, and for elements that are
    # aligned to their own size alone.
    aligned: str
    unaligned: str

    def print(self, aligned: bool) -> str:
        strides = self.aligned if aligned else self.unaligned
        return self.head + (f", dsv4.strides = {strides}}}" if strides else "}")


class _Asked(threading.local):
    """What a program is made for, if it is not for a launch with its arrays."""

    # The program that arrays on a GPU would have, of arrays in CPU memory.
    cuda = False


_asked = _Asked()


@contextmanager
def as_on_cuda(wanted: bool) -> Iterator[None]:
    """Programs of the body are those of CUDA, wherever their arrays are."""
    _asked.cuda = wanted
    try:
        yield
    finally:
        _asked.cuda = False


class Program:
    """The text of a program, argument by argument and line by line.

    A program has two texts. What both depend on are shapes and strides, but no address: one
    relies on memory that is aligned as its strides are, the other serves all addresses."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dims: dict[str, int] = {}
        self.policies: dict[str, str] = {}
        # The extents that the compiler is given: bounds of buckets.
        self.bounds: dict[str, int] = {}
        # Of caches, by name: entries per page, and bytes per entry.
        self.page_sizes: dict[str, int] = {}
        self.entry_bytes: dict[str, int] = {}
        # In the order of the kernel's arguments. None: an output that is allocated at the launch.
        self.arrays: list[Any] = []
        self.addresses: list[int] = []
        # What the text for aligned memory may rely on.
        self.alignments: list[int] = []
        self.outputs: list[tuple[int, tuple[int, ...], str, bool]] = []
        self.like: Any = None
        self.on_host = True
        self.device = 0
        self._arguments: list[_Argument] = []
        self._lines: list[str] = []
        self._returned: list[tuple[str, str]] = []
        self._extents: dict[str, str] = {}
        self._count = 0
        # Of the contents of arrays, on the host target: kind, names of arguments, and a bound.
        self.checks: list[tuple[int, tuple[str | None, ...], int]] = []
        # What the caller calls an argument of the kernel, if that is not its name.
        self._callers: dict[str | None, tuple[str, str]] = {
            "requests_of_rows": ("requests", "'requests'")
        }

    # ===-- Arguments ----------------------------------------------------------===

    def input(
        self,
        name: str,
        array: Any,
        elements: Sequence[str],
        shape: Sequence[int | str | None],
        access: str | None = None,
    ) -> Value:
        """An array that is read. Names in `shape` are dims; None is any constant. It has `rows`,
        `elements` that are read one by one, as numbers and flags of rows are, or `blocks`."""
        view = describe(name, array)
        element = self._element(name, view, elements)
        extents = self._extents_of(name, view, element, shape)
        self._keep_device(array, view)
        value = Value(f"%{name}", element, extents)
        if access is None:
            is_number = len(shape) == 1 and element in ("i32", "i64", "i1")
            access = "elements" if is_number else "rows"
        self._add(name, value.type, extents, view, element, access)
        self._keep(array, view)
        return value

    def output(
        self,
        name: str,
        element: str,
        shape: Sequence[int | str],
        out: Any = None,
        keep: bool = False,
        access: str = "rows",
        option: str | None = None,
        own: bool = False,
    ) -> Value:
        """An array that is written: `out`, or a new one. With `keep` a new one begins as zeros,
        because the program leaves some of it as it is. `option` chooses the element. The caller
        gives it as a part of `out`, or as an argument of its `own` name."""
        value = Value(f"%{name}", element, shape)
        if name != "out" and not own:
            self._callers[name] = "out", f"'out' ({name})"
        if out is None:
            self._add(name, value.type, shape, None, element, access)
            extents = [self.dims[each] if isinstance(each, str) else each for each in shape]
            if element in PACKED:
                extents[-1] //= 2
            self.outputs.append((len(self.arrays), tuple(extents), element, keep))
            self._keep(None, None)
        else:
            with self.naming():
                self._add_output(name, value, element, out, access, option)
        return value

    def _add_output(
        self, name: str, value: Value, element: str, out: Any, access: str, option: str | None
    ) -> None:
        view = describe(name, out)
        remedy = f": pass such an array, or choose by '{option}'" if option else ""
        self._element(name, view, (element,), remedy)
        self._extents_of(name, view, element, value.shape)
        self._add(name, value.type, value.shape, view, element, access)
        self._keep(out, view)

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors of the body name an argument as the caller of the function does."""
        try:
            yield
        except Error as error:
            argument, shown = self._callers.get(error.argument, (None, ""))
            if argument is None:
                raise
            message = str(error).replace(f"'{error.argument}'", shown, 1)
            raise make_error(
                type(error), error.id, argument, message, error.driver_result
            ) from None

    def cache(self, name: str, arrays: Any, record: Record, page_size: int | None) -> str:
        """A paged cache: one array for the pages of rows and tails, then one per field that is in
        an array. Returns its type."""
        given = list(arrays) if isinstance(arrays, (tuple, list)) else [arrays]
        count = record.has_pages + len(record.arrays)
        if len(given) != count:
            names = ", ".join(["pages"] * record.has_pages + [each.name for each in record.arrays])
            raise make_error(
                InvalidArgument, "argument.count", name,
                f"'{name}' of record {record.title} has {count_arrays(count)} ({shorten(names)}), "
                f"got {len(given)}",
            )  # fmt: skip
        views = [describe(name, each) for each in given]
        if page_size is None:
            size = self._page_size(name, record, views[0])
        else:
            size = check_int("page_size", page_size, 1, MAX_PAGE_SIZE)
        record.check_page(size)
        self.page_sizes[name], self.entry_bytes[name] = size, record.entry_bytes
        buffers = [check_buffer(name, *each, view) for each, view in zip(buffers_of(record), views)]
        for array, view in zip(given, views):
            self._keep_device(array, view)
            self._keep(array, view)
        # The scale of a whole cache has no pages.
        paged = [each for each in buffers if each is not None]
        type = f"!dsv4.cache<{size} x {record}>"
        self._arguments.append(
            _Argument(
                f'%{name}: {type} {{dsv4.name = "{name}"',
                print_buffers(paged, [each.stride for each in paged])
                if any(each.strided for each in paged)
                else "",
                print_buffers(paged, [each.element for each in paged]),
            )
        )
        return type

    # ===-- The body -----------------------------------------------------------===

    def line(self, text: str) -> None:
        self._lines.append(text)

    def empty(self, element: str, shape: Sequence[int | str], like: Value) -> Value:
        """A value without memory of its own. Its dims are those of `like`."""
        sizes = []
        for each in shape:
            if not isinstance(each, str):
                continue
            if each not in self._extents:
                axis = list(like.shape).index(each)
                self.line(f"%c_{each} = arith.constant {axis} : index")
                self.line(f"%d_{each} = tensor.dim {like}, %c_{each} : {like.type}")
                self._extents[each] = f"%d_{each}"
            sizes.append(self._extents[each])
        value = Value(self.fresh("e"), element, shape)
        self.line(f"{value} = tensor.empty({', '.join(sizes)}) : {value.type}")
        return value

    def fresh(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"

    def returns(self, *results: tuple[str, Value]) -> None:
        """What the function returns: names of results and the outputs that they fill."""
        self._returned = [(name, value.type) for name, value in results]

    def text(self, aligned: bool = True) -> str:
        """The program for aligned memory, or for any address of an element."""
        names = ", ".join(name for name, _ in self._returned)
        types = ", ".join(type for _, type in self._returned)
        result = f" -> ({types})" if types else ""
        policies = ""
        if self.policies:
            each = ", ".join(f"{dim} = {policy}" for dim, policy in self.policies.items())
            policies = f" attributes {{dsv4.policies = {{{each}}}}}"
        arguments = ",\n    ".join(each.print(aligned) for each in self._arguments)
        body = "".join(f"  {line}\n" for line in self._lines)
        end = f"return {names} : {types}" if names else "return"
        head = f"func.func @{self.name}(\n    {arguments}){result}{policies}"
        return f"{head} {{\n{body}  {end}\n}}\n"

    def bucket(self, dim: str, bounds: Sequence[int], multiple: int = 1) -> None:
        """Lets the compiler know that `dim` is at most the first of `bounds` that it is not above.
        Beyond the last one it knows nothing. For CUDA only: the host target has one way to do
        it."""
        extent = self.dims[dim]
        if self.on_host:
            return
        promise = f", multiple = {multiple}" if multiple > 1 and extent % multiple == 0 else ""
        bound = next((each for each in bounds if extent <= each), None)
        if bound is not None:
            self.policies[dim] = f"#dsv4.policy<bucket{promise}>"
            self.bounds[dim] = bound
        elif promise:
            self.policies[dim] = f"#dsv4.policy<dynamic{promise}>"

    def bound(self, dim: str, maximum: int) -> None:
        """Lets the compiler know that `dim` is at most `maximum`, for programs that it refuses
        without a bound, on the host target as well. A bucket has one."""
        if dim not in self.bounds:
            policy = self.policies.get(dim, "#dsv4.policy<dynamic>")
            self.policies[dim] = policy.replace("dynamic", "bucket")
            self.bounds[dim] = maximum

    def check_unique(
        self, slots: str, requests: str | None, page_table: str | None, cache: str
    ) -> None:
        """That no two tokens have one slot."""
        self.checks.append((0, (slots, requests, page_table, cache), self.page_sizes[cache]))

    def check_below(self, table: str, rows: str, bound: int) -> None:
        """That the numbers in these rows of a table are below a bound."""
        self.checks.append((1, (table, rows, None, None), bound))

    def is_served(self, alignments: Sequence[int]) -> bool:
        """Whether the arrays begin at addresses of these alignments."""
        return not any(each % of for each, of in zip(self.addresses, alignments))

    # ===-- Launching ----------------------------------------------------------===

    def allocate(self, stream: Any) -> tuple[list[Any], list[Any]]:
        """The arrays as a launch on a stream takes them, and as the caller sees them, with those
        outputs that were not given."""
        on_stream = stream is not None and not self.on_host and makes_on_streams(self.like)
        arrays, seen = list(self.arrays), list(self.arrays)
        for index, shape, element, keep in self.outputs:
            try:
                make = make_allocator(self.like, shape, element, keep)
                seen[index] = make_on_stream(make, self.like, stream) if on_stream else make()
            except MemoryError:
                raise make_error(
                    Unavailable, "array.memory", None,
                    f"there is no memory for a new array of {element} and the shape {shape}",
                ) from None  # fmt: skip
            arrays[index] = as_new(seen[index])
        return arrays, seen

    # ===-- Parts --------------------------------------------------------------===

    def _keep(self, array: Any, view: View | None) -> None:
        self.arrays.append(array)
        # New arrays are aligned.
        self.addresses.append(0 if view is None or 0 in view.shape else view.address)
        self.alignments.append(1 if view is None else _alignment_of_rows(view))

    def _keep_device(self, array: Any, view: View) -> None:
        if self.like is None:
            self.like = array
            self.on_host = view.device_type == CPU and not _asked.cuda
            self.device = view.device

    def _element(self, name: str, view: View, elements: Sequence[str], remedy: str = "") -> str:
        if view.element in elements:
            return view.element
        for each in BITS.get(view.element, ()):
            if each in elements:
                return each
        raise make_error(
            TypeMismatch, "argument.type", name,
            f"argument '{name}' has elements of type {view.element}, expected "
            f"{' or '.join('bool' if each == 'i1' else each for each in elements)}{remedy}",
        )  # fmt: skip

    def _extents_of(
        self, name: str, view: View, element: str, shape: Sequence[int | str | None]
    ) -> list[int | str]:
        if len(view.shape) != len(shape):
            raise make_error(
                InvalidArgument, "argument.rank", name,
                f"argument '{name}' has rank {len(view.shape)}, expected {len(shape)}",
            )  # fmt: skip
        extents: list[int | str] = []
        for axis, (extent, expected) in enumerate(zip(view.shape, shape)):
            if element in PACKED and axis == len(shape) - 1:
                extent *= 2
            if expected is None:
                if axis == len(shape) - 1 and not 1 <= extent <= MAX_ROW:
                    raise make_error(
                        InvalidArgument, "argument.extent", name,
                        f"argument '{name}': extent {axis} is {extent}, expected one from 1 to "
                        f"{MAX_ROW}",
                    )  # fmt: skip
                extents.append(extent)
                continue
            extents.append(expected)
            if isinstance(expected, str):
                known = self.dims.setdefault(expected, extent)
            else:
                known = expected
            if extent != known:
                of = f" (dim '{expected}')" if isinstance(expected, str) else ""
                raise make_error(
                    InvalidArgument, "argument.extent", name,
                    f"argument '{name}': extent {axis} is {extent}, expected {known}{of}",
                )  # fmt: skip
        return extents

    def _add(
        self,
        name: str,
        type: str,
        shape: Sequence[int | str],
        view: View | None,
        element: str,
        access: str,
    ) -> None:
        attributes = f'dsv4.name = "{name}"'
        if any(isinstance(each, str) for each in shape):
            dims = ", ".join(f'"{each if isinstance(each, str) else ""}"' for each in shape)
            attributes += f", dsv4.dims = [{dims}]"
        aligned, unaligned = self._strides(name, shape, view, element, access)
        self._arguments.append(_Argument(f"%{name}: {type} {{{attributes}", aligned, unaligned))

    def _strides(
        self,
        name: str,
        shape: Sequence[int | str],
        view: View | None,
        element: str,
        access: str,
    ) -> tuple[str, str]:
        """`#dsv4.strides` of an array, for memory that is aligned as its strides are, and for any
        address of an element."""
        size = BYTES.get(element, 1)
        strides = ["?"] * (len(shape) - 1)
        # A number by itself is read as it is.
        unaligned = print_strides(strides, size) if shape and access != "blocks" else ""
        if view is None:
            return "", unaligned
        check_address(name, view, size)
        if view.strides is None:
            return "", unaligned
        if access == "elements":
            return (print_strides(["?"], size),) * 2
        if access == "blocks":
            raise make_error(
                InvalidArgument, "argument.stride", name,
                f"argument '{name}' has blocks that follow each other: pass a contiguous array",
            )  # fmt: skip
        if view.shape[-1] > 1 and view.strides[-1] != 1:
            raise make_error(
                InvalidArgument, "argument.stride", name,
                f"argument '{name}': elements along the last axis have to follow each other, and "
                f"are {view.strides[-1]} apart: pass a contiguous copy",
            )  # fmt: skip
        # Strides of indices are aligned, too: to what is read.
        alignment = max(_alignment_of_rows(view), size)
        return print_strides(strides, alignment), unaligned

    @staticmethod
    def _size_of_bytes(name: str, record: Record, view: View) -> int:
        """The entries of a page, whose bytes its shape has."""
        bytes = view.shape[1] * BYTES.get(view.element, 1)
        size = record.page_size(bytes)
        if size is None:
            near = [record.page_bytes(each) for each in record.page_sizes_near(bytes)]
            raise make_error(
                InvalidArgument, "argument.extent", name,
                f"argument '{name}': extent 1 is {view.shape[1]}, which is {bytes} bytes, and no "
                f"page of record {record.title} is so long: expected "
                f"{' or '.join(map(str, near))} bytes for instance",
            )  # fmt: skip
        return size

    @staticmethod
    def _page_size(name: str, record: Record, view: View) -> int:
        if len(view.shape) >= 3:
            size = view.shape[1]
        elif record.has_pages and len(view.shape) == 2:
            size = Program._size_of_bytes(name, record, view)
        else:
            raise make_error(
                InvalidArgument, "cache.page_size", name,
                f"'page_size' is needed: the shape {view.shape} of '{name}' does not say how many "
                f"entries of record {record.title} a page has",
            )  # fmt: skip
        if not 1 <= size <= MAX_PAGE_SIZE:
            raise make_error(
                InvalidArgument, "cache.page_size", name,
                f"argument '{name}' has pages of {size} entries by its shape {view.shape}, "
                f"expected 1 to {MAX_PAGE_SIZE}: pass an array [pages, page size, bytes]",
            )  # fmt: skip
        return size


class _Buffer(NamedTuple):
    """An array of a cache with an axis of pages."""

    # The alignment of an element in it, and of the bytes from page to page.
    element: int
    stride: int
    strided: bool
    # The bytes from entry to entry, if they are farther apart than entries are long.
    entry: int | None = None


def buffers_of(record: Record) -> list[tuple[str, int, int, bool]]:
    """The arrays of a cache: which fields are in it, the bytes of its widest element and of an
    entry (0: in rows and tails), and whether it has pages."""
    in_pages = [each for each in record.fields if each.placement != "array"]
    widest = max((each.element_bytes for each in in_pages), default=1)
    entry = 0 if record.part_bytes("tail") else record.part_bytes("row")
    return [("the pages", widest, entry, True)] * record.has_pages + [
        (f"the array of '{each.name}'", each.element_bytes, each.bytes, each.per != "tensor")
        for each in record.arrays
    ]


def check_buffer(
    name: str, what: str, size: int, entry_bytes: int, has_pages: bool, view: View
) -> _Buffer | None:
    """What is to know of an array of a cache; None: it has no pages."""
    check_address(name, view, size, f"{what}: ")
    if not has_pages:
        return None
    if len(view.shape) < 2 or 0 in view.shape:
        return _Buffer(size, MAX_ALIGNMENT, False)
    bytes = BYTES.get(view.element, 1)
    if view.strides is None:
        return _Buffer(size, alignment_of(math.prod(view.shape[1:]) * bytes), False)
    strides = [each * bytes for each in view.strides]
    entry = None
    # A launch refuses entries of another size.
    has_entries = len(view.shape) == 3 and view.shape[2] * bytes == entry_bytes
    if has_entries and view.shape[1] > 1 and strides[1] != entry_bytes:
        entry = strides[1]
    for axis, of in ((0, "pages"), (1, "entries")):
        if strides[axis] % size and view.shape[axis] > 1 and axis + 1 < len(strides):
            raise make_error(
                InvalidArgument, "argument.stride", name,
                f"argument '{name}': {what}: {of} are {strides[axis]} bytes apart, expected a "
                f"multiple of {size}, the bytes of an element: pass {of} that begin at elements",
            )  # fmt: skip
    if entry is not None and entry < entry_bytes:
        raise make_error(
            InvalidArgument, "argument.stride", name,
            f"argument '{name}': {what}: entries of {entry_bytes} bytes are {entry} bytes apart, "
            "so they overlap: pass entries that follow each other",
        )  # fmt: skip
    # One page has no stride.
    stride = alignment_of(strides[0]) if view.shape[0] > 1 else MAX_ALIGNMENT
    return _Buffer(size, min(stride, alignment_of(entry or 0)), True, entry)


def check_address(name: str, view: View, size: int, what: str = "") -> None:
    """An element begins at a multiple of its bytes."""
    if view.address % size and 0 not in view.shape:
        raise make_error(
            InvalidArgument, "argument.alignment", name,
            f"argument '{name}': {what}its address {view.address:#x} is no multiple of {size}, the "
            "bytes of an element: pass a copy, which is aligned",
        )  # fmt: skip


def _alignment_of_rows(view: View) -> int:
    """The alignment of rows, if the first one is aligned. Indices are read one by one."""
    if view.element in ("i16", "i32", "i64", "i1"):
        return 1
    bytes = BYTES.get(view.element, 1)
    if view.strides is None:
        return alignment_of(view.shape[-1] * bytes) if len(view.shape) > 1 else MAX_ALIGNMENT
    of_axes = zip(view.strides[:-1], view.shape)
    return min((alignment_of(s * bytes) for s, n in of_axes if n > 1), default=MAX_ALIGNMENT)


def alignment_of(number: int) -> int:
    """The largest power of two that divides a number, up to the largest that kernels use."""
    return min(MAX_ALIGNMENT, number & -number) if number else MAX_ALIGNMENT


def print_buffers(buffers: Sequence[_Buffer], alignments: Sequence[int]) -> str:
    """`dsv4.strides` of a cache: one for each of its arrays with pages."""
    each = [
        print_strides(["?"] if of.entry is None else ["?", str(of.entry)], alignment)
        for of, alignment in zip(buffers, alignments)
    ]
    return each[0] if len(each) == 1 else f"[{', '.join(each)}]"


def print_strides(strides: Sequence[str], alignment: int) -> str:
    end = f", align = {alignment}" if alignment < MAX_ALIGNMENT else ""
    return f"#dsv4.strides<[{', '.join(strides)}]{end}>"
