# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the selections and routers."""

import numpy as np
import reference
from pairs import (
    ELEMENTS,
    INTEGERS,
    LAYOUTS,
    Call,
    Expected,
    Model,
    arrange,
    decode,
    encode,
    of_rows,
)

FLAGS = (False, True)
MAYBE = (None, *INTEGERS)
INDEX_DTYPES = ("int32", "int64", "uint32")


def arrange_maybe(arguments, name, values, dtype, layout="plain"):
    """Gives an optional array of integers."""
    if dtype is not None:
        arguments[name] = arrange(np.asarray(values).astype(dtype), layout)


def as_index(values, dtype):
    return np.asarray(values, np.int64).astype(dtype)


def add_outputs(case, arguments, results):
    """`out`, in the order of the results, which are (element or dtype, expected)."""
    if case["out"]:
        made = [
            arrange(np.zeros(each.shape, dtype), of_rows(case["out_layout"], each.ndim))
            for dtype, each in results
        ]
        arguments["out"] = made[0] if len(made) == 1 else tuple(made)


# ===-- Selections -----------------------------------------------------------===


def _limits(case, rng, rows, columns):
    """The ranges of rows, and the arrays that say them."""
    given = {}
    starts = rng.integers(0, columns // 2, rows)
    begin = starts if case["starts"] else np.zeros(rows, int)
    end = np.full(rows, columns)
    next_n, ratio = case["next_n"], case["ratio"]
    if case["lengths"]:
        count = rng.integers(0, columns // 2, rows // next_n) * ratio + ratio - 1
        per_row = np.repeat(count, next_n) - (next_n - 1) + np.arange(rows) % next_n
        per_row = (per_row + (next_n == 1)) // ratio if ratio != 1 else per_row
        end = np.minimum(begin + np.maximum(per_row, 0), columns)
        given["lengths"] = count
    if case["ends"]:
        given["ends"] = end = rng.integers(0, columns + 1, rows)
    if case["starts"]:
        given["starts"] = starts
    return given, begin, end


def _select(case, rng):
    """The scores, the arguments of a selection, and what it selects of each row."""
    lead = {1: (), 2: (4,), 3: (2, 2)}[case["rank"]]
    rows, columns = int(np.prod(lead)), case["columns"]
    # There are ties, and what is no number.
    values = rng.integers(-40, 40, (rows, columns)) / 8
    values[rng.random((rows, columns)) < 0.1] = np.nan
    values[rng.random((rows, columns)) < 0.02] = np.inf
    values[rng.random((rows, columns)) < 0.02] = -np.inf
    stored = encode(values, case["element"])
    given, begin, end = _limits(case, rng, rows, columns)
    layout = of_rows(case["layout"], len(lead) + 1)
    arguments = {"scores": arrange(stored.reshape(*lead, columns), layout), "k": case["k"]}
    for name, values in given.items():
        shape = lead if len(values) == rows else values.shape
        arrange_maybe(arguments, name, values.reshape(shape), case[name], case["length_layout"])
    order = {name: case[name] for name in ("largest", "tie", "nan")}
    for name in ("next_n", "ratio", "sorted", "order", "index_dtype", "return_values"):
        arguments[name] = case[name]
    arguments |= order
    scores = decode(stored, case["element"])
    indices = np.full((rows, case["k"]), -1)
    for r in range(rows):
        row = scores[r : r + 1, begin[r] : max(begin[r], end[r])]
        indices[r] = reference.topk(row, case["k"], **order)
    if case["order"] == "index":
        indices = by_index(indices)
    pad = -np.inf if case["largest"] else np.inf
    at = np.clip(indices + begin[:, None], 0, columns - 1)
    values = np.where(indices < 0, pad, np.take_along_axis(scores, at, 1))
    return arguments, indices, values, lead


def by_index(indices):
    """Ascending indices, with those of no element last."""
    last = np.iinfo(indices.dtype).max
    indices = np.sort(np.where(indices < 0, last, indices))
    return np.where(indices == last, -1, indices)


def _in_order(case, wide):
    """What is compared: of unordered results, the sorted ones."""
    return wide if case["sorted"] or case["order"] else np.sort(wide, axis=-1)


def _decoders(case):
    def decode_indices(stored):
        wide = stored.astype(np.int64)
        wide[wide == 2**32 - 1] = -1
        return _in_order(case, wide)

    return decode_indices, lambda stored: _in_order(case, decode(stored, case["element"]))


def add_outputs(case, arguments, results):
    """`out`, in the order of the results, which are (element or dtype, expected)."""
    if case["out"]:
        made = [
            arrange(np.zeros(each.shape, dtype), of_rows(case["out_layout"], each.ndim))
            for dtype, each in results
        ]
        arguments["out"] = made[0] if len(made) == 1 else tuple(made)


def expect(case, lead, results):
    expected, outs = {}, []
    of_indices, of_values = _decoders(case)
    for name, (dtype, values) in results.items():
        values = values.reshape(*lead, case["k"])
        decoder = of_values if name == "values" else of_indices
        values = _in_order(case, values)
        expected[name] = Expected(values, decoder)
        outs.append((dtype, values))
    return expected, outs


def make_topk(case, rng):
    arguments, indices, values, lead = _select(case, rng)
    if case["offsets"]:
        offsets = rng.integers(0, 1000, len(indices))
        arrange_maybe(
            arguments, "offsets", offsets.reshape(lead), case["offsets"], case["length_layout"]
        )
        indices = np.where(indices < 0, -1, indices + offsets[:, None])
    results = {"values": (ELEMENTS[case["element"]][0], values)} if case["return_values"] else {}
    results["indices"] = (case["index_dtype"], indices)
    expected, outs = expect(case, lead, results)
    add_outputs(case, arguments, outs)
    return Call(arguments, expected)


_RANGES = {
    "element": ("f32", "bf16", "f16"), "k": (5, 1, 40), "columns": (37, 300),
    "lengths": MAYBE, "starts": MAYBE, "ends": MAYBE, "next_n": (1, 2), "ratio": (1, 4),
    "largest": (True, False), "sorted": FLAGS, "order": (None, "sorted", "index"),
    "tie": ("low", "high"),
    "nan": ("last", "first"), "index_dtype": INDEX_DTYPES, "return_values": FLAGS, "out": FLAGS,
    "layout": LAYOUTS, "length_layout": LAYOUTS, "out_layout": LAYOUTS,
}  # fmt: skip


def _allows_ranges(case):
    return not (
        (case["lengths"] and case["ends"])
        or (case["next_n"] != 1 and (case["rank"] != 2 or not case["lengths"] or case["starts"]))
        or (case["ratio"] != 1 and not case["lengths"])
        or (case["sorted"] and case["order"] == "index")
    )


TOPK = Model(
    "topk", {"rank": (2, 1, 3), **_RANGES, "offsets": MAYBE}, make_topk, _allows_ranges
)


def _give_tables(case, rng, arguments, lead):
    """The row of the page table of each row of scores, or -1, and their number."""
    rows = int(np.prod(lead))
    if case["requests"]:
        of = rng.integers(0, rows + 1, rows)
        arrange_maybe(arguments, "requests", of.reshape(lead), case["requests"])
        return of, rows + 1
    if case["cu_seq_lens"]:
        # The last row is of no request.
        bounds = [0, 1, 1, rows - 1]
        arrange_maybe(arguments, "cu_seq_lens", bounds, case["cu_seq_lens"], "shifted")
        return np.array([0, *[2] * (rows - 2), -1]), 3
    return np.arange(rows), rows


def make_topk_paged(case, rng):
    arguments, indices, values, lead = _select(case, rng)
    size = case["page_size"]
    pages = -(-case["columns"] // size)
    of, tables = _give_tables(case, rng, arguments, lead)
    table = rng.permutation(tables * pages).reshape(tables, pages)
    arguments["page_table"] = arrange(table.astype(case["table"]), case["table_layout"])
    first = np.zeros(len(of), int)
    if case["page_starts"]:
        first = rng.integers(-1, 3, len(of))
        arrange_maybe(
            arguments, "page_starts", first.reshape(lead), case["page_starts"],
            case["length_layout"],
        )  # fmt: skip
    at = np.maximum(indices, 0)
    column = first[:, None] + at // size
    none = (indices < 0) | (of[:, None] < 0) | (first[:, None] < 0) | (column >= pages)
    found = table[of[:, None], np.where(none, 0, column)]
    slots = np.where(none, -1, found * size + at % size)
    arguments["page_size"] = size
    arguments["return_indices"] = case["return_indices"]
    results = {"values": (ELEMENTS[case["element"]][0], values)} if case["return_values"] else {}
    if case["return_indices"]:
        results["indices"] = (case["index_dtype"], indices)
    results["slots"] = (case["index_dtype"], slots)
    expected, outs = expect(case, lead, results)
    add_outputs(case, arguments, outs)
    return Call(arguments, expected)


TOPK_PAGED = Model(
    "topk_paged",
    {
        "rank": (2, 3), **_RANGES, "page_size": (4, 16, 5), "requests": MAYBE,
        "cu_seq_lens": MAYBE, "page_starts": MAYBE, "table": INTEGERS, "table_layout": LAYOUTS,
        "return_indices": FLAGS,
    },
    make_topk_paged,
    lambda case: _allows_ranges(case)
    and not (case["cu_seq_lens"] and (case["requests"] or case["rank"] != 2)),
)  # fmt: skip

MODELS = (TOPK, TOPK_PAGED)
