# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What dsv4.benchmark decides, without a GPU: bytes, copies, launches, and what it refuses."""

import contextlib
import json
from types import SimpleNamespace

import numpy as np
import producers
import pytest
from numpy.lib.stride_tricks import as_strided

import dsv4
from dsv4 import _benchmark, _copies, _kernels, _launches
from dsv4._arrays import library_of

CACHE = np.zeros((8, 37440), np.uint8)


class OfTorch(producers.OnDevice):
    """A tensor on a GPU, on a machine that has none."""

    library = "torch"


class OfCupy(producers.OnDevice):
    library = "cupy"


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    """Which library made an array. The libraries themselves are not there."""
    monkeypatch.setattr(
        _benchmark, "library_of", lambda array: getattr(array, "library", None) or library_of(array)
    )


# ===-- Bytes ------------------------------------------------------------------===


def floats(*shape):
    return np.zeros(shape, np.float32)


def count(fn, *args, **kw):
    program = _kernels.program_of(fn, args, kw)
    return _benchmark.count_bytes(program, _kernels.kernel_of(program).arguments)


def index_call(**options):
    keys = np.zeros((4, 64, 132), np.uint8)
    q, weights = np.zeros((3, 8, 128), np.uint8), floats(3, 8)
    return (q, keys, weights, 5), {"record": "index_fp8_132", "kernels": 1, **options}


@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda: count(dsv4.topk, floats(4, 1000), 3), 4 * (4000 + 12)),
        # Elements that are expanded are read once.
        (lambda: count(dsv4.rms_norm, as_strided(floats(64), (6, 64), (0, 4))), 256 + 6 * 256),
        (lambda: count(dsv4.gather, CACHE, np.zeros((3, 5), np.int32), record="v4_584"),
         15 * (4 + 584 + 1024)),
        (lambda: count(dsv4.gather, CACHE, np.zeros((3, 5), np.int32), record="v4_584",
                       page_table=np.zeros((3, 4), np.int32)), 15 * (4 + 584 + 1024)),
        (lambda: count(dsv4.gather_ragged, CACHE, np.zeros((3, 5), np.int32), record="v4_584",
                       rows=7, cu_seq_lens=np.arange(4, dtype=np.int32)), 16 + 7 * (584 + 1024)),
        (lambda: count(dsv4.gather_ragged, CACHE, np.zeros((3, 5), np.int32), record="v4_584",
                       rows=7, seq_lens=np.arange(3, dtype=np.int32)), 12 + 21 * (584 + 1024)),
        (lambda: count(dsv4.append_, CACHE, np.arange(4), (
            np.zeros((4, 448), np.uint8), np.zeros((4, 64), np.uint16), np.zeros((4, 7), np.uint8),
        ), record="v4_584"), 4 * (8 + 448 + 128 + 7 + 584)),
        (lambda: count(dsv4.norm_rope_append_, floats(5, 512), CACHE, np.arange(5),
                       record="v4_584", table=floats(100, 64), positions=np.arange(5)),
         5 * (2048 + 584 + 16)),
    ],
)  # fmt: skip
def test_bytes_are_those_that_must_move(call, expected):
    assert call() == expected


@pytest.mark.parametrize(
    "requests, keys", [(None, 100 + 7 + 20), ([0, 0, 1], 100 + 20), ([1, 0, 0], 100 + 20)]
)
def test_keys_are_counted_by_lengths(requests, keys):
    args, options = index_call(
        page_table=np.zeros((3, 2), np.int32), lengths=np.array([100, 7, 20], np.int32)
    )
    others = 3 * (8 * 128 + 32 + 4 + 20)
    if requests is not None:
        options["requests"] = np.array(requests, np.int32)
        others += 12
    assert count(dsv4.index_topk, *args, **options) == 132 * keys + others


@pytest.mark.parametrize(
    "options, keys",
    [({}, 128 + 7 + 128), ({"columns": 100}, 100 + 7 + 100), ({"columns": 4096}, 128 + 7 + 128)],
)
def test_lengths_count_no_more_keys_than_there_are(options, keys):
    """A row of a page table has 2 pages of 64 keys."""
    args, more = index_call(
        page_table=np.zeros((3, 2), np.int32), lengths=np.array([10**6, 7, 129], np.int32)
    )
    others = 3 * (8 * 128 + 32 + 4 + 20)
    assert count(dsv4.index_topk, *args, **more, **options) == 132 * keys + others


