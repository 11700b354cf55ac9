# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the functions that write to paged caches: appends, and compress_."""

import numpy as np
import reference
from pairs import INTEGERS, LAYOUTS, Call, Expected, Model, arrange, decode, encode, of_rows
from pairs_caches import CACHE, allows_layout, give_page_table
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
    return allows_layout(case) and not (
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
    lambda case: allows_layout(case)
    and _allows_chain(case)
    and not (case["table"] and not case["positions"])
    and not (case["biased"] and not case["state"]),
)  # fmt: skip

MODELS = (APPEND, NORM_ROPE_APPEND, INDEX_APPEND, COMPRESS)
