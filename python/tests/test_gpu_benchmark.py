# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dsv4.benchmark and dsv4.explain on a GPU."""

import pytest
import torch

import dsv4
from dsv4 import _copies, _graphs

TEXT = """
func.func @norm(%x: tensor<?x512xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                %y: tensor<?x512xf32> {dsv4.name = "y", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xf32> {
  %r = dsv4.rms_norm %x outs(%y : tensor<?x512xf32>) {eps = 1.0e-06} : tensor<?x512xf32>
  return %r : tensor<?x512xf32>
}
"""


def make_cache(pages, record="v4_584"):
    shape = (pages, dsv4.KNOWN_RECORDS[record].page_bytes(64))
    return torch.randint(0, 100, shape, dtype=torch.uint8, device="cuda")


def integers(high, *shape, dtype=torch.int32):
    return torch.randint(0, high, shape, dtype=dtype, device="cuda")


def halves(*shape):
    return torch.randn(*shape, device="cuda").bfloat16()


def slots(tokens, pages):
    return torch.randperm(pages * 64, device="cuda")[:tokens].int()


def call_topk():
    return dsv4.topk, (torch.randn(64, 32768, device="cuda"), 512), {}


def call_gather():
    return dsv4.gather, (make_cache(512), integers(512 * 64, 16, 512)), {"record": "v4_584"}


def call_append():
    fields = (integers(100, 64, 448).byte(), halves(64, 64), integers(100, 64, 7).byte())
    return dsv4.append_, (make_cache(64), slots(64, 64), fields), {"record": "v4_584"}


def call_norm_rope_append():
    options = {
        "record": "v4_584", "norm": True, "table": torch.randn(4096, 64, device="cuda"),
        "positions": integers(4096, 64),
    }  # fmt: skip
    return dsv4.norm_rope_append_, (halves(64, 512), make_cache(64), slots(64, 64)), options


def call_route():
    options = {"bias": torch.randn(256, device="cuda"), "score": "sigmoid"}
    return dsv4.route, (torch.randn(64, 256, device="cuda"), 8), options


def call_dense_route():
    return dsv4.dense_route, (halves(16, 7168), halves(256, 7168), 8), {"score": "sigmoid"}


def call_index_topk(kernels=2):
    q = integers(100, 32, 64, 128).to(torch.float8_e4m3fn)
    table = torch.randperm(32 * 64, device="cuda").int().reshape(32, 64)
    options = {
        "record": "index_fp8_132", "page_table": table, "kernels": kernels,
        "lengths": torch.full((32,), 4096, dtype=torch.int32, device="cuda"),
    }  # fmt: skip
    keys = make_cache(32 * 64, "index_fp8_132").reshape(-1, 64, 132)
    return dsv4.index_topk, (q, keys, torch.randn(32, 64, device="cuda"), 512), options


def call_kernel():
    x = torch.randn(4096, 512, device="cuda")
    return dsv4.compile(TEXT), (x, torch.zeros_like(x)), {}


CALLS = [
    call_topk, call_gather, call_append, call_norm_rope_append, call_route, call_dense_route,
    call_index_topk, call_kernel,
]  # fmt: skip


def tensors(value):
    if isinstance(value, (tuple, list)):
        return [found for each in value for found in tensors(each)]
    if isinstance(value, dict):
        return tensors(tuple(value.values()))
    return [value] if isinstance(value, torch.Tensor) else []


@pytest.mark.parametrize("make", CALLS, ids=lambda make: make.__name__)
def test_figures_are_in_order(make):
    fn, args, kw = make()
    given = tensors((args, kw))
    before = [each.clone() for each in given]
    torch.cuda.synchronize()
    held = torch.cuda.memory_allocated()
    found = dsv4.benchmark(fn, *args, **kw)
    # Nothing of the caller's is written, and nothing is kept.
    assert all((a.view(torch.uint8) == b.view(torch.uint8)).all() for a, b in zip(given, before))
    assert torch.cuda.memory_allocated() == held
    for of in (found.cold, found.warm):
        assert of.us_low <= of.us <= of.us_high and of.empty_us < of.us
        assert 0.1 < of.us < 2000 and 0.1 < of.same_copy_us < 2000
        assert of.gb_per_s == pytest.approx(found.bytes / of.us * 1e-3)
    assert found.warm.us < found.cold.us * 1.1 and found.cold.copies > 1
    assert found.device == torch.cuda.get_device_name()
    assert found.kernels == (2 if make is call_index_topk else 1)


def time_graph(fn, args, kw, copies):
    """Microseconds of a launch in a graph over copies of the arguments, by hand."""
    made = [
        [each.clone() if isinstance(each, torch.Tensor) else each for each in args]
        for _ in range(copies)
    ]
    fn(*made[0], **kw)
    torch.cuda.synchronize()
    graph, results = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for each in made:
            results.append(fn(*each, **kw))
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(21):
        torch.cuda._sleep(200_000)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / copies)
    return sorted(times)[10]


def test_a_graph_by_hand_takes_as_long():
    fn, args, kw = call_topk()
    found = dsv4.benchmark(fn, *args, **kw)
    by_hand = time_graph(fn, args, kw, found.cold.copies)
    assert not found.cold.flushed and found.cold.launches == found.cold.copies
    assert found.cold.us == pytest.approx(by_hand, rel=0.2)


def test_copies_of_arguments_have_their_alignment():
    device = _graphs.TorchDevice(torch.cuda.current_device())
    slab = torch.arange(4096, device="cuda", dtype=torch.float32)
    for given in (slab.reshape(64, 64)[:, 3:7], slab[1:257].reshape(4, 64), slab[127:]):
        with device.opened():
            copy = device.clone(given)
        assert copy.data_ptr() % 512 == given.data_ptr() % 512
        assert copy.data_ptr() != given.data_ptr() and (copy == given).all()


def test_copies_beside_it_copy():
    kernels = _copies.Kernels()
    stream = torch.cuda.current_stream().cuda_stream
    for of in _copies.copy_kernels(torch.cuda.get_device_capability()[0]):
        for size in (16, 16 * 1023, 16 * 1024, 16 * 5000):
            source = integers(256, size + 16).byte()
            to = torch.zeros_like(source)
            kernels.copy(of, to.data_ptr(), source.data_ptr(), size, stream)
            torch.cuda.synchronize()
            assert (to[:size] == source[:size]).all() and not to[size:].any(), of.name
    kernels.unload()


def test_a_program_on_a_gpu_is_explained():
    fn, args, kw = call_topk()
    shown = dsv4.explain(fn, *args, **kw)
    [kernel] = shown.kernels
    assert shown.target == "cuda" and shown.origin in ("memory", "disk", "compiled")
    assert 16 <= kernel.registers <= 255 and kernel.grid[0] >= 64
    assert shown.key == dsv4.prepare(fn, *args, **kw).key
    assert dsv4.explain(fn, *args, **kw).origin == "memory"
    fn, args, kw = call_index_topk()
    score = dsv4.explain(fn, *args, **kw).kernels[0]
    count = torch.cuda.get_device_properties(0).multi_processor_count
    assert score.grid[0] % count == 0 and score.dynamic_shared_bytes > 0


def test_timings_of_tensors_in_cpu_memory_are_refused():
    with pytest.raises(dsv4.TypeMismatch, match="not meaningful") as caught:
        dsv4.benchmark(dsv4.topk, torch.randn(4, 100), 3)
    assert caught.value.argument == "scores"
