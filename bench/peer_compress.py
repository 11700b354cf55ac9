"""Compressors in PyTorch and Triton, for peers.py.

Windows of tokens are pooled, normalised, rotated, quantised and written, as by the
programs of dsv4-bench: 4 tokens with an overlap of 4 (CSA, its indexer, its decode
steps) or 128 without (HCA).
"""

import torch

from peer_common import PAGE, POOL_BYTES, Job
from peer_compress_triton import csa_kernel, decode_kernel, hca_kernel, index_kernel
from peer_writers import (
    E2M1_VALUES,
    encode_e2m1,
    normalize_rotate,
    share_equal,
    store_flat,
    store_v4,
    store_v4_flat,
    worst,
)

INPUT_BYTES, POSITIONS, REQUESTS = 1 << 30, 32768, 16384
V4, INDEX = 512, 128  # Channels of the records v4_584 and index_mxfp4_68.
MIN_AMAX = 6 * 2**-126

# ---- eager -----------------------------------------------------------------


def overlapping(x, fill):
    """Windows of tokens [entries, 4, 2 D] to [entries, 8, D], in the words of the
    official Compressor."""
    entries, window, columns = x.shape
    rows = x.new_full((entries, 2 * window, columns // 2), fill)
    rows[:, window:] = x[:, :, columns // 2 :]
    rows[1:, :window] = x[:-1, :, : columns // 2]
    return rows


def reduce_windows(values, scores, bias, overlap, dtype):
    """All windows of one request."""
    window = bias.shape[0]
    values = values.to(dtype).unflatten(0, (-1, window))
    scores = scores.to(dtype).unflatten(0, (-1, window)) + bias.to(dtype)
    if overlap:
        values = overlapping(values, 0)
        scores = overlapping(scores, float("-inf"))
    return (values * scores.softmax(1)).sum(1)


def pool_decode(values, scores, bias, state, request, position, dtype):
    """One window per request, whose last token is new."""
    window, columns = bias.shape
    row = torch.arange(2 * window, device=values.device)
    ring = state.view(-1, 2 * window, 2, 2, columns // 2)
    slot = (position.long()[:, None] + window + row) % (2 * window)
    half = row // window
    # Of the state all but the last row.
    kept = ring[request.long()[:, None], slot, :, half].to(dtype)
    is_new = (row == 2 * window - 1)[:, None]
    new = (x[:, None, columns // 2 :].to(dtype) for x in (values, scores))
    value, score = (
        torch.where(is_new, x, kept[:, :, field]) for field, x in enumerate(new)
    )
    score = score + bias.view(window, 2, -1).to(dtype)[row % window, half]
    return (value * score.softmax(1)).sum(1)


def finish_v4(pooled, weight, angles, position):
    """What a store takes of pooled entries, rounded to bf16 but in float64."""
    dtype = torch.float64 if pooled.dtype == torch.float64 else torch.float32
    narrow = pooled if dtype == torch.float64 else pooled.bfloat16()
    return normalize_rotate(narrow, weight, angles, position, dtype)


def finish_index(pooled, weight, angles, position, hadamard):
    nope, rope = finish_v4(pooled, weight, angles, position)
    row = torch.cat((nope, rope.to(nope.dtype)), -1)
    row = (row @ hadamard.to(row.dtype)) * INDEX**-0.5
    return row if row.dtype == torch.float64 else row.bfloat16().float()


def quantize_index(row):
    """Two codes a byte, and exponents of powers of two, one per 32 values."""
    x = row.unflatten(-1, (4, 32))
    scale = x.abs().amax(-1).clamp_min(MIN_AMAX) * (1 / 6)
    exponent = (scale.view(torch.int32) + 0x7FFFFF) >> 23
    inverse = ((254 - exponent) << 23).view(torch.float32)
    codes = encode_e2m1(x * inverse[..., None]).flatten(-2)
    return codes[..., ::2] | (codes[..., 1::2] << 4), exponent.to(torch.uint8)


def store_index(records, tails, entry, row):
    page, slot = entry // PAGE, entry % PAGE
    records[page, slot], tails[page, slot] = quantize_index(row)


def store_index_flat(pool, entry, row):
    store_flat(pool, entry, torch.cat(quantize_index(row), -1), PAGE * 68, 64)


# ---- data ------------------------------------------------------------------


class Compress(Job):
    """A record for every entry of one pool. Of a prefill a launch has one request
    of its own, from position 0 on, which fills pages of its own."""

    window, overlap, width, layout = 4, True, V4, "v4_584"
    sizes, compiled_sizes = (2048, 8192), (2048, 8192)
    config_names = "warps", "eviction"
    configs = ((1,), (2,), (4,), (8,))
    page_bytes, row_bytes_of_page, tail_bytes = 37440, 576, 8
    stores = store_v4, store_v4_flat

    def __init__(self):
        self.columns = self.width * (2 if self.overlap else 1)
        self.row_bytes = self.columns * self.window * 8 + self.tail_bytes
        self.row_bytes += self.row_bytes_of_page + 24
        self.make_numbers()
        tokens = self.count_tokens()
        normal = lambda *shape: torch.randn(*shape, device="cuda")
        self.values = normal(tokens, self.columns)
        self.scores = normal(tokens, self.columns)
        self.bias = normal(self.window, self.columns)
        self.weight = torch.rand(self.width, device="cuda").add_(0.5).bfloat16()
        frequency = 10000.0 ** (-torch.arange(32, device="cuda").double() / 32)
        angle = torch.arange(POSITIONS, device="cuda")[:, None] * frequency
        self.angles = torch.cat((angle.cos(), angle.sin()), -1).float()
        self.pool = torch.zeros(
            self.pages * self.page_bytes, dtype=torch.uint8, device="cuda"
        )
        shape = self.pages, PAGE, self.row_bytes_of_page
        stride = self.page_bytes, self.row_bytes_of_page, 1
        records = self.pool.as_strided(shape, stride)
        shape, stride = (*shape[:2], self.tail_bytes), (stride[0], self.tail_bytes, 1)
        tails = self.pool.as_strided(shape, stride, PAGE * self.row_bytes_of_page)
        self.caches = (records, tails), (self.pool,)
        self.pointers = self.pool, self.pool.view(torch.bfloat16), self.pool

    @property
    def pages(self):
        return -(-POOL_BYTES // self.page_bytes)

    def count_tokens(self):
        return self.entries * self.window

    def make_numbers(self):
        self.entries = INPUT_BYTES // (self.columns * self.window * 8)
        number = torch.arange(self.entries, device="cuda")
        order = torch.randperm(self.pages, device="cuda")
        self.slot = (order[number // PAGE] * PAGE + number % PAGE).int()
        self.position = {
            size: (number % size * self.window).int() for size in self.sizes
        }

    def slices(self, size):
        return self.entries // size

    def fits(self, size, config):
        return True

    def tokens(self, size, i):
        """Values and scores of a launch."""
        count = size * self.window
        part = slice(i * count, (i + 1) * count)
        return self.values[part], self.scores[part]

    def numbers(self, size, i):
        part = slice(i * size, (i + 1) * size)
        return self.position[size][part], self.slot[part]

    def data(self, size, i):
        """Arguments after the cache."""
        return (
            *self.tokens(size, i), self.bias, self.weight, self.angles,
            *self.numbers(size, i),
        )  # fmt: skip

    def finish(self, pooled, weight, angles, position):
        """What a store takes."""
        return finish_v4(pooled, weight, angles, position)

    def pool_tokens(self, values, scores, bias, position, more, dtype):
        return reduce_windows(values, scores, bias, self.overlap, dtype)

    def make(self, store, dtype=torch.float32):
        def compress(cache, *data):
            values, scores, bias, weight, angles, position, slot, *more = data
            x = self.pool_tokens(values, scores, bias, position, more, dtype)
            row = self.finish(x, weight, angles, position)
            if store is None:
                return row
            store(*cache, slot.long(), *(row if isinstance(row, tuple) else (row,)))

        return compress

    @property
    def compiled(self):
        return self.make(self.stores[1])

    def call_eager(self, size, i):
        self.make(self.stores[0])(self.caches[0], *self.data(size, i))

    def call_compiled(self, function, size, i):
        function(self.caches[1], *self.data(size, i))

    def call_triton(self, size, i, warps, keep):
        csa_kernel[(size,)](
            *self.data(size, i), *self.pointers, KEEP=keep, num_warps=warps
        )

    def read(self, entry):
        """Rows and tails, as stored."""
        return [view[entry // PAGE, entry % PAGE] for view in self.caches[0]]

    def clear(self, entry):
        for view in self.caches[0]:
            view[entry // PAGE, entry % PAGE] = 0xAB

    def verify(self, call, size):
        i = self.slices(size) - 1
        data = self.data(size, i)
        entry = data[6].long()
        want = self.make(None, torch.float64)(None, *data)
        results = []
        for writer in (self.call_eager_of(size), call):
            self.clear(entry)
            writer(i)
            results.append(self.read(entry))
        return {
            "worst_error": self.judge(results[1], want),
            "equal_to_eager": share_equal(results[1], results[0]),
        }

    def call_eager_of(self, size):
        return lambda i: self.call_eager(size, i)

    def judge(self, got, want):
        """An entry is rounded to bf16 twice before it is quantised or turned."""
        nope, rope = want
        rows, tails = got
        codes = rows[:, :448].contiguous().view(torch.float8_e4m3fn).double()
        scale = torch.exp2(tails[:, :7].double() - 127).repeat_interleave(64, 1)
        last = rows[:, 448:].clone().view(torch.bfloat16).double()
        if not tails[:, 7].eq(0).all():
            return float("inf")
        return max(
            worst(codes * scale, nope, 2**-4 + 2**-8, scale * 2**-10),
            worst(last, rope, 2**-9, 2**-5),
        )


class CompressHCA(Compress):
    what, window, overlap = "compress_hca", 128, False
    sizes, compiled_sizes = (64, 256), (64, 256)
    # Programs of a window, warps, rows at once.
    config_names = "split", "warps", "block", "stages", "eviction"
    configs = (
        (1, 8, 8, 3), (2, 8, 8, 3), (4, 4, 8, 1), (4, 4, 8, 3), (4, 8, 16, 1),
        (8, 4, 8, 1), (8, 8, 16, 1), (16, 4, 8, 1),
    )  # fmt: skip

    def __init__(self):
        super().__init__()
        most = max(self.sizes)
        self.partial = torch.zeros(most * 16 * 1536, device="cuda")
        self.counters = torch.zeros(most, dtype=torch.int32, device="cuda")

    def call_triton(self, size, i, split, warps, block, stages, keep):
        hca_kernel[(size, split)](
            *self.data(size, i), *self.pointers, self.partial, self.counters,
            SPLIT=split, BLOCK=block, STAGES=stages, KEEP=keep, num_warps=warps,
        )  # fmt: skip


class CompressCSA(Compress):
    what = "compress_csa"


class CompressIndex(Compress):
    what, layout, width = "compress_index", "index_mxfp4_68", INDEX
    compiled_sizes = (2048,)
    page_bytes, row_bytes_of_page, tail_bytes = 4352, 64, 4
    stores = store_index, store_index_flat
    config_names = "rows", "warps", "eviction"
    configs = ((1, 1), (2, 1), (2, 2), (4, 4), (8, 4), (8, 8), (16, 8))

    def __init__(self):
        super().__init__()
        # Of 1 and -1, so that products with bf16 are exact in TF32 as well.
        torch.set_float32_matmul_precision("high")
        signs = torch.ones(1, 1)
        while len(signs) < INDEX:
            upper, lower = torch.cat((signs, signs), 1), torch.cat((signs, -signs), 1)
            signs = torch.cat((upper, lower))
        self.hadamard = signs.cuda()
        self.narrow_hadamard = self.hadamard.bfloat16()

    def fits(self, size, config):
        return size % config[0] == 0

    def data(self, size, i):
        return *super().data(size, i), self.hadamard

    def make(self, store, dtype=torch.float32):
        pool = self.pool_tokens

        def compress(cache, *data):
            values, scores, bias, weight, angles, position, slot, signs = data
            x = pool(values, scores, bias, position, (), dtype)
            row = finish_index(x, weight, angles, position, signs)
            if store is None:
                return row
            store(*cache, slot.long(), row)

        return compress

    def call_triton(self, size, i, rows, warps, keep):
        index_kernel[(size // rows,)](
            *self.data(size, i)[:-1], self.pool, self.narrow_hadamard,
            ROWS=rows, KEEP=keep, num_warps=warps,
        )  # fmt: skip

    def judge(self, got, want):
        """Three more roundings to bf16, and sums of 128 numbers of size 1."""
        rows, tails = got
        both = torch.stack((rows & 15, rows >> 4), -1).flatten(-2).long()
        decoded = E2M1_VALUES.cuda()[both & 7] * torch.where(both > 7, -1.0, 1.0)
        scale = torch.exp2(tails.double() - 127).repeat_interleave(32, -1)
        return worst(decoded * scale, want, 2**-2, scale * 2**-2 + 2**-5)


class CompressDecode(Compress):
    """A token of every request; sizes are requests. With `keeps` it also goes to the
    ring of its request."""

    what, keeps = "compress_decode", False
    sizes, compiled_sizes = (64,), (64,)
    configs = ((4,), (8,), (16,))

    def count_tokens(self):
        return REQUESTS

    def make_numbers(self):
        self.entries = REQUESTS
        number = torch.arange(REQUESTS, device="cuda")
        order = torch.randperm(self.pages, device="cuda")[:REQUESTS]
        slot = torch.randint(PAGE, (REQUESTS,), device="cuda")
        self.slot = (order * PAGE + slot).int()
        # From the second window on, so that there is one before.
        first = torch.randint(1, POSITIONS // 4, (REQUESTS,), device="cuda") * 4
        self.position = {size: first.int() for size in self.sizes}
        self.request = {size: (number % size).int() for size in self.sizes}
        self.state = torch.randn(REQUESTS * 8, 2 * self.columns, device="cuda")

    def tokens(self, size, i):
        part = slice(i * size, (i + 1) * size)
        return self.values[part], self.scores[part]

    def data(self, size, i):
        state = self.state[i * size * 8 : (i + 1) * size * 8]
        request = self.request[size][i * size : (i + 1) * size]
        return *super().data(size, i), state, request

    def pool_tokens(self, values, scores, bias, position, more, dtype):
        return pool_decode(values, scores, bias, *more, position, dtype)

    def make(self, store, dtype=torch.float32):
        chain = super().make(store, dtype)
        if store is None or not self.keeps:
            return chain

        def compress_and_keep(cache, values, scores, *rest):
            chain(cache, values, scores, *rest)
            position, state, request = rest[3], rest[5], rest[6]
            at = request.long() * 8 + (position.long() + 3) % 8
            state.index_put_((at,), torch.cat((values, scores), -1))

        return compress_and_keep

    def call_triton(self, size, i, warps, keep):
        *data, state, request = self.data(size, i)
        decode_kernel[(size,)](
            *data, *self.pointers, state, request,
            STATE=self.keeps, KEEP=keep, num_warps=warps,
        )  # fmt: skip


class CompressDecodeState(CompressDecode):
    what, keeps = "compress_decode_state", True

    def verify(self, call, size):
        i = self.slices(size) - 1
        values, scores, *_, position = self.data(size, i)[:6]
        state, request = self.data(size, i)[-2:]
        at = request.long() * 8 + (position.long() + 3) % 8
        state[at] = float("nan")
        result = super().verify(call, size)
        # Eager PyTorch has been there before.
        state[at] = float("nan")
        call(i)
        if not torch.equal(state[at], torch.cat((values, scores), -1)):
            result["worst_error"] = float("inf")
        return result


# Name and maker of every job.
JOBS = [
    ("compress_csa", CompressCSA),
    ("compress_hca", CompressHCA),
    ("compress_index", CompressIndex),
    ("compress_decode", CompressDecode),
    ("compress_decode_state", CompressDecodeState),
]
