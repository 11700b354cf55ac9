# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the functions on paged caches."""

import numpy as np
import reference
from pairs import (
    INTEGERS,
    LAYOUTS,
    RTOL,
    Call,
    Expected,
    Model,
    arrange,
    decode,
    encode,
    of_rows,
)
from pairs_selection import FLAGS, MAYBE, arrange_maybe
from stores import (
    DTYPE,
    KEY_RECORDS,
    PAGES,
    RECIPES,
    RECORDS,
    SIZE,
    STEPS,
    Store,
    arrange_pages,
    decode_fields,
    make_fields,
)

import dsv4


def give_page_table(case, arguments, table):
    """Pages of each request: rows of a table, or with `indptr` one after the other."""
    if case["indptr"]:
        ends = np.arange(0, table.size + 1, table.shape[-1])
        arrange_maybe(arguments, "indptr", ends, case["indptr"], case["token_layout"])
        table = table.reshape(-1)
    arguments["page_table"] = arrange(table.astype(case["page_table"]), case["table_layout"])


def make_store(case, rng):
    """A full cache, the stored fields of its slots."""
    record = RECORDS[case["record"]]
    store = Store(record, case["cache_layout"])
    fields = make_fields(record, rng, PAGES * SIZE)
    for each, stored in zip(record.stored, fields):
        for slot in range(PAGES * SIZE):
            store.write(each, slot, stored[slot])
    return record, store, fields


# `apart`: other bytes follow each entry.
CACHE = {"record": tuple(RECORDS), "cache_layout": (*LAYOUTS, "apart")}


# ===-- Gathers -----------------------------------------------------------------===


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


def _allows_layout(case):
    """Entries with tails in their page cannot be apart."""
    return not (case["cache_layout"] == "apart" and case["record"] in ("fp8", "key_fp8"))


def _allows_gather(case):
    return _allows_layout(case) and _allows_indices(case)


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
    lambda case: _allows_layout(case) and _allows_ragged(case),
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
        _allows_layout(case) and _allows_ragged(case) and bool(case["page_table"])
        and not any(map(case.get, none)) and case["lengths_per"] == "token"
    )  # fmt: skip


GATHER_RAW = Model(
    "gather_raw",
    {**CACHE, **_INDICES, **_OF_REQUESTS, "of": (None, *_OF_REQUESTS["of"])},
    make_gather_raw, _allows_gather_raw,
)  # fmt: skip


# ===-- Appends -------------------------------------------------------------------===

TOKENS = 5


