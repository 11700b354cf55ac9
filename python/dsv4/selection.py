# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selections: the k best elements of every row, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ._arrays import count_arrays, describe, make_error
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_int, check_word, refuse
from ._program import Program, Value
from ._types import Array, Arrays, Stream

FLOATS = ("f32", "bf16", "f16")
INDICES = ("i32", "i64")

INDEX_TYPES = {"int32": "i32", "int64": "i64", "uint32": "ui32"}

MAX_K = 4096
_WHY_MAX_K = "a block has the candidates of a row in shared memory; for more, sort the row"
_MAX_NEXT_N = 64

# Orders of the output, and the words of programs for them.
_ORDERS = {"sorted": "sorted", "index": "index_ascending"}

# The lines of the built-in table of schedules: longer rows have one schedule.
_LENGTHS = (1024, 4096, 8192, 16384, 32768, 65536, 131072, 524288)
# Up to this k, short rows have a warp, which holds as many elements.
_WARP_K, _WARP_LENGTHS = 32, (256, 512)
# Its columns count for rows that may have several blocks: more rows have one.
_ROWS = (4, 8, 16, 32, 64)
_ONE_BLOCK = 8192
# Longer rows than these have one schedule if they are more than 64, or of another rank than 2. (The
# table has one for up to 32,768 elements, which is slower than the one for any length.)
_LAST_OF_MANY = 16384


def index_type(index_dtype: str) -> str:
    return INDEX_TYPES[check_word("index_dtype", index_dtype, INDEX_TYPES)]


def take_outputs(out: Any, count: int) -> tuple[Any, ...]:
    """`out` as one array or None per result."""
    if out is None:
        return (None,) * count
    given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    if len(given) != count:
        raise make_error(
            InvalidArgument, "argument.out", "out",
            f"'out' has {count_arrays(len(given))}, expected {count}",
        )  # fmt: skip
    return given


class _Rows:
    """Scores, and the clauses that say which elements of a row count."""

    def __init__(
        self,
        program: Program,
        scores: Any,
        k: int,
        lengths: Any,
        starts: Any,
        ends: Any,
        next_n: int,
        ratio: int,
    ) -> None:
        self.k = check_int("k", k, 1, MAX_K, _WHY_MAX_K)
        rank = len(describe("scores", scores).shape)
        next_n, ratio = check_lengths(lengths, ends, next_n, ratio, rank)
        self.rows = tuple(f"rows{axis}" if axis else "rows" for axis in range(rank - 1))
        self.scores = program.input("scores", scores, FLOATS, (*self.rows, "columns"))
        choose_buckets(program, self.k, rank, 4 if self.scores.element == "f32" else 8)
        self.clauses = ""
        if starts is not None:
            self.add(program, "starts", starts, self.rows)
        if lengths is not None:
            of = ("requests",) if next_n != 1 else self.rows
            self.add(program, "lengths", lengths, of)
        if ends is not None:
            self.add(program, "ends", ends, self.rows)
        self.clauses += print_steps(next_n, ratio)

    def add(
        self,
        program: Program,
        clause: str,
        array: Any,
        shape: tuple[str | None, ...],
        access: str | None = None,
    ) -> None:
        value = program.input(clause, array, INDICES, shape, access)
        self.clauses += f" {clause}({value} : {value.type})"


def print_steps(next_n: int, ratio: int) -> str:
    """The clauses that say more about lengths."""
    text = f" next_n {next_n}" if next_n != 1 else ""
    return text + (f" ratio {ratio}" if ratio != 1 else "")


def check_lengths(
    lengths: Any, ends: Any, next_n: int, ratio: int, rank: int
) -> tuple[int, int]:
    """`next_n` and `ratio`, which say more about lengths."""
    next_n = check_int("next_n", next_n, 1, _MAX_NEXT_N)
    ratio = check_int("ratio", ratio, 1)
    if lengths is None:
        for name, value in (("next_n", next_n), ("ratio", ratio)):
            if value != 1:
                raise refuse(name, value, "1 without 'lengths'")
    elif ends is not None:
        raise make_error(
            InvalidArgument, "argument.ends", "ends",
            "'lengths' and 'ends' both say where rows end: pass one of them",
        )  # fmt: skip
    if next_n != 1 and rank != 2:
        raise refuse("next_n", next_n, f"1 where 'scores' has rank {rank}, and not 2")
    return next_n, ratio


def choose_buckets(program: Program, k: int, rank: int, vector: int) -> None:
    """The schedule of a selection depends on how many rows there are, and how long they are."""
    columns = program.dims["columns"]
    lengths: tuple[int, ...] = _WARP_LENGTHS + _LENGTHS if k <= _WARP_K else _LENGTHS
    few = rank == 2 and program.dims["rows"] <= _ROWS[-1]
    if not few:
        lengths = tuple(each for each in lengths if each <= _LAST_OF_MANY)
    program.bucket("columns", lengths, vector)
    if few and columns > _ONE_BLOCK:
        # One or two very long rows have more blocks.
        program.bucket("rows", (2, *_ROWS) if columns > _LENGTHS[-1] else _ROWS)


