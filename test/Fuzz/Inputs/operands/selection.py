"""Selections from rows of scores, and routers."""

from .values import INDEX_RESULTS, MANY, SMALL_INDICES, group


def topk(p):
    element, k = p.pick("f32", "f32", "bf16", "f16"), p.pick(1, 6, 33, 512, 700)
    rank = p.pick(1, 2, 2, 2, 2, 3)
    rows = [[], [p.dim("rows", 0, 1, 3, 9, MANY)], [p.dim("rows", 0, 1, 3), 2]][rank - 1]
    # Groups, shared ranks and starts need the columns to be a constant, or not to be one of a group.
    form = p.pick("plain", "plain", "starts", "starts", "groups", "shared", "bias")
    columns = p.pick(64, 256) if form in ("groups", "shared") else p.dim("columns", 1, 100, 1000, 5000, 20000)
    if form in ("groups", "shared"):
        k = p.pick(1, 6, 16)
    else:
        p.policies |= {columns, *rows[:1]} if p.maybe(0.7) else {columns}
    scores = p.operand("scores", [*rows, columns], element)
    bound = p.pick("none", "lengths", "lengths", "ends", "next_n" if rank == 2 else "lengths")
    paged = rank == 2 and form != "shared" and p.maybe(0.7)
    by = p.pick("row", "requests", "cu_seq_lens", "cu_seq_lens") if paged else "none"
    tables = p.dim("requests", 1, 4, MANY) if by in ("requests", "cu_seq_lens") else (*rows, 1)[0]
    starts = [p.beyond("starts", tables)] if by == "cu_seq_lens" else []
    ties = form != "groups" and p.maybe(0.3)
    numbered = form in ("shared", "plain") and p.maybe(0.2)
    lengths = [p.dim("requests", 1, 4, MANY)] if bound == "next_n" else rows
    shared = p.pick(1, 2) if form == "shared" else 0
    clauses = p.clauses(
        (form == "bias", "bias", [columns], p.float()),
        (form == "starts", "starts", rows, p.integer()),
        (bound in ("lengths", "next_n"), "lengths", lengths, p.integer()),
        (bound == "ends", "ends", rows, p.integer()),
        (bound == "next_n", f"next_n {p.pick(1, 2, 3, 5)}"),
        (bound in ("lengths", "next_n") and p.maybe(0.3), f"ratio {p.pick(1, 4, 128)}"),
        (paged, "pages", [tables, p.dim("max_pages", 1, 20, 90)], p.integer()),
        (paged, f"page {p.pick(1, 16, 64)}"),
        (by == "requests", "requests", rows, p.integer()),
        (by == "cu_seq_lens", "cu_seq_lens", starts, p.integer()),
        (paged and p.maybe(), "page_starts", rows, p.integer()),
        (form != "shared" and p.maybe(0.3), "offsets", rows, p.integer()),
        (True, f"order {p.pick('unordered', 'sorted', 'index_ascending')}"),
        (p.maybe(0.3), "smallest"),
        (ties, "ties high"),
        (p.maybe(0.3), "nan first"),
        (form == "groups", f"groups {p.pick(4, 8)} keep {p.pick(1, 2, 4)} by {p.pick(1, 2)}"),
        (p.maybe(0.35), "valid_rows", [1], p.integer()),
        (rank > 1 and p.maybe(0.25), "padding", rows, "i1"),
        (shared, f"shared {shared}"),
        (numbered, "token_experts"))
    ranks = [*rows, k + shared]
    outs = [p.tensor("chosen", ranks, p.pick(*INDEX_RESULTS))]
    if p.maybe(0.4):
        outs.append(p.tensor("values", ranks, p.pick(element, "f32")))
    if paged:
        outs.append(p.tensor("slots", ranks, p.pick(*INDEX_RESULTS)))
    if numbered:
        outs.append(p.tensor("numbers", ranks, "i32"))
    p.op(f"dsv4.topk {scores.name} {clauses} outs{group(outs)} : {scores.type}", *outs)


