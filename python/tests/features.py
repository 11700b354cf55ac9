# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What some tests need beside NumPy and pytest, and whether this machine has it.

Run as a program, it prints the features that the machine has, and with `--versions` which libraries
in which versions the tests use. The tests of lit that run pytest require the features, so lit names
what a machine cannot test.
"""

import functools
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import sysconfig

# Before JAX takes most of the memory of a GPU.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# All tests of these files need something, and it has to be there before they are read.
MODULES = {
    "test_cuda_calls.py": {"nvrtc"},
    "test_gpu.py": {"cuda", "torch"},
    "test_gpu_benchmark.py": {"cuda", "torch"},
    "test_pairs_torch.py": {"torch"},
    "test_torch.py": {"torch"},
}


def _module(name):
    return lambda: importlib.util.find_spec(name) is not None


def _torch():
    # register_fake came with torch 2.4.
    from torch import library as torch_library

    return hasattr(torch_library, "register_fake")


def _inductor():
    """What torch compiles graphs with on a CPU."""
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    return _torch() and os.path.exists(header) and bool(shutil.which("g++"))


def _devices():
    import ctypes

    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    works = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
    return count.value if works else 0


def _cupy():
    import cupy

    return bool(cupy.zeros(1).size)


def _jax_on_gpu():
    import jax

    return jax.default_backend() == "gpu"


def _nvrtc():
    from dsv4._source import compiler_versions

    return any(each.startswith("NVRTC ") and ": /" in each for each in compiler_versions()[1])


FEATURES = {
    "cuda": lambda: _devices() > 0,
    "cupy": _cupy,
    "inductor": _inductor,
    "jax": _module("jax"),
    "jax-gpu": _jax_on_gpu,
    "matplotlib": _module("matplotlib"),
    "ml-dtypes": _module("ml_dtypes"),
    "nvrtc": _nvrtc,
    "torch": _torch,
    "two-devices": lambda: _devices() > 1,
}


@functools.cache
def has(feature):
    try:
        return FEATURES[feature]()
    except Exception:  # What is broken is not there; of many kinds.
        return False


def versions():
    """The interpreter, and the libraries that it has."""
    yield f"Python {platform.python_version()}"
    for name in ("numpy", "torch", "jax", "ml_dtypes", "matplotlib", "cupy"):
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            pass


if __name__ == "__main__":
    print(", ".join(versions()) if "--versions" in sys.argv else " ".join(filter(has, FEATURES)))