def test_bytes_that_are_not_known_are_asked_for():
    table = np.zeros((3, 2), np.int32)
    lengths = np.array([100, 7, 20], np.int32)
    for options in ({}, {"lengths": lengths, "ratio": 4}):
        args, options = index_call(page_table=table, **options)
        with pytest.raises(dsv4.InvalidArgument, match="of 'keys'") as caught:
            count(dsv4.index_topk, *args, **options)
        assert caught.value.argument == "bytes" and caught.value.id == "option.bytes"
    state = dsv4.compression.state_record(1024)
    with pytest.raises(dsv4.InvalidArgument, match="of 'state'"):
        count(
            dsv4.compress_, floats(16, 1024), floats(16, 1024), np.zeros((4, 4), np.int32), CACHE,
            np.arange(4), window=4, overlap=True, record="v4_584", ring=8, state_page_size=8,
            state=np.zeros((4, state.page_bytes(8)), np.uint8),
        )  # fmt: skip
    kernel = dsv4.prepare(dsv4.gather, CACHE, np.zeros((3, 5), np.int32), record="v4_584")
    info = _benchmark.read_entry(kernel.entry()).program
    arrays = [CACHE, np.zeros((3, 5), np.int32), np.zeros((3, 5, 512), np.uint16)]
    with pytest.raises(dsv4.InvalidArgument, match="kernel 'gather' does not say .* of 'cache'"):
        _benchmark._count_kernel_bytes(info, arrays)
    kernel = dsv4.prepare(dsv4.topk, floats(4, 1000), 3)
    info = _benchmark.read_entry(kernel.entry()).program
    arrays = [floats(4, 1000), np.zeros((4, 3), np.int32)]
    assert _benchmark._count_kernel_bytes(info, arrays) == 4 * (4000 + 12)


def test_an_array_with_strides_is_no_cache():
    arrays = [floats(4, 1008)[:, :1000], np.zeros((4, 3), np.int32)]
    kernel = dsv4.prepare(dsv4.topk, arrays[0], 3)
    info = _benchmark.read_entry(kernel.entry()).program
    assert "scores.stride.0" in {each["name"] for each in info["dims"]}
    assert _benchmark._count_kernel_bytes(info, arrays) == 4 * (4000 + 12)


# ===-- How many launches ------------------------------------------------------===

MB, GB = 10**6, 10**9


@pytest.mark.parametrize(
    "moved, copied, free, expected",
    [
        # Enough copies for four times the cache of 50 MB.
        (10 * MB, 10 * MB, 100 * GB, (20, 20, False)),
        (11 * MB, 11 * MB, 100 * GB, (19, 19, False)),
        (100 * MB, 100 * MB, 100 * GB, (12, 12, False)),
        # A graph has 1024 launches at most, and few bytes are flushed.
        (1000, 1000, 100 * GB, (1024, 1024, True)),
        # Memory bounds the copies: half of what is free.
        (10 * MB, GB, 30 * GB, (15, 15, True)),
        (10 * MB, GB, 2 * GB, (1, 1, True)),
        (60 * MB, 10 * GB, 100 * GB, (12, 5, False)),
        (300 * MB, 60 * GB, 120 * GB, (12, 1, False)),
    ],
)
def test_cold_launches(moved, copied, free, expected):
    assert _benchmark.choose_cold(moved, copied, free, 50 * MB) == expected


def test_no_room_for_a_copy():
    expected = "60000000000 bytes: half .* is 50000000000"
    with pytest.raises(dsv4.Unavailable, match=expected) as caught:
        _benchmark.choose_cold(MB, 60 * GB, 100 * GB, 50 * MB)
    assert caught.value.id == "array.memory"


def test_warm_launches_take_about_as_long():
    for moved, launches in ((1, 999), (8 * MB, 500), (4 * GB, 12)):
        assert _benchmark.choose_warm(moved) == (launches, 1, False)


# ===-- Measuring --------------------------------------------------------------===


class Memory:
    def __init__(self, size):
        self.size = size

    def data_ptr(self):
        return 1 << 20


