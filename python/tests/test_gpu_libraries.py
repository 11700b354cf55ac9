# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""On a GPU, with CuPy and JAX: new arrays are theirs, and so is the stream."""

import numpy as np
import pytest
import reference

import dsv4


@pytest.fixture
def cupy():
    import cupy

    return cupy


@pytest.mark.needs("cupy")
def test_cupy_makes_results(cupy, rng):
    scores = rng.standard_normal((5, 3000)).astype(np.float32)
    for _ in range(2):
        values, indices = dsv4.topk(cupy.asarray(scores), 7, sorted=True, return_values=True)
        assert type(values) is type(indices) is cupy.ndarray
        np.testing.assert_array_equal(cupy.asnumpy(indices), reference.topk(scores, 7))
        np.testing.assert_array_equal(
            cupy.asnumpy(values), np.take_along_axis(scores, reference.topk(scores, 7), 1)
        )
    padded, scales = dsv4.quantize(cupy.asarray(scores[:, :512].copy()), "mxfp4",
                                   scale_layout="swizzle_128x4")  # fmt: skip
    assert padded.dtype == scales.dtype == cupy.uint8 and scales.shape == (128, 16)
    assert not cupy.asnumpy(scales)[5:].reshape(-1)[-64:].any()


@pytest.mark.needs("cupy")
def test_the_stream_of_cupy(cupy):
    x = cupy.zeros((4, 64), cupy.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    for given in (None, stream, stream.ptr):
        with stream:
            x[:] = cupy.arange(256, dtype=cupy.float32).reshape(4, 64) + 1
            y = dsv4.rms_norm(x, stream=given)
        stream.synchronize()
        expected = reference.rms_norm(cupy.asnumpy(x))
        np.testing.assert_allclose(cupy.asnumpy(y), expected, rtol=1e-5)


@pytest.mark.needs("cupy")
def test_cupy_graphs_are_captured_and_replayed(cupy):
    x, out = cupy.ones((3, 128), cupy.float32), cupy.empty((3, 128), cupy.float32)
    dsv4.rms_norm(x, out=out)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        dsv4.rms_norm(x, out=out)
        graph = stream.end_capture()
    for number in (2, 3):
        x[:] = cupy.arange(384, dtype=cupy.float32).reshape(3, 128) * number + 1
        cupy.cuda.Device().synchronize()
        graph.launch(stream)
        stream.synchronize()
        expected = reference.rms_norm(cupy.asnumpy(x))
        np.testing.assert_allclose(cupy.asnumpy(out), expected, rtol=1e-5)


@pytest.mark.needs("jax-gpu")
def test_jax_makes_results(rng):
    import jax

    scores = rng.standard_normal((5, 3000)).astype(np.float32)
    for _ in range(2):
        x = jax.numpy.asarray(scores) * 1
        values, indices = dsv4.topk(x, 7, sorted=True, return_values=True)
        assert isinstance(values, jax.Array) and values.devices() == x.devices()
        np.testing.assert_array_equal(np.asarray(indices), reference.topk(scores, 7))
        np.testing.assert_array_equal(
            np.asarray(values), np.take_along_axis(scores, reference.topk(scores, 7), 1)
        )
    rows = dsv4.rms_norm(x.astype(jax.numpy.bfloat16))
    assert rows.dtype == jax.numpy.bfloat16 and rows.shape == (5, 3000)
