# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that do not fit each other, and outputs: the id of the error, and its argument."""

import numpy as np
import pytest
from option_calls import (
    ANGLES,
    F32,
    HIDDEN,
    I32,
    Q,
    RECORD,
    TABLE,
    append_,
    compress_,
    compress_plan,
    dense_route,
    gather,
    gather_ragged,
    gather_raw,
    hash_route,
    index_append_,
    index_of_arrays,
    index_query,
    index_score,
    index_topk,
    norm_rope_append_,
    norm_rope_insert_,
    quantize,
    query_norm_rope,
    raw_of_requests,
    rope,
    route,
    scale_weights,
    topk,
    topk_paged,
    valid_lens,
)

import dsv4

PACKED_RECORD = dsv4.Record([dsv4.Field("x", 8, "f4E2M1FN")])
PACKED_ROWS = np.zeros((4, 8), np.uint8)
NAN, ONE = float("nan"), np.ones(1, np.float32)
EXPERTS, MASK = np.zeros((4, 6), np.int16), np.zeros(4, bool)

# What goes together, and arrays that do not fit options: the id, and the argument.
TOGETHER = [
    (lambda: topk(next_n=65, lengths=I32), "option.next_n"),
    (lambda: topk(lengths=I32, ends=I32), "argument.ends"),
    (lambda: dsv4.topk(F32[None], 3, lengths=I32, next_n=2), "option.next_n"),
    (lambda: index_query(table=None), "argument.table"),
    (lambda: index_query(positions=None), "argument.positions"),
    (lambda: index_query(table=None, hadamard=True), "argument.table"),
    (lambda: index_query(weights=F32), "argument.extent weights"),
    (lambda: index_query(q=F32), "argument.rank q"),
    (lambda: index_query(q=np.ones((4, 2, 48), np.float32), hadamard=True), "argument.extent q"),
    (lambda: index_query(q=np.ones((4, 2, 80), np.float32), recipe="mxfp4"), "argument.extent q"),
    (lambda: index_query(interleaved=True, neox=True), "option.interleaved"),
    (lambda: index_query(out=F32), "argument.out"),
    (lambda: index_query(table=np.ones((9, 128), np.float32)), "argument.extent table"),
    (lambda: index_append_(norm=False), "argument.weight"),
    (lambda: index_append_(x=np.ones((4, 9), np.float32)), "argument.extent x"),
    (lambda: index_append_(record=RECORD), "option.record"),
    (lambda: index_append_(record="fp8_512"), "option.record"),
    (lambda: index_append_(positions=I32), "argument.table"),
    (lambda: index_append_(ring=8), "argument.lengths"),
    (lambda: index_append_(page_table=TABLE, unique=False), "option.unique"),
    (lambda: index_score(page_table=None), "argument.page_table"),
    (lambda: index_score(key_scales=F32[:, 0].copy()), "argument.key_scales"),
    (lambda: index_score(indptr=I32, page_table=I32), "argument.columns"),
    (lambda: index_score(record="v4_584"), "option.record"),
    (lambda: index_score(record=RECORD), "option.record"),
    (lambda: index_score(record="index_mxfp4_68", q=np.zeros((4, 2, 64), np.uint8)),
     "argument.extent q"),
    (lambda: index_score(q=np.zeros((4, 2, 80), np.uint8)), "argument.extent q"),
    (lambda: index_score(q=np.zeros((4, 129, 128), np.uint8)), "argument.extent q"),
    (lambda: index_score(q=np.zeros((4, 128), np.uint8)), "argument.rank q"),
    (lambda: index_score(scales=np.zeros((4, 2, 4), np.uint8)), "argument.extent scales"),
    (lambda: index_score(weights=F32), "argument.extent weights"),
    (lambda: index_score(lengths=I32[:2].copy()), "argument.extent lengths"),
    (lambda: index_score(lengths=I32, ends=I32), "argument.ends"),
    (lambda: index_score(page_table=TABLE[:3]), "argument.extent page_table"),
    (lambda: index_score(columns=5, out=np.zeros((4, 6), np.float32)), "argument.extent out"),
    (lambda: index_score(page_table=np.zeros((4, 2**20), np.int32)), "option.columns"),
    (lambda: index_score(out=np.zeros(4, np.float32)), "argument.rank out"),
    (lambda: index_topk(scores=np.zeros(4, np.float32)), "argument.rank scores"),
    (lambda: index_of_arrays(page_table=TABLE), "argument.page_table"),
    (lambda: index_of_arrays(requests=I32), "argument.requests"),
    (lambda: index_of_arrays(keys=np.zeros((9, 64), np.uint8)), "argument.key_scales"),
    (lambda: index_of_arrays(page_size=8), "argument.page_size"),
    (lambda: index_of_arrays(keys=np.zeros((9, 128), np.uint16)), "argument.extent keys"),
    (lambda: index_of_arrays(keys=np.zeros((9, 64), np.uint8), key_scales=F32[:, 0].copy()),
     "argument.extent key_scales"),
    (lambda: index_of_arrays(keys=np.zeros((9, 64), np.uint8), key_scales=np.zeros(18, "f4")[::2]),
     "argument.stride key_scales"),
    (lambda: index_of_arrays(keys=np.zeros((9, 64), np.uint8), key_scales=np.zeros(10, "f4")[1:]),
     "argument.alignment key_scales"),
    (lambda: index_of_arrays(keys=np.zeros((9, 32), np.uint8),
                             key_scales=np.zeros((9, 3), np.uint8)), "argument.extent key_scales"),
    (lambda: index_of_arrays(keys=np.zeros((9, 64), np.uint8), key_scales=F32[:, :1].copy()),
     "argument.extent key_scales"),
    (lambda: index_of_arrays(columns=10), "option.columns"),
    (lambda: index_of_arrays(return_slots=True), "option.return_slots"),
    (lambda: index_topk(return_indices=False), "option.return_indices"),
    (lambda: index_topk(kernels=1, scores=np.zeros((4, 16), np.float32)), "option.kernels"),
    (lambda: index_topk(starts=I32), "argument.lengths"),
    (lambda: index_topk(starts=I32, ends=I32), "argument.lengths"),
    (lambda: index_topk(starts=I32, lengths=I32, return_slots=True), "option.return_slots"),
    (lambda: index_topk(lengths=I32[:2].copy(), next_n=2, page_table=TABLE[:2].copy(),
                        return_slots=True), "option.return_slots"),
    (lambda: index_topk(offsets=I32[:2].copy()), "argument.extent offsets"),
    (lambda: index_topk(scores=np.zeros((3, 16), np.float32)), "argument.extent scores"),
    (lambda: index_topk(out=np.zeros((4, 2), np.int32)), "argument.extent out"),
    (lambda: topk(sorted=True, order="index"), "option.order"),
    (lambda: topk_paged(requests=I32, cu_seq_lens=I32), "argument.cu_seq_lens"),
    (lambda: dsv4.topk_paged(F32[None], 3, TABLE, page_size=32, cu_seq_lens=I32),
     "argument.cu_seq_lens"),
    (lambda: topk_paged(page_starts=I32[:3]), "argument.extent page_starts"),
    (lambda: topk_paged(page_starts=TABLE), "argument.rank page_starts"),
    (lambda: topk_paged(cu_seq_lens=TABLE), "argument.rank cu_seq_lens"),
    (lambda: topk_paged(cu_seq_lens=np.zeros(10, np.int32)[::2]), "argument.stride cu_seq_lens"),
    (lambda: route(k=32, shared=1, shared_weight=1.0), "option.k"),
    (lambda: route(shared=1, shared_weight=1.0, shared_of_sum=1.0), "option.shared"),
    (lambda: route(shared=1, shared_weight=NAN), "option.shared_weight"),
    (lambda: route(shared_weight=1.0), "option.shared_weight"),
    (lambda: hash_route(shared_of_sum=1.0), "option.shared_of_sum"),
    (lambda: dense_route(shared_weight=1.0), "option.shared_weight"),
    (lambda: route(shared=1, shared_of_sum="a"), "option.shared_of_sum"),
    (lambda: hash_route(shared=1, shared_weight="a"), "option.shared_weight"),
    (lambda: dsv4.route(np.ones((1, 1025), np.float32), 6), "argument.extent logits"),
    (lambda: route(bias=F32[0], image_tokens=MASK), "argument.bias_vl"),
    (lambda: route(bias=F32[0], bias_vl=F32[0]), "argument.image_tokens"),
    (lambda: route(bias_vl=F32[0], image_tokens=MASK), "argument.bias"),
    (lambda: route(bias=F32[0], bias_vl=F32[0, :3], image_tokens=MASK), "argument.extent bias_vl"),
    (lambda: route(bias=F32[0], bias_vl=F32[0], image_tokens=MASK[:3]),
     "argument.extent image_tokens"),
    (lambda: route(replay=EXPERTS, bias=F32[0]), "argument.bias"),
    (lambda: route(replay=EXPERTS, groups=(8, 4, 2)), "argument.groups"),
    (lambda: route(replay=EXPERTS, image_tokens=MASK), "argument.image_tokens"),
    (lambda: route(replay=EXPERTS, nan="first"), "option.nan"),
    (lambda: route(replay=EXPERTS, return_token_experts=True), "option.return_token_experts"),
    (lambda: route(replay=EXPERTS[:, :5]), "argument.extent replay"),
    (lambda: route(replay=EXPERTS, shared=1, shared_weight=1.0), "argument.extent replay"),
    (lambda: dense_route(replay=EXPERTS), "argument.extent replay"),
    (lambda: dense_route(replay=EXPERTS[:, :4], groups=(1, 1, 1)), "argument.groups"),
    (lambda: route(return_token_experts=True, out=(F32, I32)), "argument.out"),
    (lambda: route(expert_map=I32), "argument.extent expert_map"),
    (lambda: route(shared=1, shared_weight=1.0, expert_map=np.zeros(64, int)),
     "argument.extent expert_map"),
    (lambda: route(expert_map=np.zeros(128, int)[::2]), "argument.stride expert_map"),
    (lambda: hash_route(expert_map=I32), "argument.extent expert_map"),
    (lambda: route(return_replay=True, out=(F32, I32)), "argument.out"),
    (lambda: dense_route(expert_map=I32[:3]), "argument.extent expert_map"),
    (lambda: dense_route(bias_vl=F32[0, :4], image_tokens=MASK), "argument.bias"),
    (lambda: dense_route(k=2, shared=1), "option.shared"),
    (lambda: dense_route(k=2, bias=F32[0].copy()), "argument.extent bias"),
    (lambda: dense_route(k=2, out=F32), "argument.out"),
    (lambda: dense_route(workspace=np.zeros(8, np.uint8)), "workspace workspace"),
    (lambda: dense_route(k=2, return_logits=True, out=(F32, I32)), "argument.out"),
    (lambda: dsv4.router_logits(HIDDEN, F32[:, :3].copy()), "argument.extent gate"),
    (lambda: dsv4.router_logits(HIDDEN, np.ones((513, 64), np.float32)), "argument.extent gate"),
    (lambda: dsv4.router_logits(HIDDEN, np.ones((0, 64), np.float32)), "argument.extent gate"),
    (lambda: dsv4.router_logits(np.ones((1, 8193), np.uint16), F32), "argument.extent hidden"),
    (lambda: dsv4.router_logits(HIDDEN[0], F32), "argument.rank hidden"),
    (lambda: dsv4.router_logits(HIDDEN.T[:4], F32), "argument.stride hidden"),
    (lambda: dsv4.rms_norm(np.ones((1, 0), np.float32)), "argument.extent x"),
    (lambda: dsv4.rms_norm(np.ones((1, 65537), np.float32)), "argument.extent x"),
    (lambda: norm_rope_append_(norm=False, weight=F32[0].copy()), "argument.weight"),
    (lambda: compress_(norm=False, weight=F32[0].copy()), "argument.weight"),
    (lambda: query_norm_rope(norm=False, weight=F32[0].copy()), "argument.weight"),
    (lambda: query_norm_rope(heads=4, eps=0), "option.eps"),
    (lambda: query_norm_rope(heads=4, eps=1e-50), "option.eps"),
    (lambda: query_norm_rope(scale_inv=np.ones(1, np.float32), dtype="bfloat16"), "option.dtype"),
    (lambda: query_norm_rope(scale_inv=F32[0].copy()), "argument.extent scale_inv"),
    (lambda: query_norm_rope(q=F32), "argument.rank q"),
    (lambda: query_norm_rope(q=Q[:, :0]), "argument.extent q"),
    (lambda: query_norm_rope(positions=I32[:3]), "argument.extent positions"),
    (lambda: query_norm_rope(table=np.ones((9, 128), np.float32)), "argument.extent table"),
    (lambda: query_norm_rope(out=F32), "argument.rank out"),
    (lambda: query_norm_rope(heads=4, out=Q), "argument.extent out"),
    (lambda: query_norm_rope(interleaved=True, neox=True), "option.interleaved"),
    (lambda: norm_rope_insert_(q_norm=False, q_weight=F32[0].copy()), "argument.q_weight"),
    (lambda: norm_rope_insert_(norm=False, weight=F32[0, :8].copy()), "argument.weight"),
    (lambda: norm_rope_insert_(weight=F32[0, :9].copy()), "argument.extent weight"),
    (lambda: norm_rope_insert_(kv=F32), "argument.extent kv"),
    (lambda: norm_rope_insert_(kv=F32[:3, :8].copy()), "argument.extent kv"),
    (lambda: norm_rope_insert_(table=ANGLES), "argument.extent table"),
    (lambda: norm_rope_insert_(q_scale_inv=I32[:1], dtype="float32"), "option.dtype"),
    (lambda: norm_rope_insert_(ring=8), "argument.lengths"),
    (lambda: norm_rope_insert_(requests=I32), "argument.requests"),
    (lambda: norm_rope_insert_(global_scale=np.ones(1, np.float32)), "argument.global_scale"),
    (lambda: dsv4.hadamard(F32[:, :48].copy()), "argument.extent x"),
    (lambda: scale_weights(scales=F32[:2]), "argument.extent scales"),
    (lambda: dsv4.concat_rows(F32, F32[:2]), "argument.extent y"),
    (lambda: dsv4.concat_rows(np.ones((1, 65536), np.float32), F32[:1]), "argument.extent y"),
    (lambda: dsv4.pad_rows(F32[0], 3), "argument.rank x"),
    (lambda: rope(table=np.ones((9, 128), np.float32)), "argument.extent table"),
    (lambda: rope(table=ANGLES[:, :31].copy()), "argument.extent table"),
    (lambda: rope(interleaved=True, neox=True), "option.interleaved"),
    (lambda: quantize(recipe="deepseek_fp8", group=32, scale_layout="packed"),
     "option.scale_layout"),
    (lambda: quantize(recipe="seed", scale_layout="column_major"), "option.scale_layout"),
    (lambda: dsv4.quantize(F32[:, :63].copy(), "mxfp4", group=21), "argument.extent x"),
    (lambda: quantize(recipe="deepseek_fp8", group=32, scale_type="f8E8M0FNU"),
     "option.recipe.rounding"),
    (lambda: quantize(recipe="fp8_tensor"), "argument.global_scale"),
    (lambda: quantize(global_scale=ONE), "argument.global_scale"),
    (lambda: quantize(recipe="fp8_tensor", global_scale=F32), "argument.rank global_scale"),
    (lambda: quantize(recipe="nvfp4", global_scale=ONE, inverse=True), "option.inverse"),
    (lambda: quantize(recipe="vllm_fp8_tensor", global_scale=ONE, inverse=True),
     "option.inverse"),
    (lambda: quantize(group="tensor", global_scale=ONE), "option.recipe.group"),
    (lambda: quantize(recipe="deepseek_fp8", group="tensor", global_scale=ONE),
     "option.recipe.group"),
    (lambda: quantize(recipe="fp8_tensor", global_scale=ONE, scale_layout="packed"),
     "option.scale_layout"),
    (lambda: quantize(recipe="fp8_tensor", global_scale=ONE, scale_type="f8E8M0FNU"),
     "option.recipe.group"),
    (lambda: dsv4.dequantize(F32.view(np.uint8), F32, "fp8_tensor"), "argument.rank scales"),
    (lambda: gather(requests=I32), "argument.requests"),
    (lambda: gather(indptr=I32), "argument.indptr"),
    (lambda: gather_ragged(seq_lens=None), "argument.seq_lens"),
    (lambda: gather_ragged(cu_seq_lens=np.zeros(5, np.int32)), "argument.seq_lens"),
    (lambda: gather_ragged(seq_lens=None, cu_seq_lens=np.zeros(5, np.int32), offset=1),
     "option.offset"),
    (lambda: gather_raw(indices=None), "argument.indices"),
    (lambda: gather_raw(cu_seq_lens=I32), "argument.cu_seq_lens"),
    (lambda: gather_raw(rows=4), "argument.rows"),
    (lambda: raw_of_requests(lengths=I32), "argument.lengths"),
    (lambda: raw_of_requests(lengths_per="row"), "option.lengths_per"),
    (lambda: raw_of_requests(seq_lens=I32), "argument.seq_lens"),
    (lambda: raw_of_requests(page_table=None), "argument.page_table"),
    (lambda: raw_of_requests(rows=None), "argument.rows"),
    (lambda: raw_of_requests(rows=-1), "option.rows"),
    (lambda: raw_of_requests(offset=1), "option.offset"),
    (lambda: raw_of_requests(cu_seq_lens=TABLE), "argument.rank cu_seq_lens"),
    (lambda: append_(ring=8), "argument.lengths"),
    (lambda: append_(ring=0, lengths=I32, requests=I32), "option.ring"),
    (lambda: append_(ring=12, lengths=I32, requests=I32), "option.ring"),
    (lambda: append_(lengths=I32), "argument.lengths"),
    (lambda: append_(requests=I32), "argument.requests"),
    (lambda: append_(indptr=I32), "argument.indptr"),
    (lambda: append_(page_table=TABLE, requests=I32, unique=False), "option.unique"),
    (lambda: append_(fields=[np.ones((4, 9), np.float32)]), "argument.extent field_x"),
    (lambda: append_(columns=[1]), "argument.extent field_x"),
    (lambda: append_(columns=[1], record=PACKED_RECORD, fields=[PACKED_ROWS]), "option.columns"),
    (lambda: norm_rope_append_(positions=I32), "argument.table"),
    (lambda: norm_rope_append_(k_pe=F32), "argument.extent k_pe"),
    (lambda: norm_rope_append_(k_pe=F32[0].copy()), "argument.rank k_pe"),
    (lambda: norm_rope_append_(k_pe=F32[:2]), "argument.extent k_pe"),
    (lambda: compress_plan(lengths=I32), "argument.positions"),
    (lambda: compress_plan(positions=None), "argument.positions"),
    (lambda: compress_plan(requests=None), "argument.cu_seq_lens"),
    (lambda: compress_plan(positions=None, lengths=I32), "argument.cu_seq_lens"),
    (lambda: compress_plan(cu_seq_lens=I32, entry_starts=I32), "argument.requests"),
    (lambda: compress_plan(requests=None, cu_seq_lens=I32, entry_starts=I32), "argument.rows"),
    (lambda: compress_plan(requests=None, cu_seq_lens=I32, entry_starts=I32[:3], rows=3),
     "argument.extent entry_starts"),
    (lambda: compress_plan(slots=I32, page_table=TABLE, page_size=8), "argument.page_table"),
    (lambda: compress_plan(page_table=TABLE), "argument.page_size"),
    (lambda: compress_plan(page_size=8), "argument.page_size"),
    (lambda: compress_plan(page_table=TABLE, page_size=0), "option.page_size"),
    (lambda: compress_plan(requests=I32[:3]), "argument.extent requests"),
    (lambda: compress_plan(out=I32), "argument.out"),
    (lambda: compress_plan(requests=None, cu_seq_lens=I32, rows=3,
                           out=(np.zeros((4, 4), np.int32), I32)), "option.rows"),
    (lambda: raw_of_requests(rows=9, out=np.zeros((8, 8), np.float32)), "argument.extent out"),
    (lambda: valid_lens(lengths=I32), "argument.positions"),
    (lambda: valid_lens(positions=None), "argument.positions"),
    (lambda: valid_lens(positions=TABLE), "argument.rank positions"),
    (lambda: valid_lens(page_size=4), "argument.pages"),
    (lambda: valid_lens(page_size=4, out=I32), "argument.pages"),
    (lambda: valid_lens(page_size=4, pages=0), "option.pages"),
    (lambda: valid_lens(page_size=2**20, pages=2048), "option.pages"),
    (lambda: valid_lens(page_size=4, pages=3, out=TABLE), "argument.extent out"),
    (lambda: compress_(positions=I32[:1]), "argument.table"),
    (lambda: compress_(ring=None), "argument.state"),
    (lambda: compress_(state=None), "argument.state"),
    (lambda: compress_(overlap=True, window=513), "option.window"),
    (lambda: compress_(weight=np.ones(64, np.float32), eps="x"), "option.eps"),
]  # fmt: skip


