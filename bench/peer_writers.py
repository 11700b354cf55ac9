"""Writers of paged caches and quantisers in PyTorch and Triton, for peers.py.

The recipes are those of the programs of dsv4-bench: 448 values to E4M3 with powers of
two per 64 (v4_584) or one fp32 factor (seed_580), bf16 rows of 512 to NVFP4 or to
E4M3 with powers of two per 64.
"""

import torch
import triton
import triton.language as tl

from peer_common import PAGE, POOL_BYTES, Job, aligned

RING, TOKENS, POSITIONS = 128, 524288, 4096
DENSE_ROWS, SETS = 114688, 4
PAGE_BYTES, TAILS = 37440, 36864  # Of v4_584.
E2M1_VALUES = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)

# ---- eager: quantisers -----------------------------------------------------


def quantize_groups(x):
    """fp32 groups along the last axis to E4M3 and exponents of powers of two."""
    amax = x.abs().amax(-1).clamp_min(1e-4)
    exponent = ((amax * (1 / 448)).view(torch.int32) + 0x7FFFFF) >> 23
    inverse = ((254 - exponent) << 23).view(torch.float32)
    codes = (x * inverse[..., None]).clamp(-448, 448).to(torch.float8_e4m3fn)
    return codes.view(torch.uint8), exponent.to(torch.uint8)


def quantize_rows(x):
    scale = (x.abs().amax(-1) / 448).clamp_min(1e-12)
    codes = (x / scale[..., None]).clamp(-448, 448).to(torch.float8_e4m3fn)
    return codes.view(torch.uint8), scale


def encode_e2m1(values):
    m = values.abs()
    codes = (m > 0.25).to(torch.uint8) + (m >= 0.75) + (m > 1.25) + (m >= 1.75)
    codes = codes + (m > 2.5) + (m >= 3.5) + (m > 5)
    return codes | (torch.signbit(values).to(torch.uint8) << 3)


def quantize_nvfp4(x):
    x = x.float().unflatten(-1, (32, 16))
    scale = (x.abs().amax(-1) * (1 / 6)).clamp_min(2**-9).to(torch.float8_e4m3fn)
    codes = encode_e2m1(x / scale.float()[..., None]).flatten(-2)
    return codes[..., ::2] | (codes[..., 1::2] << 4), scale.view(torch.uint8)


def quantize_fp8(x):
    codes, exponent = quantize_groups(x.float().unflatten(-1, (8, 64)))
    return codes.flatten(-2), exponent


# ---- eager: appends --------------------------------------------------------


def normalize_rotate(kv, weight, angles, position, dtype=torch.float32):
    """All values but the last 64, and those, rotated; in float64 without roundings in
    between."""
    narrow = dtype if dtype == torch.float64 else torch.bfloat16
    x = kv.to(dtype)
    root = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
    y = (x * root * weight.to(dtype)).to(narrow).to(dtype)
    turn = angles[position.long()].to(dtype)
    cos, sin = turn[:, :32], turn[:, 32:]
    a, b = y[:, -64:].unflatten(-1, (32, 2)).unbind(-1)
    rope = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    return y[:, :-64], rope.to(narrow)


def store_v4(records, tails, entry, nope, rope):
    """The natural form: two writes through views of the pages."""
    codes, exponent = quantize_groups(nope.unflatten(-1, (7, 64)))
    page, slot = entry // PAGE, entry % PAGE
    row = torch.cat((codes.flatten(-2), rope.view(torch.uint8)), -1)
    records[page, slot] = row
    tails[page, slot] = torch.nn.functional.pad(exponent, (0, 1))


