# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that an option does not take: the class of the error, its id and the option it names."""

import inspect

import numpy as np
import pytest
from option_calls import (
    F32,
    RECORD,
    append_,
    compress_,
    compress_plan,
    dense_route,
    dequantize,
    gather,
    gather_ragged,
    gather_raw,
    hadamard,
    hash_route,
    index_append_,
    index_of_arrays,
    index_query,
    index_score,
    index_topk,
    norm_rope_append_,
    norm_rope_insert_,
    pad_rows,
    quantize,
    query_norm_rope,
    rms_norm,
    rope,
    route,
    scale_weights,
    topk,
    topk_paged,
    valid_lens,
)

import dsv4

NAN, INF = float("nan"), float("inf")
RECIPE = dsv4.KNOWN_RECIPES["mxfp4"]


class Text(str):
    """A string that says something else than it holds."""

    def __str__(self):
        return "<injected>"

    __repr__ = __str__

    def __format__(self, _):
        return "<injected>"


class Integer(int):
    def __mul__(self, _):
        return "<injected>"

    __rmul__ = __mul__

    def __str__(self):
        return "<injected>"

    __repr__ = __str__

    def __format__(self, _):
        return "<injected>"


class Hostile:
    """An object that fails in all that is asked of it."""

    def fail(self, *_):
        raise RuntimeError("a\nb")

    __index__ = __float__ = __bool__ = __repr__ = __str__ = __eq__ = __len__ = __iter__ = fail
    __hash__ = object.__hash__


# Those that a flag multiplied were text, or took all memory.
NO_FLAGS = (2, -1, 2**27, 2**70, 1.0, "", "no", None, [True], {}, np.zeros(0), np.array(True),
            np.float32(1), RECORD, Hostile(), 10**5000)  # fmt: skip
FLAGS = {
    topk: ("largest", "sorted", "return_values"),
    topk_paged: ("largest", "sorted", "return_values", "return_indices"),
    index_score: ("keep_rest",),
    index_topk: ("largest", "sorted", "return_indices", "return_values", "return_slots"),
    index_query: ("neox", "interleaved", "hadamard"),
    index_append_: ("neox", "interleaved", "hadamard", "unique"),
    route: ("renormalize", "return_replay", "return_token_experts"),
    hash_route: ("renormalize", "return_replay", "return_token_experts"),
    quantize: ("inverse",),
    dense_route: ("renormalize", "return_logits", "return_replay", "return_token_experts"),
    rope: ("inverse", "neox", "interleaved"),
    query_norm_rope: ("norm", "inverse", "neox", "interleaved"),
    norm_rope_insert_: ("q_norm", "neox", "interleaved", "unique"),
    gather: ("return_mask",),
    gather_raw: ("return_mask",),
    gather_ragged: ("return_mask",),
    append_: ("unique",),
    norm_rope_append_: ("neox", "interleaved", "unique"),
    compress_: ("overlap", "biased", "neox", "interleaved"),
}

NO_INTEGERS = (1.0, "1", None, [1], 2**70, True, np.bool_(True), np.array(1), Hostile(), 10**5000)
NO_FLOATS = ("1", [1.0], NAN, INF, -INF, 1e39, 10**400, True, np.array(1.0), Hostile())
NO_WORDS = ("", "other", 3, ["low"], b"low", 'low"', "x" * 100_000, np.array(["low"]), Hostile())

