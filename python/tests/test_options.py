# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that no function takes: the class of the error, the argument that it names, and ids."""

import ast
import inspect
import os
import re

import numpy as np
import pytest

import dsv4

F32 = np.ones((4, 64), np.float32)
I32 = np.zeros(4, np.int32)
HIDDEN = np.ones((4, 64), np.uint16)
Q = np.ones((4, 2, 64), np.float32)
TABLE = np.zeros((4, 2), np.int32)
ONE = np.ones(1, np.float32)
ANGLES = np.ones((9, 32), np.float32)
PAGES = np.zeros((4, 8 * 32), np.uint8)
RECORD = dsv4.Record([dsv4.Field("x", 8, "f32")])
CACHE = {"record": RECORD, "page_size": 8}
STATE = dsv4.compression.state_record(64)
RECIPE = dsv4.KNOWN_RECIPES["mxfp4"]
NAN, INF = float("nan"), float("inf")


def topk(**options):
    return dsv4.topk(F32, **{"k": 3, **options})


def topk_paged(**options):
    return dsv4.topk_paged(F32, **{"k": 3, "page_table": TABLE, "page_size": 32, **options})


def index_arguments(options):
    """A call on a cache of FP8 keys."""
    cache = np.zeros((4, 8, 132), np.uint8)
    return {
        "q": np.zeros((4, 2, 128), np.uint8), "keys": cache, "weights": np.ones((4, 2), np.float32),
        "record": "index_fp8_132", "page_table": TABLE, **options,
    }  # fmt: skip


def index_score(**options):
    return dsv4.index_score(**index_arguments(options))


def index_topk(**options):
    return dsv4.index_topk(**index_arguments({"k": 3, **options}))


def index_of_arrays(**options):
    """A call on bf16 keys in an array."""
    q, keys = np.zeros((4, 2, 64), np.uint16), np.zeros((9, 64), np.uint16)
    return index_topk(**{"q": q, "keys": keys, "record": None, "page_table": None, **options})


def index_query(**options):
    q, weights = np.ones((4, 2, 64), np.float32), np.ones((4, 2), np.float32)
    given = {"q": q, "weights": weights, "table": ANGLES, "positions": I32, **options}
    return dsv4.index_query(**{"recipe": "deepgemm_fp8", **given})


def index_append_(**options):
    record = dsv4.Record([dsv4.Field("key", 16, "bf16")])
    given = {
        "x": np.ones((4, 16), np.float32), "weight": np.ones(16, np.float32), "record": record,
        "page_size": 8, **options,
    }  # fmt: skip
    return dsv4.index_append_(given.pop("x"), PAGES, np.arange(4), **given)


def route(**options):
    return dsv4.route(F32, **{"k": 6, **options})


def hash_route(**options):
    return dsv4.hash_route(F32, I32, np.zeros((9, 5), np.int32), **options)


def dense_route(**options):
    return dsv4.dense_route(HIDDEN, F32, **{"k": 4, **options})


def rms_norm(**options):
    return dsv4.rms_norm(F32, **options)


def rope(**options):
    return dsv4.rope(F32, **{"table": ANGLES, "positions": I32, **options})


def query_norm_rope(**options):
    q = options.pop("q", Q)
    return dsv4.query_norm_rope(q, **{"table": ANGLES, "positions": I32, **options})


def norm_rope_insert_(**options):
    given = {"q": Q, "kv": F32[:, :8].copy(), "cache": PAGES, "slots": np.arange(4),
             "table": ANGLES[:, :4].copy(), **CACHE, **options}  # fmt: skip
    return dsv4.norm_rope_insert_(**given)


def hadamard(**options):
    return dsv4.hadamard(F32, **options)


def scale_weights(**options):
    return dsv4.scale_weights(F32, **{"constants": (0.5,), **options})


def pad_rows(**options):
    return dsv4.pad_rows(F32, **{"rows": 8, **options})


def quantize(**options):
    return dsv4.quantize(F32, **{"recipe": "mxfp4", **options})


def dequantize(**options):
    values, scales = dsv4.quantize(F32, "mxfp4")
    return dsv4.dequantize(values, scales, **{"recipe": "mxfp4", **options})


def gather(**options):
    return dsv4.gather(PAGES, I32, **{**CACHE, **options})


