"""Pools of windows, and the work lists for them."""

from .values import MANY, group
from .rows import norm


def state_of(p, element, columns, page, names=("values", "scores")):
    place = p.pick("row", "row", "array")
    fields = ", ".join(f'<"{name}" : {columns} x {element} in {place}>' for name in names)
    return p.cache("score_state" if names == ("scores",) else "state", page, f"[{fields}]")


def states(p, element, columns, page, ring, bias=True):
    """The clauses of the tokens of earlier launches: in a ring, in pages, or values and scores in two caches."""
    form = p.pick("ring", "pages", "ring of pages", "two caches")
    two, table = form == "two caches", [p.dim("requests", 1, 3, MANY), p.dim("max_pages", 1, 9)]
    state = state_of(p, element, columns, page, ("values",) if two else ("values", "scores"))
    scores = state_of(p, element, columns, p.pick(4, 8), ("scores",)) if two else state
    pages = [] if form == "ring" else [p.operand("state_pages", table, p.integer())]
    return p.clauses(
        (True, f"state({state.name} : {state.type})"),
        (form.startswith("ring"), f"ring {max(ring, page)}"),
        (bias and p.maybe(0.3), "biased"),
        (form != "ring", "pages" + group(pages)),
        (two, f"score_state({scores.name} : {scores.type})"),
        (two, "score_pages", [table[0], p.dim("score_columns", 1, 9)], p.integer()))


def shape_of_window(p, channels):
    """Window, `overlap` or nothing, columns of a token, and a ring that holds a window."""
    window, overlap = p.pick(1, 4, 4, 8, 16), p.maybe()
    return window, "overlap" if overlap else "", channels * (1 + overlap), 16 if window < 16 else 32


def compress(p):
    # Blocks take several of many windows at once, if these have many channels.
    channels, tokens, entries = p.pick(64, 72, 128, 512), p.dim("tokens", 0, 1, 20, 90), p.dim("entries", 0, 1, 40, 300)
    window, overlap, columns, ring = shape_of_window(p, channels)
    element, page = p.float(), p.pick(4, 8, 32)
    values, scores = p.operands(("values", "scores"), 2 * [[tokens, columns]], element)
    clauses = p.clauses((True, "plan", [entries, 4], p.integer()), (p.maybe(0.7), "bias", [window, columns], "f32"))
    state = states(p, element, columns, page, ring) if p.maybe(0.7) else ""
    out = p.tensor("out", [entries, channels], p.float())
    p.op(f"dsv4.compress {values.name}, {scores.name} window {window} {overlap} {clauses} {state} outs{group([out])} "
         f": {values.type}, {scores.type}", out)


def compress_online(p):
    channels, tokens = p.pick(64, 128), p.dim("tokens", 0, 1, 20, 90)
    window, element = p.pick(1, 4, 128), p.float()
    plan = (work_list(p, window, online=True)[0] if p.maybe()
            else p.operand("plan", [p.dim("segments", 0, 1, 7, 40), 5], p.integer()))
    values, scores = p.operands(("values", "scores"), 2 * [[tokens, channels]], element)
    fields = ", ".join(f'<"{name}" : {channels} x f32 in row>' for name in ("max", "sum", "acc"))
    state = p.cache("state", p.pick(4, 16), f"[{fields}]")
    clauses = p.clauses(
        (True, f"plan{group([plan])}"),
        (p.maybe(0.7), "bias", [window, channels], "f32"),
        (True, f"state({state.name} : {state.type})"))
    out = p.tensor("out", [plan.shape[0], channels], p.float())
    p.op(f"dsv4.compress {values.name}, {scores.name} window {window} algorithm online {clauses} outs{group([out])} "
         f": {values.type}, {scores.type}", out)


def work_list(p, window, kind=None, online=False):
    """A work list: its results, some of which may be left out, and the dim of its rows."""
    tokens, requests = p.dim("tokens", 0, 1, 20, 90), p.dim("requests", 1, 3, MANY)
    per_entry, positions = p.maybe(0.4), p.maybe()
    named = not per_entry and p.maybe()
    started = online or per_entry or not (positions and named) or p.maybe()
    slots = kind or p.pick("none", "slots", "pages")
    starts = p.beyond("starts", requests)
    clauses = p.clauses(
        (positions, "positions", [tokens], p.integer()),
        (not positions, "lengths", [requests], p.integer()),
        (named, "requests", [tokens], p.integer()),
        (started, "starts", [starts], p.integer()),
        (per_entry, "entry_starts", [starts], p.integer()),
        (online, "from", [requests], p.integer()),
        (online, "to", [requests], p.integer()),
        (slots == "slots", "slots", [tokens], p.integer()),
        (slots == "pages", "pages", [requests, p.dim("list_pages", 1, 4)], p.integer()),
        (slots == "pages", f"page {p.pick(2, 16)}"))
    rows = p.dim("entries", 0, 1, 9, 30) if per_entry else tokens
    outs = [p.tensor("plan", [rows, 5 if online else 4], "i32")]
    if slots != "none" or p.maybe():
        outs.append(p.tensor("entry_position", [rows], "i32"))
    if slots != "none":
        outs.append(p.tensor("entry_slot", [rows], "i32"))
    algorithm = "algorithm online" if online else ""
    return p.op(f"dsv4.compress_plan window {window} {algorithm} {clauses} outs{group(outs)}", *outs)


def compress_plan(p):
    work_list(p, p.pick(1, 4, 128, 1000), online=p.maybe(0.4))


def compress_chain(p):
    """What a step does: the work list, the pools, norm and rotation of entries, and their cache."""
    channels = p.pick(64, 128)
    window, overlap, columns, ring = shape_of_window(p, channels)
    plan, positions, slots = work_list(p, window, p.pick("slots", "pages"))
    [rows, _] = plan.shape
    element, tokens = p.float(), "tokens"
    values, scores = p.operands(("values", "scores"), 2 * [[tokens, columns]], element)
    clauses = p.clauses((True, f"plan{group([plan])}"), (p.maybe(0.7), "bias", [window, columns], "f32"))
    state = states(p, element, columns, 8, ring, bias=False)
    buffers = [p.empty([rows, channels], kind, plan) for kind in (p.float(), p.float(), "bf16")]
    [pooled] = p.step(f"dsv4.compress {values.name}, {scores.name} window {window} {overlap} {clauses} "
                      f"{state} outs{group(buffers[:1])} "
                      f": {values.type}, {scores.type}", buffers[0])
    [normed] = p.step(f"{norm(p, pooled, buffers[1])} : {pooled.type}", buffers[1])
    angles = p.tensor("angles", [p.dim("positions", 1, 90), 32], p.float())
    [rotated] = p.step(f"dsv4.rope {normed.name} table{group([angles])} positions{group([positions])} "
                       f"outs{group(buffers[2:])} : {normed.type}", buffers[2])
    cache = p.cache("cache", 16, f'[<"row" : {channels} x bf16 in row>]')
    p.step(f"dsv4.paged_append {cache.name}[{slots.name}] unique fields{group([rotated])} : {cache.type}, {slots.type}")

