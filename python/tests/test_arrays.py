# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import gc
import sys
import types

import numpy as np
import producers
import pytest
import reference

import dsv4
from dsv4 import _dsv4


@pytest.fixture
def scores(rng):
    return rng.standard_normal((4, 40)).astype(np.float32)


def check(given, scores):
    indices = np.empty((4, 3), np.int32)
    dsv4.topk(given, 3, sorted=True, out=indices)
    np.testing.assert_array_equal(indices, reference.topk(scores, 3))


def test_describe(scores):
    view = _dsv4.describe(scores)
    assert view.element == "f32" and view.shape == (4, 40) and view.strides is None
    assert view.device_type == 1 and view.address == scores.ctypes.data
    assert _dsv4.describe(scores[:, 5:9]).strides == (40, 1)
    assert _dsv4.describe(scores[:, 5:9]).address == scores.ctypes.data + 20
    assert _dsv4.describe(scores[:1, :9]).strides is None
    assert _dsv4.describe(scores.T).strides == (1, 40)
    for dtype, element in (("uint32", "u32"), ("uint8", "u8"), ("float16", "f16"), ("int8", "i8")):
        assert _dsv4.describe(np.zeros(3, dtype)).element == element


def test_a_producer_without_versions(scores):
    given = producers.Legacy(scores, offset=64)
    check(given, scores)
    assert given.calls and set(given.calls) == {None}


def test_a_producer_with_versions(scores):
    given = producers.Modern(scores)
    check(given, scores)
    assert set(given.calls) == {(None, (1, 3))}


def test_a_producer_of_a_later_version(scores):
    with pytest.raises(dsv4.TypeMismatch, match="version 2"):
        dsv4.topk(producers.FromTheFuture(scores), 3)


def test_addresses_are_multiples_of_elements():
    memory = np.zeros(4 * 64 * 4 + 8, np.uint8)
    x = np.frombuffer(memory.data, np.float32, 4 * 64, offset=1).reshape(4, 64)
    with pytest.raises(dsv4.InvalidArgument, match=r"'x'.*multiple of 4.*pass a copy") as caught:
        dsv4.rms_norm(x)
    assert caught.value.argument == "x" and caught.value.id == "argument.alignment"
    kernel = dsv4.prepare(dsv4.rms_norm, np.zeros((4, 64), np.float32))
    with pytest.raises(dsv4.InvalidArgument, match="'x'.*aligned"):
        kernel(x, np.empty((4, 64), np.float32))
    record = dsv4.Record([dsv4.Field("x", 8, "f32")])
    cache = np.frombuffer(memory.data, np.uint8, 512, offset=2).reshape(2, 8, 32)
    with pytest.raises(dsv4.InvalidArgument, match="'cache': the pages: .*multiple of 4") as caught:
        dsv4.gather(cache, np.array([1]), record=record)
    assert caught.value.argument == "cache" and caught.value.id == "argument.alignment"


def test_a_read_only_producer(scores):
    check(producers.ReadOnly(scores), scores)
    with pytest.raises(dsv4.InvalidArgument, match="read-only") as caught:
        dsv4.topk(scores, 3, out=producers.ReadOnly(np.zeros((4, 3), np.int32)))
    assert caught.value.argument == "out" and caught.value.id == "argument.read_only"


def test_a_producer_with_a_table(scores):
    tabled = producers.make_table_type()
    for _ in range(3):
        check(tabled(scores), scores)
    assert type(tabled).count == 1


def test_a_table_without_views(scores):
    tabled = producers.make_table_type(managed=True)
    check(tabled(scores), scores)
    assert tabled.deleted == tabled.made > 0
    tabled.flags = 1
    with pytest.raises(dsv4.InvalidArgument, match="read-only"):
        dsv4.topk(scores, 3, out=tabled(np.zeros((4, 3), np.int32)))
    with pytest.raises(dsv4.InvalidArgument, match="9 axes"):
        dsv4.topk(tabled(np.zeros((1,) * 9, np.float32)), 3)
    assert tabled.deleted == tabled.made


def test_a_table_of_a_later_version(scores):
    known = producers.make_table_type()
    later = producers.make_table_type(major=2, previous=known.table)
    check(later(scores), scores)
    alone = producers.make_table_type(major=2)
    with pytest.raises(dsv4.TypeMismatch, match="cannot be exported: not needed"):
        dsv4.topk(alone(scores), 3)


def test_an_unknown_library_needs_out(scores):
    with pytest.raises(dsv4.InvalidArgument, match="'out' is needed"):
        dsv4.topk(producers.Modern(scores), 3)


def test_memory_of_a_device_is_not_for_the_host(scores):
    kernel = dsv4.prepare(dsv4.topk, scores, 3)
    given = producers.OnDevice(scores)
    with pytest.raises(dsv4.TypeMismatch, match="CUDA memory, expected CPU memory") as caught:
        kernel(given, np.zeros((4, 3), np.int32))
    assert caught.value.argument == "scores"
    # The default stream is 1 for DLPack; a stream of the caller wins.
    assert given.calls == [1]
    with pytest.raises(dsv4.TypeMismatch):
        kernel(given, np.zeros((4, 3), np.int32), stream=77)
    assert given.calls == [1, 77]


