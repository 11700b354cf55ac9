# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of NumPy, torch, CuPy and JAX: what they are, their streams, and new ones.

No library is imported here that its user did not import: an array is the proof
that its library is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from . import _dsv4
from ._dsv4 import InvalidArgument, TypeMismatch, Unavailable, View

CPU = 1
CUDA = 2

# Bytes of a stored element. Of FP4, two are in a byte.
BYTES = {
    "f32": 4, "bf16": 2, "f16": 2, "i16": 2, "i32": 4, "i64": 8, "ui32": 4, "i1": 1, "i8": 1,
    "f8E4M3FN": 1, "f8E8M0FNU": 1, "f4E2M1FN": 1, "f64": 8, "u8": 1, "u16": 2, "u32": 4,
}  # fmt: skip

# Types of ml_dtypes, which NumPy cannot export: their bits, and their elements.
_ML_DTYPES = {
    "bfloat16": ("uint16", "bf16"),
    "float8_e4m3fn": ("uint8", "f8E4M3FN"),
    "float8_e8m0fnu": ("uint8", "f8E8M0FNU"),
}

# Names of dtypes by element, the best first. NumPy has the bits of the others.
_NUMPY = {
    "f32": "float32", "f16": "float16", "bf16": "uint16", "i16": "int16", "i32": "int32",
    "i64": "int64", "ui32": "uint32", "i1": "bool", "f8E4M3FN": "uint8", "f8E8M0FNU": "uint8",
    "f4E2M1FN": "uint8", "i4": "uint8",
}  # fmt: skip
_OTHERS = {
    "f32": ("float32",), "f16": ("float16",), "bf16": ("bfloat16", "uint16"), "i16": ("int16",),
    "i32": ("int32",), "i64": ("int64",), "ui32": ("uint32",), "i1": ("bool", "bool_"),
    "f8E4M3FN": ("float8_e4m3fn", "uint8"), "f8E8M0FNU": ("float8_e8m0fnu", "uint8"),
    "f4E2M1FN": ("uint8",), "i4": ("uint8",),
}  # fmt: skip


def library_of(array: Any) -> str:
    """The name of the library that made an array: 'numpy', 'torch', 'cupy', 'jax'."""
    for base in type(array).__mro__:
        root = base.__module__.partition(".")[0]
        if root in ("numpy", "torch", "cupy", "jax", "jaxlib"):
            return "jax" if root == "jaxlib" else root
    return ""


def find_bits(array: Any) -> tuple[Any, str] | None:
    """The bits of an array whose library cannot export its type, and that type."""
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    if library_of(array) != "numpy":
        return None
    if kind == "b":  # Before NumPy 1.25.
        return array.view("uint8"), "i1"
    known = _ML_DTYPES.get(array.dtype.name) if kind == "V" else None
    return (array.view(known[0]), known[1]) if known else None


_dsv4.set_bits_hook(find_bits)


def describe(name: str, array: Any) -> View:
    """What an array is, which is argument `name`."""
    try:
        return _dsv4.describe(array)
    except _dsv4.Error as error:
        if error.argument is None:
            raise make_error(
                type(error), error.id, name, f"argument '{name}': {error}"
            ) from None
        raise


def count_arrays(count: int) -> str:
    return "1 array" if count == 1 else f"{count} arrays"


def make_error(
    cls: type[_dsv4.Error],
    id: str,
    argument: str | None,
    message: str,
    driver_result: int = 0,
) -> _dsv4.Error:
    error = cls(message)
    error.id, error.argument = id, argument
    error.index, error.driver_result = -1, driver_result
    return error


# ===-- New arrays -------------------------------------------------------------===