class FakeDevice:
    """It runs what would be captured, and times of it are made up."""

    name, multiprocessors, cache_bytes = "Fake H200", 132, 50 * MB

    def __init__(self, free=100 * GB, times=None):
        self.free, self.times = free, times or {}
        self.cloned, self.empties, self.copied, self.flushes = [], [], {}, []
        self.after = []

    @contextlib.contextmanager
    def opened(self):
        yield

    def free_bytes(self):
        return self.free

    def span_bytes(self, array):
        return array.array.nbytes

    def clone(self, array):
        self.cloned.append(type(array)(array.array.copy()))
        return self.cloned[-1]

    def allocate(self, size):
        return Memory(size)

    def copy_kernels(self):
        return _copies.copy_kernels(9)

    def copy(self, of, to, source, size):
        self.copied.setdefault(of.name, []).append((to, source, size))

    def empty(self, grid, programmatic):
        self.empties.append((grid, programmatic))

    def time(self, candidates, flushed):
        self.flushes.append(flushed)
        found = []
        for each in candidates:
            for i in range(each.launches):
                each.launch(i)
            us = self.times.get(each.name, 4.0)
            found.append([us + step / 10 for step in range(21)])
        self.after.append([each.launches for each in candidates])
        return found


def compile_for_host(monkeypatch):
    """Kernels of calls are those of the host."""
    monkeypatch.setattr(
        _benchmark, "kernel_of",
        lambda program: dsv4.compile(program.text(), dims=program.bounds, target="host"),
    )  # fmt: skip


def make_job(monkeypatch, fn, *args, **kw):
    compile_for_host(monkeypatch)
    return _benchmark._function_job(fn, args, kw)


def test_launches_have_copies_and_results_of_their_own(monkeypatch):
    scores = OfTorch(np.ones((64, 40000), np.float32))
    job = make_job(monkeypatch, dsv4.topk, scores, 512)
    assert job.name == "topk" and job.like is scores and job.result_bytes == 64 * 512 * 4
    assert job.count_bytes() == 64 * (160000 + 2048)
    alive, most, given = set(), [], []

    class Result:
        def __init__(self):
            alive.add(id(self))

        def __del__(self):
            alive.discard(id(self))

    def run(*args, **kw):
        assert args[1:] == (512,) and kw == {}
        given.append(args[0])
        result = Result()
        most.append(len(alive))
        return result

    device = FakeDevice(times={"topk": 5.0, "2 x 16 B, evict_last, pdl": 3.0, "empty": 1.0})
    moved = job.count_bytes()
    found = _benchmark._measure(job._replace(run=run), device, moved)
    cold, warm = found.cold, found.warm
    assert (cold.launches, cold.copies, cold.flushed) == (20, 20, False)
    first = given[: cold.launches]
    assert len({id(each) for each in first}) == 20 and scores not in first
    assert all((each.array == 1).all() for each in first)
    assert max(most[: cold.launches]) == 20
    # Warm ones do the same again.
    assert {id(each) for each in given[cold.launches :]} == {id(first[0])}
    assert max(most[cold.launches :]) == 1 and warm.launches == len(given) - 20
    # Twenty-one rounds: their median and quartiles, of the call and of what stands beside it.
    assert (cold.us_low, cold.us, cold.us_high) == (5.5, 6.0, 6.5)
    assert cold.gb_per_s == pytest.approx(moved / 6.0 / 1000)
    assert (cold.same_copy, cold.same_copy_us) == ("2 x 16 B, evict_last, pdl", 4.0)
    assert cold.empty_us == 2.0 and device.flushes == [False, False]
    assert len(device.copied) == 12 and all(len(set(each)) == 1 for each in device.after)
    of_copy = device.copied["1 x 16 B"]
    half = moved // 2 // 16 * 16
    assert {size for _, _, size in of_copy} == {half}
    assert len({to for to, _, _ in of_copy[:20]}) == 20
    assert len({to for to, _, _ in of_copy[20:]}) == 1
    assert set(device.empties) == {((128, 1, 1), True)}
    assert found.kernels == 1 and found.bytes == moved and found.device == "Fake H200"


