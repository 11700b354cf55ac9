"""Values of programs, and what their types are made of."""

from typing import NamedTuple

MANY = 40
"""So many integers that each kind of bad one is among them."""

INTEGERS = ("i32", "i64")
FLOATS = ("bf16", "f16", "f32")
INDEX_RESULTS = ("i32", "i64", "ui32")
SMALL_INDICES = (*INDEX_RESULTS, "i16")
BYTES = {"i1": 1, "i16": 2, "i32": 4, "i64": 8, "ui32": 4, "bf16": 2, "f16": 2, "f32": 4, "f8E4M3FN": 1, "f8E8M0FNU": 1}
PAIRED = ("f4E2M1FN", "i4")
"""Elements of which a byte has two."""


class Value(NamedTuple):
    name: str
    type: str
    shape: tuple
    element: str


def make_value(name, shape, element):
    extents = "".join(("?" if isinstance(e, str) else str(e)) + "x" for e in shape)
    return Value(name, f"tensor<{extents}{element}>", tuple(shape), element)


def group(values):
    """Values in parentheses, with their types."""
    return f"({', '.join(v.name for v in values)} : {', '.join(v.type for v in values)})"
