# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of routers."""

import numpy as np
import reference
from pairs import INTEGERS, LAYOUTS, Call, Expected, Model, arrange, decode, encode
from pairs_selection import FLAGS, INDEX_DTYPES, MAYBE, add_outputs, as_index

TOKENS = 5
_BIASES = (None, "f32", "bf16", "f16")


def _choose(scores, k, groups, nan):
    """The k best experts of each token, of groups that are kept."""
    count, kept, by = groups or (1, 1, 1)
    size = scores.shape[1] // count
    split = scores.reshape(-1, size)
    best = np.take_along_axis(split, reference.topk(split, by, nan=nan), 1).sum(1)
    chosen = np.sort(reference.topk(best.reshape(-1, count), kept, nan=nan))
    columns = (chosen[:, :, None] * size + np.arange(size)).reshape(len(scores), -1)
    among = reference.topk(np.take_along_axis(scores, columns, 1), k, nan=nan)
    return np.take_along_axis(columns, among, 1)


def _make_logits(case, rng):
    """Logits of five tokens, some of which have no scores, and the scores."""
    logits = rng.standard_normal((TOKENS, case["experts"]))
    logits[1, rng.integers(case["experts"])] = logits[2] = logits[3, 2:] = np.nan
    stored = encode(logits, case["element"])
    return stored, reference.gate(decode(stored, case["element"]), case["score"])


def _make_bias(case, arguments, rng):
    """What is added to the scores of each token."""
    total = np.zeros((TOKENS, case["experts"]))
    for name in ("bias", "bias_vl"):
        if case.get(name):
            stored = encode(rng.standard_normal(case["experts"]), case[name])
            arguments[name] = arrange(stored, case["bias_layout"])
            rows = np.ones(TOKENS, bool)
            if name == "bias_vl":
                rows = np.array([False, True, True, False, True])
                arguments["image_tokens"] = arrange(rows, case["padding_layout"])
            total[rows] = decode(stored, case[name])
    return total


def _mask(case, arguments, rng, ids):
    """Those tokens that have no experts."""
    if case["valid_rows"]:
        arguments["valid_rows"] = arrange(np.array([3], case["valid_rows"]))
        ids[3:] = -1
    if case["padding"]:
        padding = rng.random(TOKENS) < 0.4
        arguments["padding"] = arrange(padding, case["padding_layout"])
        ids[padding] = -1


def _add_shared(case, arguments, weights, ids, experts):
    """The columns of shared experts, whose ids are there already if experts were given."""
    if not case["shared"]:
        return weights, ids
    arguments["shared"] = 2
    arguments[case["shared"]] = 0.25
    if ids.shape[1] == weights.shape[1]:
        shared = np.where((ids >= 0).any(1)[:, None], [[experts, experts + 1]], -1)
        ids = np.concatenate([ids, shared], 1)
    own, none = 0.25, 0
    if case["shared"] == "shared_of_sum":
        own = 0.25 * weights.sum(1, keepdims=True)
        none = 0 * own if case["renormalize"] else 0  # A sum of NaN divides it, too.
    last = ids[:, -2:]
    extra = np.where((last >= 0) & (last < experts + 2), own, none)
    return np.concatenate([weights, extra], 1), ids


def _finish_route(case, arguments, rng, scores, ids, logits=None):
    """The options of weights, and the results of a router."""
    experts = scores.shape[1]
    _mask(case, arguments, rng, ids)
    for name in ("renormalize", "scale", "score", "nan", "index_dtype", "return_replay"):
        arguments[name] = case[name]
    chosen = ids[:, : case["k"]]
    chosen = np.where(chosen < experts, chosen, -1)
    weights = reference.route_weights(
        scores, chosen, case["renormalize"], case["scale"], case["nan"]
    )
    weights, ids = _add_shared(case, arguments, weights, ids, experts)
    replay = ids
    if case["expert_map"]:
        table = rng.integers(-1, 3000, experts + (2 if case["shared"] else 0))
        arguments["expert_map"] = arrange(table.astype(case["expert_map"]), case["map_layout"])
        known = (ids >= 0) & (ids < len(table))
        ids = np.where(known, table[np.where(known, ids, 0)], -1)
    dtype = case["index_dtype"]
    results = [("weights", np.float32, weights), ("ids", dtype, as_index(ids, dtype))]
    if logits is not None:
        results.append(("logits", np.float32, logits))
    if case["return_replay"]:
        results.append(("recorded", "int16", as_index(replay, "int16")))
    if case["return_token_experts"]:
        arguments["return_token_experts"] = True
        numbers = np.arange(ids.size, dtype=np.int32).reshape(ids.T.shape).T
        results.append(("token_experts", np.int32, numbers))
    add_outputs(case, arguments, [each[1:] for each in results])
    rtol = {"weights": 3e-5, "logits": 1e-5}
    return Call(
        arguments,
        {name: Expected(values, rtol=rtol.get(name, 0), atol=1e-5 * (name == "logits"))
         for name, _, values in results},
    )  # fmt: skip


def _give_experts(case, arguments, rng):
    """Experts that are chosen already, some of which do not exist."""
    experts, columns = case["experts"], case["k"] + (2 if case["shared"] else 0)
    ids = np.stack([rng.permutation(experts)[:columns] for _ in range(TOKENS)])
    ids[:, case["k"] :] = [experts, experts + 1][: columns - case["k"]]
    ids[1, 0], ids[3, -1] = -1, 3000
    arguments["replay"] = arrange(ids.astype(case["replay"]), case["replay_layout"])
    return ids


