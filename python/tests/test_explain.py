# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What dsv4.explain says of a call."""

import json
import os
import struct
import subprocess
import sys

import numpy as np
import producers
import pytest

import dsv4
from dsv4 import _launches

NORM = """
func.func @norm(%x: tensor<?x64xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                %y: tensor<?x64xf32> {dsv4.name = "y", dsv4.dims = ["rows", ""]})
    -> tensor<?x64xf32> {
  %r = dsv4.rms_norm %x outs(%y : tensor<?x64xf32>) {eps = EPS : f32} : tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
"""


def norm(eps):
    """A program that no other test has."""
    return NORM.replace("EPS", f"{eps:e}")


@pytest.fixture(autouse=True)
def cache_directory(tmp_path, monkeypatch):
    """The compiler and the library look there, so nothing is in the cache of an earlier run."""
    monkeypatch.setenv("DSV4_CACHE_DIR", str(tmp_path))


@pytest.fixture
def index():
    """A call that has two kernels."""
    arguments = (
        np.zeros((2, 8, 128), np.uint8), np.zeros((4, 64, 132), np.uint8),
        np.ones((2, 8), np.float32), 5,
    )  # fmt: skip
    tables = {"page_table": np.zeros((2, 2), np.int64), "lengths": np.array([100, 7])}
    return arguments, {"record": "index_fp8_132", "kernels": 2, **tables}


def test_a_call_on_the_host(rng):
    scores = rng.standard_normal((6, 77)).astype(np.float32)
    shown = dsv4.explain(dsv4.topk, scores, 19, sorted=True)
    assert (shown.name, shown.target, shown.arch) == ("topk", "host", "sm_90a")
    assert shown.arguments == (
        dsv4.ExplainedArgument("scores", "f32", ("rows", "columns"), False),
        dsv4.ExplainedArgument("indices", "i32", ("rows", 19), True),
    )
    assert shown.dims == {"rows": 6, "columns": 77}
    [kernel] = shown.kernels
    assert kernel.name == "topk" and kernel.ops == ("dsv4.topk",) and kernel.unfused == ()
    assert kernel.schedule.startswith("#dsv4.schedule<threads = ")
    assert f"threads = {kernel.threads}" in kernel.schedule
    assert kernel.grid is not None and np.prod(kernel.grid) >= 1
    # Machine code of the host has no registers of CUDA.
    assert kernel.registers is kernel.spill_bytes is kernel.static_shared_bytes is None
    assert shown.missing is None and "func.func @topk(" in shown.text
    # It is the kernel that a call launches.
    again = dsv4.prepare(dsv4.topk, scores, 19, sorted=True)
    assert again.key == shown.key
    assert dsv4.explain(dsv4.topk, scores[:2], 19, sorted=True).origin == "memory"
    assert dsv4.explain(dsv4.topk, scores[:2], 19, sorted=True).dims["rows"] == 2


def test_where_an_entry_came_from():
    text = norm(0.3125)
    first = dsv4.explain(text, target="host")
    assert first.origin == "compiled"
    assert dsv4.explain(text, target="host").origin == "disk"
    with open(first.path, "rb") as file:
        assert first.key.encode() in file.read()
    assert "cache hit         none (compiled)" in str(first)


def test_nothing_is_launched(rng):
    x, out = rng.standard_normal((4, 64)).astype(np.float32), np.zeros((4, 64), np.float32)
    calls = dsv4.counters()["calls"]
    dsv4.explain(dsv4.rms_norm, x, out=out)
    assert not out.any() and dsv4.counters()["calls"] == calls


def test_ops_that_are_not_in_one_kernel(index):
    arguments, options = index
    shown = dsv4.explain(dsv4.index_topk, *arguments, **options)
    score, select = shown.kernels
    assert score.ops == ("dsv4.index_score",) and select.ops == ("dsv4.topk",)
    assert score.unfused == ()
    [why] = select.unfused
    assert why.startswith("'dsv4.topk' not fused with 'dsv4.index_score': ")
    [launches] = shown.launches
    assert "have launches of their own: " in launches
    text = str(shown)
    assert f"  unfused         {why}" in text and f"launches          {launches}" in text


def test_a_program_of_an_engine():
    program = dsv4.programs.load("vllm_persistent_topk", k=7)
    options = {"target": "host", "dims": {"rows": 4, "columns": 100}}
    shown = dsv4.explain(program, **options)
    assert shown == dsv4.explain(program.text, **options)._replace(origin=shown.origin)
    assert shown.name == program.name and shown.kernels[0].ops == ("dsv4.topk",)


