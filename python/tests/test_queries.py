# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queries, and their write with the entries of a layer: against NumPy, and byte by byte against the
functions that do one of the two."""

import numpy as np
import pytest
import reference
from engines import compile_engine
from producers import OnGpu
from test_caches import make_cache

import dsv4

ROUNDINGS = ("none", "last", "each")
SLOTS = np.array([3, 70, -1, 9, 100])


class Layer:
    """Arrays of a layer."""

    def __init__(self, rng, heads=16, width=512):
        self.q = reference.to_bf16(rng.standard_normal((5, heads, width)))
        self.kv = reference.to_bf16(rng.standard_normal((5, 512)))
        self.table = rng.standard_normal((50, 64)).astype(np.float32)
        self.positions = np.array([4, 49, 0, 17, -1])
        self.weight = reference.to_bf16(rng.standard_normal(width))

    def reference(self, norm=True, weight=False, **how):
        """The queries in float64."""
        q = reference.from_bf16(self.q).astype(np.float64)
        if norm:
            q = reference.rms_norm(q, reference.from_bf16(self.weight) if weight else None)
        flat = q.reshape(-1, q.shape[-1])
        positions = np.repeat(self.positions, q.shape[1])
        return reference.rope(flat, self.table, positions, **how).reshape(q.shape)


def test_queries_of_float32(rng):
    layer = Layer(rng)
    for how in ({}, {"neox": True}, {"interleaved": True}, {"inverse": True}):
        for norm in (True, False):
            got = dsv4.query_norm_rope(
                layer.q, layer.table, layer.positions, norm=norm, dtype="float32", **how
            )
            np.testing.assert_allclose(got, layer.reference(norm, **how), rtol=1e-5, atol=1e-5)
    weighed = dsv4.query_norm_rope(
        layer.q, layer.table, layer.positions, weight=layer.weight, dtype="float32"
    )
    np.testing.assert_allclose(weighed, layer.reference(weight=True), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_queries_are_those_of_single_ops(rng, rounding):
    layer = Layer(rng)
    between = "bfloat16" if rounding == "each" else "float32"
    normed = dsv4.rms_norm(layer.q, layer.weight, dtype=between)
    expected = dsv4.rope(normed, layer.table, layer.positions, dtype="bfloat16")
    options = dict(weight=layer.weight, rounding=rounding)
    args = (layer.q.copy(), layer.table, layer.positions)
    got = dsv4.query_norm_rope(*args, **options)
    np.testing.assert_array_equal(got, expected)
    out = np.zeros((5, 16, 600), np.uint16)[..., 44:556]
    assert dsv4.query_norm_rope(*args, out=out, **options) is out
    np.testing.assert_array_equal(out, expected)
    assert dsv4.query_norm_rope(*args, out=args[0], **options) is args[0]
    np.testing.assert_array_equal(args[0], expected)


def test_heads_are_filled_up_with_zeros(rng):
    layer = Layer(rng, heads=3)
    args = (layer.q, layer.table, layer.positions)
    plain = dsv4.query_norm_rope(*args)
    padded = dsv4.query_norm_rope(*args, heads=8)
    np.testing.assert_array_equal(padded[:, :3], plain)
    assert padded.shape == (5, 8, 512) and not (padded[:, 3:] & 0x7FFF).any()
    np.testing.assert_array_equal(dsv4.query_norm_rope(*args, heads=3), plain)
    assert dsv4.query_norm_rope(*args, heads=8, norm=False, eps=0).shape == (5, 8, 512)


def test_queries_of_fp8(rng):
    """They are multiplied by the scale, and rounded once."""
    layer = Layer(rng)
    scale = np.array([0.75], np.float32)
    got = dsv4.query_norm_rope(layer.q, layer.table, layer.positions, scale_inv=scale)
    exact = layer.reference() * 0.75
    values = reference.e4m3_values()
    finite = np.sort(values[np.isfinite(values)])
    above = np.clip(np.searchsorted(finite, exact), 1, len(finite) - 1)
    low, high = finite[above - 1], finite[above]
    nearest = np.where(exact - low < high - exact, low, high)
    # But where f32 is at the other side of a midpoint.
    assert (values[got] != nearest).mean() < 1e-3 and got.dtype == np.uint8
    np.testing.assert_allclose(values[got], exact, rtol=0.07, atol=2e-3)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", ["v4_584", "v41_528", "bf16_1024"])
def test_an_insert_is_two_functions(rng, name, rounding):
    layer = Layer(rng)
    record = dsv4.KNOWN_RECORDS[name]
    for options, of_queries, of_entries in (
        ({"recipe": "vllm_v4"}, {}, {"recipe": "vllm_v4"}),
        ({"heads": 64, "weight": layer.weight}, {"heads": 64}, {"weight": layer.weight}),
        ({"q_norm": False, "norm": True, "neox": True}, {"norm": False, "neox": True},
         {"norm": True, "neox": True}),
        ({"q_weight": layer.weight, "q_scale_inv": np.ones(1, np.float32)},
         {"weight": layer.weight, "scale_inv": np.ones(1, np.float32)}, {}),
    ):  # fmt: skip
        if name != "v4_584":
            options, of_entries = ({**each, "recipe": None} for each in (options, of_entries))
        cache, expected = make_cache(record, 2, 64), make_cache(record, 2, 64)
        common = dict(positions=layer.positions, rounding=rounding)
        q = dsv4.norm_rope_insert_(
            layer.q, layer.kv, cache, SLOTS, layer.table, record=name, page_size=64, **common,
            **options,
        )  # fmt: skip
        dsv4.norm_rope_append_(
            layer.kv, expected, SLOTS, record=name, page_size=64, table=layer.table, **common,
            **of_entries,
        )  # fmt: skip
        np.testing.assert_array_equal(cache, expected)
        np.testing.assert_array_equal(
            q, dsv4.query_norm_rope(layer.q, layer.table, rounding=rounding,
                                    positions=layer.positions, **of_queries)
        )  # fmt: skip


def test_an_insert_into_a_ring_with_a_scale_of_the_cache(rng):
    """The engines' cache of FP8: a scale of the caller's, of which the record has an array."""
    layer = Layer(rng)
    record = dsv4.KNOWN_RECORDS["fp8_512"]
    scale = np.array([0.125], np.float32)
    pages = np.zeros((2, record.page_bytes(64)), np.uint8)
    positions = np.array([0, 63, 64, 130, -1])
    requests, lengths = np.array([0, 0, 0, 1, 1]), np.array([65, 131])
    dsv4.norm_rope_insert_(
        layer.q, layer.kv, (pages, scale), positions, layer.table, record="fp8_512", page_size=64,
        recipe=dsv4.Recipe("f8E4M3FN", "f32", "row", payload_by="reciprocal"), global_scale=scale,
        ring=64, requests=requests, lengths=lengths, positions=None,
    )  # fmt: skip
    rows = dsv4.gather((pages, scale), np.array([0, 63, 66]), record="fp8_512", page_size=64,
                       dtype="float32")  # fmt: skip
    exact = reference.rope(reference.from_bf16(layer.kv), layer.table, positions)
    # Position 64 is where position 0 was.
    np.testing.assert_allclose(rows, exact[[2, 1, 3]], rtol=0.07, atol=2e-3)


def test_an_insert_is_that_of_an_engine(rng):
    """Byte by byte what the programs do that stand for vLLM's functions."""
    layer = Layer(rng)
    tail = SLOTS.astype(np.int64), layer.positions.astype(np.int64), layer.table
    pages = np.zeros((2, 37440), np.uint8)
    q = np.zeros((5, 64, 512), np.uint16)
    compile_engine("vllm_fused_deepseek_v4_qnorm_rope_kv_rope_quant_insert")(
        layer.q, layer.kv, pages, *tail, q
    )
    cache = np.zeros_like(pages)
    got = dsv4.norm_rope_insert_(
        layer.q, layer.kv, cache, SLOTS, layer.table, record="v4_584", positions=layer.positions,
        recipe="vllm_v4", rounding="last", heads=64,
    )  # fmt: skip
    np.testing.assert_array_equal(cache, pages)
    np.testing.assert_array_equal(got, q)


