# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of norms, rotations, other ops of rows, and quantisers."""

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
    of_rows,
)

import dsv4

FLAGS = (False, True)
FLOATS = ("f32", "bf16", "f16")
DTYPES = (None, "float32", "bfloat16", "float16")
_ELEMENT_OF = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
# Rows begin anywhere, but their elements follow each other.
_OF_VECTORS = ("plain", "shifted")


def _result_element(case):
    return _ELEMENT_OF.get(case["dtype"], case["element"])


def _layout_of_rows(case, name="layout"):
    return of_rows(case[name], case["rank"])


def _give_out(case, arguments, shape):
    """`out`: nothing, an array, `x` itself, or an equal view of its memory."""
    x = arguments.get("x")
    if case["out"] == "given":
        zeros = np.zeros(shape, ELEMENTS[_result_element(case)][0])
        arguments["out"] = arrange(zeros, _layout_of_rows(case, "out_layout"))
    elif case["out"]:
        array = x.array if case["out"] == "x" else x.array[...]
        arguments["out"] = x._replace(array=array)


def _allows_out(case):
    return case["out"] in (None, "given") or _result_element(case) == case["element"]


def _expect_rows(case, values, atol=1e-5):
    element = _result_element(case)
    return {"out": Expected(values, lambda stored: decode(stored, element), RTOL[element], atol)}


_ROWS = {
    "element": FLOATS, "dtype": DTYPES, "out": (None, "given", "x", "view"), "layout": LAYOUTS,
    "out_layout": LAYOUTS,
}  # fmt: skip


def make_rms_norm(case, rng):
    shape = {1: (), 2: (5,), 3: (2, 3)}[case["rank"]] + (case["columns"],)
    x = encode(rng.standard_normal(shape), case["element"])
    arguments = {"x": arrange(x, _layout_of_rows(case)), "eps": case["eps"], "dtype": case["dtype"]}
    weight = None
    if case["weight"]:
        stored = encode(rng.standard_normal(case["columns"]), case["weight"])
        weight = decode(stored, case["weight"])
        arguments["weight"] = arrange(stored, case["weight_layout"])
    values = reference.rms_norm(decode(x, case["element"]), weight, case["eps"])
    _give_out(case, arguments, shape)
    return Call(arguments, _expect_rows(case, values))


RMS_NORM = Model(
    "rms_norm",
    {
        **_ROWS, "rank": (2, 1, 3), "columns": (64, 37), "weight": (None, *FLOATS),
        "eps": (1e-6, 0.5), "weight_layout": _OF_VECTORS,
    },
    make_rms_norm, _allows_out,
)  # fmt: skip


def make_rope(case, rng):
    lead = {2: (5,), 3: (5, 2), 4: (5, 2, 3)}[case["rank"]]
    shape = (*lead, case["columns"])
    x = encode(rng.standard_normal(shape), case["element"])
    table = encode(rng.standard_normal((9, case["angles"])), case["table"])
    axes = len(lead) if case["per_head"] else 1
    positions = rng.integers(-1, 10, lead[:axes])
    arguments = {
        "x": arrange(x, case["layout"]), "table": arrange(table, case["table_layout"]),
        "positions": arrange(positions.astype(case["positions"]), case["position_layout"]),
    }  # fmt: skip
    how = {name: case[name] for name in ("inverse", "neox", "interleaved")}
    arguments.update(how, dtype=case["dtype"])
    rows = np.broadcast_to(positions.reshape(*positions.shape, *(1,) * (len(lead) - axes)), lead)
    flat = decode(x, case["element"]).reshape(-1, case["columns"])
    values = reference.rope(flat, decode(table, case["table"]), rows.reshape(-1), **how)
    _give_out(case, arguments, shape)
    return Call(arguments, _expect_rows(case, values.reshape(shape), atol=3e-3))


ROPE = Model(
    "rope",
    {
        **_ROWS, "rank": (2, 3, 4), "columns": (40, 24), "angles": (16, 6), "table": FLOATS,
        "table_layout": LAYOUTS, "positions": INTEGERS, "position_layout": LAYOUTS,
        "per_head": FLAGS, "inverse": FLAGS, "neox": FLAGS, "interleaved": FLAGS,
    },
    make_rope,
    lambda case: _allows_out(case) and not (case["neox"] and case["interleaved"]),
)  # fmt: skip


