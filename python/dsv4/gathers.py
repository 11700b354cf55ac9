# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers: entries of a paged cache as rows, or as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ._arrays import describe, make_error
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_int, check_word, refuse
from ._program import Program, Value
from ._types import Array, Arrays, Stream
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
    cache: Arrays,
    indices: Array,
    *,
    record: str | Record,
    page_size: int | None = None,
    page_table: Array | None = None,
    indptr: Array | None = None,
    requests: Array | None = None,
    lengths: Array | None = None,
    lengths_per: str = "token",
    dtype: str | None = None,
    return_mask: bool = False,
    out: Arrays | None = None,
    stream: Stream | None = None,
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


class _Ragged(NamedTuple):
    """Which rows a request has, and which of its positions they are, as the caller says it."""

    cu_seq_lens: Any
    row_starts: Any
    seq_lens: Any
    gather_lens: Any
    seq_starts: Any
    offset: Any

    @property
    def own(self) -> bool:
        """Whether each request has rows of its own."""
        return self.cu_seq_lens is None and self.row_starts is None


def _ragged_clauses(
    program: Program, page_table: Any, indptr: Any, requests: Any, ragged: _Ragged
) -> tuple[str, tuple[str, ...]]:
    """Which positions of which requests are read, and the axes of their rows."""
    _check_ragged({"page_table": page_table, "requests": requests, **ragged._asdict()})
    clauses = Clauses(program)
    # Rows of their own are as many as the table's; cu_seq_lens may be longer.
    of = "requests" if ragged.cu_seq_lens is None else "tables"
    table = ("pages",) if indptr is not None else (of, "pages")
    clauses.add("pages", "page_table", page_table, table)
    clauses.add("indptr", "indptr", indptr, ("indptrs",))
    clauses.add("requests", "requests", requests, ("rows",))
    # Without 'requests', the request of a row is searched.
    access = "rows" if requests is None else None
    clauses.add("cu_seq_lens", "cu_seq_lens", ragged.cu_seq_lens, ("starts",), access)
    clauses.add("row_starts", "row_starts", ragged.row_starts, ("requests",), access)
    clauses.add("seq_lens", "seq_lens", ragged.seq_lens, ("requests",))
    clauses.add("gather_lens", "gather_lens", ragged.gather_lens, ("requests",))
    clauses.add("seq_starts", "seq_starts", ragged.seq_starts, ("first",))
    offset = check_int("offset", ragged.offset, 0)
    if offset:
        if not ragged.own:
            raise refuse("offset", offset, "0 with 'cu_seq_lens' or 'row_starts'")
        clauses.text += f" offset {offset}"
    return clauses.text, ("requests", "rows") if ragged.own else ("rows",)


def take_rows(program: Program, dim: str, rows: int | None, given: tuple[Any, ...]) -> None:
    """Gives outputs as many rows as `rows` says, which are the dim `dim`."""
    if rows is not None:
        rows = check_int("rows", rows, 0)
        if program.dims.setdefault(dim, rows) != rows:
            raise refuse("rows", rows, f"{program.dims[dim]}, as another argument has")
    elif given[0] is None and dim not in program.dims:
        raise make_error(
            InvalidArgument, "argument.rows", "rows",
            "'rows' or 'out' is needed: only the device knows how many rows there are",
        )  # fmt: skip


def _check_no_indices(ragged: _Ragged, lengths: Any, lengths_per: str) -> None:
    """What is there instead of indices."""
    if ragged.cu_seq_lens is None and ragged.seq_lens is None:
        raise make_error(
            InvalidArgument, "argument.indices", "indices",
            "'indices' are needed, or 'cu_seq_lens' or 'seq_lens' for all positions of requests",
        )  # fmt: skip
    if lengths is not None:
        raise make_error(
            InvalidArgument, "argument.lengths", "lengths",
            "'lengths' are for 'indices': 'cu_seq_lens' or 'seq_lens' say how many rows there are",
        )  # fmt: skip
    check_per(lengths_per)


def _check_no_ragged(ragged: _Ragged, rows: int | None) -> None:
    """Nothing that says rows is there beside indices."""
    for name, given in (*ragged._asdict().items(), ("rows", rows)):
        if name == "offset":
            if check_int(name, given, 0):
                raise refuse(name, given, "0 with 'indices'")
        elif given is not None:
            raise make_error(
                InvalidArgument, f"argument.{name}", name,
                f"'{name}' is for calls without 'indices', which say their rows themselves",
            )  # fmt: skip


