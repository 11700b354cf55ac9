# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scores of the keys of an index, and selections from them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import describe, make_error
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_int, refuse
from ._program import MAX_ALIGNMENT, Program, Value
from ._types import Array, Arrays, Stream
from .gathers import Clauses
from .records import Record, find_record
from .rows import float_type
from .selection import (
    INDICES,
    MAX_K,
    add_results,
    check_lengths,
    choose_buckets,
    print_order,
    print_steps,
    select,
)

MAX_HEADS = 128
MAX_DIM = 256
MAX_COLUMNS = 2**22


class _Format(NamedTuple):
    """Elements of keys, and their scales: one per `group` of elements, or with 0 per key."""

    element: str
    scale: str | None = None
    group: int = 0


_FORMATS = (
    _Format("f8E4M3FN", "f32"),
    _Format("f4E2M1FN", "f8E8M0FNU", 32),
    _Format("f4E2M1FN", "f8E4M3FN", 16),
    _Format("bf16"),
)
# Elements per scale of queries.
_QUERY_GROUP = 32

# A new array of scores has at most this number of bytes, which vLLM sets aside for logits.
MAX_SCORE_BYTES = 2**29
# Rows, their columns, and scores in all for which one kernel, which keeps scores in shared memory,
# is the faster one on an H200: docs/Performance/Functions.md.
_ONE_KERNEL_ROWS = (16, 128)
_ONE_KERNEL_COLUMNS = 2**14
_ONE_KERNEL_SCORES = 2**20
# One kernel depends on how many multiprocessors there are for a row.
_CLUSTER_ROWS = (4, 8, 16, 32, 64)


def uses_two_kernels(rows: int, columns: int) -> bool:
    """Whether a selection reads its scores from memory, where a kernel before it has written them.

    Two kernels share all keys of all rows among all multiprocessors. In one kernel each row has a
    few of them: that is faster if there are enough rows, but not too many, and if the scores of a
    row fit into their shared memory. It allocates nothing, so it is also for what is too large."""
    if 4 * rows * columns > MAX_SCORE_BYTES:
        return False
    few, many = _ONE_KERNEL_ROWS
    fits = columns <= _ONE_KERNEL_COLUMNS and rows * columns <= _ONE_KERNEL_SCORES
    return not (few <= rows <= many and fits)


class _Keys(NamedTuple):
    """The keys, and which of them each row has, as the caller says it."""

    keys: Any
    key_scales: Any
    record: str | Record | None
    page_size: int | None
    page_table: Any
    indptr: Any
    requests: Any
    starts: Any
    lengths: Any
    ends: Any
    next_n: int
    ratio: int


