# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the chains of norm_rope_append_ and compress_ round: entries are compared with those of
the functions for single ops, byte by byte."""

import numpy as np
import pytest
import reference
from producers import OnGpu
from test_caches import make_cache

import dsv4

RECORDS = ("v4_584", "v41_528", "v41_fp4_288", "v41_interleaved_528", "v41_fp4_interleaved_288",
           "bf16_1024", "index_fp8_132", "index_mxfp4_68")  # fmt: skip
SLOTS = np.array([0, 9, 63, 64, 100, 127])
BETWEEN = {"none": "float32", "last": "float32", "each": "bfloat16"}
BEFORE_QUANTISER = {"none": "float32", "last": "bfloat16", "each": "bfloat16"}


def store(cache, name, quantised, plain):
    """Writes entries: some fields are quantised from rows, others are the last of other rows."""
    record = dsv4.KNOWN_RECORDS[name]
    fields = {}
    for data in record.data:
        if data.element == "bf16":
            fields[data.name] = np.ascontiguousarray(plain[:, -data.extent :])
            continue
        rows = np.ascontiguousarray(quantised[:, : data.extent])
        values, scales = dsv4.quantize(rows, dsv4.recipes.DEFAULT_RECIPES[name])
        scale = next(each for each in record.fields if each.scales == data.name)
        fields[data.name], fields[scale.name] = values, scales
    dsv4.append_(
        cache, SLOTS, [fields[each.name] for each in record.stored], record=name, page_size=64
    )


class Rows:
    """Rows of a record, and what norms and rotates them."""

    def __init__(self, rng, name):
        self.width = dsv4.KNOWN_RECORDS[name].values
        self.x = reference.to_bf16(rng.standard_normal((6, self.width)))
        self.table = rng.standard_normal((50, 64)).astype(np.float32)
        self.positions = rng.integers(0, 50, 6)
        self.weight = reference.to_bf16(rng.standard_normal(self.width))

    def options(self, norm, rope):
        chosen = {"weight": self.weight} if norm else {}
        return {**chosen, "table": self.table, "positions": self.positions} if rope else chosen

    def expected(self, x, name, rounding, norm, rope):
        """The cache that the single ops make of the rows."""
        between, last = BETWEEN[rounding], BEFORE_QUANTISER[rounding]

        def run(dtype):
            rows = x
            if norm:
                rows = dsv4.rms_norm(rows, self.weight, dtype=between if rope else dtype)
            return dsv4.rope(rows, self.table, self.positions, dtype=dtype) if rope else rows

        cache = make_cache(dsv4.KNOWN_RECORDS[name], 2, 64)
        store(cache, name, run(last), run("bfloat16"))
        return cache


@pytest.mark.parametrize("rounding", ("none", "last", "each"))
@pytest.mark.parametrize("name", RECORDS)
def test_norm_rope_append(rng, name, rounding):
    rows = Rows(rng, name)
    for norm, rope in ((True, True), (True, False), (False, True)):
        cache = make_cache(dsv4.KNOWN_RECORDS[name], 2, 64)
        dsv4.norm_rope_append_(
            rows.x, cache, SLOTS, record=name, rounding=rounding, page_size=64,
            **rows.options(norm, rope),
        )  # fmt: skip
        expected = rows.expected(rows.x, name, rounding, norm, rope)
        np.testing.assert_array_equal(cache, expected, err_msg=f"norm {norm}, rope {rope}")


@pytest.mark.parametrize("rounding", ("none", "last", "each"))
@pytest.mark.parametrize("name", RECORDS)
def test_compress(rng, name, rounding):
    rows = Rows(rng, name)
    values, scores = (rng.standard_normal((24, rows.width)).astype(np.float32) for _ in range(2))
    plan = np.array([[4 * i, 0, 0, 0] for i in range(6)])
    wide = dsv4.Record([dsv4.Field("x", rows.width, "f32")])
    windows = make_wide(wide)
    dsv4.compress_(values, scores, plan, windows, SLOTS, window=4, record=wide, page_size=64)
    x = dsv4.gather(windows, SLOTS, record=wide, page_size=64, dtype="float32")
    if rounding == "each":
        x = reference.to_bf16(x)
    for norm, rope in ((True, True), (True, False), (False, True)):
        cache = make_cache(dsv4.KNOWN_RECORDS[name], 2, 64)
        dsv4.compress_(
            values, scores, plan, cache, SLOTS, window=4, record=name, rounding=rounding,
            page_size=64, **rows.options(norm, rope),
        )  # fmt: skip
        expected = rows.expected(x, name, rounding, norm, rope)
        np.testing.assert_array_equal(cache, expected, err_msg=f"norm {norm}, rope {rope}")


def make_wide(record):
    return np.zeros((2, record.page_bytes(64)), np.uint8)


def test_windows_alone_are_rounded_for_a_field_that_keeps_them(rng):
    """A kernel has one compression, whose result has one type."""
    values, scores = (rng.standard_normal((4, 512)).astype(np.float32) for _ in range(2))
    plan = np.array([[0, 0, 0, 0]])
    caches = []
    for rounding in ("none", "last", "each"):
        caches.append(make_cache(dsv4.KNOWN_RECORDS["v4_584"], 1, 64))
        dsv4.compress_(
            values, scores, plan, caches[-1], SLOTS[:1], window=4, record="v4_584",
            rounding=rounding,
        )  # fmt: skip
    np.testing.assert_array_equal(caches[0], caches[1])
    np.testing.assert_array_equal(caches[0], caches[2])
    rows = dsv4.gather(caches[0], SLOTS[:1], record="v4_584", dtype="float32")
    expected = reference.compress(values, scores, 4, np.zeros((4, 512), np.float32))
    np.testing.assert_allclose(rows, expected, rtol=0.07, atol=1e-2)


def test_rotated_values_are_the_nearest_bf16(rng):
    """Without a rounding in between nearly all values are those of exact arithmetic."""
    rows = Rows(rng, "v4_584")
    cache = make_cache(dsv4.KNOWN_RECORDS["v4_584"], 2, 64)
    dsv4.norm_rope_append_(rows.x, cache, SLOTS, record="v4_584", **rows.options(True, True))
    stored = dsv4.gather(cache, SLOTS, record="v4_584", dtype="bfloat16")[:, 448:]
    normed = reference.rms_norm(reference.from_bf16(rows.x), reference.from_bf16(rows.weight))
    exact = reference.rope(normed, rows.table, rows.positions)[:, 448:]
    assert (stored != reference.to_bf16(exact)).sum() <= 2


@pytest.mark.parametrize("rounding", ("none", "last", "each"))
@pytest.mark.parametrize("name", ("v4_584", "v41_528"))
def test_a_chain_is_one_kernel(name, rounding):
    """On a GPU, too, where an op has results of two types."""
    pages = OnGpu(np.uint8, 4, dsv4.KNOWN_RECORDS[name].page_bytes(64))
    weight, slots = OnGpu(np.float32, 512), OnGpu(np.int32, 9)
    turn = {"table": OnGpu(np.float32, 50, 64), "positions": slots}
    for options in ({"weight": weight}, turn, {"weight": weight, **turn}):
        text = dsv4.emit(
            dsv4.norm_rope_append_, OnGpu(np.uint16, 9, 512), pages, slots, record=name,
            rounding=rounding, **options,
        )  # fmt: skip
        assert text.count("__global__") == 1
        text = dsv4.emit(
            dsv4.compress_, OnGpu(np.float32, 36, 512), OnGpu(np.float32, 36, 512),
            OnGpu(np.int32, 9, 4), pages, slots, window=4, record=name, rounding=rounding,
            **options,
        )  # fmt: skip
        assert text.count("__global__") == 1
