# How the tests are run. The file that CMake writes in the build directory says
# where everything is, and loads this one.

import ctypes
import glob
import os
import subprocess
import sys
import tempfile

import lit.formats

config.name = "dsv4"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Unit", "lib"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.dsv4_binary_dir, "test")
# Test formats of our own.
sys.path.insert(0, config.test_source_root)

# `--param tools=DIR` tests the tools of another build.
tools_dir = lit_config.params.get("tools", config.dsv4_tools_dir)
config.environment["PATH"] = os.path.pathsep.join(
    [tools_dir, config.dsv4_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
for name in os.environ:
    if name.startswith(("CUDA", "DSV4_", "ASAN_", "UBSAN_")) or name in (
        "HOME", "LD_LIBRARY_PATH", "TMPDIR"
    ):
        config.environment[name] = os.environ[name]

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%test_dir", config.test_source_root))
# Bounds on seconds of a processor. Sanitizers take several times as long.
for seconds in (1, 5):
    bound = seconds * (10 if config.dsv4_sanitize else 1)
    config.substitutions.append((f"%cpu{seconds}", f"ulimit -t {bound}"))


def has_nvrtc():
    """Whether libnvrtc can be opened, or lies where CUDA is installed."""
    for name in ("libnvrtc.so.13", "libnvrtc.so"):
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    roots = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", "")]
    roots += glob.glob("/usr/local/cuda*")
    return any(
        glob.glob(os.path.join(root, folder, "libnvrtc.so*"))
        for root in roots
        if root
        for folder in ("lib64", "lib", "targets/*/lib")
    )


def has_cuda_device():
    """Whether the CUDA driver can be opened and sees a device."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return (
        cuda.cuInit(0) == 0
        and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )


def has_nvcc():
    """Whether there is an nvcc that compiles for sm_90a: some packages lack parts of it."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "empty.cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write('extern "C" __global__ void empty() {}\n')
        command = ["nvcc", "-cubin", "-arch=sm_90a", source, "-o", os.path.join(folder, "empty.cubin")]
        try:
            return subprocess.run(command, env=dict(os.environ, PATH=config.environment["PATH"]),
                                  capture_output=True).returncode == 0
        except OSError:
            return False


if config.dsv4_sanitize:
    config.available_features.add("asan")
if has_nvcc():
    config.available_features.add("nvcc")
if has_nvrtc() and os.path.exists(os.path.join(config.dsv4_tools_dir, "dsv4-nvrtc-check")):
    config.available_features.add("nvrtc")
if has_cuda_device():
    config.available_features.add("cuda-device")