def test_kernels_that_share_a_launch():
    shown = dsv4.explain(
        dsv4.norm_rope_insert_, np.zeros((5, 64, 512), np.float32), np.zeros((5, 512), np.float32),
        np.zeros((8, 37440), np.uint8), np.arange(5), record="v4_584",
        table=np.ones((100, 64), np.float32), positions=np.arange(5),
    )  # fmt: skip
    [kernel] = shown.kernels
    assert kernel.ops == (
        "dsv4.rms_norm", "dsv4.rope", "dsv4.quantize", "dsv4.rope", "dsv4.paged_append",
    )  # fmt: skip
    assert "have one launch, 'norm_rope_insert'" in shown.launches[0]
    assert shown.dims["cache.pages"] == 8


def test_plain_values(index):
    arguments, options = index
    shown = dsv4.explain(dsv4.index_topk, *arguments, **options)
    plain = shown.as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["kernels"][1]["unfused"] == list(shown.kernels[1].unfused)
    assert plain["arguments"][0] == {
        "name": "q", "element": "f8E4M3FN", "shape": ["rows", 8, 128], "written": False
    }  # fmt: skip
    assert set(plain) == set(shown._fields)


def test_a_kernel_is_explained_with_arrays_and_without():
    kernel = dsv4.compile(norm(0.1875), target="host")
    shown = dsv4.explain(kernel)
    assert shown.key == kernel.key and shown.text is None and shown.origin is None
    assert shown.kernels[0].grid is None and shown.kernels[0].ops is None
    [blocks, *_] = shown.kernels[0].grid_text
    assert "rows" in blocks and f"{blocks} blocks of" in str(shown)
    x = np.zeros((100, 64), np.float32)
    shown = dsv4.explain(kernel, x, x)
    assert shown.dims == {"rows": 100}
    assert shown.kernels[0].grid == (_launches.evaluate(blocks, {"rows": 100}), 1, 1)


def unaligned(x):
    """A copy that begins at an address which is no multiple of 16."""
    copy = np.zeros(x.size + 5, x.dtype)
    begin = next(i for i in range(1, 5) if copy[i:].ctypes.data % 16)
    copy[begin : begin + x.size] = x.reshape(-1)
    return copy[begin : begin + x.size].reshape(x.shape)


def test_a_kernel_is_explained_by_the_addresses_of_a_launch():
    """Its twin is launched where an array is aligned less."""
    kernel = dsv4.prepare(dsv4.rms_norm, np.zeros((4, 64), np.float32), eps=0.28125)
    x = np.zeros((8, 64), np.float32)
    twin = dsv4.explain(kernel.unaligned)
    assert dsv4.explain(kernel, x[:4], x[4:]).key == kernel.key == dsv4.explain(kernel).key
    for arrays in ((unaligned(x), x), (x, unaligned(x))):
        shown = dsv4.explain(kernel, *arrays)
        assert shown.key == kernel.unaligned.key != kernel.key
        assert shown.kernels[0].schedule == twin.kernels[0].schedule


def test_arrays_that_a_launch_refuses_are_refused():
    x = np.zeros((4, 64), np.float32)
    kernel = dsv4.compile(norm(0.1875), target="host")
    for arrays, id in (
        ((x,), "argument.count"), ((x[0], x), "argument.rank"), ((x, x[:3]), "argument.extent"),
    ):  # fmt: skip
        with pytest.raises(dsv4.InvalidArgument) as caught:
            dsv4.explain(kernel, *arrays)
        assert caught.value.id == id


@pytest.mark.needs("nvrtc")
def test_arrays_in_cpu_memory_are_for_a_kernel_of_a_gpu_too():
    x = np.zeros((4, 64), np.float32)
    kernel = dsv4.compile(norm(0.1875), target="cuda", arch="sm_90a")
    assert dsv4.explain(kernel, x, x).dims == {"rows": 4}
    for arrays, id, message in (
        ((x,), "argument.count", "kernel 'norm' takes 2 arguments (x, y), got 1"),
        ((np.zeros((), np.float32), x), "argument.rank", "argument 'x' has rank 0, expected 2"),
    ):
        with pytest.raises(dsv4.InvalidArgument) as caught:
            dsv4.explain(kernel, *arrays)
        assert caught.value.id == id and str(caught.value) == message


def test_an_architecture_of_the_host_target():
    scores = np.zeros((4, 200), np.float32)
    shown = dsv4.explain(dsv4.topk, scores, 21, target="host", arch="sm_100a")
    assert (shown.target, shown.arch) == ("host", "sm_100a")
    assert dsv4.explain(dsv4.topk, scores, 21, target="host").arch == "sm_90a"


