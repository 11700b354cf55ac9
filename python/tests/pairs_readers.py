# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the functions that read paged caches: gather, gather_raw and gather_ragged."""

import numpy as np
from pairs import INTEGERS, LAYOUTS, RTOL, Call, Expected, Model, arrange, decode, encode, of_rows
from pairs_caches import CACHE, allows_layout, give_page_table
from pairs_selection import FLAGS, MAYBE, arrange_maybe
from stores import PAGES, RECORDS, SIZE, Store, decode_fields, make_fields


def make_store(case, rng):
    """A full cache, the stored fields of its slots."""
    record = RECORDS[case["record"]]
    store = Store(record, case["cache_layout"])
    fields = make_fields(record, rng, PAGES * SIZE)
    for each, stored in zip(record.stored, fields):
        for slot in range(PAGES * SIZE):
            store.write(each, slot, stored[slot])
    return record, store, fields


def _find_slots(case, rng, shape, arguments):
    """The slots of indices; -1 where they are not valid."""
    tokens, requests = shape[0], 3
    indices = rng.integers(-1, 2 * SIZE + 1, shape)
    if not case["page_table"]:
        indices = rng.integers(-1, PAGES * SIZE + 1, shape)
    of_request = len(shape) == 2 or case["requests"]
    request = np.arange(tokens) if of_request else np.zeros(tokens, int)
    count = tokens
    if case["requests"]:
        request, count = rng.integers(0, requests, tokens), requests
        arrange_maybe(arguments, "requests", request, case["requests"], case["token_layout"])
    slots = indices.copy()
    wide = request if len(shape) == 1 else request[:, None]
    if case["page_table"]:
        table = rng.integers(-1, PAGES, (count if of_request else 1, 2))
        page = np.where((indices >= 0) & (indices < 2 * SIZE), indices // SIZE, 0)
        found = table[wide, page]
        slots = np.where(found < 0, -1, found * SIZE + indices % SIZE)
        slots[(indices < 0) | (indices >= 2 * SIZE)] = -1
        give_page_table(case, arguments, table if of_request else table[0])
    else:
        slots[(indices < 0) | (indices >= PAGES * SIZE)] = -1
    if case["lengths"]:
        per_request = case["lengths_per"] == "request"
        lengths = rng.integers(0, 2 * SIZE, count if per_request else tokens)
        if not of_request:
            lengths = lengths[:1].reshape(())
        arrange_maybe(arguments, "lengths", lengths, case["lengths"], case["token_layout"])
        limit = lengths
        if of_request:
            limit = lengths[request] if per_request else lengths
            limit = limit if len(shape) == 1 else limit[:, None]
        slots[indices >= limit] = -1
    if case["lengths_per"] == "request":
        arguments["lengths_per"] = "request"
    arguments["indices"] = arrange(indices.astype(case["indices"]), case["index_layout"])
    return slots


def _allows_gather(case):
    return allows_layout(case) and _allows_indices(case)


def _allows_indices(case):
    of_request = case["two_axes"] or case["requests"]
    return not (
        ((case["indptr"] or case["requests"]) and not case["page_table"])
        or (case["indptr"] and not of_request)
        or (case["lengths_per"] == "request" and not (case["requests"] and case["lengths"]))
    )


_INDICES = {
    "two_axes": FLAGS, "indices": INTEGERS, "index_layout": LAYOUTS, "page_table": MAYBE,
    "table_layout": LAYOUTS, "indptr": MAYBE, "requests": MAYBE, "token_layout": LAYOUTS,
    "lengths": MAYBE, "lengths_per": ("token", "request"), "return_mask": FLAGS, "out": FLAGS,
    "out_layout": LAYOUTS,
}  # fmt: skip


def _expect_gather(case, rng, arguments, rows, valid):
    """The decoded rows, and their mask."""
    element = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", None: "bf16"}[case["dtype"]]
    rows = np.where(valid[..., None], rows, 0)
    arguments["dtype"] = case["dtype"]
    arguments["return_mask"] = case["return_mask"]
    if case["out"]:
        outs = [arrange(encode(np.ones(rows.shape), element), case["out_layout"])]
        if case["return_mask"]:
            mask = np.ones(valid.shape, bool)
            outs.append(arrange(mask, of_rows(case["out_layout"], valid.ndim)))
        arguments["out"] = outs[0] if len(outs) == 1 else tuple(outs)
    expected = {"rows": Expected(rows, lambda got: decode(got, element), RTOL[element], 1e-6)}
    if case["return_mask"]:
        expected["mask"] = Expected(valid)
    return expected


def make_gather(case, rng):
    record, store, fields = make_store(case, rng)
    arguments = {"cache": store.arguments, "record": record, "page_size": SIZE}
    slots = _find_slots(case, rng, (5, 3) if case["two_axes"] else (5,), arguments)
    rows = decode_fields(record, fields)[np.maximum(slots, 0)]
    return Call(arguments, _expect_gather(case, rng, arguments, rows, slots >= 0))


_DTYPES = (None, "float32", "float16", "bfloat16")

GATHER = Model("gather", {**CACHE, **_INDICES, "dtype": _DTYPES}, make_gather, _allows_gather)


def _find_ragged(case, rng, arguments):
    """The slots of rows of requests; -1 where they are not valid, and -2 of no request."""
    counts, rows, requests = np.array([5, 0, 3]), 11, 3
    table = rng.integers(-1, PAGES, (requests, 2))
    first = np.zeros(requests, int)
    begins = np.array([0, 5, 5])
    own = case["of"] in ("seq_lens", "gather_lens")
    if case["of"] == "cu_seq_lens" or case["of"] == "seq_starts":
        # Without requests, that of a row is searched.
        layout = case["token_layout"] if case["requests"] else "shifted"
        arrange_maybe(arguments, "cu_seq_lens", [0, 5, 5, 8], case["lens"], layout)
        if case["of"] == "seq_starts":
            first = np.array([1, 0, 2])
            arrange_maybe(arguments, "seq_starts", first, case["lens"], case["token_layout"])
    else:
        arrange_maybe(arguments, "seq_lens", counts, case["lens"], case["token_layout"])
        if case["of"] == "row_starts":
            begins = np.array([1, 6, 7])
            layout = case["token_layout"] if case["requests"] else "shifted"
            arrange_maybe(arguments, "row_starts", begins, case["lens"], layout)
        if case["of"] == "gather_lens":
            lens = np.array([2, 0, 3])
            arrange_maybe(arguments, "gather_lens", lens, case["lens"], case["token_layout"])
            first, counts = counts - lens, lens
    slots = np.full((requests, rows) if own else (rows,), -2)
    of_row = np.full(rows, -1)
    for r in range(requests):
        for i in range(counts[r]):
            position = first[r] + i
            page = table[r, position // SIZE] if position < 2 * SIZE else -1
            slot = -1 if page < 0 else page * SIZE + position % SIZE
            if own:
                slots[r, case["offset"] + i] = slot
            else:
                slots[begins[r] + i] = slot
                of_row[begins[r] + i] = r
    arrange_maybe(arguments, "requests", of_row, case["requests"], case["token_layout"])
    if case["offset"]:
        arguments["offset"] = case["offset"]
    give_page_table(case, arguments, table)
    if case["rows"] or not (case["out"] or case["requests"]):
        arguments["rows"] = rows
    return slots


def make_gather_ragged(case, rng):
    record, store, fields = make_store(case, rng)
    arguments = {"cache": store.arguments, "record": record, "page_size": SIZE}
    slots = _find_ragged(case, rng, arguments)
    values = decode_fields(record, fields)[np.maximum(slots, 0)]
    expected = _expect_gather(case, rng, arguments, values, slots >= 0)
    # Rows of no request stay as they are.
    left = slots == -2
    expected["rows"].values[left] = 1 if case["out"] else 0
    if case["return_mask"]:
        expected["mask"].values[left] = bool(case["out"])
    return Call(arguments, expected)


_OF_REQUESTS = {
    "of": ("cu_seq_lens", "seq_starts", "row_starts", "seq_lens", "gather_lens"),
    "lens": INTEGERS, "offset": (0, 2), "rows": FLAGS,
}  # fmt: skip


def _allows_ragged(case):
    own = case["of"] in ("seq_lens", "gather_lens")
    return not case["requests"] if own else not case["offset"]


GATHER_RAGGED = Model(
    "gather_ragged",
    {
        **CACHE, **_OF_REQUESTS, "page_table": INTEGERS, "table_layout": LAYOUTS,
        "indptr": MAYBE, "requests": MAYBE, "token_layout": LAYOUTS, "dtype": _DTYPES,
        "return_mask": FLAGS, "out": FLAGS, "out_layout": LAYOUTS,
    },
    make_gather_ragged,
    lambda case: allows_layout(case) and _allows_ragged(case),
)  # fmt: skip


def make_gather_raw(case, rng):
    record, store, fields = make_store(case, rng)
    arguments = {"cache": store.arguments, "record": record, "page_size": SIZE}
    if case["of"]:
        slots = _find_ragged(case, rng, arguments)
    else:
        slots = _find_slots(case, rng, (5, 3) if case["two_axes"] else (5,), arguments)
    valid, left = slots >= 0, slots == -2
    expected = {}
    for each, stored in zip(record.stored, fields):
        values = np.where(valid[..., None], stored[np.maximum(slots, 0)], 0)
        values[left] = bool(case["out"])
        expected[each.name] = Expected(values)
    arguments["return_mask"] = case["return_mask"]
    if case["return_mask"]:
        expected["mask"] = Expected(valid | (left & bool(case["out"])))
    if case["out"]:
        outs = [
            arrange(np.ones_like(each.values), of_rows(case["out_layout"], each.values.ndim))
            for each in expected.values()
        ]
        arguments["out"] = tuple(outs)
    return Call(arguments, expected)


def _allows_gather_raw(case):
    if not case["of"]:
        return _allows_gather(case) and not (case["offset"] or case["rows"])
    none = ("two_axes", "lengths")
    return (
        allows_layout(case) and _allows_ragged(case) and bool(case["page_table"])
        and not any(map(case.get, none)) and case["lengths_per"] == "token"
    )  # fmt: skip


GATHER_RAW = Model(
    "gather_raw",
    {**CACHE, **_INDICES, **_OF_REQUESTS, "of": (None, *_OF_REQUESTS["of"])},
    make_gather_raw, _allows_gather_raw,
)  # fmt: skip

MODELS = (GATHER, GATHER_RAW, GATHER_RAGGED)
