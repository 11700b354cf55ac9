# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantising and decoding rows."""

from __future__ import annotations

from typing import Any

from ._arrays import make_error
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_word, refuse
from ._program import Program, Value
from ._types import Array, Arrays, Stream
from .recipes import SCALE_TYPES, Recipe, check_given, check_group, check_scales, find_recipe
from .rows import float_type, rows_shape
from .selection import FLOATS, take_outputs

# The types of scales of a layout, if it is not for all.
_SCALES_OF_LAYOUTS = {
    "packed": ("f8E8M0FNU",), "swizzle_128x4": ("f8E8M0FNU", "f8E4M3FN"),
    "swizzle_8x4": ("f8E8M0FNU", "f8E4M3FN"),
}  # fmt: skip
LAYOUTS = ("row_major", "column_major", "packed", "swizzle_128x4", "swizzle_8x4")


def choose_recipe(recipe: str | Recipe, group: int | str | None, scale_type: str | None) -> Recipe:
    chosen = find_recipe(recipe)
    if group is not None:
        chosen = chosen._replace(group=check_group("group", group))
    if scale_type is not None:
        chosen = chosen._replace(scale=check_word("scale_type", scale_type, SCALE_TYPES))
    return check_given(chosen)


def _count_groups(recipe: Recipe, columns: int) -> int:
    if recipe.group in ("row", "tensor"):
        return 1
    group = int(recipe.group)
    if columns % group:
        raise make_error(
            InvalidArgument, "option.group", "group",
            f"'group' is {group}, which does not divide the {columns} columns",
        )  # fmt: skip
    return columns // group


