# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of what other functions take: plans of compressors, and numbers of entries."""

import numpy as np
from pairs import INTEGERS, LAYOUTS, Call, Expected, Model, arrange, of_rows
from pairs_selection import FLAGS, INDEX_DTYPES, MAYBE, arrange_maybe

# ===-- Plans of compressors ----------------------------------------------------===

# Of each request: the position of its first token, and how many it has. One token is of none.
FIRST, COUNTS = np.array([3, 7, 0]), np.array([5, 0, 6])
STARTS = np.array([0, 5, 5, 11])
TOKENS = 12


def _find_slot(case, tables, request, window_start, token):
    """The slot of an entry, or -1."""
    if case["where"] == "slots":
        return tables[token]
    entry = window_start // case["window"]
    page = entry // case["page_size"]
    if page >= tables.shape[1] or tables[request, page] < 0:
        return -1
    return tables[request, page] * case["page_size"] + entry % case["page_size"]


def _rows_of_tokens(case):
    """For each row of the plan, if it is an entry: its request and the position of its window."""
    window = case["window"]
    rows = [None] * TOKENS
    for request, (first, count, start) in enumerate(zip(FIRST, COUNTS, STARTS)):
        for i in range(count):
            if (first + i + 1) % window == 0:
                rows[start + i] = request, first + i + 1 - window
    return rows


def _rows_of_entries(case, starts):
    window = case["window"]
    rows = [None] * (starts[-1] + 2)
    for request, (first, count) in enumerate(zip(FIRST, COUNTS)):
        for i in range(starts[request + 1] - starts[request]):
            begin = (first // window + i) * window
            if begin + window <= first + count:
                rows[starts[request] + i] = request, begin
    return rows


def _plan(case, rows, tables):
    """The results: plan, positions, slots."""
    plan = np.full((len(rows), 6), -1)
    for number, row in enumerate(rows):
        if row is None:
            continue
        request, begin = row
        last = STARTS[request] + begin + case["window"] - 1 - FIRST[request]
        slot = 0 if tables is None else _find_slot(case, tables, request, begin, last)
        if slot < 0:
            continue
        tokens = [FIRST[request], STARTS[request]]
        if not case["starts"]:
            tokens = [begin + case["window"], 0]
        plan[number] = [begin, request, *tokens, begin, slot]
    return plan[:, :4], plan[:, 4], plan[:, 5]


def make_compress_plan(case, rng):
    arguments = {"window": case["window"]}
    request = np.array([0] * 5 + [2] * 6 + [-1])
    layout = case["token_layout"]
    if case["of"] == "positions":
        positions = np.array([3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 1])
        arrange_maybe(arguments, "positions", positions, case["tokens"], layout)
    else:
        arrange_maybe(arguments, "lengths", FIRST + COUNTS, case["tokens"], layout)
    arrange_maybe(arguments, "requests", request, case["requests"], layout)
    # Without requests, that of a row is searched.
    searched = layout if case["requests"] else "shifted"
    arrange_maybe(arguments, "cu_seq_lens", STARTS, case["starts"], searched)
    rows = _rows_of_tokens(case)
    if case["entry_starts"]:
        # One row too many for the first request.
        counts = (FIRST + COUNTS) // case["window"] - FIRST // case["window"] + [1, 0, 0]
        starts = np.concatenate([[0], np.cumsum(counts)])
        rows = _rows_of_entries(case, starts)
        arrange_maybe(arguments, "entry_starts", starts, case["entry_starts"], "shifted")
    tables = None
    if case["where"] == "slots":
        tables = rng.integers(-1, 90, TOKENS)
        arrange_maybe(arguments, "slots", tables, case["slot_type"], layout)
    elif case["where"] == "table":
        tables = rng.integers(-1, 30, (3, 2))
        arguments["page_table"] = arrange(tables.astype(case["slot_type"]), case["table_layout"])
        arguments["page_size"] = case["page_size"]
    names = ("plan", "positions", "slots")[: 2 + (tables is not None)]
    results = dict(zip(names, _plan(case, rows, tables)))
    if case["out"]:
        arguments["out"] = tuple(
            arrange(np.zeros(each.shape, np.int32), of_rows(case["out_layout"], each.ndim))
            for each in results.values()
        )
    known = not case["entry_starts"] and (
        case["of"] == "positions" or case["requests"] or case["where"] == "slots"
    )
    if case["rows"] or not (case["out"] or known):
        arguments["rows"] = len(rows)
    return Call(arguments, {name: Expected(each) for name, each in results.items()})


COMPRESS_PLAN = Model(
    "compress_plan",
    {
        "window": (4, 2, 3), "of": ("positions", "lengths"), "tokens": INTEGERS,
        "requests": MAYBE, "starts": (*INTEGERS, None), "entry_starts": MAYBE,
        "where": (None, "slots", "table"), "slot_type": INTEGERS, "page_size": (1, 2, 64),
        "token_layout": LAYOUTS, "table_layout": LAYOUTS, "rows": FLAGS, "out": FLAGS,
        "out_layout": LAYOUTS,
    },
    make_compress_plan,
    lambda case: not (
        (case["requests"] and case["entry_starts"])
        or (not case["starts"] and (case["of"] == "lengths" or not case["requests"]))
    ),
)  # fmt: skip


# ===-- Numbers of entries --------------------------------------------------------===


def make_valid_lens(case, rng):
    # As many as some rows of blocks, and more than fit in them.
    numbers = rng.integers(-2, 40, 37)
    arguments = {"ratio": case["ratio"], "window": case["window"]}
    arrange_maybe(arguments, case["of"], numbers, case["tokens"], case["token_layout"])
    arguments["index_dtype"] = case["index_dtype"]
    lens = np.maximum(numbers + (case["of"] == "positions"), 0) // case["ratio"]
    if case["window"]:
        lens = np.minimum(lens, case["window"])
    if case["page_size"]:
        arguments["page_size"] = case["page_size"]
        columns = 5
        lens = np.clip(
            lens[:, None] - np.arange(columns) * case["page_size"], 0, case["page_size"]
        )
        if case["pages"] or not case["out"]:
            arguments["pages"] = columns
    if case["out"]:
        empty = np.zeros(lens.shape, case["index_dtype"])
        arguments["out"] = arrange(empty, of_rows(case["out_layout"], lens.ndim))
    return Call(arguments, {"lens": Expected(lens.astype(case["index_dtype"]))})


VALID_LENS = Model(
    "valid_lens",
    {
        "of": ("positions", "lengths"), "tokens": INTEGERS, "token_layout": LAYOUTS,
        "ratio": (1, 4), "window": (None, 5), "page_size": (None, 4, 1), "pages": FLAGS,
        "index_dtype": INDEX_DTYPES, "out": FLAGS, "out_layout": LAYOUTS,
    },
    make_valid_lens,
)  # fmt: skip

MODELS = (COMPRESS_PLAN, VALID_LENS)
