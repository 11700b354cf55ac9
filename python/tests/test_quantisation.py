# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
import reference

import dsv4


def decode_scales(scales, recipe):
    if recipe.scale == "f8E8M0FNU":
        return 2.0 ** (scales.astype(np.float64) - 127)
    return reference.e4m3_values()[scales] if recipe.scale == "f8E4M3FN" else scales


def decode_values(values, recipe):
    if recipe.payload == "f4E2M1FN":
        return reference.unpack_fp4(values)
    return reference.e4m3_values()[values]


def nearest_codes(x):
    """The values of f8E4M3FN that are nearest, and at most 448."""
    codes = reference.e4m3_values()
    finite = np.sort(codes[np.isfinite(codes)]).astype(np.float64)
    at = np.clip(np.searchsorted(finite, x), 1, len(finite) - 1)
    below, above = finite[at - 1], finite[at]
    # Ties to even: of neighbours, every other one.
    is_even = (np.searchsorted(np.unique(finite[finite >= 0]), np.abs(below)) % 2) == 0
    middle = (below + above) / 2
    return np.where((x < middle) | ((x == middle) & is_even), below, above)


def check_given_scale(rng, name, inverse=False):
    by = dsv4.KNOWN_RECIPES[name].payload_by
    x = rng.standard_normal((5, 96)).astype(np.float32)
    x[0, :3] = 1e6, -1e6, 0
    given = np.array([0.0123], np.float32)
    values = dsv4.quantize(x, name, global_scale=given, inverse=inverse)
    numbers = x / given
    if inverse or by == "reciprocal":
        numbers = x * (given if inverse else np.float32(1) / given)
    found = reference.e4m3_values()[values]
    np.testing.assert_array_equal(found, nearest_codes(numbers.astype(np.float64)))
    scale = np.float32(1) / given if inverse else given
    decoded = dsv4.dequantize(values, scale, name, dtype="float32")
    np.testing.assert_array_equal(decoded, found * scale)


def test_the_inverse_of_a_given_scale(rng):
    check_given_scale(rng, "fp8_tensor", inverse=True)


@pytest.mark.parametrize("name", sorted(dsv4.KNOWN_RECIPES))
def test_every_recipe_quantises_and_decodes(rng, name):
    recipe = dsv4.KNOWN_RECIPES[name]
    if recipe.group == "tensor":
        return check_given_scale(rng, name)
    x = rng.standard_normal((3, 256)).astype(np.float32)
    outer = np.array([0.25], np.float32) if recipe.outer == "tensor" else None
    values, scales = dsv4.quantize(x, name, global_scale=outer)
    group = 256 if recipe.group == "row" else recipe.group
    spread = np.repeat(decode_scales(scales, recipe).reshape(3, -1), group, 1)
    if outer is not None:
        spread = spread * outer
    expected = decode_values(values, recipe) * spread
    # Half a step of the payload, of the largest value of a group.
    step = 2 if recipe.payload == "f4E2M1FN" else 32
    assert (np.abs(expected - x) <= spread * step / 2 * 1.001).all()
    decoded = dsv4.dequantize(values, scales, name, global_scale=outer, dtype="float32")
    np.testing.assert_allclose(decoded, expected, rtol=1e-6)


def test_official_fp8_to_the_bit(rng):
    x = rng.standard_normal((4, 128)).astype(np.float32)
    values, scales = dsv4.quantize(x, "deepseek_fp8", group=64)
    amax = np.maximum(np.abs(x).reshape(4, 2, 64).max(-1), np.float32(1e-4))
    expected = amax * np.float32(1 / np.float32(448))
    np.testing.assert_array_equal(scales, expected)
    quotients = x.reshape(4, 2, 64) / expected[:, :, None]
    codes = reference.e4m3_values()
    finite = np.flatnonzero(np.isfinite(codes))
    distance = np.abs(quotients[..., None] - codes[finite])
    found = codes[values].reshape(quotients.shape)
    np.testing.assert_array_equal(np.abs(found - quotients), distance.min(-1))