def _check_layout(recipe: Recipe, scale_layout: str, name: str, value: Value) -> str:
    """The word of a layout in the text of a program."""
    columns = value.shape[-1]
    if recipe.payload == "f4E2M1FN" and isinstance(columns, int) and columns % 2:
        raise make_error(
            InvalidArgument, "argument.extent", name,
            f"argument '{name}' has {columns} columns, expected an even number of FP4",
        )  # fmt: skip
    if scale_layout == "row_major":
        return ""
    if len(value.shape) != 2:
        raise make_error(
            InvalidArgument, "argument.rank", name,
            f"argument '{name}' has rank {len(value.shape)}, and 'scale_layout' {scale_layout!r} "
            "needs rank 2",
        )  # fmt: skip
    known = _SCALES_OF_LAYOUTS.get(scale_layout, SCALE_TYPES)
    if recipe.group in ("row", "tensor") or recipe.scale not in known:
        raise refuse(
            "scale_layout", scale_layout,
            f"'row_major' for scales of {recipe.scale} per {recipe.group}",
        )  # fmt: skip
    return f" {scale_layout}"


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def shape_of_scales(
    recipe: Recipe, layout: str, lead: tuple[Any, ...], columns: int
) -> tuple[str, tuple[Any, ...]]:
    """Element and shape of the tensor of scales, with the padding of rows that layouts have.
    `lead` has the extents of the rows."""
    groups = _count_groups(recipe, columns)
    if recipe.group == "tensor":
        return recipe.scale, (1,)
    if layout == "row_major":
        return recipe.scale, lead if recipe.group == "row" else (*lead, groups)
    (rows,) = lead
    if layout == "column_major":
        return recipe.scale, (groups, _round_up(rows, 4))
    if layout == "packed":
        return "i32", (-(-groups // 4), _round_up(rows, 4))
    block = 128 if layout == "swizzle_128x4" else 8
    return recipe.scale, (_round_up(rows, block), _round_up(groups, 4))


def _scales_shape(
    program: Program, recipe: Recipe, layout: str, value: Value, given: bool
) -> tuple[str, tuple[int | str, ...]]:
    """The same in dims. A tensor that is given says itself how many rows of scales there are."""
    lead, columns = tuple(value.shape[:-1]), value.shape[-1]
    assert isinstance(columns, int)
    if layout == "row_major":
        return shape_of_scales(recipe, layout, lead, columns)
    element, shape = shape_of_scales(recipe, layout, (program.dims["tokens"],), columns)
    axis = 0 if layout.startswith("swizzle") else 1
    if not given:
        program.dims["scale_rows"] = shape[axis]
    return element, ("scale_rows", shape[1]) if axis == 0 else (shape[0], "scale_rows")


def _access_scales(layout: str) -> str:
    """How scales are in memory: swizzled ones are blocks that follow each other."""
    return "blocks" if layout.startswith("swizzle") else "rows"


def _give_scale(program: Program, recipe: Recipe, global_scale: Any, inverse: bool) -> str:
    """The clause with the scale that the caller has calibrated."""
    is_given = "tensor" in (recipe.group, recipe.outer)
    if is_given != (global_scale is not None):
        has = "a scale per 'tensor'" if is_given else "no scale per 'tensor'"
        what = "missing" if global_scale is None else "given"
        raise make_error(
            InvalidArgument, "argument.global_scale", "global_scale",
            f"'global_scale' is {what}, and the recipe has {has}",
        )  # fmt: skip
    if check_flag("inverse", inverse) and (
        recipe.group != "tensor" or recipe.payload_by != "divide"
    ):
        raise refuse(
            "inverse", inverse, "False, unless the group is 'tensor' and 'payload_by' 'divide'"
        )
    if global_scale is None:
        return ""
    value = program.input("global_scale", global_scale, ("f32",), (1,))
    return f" given{' inverse' if inverse else ''}({value} : {value.type})"


@function
def quantize(
    x: Array,
    recipe: str | Recipe,
    *,
    group: int | str | None = None,
    scale_type: str | None = None,
    scale_layout: str = "row_major",
    global_scale: Array | None = None,
    inverse: bool = False,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Quantised rows, and the scales of their groups.

    >>> values, scales = dsv4.quantize(x, "deepseek_fp8", group=128)
    >>> values, scales = dsv4.quantize(x, "nvfp4", global_scale=g, scale_layout="swizzle_128x4")
    >>> values = dsv4.quantize(x, "fp8_tensor", global_scale=input_scale)

    Args:
        x: f32, bf16 or f16 `[..., N]`.
        recipe: a name of `dsv4.KNOWN_RECIPES`, or a `dsv4.Recipe`.
        group: values that share a scale, 'row' or 'tensor'; None: that of the recipe.
        scale_type: 'f32', 'f8E8M0FNU' or 'f8E4M3FN'; None: that of the recipe.
        scale_layout: 'row_major', 'column_major', 'packed', 'swizzle_128x4' or 'swizzle_8x4'.
            All but the first need an `x` of rank 2.
        global_scale: f32 `[1]`, for recipes whose group or outer level is 'tensor'. A value is
            payload x scale x `global_scale`: that is amax / (6 * 448) for NVFP4, the reciprocal of
            what FlashInfer and vLLM call so. With the group 'tensor' there is no other scale.
        inverse: with the group 'tensor': `global_scale` is the inverse, which values are
            multiplied by.
        out: `(values, scales)` to write to, with the outer scales if they are per row; `values`
            with the group 'tensor'.
        stream: as for `topk`.

    Returns:
        `(values, scales)`, and the f32 scales per row if the recipe has such an outer level;
        `values` alone with the group 'tensor', whose scale is given. FP4 values are two per byte,
        in uint8 `[..., N / 2]`. Scales are `[..., N / group]`, or as their layout says
        (docs/Quantisation.md), with rows padded to its multiple; padding that nothing is written
        to is zero.

    Raises:
        InvalidArgument: a shape, stride, recipe, group or layout.
        TypeMismatch: an element type or a device.
    """
    chosen = check_scales(choose_recipe(recipe, group, scale_type))
    scale_layout = check_word("scale_layout", scale_layout, LAYOUTS)
    program = Program("quantize")
    value = program.input("x", x, FLOATS, rows_shape("x", x))
    given = _give_scale(program, chosen, global_scale, inverse)
    lead = tuple(value.shape[:-1])
    layout = _check_layout(chosen, scale_layout, "x", value)
    of_groups = ("scales",) * (chosen.group != "tensor")
    results = ("values", *of_groups, *("row_scales",) * (chosen.outer == "row"))
    outs = take_outputs(out, len(results))
    tensors = [program.output("values", chosen.payload, value.shape, outs[0])]
    if of_groups:
        element, shape = _scales_shape(program, chosen, scale_layout, value, outs[1] is not None)
        tensors.append(
            program.output(
                "scales", element, shape, outs[1], keep=scale_layout != "row_major",
                access=_access_scales(scale_layout),
            )
        )  # fmt: skip
    if chosen.outer == "row":
        tensors.append(program.output("row_scales", "f32", lead, outs[2]))
    names = [program.fresh("q") for _ in tensors]
    of = f" scales{layout}" if layout else ""
    program.line(
        f"{', '.join(names)} = dsv4.quantize {value}{given}{of} "
        f"outs({', '.join(map(str, tensors))} : {', '.join(each.type for each in tensors)}) "
        f"{{format = {chosen.format}, recipe = {chosen.attribute}}} : {value.type}"
    )
    program.returns(*zip(names, tensors))
    return launch(program, results, stream)


@function
def dequantize(
    values: Array,
    scales: Array,
    recipe: str | Recipe,
    *,
    group: int | str | None = None,
    scale_type: str | None = None,
    scale_layout: str = "row_major",
    global_scale: Array | None = None,
    row_scales: Array | None = None,
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Decoded rows: quantised values times their scales.

    >>> x = dsv4.dequantize(values, scales, "deepseek_fp8")

    Args:
        values: `[..., N]` of the payload type of the recipe, or its bits as uint8; FP4 is two per
            byte, `[..., N / 2]`.
        scales: `[..., N / group]` of the scale type, or its bits; or as their layout says. With
            the group 'tensor' f32 `[1]`.
        recipe: which types and groups are stored. The rest of a recipe is not needed to decode.
        group, scale_type: instead of those of the recipe.
        scale_layout: as for `quantize`: where the scales are.
        global_scale: f32 `[1]`, with an outer level 'tensor': what `quantize` was given.
        row_scales: f32 `[...]`, with an outer level 'row'.
        dtype: of the result: 'bfloat16', 'float32' or 'float16'; None: that of `out`, or
            bfloat16.
        out: an array to write to.
        stream: as for `topk`.

    Returns:
        rows `[..., N]`.

    Raises:
        InvalidArgument: a shape, stride, recipe or group.
        TypeMismatch: an element type or a device.
    """
    chosen = choose_recipe(recipe, group, scale_type)
    scale_layout = check_word("scale_layout", scale_layout, LAYOUTS)
    program = Program("dequantize")
    value = program.input("values", values, (chosen.payload,), rows_shape("values", values))
    lead = tuple(value.shape[:-1])
    layout = _check_layout(chosen, scale_layout, "values", value)
    element, shape = _scales_shape(program, chosen, scale_layout, value, given=True)
    levels: list[Value] = [
        program.input("scales", scales, (element,), shape, _access_scales(scale_layout))
    ]
    for outer, name, array, of in (
        ("tensor", "global_scale", global_scale, (1,)),
        ("row", "row_scales", row_scales, lead),
    ):
        if (chosen.outer == outer) != (array is not None):
            raise make_error(
                InvalidArgument, f"argument.{name}", name,
                f"'{name}' and a recipe with an outer level '{outer}' go together",
            )  # fmt: skip
        if array is not None:
            levels.append(program.input(name, array, ("f32",), of))
    target = program.output("out", float_type(dtype, "bf16", out), value.shape, out)
    rows = program.fresh("d")
    program.line(
        f"{rows} = dsv4.dequantize {value} "
        f"scales{layout}({', '.join(map(str, levels))} : "
        f"{', '.join(each.type for each in levels)}) "
        f"outs({target} : {target.type}) {{format = {chosen.format}}} : {value.type}"
    )
    program.returns((rows, target))
    return launch(program, ("out",), stream)