def gather_raw(**options):
    return dsv4.gather_raw(PAGES, **{"indices": I32, **CACHE, **options})


def raw_of_requests(**options):
    cu = np.zeros(5, np.int32)
    return gather_raw(
        **{"indices": None, "page_table": TABLE, "cu_seq_lens": cu, "rows": 9, **options}
    )


def gather_ragged(**options):
    return dsv4.gather_ragged(PAGES, TABLE, **{**CACHE, "seq_lens": I32, "rows": 9, **options})


def append_(**options):
    fields = options.pop("fields", [np.ones((4, 8), np.float32)])
    return dsv4.append_(PAGES, np.arange(4), fields, **{**CACHE, **options})


def norm_rope_append_(**options):
    x = np.ones((4, 8), np.float32)
    return dsv4.norm_rope_append_(x, PAGES, np.arange(4), **{**CACHE, "weight": x[0], **options})


def compress_(**options):
    record = dsv4.Record([dsv4.Field("x", 64, "f32")])
    state = np.zeros((2, STATE.page_bytes(8)), np.uint8)
    return dsv4.compress_(
        F32, F32, TABLE.reshape(2, 4)[:1], np.zeros((1, record.page_bytes(8)), np.uint8), I32[:1],
        **{"window": 4, "record": record, "page_size": 8, "state": state, "state_page_size": 8,
           "ring": 8, **options},
    )  # fmt: skip


def compress_plan(**options):
    return dsv4.compress_plan(**{"window": 2, "positions": I32, "requests": I32, **options})


def valid_lens(**options):
    return dsv4.valid_lens(**{"positions": I32, **options})


class Text(str):
    """A string that says something else than it holds."""

    def __str__(self):
        return "<injected>"

    __repr__ = __str__

    def __format__(self, _):
        return "<injected>"


class Integer(int):
    def __mul__(self, _):
        return "<injected>"

    __rmul__ = __mul__

    def __str__(self):
        return "<injected>"

    __repr__ = __str__

    def __format__(self, _):
        return "<injected>"


class Hostile:
    """An object that fails in all that is asked of it."""

    def fail(self, *_):
        raise RuntimeError("a\nb")

    __index__ = __float__ = __bool__ = __repr__ = __str__ = __eq__ = __len__ = __iter__ = fail
    __hash__ = object.__hash__


# Those that a flag multiplied were text, or took all memory.
NO_FLAGS = (2, -1, 2**27, 2**70, 1.0, "", "no", None, [True], {}, np.zeros(0), np.array(True),
            np.float32(1), RECORD, Hostile(), 10**5000)  # fmt: skip
FLAGS = {
    topk: ("largest", "sorted", "return_values"),
    topk_paged: ("largest", "sorted", "return_values", "return_indices"),
    index_score: ("keep_rest",),
    index_topk: ("largest", "sorted", "return_indices", "return_values", "return_slots"),
    index_query: ("neox", "interleaved", "hadamard"),
    index_append_: ("neox", "interleaved", "hadamard", "unique"),
    route: ("renormalize",),
    hash_route: ("renormalize",),
    quantize: ("inverse",),
    dense_route: ("renormalize", "return_logits"),
    rope: ("inverse", "neox", "interleaved"),
    query_norm_rope: ("norm", "inverse", "neox", "interleaved"),
    norm_rope_insert_: ("q_norm", "neox", "interleaved", "unique"),
    gather: ("return_mask",),
    gather_raw: ("return_mask",),
    gather_ragged: ("return_mask",),
    append_: ("unique",),
    norm_rope_append_: ("neox", "interleaved", "unique"),
    compress_: ("overlap", "biased", "neox", "interleaved"),
}

NO_INTEGERS = (1.0, "1", None, [1], 2**70, True, np.bool_(True), np.array(1), Hostile(), 10**5000)
NO_FLOATS = ("1", [1.0], NAN, INF, -INF, 1e39, 10**400, True, np.array(1.0), Hostile())
NO_WORDS = ("", "other", 3, ["low"], b"low", 'low"', "x" * 100_000, np.array(["low"]), Hostile())