# Of each option: values that are refused.
OPTIONS = [
    (topk, "k", (0, -1, 4097, 5000, *NO_INTEGERS)),
    (topk, "next_n", (0, 65, 2, "a", 1.5, True)),
    (topk, "ratio", (0, -4, 2, *NO_INTEGERS)),
    (topk, "tie", NO_WORDS),
    (topk, "order", ("index_ascending", "unordered", *NO_WORDS)),
    (topk, "nan", ("zero", *NO_WORDS)),
    (topk, "index_dtype", NO_WORDS),
    (topk_paged, "k", (0, 4097, *NO_INTEGERS)),
    (topk_paged, "page_size", (0, -1, *NO_INTEGERS)),
    (topk_paged, "nan", NO_WORDS),
    (index_score, "columns", (0, -1, 2**22 + 1, 5.0, "5", [5], True)),
    (index_score, "page_size", (0, "8", [8])),
    (index_score, "next_n", (0, 65, 2, *NO_INTEGERS)),
    (index_score, "ratio", (0, 2, *NO_INTEGERS)),
    (index_score, "dtype", ("int32", 3)),
    (index_topk, "k", (0, 4097, *NO_INTEGERS)),
    (index_topk, "kernels", (0, 3, 1.0, "1", [1], True)),
    (index_topk, "columns", (0, 2**22 + 1, 5.0)),
    (index_topk, "next_n", (0, 65, 2, *NO_INTEGERS)),
    (index_topk, "ratio", (0, 2, *NO_INTEGERS)),
    (index_topk, "tie", NO_WORDS),
    (index_topk, "nan", ("zero", *NO_WORDS)),
    (index_topk, "index_dtype", NO_WORDS),
    (index_query, "constants", (3.0, "1", ("1",), (NAN,), (1e39,), (1.0,) * 17)),
    (index_query, "rounding", (*NO_WORDS, "bf16")),
    (index_query, "recipe", ("nvfp4", "deepseek_fp8", "deepseek_v4")),
    (index_append_, "norm", (2, "yes", 0.0)),
    (index_append_, "eps", (-1, *NO_FLOATS)),
    (index_append_, "rounding", NO_WORDS),
    (index_append_, "page_size", (0, "8")),
    (topk_paged, "order", NO_WORDS),
    (route, "k", (0, -1, 33, 65, *NO_INTEGERS)),
    (route, "groups", ((1, 2), "abc", 3, (0, 1, 1), (8, 9, 1), (8, 4, 9), (7, 1, 1), (64, 1, 1),
                       (1.0, 1, 1), (8, 4, -2), ())),
    (route, "scale", (None, *NO_FLOATS)),
    (route, "score", NO_WORDS),
    (route, "nan", NO_WORDS),
    (route, "shared", (-1, 32, 1, *NO_INTEGERS)),
    (route, "index_dtype", ("int8", "i16", *NO_WORDS)),
    (hash_route, "index_dtype", NO_WORDS),
    (hash_route, "scale", (None, *NO_FLOATS)),
    (hash_route, "score", NO_WORDS),
    (hash_route, "nan", ("first", *NO_WORDS)),
    (hash_route, "shared", (-1, 32, 1, *NO_INTEGERS)),
    (dense_route, "k", (0, 5, 33, *NO_INTEGERS)),
    (dense_route, "groups", ((1, 2), (8, 4, 2), 3)),
    (dense_route, "scale", (None, *NO_FLOATS)),
    (dense_route, "score", NO_WORDS),
    (dense_route, "nan", NO_WORDS),
    (dense_route, "shared", (-1, 32, 1, *NO_INTEGERS)),
    (dense_route, "index_dtype", NO_WORDS),
    (rms_norm, "eps", (None, -1e-6, *NO_FLOATS)),
    (rms_norm, "dtype", ("int32", 3, ["float32"])),
    (query_norm_rope, "eps", (None, -1e-6, *NO_FLOATS)),
    (query_norm_rope, "heads", (0, 1, 65537, *(each for each in NO_INTEGERS if each is not None))),
    (query_norm_rope, "rounding", (*NO_WORDS, "bf16")),
    (query_norm_rope, "dtype", ("int32", 3, ["float32"])),
    (norm_rope_insert_, "eps", (-1, *NO_FLOATS)),
    (norm_rope_insert_, "norm", (2, "yes", 0.0, np.zeros(1))),
    (norm_rope_insert_, "heads", (0, 1, 65537)),
    (norm_rope_insert_, "rounding", NO_WORDS),
    (norm_rope_insert_, "dtype", ("int32", 3)),
    (norm_rope_insert_, "page_size", (0, "8")),
    (norm_rope_insert_, "ring", (0, 3, 12, "8")),
    (norm_rope_insert_, "lengths_per", NO_WORDS),
    (hadamard, "scale", NO_FLOATS),
    (hadamard, "dtype", ("int32", 3)),
    (scale_weights, "constants", ((), 3.0, "1", ("1",), (NAN,), (1e39,), (1.0,) * 17)),
    (scale_weights, "dtype", ("int32", 3)),
    (pad_rows, "rows", (0, 3, 65537, *NO_INTEGERS)),
    (quantize, "group", (0, -1, 48, "abc", 1.0, [32])),
    (quantize, "scale_type", ("f64", 3, ["f32"])),
    (quantize, "scale_layout", NO_WORDS),
    (dequantize, "group", (0, 48, "abc", 32.0)),
    (dequantize, "scale_type", ("f64", 3)),
    (dequantize, "scale_layout", NO_WORDS),
    (dequantize, "dtype", ("int32", 3)),
    (gather, "page_size", (0, -1, 2**20 + 1, "8", 8.0, [8])),
    (gather, "lengths_per", NO_WORDS),
    (gather, "dtype", ("int32", 3)),
    (gather_raw, "page_size", (0, "8")),
    (gather_raw, "lengths_per", NO_WORDS),
    (gather_raw, "offset", (2, -1, *NO_INTEGERS)),
    (gather_ragged, "rows", (-1, "9", 9.0, [9])),
    (gather_ragged, "offset", (-1, 2**31, *NO_INTEGERS)),
    (gather_ragged, "page_size", (0, "8")),
    (gather_ragged, "dtype", ("int32", 3)),
    (append_, "page_size", (0, "8")),
    (append_, "columns", ((-1,), (0, 0), (), ("a",), (1.0,), 0, np.zeros(1, np.int32))),
    (append_, "lengths_per", NO_WORDS),
    (append_, "fields", (3, F32, "abc", None)),
    (route, "shared_weight", NO_FLOATS),
    (hash_route, "shared_of_sum", NO_FLOATS),
    (norm_rope_append_, "norm", (2, "yes", 0.0, np.zeros(1))),
    (compress_, "norm", (2, "yes", 0.0, np.zeros(1))),
    (compress_, "eps", (-1, *NO_FLOATS)),
    (norm_rope_append_, "eps", (-1, *NO_FLOATS)),
    (norm_rope_append_, "rounding", (*NO_WORDS, "bf16")),
    (compress_, "rounding", NO_WORDS),
    (norm_rope_append_, "page_size", (0, "8")),
    (compress_, "window", (0, 1025, *NO_INTEGERS)),
    (compress_, "ring", (0, 2, 12, 8.0, "8")),
    (compress_, "state_page_size", (0, 2**21, "8", 8.0)),
    (compress_, "page_size", (0, "8")),
    (compress_plan, "window", (0, 1025, *NO_INTEGERS)),
    (compress_plan, "rows", (-1, 5, "4", 4.0)),
    (valid_lens, "ratio", (0, -4, *NO_INTEGERS)),
    (valid_lens, "window", (0, 2**31, "a", 1.5, True)),
    (valid_lens, "page_size", (0, 2**31, "a", 1.5, True)),
    (valid_lens, "pages", (1, 4)),
    (valid_lens, "index_dtype", NO_WORDS),
]  # fmt: skip

