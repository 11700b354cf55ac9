"""Selections of the best elements of rows in PyTorch and Triton, for peers.py.

Which of several equal elements is chosen is left open, as PyTorch leaves it; dsv4's
kernels take the first. PyTorch's result has values, too, and 64-bit indices.
"""

import torch
import triton
import triton.language as tl

from peer_common import Job

INPUT_BYTES = 256 << 20

# Scores are looked at as numbers of 32 bits in the same order, in three digits of 11,
# 11 and 10 bits, the highest first: the last that is chosen is found digit by digit,
# by counting those that have the digits before it.
DIGITS, BINS = tl.constexpr(3), tl.constexpr(2048)


# ---- Triton ----------------------------------------------------------------


@triton.jit
def load_payload(scores, at, inside, KEEP: tl.constexpr):
    """Unsigned numbers in the order of the scores, 0 outside."""
    bits = tl.load(scores + at, mask=inside, other=0, eviction_policy=KEEP)
    bits = bits.to(tl.int32, bitcast=True)
    code = tl.where(bits < 0, ~bits, bits ^ -2147483648)
    return tl.where(inside, code, 0).to(tl.uint32, bitcast=True)


@triton.jit
def count_digits(codes, inside, prefix, PASS: tl.constexpr):
    """How many have which digit, of those whose digits before it are `prefix`."""
    if PASS == 0:
        digit = codes >> 21
    elif PASS == 1:
        inside &= codes >> 21 == prefix
        digit = (codes >> 10) & 2047
    else:
        inside &= codes >> 10 == prefix
        digit = codes & 1023
    return tl.histogram(digit.to(tl.int32), BINS, mask=inside)


@triton.jit
def add_digit(prefix, left, counts, PASS: tl.constexpr):
    """The digit of the `left`-th best of those counted after `prefix`, and which of
    those that have it that is."""
    above = tl.sum(counts, 0) - tl.cumsum(counts, 0)
    here = (above < left) & (above + counts >= left)
    digit = tl.sum(tl.where(here, tl.arange(0, BINS), 0), 0).to(tl.uint32)
    left -= tl.sum(tl.where(here, above, 0), 0)
    return (prefix << (11 if PASS < 2 else 10)) | digit, left


@triton.jit
def store_chosen(out, k, left, at, better, equal, places, equal_slots):
    """The better ones, from `places` on, and after all of them the first `left` of
    the equal ones."""
    place = places + tl.cumsum(better.to(tl.int32), 0) - 1
    tl.store(out + place, at, mask=better)
    place = equal_slots + tl.cumsum(equal.to(tl.int32), 0) - 1
    tl.store(out + k - left + place, at, mask=equal & (place < left))


