# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
import reference

import dsv4

DTYPES = {
    "bf16": np.uint16, "f32": np.float32, "f8E4M3FN": np.uint8, "f8E8M0FNU": np.uint8,
    "f4E2M1FN": np.uint8, "i4": np.uint8,
}  # fmt: skip


def make_cache(record, pages, size):
    """Zeros for all arrays of a cache."""
    arrays = [np.zeros((pages, record.page_bytes(size)), np.uint8)] if record.has_pages else []
    for field in record.arrays:
        shape = (1,) if field.per == "tensor" else (pages, size, field.columns)
        arrays.append(np.ones(shape, DTYPES[field.element]))
    return arrays if len(arrays) > 1 else arrays[0]


def random_fields(rng, record, tokens):
    fields = []
    for field in record.stored:
        dtype = np.dtype(DTYPES[field.element])
        bits = rng.integers(1, 120, (tokens, field.columns * dtype.itemsize)).astype(np.uint8)
        fields.append(bits.view(dtype))
    return fields


@pytest.mark.parametrize("name", sorted(dsv4.KNOWN_RECORDS))
def test_fields_of_every_record_come_back(rng, name):
    record = dsv4.KNOWN_RECORDS[name]
    cache = make_cache(record, 3, 16)
    slots = np.array([5, 47, 16, -1, 48])
    fields = random_fields(rng, record, 5)
    dsv4.append_(cache, slots, fields, record=name, page_size=16)
    found = dsv4.gather_raw(cache, slots, record=name, page_size=16)
    assert len(found) == len(fields)
    for each, field, got in zip(record.stored, fields, found):
        # Scale s of n is at s mod i * n / i + s / i, where scales are interleaved by i.
        stored = field[:3].reshape(3, -1, each.interleave).swapaxes(1, 2)
        np.testing.assert_array_equal(got[:3].reshape(3, -1), stored.reshape(3, -1))
        assert not got[3:].view(np.uint8).any()


@pytest.mark.parametrize("name", sorted(dsv4.recipes.DEFAULT_RECIPES))
def test_rows_of_records_with_a_recipe_come_back(rng, name):
    record = dsv4.KNOWN_RECORDS[name]
    cache = make_cache(record, 2, 64)
    x = rng.standard_normal((4, record.values)).astype(np.float32)
    bits = reference.to_bf16(x)
    slots = np.array([0, 63, 64, 127], np.int32)
    dsv4.norm_rope_append_(bits, cache, slots, record=name)
    rows = dsv4.gather(cache, slots, record=name, dtype="float32")
    step = 2 if "f4E2M1FN" in [each.element for each in record.data] else 0.25
    assert np.abs(rows - reference.from_bf16(bits)).max() < step


def test_scales_of_v32_are_powers_of_two(rng):
    """As vLLM 0.33 and FlashMLA write them; the recipe of older versions has a name."""
    x = reference.to_bf16(np.concatenate([rng.standard_normal((3, 576)), np.zeros((1, 576))]))
    scales = {}
    for recipe in (None, "flashmla_v32", "vllm_v32"):
        cache, slots = np.zeros((1, 64 * 656), np.uint8), np.arange(4)
        dsv4.norm_rope_append_(x, cache, slots, record="v32_656", recipe=recipe)
        scales[recipe] = dsv4.gather_raw(cache, slots, record="v32_656")[1]
    largest = np.abs(reference.from_bf16(x)[:, :512]).reshape(4, 4, 128).max(-1) / 448
    expected = 2 ** np.ceil(np.log2(np.maximum(largest, 1e-4)))
    np.testing.assert_array_equal(scales[None], expected)
    np.testing.assert_array_equal(scales["flashmla_v32"], expected)
    np.testing.assert_allclose(scales["vllm_v32"][:3], largest[:3], rtol=1e-6)