@pytest.mark.parametrize("name", ["cuda_stream", "ptr"])
def test_streams_of_libraries(scores, name):
    kernel = dsv4.prepare(dsv4.topk, scores, 3)
    stream = type("Stream", (), {name: 55})()
    given = producers.OnDevice(scores)
    with pytest.raises(dsv4.TypeMismatch):
        kernel(given, np.zeros((4, 3), np.int32), stream=stream)
    assert given.calls == [55]
    protocol = type("Stream", (), {"__cuda_stream__": lambda self: (0, 66)})()
    with pytest.raises(dsv4.TypeMismatch):
        kernel(given, np.zeros((4, 3), np.int32), stream=protocol)
    assert given.calls == [55, 66]
    broken = type("Stream", (), {"__cuda_stream__": lambda self: 1 / 0})()
    with pytest.raises(dsv4.TypeMismatch, match="'stream' is no stream") as caught:
        kernel(given, np.zeros((4, 3), np.int32), stream=broken)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert given.calls == [55, 66]


@pytest.mark.parametrize(
    "members, cause",
    [
        ({"__dlpack_device__": lambda self: 3}, TypeError),
        ({"__dlpack_device__": lambda self: (1, 0)}, AttributeError),
        ({"__dlpack_device__": lambda self: (1, 0), "__dlpack__": lambda self, **_: 3}, TypeError),
        ({"__dlpack_device__": lambda self: 1 / 0}, ZeroDivisionError),
        ({"__dlpack_device__": lambda self: (1, 0), "__dlpack__": lambda self, **_: 1 / 0},
         ZeroDivisionError),
        ({}, None),
    ],
)  # fmt: skip
def test_bad_producers(scores, members, cause):
    """What they raise is the cause of an error that names the argument."""
    kernel = dsv4.prepare(dsv4.topk, scores, 3)
    bad = type("Bad", (), members)()
    for name, call in (
        ("scores", lambda: kernel(bad, np.zeros((4, 3), np.int32))),
        ("indices", lambda: kernel(scores, bad)),
        ("scores", lambda: dsv4.topk(bad, 3)),
        ("out", lambda: dsv4.topk(scores, 3, out=bad)),
    ):
        with pytest.raises(dsv4.TypeMismatch) as caught:
            call()
        assert caught.value.argument == name
        assert caught.value.id == ("argument.export" if cause else "argument.kind")
        assert len(str(caught.value)) < 300 and "\n" not in str(caught.value)
    with pytest.raises(dsv4.TypeMismatch) as caught:
        kernel(bad, np.zeros((4, 3), np.int32))
    assert type(caught.value.__cause__) is (cause or type(None))
    check(scores, scores)


@pytest.mark.needs("ml-dtypes")
def test_a_kernel_takes_types_of_ml_dtypes(rng):
    import ml_dtypes

    values = rng.standard_normal((2, 256)).astype(ml_dtypes.float8_e4m3fn)
    scales, out = np.ones((2, 2), np.float32), np.empty((2, 256), ml_dtypes.bfloat16)
    expected = dsv4.dequantize(values, scales, "deepseek_fp8", out=out.copy())
    kernel = dsv4.prepare(dsv4.dequantize, values, scales, "deepseek_fp8", out=out)
    for _ in range(2):
        kernel(values, scales, out)
        np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(out.astype(np.float32), values.astype(np.float32))
    wrong = values.astype(ml_dtypes.float8_e5m2)
    calls = (
        lambda: kernel(wrong, scales, out),
        lambda: dsv4.dequantize(wrong, scales, "deepseek_fp8"),
    )
    for call in calls:
        with pytest.raises(dsv4.TypeMismatch, match="'values'") as caught:
            call()
        assert caught.value.argument == "values" and caught.value.id == "argument.export"


@pytest.mark.needs("ml-dtypes")
def test_types_of_ml_dtypes(rng):
    import ml_dtypes

    x = rng.standard_normal((3, 64)).astype(ml_dtypes.bfloat16)
    y = dsv4.rms_norm(x)
    assert y.dtype == ml_dtypes.bfloat16
    expected = reference.rms_norm(x.astype(np.float32))
    np.testing.assert_allclose(y.astype(np.float32), expected, rtol=1e-2)
    values, scales = dsv4.quantize(x, "deepseek_fp8", group=64)
    assert values.dtype == ml_dtypes.float8_e4m3fn
    decoded = dsv4.dequantize(values, scales, "deepseek_fp8", group=64, dtype="float32")
    np.testing.assert_allclose(decoded, x.astype(np.float32), atol=0.2)


@pytest.mark.needs("jax")
def test_jax_arrays(scores):
    import jax

    for _ in range(2):
        indices = dsv4.topk(jax.numpy.asarray(scores), 3, sorted=True)
        assert isinstance(indices, jax.Array)
        np.testing.assert_array_equal(np.asarray(indices), reference.topk(scores, 3))


