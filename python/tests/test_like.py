# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that describe the arguments of a program: compile(text, like=arrays)."""

import re

import numpy as np
import producers
import pytest
import reference

import dsv4
from dsv4 import programs
from dsv4._launches import alignments_of, read_entry
from dsv4._like import Like, read_record
from dsv4._text import Text

NORM = """
func.func @norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %y: tensor<?x64xf32>)
    -> tensor<?x64xf32> {
  // Written as %x : tensor<?x64xf32> is.
  %r = dsv4.rms_norm %x weight(%w : tensor<64xf32>) outs(%y : tensor<?x64xf32>)
      {eps = 1.0e-06} : tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
"""

GATHER = """
!cache = !dsv4.cache<64 x <v4_584>>
func.func @read(%cache: !cache, %slots: tensor<?xi32>, %out: tensor<?x512xbf16>)
    -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %cache[%slots] outs(%out : tensor<?x512xbf16>)
      : !cache, tensor<?xi32>
  return %rows : tensor<?x512xbf16>
}
"""

SELECT = """
!ids = tensor<?x4xi32>
func.func @select(%x: tensor<?x100xf32>, %n: tensor<?xi32>, %values: tensor<?x4xf32>, %ids: !ids)
    -> (tensor<?x4xf32>, !ids) {
  %r:2 = dsv4.topk %x lengths(%n : tensor<?xi32>) order sorted
      outs(%ids, %values : !ids, tensor<?x4xf32>) : tensor<?x100xf32>
  return %r#1, %r#0 : tensor<?x4xf32>, !ids
}
"""

PAIR = """
#record = #dsv4.record<[<"ckv" : 32 x f32 in array>,
                        <"kpe" : 8 x f32 in array>]>
!cache = !dsv4.cache<4 x #record>
func.func @write(%a: tensor<?x32xf32>, %b: tensor<?x8xf32>, %slots: tensor<?xi32>, %cache: !cache) {
  dsv4.paged_append %cache[%slots] unique fields(%a, %b : tensor<?x32xf32>, tensor<?x8xf32>)
      : !cache, tensor<?xi32>
  return
}
"""


def f32(*shape):
    return np.ones(shape, np.float32)


def text_for(text, entry=None, **like):
    return Like(text, entry, like).text()


# ===-- What arrays say --------------------------------------------------------===


@pytest.mark.parametrize("begin", [0, 1, 4])
def test_rows_of_a_wider_array(rng, begin):
    wide = rng.standard_normal((5, 100)).astype(np.float32)
    x, w, y = wide[:, begin : begin + 64], f32(65)[1:], np.empty((5, 64), np.float32)
    w[:] = rng.standard_normal(64)
    kernel = dsv4.compile(NORM, like={"x": x, "w": w, "y": y})
    assert kernel.arguments == ("x", "w", "y") and kernel.target == "host"
    for rows in (5, 3):
        kernel(x[:rows], w, y[:rows])
        np.testing.assert_allclose(
            y[:rows], reference.rms_norm(x[:rows]) * w, rtol=1e-5, atol=1e-6
        )


def test_aligned_arrays_leave_the_types_as_they_are():
    text = text_for(NORM, x=f32(4, 64), w=f32(64), y=f32(4, 64))
    assert "strides" not in text
    assert re.sub(r' \{dsv4\.name = "\w"\}', "", text) == NORM
    # Nothing is said of what is not given, but its name.
    assert text_for(NORM) == text


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_cache_in_a_slab(rng, index):
    slab = rng.integers(0, 100, (4, 3, 37440)).astype(np.uint8)
    cache, slots = slab[:, 1], np.array([0, 9, 200, 9, -1, 9], index)[::2]
    out = np.zeros((3, 1024), np.uint16)[:, 5:517]
    kernel = dsv4.compile(GATHER, like={"cache": cache, "slots": slots, "out": out})
    kernel(cache, slots, out)
    expected = dsv4.gather(cache.copy(), slots.copy(), record="v4_584", dtype="bfloat16")
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("lengths", [np.int32, np.int64])
@pytest.mark.parametrize("ids", [np.int32, np.int64])
def test_types_of_indices(rng, lengths, ids):
    like = {
        "x": rng.standard_normal((3, 100)).astype(np.float32), "n": np.array([100, 2, 50], lengths),
        "values": np.empty((3, 4), np.float32), "ids": np.empty((3, 4), ids),
    }  # fmt: skip
    dsv4.compile(SELECT, like=like)(*like.values())
    np.testing.assert_array_equal(like["ids"], reference.topk(like["x"], 4, like["n"]))


