# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A later call returns what the first one does: it is launched by a plan, the first by the body."""

import inspect

import numpy as np
import pytest
import reference

from test_caches import make_cache, random_fields

import dsv4

RNG = np.random.default_rng(11)
SCORES = RNG.standard_normal((3, 61)).astype(np.float32)
ROWS = RNG.standard_normal((3, 256)).astype(np.float32)
HEADS = RNG.standard_normal((3, 2, 64)).astype(np.float32)
TABLE = np.arange(6, dtype=np.int32).reshape(3, 2)
IDS = np.array([2, 0, 1])
QUERIES = reference.to_bf16(ROWS[:, :128]).reshape(3, 2, 64)
KEYS, WEIGHTS = reference.to_bf16(ROWS[:, :64]), ROWS[:, :2].copy()
EXPERTS = RNG.integers(0, 61, (4, 5)).astype(np.int32)
HIDDEN = RNG.integers(0x3E00, 0x3F80, (3, 96)).astype(np.uint16)
GATE = RNG.standard_normal((61, 96)).astype(np.float32)
PAGES = RNG.standard_normal((4, 8, 4)).astype(np.float32)
RECORD = dsv4.Record([dsv4.Field("x", 4, "f32")])
BY_ROWS = dsv4.Recipe("f4E2M1FN", "f8E4M3FN", 16, outer="row")

