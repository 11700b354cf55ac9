# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of valid entries, for kernels that read them from memory."""

from __future__ import annotations

from typing import Any

from ._arrays import describe, make_error
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import INT32_MAX, check_int, refuse
from ._program import MAX_ROW, Program
from ._types import Array, Arrays, Stream
from .selection import INDICES, index_type


def _count_pages(page_size: int | None, pages: int | None, out: Any) -> int | None:
    """The columns of the result, which has one for each page; None: it has none."""
    if page_size is None:
        if pages is not None:
            raise refuse("pages", pages, "None without 'page_size'")
        return None
    if pages is None and out is not None:
        shape = describe("out", out).shape
        pages = shape[-1] if len(shape) == 2 else None
    if pages is None:
        raise make_error(
            InvalidArgument, "argument.pages", "pages",
            "'pages' or an 'out' of rank 2 is needed with 'page_size': how many pages are counted",
        )  # fmt: skip
    count = check_int("pages", pages, 1, MAX_ROW)
    if count * page_size > INT32_MAX:
        raise refuse("pages", pages, f"at most {INT32_MAX // page_size} of {page_size} entries")
    return count


@function
def valid_lens(
    positions: Array | None = None,
    *,
    lengths: Array | None = None,
    ratio: int = 1,
    window: int | None = None,
    page_size: int | None = None,
    pages: int | None = None,
    index_dtype: str = "int32",
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """How many entries of a cache a query may read, or exist.

    >>> lens = dsv4.valid_lens(positions, ratio=4)          # compressed entries
    >>> lens = dsv4.valid_lens(positions, window=128)       # of a sliding window
    >>> of_pages = dsv4.valid_lens(lengths=seq_lens, page_size=64, pages=32)

    `topk` and other functions that have a `ratio` count from positions themselves.

    Args:
        positions: i32 or i64 `[rows]`: the position of each query in its sequence.
        lengths: i32 or i64 `[rows]`, instead of `positions`: the tokens of each request.
        ratio: tokens per entry.
        window: the last entries count, as many as this; None: all.
        page_size: entries per page; None: they are not counted by page.
        pages: with `page_size`, how many pages there are; None: those of `out`.
        index_dtype: 'int32', 'int64' or 'uint32'.
        out: an array to write to.
        stream: as for `topk`.

    Returns:
        `[rows]`: `(positions + 1) div ratio`, or `lengths div ratio`, and at most `window`; 0 for
        negative ones. With `page_size` `[rows, pages]`: how many of them are in each page.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("valid_lens")
    if (positions is None) == (lengths is None):
        raise make_error(
            InvalidArgument, "argument.positions", "positions",
            "'positions' of queries or 'lengths' of requests are needed, and one of them alone",
        )  # fmt: skip
    name, given = ("positions", positions) if lengths is None else ("lengths", lengths)
    tokens = program.input(name, given, INDICES, ("rows",))
    clauses = f" {name}({tokens} : {tokens.type})"
    ratio = check_int("ratio", ratio, 1)
    if ratio != 1:
        clauses += f" ratio {ratio}"
    if window is not None:
        clauses += f" window {check_int('window', window, 1)}"
    if page_size is not None:
        page_size = check_int("page_size", page_size, 1)
        clauses += f" page {page_size}"
    columns = _count_pages(page_size, pages, out)
    shape: list[int | str] = ["rows"] if columns is None else ["rows", columns]
    target = program.output("lens", index_type(index_dtype), shape, out, option="index_dtype")
    lens = program.fresh("n")
    program.line(f"{lens} = dsv4.valid_lens{clauses} outs({target} : {target.type})")
    program.returns((lens, target))
    return launch(program, ("lens",), stream)
