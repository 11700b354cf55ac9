# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m dsv4: versions, devices, compilers, the cache, and a self-test.

    python -m dsv4              all of it
    python -m dsv4 --no-test    without the self-test
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

import dsv4

from . import _dsv4
from ._kernels import compiler_versions

_PROGRAM = """
func.func @self_test(%x: tensor<?x8xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                     %y: tensor<?x2xi32> {dsv4.name = "y", dsv4.dims = ["rows", ""]})
    -> tensor<?x2xi32> {
  %best = dsv4.topk %x order sorted outs(%y : tensor<?x2xi32>) : tensor<?x8xf32>
  return %best : tensor<?x2xi32>
}
"""


class Bytes:
    """An array of the standard library, for a test without NumPy."""

    def __init__(self, typecode: str, rows: list[list[float]]) -> None:
        import ctypes

        self.columns = len(rows[0])
        items = [item for row in rows for item in row]
        number: Any = ctypes.c_float if typecode == "f" else ctypes.c_int32
        self.items: Any = (number * len(items))(*items)
        self.code = (2, 32) if typecode == "f" else (0, 32)
        self.shape: Any = (ctypes.c_int64 * 2)(len(rows), self.columns)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> Any:
        import ctypes

        class Tensor(ctypes.Structure):
            _fields_ = [
                ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p),
            ]  # fmt: skip

        code, bits = self.code
        self.tensor = Tensor(
            ctypes.addressof(self.items), 1, 0, 2, code, bits, 1, ctypes.addressof(self.shape),
            None, 0, None, None,
        )  # fmt: skip
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def rows(self) -> list[list[float]]:
        items = list(self.items)
        return [items[i : i + self.columns] for i in range(0, len(items), self.columns)]


def self_test() -> None:
    """Compiles a program for the host target, and checks its results."""
    rows = [[float((7 * column + 3 * row) % 8) for column in range(8)] for row in range(5)]
    x, y = Bytes("f", rows), Bytes("i", [[0, 0]] * len(rows))
    dsv4.compile(_PROGRAM, target="host", name="self-test")(x, y)
    for row, best in zip(rows, y.rows()):
        expected = sorted(range(8), key=lambda column: -row[column])[:2]
        if best != expected:
            raise AssertionError(f"the best of {row} are {expected}, got {best}")


def _print_devices() -> None:
    try:
        found = dsv4.devices()
    except dsv4.Error as error:
        print(f"devices     none: {error}")
        return
    for each in found:
        gigabytes = each["memory_bytes"] / 2**30
        print(
            f"devices     {each['device']}: {each['name']}, {each['arch']}, "
            f"{each['multiprocessors']} multiprocessors, {gigabytes:.0f} GiB, "
            f"driver for CUDA {each['driver_version'] // 1000}."
            f"{each['driver_version'] % 1000 // 10}"
        )


def _print_compilers() -> None:
    try:
        compiler, lines = compiler_versions()
    except dsv4.Error as error:
        print(f"compiler    none: {error}")
        return
    print(f"compiler    {compiler}: {lines[0]}")
    print("\n".join(lines[1:]))


def _print_cache() -> None:
    directory = dsv4.cache_directory()
    files = [
        os.path.join(root, name) for root, _, names in os.walk(directory) for name in names
    ]
    size = sum(os.path.getsize(each) for each in files if os.path.exists(each))
    print(f"cache       {directory}: {len(files)} files, {size / 2**20:.1f} MiB")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dsv4", description="What dsv4 finds here.")
    parser.add_argument("--no-test", action="store_true", help="without the self-test")
    options = parser.parse_args(arguments)
    version, abi = _dsv4.version()
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"dsv4        {dsv4.__version__}, binary interface {abi} (Python {python})")
    _print_devices()
    _print_compilers()
    _print_cache()
    if options.no_test:
        return 0
    try:
        self_test()
    except (dsv4.Error, AssertionError) as error:
        print(f"self-test   failed on the host target: {error}")
        return 1
    print("self-test   passed on the host target")
    return 0


if __name__ == "__main__":
    sys.exit(main())