def test_the_blocks_of_a_kernel_are_those_of_a_launch(monkeypatch):
    """Its twin is launched where an array is aligned less."""
    host = dsv4.prepare(dsv4.rms_norm, floats(4, 64))

    class Loaded:
        """The kernel, as if it were one of a GPU."""

        name, arguments, alignments = host.name, host.arguments, host.alignments
        unaligned, entry, launch = host.unaligned, host.entry, host.launch

        def workspace_bytes(self, *arrays):
            return 0

        def load(self, device):
            pass

    read = []
    monkeypatch.setattr(
        _benchmark, "read_entry", lambda entry: read.append(entry) or _launches.read_entry(entry)
    )
    memory = floats(65 * 4)
    begin = next(i for i in range(1, 5) if memory[i:].ctypes.data % 16)
    for x, kernel in (
        (floats(4, 64), host), (memory[begin : begin + 256].reshape(4, 64), host.unaligned),
    ):  # fmt: skip
        _benchmark._kernel_job(Loaded(), (OfTorch(x), OfTorch(floats(*x.shape))), {})
        assert read.pop() == kernel.entry()


def test_what_is_written_in_place_is_copied_once(monkeypatch):
    q, kv = OfTorch(floats(5, 8, 512)), OfTorch(floats(5, 512))
    cache, slots = OfTorch(CACHE), OfTorch(np.arange(5))
    again = OfTorch(q.array)  # Another tensor of the same memory.
    job = make_job(
        monkeypatch, dsv4.norm_rope_insert_, q, kv, cache, slots, record="v4_584", out=again,
        table=OfTorch(floats(100, 64)), positions=slots,
    )  # fmt: skip
    assert job.result_bytes == 0
    copies = _benchmark._Copies(job, FakeDevice())
    assert copies.bytes() == sum(each.array.nbytes for each in (q, kv, cache, slots)) + 25600
    args, kw = copies.make()
    assert kw["out"] is args[0] and kw["positions"] is args[3] and args[2] is not cache
    assert kw["record"] == "v4_584" and kw["table"] is not job.arguments[1]["table"]


def test_arrays_in_tuples_are_copied(monkeypatch):
    given = tuple(
        OfTorch(np.zeros((4, each), dtype))
        for each, dtype in ((448, np.uint8), (64, np.uint16), (7, np.uint8))
    )
    job = make_job(
        monkeypatch, dsv4.append_, OfTorch(CACHE), OfTorch(np.arange(4)), given, record="v4_584"
    )
    device = FakeDevice()
    args, _ = _benchmark._Copies(job, device).make()
    assert len(args[2]) == 3 and len(device.cloned) == 5
    assert not {id(each) for each in args[2]} & {id(each) for each in given}


def test_a_cache_that_leaves_little_room_is_flushed(monkeypatch):
    slots = OfTorch(np.arange(4))
    job = make_job(
        monkeypatch, dsv4.norm_rope_append_, OfTorch(floats(4, 512)), OfTorch(CACHE), slots,
        record="v4_584",
    )  # fmt: skip
    device = FakeDevice(free=2 * 3 * (CACHE.nbytes + 4 * 2048 + 32))
    runs = []
    found = _benchmark._measure(job._replace(run=lambda *a, **k: runs.append(a)), device, 10000)
    assert (found.cold.launches, found.cold.copies, found.cold.flushed) == (3, 3, True)
    assert device.flushes == [True, False] and len({id(each[1]) for each in runs[:3]}) == 3
    assert "3 copies of the arguments, and the L2 cache is flushed" in str(found)


@pytest.mark.needs("torch")
def test_copies_of_tensors_have_their_strides_and_alignment():
    import torch

    from dsv4 import _graphs

    device = object.__new__(_graphs.TorchDevice)
    slab = torch.arange(4096, dtype=torch.float32)
    for given, elements in (
        (slab.reshape(64, 64), 4096), (slab.reshape(64, 64)[:, 3:7], 63 * 64 + 4),
        (slab[5:5].reshape(0, 3), 0), (slab[1:257].reshape(4, 64), 256),
        (slab[:64].expand(6, 64), 64), (slab.reshape(64, 64).t(), 4096),
        (slab.to(torch.float8_e4m3fn)[3:131], 128), (slab[7:8].reshape(()), 1),
        (torch.ones(3, requires_grad=True), 3),
    ):  # fmt: skip
        with torch.no_grad():
            copy = device.clone(given)
        assert copy.shape == given.shape and copy.stride() == given.stride()
        assert copy.dtype == given.dtype
        assert copy.data_ptr() != given.data_ptr() or not elements
        offset = given.data_ptr() % 512 // given.element_size()
        assert copy.storage_offset() == offset and copy.storage_offset() + elements == (
            copy.untyped_storage().nbytes() // copy.element_size()
        )
        assert (copy.float() == given.float()).all()
        assert device.span_bytes(given) == elements * given.element_size()