def test_a_cache_in_arrays(rng):
    a, b = rng.standard_normal((6, 32)), rng.standard_normal((6, 8))
    a, b = a.astype(np.float32), b.astype(np.float32)
    slots = np.array([0, 11, 3, 5, -1, 7])
    unaligned = np.zeros(97, np.float32)[1:].reshape(3, 4, 8)
    for ckv, kpe in (
        (np.zeros((3, 4, 32), np.float32), np.zeros((3, 4, 8), np.float32)),
        (np.zeros((6, 4, 32), np.float32)[::2], np.zeros((3, 4, 9), np.float32)[..., 1:]),
        (np.zeros((3, 4, 32), np.float32), unaligned),
    ):
        dsv4.compile(PAIR, like={"cache": (ckv, kpe), "slots": slots})(a, b, slots, ckv, kpe)
        for array, rows in ((ckv, a), (kpe, b)):
            entries = array.reshape(12, -1)
            np.testing.assert_array_equal(entries[slots[slots >= 0]], rows[slots >= 0])


def test_extents_are_bounds(rng):
    program = programs.load("vllm_persistent_topk", k=5)
    like = {
        "logits": rng.standard_normal((3, 200)).astype(np.float32)[:, :99],
        "lengths": np.array([99, 3, 50], np.int32), "output": np.empty((3, 5), np.int32),
    }  # fmt: skip
    assert Like(program.text, None, like).bounds() == {"rows": 3, "columns": 99}
    assert dsv4.emit(program, like=like) == dsv4.emit(program, dims={"rows": 3, "columns": 99})
    exact = program.text.replace("columns = #dsv4.policy<bucket>", "columns = #dsv4.policy<exact>")
    kernel = dsv4.compile(exact, like=like)
    kernel(*like.values())
    np.testing.assert_array_equal(
        np.sort(like["output"]), np.sort(reference.topk(like["logits"], 5, like["lengths"]))
    )
    # What the caller says comes first.
    with pytest.raises(dsv4.InvalidArgument, match="'logits'.*expected 98"):
        dsv4.compile(exact, like=like, dims={"columns": 98})(*like.values())


def test_numbers_as_names():
    kernel = dsv4.compile(re.sub("%x", "%0", NORM), like={"arg0": f32(4, 80)[:, 3:67]})
    assert kernel.arguments == ("arg0", "w", "y")
    y = np.empty((4, 64), np.float32)
    kernel(f32(4, 80)[:, 3:67], f32(64), y)
    np.testing.assert_allclose(y, 1, rtol=1e-5)


def test_a_name_that_another_argument_has():
    """The text is one that the compiler takes: it calls the second argument 'arg1'."""
    text = NORM.replace("%x: tensor<?x64xf32>", '%x: tensor<?x64xf32> {dsv4.name = "w"}')
    assert dsv4.compile(text, target="host").arguments == ("w", "arg1", "arg2")
    x, weight, y = f32(4, 80)[:, 3:67], f32(64) * 3, np.empty((4, 64), np.float32)
    kernel = dsv4.compile(text, like={"w": x, "arg1": weight})
    assert kernel.arguments == ("w", "arg1", "y")
    kernel(x, weight, y)
    np.testing.assert_allclose(y, 3, rtol=1e-5)
    # Whatever values are called, names are different.
    numbers = NORM.replace("%w", "%0").replace("%y", "%arg1")
    assert dsv4.compile(numbers, like={}).arguments == ("x", "arg1", "arg2")


def spread(text):
    """With white space wherever types may have it."""
    text = re.sub(r"tensor<(.*?)>", lambda found: f"tensor< {found[1]} >", text)
    return re.sub(r"(\?|\d+)x(?=[?\d])", r"\1 x ", text)


