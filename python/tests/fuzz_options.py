# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random calls of all functions, with good and bad options of all types and arrays of all kinds.

    python python/tests/fuzz_options.py --calls 100000 --seed 1

A call is refused by a dsv4.Error of one line, or it compiles. One program of many is launched, too,
on the host target; of the others the CUDA source is emitted, which is faster. Prints what went
wrong, and counts. `test_fuzz.py` makes fewer calls.
"""

import argparse
import collections
import decimal
import fractions
import random
import sys
import time

import numpy as np

import dsv4
from dsv4 import _kernels
from dsv4._show import show

# Of a message, in characters.
LONGEST = 300
# Of new arrays that a launch may have.
_MAX_BYTES = 2**24

# ===-- Values ------------------------------------------------------------------===


class Hostile:
    """An object that fails in all that is asked of it."""

    def fail(self, *_, **__):
        raise RuntimeError('of "an object"\nthat fails')

    __index__ = __int__ = __float__ = __bool__ = __len__ = __iter__ = __repr__ = __str__ = fail
    __eq__ = __getitem__ = __format__ = __mul__ = __rmul__ = __hash__ = __call__ = fail


class Text(str):
    """A string that says something else than it holds."""

    def __str__(self):
        return 'x"> {attribute}\n'

    def __format__(self, _):
        return str(self)

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__
    __repr__ = __str__


class Integer(int):
    """A number that says so."""

    def __format__(self, _):
        return "1 : i64, x"

    def __mul__(self, other):
        return "injected"

    __rmul__ = __mul__
    __str__ = __repr__ = lambda self: "1 : i64\n"


def make_values(rng):
    """Values that some option may take, and that most do not."""
    return [
        None, True, False, 0, 1, -1, 2, 3, 7, 64, 2**16, 2**20 + 1, 2**27, 2**31 - 1, 2**31, 2**63,
        2**70, 10**5000, -(2**70), 0.5, 1.0, -0.0, 1e-50, 1e39, float("nan"), float("inf"),
        "", "low", "row", "float32", "int64", "v4_584", "v4_548", "deepseek_fp8", 'a"b', "a\nb",
        "x" * 100_000, "\ud800", "\u2028", "%s", "{0}", "low\0", b"low", bytearray(3), [], [1],
        ["low"], (), (1, 2, 3), (8, 4, 2), {}, {1: 2}, set(), frozenset((1,)), range(3), object(),
        Ellipsis, Hostile(), [Hostile()], Text("low"), Text("v4_584"), Integer(3), Integer(1),
        np.bool_(True), np.bool_(False), np.int64(3), np.uint8(200), np.float32(0.5),
        np.float64("nan"), np.str_("low"), np.array(3), np.array(True), np.zeros(0), np.ones(3),
        np.array(["low"]), np.array([None]), fractions.Fraction(1, 3), decimal.Decimal("0.5"), 1j,
        len, int, dsv4, dsv4.KNOWN_RECORDS["v4_584"], dsv4.KNOWN_RECIPES["mxfp4"],
        dsv4.Field("x", 8, "f32"), (n for n in range(3)), memoryview(b"abc"), [[[[1]]]],
        rng.randrange(2**40), rng.random(),
    ]  # fmt: skip


def change_array(rng, array):
    """An array that is like a good one."""
    how = rng.randrange(10)
    if how == 0:
        return array.astype(rng.choice(["f4", "f2", "f8", "i4", "i8", "u4", "u1", "?"]))
    if how == 1:
        return array[: rng.randrange(len(array) + 1)]
    if how == 2:
        return array[::-1]
    if how == 3:
        return array[None] if rng.random() < 0.5 else array[..., None]
    if how == 4:
        return np.concatenate([array, array], axis=-1)[..., : array.shape[-1]]
    if how == 5:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if how == 6:
        return np.asfortranarray(array)
    if how == 7:
        return np.concatenate([array, array[:, :1]], axis=1) if array.ndim == 2 else array[:0]
    start = rng.choice([1, 2, 4, 8]) if how == 8 else array.itemsize * rng.randrange(4)
    raw = np.zeros(array.nbytes + 64, np.uint8)
    changed = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    changed[...] = array
    return changed


def make_array(rng):
    """An array of some type, shape, strides and alignment."""
    dtype = rng.choice(
        ["f4", "f2", "f8", "i4", "i8", "u4", "u2", "u1", "i1", "?", "c8", "O", "M8[s]", "S3"]
    )
    rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 4, 9])
    shape = [rng.choice([0, 1, 2, 3, 4, 5, 8, 64]) for _ in range(rank)]
    if rank == 9:
        shape = [1] * 9
    array = np.zeros(shape, dtype)
    how = rng.randrange(8)
    if how == 0 and rank:
        array = np.zeros([*shape[:-1], 2 * shape[-1]], dtype)[..., ::2]
    elif how == 1 and rank:
        array = array[::-1]
    elif how == 2:
        array = array.T
    elif how == 3 and dtype not in ("O",):
        size = array.dtype.itemsize
        raw = np.zeros(array.size * size + 1 + size, np.uint8)
        array = raw[1 : 1 + array.size * size].view(dtype).reshape(shape)
    elif how == 4:
        array.flags.writeable = False
    elif how == 5 and rank and shape[0]:
        array = np.broadcast_to(array[:1], (3, *shape[1:]))
    return array


# ===-- Calls -------------------------------------------------------------------===

F32 = np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32)
I32, I64 = np.arange(4, dtype=np.int32), np.arange(4)
HIDDEN, GATE = np.ones((4, 64), np.uint16), np.ones((64, 64), np.uint16)
TABLE = np.zeros((4, 2), np.int32)
ANGLES = np.ones((9, 32), np.float32)
HEADS = np.ones((4, 2, 64), np.float32)
PAGES = np.zeros((4, 8 * 32), np.uint8)
RECORD = dsv4.Record([dsv4.Field("x", 8, "f32")])
KEY_RECORD = dsv4.Record([dsv4.Field("key", 16, "bf16")])
STATE_RECORD = dsv4.compression.state_record(64)
STATE = np.zeros((2, STATE_RECORD.page_bytes(8)), np.uint8)
COMPRESSED = dsv4.Record([dsv4.Field("x", 64, "f32")])
FP8 = np.zeros((4, 64), np.uint8), np.ones((4, 2), np.uint8)
QUERIES, KEYS = np.zeros((4, 2, 128), np.uint8), np.zeros((4, 8, 132), np.uint8)
FLAG = (True, False)
WORD_OF_INDICES = ("int32", "int64", "uint32")
ROUNDINGS = ("none", "last", "each")
DTYPES = ("float32", "bfloat16", "float16", None)

_ORDER = {
    "largest": FLAG, "sorted": FLAG, "order": (None, "sorted", "index"), "tie": ("low", "high"),
    "nan": ("last", "first"),
    "index_dtype": WORD_OF_INDICES, "return_values": FLAG, "lengths": (None, I32, I64),
    "starts": (None, I32), "ends": (None, I32),
    "next_n": (1, 2), "ratio": (1, 4), "workspace": (None,), "stream": (None, 5), "out": (None,),
}  # fmt: skip
_INDEX = {
    "scales": (None, np.full((4, 2, 4), 127, np.uint8)), "key_scales": (None, F32[0].copy()),
    "record": ("index_fp8_132", "index_mxfp4_68", None), "page_size": (None, 8),
    "page_table": (TABLE, None), "indptr": (None, np.arange(5)), "requests": (None, I32),
    "starts": (None, I32), "lengths": (None, I32, I64), "ends": (None, I32), "next_n": (1, 2),
    "ratio": (1, 4), "out": (None,), "stream": (None,),
}  # fmt: skip
_CACHE = {
    "record": (RECORD, "v4_584"), "page_size": (8, None), "page_table": (None, TABLE),
    "requests": (None, I32), "lengths": (None, I32), "indptr": (None, np.arange(5)),
    "lengths_per": ("token", "request"), "stream": (None,),
}  # fmt: skip
_WEIGHTS = {
    "score": ("sqrt_softplus", "sigmoid", "softmax"), "renormalize": FLAG, "scale": (1.0, 2.5, 0),
    "shared": (0, 1), "shared_weight": (None, 1.0), "shared_of_sum": (None, 0.5),
    "valid_rows": (None, I32[:1]), "padding": (None, np.zeros(4, bool)), "nan": ("last", "zero"),
    "index_dtype": (*WORD_OF_INDICES, "int16"), "out": (None,), "stream": (None,),
    "expert_map": (None, np.arange(64), np.arange(65)), "return_replay": FLAG,
    "return_token_experts": FLAG,
}  # fmt: skip
_BIAS = {
    "bias": (None, F32[0].copy()), "bias_vl": (None, F32[0].astype(np.float16)),
    "image_tokens": (None, np.zeros(4, bool)), "groups": (None, (8, 4, 2)),
}  # fmt: skip
_REPLAY = {"replay": (None, np.zeros((4, 6), np.int16))}
_CHAIN = {
    "norm": (None, True, False), "weight": (None, np.ones(8, np.float32)), "eps": (1e-6, 0, 1e30),
    "table": (None, np.ones((9, 4), np.float32)), "positions": (None, I32), "neox": FLAG,
    "interleaved": FLAG, "recipe": (None, "deepseek_fp8"),
}  # fmt: skip
_GLOBAL = {"global_scale": (None, np.ones(1, np.float32))}
_SCALES = {
    "recipe": ("mxfp4", "deepseek_fp8", "nvfp4", "seed", "fp8_tensor"),
    "group": (None, 32, 64, "row", "tensor"),
    "scale_type": (None, "f32", "f8E8M0FNU", "f8E4M3FN"),
    "scale_layout": ("row_major", "column_major", "packed", "swizzle_128x4", "swizzle_8x4"),
    "global_scale": (None, np.ones(1, np.float32)), "out": (None,), "stream": (None,),
}  # fmt: skip

# Of each function: a good call, and good values of its arguments.
CALLS = {
    dsv4.topk: ({"scores": F32, "k": 3}, {"k": (1, 3, 64, 100), "offsets": (None, I32), **_ORDER}),
    dsv4.topk_paged: (
        {"scores": F32, "k": 3, "page_table": TABLE, "page_size": 32},
        {"k": (1, 3), "page_size": (32, 64), "requests": (None, I32), "return_indices": FLAG,
         "cu_seq_lens": (None, np.arange(5)), "page_starts": (None, I32), **_ORDER},
    ),
    dsv4.index_score: (
        {"q": QUERIES, "keys": KEYS, "weights": F32[:, :2].copy(), "record": "index_fp8_132",
         "page_table": TABLE},
        {"columns": (None, 20), "keep_rest": FLAG, "dtype": DTYPES, **_INDEX},
    ),
    dsv4.index_query: (
        {"q": F32.reshape(4, 1, 64), "weights": F32[:, :1].copy(), "recipe": "deepgemm_fp8"},
        {"table": (None, ANGLES), "positions": (None, I32), "recipe": ("mxfp4", "vllm_index_q"),
         "constants": ((), (0.5,), [2, 3.0]), "neox": FLAG, "interleaved": FLAG,
         "hadamard": FLAG, "rounding": ("none", "last", "each"), "out": (None,),
         "stream": (None,)},
    ),
    dsv4.index_append_: (
        {"x": F32[:, :16].copy(), "cache": PAGES, "slots": I64, "record": KEY_RECORD,
         "page_size": 8, "hadamard": True},
        {"ring": (None, 8, 16), "unique": FLAG, "hadamard": FLAG,
         "rounding": ("none", "last", "each"), **_CHAIN, **_CACHE,
         "weight": (None, F32[0, :16].copy()),
         "record": (KEY_RECORD, "index_fp8_132")},
    ),
    dsv4.index_topk: (
        {"q": QUERIES, "keys": KEYS, "weights": F32[:, :2].copy(), "record": "index_fp8_132",
         "page_table": TABLE, "k": 3},
        {"k": (1, 3, 64), "columns": (None, 20), "offsets": (None, I32), "return_indices": FLAG,
         "return_slots": FLAG, "kernels": (None, 1, 2),
         "scores": (None, np.zeros((4, 16), np.float32)), **_INDEX, **_ORDER},
    ),
    dsv4.route: (
        {"logits": F32, "k": 6},
        {"k": (1, 6, 31), **_REPLAY, **_BIAS, **_WEIGHTS},
    ),
    dsv4.hash_route: (
        {"logits": F32, "token_ids": I32, "table": np.zeros((9, 5), np.int32)}, _WEIGHTS
    ),
    dsv4.router_logits: (
        {"hidden": HIDDEN, "gate": F32}, {"out": (None,), "workspace": (None,), "stream": (None,)}
    ),
    dsv4.dense_route: (
        {"hidden": HIDDEN, "gate": GATE, "k": 6},
        {"k": (1, 6, 31), "return_logits": FLAG, "workspace": (None,), **_REPLAY, **_BIAS,
         **_WEIGHTS},
    ),
    dsv4.gather: (
        {"cache": PAGES, "indices": I32, "record": RECORD, "page_size": 8},
        {"indices": (I32, TABLE), "dtype": DTYPES, "return_mask": FLAG, "out": (None,), **_CACHE},
    ),
    dsv4.gather_raw: (
        {"cache": PAGES, "indices": I32, "record": RECORD, "page_size": 8},
        {"indices": (None, I32, TABLE), "return_mask": FLAG, "out": (None,), **_CACHE,
         "cu_seq_lens": (None, np.arange(5)), "row_starts": (None, I32), "seq_lens": (None, I32),
         "gather_lens": (None, I32), "seq_starts": (None, I32), "offset": (0, 2),
         "rows": (None, 0, 9)},
    ),
    dsv4.gather_ragged: (
        {"cache": PAGES, "page_table": TABLE, "record": RECORD, "page_size": 8, "rows": 9,
         "seq_lens": I32},
        {"cu_seq_lens": (None, np.arange(5)), "row_starts": (None, I32), "rows": (0, 9, 100),
         "seq_lens": (None, I32), "gather_lens": (None, I32), "seq_starts": (None, I32),
         "offset": (0, 2), "dtype": DTYPES, "return_mask": FLAG, "requests": (None, np.arange(9)),
         "indptr": (None, np.arange(5)), "out": (None,), "stream": (None,)},
    ),
    dsv4.append_: (
        {"cache": PAGES, "slots": I64, "fields": [F32[:, :8].copy()], "record": RECORD,
         "page_size": 8},
        {"ring": (None, 8, 16), "unique": FLAG, "columns": (None, [0]), **_CACHE},
    ),
    dsv4.norm_rope_append_: (
        {"x": F32[:, :8].copy(), "cache": PAGES, "slots": I64, "record": RECORD, "page_size": 8},
        {
            "k_pe": (None, F32[:, :4].copy()), "ring": (None, 8, 16), "unique": FLAG, **_CHAIN,
            **_GLOBAL, **_CACHE,
        },
    ),
    dsv4.compress_: (
        {"values": F32, "scores": F32, "plan": np.zeros((1, 4), np.int32), "slots": I32[:1],
         "cache": np.zeros((1, COMPRESSED.page_bytes(8)), np.uint8), "window": 4,
         "record": COMPRESSED, "page_size": 8},
        {"window": (1, 4, 128), "overlap": FLAG, "bias": (None, F32), "state": (None, STATE),
         "ring": (None, 8), "state_table": (None, TABLE), "state_page_size": (None, 8),
         "biased": FLAG, **_CHAIN, **_GLOBAL, "weight": (None, F32[0].copy())},
    ),
    dsv4.compress_plan: (
        {"window": 2, "positions": I32, "requests": I32, "cu_seq_lens": np.arange(5)},
        {"window": (1, 4, 128), "positions": (None, I32), "lengths": (None, I32),
         "requests": (None, I64), "cu_seq_lens": (None, np.arange(5)),
         "entry_starts": (None, np.arange(5)), "slots": (None, I64), "page_table": (None, TABLE),
         "page_size": (None, 8), "rows": (None, 4, 9), "out": (None,), "stream": (None,)},
    ),
    dsv4.valid_lens: (
        {"positions": I64},
        {"positions": (None, I64), "lengths": (None, I32), "ratio": (1, 4, 2**31 - 1),
         "window": (None, 8), "page_size": (None, 4, 2**20), "pages": (None, 3, 65536),
         "index_dtype": WORD_OF_INDICES, "out": (None,), "stream": (None,)},
    ),
    dsv4.rms_norm: (
        {"x": F32},
        {"weight": (None, F32[0].copy()), "eps": (1e-6, 0), "dtype": DTYPES, "out": (None,)},
    ),
    dsv4.rope: (
        {"x": F32, "table": ANGLES, "positions": I32},
        {"inverse": FLAG, "neox": FLAG, "interleaved": FLAG, "dtype": DTYPES, "out": (None,)},
    ),
    dsv4.query_norm_rope: (
        {"q": HEADS, "table": ANGLES, "positions": I32},
        {"norm": FLAG, "weight": (None, F32[0].copy()), "eps": (1e-6, 0), "heads": (None, 2, 5),
         "inverse": FLAG, "neox": FLAG, "interleaved": FLAG, "rounding": ROUNDINGS,
         "scale_inv": (None, np.ones(1, np.float32)), "dtype": DTYPES, "out": (None,)},
    ),
    dsv4.norm_rope_insert_: (
        {"q": HEADS, "kv": F32[:, :8].copy(), "cache": PAGES, "slots": I64,
         "table": np.ones((9, 4), np.float32), "record": RECORD, "page_size": 8},
        {"ring": (None, 8, 16), "unique": FLAG, "q_norm": FLAG, "rounding": ROUNDINGS,
         "q_weight": (None, F32[0].copy()), "q_scale_inv": (None, np.ones(1, np.float32)),
         "heads": (None, 2, 5), "dtype": DTYPES, "out": (None,),
         **{name: each for name, each in _CHAIN.items() if name != "table"}, **_CACHE},
    ),
    dsv4.hadamard: ({"x": F32}, {"scale": (None, 0.5), "dtype": DTYPES, "out": (None,)}),
    dsv4.scale_weights: (
        {"weights": F32, "constants": (0.5,)},
        {"scales": (None, F32), "constants": ((0.5,), [2, 3.0]), "dtype": DTYPES, "out": (None,)},
    ),
    dsv4.concat_rows: ({"x": F32, "y": F32}, {"out": (None,)}),
    dsv4.pad_rows: ({"x": F32, "rows": 9}, {"rows": (9, 100), "out": (None,)}),
    dsv4.quantize: ({"x": F32, "recipe": "mxfp4"}, {"inverse": FLAG, **_SCALES}),
    dsv4.dequantize: (
        {"values": FP8[0], "scales": FP8[1], "recipe": "deepseek_fp8", "group": 32,
         "scale_type": "f8E8M0FNU"},
        {"dtype": DTYPES, "row_scales": (None, F32[:, 0].copy()), **_SCALES},
    ),
}  # fmt: skip

MAKERS = {
    dsv4.Field: (
        {"name": "x", "extent": 8, "element": "f32"},
        {"extent": (1, 8, 64), "element": ("f4E2M1FN", "i4", "f8E4M3FN", "bf16", "f16", "i32"),
         "placement": ("row", "tail", "array"), "scales": (None, "y"),
         "per": (None, 4, 8, "row", "tensor"), "interleave": (1, 2, 4), "at": (None, 0, 16, 3),
         "pad": (0, 4), "high_first": FLAG},
    ),
    dsv4.Recipe: (
        {"payload": "f8E4M3FN", "scale": "f32", "group": 32},
        {"payload": ("f8E4M3FN", "f4E2M1FN"), "scale": ("f32", "f8E8M0FNU", "f8E4M3FN"),
         "group": (16, 32, "row"), "outer": (None, "tensor", "row"), "floor": (0.0, 1e-4, 1e-50),
         "floor_of": ("amax", "scale"), "limit": ("divide", "reciprocal"),
         "rounding": ("nearest", "up", "up_pow2"), "payload_by": ("divide", "reciprocal"),
         "ties": ("even", "down"), "drop_negative_zero": FLAG},
    ),
}  # fmt: skip


class Fuzz:
    """Draws calls, makes them, and keeps what went wrong."""

    def __init__(self, seed, launches, emits):
        self.rng = random.Random(seed)
        self.values = make_values(self.rng)
        self.counts = collections.Counter()
        self.failures = []
        # How many programs may still be launched, and emitted.
        self.launches, self.emits = launches, emits
        self.known = {}
        self.longest = 0

    def draw_value(self, name, base, good):
        of = self.rng.random()
        arrays = [each for each in (base.get(name), *good.get(name, ())) if _is_array(each)]
        if arrays and of > 0.5:
            return change_array(self.rng, self.rng.choice(arrays))
        if of < 0.6 and name in good:
            return self.rng.choice(good[name])
        return make_array(self.rng) if of > 0.9 else self.rng.choice(self.values)

    def draw(self, base, good):
        call = dict(base)
        names = sorted({*base, *good})
        for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3, 5])):
            name = self.rng.choice(names)
            call[name] = self.draw_value(name, base, good)
        return call

    def draw_record(self):
        """A record of fields of which some are good, and a cache of it."""
        fields = [dsv4.Field("y", 8, "f8E4M3FN")]
        for number in range(self.rng.choice([0, 1, 1, 2])):
            draft = self.draw(*MAKERS[dsv4.Field])
            fields.append(dsv4.Field(**{**draft, "name": f"x{number}"}))
        align = self.rng.choice([1, 1, 16, 576, *self.rng.sample(self.values, 1)])
        record = dsv4.Record(fields, align)
        size = self.rng.choice([1, 4, 8])
        return record, size

    def call_of_record(self):
        record, size = self.draw_record()
        record.check_page(size)
        arrays = [np.zeros((2, record.page_bytes(size)), np.uint8)] * record.has_pages
        for each in record.arrays:
            bits = np.uint8 if each.bytes == each.columns else f"u{each.bytes // each.columns}"
            bits = {"f32": "f4", "i32": "i4", "f16": "f2"}.get(each.element, bits)
            shape = (1,) if each.per == "tensor" else (2, size, each.columns)
            arrays.append(np.ones(shape, bits))
        call = {"cache": tuple(arrays), "record": record, "page_size": size}
        if self.rng.random() < 0.3:
            x = np.ones((4, record.values), np.float32)
            own = dsv4.Recipe(**self.draw(*MAKERS[dsv4.Recipe]))
            recipe = self.rng.choice([None, "mxfp4", own])
            return dsv4.norm_rope_append_, {**call, "x": x, "slots": I64, "recipe": recipe}
        of = self.rng.choice([dsv4.gather, dsv4.gather_raw])
        return of, {**call, "indices": I32}

    def draw_call(self):
        of = self.rng.random()
        if of < 0.06:
            return self.call_of_record()
        if of < 0.1:
            made = dsv4.Recipe(**self.draw(*MAKERS[dsv4.Recipe]))
            return dsv4.quantize, {**self.draw(*CALLS[dsv4.quantize]), "recipe": made}
        function = self.rng.choice(list(CALLS))
        return function, self.draw(*CALLS[function])

    def run(self, function, call):
        """Compiles and launches, or emits, and says what was done."""
        program = _kernels.program_of(function, (), call)
        key = program.text(), tuple(program.bounds.items())
        how = self.known.get(key)
        new = sum(np.prod(each[1], dtype=float) for each in program.outputs)
        if how is None:
            how = "passed over"
            if new < _MAX_BYTES and self.launches > 0 and self.rng.random() < 0.2:
                how, self.launches = "launched", self.launches - 1
            elif self.emits > 0:
                how, self.emits = "emitted", self.emits - 1
                dsv4.emit(function, **call)
            self.known[key] = how
        if how == "launched" and new < _MAX_BYTES:
            function(**call)
            function(**call)  # By its plan.
        return how

    def step(self):
        name, call = "?", {}
        try:
            function, call = self.draw_call()
            name = function.__name__
            self.counts[self.run(function, call)] += 1
        except dsv4.Error as error:
            self.counts["refused"] += 1
            message = str(error)
            self.longest = max(self.longest, len(message))
            if type(error) is dsv4.CompileFailed:
                self.note("CompileFailed", name, call, message)
            elif len(message) > LONGEST or "\n" in message or not message.isprintable():
                self.note("message", name, call, message)
            elif type(error) is dsv4.InvalidArgument and not error.argument:
                self.note("argument", name, call, message)
        except Exception as error:  # What the fuzz is for.
            self.note(type(error).__name__, name, call, str(error))

    def note(self, kind, name, call, message):
        self.counts[kind] += 1
        given = {key: _describe(value) for key, value in call.items()}
        self.failures.append((kind, name, message[:LONGEST], given))


def _is_array(value):
    return isinstance(value, np.ndarray) and value.ndim > 0


def _describe(value):
    if isinstance(value, np.ndarray):
        at = value.ctypes.data % 16
        return f"{value.dtype}{list(value.shape)} strides {value.strides} at {at}"
    return f"{type(value).__name__} {show(value)}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--launches", type=int, default=300, help="programs that are launched")
    parser.add_argument("--emits", type=int, default=10_000, help="programs that are emitted")
    options = parser.parse_args(arguments)
    fuzz = Fuzz(options.seed, options.launches, options.emits)
    begin = time.monotonic()
    for _ in range(options.calls):
        fuzz.step()
    seen = set()
    for kind, name, message, given in fuzz.failures:
        if (kind, name, message[:60]) not in seen:
            print(f"{kind}: {name}: {message}\n    {given}")
        seen.add((kind, name, message[:60]))
    print(
        f"{options.calls} calls of seed {options.seed} in {time.monotonic() - begin:.0f} s: "
        f"{dict(fuzz.counts)}, {len(fuzz.known)} programs, the longest message has {fuzz.longest} "
        f"characters, {len(fuzz.failures)} failures"
    )
    return 1 if fuzz.failures else 0


if __name__ == "__main__":
    sys.exit(main())
