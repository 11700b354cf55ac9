# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels: compiled from text, kept, prepared, and launched."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from . import _dsv4
from ._arrays import (
    Maker,
    describe,
    library_of,
    make_error,
    make_maker,
    make_on_stream,
    makes_on_streams,
    synchronize,
)
from ._dsv4 import InvalidArgument, Kernel, Plan, TypeMismatch
from ._options import check_int, check_text, check_word, plain_text, refuse
from ._program import Program
from ._program_text import ProgramText, text_of
from ._show import is_array, show
from ._types import Stream

TARGETS = {None: 0, "auto": 0, "cuda": 1, "host": 2}
_TARGET_WORDS = ("auto", "cuda", "host")

_MAX_DIMS = 64


# ===-- Compiling --------------------------------------------------------------===


def _target(target: str | None) -> int:
    return TARGETS[None if target is None else check_word("target", target, _TARGET_WORDS)]


def check_option(name: str, value: Any) -> str | None:
    return None if value is None else check_text(name, value)


def check_dims(dims: Any) -> dict[str, int] | None:
    if dims is None:
        return None
    if not isinstance(dims, Mapping) or len(dims) > _MAX_DIMS:
        raise refuse("dims", dims, f"at most {_MAX_DIMS} extents by name, as a dict")
    return {check_text("dims", each): check_int("dims", dims[each], 0, 2**63 - 1) for each in dims}


def check_program(text: Any) -> str:
    found = plain_text(text)
    if found is None:
        raise refuse("text", text, "the text of a program, as a string")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise refuse("text", found, "text that UTF-8 can encode") from None
    return found


def compile(
    text: str | ProgramText,
    *,
    like: Mapping[str, Any] | None = None,
    entry: str | None = None,
    dims: Mapping[str, int] | None = None,
    target: str | None = None,
    arch: str | None = None,
    device: int = 0,
    schedule: str | None = None,
    name: str | None = None,
    stream: Stream | None = None,
) -> Kernel:
    """Compiles the text of a program.

    >>> kernel = dsv4.compile(open("quantize.mlir").read(), target="host")
    >>> kernel.arguments
    ('x', 'data', 'scales')
    >>> kernel(x, data, scales)

    >>> kernel = dsv4.compile(text, like={"x": x[:, 512:], "slots": slots})

    Args:
        text: MLIR of the dialect `dsv4`, or a program of `dsv4.programs`.
        like: arrays by the names of arguments, or tuples of them for caches in several arrays. The
            kernel is for arrays of such strides, alignments and types of indices, on their device.
            An extent is a bound of a bucket, or that of an exact dim.
        entry: the function, where the text has several.
        dims: extents of dims by name. Exact dims need one, and buckets a bound.
        target: 'cuda', 'host' (needs g++), or None: where `like` is, or CUDA if there is a device.
        arch: 'sm_90a' for instance; None: that of `device`.
        device: the number of a GPU, without `like`.
        schedule: `#dsv4.schedule<...>` instead of that of the table.
        name: of the text, for messages.
        stream: where the kernel will run: a compile while it captures is refused.

    Raises:
        InvalidArgument, TypeMismatch: the text has no such argument, or it is no such array.
        CompileFailed: the compiler refuses the text; the message has the line.
        Unavailable: there is no compiler, NVRTC or g++.
        NotPrepared: after `freeze()`, or while `stream` captures a graph.

    Compiled programs are kept in a cache on disk. The GIL is released meanwhile.
    """
    given, known = text_of(text)
    plain, function, extents = check_program(given), check_option("entry", entry), check_dims(dims)
    device = check_int("device", device, 0)
    described = None
    if like is not None:
        from ._like import Like  # Few programs have any.

        described = Like(plain, function, like)
        extents = {**described.bounds(), **(extents or {})}
        if target is None and described.target is not None:
            target, device = described.target, described.device

    def compile_text(text: str) -> Kernel:
        return _dsv4.compile(
            text, function, extents, _target(target), check_option("arch", arch),
            check_option("schedule", schedule), check_option("name", name) or known, device, stream,
        )  # fmt: skip

    if described is None:
        return compile_text(plain)

    def alignments(kernel: Kernel) -> dict[str, int]:
        return dict(zip(kernel.arguments, kernel.alignments))

    return described.make(compile_text, alignments)


