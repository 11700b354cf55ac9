# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call takes on a GPU, beside a copy and an empty kernel: bench/README.md has the method."""

from __future__ import annotations

import inspect
import json
import math
import re
import statistics
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ._arrays import BYTES, CPU, describe, library_of, make_error
from ._copies import CopyKernel, copy_kernels
from ._dsv4 import InvalidArgument, Kernel, TypeMismatch, Unavailable, View
from ._kernels import kernel_of, program_of, twin_for, twin_of
from ._launches import ProgramInfo, extents_of, grid_of, read_entry
from ._options import check_int, refuse
from ._program import Program
from ._show import is_array

MIN_LAUNCHES, MAX_LAUNCHES = 12, 1024
# A graph that moves this many times the bytes of the L2 cache finds nothing there of its last
# replay.
_CACHE_FACTOR = 4
# About as long as a graph of launches that do the same work again should take.
_GRAPH_US = 2000.0
# Of a copy, read or written.
_MAX_COPY_BYTES = 1 << 30

# Arguments that rows of a launch look up, and share.
_TABLES = ("page_table", "table")


class Timing(NamedTuple):
    """The time of a launch, in microseconds.

    us, us_low, us_high: the median of replays, and their quartiles.
    gb_per_s: bytes moved in that time.
    same_copy_us, same_copy: of the fastest copy of as many bytes, and how it moves them.
    empty_us: of kernels with the same blocks that do nothing.
    launches, copies: of a graph, and the copies of the arguments that they cycle through.
    flushed: whether the L2 cache is filled with other data before each replay.
    """

    us: float
    us_low: float
    us_high: float
    gb_per_s: float
    same_copy_us: float
    same_copy: str
    empty_us: float
    launches: int
    copies: int
    flushed: bool


class Benchmark(NamedTuple):
    """What a call takes on a GPU: `print` shows a table, and `as_dict()` has plain values.

    bytes: that a launch moves.
    kernels: how many a launch has.
    cold: no launch finds its data in the L2 cache.
    warm: each launch does the same again.
    """

    name: str
    device: str
    bytes: int
    kernels: int
    cold: Timing
    warm: Timing

    def as_dict(self) -> dict[str, Any]:
        """The same as dicts, strings and numbers, as `json` takes them."""
        made = {**self._asdict(), "cold": self.cold._asdict(), "warm": self.warm._asdict()}
        plain: dict[str, Any] = json.loads(json.dumps(made))
        return plain

    def __str__(self) -> str:
        head = ("L2", "µs", "quartiles", "GB/s", "copy, µs", "empty, µs", "launches")
        rows = [head] + [
            (
                name, _number(of.us), f"{_number(of.us_low)} to {_number(of.us_high)}",
                f"{of.gb_per_s:.0f}", _number(of.same_copy_us), _number(of.empty_us),
                str(of.launches),
            )
            for name, of in (("cold", self.cold), ("warm", self.warm))
        ]  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*rows)]
        table = ["  ".join(each.rjust(width) for each, width in zip(row, widths)) for row in rows]
        kernels = "1 kernel" if self.kernels == 1 else f"{self.kernels} kernels"
        flushed = ", and the L2 cache is flushed before each replay" * self.cold.flushed
        copies = "1 copy" if self.cold.copies == 1 else f"{self.cold.copies} copies"
        lines = [
            f"{self.name} on {self.device}: {kernels}, {self.bytes} bytes moved",
            *table,
            f"cold: launches cycle through {copies} of the arguments{flushed}",
            f"copy: as many bytes, by {self.cold.same_copy} (cold), {self.warm.same_copy} (warm)",
        ]
        return "\n".join(lines)


def _number(us: float) -> str:
    """Three digits, as far as they are before the point."""
    return f"{us:.{max(0, 2 - max(0, math.floor(math.log10(us))))}f}" if us > 0 else "0"


