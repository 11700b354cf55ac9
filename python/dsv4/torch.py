# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions as operators of torch, for torch.compile and its graphs.

    import dsv4.torch
    indices = torch.ops.dsv4.topk(scores, 512)

An operator has the name of its function and plain scalars as options. It returns new tensors, or
changes the cache that its schema says, and nothing else. A cache is one tensor: records in several
arrays are for the functions. The functions themselves are faster in eager code, and work under graph
capture.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import library as torch_library

import dsv4

from .records import find_record
from .recipes import find_recipe

_LENGTHS = (
    "Tensor? lengths=None, Tensor? starts=None, Tensor? ends=None, int next_n=1, int ratio=1, "
    "bool largest=True, bool sorted=False, str tie='low', str index_dtype='int32'"
)
_ROUTE = (
    "str score='sqrt_softplus', bool renormalize=True, float scale=1.0, int shared=0, "
    "float? shared_weight=None, float? shared_of_sum=None, Tensor? valid_rows=None, "
    "Tensor? padding=None, str index_dtype='int32'"
)
_PLACE = (
    "str record, int? page_size=None, Tensor? page_table=None, Tensor? indptr=None, "
    "Tensor? requests=None, Tensor? lengths=None"
)
_APPEND = (
    "str record, int? page_size=None, int? ring=None, bool unique=True, Tensor? page_table=None, "
    "Tensor? indptr=None, Tensor? requests=None, Tensor? lengths=None, "
    "str lengths_per='request'"
)

SCHEMAS = {
    "topk": f"(Tensor scores, int k, *, {_LENGTHS}, Tensor? offsets=None) -> Tensor",
    "topk_values": (
        f"(Tensor scores, int k, *, {_LENGTHS}, Tensor? offsets=None) "
        "-> (Tensor values, Tensor indices)"
    ),
    "topk_paged": (
        f"(Tensor scores, int k, Tensor page_table, *, int page_size, Tensor? requests=None, "
        f"{_LENGTHS}) -> Tensor"
    ),
    "route": (
        f"(Tensor logits, int k, *, Tensor? bias=None, int[]? groups=None, {_ROUTE}) "
        "-> (Tensor weights, Tensor ids)"
    ),
    "hash_route": (
        f"(Tensor logits, Tensor token_ids, Tensor table, *, {_ROUTE}) "
        "-> (Tensor weights, Tensor ids)"
    ),
    "gather": (
        f"(Tensor cache, Tensor indices, *, {_PLACE}, str lengths_per='token', "
        "str dtype='bfloat16') -> Tensor"
    ),
    "gather_mask": (
        f"(Tensor cache, Tensor indices, *, {_PLACE}, str lengths_per='token', "
        "str dtype='bfloat16') -> (Tensor rows, Tensor mask)"
    ),
    "gather_raw": (
        f"(Tensor cache, Tensor indices, *, {_PLACE}, str lengths_per='token') -> Tensor[]"
    ),
    "gather_ragged": (
        "(Tensor cache, Tensor page_table, int rows, *, str record, Tensor? cu_seq_lens=None, "
        "Tensor? row_starts=None, Tensor? seq_lens=None, Tensor? gather_lens=None, "
        "Tensor? seq_starts=None, Tensor? requests=None, Tensor? indptr=None, int offset=0, "
        "int? page_size=None, str dtype='bfloat16') -> Tensor"
    ),
    "append_": f"(Tensor(a!) cache, Tensor slots, Tensor[] fields, *, {_APPEND}) -> ()",
    "norm_rope_append_": (
        f"(Tensor x, Tensor(a!) cache, Tensor slots, *, {_APPEND}, str? recipe=None, "
        "bool? norm=None, Tensor? weight=None, float eps=1e-6, Tensor? table=None, "
        "Tensor? positions=None, bool neox=False, bool interleaved=False) -> ()"
    ),
    "compress_": (
        "(Tensor values, Tensor scores, Tensor plan, Tensor(a!) cache, Tensor slots, *, "
        "int window, str record, str? recipe=None, bool overlap=False, Tensor? bias=None, "
        "Tensor? weight=None, float eps=1e-6, Tensor? table=None, Tensor? positions=None, "
        "Tensor? state=None, int? ring=None, Tensor? state_table=None, "
        "int? state_page_size=None, bool biased=False, int? page_size=None) -> ()"
    ),
    "rms_norm": (
        "(Tensor x, Tensor? weight=None, *, float eps=1e-6, str? dtype=None) -> Tensor"
    ),
    "rope": (
        "(Tensor x, Tensor table, Tensor positions, *, bool inverse=False, bool neox=False, "
        "bool interleaved=False, str? dtype=None) -> Tensor"
    ),
    "quantize": (
        "(Tensor x, str recipe, *, int? group=None, str? scale_type=None, "
        "Tensor? global_scale=None) -> (Tensor values, Tensor scales)"
    ),
    "dequantize": (
        "(Tensor values, Tensor scales, str recipe, *, int? group=None, str? scale_type=None, "
        "Tensor? global_scale=None, str dtype='bfloat16') -> Tensor"
    ),
}

# ===-- What runs ---------------------------------------------------------------===


def _route(logits: Any, k: int, *, groups: Any = None, **options: Any) -> Any:
    chosen: Any = tuple(groups) if groups else None
    return dsv4.route(logits, k, groups=chosen, **options)