@pytest.mark.needs("jax")
def test_jax_has_types_of_its_own(rng):
    import jax

    x = jax.numpy.asarray(rng.standard_normal((3, 256)), jax.numpy.bfloat16)
    in_f32 = np.asarray(x.astype(jax.numpy.float32))
    for _ in range(2):
        y = dsv4.rms_norm(x)
        assert isinstance(y, jax.Array) and y.dtype == jax.numpy.bfloat16
        found = np.asarray(y.astype(jax.numpy.float32))
        np.testing.assert_allclose(found, reference.rms_norm(in_f32), rtol=1e-2)
        values, scales = dsv4.quantize(x, "deepseek_fp8")
        assert values.dtype == jax.numpy.float8_e4m3fn and scales.dtype == jax.numpy.float32
        expected = dsv4.quantize(in_f32, "deepseek_fp8")
        np.testing.assert_array_equal(np.asarray(values).view(np.uint8), expected[0])
        np.testing.assert_array_equal(np.asarray(scales), expected[1])


@pytest.mark.needs("jax")
def test_outputs_of_jax_are_refused_where_it_exports_them_as_read_only(scores):
    """Older JAX does not, and they are written."""
    import jax

    out = jax.numpy.zeros((4, 3), jax.numpy.int32).block_until_ready()
    if "versioned" in repr(out.__dlpack__(max_version=(1, 3))):
        with pytest.raises(dsv4.InvalidArgument, match="read-only"):
            dsv4.topk(jax.numpy.asarray(scores), 3, out=out)
        return
    for given in (scores, -scores):
        assert dsv4.topk(jax.numpy.asarray(given), 3, sorted=True, out=out) is out
        np.testing.assert_array_equal(np.from_dlpack(out), reference.topk(given, 3))


class LikeJAX(producers.ReadOnly):
    """An array that is read-only for all who ask with a version, as those of JAX are."""

    __module__ = "jaxlib.stand_in"

    def __init__(self, data):
        super().__init__(data)
        self.data, self.dtype = data, data.dtype
        self.older = producers.Legacy(data)

    def __dlpack__(self, *, stream=None, max_version=None):
        if max_version is None:
            return self.older.__dlpack__()
        return super().__dlpack__(max_version=max_version)

    def block_until_ready(self):
        return self


def test_new_arrays_of_jax_are_written(scores, monkeypatch):
    def zeros(shape, dtype, device):
        return LikeJAX(np.zeros(shape, dtype))

    numpy = types.SimpleNamespace(__name__="jax.numpy", zeros=zeros, int32=np.int32)
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(numpy=numpy))
    for _ in range(2):
        indices = dsv4.topk(LikeJAX(scores), 3, sorted=True)
        assert type(indices) is LikeJAX
        np.testing.assert_array_equal(indices.data, reference.topk(scores, 3))
    with pytest.raises(dsv4.InvalidArgument, match="read-only"):
        dsv4.topk(LikeJAX(scores), 3, out=zeros((4, 3), np.int32, None))


def test_views_are_given_back(scores):
    given = producers.Counted(scores)
    count = sys.getrefcount(given)
    out = np.zeros((4, 3), np.int32)
    kernel = dsv4.prepare(dsv4.topk, scores, 3)
    for _ in range(5):
        kernel(given, out)
        dsv4.topk(given, 3, out=out)
        with pytest.raises(dsv4.Error):
            kernel(given, given)
        with pytest.raises(dsv4.Error):
            kernel(given, out, workspace=given.array[:, :2])
        with pytest.raises(dsv4.Error):
            dsv4.topk(given, 3, out=3)
    gc.collect()
    assert sys.getrefcount(given) == count
    assert given.destroyed == given.made > 30


def test_a_view_without_extents(scores):
    class Empty(producers.Modern):
        def __dlpack__(self, **options):
            capsule = super().__dlpack__(**options)
            self.managed.tensor.shape = None
            return capsule

    with pytest.raises(dsv4.InvalidArgument, match="no extents") as caught:
        dsv4.topk(Empty(scores), 3)
    assert caught.value.argument == "scores"


def test_an_error_says_once_what_is_wrong(scores):
    cache = np.zeros((2, 64 * 584), np.uint8)
    too_few = [np.zeros((1, 448), np.uint8)]
    for call, message in (
        (lambda: dsv4.topk([1.0], 3),
         "argument 'scores': expected an array with __dlpack__(), got 'list'"),
        (lambda: dsv4.topk(producers.Modern(np.zeros((1,) * 9, np.float32)), 3),
         "argument 'scores': 9 axes, expected at most 8"),
        (lambda: dsv4.topk(scores, 3, out=[scores, scores]), "'out' has 2 arrays, expected 1"),
        (lambda: dsv4.append_(cache, np.zeros(1, np.int32), too_few, record="v4_584"),
         "'fields' has 1 array, expected 3 (nope, rope, nope_scale)"),
        (lambda: dsv4.gather([cache] * 2, np.zeros(1, np.int32), record="v4_584"),
         "'cache' of record 'v4_584' has 1 array (pages), got 2"),
    ):  # fmt: skip
        with pytest.raises(dsv4.Error) as caught:
            call()
        assert str(caught.value) == message