@pytest.mark.parametrize("ids", [np.int32, np.int64])
def test_white_space_in_types(rng, ids):
    text = spread(SELECT)
    assert "tensor< ? x 100xf32 >" in text and "!ids = tensor< ? x 4xi32 >" in text
    like = {
        "x": rng.standard_normal((3, 120)).astype(np.float32)[:, 7:107],
        "n": np.array([100, 2, 50], ids),
        "values": np.empty((3, 4), np.float32), "ids": np.empty((3, 4), ids),
    }  # fmt: skip
    dsv4.compile(text, like=like)(*like.values())
    np.testing.assert_array_equal(like["ids"], reference.topk(like["x"], 4, like["n"]))
    # Lines of a type stay, too.
    broken = SELECT.replace("%n: tensor<?xi32>", "%n: tensor<?x\n  i32>")
    new = text_for(broken, n=like["n"])
    assert new.count("\n") == broken.count("\n")
    assert ("?x\n  i64>" in new) == (ids == np.int64)
    dsv4.compile(broken, like=like)


def test_arrays_say_where_a_kernel_runs():
    assert Like(NORM, None, {"x": f32(4, 64)}).target == "host"
    on_gpu = producers.OnDevice(f32(4, 64))
    like = Like(NORM, None, {"x": on_gpu})
    assert (like.target, like.device) == ("cuda", on_gpu.__dlpack_device__()[1])
    assert Like(NORM, None, {}).target is None
    cache = producers.OnDevice(np.zeros((2, 37440), np.uint8))
    assert Like(GATHER, None, {"cache": cache}).target == "cuda"


def test_a_function_of_several():
    text = NORM + NORM.replace("@norm", "@other").replace("x64x", "x32x").replace("<64x", "<32x")
    assert dsv4.compile(text, like={"x": f32(4, 32)}, entry="other").name == "other"
    for entry, message in (
        (None, "'entry' is None, expected one of norm, other"),
        ("mine", "'entry' is 'mine', expected a function of the text"),
    ):
        with pytest.raises(dsv4.InvalidArgument, match=message):
            dsv4.compile(text, like={}, entry=entry)


def test_what_the_text_says_of_strides_stays():
    said = "tensor<?x64xf32> {dsv4.strides = #dsv4.strides<[?], align = 4>}"
    text = NORM.replace("%x: tensor<?x64xf32>", f"%x: {said}")
    new = text_for(text, x=f32(4, 64))
    assert '%x: tensor<?x64xf32> {dsv4.name = "x", dsv4.strides = #dsv4' in new
    assert new.count("strides<") == 1


@pytest.mark.parametrize("name", dsv4.KNOWN_RECORDS)
def test_records_of_a_text(name):
    record = dsv4.KNOWN_RECORDS[name]
    inline = dsv4.Record(record.fields, record.align)
    for said, text in (
        (str(record), ""), (f"#dsv4.record{record}", ""), (str(inline), ""),
        ("#record", f"#record = #dsv4.record{inline}\n"),
    ):  # fmt: skip
        assert read_record(f"!dsv4.cache<4 x {said}>", Text(text)) == record
    assert read_record("!dsv4.cache<4 x <unknown>>", Text("")) is None


# ===-- Programs of engines ----------------------------------------------------===

NUMPY = {"f32": "f4", "bf16": "u2", "f16": "f2", "i32": "i4", "i64": "i8", "i1": "?"}
OTHER = {"i32": "i64", "i64": "i32"}

# Ops of theirs have one type of indices.
FIXED = {
    "sglang_compress_forward_online", "sglang_compressor_plan_generate",
    "trtllm_compressor_paged_kv_compress", "vllm_compress_norm_rope_store",
    "vllm_per_token_group_fp8_quant_packed",
}  # fmt: skip


