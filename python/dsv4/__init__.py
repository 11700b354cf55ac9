# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of paged caches, selections, routers and quantisers, for arrays of any library.

    import dsv4, torch

    scores = torch.randn(64, 32768, device="cuda")
    indices = dsv4.topk(scores, 512)

Arrays are those of torch, CuPy, JAX or NumPy, or of any library with DLPack. Arrays on a GPU go
to CUDA, on the current stream of their library; arrays in CPU memory go to the host target, which
needs g++ and is for tests. A function with a trailing `_` changes an argument. docs/Python.md is
the guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _dsv4
from ._dsv4 import (
    CompileFailed,
    CorruptEntry,
    Error,
    InvalidArgument,
    Kernel,
    LaunchFailed,
    LoadFailed,
    NotPrepared,
    TypeMismatch,
    Unavailable,
)
from ._events import CacheWarning, Event, on_event
from ._kernels import compile, load, prepare
from ._runtime import cache_directory, counters, devices, freeze
from ._source import emit
from .compression import compress_, compress_plan
from .gathers import gather, gather_ragged, gather_raw
from .index_writers import index_append_, index_query
from .indexer import index_score, index_topk
from .lengths import valid_lens
from .quantisation import dequantize, quantize
from .queries import norm_rope_insert_, query_norm_rope
from .recipes import KNOWN_RECIPES, Recipe
from .records import KNOWN_RECORDS, Field, Record
from .routing import dense_route, hash_route, route, router_logits
from .rows import concat_rows, hadamard, pad_rows, rms_norm, rope, scale_weights
from .selection import topk, topk_paged
from .writers import append_, norm_rope_append_

if TYPE_CHECKING:
    from . import programs
    from ._benchmark import Benchmark, Timing, benchmark
    from ._explain import ExplainedArgument, ExplainedKernel, Explanation, explain

# Modules that few processes need, which are imported with the first use of a name of theirs, or
# of their own.
_LATER = {
    "Benchmark": "_benchmark",
    "ExplainedArgument": "_explain",
    "ExplainedKernel": "_explain",
    "Explanation": "_explain",
    "Timing": "_benchmark",
    "benchmark": "_benchmark",
    "explain": "_explain",
    "programs": "programs",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_LATER[name]}", __name__)
    value: object = module if _LATER[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def _version() -> str:
    number, _ = _dsv4.version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


__version__ = _version()

__all__ = [
    "KNOWN_RECIPES",
    "KNOWN_RECORDS",
    "Benchmark",
    "CacheWarning",
    "CompileFailed",
    "CorruptEntry",
    "Error",
    "Event",
    "ExplainedArgument",
    "ExplainedKernel",
    "Explanation",
    "Field",
    "InvalidArgument",
    "Kernel",
    "LaunchFailed",
    "LoadFailed",
    "NotPrepared",
    "Recipe",
    "Record",
    "Timing",
    "TypeMismatch",
    "Unavailable",
    "append_",
    "benchmark",
    "cache_directory",
    "compile",
    "compress_",
    "compress_plan",
    "concat_rows",
    "counters",
    "dense_route",
    "dequantize",
    "devices",
    "emit",
    "explain",
    "freeze",
    "gather",
    "gather_ragged",
    "gather_raw",
    "hadamard",
    "hash_route",
    "index_append_",
    "index_query",
    "index_score",
    "index_topk",
    "load",
    "norm_rope_append_",
    "norm_rope_insert_",
    "on_event",
    "pad_rows",
    "prepare",
    "programs",
    "quantize",
    "query_norm_rope",
    "rms_norm",
    "rope",
    "route",
    "router_logits",
    "scale_weights",
    "topk",
    "topk_paged",
    "valid_lens",
]