def benchmark(
    fn: Callable[..., Any] | Kernel, /, *example_args: Any, bytes: int | None = None, **kw: Any
) -> Benchmark:
    """Measures what a call takes on a GPU, of tensors of torch.

    >>> print(dsv4.benchmark(dsv4.topk, scores, 512))
    >>> dsv4.benchmark(kernel, scores, indices).cold.us
    5.63

    Args:
        fn: a function of dsv4, or a kernel.
        example_args, kw: as for the function. They are copied, and never written.
        bytes: that a launch moves; None: those of its arrays. Of a cache these are the entries that
            `slots` and `indices` name, or that `lengths` count. Page tables and tables of rotations
            do not count. With a kernel that has a cache it is needed.

    Launches are captured in a graph and replayed, and the time of a replay is divided by their
    number. Cold launches have copies of the arguments, as many as fill the L2 cache four times, or
    as half of the free memory has room for. Beside them stand the fastest copy of as many bytes
    and kernels of the same blocks that do nothing, of the same run.

    Raises:
        TypeMismatch: the arrays are in CPU memory, where timings are not meaningful, or are none
            of torch.
        Unavailable: there is no room for a copy of the arguments.
        the errors of `compile`, and those of the function.
    """
    moved = None if bytes is None else check_int("bytes", bytes, 1, 2**63 - 1)
    if kw.get("stream") is not None:
        raise refuse("stream", kw["stream"], "None: a benchmark has a stream of its own")
    job = _kernel_job(fn, example_args, kw) if isinstance(fn, Kernel) else None
    if job is None:
        job = _function_job(fn, example_args, kw)
    moved = job.count_bytes() if moved is None else moved
    if moved == 0:
        raise make_error(
            InvalidArgument, "option.bytes", "bytes",
            "the call moves none: pass arrays that are not empty, or the bytes that a launch moves",
        )  # fmt: skip
    device = open_device(job.like)
    with device.opened():
        return _measure(job, device, moved)


# ===-- The call ---------------------------------------------------------------===


class _Job(NamedTuple):
    """A call to measure.

    like: one of its arrays.
    result_bytes: of new arrays.
    grids: the blocks of its kernels, given the multiprocessors.
    run: the call, with such arguments.
    """

    name: str
    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    like: Any
    result_bytes: int
    programmatic: bool
    grids: Callable[[int], list[tuple[int, int, int]]]
    count_bytes: Callable[[], int]
    run: Callable[..., Any]


def _kernel_job(kernel: Kernel, args: tuple[Any, ...], kw: dict[str, Any]) -> _Job:
    like = _check_arrays([each for each in zip(kernel.arguments, args) if is_array(each[1])])
    kernel.workspace_bytes(*args)  # Refuses what a launch would.
    info = read_entry(twin_for(kernel, args).entry()).program
    kernel.load(describe("fn", like).device)
    return _Job(
        kernel.name, (args, kw), like, 0, _is_programmatic(info), _grids(info, args, {}),
        lambda: _count_kernel_bytes(info, args), kernel.launch,
    )  # fmt: skip


def _function_job(fn: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]) -> _Job:
    program = program_of(fn, args, kw)
    bound = inspect.signature(fn).bind(*args, **kw).arguments
    like = _check_arrays([(name, each) for name, value in bound.items() for each in walk(value)])
    kernel, _ = twin_of(kernel_of(program), program)
    info = read_entry(kernel.entry()).program
    results = sum(math.prod(shape) * BYTES[element] for _, shape, element, _ in program.outputs)
    return _Job(
        getattr(fn, "__name__", program.name), (args, kw), like, results, _is_programmatic(info),
        _grids(info, program.arrays, program.dims),
        lambda: count_bytes(program, kernel.arguments), fn,
    )  # fmt: skip


def _is_programmatic(info: ProgramInfo) -> bool:
    return info["kernels"][0]["programmaticLaunch"]


def _grids(
    info: ProgramInfo, arrays: Sequence[Any], known: Mapping[str, int]
) -> Callable[[int], list[tuple[int, int, int]]]:
    def grids(multiprocessors: int) -> list[tuple[int, int, int]]:
        extents = extents_of(info, arrays, known)
        extents["multiprocessors()"] = multiprocessors
        found = [grid_of(each, extents) for each in info["kernels"]]
        return [each for each in found if each is not None and 0 not in each]

    return grids