class FakeCuda:
    """What the measurement takes of torch.cuda. Its clock has a step of 1 ms per launch."""

    def __init__(self):
        self.log, self.clock, self.captured = [], 0, None

    @contextlib.contextmanager
    def graph(self, graph, stream, capture_error_mode):
        assert stream is self.made and capture_error_mode == "thread_local"
        self.captured = graph.launches = []
        yield
        self.captured = None

    def CUDAGraph(self):  # noqa: N802
        return FakeGraph(self)

    def Event(self, enable_timing):  # noqa: N802
        return FakeEvent(self)

    def Stream(self):  # noqa: N802
        self.made = SimpleNamespace(cuda_stream=77)
        return self.made

    def get_device_properties(self, index):
        return SimpleNamespace(
            name="Fake", multi_processor_count=7, major=9, L2_cache_size=1000 + index
        )

    def stream(self, stream):
        assert stream is self.made
        return contextlib.nullcontext()

    def device(self, index):
        return contextlib.nullcontext()

    def synchronize(self):
        self.log.append("synchronize")

    def launch(self, name):
        if self.captured is None:
            self.log.append(name)
        else:
            self.captured.append(name)


class FakeGraph:
    def __init__(self, cuda):
        self.cuda = cuda

    def replay(self):
        self.cuda.log.append(tuple(self.launches))
        self.cuda.clock += len(self.launches)


class FakeEvent:
    def __init__(self, cuda):
        self.cuda = cuda

    def record(self):
        self.at = self.cuda.clock
        self.cuda.log.append("record")

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return float(end.at - self.at)


class FakeKernels:
    cuda = None

    def copy(self, of, to, source, size, stream):
        self.cuda.launch(of.name)

    def empty(self, grid, programmatic, stream):
        self.cuda.launch(("empty", grid, programmatic, stream))

    def wait(self, microseconds, stream):
        self.cuda.launch("wait")

    def unload(self):
        self.cuda.launch("unload")


@pytest.mark.needs("torch")
@pytest.mark.parametrize("flushed", [False, True])
def test_graphs_are_replayed_in_turn(monkeypatch, flushed):
    from dsv4 import _graphs

    cuda = FakeKernels.cuda = FakeCuda()
    fake = SimpleNamespace(
        cuda=cuda, no_grad=contextlib.nullcontext, uint8=None, zeros=lambda size, **kw: Memory(size)
    )
    monkeypatch.setattr(_graphs, "torch", fake)
    monkeypatch.setattr(_graphs, "Kernels", FakeKernels)
    device = _graphs.TorchDevice(3)
    assert (device.name, device.multiprocessors, device.cache_bytes) == ("Fake", 7, 1003)
    candidates = [
        _benchmark.Candidate("a", 2, lambda i: cuda.launch(f"a{i}")),
        _benchmark.Candidate("b", 3, lambda i: device.empty((i, 1, 1), True)),
    ]
    with device.opened():
        times = device.time(candidates, flushed)
    # A launch takes 1 ms by the clock of the graphs.
    assert times == [[1000.0] * 21] * 2
    a = ("a0", "a1")
    b = tuple(("empty", (i, 1, 1), True, 77) for i in range(3))
    flush = ["1 x 16 B, evict_last", "1 x 16 B"] * flushed
    log = cuda.log[2:]
    # Each is launched once before it is captured, and replayed once before it is measured.
    assert log[:4] == ["a0", "synchronize", b[0], "synchronize"] and log[4:6] == [a, b]

    def measured(*graphs):
        return [each for graph in graphs for each in (*flush, "wait", "record", graph, "record")]

    assert log[6:-2] == measured(*[a, b, b, a] * 10, a, b)
    assert log[-2:] == ["synchronize", "unload"]


# ===-- The result -------------------------------------------------------------===

COLD = dsv4.Timing(5.634, 5.6, 5.71, 2338.6, 4.07, "1 x 16 B, evict_last, pdl", 1.59, 20, 20, False)
WARM = dsv4.Timing(221.4, 3.4, 12.05, 3790.2, 2.4, "4 x 16 B", 1.641, 256, 1, False)


