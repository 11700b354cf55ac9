"""The Triton kernels of peer_compress.py."""

import triton
import triton.language as tl

from peer_writers import e2m1_codes, fp8_payload, normalize, power_above


@triton.jit
def rotated(y, angles, position, PAIRS: tl.constexpr, ROWS: tl.constexpr):
    """Rows [ROWS, 2 PAIRS], of which the last 32 pairs turn."""
    even, odd = tl.split(tl.reshape(y, (ROWS, PAIRS, 2)))
    pair = tl.arange(0, PAIRS) - (PAIRS - 32)
    turn = angles + (position * 64)[:, None] + pair[None, :]
    turns = (pair >= 0)[None, :]
    cos = tl.load(turn, mask=turns, other=1.0)
    sin = tl.load(turn + 32, mask=turns, other=0.0)
    y = tl.interleave(even * cos - odd * sin, even * sin + odd * cos)
    return y.to(tl.bfloat16).to(tl.float32)


@triton.jit
def normalized(x, weight, WIDTH: tl.constexpr):
    x = x.to(tl.bfloat16).to(tl.float32)
    root = tl.rsqrt(tl.sum(x * x, 1) / WIDTH + 1e-6)
    weights = tl.load(weight + tl.arange(0, WIDTH)).to(tl.float32)
    return normalize(x, root[:, None], weights[None, :])


