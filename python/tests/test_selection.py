# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
import reference

import dsv4


@pytest.mark.parametrize("rows, columns, k", [(1, 7, 7), (5, 300, 9), (3, 4001, 64), (0, 50, 4)])
def test_topk_is_exact(rng, rows, columns, k):
    scores = rng.integers(-20, 20, (rows, columns)).astype(np.float32)
    indices = dsv4.topk(scores, k, sorted=True)
    assert indices.dtype == np.int32
    np.testing.assert_array_equal(indices, reference.topk(scores, k))


def test_topk_of_lengths_and_starts(rng):
    scores = rng.standard_normal((4, 60)).astype(np.float32)
    lengths = np.array([0, 3, 60, 20], np.int64)
    starts = np.array([0, 50, 0, 33], np.int32)
    indices = dsv4.topk(scores, 6, lengths=lengths, starts=starts, sorted=True)
    np.testing.assert_array_equal(indices, reference.topk(scores, 6, lengths, starts))


def test_topk_ends_and_offsets(rng):
    scores = rng.standard_normal((3, 40)).astype(np.float32)
    starts, ends = np.array([0, 10, 39], np.int32), np.array([40, 30, 40], np.int32)
    offsets = np.array([100, 200, 300], np.int32)
    indices = dsv4.topk(scores, 2, starts=starts, ends=ends, offsets=offsets, sorted=True)
    expected = reference.topk(scores, 2, ends - starts, starts)
    expected = np.where(expected < 0, -1, expected + offsets[:, None])
    np.testing.assert_array_equal(indices, expected)


def test_topk_next_n_and_ratio(rng):
    scores = rng.standard_normal((4, 30)).astype(np.float32)
    lengths = np.array([20, 9], np.int32)
    indices = dsv4.topk(scores, 5, lengths=lengths, next_n=2, ratio=4, sorted=True)
    of_rows = np.array([19, 20, 8, 9]) // 4
    np.testing.assert_array_equal(indices, reference.topk(scores, 5, of_rows))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("tie", ["low", "high"])
@pytest.mark.parametrize("index_dtype", ["int32", "int64", "uint32"])
def test_topk_order_ties_and_types(rng, largest, tie, index_dtype):
    scores = rng.integers(0, 3, (3, 50)).astype(np.float32)
    values, indices = dsv4.topk(
        scores, 20, largest=largest, tie=tie, sorted=True, index_dtype=index_dtype,
        return_values=True,
    )  # fmt: skip
    assert indices.dtype == np.dtype(index_dtype)
    np.testing.assert_array_equal(indices, reference.topk(scores, 20, largest=largest, tie=tie))
    np.testing.assert_array_equal(values, np.take_along_axis(scores, indices.astype(int), 1))


@pytest.mark.parametrize("largest, tie, expected", [
    (True, "low", [4, 3, 0, 5, 6, 1, 2, -1]), (True, "high", [4, 3, 0, 6, 5, 2, 1, -1]),
    (False, "low", [5, 6, 0, 3, 4, 1, 2, -1]), (False, "high", [6, 5, 0, 3, 4, 2, 1, -1]),
])  # fmt: skip
def test_nan_comes_after_all_numbers_in_both_orders(largest, tie, expected):
    scores = np.array([[1, np.nan, -np.nan, 2, np.inf, -0.0, 0.0]], np.float32)
    values, indices = dsv4.topk(
        scores, 8, sorted=True, largest=largest, tie=tie, return_values=True
    )
    assert indices.tolist() == [expected]
    np.testing.assert_array_equal(values[0, :7], scores[0, indices[0, :7]])
    assert values[0, 7] == (-np.inf if largest else np.inf)


@pytest.mark.parametrize("largest, tie, expected", [
    (True, "low", [1, 2, 4, 3, 0, 5, 6, -1]), (True, "high", [2, 1, 4, 3, 0, 6, 5, -1]),
    (False, "low", [1, 2, 5, 6, 0, 3, 4, -1]), (False, "high", [2, 1, 6, 5, 0, 3, 4, -1]),
])  # fmt: skip
def test_nan_first_comes_before_all_numbers_in_both_orders(largest, tie, expected):
    scores = np.array([[1, np.nan, -np.nan, 2, np.inf, -0.0, 0.0]], np.float32)
    values, indices = dsv4.topk(
        scores, 8, sorted=True, largest=largest, tie=tie, nan="first", return_values=True
    )
    assert indices.tolist() == [expected]
    # The elements + 0: one NaN, and no -0.
    stored = values.view(np.uint32)[0]
    assert (stored[:2] == 0x7FFFFFFF).all()
    np.testing.assert_array_equal(stored[2:7], (scores + 0)[0, indices[0, 2:7]].view(np.uint32))
    assert values[0, 7] == (-np.inf if largest else np.inf)


