# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import ctypes
import gc
import hashlib
import json
import os
import struct
import subprocess
import sys
import threading

import numpy as np
import producers
import pytest
import reference
from texts import NORM

import dsv4


@pytest.fixture(scope="module")
def kernel():
    return dsv4.compile(NORM, target="host", name="norm.mlir")


@pytest.mark.parametrize("offset", range(4))
def test_one_program_serves_any_address(rng, offset):
    """Contiguous rows of an odd number of f32, which begin at any element."""
    batch = rng.standard_normal(3 * 5 * 255 + 4).astype(np.float32)
    x = batch[offset : offset + 3 * 5 * 255].reshape(3, 5, 255)
    ends = np.empty(4 + 5 * 255, np.float32)[offset : offset + 5 * 255].reshape(5, 255)
    for each in x:
        np.testing.assert_allclose(
            dsv4.rms_norm(each, out=ends), reference.rms_norm(each), rtol=1e-5, atol=1e-6
        )
        np.testing.assert_array_equal(
            dsv4.topk(each, 3, sorted=True), reference.topk(each, 3)
        )
        weights, ids = dsv4.route(each, 3, score="sigmoid", renormalize=False)
        np.testing.assert_array_equal(ids, reference.topk(each, 3))
        expected = np.take_along_axis(reference.gate(each, "sigmoid"), ids, 1)
        np.testing.assert_allclose(weights, expected, rtol=1e-5)


def test_prepare_on_any_slice_prepares_all(rng):
    memory = rng.standard_normal(4 * 64 + 4).astype(np.float32)
    slices = [memory[each : each + 256].reshape(4, 64) for each in range(5)]
    for number, prepared in enumerate(slices):
        options = {"eps": 0.25 + number}
        kernel = dsv4.prepare(dsv4.rms_norm, prepared, **options)
        before = dsv4.counters()["compiles"]
        for x in slices:
            expected = reference.rms_norm(x, eps=options["eps"])
            out = np.empty_like(memory)[number : number + 256].reshape(4, 64)
            kernel(x, out)
            np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(dsv4.rms_norm(x, **options), out)
        assert dsv4.counters()["compiles"] == before
    entry, other = kernel.entry(), kernel.unaligned.entry()
    loaded = dsv4.load(entry, unaligned=other)
    loaded(slices[1], out)
    np.testing.assert_array_equal(out, dsv4.rms_norm(slices[1], **options))
    with pytest.raises(dsv4.InvalidArgument, match="aligned"):
        dsv4.load(entry)(slices[1], out)
    another = dsv4.prepare(dsv4.topk, slices[0], 3).entry()
    with pytest.raises(dsv4.InvalidArgument, match="other arguments") as caught:
        dsv4.load(entry, unaligned=another)
    assert caught.value.argument == "unaligned"


def test_a_kernel_knows_what_it_is(kernel):
    assert kernel.name == "norm" and kernel.target == "host"
    assert kernel.arguments == ("x", "y")
    assert len(kernel.key) == 64 and kernel.arch.startswith("sm_")
    assert "norm" in repr(kernel) and "'x', 'y'" in repr(kernel)
    with pytest.raises(TypeError):
        dsv4.Kernel()


