# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of dsv4.programs: those of examples/engines, with parameters."""

import json
import os
import pickle
import re

import numpy as np
import pytest
import reference

import dsv4
from dsv4 import programs
from dsv4.__main__ import main

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = os.path.join(HERE, "..", "..", "examples", "engines")
PAGE = os.path.join(HERE, "..", "..", "docs", "Engines.md")

# Other values than those of the files. Twice or half of theirs where none is here.
OTHERS = {
    "dim": 256, "eps": 1e-5, "groups": 4, "head_scale": 0.5, "heads": 32, "k": 4, "keep": 2,
    "page_size": 32, "record": "bf16_1024", "scale": 1.25, "softmax_scale": -0.5,
    "weight_scale": 0.5, "window": 8,
}  # fmt: skip


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def other(parameter):
    value = OTHERS.get(parameter.name)
    if isinstance(parameter.default, int) and (
        value in (None, parameter.default) or value % parameter.multiple or value > parameter.high
    ):
        double = 2 * parameter.default
        value = double if double <= parameter.high else parameter.default // 2
    assert value != parameter.default
    return value


def emit(program):
    """The source of a program, with the extents of its first run for dims that need one."""
    dims = re.findall(r"--dim (\w+)=(\d+)", re.search(r"// Dims: (.*)", program.text)[1])
    policies = re.findall(r"(\w+) = #dsv4\.policy<", program.text)
    bounds = {dim: int(extent) for dim, extent in dims if dim in policies}
    return dsv4.emit(program, dims=bounds)


def test_they_are_the_files():
    files = {each[: -len(".mlir")] for each in os.listdir(ENGINES) if each.endswith(".mlir")}
    assert len(files) > 80 and set(programs.names()) == files
    for name in files:
        text = read(os.path.join(ENGINES, f"{name}.mlir"))
        program = programs.load(name)
        defaults = {each.name: each.default for each in programs.parameters(name)}
        assert program.text == str(program) == text
        assert programs.load(name, **defaults) == program and program.parameters == defaults
        assert pickle.loads(pickle.dumps(program)) == program
        assert program.summary and "\n" not in program.summary
        assert program.arguments == tuple(re.findall(r'dsv4\.name = "(\w+)"', text))


def test_the_page_names_all_of_them():
    page = read(PAGE)
    linked = re.findall(r"\(\.\./examples/engines/(\w+)\.mlir\)", page)
    assert set(linked) == set(programs.names())
    [table] = re.findall(r"^\| parameter \| .*?\n\n", page, re.MULTILINE | re.DOTALL)
    described = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.M))))
    every = {each.name for name in programs.names() for each in programs.parameters(name)}
    assert described == every


@pytest.mark.parametrize("name", programs.names())
def test_a_parameter_changes_the_program(name):
    before = emit(programs.load(name))
    all_others = {}
    for each in programs.parameters(name):
        value = all_others[each.name] = other(each)
        program = programs.load(name, **{each.name: value})
        assert emit(program) != before, each
        given = program.parameters[each.name]
        if isinstance(value, str):
            assert given == dsv4.KNOWN_RECORDS[value]
        else:
            assert given == pytest.approx(value)
    if len(all_others) > 1:
        assert emit(programs.load(name, **all_others)) != before


# With the others as they are, some values are no program: 8 groups of one expert.
NEED_OTHERS = {"groups": ("experts", "groups", "keep"), "padded_heads": ("heads", "padded_heads")}


@pytest.mark.parametrize("name", programs.names())
def test_bounds_are_programs(name):
    known = programs.parameters(name)
    together = {each for has in known for each in NEED_OTHERS.get(has.name, ())}
    for each in known:
        if each.low is not None and each.name not in together:
            emit(programs.load(name, **{each.name: each.low}))
            emit(programs.load(name, **{each.name: each.high}))


@pytest.mark.parametrize("name", programs.names())
def test_uses_are_in_the_text(name):
    file = programs._read(name)
    values = {each.name: each.check(each.default) for each in file.parameters}
    spans = {}
    for use in file.uses:
        found = list(programs._find(use, file, values))
        assert found, use
        for span, expression in found:
            assert spans.setdefault(span, expression) == expression, use
    ordered = sorted(spans)
    assert all(end <= begin for (_, end), (begin, _) in zip(ordered, ordered[1:]))
    used = set(re.findall(r"[a-z]\w+|k", " ".join(spans.values()))) - {"values"}
    assert used == set(values)


def test_a_selection(rng):
    program = programs.load("vllm_persistent_topk", k=7)
    kernel = dsv4.compile(program, dims={"rows": 4, "columns": 100}, target="host")
    assert kernel.arguments == program.arguments == ("logits", "lengths", "output")
    logits = rng.standard_normal((4, 100)).astype(np.float32)
    lengths = np.array([100, 3, 0, 50], np.int32)
    output = np.empty((4, 7), np.int32)
    kernel(logits, lengths, output)
    np.testing.assert_array_equal(
        np.sort(output), np.sort(reference.topk(logits, 7, lengths))
    )  # fmt: skip