RECIPES = {
    "payload": ("f32", 3), "scale": ("f64", 3), "group": (0, "col", 1.5), "outer": ("col", 3),
    "floor": ("x", -1.0, NAN, 1e39), "floor_of": NO_WORDS, "limit": NO_WORDS,
    "rounding": (*NO_WORDS, "up"), "payload_by": NO_WORDS, "ties": NO_WORDS,
}  # fmt: skip


def shown(value):
    return dsv4._show.show(value)[:20]


@pytest.mark.parametrize(
    "call, name, value",
    [(call, name, value) for call, name, values in OPTIONS for value in values],
    ids=lambda each: name_case(each) or shown(each),
)
def test_an_option_is_refused(call, name, value):
    with pytest.raises(dsv4.InvalidArgument, match=f"'{name}'") as caught:
        call(**{name: value})
    assert (caught.value.id, caught.value.argument) == (f"option.{name}", name)
    assert len(str(caught.value)) < 300 and str(caught.value).isprintable()


def name_case(each):
    return each.__name__ if inspect.isfunction(each) else each if isinstance(each, str) else ""


@pytest.mark.parametrize(
    "call, name", [(call, name) for call, names in FLAGS.items() for name in names], ids=name_case
)
def test_a_flag_is_a_boolean(call, name):
    for value in NO_FLAGS:
        with pytest.raises(dsv4.InvalidArgument, match=f"'{name}' is .*, expected True") as caught:
            call(**{name: value})
        assert (caught.value.id, caught.value.argument) == (f"option.{name}", name)
        assert len(str(caught.value)) < 120 and str(caught.value).isprintable()


def test_every_flag_is_tested():
    functions = {each.__name__: each for each in FLAGS}
    for name in dsv4.__all__:
        body = getattr(dsv4, name)
        if not inspect.isfunction(body) or name not in functions:
            assert not inspect.isfunction(body) or "bool = " not in str(inspect.signature(body))
            continue
        flags = {
            option for option, parameter in inspect.signature(body).parameters.items()
            if parameter.annotation == "bool"
        }  # fmt: skip
        assert flags == set(FLAGS[functions[name]])


def test_a_large_k_is_refused_with_the_reason():
    with pytest.raises(dsv4.InvalidArgument, match="shared memory") as caught:
        topk(k=4097)
    assert "from 1 to 4096: " in str(caught.value)
    with pytest.raises(dsv4.InvalidArgument) as caught:
        topk(k=0)
    assert "shared memory" not in str(caught.value)


def program_of(call, **options):
    return dsv4._kernels.program_of(call, (), options).text()