@pytest.mark.parametrize("rows", [0, 1, 33])
def test_a_kernel_serves_any_number_of_rows(kernel, rng, rows):
    x = rng.standard_normal((rows, 64)).astype(np.float32)
    y = np.empty_like(x)
    for call in (kernel, kernel.launch):
        y[:] = 0
        assert call(x, y) is None
        np.testing.assert_allclose(y, reference.rms_norm(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "arguments, error, argument, index",
    [
        (lambda x, y: (x,), dsv4.InvalidArgument, None, -1),
        (lambda x, y: (x, y, y), dsv4.InvalidArgument, None, -1),
        (lambda x, y: (x, y) * 40, dsv4.InvalidArgument, None, -1),
        (lambda x, y: (x[:, :32], y), dsv4.InvalidArgument, "x", 0),
        (lambda x, y: (x, y[:3]), dsv4.InvalidArgument, "y", 1),
        (lambda x, y: (x[0], y), dsv4.InvalidArgument, "x", 0),
        (lambda x, y: (x.astype(np.float64), y), dsv4.TypeMismatch, "x", 0),
        (lambda x, y: (x, y.view(np.int32)), dsv4.TypeMismatch, "y", 1),
        (lambda x, y: (x, x), dsv4.InvalidArgument, "y", 1),
        (lambda x, y: (x[::2], y[:2]), dsv4.InvalidArgument, "x", 0),
        (lambda x, y: (x, None), dsv4.TypeMismatch, "y", 1),
        (lambda x, y: (x, 3.0), dsv4.TypeMismatch, "y", 1),
        (lambda x, y: (x, [1.0]), dsv4.TypeMismatch, "y", 1),
        (lambda x, y: (np.zeros((1,) * 9, np.float32), y), dsv4.InvalidArgument, "x", 0),
    ],
)
def test_a_kernel_refuses(kernel, rng, arguments, error, argument, index):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    y = np.zeros_like(x)
    with pytest.raises(error) as caught:
        kernel(*arguments(x, y))
    assert (caught.value.argument, caught.value.index) == (argument, index)
    assert caught.value.id and not y.any()
    kernel(x, y)
    np.testing.assert_allclose(y, reference.rms_norm(x), rtol=1e-5, atol=1e-6)


def test_a_kernel_refuses_memory_that_is_not_aligned(kernel):
    memory = np.zeros(4 * 64 + 1, np.float32)
    with pytest.raises(dsv4.InvalidArgument, match="'x'.*align"):
        kernel(memory[1:].reshape(4, 64), np.zeros((4, 64), np.float32))


@pytest.mark.parametrize(
    "shape, strides",
    [
        ((2**62, 64), None), ((2**57 + 1, 64), None), ((-1, 64), None), ((4, -64), None),
        ((4, 64), (2**62, 1)), ((4, 64), (-64, 1)), ((4, 64), (2**61, 1)),
        ((2**63 - 1, 2**63 - 1), None),
    ],
)  # fmt: skip
def test_extents_that_overflow(kernel, shape, strides):
    class Large(producers.Modern):
        def __dlpack__(self, **options):
            capsule = super().__dlpack__(**options)
            numbers = [(ctypes.c_int64 * 2)(*shape), (ctypes.c_int64 * 2)(*(strides or ()))]
            self.keep += numbers
            self.managed.tensor.shape = numbers[0]
            self.managed.tensor.strides = numbers[1] if strides else None
            return capsule

    array = Large(np.zeros((4, 64), np.float32))
    for arguments in ((array, np.zeros((4, 64), np.float32)), (array, array)):
        with pytest.raises(dsv4.InvalidArgument):
            kernel(*arguments)
    with pytest.raises((dsv4.Error, ValueError, OverflowError)):
        dsv4.rms_norm(array, out=np.zeros((4, 64), np.float32))
    with pytest.raises((dsv4.Error, ValueError, OverflowError)):
        dsv4.gather(array, np.array([1]), record="v4_584")


def test_names_of_a_call(kernel, rng):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    for call in (kernel, kernel.launch):
        with pytest.raises(TypeError, match="'out'"):
            call(x, x.copy(), out=x)
        with pytest.raises(dsv4.TypeMismatch, match="'stream'"):
            call(x, x.copy(), stream="default")
        call(x, x.copy(), stream=None, workspace=None)


def test_workspaces(kernel, rng):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    assert kernel.workspace_bytes(x, x.copy()) == 0
    kernel(x, x.copy(), workspace=np.zeros(64, np.uint8))
    with pytest.raises(dsv4.InvalidArgument, match="'workspace'"):
        kernel(x, x.copy(), workspace=np.zeros((8, 8), np.uint8)[:, :4])
    with pytest.raises(dsv4.TypeMismatch):
        kernel(x, x.copy(), workspace=3)


def test_errors_are_those_of_python_too():
    assert issubclass(dsv4.InvalidArgument, ValueError)
    assert issubclass(dsv4.TypeMismatch, TypeError)
    for each in ("Unavailable", "CompileFailed", "LoadFailed", "LaunchFailed", "CorruptEntry",
                 "NotPrepared"):  # fmt: skip
        assert issubclass(getattr(dsv4, each), RuntimeError)
        assert issubclass(getattr(dsv4, each), dsv4.Error)


def test_compile_refuses():
    with pytest.raises(dsv4.CompileFailed, match="norm.mlir|program"):
        dsv4.compile("func.func @f( {", target="host", name="norm.mlir")
    with pytest.raises(dsv4.InvalidArgument) as caught:
        dsv4.compile(NORM, target="gpu")
    assert caught.value.argument == "target"
    for name, value in (
        ("text", 3), ("text", "\ud800"), ("entry", 3), ("entry", "a\nb"), ("arch", []),
        ("schedule", b"x"), ("name", "a\0"), ("device", "0"), ("device", -1), ("device", True),
        ("target", ["host"]), ("dims", 3), ("dims", {"rows": -1}), ("dims", {"rows": "4"}),
        ("dims", {3: 4}), ("dims", dict.fromkeys(map(str, range(65)), 1)),
    ):  # fmt: skip
        with pytest.raises(dsv4.InvalidArgument) as caught:
            dsv4.compile(**{"text": NORM, "target": "host", name: value})
        assert (caught.value.id, caught.value.argument) == (f"option.{name}", name)
    with pytest.raises(dsv4.InvalidArgument, match="'entry' is 3"):
        dsv4.load(3)


def test_entries(kernel, rng, tmp_path):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    y = np.zeros_like(x)
    entry = kernel.entry()
    dsv4.load(entry)(x, y)
    np.testing.assert_allclose(y, reference.rms_norm(x), rtol=1e-5, atol=1e-6)
    path = tmp_path / "norm.dsv4"
    path.write_bytes(entry)
    assert dsv4.load(path).key == kernel.key
    damaged = bytearray(entry)
    damaged[len(damaged) // 2] ^= 1
    for bad in (bytes(damaged), entry[:-1], b""):
        with pytest.raises(dsv4.Error):
            dsv4.load(bad)


def test_prepare(rng):
    scores = rng.standard_normal((4, 64)).astype(np.float32)
    lengths = np.array([3, 64, 0, 7], np.int32)
    kernel = dsv4.prepare(dsv4.topk, scores, 5, lengths=lengths, sorted=True)
    assert kernel.arguments == ("scores", "lengths", "indices")
    before = dsv4.counters()["programs"]
    indices = np.empty((4, 5), np.int32)
    kernel(scores, lengths, indices)
    np.testing.assert_array_equal(indices, reference.topk(scores, 5, lengths))
    # Another number of rows and columns is the same kernel, and so is the function.
    dsv4.topk(scores[:2, :33].copy(), 5, lengths=lengths[:2].copy(), sorted=True)
    assert dsv4.counters()["programs"] == before
    with pytest.raises(dsv4.InvalidArgument):
        dsv4.prepare(print)
    with pytest.raises(dsv4.TypeMismatch):
        dsv4.prepare(dsv4.topk, scores.astype(np.int64), 5)
    assert dsv4.topk(scores, 5).shape == (4, 5)


def test_threads(rng):
    scores = [rng.standard_normal((n, 100)).astype(np.float32) for n in range(1, 9)]
    results, failures = [None] * 8, []

    def run(number):
        try:
            for _ in range(5):
                results[number] = dsv4.topk(scores[number], 11, sorted=True)
        except Exception as error:
            failures.append(error)

    before = dsv4.counters()["programs"]
    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures
    for result, score in zip(results, scores):
        np.testing.assert_array_equal(result, reference.topk(score, 11))
    assert dsv4.counters()["programs"] <= before + 1


def test_a_compile_lets_other_threads_run():
    text = NORM.replace("1.0e-06", "1.5e-06").replace("@norm", f"@norm_{os.getpid()}")
    done = threading.Event()

    def run():
        dsv4.compile(text, target="host")
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    turns = 0
    # With the GIL held by the compile there would be one turn.
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert turns > 3


def test_calls_keep_no_references(kernel, rng):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    y = np.empty_like(x)
    base = sys.getrefcount(x)
    for _ in range(10):
        kernel(x, y)
        with pytest.raises(dsv4.Error):
            kernel(x, y[:2])
        dsv4.rms_norm(x)
    gc.collect()
    assert sys.getrefcount(x) == base


# ===-- Processes --------------------------------------------------------------===


def run_python(*arguments):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(dsv4.__file__)))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300
    )