def make_hadamard(case, rng):
    shape = {1: (), 2: (5,), 3: (2, 3)}[case["rank"]] + (case["columns"],)
    x = encode(rng.standard_normal(shape), case["element"])
    arguments = {"x": arrange(x, _layout_of_rows(case)), "dtype": case["dtype"]}
    arguments["scale"] = case["scale"]
    values = reference.hadamard(decode(x, case["element"]), case["scale"])
    _give_out(case, arguments, shape)
    return Call(arguments, _expect_rows(case, values))


HADAMARD = Model(
    "hadamard",
    {**_ROWS, "rank": (2, 1, 3), "columns": (64, 8), "scale": (None, 0.25)},
    make_hadamard, _allows_out,
)  # fmt: skip


def make_scale_weights(case, rng):
    shape = {1: (), 2: (5,), 3: (2, 3)}[case["rank"]] + (case["columns"],)
    weights = encode(rng.standard_normal(shape), case["element"])
    arguments = {"weights": arrange(weights, _layout_of_rows(case)), "dtype": case["dtype"]}
    arguments["constants"] = case["constants"]
    values = np.float32(1) * decode(weights, case["element"])
    if case["scales"]:
        scales = rng.random(shape).astype(np.float32)
        arguments["scales"] = arrange(scales, of_rows(case["scales"], case["rank"]))
        values = values * scales
    for each in case["constants"]:
        values = values * np.float32(each)
    _give_out(case, arguments, shape)
    return Call(arguments, _expect_rows(case, values))


SCALE_WEIGHTS = Model(
    "scale_weights",
    {
        **_ROWS, "out": (None, "given"), "rank": (2, 1, 3), "columns": (64, 37),
        "scales": (None, *LAYOUTS), "constants": ((0.125, 3.0), (0.1,), ()),
    },
    make_scale_weights, lambda case: bool(case["scales"] or case["constants"]),
)  # fmt: skip


def _give_copy(case, arguments, values):
    """`out` of an op that copies, and what is expected there."""
    if case["out"]:
        layout = of_rows(case["out_layout"], values.ndim)
        arguments["out"] = arrange(np.zeros_like(values), layout)
    return Call(arguments, {"out": Expected(values)})


_COPIES = {"element": FLOATS, "out": FLAGS, "layout": LAYOUTS, "out_layout": LAYOUTS}


def make_concat_rows(case, rng):
    lead = {1: (), 2: (5,), 3: (2, 3)}[case["rank"]]
    x = encode(rng.standard_normal((*lead, case["columns"])), case["element"])
    y = encode(rng.standard_normal((*lead, case["others"])), case["element"])
    arguments = {
        "x": arrange(x, _layout_of_rows(case)), "y": arrange(y, _layout_of_rows(case, "layout_y"))
    }  # fmt: skip
    return _give_copy(case, arguments, np.concatenate([x, y], -1))


CONCAT_ROWS = Model(
    "concat_rows",
    {**_COPIES, "rank": (2, 1, 3), "columns": (64, 5), "others": (64, 3), "layout_y": LAYOUTS},
    make_concat_rows,
)  # fmt: skip


def make_pad_rows(case, rng):
    lead = {2: (), 3: (5,), 4: (2, 3)}[case["rank"]]
    x = encode(rng.standard_normal((*lead, case["heads"], case["columns"])), case["element"])
    arguments = {"x": arrange(x, _layout_of_rows(case)), "rows": case["rows"]}
    added = [(0, 0)] * len(lead) + [(0, case["rows"] - case["heads"]), (0, 0)]
    return _give_copy(case, arguments, np.pad(x, added))


PAD_ROWS = Model(
    "pad_rows",
    {**_COPIES, "rank": (3, 2, 4), "heads": (3, 1), "rows": (8, 3), "columns": (64, 5)},
    make_pad_rows,
)  # fmt: skip


# ===-- Quantisers -----------------------------------------------------------===

RECIPES = (
    "deepseek_fp8", "deepseek_fp8_ue8m0", "mxfp4", "vllm_nvfp4", "nvfp4", "seed", "outer_row",
    "fp8_tensor", "vllm_fp8_tensor",
)  # fmt: skip
_OWN = {"outer_row": dsv4.Recipe("f4E2M1FN", "f8E4M3FN", 16, outer="row")}
_COLUMNS = 256


def _recipe(case):
    """The recipe, and what it is with the options of a case."""
    given = _OWN.get(case["recipe"], case["recipe"])
    return given, dsv4.quantisation.choose_recipe(given, case["group"], case["scale_type"])


