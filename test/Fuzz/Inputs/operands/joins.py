"""Rows that are joined, and parts of one tensor that different ops read."""

from .caches import where
from .quantisation import quantize_rows
from .rows import chain, hadamard, norm, rope
from .values import group


def concat_rows(p):
    """Columns of two tensors, one after the other: computed before, after, quantised or stored."""
    lead, kind = [p.dim("tokens", 0, 1, 6, 40)], p.float()
    lead += [p.pick(3, 8)] if p.maybe(0.3) else []
    widths = p.pick((64, 64), (64, 192), (512, 64), (72, 8), (128, 128))
    values = p.operands(("left", "right"), [[*lead, width] for width in widths], kind)
    steps = p.rng.sample([norm, rope], 2)
    of = values[0]
    if p.maybe():
        side = p.pick(0, 1)
        to = p.empty(values[side].shape, kind, values[side])
        [values[side]] = p.step(f"{steps.pop()(p, values[side], to)} : {values[side].type}", to)
    width, end = sum(widths), p.pick("memory", "rows", "quantised", "stored")
    quantised = end == "quantised" and width % 128 == 0
    stored = end == "stored" and len(lead) == 1
    shape = [*lead, width]
    if not (quantised or stored or end == "rows"):
        return join(p, values, p.tensor("out", shape, kind), p.op)
    row = join(p, values, p.empty(shape, kind, of), p.step)
    if end == "rows" or p.maybe():
        row = chain(p, row, of, [steps.pop()], p.tensor("out", shape, p.float()) if end == "rows" else None)
    if quantised:
        quantize_rows(p, row, "", lead, width)
    elif stored:
        page = p.pick(1, 16)
        cache = p.cache("cache", page, f'[<"row" : {width} x {row.element} in {p.pick("row", "array")}>]')
        indices, clauses = where(p, page)
        p.step(f"dsv4.paged_append {cache.name}[{indices.name}] {clauses} fields{group([row])} "
               f": {cache.type}, {indices.type}")


def join(p, values, out, step):
    left, right = values
    return step(f"dsv4.concat_rows {left.name}, {right.name} outs{group([out])} : {left.type}, {right.type}", out)[0]


def norm_part(p, value, out):
    return f"{norm(p, value, out)} : {value.type}"


def rope_part(p, value, out):
    return f"{rope(p, value, out)} : {value.type}"


def hadamard_part(p, value, out):
    return f"{hadamard(p, value, out)} : {value.type}"


def cast_part(p, value, out):
    return f"dsv4.quantize {value.name} outs{group([out])} {{format = #dsv4.format<f8E4M3FN>}} : {value.type}"


def topk_part(p, value, out):
    lengths = p.clauses((p.maybe(), "lengths", value.shape[:1], p.integer()))
    return f"dsv4.topk {value.name} {lengths} order sorted outs{group([out])} : {value.type}"


PARTS = (
    # op, the columns of its result or nothing, its element or that of any row
    (norm_part, None, None),
    (rope_part, None, None),
    (hadamard_part, None, None),
    (cast_part, None, "f8E4M3FN"),
    (topk_part, 8, "i32"),
)


def parts(p):
    """Rows of decodes and of prefills of one argument, a length each: the second part begins where the first one does,
    or at its end, or in it."""
    decodes, prefills = p.dim("decodes", 0, 1, 5, 33), p.dim("prefills", 0, 1, 7, 60)
    width, before, after = p.pick(64, 128, 512), p.pick(0, 0, 8, 64), p.pick(0, 0, 8)
    sizes = [p.dims[decodes], p.dims[prefills]]
    second = p.pick("0", "decodes", "decodes", "1")
    offset = {"0": 0, "decodes": sizes[0], "1": 1}[second]
    end = max(sizes[0], offset + sizes[1])
    whole = p.tensor("x", [p.dim("rows", end, end + 3), before + width + after], p.float())
    begins = ("0", p.extent(decodes) if second == "decodes" else second)
    for i, (make, columns, element) in enumerate(p.rng.sample(PARTS, 2)):
        rows = (decodes, prefills)[i]
        value = p.take(whole, [(begins[i], rows), (str(before), width)], [rows, width])
        out = p.tensor(f"out{i}", [rows, columns or width], element or p.float())
        p.op(make(p, value, out), out)
