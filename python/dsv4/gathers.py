# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers: entries of a paged cache as rows, or as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import describe, make_error
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_int, check_word, refuse
from ._program import Program, Value
from .records import Record, find_record
from .rows import float_type
from .selection import INDICES, take_outputs

PER = ("token", "request")


class Clauses:
    """Operands of an op on a cache, in the order of its syntax."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.text = ""

    def add(
        self,
        keyword: str,
        name: str,
        array: Any,
        shape: Sequence[int | str | None],
        access: str | None = None,
    ) -> Value | None:
        if array is None:
            return None
        value = self.program.input(name, array, INDICES, shape, access)
        self.text += f" {keyword}({value} : {value.type})"
        return value


def check_per(lengths_per: str) -> str:
    return check_word("lengths_per", lengths_per, PER)


def _gather(
    program: Program,
    cache_type: str,
    indices: Value | None,
    clauses: str,
    outs: list[Value],
    fields: list[Value],
    mask: Value | None,
) -> None:
    """The op, and what it returns."""
    at = f"[{indices}]" if indices else ""
    text = ""
    for keyword, values in (("outs", outs), ("fields", fields), ("mask", [mask] if mask else [])):
        if values:
            types = ", ".join(each.type for each in values)
            text += f" {keyword}({', '.join(map(str, values))} : {types})"
    targets = outs + fields + ([mask] if mask else [])
    names = [program.fresh("g") for _ in targets]
    of = f", {indices.type}" if indices else ""
    program.line(
        f"{', '.join(names)} = dsv4.paged_gather %cache{at}{clauses}{text} : {cache_type}{of}"
    )
    program.returns(*zip(names, targets))


def _gather_rows(
    program: Program,
    cache_type: str,
    indices: Value | None,
    clauses: str,
    lead: Sequence[int | str],
    values: int,
    given: tuple[Any, ...],
    dtype: str | None,
    stream: Any,
    *,
    keep: bool = False,
) -> Any:
    """Launches a gather of decoded rows, and of their mask if `given` holds two results."""
    element = float_type(dtype, "bf16", given[0])
    rows = program.output("rows", element, (*lead, values), given[0], keep)
    if len(given) == 1:
        _gather(program, cache_type, indices, clauses, [rows], [], None)
        return launch(program, ("rows",), stream)
    mask = program.output("mask", "i1", lead, given[1], keep)
    _gather(program, cache_type, indices, clauses, [rows], [], mask)
    return launch(program, ("rows", "mask"), stream)


def _check_requests(
    rank: int, page_table: Any, indptr: Any, requests: Any, lengths: Any, lengths_per: str
) -> None:
    """What says the request of each token."""
    check_per(lengths_per)
    if page_table is None:
        for name, array in (("indptr", indptr), ("requests", requests)):
            if array is not None:
                raise make_error(
                    InvalidArgument, f"argument.{name}", name, f"'{name}' needs a 'page_table'"
                )
    if requests is not None:
        return
    if indptr is not None and rank == 1:
        raise make_error(
            InvalidArgument, "argument.requests", "requests",
            "'requests' is needed with 'indptr' and 'indices' of rank 1: pass the request of each "
            "index",
        )  # fmt: skip
    if lengths is not None and lengths_per == "request":
        raise make_error(
            InvalidArgument, "argument.requests", "requests",
            "'requests' is needed with lengths_per='request': pass the request of each token, or "
            "lengths per token",
        )  # fmt: skip


def _by_indices(
    program: Program,
    cache: Any,
    indices: Any,
    record: Record,
    page_size: int | None,
    page_table: Any,
    indptr: Any,
    requests: Any,
    lengths: Any,
    lengths_per: str,
) -> tuple[str, Value, str]:
    """Cache, indices and the clauses of a gather whose rows are named."""
    type = program.cache("cache", cache, record, page_size)
    rank = len(describe("indices", indices).shape)
    _check_requests(rank, page_table, indptr, requests, lengths, lengths_per)
    rows = ("tokens", "k")[:rank] if rank == 2 or requests is not None else ("k",)
    value = program.input("indices", indices, INDICES, rows)
    # One index per row: all of them are of one request.
    tokens = () if rank == 1 and requests is None else rows[:1]
    per_request = tokens if requests is None else ("requests",)
    clauses = Clauses(program)
    table = ("pages",) if indptr is not None else (*per_request, "pages")
    clauses.add("pages", "page_table", page_table, table)
    clauses.add("indptr", "indptr", indptr, ("starts",))
    clauses.add("requests", "requests", requests, rows[:1])
    per = " per request" if lengths_per == "request" else ""
    clauses.add("lengths" + per, "lengths", lengths, per_request if per else tokens)
    return type, value, clauses.text


@function
def gather(
    cache: Any,
    indices: Any,
    *,
    record: str | Record,
    page_size: int | None = None,
    page_table: Any = None,
    indptr: Any = None,
    requests: Any = None,
    lengths: Any = None,
    lengths_per: str = "token",
    dtype: str | None = None,
    return_mask: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """Selected entries of a paged cache, decoded.

    >>> rows = dsv4.gather(cache, slots, record="v4_584")
    >>> rows, valid = dsv4.gather(cache, indices, record="v4_584", page_table=table,
    ...                           requests=request_of_token, return_mask=True)

    Args:
        cache: the pages, `[pages, page_bytes]` or `[pages, page_size, entry_bytes]` of any type;
            of a record with arrays a tuple: the pages, if there are rows or tails, then
            `[pages, page_size, n]` for each field in an array.
        indices: i32 or i64 `[k]` or `[tokens, k]`, `[tokens]` with `requests`: slots, or with
            `page_table` positions. Negative ones are not valid.
        record: a name of `dsv4.KNOWN_RECORDS`, or a `dsv4.Record`.
        page_size: entries per page; None: as the shape of the cache says.
        page_table: i32 or i64 `[pages]`, `[tokens, pages]`, or `[requests, pages]` with `requests`.
        indptr: i32 or i64 `[requests + 1]`: where the pages of each request begin in a
            `page_table` of rank 1.
        requests: i32 or i64 `[tokens]`: the row of the page table of each token.
        lengths: indices at or beyond it are not valid: `[tokens]`, `[requests]` with `requests`
            and `lengths_per="request"`, or rank 0 for indices `[k]`.
        dtype: of the rows: 'bfloat16', 'float32' or 'float16'; None: that of `out`, or bfloat16.
        return_mask: return which rows are valid, too.
        out: `rows`, or `(rows, mask)`, to write to.
        stream: as for `topk`.

    Returns:
        rows of the shape of `indices` and the values of an entry, or `(rows, mask)`. Rows that are
        not valid are zeros.

    Raises:
        InvalidArgument: a shape, stride, record or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("gather")
    found = find_record(record)
    type, value, clauses = _by_indices(
        program, cache, indices, found, page_size, page_table, indptr, requests, lengths,
        lengths_per,
    )  # fmt: skip
    given = take_outputs(out, 1 + check_flag("return_mask", return_mask))
    return _gather_rows(
        program, type, value, clauses, value.shape, found.values, given, dtype, stream
    )


