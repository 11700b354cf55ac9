# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recipes of quantisers: which numbers are stored, and in which types.

    values, scales = dsv4.quantize(x, "deepseek_fp8")
    values, scales = dsv4.quantize(x, dsv4.Recipe("f8E4M3FN", "f32", 128, floor=1e-4))
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from ._arrays import make_error
from ._dsv4 import InvalidArgument
from ._options import check_flag, check_float, check_int, check_word, plain_text, refuse
from .records import Record, find_named

PAYLOAD_TYPES = ("f8E4M3FN", "f4E2M1FN")
SCALE_TYPES = ("f32", "f8E8M0FNU", "f8E4M3FN")

# What the fields of a recipe may be.
_WORDS = {
    "payload": PAYLOAD_TYPES, "scale": SCALE_TYPES, "floor_of": ("amax", "scale"),
    "limit": ("divide", "reciprocal"), "rounding": ("nearest", "up", "up_pow2"),
    "payload_by": ("divide", "reciprocal"), "ties": ("even", "down"),
}  # fmt: skip
_OUTERS = ("tensor", "row")


def print_f32(value: float) -> str:
    """A number as MLIR reads the nearest f32."""
    return f"0x{struct.unpack('<I', struct.pack('<f', value))[0]:08X}"


def print_decimal(value: float) -> str:
    """The same in a list, where MLIR takes no bits."""
    return f"{struct.unpack('<f', struct.pack('<f', value))[0]:.9e}"


def check_group(name: str, group: Any) -> int | str:
    """The values of a group, 'row', or 'tensor'."""
    word = plain_text(group)
    return word if word in ("row", "tensor") else check_int(name, group, 1)


class _Recipe(NamedTuple):
    payload: str
    scale: str
    group: int | str
    outer: str | None = None
    floor: float = 0.0
    floor_of: str = "amax"
    limit: str = "divide"
    rounding: str = "nearest"
    payload_by: str = "divide"
    ties: str = "even"
    drop_negative_zero: bool = False


class Recipe(_Recipe):
    """How values are quantised.

    `payload` ('f8E4M3FN' or 'f4E2M1FN') and `scale` ('f8E8M0FNU', 'f8E4M3FN' or 'f32') are the
    stored types, `group` the values that share a scale, 'row' for all of a row, 'tensor' for all
    there are: then the caller gives the one scale. `outer` is a second level of f32 scales:
    'tensor', which the caller gives, or 'row'. The others are the parameters of
    `#dsv4.quantizer`, in docs/Quantisation.md.

    Raises:
        InvalidArgument: what one of them is.
    """

    __slots__ = ()

    def __new__(
        cls,
        payload: str,
        scale: str,
        group: int | str,
        outer: str | None = None,
        floor: float = 0.0,
        floor_of: str = "amax",
        limit: str = "divide",
        rounding: str = "nearest",
        payload_by: str = "divide",
        ties: str = "even",
        drop_negative_zero: bool = False,
    ) -> Recipe:
        words = {
            "payload": payload, "scale": scale, "floor_of": floor_of, "limit": limit,
            "rounding": rounding, "payload_by": payload_by, "ties": ties,
        }  # fmt: skip
        checked = {
            name: check_word(f"recipe.{name}", word, _WORDS[name]) for name, word in words.items()
        }
        return super().__new__(
            cls,
            group=check_group("recipe.group", group),
            outer=outer if outer is None else check_word("recipe.outer", outer, _OUTERS),
            floor=check_float("recipe.floor", floor, 0),
            drop_negative_zero=check_flag("recipe.drop_negative_zero", drop_negative_zero),
            **checked,
        )

    @classmethod
    def _make(cls, iterable: Iterable[Any], **unused: Any) -> Recipe:
        """For `_replace`, whose fields are checked, too."""
        return cls(*iterable)

    @property
    def attribute(self) -> str:
        """`#dsv4.quantizer<...>`: parameters that are the default are left out."""
        parts = []
        if self.floor:
            parts.append(f"floor = {print_f32(self.floor)} : f32")
            if self.floor_of != "amax":
                parts.append(f"floor_of = {self.floor_of}")
        if self.limit != "divide":
            parts.append(f"limit = {self.limit}")
        if self.rounding != "nearest":
            parts.append(f"rounding = {self.rounding}")
        if self.payload_by != "divide":
            parts.append(f"payload = {self.payload_by}")
        if self.ties != "even":
            parts.append(f"ties = {self.ties}")
        if self.drop_negative_zero:
            parts.append("drop_negative_zero = true")
        return f"#dsv4.quantizer<{', '.join(parts)}>"

    @property
    def format(self) -> str:
        """`#dsv4.format<...>`."""
        return print_format(self.payload, [(self.scale, self.group)], self.outer)


