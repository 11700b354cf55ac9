# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
import reference
from producers import OnGpu

import dsv4


@pytest.mark.parametrize("score", ["sqrt_softplus", "sigmoid", "softmax"])
@pytest.mark.parametrize("renormalize", [True, False])
def test_route(rng, score, renormalize):
    logits = rng.standard_normal((7, 64)).astype(np.float32)
    bias = rng.standard_normal(64).astype(np.float32)
    weights, ids = dsv4.route(
        logits, 6, bias=bias, score=score, renormalize=renormalize, scale=1.5
    )
    scores = reference.gate(logits, score)
    np.testing.assert_array_equal(ids, reference.topk(scores + bias, 6))
    expected = reference.route_weights(scores, ids, renormalize, 1.5)
    np.testing.assert_allclose(weights, expected, rtol=1e-5)
    assert weights.dtype == np.float32


def test_route_groups(rng):
    logits = rng.standard_normal((5, 64)).astype(np.float32)
    weights, ids = dsv4.route(logits, 4, score="sigmoid", groups=(8, 3, 2), scale=2.5)
    scores = reference.gate(logits, "sigmoid")
    best = np.sort(scores.reshape(5, 8, 8))[:, :, -2:].sum(-1)
    kept = np.argsort(-best, kind="stable")[:, :3]
    masked = np.full_like(scores, -np.inf).reshape(5, 8, 8)
    for row, groups in enumerate(kept):
        masked[row, groups] = scores.reshape(5, 8, 8)[row, groups]
    np.testing.assert_array_equal(ids, reference.topk(masked.reshape(5, 64), 4))
    np.testing.assert_allclose(
        weights, reference.route_weights(scores, ids, True, 2.5), rtol=1e-5
    )


def test_route_shared_and_padding(rng):
    logits = rng.standard_normal((5, 32)).astype(np.float32)
    padding = np.array([False, True, False, False, False])
    valid = np.array([4], np.int32)
    weights, ids = dsv4.route(
        logits, 3, shared=1, shared_weight=0.5, padding=padding, valid_rows=valid,
        index_dtype="int64",
    )  # fmt: skip
    assert ids.shape == (5, 4) and ids.dtype == np.int64
    assert (ids[[1, 4]] == -1).all() and (weights[[1, 4]] == 0).all()
    assert (ids[[0, 2, 3], 3] == 32).all() and (weights[[0, 2, 3], 3] == 0.5).all()


def test_hash_route(rng):
    logits = rng.standard_normal((4, 32)).astype(np.float32)
    table = rng.integers(0, 32, (20, 6)).astype(np.int32)
    words = np.array([3, 19, 20, -1])
    weights, ids = dsv4.hash_route(logits, words, table, scale=1.5)
    expected = np.full((4, 6), -1)
    expected[:2] = table[words[:2]]
    np.testing.assert_array_equal(ids, expected)
    scores = reference.gate(logits, "sqrt_softplus")
    np.testing.assert_allclose(
        weights, reference.route_weights(scores, expected, True, 1.5), rtol=1e-5
    )