def test_an_insert_into_a_full_cache_is_that_of_an_engine(rng):
    layer = Layer(rng, heads=64)
    tail = SLOTS.astype(np.int64), layer.positions.astype(np.int64), layer.table
    q, pages = layer.q.copy(), np.zeros((2, 64, 512), np.uint16)
    compile_engine("vllm_fused_deepseek_v4_full_cache_bf16_insert")(q, layer.kv, pages, *tail)
    own, cache = layer.q.copy(), np.zeros_like(pages)
    options = dict(positions=layer.positions, rounding="none")
    got = dsv4.norm_rope_insert_(
        own, layer.kv, cache, SLOTS, layer.table, record="bf16_1024", out=own, **options
    )
    np.testing.assert_array_equal(cache, pages)
    np.testing.assert_array_equal(own, q)
    assert got is own

    pages, q = np.zeros((2, 64, 512), np.uint8), np.zeros((5, 64, 512), np.uint8)
    scale, inverse = np.array([0.3], np.float32), np.array([1.7], np.float32)
    compile_engine("vllm_fused_deepseek_v4_full_cache_fp8_insert")(
        layer.q, layer.kv, q, pages, *tail, scale, inverse
    )
    cache = np.zeros_like(pages)
    got = dsv4.norm_rope_insert_(
        layer.q, layer.kv, (cache, scale), SLOTS, layer.table, record="fp8_512", page_size=64,
        recipe=dsv4.Recipe("f8E4M3FN", "f32", "row", payload_by="reciprocal"),
        global_scale=scale, q_scale_inv=inverse, **options,
    )  # fmt: skip
    np.testing.assert_array_equal(cache, pages)
    np.testing.assert_array_equal(got, q)


