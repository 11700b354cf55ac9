# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of torch: what each is called with, and what it returns for fake tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .quantisation import choose_recipe, shape_of_scales
from .recipes import find_recipe
from .records import find_record

_ORDER = (
    "int next_n=1, int ratio=1, bool largest=True, bool sorted=False, str tie='low', "
    "str index_dtype='int32', str nan='last', str? order=None"
)
_RANGES = "Tensor? lengths=None, Tensor? starts=None, Tensor? ends=None"
_WEIGHTS = (
    "str score='sqrt_softplus', bool renormalize=True, float scale=1.0, int shared=0, "
    "float? shared_weight=None, float? shared_of_sum=None, Tensor? valid_rows=None, "
    "Tensor? padding=None, str index_dtype='int32', str nan='last', Tensor? expert_map=None"
)
_CHOICE = "Tensor? bias_vl=None, Tensor? image_tokens=None, Tensor? replay=None"
_ROUTE = f"(Tensor logits, int k, Tensor? bias=None, int[]? groups=None, {_WEIGHTS}, {_CHOICE})"
_HASH = f"(Tensor logits, Tensor token_ids, Tensor table, {_WEIGHTS})"
_DENSE = (
    "(Tensor hidden, Tensor gate, int k, Tensor? bias=None, int[]? groups=None, "
    f"{_WEIGHTS}, {_CHOICE})"
)
_RECORDED = "(Tensor weights, Tensor ids, Tensor recorded)"
_PLACE = (
    "str record, Tensor? page_table=None, Tensor? requests=None, Tensor? lengths=None, "
    "Tensor? indptr=None, int? page_size=None, str lengths_per='token'"
)
_SLOTS = (
    "Tensor? page_table=None, Tensor? requests=None, Tensor? lengths=None, Tensor? indptr=None, "
    "int? ring=None, bool unique=True, int? page_size=None, str lengths_per='request'"
)
_KEYS = (
    "Tensor? scales=None, Tensor? key_scales=None, Tensor? page_table=None, "
    "Tensor? indptr=None, Tensor? requests=None, Tensor? starts=None, Tensor? lengths=None, "
    "Tensor? ends=None"
)
_COLUMNS = "str? record=None, int? page_size=None, int? columns=None"
_QUERY = (
    "(Tensor q, Tensor weights, str recipe, Tensor? table=None, Tensor? positions=None, "
    "float[] constants=[], bool neox=False, bool interleaved=False, bool hadamard=False, "
    "str rounding='none')"
)
_CHAIN = "Tensor? weight=None, Tensor? table=None, Tensor? positions=None, float eps=1e-6"

_RAGGED = (
    "Tensor? cu_seq_lens=None, Tensor? row_starts=None, Tensor? seq_lens=None, "
    "Tensor? gather_lens=None, Tensor? seq_starts=None"
)
_PLAN = (
    "Tensor? positions=None, Tensor? lengths=None, Tensor? requests=None, "
    "Tensor? cu_seq_lens=None, Tensor? entry_starts=None"
)

