# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the functions mean, in plain NumPy."""

import numpy as np


def to_bf16(x):
    """The bits of the nearest bf16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def e4m3_values():
    """The value of every code of f8E4M3FN."""
    codes = np.arange(256)
    sign = np.where(codes & 0x80, -1.0, 1.0)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    value = np.where(
        exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * 2.0 ** (exponent - 10.0)
    )
    value = np.where(codes & 0x7F == 0x7F, np.nan, value)
    return (sign * value).astype(np.float32)


def e2m1_values():
    half = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    return np.concatenate([half, -half])


def unpack_fp4(packed):
    """Values of FP4, two per byte, the even one in the low nibble."""
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)
    return e2m1_values()[codes]


def topk(scores, k, lengths=None, starts=None, largest=True, tie="low", nan="last"):
    """Indices, the best first; of equal elements the lower or higher index; -1 at the end."""
    scores = np.asarray(scores, np.float64)
    result = np.full((len(scores), k), -1, np.int64)
    for r, row in enumerate(scores):
        start = 0 if starts is None else starts[r]
        length = len(row) - start if lengths is None else lengths[r]
        row = row[start : start + max(0, length)]
        index = np.arange(len(row))
        number = ~np.isnan(row) if nan == "first" else np.isnan(row)
        order = np.lexsort((index if tie == "low" else -index, -row if largest else row, number))
        best = order[:k]
        result[r, : len(best)] = best
    return result


def gate(logits, score):
    x = np.asarray(logits, np.float64)
    if score == "sigmoid":
        return 1 / (1 + np.exp(-x))
    if score == "softmax":
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)
    return np.sqrt(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0))


def route_weights(scores, ids, renormalize, scale, nan="last"):
    weights = np.where(ids < 0, 0, np.take_along_axis(scores, np.maximum(ids, 0), 1))
    if nan == "zero":
        weights = np.where(np.isnan(weights), 0, weights)
    if renormalize:
        weights = weights / np.maximum(weights.sum(1, keepdims=True), 2.0**-126)
    return weights * scale


def rms_norm(x, weight=None, eps=1e-6):
    x = np.asarray(x, np.float64)
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    return y if weight is None else y * weight


def hadamard(x, scale=None):
    """Rows times the Hadamard matrix of natural order."""
    y = np.array(x, np.float64)
    columns = y.shape[-1]
    index = np.arange(columns)
    common = index[:, None] & index
    signs = np.array([bin(each).count("1") % 2 for each in common.ravel()]).reshape(common.shape)
    return y @ (1.0 - 2 * signs) * (columns**-0.5 if scale is None else scale)


def rope(x, table, positions, neox=False, interleaved=False, inverse=False):
    x = np.array(x, np.float64)
    d = table.shape[1]
    for row, position in zip(x.reshape(len(positions), -1, x.shape[-1]), positions):
        if not 0 <= position < len(table):
            continue
        t = table[position].astype(np.float64)
        c, s = (t[0::2], t[1::2]) if interleaved else (t[: d // 2], t[d // 2 :])
        s = -s if inverse else s
        part = row[:, -d:]
        a, b = (part[:, : d // 2], part[:, d // 2 :]) if neox else (part[:, 0::2], part[:, 1::2])
        a, b = a * c - b * s, a * s + b * c
        if neox:
            row[:, -d:] = np.concatenate([a, b], 1)
        else:
            part[:, 0::2], part[:, 1::2] = a, b
    return x


def index_score(q, keys, weights):
    """Scores `[rows, keys]` of queries `[rows, heads, dim]` and keys `[rows, keys, dim]`."""
    with np.errstate(invalid="ignore"):
        products = np.einsum("rhd,rnd->rhn", q.astype(np.float64), keys.astype(np.float64))
        return np.einsum("rh,rhn->rn", weights, np.where(products < 0, 0, products))


def compress(values, scores, window, bias=None):
    """Windows that are whole in this launch, one after another."""
    count, columns = len(values) // window, values.shape[1]
    v = values[: count * window].reshape(count, window, columns).astype(np.float64)
    s = scores[: count * window].reshape(count, window, columns).astype(np.float64)
    if bias is not None:
        s = s + bias
    e = np.exp(s - s.max(1, keepdims=True))
    return (e * v).sum(1) / e.sum(1)
