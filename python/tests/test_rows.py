# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
import reference

import dsv4


def test_rms_norm(rng):
    x = rng.standard_normal((5, 96)).astype(np.float32)
    weight = rng.standard_normal(96).astype(np.float32)
    np.testing.assert_allclose(dsv4.rms_norm(x), reference.rms_norm(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        dsv4.rms_norm(x, weight, eps=0.5), reference.rms_norm(x, weight, 0.5), rtol=1e-5, atol=1e-6
    )


def test_rms_norm_types_and_shapes(rng):
    x = reference.to_bf16(rng.standard_normal((2, 3, 64)))
    y = dsv4.rms_norm(x, dtype="float32")
    assert y.dtype == np.float32 and y.shape == x.shape
    np.testing.assert_allclose(y, reference.rms_norm(reference.from_bf16(x)), rtol=1e-5, atol=1e-6)
    assert dsv4.rms_norm(x).dtype == np.uint16
    assert dsv4.rms_norm(x[0, 0]).shape == (64,)


def test_rms_norm_in_place(rng):
    x = rng.standard_normal((5, 96)).astype(np.float32)
    expected = reference.rms_norm(x)
    assert dsv4.rms_norm(x, out=x) is x
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-6)
    table = rng.standard_normal((10, 16)).astype(np.float32)
    expected = reference.rope(x, table, np.arange(5))
    assert dsv4.rope(x, table, np.arange(5), out=x) is x
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(dsv4.InvalidArgument, match="shares memory"):
        dsv4.rms_norm(x[1:], out=x[:-1])


def test_in_place_through_equal_views(rng):
    product = rng.standard_normal((6, 1536)).astype(np.float32)
    expected = dsv4.rms_norm(product[:, :512].copy())
    other = np.empty((6, 1536), np.float32)[:, :512]
    # Calls with other arrays, and through equal views, have plans of their own.
    for _ in range(2):
        given = product.copy()
        assert dsv4.rms_norm(given[:, :512], out=other) is other
        np.testing.assert_array_equal(other, expected)
        np.testing.assert_array_equal(given, product)
        out = given[:, :512]
        assert dsv4.rms_norm(given[:, :512], out=out) is out
        np.testing.assert_array_equal(given[:, :512], expected)
        np.testing.assert_array_equal(given[:, 512:], product[:, 512:])
    table, positions = rng.standard_normal((10, 16)).astype(np.float32), np.arange(6)
    expected = dsv4.rope(product[:, :512].copy(), table, positions)
    dsv4.rope(product[:, :512], table, positions, out=product[:, :512])
    np.testing.assert_array_equal(product[:, :512], expected)


@pytest.mark.parametrize("how", [{}, {"neox": True}, {"interleaved": True}, {"inverse": True}])
def test_rope(rng, how):
    table = rng.standard_normal((10, 16)).astype(np.float32)
    positions = np.array([3, 0, 9, 10, -1])
    x = rng.standard_normal((5, 40)).astype(np.float32)
    np.testing.assert_allclose(
        dsv4.rope(x, table, positions, **how), reference.rope(x, table, positions, **how),
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip
    heads = rng.standard_normal((5, 4, 40)).astype(np.float32)
    np.testing.assert_allclose(
        dsv4.rope(heads, table, positions, **how), reference.rope(heads, table, positions, **how),
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip


def test_rows_of_halves_of_a_product(rng):
    product = rng.standard_normal((4, 200)).astype(np.float32)
    x = product[:, 100:164]
    np.testing.assert_allclose(dsv4.rms_norm(x), reference.rms_norm(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "call, error, argument",
    [
        (lambda x: dsv4.rms_norm(x, x[0, :5]), dsv4.InvalidArgument, "weight"),
        (lambda x: dsv4.rms_norm(x, x[0].astype(np.float64)), dsv4.TypeMismatch, "weight"),
        (lambda x: dsv4.rms_norm(x, dtype="float64"), dsv4.InvalidArgument, "dtype"),
        (lambda x: dsv4.rms_norm(x, out=x[:2].copy()), dsv4.InvalidArgument, "out"),
        (lambda x: dsv4.rope(x, x, np.zeros(3, int)), dsv4.InvalidArgument, "positions"),
        (lambda x: dsv4.rope(x, x, x[:, 0].copy()), dsv4.TypeMismatch, "positions"),
    ],
)
def test_rows_refuse(rng, call, error, argument):
    with pytest.raises(error) as caught:
        call(rng.standard_normal((4, 16)).astype(np.float32))
    assert caught.value.argument == argument
