# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""On a GPU, with torch: results, streams, graphs with changed inputs, and compiled graphs."""

import numpy as np
import pytest
import reference
import torch

import dsv4
import dsv4.torch

OPS = torch.ops.dsv4


def make_cache(pages=4, size=64):
    shape = (pages, dsv4.KNOWN_RECORDS["v4_584"].page_bytes(size))
    return torch.zeros(shape, dtype=torch.uint8, device="cuda")


@pytest.mark.parametrize("rows, columns, k", [(3, 1000, 6), (64, 32768, 512), (2, 300001, 2048)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_topk(rows, columns, k, dtype):
    scores = torch.randn(rows, columns, device="cuda").to(dtype)
    values, indices = dsv4.topk(scores, k, sorted=True, return_values=True)
    torch.testing.assert_close(values, scores.topk(k).values, rtol=0, atol=0)
    torch.testing.assert_close(scores.gather(1, indices.long()), values, rtol=0, atol=0)
    # Unordered, the set is the same.
    same = dsv4.topk(scores, k).sort().values
    torch.testing.assert_close(same, indices.sort().values, rtol=0, atol=0)


def test_one_kernel_serves_other_batches():
    dsv4.topk(torch.randn(3, 20000, device="cuda"), 512)
    before = dsv4.counters()["programs"]
    for rows, columns in ((1, 17000), (4, 32768), (2, 30000)):
        dsv4.topk(torch.randn(rows, columns, device="cuda"), 512)
    assert dsv4.counters()["programs"] == before


def test_a_cache_on_the_gpu_is_that_of_the_host(rng):
    x = reference.to_bf16(rng.standard_normal((40, 512)))
    table = rng.standard_normal((100, 64)).astype(np.float32)
    slots, positions = rng.permutation(256)[:40], rng.integers(0, 100, 40)
    host = np.zeros((4, dsv4.KNOWN_RECORDS["v4_584"].page_bytes(64)), np.uint8)
    device = make_cache()
    given = [torch.from_numpy(each).cuda() for each in (table, slots, positions)]
    dsv4.norm_rope_append_(
        x, host, slots, record="v4_584", norm=True, table=table, positions=positions
    )
    dsv4.norm_rope_append_(
        torch.from_numpy(x.view(np.int16)).view(torch.bfloat16).cuda(), device, given[1],
        record="v4_584", norm=True, table=given[0], positions=given[2],
    )  # fmt: skip
    np.testing.assert_array_equal(device.cpu().numpy(), host)
    rows = dsv4.gather(device, given[1], record="v4_584", dtype="float32")
    expected = dsv4.gather(host, slots, record="v4_584", dtype="float32")
    np.testing.assert_array_equal(rows.cpu().numpy(), expected)


def test_router_and_quantiser():
    logits = torch.randn(33, 256, device="cuda")
    weights, ids = dsv4.route(logits, 6, scale=1.5)
    on_host = dsv4.route(logits.cpu(), 6, scale=1.5)
    torch.testing.assert_close(ids.cpu(), on_host[1], rtol=0, atol=0)
    torch.testing.assert_close(weights.cpu(), on_host[0], rtol=0, atol=0)
    x = torch.randn(9, 7168, device="cuda").bfloat16()
    values, scales = dsv4.quantize(x, "deepseek_fp8")
    assert values.dtype == torch.float8_e4m3fn and values.device == x.device
    on_host = dsv4.quantize(x.cpu(), "deepseek_fp8")
    assert (values.cpu().view(torch.uint8) == on_host[0].view(torch.uint8)).all()
    torch.testing.assert_close(scales.cpu(), on_host[1], rtol=0, atol=0)


def test_the_current_stream_and_a_given_one():
    scores = torch.zeros(8, 4096, device="cuda")
    indices = torch.zeros(8, 5, dtype=torch.int32, device="cuda")
    kernel = dsv4.prepare(dsv4.topk, scores, 5, sorted=True)
    for given in (False, True):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            scores.copy_(torch.randn_like(scores))
            if not given:
                kernel(scores, indices)
        if given:
            kernel(scores, indices, stream=stream)
        stream.synchronize()
        torch.testing.assert_close(indices.long(), scores.topk(5).indices)


def stream_of(tensor):
    """The stream whose memory a tensor has."""
    address = tensor.data_ptr()
    for each in torch.cuda.memory_snapshot():
        if each["address"] <= address < each["address"] + each["total_size"]:
            return each["stream"]
    return None


def test_new_arrays_are_of_the_given_stream():
    """Who frees one frees it after the launch: the current stream does not get its memory."""
    x, stream = torch.randn(64, 8192, device="cuda"), torch.cuda.Stream()
    for given in (stream, stream.cuda_stream, stream):
        assert stream_of(dsv4.rms_norm(x, stream=given)) == stream.cuda_stream
    # Of the default stream, by each of its names.
    for given in (0, 1, torch.cuda.current_stream(), None):
        assert stream_of(dsv4.rms_norm(x, stream=given)) == 0


def test_capture_and_replay_with_changed_inputs():
    scores = torch.randn(64, 32768, device="cuda")
    cache, x = make_cache(), torch.randn(64, 512, device="cuda").bfloat16()
    slots = torch.arange(64, device="cuda")

    def step():
        dsv4.norm_rope_append_(x, cache, slots, record="v4_584")
        chosen = dsv4.topk(scores, 64, lengths=None, sorted=True)
        return chosen, dsv4.gather(cache, chosen, record="v4_584")

    step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chosen, rows = step()
    for _ in range(3):
        scores.copy_(torch.randn_like(scores))
        x.copy_(torch.randn_like(x))
        cache.zero_()
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(chosen.long(), scores.topk(64).indices)
        again = cache.clone()
        expected, expected_rows = step()
        assert (cache == again).all() and (chosen == expected).all()
        assert (rows == expected_rows).all()


def test_a_miss_while_capturing_is_refused():
    scores = torch.randn(5, 4096, device="cuda")
    out = torch.empty(5, 99, dtype=torch.int32, device="cuda")
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=stream), pytest.raises(dsv4.NotPrepared):
        dsv4.topk(scores, 99, out=out, stream=stream)
    assert dsv4.topk(scores, 99).shape == (5, 99)


def step(x, cache, slots, scores):
    OPS.norm_rope_append_(x, cache, slots, "v4_584")
    chosen = OPS.topk(scores, 16, sorted=True)
    return OPS.gather(cache, chosen, "v4_584").float().sum(1), chosen


def make_step(tokens):
    torch.manual_seed(tokens)
    return (
        torch.randn(tokens, 512, device="cuda").bfloat16(), make_cache(),
        torch.arange(tokens, device="cuda"), torch.randn(tokens, 200, device="cuda"),
    )  # fmt: skip


def test_a_decode_step_in_one_graph_copies_no_cache():
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True)
    _, codes = run_and_get_code(compiled, *make_step(7))
    code = "\n".join(codes)
    # A copy of the cache would have to allocate it.
    shape = ", ".join(map(str, make_cache().shape))
    assert f"empty_strided_cuda(({shape})" not in code and "clone" not in code
    for tokens in (7, 8, 31):
        given, same = make_step(tokens), make_step(tokens)
        result, expected = compiled(*given), step(*same)
        torch.testing.assert_close(result, expected)
        assert (given[1] == same[1]).all()


