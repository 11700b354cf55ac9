# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source of kernels: of texts and of functions, in files, and one for each bucket."""

import io
import pathlib

import numpy as np
import pytest
from producers import OnGpu
from texts import NORM

import dsv4


def test_emit(rng):
    source = dsv4.emit(NORM, arch="sm_100a")
    assert 'extern "C" __global__' in source and "norm(" in source
    scores = rng.standard_normal((4, 64)).astype(np.float32)
    source = dsv4.emit(dsv4.topk, scores, 5)
    assert 'extern "C" __global__' in source and "topk(" in source
    # Lines of a text that a function made say nothing.
    assert "#line" not in source
    with pytest.raises(dsv4.CompileFailed):
        dsv4.emit("func.func @f( {")


def test_emit_writes_a_file(rng, tmp_path):
    scores = rng.standard_normal((4, 64)).astype(np.float32)
    source = dsv4.emit(dsv4.topk, scores, 5)
    for path in (tmp_path / "path.cu", str(tmp_path / "text.cu")):
        assert dsv4.emit(dsv4.topk, scores, 5, file=path) == source
        assert pathlib.Path(path).read_text(encoding="utf-8") == source
    opened = io.StringIO()
    opened.write("// mine\n")
    source = dsv4.emit(NORM, arch="sm_100a", file=opened)
    assert opened.getvalue() == "// mine\n" + source and "sm_100a:" in source


def test_emit_refuses_files_before_it_compiles(tmp_path):
    with open(tmp_path / "bytes", "wb") as binary:
        for file in (binary, io.BytesIO(), 3, b"name", ["topk.cu"]):
            with pytest.raises(dsv4.InvalidArgument, match="open for text") as caught:
                dsv4.emit("no program", file=file)
            assert caught.value.id == "option.file" and caught.value.argument == "file"
    with pytest.raises(OSError):
        dsv4.emit(NORM, file=tmp_path / "none" / "kernel.cu")
    # A program that is refused replaces no file.
    kept = tmp_path / "kept.cu"
    kept.write_text("mine")
    with pytest.raises(dsv4.CompileFailed):
        dsv4.emit("func.func @f( {", file=kept)
    assert kept.read_text() == "mine"


def emit_topk(k):
    return lambda rows, columns: dsv4.emit(dsv4.topk, OnGpu(np.float32, rows, columns), k)


def emit_route(tokens):
    return dsv4.emit(dsv4.route, OnGpu(np.float32, tokens, 64), 6)


def emit_rope(tokens):
    return dsv4.emit(
        dsv4.rope, OnGpu(np.float32, tokens, 512), OnGpu(np.float32, 9, 64),
        OnGpu(np.int32, tokens),
    )  # fmt: skip


def emit_append(tokens):
    return dsv4.emit(
        dsv4.norm_rope_append_, OnGpu(np.uint16, tokens, 512), OnGpu(np.uint8, 4, 37440),
        OnGpu(np.int32, tokens), record="v4_584",
    )  # fmt: skip


def emit_compress(entries):
    return dsv4.emit(
        dsv4.compress_, OnGpu(np.float32, 128, 512), OnGpu(np.float32, 128, 512),
        OnGpu(np.int32, entries, 4), OnGpu(np.uint8, 4, 37440), OnGpu(np.int32, entries),
        window=128, record="v4_584",
    )  # fmt: skip


def emit_gather(entries):
    return dsv4.emit(
        dsv4.gather, OnGpu(np.uint8, 4, 37440), OnGpu(np.int32, entries), record="v4_584"
    )


@pytest.mark.parametrize(
    "emit, buckets",
    [
        (emit_topk(6), [[(1, 4), (90, 256)], [(3, 260), (70, 512)], [(4, 996), (100, 1024)]]),
        (emit_topk(512), [[(1, 600), (900, 1024)], [(1, 1028), (64, 2048), (900, 4096)],
                          [(1, 5000), (900, 8192)]]),
        (emit_topk(512), [[(1, 16388), (4, 32768)], [(5, 20000), (8, 32768)],
                          [(64, 20000), (33, 32768)], [(65, 16000), (9999, 12000)],
                          [(65, 20000), (9999, 32768), (9999, 2000000)]]),
        (emit_topk(512), [[(1, 600000), (2, 2000000)], [(4, 600000), (3, 2000000)]]),
        (emit_topk(512), [[(3, 40000)], [(3, 40001), (4, 40003)]]),
        (emit_route, [[(1,), (256,)], [(257,), (9999,)]]),
        (emit_rope, [[(1,), (256,)], [(257,), (9999,)]]),
        (emit_append, [[(1,), (256,)], [(257,), (9999,)]]),
        (emit_compress, [[(1,), (64,)], [(65,), (256,)], [(257,), (9999,)]]),
        (emit_gather, [[(1,), (99,), (9999,)]]),
    ],
)  # fmt: skip
def test_programs_for_devices_have_few_buckets(emit, buckets):
    """The bounds of buckets are in the program, and not the extents."""
    sources = [{emit(*shape) for shape in bucket} for bucket in buckets]
    assert [len(each) for each in sources] == [1] * len(buckets)
    assert len(set.union(*sources)) == len(buckets)
    assert all('extern "C" __global__' in each for each in set.union(*sources))


def test_emit_and_prepare_take_functions(rng):
    with pytest.raises(dsv4.InvalidArgument):
        dsv4.emit(len, ())
    with pytest.raises(TypeError):
        dsv4.emit(NORM, 3)
    with pytest.raises(dsv4.InvalidArgument, match="not each other"):
        dsv4.prepare(dsv4.prepare, dsv4.topk, rng.standard_normal((4, 64)).astype(np.float32), 5)
