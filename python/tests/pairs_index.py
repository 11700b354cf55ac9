# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the scores of index keys, of selections from them, and of queries.

Queries, keys and weights are small integers with few that are not 0, and scales are powers of two.
So scores are exact, and have ties.
"""

import numpy as np
import reference
from pairs import (
    ELEMENTS,
    INTEGERS,
    LAYOUTS,
    RTOL,
    Call,
    Expected,
    Model,
    arrange,
    decode,
    encode,
)
from pairs_caches import give_page_table
from pairs_selection import (
    FLAGS,
    INDEX_DTYPES,
    MAYBE,
    add_outputs,
    arrange_maybe,
    by_index,
    expect,
)
from stores import DTYPE, PAGES, SIZE, Store, decode_fields

import dsv4
from dsv4 import Field, Record

KEYS = PAGES * SIZE
ROWS = 4
# Pages of a row, and its columns if nobody says another number.
_TABLE = 4
_REQUESTS = 3

FORMATS = {
    "fp8": ("f8E4M3FN", "f32", "row"), "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16), "bf16": ("bf16", None, None),
}  # fmt: skip
DIMS = (128, 64, 256, 32, 96)
PLACEMENTS = ("tail", "row", "array")
# Codes of 1 and -1, and of scales: 1, 2, and what makes a key NaN.
_ONES = {"f8E4M3FN": (0x38, 0xB8), "f4E2M1FN": (2, 10), "bf16": (0x3F80, 0xBF80)}
_SCALES = {
    "f32": (1, 2, np.nan), "f8E8M0FNU": (127, 128, 255), "f8E4M3FN": (0x38, 0x40, 0x7F),
    "bf16": (0x3F80, 0x3F80, 0x7FC0),
}  # fmt: skip


def make_record(format, dim, placement):
    element, scale, per = FORMATS[format]
    fields = [Field("key", dim, element, "array" if placement == "array" else "row")]
    if scale is not None:
        count = 1 if per == "row" else dim // per
        fields.append(Field("key_scale", count, scale, placement, "key", per))
    return Record(fields)


RECORDS = {
    f"{format}_{dim}_{placement}": make_record(format, dim, placement)
    for format in FORMATS for dim in DIMS for placement in PLACEMENTS
}  # fmt: skip


def draw_vectors(rng, element, *shape):
    """Stored vectors of 1, -1 and many zeros."""
    one, minus = _ONES[element]
    codes = rng.choice([0, one, minus], shape, p=[0.6, 0.2, 0.2])
    if element == "f4E2M1FN":
        codes = codes[..., 0::2] | codes[..., 1::2] << 4
    return codes.astype(DTYPE.get(element, np.uint8))


def draw_keys(record, rng):
    """The stored fields of keys, some of which are NaN."""
    stored = record.stored
    fields = [draw_vectors(rng, stored[0].element, KEYS, stored[0].extent)]
    scale = stored[-1].element
    one, two, nan = _SCALES[scale]
    if len(stored) == 2:
        codes = rng.choice([one, two], (KEYS, stored[1].extent))
        fields.append(codes.astype(DTYPE.get(scale, np.uint8)))
    fields[-1][rng.random(KEYS) < 0.1, 0] = nan
    return fields


def _give_queries(case, arguments, rng, rows):
    """Queries and weights, which are returned as numbers."""
    heads, dim = case["heads"], case["dim"]
    element = {"fp8": "f8E4M3FN", "fp4": "f4E2M1FN", "bf16": "bf16"}[case["q"]]
    stored = draw_vectors(rng, element, rows, heads, dim)
    arguments["q"] = arrange(stored, case["q_layout"])
    if element == "bf16":
        q = decode(stored, "bf16")
    elif element == "f8E4M3FN":
        q = reference.e4m3_values()[stored]
    else:
        scales = rng.choice([127, 128], (rows, heads, dim // 32)).astype(np.uint8)
        arguments["scales"] = arrange(scales, case["scale_layout"])
        q = reference.unpack_fp4(stored) * np.repeat(2.0 ** (scales.astype(float) - 127), 32, -1)
    weights = rng.integers(-2, 3, (rows, heads)).astype(np.float32)
    arguments["weights"] = arrange(weights, case["weight_layout"])
    return q, weights


def _give_keys(case, arguments, rng, rows):
    """The keys of each row in their order, `[rows, keys, dim]`, and which of them there are."""
    name = f"{case['format']}_{case['dim']}_{case['placement']}"
    record = RECORDS[name]
    fields = draw_keys(record, rng)
    values = decode_fields(record, fields)
    if not case["paged"]:
        arguments["keys"] = arrange(fields[0], case["key_layout"])
        if len(fields) == 2:
            # Scales of FP8, one per key, are copied in blocks.
            is_fp8 = case["format"] == "fp8"
            scales = fields[1][:, 0] if is_fp8 else fields[1]
            layout = "plain" if is_fp8 else case["scale_layout"]
            arguments["key_scales"] = arrange(scales, layout)
        return np.broadcast_to(values, (rows, *values.shape)), np.ones((rows, KEYS), bool)
    store = Store(record, case["key_layout"])
    for each, stored in zip(record.stored, fields):
        for slot in range(KEYS):
            store.write(each, slot, stored[slot])
    arguments["keys"], arguments["record"] = store.arguments, record
    arguments["page_size"] = SIZE
    request, count = np.arange(rows) // case["next_n"], rows // case["next_n"]
    if case["requests"]:
        request, count = rng.integers(0, _REQUESTS, rows), _REQUESTS
        arrange_maybe(arguments, "requests", request, case["requests"], case["length_layout"])
    table = rng.integers(-1, PAGES, (count, _TABLE))
    give_page_table(case | {"token_layout": case["length_layout"]}, arguments, table)
    pages = table[request]
    slots = (pages[..., None] * SIZE + np.arange(SIZE)).reshape(rows, -1)
    there = np.repeat(pages >= 0, SIZE, 1)
    return values[np.where(there, slots, 0)], there


def _limits(case, rng, rows, columns):
    """The first key of each row and their number, and the arrays that say them."""
    given, next_n, ratio = {}, case["next_n"], case["ratio"]
    start, count = np.zeros(rows, int), np.full(rows, columns)
    if case["starts"]:
        given["starts"] = start = rng.integers(-1, columns // 2, rows)
    if case["lengths"]:
        # Rows end with the columns, however long they are said to be.
        longest = columns if case["starts"] else 3 * columns
        lengths = rng.integers(-1, longest + 1, rows // next_n)
        lengths = lengths * ratio
        given["lengths"] = lengths
        count = np.repeat(lengths, next_n) - (next_n - 1) + np.arange(rows) % next_n
        count = np.maximum(count + (next_n == 1 and ratio != 1), 0) // ratio
    if case["ends"]:
        given["ends"] = ends = rng.integers(-1, columns + 1, rows)
        count = ends - start
    return given, start, np.clip(count, 0, columns)


def _score(case, rng, arguments):
    """The exact scores of each row from its start, and how many keys it has."""
    rows = ROWS
    q, weights = _give_queries(case, arguments, rng, rows)
    keys, there = _give_keys(case, arguments, rng, rows)
    columns = case["columns"] or there.shape[1]
    if case["columns"] or (case["indptr"] and case["paged"]):
        arguments["columns"] = columns
    for name in ("next_n", "ratio"):
        arguments[name] = case[name]
    given, start, count = _limits(case, rng, rows, columns)
    for name, values in given.items():
        arrange_maybe(arguments, name, values, case[name], case["length_layout"])
    exact = np.where(there, reference.index_score(q, keys, weights), -np.inf)
    scores = np.full((rows, columns), -np.inf)
    for r in range(rows):
        if start[r] >= 0:
            of_row = exact[r, start[r] : start[r] + count[r]]
            scores[r, : len(of_row)] = of_row
    return scores, count


_KEYS = {
    "q": ("fp8", "fp4", "bf16"), "format": tuple(FORMATS), "dim": DIMS, "heads": (3, 1),
    "paged": (True, False), "placement": PLACEMENTS, "columns": (None, 9), "page_table": INTEGERS,
    "indptr": MAYBE, "requests": MAYBE, "starts": MAYBE, "lengths": MAYBE, "ends": MAYBE,
    "next_n": (1, 2), "ratio": (1, 4), "q_layout": LAYOUTS, "scale_layout": LAYOUTS,
    "weight_layout": LAYOUTS, "key_layout": (*LAYOUTS, "apart"), "table_layout": LAYOUTS,
    "length_layout": LAYOUTS, "out_layout": LAYOUTS,
}  # fmt: skip


def _allows_keys(case):
    return not (
        (case["lengths"] and case["ends"])
        or (not case["lengths"] and (case["next_n"] != 1 or case["ratio"] != 1))
        or (not case["paged"] and (case["indptr"] or case["requests"]))
        or (case["key_layout"] == "apart" and (not case["paged"] or case["placement"] == "tail"))
    )


def make_index_score(case, rng):
    arguments = {}
    scores, count = _score(case, rng, arguments)
    for name in ("keep_rest", "dtype"):
        arguments[name] = case[name]
    element = {"bfloat16": "bf16", "float16": "f16"}.get(case["dtype"], "f32")
    if case["out"]:
        if case["keep_rest"]:
            scores = np.where(np.arange(scores.shape[1]) < count[:, None], scores, 7)
        before = ELEMENTS[element][1](np.full(scores.shape, 7))
        arguments["out"] = arrange(before, case["out_layout"])
    return Call(
        arguments, {"out": Expected(scores, lambda got: decode(got, element), RTOL[element])}
    )


def _allows_index_score(case):
    if not _allows_keys(case) or (case["keep_rest"] and not case["out"]):
        return False
    # Keys in arrays end rows, too, and columns without one are not written.
    return not (case["keep_rest"] and case["starts"])


INDEX_SCORE = Model(
    "index_score",
    {
        **_KEYS, "keep_rest": FLAGS, "dtype": (None, "float32", "bfloat16", "float16"),
        "out": FLAGS,
    },
    make_index_score, _allows_index_score,
)  # fmt: skip


def _find_slots(case, arguments, indices):
    """The slots of indices, by the table that is given."""
    table = arguments["page_table"].array.astype(np.int64)
    of = np.arange(len(indices))
    if "requests" in arguments:
        of = arguments["requests"].array.astype(np.int64)
    at = np.maximum(indices, 0)
    page = table[of[:, None], at // SIZE]
    return np.where((indices < 0) | (page < 0), -1, page * SIZE + at % SIZE)


def make_index_topk(case, rng):
    arguments = {"k": case["k"]}
    scores, count = _score(case, rng, arguments)
    order = {name: case[name] for name in ("largest", "tie", "nan")}
    arguments |= order
    for name in ("sorted", "order", "index_dtype", "return_values", "kernels"):
        arguments[name] = case[name]
    arguments["return_indices"] = case["return"] != "slots"
    arguments["return_slots"] = case["return"] != "indices"
    indices = reference.topk(scores, case["k"], count, **order)
    if case["order"] == "index":
        indices = by_index(indices)
    pad = -np.inf if case["largest"] else np.inf
    values = np.take_along_axis(scores, np.maximum(indices, 0), 1)
    results = {}
    if case["return_values"]:
        results["values"] = ("float32", np.where(indices < 0, pad, values))
    slots = _find_slots(case, arguments, indices) if case["return"] != "indices" else None
    if case["offsets"]:
        offsets = rng.integers(0, 1000, len(indices))
        arrange_maybe(arguments, "offsets", offsets, case["offsets"], case["length_layout"])
        indices = np.where(indices < 0, -1, indices + offsets[:, None])
    if arguments["return_indices"]:
        results["indices"] = (case["index_dtype"], indices)
    if slots is not None:
        results["slots"] = (case["index_dtype"], slots)
    expected, outs = expect(case | {"element": "f32"}, (ROWS,), results)
    add_outputs(case, arguments, outs)
    if case["scores"]:
        arguments["scores"] = arrange(np.zeros(scores.shape, np.float32), case["out_layout"])
    written = arguments.get("scores")

    def verify(_):
        if written is None or np.array_equal(written.array, scores, equal_nan=True):
            return None
        return f"scores are\n{written.array}\nexpected\n{scores}"

    return Call(arguments, expected, verify)


def _allows_index_topk(case):
    if not _allows_keys(case) or (case["starts"] and not case["lengths"]):
        return False
    if (case["kernels"] == 1 and case["scores"]) or (case["sorted"] and case["order"] == "index"):
        return False
    # Slots of what is not in the table are none, which a sort of slots sees.
    return case["return"] == "indices" or (
        case["paged"] and not case["indptr"] and not case["starts"]
        and (case["next_n"] == 1 or bool(case["requests"]))
    )  # fmt: skip


INDEX_TOPK = Model(
    "index_topk",
    {
        **_KEYS, "kernels": (None, 1, 2), "k": (5, 1, 40), "offsets": MAYBE,
        "largest": (True, False), "sorted": FLAGS, "order": (None, "sorted", "index"),
        "tie": ("low", "high"), "nan": ("last", "first"), "index_dtype": INDEX_DTYPES,
        "return": ("indices", "slots", "both"),
        "return_values": FLAGS, "out": FLAGS, "scores": FLAGS,
    },
    make_index_topk, _allows_index_topk,
)  # fmt: skip

# ===-- Queries ------------------------------------------------------------------===


def _check_queries(case, exact, weights, results):
    """Why quantised queries and weights are wrong, or None."""
    is_fp4 = len(results) == 3
    wide = np.asarray(results[-1], np.float64) / weights
    if is_fp4:
        values = reference.unpack_fp4(np.asarray(results[0]))
        scales = np.repeat(2.0 ** (np.asarray(results[1]).astype(float) - 127), 32, -1)
        if not np.allclose(wide, 1, 1e-6):
            return f"weights are off by a factor of up to {np.abs(wide - 1).max() + 1}"
    else:
        values, scales = reference.e4m3_values()[np.asarray(results[0])], wide[..., None]
    # Half a step of the largest values, and where rows were rounded.
    largest, step = (6, 1) if is_fp4 else (448, 16)
    off = np.abs(values * scales - exact)
    limit = scales * step * 1.001 + (0 if case["rounding"] == "none" else 2e-2)
    if not (off <= limit * (1 + np.abs(exact) / 100)).all():
        return f"values are off by up to {off.max()}"
    group = 32 if is_fp4 else case["dim"]
    most = np.abs(exact).reshape(*exact.shape[:-1], -1, group).max(-1, keepdims=True)
    spread = np.broadcast_to(scales, exact.shape).reshape(*most.shape[:-1], group)
    if (spread > most / largest * 2.01 + 1e-2).any():
        return "scales are too large"
    return None


def make_index_query(case, rng):
    heads, dim, tokens = case["heads"], case["dim"], 5
    q = encode(rng.standard_normal((tokens, heads, dim)), case["element"])
    weights = encode(rng.random((tokens, heads)) + 0.5, case["weights"])
    arguments = {
        "q": arrange(q, case["q_layout"]), "weights": arrange(weights, case["weight_layout"]),
    }  # fmt: skip
    for name in ("recipe", "constants", "hadamard", "rounding", "neox", "interleaved"):
        arguments[name] = case[name]
    rows = decode(q, case["element"])
    if case["table"]:
        table = encode(rng.standard_normal((30, 16)) / 2, case["table"])
        positions = rng.integers(-1, 31, tokens)
        arguments["table"] = arrange(table, case["table_layout"])
        arrange_maybe(
            arguments, "positions", positions, case["positions"], case["position_layout"]
        )
        how = {name: case[name] for name in ("neox", "interleaved")}
        rows = reference.rope(rows, decode(table, case["table"]), positions, **how)
    if case["hadamard"]:
        rows = reference.hadamard(rows)
    is_fp4 = dsv4.KNOWN_RECIPES[case["recipe"]].payload == "f4E2M1FN"
    if case["out"]:
        outs = [np.zeros((tokens, heads, dim // (2 if is_fp4 else 1)), np.uint8)]
        outs += [np.zeros((tokens, heads, dim // 32), np.uint8)] * is_fp4
        outs.append(np.zeros((tokens, heads), np.float32))
        arguments["out"] = tuple(arrange(each, case["out_layout"]) for each in outs)
    scaled = decode(weights, case["weights"]) * np.prod(case["constants"])
    return Call(
        arguments, dict.fromkeys(range(2 + is_fp4)),
        lambda results: _check_queries(case, rows, scaled, results),
    )  # fmt: skip


INDEX_QUERY = Model(
    "index_query",
    {
        "element": ("bf16", "f32", "f16"), "weights": ("f32", "bf16", "f16"), "dim": (128, 64, 256),
        "heads": (3, 1),
        "recipe": ("deepgemm_fp8", "vllm_index_q", "sglang_mxfp4", "deepseek_fp4"),
        "table": ("f32", "bf16", "f16", None), "positions": INTEGERS, "neox": FLAGS,
        "interleaved": FLAGS, "hadamard": FLAGS, "rounding": ("none", "last", "each"),
        "constants": ((), (0.125,), (0.5, 0.3)), "out": FLAGS, "q_layout": LAYOUTS,
        "weight_layout": LAYOUTS, "table_layout": LAYOUTS, "position_layout": LAYOUTS,
        "out_layout": LAYOUTS,
    },
    make_index_query, lambda case: not (case["neox"] and case["interleaved"]),
)  # fmt: skip

MODELS = (INDEX_SCORE, INDEX_TOPK, INDEX_QUERY)