def test_import_takes_no_time_and_no_framework():
    code = """
import sys, time
begin = time.process_time()  # Other processes do not count.
import dsv4
passed = time.process_time() - begin
assert not {"torch", "numpy", "cupy", "jax"} & set(sys.modules)
with open("/proc/self/maps") as maps:
    assert "libcuda" not in maps.read()
print(passed)
"""
    done = [run_python("-c", code) for _ in range(5)]
    assert all(each.returncode == 0 for each in done), done[0].stderr
    assert min(float(each.stdout) for each in done) < 0.05


def test_a_forked_child_uses_the_parents_kernels(rng):
    code = """
import os
import struct
import numpy as np
import dsv4
x = np.arange(60, dtype=np.float32).reshape(2, 30)
dsv4.topk(x, 3, sorted=True)
child = os.fork()
if child == 0:
    ok = (dsv4.topk(x, 3, sorted=True) == [[29, 28, 27]] * 2).all()
    ok &= dsv4.topk(x, 4).shape == (2, 4)
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr


def test_a_spawned_child(tmp_path):
    (tmp_path / "spawned.py").write_text("""
import multiprocessing
import numpy as np
import dsv4

def work(rows):
    return dsv4.topk(np.eye(rows, 40, dtype=np.float32), 1).ravel().tolist()