@triton.jit
def write_v4(x, weight, angles, position, entry, nope, rope, scales):
    """One pooled row [1, 512] to its record."""
    column = tl.arange(0, 512)
    group = tl.arange(0, 8)
    y = rotated(normalized(x, weight, 512), angles, position, 256, 1)
    groups = tl.reshape(y, (8, 64))
    exponent, inverse = power_above(tl.max(tl.abs(groups), 1))
    codes = tl.reshape(fp8_payload(groups * inverse[:, None]), (512,))
    page = entry.to(tl.int64) // 64 * 37440
    start = page + entry % 64 * 576
    tail = tl.reshape(y, (512,)).to(tl.bfloat16)
    tl.store(nope + start + column, codes, mask=column < 448)
    tl.store(rope + start // 2 + column - 224, tail, mask=column >= 448)
    kept = tl.where(group < 7, exponent, 0).to(tl.uint8)
    tl.store(scales + page + 36864 + entry % 64 * 8 + group, kept)


@triton.jit
def pool_v4(score, value, weight, angles, position, slot, nope, rope, scales):
    """Rows of a window [rows, 512], their bias in the scores, to one record."""
    power = tl.exp(score - tl.max(score, 0)[None, :])
    x = tl.sum(power * value, 0) / tl.sum(power, 0)
    write_v4(
        x[None, :], weight, angles, tl.load(position + tl.arange(0, 1)),
        tl.load(slot), nope, rope, scales,
    )  # fmt: skip


@triton.jit
def csa_kernel(
    values, scores, bias, weight, angles, position, slot,
    nope, rope, scales, KEEP: tl.constexpr,
):  # fmt: skip
    """A window with that before it, of the tokens of one request."""
    i = tl.program_id(0)
    row = tl.arange(0, 8)[:, None]
    cell = row // 4 * 512 + tl.arange(0, 512)[None, :]
    token = i * 4 - 4 + row
    there = token >= 0
    at = token * 1024 + cell
    score = tl.load(
        scores + at, mask=there, other=float("-inf"), eviction_policy=KEEP
    )
    value = tl.load(values + at, mask=there, other=0.0, eviction_policy=KEEP)
    score += tl.load(bias + row % 4 * 1024 + cell)
    pool_v4(score, value, weight, angles, position + i, slot + i, nope, rope, scales)


@triton.jit
def decode_kernel(
    values, scores, bias, weight, angles, position, slot,
    nope, rope, scales, state, request,
    STATE: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    """The window of a new token, the others of which are in the state; with STATE
    the token goes there, to where the oldest one was, which nobody reads."""
    i = tl.program_id(0)
    row = tl.arange(0, 8)[:, None]
    cell = row // 4 * 512 + tl.arange(0, 512)[None, :]
    first = tl.load(position + i)
    ring = state + tl.load(request + i) * 16384
    at = ring + (first + 4 + row) % 8 * 2048 + cell
    new = i * 1024 + cell
    score = tl.load(at + 1024, mask=row < 7, other=0.0, eviction_policy=KEEP)
    value = tl.load(at, mask=row < 7, other=0.0, eviction_policy=KEEP)
    score += tl.load(scores + new, mask=row == 7, other=0.0)
    value += tl.load(values + new, mask=row == 7, other=0.0)
    if STATE:
        column = tl.arange(0, 1024)
        to = ring + (first + 3) % 8 * 2048 + column
        tl.store(to, tl.load(values + i * 1024 + column))
        tl.store(to + 1024, tl.load(scores + i * 1024 + column))
    score += tl.load(bias + row % 4 * 1024 + cell)
    pool_v4(score, value, weight, angles, position + i, slot + i, nope, rope, scales)


@triton.jit
def hca_kernel(
    values, scores, bias, weight, angles, position, slot,
    nope, rope, scales, partial, counters,
    SPLIT: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr,
    KEEP: tl.constexpr,
):  # fmt: skip
    """SPLIT programs share a window of 128; the last one to end puts their sums
    together and writes the entry."""
    i = tl.program_id(0)
    part = tl.program_id(1)
    column = tl.arange(0, 512)
    most = tl.full((512,), float("-inf"), tl.float32)
    total = tl.zeros((512,), tl.float32)
    dot = tl.zeros((512,), tl.float32)
    for step in tl.range(0, 128 // SPLIT // BLOCK, num_stages=STAGES):
        row = part * (128 // SPLIT) + step * BLOCK + tl.arange(0, BLOCK)
        cell = row[:, None] * 512 + column[None, :]
        at = i * (128 * 512) + cell
        score = tl.load(scores + at, eviction_policy=KEEP) + tl.load(bias + cell)
        value = tl.load(values + at, eviction_policy=KEEP)
        higher = tl.maximum(most, tl.max(score, 0))
        power = tl.exp(score - higher[None, :])
        fade = tl.exp(most - higher)
        total = total * fade + tl.sum(power, 0)
        dot = dot * fade + tl.sum(power * value, 0)
        most = higher
    at_position = position + i + tl.arange(0, 1)
    if SPLIT == 1:
        write_v4(
            (dot / total)[None, :], weight, angles, tl.load(at_position),
            tl.load(slot + i), nope, rope, scales,
        )  # fmt: skip
    else:
        to = partial + (i * SPLIT + part) * 1536 + column
        tl.store(to, most)
        tl.store(to + 512, total)
        tl.store(to + 1024, dot)
        tl.debug_barrier()
        before = tl.atomic_add(counters + i, 1, sem="acq_rel")
        if before == SPLIT - 1:
            parts = tl.arange(0, SPLIT)[:, None]
            own = partial + (i * SPLIT + parts) * 1536 + column[None, :]
            maxima = tl.load(own, cache_modifier=".cg")
            fades = tl.exp(maxima - tl.max(maxima, 0)[None, :])
            totals = tl.load(own + 512, cache_modifier=".cg") * fades
            dots = tl.load(own + 1024, cache_modifier=".cg") * fades
            tl.store(counters + i, 0)
            write_v4(
                (tl.sum(dots, 0) / tl.sum(totals, 0))[None, :], weight, angles,
                tl.load(at_position), tl.load(slot + i), nope, rope, scales,
            )  # fmt: skip


@triton.jit
def online_kernel(
    values, scores, bias, weight, angles, position, slot,
    nope, rope, scales, state, place, goes_on_from, left_in,
    SEGMENT: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr,
    KEEP: tl.constexpr,
):  # fmt: skip
    """A segment of a window of 128 a program: to a record where it ends the window,
    else to the state."""
    i = tl.program_id(0)
    column = tl.arange(0, 512)
    first = tl.load(place + i)
    old = state + tl.load(goes_on_from + i) * 1536 + column
    goes_on = first > 0
    most = tl.load(old, mask=goes_on, other=float("-inf"))
    total = tl.load(old + 512, mask=goes_on, other=0.0)
    dot = tl.load(old + 1024, mask=goes_on, other=0.0)
    for step in tl.range(0, SEGMENT // BLOCK, num_stages=STAGES):
        row = step * BLOCK + tl.arange(0, BLOCK)[:, None]
        at = (i * SEGMENT + row) * 512 + column[None, :]
        cell = (first + row) * 512 + column[None, :]
        score = tl.load(scores + at, eviction_policy=KEEP) + tl.load(bias + cell)
        value = tl.load(values + at, eviction_policy=KEEP)
        higher = tl.maximum(most, tl.max(score, 0))
        power = tl.exp(score - higher[None, :])
        fade = tl.exp(most - higher)
        total = total * fade + tl.sum(power, 0)
        dot = dot * fade + tl.sum(power * value, 0)
        most = higher
    if first + SEGMENT == 128:
        at_position = position + i + tl.arange(0, 1)
        write_v4(
            (dot / total)[None, :], weight, angles, tl.load(at_position),
            tl.load(slot + i), nope, rope, scales,
        )  # fmt: skip
    else:
        new = state + tl.load(left_in + i) * 1536 + column
        tl.store(new, most)
        tl.store(new + 512, total)
        tl.store(new + 1024, dot)


@triton.jit
def butterfly(y, ROWS: tl.constexpr, H: tl.constexpr):
    pairs = tl.reshape(y, (ROWS, 64 // H, 2, H))
    a, b = tl.split(tl.permute(pairs, (0, 1, 3, 2)))
    both = tl.permute(tl.join(a + b, a - b), (0, 1, 3, 2))
    return tl.reshape(both, (ROWS, 128))


@triton.jit
def index_kernel(
    values, scores, bias, weight, angles, position, slot, pool, hadamard,
    ROWS: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, 128)
    row = tl.arange(0, 8)[:, None, None]
    cell = row // 4 * 128 + column[None, None, :]
    token = i[None, :, None] * 4 - 4 + row
    there = token >= 0
    at = token * 256 + cell
    score = tl.load(
        scores + at, mask=there, other=float("-inf"), eviction_policy=KEEP
    )
    value = tl.load(values + at, mask=there, other=0.0, eviction_policy=KEEP)
    score += tl.load(bias + row % 4 * 256 + cell)
    power = tl.exp(score - tl.max(score, 0)[None, :, :])
    x = tl.sum(power * value, 0) / tl.sum(power, 0)
    y = rotated(normalized(x, weight, 128), angles, tl.load(position + i), 64, ROWS)
    if ROWS >= 16:
        # bf16 times 1 or -1, added up in fp32.
        signs = tl.load(hadamard + column[:, None] * 128 + column[None, :])
        y = tl.dot(y.to(tl.bfloat16), signs)
    else:
        y = butterfly(y, ROWS, 1)
        y = butterfly(y, ROWS, 2)
        y = butterfly(y, ROWS, 4)
        y = butterfly(y, ROWS, 8)
        y = butterfly(y, ROWS, 16)
        y = butterfly(y, ROWS, 32)
        y = butterfly(y, ROWS, 64)
    y = (y * 0.08838834764831845).to(tl.bfloat16).to(tl.float32)
    groups = tl.reshape(y, (ROWS, 4, 32))
    amax = tl.maximum(tl.max(tl.abs(groups), 2), 7.052966104933725e-38)
    scale = amax * 0.16666666666666666
    exponent = (scale.to(tl.int32, bitcast=True) + 0x7FFFFF) >> 23
    inverse = ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    codes = e2m1_codes(groups * inverse[:, :, None])
    low, high = tl.split(tl.reshape(codes, (ROWS, 64, 2)))
    entry = tl.load(slot + i)
    page = entry.to(tl.int64) // 64 * 4352
    start = page + entry % 64 * 64
    end = page + 4096 + entry % 64 * 4
    byte = tl.arange(0, 64)[None, :]
    tl.store(pool + start[:, None] + byte, (low | (high << 4)).to(tl.uint8))
    group = tl.arange(0, 4)[None, :]
    tl.store(pool + end[:, None] + group, exponent.to(tl.uint8))
