"""Ops that compute one row from another, and chains of them, which may end in a quantiser or a cache."""

from .caches import gather, where
from .values import group
from .quantisation import format_text, quantize


def norm(p, value, out):
    weight = p.clauses((p.maybe(0.6), "weight", value.shape[-1:], p.float()))
    return f"dsv4.rms_norm {value.name} {weight} outs{group([out])} {{eps = 1.0e-06 : f32}}"


def rope(p, value, out):
    width = value.shape[-1]
    pairs = p.pick(*[extent for extent in (16, 32, 64, width) if extent <= width])
    kind = p.pick("", "neox", "interleaved")
    # Rows along the axes that positions lack have one position.
    axes = p.pick(*range(1, len(value.shape))) if len(value.shape) > 1 else 0
    table = p.clauses((True, "table", [p.dim("positions", 1, 30, 4000), pairs], p.float()))
    positions = p.clauses((True, "positions", value.shape[:axes], p.integer()))
    return (f"dsv4.rope {value.name} {'inverse' if p.maybe(0.3) else ''} {kind if kind == 'neox' else ''} {table} "
            f"{kind if kind == 'interleaved' else ''} {positions} outs{group([out])}")


def hadamard(p, value, out):
    return f"dsv4.hadamard {value.name} outs{group([out])} {{scale = 0.125 : f32}}"


def chain(p, value, of, steps, out=None):
    """These steps, one after another, into `out` or a tensor that only the function sees."""
    for i, step in enumerate(steps):
        last = i + 1 == len(steps)
        to = out if last and out else p.empty(value.shape, p.float(), of)
        text = f"{step(p, value, to)} : {value.type}"
        [value] = p.op(text, to) if last and out else p.step(text, to)
    return value


def some_steps(p, width, least=1):
    """Different ones that rows of this width allow, in any order."""
    steps = [norm, rope] + ([hadamard] if width & (width - 1) == 0 else [])
    return p.rng.sample(steps, p.rng.randint(least, len(steps)))


def leading(p):
    """Tokens, perhaps with heads."""
    return [p.dim("tokens", 0, 1, 6, 40)] + ([p.pick(p.dim("heads", 1, 5), 3, 4)] if p.maybe() else [])


def row_chain(p):
    """Norm, rotation and transform, one to three of them, in one kernel."""
    x = p.operand("x", [*leading(p), p.pick(64, 72, 128, 192, 512)], p.float())
    chain(p, x, x, some_steps(p, x.shape[-1]), p.tensor("out", x.shape, p.float()))


def quantize_chain(p):
    """Rows that are computed and quantised by one kernel."""
    quantize(p, lambda x: chain(p, x, x, some_steps(p, x.shape[-1])))


def gather_chain(p):
    """Entries of a cache that are decoded, and computed with, by one kernel."""
    gather(p, lambda rows, of: chain(p, rows, of, some_steps(p, rows.shape[-1]),
                                     p.tensor("out", rows.shape, p.float())))


def pad_rows(p):
    """Heads that are filled up, and what may follow in the same kernel."""
    tokens, heads, padded = p.dim("tokens", 0, 1, 6, 40), p.pick(1, 3, 4, 16), p.pick(16, 17, 64)
    x = p.operand("x", [tokens, heads, p.pick(64, 72, 192, 512)], p.float())
    shape, steps = [tokens, padded, x.shape[-1]], p.rng.sample([norm, rope], p.rng.randint(0, 2))
    to = p.empty(shape, x.element, x) if steps else p.tensor("out", shape, x.element)
    text = f"dsv4.pad_rows {x.name} outs{group([to])} : {x.type}"
    if not steps:
        p.op(text, to)
        return
    [value] = p.step(text, to)
    chain(p, value, x, steps, p.tensor("out", shape, p.float()))


