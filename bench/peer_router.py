"""Routers in PyTorch and Triton, for peers.py.

As the programs of dsv4-bench: 6 of 256 or 384 experts by sqrt(softplus(logit)) + bias,
or by a table of token ids, with weights of their scores, divided by their sum and
scaled by 1.5; of 8 groups of 256 experts the 4 with the largest sums of 2.
"""

import torch
import triton
import triton.language as tl

from peer_common import Job

TOKENS, TOP_K, SCALE, VOCABULARY = 262144, 6, 1.5, 129280
GROUPS, KEEP = 8, 4

# ---- eager -----------------------------------------------------------------


def score(logits, dtype):
    return torch.nn.functional.softplus(logits.to(dtype)).sqrt()


def weigh(scores, experts):
    picked = scores.gather(-1, experts.long())
    return picked / picked.sum(-1, keepdim=True) * SCALE


def route(logits, bias, dtype=torch.float32):
    scores = score(logits, dtype)
    experts = (scores + bias).topk(TOP_K, sorted=True).indices
    return experts.to(torch.int32), weigh(scores, experts)


def route_grouped(logits, bias, dtype=torch.float32):
    scores = score(logits, dtype)
    groups = (scores + bias).unflatten(-1, (GROUPS, -1))
    kept = groups.topk(2).values.sum(-1).topk(KEEP).indices
    dropped = torch.ones_like(groups[..., 0], dtype=torch.bool).scatter(-1, kept, False)
    keys = groups.masked_fill(dropped[..., None], float("-inf")).flatten(-2)
    experts = keys.topk(TOP_K, sorted=True).indices
    return experts.to(torch.int32), weigh(scores, experts)


def route_by_id(logits, table, ids, dtype=torch.float32):
    experts = table[ids.long()]
    return experts, weigh(score(logits, dtype), experts)


# ---- Triton ----------------------------------------------------------------


@triton.jit
def softplus_root(x):
    small = tl.log(1 + tl.exp(tl.minimum(x, 20.0)))
    # 1 + e^x is 1 from about -17 on.
    stable = tl.where(x < -15.0, tl.exp(x), small)
    return tl.sqrt(tl.where(x > 20.0, x, stable))