def test_a_wrong_output_is_called_out():
    good, other = np.zeros((4, 3), np.int32), np.zeros((4, 3), np.float32)
    for out, options, what in (
        (other, {}, "'out' \\(indices\\) has elements of type f32"),
        (good[:, :2], {}, "'out' \\(indices\\): extent 1 is 2, expected 3"),
        (3, {}, "'out' \\(indices\\): expected an array"),
        ((other, other), {"return_values": True}, "'out' \\(indices\\) has elements"),
        ((good, good), {"return_values": True}, "'out' \\(values\\) has elements"),
        (F32.view(np.int32)[:, :3], {}, "'out' \\(indices\\) shares memory with 'scores'"),
    ):
        for _ in range(2):
            with pytest.raises(dsv4.Error, match=what) as caught:
                topk(out=out, **options)
            assert caught.value.argument == "out"
    # The call before has left a plan.
    memory = np.zeros((8, 64), np.float32)
    dsv4.topk(memory[:4], 64, out=memory[4:].view(np.int32))
    with pytest.raises(dsv4.InvalidArgument, match="'out' .indices. shares memory") as caught:
        dsv4.topk(memory[:4], 64, out=memory[2:6].view(np.int32))
    assert caught.value.argument == "out"
    with pytest.raises(dsv4.TypeMismatch) as caught:
        topk_paged(requests=np.zeros(4, np.float32))
    assert caught.value.argument == "requests"