def add_rows(p):
    """A bias by position; the sums may go into a cache beside the values."""
    width, stored = p.pick(64, 128, 192), p.maybe(0.4)
    lead = [p.dim("tokens", 0, 1, 7, 70)] if stored else leading(p)
    begin, extra = p.pick(0, 0, 64, 8), p.pick(0, 0, 8)
    x = p.operand("x", [*lead, begin + width + extra], p.float())
    element = p.float()
    bias = p.clauses((True, "bias", [p.pick(1, 4, 7, 128), width], p.float()))
    positions = p.clauses((True, "positions", lead[:p.rng.randint(1, len(lead))], p.integer()))
    out = p.empty([*lead, width], element, x) if stored else p.tensor("out", [*lead, width], element)
    columns = f"columns [{begin}, {width}]" if begin or extra or p.maybe(0.2) else ""
    [sums] = (p.step if stored else p.op)(f"dsv4.add_rows {x.name} {columns} {bias} {positions} outs{group([out])} "
                                          f": {x.type}", out)
    if stored:
        page = p.pick(4, 16)
        state = p.cache("state", page, f'[<"values" : {width} x {element} in row>, '
                        f'<"scores" : {width} x {element} in row>]')
        values = p.operand("values", sums.shape, element)
        indices, clauses = where(p, page)
        p.step(f"dsv4.paged_append {state.name}[{indices.name}] {clauses} fields{group([values, sums])} "
               f": {state.type}, {indices.type}")


def fold_weights(p):
    """Weights that are multiplied by constants, and by scales that are given or of quantised rows."""
    tokens, heads, width = p.dim("tokens", 0, 1, 6, 40), p.pick(1, 5, 8, 64), p.pick(64, 128)
    form = p.pick("none", "given", "quantised")
    weights = p.operand("weights", [tokens, heads], p.float())
    scales, constants = [], [p.pick("0.5", "0.0883883461", "-3.0") for _ in range(p.rng.randint(0, 2))]
    if form == "given":
        scales = [p.operand("scale", weights.shape, "f32")]
    elif form == "quantised":
        x = p.operand("x", [tokens, heads, width], p.float())
        value = chain(p, x, x, some_steps(p, width, 0))
        data = p.tensor("data", x.shape, "f8E4M3FN")
        none = p.empty(weights.shape, "f32", x)
        payload, scale = p.step(
            f"dsv4.quantize {value.name} outs{group([data, none])} "
            f"{{format = {format_text('f8E4M3FN', [('f32', 'row')])}, recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, "
            f"rounding = {p.pick('nearest', 'up_pow2')}>}} : {value.type}", data, none)
        p.results.append(payload)
        scales = [scale]
    if not scales and not constants:
        constants = ["0.125"]
    out = p.tensor("out", weights.shape, p.float())
    listed = f"constants [{', '.join(constants)}]"
    p.op(f"dsv4.scale_weights {weights.name} {'scales' + group(scales) if scales else ''} "
         f"{listed if constants else ''} outs{group([out])} : {weights.type}", out)


STORED = {
    # record: columns of the row, of the quantised ones, their levels, and whether the others are a field
    "v4_584": (512, 448, "f8E4M3FN", ("f8E8M0FNU", 64), True),
    "index_fp8_132": (128, 128, "f8E4M3FN", ("f32", "row"), False),
    "index_mxfp4_68": (128, 128, "f4E2M1FN", ("f8E8M0FNU", 32), False),
    "bf16_1024": (512, 0, "bf16", None, True),
}


def write_chain(p):
    """Rows that are computed, quantised and written to a cache by one kernel."""
    record = p.pick(*STORED)
    width, quantised, element, level, keeps_rest = STORED[record]
    page = p.pick(16, 64)
    cache = p.cache("cache", page, record)
    indices, clauses = where(p, page)
    [tokens] = indices.shape
    x = p.operand("x", [tokens, width], p.float())
    steps = some_steps(p, width)
    value = chain(p, x, x, steps[:-1])
    last = p.empty(x.shape, "bf16" if keeps_rest else p.float(), x)
    [value] = p.step(f"{steps[-1](p, value, last)} : {value.type}", last)
    stored, columns = [value], [0]
    if quantised:
        scale, extent = level
        outs = [p.empty([tokens, quantised], element, x),
                p.empty([tokens] if extent == "row" else [tokens, quantised // extent], scale, x)]
        payload, scales = p.step(
            f"dsv4.quantize {value.name} {f'columns [0, {quantised}]' if keeps_rest else ''} outs{group(outs)} "
            f"{{format = {format_text(element, [level])}, recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, "
            f"rounding = up_pow2>}} : {value.type}", *outs)
        stored = [payload, value, scales] if keeps_rest else [payload, scales]
        columns = [0, quantised, 0] if keeps_rest else [0, 0]
    p.step(f"dsv4.paged_append {cache.name}[{indices.name}] {clauses} fields{group(stored)} columns {columns} "
           f": {cache.type}, {indices.type}")