def store_flat(pool, entry, record, page_bytes, row_bytes):
    """Bytes to their rows and, after those of the page, to their tails."""
    size = record.shape[-1]
    page, slot = (entry // PAGE * page_bytes)[:, None], (entry % PAGE)[:, None]
    byte = torch.arange(size, device=entry.device)
    in_tail = PAGE * row_bytes + slot * (size - row_bytes) + byte - row_bytes
    at = page + torch.where(byte < row_bytes, slot * row_bytes + byte, in_tail)
    pool.index_put_((at,), record)


def store_v4_flat(pool, entry, nope, rope):
    """The same as one write of bytes to the pool itself. torch.compile would copy
    the whole pool for writes through a view, or for two of them."""
    codes, exponent = quantize_groups(nope.unflatten(-1, (7, 64)))
    words = rope.view(torch.int16).to(torch.int32)
    halves = torch.stack((words & 255, (words >> 8) & 255), -1).flatten(-2)
    tail = torch.nn.functional.pad(exponent, (0, 1))
    record = torch.cat((codes.flatten(-2), halves.to(torch.uint8), tail), -1)
    store_flat(pool, entry, record, PAGE_BYTES, 576)


def store_seed(nope_array, rope_array, scale_array, entry, nope, rope):
    codes, scale = quantize_rows(nope)
    nope_array.index_put_((entry,), codes)
    rope_array.index_put_((entry,), rope)
    scale_array.index_put_((entry,), scale)


def append_with(store):
    def append(cache, kv, slots):
        store(*cache, slots.long(), kv[:, :448].float(), kv[:, 448:])

    return append


def append_chain_with(store):
    def append_chain(cache, kv, weight, angles, position, request):
        nope, rope = normalize_rotate(kv, weight, angles, position)
        store(*cache, request.long() * RING + position.long() % RING, nope, rope)

    return append_chain


# ---- Triton ----------------------------------------------------------------


@triton.jit
def fp8_payload(values):
    return values.to(tl.float8e4nv).to(tl.uint8, bitcast=True)


@triton.jit
def power_above(amax):
    """Exponents of the factors of groups of that amax, and the inverse factors."""
    scale = tl.maximum(amax, 1e-4) * 0.002232142857142857
    exponent = (scale.to(tl.int32, bitcast=True) + 0x7FFFFF) >> 23
    return exponent, ((254 - exponent) << 23).to(tl.float32, bitcast=True)


@triton.jit
def normalize(x, root, weight):
    return (x * root * weight).to(tl.bfloat16).to(tl.float32)


@triton.jit
def rotate(tail, angles, position, ROWS: tl.constexpr):
    even, odd = tl.split(tl.reshape(tail, (ROWS, 32, 2)))
    turn = angles + (position * 64)[:, None] + tl.arange(0, 32)[None, :]
    cos = tl.load(turn)
    sin = tl.load(turn + 32)
    return tl.interleave(even * cos - odd * sin, even * sin + odd * cos)


@triton.jit
def append_kernel(
    kv, weight, angles, index, request, nope, rope, factors,
    CHAIN: tl.constexpr, V4: tl.constexpr, ROWS: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    group = tl.arange(0, 8)
    lane = tl.arange(0, 64)
    column = group[None, :, None] * 64 + lane[None, None, :]
    source = kv + row * 512
    x = tl.load(source[:, None, None] + column, eviction_policy=KEEP).to(tl.float32)
    tail = tl.load(source[:, None] + 448 + lane[None, :], eviction_policy=KEEP)
    entry = tl.load(index + row)
    if CHAIN:
        position = entry
        entry = tl.load(request + row) * 128 + position % 128
        root = tl.rsqrt(tl.sum(tl.sum(x * x, 2), 1) / 512 + 1e-6)
        x = normalize(x, root[:, None, None], tl.load(weight + column).to(tl.float32))
        last = tl.load(weight + 448 + lane).to(tl.float32)
        tail = normalize(tail.to(tl.float32), root[:, None], last[None, :])
        tail = rotate(tail, angles, position, ROWS).to(tl.bfloat16)
    amax = tl.max(tl.abs(x), 2)
    entry = entry.to(tl.int64)
    if V4:
        exponent, inverse = power_above(amax)
        codes = fp8_payload(x * inverse[:, :, None])
        page = entry // 64 * 37440
        start = page + entry % 64 * 576
        end = page + 36864 + entry % 64 * 8
        rope_start = start // 2 + 224
        # The last of eight bytes is unused, and zero.
        kept = tl.where(group[None, :] < 7, exponent, 0).to(tl.uint8)
        tl.store(factors + end[:, None] + group[None, :], kept)
    else:
        amax = tl.max(tl.where(group[None, :] < 7, amax, 0.0), 1)
        scale = tl.maximum(tl.math.div_rn(amax, 448.0), 1e-12)
        codes = fp8_payload(tl.math.div_rn(x, scale[:, None, None]))
        start = entry * 448
        rope_start = entry * 64
        tl.store(factors + entry, scale)
    tl.store(nope + start[:, None, None] + column, codes, mask=column < 448)
    tl.store(rope + rope_start[:, None] + lane[None, :], tail)


@triton.jit
def quantize_fp8_kernel(x, data, scales, ROWS: tl.constexpr, KEEP: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    group = tl.arange(0, 8)
    at = (row * 512)[:, None, None] + group[None, :, None] * 64
    at += tl.arange(0, 64)[None, None, :]
    values = tl.load(x + at, eviction_policy=KEEP).to(tl.float32)
    exponent, inverse = power_above(tl.max(tl.abs(values), 2))
    tl.store(data + at, fp8_payload(values * inverse[:, :, None]))
    to = scales + (row * 8)[:, None] + group[None, :]
    tl.store(to, exponent.to(tl.uint8))


@triton.jit
def e2m1_codes(values):
    """To nearest, ties to even, in integers: Hopper has no conversion."""
    m = tl.minimum(tl.abs(values), 6.0)
    bits = m.to(tl.int32, bitcast=True)
    # From 1 on, round to one bit of mantissa; 2^22 has a last place of 0.5.
    large = ((bits + 0x1FFFFF + ((bits >> 22) & 1)) >> 22) - 252
    small = (m + 4194304.0).to(tl.int32, bitcast=True) & 7
    sign = (values.to(tl.int32, bitcast=True) >> 28) & 8
    return tl.where(m < 1.0, small, large) | sign


@triton.jit
def quantize_nvfp4_kernel(words, data, scales, ROWS: tl.constexpr, KEEP: tl.constexpr):
    # Two bf16 in a word become the two codes of a byte.
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    group = tl.arange(0, 32)
    at = (row * 256)[:, None, None] + group[None, :, None] * 8
    at += tl.arange(0, 8)[None, None, :]
    word = tl.load(words + at, eviction_policy=KEEP)
    even = (word << 16).to(tl.float32, bitcast=True)
    odd = (word & -65536).to(tl.float32, bitcast=True)
    amax = tl.max(tl.maximum(tl.abs(even), tl.abs(odd)), 2)
    scale = tl.maximum(amax * 0.16666666666666666, 0.001953125).to(tl.float8e4nv)
    divisor = scale.to(tl.float32)[:, :, None]
    low = e2m1_codes(tl.math.div_rn(even, divisor))
    high = e2m1_codes(tl.math.div_rn(odd, divisor))
    tl.store(data + at, (low | (high << 4)).to(tl.uint8))
    to = scales + (row * 32)[:, None] + group[None, :]
    tl.store(to, scale.to(tl.uint8, bitcast=True))


# ---- data ------------------------------------------------------------------


def share_equal(got, want):
    """Of the bytes of two lists of tensors."""
    equal = total = 0
    for a, b in zip(got, want):
        a, b = a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8)
        equal += (a == b).sum().item()
        total += a.numel()
    return equal / total


def worst(got, want, relative, absolute):
    """The largest error, where rounding to nearest makes at most 1."""
    error = (got - want).abs() / (want.abs() * relative + absolute)
    return error.max().item() if torch.isfinite(got).all() else float("inf")


class Append(Job):
    """One pool; every token has an entry of its own somewhere in it. With `chain`
    the entry is that of a position in the ring of its request; else those of more
    than 256 tokens are a prompt's, in pages anywhere, or, by `placement`, in pages
    one after the other, or each anywhere."""

    sizes, compiled_sizes = (32768, 8192, 256, 64, 1), (32768, 1)
    configs = ((1, 1), (2, 1), (1, 2), (1, 4), (2, 2), (4, 4), (8, 8))

    def __init__(self, layout, chain, placement="pages"):
        self.what = "append" if placement == "pages" else "append_" + placement
        if placement != "pages":
            self.sizes, self.compiled_sizes = (32768,), ()
        if chain:
            self.what = "append_chain"
        self.layout = layout
        self.chain, self.v4 = chain, layout == "v4_584"
        self.row_bytes = 1604 + (4 if chain else 0)
        pages = -(-POOL_BYTES // (PAGE_BYTES * 2)) * 2
        entries = torch.randperm(pages * PAGE, device="cuda")[:TOKENS].int()
        request = entries // RING
        position = request % (POSITIONS // RING) * RING + entries % RING
        order = torch.randperm(pages, device="cuda")[: TOKENS // PAGE].int()
        if placement == "in_order":
            order = torch.arange(TOKENS // PAGE, device="cuda").int()
        slots = torch.arange(PAGE, device="cuda").int()
        prompt = (order[:, None] * PAGE + slots).flatten()
        self.entries = {
            size: aligned(
                entries if size <= 256 or chain or placement == "scattered" else prompt,
                size,
            )
            for size in self.sizes
        }
        self.position, self.request = (
            {size: aligned(numbers, size) for size in self.sizes}
            for numbers in (position, request)
        )
        self.kv = torch.empty(TOKENS, 512, dtype=torch.bfloat16, device="cuda")
        self.kv.normal_()
        self.weight = torch.rand(512, device="cuda").add_(0.5).bfloat16()
        frequency = 10000.0 ** (-torch.arange(32, device="cuda").double() / 32)
        angle = torch.arange(POSITIONS, device="cuda")[:, None] * frequency
        self.angles = torch.cat((angle.cos(), angle.sin()), -1).float()
        self.make_cache(pages)

    def make_cache(self, pages):
        """The cache for eager, for torch.compile and for Triton; what is read back."""
        empty = lambda *shape, dtype=torch.uint8: torch.zeros(
            *shape, dtype=dtype, device="cuda"
        )
        if self.v4:
            pool = empty(pages * PAGE_BYTES)
            records = pool.as_strided((pages, PAGE, 576), (PAGE_BYTES, 576, 1))
            tails = pool.as_strided((pages, PAGE, 8), (PAGE_BYTES, 8, 1), TAILS)
            self.stores = store_v4, store_v4_flat
            self.caches = (records, tails), (pool,)
            self.pointers = pool, pool.view(torch.bfloat16), pool
            return
        arrays = (
            empty(pages * PAGE, 448),
            empty(pages * PAGE, 64, dtype=torch.bfloat16),
            empty(pages * PAGE, dtype=torch.float32),
        )
        self.stores = store_seed, store_seed
        self.caches = arrays, arrays
        self.pointers = arrays

    def slices(self, size):
        return TOKENS // size if size > 1 else 4096

    def data(self, size, i):
        """Arguments after the cache."""
        kv = self.kv[i * size : (i + 1) * size]
        if not self.chain:
            return kv, self.entries[size][i, :size]
        numbers = (self.position[size][i, :size], self.request[size][i, :size])
        return kv, self.weight, self.angles, *numbers

    def make(self, store):
        return append_chain_with(store) if self.chain else append_with(store)

    @property
    def compiled(self):
        return self.make(self.stores[1])

    def call_eager(self, size, i):
        self.make(self.stores[0])(self.caches[0], *self.data(size, i))

    def call_compiled(self, function, size, i):
        function(self.caches[1], *self.data(size, i))

    def call_triton(self, size, i, rows, warps, keep):
        kv, *rest = self.data(size, i)
        weight, angles, index, request = rest if self.chain else (kv, kv, rest[0], kv)
        append_kernel[(size // rows,)](
            kv, weight, angles, index, request, *self.pointers,
            CHAIN=self.chain, V4=self.v4, ROWS=rows, KEEP=keep, num_warps=warps,
        )  # fmt: skip

    def read(self, entry):
        """Codes, 64 bf16, and factors with what fills them up, as stored."""
        if self.v4:
            records, tails = self.caches[0]
            page, slot = entry // PAGE, entry % PAGE
            row = records[page, slot]
            return row[:, :448], row[:, 448:].clone(), tails[page, slot]
        return [array[entry] for array in self.caches[0]]

    def verify(self, call, size):
        i = self.slices(size) - 1
        entry = self.entries[size][i, :size].long()
        results = []
        for writer in (lambda i: self.call_eager(size, i), call):
            self.clear(entry)
            writer(i)
            results.append(self.read(entry))
        codes, rope, factors = results[1]
        kv, *rest = self.data(size, i)
        if self.chain:
            nope, tail = normalize_rotate(kv, *rest[:3], dtype=torch.float64)
        else:
            nope, tail = kv[:, :448].double(), kv[:, 448:].double()
        if self.v4:
            scale = torch.exp2(factors[:, :7].double() - 127).repeat_interleave(64, 1)
        else:
            scale = factors.double()[:, None]
        got = codes.contiguous().view(torch.float8_e4m3fn).double() * scale
        errors = (
            # The chain rounds to bf16 before.
            worst(got, nope, 2**-4 + (2**-8 if self.chain else 0), scale * 2**-10),
            # A difference of products has the error of the products.
            worst(rope.view(torch.bfloat16).double(), tail, 2**-9, 2**-6),
        )
        return {
            "worst_error": max(errors),
            "equal_to_eager": share_equal(results[1], results[0]),
        }

    def clear(self, entry):
        if self.v4:
            for view in self.caches[0]:
                view[entry // PAGE, entry % PAGE] = 0xAB
            return
        for array in self.caches[0]:
            array[entry] = 0xAB


class Quantize(Job):
    """Four dense tensors; a slice of `size` rows of one is a launch's data."""

    what, sizes, compiled_sizes = "quantize", (114688, 8192), (114688, 8192)

    def __init__(self, layout):
        self.layout, self.fp4 = layout, layout == "nvfp4"
        self.eager = quantize_nvfp4 if self.fp4 else quantize_fp8
        shapes = (256, 32) if self.fp4 else (512, 8)
        self.row_bytes = 1024 + sum(shapes)
        self.sets = []
        for _ in range(SETS):
            x = torch.empty(DENSE_ROWS, 512, dtype=torch.bfloat16, device="cuda")
            outs = [
                torch.empty(DENSE_ROWS, n, dtype=torch.uint8, device="cuda")
                for n in shapes
            ]
            self.sets.append((x.normal_(), *outs))

    def slices(self, size):
        return DENSE_ROWS // size * SETS

    def data(self, size, i):
        part = slice(i // SETS * size, (i // SETS + 1) * size)
        return [tensor[part] for tensor in self.sets[i % SETS]]

    def call_eager(self, size, i, function=None):
        return (function or self.eager)(self.data(size, i)[0])

    def call_triton(self, size, i, rows, warps, keep):
        x, data, scales = self.data(size, i)
        kernel = quantize_nvfp4_kernel if self.fp4 else quantize_fp8_kernel
        source = x.view(torch.int32) if self.fp4 else x
        kernel[(size // rows,)](
            source, data, scales, ROWS=rows, KEEP=keep, num_warps=warps
        )
        return data, scales

    def verify(self, call, size):
        i = self.slices(size) - 1
        want = self.call_eager(size, i)
        got = call(i)
        x = self.data(size, i)[0].double()
        codes, factors = got
        if self.fp4:
            values = E2M1_VALUES.cuda()
            both = torch.stack((codes & 15, codes >> 4), -1).flatten(-2).long()
            decoded = values[both & 7] * torch.where(both > 7, -1.0, 1.0)
            scale = factors.view(torch.float8_e4m3fn).double()
            scale = scale.repeat_interleave(16, -1)
            unit = (2**-2, scale * 2**-2)
        else:
            decoded = codes.view(torch.float8_e4m3fn).double()
            scale = torch.exp2(factors.double() - 127).repeat_interleave(64, -1)
            unit = (2**-4, scale * 2**-10)
        return {
            "worst_error": worst(decoded * scale, x, *unit),
            "equal_to_eager": share_equal(got, want),
        }


# Name and maker of every job.
JOBS = [
    ("append_chain", lambda: Append("v4_584", True)),
    ("append_chain", lambda: Append("seed_580", True)),
    ("append", lambda: Append("v4_584", False)),
    ("append", lambda: Append("seed_580", False)),
    ("append_in_order", lambda: Append("v4_584", False, "in_order")),
    ("append_in_order", lambda: Append("seed_580", False, "in_order")),
    ("append_scattered", lambda: Append("v4_584", False, "scattered")),
    ("append_scattered", lambda: Append("seed_580", False, "scattered")),
    ("quantize", lambda: Quantize("nvfp4")),
    ("quantize", lambda: Quantize("fp8_ue8m0")),
]