# Tensors and records come first: what comes after them seldom differs from its default.
SCHEMAS = {
    "topk": f"(Tensor scores, int k, {_RANGES}, Tensor? offsets=None, {_ORDER}) -> Tensor",
    "topk_values": (
        f"(Tensor scores, int k, {_RANGES}, Tensor? offsets=None, {_ORDER}) "
        "-> (Tensor values, Tensor indices)"
    ),
    "topk_paged": (
        f"(Tensor scores, int k, Tensor page_table, int page_size, Tensor? requests=None, "
        f"{_RANGES}, Tensor? cu_seq_lens=None, Tensor? page_starts=None, {_ORDER}) -> Tensor"
    ),
    "index_score": (
        f"(Tensor q, Tensor keys, Tensor weights, {_KEYS}, {_COLUMNS}, int next_n=1, "
        "int ratio=1, bool keep_rest=False, str? dtype=None) -> Tensor"
    ),
    "index_topk": (
        f"(Tensor q, Tensor keys, Tensor weights, int k, {_KEYS}, Tensor? offsets=None, "
        f"{_COLUMNS}, {_ORDER}, int? kernels=None) -> Tensor"
    ),
    "index_topk_slots": (
        f"(Tensor q, Tensor keys, Tensor weights, int k, {_KEYS}, {_COLUMNS}, {_ORDER}, "
        "int? kernels=None) -> Tensor"
    ),
    "index_query": f"{_QUERY} -> (Tensor values, Tensor products)",
    "index_query_fp4": f"{_QUERY} -> (Tensor values, Tensor scales, Tensor products)",
    "index_append_": (
        f"(Tensor x, Tensor(a!) cache, Tensor slots, str record, {_CHAIN}, {_SLOTS}, "
        "str? recipe=None, bool? norm=None, bool neox=False, bool interleaved=False, "
        "bool hadamard=False, str rounding='none') -> ()"
    ),
    "route": f"{_ROUTE} -> (Tensor weights, Tensor ids)",
    "route_replay": f"{_ROUTE} -> {_RECORDED}",
    "hash_route": f"{_HASH} -> (Tensor weights, Tensor ids)",
    "hash_route_replay": f"{_HASH} -> {_RECORDED}",
    "router_logits": "(Tensor hidden, Tensor gate) -> Tensor",
    "dense_route": f"{_DENSE} -> (Tensor weights, Tensor ids)",
    "dense_route_replay": f"{_DENSE} -> {_RECORDED}",
    "dense_route_logits": f"{_DENSE} -> (Tensor weights, Tensor ids, Tensor logits)",
    "gather": f"(Tensor cache, Tensor indices, {_PLACE}, str dtype='bfloat16') -> Tensor",
    "gather_mask": (
        f"(Tensor cache, Tensor indices, {_PLACE}, str dtype='bfloat16') "
        "-> (Tensor rows, Tensor mask)"
    ),
    "gather_raw": (
        f"(Tensor cache, Tensor? indices, {_PLACE}, {_RAGGED}, int? rows=None, int offset=0) "
        "-> Tensor[]"
    ),
    "gather_ragged": (
        f"(Tensor cache, Tensor page_table, int rows, str record, {_RAGGED}, "
        "Tensor? requests=None, Tensor? indptr=None, int offset=0, "
        "int? page_size=None, str dtype='bfloat16') -> Tensor"
    ),
    "append_": (
        f"(Tensor(a!) cache, Tensor slots, Tensor[] fields, str record, {_SLOTS}, "
        "int[]? columns=None) -> ()"
    ),
    "norm_rope_append_": (
        f"(Tensor x, Tensor(a!) cache, Tensor slots, str record, {_CHAIN}, {_SLOTS}, "
        "str? recipe=None, bool? norm=None, bool neox=False, bool interleaved=False, "
        "str rounding='none', Tensor? k_pe=None) -> ()"
    ),
    "norm_rope_insert_": (
        "(Tensor q, Tensor kv, Tensor(a!) cache, Tensor slots, Tensor table, str record, "
        "Tensor? weight=None, Tensor? positions=None, Tensor? q_weight=None, "
        f"Tensor? q_scale_inv=None, float eps=1e-6, {_SLOTS}, str? recipe=None, bool? norm=None, "
        "bool q_norm=True, int? heads=None, bool neox=False, bool interleaved=False, "
        "str rounding='none', str? dtype=None) -> Tensor"
    ),
    "compress_": (
        "(Tensor values, Tensor scores, Tensor plan, Tensor(a!) cache, Tensor slots, int window, "
        f"str record, Tensor? bias=None, {_CHAIN}, Tensor? state=None, int? ring=None, "
        "Tensor? state_table=None, int? state_page_size=None, bool overlap=False, "
        "bool biased=False, str? recipe=None, bool? norm=None, bool neox=False, "
        "bool interleaved=False, int? page_size=None, str rounding='none') -> ()"
    ),
    "compress_plan": (
        f"(int window, {_PLAN}, int? rows=None) -> (Tensor plan, Tensor entry_positions)"
    ),
    "compress_plan_slots": (
        f"(int window, {_PLAN}, Tensor? slots=None, Tensor? page_table=None, "
        "int? page_size=None, int? rows=None) "
        "-> (Tensor plan, Tensor entry_positions, Tensor entry_slots)"
    ),
    "valid_lens": (
        "(Tensor? positions=None, Tensor? lengths=None, int ratio=1, int? window=None, "
        "int? page_size=None, int? pages=None, str index_dtype='int32') -> Tensor"
    ),
    "rms_norm": "(Tensor x, Tensor? weight=None, float eps=1e-6, str? dtype=None) -> Tensor",
    "rope": (
        "(Tensor x, Tensor table, Tensor positions, bool inverse=False, bool neox=False, "
        "bool interleaved=False, str? dtype=None) -> Tensor"
    ),
    "query_norm_rope": (
        "(Tensor q, Tensor table, Tensor positions, Tensor? weight=None, Tensor? scale_inv=None, "
        "bool norm=True, float eps=1e-6, int? heads=None, bool inverse=False, bool neox=False, "
        "bool interleaved=False, str rounding='none', str? dtype=None) -> Tensor"
    ),
    "hadamard": "(Tensor x, float? scale=None, str? dtype=None) -> Tensor",
    "scale_weights": (
        "(Tensor weights, Tensor? scales=None, float[] constants=[], str? dtype=None) -> Tensor"
    ),
    "concat_rows": "(Tensor x, Tensor y) -> Tensor",
    "pad_rows": "(Tensor x, int rows) -> Tensor",
    "quantize": (
        "(Tensor x, str recipe, int? group=None, str? scale_type=None, "
        "Tensor? global_scale=None, str scale_layout='row_major') "
        "-> (Tensor values, Tensor scales)"
    ),
    "quantize_given": (
        "(Tensor x, Tensor global_scale, str recipe='fp8_tensor', bool inverse=False) -> Tensor"
    ),
    "dequantize": (
        "(Tensor values, Tensor scales, str recipe, int? group=None, str? scale_type=None, "
        "Tensor? global_scale=None, str dtype='bfloat16', str scale_layout='row_major') -> Tensor"
    ),
}