def make_product(rng, tokens, width, experts, dtype=np.uint16):
    """Hidden rows and those of experts, whose logits are exact, and the logits."""
    hidden, gate = (rng.integers(-8, 9, (n, width)) for n in (tokens, experts))
    logits = (hidden / 4.0) @ (gate / 64.0).T
    gate = gate.astype(np.float32) / 64
    return (
        reference.to_bf16(hidden / 4.0), reference.to_bf16(gate) if dtype == np.uint16 else gate,
        logits.astype(np.float32),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_router_logits(rng, dtype):
    for tokens, width, experts in ((5, 7168, 256), (1, 37, 3), (70, 520, 384), (0, 64, 8)):
        hidden, gate, logits = make_product(rng, tokens, width, experts, dtype)
        np.testing.assert_array_equal(dsv4.router_logits(hidden, gate), logits)
        out = np.zeros((tokens, experts + 3), np.float32)[:, :experts]
        assert dsv4.router_logits(hidden, gate, out=out) is out
        np.testing.assert_array_equal(out, logits)


@pytest.mark.parametrize("options", [
    {}, {"score": "softmax"}, {"score": "sigmoid", "groups": (8, 4, 2), "scale": 2.5},
    {"shared": 1, "shared_of_sum": 0.4}, {"nan": "zero"}, {"nan": "first", "index_dtype": "int64"},
    {"padding": np.arange(70) % 3 == 1, "valid_rows": np.array([50])}, {"renormalize": False},
])  # fmt: skip
def test_dense_route_is_a_route_of_logits(rng, options):
    hidden, gate, logits = make_product(rng, 70, 512, 64)
    bias = rng.standard_normal(64).astype(np.float32)
    expected = dsv4.route(logits, 6, bias=bias, **options)
    for stored in (False, True):
        got = dsv4.dense_route(hidden, gate, 6, bias=bias, return_logits=stored, **options)
        for each, other in zip(got, (*expected, logits)):
            np.testing.assert_array_equal(each, other)
        assert len(got) == 2 + stored
    outs = [np.zeros_like(each) for each in (*expected, logits)]
    dsv4.dense_route(hidden, gate, 6, bias=bias, return_logits=True, out=outs, **options)
    np.testing.assert_array_equal(outs[2], logits)
    np.testing.assert_array_equal(outs[1], expected[1])


def test_a_replay_weighs_the_same_experts(rng):
    """Also where physical experts stand for the logical ones, and of tokens that do not count."""
    logits = rng.standard_normal((6, 64)).astype(np.float32)
    bias = rng.standard_normal(64).astype(np.float32)
    padding = np.array([False, True, False, False, False, True])
    table = rng.permutation(3000)[:66].astype(np.int32)
    options = dict(
        shared=2, shared_of_sum=0.4, padding=padding, scale=2.5, score="sigmoid", expert_map=table
    )
    weights, ids, replay = dsv4.route(logits, 6, bias=bias, return_replay=True, **options)
    assert replay.dtype == np.int16 and (replay[padding] == -1).all()
    np.testing.assert_array_equal(ids, np.where(replay < 0, -1, table[replay]))
    for dtype in (np.int16, np.int32, np.int64):
        again = dsv4.route(
            logits, 6, replay=replay.astype(dtype), return_replay=True, **options
        )
        for each, other in zip(again, (weights, ids, replay)):
            np.testing.assert_array_equal(each, other)
    plain, _ = dsv4.route(logits, 6, bias=bias, **{**options, "expert_map": None})
    np.testing.assert_array_equal(plain, weights)


def test_a_replay_of_hidden_rows(rng):
    """It is that of their logits."""
    hidden, gate, _ = make_product(rng, 7, 96, 64)
    weights, ids, logits, recorded, numbers = dsv4.dense_route(
        hidden, gate, 5, return_logits=True, return_replay=True, return_token_experts=True,
        expert_map=np.arange(64)[::-1].copy(),
    )  # fmt: skip
    np.testing.assert_array_equal(ids, 63 - recorded)
    np.testing.assert_array_equal(numbers, np.arange(ids.size).reshape(5, -1).T)
    again = dsv4.dense_route(hidden, gate, 5, replay=recorded)
    np.testing.assert_array_equal(again[0], weights)
    np.testing.assert_array_equal(again[1], recorded)
    np.testing.assert_array_equal(dsv4.route(logits, 5, replay=recorded)[0], weights)


def test_experts_of_16_bits(rng):
    logits = rng.standard_normal((6, 64)).astype(np.float32)
    _, wide = dsv4.route(logits, 5)
    _, ids = dsv4.route(logits, 5, index_dtype="int16")
    assert ids.dtype == np.int16
    np.testing.assert_array_equal(ids, wide)
    out = np.zeros((6, 5), np.float32), np.zeros((6, 9), np.int16)[:, 1:6]
    assert dsv4.route(logits, 5, index_dtype="int16", out=out)[1] is out[1]
    np.testing.assert_array_equal(out[1], wide)


def test_images_have_a_bias_of_their_own(rng):
    logits = rng.standard_normal((6, 64)).astype(np.float32)
    bias, other = (rng.standard_normal(64).astype(np.float16) for _ in range(2))
    images = np.array([True, False, False, True, True, False])
    for of_text, of_images in ((bias, other), (reference.to_bf16(bias), other.astype(np.float32))):
        got = dsv4.route(logits, 6, bias=of_text, bias_vl=of_images, image_tokens=images)
        text = dsv4.route(logits, 6, bias=of_text)
        image = dsv4.route(logits, 6, bias=of_images)
        for each, a, b in zip(got, text, image):
            np.testing.assert_array_equal(each, np.where(images[:, None], b, a))


def count_kernels(function, *args, **options):
    return dsv4.emit(function, *args, **options).count("__global__")


def test_kernels_of_a_dense_route():
    """One for few tokens; two where logits go to memory."""
    gate = OnGpu(np.uint16, 256, 7168)

    def count(tokens, **options):
        return count_kernels(
            dsv4.dense_route, OnGpu(np.uint16, tokens, 7168), gate, 8,
            bias=OnGpu(np.float32, 256), **options,
        )  # fmt: skip

    for tokens in (1, 8, 9, 32, 64):
        for options in (
            {}, {"score": "sigmoid", "groups": (8, 4, 2)}, {"nan": "first"},
            {"shared": 1, "shared_weight": 1.0, "padding": OnGpu(np.bool_, tokens)},
        ):
            assert count(tokens, **options) == 1
    assert count(65) == 2
    assert count(8, score="softmax") == count(8, return_logits=True) == 2
    assert count_kernels(dsv4.router_logits, OnGpu(np.uint16, 9, 7168), gate) == 1


def test_kernels_of_routers():
    """One, whatever becomes of the experts."""
    logits, bias = OnGpu(np.float32, 9, 64), OnGpu(np.uint16, 64)
    table, images = OnGpu(np.int32, 64), OnGpu(np.bool_, 9)
    given = OnGpu(np.int16, 9, 6)
    for options in (
        {"bias": bias, "bias_vl": OnGpu(np.float32, 64), "image_tokens": images},
        {"expert_map": table}, {"index_dtype": "int16"}, {"return_replay": True},
        {"bias": bias, "expert_map": table, "return_replay": True, "index_dtype": "int16"},
        {"replay": given}, {"replay": given, "score": "softmax"},
        {"replay": given, "expert_map": table, "padding": images, "return_replay": True},
        {"score": "softmax", "expert_map": table, "return_replay": True},
        {"return_token_experts": True}, {"return_token_experts": True, "expert_map": table},
    ):
        assert count_kernels(dsv4.route, logits, 6, **options) == 1
    words, experts = OnGpu(np.int32, 9), OnGpu(np.int32, 99, 6)
    for options in (
        {"expert_map": table}, {"return_replay": True, "index_dtype": "int16"},
        {"return_token_experts": True, "expert_map": table},
    ):
        assert count_kernels(dsv4.hash_route, logits, words, experts, **options) == 1
    hidden, gate = OnGpu(np.uint16, 9, 512), OnGpu(np.uint16, 64, 512)
    for options in (
        {"bias": bias, "bias_vl": bias, "image_tokens": images},
        {"expert_map": table, "return_replay": True, "return_token_experts": True},
    ):
        assert count_kernels(dsv4.dense_route, hidden, gate, 6, **options) == 1
    assert count_kernels(dsv4.dense_route, hidden, gate, 6, replay=given) == 2


def test_programs_of_a_dense_route():
    """A bucket has one program."""
    def text(tokens, **options):
        hidden, gate = OnGpu(np.uint16, tokens, 512), OnGpu(np.uint16, 64, 512)
        return dsv4.emit(dsv4.dense_route, hidden, gate, 6, **options)

    for few, many in ((1, 8), (9, 32), (33, 64), (65, 256), (257, 1024), (1025, 5000)):
        assert text(few) == text(many)
    assert len({text(n) for n in (8, 32, 64, 256, 1024, 1025)}) == 6
    assert text(64, return_logits=True) != text(65)


@pytest.mark.parametrize("score", ["sqrt_softplus", "softmax"])
def test_weights_of_nan(rng, score):
    logits = rng.standard_normal((3, 32)).astype(np.float32)
    logits[1, 7], logits[2] = np.nan, np.nan
    whole = [False, score == "softmax", True]  # Tokens of which all scores are NaN.
    for nan in ("last", "first", "zero"):
        weights, ids = dsv4.route(logits, 4, score=score, nan=nan)
        np.testing.assert_array_equal(ids[whole], [[0, 1, 2, 3]] * sum(whole))
        assert (ids[1, 0] == 7) == (nan == "first" and not whole[1])
        assert (weights[whole] == 0).all() if nan == "zero" else np.isnan(weights[whole]).all()
        assert np.isnan(weights[1]).all() == (nan == "first" or (whole[1] and nan == "last"))
        np.testing.assert_allclose(weights[0].sum(), 1, rtol=1e-5)
    table = np.array([[7, 1, 2, 3]], np.int32)
    words = np.zeros(3, np.int32)
    weights, _ = dsv4.hash_route(logits, words, table, score=score)
    assert np.isnan(weights[1:]).all()
    weights, _ = dsv4.hash_route(logits, words, table, score=score, nan="zero")
    assert weights[1, 0] == 0 and (weights[2] == 0).all()
    np.testing.assert_allclose(weights[:2].sum(1), [1, 0 if whole[1] else 1], rtol=1e-5)


@pytest.mark.parametrize(
    "call, error, argument",
    [
        (lambda x: dsv4.route(x, 2, bias=x[0, :3]), dsv4.InvalidArgument, "bias"),
        (lambda x: dsv4.route(x, 2, score="relu"), dsv4.InvalidArgument, "score"),
        (lambda x: dsv4.route(x, 2, shared=1), dsv4.InvalidArgument, "shared"),
        (lambda x: dsv4.route(x, 2, padding=np.zeros(4, np.int32)), dsv4.TypeMismatch, "padding"),
        (lambda x: dsv4.route(x, 2, out=x), dsv4.InvalidArgument, "out"),
        (lambda x: dsv4.hash_route(x, np.zeros(3, int), np.zeros((9, 2), int)),
         dsv4.InvalidArgument, "token_ids"),
    ],
)  # fmt: skip
def test_routers_refuse(rng, call, error, argument):
    with pytest.raises(error) as caught:
        call(rng.standard_normal((4, 16)).astype(np.float32))
    assert caught.value.argument == argument


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_experts_of_a_table_exist(dtype):
    logits = np.ones((4, 64), np.float32)
    table = np.zeros((9, 5), dtype)
    table[3, 2], table[4, 1] = 64, -1
    dsv4.hash_route(logits, np.array([0, 1, 2, 4]), table)  # Row 3 is not looked up.
    dsv4.hash_route(logits, np.array([0, 1, -1, 9]), table)
    for _ in range(2):
        with pytest.raises(dsv4.InvalidArgument, match=r"element \[3, 2\] is 64") as caught:
            dsv4.hash_route(logits, np.array([0, 1, 2, 3]), table)
        assert (caught.value.id, caught.value.argument) == ("argument.experts", "table")
    with pytest.raises(dsv4.InvalidArgument, match=r"element \[3, 2\] is 64"):
        dsv4.hash_route(logits, np.array([3] * 4), table[:, :4].copy(), shared=1, shared_weight=1.0)