@triton.jit
def keep_groups(keys, ROWS: tl.constexpr, BLOCK: tl.constexpr, COUNT: tl.constexpr,
                KEPT: tl.constexpr):
    groups = tl.reshape(keys, (ROWS, COUNT, BLOCK // COUNT))
    inner = tl.arange(0, BLOCK // COUNT)[None, None, :]
    best, at = tl.max(groups, 2, return_indices=True)
    others = tl.where(inner == at[:, :, None], float("-inf"), groups)
    sums = best + tl.max(others, 2)
    group = tl.arange(0, COUNT)[None, :]
    kept = tl.zeros((ROWS, COUNT), tl.int32)
    for _ in tl.static_range(KEPT):
        hit = group == tl.argmax(sums, 1, tie_break_left=True)[:, None]
        kept = tl.where(hit, 1, kept)
        sums = tl.where(hit, float("-inf"), sums)
    groups = tl.where(kept[:, :, None] != 0, groups, float("-inf"))
    return tl.reshape(groups, (ROWS, BLOCK))


@triton.jit
def route_kernel(logits, bias, experts, weights, size, E: tl.constexpr,
                 BLOCK: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr,
                 COUNT: tl.constexpr, KEPT: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    there = (row < size) & (column < E)
    x = tl.load(logits + row.to(tl.int64) * E + column, mask=there, other=0.0)
    scores = softplus_root(x)
    shift = tl.load(bias + column, mask=column < E, other=0.0)
    keys = tl.where(there, scores + shift, float("-inf"))
    if COUNT > 1:
        keys = keep_groups(keys, ROWS, BLOCK, COUNT, KEPT)
    place = tl.arange(0, 8)[None, :]
    picked = tl.zeros((ROWS, 8), tl.float32)
    chosen = tl.zeros((ROWS, 8), tl.int32)
    for k in tl.static_range(K):
        best = tl.argmax(keys, 1, tie_break_left=True)[:, None]
        hit = column == best
        value = tl.sum(tl.where(hit, scores, 0.0), 1)[:, None]
        picked = tl.where(place == k, value, picked)
        chosen = tl.where(place == k, best, chosen)
        keys = tl.where(hit, float("-inf"), keys)
    total = tl.sum(picked, 1)[:, None]
    to = row.to(tl.int64) * K + place
    keep = (row < size) & (place < K)
    tl.store(weights + to, picked / total * 1.5, mask=keep)
    tl.store(experts + to, chosen, mask=keep)


@triton.jit
def route_by_id_kernel(logits, table, ids, experts, weights, size, E: tl.constexpr,
                       K: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    place = tl.arange(0, 8)[None, :]
    keep = (row < size) & (place < K)
    word = tl.load(ids + row, mask=row < size, other=0)
    chosen = tl.load(table + word.to(tl.int64) * K + place, mask=keep, other=0)
    x = tl.load(logits + row.to(tl.int64) * E + chosen, mask=keep, other=0.0)
    picked = tl.where(keep, softplus_root(x), 0.0)
    total = tl.sum(picked, 1)[:, None]
    to = row.to(tl.int64) * K + place
    tl.store(weights + to, picked / total * 1.5, mask=keep)
    tl.store(experts + to, chosen, mask=keep)


# ---- jobs ------------------------------------------------------------------


class Router(Job):
    config_names = "rows", "warps", "eviction"
    configs = ((1, 1), (1, 2), (2, 1), (4, 4), (8, 4), (8, 8))
    sizes, compiled_sizes = (1, 64, 1024, 8192), (1, 64, 8192)

    def __init__(self, what, experts):
        self.what, self.layout, self.count = what, f"{experts}_experts", experts
        self.by_id, self.grouped = what == "hash_router", what == "grouped_router"
        by_id = self.by_id
        self.row_bytes = (13 if by_id else experts) * 4 + 8 * TOP_K
        draw = lambda *shape: torch.randn(*shape, device="cuda")
        self.logits, self.bias = draw(TOKENS, experts), draw(experts) / 8
        below = lambda most, *shape: torch.randint(
            most, shape, device="cuda", dtype=torch.int32
        )
        self.table = below(experts, VOCABULARY, TOP_K)
        self.ids = below(VOCABULARY, TOKENS)
        self.experts = below(experts, TOKENS, TOP_K)
        self.weights = draw(TOKENS, TOP_K)

    def slices(self, size):
        return TOKENS // size

    def fits(self, size, config):
        return True

    def slice(self, tensor, size, i):
        return tensor[i * size : (i + 1) * size]

    @property
    def eager(self):
        if self.grouped:
            return route_grouped
        return route_by_id if self.by_id else route

    def call_eager(self, size, i, function=None, **options):
        function = function or self.eager
        logits = self.slice(self.logits, size, i)
        if self.by_id:
            ids = self.slice(self.ids, size, i)
            return function(logits, self.table, ids, **options)
        return function(logits, self.bias, **options)

    def call_triton(self, size, i, rows, warps, eviction):
        logits = self.slice(self.logits, size, i)
        experts = self.slice(self.experts, size, i)
        weights = self.slice(self.weights, size, i)
        grid = (triton.cdiv(size, rows),)
        if self.by_id:
            ids = self.slice(self.ids, size, i)
            route_by_id_kernel[grid](
                logits, self.table, ids, experts, weights, size, E=self.count,
                K=TOP_K, ROWS=rows, num_warps=warps,
            )
        else:
            route_kernel[grid](
                logits, self.bias, experts, weights, size, E=self.count,
                BLOCK=triton.next_power_of_2(self.count), K=TOP_K, ROWS=rows,
                COUNT=GROUPS if self.grouped else 1, KEPT=KEEP, num_warps=warps,
            )
        return experts, weights

    def verify(self, call, size):
        """Experts whose scores differ in the last places may change theirs. An error
        of 1 is 2^-15 of a weight, what is left of log(1 + e^x) for logits of -5."""
        i = self.slices(size) - 1
        want, exact = self.call_eager(size, i, dtype=torch.float64)
        got, weights = call(i)
        same = (want == got).all(-1)
        error = ((weights.double() - exact) / exact).abs()[same].max().item()
        return {
            "same_experts": same.float().mean().item(),
            "worst_error": error * 2**15,
        }


JOBS = [
    (what, lambda what=what, experts=experts: Router(what, experts))
    for what, experts in (
        ("router", 256), ("hash_router", 256), ("router", 384), ("hash_router", 384),
        ("grouped_router", 256),
    )
]