def load(
    entry: bytes | str | os.PathLike[str],
    *,
    unaligned: bytes | str | os.PathLike[str] | None = None,
) -> Kernel:
    """A kernel from the bytes of `Kernel.entry()`, or from a file of them.

    >>> open("topk.dsv4", "wb").write(kernel.entry())
    >>> kernel = dsv4.load("topk.dsv4")

    Args:
        entry: the bytes, or the path of a file.
        unaligned: the same of `kernel.unaligned`, which is launched for arrays whose addresses
            `kernel` refuses.

    Raises:
        CorruptEntry: damaged, or written by another version.

    Who can write entries can run code: load none of a stranger.
    """
    kernel = _open(entry)
    if unaligned is not None:
        _dsv4.join_kernels(kernel, _open(unaligned))
    return kernel


def _open(entry: bytes | str | os.PathLike[str]) -> Kernel:
    if isinstance(entry, bytes):
        return _dsv4.open_entry(entry)
    if not isinstance(entry, (str, os.PathLike)):
        raise refuse("entry", entry, "bytes, or the path of a file")
    with open(entry, "rb") as file:
        return _dsv4.open_entry(file.read())


# ===-- The kernels of the functions -------------------------------------------===

_Key = tuple[str, tuple[tuple[str, int], ...], bool, int]

_kernels: dict[_Key, Kernel] = {}
_lock = threading.Lock()
# One lock per kernel that is being compiled: others need not wait for it.
_compiling: dict[_Key, threading.Lock] = {}


def _forget_locks() -> None:
    """In a child of fork(), whose other threads are gone."""
    global _lock
    _lock = threading.Lock()
    _compiling.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)


def _key_of(program: Program) -> tuple[int, _Key]:
    """The device of a program, and what its kernel is kept under."""
    device = 0 if program.on_host else program.device
    bounds = tuple(sorted(program.bounds.items()))
    return device, (program.text(), bounds, program.on_host, device)


def find_kernel(program: Program, *, for_all: bool) -> Kernel | None:
    """The kernel of a program, if it is in memory."""
    found = _kernels.get(_key_of(program)[1])
    return found if found is not None and _serves(found, program, for_all) else None


def kernel_of(program: Program, stream: Any = None, *, for_all: bool = False) -> Kernel:
    """The kernel of a program: one per text, bounds and device. It serves the addresses of the
    program's arrays, and all others on CUDA, where a later call may be captured, or `for_all`."""
    device, key = _key_of(program)
    for_all = for_all or not program.on_host
    found = find_kernel(program, for_all=for_all)
    if found is not None:
        _dsv4.note_memory_hit()
        return found
    with _lock:
        lock = _compiling.setdefault(key, threading.Lock())
    try:
        with lock:
            found = _kernels.get(key)
            if found is not None and _serves(found, program, for_all):
                _dsv4.note_memory_hit()
                return found
            # While it captures, nothing is compiled.
            if stream is None and not program.on_host:
                stream = _dsv4.current_stream(program.like)
            if found is None and for_all:
                found = _compile_both(program, stream)
            elif found is None:
                found = _compile_program(program, stream)
            if not _serves(found, program, for_all):
                _dsv4.join_kernels(found, _compile_program(program, stream, aligned=False))
            if not program.on_host:
                found.load(device, stream)
            _kernels[key] = found
    finally:
        with _lock:
            _compiling.pop(key, None)
    return found


def twin_of(kernel: Kernel, program: Program) -> tuple[Kernel, bool]:
    """The one of a kernel and its twin that a launch with the arrays of a program takes, and
    whether it is the one for aligned memory."""
    if kernel.unaligned is None or program.is_served(kernel.alignments):
        return kernel, True
    return kernel.unaligned, False


def twin_for(kernel: Kernel, arrays: Sequence[Any]) -> Kernel:
    """The one of a kernel and its twin that a launch with these arrays and numbers takes."""
    if kernel.unaligned is None:
        return kernel
    for name, array, alignment in zip(kernel.arguments, arrays, kernel.alignments):
        if is_array(array) and describe(name, array).address % alignment:
            return kernel.unaligned
    return kernel


def _add_checks(kernel: Kernel, program: Program) -> None:
    """The host target looks at the contents of arrays."""
    for kind, names, bound in program.checks if program.on_host else ():
        slots, rows, table, pool = (_find_argument(kernel, name) for name in names)
        _dsv4.check_contents(kernel, kind, slots, rows, table, pool, bound)


def _find_argument(kernel: Kernel, name: str | None) -> int:
    """The index of an argument, or of the first array of a cache, or -1."""
    if name is None:
        return -1
    return next(
        index for index, each in enumerate(kernel.arguments) if each.partition(".")[0] == name
    )


