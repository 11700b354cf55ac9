"""Quantisers and their inverse."""

from .values import group

LEVELS = {
    # element of the payload: levels (element, group) of a format, and how the first level may be rounded
    "f8E4M3FN": (
        ((("f32", 32), ("f32", 64), ("f32", 128)), None, ("nearest", "up_pow2")),
        ((("f8E8M0FNU", 32), ("f8E8M0FNU", 64), ("f8E8M0FNU", 128)), None, ("up_pow2",)),
        ((("f8E4M3FN", 16), ("f8E4M3FN", 32)), None, ("nearest", "up")),
        ((("f32", "row"), ("f8E8M0FNU", "row")), None, ("up_pow2",)),
    ),
    "f4E2M1FN": (
        ((("f8E8M0FNU", 32), ("f8E8M0FNU", 64)), None, ("up_pow2",)),
        ((("f8E4M3FN", 16), ("f8E4M3FN", 32)), None, ("nearest", "up")),
        ((("f8E4M3FN", 16), ("f8E4M3FN", 32)), ("f32", "tensor"), ("nearest", "up")),
        ((("f8E4M3FN", 16), ("f8E4M3FN", 32)), ("f32", "row"), ("nearest", "up")),
    ),
}
LAYOUTS = ("row_major", "column_major", "packed", "swizzle_128x4", "swizzle_8x4")
SCALE_BYTES = {"f8E8M0FNU": 1, "f8E4M3FN": 1, "bf16": 2, "f16": 2, "f32": 4}


def format_text(element, levels):
    inner = ", ".join(f"<{scale} per {extent}>" for scale, extent in levels)
    return f"#dsv4.format<{element}" + (f", [{inner}]>" if levels else ">")


def draw_format(p):
    """Element, levels, and the rounding of the first level."""
    element = p.pick(*LEVELS)
    first, second, roundings = p.pick(*LEVELS[element])
    levels = [p.pick(*first)] + ([second] if second else [])
    return element, levels, p.pick(*roundings)


def recipe_text(p, element, rounding):
    parts = (p.maybe(0.6) and f"floor = {p.pick('1.0e-04', '1.0e-10', '7.0e-38')} : f32",
             p.maybe(0.3) and "floor_of = scale",
             f"limit = {p.pick('divide', 'reciprocal')}",
             rounding != "nearest" and f"rounding = {rounding}",
             p.maybe(0.3) and "payload = reciprocal",
             element == "f4E2M1FN" and p.maybe(0.3) and "ties = down",
             element == "f4E2M1FN" and p.maybe(0.3) and "drop_negative_zero = true")
    return f"#dsv4.quantizer<{', '.join(filter(None, parts))}>"


def fitting_layouts(levels, rank):
    """Layouts that the scales of the first level may have."""
    scale, extent = levels[0]
    if rank != 2 or extent == "row":
        return LAYOUTS[:1]
    return [layout for layout in LAYOUTS
            if (layout != "packed" or scale == "f8E8M0FNU")
            and (not layout.startswith("swizzle") or SCALE_BYTES[scale] == 1)
            and (layout != "column_major" or SCALE_BYTES[scale] != 2)]


def laid_out_scales(p, make, layout, scale, rows, groups):
    """What has the scales of a first level per group: `make` is p.tensor, or p.operand where they are read."""
    packed_groups = -(-groups // 4)
    if layout == "row_major":
        return make("scales", [*rows, groups], scale)
    most = p.dims[rows[0]]
    if layout.startswith("swizzle"):
        block = int(layout.split("_")[1].split("x")[0])
        padded = -(-most // block) * block
        extent = p.dim("scale_rows", padded, padded, padded + block)
        return p.tensor("scales", [extent, 4 * packed_groups], scale, strided=False)
    extent = p.dim("scale_rows", -(-most // 4) * 4, most, most + 5)
    return (make("scales", [groups, extent], scale) if layout == "column_major"
            else make("scales", [packed_groups, extent], "i32"))


def cast(p, x, columns, data):
    """Without scales, or with one that is given."""
    given = p.pick("", "given", "given", "given", "given inverse", "given inverse")
    payload = "payload = reciprocal" if given == "given" and p.maybe() else ""
    recipe = f", recipe = #dsv4.quantizer<{payload}>" if given else ""
    p.op(f"dsv4.quantize {x.name} {columns} {p.clauses((given, given, [1], 'f32'))} outs{group([data])} "
         f"{{format = {format_text('f8E4M3FN', [('f32', 'tensor')] if given else [])}{recipe}}} : {x.type}", data)


def quantize(p, before=lambda x: x):
    """Payload and scales, in each layout, of an argument or of what `before` makes of it."""
    rows = [p.dim("rows", 0, 1, 9, 50, 140)] + ([p.pick(1, 3)] if p.maybe(0.2) else [])
    width, begin = p.pick(128, 256, 512, 640), p.pick(0, 0, 0, 128, 192)
    columns = f"columns [{begin}, {width}]" if begin else ""
    x = p.operand("x", [*rows, begin + width + (p.pick(0, 64) if begin else 0)], p.float())
    quantize_rows(p, before(x), columns, rows, width)


def quantize_rows(p, x, columns, rows, width):
    """Payload and scales of these columns of `x`."""
    if p.maybe(0.2):
        return cast(p, x, columns, p.tensor("data", [*rows, width], "f8E4M3FN"))
    element, levels, rounding = draw_format(p)
    layout = p.pick(*fitting_layouts(levels, len(rows) + 1))
    given = p.clauses((levels[-1][1] == "tensor", "given", [1], "f32"))
    outs = [p.tensor("data", [*rows, width], element)]
    for i, (scale, extent) in enumerate(levels):
        if extent == "row":
            outs.append(p.tensor(f"row_scales{i}", rows, scale))
        elif extent != "tensor":
            outs.append(laid_out_scales(p, p.tensor, layout, scale, rows, width // extent))
    p.op(f"dsv4.quantize {x.name} {columns} {given} {'' if layout == 'row_major' else 'scales ' + layout} "
         f"outs{group(outs)} {{format = {format_text(element, levels)}, "
         f"recipe = {recipe_text(p, element, rounding)}}} : {x.type}", *outs)


def dequantize(p):
    rows = [p.dim("rows", 0, 1, 9, 50)] + ([p.pick(1, 3)] if p.maybe(0.2) else [])
    width = p.pick(128, 256, 512)
    element, levels, _ = draw_format(p)
    if p.maybe(0.2):
        element, levels = p.pick("i4", "bf16", "f16"), [(p.pick("bf16", "f16", "f32"), p.pick(32, "row"))]
    data = p.operand("data", [*rows, width], element)
    shapes = {"row": rows, "tensor": [1]}
    layout = p.pick(*fitting_layouts(levels, len(rows) + 1))
    scales = [p.operand(f"scales{i}", shapes[extent], scale) if extent in shapes
              else laid_out_scales(p, p.operand, layout, scale, rows, width // extent)
              for i, (scale, extent) in enumerate(levels)]
    out = p.tensor("out", [*rows, width], p.float())
    high_first = element in ("f4E2M1FN", "i4") and p.maybe(0.2)
    text = format_text(element, levels)[:-1] + (", high_first>" if high_first else ">")
    p.op(f"dsv4.dequantize {data.name} scales {'' if layout == 'row_major' else layout} {group(scales)} "
         f"outs{group([out])} {{format = {text}}} : {data.type}", out)