def test_bounds_are_those_of_the_program():
    scores = np.zeros((64, 30000), np.float32)
    shown = dsv4.explain(dsv4.topk, scores, 512, target="cuda", arch="sm_90a")
    assert shown.bounds == {"rows": 64, "columns": 32768}
    assert shown.dims == {"rows": 64, "columns": 30000}
    assert "bounds            rows <= 64, columns <= 32768" in str(shown).replace(
        "columns <= 32768, rows <= 64", "rows <= 64, columns <= 32768"
    )


class OnGpu(producers.OnDevice):
    """An array on a GPU, on a machine that has none. Its memory is the host's."""


def test_arrays_in_cpu_memory_have_the_program_of_a_gpu(rng):
    scores = rng.standard_normal((5, 20000)).astype(np.float32)
    of_gpu = dsv4.explain(dsv4.topk, OnGpu(scores), 512, arch="sm_100a")
    of_cpu = dsv4.explain(dsv4.topk, scores, 512, arch="sm_100a")
    assert of_cpu.text == of_gpu.text and "#dsv4.policy<bucket" in of_cpu.text
    assert (of_cpu.target, of_cpu.arch) == ("cuda", "sm_100a")
    # Later calls go where their arrays are.
    assert dsv4.explain(dsv4.topk, scores, 512).target == "host"
    with pytest.raises(dsv4.InvalidArgument) as caught:
        dsv4.explain(dsv4.topk, scores, 512, arch="sm_100a", order="up")
    assert caught.value.argument == "order"
    assert dsv4.explain(dsv4.topk, scores, 512).target == "host"


def test_an_array_that_is_aligned_less_has_the_other_kernel(rng):
    memory = rng.standard_normal(4 * 64 + 1).astype(np.float32)
    aligned, other = memory[:256].reshape(4, 64), memory[1:].reshape(4, 64)
    options = {"eps": 0.4375}
    texts = {
        dsv4.explain(dsv4.rms_norm, each, arch="sm_90a", **options).text
        for each in (aligned, other)
    }
    assert len(texts) == 2
    shown = [dsv4.explain(dsv4.rms_norm, each, **options) for each in (aligned, other)]
    kernel = dsv4.prepare(dsv4.rms_norm, aligned, **options)
    assert [each.key for each in shown] == [kernel.key, kernel.unaligned.key]
    assert {each.text for each in shown} == texts


def test_without_a_compiler_of_machine_code(monkeypatch, rng):
    monkeypatch.setenv("DSV4_HOST_CXX", "/nowhere/g++")
    shown = dsv4.explain(norm(0.21875), target="host")
    assert shown.key is shown.origin is shown.path is None and "/nowhere/g++" in shown.missing
    assert shown.kernels[0].ops == ("dsv4.rms_norm",)
    assert f"not compiled      {shown.missing}" in str(shown)


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda x: dsv4.explain(print, x), "fn"),
        (lambda x: dsv4.explain(dsv4.prepare, dsv4.topk, x, 5), "fn"),
        (lambda x: dsv4.explain(dsv4.topk, x, 5, target="sm_90a"), "target"),
        (lambda x: dsv4.explain(dsv4.topk, x, 5, arch=90), "arch"),
        (lambda x: dsv4.explain(dsv4.topk, OnGpu(x), 5, target="host"), "target"),
        (lambda x: dsv4.explain(dsv4.topk, x, 0), "k"),
        (lambda x: dsv4.explain(norm(1), dims=3), "dims"),
    ],
)
def test_what_is_refused(call, argument):
    with pytest.raises(dsv4.InvalidArgument) as caught:
        call(np.zeros((4, 64), np.float32))
    assert caught.value.argument == argument