def split_schema(schema: str) -> tuple[list[str], list[str]]:
    """Arguments, and results of an operator that makes tensors."""
    arguments, results = schema[1:].split(") -> ")
    return arguments.split(", "), results.strip("()").split(", ")


def _with_out(schema: str) -> str:
    """The schema of the operator that writes to tensors of the caller."""
    arguments, results = split_schema(schema)
    names = [each.partition(" ")[2] or "out" for each in results]
    outs = [f"Tensor({mark}!) {name}" for mark, name in zip("xyz", names)]
    first = next((i for i, each in enumerate(arguments) if "=" in each), len(arguments))
    return f"({', '.join(arguments[:first] + outs + arguments[first:])}) -> ()"


def out_name(name: str) -> str:
    """The operator that writes what another returns."""
    return f"{name.rstrip('_')}_out"


# By the operator with `_out` the one that returns. gather_raw has as many results as its record has
# fields.
WITH_OUT = {
    out_name(name): name
    for name, schema in SCHEMAS.items()
    if not schema.endswith("()") and name != "gather_raw"
}
SCHEMAS |= {out: _with_out(SCHEMAS[name]) for out, name in WITH_OUT.items()}

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


def _fake_index_score(
    q: Any,
    keys: Any,
    weights: Any,
    *,
    page_table: Any = None,
    record: str | None = None,
    page_size: int | None = None,
    columns: int | None = None,
    dtype: str | None = None,
    **_: Any,
) -> Any:
    if columns is None and record is None:
        columns = keys.shape[0]
    elif columns is None:
        assert record is not None
        bytes = int(keys.shape[1]) * keys.dtype.itemsize
        of_shape = keys.shape[1] if keys.dim() > 2 else find_record(record).page_size(bytes)
        columns = page_table.shape[1] * (page_size or of_shape)
    return q.new_empty((q.shape[0], columns), dtype=getattr(torch, dtype or "float32"))


def _fake_index_topk(q: Any, keys: Any, weights: Any, k: int, **options: Any) -> Any:
    return _integers(q, (q.shape[0], k), **options)