class _Scores:
    """The operands of scores, which are columns of a row each."""

    def __init__(
        self, program: Program, q: Any, weights: Any, scales: Any, given: _Keys
    ) -> None:
        self.program = program
        self.given = given
        self.next_n, self.ratio = check_lengths(
            given.lengths, given.ends, given.next_n, given.ratio, 2
        )
        self._add_queries(q, weights, scales)
        self.clauses = Clauses(program)
        self.page_table: Value | None = None
        self.requests: Value | None = None
        if given.record is None:
            self._keys = self._add_keys()
        else:
            self._keys = self._add_cache(find_record(given.record))
        # The clauses that a selection from the scores has, too.
        self.limits = Clauses(program)
        self.clauses.add("starts", "starts", given.starts, ("rows",))
        of = ("requests",) if self.next_n != 1 else ("rows",)
        self.limits.add("lengths", "lengths", given.lengths, of)
        self.limits.add("ends", "ends", given.ends, ("rows",))
        self.limits.text += print_steps(self.next_n, self.ratio)

    def _add_queries(self, q: Any, weights: Any, scales: Any) -> None:
        # FP4 has scales, and other queries have none: the elements of bytes are plain.
        elements = ("f4E2M1FN",) if scales is not None else ("f8E4M3FN", "bf16")
        self.q = self.program.input("q", q, elements, ("rows", None, None))
        heads, dim = self.q.shape[1:]
        assert isinstance(heads, int) and isinstance(dim, int)
        for axis, extent, fits, expected in (
            (1, heads, 1 <= heads <= MAX_HEADS, f"1 to {MAX_HEADS} heads"),
            (2, dim, 0 < dim <= MAX_DIM and dim % _QUERY_GROUP == 0,
             f"a multiple of {_QUERY_GROUP} up to {MAX_DIM}"),
        ):
            if not fits:
                raise make_error(
                    InvalidArgument, "argument.extent", "q",
                    f"argument 'q': extent {axis} is {extent}, expected {expected}",
                )  # fmt: skip
        self.dim, self._queries = dim, ""
        if scales is not None:
            of = self.program.input(
                "scales", scales, ("f8E8M0FNU",), ("rows", heads, dim // _QUERY_GROUP)
            )
            self._queries = f" scales({of} : {of.type})"
        self.weights = self.program.input("weights", weights, ("f32",), ("rows", heads))
        self._queries += f" weights({self.weights} : {self.weights.type})"

    def _add_keys(self) -> str:
        """Keys in arrays."""
        for name in ("page_table", "indptr", "requests", "page_size"):
            if getattr(self.given, name) is not None:
                raise make_error(
                    InvalidArgument, f"argument.{name}", name,
                    f"'{name}' is for keys of a cache: pass its 'record', too",
                )  # fmt: skip
        if self.given.key_scales is None:
            element = describe("keys", self.given.keys).element
            if element in ("u8", "f8E4M3FN"):
                raise make_error(
                    InvalidArgument, "argument.key_scales", "key_scales",
                    f"'key_scales' is needed with 'keys' of {element}; keys of a cache have a "
                    "'record' instead",
                )  # fmt: skip
            keys = self.program.input("keys", self.given.keys, ("bf16",), ("keys", self.dim))
            return f" keys({keys} : {keys.type})"
        view = describe("key_scales", self.given.key_scales)
        per_key = len(view.shape) < 2
        fp8, mxfp4, nvfp4, _ = _FORMATS
        format = fp8
        if not per_key:
            formats = {self.dim // each.group: each for each in (mxfp4, nvfp4)}
            if view.shape[-1] not in formats:
                counts = " or ".join(map(str, formats))
                raise make_error(
                    InvalidArgument, "argument.extent", "key_scales",
                    f"argument 'key_scales': extent {len(view.shape) - 1} is {view.shape[-1]}, "
                    f"expected {counts} for FP4, and no such axis for FP8",
                )  # fmt: skip
            format = formats[view.shape[-1]]
        assert format.scale is not None
        keys = self.program.input(
            "keys", self.given.keys, (format.element,), ("keys", self.dim)
        )
        shape: tuple[str | int, ...] = ("keys",)
        if format.group:
            shape = ("keys", self.dim // format.group)
        # One per key is copied in blocks.
        scales = self.program.input(
            "key_scales", self.given.key_scales, (format.scale,), shape,
            "blocks" if per_key else "rows",
        )  # fmt: skip
        if per_key and view.address % MAX_ALIGNMENT and 0 not in view.shape:
            raise make_error(
                InvalidArgument, "argument.alignment", "key_scales",
                f"argument 'key_scales': its address {view.address:#x} is no multiple of "
                f"{MAX_ALIGNMENT}: pass a copy, which is aligned",
            )  # fmt: skip
        return f" keys({keys} : {keys.type}) key_scales({scales} : {scales.type})"

    def _add_cache(self, record: Record) -> str:
        """Keys of pages, and what leads to them."""
        given = self.given
        if given.key_scales is not None:
            raise make_error(
                InvalidArgument, "argument.key_scales", "key_scales",
                "'key_scales' is for keys in arrays: those of a cache are in its record",
            )  # fmt: skip
        if given.page_table is None:
            raise make_error(
                InvalidArgument, "argument.page_table", "page_table",
                "'page_table' is needed: it says where the pages of each row are",
            )  # fmt: skip
        dim = check_keys(record)
        if dim != self.dim:
            raise make_error(
                InvalidArgument, "argument.extent", "q",
                f"argument 'q': extent 2 is {self.dim}, expected {dim}, the elements of a key of "
                f"record {record.title}",
            )  # fmt: skip
        type = self.program.cache("keys", given.keys, record, given.page_size)
        table: tuple[str, ...] = ("pages",)
        if given.indptr is None:
            of = "requests" if self.next_n != 1 else "rows"
            table = (of if given.requests is None else "tables", "pages")
        self.page_table = self.clauses.add("pages", "page_table", given.page_table, table)
        self.clauses.add("indptr", "indptr", given.indptr, ("starts",))
        self.requests = self.clauses.add("requests", "requests", given.requests, ("rows",))
        return f" cache(%keys : {type})"

    def count_columns(self, columns: int | None, name: str, out: Any) -> int:
        """The columns of a row: as the caller says, those of the array, which is argument `name`,
        or all keys there may be."""
        dims = self.program.dims
        if columns is not None:
            found = check_int("columns", columns, 1, MAX_COLUMNS)
        elif out is not None:
            view = describe(name, out)
            found = view.shape[-1] if len(view.shape) == 2 else 1
        elif self.given.record is None:
            found = dims["keys"]
        elif self.given.indptr is None:
            found = dims["pages"] * self.program.page_sizes["keys"]
        else:
            raise make_error(
                InvalidArgument, "argument.columns", "columns",
                "'columns' is needed with 'indptr': only the device knows how many pages a row has",
            )  # fmt: skip
        if found > MAX_COLUMNS:
            raise refuse("columns", found, f"at most {MAX_COLUMNS}: pass fewer")
        dims["columns"] = found
        return found

    def score(self, target: Value, keep_rest: bool) -> str:
        """Adds the op. Returns its result."""
        name = self.program.fresh("s")
        keep = " keep_rest" if keep_rest else ""
        self.program.line(
            f"{name} = dsv4.index_score {self.q}{self._queries}{self._keys}{self.clauses.text}"
            f"{self.limits.text}{keep} outs({target} : {target.type}) : {self.q.type}"
        )
        return name

    @property
    def is_bounded(self) -> bool:
        """Whether the arrays say how many keys each row has."""
        return self.given.lengths is not None or self.given.ends is not None


def check_keys(record: Record) -> int:
    """That the record is one of keys. Returns their elements."""
    key = record.data[0]
    scales = [each for each in record.fields if each.scales is not None]
    of = [(each.element, 0 if each.per == "row" else each.per) for each in scales]
    format = (key.element, *(of[0] if of else (None, 0)))
    if (
        len(record.data) > 1 or len(scales) > 1 or format not in _FORMATS or key.high_first
        or any(each.interleave != 1 for each in scales)
    ):  # fmt: skip
        raise make_error(
            InvalidArgument, "option.record", "record",
            f"record {record.title} is none of index keys: expected one field of f8E4M3FN with an "
            "f32 scale per 'row', of f4E2M1FN with f8E8M0FNU per 32 or f8E4M3FN per 16, or of bf16",
        )  # fmt: skip
    return key.extent


@function
def index_score(
    q: Array,
    keys: Array,
    weights: Array,
    *,
    scales: Array | None = None,
    key_scales: Array | None = None,
    record: str | Record | None = None,
    page_size: int | None = None,
    page_table: Array | None = None,
    indptr: Array | None = None,
    requests: Array | None = None,
    starts: Array | None = None,
    lengths: Array | None = None,
    ends: Array | None = None,
    next_n: int = 1,
    ratio: int = 1,
    columns: int | None = None,
    keep_rest: bool = False,
    dtype: str | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """Scores of the keys of an index, which each row sees.

    >>> scores = dsv4.index_score(q, cache, weights, record="index_fp8_132",
    ...                           page_table=page_table, lengths=lengths)

    Args:
        q: the queries, FP8, bf16 or, with `scales`, FP4 `[rows, heads, dim]`; FP4 is two per byte.
            There are at most 128 heads, and dim is a multiple of 32 up to 256.
        keys: a cache with its `record`, as for `gather`, or bf16, FP8 or FP4 `[keys, dim]`, which
            all rows share.
        weights: f32 `[rows, heads]`, which hold the scales of queries in FP8 and all constants.
        scales: E8M0 `[rows, heads, dim / 32]` of queries in FP4.
        key_scales: f32 `[keys]` of FP8, E8M0 `[keys, dim / 32]` or E4M3 `[keys, dim / 16]` of FP4.
        record: of keys in a cache: 'index_fp8_132', 'index_mxfp4_68', or one with one field, of
            FP8, MXFP4, NVFP4 or bf16.
        page_size: entries per page; None: as the shape of the cache says.
        page_table: i32 or i64 `[rows, pages]`, `[requests, pages]` with `requests` or `next_n`, or
            `[pages]` with `indptr`.
        indptr: i32 or i64 `[requests + 1]`: where the pages of each request begin.
        requests: i32 or i64 `[rows]`: the request of each row, for its pages.
        starts: i32 or i64 `[rows]`: the first key of each row, which is column 0 of its scores.
        lengths, ends, next_n, ratio: as for `topk`; `lengths` count from the start, and `ends`
            say the key after the last one.
        columns: scores of each row; None: those of `out`, or as many as there are keys, or
            entries in the pages of a row. With `indptr` one of both is needed.
        keep_rest: columns beyond the keys of a row are not written, and cost nothing: those of a
            new array hold anything.
        dtype: of the scores: 'float32', 'bfloat16' or 'float16'; None: that of `out`, or float32.
        out: `[rows, columns]`, an array to write to.
        stream: as for `topk`.

    Returns:
        `[rows, columns]`: `sum(weights * relu(q . key)) * scale(key)` over the heads, -infinity
        in columns without a key, and where a page is not in the table or the cache.

    Raises:
        InvalidArgument: a shape, stride, record or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("index_score")
    given = _Keys(
        keys, key_scales, record, page_size, page_table, indptr, requests, starts, lengths, ends,
        next_n, ratio,
    )  # fmt: skip
    scores = _Scores(program, q, weights, scales, given)
    keep_rest = check_flag("keep_rest", keep_rest)
    element = float_type(dtype, "f32", out)
    scores.count_columns(columns, "out", out)
    program.bucket("columns", (), 4 if element == "f32" else 8)
    target = program.output("out", element, ("rows", "columns"), out)
    program.returns((scores.score(target, keep_rest), target))
    return launch(program, ("out",), stream)


@function
def index_topk(
    q: Array,
    keys: Array,
    weights: Array,
    k: int,
    *,
    scales: Array | None = None,
    key_scales: Array | None = None,
    record: str | Record | None = None,
    page_size: int | None = None,
    page_table: Array | None = None,
    indptr: Array | None = None,
    requests: Array | None = None,
    starts: Array | None = None,
    lengths: Array | None = None,
    ends: Array | None = None,
    offsets: Array | None = None,
    next_n: int = 1,
    ratio: int = 1,
    columns: int | None = None,
    largest: bool = True,
    order: str | None = None,
    sorted: bool = False,
    tie: str = "low",
    nan: str = "last",
    index_dtype: str = "int32",
    return_indices: bool = True,
    return_values: bool = False,
    return_slots: bool = False,
    out: Arrays | None = None,
    scores: Array | None = None,
    kernels: int | None = None,
    workspace: Array | None = None,
    stream: Stream | None = None,
) -> Any:
    """The k best keys of an index for every row: scores and selection in one launch.

    >>> slots = dsv4.index_topk(q, cache, weights, 512, record="index_fp8_132",
    ...                         page_table=page_table, lengths=lengths, return_indices=False,
    ...                         return_slots=True)

    Args:
        q, keys, weights, scales, key_scales, record, page_size, page_table, indptr, requests:
            as for `index_score`.
        k, largest, order, sorted, tie, nan, index_dtype, workspace, stream: as for `topk`.
        starts: as for `index_score`, with `lengths`. Indices count from the start.
        lengths, ends, next_n, ratio: as for `topk`. No row is longer than its pages, or `keys`.
        offsets: i32 or i64 `[rows]`, added to the indices of each row, such as `starts`.
        columns: keys of a row at most; None: those of `scores`, or as many as there are keys, or
            entries in the pages of a row.
        return_indices, return_values, return_slots: what is returned. Slots are those of
            `topk_paged`, of keys in a cache without `indptr` and `starts`; with `next_n` they need
            `requests`.
        out: where results go, in their order.
        scores: f32 `[rows, columns]`, an array that all scores are written to.
        kernels: 1: scores are never in memory; 2: one kernel writes the scores, to `scores` or a
            new array, and another selects from them; None: 2 with `scores`, or if there are neither
            `lengths` nor `ends`, else as `dsv4.indexer.uses_two_kernels` says of rows and columns.

    Returns:
        `indices [rows, k]`, or a tuple `(values, indices, slots)` of what is asked for. The same
        is selected as by `topk` from the result of `index_score`.

    Raises:
        InvalidArgument: a shape, stride, record, k or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("index_topk")
    given = _Keys(
        keys, key_scales, record, page_size, page_table, indptr, requests, starts, lengths, ends,
        next_n, ratio,
    )  # fmt: skip
    k = check_int("k", k, 1, MAX_K)
    index = _Scores(program, q, weights, scales, given)
    count = index.count_columns(columns, "scores", scores)
    clauses = index.limits.text
    results = (
        ("values",) * check_flag("return_values", return_values)
        + ("indices",) * check_flag("return_indices", return_indices)
        + ("slots",) * check_flag("return_slots", return_slots)
    )  # fmt: skip
    _check_selection(index, count, results)
    if "slots" in results:
        clauses += _print_pages(index)
    if offsets is not None:
        value = program.input("offsets", offsets, INDICES, ("rows",))
        clauses += f" offsets({value} : {value.type})"
    clauses += print_order(order, sorted, largest, tie, nan)
    returned = []
    if _count_kernels(index, kernels, count, scores) == 2:
        choose_buckets(program, k, 2, 4)
        program.bound("columns", MAX_COLUMNS)
        target = program.output("scores", "f32", ("rows", "columns"), scores, own=True)
        # Nobody reads the rest of a new array.
        keep_rest = scores is None and index.is_bounded and starts is None
        name = index.score(target, keep_rest)
        returned.append((name, target))
    else:
        program.bucket("rows", _CLUSTER_ROWS)
        # The very columns: a row that is said to be longer has no keys beyond them.
        target = program.empty("f32", ("rows", count), index.weights)
        name = index.score(target, False)
    outs = add_results(program, results, out, "f32", index_dtype, ("rows", k))
    program.returns(*returned, *select(program, name, target.type, clauses, outs))
    return launch(program, results, stream, workspace)


def _count_kernels(index: _Scores, kernels: int | None, columns: int, scores: Any) -> int:
    if kernels is not None:
        kernels = check_int("kernels", kernels, 1, 2)
        if kernels == 1 and scores is not None:
            raise refuse("kernels", kernels, "2 with 'scores': one kernel writes none")
        # Without columns there is nothing to keep.
        return kernels if columns else 2
    if scores is not None or not index.is_bounded:
        return 2
    return 2 if uses_two_kernels(index.program.dims["rows"], columns) else 1


def _check_selection(index: _Scores, columns: int, results: tuple[str, ...]) -> None:
    """What a selection needs beside scores."""
    given = index.given
    if results in ((), ("values",)):
        raise refuse("return_indices", False, "True without 'return_slots'")
    if given.starts is not None and given.lengths is None:
        raise make_error(
            InvalidArgument, "argument.lengths", "lengths",
            "'lengths' is needed with 'starts': a selection counts keys from the start",
        )  # fmt: skip
    if given.record is None and columns > index.program.dims["keys"]:
        raise refuse("columns", columns, f"at most {index.program.dims['keys']}, the keys")


def _print_pages(index: _Scores) -> str:
    """The clauses of slots."""
    given = index.given
    why = None
    if given.record is None:
        why = "keys of a cache: pass its 'record'"
    elif given.indptr is not None or given.starts is not None:
        why = f"False with '{'starts' if given.indptr is None else 'indptr'}'"
    elif index.next_n != 1 and given.requests is None:
        why = "'requests' with 'next_n': pass the request of each row"
    if why is not None:
        raise refuse("return_slots", True, why)
    table, requests = index.page_table, index.requests
    assert table is not None
    text = f" pages({table} : {table.type}) page {index.program.page_sizes['keys']}"
    return text + (f" requests({requests} : {requests.type})" if requests else "")
