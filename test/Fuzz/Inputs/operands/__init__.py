"""Random programs over the operands that engines pass: one module per group of ops.

A family is a function that adds ops, with drawn operands, to a Program. What an op has only sometimes is a row of the
table that it gives to Program.clauses.
"""

from .caches import append, gather, ragged_gather
from .compression import compress, compress_chain, compress_online, compress_plan
from .joins import concat_rows, parts
from .quantisation import dequantize, quantize
from .rows import (add_rows, fold_weights, gather_chain, pad_rows, quantize_chain, row_chain, write_chain)
from .selection import map_indices, router, topk

ROWWISE = (gather, gather_chain, ragged_gather, append, row_chain, pad_rows, add_rows, fold_weights, write_chain,
           quantize, quantize_chain, dequantize, concat_rows, compress_plan)
"""Each row by itself: kernels of two of them may have one launch."""


def pair(p):
    """Two calls in one function, which have no argument in common."""
    for prefix in ("a_", "b_"):
        p.prefix = prefix
        p.pick(*ROWWISE)(p)


FAMILIES = {family.__name__: family
            for family in (*ROWWISE, parts, topk, router, map_indices, compress, compress_online, compress_chain, pair)}
