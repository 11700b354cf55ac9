# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches on CUDA with a driver that only takes notes: what reaches a kernel, and what does not.

Every test is a process of its own, because a process has one driver.
"""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

import dsv4

HERE = os.path.dirname(__file__)

PROLOGUE = """
import ctypes
import numpy as np
import producers
import dsv4
from texts import NORM

fake = ctypes.CDLL("libcuda.so.1")
for each in (fake.fake_stream, fake.fake_parameter, fake.fake_second, fake.fake_context):
    each.restype = ctypes.c_uint64
for index, size in enumerate((8, 8, 4)):
    fake.fake_expect(index, size)

class Device(producers.OnDevice):
    pass


class Second(producers.OnDevice):
    device = (2, 1)


memory = np.zeros((1024, 64), np.float32)


def array(first, rows, cls=Device):
    return cls(memory[first : first + rows])


def parameters():
    return [fake.fake_parameter(i) for i in range(3)]


def address(first):
    return memory[first:].ctypes.data


def refused(error, id, call, *args, **kw):
    try:
        call(*args, **kw)
    except error as caught:
        assert caught.id == id, (caught.id, str(caught))
        return caught
    raise AssertionError("not refused")


kernel = dsv4.compile(NORM, target="cuda", arch="sm_90a")
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fakecuda")
    source = os.path.join(HERE, "fakecuda.c")
    compiler = shutil.which("gcc") or shutil.which("clang") or "cc"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), source], check=True
    )
    return folder