def print_order(order: str | None, sorted: bool, largest: bool, tie: str, nan: str) -> str:
    """The clauses of an order."""
    tie = check_word("tie", tie, ("low", "high"))
    nan = check_word("nan", nan, ("last", "first"))
    if order is not None:
        order = check_word("order", order, _ORDERS)
    if check_flag("sorted", sorted):
        if order not in (None, "sorted"):
            raise refuse("order", order, "'sorted' or None with 'sorted'")
        order = "sorted"
    text = f" order {_ORDERS[order]}" if order else ""
    if not check_flag("largest", largest):
        text += " smallest"
    return text + (" ties high" if tie == "high" else "") + (" nan first" if nan == "first" else "")


def add_results(
    program: Program, results: Sequence[str], out: Any, element: str, index_dtype: str,
    shape: Sequence[int | str],
) -> list[Value]:  # fmt: skip
    """The destinations of a selection, of which `results` are the caller's."""
    given = dict(zip(results, take_outputs(out, len(results))))
    type = index_type(index_dtype)
    # The selection writes its indices in any case.
    outs = [program.output("indices", type, shape, given.get("indices"), option="index_dtype")]
    if "values" in given:
        outs.append(program.output("values", element, shape, given["values"]))
    if "slots" in given:
        outs.append(program.output("slots", type, shape, given["slots"], option="index_dtype"))
    return outs


def select(
    program: Program, scores: str, type: str, clauses: str, outs: list[Value]
) -> list[tuple[str, Value]]:
    """Adds the selection. Returns names of its results, and what they fill."""
    names = [program.fresh("r") for _ in outs]
    types = ", ".join(each.type for each in outs)
    program.line(
        f"{', '.join(names)} = dsv4.topk {scores}{clauses} "
        f"outs({', '.join(map(str, outs))} : {types}) : {type}"
    )
    return list(zip(names, outs))


