# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What callers pass: arrays and streams of any library.

Results are of the library of the arguments, which no type can say: they are Any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Union


class Array(Protocol):
    """An array of torch, CuPy, JAX, NumPy, or of another library with DLPack."""

    # The stubs of libraries differ in its options, and some lack `__dlpack_device__`.
    @property
    def __dlpack__(self) -> Callable[..., Any]: ...


# The arrays of a record that has several, and those of several results.
Arrays = Union[Array, Sequence[Array]]


class _OfTorch(Protocol):
    @property
    def cuda_stream(self) -> int: ...


class _OfCuPy(Protocol):
    @property
    def ptr(self) -> int: ...


class _OfCUDA(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...


# A stream of a library, or its address.
Stream = Union[int, _OfTorch, _OfCuPy, _OfCUDA]