# Of each option: values that are refused.
OPTIONS = [
    (topk, "k", (0, -1, 4097, 5000, *NO_INTEGERS)),
    (topk, "next_n", (0, 65, 2, "a", 1.5, True)),
    (topk, "ratio", (0, -4, 2, *NO_INTEGERS)),
    (topk, "tie", NO_WORDS),
    (topk, "order", ("index_ascending", "unordered", *NO_WORDS)),
    (topk, "nan", ("zero", *NO_WORDS)),
    (topk, "index_dtype", NO_WORDS),
    (topk_paged, "k", (0, 4097, *NO_INTEGERS)),
    (topk_paged, "page_size", (0, -1, *NO_INTEGERS)),
    (topk_paged, "nan", NO_WORDS),
    (index_score, "columns", (0, -1, 2**22 + 1, 5.0, "5", [5], True)),
    (index_score, "page_size", (0, "8", [8])),
    (index_score, "next_n", (0, 65, 2, *NO_INTEGERS)),
    (index_score, "ratio", (0, 2, *NO_INTEGERS)),
    (index_score, "dtype", ("int32", 3)),
    (index_topk, "k", (0, 4097, *NO_INTEGERS)),
    (index_topk, "kernels", (0, 3, 1.0, "1", [1], True)),
    (index_topk, "columns", (0, 2**22 + 1, 5.0)),
    (index_topk, "next_n", (0, 65, 2, *NO_INTEGERS)),
    (index_topk, "ratio", (0, 2, *NO_INTEGERS)),
    (index_topk, "tie", NO_WORDS),
    (index_topk, "nan", ("zero", *NO_WORDS)),
    (index_topk, "index_dtype", NO_WORDS),
    (index_query, "constants", (3.0, "1", ("1",), (NAN,), (1e39,), (1.0,) * 17)),
    (index_query, "rounding", (*NO_WORDS, "bf16")),
    (index_query, "recipe", ("nvfp4", "deepseek_fp8", "deepseek_v4")),
    (index_append_, "norm", (2, "yes", 0.0)),
    (index_append_, "eps", (-1, *NO_FLOATS)),
    (index_append_, "rounding", NO_WORDS),
    (index_append_, "page_size", (0, "8")),
    (topk_paged, "order", NO_WORDS),
    (route, "k", (0, -1, 33, 65, *NO_INTEGERS)),
    (route, "groups", ((1, 2), "abc", 3, (0, 1, 1), (8, 9, 1), (8, 4, 9), (7, 1, 1), (64, 1, 1),
                       (1.0, 1, 1), (8, 4, -2), ())),
    (route, "scale", (None, *NO_FLOATS)),
    (route, "score", NO_WORDS),
    (route, "nan", NO_WORDS),
    (route, "shared", (-1, 32, 1, *NO_INTEGERS)),
    (hash_route, "scale", (None, *NO_FLOATS)),
    (hash_route, "score", NO_WORDS),
    (hash_route, "nan", ("first", *NO_WORDS)),
    (hash_route, "shared", (-1, 32, 1, *NO_INTEGERS)),
    (dense_route, "k", (0, 5, 33, *NO_INTEGERS)),
    (dense_route, "groups", ((1, 2), (8, 4, 2), 3)),
    (dense_route, "scale", (None, *NO_FLOATS)),
    (dense_route, "score", NO_WORDS),
    (dense_route, "nan", NO_WORDS),
    (dense_route, "shared", (-1, 32, 1, *NO_INTEGERS)),
    (dense_route, "index_dtype", NO_WORDS),
    (rms_norm, "eps", (None, -1e-6, *NO_FLOATS)),
    (rms_norm, "dtype", ("int32", 3, ["float32"])),
    (query_norm_rope, "eps", (None, -1e-6, *NO_FLOATS)),
    (query_norm_rope, "heads", (0, 1, 65537, *(each for each in NO_INTEGERS if each is not None))),
    (query_norm_rope, "rounding", (*NO_WORDS, "bf16")),
    (query_norm_rope, "dtype", ("int32", 3, ["float32"])),
    (norm_rope_insert_, "eps", (-1, *NO_FLOATS)),
    (norm_rope_insert_, "norm", (2, "yes", 0.0, np.zeros(1))),
    (norm_rope_insert_, "heads", (0, 1, 65537)),
    (norm_rope_insert_, "rounding", NO_WORDS),
    (norm_rope_insert_, "dtype", ("int32", 3)),
    (norm_rope_insert_, "page_size", (0, "8")),
    (norm_rope_insert_, "ring", (0, 3, 12, "8")),
    (norm_rope_insert_, "lengths_per", NO_WORDS),
    (hadamard, "scale", NO_FLOATS),
    (hadamard, "dtype", ("int32", 3)),
    (scale_weights, "constants", ((), 3.0, "1", ("1",), (NAN,), (1e39,), (1.0,) * 17)),
    (scale_weights, "dtype", ("int32", 3)),
    (pad_rows, "rows", (0, 3, 65537, *NO_INTEGERS)),
    (quantize, "group", (0, -1, 48, "abc", 1.0, [32])),
    (quantize, "scale_type", ("f64", 3, ["f32"])),
    (quantize, "scale_layout", NO_WORDS),
    (dequantize, "group", (0, 48, "abc", 32.0)),
    (dequantize, "scale_type", ("f64", 3)),
    (dequantize, "scale_layout", NO_WORDS),
    (dequantize, "dtype", ("int32", 3)),
    (gather, "page_size", (0, -1, 2**20 + 1, "8", 8.0, [8])),
    (gather, "lengths_per", NO_WORDS),
    (gather, "dtype", ("int32", 3)),
    (gather_raw, "page_size", (0, "8")),
    (gather_raw, "lengths_per", NO_WORDS),
    (gather_raw, "offset", (2, -1, *NO_INTEGERS)),
    (gather_ragged, "rows", (-1, "9", 9.0, [9])),
    (gather_ragged, "offset", (-1, 2**31, *NO_INTEGERS)),
    (gather_ragged, "page_size", (0, "8")),
    (gather_ragged, "dtype", ("int32", 3)),
    (append_, "page_size", (0, "8")),
    (append_, "columns", ((-1,), (0, 0), (), ("a",), (1.0,), 0, np.zeros(1, np.int32))),
    (append_, "lengths_per", NO_WORDS),
    (append_, "fields", (3, F32, "abc", None)),
    (route, "shared_weight", NO_FLOATS),
    (hash_route, "shared_of_sum", NO_FLOATS),
    (norm_rope_append_, "norm", (2, "yes", 0.0, np.zeros(1))),
    (compress_, "norm", (2, "yes", 0.0, np.zeros(1))),
    (compress_, "eps", (-1, *NO_FLOATS)),
    (norm_rope_append_, "eps", (-1, *NO_FLOATS)),
    (norm_rope_append_, "rounding", (*NO_WORDS, "bf16")),
    (compress_, "rounding", NO_WORDS),
    (norm_rope_append_, "page_size", (0, "8")),
    (compress_, "window", (0, 1025, *NO_INTEGERS)),
    (compress_, "ring", (0, 2, 12, 8.0, "8")),
    (compress_, "state_page_size", (0, 2**21, "8", 8.0)),
    (compress_, "page_size", (0, "8")),
    (compress_plan, "window", (0, 1025, *NO_INTEGERS)),
    (compress_plan, "rows", (-1, 5, "4", 4.0)),
    (valid_lens, "ratio", (0, -4, *NO_INTEGERS)),
    (valid_lens, "window", (0, 2**31, "a", 1.5, True)),
    (valid_lens, "page_size", (0, 2**31, "a", 1.5, True)),
    (valid_lens, "pages", (1, 4)),
    (valid_lens, "index_dtype", NO_WORDS),
]  # fmt: skip

