# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs for a call, and why: the program, its kernels, and where they came from."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from ._arrays import make_error
from ._dsv4 import InvalidArgument, Kernel, Unavailable
from ._events import Event, on_event
from ._kernels import check_dims, compile, kernel_of, program_of, twin_for, twin_of
from ._launches import (
    Entry,
    Launch,
    ProgramInfo,
    evaluate,
    extents_of,
    grid_of,
    read_entry,
    static_shared_bytes,
)
from ._options import INT32_MAX, check_text, check_word, refuse
from ._program import Program, as_on_cuda
from ._program_text import ProgramText, text_of
from ._runtime import cache_directory, devices
from ._source import ask_compiler

# Without a device, as `emit` has it.
_DEFAULT_ARCH = "sm_90a"


class ExplainedArgument(NamedTuple):
    """An argument of a program.

    shape: extents, by name where a launch gives them.
    """

    name: str
    element: str
    shape: tuple[int | str, ...]
    written: bool


class ExplainedKernel(NamedTuple):
    """A kernel of a program. What nobody knows is None.

    ops: which it computes, in order.
    grid, threads, cluster: blocks along x, y and z, threads per block, blocks per cluster.
    grid_text: the expressions of the grid, over the extents of a launch.
    programmatic: whether it may start before the kernel before it has ended.
    registers, spill_bytes: per thread, as ptxas reports them.
    static_shared_bytes, dynamic_shared_bytes: per block.
    unfused: why ops that compute what it reads are not in it.
    """

    name: str
    schedule: str
    ops: tuple[str, ...] | None
    grid: tuple[int, int, int] | None
    grid_text: tuple[str, ...]
    threads: int
    cluster: int
    programmatic: bool
    registers: int | None
    spill_bytes: int | None
    static_shared_bytes: int | None
    dynamic_shared_bytes: int | None
    workspace_bytes: int | None
    unfused: tuple[str, ...]