def test_queries_are_those_of_an_engine(rng):
    layer = Layer(rng, heads=64)
    out = np.zeros_like(layer.q)
    compile_engine("sglang_fused_q_norm_rope")(
        layer.q, out, layer.table, layer.positions.astype(np.int64)
    )
    got = dsv4.query_norm_rope(
        layer.q, layer.table, layer.positions, interleaved=True, rounding="each"
    )
    np.testing.assert_array_equal(got, out)


def emit_insert(tokens, count, name="v4_584", **options):
    record = dsv4.KNOWN_RECORDS[name]
    return dsv4.emit(
        dsv4.norm_rope_insert_, OnGpu(np.uint16, tokens, count, 512), OnGpu(np.uint16, tokens, 512),
        OnGpu(np.uint8, 4, record.page_bytes(64)), OnGpu(np.int64, tokens),
        OnGpu(np.float32, 50, 64), record=name, page_size=64,
        positions=OnGpu(np.int64, tokens), **options,
    )  # fmt: skip


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_queries_are_one_kernel(rounding):
    q, table = OnGpu(np.uint16, 9, 16, 512), OnGpu(np.float32, 50, 64)
    for options in ({}, {"heads": 64}, {"weight": OnGpu(np.float32, 512)}, {"norm": False},
                    {"scale_inv": OnGpu(np.float32, 1)}):  # fmt: skip
        text = dsv4.emit(
            dsv4.query_norm_rope, q, table, OnGpu(np.int64, 9), rounding=rounding, **options
        )
        assert text.count("__global__") == 1


@pytest.mark.parametrize("tokens", [9, 300])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_an_insert_is_one_kernel(tokens, rounding):
    """Queries and entries have blocks of their own."""
    ring = {"ring": 128, "requests": OnGpu(np.int32, tokens), "lengths": OnGpu(np.int32, 2)}
    for count, options in (
        (4, {}), (16, {"heads": 64}), (64, {"q_norm": False}), (128, ring),
        (64, {"weight": OnGpu(np.uint16, 512), "q_weight": OnGpu(np.uint16, 512)}),
        (8, {"q_scale_inv": OnGpu(np.float32, 1)}), (64, {"name": "bf16_1024"}),
        (16, {"name": "v41_528", "dtype": "float32"}),
    ):
        assert emit_insert(tokens, count, rounding=rounding, **options).count("__global__") == 1


def test_inserts_of_a_bucket_have_one_program():
    assert emit_insert(1, 16) == emit_insert(256, 16) != emit_insert(257, 16)
    assert emit_insert(257, 16) == emit_insert(5000, 16)