# What goes together, and arrays that do not fit options: the id, and the argument.
TOGETHER = [
    (lambda: topk(next_n=65, lengths=I32), "option.next_n"),
    (lambda: topk(lengths=I32, ends=I32), "argument.ends"),
    (lambda: dsv4.topk(F32[None], 3, lengths=I32, next_n=2), "option.next_n"),
    (lambda: index_query(table=None), "argument.table"),
    (lambda: index_query(positions=None), "argument.positions"),
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
    (lambda: index_append_(ring=8), "argument.lengths"),
    (lambda: index_append_(page_table=TABLE, unique=False), "option.unique"),
    (lambda: index_score(page_table=None), "argument.page_table"),
    (lambda: index_score(key_scales=F32[:, 0].copy()), "argument.key_scales"),
    (lambda: index_score(indptr=I32, page_table=I32), "argument.columns"),
    (lambda: index_score(record="v4_584"), "option.record"),
    (lambda: index_score(record=RECORD), "option.record"),
    (lambda: index_score(record="index_mxfp4_68", q=np.zeros((4, 2, 64), np.uint8)),
     "argument.extent q"),
    (lambda: index_score(q=np.zeros((4, 2, 96), np.uint8)), "argument.extent q"),
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
    (lambda: route(shared=1, shared_of_sum="a"), "option.shared_of_sum"),
    (lambda: hash_route(shared=1, shared_weight="a"), "option.shared_weight"),
    (lambda: dsv4.route(np.ones((1, 1025), np.float32), 6), "argument.extent logits"),
    (lambda: dense_route(k=2, shared=1), "option.shared"),
    (lambda: dense_route(k=2, bias=F32[0].copy()), "argument.extent bias"),
    (lambda: dense_route(k=2, out=F32), "argument.out"),
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
    (lambda: valid_lens(lengths=I32), "argument.positions"),
    (lambda: valid_lens(positions=None), "argument.positions"),
    (lambda: valid_lens(positions=TABLE), "argument.rank positions"),
    (lambda: valid_lens(page_size=4), "argument.pages"),
    (lambda: valid_lens(page_size=4, out=I32), "argument.pages"),
    (lambda: valid_lens(page_size=4, pages=0), "option.pages"),
    (lambda: valid_lens(page_size=2**20, pages=2048), "option.pages"),
    (lambda: valid_lens(page_size=4, pages=3, out=TABLE), "argument.extent out"),
    (lambda: compress_(ring=None), "argument.state"),
    (lambda: compress_(state=None), "argument.state"),
    (lambda: compress_(overlap=True, window=513), "option.window"),
    (lambda: compress_(weight=np.ones(64, np.float32), eps="x"), "option.eps"),
]  # fmt: skip

