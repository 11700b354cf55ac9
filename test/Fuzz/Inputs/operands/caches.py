"""Gathers and appends."""

from .values import FLOATS, MANY, group

RECORDS = {
    # name: fields (extent, element), of which the data, without scales, makes the row
    "v4_584": ((448, "f8E4M3FN"), (64, "bf16"), (7, "f8E8M0FNU")),
    "v32_656": ((512, "f8E4M3FN"), (4, "f32"), (64, "bf16")),
    "index_fp8_132": ((128, "f8E4M3FN"), (1, "f32")),
    "index_mxfp4_68": ((128, "f4E2M1FN"), (4, "f8E8M0FNU")),
    "mxfp4_368": ((448, "f4E2M1FN"), (14, "f8E8M0FNU"), (64, "bf16")),
    "nvfp4_arrays_288": ((512, "f4E2M1FN"), (32, "f8E4M3FN")),
    "bf16_1024": ((512, "bf16"),),
    '[<"k" : 64 x f16 in array>, <"v" : 24 x f32 in row>, <"position" : 1 x i32 in array>]':
        ((64, "f16"), (24, "f32"), (1, "i32")),
    '[<"x" : 32 x f8E4M3FN in row>, <"x_scale" : 2 x f32 in row scales "x" per 16>, <"tag" : 3 x i32 in tail>]':
        ((32, "f8E4M3FN"), (2, "f32"), (3, "i32")),
}
ROW = {"v4_584": 512, "v32_656": 576, "mxfp4_368": 512}


def row_extent(record):
    """Values of a row: those of its first field, unless there is more data."""
    if record.startswith('[<"k"'):
        return 64 + 24
    return ROW.get(record, RECORDS[record][0][0])


def fields(p, record, rows):
    """Tensors for the fields of entries; one element of an entry may have no axis."""
    result = []
    for i, (extent, element) in enumerate(RECORDS[record]):
        single = extent == 1 and p.maybe()
        result.append(p.tensor(f"field{i}", rows if single else [*rows, extent], element))
    return result


def destinations(p, record, rows):
    """What a gather writes, and its clauses."""
    if p.maybe(0.7):
        outs, text = [p.tensor("out", [*rows, row_extent(record)], p.float())], "outs"
    else:
        outs, text = fields(p, record, rows), "fields"
    text += group(outs)
    if p.maybe(0.4):
        outs.append(p.tensor("mask", rows, "i1"))
        text += f" mask{group(outs[-1:])}"
    return text, outs


def gather(p, then=None):
    """Rows by their indices; `then` makes ops that read them in the same kernel."""
    record = p.pick(*RECORDS)
    cache = p.cache("cache", p.pick(1, 16, 64), record)
    form = p.pick("flat", "token", "token", "request", "request of rows")
    topk = [] if form == "request of rows" else [p.dim("topk", 1, 3, 17)]
    tokens = [] if form == "flat" else [p.dim("tokens", 0, 1, 5, 33)]
    indices = p.operand("indices", [*tokens, *topk], p.integer())
    by_request = form.startswith("request")
    requests = [p.dim("requests", 1, 4, MANY)] if by_request else tokens
    in_bytes = not by_request and p.maybe(0.35)
    pages = not in_bytes and (by_request or p.maybe(0.7))
    listed = pages and form != "flat" and p.maybe(0.3)
    max_pages = p.dim("max_pages", 1, 4, 11)
    lengths = not in_bytes and p.maybe() and (form != "request of rows" or p.maybe())
    per_request = by_request and p.maybe()
    starts = [p.beyond("starts", requests[0])] if listed else []
    clauses = p.clauses(
        (in_bytes, "in_bytes"),
        (pages, "pages", [max_pages] if listed else [*requests, max_pages], p.integer()),
        (listed, "indptr", starts, p.integer()),
        (by_request, "requests", tokens, p.integer()),
        (lengths, "lengths per request" if per_request else "lengths", requests if per_request else tokens,
         p.integer()))
    if then:
        outs = [p.empty([*indices.shape, row_extent(record)], p.float(), indices)]
        text = f"outs{group(outs)}"
    else:
        text, outs = destinations(p, record, indices.shape)
    rows = (p.step if then else p.op)(
        f"dsv4.paged_gather {cache.name}[{indices.name}] {clauses} {text} : {cache.type}, {indices.type}", *outs)
    if then:
        then(rows[0], indices)