def router(p):
    """Scores, the experts that are chosen by them or by token id, and their weights."""
    experts, k, tokens = p.pick(64, 160, 256, 384), p.pick(1, 6, 8), p.dim("tokens", 0, 1, 5, 77)
    shared, numbered, looked_up = p.pick(0, 0, 1, 2), p.maybe(0.4), p.maybe(0.4)
    logits = p.operand("logits", [tokens, experts], p.float())
    ids = p.tensor("experts", [tokens, k + shared], p.pick(*INDEX_RESULTS))
    outs = [ids] + ([p.tensor("sources", ids.shape, "i32")] if numbered else [])
    returned = p.maybe(0.3)
    row = p.tensor("scores", logits.shape, "f32") if returned else p.empty(logits.shape, "f32", logits)
    function = p.pick("sqrt_softplus", "sigmoid", "softmax")
    gate = f"dsv4.gate {logits.name} function {function} outs{group([row])} : {logits.type}"
    [scores] = (p.op if returned else p.step)(gate, row)
    counted = p.clauses((p.maybe(0.4), "valid_rows", [1], p.integer()), (p.maybe(0.4), "padding", [tokens], "i1"))
    number = "token_experts" if numbered else ""
    nan = ""
    if looked_up:
        table = p.operand("table", [p.dim("vocabulary", 1, 100), k], p.integer())
        words = p.operand("ids", [tokens], p.integer())
        found = p.op(f"dsv4.lookup {table.name}[{words.name}] {counted} "
                     f"{f'shared {shared} experts {experts}' if shared else ''} {number} outs{group(outs)} "
                     f": {table.type}, {words.type}", *outs)
    else:
        nan = p.pick("last", "first", "zero")
        grouped = experts % 32 == 0 and p.maybe(0.3)
        clauses = p.clauses((p.maybe(), "bias", [experts], p.float()),
                            (True, f"order {p.pick('sorted', 'sorted', 'index_ascending')}"),
                            (not grouped and p.maybe(0.2), "ties high"),
                            (nan == "first", "nan first"),
                            (grouped, f"groups {p.pick(4, 8)} keep {p.pick(1, 4)} by {p.pick(1, 2)}"))
        also = f"shared {shared}" if shared else ""
        found = p.op(f"dsv4.topk {scores.name} {clauses} {counted} {also} {number} outs{group(outs)} "
                     f": {row.type}", *outs)
    uniform = p.maybe(0.1)
    nan = nan or p.pick("last", "zero")
    weighing = p.clauses((not uniform and p.maybe(), "renormalize"), (not uniform and p.maybe(0.7), "scale 1.5"),
                         (uniform, "uniform"), (nan == "zero" and not uniform, "nan zero"),
                         (shared, f"shared {shared} {p.pick('weight 0.25', 'of_sum 0.4')}"))
    weights = p.tensor("weights", ids.shape, "f32")
    p.op(f"dsv4.route_weights {scores.name}[{found[0].name}] {weighing} outs{group([weights])} "
         f": {row.type}, {ids.type}", weights)
    if p.maybe(0.3):
        mapped = p.tensor("mapped", ids.shape, p.pick(*SMALL_INDICES))
        # The router may have a table of experts by token, too.
        table = f"table{group([p.operand('map', [experts], p.integer())])}" if p.maybe() else ""
        p.op(f"dsv4.map_indices {found[0].name} {table} outs{group([mapped])} : {ids.type}", mapped)


def map_indices(p):
    """Indices of any axes, by a table."""
    k = p.pick(1, 6, 9, 300)
    rows = p.pick([], [p.dim("tokens", 0, 1, 5, 77)], [p.dim("tokens", 0, 1, 5), 3])
    indices = p.operand("indices", [*rows, k], p.pick(*SMALL_INDICES))
    clauses = p.clauses((p.maybe(0.7), "table", [p.pick(1, 64, 385)], p.integer()),
                        (p.maybe(0.4), "valid_rows", [1], p.integer()),
                        (rows and p.maybe(0.4), "padding", rows, "i1"))
    mapped = p.tensor("mapped", indices.shape, p.pick(*SMALL_INDICES))
    p.op(f"dsv4.map_indices {indices.name} {clauses} outs{group([mapped])} : {indices.type}", mapped)