@pytest.mark.parametrize("columns, k", [(300, 20), (5000, 600), (70000, 512)])
@pytest.mark.parametrize("nans", [0, 1, 511, 513, 70000])
def test_nan_first_selects_as_torch_does(rng, columns, k, nans):
    scores = rng.standard_normal((2, columns)).astype(np.float32)
    scores[:, ::7], scores[:, 1::7] = np.inf, -np.inf
    scores[:, rng.permutation(columns)[:nans]] = np.nan
    values, indices = dsv4.topk(scores, k, sorted=True, nan="first", return_values=True)
    # When NumPy sorts, NaN counts as the largest number, too.
    np.testing.assert_array_equal(values, np.sort(scores)[:, ::-1][:, :k])
    np.testing.assert_array_equal(indices, reference.topk(scores, k, nan="first"))


def test_topk_of_bf16_bits_and_f16(rng):
    scores = rng.standard_normal((2, 100)).astype(np.float32)
    bits = reference.to_bf16(scores)
    expected = reference.topk(reference.from_bf16(bits), 10)
    np.testing.assert_array_equal(dsv4.topk(bits, 10, sorted=True), expected)
    half = scores.astype(np.float16)
    np.testing.assert_array_equal(dsv4.topk(half, 10, sorted=True), reference.topk(half, 10))


def test_topk_unordered_is_the_same_set(rng):
    scores = rng.standard_normal((3, 500)).astype(np.float32)
    indices = dsv4.topk(scores, 33)
    np.testing.assert_array_equal(np.sort(indices), np.sort(reference.topk(scores, 33)))


def test_topk_of_one_row_and_of_three_axes(rng):
    scores = rng.standard_normal((2, 3, 40)).astype(np.float32)
    expected = reference.topk(scores.reshape(6, 40), 4).reshape(2, 3, 4)
    np.testing.assert_array_equal(dsv4.topk(scores, 4, sorted=True), expected)
    np.testing.assert_array_equal(dsv4.topk(scores[1, 2], 4, sorted=True), expected[1, 2])


def test_topk_writes_to_out(rng):
    scores = rng.standard_normal((3, 40)).astype(np.float32)
    indices = np.empty((3, 4), np.int32)
    assert dsv4.topk(scores, 4, sorted=True, out=indices) is indices
    np.testing.assert_array_equal(indices, reference.topk(scores, 4))
    values = np.empty((3, 4), np.float32)
    result = dsv4.topk(scores, 4, sorted=True, return_values=True, out=(values, indices))
    assert result[0] is values and result[1] is indices


def test_topk_of_views(rng):
    base = rng.standard_normal((6, 100)).astype(np.float32)
    for view in (base[:, 8:40], base[:, 3:40], base[::2, :64], base[2:5]):
        np.testing.assert_array_equal(dsv4.topk(view, 5, sorted=True), reference.topk(view, 5))
    out = np.full((6, 9), 77, np.int32)
    dsv4.topk(base, 4, sorted=True, out=out[:, 2:6])
    np.testing.assert_array_equal(out[:, 2:6], reference.topk(base, 4))
    assert (out[:, :2] == 77).all() and (out[:, 6:] == 77).all()