RECIPES = {
    "payload": ("f32", 3), "scale": ("f64", 3), "group": (0, "col", 1.5), "outer": ("col", 3),
    "floor": ("x", -1.0, NAN, 1e39), "floor_of": NO_WORDS, "limit": NO_WORDS,
    "rounding": (*NO_WORDS, "up"), "payload_by": NO_WORDS, "ties": NO_WORDS,
}  # fmt: skip


def shown(value):
    return dsv4._show.show(value)[:20]


@pytest.mark.parametrize(
    "call, name, value",
    [(call, name, value) for call, name, values in OPTIONS for value in values],
    ids=lambda each: name_case(each) or shown(each),
)
def test_an_option_is_refused(call, name, value):
    with pytest.raises(dsv4.InvalidArgument, match=f"'{name}'") as caught:
        call(**{name: value})
    assert (caught.value.id, caught.value.argument) == (f"option.{name}", name)
    assert len(str(caught.value)) < 300 and str(caught.value).isprintable()


def name_case(each):
    return each.__name__ if inspect.isfunction(each) else each if isinstance(each, str) else ""


@pytest.mark.parametrize(
    "call, name", [(call, name) for call, names in FLAGS.items() for name in names], ids=name_case
)
def test_a_flag_is_a_boolean(call, name):
    for value in NO_FLAGS:
        with pytest.raises(dsv4.InvalidArgument, match=f"'{name}' is .*, expected True") as caught:
            call(**{name: value})
        assert (caught.value.id, caught.value.argument) == (f"option.{name}", name)
        assert len(str(caught.value)) < 120 and str(caught.value).isprintable()


def test_every_flag_is_tested():
    functions = {each.__name__: each for each in FLAGS}
    for name in dsv4.__all__:
        body = getattr(dsv4, name)
        if not inspect.isfunction(body) or name not in functions:
            assert not inspect.isfunction(body) or "bool = " not in str(inspect.signature(body))
            continue
        flags = {
            option for option, parameter in inspect.signature(body).parameters.items()
            if parameter.annotation == "bool"
        }  # fmt: skip
        assert flags == set(FLAGS[functions[name]])


def test_a_large_k_is_refused_with_the_reason():
    with pytest.raises(dsv4.InvalidArgument, match="shared memory") as caught:
        topk(k=4097)
    assert "from 1 to 4096: " in str(caught.value)
    with pytest.raises(dsv4.InvalidArgument) as caught:
        topk(k=0)
    assert "shared memory" not in str(caught.value)


