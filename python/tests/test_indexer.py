# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scores of index keys, selections from them, and what makes queries and keys. The pairs of their
options are in test_pairs.py."""

import re

import numpy as np
import producers
import pytest
import reference
from engines import compile_engine

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
    for given in ({}, {"kernels": 1}, {"kernels": 2}, {"scores": own}):
        found = dsv4.index_topk(*index, 100, **options, **order, **given)
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], indices)
        page = np.take_along_axis(options["page_table"], np.maximum(indices, 0) // SIZE, 1)
        slots = np.where((indices < 0) | (page < 0), -1, page * SIZE + indices % SIZE)
        np.testing.assert_array_equal(found[2], slots)
    np.testing.assert_array_equal(own, scores)


def test_arrays_that_are_none_are_named(rng):
    index, options, *_ = make_index(rng, 3)
    other = np.zeros((3, 9), np.int32)
    for name, function, given in (
        ("out", dsv4.index_score, {"out": 3}), ("scores", dsv4.index_topk, {"k": 5, "scores": 3}),
        ("out", dsv4.index_score, {"out": other}), ("lengths", dsv4.index_score, {"lengths": [1]}),
        ("scores", dsv4.index_topk, {"k": 5, "scores": other}),
        ("page_table", dsv4.index_score, {"page_table": np.zeros((3, 9), np.float32)}),
        ("out", dsv4.index_topk, {"k": 5, "out": other[:, :5].astype(np.int64)}),
    ):  # fmt: skip
        with pytest.raises(dsv4.TypeMismatch, match=f"'{name}'") as caught:
            function(*index, **{**options, **given})
        assert caught.value.argument == name
    for weights in (index[2].astype(np.float16), index[2].view(np.int32)):
        with pytest.raises(dsv4.TypeMismatch, match="'weights' has elements") as caught:
            dsv4.index_score(*index[:2], weights, **options)
        assert caught.value.argument == "weights"


def text_of(*args, **options):
    return _kernels.program_of(dsv4.index_topk, args, options).text()


def test_how_many_kernels_there_are(rng):
    index, options, *_ = make_index(rng, 64)
    few, few_options, *_ = make_index(rng, 3)
    long = {"page_table": np.zeros((64, 2**16 // SIZE), np.int32)}
    for two, text in (
        (True, text_of(*few, 5, **few_options)), (False, text_of(*index, 5, **options)),
        (True, text_of(*index, 5, **options | long)),
        (True, text_of(*index, 5, **options, kernels=2)),
        (False, text_of(*few, 5, **few_options, kernels=1)),
        (True, text_of(*index, 5, **options | {"lengths": None})),
        (False, text_of(*few, 5, **few_options | {"lengths": None}, kernels=1)),
        (True, text_of(*index, 5, **options, scores=np.zeros((64, 9 * SIZE), np.float32))),
        # What an array of scores would be too large for.
        (False, text_of(*index, 5, **{**options, "page_table": np.zeros((64, 2**16), np.int32)})),
    ):  # fmt: skip
        assert ("%scores:" in text) == two
    assert indexer.uses_two_kernels(1, 2**18) and not indexer.uses_two_kernels(64, 2**14)
    assert indexer.uses_two_kernels(64, 2**15) and indexer.uses_two_kernels(256, 2**13)
    assert not indexer.uses_two_kernels(16, 2**13) and indexer.uses_two_kernels(8, 2**15)
    assert not indexer.uses_two_kernels(128, 2**13) and indexer.uses_two_kernels(128, 2**14)
    assert not indexer.uses_two_kernels(4096, 2**18)


def emit_for_gpu(rows, columns, k=512, **options):
    """The source for arrays of a GPU."""
    def new(dtype, *shape):
        return producers.OnDevice(np.empty(shape, dtype))

    program = _kernels.program_of(
        dsv4.index_topk,
        (new("u1", rows, 64, 128), new("u1", 9, SIZE * 132), new("f4", rows, 64), k),
        {"record": "index_fp8_132", "page_table": new("i4", rows, columns // SIZE),
         "lengths": new("i4", rows), **options},
    )  # fmt: skip
    return dsv4.emit(program.text(), dims=program.bounds, arch="sm_90a")


def test_kernels_of_a_gpu_use_tensor_cores_and_shared_memory():
    for rows, columns, options, expected in (
        (64, 16384, {}, {"index_score_block", "topk_resident"}),
        (64, 8192, {"k": 4096}, {"index_score_block", "topk_resident"}),
        (1, 2**18, {"kernels": 1}, {"index_score_block", "topk_resident"}),
        (1, 2**18, {}, {"index_score_grid", "topk_cluster"}),
        (300, 2**20, {"kernels": 2}, {"index_score_grid", "topk_block"}),
    ):  # fmt: skip
        source = emit_for_gpu(rows, columns, **options)
        assert set(re.findall(r"dsv4::(index_score\w*|topk\w*)<", source)) == expected


@pytest.mark.parametrize("rows", (15, 16))  # By default two kernels, and one.
@pytest.mark.parametrize("kernels", (None, 1, 2))
def test_rows_end_with_their_pages_however_long_they_are_said_to_be(rng, rows, kernels):
    index, options, *_ = make_index(rng, rows)
    options["page_table"] = options["page_table"][:, :1].copy()
    options["lengths"] = np.full(rows, SIZE + 36)
    found = dsv4.index_topk(*index, SIZE + 16, **options, order="index", kernels=kernels)
    assert (found == [*range(SIZE), *[-1] * 16]).all()


@pytest.mark.parametrize("kernels", (1, 2))
@pytest.mark.parametrize("lengths", (None, SIZE * 3))
def test_columns_beyond_the_pages_come_last(rng, lengths, kernels):
    """They are -infinity, also in an array that a call makes, whatever is in its memory."""
    index, options, *_ = make_index(rng, 3)
    index[2][...] = -1
    options["page_table"] = np.arange(6, dtype=np.int32).reshape(3, 2)
    options["lengths"] = lengths and np.full(3, lengths)
    for k in (SIZE * 2, SIZE * 2 + 5):
        found = dsv4.index_topk(
            *index, k, **options, columns=SIZE * 3, order="index", kernels=kernels
        )
        assert (found == range(k)).all()


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
    index, options, *_ = make_index(rng, 2)
    options["page_table"] = options["page_table"][:, :0]
    assert dsv4.index_score(*index, **options).shape == (2, 0)
    for kernels in (None, 1, 2):
        assert (dsv4.index_topk(*index, 7, **options, kernels=kernels) == -1).all()


# ===-- Queries and appends ------------------------------------------------------===

_SGLANG = {"interleaved": True, "hadamard": True, "constants": (0.0110485433,)}
_VLLM = {"rounding": "last", "constants": (0.0883883461, 0.125)}
QUERIES = {
    "sglang_fused_q_indexer_rope_hadamard_quant": {"recipe": "deepgemm_fp8", **_SGLANG},
    "sglang_fused_q_indexer_rope_hadamard_fp4_quant": {
        "recipe": "sglang_mxfp4", "rounding": "each", **_SGLANG,
    },
    "vllm_fused_indexer_q_rope_quant": {"recipe": "vllm_index_q", **_VLLM},
    "vllm_fused_indexer_q_rope_quant_fp4": {"recipe": "deepseek_fp4", **_VLLM},
}  # fmt: skip


@pytest.mark.parametrize("name", QUERIES)
def test_queries_are_those_of_engines(rng, name):
    q = reference.to_bf16(rng.standard_normal((5, 64, 128)))
    weights = reference.to_bf16(rng.standard_normal((5, 64)))
    table = rng.standard_normal((30, 64)).astype(np.float32)
    positions = rng.integers(0, 30, 5)
    results = dsv4.index_query(q, weights, table, positions, **QUERIES[name])
    outs = tuple(map(np.zeros_like, results))
    inputs = {"sglang": (q, weights, table, positions), "vllm": (positions, q, table, weights)}
    compile_engine(name)(*inputs[name.partition("_")[0]], *outs)
    for got, expected in zip(results, outs):
        np.testing.assert_array_equal(got, expected)


APPENDS = {
    "sglang_fused_store_cache_indexer": ("index_fp8_132", None),
    "sglang_fused_store_cache_indexer_fp4": ("index_mxfp4_68", None),
    "vllm_indexer_k_quant_and_cache": ("index_fp8_132", "vllm_index_k"),
}


@pytest.mark.parametrize("name", APPENDS)
def test_keys_are_those_of_engines(rng, name):
    record, recipe = APPENDS[name]
    x, slots = reference.to_bf16(rng.standard_normal((7, 128))), rng.permutation(3 * SIZE)[:7]
    slots[2] = -1
    cache = np.zeros((3, dsv4.KNOWN_RECORDS[record].page_bytes(SIZE)), np.uint8)
    expected = np.zeros_like(cache)
    dsv4.index_append_(x, cache, slots, record=record, recipe=recipe)
    compile_engine(name)(x, expected, slots)
    np.testing.assert_array_equal(cache, expected)
    assert cache.any()


@pytest.mark.parametrize("rounding", ["none", "last", "each"])
@pytest.mark.parametrize("record", ["index_fp8_132", "index_mxfp4_68"])
def test_appends_are_those_of_single_functions(rng, record, rounding):
    x = reference.to_bf16(rng.standard_normal((5, 128)))
    weight = rng.standard_normal(128).astype(np.float32)
    table, positions = rng.standard_normal((30, 64)).astype(np.float32), rng.integers(0, 30, 5)
    between = "bfloat16" if rounding == "each" else "float32"
    last = "float32" if rounding == "none" else "bfloat16"
    rows = dsv4.rope(dsv4.rms_norm(x, weight, dtype=between), table, positions)
    fields = dsv4.quantize(
        dsv4.hadamard(rows, dtype=last), dsv4.recipes.DEFAULT_RECIPES[record]
    )
    slots = np.array([3, 100, -1, 64, 63])
    cache = np.zeros((2, dsv4.KNOWN_RECORDS[record].page_bytes(SIZE)), np.uint8)
    expected = np.zeros_like(cache)
    dsv4.append_(expected, slots, fields, record=record)
    dsv4.index_append_(
        x, cache, slots, record=record, weight=weight, table=table, positions=positions,
        hadamard=True, rounding=rounding,
    )  # fmt: skip
    np.testing.assert_array_equal(cache, expected)


def kernels_of(function, *args, **options):
    text = _kernels.program_of(function, args, options).text()
    return re.findall(r'extern "C" __global__', dsv4.emit(text))


def test_queries_and_appends_are_one_kernel():
    q, weights, ids = np.zeros((4, 8, 128), np.uint16), np.ones((4, 8), "f4"), np.arange(4)
    table, cache = np.ones((9, 64), np.float32), np.zeros((2, SIZE * 132), np.uint8)
    chain = {"table": table, "positions": ids, "hadamard": True}
    found = kernels_of(dsv4.index_query, q, weights, recipe="deepgemm_fp8", **chain)
    assert len(found) == 1
    found = kernels_of(
        dsv4.index_append_, q[:, 0], cache, ids, record="index_fp8_132",
        weight=np.ones(128, np.float32), **chain,
    )  # fmt: skip
    assert len(found) == 1


@pytest.mark.parametrize("record, recipe", [
    ("index_fp8_132", "deepgemm_fp8"), ("index_mxfp4_68", "sglang_mxfp4"),
])  # fmt: skip
def test_an_indexer_finds_the_key_that_a_query_is(rng, record, recipe):
    """Both sides are transformed: products are about those of the vectors themselves."""
    keys = rng.standard_normal((200, 128)).astype(np.float32)
    cache = np.zeros((4, dsv4.KNOWN_RECORDS[record].page_bytes(SIZE)), np.uint8)
    slots = rng.permutation(4 * SIZE)[:200]
    dsv4.index_append_(keys, cache, slots, record=record, hadamard=True)
    q = np.repeat(keys[::50, None], 4, 1)
    made = dsv4.index_query(q, np.ones((4, 4), np.float32), recipe=recipe, hadamard=True)
    scales = {"scales": made[1]} if len(made) == 3 else {}
    # All entries of the pool, those that nothing was written to among them.
    found = dsv4.index_topk(
        made[0], cache, made[-1], 1, record=record, return_indices=False, return_slots=True,
        page_table=np.tile(np.arange(4), (4, 1)), lengths=np.full(4, 4 * SIZE), **scales,
    )  # fmt: skip
    assert found[:, 0].tolist() == slots[::50].tolist()