def test_a_router(rng):
    program = programs.load("vllm_dsv4_topk", experts=64, k=4, scale=1.25)
    kernel = dsv4.compile(program, target="host")
    logits = rng.standard_normal((5, 64)).astype(np.float32)
    bias = rng.standard_normal(64).astype(np.float32)
    experts, weights = np.empty((5, 4), np.int32), np.empty((5, 4), np.float32)
    kernel(logits, bias, experts, weights)
    expected, ids = dsv4.route(logits, 4, score="sqrt_softplus", bias=bias, scale=1.25)
    np.testing.assert_array_equal(experts, ids)
    np.testing.assert_array_equal(weights, expected)


def test_a_record(rng):
    record = dsv4.Record([dsv4.Field("x", 24, "f32")])
    program = programs.load("sglang_dequantize_k_cache_paged", record=record, page_size=2)
    kernel = dsv4.compile(program, target="host")
    cache = rng.standard_normal((3, 2, 24)).astype(np.float32)
    out = np.empty((3, 24), np.uint16)
    kernel(cache, np.array([5, 0, 2], np.int32), out)
    expected = dsv4.gather(cache, np.array([5, 0, 2]), record=record, dtype="bfloat16")
    np.testing.assert_array_equal(out, expected)


def test_a_kernel_is_called_as_the_program():
    with pytest.raises(dsv4.CompileFailed, match="deepgemm_fp8_mqa_logits"):
        dsv4.compile(programs.load("deepgemm_fp8_mqa_logits", heads=7), schedule="x", target="host")


@pytest.mark.parametrize(
    "name, given, id, argument, message",
    [
        ("vllm_persistent_topj", {}, "program.unknown", "name",
         "no program is known as 'vllm_persistent_topj': did you mean 'vllm_persistent_topk'?"),
        ("zzz", {}, "program.unknown", "name",
         "no program is known as 'zzz': dsv4.programs.names() has their names"),
        (3, {}, "option.name", "name", "'name' is 3, expected a name of dsv4.programs.names()"),
        ("../engines/vllm_persistent_topk", {}, "program.unknown", "name", "no program is known"),
        ("deepgemm_fp8_paged_mqa_logits", {"head": 3}, "program.parameter", "head",
         "program 'deepgemm_fp8_paged_mqa_logits' has no parameter 'head': did you mean 'heads'?"),
        ("deepgemm_fp8_paged_mqa_logits", {"zzz": 3}, "program.parameter", "zzz",
         "has no parameter 'zzz': it has heads, page_size"),
        ("trtllm_fused_cat_fp8", {"k": 3}, "program.parameter", "k", "'k': it has none"),
        ("vllm_persistent_topk", {"k": 0}, "option.k", "k",
         "'k' is 0, expected an integer from 1 to 4096"),
        ("vllm_persistent_topk", {"k": "4"}, "option.k", "k", "'k' is '4', expected an integer"),
        ("vllm_persistent_topk", {"k": True}, "option.k", "k", "'k' is True, expected an integer"),
        ("vllm_persistent_topk", {"k": 4.0}, "option.k", "k", "'k' is 4.0, expected an integer"),
        ("deepseek_act_quant", {"columns": 100}, "option.columns", "columns",
         "'columns' is 100, expected a multiple of 128 from 128 to 65536"),
        ("deepseek_act_quant", {"columns": "x"}, "option.columns", "columns",
         "'columns' is 'x', expected a multiple of 128 from 128 to 65536"),
        ("vllm_dsv4_topk", {"scale": 0}, "option.scale", "scale",
         "'scale' is 0, expected a number from 1e-06 to 1e+06"),
        ("vllm_dsv4_topk", {"scale": "2.5}"}, "option.scale", "scale", "expected a finite number"),
        ("sglang_dequantize_k_cache_paged", {"record": "v4_585"}, "record.unknown", "record",
         "no record is known as 'v4_585': did you mean 'v4_584'?"),
    ],
)  # fmt: skip
def test_refusals(name, given, id, argument, message):
    with pytest.raises(dsv4.InvalidArgument) as caught:
        programs.load(name, **given)
    assert (caught.value.id, caught.value.argument) == (id, argument)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_given_is_not_asked_for_its_text():
    class Evil(int):
        def __str__(self):
            return "7} evil"

        __repr__ = __format__ = __str__

    program = programs.load("vllm_persistent_topk", k=Evil(7))
    assert program == programs.load("vllm_persistent_topk", k=7)
    assert "evil" not in program.text


def test_they_are_listed(capsys):
    assert main(["programs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [each.split(":")[0] for each in lines if each[0] != " "] == list(programs.names())
    at = next(i for i, each in enumerate(lines) if each.startswith("vllm_sparse_indexer_topk: "))
    assert lines[at + 1] == "    k = 2048, next_n = 3"
    assert main(["programs", "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert tuple(found) == programs.names()
    assert found["vllm_persistent_topk"]["arguments"] == ["logits", "lengths", "output"]
    [k] = found["vllm_persistent_topk"]["parameters"]
    assert k == {"name": "k", "default": 1024, "low": 1, "high": 4096, "multiple": 1}
