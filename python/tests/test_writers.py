# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writers of values that lie in two arrays, that are zeros, that end windows, and of heads."""

import dsv4
import numpy as np
import pytest
import reference
from test_caches import make_cache

SLOTS = np.array([3, 70, -1, 9, 64])


def append(x, record="v32_656", **options):
    cache = make_cache(dsv4.KNOWN_RECORDS[record], 2, 64)
    dsv4.norm_rope_append_(x, cache, SLOTS, record=record, page_size=64, **options)
    return cache


@pytest.mark.parametrize("record, values", [("v32_656", 512), ("v4_584", 448)])
@pytest.mark.parametrize("rotate", [False, True])
def test_values_of_two_arrays_are_those_of_one(rng, record, values, rotate):
    whole = reference.to_bf16(rng.standard_normal((5, values + 64)))
    options = {}
    if rotate:
        options["table"] = rng.standard_normal((9, 64)).astype(np.float32)
        options["positions"] = np.array([0, 3, 8, 9, 1])
    one = append(whole, record, **options)
    # Views, as a GEMM leaves them.
    two = append(whole[:, :values], record, k_pe=whole[:, values:], **options)
    assert one.any()
    np.testing.assert_array_equal(one, two)


def test_the_first_array_is_normalised_alone(rng):
    x = rng.standard_normal((5, 512)).astype(np.float32)
    k_pe = rng.standard_normal((5, 64)).astype(np.float32)
    weight = rng.standard_normal(512).astype(np.float32)
    cache = append(x, k_pe=k_pe, weight=weight)
    rows = dsv4.gather(cache, SLOTS[[0, 1, 3, 4]], record="v32_656", dtype="float32")
    expected = reference.rms_norm(x, weight)[[0, 1, 3, 4]]
    assert np.abs(rows[:, :512] - expected).max() < 0.07 * np.abs(expected).max()
    np.testing.assert_array_equal(
        rows[:, 512:], reference.from_bf16(reference.to_bf16(k_pe))[[0, 1, 3, 4]]
    )


def test_zeros_as_rotary_values(rng):
    x = rng.standard_normal((5, 512)).astype(np.float32)
    # One row for all tokens, as torch's expand() has it.
    zeros = np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), (5, 64), (0, 4))
    cache = append(x, k_pe=zeros)
    np.testing.assert_array_equal(cache, append(x, k_pe=np.zeros((5, 64), np.float32)))
    rows = dsv4.gather(cache, SLOTS, record="v32_656", dtype="float32")
    assert rows[:, :512].any() and not rows[:, 512:].any()


def test_rows_have_the_type_of_the_field(rng):
    x = rng.standard_normal((5, 512)).astype(np.float32)
    # Halves go to even.
    x[0, :5] = 1 + 2.0**-8, 1 + 3 * 2.0**-8, -0.0, 1e-40, np.inf
    cache = append(x, "bf16_1024")
    (stored,) = dsv4.gather_raw(cache, SLOTS, record="bf16_1024", page_size=64)
    expected = reference.to_bf16(x)
    expected[2] = 0
    np.testing.assert_array_equal(stored, expected)
    half = append(x.astype(np.float16), "bf16_1024")
    (stored,) = dsv4.gather_raw(half, SLOTS[:1], record="bf16_1024", page_size=64)
    np.testing.assert_array_equal(stored, reference.to_bf16(x[:1].astype(np.float16)))


def test_entries_at_the_ends_of_windows(rng):
    """The slots of a plan are those of tokens that end a window."""
    positions = np.array([0, 1, 2, 3, 6, 7])
    requests, slots = np.array([0, 0, 0, 0, 1, 1]), np.array([10, 11, 12, 13, 14, -1])
    _, _, ends = dsv4.compress_plan(2, positions, requests=requests, slots=slots)
    assert ends.tolist() == [-1, 11, -1, 13, -1, -1]
    x = rng.standard_normal((6, 512)).astype(np.float32)
    cache = make_cache(dsv4.KNOWN_RECORDS["bf16_1024"], 2, 64)
    dsv4.norm_rope_append_(x, cache, ends, record="bf16_1024", page_size=64)
    rows = dsv4.gather(cache, np.arange(128), record="bf16_1024", page_size=64, dtype="float32")
    written = np.flatnonzero(rows.any(1))
    assert written.tolist() == [11, 13]
    np.testing.assert_array_equal(rows[written], reference.from_bf16(reference.to_bf16(x[[1, 3]])))


def test_heads_are_views(rng):
    """A record has the values of all heads one after the other."""
    heads, columns, size = 4, 32, 8
    record = dsv4.Record([
        dsv4.Field("k", heads * columns, "f8E4M3FN", "array"),
        dsv4.Field("k_scale", heads, "f32", "array", "k", columns),
    ])  # fmt: skip
    keys = rng.integers(0, 126, (3, size, heads, columns)).astype(np.uint8)
    scales = rng.random((3, size, heads)).astype(np.float32)
    cache = keys.reshape(3, size, -1), scales
    rows = dsv4.gather_ragged(
        cache, np.array([[2, 0], [1, -1]]), record=record, cu_seq_lens=np.array([0, 10, 14]),
        rows=14, dtype="float32",
    ).reshape(14, heads, columns)  # fmt: skip
    pages, entries = np.array([2] * 8 + [0] * 2 + [1] * 4), np.array([*range(8), 0, 1, *range(4)])
    expected = reference.e4m3_values()[keys] * scales[..., None]
    np.testing.assert_array_equal(rows, expected[pages, entries])
