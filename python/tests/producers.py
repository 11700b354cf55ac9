# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of libraries that do not exist: NumPy's memory, described in other ways."""

import ctypes

import numpy as np


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    pass


DELETER = ctypes.PYFUNCTYPE(None, ctypes.POINTER(Versioned))
Versioned._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("manager", ctypes.c_void_p),
    ("deleter", DELETER),
    ("flags", ctypes.c_uint64),
    ("tensor", DLTensor),
]

TO_TENSOR = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
TO_MANAGED = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Versioned))
)
STREAM = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("to_managed", TO_MANAGED),
        ("from_managed", ctypes.c_void_p),
        ("to_tensor", TO_TENSOR),
        ("current_stream", STREAM),
    ]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


def capsule(address, name):
    return _new_capsule(ctypes.addressof(address), name, None)


def fill(tensor, array, keep, device=(1, 0), offset=0):
    """Describes an array of NumPy. `keep` holds what the description needs."""
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(each // array.itemsize for each in array.strides))
    keep += [shape, strides]
    tensor.data = array.ctypes.data - offset
    tensor.device_type, tensor.device_id = device
    tensor.ndim = array.ndim
    tensor.code, tensor.bits, tensor.lanes = CODES[array.dtype.kind], array.itemsize * 8, 1
    tensor.shape, tensor.strides = shape, strides
    tensor.byte_offset = offset


class Legacy:
    """A producer that knows no versions, and gives a byte offset."""

    device = (1, 0)

    def __init__(self, array, offset=0):
        self.array, self.offset, self.keep, self.calls = array, offset, [], []
        self.shape = array.shape

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.calls.append(stream)
        self.tensor = DLTensor()
        fill(self.tensor, self.array, self.keep, self.device, self.offset)
        return capsule(self.tensor, b"dltensor")


class OnDevice(Legacy):
    device = (2, 0)


class OnGpu(OnDevice):
    """An array on a GPU. Only its description is looked at."""

    def __init__(self, dtype, *shape):
        super().__init__(np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape))

    def __dlpack__(self, **options):
        capsule = super().__dlpack__()
        self.tensor.strides = None
        return capsule


class Modern(Legacy):
    """A producer of versioned capsules, with flags."""

    version, flags = (1, 1), 0

    def __dlpack__(self, *, stream=None, max_version=None):
        self.calls.append((stream, max_version))
        self.managed = Versioned()
        self.managed.major, self.managed.minor = self.version
        self.managed.flags = self.flags
        fill(self.managed.tensor, self.array, self.keep, self.device, self.offset)
        return capsule(self.managed, b"dltensor_versioned")


class Counted(Modern):
    """Counts its capsules, and those that are destroyed."""

    made = destroyed = 0

    def __init__(self, array):
        super().__init__(array)
        self.destructor = DESTRUCTOR(self._destroy)

    def _destroy(self, _):
        self.destroyed += 1

    def __dlpack__(self, **options):
        super().__dlpack__(**options)
        self.made += 1
        destructor = ctypes.cast(self.destructor, ctypes.c_void_p)
        return _new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", destructor)


class ReadOnly(Modern):
    flags = 1


class FromTheFuture(Modern):
    version = (2, 0)


class _Lookups(type):
    count = 0
    table = None

    @property
    def __dlpack_c_exchange_api__(cls):
        type(cls).count += 1
        return capsule(cls.table, b"dlpack_exchange_api")


def make_table_type(managed=False, major=1, previous=None):
    """A type with a table of functions, and how often it was looked up."""

    class Lookups(_Lookups):
        pass

    class Tabled(metaclass=Lookups):
        made = deleted = 0
        flags = 0

        def __init__(self, array):
            self.array, self.keep, self.shape = array, [], array.shape

        def __dlpack_device__(self):
            raise AssertionError("not needed")

    def to_tensor(array, tensor):
        fill(tensor.contents, array.array, array.keep)
        return 0

    def to_managed(array, out):
        made = Versioned()
        Tabled.made += 1

        def delete(_):
            Tabled.deleted += 1

        made.major, made.minor, made.flags = 1, 3, Tabled.flags
        made.deleter = DELETER(delete)
        fill(made.tensor, array.array, array.keep)
        array.keep += [made, made.deleter]
        out[0] = ctypes.pointer(made)
        array.keep.append(out)
        return 0

    def current_stream(device_type, device_id, out):
        out[0] = 0
        return 0

    functions = (TO_MANAGED(to_managed), TO_TENSOR(to_tensor), STREAM(current_stream))
    table = Table(
        major, 3, previous and ctypes.addressof(previous), None, functions[0], None,
        TO_TENSOR() if managed else functions[1], functions[2],
    )  # fmt: skip
    Lookups.functions, Lookups.table = functions, table
    Tabled.table = table
    return Tabled