CALLS = {
    "topk": (dsv4.topk, (SCORES, 7), {}),
    "topk values": (dsv4.topk, (SCORES, 7), {"return_values": True}),
    "topk_paged": (dsv4.topk_paged, (SCORES, 7, TABLE), {"page_size": 32}),
    "topk_paged all": (
        dsv4.topk_paged, (SCORES, 7, TABLE),
        {"page_size": 32, "return_indices": True, "return_values": True},
    ),
    "index_score": (dsv4.index_score, (QUERIES, KEYS, WEIGHTS), {}),
    "index_topk": (dsv4.index_topk, (QUERIES, KEYS, WEIGHTS, 3), {"lengths": IDS}),
    "index_topk values": (
        dsv4.index_topk, (QUERIES, KEYS, WEIGHTS, 3), {"return_values": True, "lengths": IDS}
    ),
    "index_query": (dsv4.index_query, (QUERIES, WEIGHTS), {"recipe": "deepgemm_fp8"}),
    "index_query in FP4": (dsv4.index_query, (QUERIES, WEIGHTS), {"recipe": "mxfp4"}),
    "route": (dsv4.route, (SCORES, 6), {}),
    "route replay": (
        dsv4.route, (SCORES, 6), {"expert_map": np.arange(61)[::-1].copy(), "return_replay": True}
    ),
    "route replayed": (
        dsv4.route, (SCORES, 5), {"replay": EXPERTS[:3].astype(np.int16)}
    ),
    "route token experts": (
        dsv4.route, (SCORES, 6), {"index_dtype": "int16", "return_token_experts": True}
    ),
    "hash_route": (dsv4.hash_route, (SCORES, IDS, EXPERTS), {}),
    "router_logits": (dsv4.router_logits, (HIDDEN, GATE), {}),
    "dense_route": (dsv4.dense_route, (HIDDEN, GATE, 6), {}),
    "dense_route softmax": (dsv4.dense_route, (HIDDEN, GATE, 6), {"score": "softmax"}),
    "dense_route logits": (dsv4.dense_route, (HIDDEN, GATE, 6), {"return_logits": True}),
    "gather": (dsv4.gather, (PAGES, IDS), {"record": RECORD}),
    "gather mask": (dsv4.gather, (PAGES, IDS), {"record": RECORD, "return_mask": True}),
    "gather_raw": (dsv4.gather_raw, (PAGES, IDS), {"record": RECORD}),
    "gather_raw mask": (dsv4.gather_raw, (PAGES, IDS), {"record": RECORD, "return_mask": True}),
    "gather_raw ragged": (
        dsv4.gather_raw, (PAGES,),
        {"record": RECORD, "page_table": TABLE, "cu_seq_lens": np.array([0, 4, 9, 11]),
         "rows": 12},
    ),
    "gather_ragged": (
        dsv4.gather_ragged, (PAGES, TABLE),
        {"record": RECORD, "cu_seq_lens": np.array([0, 4, 9, 11]), "rows": 12},
    ),
    "gather_ragged mask": (
        dsv4.gather_ragged, (PAGES, TABLE),
        {"record": RECORD, "cu_seq_lens": np.array([0, 4, 9, 11]), "rows": 12,
         "return_mask": True},
    ),
    "compress_plan": (dsv4.compress_plan, (2, IDS), {"requests": IDS}),
    "compress_plan slots": (dsv4.compress_plan, (2, IDS), {"requests": IDS, "slots": IDS}),
    "valid_lens": (dsv4.valid_lens, (IDS,), {"ratio": 2}),
    "valid_lens pages": (dsv4.valid_lens, (IDS,), {"page_size": 2, "pages": 3}),
    "rms_norm": (dsv4.rms_norm, (ROWS,), {}),
    "rope": (dsv4.rope, (ROWS, ROWS[:, :32].copy(), IDS), {}),
    "query_norm_rope": (dsv4.query_norm_rope, (HEADS, ROWS[:, :32].copy(), IDS), {}),
    "query_norm_rope heads": (
        dsv4.query_norm_rope, (HEADS, ROWS[:, :32].copy(), IDS), {"heads": 5}
    ),
    "norm_rope_insert_": (
        dsv4.norm_rope_insert_,
        (HEADS, ROWS[:, :4].copy(), PAGES.copy(), IDS, np.ones((3, 4), np.float32)),
        {"record": RECORD},
    ),
    "hadamard": (dsv4.hadamard, (ROWS[:, :64].copy(),), {}),
    "scale_weights": (dsv4.scale_weights, (ROWS, None, (0.5,)), {}),
    "concat_rows": (dsv4.concat_rows, (ROWS, ROWS), {}),
    "pad_rows": (dsv4.pad_rows, (ROWS, 9), {}),
    "quantize": (dsv4.quantize, (ROWS, "deepseek_fp8"), {}),
    "quantize given": (dsv4.quantize, (ROWS, "fp8_tensor"), {"global_scale": ROWS[0, :1].copy()}),
    "quantize per row": (dsv4.quantize, (ROWS, BY_ROWS), {}),
    "dequantize": (
        dsv4.dequantize, (ROWS.view(np.uint8)[:, :256].copy() & 63, np.ones((3, 2), np.float32),
                          "deepseek_fp8"), {},
    ),
}  # fmt: skip
CALLS |= {
    f"gather_raw {name}": (
        dsv4.gather_raw, (None, np.array([5, 20, -1])), {"record": name, "page_size": 16}
    )
    for name in dsv4.KNOWN_RECORDS
}  # fmt: skip


def assert_same(first, later):
    assert type(first) is type(later)
    if isinstance(first, tuple):
        assert len(first) == len(later)
        for each in zip(first, later):
            assert_same(*each)
    else:
        assert first.dtype == later.dtype and first.shape == later.shape
        assert first.tobytes() == later.tobytes()


@pytest.mark.parametrize("name", sorted(CALLS))
def test_later_calls_return_what_the_first_one_does(name):
    function, args, options = CALLS[name]
    if args[0] is None:
        record = dsv4.KNOWN_RECORDS[options["record"]]
        cache, rng = make_cache(record, 2, 16), np.random.default_rng(3)
        dsv4.append_(
            cache, np.array([5, 20]), random_fields(rng, record, 2), record=record, page_size=16
        )
        args = (cache, *args[1:])
    first = function(*args, **options)
    if function is dsv4.gather_raw:
        assert isinstance(first, tuple)
    for _ in range(2):
        assert_same(first, function(*args, **options))


def test_every_function_that_returns_arrays_is_tested():
    functions = {
        name for name, each in vars(dsv4).items()
        if inspect.isfunction(each) and "out" in inspect.signature(each).parameters
    }  # fmt: skip
    assert functions == {each.__name__ for each, _, _ in CALLS.values()}