@pytest.mark.parametrize(
    "split, interleaved, payload, scales",
    [
        ("v41_528", "v41_interleaved_528", 512, 16),
        ("v41_fp4_288", "v41_fp4_interleaved_288", 256, 32),
    ],
)
def test_records_whose_pages_have_one_size(rng, split, interleaved, payload, scales):
    """They have the same bytes in another order: only the name of the record distinguishes them."""
    x = reference.to_bf16(rng.standard_normal((64, 512)))
    caches = [np.zeros((1, 64 * (payload + scales)), np.uint8) for _ in range(2)]
    for cache, name in zip(caches, (split, interleaved)):
        dsv4.norm_rope_append_(x, cache, np.arange(64), record=name)
    page, entries = caches[0][0], caches[1][0].reshape(64, payload + scales)
    np.testing.assert_array_equal(page[: 64 * payload].reshape(64, -1), entries[:, :payload])
    np.testing.assert_array_equal(page[64 * payload :].reshape(64, -1), entries[:, payload:])
    # What docs/Records.md says to look at.
    for name, first in ((split, payload), (interleaved, payload + scales)):
        alone = np.zeros_like(caches[0])
        dsv4.norm_rope_append_(
            reference.to_bf16(np.ones((1, 512))), alone, np.array([1]), record=name
        )
        assert np.flatnonzero(alone)[0] == first
    # A cache under the other name decodes without an error.
    rows = [
        dsv4.gather(caches[1], np.arange(64), record=name, dtype="float32")
        for name in (interleaved, split)
    ]
    right = [(np.abs(each - reference.from_bf16(x)) < 0.6).mean() for each in rows]
    assert right[0] > 0.99 and right[1] < 0.8


def test_norm_rope_append_is_its_parts(rng):
    record = dsv4.KNOWN_RECORDS["v4_584"]
    x = reference.to_bf16(rng.standard_normal((6, 512)))
    weight = reference.to_bf16(rng.standard_normal(512))
    table = rng.standard_normal((50, 64)).astype(np.float32)
    positions = rng.integers(0, 50, 6)
    slots = rng.permutation(128)[:6]
    fused, parts = make_cache(record, 2, 64), make_cache(record, 2, 64)
    dsv4.norm_rope_append_(
        x,
        fused,
        slots,
        record="v4_584",
        weight=weight,
        table=table,
        positions=positions,
        rounding="each",
    )
    rows = dsv4.rope(dsv4.rms_norm(x, weight), table, positions)
    dsv4.norm_rope_append_(rows, parts, slots, record="v4_584")
    np.testing.assert_array_equal(fused, parts)
    expected = reference.rope(
        reference.rms_norm(reference.from_bf16(x), reference.from_bf16(weight)), table, positions
    )
    got = dsv4.gather(fused, slots, record="v4_584", dtype="float32")
    np.testing.assert_allclose(got[:, 448:], expected[:, 448:], rtol=2e-2, atol=1e-2)


def test_append_to_a_ring(rng):
    record = dsv4.Record([dsv4.Field("x", 8, "f32")])
    cache = np.zeros((4, 8 * 32), np.uint8)
    rows = rng.standard_normal((12, 8)).astype(np.float32)
    positions = np.concatenate([np.arange(10), [3, 4]])
    requests = np.array([0] * 10 + [1] * 2)
    lengths = np.array([10, 5])
    dsv4.append_(
        cache, positions, [rows], record=record, page_size=8, ring=8, requests=requests,
        lengths=lengths,
    )  # fmt: skip
    stored = cache.view(np.float32).reshape(4, 8, 8)
    for position in range(2, 10):
        np.testing.assert_array_equal(stored[0, position % 8], rows[position])
    np.testing.assert_array_equal(stored[1, 3:5], rows[10:])
    assert not stored[2:].any()