def print_format(
    payload: str, levels: list[tuple[str, int | str]], outer: str | None = None
) -> str:
    if outer:
        levels = [*levels, ("f32", outer)]
    scales = ", ".join(f"<{scale} per {group}>" for scale, group in levels)
    return f"#dsv4.format<{payload}, [{scales}]>" if levels else f"#dsv4.format<{payload}>"


_FP4_FLOOR = 6 * 2.0**-126

KNOWN_RECIPES: dict[str, Recipe] = {
    "deepseek_fp8": Recipe("f8E4M3FN", "f32", 128, floor=1e-4, limit="reciprocal"),
    "deepseek_fp8_ue8m0": Recipe(
        "f8E4M3FN", "f8E8M0FNU", 128, floor=1e-4, limit="reciprocal", rounding="up_pow2"
    ),
    "deepseek_fp4": Recipe(
        "f4E2M1FN", "f8E8M0FNU", 32, floor=_FP4_FLOOR, limit="reciprocal", rounding="up_pow2"
    ),
    "deepseek_v4": Recipe(
        "f8E4M3FN", "f8E8M0FNU", 64, floor=1e-4, limit="reciprocal", rounding="up_pow2"
    ),
    "flashmla_v4": Recipe(
        "f8E4M3FN", "f8E8M0FNU", 64, floor=1e-4, floor_of="scale", rounding="up_pow2"
    ),
    "vllm_v4": Recipe("f8E4M3FN", "f8E8M0FNU", 64, floor=1e-4, rounding="up_pow2"),
    "sglang_v41_fp8": Recipe(
        "f8E4M3FN", "f8E8M0FNU", 32, floor=1e-4, floor_of="scale", rounding="up_pow2"
    ),
    "v41_fp4": Recipe(
        "f4E2M1FN", "f8E4M3FN", 16, floor=2.0**-9, floor_of="scale", limit="reciprocal"
    ),
    "vllm_nvfp4": Recipe(
        "f4E2M1FN", "f8E4M3FN", 16, floor=2.0**-9, floor_of="scale", rounding="up",
        payload_by="reciprocal",
    ),
    "nvfp4": Recipe("f4E2M1FN", "f8E4M3FN", 16, outer="tensor"),
    "mxfp4": Recipe("f4E2M1FN", "f8E8M0FNU", 32, rounding="up_pow2"),
    "sglang_mxfp4": Recipe(
        "f4E2M1FN", "f8E8M0FNU", 32, floor=1e-4 / 6, floor_of="scale", rounding="up_pow2",
        ties="down", drop_negative_zero=True,
    ),
    "seed": Recipe("f8E4M3FN", "f32", "row", floor=1e-12, floor_of="scale"),
    "deepgemm_fp8": Recipe("f8E4M3FN", "f32", "row", floor=1e-4, payload_by="reciprocal"),
    "vllm_index_q": Recipe(
        "f8E4M3FN", "f32", "row", floor=1e-4, limit="reciprocal", rounding="up_pow2"
    ),
    "vllm_index_k": Recipe("f8E4M3FN", "f32", "row", floor=1e-4, rounding="up_pow2"),
    "flashmla_v32": Recipe(
        "f8E4M3FN", "f32", 128, floor=1e-4, floor_of="scale", rounding="up_pow2"
    ),
    "vllm_v32": Recipe("f8E4M3FN", "f32", 128, floor=2.0**-126, floor_of="scale"),
    "fp8_tensor": Recipe("f8E4M3FN", "f32", "tensor"),
    "vllm_fp8_tensor": Recipe("f8E4M3FN", "f32", "tensor", payload_by="reciprocal"),
    "vllm_fp8": Recipe("f8E4M3FN", "f32", 128, floor=1e-10),
    "vllm_fp8_ue8m0": Recipe("f8E4M3FN", "f32", 128, floor=1e-10, rounding="up_pow2"),
}  # fmt: skip