class _NewOfJAX:
    """A new array of JAX. JAX exports every array as read-only, but nobody has seen this one: it
    may be written until it is returned."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__dlpack_device__ = array.__dlpack_device__

    def __dlpack__(self, max_version: Any = None, **options: Any) -> Any:
        # Without a version, the form that has no such flag.
        return self.array.__dlpack__(**options)


def as_new(array: Any) -> Any:
    """What launches are given for a new array."""
    return _NewOfJAX(array) if library_of(array) == "jax" else array


def _dtype(module: Any, element: str) -> Any:
    for name in _OTHERS[element]:
        dtype = getattr(module, name, None)
        if dtype is not None:
            return dtype
    raise make_error(
        Unavailable, "array.type", None,
        f"{module.__name__} has no type for {element}: pass 'out'",
    )  # fmt: skip


def _numpy_dtype(like: Any, element: str) -> Any:
    # Who passes types of ml_dtypes gets them.
    if getattr(like.dtype, "kind", "") == "V":
        for name, (_, known) in _ML_DTYPES.items():
            if known == element:
                return getattr(sys.modules["ml_dtypes"], name)
    return _NUMPY[element]


def _contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(1, extent))
    return tuple(strides[: len(shape)])


def _cupy_array(make: Any, device: Any, shape: tuple[int, ...], dtype: str) -> Any:
    with device:
        return make(shape, dtype)


def _jax_array(make: Any, device: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return make(shape, dtype, device=device).block_until_ready()


def make_allocator(
    like: Any, shape: Sequence[int], element: str, zero: bool = False
) -> Callable[[], Any]:
    """A function that makes new arrays by the library of `like`, on its device. It does not keep
    `like`."""
    library = library_of(like)
    shape = tuple(shape)
    if library == "numpy":
        numpy = sys.modules["numpy"]
        make = numpy.zeros if zero else numpy.empty
        return partial(make, shape, _numpy_dtype(like, element))
    if library == "torch":
        torch = sys.modules["torch"]
        options = {"dtype": _dtype(torch, element), "device": like.device}
        if zero:
            return partial(torch.zeros, shape, **options)
        # The same as torch.empty, and faster.
        return partial(torch.empty_strided, shape, _contiguous_strides(shape), **options)
    if library == "cupy":
        cupy = sys.modules["cupy"]
        make = cupy.zeros if zero else cupy.empty
        return partial(_cupy_array, make, like.device, shape, _NUMPY[element])
    if library == "jax":
        jax = sys.modules["jax"]
        dtype = _dtype(jax.numpy, element)
        return partial(_jax_array, jax.numpy.zeros, like.device, shape, dtype)
    raise make_error(
        InvalidArgument, "argument.out", "out",
        f"'out' is needed: dsv4 knows no function of {type(like)} that makes an array",
    )  # fmt: skip


# What makes an array of a plan: a function, or a quick one, which makes arrays on the current
# device of the thread, and a sure one for other devices.
Maker = Callable[[], Any] | tuple[Callable[[], Any], Callable[[], Any]]


def make_maker(like: Any, shape: Sequence[int], element: str, zero: bool = False) -> Maker:
    """What `make_allocator` gives, quicker where it can be."""
    sure = make_allocator(like, shape, element, zero)
    if zero or library_of(like) != "torch":
        return sure
    quick = _find_quick_empty(like.device.type)
    if quick is None:
        return sure
    torch = sys.modules["torch"]
    shape = tuple(shape)
    make = partial(quick, shape, _contiguous_strides(shape), _dtype(torch, element))
    return make, sure


@cache
def _find_quick_empty(device: str) -> Callable[..., Any] | None:
    """The function that compiled graphs of torch make tensors with: it is not of torch's public
    interface, so it is tried first. It takes a third of the time of torch.empty_strided."""
    torch = sys.modules["torch"]
    try:
        quick: Callable[..., Any] = getattr(
            torch._C._dynamo.guards, f"_empty_strided_{device}"
        )
        made = quick((2, 3), (3, 1), torch.float16)
    except (AttributeError, TypeError, RuntimeError):
        return None
    right = (
        type(made) is torch.Tensor
        and made.shape == (2, 3)
        and made.stride() == (3, 1)
        and made.dtype == torch.float16
        and made.device.type == device
    )
    return quick if right else None


@cache
def driver() -> Any:
    """That of CUDA, which a machine with a GPU has."""
    import ctypes  # Few programs need it.

    cuda = ctypes.CDLL("libcuda.so.1")
    pointer = ctypes.c_void_p
    cuda.cuStreamSynchronize.argtypes = [pointer]
    cuda.cuCtxSetCurrent.argtypes = [pointer]
    cuda.cuCtxGetCurrent.argtypes = [ctypes.POINTER(pointer)]
    cuda.cuDeviceGet.argtypes = [ctypes.POINTER(ctypes.c_int), ctypes.c_int]
    cuda.cuDevicePrimaryCtxRetain.argtypes = [ctypes.POINTER(pointer), ctypes.c_int]
    return cuda


def _check_wait(result: int) -> None:
    if result:
        raise make_error(
            _dsv4.LaunchFailed, "stream.wait", None, f"the stream failed: CUresult {result}",
            result,
        )  # fmt: skip


@cache
def _context(number: int) -> int | None:
    """The primary context of a device, in which the runtime launches. It is kept, as there."""
    import ctypes

    device, context = ctypes.c_int(), ctypes.c_void_p()
    _check_wait(driver().cuDeviceGet(device, number))
    _check_wait(driver().cuDevicePrimaryCtxRetain(context, device))
    return context.value


def synchronize(like: Any, stream: Any) -> None:
    """Waits for a launch on the device of `like`, and on the stream that its caller gave. The
    default stream is that of the current context, of which the thread may have none, or another.
    """
    import ctypes

    cuda, address = driver(), _dsv4.stream_address(stream)
    context = _context(like.__dlpack_device__()[1])
    before = ctypes.c_void_p()
    _check_wait(cuda.cuCtxGetCurrent(before))
    _check_wait(cuda.cuCtxSetCurrent(context))
    try:
        _check_wait(cuda.cuStreamSynchronize(address))
    finally:
        cuda.cuCtxSetCurrent(before)


# ===-- Streams ----------------------------------------------------------------===

# Addresses of the default stream.
_DEFAULTS = (0, 1)


def current_stream(array: Any, device: int) -> int | None:
    """The current stream of a library whose arrays have no table of functions."""
    library = library_of(array)
    if library == "torch":
        return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)
    if library == "cupy":
        cuda = sys.modules["cupy"].cuda
        with cuda.Device(device):
            return int(cuda.get_current_stream().ptr)
    return None


_dsv4.set_stream_hook(current_stream)


def makes_on_streams(like: Any) -> bool:
    """Whether the library of an array on a GPU keeps memory for each stream."""
    return library_of(like) in ("torch", "cupy")


def make_on_stream(maker: Maker, like: Any, stream: Any) -> Any:
    """A new array for a launch on the stream of its caller. Its memory is of that stream: whatever
    used it before has ended when the launch begins, and nobody gets it before the launch ends."""
    make = maker[1] if isinstance(maker, tuple) else maker
    address = _dsv4.stream_address(stream)
    number = like.__dlpack_device__()[1]
    if address == current_stream(like, number):
        return make()
    cuda = sys.modules[library_of(like)].cuda
    if library_of(like) == "torch":
        default = cuda.default_stream(number)
        is_default = address in _DEFAULTS
        with cuda.stream(default if is_default else cuda.ExternalStream(address, device=number)):
            return make()
    # CuPy has a current stream for each device, and that of another is refused.
    with cuda.Device(number), _cupy_stream(cuda, address, number):
        return make()


class _OfCaller:
    """The stream of a caller, as CuPy takes those of others."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


def _cupy_stream(cuda: Any, address: int, number: int) -> Any:
    """The stream of that address on the current device, which has that number."""
    if address in _DEFAULTS:
        return cuda.Stream.null
    if hasattr(cuda.Stream, "from_external"):  # From CuPy 14 on.
        return cuda.Stream.from_external(_OfCaller(address))
    return cuda.ExternalStream(address, number)