def test_a_row_of_another_length_is_not_a_missing_page_size():
    cache = np.zeros((2, 37439), np.uint8)
    with pytest.raises(dsv4.InvalidArgument, match="36864 or 37440 bytes") as caught:
        dsv4.gather(cache, I32, record="v4_584")
    assert (caught.value.id, caught.value.argument) == ("argument.extent", "cache")


def test_no_memory_for_a_result(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(dsv4._program, "make_allocator", lambda *_: fail)
    with pytest.raises(dsv4.Unavailable, match="no memory for a new array of i32") as caught:
        topk(k=7)
    assert caught.value.id == "array.memory"


@pytest.mark.parametrize("call, expected", TOGETHER, ids=range(len(TOGETHER)))
def test_what_does_not_go_together_is_refused(call, expected):
    id, _, argument = expected.partition(" ")
    with pytest.raises(dsv4.InvalidArgument) as caught:
        call()
    assert caught.value.id == id
    assert caught.value.argument == (argument or id.partition(".")[2])


def test_an_output_of_other_integers_names_the_option():
    ids = np.zeros((4, 6), np.int64)
    for call in (
        lambda: topk(out=ids[:, :3].copy()),
        lambda: topk_paged(out=ids[:, :3].copy()),
        lambda: route(out=(np.zeros((4, 6), np.float32), ids)),
        lambda: route(out=(np.zeros((4, 6), np.float32), ids), expert_map=np.zeros(64, int)),
    ):
        with pytest.raises(dsv4.TypeMismatch, match="i64, expected i32: .*'index_dtype'"):
            call()


def test_ids_are_those_of_the_c_interface():
    for call, id in (
        (lambda: dsv4.topk(F32.T, 2), "argument.stride"),
        (lambda: dsv4.topk(F32.astype(np.float64), 2), "argument.type"),
        (lambda: dsv4.topk(F32, 2, lengths=I32[:3]), "argument.extent"),
        (lambda: dsv4.topk([1.0], 2), "argument.kind"),
    ):
        with pytest.raises(dsv4.Error) as caught:
            call()
        assert caught.value.id == id and caught.value.argument
