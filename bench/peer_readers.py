"""Gathers and dequantisation in PyTorch and Triton, for peers.py."""

import torch
import triton
import triton.language as tl

from peer_common import PAGE, POOL_BYTES, Job, aligned, random_bytes

TOKENS, TOPK, POOLS = 1024, 512, 4
DENSE_ROWS = 524288

E2M1 = {
    dtype: torch.tensor(
        [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6],
        dtype=dtype,
        device="cuda",
    )
    for dtype in (torch.float32, torch.float64)
}


# ---- eager -----------------------------------------------------------------


def locate(indices, table, requests):
    page = table[requests.long()[:, None], indices // PAGE]
    return page.long(), (indices % PAGE).long()


def decode_e2m1(data, dtype):
    codes = torch.stack((data & 15, data >> 4), dim=-1).flatten(-2)
    return E2M1[dtype][codes.long()]


def v4_584(dtype, cache, indices, table, requests):
    page, slot = locate(indices, table, requests)
    records = cache[:, : PAGE * 576].view(-1, PAGE, 576)[page, slot]
    factors = cache[:, PAGE * 576 : PAGE * 584].view(-1, PAGE, 8)[page, slot]
    nope = records[..., :448].view(torch.float8_e4m3fn).to(dtype)
    scale = torch.exp2(factors[..., :7].to(dtype) - 127)
    nope = (nope.unflatten(-1, (7, 64)) * scale[..., None]).flatten(-2)
    rope = records[..., 448:].contiguous().view(torch.bfloat16)
    return torch.cat((nope.to(torch.bfloat16), rope), dim=-1)


def seed_580(dtype, nope, rope, scale, indices, table, requests):
    page, slot = locate(indices, table, requests)
    factor = scale[page, slot].to(dtype)[..., None]
    values = nope[page, slot].view(torch.float8_e4m3fn).to(dtype) * factor
    return torch.cat((values.to(torch.bfloat16), rope[page, slot]), dim=-1)


def v41_fp4_288(dtype, cache, indices, table, requests):
    page, slot = locate(indices, table, requests)
    data = cache[:, : PAGE * 256].view(-1, PAGE, 256)[page, slot]
    factors = cache[:, PAGE * 256 :].view(-1, PAGE, 32)[page, slot]
    scale = factors.view(torch.float8_e4m3fn).to(dtype)
    values = decode_e2m1(data, dtype).unflatten(-1, (32, 16))
    return (values * scale[..., None]).flatten(-2).to(torch.bfloat16)


def nvfp4(dtype, data, factors, rows):
    scale = factors.view(torch.float8_e4m3fn).to(dtype) * rows.to(dtype)[:, None]
    values = decode_e2m1(data, dtype).unflatten(-1, (32, 16))
    return (values * scale[..., None]).flatten(-2).to(torch.bfloat16)


# ---- Triton ----------------------------------------------------------------


@triton.jit
def find(row, indices, table, requests, max_pages, TOPK: tl.constexpr):
    index = tl.load(indices + row)
    request = tl.load(requests + row // TOPK)
    page = tl.load(table + request * max_pages + index // 64)
    return page.to(tl.int64), index % 64


@triton.jit
def fp8_rows(
    nope, nope_row, scale, scale_row, rope, rope_row, out, row,
    POWER: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    columns = tl.arange(0, 512)
    inside = (columns < 448)[None, :]
    values = tl.load(
        nope + nope_row[:, None] + columns[None, :],
        mask=inside, other=0, eviction_policy=KEEP,
    ).to(tl.float8e4nv, bitcast=True).to(tl.float32)  # fmt: skip
    if POWER:
        code = tl.load(
            scale + scale_row[:, None] + (columns // 64)[None, :],
            mask=inside, other=0, eviction_policy=KEEP,
        )  # fmt: skip
        factor = (code.to(tl.int32) << 23).to(tl.float32, bitcast=True)
    else:
        factor = tl.load(scale + scale_row, eviction_policy=KEEP)[:, None]
    tail = tl.arange(0, 64)
    last = tl.load(rope + rope_row[:, None] + tail[None, :], eviction_policy=KEEP)
    at = out + (row * 512)[:, None]
    tl.store(at + columns[None, :], (values * factor).to(tl.bfloat16), mask=inside)
    tl.store(at + 448 + tail[None, :], last)


@triton.jit
def v4_584_kernel(
    nope, rope, scale, indices, table, requests, out, max_pages,
    TOPK: tl.constexpr, ROWS: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    page, slot = find(row, indices, table, requests, max_pages, TOPK)
    start = page * 37440 + slot * 576
    factors = page * 37440 + 36864 + slot * 8
    fp8_rows(
        nope, start, scale, factors, rope, start // 2 + 224, out, row, True, KEEP
    )


@triton.jit
def seed_580_kernel(
    nope, rope, scale, indices, table, requests, out, max_pages,
    TOPK: tl.constexpr, ROWS: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    page, slot = find(row, indices, table, requests, max_pages, TOPK)
    entry = page * 64 + slot
    fp8_rows(
        nope, entry * 448, scale, entry, rope, entry * 64, out, row, False, KEEP
    )


@triton.jit
def fp4_rows(
    data, data_row, scale, scale_row, factor, out, row, KEEP: tl.constexpr
):
    half = tl.arange(0, 256)
    pair = tl.load(
        data + data_row[:, None] + half[None, :], eviction_policy=KEEP
    ).to(tl.int16)
    group = tl.load(
        scale + scale_row[:, None] + (half // 8)[None, :], eviction_policy=KEEP
    )
    group = group.to(tl.float8e4nv, bitcast=True).to(tl.float32)
    # An E2M1 code, moved up, is a half of 2^-14 times its value.
    low = ((pair & 7) << 9) | ((pair & 8) << 12)
    high = ((pair & 0x70) << 5) | ((pair & 0x80) << 8)
    group = group * factor * 16384.0
    even = low.to(tl.float16, bitcast=True).to(tl.float32) * group
    odd = high.to(tl.float16, bitcast=True).to(tl.float32) * group
    values = tl.interleave(even.to(tl.bfloat16), odd.to(tl.bfloat16))
    columns = tl.arange(0, 512)
    tl.store(out + (row * 512)[:, None] + columns[None, :], values)


@triton.jit
def v41_fp4_288_kernel(
    data, scale, indices, table, requests, out, max_pages,
    TOPK: tl.constexpr, ROWS: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    page, slot = find(row, indices, table, requests, max_pages, TOPK)
    start = page * 18432
    fp4_rows(
        data, start + slot * 256, scale, start + 16384 + slot * 32, 1.0, out, row,
        KEEP,
    )  # fmt: skip


@triton.jit
def nvfp4_kernel(
    data, scale, rows, out, ROWS: tl.constexpr, KEEP: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    factor = tl.load(rows + row)[:, None]
    fp4_rows(data, row * 256, scale, row * 32, factor, out, row, KEEP)


# ---- data ------------------------------------------------------------------


class Gather(Job):
    """Four pools; a slice of `size` tokens of one is a launch's data."""

    what, sizes = "gather", (1024, 128, 16, 1)
    compiled_sizes = (1024, 1)
    rows_per_size, row_bytes = TOPK, 1312

    def __init__(self, layout, part_bytes, eager, kernel, views, fp4=False):
        self.layout, self.eager, self.kernel = layout, eager, kernel
        self.views, self.pools = views, []
        page_bytes = sum(part_bytes)
        per_token = -(-POOL_BYTES // (page_bytes * TOKENS))
        pages = per_token * TOKENS
        for _ in range(POOLS):
            parts = [random_bytes(pages, n, not fp4) for n in part_bytes]
            table = torch.randperm(pages, device="cuda").int().view(TOKENS, -1)
            chosen = torch.rand(TOKENS, per_token * PAGE, device="cuda")
            indices = chosen.argsort(-1)[:, :TOPK].int().contiguous()
            numbers = torch.arange(TOKENS, device="cuda").int()
            requests = {size: aligned(numbers, size) for size in self.sizes}
            out = torch.empty(TOKENS, TOPK, 512, dtype=torch.bfloat16, device="cuda")
            self.pools.append((self.views(*parts), indices, table, requests, out))

    def slices(self, size):
        return TOKENS // size * POOLS

    def data(self, size, i):
        parts, indices, table, requests, out = self.pools[i % POOLS]
        part = slice(i // POOLS * size, (i // POOLS + 1) * size)
        requests = requests[size][i // POOLS, :size]
        return parts, indices[part], table, requests, out[part]

    def call_eager(self, size, i, function=None, dtype=torch.float32):
        parts, indices, table, requests, _ = self.data(size, i)
        function = function or self.eager
        return function(dtype, *parts[0], indices, table, requests)

    def call_triton(self, size, i, rows, warps, keep):
        parts, indices, table, requests, out = self.data(size, i)
        self.kernel[(size * TOPK // rows,)](
            *parts[1], indices, table, requests, out, table.shape[1],
            TOPK=TOPK, ROWS=rows, KEEP=keep, num_warps=warps,
        )  # fmt: skip
        return out


class Dequantize(Job):
    """Four dense tensors; a slice of `size` rows of one is a launch's data."""

    what, layout, eager = "dequantize", "nvfp4", staticmethod(nvfp4)
    sizes, compiled_sizes = (65536, 524288), (65536,)
    row_bytes = 1316

    def __init__(self):
        self.sets = []
        for _ in range(POOLS):
            data = random_bytes(DENSE_ROWS, 256, False)
            scales = random_bytes(DENSE_ROWS, 32, False)
            rows = torch.rand(DENSE_ROWS, device="cuda") + 0.5
            out = torch.empty(DENSE_ROWS, 512, dtype=torch.bfloat16, device="cuda")
            self.sets.append((data, scales, rows, out))

    def slices(self, size):
        return DENSE_ROWS // size * POOLS

    def data(self, size, i):
        part = slice(i // POOLS * size, (i // POOLS + 1) * size)
        return [tensor[part] for tensor in self.sets[i % POOLS]]

    def call_eager(self, size, i, function=None, dtype=torch.float32):
        return (function or self.eager)(dtype, *self.data(size, i)[:3])

    def call_triton(self, size, i, rows, warps, keep):
        data, scales, factors, out = self.data(size, i)
        nvfp4_kernel[(size // rows,)](
            data, scales, factors, out,
            ROWS=rows, KEEP=keep, num_warps=warps,
        )  # fmt: skip
        return out


def v4_views(cache):
    flat = cache.flatten()
    return (cache,), (flat, flat.view(torch.bfloat16), flat)


def seed_views(nope, rope, scale):
    nope = nope.view(-1, PAGE, 448)
    rope = rope.view(torch.bfloat16).view(-1, PAGE, 64)
    scale = torch.rand(scale.numel() // 4, device="cuda").view(-1, PAGE) + 0.5
    return (nope, rope, scale), (nope, rope, scale)


def fp4_views(cache):
    flat = cache.flatten()
    return (cache,), (flat, flat)


SEED_PARTS = [PAGE * 448, PAGE * 128, PAGE * 4]

# Name and maker of every job.
JOBS = [
    ("gather", lambda: Gather("v4_584", [37440], v4_584, v4_584_kernel, v4_views)),
    ("gather",
     lambda: Gather("seed_580", SEED_PARTS, seed_580, seed_580_kernel, seed_views)),
    ("gather",
     lambda: Gather("v41_fp4_288", [18432], v41_fp4_288, v41_fp4_288_kernel,
                    fp4_views, True)),
    ("dequantize", Dequantize),
]  # fmt: skip