class Explanation(NamedTuple):
    """What runs for a call: `print` shows it, and `as_dict()` has it as plain values.

    text: the program; None of a kernel, which does not have it.
    dims, bounds: extents of the call, and the largest ones that the kernels are for.
    key: of the entry in the cache; None if nothing was compiled, and `missing` says why.
    origin: where the entry came from: 'memory', 'disk' or 'compiled'; None if it is not known.
    path: the file of the entry in the disk cache.
    launches: which kernels share a launch, or why they do not.
    """

    name: str
    target: str
    arch: str
    arguments: tuple[ExplainedArgument, ...]
    dims: dict[str, int]
    bounds: dict[str, int]
    kernels: tuple[ExplainedKernel, ...]
    launches: tuple[str, ...]
    key: str | None
    origin: str | None
    path: str | None
    missing: str | None
    text: str | None

    def as_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, strings and numbers, as `json` takes them."""
        made = self._asdict()
        made["arguments"] = [each._asdict() for each in self.arguments]
        made["kernels"] = [each._asdict() for each in self.kernels]
        plain: dict[str, Any] = json.loads(json.dumps(made))
        return plain

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def explain(
    fn: Callable[..., Any] | str | ProgramText | Kernel,
    /,
    *example_args: Any,
    target: str | None = None,
    arch: str | None = None,
    **kw: Any,
) -> Explanation:
    """What runs for a call of a function, and why.

    >>> print(dsv4.explain(dsv4.topk, scores, 512))
    >>> dsv4.explain(dsv4.topk, scores, 512, arch="sm_100a").kernels[0].registers
    40

    Args:
        fn: a function of dsv4, the text of a program, a program of `dsv4.programs`, or a kernel.
        example_args, kw: as for the function. Only their types and shapes count. With a text:
            `entry`, `dims` and `schedule` as for `compile`. With a kernel: the arrays of a launch,
            whose alignment counts, too, or nothing.
        target: 'cuda' or 'host'; None: that of the arrays, or with `arch` CUDA.
        arch: 'sm_90a' for instance; None: that of the device, or 'sm_90a' without one. With 'host'
            the host target has the program of it.

    The program is compiled or taken from the cache, as a call would do, and not launched. Without
    NVRTC or g++ it is not compiled, and registers and shared memory are None. Arrays in CPU memory
    may be explained for CUDA: no GPU is needed.

    Raises:
        the errors of `compile`, and those of the function; Unavailable only without the compiler.
    """
    target = None if target is None else check_word("target", target, ("cuda", "host"))
    arch = None if arch is None else check_text("arch", arch)
    if isinstance(fn, Kernel):
        if target is not None or arch is not None or kw:
            raise TypeError("explain() of a kernel takes the arrays of a launch only")
        if example_args:
            _check_launch(fn, example_args)
        return _explain(None, _Found(twin_for(fn, example_args)), example_args, {})
    if isinstance(fn, (str, ProgramText)):
        if example_args:
            raise TypeError("explain() of a text takes options by name only")
        request = _request(text_of(fn)[0], target, arch, **kw)
        return _explain(request, _compile(request), (), request.dims)
    on_cuda = target == "cuda" or (target is None and arch is not None)
    with as_on_cuda(on_cuda):
        program = program_of(fn, example_args, kw)
    if target == "host" and not program.on_host:
        raise refuse("target", target, "'cuda' or None for arrays on a GPU")
    request = _Request(program.text(), "host" if program.on_host else "cuda", arch, program.bounds)
    if on_cuda or arch is not None:
        aligned = program.is_served(program.alignments)
        request = request._replace(text=program.text(aligned), arch=arch or _device_arch())
        found = _compile(request)
    else:
        found, aligned = _find(program)
        request = request._replace(text=program.text(aligned))
    return _explain(request, found, program.arrays, program.dims)


# ===-- Compiling --------------------------------------------------------------===


class _Request(NamedTuple):
    """What is compiled."""

    text: str
    target: str
    arch: str | None
    dims: Mapping[str, int]
    entry: str | None = None
    schedule: str | None = None


class _Found(NamedTuple):
    """A kernel and where it came from, or why there is none."""

    kernel: Kernel | None
    origin: str | None = None
    missing: str | None = None


def _request(
    text: str, target: str | None, arch: str | None, *, entry: str | None = None,
    dims: Mapping[str, int] | None = None, schedule: str | None = None,
) -> _Request:  # fmt: skip
    """Of a text, with the defaults of `compile`."""
    if target is None:
        target = "cuda" if arch is not None or devices() else "host"
    if target == "cuda" and arch is None:
        arch = _device_arch()
    return _Request(text, target, arch, check_dims(dims) or {}, entry, schedule)


def _device_arch() -> str:
    found = devices()
    return str(found[0]["arch"]) if found else _DEFAULT_ARCH


def _watch(make: Callable[[], Kernel]) -> _Found:
    """What a function makes, and where that came from."""
    kinds: list[str] = []
    thread = threading.get_ident()

    def note(event: Event) -> None:
        # An event comes on the thread of its call.
        if threading.get_ident() == thread:
            kinds.append(event.kind)

    remove = on_event(note)
    try:
        kernel = make()
    except Unavailable as error:
        return _Found(None, missing=str(error))
    finally:
        remove()
    origin = "compiled" if "compiled" in kinds else "disk" if "disk_hit" in kinds else "memory"
    return _Found(kernel, origin)


def _check_launch(kernel: Kernel, arrays: Sequence[Any]) -> None:
    """Refuses what a launch would. A kernel for CUDA has no device here, and its arrays may be in
    CPU memory: `extents_of` looks at what it takes from them."""
    if kernel.target == "host":
        kernel.workspace_bytes(*arrays)
    elif len(arrays) != len(kernel.arguments):
        names = ", ".join(kernel.arguments)
        raise make_error(
            InvalidArgument, "argument.count", None,
            f"kernel '{kernel.name}' takes {len(kernel.arguments)} arguments ({names}), got "
            f"{len(arrays)}",
        )  # fmt: skip


def _compile(of: _Request) -> _Found:
    return _watch(
        lambda: compile(
            of.text, entry=of.entry, dims=of.dims, target=of.target, arch=of.arch,
            schedule=of.schedule,
        )
    )  # fmt: skip


def _find(program: Program) -> tuple[_Found, bool]:
    """The kernel that a call with the arrays of a program launches, and whether it is the one for
    aligned memory."""
    found = _watch(lambda: kernel_of(program))
    if found.kernel is None:
        return found, program.is_served(program.alignments)
    kernel, aligned = twin_of(found.kernel, program)
    return found._replace(kernel=kernel), aligned


# ===-- The explanation --------------------------------------------------------===


class _Formed(TypedDict):
    symbol: str
    ops: list[str]
    unfused: list[str]


class _Plan(TypedDict):
    """What the compiler decided, as `dsv4-compile --emit-plan` writes it."""

    program: ProgramInfo
    formed: list[_Formed]
    launches: list[str]


def _explain(
    request: _Request | None, found: _Found, arrays: Sequence[Any], known: Mapping[str, int]
) -> Explanation:
    plan: _Plan | None = None
    if request is not None:
        arch = found.kernel.arch if found.kernel else request.arch
        plan = json.loads(
            ask_compiler(
                "--emit-plan", request.target, request.text, request.entry, request.dims, arch,
                request.schedule,
            )
        )  # fmt: skip
    entry = None if found.kernel is None else read_entry(found.kernel.entry())
    info = entry.program if entry else plan["program"] if plan else None
    assert info is not None
    extents = extents_of(info, arrays, known)
    dims = dict(extents)
    if info["target"] == "cuda":
        extents.update(_multiprocessors(info["arch"]))
    kernels = [
        _explain_kernel(launch, entry.images[index] if entry else None, info, plan, extents)
        for index, launch in enumerate(info["kernels"])
    ]
    return Explanation(
        info["name"], info["target"], info["arch"], _arguments(info), dims, _bounds(info),
        tuple(kernels),
        tuple(plan["launches"]) if plan else (),
        found.kernel.key if found.kernel else None, found.origin,
        _path(entry, found.kernel), found.missing, request.text if request else None,
    )  # fmt: skip


def _multiprocessors(arch: str) -> dict[str, int]:
    """Of the first device of that architecture."""
    of = next((each["multiprocessors"] for each in devices() if each["arch"] == arch), None)
    return {} if of is None else {"multiprocessors()": of}


def _bounds(info: ProgramInfo) -> dict[str, int]:
    """Of extents that are bounded by more than their type."""
    return {
        each["name"]: each["max"]
        for each in info["dims"]
        if not each["isStride"] and each["max"] < INT32_MAX
    }


def _arguments(info: ProgramInfo) -> tuple[ExplainedArgument, ...]:
    names = [each["name"] for each in info["dims"]]
    return tuple(
        ExplainedArgument(
            each["name"], each["element"],
            tuple(axis if isinstance(axis, int) else names[axis["dim"]] for axis in each["shape"]),
            each["written"],
        )
        for each in info["bindings"]
    )  # fmt: skip


def _path(entry: Entry | None, kernel: Kernel | None) -> str | None:
    """Of an entry in the disk cache, if it is there."""
    directory = cache_directory()
    if entry is None or kernel is None or directory is None:
        return None
    path = os.path.join(
        directory, f"v{entry.version}", kernel.arch, f"llvmcache-{kernel.key}"
    )
    return path if os.path.exists(path) else None


def _parts(symbol: str, plan: _Plan | None) -> list[_Formed] | None:
    """The kernels that became the kernel of a launch: several if they were joined, under their
    names, or under that of the function if it has no other."""
    if plan is None:
        return None
    formed = plan["formed"]
    for names in ([symbol], symbol.split("_and_")):
        found = [each for each in formed if each["symbol"] in names]
        if found:
            return found
    return formed


def _explain_kernel(
    launch: Launch, image: bytes | None, info: ProgramInfo, plan: _Plan | None,
    extents: Mapping[str, int],
) -> ExplainedKernel:  # fmt: skip
    parts = _parts(launch["symbol"], plan)
    is_compiled = image is not None and info["target"] == "cuda"
    return ExplainedKernel(
        name=launch["symbol"],
        schedule=launch["schedule"],
        ops=None if parts is None else tuple(op for part in parts for op in part["ops"]),
        grid=grid_of(launch, extents),
        grid_text=tuple(launch["grid"]),
        threads=math.prod(launch["block"]),
        cluster=math.prod(launch["cluster"]),
        programmatic=launch["programmaticLaunch"],
        registers=launch["registers"] if is_compiled else None,
        spill_bytes=launch["spillBytes"] if is_compiled else None,
        static_shared_bytes=(
            static_shared_bytes(image, launch["symbol"]) if image and is_compiled else None
        ),
        dynamic_shared_bytes=evaluate(launch["sharedBytes"], extents),
        workspace_bytes=evaluate(launch["workspaceBytes"], extents),
        unfused=tuple(why for part in parts or () for why in part["unfused"]),
    )


# ===-- The text ---------------------------------------------------------------===

_WIDTH = 18


def _row(label: str, *lines: str) -> list[str]:
    labels = [label, *[""] * (len(lines) - 1)]
    return [f"{name:<{_WIDTH}}{line}" for name, line in zip(labels, lines)]


def _pairs(extents: Mapping[str, int], between: str) -> str:
    return ", ".join(f"{name}{between}{extent}" for name, extent in extents.items())


def _lines(of: Explanation) -> list[str]:
    lines = _row("program", f"{of.name} on {of.target} ({of.arch})")
    lines += _row("arguments", *map(_argument_text, of.arguments))
    if of.dims:
        lines += _row("dims", _pairs(of.dims, " = "))
    if of.bounds:
        lines += _row("bounds", _pairs(of.bounds, " <= "))
    if of.missing is not None:
        lines += _row("not compiled", of.missing)
    if of.key is not None:
        lines += _row("cache key", of.key)
    if of.origin is not None:
        lines += _row("cache hit", "none (compiled)" if of.origin == "compiled" else of.origin)
    if of.path is not None:
        lines += _row("cache entry", of.path)
    for kernel in of.kernels:
        lines += _kernel_lines(kernel)
    if of.launches:
        lines += _row("launches", *of.launches)
    if of.text is not None:
        lines += ["", of.text.rstrip()]
    return lines


def _argument_text(of: ExplainedArgument) -> str:
    shape = ", ".join(map(str, of.shape))
    return f"{of.name}: {of.element}[{shape}]{', written' if of.written else ''}"


def _kernel_lines(of: ExplainedKernel) -> list[str]:
    axes = list(map(str, of.grid or of.grid_text))
    while len(axes) > 1 and axes[-1] == "1":
        axes.pop()
    blocks = "1 block" if axes == ["1"] else f"{' x '.join(axes)} blocks"
    launch = f"{blocks} of {of.threads} threads"
    if of.cluster > 1:
        launch += f", in clusters of {of.cluster}"
    if of.programmatic:
        launch += ", programmatic"
    lines = _row("kernel", of.name)
    if of.ops is not None:
        lines += _row("  ops", ", ".join(of.ops))
    lines += _row("  schedule", of.schedule)
    lines += _row("  launch", launch)
    if of.registers is not None:
        lines += _row("  registers", f"{of.registers} per thread, {of.spill_bytes} bytes spilled")
    memory = [
        f"{bytes} bytes {kind}"
        for bytes, kind in (
            (of.static_shared_bytes, "static"), (of.dynamic_shared_bytes, "dynamic")
        )
        if bytes
    ]  # fmt: skip
    if memory:
        lines += _row("  shared memory", ", ".join(memory))
    if of.workspace_bytes:
        lines += _row("  workspace", f"{of.workspace_bytes} bytes")
    if of.unfused:
        lines += _row("  unfused", *of.unfused)
    return lines