def test_what_each_kind_takes():
    x = np.zeros((4, 64), np.float32)
    kernel = dsv4.compile(norm(0.1875), target="host")
    for call in (
        lambda: dsv4.explain(norm(1), x), lambda: dsv4.explain(kernel, x, x, target="host"),
        lambda: dsv4.explain(norm(1), size=3),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()
    with pytest.raises(dsv4.CompileFailed):
        dsv4.explain("func.func @f( {", target="host")


@pytest.mark.needs("nvrtc")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_kernels_for_cuda_have_registers_and_shared_memory(arch, index):
    shown = dsv4.explain(dsv4.topk, np.zeros((64, 32768), np.float32), 512, arch=arch)
    [kernel] = shown.kernels
    assert shown.arch == arch and shown.missing is None
    assert 16 <= kernel.registers <= 255 and kernel.spill_bytes < 1024
    assert 1024 <= kernel.static_shared_bytes <= 49152 and kernel.dynamic_shared_bytes == 0
    assert f"  registers       {kernel.registers} per thread" in str(shown)
    assert f"{kernel.static_shared_bytes} bytes static" in str(shown)


@pytest.mark.needs("nvrtc")
def test_dynamic_shared_memory(index):
    arguments, options = index
    shown = dsv4.explain(dsv4.index_topk, *arguments, arch="sm_90a", **options)
    assert shown.kernels[0].dynamic_shared_bytes > 49152
    assert f"{shown.kernels[0].dynamic_shared_bytes} bytes dynamic" in str(shown)


# ===-- Launch plans -----------------------------------------------------------===

EXTENTS = {"rows": 9, "x.stride.0": 5, "min": 4, "multiprocessors()": 132}


@pytest.mark.parametrize(
    "text, value",
    [
        ("7", 7),
        ("rows", 9),
        ("ceildiv(rows, 4) * 2", 6),
        ("ceildiv(rows * 4, 4)", 9),
        ("2 + rows * 3 + 1", 30),
        ("(2 + rows) * 3", 33),
        ("min(ceildiv(rows, 2), multiprocessors() * 2)", 5),
        ("max(rows, multiprocessors())", 132),
        ("min(min, rows) + x.stride.0", 9),
        ("columns * 2", None),
        ("min(rows, columns)", None),
    ],
)
def test_expressions(text, value):
    assert _launches.evaluate(text, EXTENTS) == value


@pytest.mark.parametrize(
    "text, value",
    [
        ("", True),
        ("rows <= 9", True),
        ("rows < 9", False),
        ("rows == 9 && min != 4", False),
        ("rows != 9 && min == 4", False),
        ("rows > 8 && min >= 4", True),
        ("columns > 1", None),
    ],
)
def test_conditions(text, value):
    assert _launches.holds(text, EXTENTS) is value


def test_a_launch_that_is_left_out_has_no_blocks():
    launch = {"if": "rows < 9", "grid": ["rows", "2", "1"]}
    assert _launches.grid_of(launch, EXTENTS) == (0, 0, 0)
    assert _launches.grid_of({**launch, "if": ""}, EXTENTS) == (9, 2, 1)
    assert _launches.grid_of({**launch, "if": ""}, {}) is None


def test_strides_count_elements_of_the_binding():
    binding = {"name": "cache", "storage": "u8", "shape": [], "strides": []}
    dims = [
        {"name": "cache.stride.0", "binding": 0, "axis": 0, "isStride": True},
        {"name": "cache.pages", "binding": 0, "axis": 0, "isStride": False},
        {"name": "none", "binding": 1, "axis": 0, "isStride": False},
    ]
    info = {"bindings": [binding], "dims": dims}
    pages = np.zeros((6, 100), np.uint16)
    assert _launches.extents_of(info, [pages[::2]], {}) == {
        "cache.stride.0": 400, "cache.pages": 3
    }  # fmt: skip
    assert _launches.extents_of(info, [pages], {"cache.pages": 2, "other": 1}) == {
        "cache.stride.0": 200, "cache.pages": 2
    }  # fmt: skip


def make_elf(sections):
    """A file with sections of these names and sizes, of which none is in the file."""
    names = b"\0"
    headers = b""
    for name, size in [*sections, (".shstrtab", 0)]:
        offset = 64 if name == ".shstrtab" else 0
        headers += struct.pack("<IIQQQQIIQQ", len(names), 8, 0, 0, offset, size, 0, 0, 1, 0)
        names += name.encode() + b"\0"
    header = b"\x7fELF" + bytes(36) + struct.pack(
        "<Q10xHHH", 64 + len(names), 64, len(sections) + 1, len(sections)
    )  # fmt: skip
    return header + names + headers


def test_shared_memory_is_that_of_the_kernel():
    image = make_elf([("", 1), (".nv.shared.topk_2", 7), (".nv.shared.topk", 48), (".text", 3)])
    assert _launches.static_shared_bytes(image, "topk") == 48
    assert _launches.static_shared_bytes(image, "topk_2") == 7
    assert _launches.static_shared_bytes(image, "top") == 0


def test_importing_the_package_imports_none_of_it():
    code = (
        "import sys, dsv4; later = 'dsv4._explain', 'dsv4._like', 'dsv4.programs', 'json'; "
        "found = [each for each in later if each in sys.modules]; assert not found, found; "
        "assert 'explain' in dir(dsv4); dsv4.explain; dsv4.programs.names; "
        "assert 'dsv4._explain' in sys.modules"
    )
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="no attribute 'explained'"):
        dsv4.explained  # noqa: B018