def _fake_index_query(q: Any, weights: Any, **_: Any) -> Any:
    values = q.new_empty(q.shape, dtype=_DTYPES["f8E4M3FN"])
    return values, weights.new_empty(weights.shape, dtype=torch.float32)


def _fake_index_query_fp4(q: Any, weights: Any, **_: Any) -> Any:
    dim = q.shape[-1]
    values = q.new_empty((*q.shape[:-1], dim // 2), dtype=_DTYPES["f4E2M1FN"])
    scales = q.new_empty((*q.shape[:-1], dim // 32), dtype=_DTYPES["f8E8M0FNU"])
    return values, scales, weights.new_empty(weights.shape, dtype=torch.float32)


def _fake_route(logits: Any, k: int, *, shared: int = 0, **options: Any) -> Any:
    shape = (logits.shape[0], k + shared)
    weights = logits.new_empty(shape, dtype=torch.float32)
    return weights, _integers(logits, shape, **options)


def _fake_hash_route(token_ids: Any, table: Any, **options: Any) -> Any:
    return _fake_route(k=table.shape[1], **options)


def _record(fake: Callable[..., Any]) -> Callable[..., Any]:
    """What a router returns with the experts before their map."""
    def run(*args: Any, **options: Any) -> Any:
        weights, ids = fake(*args, **options)
        return weights, ids, ids.new_empty(ids.shape, dtype=torch.int16)

    return run


def _fake_router_logits(hidden: Any, gate: Any) -> Any:
    return hidden.new_empty((hidden.shape[0], gate.shape[0]), dtype=torch.float32)


def _fake_dense_route(hidden: Any, gate: Any, k: int, **options: Any) -> Any:
    return _fake_route(hidden, k, **options)


def _fake_gather(
    cache: Any, indices: Any, *, record: str, dtype: str = "bfloat16", **_: Any
) -> Any:
    shape = (*indices.shape, find_record(record).values)
    return cache.new_empty(shape, dtype=getattr(torch, dtype))


def _fake_gather_mask(cache: Any, indices: Any, **options: Any) -> Any:
    mask = cache.new_empty(indices.shape, dtype=torch.bool)
    return _fake_gather(cache, indices, **options), mask


def _ragged_rows(
    rows: int,
    *,
    cu_seq_lens: Any = None,
    row_starts: Any = None,
    seq_lens: Any = None,
    **_: Any,
) -> tuple[int, ...]:
    """The shape of the rows of ragged requests."""
    own = cu_seq_lens is None and row_starts is None
    return (seq_lens.shape[0], rows) if own else (rows,)


def _fake_gather_raw(
    cache: Any, indices: Any, *, record: str, rows: int | None = None, **options: Any
) -> Any:
    if indices is None:
        count = options["requests"].shape[0] if rows is None else rows
        lead = _ragged_rows(count, **options)
    else:
        lead = indices.shape
    return [
        cache.new_empty((*lead, each.columns), dtype=_DTYPES[each.element])
        for each in find_record(record).stored
    ]


def _fake_gather_ragged(
    cache: Any,
    page_table: Any,
    rows: int,
    *,
    record: str,
    dtype: str = "bfloat16",
    **options: Any,
) -> Any:
    lead = _ragged_rows(rows, **options)
    return cache.new_empty((*lead, find_record(record).values), dtype=getattr(torch, dtype))


def _fake_compress_plan(
    *,
    positions: Any = None,
    lengths: Any = None,
    requests: Any = None,
    slots: Any = None,
    rows: int | None = None,
    **_: Any,
) -> Any:
    like = lengths if positions is None else positions
    if rows is None:
        rows = next(each for each in (positions, requests, slots) if each is not None).shape[0]
    numbers = [like.new_empty(shape, dtype=torch.int32) for shape in ((rows, 4), (rows,))]
    return tuple(numbers)


def _fake_compress_plan_slots(**options: Any) -> Any:
    plan, positions = _fake_compress_plan(**options)
    return plan, positions, positions.new_empty(positions.shape)


def _fake_valid_lens(
    *,
    positions: Any = None,
    lengths: Any = None,
    pages: int | None = None,
    index_dtype: str = "int32",
    **_: Any,
) -> Any:
    tokens = lengths if positions is None else positions
    return _integers(tokens, (*tokens.shape, *(() if pages is None else (pages,))), index_dtype)


def _fake_rows(x: Any, *, dtype: str | None = None, **_: Any) -> Any:
    return x.new_empty(x.shape, dtype=getattr(torch, dtype) if dtype else x.dtype)


def _fake_concat_rows(x: Any, y: Any, **_: Any) -> Any:
    return x.new_empty((*x.shape[:-1], x.shape[-1] + y.shape[-1]))


def _fake_pad_rows(x: Any, rows: int, **_: Any) -> Any:
    return x.new_empty((*x.shape[:-2], rows, x.shape[-1]))


def _fake_queries(
    q: Any, *, heads: int | None = None, scale_inv: Any = None, **options: Any
) -> Any:
    rows = q if heads is None else q.new_empty((q.shape[0], heads, q.shape[2]))
    made = _fake_rows(rows, **options)
    return made if scale_inv is None else made.to(torch.float8_e4m3fn)


def _fake_quantize(
    x: Any,
    recipe: str,
    *,
    group: int | None = None,
    scale_type: str | None = None,
    scale_layout: str = "row_major",
    **_: Any,
) -> Any:
    chosen = choose_recipe(find_recipe(recipe), group, scale_type)
    columns = x.shape[-1]
    packed = 2 if chosen.payload == "f4E2M1FN" else 1
    values = x.new_empty((*x.shape[:-1], columns // packed), dtype=_DTYPES[chosen.payload])
    element, shape = shape_of_scales(chosen, scale_layout, tuple(x.shape[:-1]), columns)
    return values, x.new_empty(shape, dtype=_DTYPES[element])


def _fake_quantize_given(x: Any, **_: Any) -> Any:
    return x.new_empty(x.shape, dtype=torch.float8_e4m3fn)


def _fake_dequantize(
    values: Any, scales: Any, recipe: str, *, dtype: str = "bfloat16", **_: Any
) -> Any:
    packed = 2 if find_recipe(recipe).payload == "f4E2M1FN" else 1
    shape = (*values.shape[:-1], values.shape[-1] * packed)
    return values.new_empty(shape, dtype=getattr(torch, dtype))


def fake_nothing(**_: Any) -> None:
    return None


# Others return nothing.
FAKES: dict[str, Callable[..., Any]] = {
    "topk": _fake_topk,
    "topk_values": _fake_topk_values,
    "topk_paged": lambda page_table, **o: _fake_topk(**o),
    "index_score": _fake_index_score,
    "index_topk": _fake_index_topk,
    "index_topk_slots": _fake_index_topk,
    "index_query": _fake_index_query,
    "index_query_fp4": _fake_index_query_fp4,
    "route": _fake_route,
    "route_replay": _record(_fake_route),
    "hash_route": _fake_hash_route,
    "hash_route_replay": _record(_fake_hash_route),
    "router_logits": _fake_router_logits,
    "dense_route": _fake_dense_route,
    "dense_route_replay": _record(_fake_dense_route),
    "dense_route_logits": lambda hidden, gate, **o: (
        *_fake_dense_route(hidden, gate, **o), _fake_router_logits(hidden, gate)
    ),
    "gather": _fake_gather,
    "gather_mask": _fake_gather_mask,
    "gather_raw": _fake_gather_raw,
    "gather_ragged": _fake_gather_ragged,
    "compress_plan": _fake_compress_plan,
    "compress_plan_slots": _fake_compress_plan_slots,
    "valid_lens": _fake_valid_lens,
    "rms_norm": _fake_rows,
    "rope": _fake_rows,
    "query_norm_rope": lambda q, table, positions, **o: _fake_queries(q, **o),
    "norm_rope_insert_": lambda q, q_scale_inv=None, **o: _fake_queries(
        q, scale_inv=q_scale_inv, **o
    ),
    "hadamard": _fake_rows,
    "scale_weights": lambda weights, **o: _fake_rows(weights, **o),
    "concat_rows": _fake_concat_rows,
    "pad_rows": _fake_pad_rows,
    "quantize": _fake_quantize,
    "quantize_given": _fake_quantize_given,
    "dequantize": _fake_dequantize,
}
