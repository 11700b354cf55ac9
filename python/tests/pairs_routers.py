# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of routers."""

import numpy as np
import reference
from pairs import INTEGERS, LAYOUTS, Call, Expected, Model, arrange, decode, encode
from pairs_selection import FLAGS, INDEX_DTYPES, MAYBE, add_outputs, as_index

TOKENS = 5


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
    if not case["bias"]:
        return 0
    bias = rng.standard_normal(case["experts"]).astype(np.float32)
    arguments["bias"] = arrange(bias, case["bias"])
    return bias


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
    """The columns of shared experts."""
    if not case["shared"]:
        return weights, ids
    arguments["shared"] = 2
    arguments[case["shared"]] = 0.25
    shared = np.where((ids >= 0).any(1)[:, None], [[experts, experts + 1]], -1)
    ids = np.concatenate([ids, shared], 1)
    own = 0.25 if case["shared"] == "shared_weight" else 0.25 * weights.sum(1, keepdims=True)
    extra = np.where(shared >= 0, own, 0)
    return np.concatenate([weights, extra], 1), ids


def _finish_route(case, arguments, rng, scores, ids, logits=None):
    """The options of weights, and the results of a router."""
    experts = scores.shape[1]
    _mask(case, arguments, rng, ids)
    for name in ("renormalize", "scale", "score", "nan", "index_dtype"):
        arguments[name] = case[name]
    weights = reference.route_weights(
        scores, ids, case["renormalize"], case["scale"], case["nan"]
    )
    weights, ids = _add_shared(case, arguments, weights, ids, experts)
    dtype = case["index_dtype"]
    results = [("weights", np.float32, weights), ("ids", dtype, as_index(ids, dtype))]
    if logits is not None:
        results.append(("logits", np.float32, logits))
    add_outputs(case, arguments, [each[1:] for each in results])
    rtol = {"weights": 3e-5, "logits": 1e-5}
    return Call(
        arguments,
        {name: Expected(values, rtol=rtol.get(name, 0), atol=1e-5 * (name == "logits"))
         for name, _, values in results},
    )  # fmt: skip


def make_route(case, rng):
    stored, scores = _make_logits(case, rng)
    arguments = {"logits": arrange(stored, case["layout"]), "k": case["k"]}
    biased = scores + _make_bias(case, arguments, rng)
    if case["groups"]:
        arguments["groups"] = case["groups"]
    ids = _choose(biased, case["k"], case["groups"], case["nan"])
    return _finish_route(case, arguments, rng, scores, ids)


_WEIGHTS = {
    "experts": (64, 60), "score": ("sqrt_softplus", "sigmoid", "softmax"),
    "renormalize": (True, False), "scale": (1.0, 2.5),
    "shared": (None, "shared_weight", "shared_of_sum"), "valid_rows": MAYBE, "padding": FLAGS,
    "padding_layout": LAYOUTS, "index_dtype": INDEX_DTYPES, "out": FLAGS,
    "layout": LAYOUTS, "out_layout": LAYOUTS, "k": (6, 1),
}  # fmt: skip
_CHOICE = {
    "bias": (None, "plain", "shifted"),
    "groups": (None, (4, 2, 2), (2, 1, 1)), "nan": ("last", "first", "zero"),
}  # fmt: skip


ROUTE = Model(
    "route", {**_WEIGHTS, **_CHOICE, "element": ("f32", "bf16", "f16")}, make_route
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
    if case["groups"]:
        arguments["groups"] = case["groups"]
    biased = scores + _make_bias(case, arguments, rng)
    ids = _choose(biased, case["k"], case["groups"], case["nan"])
    return _finish_route(
        case, arguments, rng, scores, ids, logits if case["return_logits"] else None
    )


DENSE_ROUTE = Model(
    "dense_route",
    {**_PRODUCT, **_WEIGHTS, **_CHOICE, "return_logits": FLAGS}, make_dense_route,
)  # fmt: skip

MODELS = (ROUTE, HASH_ROUTE, ROUTER_LOGITS, DENSE_ROUTE)