def ragged_gather(p):
    record = p.pick(*RECORDS)
    cache = p.cache("cache", p.pick(1, 16, 64), record)
    form = p.pick("cu_seq_lens", "row_starts", "rows of requests")
    requests, rows = p.dim("requests", 1, 2, 6, MANY), p.dim("rows", 0, 1, 40, 150)
    listed, named = p.maybe(0.4), form != "rows of requests" and p.maybe(0.4)
    starts = p.beyond("starts", requests)
    table = [p.dim("list", 0, 3, 19, MANY)] if listed else [requests, p.dim("max_pages", 1, 4, 11)]
    cumulative = form == "cu_seq_lens"
    offset = p.pick("none", "number", "operand", "operand") if form == "rows of requests" else "none"
    clauses = p.clauses(
        (True, "pages", table, p.integer()),
        (listed, "indptr", [starts], p.integer()),
        (named, "requests", [rows], p.integer()),
        (cumulative, "cu_seq_lens", [starts], p.integer()),
        (form == "row_starts", "row_starts", [requests], p.integer()),
        (not cumulative, "seq_lens", [requests], p.integer()),
        (not cumulative and p.maybe(), "gather_lens", [requests], p.integer()),
        (cumulative and p.maybe(), "seq_starts", [requests], p.integer()),
        (offset == "number", f"offset {p.pick(0, 3, 41)}"),
        (offset == "operand", "offset", [1], p.integer()))
    text, outs = destinations(p, record, [requests, rows] if form == "rows of requests" else [rows])
    p.op(f"dsv4.paged_gather {cache.name} {clauses} {text} : {cache.type}", *outs)


def append_record(p):
    """A record, and (extent, element) of its fields."""
    if p.maybe(0.3):
        # No field is interleaved.
        record = p.pick(*RECORDS)
        return record, RECORDS[record]
    kind, width = p.pick(*FLOATS), p.pick(64, 72, 512)
    return f'[<"row" : {width} x {kind} in row>]{p.pick("", ", align 64", ", align 37440")}', ((width, kind),)


def where(p, page):
    """Which entries an append writes: indices, and the clauses for them."""
    tokens = p.dim("tokens", 0, 1, 7, 70)
    indices = p.operand("indices", [tokens], p.integer())
    form = p.pick("slots", "unique", "unique", "ring", "ring of requests", "pages", "list")
    ring = form.startswith("ring")
    by_request = form in ("ring of requests", "list") or form == "pages" and p.maybe()
    table = form in ("pages", "list") or ring and p.maybe(0.4)
    requests = p.dim("requests", 1, 3, MANY) if by_request else tokens
    per_token = ring and by_request and p.maybe(0.3)
    max_pages = p.dim("max_pages", 2, 3, MANY)
    starts = p.beyond("starts", requests) if form == "list" else None
    return indices, p.clauses(
        (form == "unique" and p.maybe(), "in_bytes"),
        (ring, f"ring {page * 2}"),
        (form in ("unique", "pages", "list"), "unique"),
        (by_request, "requests", [tokens], p.integer()),
        (table, "pages", [max_pages] if form == "list" else [requests, max_pages], p.integer()),
        (form == "list", "indptr", [starts], p.integer()),
        (ring, "lengths per token" if per_token else "lengths", [tokens if per_token else requests], p.integer()))


def append(p):
    record, kinds = append_record(p)
    page = p.pick(1, 16, 64)
    cache = p.cache("cache", page, record)
    indices, clauses = where(p, page)
    [tokens] = indices.shape
    operands, columns = [], []
    for i, (extent, element) in enumerate(kinds):
        extra = p.pick(0, 0, 8)
        single = extent == 1 and not extra and p.maybe()
        operands.append(p.operand(f"field{i}", [tokens] if single else [tokens, extent + extra], element))
        columns.append(p.pick(0, extra))
    wide = any(value.shape[1:] not in ((), (extent,)) for value, (extent, _) in zip(operands, kinds))
    p.step(f"dsv4.paged_append {cache.name}[{indices.name}] {clauses} fields{group(operands)} "
           f"{f'columns {columns}' if wide or p.maybe(0.2) else ''} : {cache.type}, {indices.type}")