if __name__ == "__main__":
    assert work(2) == [0, 1]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(work, [1, 2, 3]) == [[0], [0, 1], [0, 1, 2]]
""")
    done = run_python(str(tmp_path / "spawned.py"))
    assert done.returncode == 0, done.stderr


def test_module(rng):
    done = run_python("-m", "dsv4")
    assert done.returncode == 0, done.stderr
    lines = [line.split()[0] for line in done.stdout.splitlines()]
    assert lines[0] == "dsv4" and "devices" in lines and "cache" in lines
    assert "self-test   passed" in done.stdout


def test_freeze():
    code = """
import numpy as np
import dsv4
x = np.zeros((2, 30), np.float32)
dsv4.topk(x, 3)
dsv4.freeze()
assert dsv4.topk(x, 3).shape == (2, 3)
try:
    dsv4.topk(x, 4)
except dsv4.NotPrepared as error:
    assert error.id == "compile.frozen"
else:
    raise AssertionError("compiled")
assert dsv4.counters()["not_prepared"] == 1
"""
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr


def test_without_a_compiler():
    code = """
import os
import struct
os.environ["DSV4_COMPILER"] = "/nowhere/dsv4-compile"
import dsv4
try:
    dsv4.compile("", target="host")
except dsv4.Unavailable as error:
    assert "/nowhere/dsv4-compile" in str(error), error
else:
    raise AssertionError("compiled")
