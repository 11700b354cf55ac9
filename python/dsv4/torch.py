# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions as operators of torch, for torch.compile and its graphs.

    import dsv4.torch
    indices = torch.ops.dsv4.topk(scores, 512)
    torch.ops.dsv4.topk_out(scores, 512, indices)

An operator has the name of its function and plain scalars as options. It returns new tensors, or
changes the cache that its schema says, and nothing else. With `_out` it writes to tensors of the
caller, which follow the arguments without a default, and returns nothing. A cache is one tensor:
records in several arrays are for the functions.

Arguments may be given by position or by name. By position is faster, and the functions themselves
are faster still in eager code; they work under graph capture, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import library as torch_library

import dsv4

from ._arrays import make_error
from ._dsv4 import InvalidArgument
from ._kernels import operator, program_of
from ._operators import FAKES, SCHEMAS, WITH_OUT, fake_nothing, split_schema
from ._options import refuse
from ._show import show
from .recipes import find_recipe

# ===-- What runs ---------------------------------------------------------------===


def _with_groups(run: Callable[..., Any]) -> Callable[..., Any]:
    """A router by score, whose groups come as a list."""

    def call(*, groups: Any = None, **options: Any) -> Any:
        return run(groups=None if groups is None else tuple(groups), **options)

    return call


def _index_query(*, payload: str, recipe: str, **options: Any) -> Any:
    if find_recipe(recipe).payload != payload:
        raise refuse("recipe", recipe, f"one of {payload}: FP8 is for index_query, and FP4 for "
                     "index_query_fp4")  # fmt: skip
    return dsv4.index_query(recipe=recipe, **options)


def _compress_plan_slots(*, slots: Any = None, page_table: Any = None, **options: Any) -> Any:
    if slots is None and page_table is None:
        raise make_error(
            InvalidArgument, "argument.slots", "slots",
            "'slots' or 'page_table' is needed: without them, torch.ops.dsv4.compress_plan is for "
            "plans and positions",
        )  # fmt: skip
    return dsv4.compress_plan(slots=slots, page_table=page_table, **options)


def _check_group(recipe: str, group: int | None = None, *, is_given: bool) -> None:
    """An operator has one number of results: there are scales, or one scale is given."""
    if (group is None and find_recipe(recipe).group == "tensor") != is_given:
        other = "quantize" if is_given else "quantize_given"
        raise make_error(
            InvalidArgument, "option.recipe", "recipe",
            f"'recipe' is {show(recipe)}, which torch.ops.dsv4.{other} is for",
        )  # fmt: skip


def _quantize(*, recipe: str, group: int | None = None, **options: Any) -> Any:
    _check_group(recipe, group, is_given=False)
    return dsv4.quantize(recipe=recipe, group=group, **options)


def _quantize_given(*, recipe: str = "fp8_tensor", **options: Any) -> Any:
    _check_group(recipe, is_given=True)
    return dsv4.quantize(recipe=recipe, **options)


_RUN: dict[str, Callable[..., Any]] = {
    "topk_values": partial(dsv4.topk, return_values=True),
    "index_topk_slots": partial(dsv4.index_topk, return_indices=False, return_slots=True),
    "gather_mask": partial(dsv4.gather, return_mask=True),
    "compress_plan_slots": _compress_plan_slots,
    "quantize": _quantize,
    "quantize_given": _quantize_given,
    "gather_raw": lambda **options: list(dsv4.gather_raw(**options)),
    "index_query": partial(_index_query, payload="f8E4M3FN"),
    "index_query_fp4": partial(_index_query, payload="f4E2M1FN"),
    "route": _with_groups(dsv4.route),
    "route_replay": _with_groups(partial(dsv4.route, return_replay=True)),
    "hash_route_replay": partial(dsv4.hash_route, return_replay=True),
    "dense_route": _with_groups(dsv4.dense_route),
    "dense_route_replay": _with_groups(partial(dsv4.dense_route, return_replay=True)),
    "dense_route_logits": _with_groups(partial(dsv4.dense_route, return_logits=True)),
}