@pytest.fixture
def run(driver):
    def run(body):
        path = os.pathsep.join([os.path.dirname(os.path.dirname(dsv4.__file__)), HERE])
        libraries = os.pathsep.join(
            filter(None, [str(driver), os.environ.get("LD_LIBRARY_PATH")])
        )
        done = subprocess.run(
            [sys.executable, "-c", PROLOGUE + textwrap.dedent(body)],
            env=dict(os.environ, PYTHONPATH=path, LD_LIBRARY_PATH=libraries),
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    return run


def test_what_changes_between_launches(run):
    run("""
    kernel(array(0, 4), array(100, 4))
    assert parameters() == [address(0), address(100), 4]
    kernel.launch(array(0, 4), array(100, 4))
    kernel.launch(array(8, 4), array(100, 4))
    assert parameters() == [address(8), address(100), 4]
    kernel.launch(array(8, 7), array(200, 7))
    assert parameters() == [address(8), address(200), 7]
    kernel.launch(array(9, 2), array(200, 2))
    assert parameters() == [address(9), address(200), 2]
    assert fake.fake_launches() == 5 and fake.fake_loads() == 1
    assert dsv4.counters()["binds"] == 1
    """)


def test_what_is_refused_leaves_the_kernel_usable(run):
    run("""
    kernel(array(0, 4), array(100, 4))
    refused(dsv4.InvalidArgument, "argument.extent", kernel, array(0, 4), array(100, 5))
    assert fake.fake_launches() == 1
    kernel(array(0, 4), array(100, 4))
    kernel(array(0, 5), array(100, 5))
    assert parameters() == [address(0), address(100), 5]
    for given in ((array(0, 5, Second), array(100, 5)), (array(0, 5), array(100, 5, Second))):
        refused(dsv4.TypeMismatch, "argument.device", kernel, *given)
        kernel(array(0, 5), array(100, 5))
    refused(dsv4.TypeMismatch, "argument.device", kernel, memory[:5], array(100, 5))
    refused(dsv4.TypeMismatch, "argument.device", kernel, array(0, 5), memory[:5])
    refused(dsv4.TypeMismatch, "argument.device", kernel, array(0, 5), array(100, 5, Second))
    fake.fake_fail(700)
    error = refused(dsv4.LaunchFailed, "launch.failed", kernel, array(0, 5), array(100, 5))
    assert error.driver_result == 700 and "CUDA_ERROR_OF_A_FAKE" in str(error)
    fake.fake_fail(0)
    kernel(array(0, 5), array(100, 5))
    assert fake.fake_launches() == 6
    """)


def test_memory_that_begins_to_overlap(run):
    run("""
    kernel(array(0, 8), array(100, 8))
    id = refused(dsv4.InvalidArgument, "argument.overlap", kernel, array(95, 8), array(100, 8))
    kernel(array(0, 8), array(100, 8))
    refused(dsv4.InvalidArgument, "argument.overlap", kernel, array(0, 8), array(7, 8))
    kernel(array(0, 8), array(8, 8))
    kernel(array(16, 8), array(8, 8))
    assert parameters() == [address(16), address(8), 8]
    """)


def test_memory_that_is_not_aligned(run):
    run("""
    kernel(array(0, 4), array(100, 4))
    odd = Device(np.zeros(4 * 64 + 1, np.float32)[1:].reshape(4, 64))
    error = refused(dsv4.InvalidArgument, "argument.alignment", kernel, odd, array(100, 4))
    assert error.argument == "x"
    kernel(array(0, 4), array(100, 4))
    """)


def test_streams(run):
    run("""
    x, y = array(0, 4), array(100, 4)
    kernel(x, y)
    assert fake.fake_stream() == 0 and x.calls == [1]
    kernel(x, y, stream=0x1234)
    assert fake.fake_stream() == 0x1234 and x.calls == [1, 0x1234]
    refused(dsv4.InvalidArgument, "stream.device", kernel, x, y, stream=0x2234)
    dsv4._dsv4.set_stream_hook(lambda array, device: 0x1000 + 8 * (device + 1))
    kernel(x, y)
    assert fake.fake_stream() == 0x1008
    """)


def test_two_devices(run):
    run("""
    for _ in range(2):
        kernel(array(0, 4), array(100, 4))
        assert fake.fake_context() == 0x100
        kernel(array(0, 4, Second), array(100, 4, Second))
        assert fake.fake_context() == 0x101
    assert fake.fake_loads() == 2 and dsv4.counters()["binds"] == 2
    assert [each["arch"] for each in dsv4.devices()] == ["sm_90a"] * 2
    """)


def test_a_capture_needs_a_loaded_kernel(run):
    run("""
    x, y = array(0, 4), array(100, 4)
    refused(dsv4.NotPrepared, "program.capturing", kernel, x, y, stream=0x1001)
    assert fake.fake_launches() == 0
    kernel.load(0)
    kernel(x, y, stream=0x1001)
    assert fake.fake_launches() == 1
    refused(dsv4.NotPrepared, "compile.capturing", dsv4.compile, NORM, target="cuda",
            arch="sm_90a", stream=0x1001)
    """)


def test_a_capture_needs_a_compiled_function(run):
    run("""
    y = array(100, 4)
    dsv4._dsv4.set_stream_hook(lambda array, device: 0x1001)
    before = dsv4.counters()["programs"]
    refused(dsv4.NotPrepared, "compile.capturing", dsv4.rms_norm, array(0, 4), out=y)
    refused(dsv4.NotPrepared, "compile.capturing", dsv4.rms_norm, array(0, 4), out=y,
            stream=0x1003)
    assert dsv4.counters()["programs"] == before
    dsv4.rms_norm(array(0, 4), out=y, stream=0x1002)
    dsv4.rms_norm(array(0, 4), out=y)
    assert fake.fake_stream() == 0x1001
    """)


def test_a_capture_on_another_slice(run):
    """A warm-up on any slice prepares the calls on all of them."""
    run("""
    def slice_from(offset):
        return Device(memory.reshape(-1)[offset : offset + 256].reshape(4, 64))

    y = array(100, 4)
    for first in (0, 1):
        options = {"eps": first + 1.0}
        dsv4.rms_norm(slice_from(first), out=y, stream=0x1002, **options)
        before = dsv4.counters()
        for offset in range(8):
            dsv4.rms_norm(slice_from(offset), out=y, stream=0x1001, **options)
            assert parameters()[0] == memory.ctypes.data + 4 * offset
        after = dsv4.counters()
        assert all(before[each] == after[each] for each in ("compiles", "loads"))
    assert fake.fake_launches() == 18
    kernel = dsv4.prepare(dsv4.rms_norm, array(0, 4), eps=3.0)
    dsv4.freeze()
    kernel(slice_from(3), y, stream=0x1001)
    dsv4.rms_norm(slice_from(1), out=y, eps=3.0, stream=0x1001)
    assert fake.fake_launches() == 20
    """)


def test_frozen(run):
    run("""
    kernel(array(0, 4), array(100, 4))
    dsv4.freeze()
    kernel(array(0, 9), array(100, 9))
    refused(dsv4.NotPrepared, "program.frozen", kernel, array(0, 4, Second),
            array(100, 4, Second))
    """)


def test_a_workspace_of_the_caller(run):
    run("""
    kernel(array(0, 4), array(100, 4), workspace=array(500, 4))
    assert fake.fake_launches() == 1
    refused(dsv4.TypeMismatch, "argument.device", kernel, array(0, 4), array(100, 4),
            workspace=array(500, 4, Second))
    refused(dsv4.TypeMismatch, "argument.device", kernel, array(0, 4), array(100, 4),
            workspace=memory[500:504])
    refused(dsv4.InvalidArgument, "argument.stride", kernel, array(0, 4), array(100, 4),
            workspace=Device(memory[500:504, :2]))
    assert fake.fake_launches() == 1
    """)


def test_a_full_queue_stops_one_thread(run):
    run("""
    import threading
    x, y, z = array(0, 4), array(100, 4), array(200, 4)
    kernel(x, y)
    fake.fake_fill(1)
    failures = []

    def launch(out):
        try:
            kernel(x, out)
        except dsv4.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=launch, args=(out,)) for out in (y, z)]
    for each in threads:
        each.start()
    # Both wait in the driver, without the GIL and with arguments of their own.
    while fake.fake_waiting() < 2 and not failures:
        pass
    fake.fake_fill(0)
    for each in threads:
        each.join()
    assert not failures, failures
    assert fake.fake_launches() == 3
    assert {fake.fake_second(1), fake.fake_second(2)} == {address(100), address(200)}
    kernel(x, y)
    assert parameters() == [address(0), address(100), 4]
    """)


def test_a_driver_that_takes_its_time_stops_one_thread(run):
    run("""
    import threading
    fake.fake_fill(1)
    devices = []
    thread = threading.Thread(target=lambda: devices.append(dsv4._dsv4.device(1)))
    thread.start()
    # It waits in the driver without the GIL.
    while not fake.fake_waiting() and thread.is_alive():
        pass
    fake.fake_fill(0)
    thread.join()
    assert [each["arch"] for each in devices] == ["sm_90a"]
    """)


def test_functions_go_to_the_device_of_their_arrays(run):
    run("""
    y = array(100, 4)
    assert dsv4.rms_norm(array(0, 4), out=y) is y
    assert parameters() == [address(0), address(100), 4]
    dsv4.rms_norm(array(0, 4, Second), out=array(100, 4, Second), stream=0x2000)
    assert fake.fake_stream() == 0x2000 and fake.fake_context() == 0x101
    """)


def test_arrays_of_jax_are_waited_for_on_their_device(run):
    """JAX has no stream to launch on: the result is ready when the call returns."""
    run("""
    for each in (fake.fake_waited_stream, fake.fake_waited_context):
        each.restype = ctypes.c_uint64
    fake.cuCtxSetCurrent.argtypes = [ctypes.c_void_p]

    class Jax(Second):
        pass

    Jax.__module__ = "jax.fake"
    current = ctypes.c_void_p()
    y = array(100, 4, Jax)
    for before in (None, 0x100, 0x777):
        # The thread may have no context, or that of another device.
        fake.cuCtxSetCurrent(before)
        assert dsv4.rms_norm(array(0, 4, Jax), out=y) is y
        assert (fake.fake_waited_stream(), fake.fake_waited_context()) == (0, 0x101)
        fake.cuCtxGetCurrent(ctypes.byref(current))
        assert current.value == before
    dsv4.rms_norm(array(0, 4, Jax), out=y, stream=0x2000)
    assert (fake.fake_waited_stream(), fake.fake_waited_context()) == (0x2000, 0x101)
    assert fake.fake_stream() == 0x2000
    fake.fake_fail_to_wait(700)
    error = refused(dsv4.LaunchFailed, "stream.wait", dsv4.rms_norm, array(0, 4, Jax), out=y)
    assert error.driver_result == 700
    fake.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == 0x777
    """)


def test_the_self_test_runs_on_each_device(run):
    """The fake launches nothing, so the results are those that were there before."""
    run("""
    from dsv4 import _dsv4, _selftest
    from dsv4.__main__ import collect, main
    for number in range(2):
        before = fake.fake_launches()
        outcome = _selftest.run_on_device(_dsv4.device(number))
        assert outcome.where == f"device {number} (Fake H200, sm_90a)"
        assert (outcome.status, outcome.can_launch) == ("failed", False), outcome
        assert outcome.message.endswith("got [0, 0]"), outcome
        assert fake.fake_launches() == before + 1 and fake.fake_context() == 0x100 + number
    found = collect()
    assert [each["status"] for each in found["tests"]] == ["failed", "failed", "passed"]
    assert found["ok"] is False and main(["--json"]) == 1
    # Without NVRTC, entries can be launched all the same, as far as that can be known.
    compile = _selftest._kernels.compile
    def without_nvrtc(*args, target, **kw):
        if target == "cuda":
            raise dsv4.Unavailable("no NVRTC")
        return compile(*args, target=target, **kw)
    _selftest._kernels.compile = without_nvrtc
    found = collect()
    assert [each["status"] for each in found["tests"]] == ["untested", "untested", "passed"]
    assert found["ok"] and all(each["can_launch"] for each in found["tests"])
    # A device that fails is a failure.
    fake.fake_fail_to_wait(700)
    assert _selftest.run_on_device(_dsv4.device(0)).status == "failed"
    """)


def test_a_forked_child_is_refused(run):
    run("""
    import os, signal
    kernel(array(0, 4), array(100, 4))
    launches = fake.fake_launches()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        caught = refused(dsv4.Unavailable, "driver.forked", kernel, array(0, 4), array(100, 4))
        refused(dsv4.Unavailable, "driver.forked", dsv4.devices)
        assert "use spawn" in str(caught)
        assert dsv4.topk(np.eye(2, 40, dtype=np.float32), 1).ravel().tolist() == [0, 1]
        os._exit(0 if fake.fake_launches() == launches else 1)
    assert os.waitpid(child, 0)[1] == 0
    """)


def test_kernels_that_stand_beside_a_benchmark(run):
    run("""
    from dsv4 import _copies

    kernels = _copies.Kernels()
    for steps, evict_last, programmatic in ((1, False, False), (4, True, True)):
        copy = _copies.CopyKernel(steps, evict_last, programmatic)
        kernels.copy(copy, 0x10000, 0x20000, 16 * 2049, 0x1002)
        assert parameters() == [0x10000, 0x20000, 2049] and fake.fake_stream() == 0x1002
        assert [fake.fake_grid(i) for i in range(3)] == [9 if steps == 1 else 3, 1, 1]
        assert [fake.fake_block(i) for i in range(3)] == [256, 1, 1]
        expected = (6, 1) if programmatic else (-1, -1)
        assert (fake.fake_attribute(), fake.fake_value()) == expected
    loads = fake.fake_loads()
    for index in range(3):
        fake.fake_expect(index, 0)
    for _ in range(2):
        kernels.empty((5, 6, 7), True, 0x1004)
    assert fake.fake_loads() == loads + 1 and fake.fake_stream() == 0x1004
    assert [fake.fake_grid(i) for i in range(3)] == [5, 6, 7] and fake.fake_attribute() == 6
    fake.fake_expect(0, 8)
    kernels.wait(100, 0x1004)
    assert fake.fake_parameter(0) == 100_000 and fake.fake_grid(0) == fake.fake_block(0) == 1
    fake.fake_fail(719)
    error = refused(dsv4.LaunchFailed, "benchmark.driver", kernels.empty, (1, 1, 1), False, 0)
    assert error.driver_result == 719 and "cannot launch" in str(error)
    kernels.unload()
    assert fake.fake_loads() == loads - 2
    """)


def test_a_benchmark_launches_on_copies_alone(run):
    run("""
    import contextlib
    from dsv4 import _benchmark, _copies

    MEMORY = []

    class FakeDevice:
        name, multiprocessors, cache_bytes = "Fake H200", 132, 1 << 20
        opened = contextlib.nullcontext
        free_bytes = lambda self: 1 << 34
        span_bytes = lambda self, array: array.array.nbytes
        copy_kernels = lambda self: _copies.copy_kernels(8)
        empties = []

        def clone(self, array):
            MEMORY.append(array.array.copy())
            return Device(MEMORY[-1])

        def allocate(self, size):
            memory = np.zeros(size, np.uint8)
            return type("Memory", (), {"data_ptr": lambda self: memory.ctypes.data})()

        def copy(self, *arguments):
            pass

        def empty(self, grid, programmatic):
            self.empties.append(grid)

        def time(self, candidates, flushed):
            for each in candidates:
                for i in range(each.launches):
                    each.launch(i)
                    LAUNCHED.append(fake.fake_parameter(0))
            return [[2.0] * 21 for each in candidates]

    LAUNCHED = []
    setattr(_benchmark, "library_of", lambda array: "torch")
    _benchmark.open_device = lambda like: FakeDevice()
    x, y = array(0, 100), array(100, 100)
    for fn, options in ((kernel, {}), (dsv4.rms_norm, {"out": y})):
        found = dsv4.benchmark(fn, *((x,) if options else (x, y)), **options)
        assert found.bytes == 2 * 100 * 64 * 4 and found.kernels == 1
        assert found.cold.copies == found.cold.launches == 82
        mine = {address(0), address(100)}
        copies = {each.ctypes.data for each in MEMORY}
        assert not mine & set(LAUNCHED) and len(copies & set(LAUNCHED)) == 82
        LAUNCHED.clear(), MEMORY.clear()
    assert len(set(FakeDevice.empties)) <= 2
    refused(dsv4.InvalidArgument, "argument.extent", dsv4.benchmark, kernel, x, array(0, 7))
    refused(dsv4.InvalidArgument, "argument.count", dsv4.benchmark, kernel)
    """)