"""
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr


def add_numbers(kernel, *types):
    """The kernel with numbers after its arguments, which nothing reads: only tools that embed the
    compiler make such programs."""
    entry = kernel.entry()
    images, metadata = struct.unpack("<QQ", entry[-48:-32])
    known = json.loads(entry[images : images + metadata])
    known["program"]["bindings"] += [
        {"name": each, "storage": each, "element": each, "shape": [], "written": False,
         "scalar": True, "strides": []}
        for each in types
    ]  # fmt: skip
    text = json.dumps(known).encode()
    entry = entry[:images] + text + entry[-64:-40] + struct.pack("<Q", len(text))
    return dsv4.load(entry + hashlib.blake2b(entry, digest_size=32).digest())


@pytest.mark.parametrize(
    "type, good, wrong, too_large",
    [
        ("i32", (0, -(2**31), np.int64(7), True), (3.5, "7", None, [1]),
         (2**31, -(2**31) - 1, 2**64)),
        ("i64", (0, -(2**63), np.int64(7)), (3.5, "7", None, np.float32(1)), (2**63, 2**64)),
        ("f32", (0, 1.5, 3e38, float("inf"), float("nan"), 1e-60), ("1", None, [1]),
         (1e39, -1e300, 10**400)),
    ],
)  # fmt: skip
def test_numbers(kernel, type, good, wrong, too_large):
    x = np.ones((2, 64), np.float32)
    y = np.empty_like(x)
    forged = add_numbers(kernel, type)
    for number in good:
        y[:] = 0
        forged(x, y, number)
        np.testing.assert_allclose(y, reference.rms_norm(x), rtol=1e-5)
    for error, id, numbers in (
        (dsv4.TypeMismatch, "argument.type", wrong),
        (dsv4.InvalidArgument, "argument.overflow", too_large),
    ):
        for number in numbers:
            with pytest.raises(error, match=f"argument '{type}' is ") as caught:
                forged(x, y, number)
            assert (caught.value.id, caught.value.argument) == (id, type)
            assert caught.value.index == 2

    class Failing:
        def __index__(self):
            raise KeyError("of the number")

        __float__ = __index__

    with pytest.raises(KeyError):
        forged(x, y, Failing())


def test_the_package_can_be_imported_again():
    """Also when the runtime runs: its options are what they were."""
    code = """
import sys
import numpy as np
for _ in range(2):
    import dsv4
    assert dsv4.topk(np.ones((2, 9), np.float32), 3).shape == (2, 3)
    for each in [each for each in sys.modules if each.partition(".")[0] == "dsv4"]:
        del sys.modules[each]
from dsv4 import _dsv4, _kernels
_dsv4.configure(nvrtc_path=None)
for options in ({"nvrtc_path": "/elsewhere"}, {"cache_dir": "/elsewhere"}, {"compiler": "x"}):
    try:
        _dsv4.configure(**options)
    except _dsv4.InvalidArgument as error:
        assert error.id == "runtime.running"
    else:
        raise AssertionError(options)
"""
    path = os.path.dirname(os.path.dirname(dsv4.__file__))
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=path), capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_an_error_names_the_program_that_is_not_prepared():
    code = """
import numpy as np, dsv4
x = np.ones((4, 64), np.float32)
kernel = dsv4.prepare(dsv4.rms_norm, x)
dsv4.freeze()
kernel(x, x.copy())
for call in (lambda: dsv4.topk(x, 3), lambda: dsv4.compile("module {}", name="mine.mlir")):
    try:
        call()
    except dsv4.NotPrepared as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and "program 'dsv4.topk' is to be compiled" in lines[0], done.stderr
    assert "program 'mine.mlir' is to be compiled" in lines[1]


def test_rows_without_a_bound_say_what_to_write():
    text = """
func.func @f(%x: tensor<4x?xf32> {dsv4.name = "x", dsv4.dims = ["", "n"]},
             %y: tensor<4x2xi32> {dsv4.name = "y"}) -> tensor<4x2xi32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<4x?xf32>
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %d = dsv4.topk %e outs(%y : tensor<4x2xi32>) : tensor<4x?xf32>
  return %d : tensor<4x2xi32>
}
"""
    with pytest.raises(dsv4.CompileFailed, match="a constant number of columns") as caught:
        dsv4.compile(text, target="host")
    assert "specialize" not in str(caught.value)