def _serves(kernel: Kernel, program: Program, for_all: bool) -> bool:
    """Whether a kernel has what launches with the arrays of the program need, or all launches."""
    return (
        kernel.unaligned is not None
        or (not for_all and program.is_served(kernel.alignments))
        or program.text() == program.text(aligned=False)
    )


def _compile_program(program: Program, stream: Any, aligned: bool = True) -> Kernel:
    kernel = compile(
        program.text(aligned),
        dims=program.bounds,
        target="host" if program.on_host else "cuda",
        device=0 if program.on_host else program.device,
        name=f"dsv4.{program.name}",
        stream=stream,
    )
    _add_checks(kernel, program)
    return kernel


def _compile_both(program: Program, stream: Any) -> Kernel:
    """The kernel for aligned memory with the one for any address, compiled at the same time."""
    if program.text() == program.text(aligned=False):
        return _compile_program(program, stream)
    others: list[Kernel] = []
    errors: list[BaseException] = []

    def compile_other() -> None:
        try:
            others.append(_compile_program(program, stream, aligned=False))
        except BaseException as error:  # It is the caller's.
            errors.append(error)

    thread = threading.Thread(target=compile_other, daemon=True)
    thread.start()
    kernel = _compile_program(program, stream)
    thread.join()
    if errors:
        raise errors[0]
    _dsv4.join_kernels(kernel, others[0])
    return kernel


class _Asked(threading.local):
    """What a function is called for, if it is not for its results alone."""

    # The body has to run, for one of these.
    body = False
    # prepare(), emit() and explain() want the program, and no launch.
    program_only = False
    program: Program | None = None
    # A first call leaves what later ones need.
    arrays: list[Any] | None = None
    has_results = True
    plan: Plan | None = None


_asked = _Asked()


def _waits(program: Program) -> bool:
    """Whether a launch has to end before its results are read: JAX has streams of its own."""
    return not program.on_host and library_of(program.like) == "jax"


def _make_plan(
    program: Program,
    kernel: Kernel,
    results: tuple[str, ...],
    given: list[Any],
    as_tuple: bool,
) -> Plan | None:
    """How calls like this one are launched, without their arrays. None: a launch takes other
    arrays than the caller's."""
    new = {output[0]: output[1:] for output in program.outputs}
    if new and library_of(program.like) == "jax":
        return None  # New arrays are launched as something else than what is returned.
    numbers = {id(each): number for number, each in reversed(list(enumerate(given)))}
    sources: list[int] = []
    makers: list[Maker] = []
    for index, array in enumerate(program.arrays):
        if index in new:
            makers.append(make_maker(program.like, *new[index]))
            sources.append(-len(makers))
        elif id(array) in numbers:
            sources.append(numbers[id(array)])
        else:
            return None
    like = numbers.get(id(program.like))
    if like is None:
        return None
    names = kernel.arguments
    on_streams = bool(makers) and not program.on_host and makes_on_streams(program.like)
    return Plan(
        kernel, tuple(sources), tuple(makers), like, tuple(names.index(each) for each in results),
        synchronize if _waits(program) else None, make_on_stream if on_streams else None,
        tuple(type(each) for each in given), as_tuple,
    )  # fmt: skip


def launch(
    program: Program,
    results: tuple[str, ...],
    stream: Any = None,
    workspace: Any = None,
    *,
    as_tuple: bool = False,
) -> Any:
    """Launches the program of a function. Returns the arrays of `results`: one, or a tuple, which
    one is with `as_tuple`, too."""
    if _asked.program_only:
        _asked.program = program
        return (None,) * len(results) if as_tuple or len(results) > 1 else None
    kernel = kernel_of(program, stream)
    if _asked.arrays is not None:
        returned = results if _asked.has_results else ()
        _asked.plan = _make_plan(program, kernel, returned, _asked.arrays, as_tuple)
    arrays, seen = program.allocate(stream)
    with program.naming():
        kernel.launch(*arrays, stream=stream, workspace=workspace)
    if _waits(program):
        synchronize(program.like, stream)
    if not results:
        return None
    by_name = dict(zip(kernel.arguments, seen))
    found = tuple(by_name[name] for name in results)
    return found[0] if len(found) == 1 and not as_tuple else found


_P = ParamSpec("_P")
_R = TypeVar("_R")

# Plans of a function, the oldest first, and the last one that was used under None. The oldest is
# forgotten when there are too many.
_Plans = dict[Any, Plan]
_MAX_PLANS = 1024