@function
def gather_raw(
    cache: Arrays,
    indices: Array | None = None,
    *,
    record: str | Record,
    page_size: int | None = None,
    page_table: Array | None = None,
    indptr: Array | None = None,
    requests: Array | None = None,
    lengths: Array | None = None,
    lengths_per: str = "token",
    cu_seq_lens: Array | None = None,
    row_starts: Array | None = None,
    seq_lens: Array | None = None,
    gather_lens: Array | None = None,
    seq_starts: Array | None = None,
    rows: int | None = None,
    offset: int = 0,
    return_mask: bool = False,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """The stored fields of selected entries, as they are.

    >>> keys, scales = dsv4.gather_raw(cache, slots, record="index_fp8_132")
    >>> keys, scales = dsv4.gather_raw(cache, record="index_fp8_132", page_table=table,
    ...                                cu_seq_lens=cu, rows=4096)

    Args:
        cache, record, page_size, page_table, indptr, requests, return_mask, stream: as for
            `gather`, or without `indices` as for `gather_ragged`.
        indices, lengths, lengths_per: as for `gather`. Without `indices` all positions of some
            requests are read, as `gather_ragged` reads them.
        cu_seq_lens, row_starts, seq_lens, gather_lens, seq_starts, rows, offset: as for
            `gather_ragged`, without `indices`.
        out: the results, in their order.

    Returns:
        a tuple with an array for every field of the record that is not one scale per cache, in
        their order, `[..., n]`, and the mask if it is asked for. FP4 is two per byte. Without
        `indices` rows of no request stay as they are: new ones are zeros.

    Raises:
        InvalidArgument: a shape, stride, record or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("gather_raw")
    found = find_record(record)
    ragged = _Ragged(cu_seq_lens, row_starts, seq_lens, gather_lens, seq_starts, offset)
    value: Value | None = None
    lead: Sequence[int | str]
    if indices is None:
        _check_no_indices(ragged, lengths, lengths_per)
        type = program.cache("cache", cache, found, page_size)
        clauses, lead = _ragged_clauses(program, page_table, indptr, requests, ragged)
    else:
        _check_no_ragged(ragged, rows)
        type, value, clauses = _by_indices(
            program, cache, indices, found, page_size, page_table, indptr, requests, lengths,
            lengths_per,
        )  # fmt: skip
        lead = value.shape
    names = [f"field_{each.name}" for each in found.stored]
    return_mask = check_flag("return_mask", return_mask)
    given = take_outputs(out, len(names) + return_mask)
    keep = indices is None
    if keep:
        take_rows(program, "rows", rows, given)
    fields = [
        program.output(name, each.element, (*lead, each.extent), array, keep)
        for name, each, array in zip(names, found.stored, given)
    ]
    mask = program.output("mask", "i1", lead, given[-1], keep) if return_mask else None
    _gather(program, type, value, clauses, [], fields, mask)
    return launch(program, (*names, *(("mask",) * return_mask)), stream, as_tuple=True)


@function
def gather_ragged(
    cache: Arrays,
    page_table: Array,
    *,
    record: str | Record,
    cu_seq_lens: Array | None = None,
    row_starts: Array | None = None,
    seq_lens: Array | None = None,
    gather_lens: Array | None = None,
    seq_starts: Array | None = None,
    requests: Array | None = None,
    indptr: Array | None = None,
    rows: int | None = None,
    offset: int = 0,
    page_size: int | None = None,
    dtype: str | None = None,
    return_mask: bool = False,
    out: Arrays | None = None,
    stream: Stream | None = None,
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
    ragged = _Ragged(cu_seq_lens, row_starts, seq_lens, gather_lens, seq_starts, offset)
    clauses, lead = _ragged_clauses(program, page_table, indptr, requests, ragged)
    given = take_outputs(out, 1 + check_flag("return_mask", return_mask))
    take_rows(program, "rows", rows, given)
    return _gather_rows(
        program, type, None, clauses, lead, found.values, given, dtype, stream, keep=True
    )