@triton.jit
def held_kernel(scores, out, N, k, BLOCK: tl.constexpr, KEEP: tl.constexpr):
    """A program a row, which it reads once."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < N
    codes = load_payload(scores + row * N, at, inside, KEEP)
    prefix, left = tl.full((), 0, tl.uint32), k
    for PASS in tl.static_range(DIGITS):
        counts = count_digits(codes, inside, prefix, PASS)
        prefix, left = add_digit(prefix, left, counts, PASS)
    better, equal = inside & (codes > prefix), inside & (codes == prefix)
    store_chosen(out + row * k, k, left, at, better, equal, 0, 0)


@triton.jit
def row_kernel(scores, out, N, k, BLOCK: tl.constexpr, KEEP: tl.constexpr):
    """A program a row, which it reads once a digit, and once more."""
    row = tl.program_id(0).to(tl.int64)
    scores += row * N
    prefix, left = tl.full((), 0, tl.uint32), k
    for PASS in tl.static_range(DIGITS):
        counts = tl.zeros((BINS,), tl.int32)
        for start in range(0, N, BLOCK):
            at = start + tl.arange(0, BLOCK)
            codes = load_payload(scores, at, at < N, KEEP)
            counts += count_digits(codes, at < N, prefix, PASS)
        prefix, left = add_digit(prefix, left, counts, PASS)
    places, equal_slots = 0, 0
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        codes = load_payload(scores, at, at < N, KEEP)
        better, equal = (at < N) & (codes > prefix), (at < N) & (codes == prefix)
        store_chosen(out + row * k, k, left, at, better, equal, places, equal_slots)
        places += tl.sum(better.to(tl.int32), 0)
        equal_slots += tl.sum(equal.to(tl.int32), 0)


# Several programs a row, in a kernel a digit and one more. Counts of a row are after
# one another, digit by digit; `taken` has how many places it has given to better and
# to equal ones, `state` what is known after the second digit. What a kernel adds to
# has been cleared by one before it that nobody reads it in.


@triton.jit
def count_kernel(
    scores, counts, taken, state, N, k,
    PASS: tl.constexpr, BLOCK: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    row, part = tl.program_id(0).to(tl.int64), N // tl.num_programs(1)
    scores += row * N
    counts += row * DIGITS * BINS
    bins = tl.arange(0, BINS)
    if PASS == 0:
        tl.store(counts + BINS + bins, 0)
        tl.store(counts + 2 * BINS + bins, 0)
        tl.store(taken + row * 2 + tl.arange(0, 2), 0)
    prefix, left = tl.full((), 0, tl.uint32), k
    for BEFORE in tl.static_range(PASS):
        known = tl.load(counts + BEFORE * BINS + bins)
        prefix, left = add_digit(prefix, left, known, BEFORE)
    if PASS == 2:  # The same of every program.
        tl.store(state + row * 2, prefix.to(tl.int32, bitcast=True))
        tl.store(state + row * 2 + 1, left)
    found = tl.zeros((BINS,), tl.int32)
    first = tl.program_id(1) * part
    for start in range(first, first + part, BLOCK):
        at = start + tl.arange(0, BLOCK)
        codes = load_payload(scores, at, at < N, KEEP)
        found += count_digits(codes, at < N, prefix, PASS)
    tl.atomic_add(counts + PASS * BINS + bins, found, mask=found > 0, sem="relaxed")


@triton.jit
def collect_kernel(
    scores, out, counts, taken, state, N, k,
    BLOCK: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    row, part = tl.program_id(0).to(tl.int64), N // tl.num_programs(1)
    scores += row * N
    counts += row * DIGITS * BINS
    bins = tl.arange(0, BINS)
    prefix = tl.load(state + row * 2).to(tl.uint32, bitcast=True)
    left = tl.load(state + row * 2 + 1)
    prefix, left = add_digit(prefix, left, tl.load(counts + 2 * BINS + bins), 2)
    tl.store(counts + bins, 0)
    first = tl.program_id(1) * part
    for start in range(first, first + part, BLOCK):
        at = start + tl.arange(0, BLOCK)
        codes = load_payload(scores, at, at < N, KEEP)
        better, equal = (at < N) & (codes > prefix), (at < N) & (codes == prefix)
        places = tl.atomic_add(
            taken + row * 2, tl.sum(better.to(tl.int32), 0), sem="relaxed"
        )
        equal_slots = tl.atomic_add(
            taken + row * 2 + 1, tl.sum(equal.to(tl.int32), 0), sem="relaxed"
        )
        store_chosen(out + row * k, k, left, at, better, equal, places, equal_slots)


# ---- data ------------------------------------------------------------------


class Topk(Job):
    """Launches of `rows` rows, in turn, of one tensor; the size is their elements."""

    # Elements at once, programs a row, warps.
    config_names = "block", "programs", "warps", "eviction"
    configs = (
        (4096, 1, 16), (8192, 1, 32), (16384, 1, 32), (2048, 8, 8), (2048, 32, 8),
        (4096, 16, 8), (4096, 64, 8),
    )  # fmt: skip
    # Most of the time goes into compiling.
    policies = ("",)
    compiles = False  # A call of the kernels that eager PyTorch has.
    row_bytes = 4

    def __init__(self, rows, columns, k):
        self.what, self.layout, self.k = f"topk_{rows}", f"k{k}", k
        self.sizes = self.compiled_sizes = (columns,)
        self.rows_per_size = rows
        launches = max(INPUT_BYTES // (rows * columns * 4), 4)
        self.scores = torch.randn(launches, rows, columns, device="cuda")
        numbers = dict(dtype=torch.int32, device="cuda")
        self.out = torch.empty(launches, rows, k, **numbers)
        counts = torch.zeros(rows, DIGITS.value, BINS.value, **numbers)
        self.workspace = counts, *torch.zeros(2, rows, 2, **numbers)

    def slices(self, size):
        return len(self.scores)

    def fits(self, size, config):
        block, programs, _ = config
        # Rows that are read block by block gain nothing by larger blocks.
        return size % (block * programs) == 0 and (block <= 8192 or block == size)

    def call_eager(self, size, i):
        return torch.topk(self.scores[i], self.k, sorted=False).indices

    def call_triton(self, size, i, block, programs, warps, keep):
        scores, out = self.scores[i], self.out[i]
        grid = self.rows_per_size, programs
        options = dict(BLOCK=block, KEEP=keep, num_warps=warps)
        if programs == 1:
            kernel = held_kernel if block == size else row_kernel
            kernel[grid](scores, out, size, self.k, **options)
            return out
        for digit in range(DIGITS.value):
            count_kernel[grid](
                scores, *self.workspace, size, self.k, PASS=digit, **options
            )
        collect_kernel[grid](scores, out, *self.workspace, size, self.k, **options)
        return out

    def verify(self, call, size):
        """Different elements, with the values of the best."""
        i = self.slices(size) - 1
        self.out[i] = -1
        found = call(i).long().sort().values
        right = found.min() >= 0 and found.max() < size
        right = right and (found.diff() > 0).all()
        if right:
            got = self.scores[i].gather(-1, found).sort(descending=True).values
            right = torch.equal(got, self.scores[i].topk(self.k).values)
        return {"worst_error": 0.0 if right else float("inf")}


SHAPES = (
    (1, 4096, 512), (1, 16384, 512), (1, 65536, 512), (1, 262144, 512),
    (16, 65536, 512), (64, 8192, 512), (64, 32768, 512), (64, 131072, 2048),
    (64, 262144, 512), (256, 16384, 512), (256, 131072, 2048), (16, 65536, 2048),
    (1, 131072, 1024),
)  # fmt: skip

# Name and maker of every job.
JOBS = [(f"topk_{shape[0]}", lambda shape=shape: Topk(*shape)) for shape in SHAPES]
