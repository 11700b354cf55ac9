# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pairs of options of test_pairs.py, for the operators of torch."""

import numpy as np
import pairs_index
import pytest
import stores
import test_pairs
import torch

import dsv4
import dsv4.torch
from dsv4 import _operators

# What an operator says in its name.
_WITH = {
    ("topk", "return_values"): "topk_values", ("gather", "return_mask"): "gather_mask",
    ("dense_route", "return_logits"): "dense_route_logits",
    ("route", "return_replay"): "route_replay",
    ("hash_route", "return_replay"): "hash_route_replay",
    ("dense_route", "return_replay"): "dense_route_replay",
}  # fmt: skip


RECORDS = {**stores.RECORDS, **stores.KEY_RECORDS, **pairs_index.RECORDS}


@pytest.fixture(autouse=True)
def records(monkeypatch):
    """Operators take records by name."""
    for name, record in RECORDS.items():
        monkeypatch.setitem(dsv4.KNOWN_RECORDS, name, record)


def to_torch(value):
    if isinstance(value, (tuple, list)):
        return [to_torch(each) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    tensor = torch.from_numpy(value)
    return tensor.view(torch.bfloat16) if value.dtype == np.uint16 else tensor


def to_numpy(tensor):
    bits = {torch.bfloat16: torch.uint16, torch.float8_e4m3fn: torch.uint8}
    e8m0 = getattr(torch, "float8_e8m0fnu", None)
    dtype = torch.uint8 if tensor.dtype == e8m0 else bits.get(tensor.dtype)
    return (tensor if dtype is None else tensor.view(dtype)).numpy()


def run_operator(function, arguments):
    """The results of an operator, or those of the function where it has no such option."""
    name, given = function, dict(arguments)
    for (of, option), other in _WITH.items():
        if function == of == name and given.get(option):
            name = other
            del given[option]
    if given.get("return_indices") is False and "q" in given:  # Slots alone.
        name = "index_topk_slots"
        del given["return_indices"], given["return_slots"]
    elif "q" in given and given.get("return_indices"):
        del given["return_indices"]
    if function == "index_query" and given["recipe"] in ("sglang_mxfp4", "deepseek_fp4"):
        name = "index_query_fp4"
    if function == "compress_plan" and {"slots", "page_table"} & set(given):
        name = "compress_plan_slots"
    if function == "quantize" and "inverse" in given:
        name = "quantize_given"
        given = {n: v for n, v in given.items() if not n.startswith(("group", "scale_"))}
    if "record" in given:
        given["record"] = next(
            each for each, record in RECORDS.items() if record is given["record"]
        )
    out = given.pop("out", None)
    if out is not None:
        name = _operators.out_name(name)
    given = {
        each: value for each, value in given.items()
        if value is not None and not (value is False and each.startswith("return_"))
    }  # fmt: skip
    if function == "gather_raw":
        given.setdefault("indices", None)  # It has no default.
    schema = _operators.SCHEMAS.get(name)
    names = [] if schema is None else _operators.split_schema(schema)[0]
    known = {each.partition("=")[0].rpartition(" ")[2] for each in names}
    if name == "gather_ragged" and "rows" not in given:
        given["rows"] = len(given["requests"])  # An operator needs it.
    is_plain = not any(isinstance(given.get(each), tuple) for each in ("cache", "keys"))
    is_plain = is_plain and not isinstance(given.get("recipe"), dsv4.Recipe)
    if not (set(given) <= known and is_plain) or name == "quantize_out" and len(out) > 2:
        return test_pairs.run_function(function, arguments)
    tensors = {each: to_torch(value) for each, value in given.items()}
    if out is None:
        results = test_pairs.list_results(getattr(torch.ops.dsv4, name)(**tensors))
        return (*map(to_numpy, results), *test_pairs.list_changed(name, given))
    outs = out if isinstance(out, tuple) else (out,)
    of = _operators.SCHEMAS[_operators.WITH_OUT[name]]
    results = _operators.split_schema(of)[1]
    names = [each.partition(" ")[2] or "out" for each in results]
    getattr(torch.ops.dsv4, name)(**tensors, **dict(zip(names, map(to_torch, outs))))
    run_operator.count += 1
    return (*outs, *test_pairs.list_changed(function, given))


@pytest.mark.parametrize("model", test_pairs.MODELS, ids=lambda model: model.name)
def test_pairs_of_options_of_operators(model, pytestconfig):
    run_operator.count = 0
    test_pairs.run_cases(model, run_operator, pytestconfig.getoption("--pairs-seed"))
    assert run_operator.count or _operators.out_name(model.name) not in _operators.SCHEMAS