def function(body: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function whose calls are planned: a second one with arrays of the same types, shapes and
    strides makes no program."""
    plans: _Plans = {}
    launch_planned = _dsv4.launch_planned

    @functools.wraps(body)
    def call(*args: Any, **kw: Any) -> Any:
        if _asked.body:
            return body(*args, **kw)
        try:
            result = launch_planned(plans, args, kw)
        except (InvalidArgument, TypeMismatch):
            if kw.get("out") is None:
                raise
            # The body says it again, and names the argument as its caller does.
            result = NotImplemented
        return _plan_call(body, plans, args, kw) if result is NotImplemented else result

    return call


def operator(
    body: Callable[..., Any],
    enabled: Callable[[], bool] | None = None,
    graded: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """The same for an operator of torch: no Python runs for a planned call. One without results has
    no `graded`, and returns nothing, also where the function returns what it wrote. Where gradients
    are enabled and asked for, `graded` of the operator runs."""
    plans: _Plans = {}
    run = functools.partial(_plan_call, body, plans, has_results=graded is not None)
    if enabled is None or graded is None:
        return _dsv4.planned(plans, run)
    plain = graded(_dsv4.planned(plans, run))
    return _dsv4.planned(plans, run, enabled, lambda args, kw: plain(*args, **kw))


def _plan_call(
    body: Callable[..., Any], plans: _Plans, args: Any, kw: Any, has_results: bool = True
) -> Any:
    """A call without a plan, which leaves one."""
    if _asked.program_only:  # A function sees it itself: this is an operator.
        raise make_error(
            InvalidArgument, "prepare.function", "fn",
            "prepare(), emit() and their like take functions of dsv4, and no operators of torch: "
            "pass dsv4.topk instead of torch.ops.dsv4.topk",
        )  # fmt: skip
    described = _dsv4.describe_call(args, kw)
    if described is NotImplemented:
        return body(*args, **kw)
    key, arrays = described
    _asked.body, _asked.arrays, _asked.plan = True, arrays, None
    _asked.has_results = has_results
    try:
        result = body(*args, **kw)
        plan = _asked.plan
    finally:
        _asked.body, _asked.arrays, _asked.plan = False, None, None
    if plan is not None:
        _keep_plan(plans, key, plan)
    return result


def _keep_plan(plans: _Plans, key: Any, plan: Plan) -> None:
    # Other threads change the dict, but not this copy of its keys.
    keys = [each for each in list(plans) if each is not None]
    for oldest in keys[: max(0, len(keys) + 1 - _MAX_PLANS)]:
        plans.pop(oldest, None)
    plans[key] = plan


def program_of(function: Callable[..., Any], args: Any, kwargs: Any) -> Program:
    """The program that a call of a function would launch."""
    if _asked.program_only:
        raise make_error(
            InvalidArgument, "prepare.function", "fn",
            "prepare(), emit() and their like take a function of dsv4, and not each other",
        )  # fmt: skip
    if not callable(function):
        raise refuse("fn", function, "a function of dsv4, such as dsv4.topk")
    _asked.body, _asked.program_only, _asked.program = True, True, None
    _dsv4.rest_plans(True)
    try:
        function(*args, **kwargs)
        program = _asked.program
    finally:
        _asked.body, _asked.program_only, _asked.program = False, False, None
        _dsv4.rest_plans(False)
    if program is None:
        raise make_error(
            InvalidArgument, "prepare.function", "fn",
            f"'fn' {show(function)} launches no kernel of dsv4: pass a function such as dsv4.topk",
        )  # fmt: skip
    return program


def prepare(fn: Callable[..., Any], /, *example_args: Any, **kw: Any) -> Kernel:
    """The kernel that a function launches for such arguments, compiled and loaded.

    >>> kernel = dsv4.prepare(dsv4.topk, scores, 512, lengths=lengths)
    >>> kernel.arguments
    ('scores', 'lengths', 'indices')
    >>> kernel(scores, lengths, indices)          # no allocation, no lookup

    Args:
        fn: a function of dsv4, such as `dsv4.topk`.
        example_args, kw: as for the function. Only their types and shapes count: nothing is
            launched, and no result is allocated.

    The kernel takes the arrays of the program in the order of `Kernel.arguments`: inputs, then
    outputs. It serves every extent that the program leaves open, on CUDA within the buckets of
    docs/Python.md. After `prepare`, a call of the function does not compile either.

    Raises:
        the errors of `compile`, and those of the function.
    """
    program = program_of(fn, example_args, kw)
    kernel = kernel_of(program, for_all=True)
    kernel.load(0 if program.on_host else program.device)
    return kernel