def test_scale_layouts(rng):
    x = rng.standard_normal((5, 512)).astype(np.float32)
    values, scales = dsv4.quantize(x, "deepseek_fp8")
    same, columns = dsv4.quantize(x, "deepseek_fp8", scale_layout="column_major")
    np.testing.assert_array_equal(same, values)
    assert columns.shape == (4, 8) and (columns[:, 5:] == 0).all()
    np.testing.assert_array_equal(columns[:, :5], scales.T)

    _, exponents = dsv4.quantize(x, "deepseek_fp8_ue8m0")
    _, packed = dsv4.quantize(x, "deepseek_fp8_ue8m0", scale_layout="packed")
    assert packed.shape == (1, 8) and packed.dtype == np.int32
    np.testing.assert_array_equal(packed[0, :5].view(np.uint8).reshape(5, 4), exponents)

    _, rows = dsv4.quantize(x, "mxfp4")
    _, swizzled = dsv4.quantize(x, "mxfp4", scale_layout="swizzle_128x4")
    assert swizzled.shape == (128, 16)
    r, g = np.mgrid[:5, :16]
    at = (g // 4) * 512 + r * 16 + g % 4
    np.testing.assert_array_equal(swizzled.reshape(-1)[at], rows)


@pytest.mark.parametrize("layout", dsv4.quantisation.LAYOUTS)
def test_scales_of_every_layout_decode(rng, layout):
    x = rng.standard_normal((9, 512)).astype(np.float32)
    recipe = "deepseek_fp8_ue8m0" if layout == "packed" else "mxfp4"
    expected = dsv4.dequantize(*dsv4.quantize(x, recipe), recipe, dtype="float32")
    values, scales = dsv4.quantize(x, recipe, scale_layout=layout)
    decoded = dsv4.dequantize(values, scales, recipe, scale_layout=layout, dtype="float32")
    np.testing.assert_array_equal(decoded, expected)


def test_layouts_that_dequantize_refuses(rng):
    values, scales = dsv4.quantize(rng.standard_normal((4, 2, 256)).astype(np.float32), "mxfp4")
    for options, argument in (
        ({"scale_layout": "swizzle"}, "scale_layout"), ({"scale_layout": "packed"}, "values"),
    ):  # fmt: skip
        with pytest.raises(dsv4.InvalidArgument) as caught:
            dsv4.dequantize(values, scales, "mxfp4", **options)
        assert caught.value.argument == argument


def test_quantize_a_recipe_of_ones_own(rng):
    x = rng.standard_normal((2, 64)).astype(np.float32)
    recipe = dsv4.Recipe("f4E2M1FN", "f8E4M3FN", 16, outer="row")
    values, scales, outer = dsv4.quantize(x, recipe)
    assert values.shape == (2, 32) and scales.shape == (2, 4) and outer.shape == (2,)
    decoded = dsv4.dequantize(values, scales, recipe, row_scales=outer, dtype="float32")
    assert np.abs(decoded - x).max() < 0.6


def test_quantize_bf16_bits_into_out(rng):
    x = reference.to_bf16(rng.standard_normal((2, 3, 128)))
    values, scales = np.empty((2, 3, 128), np.uint8), np.empty((2, 3, 1), np.float32)
    result = dsv4.quantize(x, "vllm_fp8", out=(values, scales))
    assert result[0] is values and result[1] is scales
    decoded = dsv4.dequantize(values, scales, "vllm_fp8", dtype="float32")
    assert np.abs(decoded - reference.from_bf16(x)).max() < 0.3


@pytest.mark.parametrize(
    "call, error, argument",
    [
        (lambda x: dsv4.quantize(x, "fp9"), dsv4.InvalidArgument, "recipe"),
        (lambda x: dsv4.quantize(x, "deepseek_fp8", group=100), dsv4.InvalidArgument, "group"),
        (lambda x: dsv4.quantize(x, "nvfp4"), dsv4.InvalidArgument, "global_scale"),
        (lambda x: dsv4.quantize(x, "mxfp4", scale_layout="any"), dsv4.InvalidArgument,
         "scale_layout"),
        (lambda x: dsv4.quantize(x[None], "mxfp4", scale_layout="packed"), dsv4.InvalidArgument,
         "x"),
        (lambda x: dsv4.quantize(x.astype(np.int32), "mxfp4"), dsv4.TypeMismatch, "x"),
        (lambda x: dsv4.dequantize(x, x, "mxfp4"), dsv4.TypeMismatch, "values"),
        (lambda x: dsv4.dequantize(x.view(np.uint8), x, "deepseek_fp8"), dsv4.InvalidArgument,
         "scales"),
    ],
)  # fmt: skip
def test_quantisers_refuse(rng, call, error, argument):
    with pytest.raises(error) as caught:
        call(rng.standard_normal((4, 128)).astype(np.float32))
    assert caught.value.argument == argument
