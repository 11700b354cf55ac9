# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scores of index keys, and selections from them. The pairs of their options are in
test_pairs.py."""

import numpy as np
import pytest
import reference

import dsv4
from dsv4 import _kernels, indexer

SIZE = 64


def make_index(rng, rows, pages=9, heads=8):
    """Random queries and keys in FP8, weights, the options of a call, and exact scores."""
    q = rng.integers(0, 256, (rows, heads, 128)).astype(np.uint8)
    codes = rng.integers(0, 256, (20, SIZE, 128)).astype(np.uint8)
    for each in (q, codes):
        each[each & 0x7F == 0x7F] = 0x38  # No NaN.
        each[...] &= 0xBF
    scales = rng.random((20, SIZE)).astype(np.float32) + 0.5
    cache = np.concatenate([codes.reshape(20, -1), scales.view(np.uint8)], 1)
    weights = rng.standard_normal((rows, heads)).astype(np.float32)
    table = rng.integers(-1, 20, (rows, pages)).astype(np.int32)
    lengths = rng.integers(0, pages * SIZE + 1, rows)
    values = reference.e4m3_values()
    keys = (values[codes] * scales[..., None].astype(np.float64))[table]
    keys = keys.reshape(rows, pages * SIZE, 128)
    exact = reference.index_score(values[q], keys, weights)
    bound = 2.0**-9 * reference.index_score(abs(values[q]), abs(keys), abs(weights))
    there = np.repeat(table >= 0, SIZE, 1) & (np.arange(pages * SIZE) < lengths[:, None])
    options = {"record": "index_fp8_132", "page_table": table, "lengths": lengths}
    return (q, cache, weights), options, np.where(there, exact, -np.inf), bound


def check_scores(scores, exact, bound):
    np.testing.assert_array_equal(np.isneginf(scores), np.isneginf(exact))
    there = ~np.isneginf(exact)
    assert (np.abs(scores - np.where(there, exact, 0))[there] <= bound[there]).all()


@pytest.mark.parametrize("rows", [3, 64])
def test_selections_are_those_of_scores(rng, rows):
    index, options, exact, bound = make_index(rng, rows)
    scores = dsv4.index_score(*index, **options)
    check_scores(scores, exact, bound)
    lengths = options["lengths"]
    values, indices = dsv4.topk(scores, 100, lengths=lengths, sorted=True, return_values=True)
    order = dict(sorted=True, return_values=True, return_slots=True)
    own = np.zeros_like(scores)
    for given in ({}, {"scores": own}):
        found = dsv4.index_topk(*index, 100, **options, **order, **given)
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], indices)
        page = np.take_along_axis(options["page_table"], np.maximum(indices, 0) // SIZE, 1)
        slots = np.where((indices < 0) | (page < 0), -1, page * SIZE + indices % SIZE)
        np.testing.assert_array_equal(found[2], slots)
    np.testing.assert_array_equal(own, scores)


def text_of(*args, **options):
    return _kernels.program_of(dsv4.index_topk, args, options).text()


def test_how_many_kernels_there_are(rng, monkeypatch):
    index, options, *_ = make_index(rng, 64)
    few, few_options, *_ = make_index(rng, 3)
    for two, text in (
        (False, text_of(*index, 5, **options)), (True, text_of(*few, 5, **few_options)),
        (True, text_of(*index, 5, **{**options, "lengths": None})),
        (True, text_of(*index, 5, **options, scores=np.zeros((64, 9 * SIZE), np.float32))),
        # What an array of scores would be too large for.
        (False, text_of(*index, 5, **{**options, "page_table": np.zeros((64, 2**16), np.int32)})),
    ):  # fmt: skip
        assert ("%scores:" in text) == two
    assert indexer.uses_two_kernels(1, 2**18) and not indexer.uses_two_kernels(64, 2**15)
    assert not indexer.uses_two_kernels(4096, 2**18)
    monkeypatch.setattr(indexer, "uses_two_kernels", lambda rows, columns: False)
    assert "%scores:" not in text_of(*few, 5, **few_options)


def test_one_kernel_serves_pages_up_to_a_power_of_two(rng):
    index, options, *_ = make_index(rng, 64)
    more = {**options, "page_table": np.zeros((64, 16), np.int32)}
    assert text_of(*index, 5, **options) == text_of(*index, 5, **more)
    assert text_of(*index, 5, **options) != text_of(*index, 5, **options, columns=9 * SIZE)


def test_columns_beyond_the_keys_of_a_row_are_kept(rng):
    index, options, exact, bound = make_index(rng, 3)
    out = np.full((3, 600), 7, np.float32)
    assert dsv4.index_score(*index, **options, keep_rest=True, out=out) is out
    for r, length in enumerate(options["lengths"]):
        assert (out[r, length:] == 7).all()
        check_scores(out[r, :length], exact[r, :length], bound[r, :length])


def test_keys_of_an_array_are_those_of_all_rows(rng):
    """A prefill: ranges of one list of keys, in FP8 with a scale per key."""
    q, codes = (rng.integers(0, 0x40, shape).astype(np.uint8) for shape in ((5, 4, 128), (70, 128)))
    weights, scales = rng.random((5, 4)).astype(np.float32), rng.random(70).astype(np.float32)
    starts, ends = np.array([0, 3, 69, 10, 70]), np.array([70, 20, 70, 5, 90])
    scores = dsv4.index_score(
        q, codes, weights, key_scales=scales, starts=starts, ends=ends, columns=66
    )
    values = reference.e4m3_values()
    keys = np.broadcast_to(values[codes] * scales[:, None].astype(np.float64), (5, 70, 128))
    exact = reference.index_score(values[q], keys, weights)
    for r in range(5):
        expected = exact[r, starts[r] : max(starts[r], ends[r])][:66]
        np.testing.assert_allclose(scores[r, : len(expected)], expected, 2**-9)
        assert np.isneginf(scores[r, len(expected) :]).all()


def test_rows_without_keys_and_no_rows(rng):
    index, options, *_ = make_index(rng, 3)
    none = {**options, "lengths": np.array([0, -1, 0])}
    assert np.isneginf(dsv4.index_score(*index, **none)).all()
    assert (dsv4.index_topk(*index, 7, **none) == -1).all()
    index, options, *_ = make_index(rng, 0)
    assert dsv4.index_topk(*index, 7, **options).shape == (0, 7)