@function
def topk(
    scores: Array,
    k: int,
    *,
    lengths: Array | None = None,
    starts: Array | None = None,
    ends: Array | None = None,
    offsets: Array | None = None,
    next_n: int = 1,
    ratio: int = 1,
    largest: bool = True,
    sorted: bool = False,
    order: str | None = None,
    tie: str = "low",
    nan: str = "last",
    index_dtype: str = "int32",
    return_values: bool = False,
    out: Arrays | None = None,
    workspace: Array | None = None,
    stream: Stream | None = None,
) -> Any:
    """The indices of the k best elements of every row, exactly.

    >>> scores = torch.randn(64, 32768, device="cuda")
    >>> indices = dsv4.topk(scores, 512)
    >>> values, indices = dsv4.topk(scores, 512, sorted=True, return_values=True)

    Args:
        scores: f32, bf16 or f16 `[rows, N]`, or any rank; N is at most 2^22.
        k: between 1 and 4096, what a block has room for.
        lengths: i32 or i64 `[rows]`: how many elements of each row count; `[requests]` with
            `next_n`.
        starts, ends: i32 or i64 `[rows]`: the columns where a row begins and ends. Indices count
            from its start.
        offsets: i32 or i64 `[rows]`, added to the indices of each row.
        next_n: rows per request. `lengths` are then those of its last row.
        ratio: 1: lengths are numbers of elements. More: lengths are positions t, and
            (t + 1) div `ratio` elements count.
        largest: False selects the smallest.
        sorted: the best first, as order='sorted'.
        order: 'sorted': the best first; 'index': the lowest index first; None: open, unless
            `sorted`. With either of them a row is the same in every launch.
        tie: 'low' or 'high': which index wins of equal elements, and comes first if they are
            sorted.
        nan: 'last' or 'first': whether NaN comes after or before all numbers, infinities too, with
            `largest=False` as well. `torch.topk` selects as 'first', and with `largest=False` as
            'last'. With 'first' returned values are the elements + 0: no -0, and one NaN.
        index_dtype: 'int32', 'int64' or 'uint32'.
        return_values: return the elements, too.
        out: where results go: `indices`, or `(values, indices)`.
        workspace: zeroed bytes on the device; None: memory that dsv4 keeps for the stream.
        stream: None: the current stream of the library of `scores`.

    Returns:
        `indices [rows, k]`, or `(values, indices)`. Rows with fewer than k elements end in -1 and
        -infinity, with `largest=False` in -1 and +infinity. -0 and +0 are equal, and so are all
        NaNs: `tie` says which wins.

    Raises:
        InvalidArgument: a shape, stride, k or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("topk")
    rows = _Rows(program, scores, k, lengths, starts, ends, next_n, ratio)
    if offsets is not None:
        rows.add(program, "offsets", offsets, rows.rows)
    clauses = rows.clauses + print_order(order, sorted, largest, tie, nan)
    results = ("values",) * check_flag("return_values", return_values) + ("indices",)
    value = rows.scores
    outs = add_results(program, results, out, value.element, index_dtype, (*rows.rows, rows.k))
    program.returns(*select(program, value.name, value.type, clauses, outs))
    return launch(program, results, stream, workspace)


def _add_pages(
    program: Program,
    rows: _Rows,
    page_table: Any,
    page_size: int,
    requests: Any,
    cu_seq_lens: Any,
    page_starts: Any,
) -> None:
    """The clauses of slots: which pages a row has."""
    if requests is not None and cu_seq_lens is not None:
        raise make_error(
            InvalidArgument, "argument.cu_seq_lens", "cu_seq_lens",
            "'requests' and 'cu_seq_lens' both say which request a row is of: pass one of them",
        )  # fmt: skip
    if cu_seq_lens is not None and len(rows.rows) != 1:
        raise make_error(
            InvalidArgument, "argument.cu_seq_lens", "cu_seq_lens",
            f"'cu_seq_lens' needs 'scores' of rank 2, which has rank {len(rows.rows) + 1}: pass "
            "'requests'",
        )  # fmt: skip
    of_rows = requests is None and cu_seq_lens is None
    of = "rows" if of_rows and rows.rows == ("rows",) else "tables"
    table = program.input("page_table", page_table, INDICES, (of, "pages"))
    count = math.prod(program.dims[each] for each in rows.rows)
    if of_rows and program.dims[of] != count:
        raise make_error(
            InvalidArgument, "argument.extent", "page_table",
            f"argument 'page_table': extent 0 is {program.dims[of]}, expected {count}, the rows of "
            "'scores'",
        )  # fmt: skip
    rows.clauses += f" pages({table} : {table.type}) page {page_size}"
    if requests is not None:
        with program.naming():
            value = program.input("requests_of_rows", requests, INDICES, rows.rows)
        rows.clauses += f" requests({value} : {value.type})"
    if cu_seq_lens is not None:
        # The request of a row is searched.
        rows.add(program, "cu_seq_lens", cu_seq_lens, ("bounds",), "rows")
    if page_starts is not None:
        rows.add(program, "page_starts", page_starts, rows.rows)


@function
def topk_paged(
    scores: Array,
    k: int,
    page_table: Array,
    *,
    page_size: int,
    requests: Array | None = None,
    cu_seq_lens: Array | None = None,
    page_starts: Array | None = None,
    lengths: Array | None = None,
    starts: Array | None = None,
    ends: Array | None = None,
    next_n: int = 1,
    ratio: int = 1,
    largest: bool = True,
    sorted: bool = False,
    order: str | None = None,
    tie: str = "low",
    nan: str = "last",
    index_dtype: str = "int32",
    return_indices: bool = False,
    return_values: bool = False,
    out: Arrays | None = None,
    workspace: Array | None = None,
    stream: Stream | None = None,
) -> Any:
    """The slots, in a paged cache, of the k best elements of every row.

    >>> slots = dsv4.topk_paged(scores, 512, page_table, page_size=64, lengths=lengths)

    Args:
        scores, k, lengths, starts, ends, next_n, ratio, largest, sorted, order, tie, nan,
        workspace, stream: as for `topk`.
        page_table: i32 or i64 `[rows, pages]`, or `[requests, pages]` with `requests` or
            `cu_seq_lens`.
        page_size: entries per page.
        requests: i32 or i64 `[rows]`: the row of the page table of each row.
        cu_seq_lens: i32 or i64 `[requests + 1]`, instead of `requests`: request b has the rows from
            element b on. For scores of rank 2.
        page_starts: i32 or i64 `[rows]`: the column of the page table where the pages of each row
            begin; None: 0.
        index_dtype: of slots and indices.
        return_indices, return_values: return these, too.
        out: where results go, in their order.

    Returns:
        `slots [rows, k]`, or a tuple `(values, indices, slots)` of what is asked for. A slot is
        `page_table[row, page_starts[row] + i div page_size] * page_size + i mod page_size` for the
        index i, or -1 if there is none.

    Raises:
        InvalidArgument: a shape, stride, k or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("topk_paged")
    size = check_int("page_size", page_size, 1)
    rows = _Rows(program, scores, k, lengths, starts, ends, next_n, ratio)
    _add_pages(program, rows, page_table, size, requests, cu_seq_lens, page_starts)
    clauses = rows.clauses + print_order(order, sorted, largest, tie, nan)
    return_values = check_flag("return_values", return_values)
    return_indices = check_flag("return_indices", return_indices)
    results = ("values",) * return_values + ("indices",) * return_indices + ("slots",)
    value = rows.scores
    outs = add_results(program, results, out, value.element, index_dtype, (*rows.rows, rows.k))
    program.returns(*select(program, value.name, value.type, clauses, outs))
    return launch(program, results, stream, workspace)