def test_the_table():
    shown = dsv4.Benchmark("gather", "NVIDIA H200", 13172736, 2, COLD, WARM)
    assert str(shown) == "\n".join([
        "gather on NVIDIA H200: 2 kernels, 13172736 bytes moved",
        "  L2    µs     quartiles  GB/s  copy, µs  empty, µs  launches",
        "cold  5.63  5.60 to 5.71  2339      4.07       1.59        20",
        "warm   221  3.40 to 12.1  3790      2.40       1.64       256",
        "cold: launches cycle through 20 copies of the arguments",
        "copy: as many bytes, by 1 x 16 B, evict_last, pdl (cold), 4 x 16 B (warm)",
    ])  # fmt: skip
    plain = shown.as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["cold"]["us"] == 5.634 and plain["warm"]["same_copy"] == "4 x 16 B"
    assert set(plain) == set(dsv4.Benchmark._fields)
    assert set(plain["cold"]) == set(dsv4.Timing._fields)


# ===-- What is refused --------------------------------------------------------===


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda: dsv4.benchmark(dsv4.topk, floats(4, 100), 3), "scores"),
        (lambda: dsv4.benchmark(dsv4.topk, scores=floats(4, 100), k=3), "scores"),
        (lambda: dsv4.benchmark(dsv4.append_, CACHE, np.arange(4), (
            np.zeros((4, 448), np.uint8), np.zeros((4, 64), np.uint16), np.zeros((4, 7), np.uint8),
        ), record="v4_584"), "cache"),
        (lambda: dsv4.benchmark(dsv4.prepare(dsv4.topk, floats(4, 100), 3), floats(4, 100),
                                np.zeros((4, 3), np.int32)), "scores"),
        (lambda: dsv4.benchmark(dsv4.topk, OfTorch(floats(4, 100)), 3,
                                lengths=np.zeros(4, np.int32)), "lengths"),
    ],
)  # fmt: skip
def test_arrays_in_cpu_memory_are_refused(call, argument):
    with pytest.raises(dsv4.TypeMismatch, match="host target are not meaningful") as caught:
        call()
    assert caught.value.argument == argument and caught.value.id == "benchmark.host"


def test_arrays_of_other_libraries_are_refused():
    with pytest.raises(dsv4.TypeMismatch, match=r"array of cupy.*torch.from_dlpack\(x\)") as caught:
        dsv4.benchmark(dsv4.rms_norm, OfCupy(floats(4, 64)))
    assert caught.value.argument == "x" and caught.value.id == "benchmark.array"


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda x: dsv4.benchmark(print, x), "fn"),
        (lambda x: dsv4.benchmark("func.func @f()", x), "fn"),
        (lambda x: dsv4.benchmark(dsv4.topk, x, 3, stream=0), "stream"),
        (lambda x: dsv4.benchmark(dsv4.topk, x, 3, bytes=0), "bytes"),
        (lambda x: dsv4.benchmark(dsv4.topk, x, 3, bytes="1 MB"), "bytes"),
        (lambda x: dsv4.benchmark(dsv4.topk, x, 0), "k"),
    ],
)
def test_what_is_refused(call, argument):
    with pytest.raises(dsv4.InvalidArgument) as caught:
        call(OfTorch(floats(4, 100)))
    assert caught.value.argument == argument


def test_a_call_that_moves_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(_benchmark, "open_device", lambda like: FakeDevice())
    compile_for_host(monkeypatch)
    with pytest.raises(dsv4.InvalidArgument, match="the call moves none: ") as caught:
        dsv4.benchmark(dsv4.topk, OfTorch(floats(0, 100)), 3)
    assert caught.value.argument == "bytes" and caught.value.id == "option.bytes"


# ===-- The kernels beside it --------------------------------------------------===


def test_copies_of_a_device():
    names = [each.name for each in _copies.copy_kernels(9)]
    assert len(set(names)) == 12 and "4 x 16 B, evict_last, pdl" in names
    assert not any("pdl" in each.name for each in _copies.copy_kernels(8))
    for each in _copies.copy_kernels(9):
        text = _copies.copy_text(each)
        assert text.count("st.global") == each.steps
        assert text.count("ld.global") == each.steps
        assert text.count("%policy;") == each.steps * each.evict_last + 1
        assert ("griddepcontrol.wait" in text) == each.programmatic
        assert (".target sm_90" in text) == each.programmatic
