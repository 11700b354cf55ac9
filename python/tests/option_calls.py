# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Good calls of every function, in which tests replace arguments by wrong ones."""

import numpy as np

import dsv4

F32 = np.ones((4, 64), np.float32)
I32 = np.zeros(4, np.int32)
HIDDEN = np.ones((4, 64), np.uint16)
Q = np.ones((4, 2, 64), np.float32)
TABLE = np.zeros((4, 2), np.int32)
ANGLES = np.ones((9, 32), np.float32)
PAGES = np.zeros((4, 8 * 32), np.uint8)
RECORD = dsv4.Record([dsv4.Field("x", 8, "f32")])
CACHE = {"record": RECORD, "page_size": 8}
STATE = dsv4.compression.state_record(64)


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