def test_gather_by_pages_requests_and_lengths(rng):
    record = dsv4.Record([dsv4.Field("x", 8, "f32")])
    cache = rng.standard_normal((10, 4, 8)).astype(np.float32)
    table = rng.permutation(10)[:6].reshape(2, 3).astype(np.int32)
    requests = np.array([1, 0, 1])
    indices = rng.integers(-1, 14, (3, 5))
    lengths = np.array([12, 6, 3])
    rows, mask = dsv4.gather(
        cache, indices, record=record, page_table=table, requests=requests, lengths=lengths,
        dtype="float32", return_mask=True,
    )  # fmt: skip
    valid = (indices >= 0) & (indices < np.minimum(lengths, 12)[:, None])
    np.testing.assert_array_equal(mask, valid)
    safe = np.where(valid, indices, 0)
    expected = cache[table[requests[:, None], safe // 4], safe % 4] * valid[..., None]
    np.testing.assert_array_equal(rows, expected)
    flat = dsv4.gather(cache, np.array([3, 39, 40]), record=record, dtype="float32")
    np.testing.assert_array_equal(flat[:2], cache.reshape(40, 8)[[3, 39]])
    assert not flat[2].any()


BYTES = dsv4.Record([dsv4.Field("x", 64, "f8E4M3FN")])
TABLE = np.arange(6, dtype=np.int32).reshape(3, 2)


@pytest.mark.parametrize(
    "options, entries",
    [
        # A decode step: each token is a request, and has a row of the table.
        ({"page_table": TABLE}, [(0, 0), (2, 1), (5, 1)]),
        (
            {"page_table": TABLE, "ring": 4, "lengths": np.array([1, 2, 6])},
            [(0, 0), (2, 1), (4, 1)],
        ),
        ({"page_table": TABLE, "ring": 4, "lengths": np.array([1, 2, 6]),
          "requests": np.arange(3)}, [(0, 0), (2, 1), (4, 1)]),
        ({"page_table": TABLE, "ring": 4, "lengths": np.array([1, 2, 6]),
          "requests": np.arange(3), "lengths_per": "token"}, [(0, 0), (2, 1), (4, 1)]),
        ({"page_table": TABLE, "requests": np.array([0, 2, 2])}, [(0, 0), (4, 1), (5, 1)]),
    ],
)  # fmt: skip
def test_positions_find_their_page(options, entries):
    cache = np.zeros((6, 4, 64), np.uint8)
    positions = np.array([0, 1, 5])
    rows = np.arange(1, 4, dtype=np.uint8)[:, None].repeat(64, axis=1)
    dsv4.append_(cache, positions, (rows,), record=BYTES, **options)
    expected = np.zeros((6, 4), np.uint8)
    for number, entry in enumerate(entries):
        expected[entry] = number + 1
    np.testing.assert_array_equal(cache[:, :, 0], expected)
    again = np.zeros((6, 4, 64), np.uint8)
    values = np.ones((3, 64), np.float32)
    dsv4.norm_rope_append_(values, again, positions, record=BYTES, **options)
    np.testing.assert_array_equal(again[:, :, 0] != 0, expected != 0)


def test_lengths_of_requests():
    cache = np.full((6, 4, 64), 0x38, np.uint8)
    options = {
        "record": BYTES, "page_table": TABLE, "requests": np.arange(3),
        "lengths": np.array([1, 1, 6]), "lengths_per": "request", "return_mask": True,
    }  # fmt: skip
    rows, valid = dsv4.gather(cache, np.array([0, 1, 5]), dtype="float32", **options)
    assert valid.tolist() == [True, False, True]
    np.testing.assert_array_equal(rows[:, 0], [1, 0, 1])
    stored, valid = dsv4.gather_raw(cache, np.array([0, 1, 5]), **options)
    assert valid.tolist() == [True, False, True] and stored[:, 0].tolist() == [0x38, 0, 0x38]


def test_gather_ragged(rng):
    record = dsv4.Record([dsv4.Field("x", 8, "f32")])
    cache = rng.standard_normal((10, 4, 8)).astype(np.float32)
    table = rng.permutation(10)[:6].reshape(2, 3).astype(np.int32)
    starts = np.array([0, 5, 9], np.int32)
    rows, mask = dsv4.gather_ragged(
        cache, table, record=record, cu_seq_lens=starts, rows=11, dtype="float32",
        return_mask=True,
    )  # fmt: skip
    for request, (first, last) in enumerate(zip(starts, starts[1:])):
        p = np.arange(last - first)
        np.testing.assert_array_equal(rows[first:last], cache[table[request, p // 4], p % 4])
    assert not rows[9:].any() and mask[:9].all() and not mask[9:].any()
    own = dsv4.gather_ragged(
        cache, table, record=record, seq_lens=np.array([7, 4]), gather_lens=np.array([3, 4]),
        rows=6, offset=1, dtype="float32",
    )  # fmt: skip
    p = np.arange(4, 7)
    np.testing.assert_array_equal(own[0, 1:4], cache[table[0, p // 4], p % 4])
    out = np.full((11, 8), 7, np.float32)
    dsv4.gather_ragged(cache, table, record=record, cu_seq_lens=starts, out=out)
    assert (out[9:] == 7).all()


def test_caches_of_views(rng):
    record = dsv4.KNOWN_RECORDS["v4_584"]
    slab = np.zeros((4, 2, record.page_bytes(16)), np.uint8)
    x = reference.to_bf16(rng.standard_normal((3, 512)))
    slots = np.array([1, 17, 63])
    dsv4.norm_rope_append_(x, slab[:, 1], slots, record="v4_584", page_size=16)
    assert not slab[:, 0].any()
    alone = np.zeros((4, record.page_bytes(16)), np.uint8)
    dsv4.norm_rope_append_(x, alone, slots, record="v4_584", page_size=16)
    np.testing.assert_array_equal(slab[:, 1], alone)
    np.testing.assert_array_equal(
        dsv4.gather(slab[:, 1], slots, record="v4_584", page_size=16),
        dsv4.gather(alone, slots, record="v4_584", page_size=16),
    )


def test_pages_of_entries_without_their_padding(rng):
    """[pages, 64, 584] with 37,440 bytes from page to page, as engines have it."""
    record = dsv4.KNOWN_RECORDS["v4_584"]
    pages = np.zeros((3, record.page_bytes(64)), np.uint8)
    pages[:, 64 * 584 :] = 0xAB
    entries = np.lib.stride_tricks.as_strided(pages, (3, 64, 584), (37440, 584, 1))
    x = reference.to_bf16(rng.standard_normal((3, 512)))
    slots = np.array([0, 64, 191])
    dsv4.norm_rope_append_(x, entries, slots, record="v4_584")
    assert (pages[:, 64 * 584 :] == 0xAB).all()
    np.testing.assert_array_equal(
        dsv4.gather(entries, slots, record="v4_584"), dsv4.gather(pages, slots, record="v4_584")
    )
    with pytest.raises(dsv4.InvalidArgument) as caught:
        dsv4.gather(entries[:, :, :576], slots, record="v4_584", page_size=64)
    assert caught.value.argument == "cache"


def test_compress(rng):
    values = rng.standard_normal((12, 512)).astype(np.float32)
    scores = rng.standard_normal((12, 512)).astype(np.float32)
    bias = rng.standard_normal((4, 512)).astype(np.float32)
    plan = np.array([[0, 0, 0, 0], [4, 0, 0, 0], [8, 0, 0, 0]], np.int32)
    record = dsv4.KNOWN_RECORDS["bf16_1024"]
    cache = make_cache(record, 2, 64)
    slots = np.array([3, 64, 100])
    dsv4.compress_(values, scores, plan, cache, slots, window=4, record="bf16_1024", bias=bias)
    got = dsv4.gather(cache, slots, record="bf16_1024", dtype="float32")
    np.testing.assert_allclose(
        got, reference.compress(values, scores, 4, bias), rtol=1e-2, atol=1e-2
    )


def test_interleaved_scales(rng):
    """Rows of the record whose scales are interleaved are those of its recipe."""
    record = dsv4.KNOWN_RECORDS["nvfp4_352"]
    cache, slots = make_cache(record, 2, 64), np.array([1, 5, 70, 127, -1])
    x = rng.standard_normal((5, 576)).astype(np.float32)
    dsv4.norm_rope_append_(x, cache, slots, record="nvfp4_352", recipe="v41_fp4", page_size=64)
    rows = dsv4.gather(cache, slots, record="nvfp4_352", page_size=64, dtype="float32")
    quantised = dsv4.quantize(np.ascontiguousarray(x[:, :512]), "v41_fp4")
    expected = dsv4.dequantize(*quantised, "v41_fp4", dtype="float32")
    np.testing.assert_array_equal(rows[:4, :512], expected[:4])
    assert np.abs(rows[:4, 512:] - x[:4, 512:]).max() < 0.13 and not rows[4].any()


def test_a_scale_of_the_whole_cache(rng):
    pages, scale = make_cache(dsv4.KNOWN_RECORDS["fp8_512"], 2, 64)
    scale[:] = 0.5
    x = rng.standard_normal((3, 512)).astype(np.float32)
    recipe = dsv4.Recipe("f8E4M3FN", "f32", "row", payload_by="reciprocal")
    named = {"record": "fp8_512", "page_size": 64}
    slots = np.array([3, 64, 100])
    dsv4.norm_rope_append_(x, (pages, scale), slots, recipe=recipe, global_scale=scale, **named)
    rows = dsv4.gather((pages, scale), slots, dtype="float32", **named)
    assert np.abs(rows - x).max() < 0.13
    plan = np.array([[0, 0, 0, 0]])
    dsv4.compress_(
        x[:1], np.zeros((1, 512), np.float32), plan, (pages, scale), slots[1:2], window=1,
        recipe=recipe, global_scale=scale, **named,
    )  # fmt: skip
    again = dsv4.gather((pages, scale), slots[1:2], dtype="float32", **named)
    assert np.abs(again - x[:1]).max() < 0.14
    for other, record in ((None, "fp8_512"), (scale, "v4_584")):
        with pytest.raises(dsv4.InvalidArgument) as caught:
            cache = (pages, scale) if other is None else pages
            dsv4.norm_rope_append_(
                x, cache, slots, record=record, recipe=recipe, global_scale=other, page_size=64
            )
        assert caught.value.argument == "global_scale"


def test_compress_normalises_and_rotates(rng):
    """The chain after a window is that of norm_rope_append_."""
    values = rng.standard_normal((8, 512)).astype(np.float32)
    table, positions = rng.standard_normal((9, 64)).astype(np.float32), np.array([3, 8])
    plan = np.array([[0, 0, 0, 0], [4, 0, 0, 0]])
    slots, same = np.array([3, 64]), {"record": "bf16_1024", "page_size": 64}
    for options in (
        {"norm": True}, {"table": table, "positions": positions, "neox": True},
        {"norm": True, "table": table, "positions": positions, "interleaved": True},
    ):  # fmt: skip
        one, other = (make_cache(dsv4.KNOWN_RECORDS["bf16_1024"], 2, 64) for _ in range(2))
        dsv4.compress_(values, np.zeros_like(values), plan, one, slots, window=4, **options, **same)
        rows = reference.compress(values, np.zeros_like(values), 4)
        dsv4.norm_rope_append_(reference.to_bf16(rows), other, slots, **options, **same)
        got, expected = (dsv4.gather(each, slots, dtype="float32", **same) for each in (one, other))
        np.testing.assert_allclose(got, expected, rtol=2e-2, atol=2e-2)


def test_compress_across_launches(rng):
    """A window in two launches is one in one launch."""
    values = rng.standard_normal((4, 512)).astype(np.float32)
    scores = rng.standard_normal((4, 512)).astype(np.float32)
    weight = reference.to_bf16(rng.standard_normal(512))
    record, state_record = dsv4.KNOWN_RECORDS["v4_584"], dsv4.compression.state_record(512)
    whole, parts = make_cache(record, 1, 64), make_cache(record, 1, 64)
    slots = np.array([9])
    dsv4.compress_(
        values, scores, np.array([[0, 0, 0, 0]]), whole, slots, window=4, record="v4_584",
        weight=weight,
    )  # fmt: skip
    state = np.zeros((1, 4, state_record.part_bytes("row")), np.uint8)
    dsv4.append_(
        state, np.arange(3), (values[:3], scores[:3]), record=state_record, ring=4,
        requests=np.zeros(3, np.int32), lengths=np.array([3]),
    )  # fmt: skip
    dsv4.compress_(
        values[3:], scores[3:], np.array([[0, 0, 3, 0]]), parts, slots, window=4,
        record="v4_584", weight=weight, state=state, ring=4,
    )  # fmt: skip
    np.testing.assert_array_equal(whole, parts)
    assert whole.any()


@pytest.mark.parametrize(
    "call, error, argument",
    [
        (lambda c, i: dsv4.gather(c, i, record="v4_585"), dsv4.InvalidArgument, "record"),
        (lambda c, i: dsv4.gather(c[:, :100], i, record="v4_584"), dsv4.InvalidArgument, "cache"),
        (lambda c, i: dsv4.gather((c, c), i, record="v4_584"), dsv4.InvalidArgument, "cache"),
        (lambda c, i: dsv4.gather(c, i, record="seed_580"), dsv4.InvalidArgument, "cache"),
        (lambda c, i: dsv4.gather(c, i.astype(np.float32), record="v4_584"), dsv4.TypeMismatch,
         "indices"),
        (lambda c, i: dsv4.gather(c, i, record="v4_584", lengths_per="page"), dsv4.InvalidArgument,
         "lengths_per"),
        (lambda c, i: dsv4.gather_ragged(c, i[None], record="v4_584", cu_seq_lens=i),
         dsv4.InvalidArgument, "rows"),
        (lambda c, i:
         dsv4.gather(c, i, record="v4_584", lengths=i, page_table=i, lengths_per="request"),
         dsv4.InvalidArgument, "requests"),
        (lambda c, i: dsv4.gather(c, i, record="v4_584", page_table=i, indptr=i),
         dsv4.InvalidArgument, "requests"),
        (lambda c, i:
         dsv4.gather_ragged(c, i[None], record="v4_584", seq_lens=i[:1], seq_starts=i[:1], rows=3),
         dsv4.InvalidArgument, "seq_starts"),
        (lambda c, i:
         dsv4.gather_ragged(c, i[None], record="v4_584", seq_lens=i[:1], requests=i, rows=3),
         dsv4.InvalidArgument, "requests"),
        (lambda c, i:
         dsv4.gather_ragged(c, i[None], record="v4_584", cu_seq_lens=i, gather_lens=i, rows=3),
         dsv4.InvalidArgument, "gather_lens"),
        (lambda c, i:
         dsv4.gather_ragged(c, i[None], record="v4_584", cu_seq_lens=i, requests=i, rows=4),
         dsv4.InvalidArgument, "rows"),
        (lambda c, i: dsv4.append_(c, i, (i,), record="v4_584"), dsv4.InvalidArgument, "fields"),
        (lambda c, i:
         dsv4.norm_rope_append_(np.zeros((3, 512), np.float32), c, i, record="nvfp4_384"),
         dsv4.InvalidArgument, "recipe"),
        (lambda c, i: dsv4.norm_rope_append_(np.zeros((3, 500), np.float32), c, i, record="v4_584"),
         dsv4.InvalidArgument, "x"),
    ],
)  # fmt: skip
def test_caches_refuse(call, error, argument):
    record = dsv4.KNOWN_RECORDS["v4_584"]
    with pytest.raises(error) as caught:
        call(make_cache(record, 2, 64), np.array([1, 2, 3]))
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "call, argument, id",
    [
        (lambda r, c, i: dsv4.gather(c[:, :0], i, record=r), "cache", "cache.page_size"),
        (lambda r, c, i: dsv4.gather(c[:, :0, 0], i, record=r), "cache", "argument.extent"),
        (lambda r, c, i:
         dsv4.gather(np.lib.stride_tricks.as_strided(c, c.shape, (512, 16, 4)), i, record=r),
         "cache", "argument.stride"),
        (lambda r, c, i:
         dsv4.append_(c, i[::2], [np.ones((2, 8), np.float32)], record=r, unique=False),
         "slots", "argument.stride"),
        (lambda r, c, i: dsv4.gather_ragged(c, i[None], record=r, cu_seq_lens=i[::2], rows=4),
         "cu_seq_lens", "argument.stride"),
    ],
)  # fmt: skip
def test_memory_that_no_kernel_takes(call, argument, id):
    record = dsv4.Record([dsv4.Field("x", 8, "f32")])
    with pytest.raises(dsv4.InvalidArgument) as caught:
        call(record, np.zeros((2, 16, 8), np.float32), np.array([0, 1, 2, 3]))
    assert caught.value.argument == argument and caught.value.id == id


def test_arrays_of_a_cache_are_aligned_on_their_own(rng):
    """Bytes at an odd address, and f32 that are apart, as engines carve them out of one slab."""
    record = dsv4.Record([
        dsv4.Field("x", 32, "f8E4M3FN", "array"),
        dsv4.Field("scale", 1, "f32", "array", "x", "row"),
    ])  # fmt: skip
    slab = np.zeros(4096, np.uint8)
    payload = slab[1 : 1 + 2 * 4 * 32].reshape(2, 4, 32)
    scales = slab[512:2560].view(np.float32).reshape(2, 4, 64)[:, :, :1]
    fields = random_fields(rng, record, 3)
    slots = np.array([[0, 9], [5, 9], [7, 9]])[:, 0]
    dsv4.append_((payload, scales), slots, fields, record=record)
    found = dsv4.gather_raw((payload, scales), slots, record=record)
    for got, field in zip(found, fields):
        np.testing.assert_array_equal(got, field)
    assert np.count_nonzero(scales) == 3 and np.count_nonzero(slab[512:].view(np.float32)) == 3


def test_a_read_only_cache_is_not_written(rng):
    record = dsv4.Record([dsv4.Field("x", 8, "f32")])
    cache = np.zeros((2, 4, 8), np.float32)
    cache.flags.writeable = False
    with pytest.raises((dsv4.InvalidArgument, dsv4.TypeMismatch), match="'cache'"):
        dsv4.append_(cache, np.array([0]), [np.ones((1, 8), np.float32)], record=record)


def test_two_tokens_of_one_slot_are_found():
    record = dsv4.Record([dsv4.Field("x", 8, "f32")])
    cache = np.zeros((4, 8 * 32), np.uint8)
    fields = [np.ones((4, 8), np.float32)]
    call = {"record": record, "page_size": 8}
    table = np.array([[0, 1], [2, 0]], np.int32)
    requests = np.array([0, 0, 1, 1])

    def append(slots, dtype=np.int64, **options):
        dsv4.append_(cache, np.array(slots, dtype), fields, **call, **options)

    for dtype in (np.int32, np.int64):
        append([0, 1, 2, 31], dtype)
        append([-1, -1, 99, 99], dtype)  # None of these is written.
        append([5, 5, 2, 5], dtype, unique=False)
        append([0, 1, 0, 1], dtype, page_table=table, requests=requests)
        for _ in range(2):
            with pytest.raises(dsv4.InvalidArgument, match="tokens 0 and 3 have one slot, 5") as e:
                append([5, 1, 2, 5], dtype)
            assert (e.value.id, e.value.argument) == ("argument.unique", "slots")
        # The second page of the second request is the first of the first.
        with pytest.raises(dsv4.InvalidArgument, match="tokens 0 and 2 have one slot, 0"):
            append([0, 8, 8, 1], dtype, page_table=table, requests=requests)
    x = np.ones((4, 8), np.float32)
    with pytest.raises(dsv4.InvalidArgument, match="have one slot"):
        dsv4.norm_rope_append_(x, cache, np.array([1, 2, 1, 3]), **call)
    kernel = dsv4.prepare(dsv4.append_, cache, np.arange(4), fields, **call)
    with pytest.raises(dsv4.InvalidArgument, match="have one slot"):
        kernel(np.array([1, 2, 1, 3]), fields[0], cache)