def walk(value: Any) -> Iterator[Any]:
    """The arrays in an argument: it, or those in a tuple or list."""
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from walk(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from walk(each)
    elif is_array(value):
        yield value


def _check_arrays(named: Sequence[tuple[str, Any]]) -> Any:
    """The first of the arrays, which have to be those of torch on a GPU."""
    for name, array in named:
        if describe(name, array).device_type == CPU:
            raise make_error(
                TypeMismatch, "benchmark.host", name,
                f"argument '{name}' is in CPU memory, and timings of the host target are not "
                "meaningful: pass tensors on a GPU",
            )  # fmt: skip
        library = library_of(array)
        if library != "torch":
            raise make_error(
                TypeMismatch, "benchmark.array", name,
                f"argument '{name}' is an array of {library or type(array).__module__}, and "
                f"benchmark() captures graphs of torch: pass torch.from_dlpack({name})",
            )  # fmt: skip
    if not named:
        raise make_error(
            InvalidArgument, "argument.count", None, "there are no arrays: pass those of a launch"
        )
    return named[0][1]


# ===-- Bytes ------------------------------------------------------------------===


def _view_bytes(view: View) -> int:
    """Of the elements of an array, of which expanded ones are one."""
    strides = view.strides or (1,) * len(view.shape)
    extents = [extent for extent, stride in zip(view.shape, strides) if stride or extent == 0]
    return math.prod(extents) * BYTES.get(view.element, 1)


def count_bytes(program: Program, names: Sequence[str]) -> int:
    """What a launch has to move: its arrays, which have these names, and of a cache the entries
    that it reads or writes."""
    new = {index: (shape, BYTES[element]) for index, shape, element, _ in program.outputs}
    arrays = dict(zip(names, program.arrays))
    shapes: dict[str, Sequence[int]] = {}
    total = 0
    for index, name in enumerate(names):
        if index in new:
            shapes[name], size = new[index]
            total += math.prod(shapes[name]) * size
            continue
        view = describe(name, arrays[name])
        shapes[name] = view.shape
        if name.partition(".")[0] not in (*program.entry_bytes, *_TABLES):
            total += _view_bytes(view)
    for cache, size in program.entry_bytes.items():
        total += size * _count_entries(program, cache, arrays, shapes)
    return total


def _count_entries(
    program: Program, cache: str, arrays: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> int:
    """The entries of a cache that a launch reads or writes."""
    text = program.text()
    named = re.findall(rf"%{cache}\[%(\w+)\]", text)
    if named:
        return sum(math.prod(shapes[indices]) for indices in named)
    # Each row of a result is an entry.
    rows = re.search(rf"paged_gather %{cache} .*?(?:outs|fields)\(%(\w+)", text)
    if rows:
        return math.prod(shapes[rows[1]][:-1])
    lengths = arrays.get("lengths")
    is_index = f" cache(%{cache} :" in text and not re.search(r" (next_n|ratio) \d", text)
    if not is_index or lengths is None or "indptr" in arrays:
        raise _refuse_bytes(cache, f"'{program.name}'")
    counts = lengths.tolist()
    # Rows of a request share its keys.
    requests = arrays["requests"].tolist() if "requests" in arrays else range(len(counts))
    longest: dict[int, int] = {}
    for request, count in zip(requests, counts):
        longest[request] = max(count, longest.get(request, 0))
    # A row has no keys beyond its columns, nor beyond its pages.
    dims = program.dims
    most = min(dims["columns"], dims["pages"] * program.page_sizes[cache])
    return sum(min(count, most) for count in longest.values())


def _count_kernel_bytes(info: ProgramInfo, arrays: Sequence[Any]) -> int:
    """The same for the arrays of a kernel, which does not say what it does with a cache."""
    total = 0
    for number, (binding, array) in enumerate(zip(info["bindings"], arrays)):
        name = binding["name"]
        if any(
            each["binding"] == number and "." in each["name"] and not each["isStride"]
            for each in info["dims"]
        ):
            raise _refuse_bytes(name, f"kernel '{info['name']}'")
        if name not in _TABLES:
            total += _view_bytes(describe(name, array))
    return total


def _refuse_bytes(cache: str, what: str) -> Exception:
    return make_error(
        InvalidArgument, "option.bytes", "bytes",
        f"'bytes' is needed: {what} does not say how many entries of '{cache}' it reads or writes; "
        "pass the bytes that a launch has to move",
    )  # fmt: skip


# ===-- How many launches ------------------------------------------------------===


class Choice(NamedTuple):
    """The launches of a graph, the copies of the arguments that they cycle through, and whether
    the L2 cache is flushed before each replay."""

    launches: int
    copies: int
    flushed: bool


def choose_cold(moved: int, copied: int, free: int, cache: int) -> Choice:
    """Launches of which none finds its data in the L2 cache, which has `cache` bytes. A copy of the
    arguments takes `copied` bytes, and half of the free ones may be taken."""
    room = free // 2 // max(1, copied)
    if room < 1:
        raise make_error(
            Unavailable, "array.memory", None,
            f"there is no room for a copy of the arguments, {copied} bytes: half of the free "
            f"memory is {free // 2} bytes; pass a smaller cache",
        )  # fmt: skip
    enough = _CACHE_FACTOR * cache
    copies = min(max(MIN_LAUNCHES, -(-enough // moved)), MAX_LAUNCHES, room)
    if copies * moved < enough:
        return Choice(copies, copies, True)
    return Choice(max(copies, MIN_LAUNCHES), copies, False)


def choose_warm(moved: int) -> Choice:
    """Launches that do the same again, for about as long as is worth a replay: by how long they
    would take at 4 TB/s, and 2 us beside that."""
    us = moved / 4e6 + 2
    return Choice(min(max(MIN_LAUNCHES, int(_GRAPH_US / us)), MAX_LAUNCHES), 1, False)


# ===-- Measuring --------------------------------------------------------------===


class Candidate(NamedTuple):
    """What is captured in a graph: `launches` launches, the i-th by `launch`."""

    name: str
    launches: int
    launch: Callable[[int], object]


class Memory(Protocol):
    """A block of a device's memory."""

    def data_ptr(self) -> int: ...


class Device(Protocol):
    """The GPU of some tensors."""

    name: str
    multiprocessors: int
    cache_bytes: int

    def opened(self) -> Any: ...
    def free_bytes(self) -> int: ...
    def span_bytes(self, array: Any) -> int: ...
    def clone(self, array: Any) -> Any: ...
    def allocate(self, size: int) -> Memory: ...
    def copy_kernels(self) -> list[CopyKernel]: ...
    def copy(self, of: CopyKernel, to: int, source: int, size: int) -> None: ...
    def empty(self, grid: tuple[int, int, int], programmatic: bool) -> None: ...
    def time(self, candidates: Sequence[Candidate], flushed: bool) -> list[list[float]]: ...


def open_device(like: Any) -> Device:
    """The GPU of a tensor."""
    from ._graphs import TorchDevice  # Imports torch, which its arrays have done.

    return TorchDevice(like.device.index)


class _Copies:
    """Copies of the arguments of a call. An array that is given twice is copied once."""

    def __init__(self, job: _Job, device: Device) -> None:
        self.job, self.device = job, device
        self.given = list({_identity(each): each for each in walk(job.arguments)}.values())

    def bytes(self) -> int:
        return sum(map(self.device.span_bytes, self.given)) + self.job.result_bytes

    def make(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        made = {_identity(each): self.device.clone(each) for each in self.given}
        copied: tuple[tuple[Any, ...], dict[str, Any]] = _replace(self.job.arguments, made)
        return copied


def _identity(array: Any) -> tuple[Any, ...]:
    """Of the memory of an array, so that what is written in place is so in a copy."""
    view = describe("fn", array)
    return view.address, view.shape, view.strides, view.element


def _replace(value: Any, made: Mapping[tuple[Any, ...], Any]) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(_replace(each, made) for each in value)
    if isinstance(value, dict):
        return {name: _replace(each, made) for name, each in value.items()}
    return made[_identity(value)] if is_array(value) else value


def _measure(job: _Job, device: Device, moved: int) -> Benchmark:
    copies = _Copies(job, device)
    cold = choose_cold(moved, copies.bytes(), device.free_bytes(), device.cache_bytes)
    made = [copies.make() for _ in range(cold.copies)]
    grids = job.grids(device.multiprocessors)
    first = _time(job, device, moved, grids, cold, made)
    warm = _time(job, device, moved, grids, choose_warm(moved), made[:1])
    return Benchmark(job.name, device.name, moved, len(grids), first, warm)


def _time(
    job: _Job, device: Device, moved: int, grids: Sequence[tuple[int, int, int]], choice: Choice,
    made: Sequence[tuple[tuple[Any, ...], dict[str, Any]]],
) -> Timing:  # fmt: skip
    # New results of launches are memory of their own, until the copies begin again.
    results: deque[Any] = deque(maxlen=choice.copies - 1)

    def launch(i: int) -> None:
        args, kw = made[i % len(made)]
        results.append(job.run(*args, **kw))

    def launch_empty(_: int) -> None:
        for grid in grids:
            device.empty(grid, job.programmatic)

    candidates = [
        Candidate(job.name, choice.launches, launch),
        *_copy_candidates(device, moved, choice),
        Candidate("empty", choice.launches, launch_empty),
    ]
    times = [
        statistics.quantiles(each, n=4, method="inclusive")
        for each in device.time(candidates, choice.flushed)
    ]
    (low, us, high), empty = times[0], times[-1][1]
    best = min(range(1, len(times) - 1), key=lambda index: times[index][1])
    return Timing(
        us, low, high, moved / us * 1e-3, times[best][1], candidates[best].name, empty,
        *choice,
    )  # fmt: skip


def _copy_candidates(device: Device, moved: int, choice: Choice) -> list[Candidate]:
    """Copies that move as many bytes, half of them read, from other memory in each cold launch."""
    half = max(16, moved // 2 // 16 * 16)
    room = max(half, min(_MAX_COPY_BYTES, device.free_bytes() // 4))
    slices = min(choice.copies, room // half)
    to, source = (device.allocate(slices * half) for _ in range(2))

    def candidate(of: CopyKernel) -> Candidate:
        def launch(i: int) -> None:
            at = i % slices * half
            device.copy(of, to.data_ptr() + at, source.data_ptr() + at, half)

        return Candidate(of.name, choice.launches, launch)

    return [candidate(each) for each in device.copy_kernels()]