_RUN: dict[str, Callable[..., Any]] = {
    "topk_values": partial(dsv4.topk, return_values=True),
    "gather_mask": partial(dsv4.gather, return_mask=True),
    "gather_raw": lambda cache, i, **o: list(dsv4.gather_raw(cache, i, **o)),
    "gather_ragged": lambda cache, table, rows, **o: dsv4.gather_ragged(
        cache, table, rows=rows, **o
    ),
    "route": _route,
    "append_": lambda cache, slots, fields, **o: dsv4.append_(cache, slots, tuple(fields), **o),
}

# ===-- What results are, for graphs ------------------------------------------------===

_DTYPES = {
    "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i32": torch.int32,
    "f8E4M3FN": torch.float8_e4m3fn, "f4E2M1FN": torch.uint8, "i4": torch.uint8,
    "f8E8M0FNU": getattr(torch, "float8_e8m0fnu", torch.uint8),
}  # fmt: skip


def _integers(scores: Any, shape: Any, index_dtype: str = "int32", **_: Any) -> Any:
    return scores.new_empty(shape, dtype=getattr(torch, index_dtype))


def _fake_topk(scores: Any, k: int, **options: Any) -> Any:
    return _integers(scores, (*scores.shape[:-1], k), **options)


def _fake_topk_values(scores: Any, k: int, **options: Any) -> Any:
    return scores.new_empty((*scores.shape[:-1], k)), _fake_topk(scores, k, **options)


def _fake_route(logits: Any, k: int, *, shared: int = 0, **options: Any) -> Any:
    shape = (logits.shape[0], k + shared)
    weights = logits.new_empty(shape, dtype=torch.float32)
    return weights, _integers(logits, shape, **options)


def _fake_gather(cache: Any, indices: Any, *, record: str, dtype: str = "bfloat16", **_: Any) -> Any:
    shape = (*indices.shape, find_record(record).values)
    return cache.new_empty(shape, dtype=getattr(torch, dtype))


def _fake_gather_mask(cache: Any, indices: Any, **options: Any) -> Any:
    mask = cache.new_empty(indices.shape, dtype=torch.bool)
    return _fake_gather(cache, indices, **options), mask


def _fake_gather_raw(cache: Any, indices: Any, *, record: str, **_: Any) -> Any:
    return [
        cache.new_empty((*indices.shape, each.columns), dtype=_DTYPES[each.element])
        for each in find_record(record).stored
    ]


def _fake_gather_ragged(
    cache: Any,
    page_table: Any,
    rows: int,
    *,
    record: str,
    cu_seq_lens: Any = None,
    row_starts: Any = None,
    seq_lens: Any = None,
    dtype: str = "bfloat16",
    **_: Any,
) -> Any:
    own = cu_seq_lens is None and row_starts is None
    lead = (seq_lens.shape[0], rows) if own else (rows,)
    return cache.new_empty((*lead, find_record(record).values), dtype=getattr(torch, dtype))


def _fake_rows(x: Any, *_: Any, dtype: str | None = None, **__: Any) -> Any:
    return x.new_empty(x.shape, dtype=getattr(torch, dtype) if dtype else x.dtype)


def _fake_quantize(
    x: Any, recipe: str, *, group: int | None = None, scale_type: str | None = None, **_: Any
) -> Any:
    chosen = find_recipe(recipe)
    columns = x.shape[-1]
    packed = 2 if chosen.payload == "f4E2M1FN" else 1
    values = x.new_empty((*x.shape[:-1], columns // packed), dtype=_DTYPES[chosen.payload])
    per = group or chosen.group
    shape = x.shape[:-1] if per == "row" else (*x.shape[:-1], columns // int(per))
    return values, x.new_empty(shape, dtype=_DTYPES[scale_type or chosen.scale])


def _fake_dequantize(
    values: Any, scales: Any, recipe: str, *, dtype: str = "bfloat16", **_: Any
) -> Any:
    packed = 2 if find_recipe(recipe).payload == "f4E2M1FN" else 1
    shape = (*values.shape[:-1], values.shape[-1] * packed)
    return values.new_empty(shape, dtype=getattr(torch, dtype))


def _fake_nothing(*_: Any, **__: Any) -> None:
    return None


_FAKE: dict[str, Callable[..., Any]] = {
    "topk": _fake_topk,
    "topk_values": _fake_topk_values,
    "topk_paged": lambda scores, k, page_table, **o: _fake_topk(scores, k, **o),
    "route": _fake_route,
    "hash_route": lambda logits, ids, table, **o: _fake_route(logits, table.shape[1], **o),
    "gather": _fake_gather,
    "gather_mask": _fake_gather_mask,
    "gather_raw": _fake_gather_raw,
    "gather_ragged": _fake_gather_ragged,
    "append_": _fake_nothing,
    "norm_rope_append_": _fake_nothing,
    "compress_": _fake_nothing,
    "rms_norm": _fake_rows,
    "rope": _fake_rows,
    "quantize": _fake_quantize,
    "dequantize": _fake_dequantize,
}

# ===-- Registration ------------------------------------------------------------===

# Kept: an operator ends with its library.
_library = torch_library.Library("dsv4", "DEF")

for _name, _schema in SCHEMAS.items():
    _library.define(_name + _schema)
    _body = _RUN.get(_name) or getattr(dsv4, _name)
    for _key in ("CPU", "CUDA"):
        _library.impl(_name, _body, _key)
    torch_library.register_fake(f"dsv4::{_name}", _FAKE[_name], lib=_library)