def test_what_a_class_of_the_caller_says_is_in_no_text():
    """Values of classes that say something else are what they hold, or are refused."""
    for call, given, plain in (
        (topk, {"k": Integer(3), "tie": Text("high"), "index_dtype": Text("int64")},
         {"k": 3, "tie": "high", "index_dtype": "int64"}),
        (topk, {"sorted": np.bool_(True), "k": np.int64(3)}, {"sorted": 1, "k": 3}),
        (route, {"groups": (Integer(8), Integer(4), 2), "score": Text("sigmoid")},
         {"groups": [8, 4, 2], "score": "sigmoid"}),
        (rms_norm, {"dtype": Text("f16"), "eps": np.float64(1e-6)}, {"dtype": "f16"}),
        (quantize, {"recipe": Text("mxfp4"), "group": Text("row"), "scale_layout":
                    Text("row_major")}, {"group": "row"}),
        (gather, {"record": dsv4.Record([dsv4.Field(Text("x"), Integer(8), Text("f32"))])}, {}),
    ):  # fmt: skip
        text = program_of(call, **given)
        assert text == program_of(call, **plain) and "injected" not in text
    for call, options in ((topk, {"sorted": Integer(1)}), (rope, {"neox": Text("x")}),
                          (gather, {"record": Text("v4")}), (quantize, {"recipe": Text("v4")}),
                          (quantize, {"scale_type": Text("x")})):  # fmt: skip
        with pytest.raises(dsv4.InvalidArgument) as caught:
            call(**options)
        assert "injected" not in str(caught.value)


def test_an_array_is_no_option():
    """A plan would know the shape of the array, and not the number."""
    topk(k=3)
    for value in (np.array(3), np.array(5)):
        with pytest.raises(dsv4.InvalidArgument, match="'k' is of type 'numpy.ndarray'"):
            topk(k=value)


def test_equal_options_of_another_type_have_no_plan():
    assert topk(k=np.int64(3)).shape == (4, 3)
    with pytest.raises(dsv4.InvalidArgument, match="'k' is"):
        topk(k=np.float64(3))


def test_unknown_names_are_shown_short():
    for call, known, typo, name in ((gather, "record", "v4_548", "v4_584"),
                                    (gather, "record", "V41_FP4_288", "v41_fp4_288"),
                                    (quantize, "recipe", "deepseek-fp8", "deepseek_fp8")):
        with pytest.raises(dsv4.InvalidArgument, match=f"did you mean '{name}'") as caught:
            call(**{known: typo})
        assert (caught.value.id, caught.value.argument) == (f"{known}.unknown", known)
        for value in ("x" * 100_000, 'a"b\n', 3, None, F32, Hostile(), [typo]):
            with pytest.raises(dsv4.InvalidArgument, match="dsv4.KNOWN_RE") as caught:
                call(**{known: value})
            assert caught.value.id == f"{known}.unknown"
            assert len(str(caught.value)) < 120 and str(caught.value).isprintable()


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_is_refused(name):
    for value in RECIPES[name]:
        with pytest.raises(dsv4.InvalidArgument, match=f"'recipe.{name}'") as caught:
            quantize(recipe=RECIPE._replace(**{name: value}))
        assert caught.value.id == f"option.recipe.{name}"


def test_a_recipe_of_a_record_is_for_its_types(rng):
    """What a recipe says of types is for quantize(): a record has its own."""
    record = dsv4.Record([
        dsv4.Field("x", 32, "f4E2M1FN"), dsv4.Field("s", 2, "f8E4M3FN", scales="x", per=16)
    ])  # fmt: skip
    x = rng.standard_normal((4, 32)).astype(np.float32)
    cache = np.zeros((1, record.page_bytes(8)), np.uint8)
    call = dict(record=record, page_size=8)
    recipe = dsv4.Recipe("f8E4M3FN", "f32", 128, rounding="up", ties="down")
    dsv4.norm_rope_append_(x, cache, np.arange(4), recipe=recipe, **call)
    assert np.abs(dsv4.gather(cache, np.arange(4), dtype="float32", **call) - x).max() < 1
    with pytest.raises(dsv4.InvalidArgument, match="for scales of f8E4M3FN") as caught:
        dsv4.norm_rope_append_(
            x, cache, np.arange(4), recipe=recipe._replace(rounding="up_pow2"), **call
        )
    assert caught.value.id == "option.recipe.rounding"


def test_a_level_over_scales_that_have_none():
    with pytest.raises(dsv4.InvalidArgument, match="'recipe.outer' is 'row'"):
        quantize(recipe=RECIPE._replace(outer="row"))


def test_the_calls_of_these_tests_are_good():
    for call in (topk, topk_paged, index_query, index_append_, index_score, index_topk,
                 index_of_arrays, route, hash_route, dense_route, rms_norm, rope, query_norm_rope,
                 norm_rope_insert_, hadamard, scale_weights,
                 pad_rows, quantize, dequantize, gather, gather_raw, gather_ragged, append_,
                 norm_rope_append_, compress_, compress_plan, valid_lens):  # fmt: skip
        call()
    topk(k=np.int64(3))
    rms_norm(eps=np.float32(1e-6))
    rms_norm(eps=0)
    quantize(recipe=RECIPE._replace(floor=np.float64(1)))