def find_places(case, rng, arguments):
    """The slots that tokens go to; -1: nowhere."""
    requests = 3
    request = np.arange(TOKENS)
    count = TOKENS
    if case["requests"]:
        count = requests
        request = np.array([0, 1, 2, 0, 1])
        arrange_maybe(arguments, "requests", request, case["requests"], case["token_layout"])
    positions = np.array([0, 3, 2, 5, -1])
    is_position = case["page_table"] or case["ring"]
    if not is_position:
        positions = rng.permutation(PAGES * SIZE)[:TOKENS]
        positions[2] = -1
        if not case["unique"]:
            positions[4] = positions[0]
    slots = positions.copy()
    in_ring = positions % case["ring"] if case["ring"] else positions
    if case["ring"]:
        arguments["ring"] = case["ring"]
        per_token = case["lengths_per"] == "token" or not case["requests"]
        lengths = np.array([6, 4, 3])[request] if case["requests"] else positions + 1
        given = lengths if per_token else np.array([6, 4, 3])
        arrange_maybe(arguments, "lengths", given, case["lengths"], case["token_layout"])
        slots = np.where(positions >= 0, request * case["ring"] + in_ring, -1)
        slots[positions < lengths - case["ring"]] = -1
        slots[slots >= PAGES * SIZE] = -1
    if case["page_table"]:
        table = rng.permutation(PAGES * 2)[: count * 2].reshape(count, 2)
        table[table >= PAGES] = -1
        page = table[request, np.maximum(in_ring, 0) // SIZE]
        found = np.where(page < 0, -1, page * SIZE + in_ring % SIZE)
        slots = np.where(positions < 0, -1, found)
        if case["ring"]:
            slots[positions < lengths - case["ring"]] = -1
        give_page_table(case, arguments, table)
    arguments["unique"] = case["unique"]
    arguments["lengths_per"] = case["lengths_per"]
    # Slots are searched where they may repeat.
    searched = not case["unique"] and not case["ring"]
    layout = "shifted" if searched else case["token_layout"]
    arguments["slots"] = arrange(positions.astype(case["slots"]), layout)
    return slots


def allows_places(case):
    return _allows_layout(case) and not (
        (case["indptr"] and not (case["page_table"] and case["requests"] and not case["ring"]))
        or (case["requests"] and not (case["page_table"] or case["ring"]))
        or (not case["unique"] and case["page_table"] and not case["ring"])
    )


DESTINATIONS = {
    "slots": INTEGERS, "token_layout": LAYOUTS, "page_table": MAYBE, "table_layout": LAYOUTS,
    "indptr": MAYBE, "requests": MAYBE, "ring": (None, 4, 2), "lengths": INTEGERS,
    "lengths_per": ("request", "token"), "unique": (True, False),
}  # fmt: skip


def _written(store, slots, stored_of):
    """What a cache is after tokens were written, in their order."""
    copy = Store(store.record, "apart" if store.parts[0].array.ndim == 3 else "plain", 0x11)
    for token, slot in enumerate(slots):
        if slot >= 0:
            for field, stored in stored_of(token):
                copy.write(field, slot, stored)
                copy.write_padding(field, slot)
    return {
        f"part {number}": Expected(part.array) for number, part in enumerate(copy.parts)
    }


def make_append(case, rng):
    record = RECORDS[case["record"]]
    store = Store(record, case["cache_layout"], 0x11)
    arguments = {"cache": store.arguments, "record": record, "page_size": SIZE}
    slots = find_places(case, rng, arguments)
    fields = make_fields(record, rng, TOKENS)
    given = []
    for each, stored in zip(record.stored, fields):
        if case["columns"]:
            stored = np.concatenate([np.zeros_like(stored[:, :1]).repeat(4, 1), stored], 1)
        if each.columns == 1 and case["flat"] and not case["columns"]:
            given.append(arrange(stored[:, 0], of_rows(case["field_layout"], 1)))
        else:
            given.append(arrange(stored, case["field_layout"]))
    arguments["fields"] = tuple(given)
    if case["columns"]:
        arguments["columns"] = [4 * each.extent // each.columns for each in record.stored]
    zip_fields = list(zip(record.stored, fields))
    return Call(
        arguments, _written(store, slots, lambda token: [(f, s[token]) for f, s in zip_fields])
    )


APPEND = Model(
    "append_",
    {**CACHE, **DESTINATIONS, "columns": FLAGS, "flat": FLAGS, "field_layout": LAYOUTS},
    make_append, allows_places,
)  # fmt: skip


def run_chain(case, rng, arguments, rows, positions):
    """The rows after norm and rotation."""
    return _rotate(case, rng, arguments, _norm(case, rng, arguments, rows), positions)


def _norm(case, rng, arguments, rows):
    """The rows after the norm."""
    weight = None
    if case["weight"]:
        stored = encode(rng.standard_normal(rows.shape[1]), case["weight"])
        weight = decode(stored, case["weight"])
        arguments["weight"] = arrange(stored, of_rows(case["x_layout"], 1))
    arguments["norm"] = case["norm"]
    if not (case["norm"] or (case["norm"] is None and weight is not None)):
        return rows
    arguments["eps"] = case["eps"]
    return reference.rms_norm(rows, weight, case["eps"])


def _rotate(case, rng, arguments, rows, positions):
    """The rows after the rotation."""
    if not case["table"]:
        return rows
    table = encode(rng.standard_normal((30, 8)), case["table"])
    arguments["table"] = arrange(table, case["x_layout"])
    if case["positions"]:
        positions = rng.integers(0, 30, len(rows))
        arrange_maybe(arguments, "positions", positions, case["positions"], case["token_layout"])
    how = {name: case[name] for name in ("neox", "interleaved")}
    arguments.update(how)
    return reference.rope(rows, decode(table, case["table"]), positions, **how)


def verify_rows(case, store, slots, rows):
    """Checks what a cache has for rows that were quantised."""
    record = store.record
    before = [each.array.copy() for each in store.parts]

    def verify(results):
        fields = []
        for each in record.stored:
            stored = store.read(each)
            fields.append(stored.view(DTYPE.get(each.element, np.uint8)))
        with np.errstate(invalid="ignore", over="ignore"):
            got = decode_fields(record, fields)
        touched = np.zeros(PAGES * SIZE, bool)
        for token, slot in enumerate(slots):
            if slot < 0 or slot in slots[token + 1 :]:
                continue
            touched[slot] = True
            limit = STEPS[case["record"]] * max(1, np.abs(rows[token]).max()) + 2e-2 * np.abs(
                rows[token]
            )
            if not (np.abs(got[slot] - rows[token]) <= limit + 1e-2).all():
                return f"token {token} is\n{got[slot]}\nexpected\n{rows[token]}"
        copy = Store(record, case["cache_layout"])
        for part, stored in zip(copy.parts, before):
            part.array[...] = stored
        for each in record.stored:
            if not (copy.read(each) == store.read(each))[~touched].all():
                return f"other entries of '{each.name}' were written"
        return None

    return verify


CHAIN = {
    "weight": (None, "f32", "bf16", "f16"), "norm": (None, True, False), "eps": (1e-6, 0.5),
    "table": (None, "f32", "bf16", "f16"), "positions": (*INTEGERS, None), "neox": FLAGS,
    "interleaved": FLAGS, "x_layout": LAYOUTS,
}  # fmt: skip


def _allows_chain(case):
    return not (
        (case["norm"] is False and case["weight"]) or (case["neox"] and case["interleaved"])
    )


def make_norm_rope_append(case, rng):
    record = {**RECORDS, **KEY_RECORDS}[case["record"]]
    store = Store(record, case["cache_layout"], 0x11)
    arguments = {
        "cache": store.arguments, "record": record, "page_size": SIZE,
        "recipe": RECIPES[case["record"]],
    }  # fmt: skip
    if "rounding" in case:
        arguments["rounding"] = case["rounding"]
    slots = find_places(case, rng, arguments)
    # The last field may be in an array of its own.
    k_pe = case.get("k_pe")
    width = record.values - (record.data[-1].extent if k_pe else 0)
    rows, last = np.split(rng.standard_normal((TOKENS, record.values)), [width], axis=1)
    where = arguments["slots"].array.astype(np.int64)
    x = encode(rows, case["element"])
    arguments["x"] = arrange(x, case["x_layout"])
    rows = _norm(case, rng, arguments, decode(x, case["element"]))
    if k_pe:
        stored = encode(last, k_pe)
        arguments["k_pe"] = arrange(stored, case["k_pe_layout"])
        last = _rotate(case, rng, arguments, decode(stored, k_pe), where)
        rows = np.concatenate([rows, last], 1)
    else:
        rows = _rotate(case, rng, arguments, rows, where)
    if case.get("hadamard"):
        arguments["hadamard"] = True
        rows = reference.hadamard(rows)
    return Call(
        arguments, dict.fromkeys(range(len(store.parts))), verify_rows(case, store, slots, rows)
    )


def _allows_norm_rope_append(case):
    parts = len({**RECORDS, **KEY_RECORDS}[case["record"]].data)
    return allows_places(case) and _allows_chain(case) and not (case.get("k_pe") and parts == 1)


NORM_ROPE_APPEND = Model(
    "norm_rope_append_",
    {
        **CACHE, **DESTINATIONS, **CHAIN, "element": ("f32", "bf16", "f16"),
        "k_pe": (None, "f32", "bf16", "f16"), "k_pe_layout": LAYOUTS,
    },
    make_norm_rope_append, _allows_norm_rope_append,
)  # fmt: skip


INDEX_APPEND = Model(
    "index_append_",
    {
        **CACHE, **DESTINATIONS, **CHAIN, "record": tuple(KEY_RECORDS),
        "element": ("f32", "bf16", "f16"), "hadamard": FLAGS,
        "rounding": ("none", "last", "each"),
    },
    make_norm_rope_append, _allows_norm_rope_append,
)  # fmt: skip


# ===-- Compression ----------------------------------------------------------------===


def _windows(values, scores, plan, window, overlap, of_state):
    """The rows of entries, from the tokens of a launch and of a state."""
    columns = values.shape[1] // 2 if overlap else values.shape[1]
    rows = np.zeros((len(plan), columns))
    for number, (own, request, position, token) in enumerate(plan):
        if own < 0:
            continue
        parts = []
        for begin, half in ((own - window, 0), (own, 1)) if overlap else ((own, 0),):
            for p in range(begin, begin + window):
                if p < 0:
                    continue
                at = token + p - position
                v, s = (values[at], scores[at]) if p >= position else of_state(request, p)
                parts.append((v.reshape(-1, columns)[half], s.reshape(-1, columns)[half]))
        v, s = (np.stack(each) for each in zip(*parts))
        e = np.exp(s - s.max(0))
        rows[number] = (e * v).sum(0) / e.sum(0)
    return rows


def make_compress(case, rng):
    record, window = RECORDS[case["record"]], case["window"]
    store = Store(record, case["cache_layout"], 0x11)
    overlap, state = case["overlap"], case["state"]
    columns = record.values * (1 + overlap)
    # Two requests; with a state, the first tokens of the second one are in it.
    before = window - 1 if state else 0
    values, scores = (
        encode(rng.standard_normal((4 * window, columns)), case["element"]) for _ in range(2)
    )
    plan = np.array([
        [0, 0, 0, 0], [window, 0, 0, 0], [0, 1, before, 2 * window], [-1, 0, 0, 0]
    ])  # fmt: skip
    slots = np.array([1, 9, 14, -1])
    arguments = {
        "values": arrange(values, case["x_layout"]),
        "scores": arrange(scores, case["score_layout"]),
        "plan": arrange(plan.astype(case["plan"]), case["plan_layout"]), "window": window,
        "cache": store.arguments, "record": record, "page_size": SIZE, "overlap": overlap,
        "recipe": RECIPES[case["record"]],
        "slots": arrange(slots.astype(case["slots"]), case["token_layout"]),
    }  # fmt: skip
    exact_values, exact_scores = (decode(each, case["element"]) for each in (values, scores))
    bias = np.zeros((window, columns))
    if case["bias"]:
        bias = rng.standard_normal((window, columns)).astype(np.float32)
        arguments["bias"] = arrange(bias, case["bias"])
    position_of = np.concatenate([np.arange(2 * window), before + np.arange(2 * window)])
    added = exact_scores + bias[position_of % window]
    find = _give_state(case, rng, arguments, columns, bias) if state else None
    rows = _windows(exact_values, added, plan, window, overlap, find)
    rows = run_chain(case, rng, arguments, rows, np.array([0, 1, 2, 3]))
    return Call(
        arguments, dict.fromkeys(range(len(store.parts))), verify_rows(case, store, slots, rows)
    )


def _give_state(case, rng, arguments, columns, bias):
    """A state with all positions below a window of both requests."""
    element, window = case["element"], case["window"]
    record = dsv4.compression.state_record(columns, element)
    pages, size = 4, 4
    stored = encode(rng.standard_normal((pages, size, 2 * columns)), element)
    bytes = stored.view(np.uint8)
    arguments["state"] = arrange_pages(bytes, case["state_layout"], stored.itemsize)
    ring = 8 if case["state"] != "table" else None
    table = np.array([[2, 0], [3, 1]]) if case["state"] != "ring" else None
    if ring:
        arguments["ring"] = ring
    if table is not None:
        arguments["state_table"] = arrange(table.astype(case["state_table"]), case["table_layout"])
    if case["state_page_size"]:
        arguments["state_page_size"] = size
    arguments["biased"] = case["biased"]
    entries = decode(stored, element)
    assert record.values == 2 * columns

    def find(request, position):
        at = position % ring if ring else position
        if table is None:
            slot = request * ring + at
            entry = entries[slot // size, slot % size]
        else:
            entry = entries[table[request, at // size], at % size]
        s = entry[columns:]
        return entry[:columns], s if case["biased"] else s + bias[position % window]

    return find


COMPRESS = Model(
    "compress_",
    {
        **CACHE, **CHAIN, "element": ("f32", "bf16", "f16"), "window": (2, 4),
        "overlap": FLAGS, "bias": (None, *LAYOUTS), "score_layout": LAYOUTS, "plan": INTEGERS,
        "plan_layout": LAYOUTS, "slots": INTEGERS, "token_layout": LAYOUTS,
        "state": (None, "ring", "table", "both"), "state_table": INTEGERS,
        "state_layout": LAYOUTS, "table_layout": LAYOUTS, "state_page_size": FLAGS,
        "biased": FLAGS,
    },
    make_compress,
    lambda case: _allows_layout(case)
    and _allows_chain(case)
    and not (case["table"] and not case["positions"])
    and not (case["biased"] and not case["state"]),
)  # fmt: skip

MODELS = (
    GATHER, GATHER_RAW, GATHER_RAGGED, APPEND, NORM_ROPE_APPEND, INDEX_APPEND, COMPRESS,
)  # fmt: skip