def spaced(rows, align, dtype):
    """Zeros of the shape, in rows that are this many bytes farther apart than they are long."""
    size = np.dtype(dtype).itemsize
    step = -(-rows[-1] * size // 16) * 16 + max(align, size)
    return np.zeros((*rows[:-1], step // size), dtype)[..., : rows[-1]]


def arrays_of(program, other=False):
    """Arrays as a program of an engine describes its arguments."""
    text = Text(program.text)
    [function] = text.functions()
    run = re.search(r"// Dims: (.*)", program.text)[1]
    extents = dict(re.findall(r"--dim ([\w.]+)=(\d+)", run))
    like = {}
    for argument, name in zip(function.arguments, program.arguments):
        said = text[argument.attributes]
        strided = re.search(r"strides<\[.*?\](?:, align = (\d+))?>", said)
        align = int(strided[1] or 16) if strided else 0
        tensor = text.tensor(text[argument.type])
        if tensor is None:
            like[name] = cache_of(text.resolve(text[argument.type]), text, align)
            continue
        dims = re.findall(r'"(\w*)"', (said.split("dsv4.dims") + [""])[1].split("]")[0])
        shape = [
            int(extents[dims[axis]] if each == "?" else each)
            for axis, each in enumerate(tensor[0].split("x")[:-1])
        ]
        element = OTHER.get(tensor[1], tensor[1]) if other else tensor[1]
        if element == "f4E2M1FN":
            shape[-1] //= 2
        dtype = NUMPY.get(element, "u1")
        like[name] = spaced(shape, align, dtype) if align else np.zeros(shape, dtype)
    return like


def cache_of(type, text, align):
    page_size = int(re.match(r"!dsv4\.cache<(\d+)", type)[1])
    record = read_record(type, text)
    sizes = [record.page_bytes(page_size)] if record.has_pages else []
    sizes += [None if each.per == "tensor" else page_size * each.bytes for each in record.arrays]
    arrays = [
        np.zeros(1, np.float32) if size is None
        else spaced((3, size), align, "u1") if align
        else np.zeros((3, size), "u1")
        for size in sizes
    ]  # fmt: skip
    return tuple(arrays) if len(arrays) > 1 else arrays[0]


def plain(program):
    """The text without strides."""
    text = re.sub(r",\s*dsv4\.strides = #dsv4\.strides<.*?>(?=[},])", "", program.text)
    assert "dsv4.strides" not in text
    return text


def test_the_source_for_arrays_that_are_aligned_less():
    memory = np.zeros(321, np.float32)
    aligned, other = memory[:256].reshape(4, 64), memory[1:257].reshape(4, 64)
    sources = [dsv4.emit(NORM, like={"x": each}) for each in (aligned, other)]
    assert sources[0] != sources[1]
    # What the text of a kernel says is what the kernel needs.
    for x, source in zip((aligned, other), sources):
        kernel = dsv4.compile(NORM, target="host", like={"x": x})
        needed = alignments_of(read_entry(kernel.entry()).program)
        assert needed == dict(zip(kernel.arguments, kernel.alignments))
        assert x.ctypes.data % needed["x"] == 0
        described = Like(NORM, None, {"x": x})
        text = described.make(lambda text: text, lambda _: {"x": 16})
        assert source == dsv4.emit(text)


def test_an_error_of_a_source_names_the_argument():
    with pytest.raises(dsv4.InvalidArgument, match="'w': the program needs elements that follow"):
        dsv4.emit(NORM, like={"w": f32(128)[::2]})


@pytest.mark.parametrize("name", programs.names())
def test_plain_types_are_enough(name):
    """Arrays say all strides and bounds of a program of an engine."""
    program = programs.load(name)
    like = arrays_of(program)
    said = re.findall(r"(\w+) = #dsv4\.policy<", program.text)
    runs = re.findall(r"--dim (\w+)=(\d+)", re.search(r"// Dims: (.*)", program.text)[1])
    dims = {dim: int(extent) for dim, extent in runs if dim in said}
    assert dsv4.emit(plain(program), like=like) == dsv4.emit(program, dims=dims)
    if name in FIXED:
        with pytest.raises(dsv4.CompileFailed, match="i32|32-bit"):
            dsv4.emit(plain(program), like=arrays_of(program, other=True))
    else:
        dsv4.emit(plain(program), like=arrays_of(program, other=True))


# ===-- Refusals ---------------------------------------------------------------===


@pytest.mark.parametrize(
    "text, like, error, id, argument, message",
    [
        (NORM, 3, dsv4.InvalidArgument, "option.like", "like", "'like' is 3, expected arrays by"),
        (NORM, {3: f32(4, 64)}, dsv4.InvalidArgument, "option.like", "like", "'like' is 3, exp"),
        (NORM, {"xx": f32(4, 64)}, dsv4.InvalidArgument, "like.unknown", "like",
         "'like' has 'xx', and function 'norm' has no such argument: did you mean 'x'?"),
        (NORM, {"other": f32(4, 64)}, dsv4.InvalidArgument, "like.unknown", "like",
         "has no such argument: it has x, w, y"),
        (NORM, {"x": f32(4, 63)}, dsv4.InvalidArgument, "argument.extent", "x",
         "argument 'x': extent 1 is 63, expected 64, which the text says"),
        (NORM, {"x": f32(64)}, dsv4.InvalidArgument, "argument.rank", "x",
         "argument 'x' has rank 1, expected 2, which the text says"),
        (NORM, {"x": f32(64, 4).T}, dsv4.InvalidArgument, "argument.stride", "x",
         "elements along the last axis have to follow each other, and are 4 apart"),
        (NORM, {"x": np.ones((4, 64), np.int32)}, dsv4.TypeMismatch, "argument.type", "x",
         "argument 'x' has elements of type i32, expected f32, which the text says"),
        (NORM, {"x": 3}, dsv4.TypeMismatch, "argument.kind", "x", "'x': expected an array"),
        (NORM, {"w": f32(128)[::2]}, dsv4.InvalidArgument, "argument.stride", "w",
         "'w': the program needs elements that follow each other: pass a contiguous array"),
        (NORM.replace("%x: tensor<?x64xf32>", "%x: tensor<?x64x!other<1>>"), {"x": f32(4, 64)},
         dsv4.InvalidArgument, "like.type", "x",
         "argument 'x' has the type 'tensor<?x64x!other<1>>', which no array describes: "),
        (NORM.replace("%w: tensor<64xf32>", "%w: f32"), {"w": f32(64)}, dsv4.InvalidArgument,
         "like.type", "w", "'w' has the type 'f32', which no array describes: expected a ten"),
        ("x", {}, dsv4.InvalidArgument, "like.text", "text", "needs a text with a 'func.func'"),
        ("func.func @f(%x: tensor<4xf32>", {}, dsv4.InvalidArgument, "like.text", "text", "closed"),
        (PAIR, {"cache": f32(3, 4, 32)}, dsv4.InvalidArgument, "argument.count", "cache",
         "'cache' of record of ckv, kpe has 2 arrays, got 1"),
        (PAIR.replace('"kpe" : 8 x f32 in array', '"kpe" : 8 x f32 in array mine'),
         {"cache": (f32(6, 4, 32)[::2], f32(3, 4, 8))}, dsv4.InvalidArgument, "like.record",
         "cache", "write its 'dsv4.strides' into the text"),
    ],
)  # fmt: skip
def test_refusals(text, like, error, id, argument, message):
    with pytest.raises(error) as caught:
        dsv4.compile(text, like=like)
    assert (caught.value.id, caught.value.argument) == (id, argument)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [NORM, GATHER, SELECT, PAIR])
def test_a_text_that_ends_anywhere(text):
    """The compiler refuses it, or `like` does."""
    ends = [end for end in range(len(text)) if text[end:].strip()]
    refused = 0
    for end in ends:
        try:
            Like(text[:end], None, {})
        except dsv4.InvalidArgument as error:
            refused += 1
            assert error.id == "like.text"
    assert refused == len(ends)


def test_dims_of_arrays_are_equal():
    text = programs.load("vllm_persistent_topk", k=4).text
    like = {"logits": f32(3, 50), "lengths": np.zeros(2, np.int32)}
    with pytest.raises(dsv4.InvalidArgument, match=r"extent 0 is 2, expected 3 \(dim 'rows'\)"):
        dsv4.compile(text, like=like)


def test_messages_of_the_compiler_have_names_lines_and_types():
    text = NORM.replace("tensor<?x64x", "tensor<?x?x")
    with pytest.raises(dsv4.CompileFailed, match="program:5:") as caught:
        dsv4.compile(text, like={"x": f32(4, 80)[:, :64]})
    assert "specialize" not in str(caught.value)
    rows = SELECT.replace("x100x", "x?x")
    with pytest.raises(dsv4.CompileFailed, match="axis 1 of argument 'x' a name in 'dsv4.dims'"):
        dsv4.compile(rows, like={"x": f32(4, 80)})
    wrong = SELECT.replace("order sorted", "order none").replace("%r#1, %r#0", "%r#1")
    with pytest.raises(dsv4.CompileFailed, match=r"i64 for 'n', which 'like' has"):
        dsv4.compile(wrong, like={"n": np.zeros(4, np.int64)})