def test_topk_paged(rng):
    scores = rng.standard_normal((4, 40)).astype(np.float32)
    table = rng.permutation(100)[:12].reshape(3, 4).astype(np.int32)
    requests = np.array([2, 0, 1, 2], np.int32)
    lengths = np.array([40, 2, 17, 30], np.int32)
    indices = reference.topk(scores, 5, lengths)
    slots = table[requests[:, None], indices // 10] * 10 + indices % 10
    slots[indices < 0] = -1
    found = dsv4.topk_paged(
        scores, 5, table, page_size=10, requests=requests, lengths=lengths, sorted=True,
        return_indices=True, return_values=True,
    )  # fmt: skip
    assert len(found) == 3
    np.testing.assert_array_equal(found[1], indices)
    np.testing.assert_array_equal(found[2], slots)
    alone = dsv4.topk_paged(
        scores, 5, table, page_size=10, requests=requests, lengths=lengths, sorted=True
    )
    np.testing.assert_array_equal(alone, slots)


def by_index(indices, columns):
    """The same, the lowest first, and padding last."""
    found = np.sort(np.where(indices < 0, columns, indices))
    return np.where(found == columns, -1, found)


@pytest.mark.parametrize("columns, k", [(50, 20), (5000, 600), (70000, 512)])
def test_topk_orders(rng, columns, k):
    scores = rng.integers(-500, 500, (3, columns)).astype(np.float32)
    lengths = np.array([columns, k // 2, columns - 1])
    best = reference.topk(scores, k, lengths)
    values, indices = dsv4.topk(scores, k, lengths=lengths, order="index", return_values=True)
    np.testing.assert_array_equal(indices, by_index(best, columns))
    expected = np.take_along_axis(scores, np.maximum(indices, 0), 1)
    np.testing.assert_array_equal(values, np.where(indices < 0, -np.inf, expected))
    for how in ({"order": "sorted"}, {"order": "sorted", "sorted": True}, {"sorted": True}):
        np.testing.assert_array_equal(dsv4.topk(scores, k, lengths=lengths, **how), best)


def test_topk_paged_of_rows_of_requests(rng):
    scores = rng.standard_normal((5, 40)).astype(np.float32)
    table = rng.permutation(100)[:18].reshape(3, 6).astype(np.int32)
    first = np.array([0, 2, 0, 1, 0])
    indices = by_index(reference.topk(scores, 5), 40)
    # Request 1 has no rows, and the last row has no request.
    of = np.array([0, 0, 2, 2, 0])
    column = first[:, None] + indices // 10
    slots = table[of[:, None], np.minimum(column, 5)] * 10 + indices % 10
    slots[4] = -1
    found = dsv4.topk_paged(
        scores, 5, table, page_size=10, cu_seq_lens=np.array([0, 2, 2, 4]), page_starts=first,
        order="index",
    )  # fmt: skip
    np.testing.assert_array_equal(found, slots)


@pytest.mark.parametrize(
    "call, error, argument",
    [
        (lambda s: dsv4.topk(s.astype(np.int32), 2), dsv4.TypeMismatch, "scores"),
        (lambda s: dsv4.topk(s.astype(np.float64), 2), dsv4.TypeMismatch, "scores"),
        (lambda s: dsv4.topk(s[:, ::2], 2), dsv4.InvalidArgument, "scores"),
        (lambda s: dsv4.topk(s, 2, lengths=np.zeros(3, np.int32)), dsv4.InvalidArgument, "lengths"),
        (lambda s: dsv4.topk(s, 2, lengths=np.zeros(4, np.int16)), dsv4.TypeMismatch, "lengths"),
        (lambda s: dsv4.topk(s, 2, lengths=np.zeros((4, 1), np.int32)), dsv4.InvalidArgument,
         "lengths"),
        (lambda s: dsv4.topk(s, 2, tie="any"), dsv4.InvalidArgument, "tie"),
        (lambda s: dsv4.topk(s, 2, index_dtype="int8"), dsv4.InvalidArgument, "index_dtype"),
        (lambda s: dsv4.topk(s, 2, out=np.zeros((4, 3), np.int32)), dsv4.InvalidArgument, "out"),
        (lambda s: dsv4.topk(s, 2, out=np.zeros((4, 2), np.int64)), dsv4.TypeMismatch, "out"),
        (lambda s: dsv4.topk(s, 2, out=(None, None)), dsv4.InvalidArgument, "out"),
        (lambda s: dsv4.topk(s.tolist(), 2), dsv4.TypeMismatch, "scores"),
        (lambda s: dsv4.topk(None, 2), dsv4.TypeMismatch, "scores"),
    ],
)  # fmt: skip
def test_topk_refuses(rng, call, error, argument):
    scores = rng.standard_normal((4, 20)).astype(np.float32)
    with pytest.raises(error, match=f"'{argument}'") as caught:
        call(scores)
    assert caught.value.argument == argument and caught.value.id


def test_topk_refuses_a_read_only_output(rng):
    scores = rng.standard_normal((4, 20)).astype(np.float32)
    indices = np.zeros((4, 2), np.int32)
    indices.flags.writeable = False
    # An old NumPy does not export it at all.
    with pytest.raises((dsv4.InvalidArgument, dsv4.TypeMismatch), match="'out' .indices."):
        dsv4.topk(scores, 2, out=indices)
    scores.flags.writeable = False
    try:
        dsv4.topk(scores, 2)
    except dsv4.TypeMismatch as error:
        assert "export" in error.id


def test_topk_refuses_outputs_that_overlap(rng):
    scores = rng.standard_normal((4, 20)).astype(np.float32)
    memory = np.zeros((4, 4), np.int32)
    with pytest.raises(dsv4.InvalidArgument, match="shares memory"):
        dsv4.topk(scores, 2, return_values=True,
                  out=(memory[:, :2].view(np.float32), memory[:, 1:3]))  # fmt: skip