def program_of(call, **options):
    return dsv4._kernels.program_of(call, (), options).text()


def test_what_a_class_of_the_caller_says_is_in_no_text():
    """Values of classes that say something else are what they hold, or are refused."""
    for call, given, plain in (
        (topk, {"k": Integer(3), "tie": Text("high"), "index_dtype": Text("int64")},
         {"k": 3, "tie": "high", "index_dtype": "int64"}),
        (topk, {"sorted": np.bool_(True), "k": np.int64(3)}, {"sorted": 1, "k": 3}),
        (route, {"groups": (Integer(8), Integer(4), 2), "score": Text("sigmoid")},
         {"groups": [8, 4, 2], "score": "sigmoid"}),
        (rms_norm, {"dtype": Text("f16"), "eps": np.float64(1e-6)}, {"dtype": "f16"}),
        (quantize, {"recipe": Text("mxfp4"), "group": Text("row"), "scale_layout":
                    Text("row_major")}, {"group": "row"}),
        (gather, {"record": dsv4.Record([dsv4.Field(Text("x"), Integer(8), Text("f32"))])}, {}),
    ):  # fmt: skip
        text = program_of(call, **given)
        assert text == program_of(call, **plain) and "injected" not in text
    for call, options in ((topk, {"sorted": Integer(1)}), (rope, {"neox": Text("x")}),
                          (gather, {"record": Text("v4")}), (quantize, {"recipe": Text("v4")}),
                          (quantize, {"scale_type": Text("x")})):  # fmt: skip
        with pytest.raises(dsv4.InvalidArgument) as caught:
            call(**options)
        assert "injected" not in str(caught.value)


def test_what_a_check_returns_is_used():
    """What a check returns is of Python's own types; what it was given may be anything."""
    for name in os.listdir(os.path.join(SOURCES, "dsv4")):
        for node in ast.walk(ast.parse(read("dsv4", name) if name.endswith(".py") else "")):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = ast.unparse(node.value.func)
                assert not re.fullmatch(r"check_(flag|int|float|word|name|list|text)", called), (
                    name, node.lineno
                )  # fmt: skip


def test_an_array_is_no_option():
    """A plan would know the shape of the array, and not the number."""
    topk(k=3)
    for value in (np.array(3), np.array(5)):
        with pytest.raises(dsv4.InvalidArgument, match="'k' is of type 'numpy.ndarray'"):
            topk(k=value)


def test_equal_options_of_another_type_have_no_plan():
    assert topk(k=np.int64(3)).shape == (4, 3)
    with pytest.raises(dsv4.InvalidArgument, match="'k' is"):
        topk(k=np.float64(3))


def test_unknown_names_are_shown_short():
    for call, known, typo, name in ((gather, "record", "v4_548", "v4_584"),
                                    (gather, "record", "V41_FP4_288", "v41_fp4_288"),
                                    (quantize, "recipe", "deepseek-fp8", "deepseek_fp8")):
        with pytest.raises(dsv4.InvalidArgument, match=f"did you mean '{name}'") as caught:
            call(**{known: typo})
        assert (caught.value.id, caught.value.argument) == (f"{known}.unknown", known)
        for value in ("x" * 100_000, 'a"b\n', 3, None, F32, Hostile(), [typo]):
            with pytest.raises(dsv4.InvalidArgument, match="dsv4.KNOWN_RE") as caught:
                call(**{known: value})
            assert caught.value.id == f"{known}.unknown"
            assert len(str(caught.value)) < 120 and str(caught.value).isprintable()


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


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_is_refused(name):
    for value in RECIPES[name]:
        with pytest.raises(dsv4.InvalidArgument, match=f"'recipe.{name}'") as caught:
            quantize(recipe=RECIPE._replace(**{name: value}))
        assert caught.value.id == f"option.recipe.{name}"


