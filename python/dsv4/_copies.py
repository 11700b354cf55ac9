# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that measurements stand beside: copies, an empty one, and one that waits.

They are text for the assembler of the driver, so neither NVRTC nor a toolkit is needed.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from ._arrays import driver, make_error
from ._dsv4 import LaunchFailed

_COPY_THREADS, _EMPTY_THREADS = 256, 128

_HEADER = """.version 7.8
.target {arch}
.address_size 64
.visible .entry kernel({parameters})
.maxntid {threads}
"""


class CopyKernel(NamedTuple):
    """How a copy moves its bytes: `steps` accesses of 16 bytes per thread, with loads that are
    `evict_last`, and as a programmatic launch."""

    steps: int
    evict_last: bool
    programmatic: bool

    @property
    def name(self) -> str:
        return (
            f"{self.steps} x 16 B"
            + ", evict_last" * self.evict_last
            + ", pdl" * self.programmatic
        )


def copy_kernels(major: int) -> list[CopyKernel]:
    """Those of a device: programmatic launches began with sm_90."""
    return [
        CopyKernel(steps, evict_last, programmatic)
        for programmatic in ((False, True) if major >= 9 else (False,))
        for evict_last in (False, True)
        for steps in (1, 2, 4)
    ]


def _print(parameters: str, threads: int, programmatic: bool, body: list[str]) -> str:
    header = _HEADER.format(
        arch="sm_90" if programmatic else "sm_80", parameters=parameters, threads=threads
    )
    lines = "".join(f"  {line};\n" for line in body)
    return f"{header}{{\n{lines}}}\n"


def copy_text(of: CopyKernel) -> str:
    """The kernel of `to`, `from` and the number of vectors of 16 bytes."""
    wait = ["griddepcontrol.wait"] * of.programmatic
    dependents = ["griddepcontrol.launch_dependents"] * of.programmatic
    policy, load = [], "ld.global.v4.b32"
    if of.evict_last:
        policy = ["createpolicy.fractional.L2::evict_last.b64 %policy, 1.0"]
        load = "ld.global.L2::cache_hint.v4.b32"
    hint = ", %policy" * of.evict_last
    first, loads, stores = [], [], []
    for step in range(of.steps):
        vector = ", ".join(f"%v{4 * step + each}" for each in range(4))
        first += [
            f"add.u32 %i{step}, %first, {step * _COPY_THREADS}",
            f"setp.lt.u32 %p{step}, %i{step}, %n",
            f"mad.wide.u32 %from{step}, %i{step}, 16, %from",
            f"mad.wide.u32 %to{step}, %i{step}, 16, %to",
        ]
        loads.append(f"@%p{step} {load} {{{vector}}}, [%from{step}]{hint}")
        stores.append(f"@%p{step} st.global.v4.b32 [%to{step}], {{{vector}}}")
    body = [
        ".reg .pred %p<4>", ".reg .b32 %v<16>", ".reg .b32 %i<4>",
        ".reg .b32 %n, %block, %thread, %first", ".reg .b64 %to<4>", ".reg .b64 %from<4>",
        ".reg .b64 %to, %from, %policy",
        "ld.param.u64 %to, [to]", "ld.param.u64 %from, [from]", "ld.param.u32 %n, [n]",
        "cvta.to.global.u64 %to, %to", "cvta.to.global.u64 %from, %from",
        "mov.u32 %block, %ctaid.x", "mov.u32 %thread, %tid.x",
        f"mad.lo.u32 %first, %block, {_COPY_THREADS * of.steps}, %thread",
        *policy, *first, *wait, *loads, *dependents, *stores, "ret",
    ]  # fmt: skip
    parameters = ".param .u64 to, .param .u64 from, .param .u32 n"
    return _print(parameters, _COPY_THREADS, of.programmatic, body)


def empty_text(programmatic: bool) -> str:
    """A kernel that does nothing."""
    body = ["griddepcontrol.wait", "griddepcontrol.launch_dependents"] * programmatic
    return _print("", _EMPTY_THREADS, programmatic, [*body, "ret"])


# It waits so long for the graph after it to be queued, and not for ever if a clock stands still.
_WAIT = """.version 7.8
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 nanoseconds)
{
  .reg .pred %p<2>;
  .reg .b64 %end, %now;
  .reg .b32 %tries;
  ld.param.u64 %end, [nanoseconds];
  mov.u64 %now, %globaltimer;
  add.u64 %end, %end, %now;
  mov.u32 %tries, 0;
again:
  nanosleep.u32 500;
  add.u32 %tries, %tries, 1;
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %p0, %now, %end;
  setp.lt.u32 %p1, %tries, 10000;
  and.pred %p0, %p0, %p1;
  @%p0 bra again;
  ret;
}
"""


# ===-- Launching --------------------------------------------------------------===


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute: a number, and a value of 64 bytes that begins at byte 8."""

    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int * 16)]


class _Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    ]


# CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
_PROGRAMMATIC = _Attribute(6, 0, (ctypes.c_int * 16)(1))


def _check(what: str, result: int) -> None:
    if result:
        raise make_error(
            LaunchFailed, "benchmark.driver", None,
            f"the driver cannot {what} a kernel of the benchmark: CUresult {result}", result,
        )  # fmt: skip


class Kernels:
    """The kernels in the current context. Each is loaded with its first launch, which is not in a
    capture."""

    def __init__(self) -> None:
        self._modules: list[ctypes.c_void_p] = []
        self._loaded: dict[str, ctypes.c_void_p] = {}

    def unload(self) -> None:
        for module in self._modules:
            driver().cuModuleUnload(module)
        self._modules, self._loaded = [], {}

    def copy(self, of: CopyKernel, to: int, source: int, size: int, stream: int) -> None:
        """Copies `size` bytes, a multiple of 16."""
        vectors = size // 16
        blocks = -(-vectors // (_COPY_THREADS * of.steps))
        self._launch(
            copy_text(of), (blocks, 1, 1), _COPY_THREADS, of.programmatic, stream,
            ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_uint32(vectors),
        )  # fmt: skip

    def empty(self, grid: tuple[int, int, int], programmatic: bool, stream: int) -> None:
        self._launch(empty_text(programmatic), grid, _EMPTY_THREADS, programmatic, stream)

    def wait(self, microseconds: int, stream: int) -> None:
        time = ctypes.c_uint64(microseconds * 1000)
        self._launch(_WAIT, (1, 1, 1), 1, False, stream, time)

    def _load(self, text: str) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        _check("load", driver().cuModuleLoadData(ctypes.byref(module), text.encode()))
        self._modules.append(module)
        _check("find", driver().cuModuleGetFunction(ctypes.byref(function), module, b"kernel"))
        return function

    def _launch(
        self, text: str, grid: tuple[int, int, int], threads: int, programmatic: bool, stream: int,
        *parameters: ctypes.c_uint32 | ctypes.c_uint64,
    ) -> None:  # fmt: skip
        function = self._loaded.get(text)
        if function is None:
            function = self._loaded[text] = self._load(text)
        attributes = ctypes.pointer(_PROGRAMMATIC) if programmatic else None
        config = _Config(grid, (threads, 1, 1), 0, stream, attributes, int(programmatic))
        pointers = (ctypes.c_void_p * max(1, len(parameters)))(
            *(ctypes.cast(ctypes.byref(each), ctypes.c_void_p) for each in parameters)
        )
        result = driver().cuLaunchKernelEx(ctypes.byref(config), function, pointers, None)
        _check("launch", result)
