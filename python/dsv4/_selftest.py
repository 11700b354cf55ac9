# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The self-test of `python -m dsv4`: one program, on the host target and on each device, with
arrays of the standard library."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from . import _kernels
from ._dsv4 import Error, LaunchFailed, Unavailable

_PROGRAM = """
func.func @self_test(%x: tensor<?x8xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                     %y: tensor<?x2xi32> {dsv4.name = "y", dsv4.dims = ["rows", ""]})
    -> tensor<?x2xi32> {
  %best = dsv4.topk %x order sorted outs(%y : tensor<?x2xi32>) : tensor<?x8xf32>
  return %best : tensor<?x2xi32>
}
"""


class Outcome(NamedTuple):
    """status: 'passed', 'failed', or 'untested' where the machine lacks a compiler.
    can_launch: whether compiled entries can be launched there."""

    where: str
    status: str
    message: str
    can_launch: bool


# ===-- Arrays -----------------------------------------------------------------===


class _Tensor(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


class _Array:
    """An array of rows in CPU memory, or with a copy on a device."""

    def __init__(self, typecode: str, rows: list[list[float]], device: _Device | None) -> None:
        self.columns = len(rows[0])
        items = [item for row in rows for item in row]
        number: Any = ctypes.c_float if typecode == "f" else ctypes.c_int32
        self.items: Any = (number * len(items))(*items)
        self.code = (2, 32) if typecode == "f" else (0, 32)
        self.shape: Any = (ctypes.c_int64 * 2)(len(rows), self.columns)
        self.device = device
        self.data = ctypes.addressof(self.items)
        if device is not None:
            self.data = device.copy(self.items)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.device is None else (2, self.device.number)

    def __dlpack__(self, **options: Any) -> Any:
        code, bits = self.code
        self.tensor = _Tensor(
            self.data, *self.__dlpack_device__(), 2, code, bits, 1,
            ctypes.addressof(self.shape), None, 0, None, None,
        )  # fmt: skip
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def rows(self) -> list[list[float]]:
        if self.device is not None:
            self.device.copy_back(self.items, self.data)
        items = list(self.items)
        return [items[i : i + self.columns] for i in range(0, len(items), self.columns)]


class _Device:
    """A device, through the driver alone."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.memory: list[ctypes.c_uint64] = []
        self.handle, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(self.handle), number)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.handle)
        self.call("cuCtxSetCurrent", self.context)

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *exception: object) -> None:
        for each in self.memory:
            self.driver.cuMemFree_v2(each)
        self.driver.cuDevicePrimaryCtxRelease_v2(self.handle)

    def call(self, name: str, *arguments: Any) -> None:
        result = getattr(self.driver, name)(*arguments)
        if result != 0:
            raise LaunchFailed(f"{name} of device {self.number} failed with {result}")

    def copy(self, items: Any) -> int:
        memory = ctypes.c_uint64()
        size = ctypes.c_size_t(ctypes.sizeof(items))
        self.call("cuMemAlloc_v2", ctypes.byref(memory), size)
        self.memory.append(memory)
        self.call("cuMemcpyHtoD_v2", memory, items, size)
        return memory.value

    def copy_back(self, items: Any, data: int) -> None:
        self.call("cuCtxSynchronize")
        size = ctypes.c_size_t(ctypes.sizeof(items))
        self.call("cuMemcpyDtoH_v2", items, ctypes.c_uint64(data), size)


# ===-- The test ---------------------------------------------------------------===


def _launch(device: _Device | None) -> str:
    """What is wrong with the results of the program there, or ""."""
    rows = [[float((7 * column + 3 * row) % 8) for column in range(8)] for row in range(5)]
    x = _Array("f", rows, device)
    y = _Array("i", [[0, 0]] * len(rows), device)
    kernel = _kernels.compile(
        _PROGRAM,
        target="host" if device is None else "cuda",
        device=0 if device is None else device.number,
        name="self-test",
    )
    kernel(x, y, stream=None if device is None else 2)  # The default stream of this thread.
    for row, best in zip(rows, y.rows()):
        expected = sorted(range(8), key=lambda column: -row[column])[:2]
        if best != expected:
            return f"the best of {row} are {expected}, got {best}"
    return ""


def run_on_host() -> Outcome:
    where = "the host target"
    try:
        wrong = _launch(None)
    except Unavailable as error:
        return Outcome(where, "untested", str(error), False)
    except Error as error:
        wrong = str(error)
    return Outcome(where, "failed" if wrong else "passed", wrong, not wrong)


def run_on_device(found: dict[str, Any]) -> Outcome:
    where = f"device {found['device']} ({found['name']}, {found['arch']})"
    reached = False
    try:
        with _Device(found["device"]) as device:
            marks = _Array("i", [[1, 2]], device)
            marks.items[0] = 0
            reached = marks.rows() == [[1, 2]]
            wrong = _launch(device) if reached else "its memory does not keep what is copied there"
    except Unavailable as error:  # No NVRTC: compiled programs can be launched all the same.
        return Outcome(where, "untested", str(error), reached)
    except (Error, AttributeError, OSError) as error:
        wrong = str(error)
    return Outcome(where, "failed" if wrong else "passed", wrong, not wrong)