@function
def gather_raw(
    cache: Any,
    indices: Any,
    *,
    record: str | Record,
    page_size: int | None = None,
    page_table: Any = None,
    indptr: Any = None,
    requests: Any = None,
    lengths: Any = None,
    lengths_per: str = "token",
    return_mask: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The stored fields of selected entries, as they are.

    >>> keys, scales = dsv4.gather_raw(cache, slots, record="index_fp8_132")

    Args:
        cache, indices, record, page_size, page_table, indptr, requests, lengths, lengths_per,
        return_mask, stream: as for `gather`.
        out: the results, in their order.

    Returns:
        a tuple with an array for every field of the record that is not one scale per cache, in
        their order, `[..., n]`, and the mask if it is asked for. FP4 is two per byte.

    Raises:
        InvalidArgument: a shape, stride, record or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("gather_raw")
    found = find_record(record)
    type, value, clauses = _by_indices(
        program, cache, indices, found, page_size, page_table, indptr, requests, lengths,
        lengths_per,
    )  # fmt: skip
    names = [f"field_{each.name}" for each in found.stored]
    return_mask = check_flag("return_mask", return_mask)
    given = take_outputs(out, len(names) + return_mask)
    fields = [
        program.output(name, each.element, (*value.shape, each.extent), array)
        for name, each, array in zip(names, found.stored, given)
    ]
    mask = program.output("mask", "i1", value.shape, given[-1]) if return_mask else None
    _gather(program, type, value, clauses, [], fields, mask)
    return launch(program, (*names, *(("mask",) * return_mask)), stream, as_tuple=True)


def _check_ragged(given: dict[str, Any]) -> None:
    """What says which rows a request has, and which of its positions they are."""
    has = {name for name, array in given.items() if array is not None}
    if "page_table" not in has:
        raise make_error(
            InvalidArgument, "argument.page_table", "page_table",
            "'page_table' is needed: it says where the pages of each request are",
        )  # fmt: skip
    if not has & {"cu_seq_lens", "seq_lens"}:
        raise make_error(
            InvalidArgument, "argument.seq_lens", "seq_lens",
            "'cu_seq_lens' or 'seq_lens' is needed: they say how many rows a request has",
        )  # fmt: skip
    for name in ("row_starts", "seq_lens", "gather_lens"):
        if {name, "cu_seq_lens"} <= has:
            raise make_error(
                InvalidArgument, f"argument.{name}", name,
                f"'{name}' and 'cu_seq_lens' both say which rows a request has: pass one",
            )  # fmt: skip
    if "seq_starts" in has and "cu_seq_lens" not in has:
        raise make_error(
            InvalidArgument, "argument.seq_starts", "seq_starts",
            "'seq_starts' needs 'cu_seq_lens': pass 'gather_lens' with 'seq_lens'",
        )  # fmt: skip
    if "requests" in has and not has & {"cu_seq_lens", "row_starts"}:
        raise make_error(
            InvalidArgument, "argument.requests", "requests",
            "'requests' is for 'cu_seq_lens' or 'row_starts': with 'seq_lens' alone each request "
            "has rows of its own",
        )  # fmt: skip


def _ragged_clauses(
    program: Program,
    page_table: Any,
    indptr: Any,
    requests: Any,
    cu_seq_lens: Any,
    row_starts: Any,
    seq_lens: Any,
    gather_lens: Any,
    seq_starts: Any,
) -> str:
    """Which positions of which requests are read, and where their rows begin."""
    _check_ragged({
        "page_table": page_table, "cu_seq_lens": cu_seq_lens, "row_starts": row_starts,
        "seq_lens": seq_lens, "gather_lens": gather_lens, "seq_starts": seq_starts,
        "requests": requests,
    })  # fmt: skip
    clauses = Clauses(program)
    # Rows of their own are as many as the table's; cu_seq_lens may be longer.
    of = "requests" if cu_seq_lens is None else "tables"
    table = ("pages",) if indptr is not None else (of, "pages")
    clauses.add("pages", "page_table", page_table, table)
    clauses.add("indptr", "indptr", indptr, ("indptrs",))
    clauses.add("requests", "requests", requests, ("rows",))
    # Without 'requests', the request of a row is searched.
    access = "rows" if requests is None else None
    clauses.add("cu_seq_lens", "cu_seq_lens", cu_seq_lens, ("starts",), access)
    clauses.add("row_starts", "row_starts", row_starts, ("requests",), access)
    clauses.add("seq_lens", "seq_lens", seq_lens, ("requests",))
    clauses.add("gather_lens", "gather_lens", gather_lens, ("requests",))
    clauses.add("seq_starts", "seq_starts", seq_starts, ("first",))
    return clauses.text


def _take_rows(program: Program, rows: int | None, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs. If they are new, `rows` says how many rows they have."""
    if rows is not None:
        rows = check_int("rows", rows, 0)
    if given[0] is None:
        if rows is None:
            raise make_error(
                InvalidArgument, "argument.rows", "rows",
                "'rows' or 'out' is needed: only the device knows how many rows there are",
            )  # fmt: skip
        if program.dims.setdefault("rows", rows) != rows:
            raise refuse("rows", rows, f"{program.dims['rows']}, the elements of 'requests'")
    return given


@function
def gather_ragged(
    cache: Any,
    page_table: Any,
    *,
    record: str | Record,
    cu_seq_lens: Any = None,
    row_starts: Any = None,
    seq_lens: Any = None,
    gather_lens: Any = None,
    seq_starts: Any = None,
    requests: Any = None,
    indptr: Any = None,
    rows: int | None = None,
    offset: int = 0,
    page_size: int | None = None,
    dtype: str | None = None,
    return_mask: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """All positions of some requests, decoded, one request after another.

    >>> kv = dsv4.gather_ragged(cache, page_table, record="v4_584", cu_seq_lens=cu, rows=4096)

    Args:
        cache, record, page_size, dtype, return_mask, stream: as for `gather`.
        page_table: i32 or i64 `[requests, pages]`, or `[pages]` with `indptr`.
        cu_seq_lens: i32 or i64 `[requests + 1]`: request b has the rows from element b on.
        row_starts: i32 or i64 `[requests]`: the same, with `seq_lens` rows.
        seq_lens: i32 or i64 `[requests]`: positions of each request. Without `row_starts`, each
            request has rows of its own: the result is `[requests, rows, values]`.
        gather_lens: i32 or i64 `[requests]`, with `seq_lens`: how many positions are read, the
            last ones.
        seq_starts: i32 or i64 `[requests]`, with `cu_seq_lens`: the first position that is read.
        requests: i32 or i64 `[rows]`: the request of each row, if it is known; not for rows
            `[requests, rows, values]`.
        indptr: as for `gather`.
        rows: the rows of the result, because only the device knows how many there are. With `out`
            it is not needed.
        offset: the row where each request begins, with rows of its own.
        out: `rows`, or `(rows, mask)`, to write to.

    Returns:
        rows `[rows, values]` or `[requests, rows, values]`, or `(rows, mask)`. Rows of no request
        stay as they are: new ones are zeros.

    Raises:
        InvalidArgument: a shape, stride, record or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("gather_ragged")
    found = find_record(record)
    type = program.cache("cache", cache, found, page_size)
    clauses = _ragged_clauses(
        program, page_table, indptr, requests, cu_seq_lens, row_starts, seq_lens, gather_lens,
        seq_starts,
    )  # fmt: skip
    own = cu_seq_lens is None and row_starts is None
    offset = check_int("offset", offset, 0)
    if offset:
        if not own:
            raise refuse("offset", offset, "0 with 'cu_seq_lens' or 'row_starts'")
        clauses += f" offset {offset}"
    given = take_outputs(out, 1 + check_flag("return_mask", return_mask))
    given = _take_rows(program, rows, given)
    lead = ("requests", "rows") if own else ("rows",)
    return _gather_rows(
        program, type, None, clauses, lead, found.values, given, dtype, stream, keep=True
    )