def test_a_recipe_of_a_record_is_for_its_types(rng):
    """What a recipe says of types is for quantize(): a record has its own."""
    record = dsv4.Record([
        dsv4.Field("x", 32, "f4E2M1FN"), dsv4.Field("s", 2, "f8E4M3FN", scales="x", per=16)
    ])  # fmt: skip
    x = rng.standard_normal((4, 32)).astype(np.float32)
    cache = np.zeros((1, record.page_bytes(8)), np.uint8)
    call = dict(record=record, page_size=8)
    recipe = dsv4.Recipe("f8E4M3FN", "f32", 128, rounding="up", ties="down")
    dsv4.norm_rope_append_(x, cache, np.arange(4), recipe=recipe, **call)
    assert np.abs(dsv4.gather(cache, np.arange(4), dtype="float32", **call) - x).max() < 1
    with pytest.raises(dsv4.InvalidArgument, match="for scales of f8E4M3FN") as caught:
        dsv4.norm_rope_append_(
            x, cache, np.arange(4), recipe=recipe._replace(rounding="up_pow2"), **call
        )
    assert caught.value.id == "option.recipe.rounding"


def test_a_level_over_scales_that_have_none():
    with pytest.raises(dsv4.InvalidArgument, match="'recipe.outer' is 'row'"):
        quantize(recipe=RECIPE._replace(outer="row"))


def test_the_calls_of_these_tests_are_good():
    for call in (topk, topk_paged, index_query, index_append_, index_score, index_topk,
                 index_of_arrays, route, hash_route, dense_route, rms_norm, rope, query_norm_rope,
                 norm_rope_insert_, hadamard, scale_weights,
                 pad_rows, quantize, dequantize, gather, gather_raw, gather_ragged, append_,
                 norm_rope_append_, compress_, compress_plan, valid_lens):  # fmt: skip
        call()
    topk(k=np.int64(3))
    rms_norm(eps=np.float32(1e-6))
    rms_norm(eps=0)
    quantize(recipe=RECIPE._replace(floor=np.float64(1)))


def test_an_output_of_other_integers_names_the_option():
    ids = np.zeros((4, 6), np.int64)
    for call in (
        lambda: topk(out=ids[:, :3].copy()),
        lambda: topk_paged(out=ids[:, :3].copy()),
        lambda: route(out=(np.zeros((4, 6), np.float32), ids)),
    ):
        with pytest.raises(dsv4.TypeMismatch, match="i64, expected i32: .*'index_dtype'"):
            call()


HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..")


def read(*path):
    with open(os.path.join(SOURCES, *path), encoding="utf-8") as file:
        return file.read()


def ids_of_sources():
    """Ids that the package raises; what is not a constant in one is a NAME."""
    ids = set()
    for name in os.listdir(os.path.join(SOURCES, "dsv4")):
        if not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(read("dsv4", name))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "make_error":
                if isinstance(node.args[1], (ast.Constant, ast.JoinedStr)):
                    ids.add(re.sub(r"\{\w+\}", "NAME", ast.unparse(node.args[1]).strip("f'\"")))
    for name in os.listdir(os.path.join(SOURCES, "src")):
        ids |= set(re.findall(
            r'(?:raise_argument|refuse_view)\([^"]*"([a-z_]+\.[a-z_]+)"', read("src", name)
        ))  # fmt: skip
    return ids


def ids_of_the_c_interface():
    page = read("..", "docs", "EmbeddingInC.md")
    ids, before = set(), ""
    for each in re.findall(r"`([\w.]+)`", page[page.index("| class | means | ids |") :]):
        if each.startswith("."):
            each = before.partition(".")[0] + each
        before = each
        ids.add(each)
    return ids


def test_every_id_is_in_a_page():
    page = read("..", "docs", "Python.md").partition("| id | class | means |")[2]
    rows = re.findall(r"^\| (`[\w.]+\.[\w., `]+) \| `\w+` \|", page, re.M)
    listed = [each for row in rows for each in re.findall(r"`([\w.]+)`", row)]
    raised, known = ids_of_sources(), ids_of_the_c_interface()
    assert len(raised) > 30 and len(listed) == 14

    def is_known(id):
        kind, _, name = id.partition(".")
        one_of = f"{kind}.NAME" in listed and name.isidentifier()
        return id in known or id in listed or one_of or id == "NAME.unknown"

    assert not [each for each in sorted(raised) if not is_known(each)]
    # None that is not raised, or is the C interface's.
    assert set(listed) - raised == {"record.unknown", "recipe.unknown"}
    assert not set(listed) & known


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