def _is_known(case):
    try:
        return _recipe(case)[1]
    except dsv4.InvalidArgument:
        return None


def _allows_scales(case):
    recipe = _is_known(case)
    if recipe is None:
        return False
    layout = case["scale_layout"]
    types = dsv4.quantisation._SCALES_OF_LAYOUTS.get(layout, (recipe.scale,))
    if layout != "row_major" and (
        case["rank"] != 2 or recipe.group in ("row", "tensor") or recipe.scale not in types
    ):
        return False
    return recipe.outer is None or (recipe.scale == "f8E4M3FN" and recipe.group != "row")


def _allows_recipe(case):
    try:
        recipe = dsv4.recipes.check_scales(_recipe(case)[1])
    except dsv4.InvalidArgument:
        return False
    if case["inverse"] and (recipe.group != "tensor" or recipe.payload_by != "divide"):
        return False
    return _allows_scales(case)


def find_scale_offsets(layout, shape, rows, groups):
    """Where the scales of rows are, in the bytes or elements of a layout."""
    r, g = np.mgrid[:rows, :groups]
    if layout == "column_major":
        return g * shape[1] + r
    if layout == "packed":
        return (g // 4 * shape[1] + r) * 4 + g % 4
    block = 128 if layout == "swizzle_128x4" else 8
    inner = r % 32 * 16 + r % 128 // 32 * 4 if block == 128 else r % 8 * 4
    return r // block * block * shape[1] + g // 4 * block * 4 + inner + g % 4


def read_scales(stored, recipe, layout, lead, columns):
    """The scales of values, from a tensor of a layout."""
    if layout != "row_major":
        groups = columns // recipe.group
        flat = np.ascontiguousarray(stored).reshape(-1)
        flat = flat.view(np.uint8) if layout == "packed" else flat
        stored = flat[find_scale_offsets(layout, stored.shape, lead[0], groups)]
    if recipe.scale == "f8E8M0FNU":
        scales = 2.0 ** (stored.astype(np.float64) - 127)
    else:
        scales = reference.e4m3_values()[stored] if recipe.scale == "f8E4M3FN" else stored
    if recipe.group == "tensor":
        return np.full((*lead, columns), scales[0], np.float64)
    group = columns if recipe.group == "row" else recipe.group
    return np.repeat(scales.reshape(*lead, -1), group, -1).astype(np.float64)


def read_values(stored, recipe):
    if recipe.payload == "f4E2M1FN":
        return reference.unpack_fp4(stored)
    return reference.e4m3_values()[stored]


_LAYOUT_OPTIONS = {
    "element": FLOATS, "rank": (2, 1, 3), "recipe": RECIPES, "group": (None, 64, 32),
    "scale_type": (None, *dsv4.recipes.SCALE_TYPES), "scale_layout": dsv4.quantisation.LAYOUTS,
    "out": FLAGS, "layout": LAYOUTS, "out_layout": LAYOUTS, "scale_rows": LAYOUTS[:2],
}  # fmt: skip


def _lead(case):
    return {1: (), 2: (5,), 3: (2, 3)}[case["rank"]]


def _scale_shape(case, recipe):
    return dsv4.quantisation.shape_of_scales(recipe, case["scale_layout"], _lead(case), _COLUMNS)


_STORED = {"f32": np.float32, "i32": np.int32}


def make_quantize(case, rng):
    given, recipe = _recipe(case)
    lead = _lead(case)
    x = encode(rng.standard_normal((*lead, _COLUMNS)), case["element"])
    arguments = {"x": arrange(x, _layout_of_rows(case)), "recipe": given}
    arguments.update({name: case[name] for name in ("group", "scale_type", "scale_layout")})
    by_tensor = recipe.group == "tensor"
    scale = np.array([1 / 64 if by_tensor else 0.25], np.float32)
    if recipe.outer == "tensor" or by_tensor:
        arguments["global_scale"] = arrange(1 / scale if case["inverse"] else scale)
    if by_tensor:
        arguments["inverse"] = case["inverse"]
    if case["out"]:
        element, shape = _scale_shape(case, recipe)
        packed = 2 if recipe.payload == "f4E2M1FN" else 1
        values = np.zeros((*lead, _COLUMNS // packed), np.uint8)
        # Blocks are aligned.
        is_blocks = case["scale_layout"].startswith("swizzle")
        scale_rows = "plain" if is_blocks else case["scale_rows"]
        outs = [
            arrange(values, _layout_of_rows(case, "out_layout")),
            arrange(np.zeros(shape, _STORED.get(element, np.uint8)), scale_rows),
        ]
        if recipe.outer == "row":
            outs.append(arrange(np.zeros(lead, np.float32)))
        arguments["out"] = outs[0] if by_tensor else tuple(outs)

    def verify(results):
        values = read_values(results[0], recipe)
        stored = scale if by_tensor else results[1]
        spread = read_scales(stored, recipe, case["scale_layout"], lead, _COLUMNS)
        if recipe.outer:
            outer = results[2] if recipe.outer == "row" else scale[0]
            spread = spread * np.asarray(outer, np.float64)[..., None]
        exact = decode(x, case["element"])
        step = 2 if recipe.payload == "f4E2M1FN" else 32
        largest = 6 if recipe.payload == "f4E2M1FN" else 448
        off = np.abs(values * spread - exact)
        # Scales of FP8 are rounded, so the largest values may be beyond those of the payload.
        beyond = np.maximum(np.abs(exact) - largest * spread, 0)
        if not (off <= spread * step / 2 * 1.001 + beyond * 1.001).all():
            return f"values are off by up to {off.max()}"
        if by_tensor:
            return None
        # No scale is more than twice as large as it has to be.
        groups = np.abs(exact).reshape(spread.shape)
        group = _COLUMNS if recipe.group == "row" else recipe.group
        most = groups.reshape(*lead, -1, group).max(-1) / largest * 2.01
        if recipe.outer != "tensor" and (spread.reshape(*lead, -1, group)[..., 0] > most).any():
            return "scales are too large"
        return None

    return Call(arguments, dict.fromkeys(_results(recipe)), verify)


def _results(recipe):
    if recipe.group == "tensor":
        return ("values",)
    return ("values", "scales", "row_scales")[: 2 + (recipe.outer == "row")]


QUANTIZE = Model(
    "quantize", {**_LAYOUT_OPTIONS, "inverse": FLAGS}, make_quantize, _allows_recipe
)


def make_dequantize(case, rng):
    given, recipe = _recipe(case)
    lead = _lead(case)
    packed = 2 if recipe.payload == "f4E2M1FN" else 1
    payload = rng.integers(0, 126, (*lead, _COLUMNS // packed)).astype(np.uint8)
    element, shape = _scale_shape(case, recipe)
    stored = rng.integers(115, 126, shape).astype(np.uint8)
    if element == "f32":
        stored = rng.random(shape).astype(np.float32)
    elif element == "i32":
        stored = rng.integers(115, 126, (*shape, 4)).astype(np.uint8).view(np.int32)[..., 0]
    arguments = {
        "values": arrange(payload, _layout_of_rows(case)), "recipe": given,
        "scales": arrange(stored, case["scale_rows"]), "dtype": case["dtype"],
    }  # fmt: skip
    arguments.update({name: case[name] for name in ("group", "scale_type", "scale_layout")})
    rows = read_values(payload, recipe) * read_scales(
        stored, recipe, case["scale_layout"], lead, _COLUMNS
    )
    if recipe.outer:
        outer = rng.random(lead if recipe.outer == "row" else 1).astype(np.float32)
        arguments["row_scales" if recipe.outer == "row" else "global_scale"] = arrange(outer)
        rows = rows * (outer[..., None] if recipe.outer == "row" else outer[0])
    element = _ELEMENT_OF.get(case["dtype"], "bf16")
    if element == "f16":
        rows = np.where(np.abs(rows) < 65520, rows, np.copysign(np.inf, rows))
    if case["out"]:
        zeros = np.zeros((*lead, _COLUMNS), ELEMENTS[element][0])
        arguments["out"] = arrange(zeros, _layout_of_rows(case, "out_layout"))
    return Call(
        arguments,
        {"out": Expected(rows, lambda got: decode(got, element), RTOL[element], 1e-6)},
    )


DEQUANTIZE = Model(
    "dequantize",
    {**{n: v for n, v in _LAYOUT_OPTIONS.items() if n != "element"}, "dtype": DTYPES},
    make_dequantize, _allows_scales,
)  # fmt: skip

MODELS = (
    RMS_NORM, ROPE, HADAMARD, SCALE_WEIGHTS, CONCAT_ROWS, PAD_ROWS, QUANTIZE, DEQUANTIZE,
)  # fmt: skip