def _find_experts(case, arguments, rng, scores):
    """The experts of a router by score."""
    if case["replay"]:
        return _give_experts(case, arguments, rng)
    if case["groups"]:
        arguments["groups"] = case["groups"]
    biased = scores + _make_bias(case, arguments, rng)
    return _choose(biased, case["k"], case["groups"], case["nan"])


def make_route(case, rng):
    stored, scores = _make_logits(case, rng)
    arguments = {"logits": arrange(stored, case["layout"]), "k": case["k"]}
    return _finish_route(case, arguments, rng, scores, _find_experts(case, arguments, rng, scores))


_WEIGHTS = {
    "experts": (64, 60), "score": ("sqrt_softplus", "sigmoid", "softmax"),
    "renormalize": (True, False), "scale": (1.0, 2.5),
    "shared": (None, "shared_weight", "shared_of_sum"), "valid_rows": MAYBE, "padding": FLAGS,
    "padding_layout": LAYOUTS, "expert_map": MAYBE, "map_layout": ("plain", "shifted"),
    "index_dtype": (*INDEX_DTYPES, "int16"), "return_replay": FLAGS, "return_token_experts": FLAGS,
    "out": FLAGS, "layout": LAYOUTS, "out_layout": LAYOUTS, "k": (6, 1),
}  # fmt: skip
_CHOICE = {
    "bias": _BIASES, "bias_vl": _BIASES, "bias_layout": ("plain", "shifted"),
    "groups": (None, (4, 2, 2), (2, 1, 1)), "nan": ("last", "first", "zero"),
    "replay": (*MAYBE, "int16"), "replay_layout": LAYOUTS,
}  # fmt: skip


def _allows_choice(case):
    chooses = (
        case["bias"] or case["groups"] or case["nan"] == "first" or case["return_token_experts"]
    )
    return bool(case["bias"] or not case["bias_vl"]) and not (case["replay"] and chooses)


ROUTE = Model(
    "route", {**_WEIGHTS, **_CHOICE, "element": ("f32", "bf16", "f16")}, make_route, _allows_choice
)


def make_hash_route(case, rng):
    experts, k = case["experts"], case["k"]
    stored, scores = _make_logits(case, rng)
    table = np.stack([rng.permutation(experts)[:k] for _ in range(9)])
    words = np.array([3, 8, 0, 9, -1])
    arguments = {
        "logits": arrange(stored, case["layout"]),
        "token_ids": arrange(words.astype(case["words"]), case["words_layout"]),
        "table": arrange(table.astype(case["table"]), case["table_layout"]),
    }
    known = (words >= 0) & (words < 9)
    ids = np.where(known[:, None], table[np.where(known, words, 0)], -1)
    return _finish_route(case, arguments, rng, scores, ids)


HASH_ROUTE = Model(
    "hash_route",
    {
        **_WEIGHTS, "element": ("f32", "bf16", "f16"), "words": INTEGERS,
        "words_layout": LAYOUTS, "table": INTEGERS, "table_layout": LAYOUTS,
        "nan": ("last", "zero"),
    },
    make_hash_route,
)  # fmt: skip


# ===-- From hidden rows ----------------------------------------------------------===


def _make_product(case, rng):
    """Hidden rows and those of experts, one of which is no number, and the logits."""
    hidden = rng.standard_normal((TOKENS, case["width"]))
    hidden[1, 2] = np.nan
    stored = encode(hidden, "bf16")
    gate = encode(rng.standard_normal((case["experts"], case["width"])) / 8, case["gate"])
    arguments = {
        "hidden": arrange(stored, case["layout"]), "gate": arrange(gate, case["gate_layout"])
    }  # fmt: skip
    return arguments, decode(stored, "bf16") @ decode(gate, case["gate"]).T


_PRODUCT = {
    "width": (64, 37, 520), "gate": ("bf16", "f32"), "gate_layout": LAYOUTS, "layout": LAYOUTS,
    "out": FLAGS, "out_layout": LAYOUTS, "experts": (64, 60, 1),
}  # fmt: skip


def make_router_logits(case, rng):
    arguments, logits = _make_product(case, rng)
    if case["out"]:
        arguments["out"] = arrange(np.zeros(logits.shape, np.float32), case["out_layout"])
    return Call(arguments, {"out": Expected(logits, rtol=1e-5, atol=1e-5)})


ROUTER_LOGITS = Model("router_logits", _PRODUCT, make_router_logits)


def make_dense_route(case, rng):
    arguments, logits = _make_product(case, rng)
    arguments["k"] = case["k"]
    arguments["return_logits"] = case["return_logits"]
    scores = reference.gate(logits, case["score"])
    ids = _find_experts(case, arguments, rng, scores)
    return _finish_route(
        case, arguments, rng, scores, ids, logits if case["return_logits"] else None
    )


DENSE_ROUTE = Model(
    "dense_route",
    {**_PRODUCT, **_WEIGHTS, **_CHOICE, "return_logits": FLAGS}, make_dense_route, _allows_choice,
)  # fmt: skip

MODELS = (ROUTE, HASH_ROUTE, ROUTER_LOGITS, DENSE_ROUTE)
