# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of queries, and of their write with the entries of a layer."""

import numpy as np
import reference
from pairs import ELEMENTS, INTEGERS, LAYOUTS, RTOL, Call, Expected, Model, arrange, decode, encode
from pairs_caches import CACHE
from pairs_writers import (
    CHAIN,
    DESTINATIONS,
    TOKENS,
    allows_places,
    find_places,
    run_chain,
    verify_rows,
)
from stores import RECIPES, RECORDS, SIZE, Store

FLAGS = (False, True)
FLOATS = ("f32", "bf16", "f16")
ROUNDINGS = ("none", "last", "each")
_ELEMENT_OF = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
_HEADS, _WIDTH = 3, 24
_SCALE = 0.5


def _normalise(case, arguments, rng, of, q):
    """Heads after the norm that a case asks for."""
    arguments[f"{of}norm"] = case["q_norm"]
    if not case["q_norm"]:
        return q
    weight = None
    if case["q_weight"]:
        stored = encode(rng.standard_normal(_WIDTH), case["q_weight"])
        weight = decode(stored, case["q_weight"])
        arguments[f"{of}weight"] = arrange(stored, case["weight_layout"])
    return reference.rms_norm(q, weight, case["eps"])


def _give_out(case, arguments, element, shape):
    """`out`: nothing, an array, `q` itself, or an equal view of its memory."""
    if case["out"] == "given":
        dtype = np.uint8 if element == "fp8" else ELEMENTS[element][0]
        arguments["out"] = arrange(np.zeros(shape, dtype), case["out_layout"])
    elif case["out"]:
        q = arguments["q"]
        arguments["out"] = q._replace(array=q.array if case["out"] == "q" else q.array[...])


def _result_element(case):
    return "fp8" if case["scale_inv"] else _ELEMENT_OF.get(case["dtype"], case["q_element"])


def _make_queries(case, arguments, rng, of, table, positions, **how):
    """Queries, their options, and what is expected of them."""
    q = encode(rng.standard_normal((TOKENS, _HEADS, _WIDTH)), case["q_element"])
    arguments["q"] = arrange(q, case["q_layout"])
    heads = case["heads"] or _HEADS
    for name in ("heads", "dtype", "rounding"):
        arguments[name] = case[name]
    rows = _normalise(case, arguments, rng, of, decode(q, case["q_element"]))
    values = np.zeros((TOKENS, heads, _WIDTH))
    values[:, :_HEADS] = reference.rope(
        rows.reshape(-1, _WIDTH), table, np.repeat(positions, _HEADS), **how
    ).reshape(rows.shape)
    element = _result_element(case)
    _give_out(case, arguments, element, values.shape)
    if element == "fp8":
        arguments[f"{of}scale_inv"] = arrange(np.array([_SCALE], np.float32))
        return Expected(values, lambda got: reference.e4m3_values()[got] / _SCALE, 0.07, 0.02)
    # Rows that are rounded between two ops have errors of both.
    rtol, atol = (2.0**-7, 3e-2) if case["rounding"] == "each" else (RTOL[element], 3e-3)
    return Expected(values, lambda got: decode(got, element), rtol, atol)


def _allows_queries(case):
    is_same = case["out"] in ("q", "view")
    return not (
        (case["q_weight"] and not case["q_norm"])
        or (case["scale_inv"] and case["dtype"])
        or (case["neox"] and case["interleaved"])
        or (is_same and (case["heads"] or _result_element(case) != case["q_element"]))
    )


_QUERIES = {
    "q_element": FLOATS, "q_norm": (True, False), "q_weight": (None, *FLOATS),
    "weight_layout": ("plain", "shifted"), "eps": (1e-6, 0.5), "heads": (None, 5),
    "dtype": (None, *_ELEMENT_OF), "scale_inv": FLAGS, "rounding": ROUNDINGS,
    "out": (None, "given", "q", "view"), "q_layout": LAYOUTS, "out_layout": LAYOUTS,
    "neox": FLAGS, "interleaved": FLAGS,
}  # fmt: skip


def make_query_norm_rope(case, rng):
    table = encode(rng.standard_normal((9, case["angles"])), case["table"])
    positions = rng.integers(-1, 10, TOKENS)
    arguments = {
        "table": arrange(table, case["table_layout"]),
        "positions": arrange(positions.astype(case["positions"]), case["position_layout"]),
        "eps": case["eps"],
    }  # fmt: skip
    how = {name: case[name] for name in ("inverse", "neox", "interleaved")}
    arguments |= how
    expected = _make_queries(
        case, arguments, rng, "", decode(table, case["table"]), positions, **how
    )
    return Call(arguments, {"out": expected})


QUERY_NORM_ROPE = Model(
    "query_norm_rope",
    {
        **_QUERIES, "table": FLOATS, "angles": (16, 6), "table_layout": LAYOUTS,
        "positions": INTEGERS, "position_layout": LAYOUTS, "inverse": FLAGS,
    },
    make_query_norm_rope, _allows_queries,
)  # fmt: skip


def make_norm_rope_insert(case, rng):
    record = RECORDS[case["record"]]
    store = Store(record, case["cache_layout"], 0x11)
    arguments = {
        "cache": store.arguments, "record": record, "page_size": SIZE,
        "recipe": RECIPES[case["record"]], "eps": case["eps"],
    }  # fmt: skip
    slots = find_places(case, rng, arguments)
    kv = encode(rng.standard_normal((TOKENS, record.values)), case["element"])
    arguments["kv"] = arrange(kv, case["x_layout"])
    where = arguments["slots"].array.astype(np.int64)
    rows = run_chain(case, rng, arguments, decode(kv, case["element"]), where)
    table = decode(arguments["table"].array, case["table"])
    positions = arguments["positions"].array if "positions" in arguments else where
    how = {name: case[name] for name in ("neox", "interleaved")}
    expected = {"out": _make_queries(case, arguments, rng, "q_", table, positions, **how)}
    expected |= dict.fromkeys(range(len(store.parts)))
    return Call(arguments, expected, verify_rows(case, store, slots, rows))


def _allows_norm_rope_insert(case):
    return (
        allows_places(case) and _allows_queries(case)
        and not (case["norm"] is False and case["weight"])
    )  # fmt: skip


NORM_ROPE_INSERT = Model(
    "norm_rope_insert_",
    {
        **CACHE, **DESTINATIONS, **CHAIN, **_QUERIES, "table": FLOATS, "element": FLOATS,
    },
    make_norm_rope_insert, _allows_norm_rope_insert,
)  # fmt: skip

MODELS = (QUERY_NORM_ROPE, NORM_ROPE_INSERT)