# The recipe of a record that is given without one: what engines of today write.
DEFAULT_RECIPES = {
    "v32_656": "flashmla_v32",
    "v4_584": "deepseek_v4",
    "v41_528": "sglang_v41_fp8",
    "v41_fp4_288": "v41_fp4",
    "v41_interleaved_528": "sglang_v41_fp8",
    "v41_fp4_interleaved_288": "v41_fp4",
    "index_fp8_132": "deepgemm_fp8",
    "index_mxfp4_68": "sglang_mxfp4",
    "seed_580": "seed",
}


# How scales of a type are rounded.
_ROUNDINGS = {
    "f32": ("nearest", "up_pow2"), "f8E8M0FNU": ("up_pow2",), "f8E4M3FN": ("nearest", "up"),
}  # fmt: skip


def find_recipe(recipe: str | Recipe) -> Recipe:
    """The recipe of a name, or the recipe itself."""
    return find_named("recipe", Recipe, recipe, KNOWN_RECIPES)


def check_given(recipe: Recipe) -> Recipe:
    """The recipe, which has the types that one given scale goes with."""
    if recipe.group == "tensor" and (recipe.payload, recipe.scale, recipe.outer) != (
        "f8E4M3FN", "f32", None
    ):  # fmt: skip
        raise refuse(
            "recipe.group", "tensor",
            "a number or 'row', unless f8E4M3FN has scales of f32 and no outer level",
        )  # fmt: skip
    return recipe


def check_scales(recipe: Recipe) -> Recipe:
    """The recipe, whose scales can be computed: to decode, nothing of this is needed."""
    if check_given(recipe).group == "tensor":
        only = Recipe("f8E4M3FN", "f32", "tensor", payload_by=recipe.payload_by)
        if recipe.attribute != only.attribute:
            raise refuse(
                "recipe.group", "tensor",
                "a number or 'row', or a recipe with 'payload_by' alone: nothing is computed of a "
                "given scale",
            )  # fmt: skip
    known = _ROUNDINGS.get(recipe.scale, ())
    if known and recipe.rounding not in known:
        raise refuse(
            "recipe.rounding", recipe.rounding,
            f"{' or '.join(map(repr, known))} for scales of {recipe.scale}",
        )  # fmt: skip
    if recipe.payload != "f4E2M1FN" and (recipe.ties == "down" or recipe.drop_negative_zero):
        raise refuse(
            "recipe.payload", recipe.payload, "'f4E2M1FN' with ties 'down' or 'drop_negative_zero'"
        )
    if recipe.outer and (recipe.scale != "f8E4M3FN" or recipe.group == "row"):
        raise refuse("recipe.outer", recipe.outer, "None, unless scales are of f8E4M3FN per group")
    return recipe


def recipe_of(record: Record, recipe: str | Recipe | None) -> Recipe:
    """The recipe that is given, or that of the record."""
    if recipe is not None:
        return find_recipe(recipe)
    name = DEFAULT_RECIPES.get(record.name)
    if name is None:
        raise make_error(
            InvalidArgument, "recipe.missing", "recipe",
            f"'recipe' is needed: record {record.title} has none that all engines use",
        )  # fmt: skip
    return KNOWN_RECIPES[name]