def test_a_compiled_step_is_captured_and_replayed_with_changed_inputs():
    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, dynamic=False)
    given = make_step(12)
    compiled(*given)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = compiled(*given)
    for seed in (1, 2):
        torch.manual_seed(seed)
        for each in (given[0], given[3]):
            each.copy_(torch.randn_like(each))
        given[1].zero_()
        graph.replay()
        torch.cuda.synchronize()
        replayed, cache = [each.clone() for each in result], given[1].clone()
        given[1].zero_()
        torch.testing.assert_close(replayed, list(step(*given)))
        assert (cache == given[1]).all()


def test_operators_with_outputs_are_captured():
    scores = torch.randn(16, 4096, device="cuda")
    values = torch.empty(16, 8, device="cuda")
    indices = torch.empty(16, 8, dtype=torch.int32, device="cuda")
    OPS.topk_values_out(scores, 8, values, indices, sorted=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        OPS.topk_values_out(scores, 8, values, indices, sorted=True)
    for _ in range(2):
        scores.copy_(torch.randn_like(scores))
        graph.replay()
        torch.cuda.synchronize()
        expected = scores.topk(8)
        torch.testing.assert_close(values, expected.values, rtol=0, atol=0)
        torch.testing.assert_close(indices.long(), expected.indices, rtol=0, atol=0)


def test_new_tensors_are_on_the_device_of_their_inputs():
    scores = torch.randn(5, 700, device="cuda")
    for _ in range(3):
        values, indices = dsv4.topk(scores, 4, sorted=True, return_values=True)
        assert values.device == indices.device == scores.device
        torch.testing.assert_close(values, scores.topk(4).values, rtol=0, atol=0)


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda x: dsv4.rms_norm(x, out=torch.empty(4, 64)), "out"),
        (lambda x: dsv4.rms_norm(x, torch.ones(64)), "weight"),
        (lambda x: dsv4.rms_norm(x.cpu(), out=x), "out"),
        (lambda x: dsv4.topk(x, 3, lengths=np.zeros(4, np.int32)), "lengths"),
    ],
)
def test_other_memory_is_refused(call, argument):
    with pytest.raises(dsv4.TypeMismatch) as caught:
        call(torch.randn(4, 64, device="cuda"))
    assert caught.value.argument == argument


@pytest.mark.needs("two-devices")
def test_another_device():
    x, y = (torch.randn(4, 64, device=f"cuda:{i}") for i in (0, 1))
    # The second call is planned, and the current device is another one.
    assert all(dsv4.rms_norm(y).device == y.device for _ in range(2))
    torch.testing.assert_close(dsv4.rms_norm(x).cpu(), dsv4.rms_norm(x.to("cuda:1")).cpu())
    with pytest.raises(dsv4.TypeMismatch):
        dsv4.rms_norm(x, out=y)
    with pytest.raises(dsv4.InvalidArgument), torch.cuda.device(1):
        dsv4.rms_norm(x, stream=torch.cuda.Stream(1))
    assert torch.cuda.current_device() == 0


def test_the_self_test_passes_on_each_device(capsys):
    from dsv4.__main__ import main

    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    for each in dsv4.devices():
        where = f"device {each['device']} ({each['name']}, {each['arch']})"
        assert f"self-test   passed on {where}" in lines