def _by_name(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, for an operator that has some arguments by position."""
    names = [each.partition("=")[0].rpartition(" ")[2] for each in split_schema(SCHEMAS[name])[0]]

    def call(*args: Any, **kw: Any) -> Any:
        return run(**dict(zip(names, args)), **kw)

    return call


def _body(name: str) -> Callable[..., Any]:
    """What an operator runs for a call that has no plan."""
    of = WITH_OUT.get(name, name)
    run = _RUN.get(of) or getattr(dsv4, of)
    outs = [each.partition(" ")[2] or "out" for each in split_schema(SCHEMAS[of])[1]]

    def run_with_out(**kw: Any) -> None:
        out = tuple(kw.pop(each) for each in outs)
        run(**kw, out=out if len(out) > 1 else out[0])

    return _by_name(name, run if of == name else run_with_out)

# ===-- What fake tensors are refused for -------------------------------------------===

class _StandIn:
    """A fake tensor, as far as functions look at it: it has an address, and no memory."""

    def __init__(self, tensor: torch.Tensor, address: int) -> None:
        sizes = [*tensor.shape, *tensor.stride(), tensor.storage_offset()]
        numbers = [_hint(each) for each in sizes]
        self.is_known = None not in numbers
        if not self.is_known:
            return
        rank, dtype = tensor.dim(), tensor.dtype
        code, lanes = _DLPACK.get(dtype, (3, 1))
        self.device = (2, tensor.device.index or 0) if tensor.device.type == "cuda" else (1, 0)
        self.numbers = (ctypes.c_int64 * (2 * rank))(*numbers[: 2 * rank])
        strides = ctypes.addressof(self.numbers) + 8 * rank
        self.tensor = _DLTensor(
            address + numbers[-1] * dtype.itemsize, *self.device, rank, code,
            8 * dtype.itemsize // lanes, lanes, ctypes.addressof(self.numbers), strides, 0, 0, 0,
        )  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        return _new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# DLPack's numbers of types, and elements per element of torch. Others are of type 3.
_DLPACK = {
    getattr(torch, name): number
    for names, number in (
        (("int8", "int16", "int32", "int64"), (0, 1)),
        (("uint8", "uint16", "uint32", "uint64"), (1, 1)),
        (("float16", "float32", "float64"), (2, 1)), (("bfloat16",), (4, 1)),
        (("complex32", "complex64", "complex128"), (5, 1)), (("bool",), (6, 1)),
        (("float8_e4m3fn",), (10, 1)), (("float8_e5m2",), (12, 1)),
        (("float8_e8m0fnu",), (14, 1)), (("float4_e2m1fn_x2",), (17, 2)),
    )
    for name in names
    if hasattr(torch, name)
}  # fmt: skip


def _hint(size: Any) -> int | None:
    """A size as a number: of a symbol, what it is in this call, or None if nobody knows."""
    return size if isinstance(size, int) else size.node.hint


def _check_fakes(run: Callable[..., Any], args: Any, kw: Any) -> None:
    """Refuses what the function refuses. Sizes that are not known yet are left to it."""
    made: dict[int, _StandIn] = {}

    def stand_in(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [stand_in(each) for each in value]
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in made:
            made[id(value)] = _StandIn(value, 2**40 * (1 + len(made)))
        return made[id(value)]

    given = [stand_in(each) for each in args], {name: stand_in(each) for name, each in kw.items()}
    if all(each.is_known for each in made.values()):
        program_of(run, *given)


def _make_fake(name: str) -> Callable[..., Any]:
    """What an operator returns for fake tensors, once the function would have taken them."""
    run, fake = _body(name), _by_name(name, FAKES.get(name, fake_nothing))

    def call(*args: Any, **kw: Any) -> Any:
        _check_fakes(run, args, kw)
        return fake(*args, **kw)

    return call


# ===-- Gradients --------------------------------------------------------------===


class _NoBackward(torch.autograd.Function):  # type: ignore[misc]
    """An operator whose results know that they have no derivative."""

    @staticmethod
    def forward(ctx: Any, name: str, run: Callable[[], Any], *graded: Any) -> Any:
        ctx.name = name
        ctx.inputs = [(each.shape, each.dtype) for each in graded]
        made = run()
        results = made if isinstance(made, (tuple, list)) else (made,)
        ctx.mark_non_differentiable(*(e for e in results if not e.dtype.is_floating_point))
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        # An operator, for graphs whose backward is traced, and may never run.
        refuse = torch.ops.dsv4._no_backward
        given = next(each for each in grads if each is not None)
        return None, None, *(refuse(given, ctx.name, *each) for each in ctx.inputs)


def _no_backward(grad: Any, name: str, size: Any, dtype: Any) -> Any:
    raise make_error(
        InvalidArgument, "operator.backward", None,
        f"torch.ops.dsv4.{name} has no derivative: detach what it returns, or call it under "
        "torch.no_grad()",
    )  # fmt: skip


def _fake_no_backward(grad: Any, name: str, size: Any, dtype: Any) -> Any:
    return grad.new_empty(size, dtype=dtype)


def _without_backward(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """The operator, whose backward is an error. Otherwise torch warns, and gives no gradients."""
    results = split_schema(SCHEMAS[name])[1]

    def call(*args: Any, **kw: Any) -> Any:
        graded = [each for each in (*args, *kw.values()) if _requires_grad(each)]
        made = _NoBackward.apply(name, lambda: run(*args, **kw), *graded)
        if results == ["Tensor[]"]:
            return list(made)
        return made if len(results) > 1 else made[0]

    return call


def _trace_autograd(name: str) -> None:
    """The same while a graph is traced, where torch asks for a function of Python."""
    op = getattr(torch.ops.dsv4, name).default

    def run(*args: Any, **kw: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            return op(*args, **kw)

    graded = _without_backward(name, run)

    def call(*args: Any, **kw: Any) -> Any:
        asks = torch.is_grad_enabled() and any(map(_requires_grad, (*args, *kw.values())))
        return (graded if asks else run)(*args, **kw)

    op.py_impl(torch._C.DispatchKey.Autograd)(call)


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


# ===-- Registration ------------------------------------------------------------===

# Kept: an operator ends with its library.
_library = torch_library.Library("dsv4", "DEF")

_library.define("_no_backward(Tensor grad, str name, SymInt[] size, ScalarType dtype) -> Tensor")
_library.impl("_no_backward", _no_backward, "CompositeExplicitAutograd")
torch_library.register_fake("dsv4::_no_backward", _fake_no_backward, lib=_library)

for _name, _schema in SCHEMAS.items():
    _library.define(_name + _schema)
    _graded = partial(_without_backward, _name) if _name in FAKES else None
    _run = operator(_body(_name), torch.is_grad_enabled, _graded)
    for _key in ("CPU", "CUDA"):
        _library.impl(_name, _run, _key)
    torch_library.register_fake(f"dsv4::{_name}", _make_fake(_name), lib=_library)
    if _name in FAKES:
        _trace_autograd(_name)
