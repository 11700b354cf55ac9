# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compression: windows of tokens as entries of a paged cache."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import describe, make_error
from ._chains import Op
from ._dsv4 import InvalidArgument
from ._kernels import function, launch
from ._options import check_flag, check_float, check_int
from ._program import MAX_PAGE_SIZE, Program, Value
from ._types import Array, Arrays, Stream
from .gathers import Clauses, take_rows
from .recipes import Recipe, recipe_of
from .records import Field, Record, find_record
from .rows import check_rotation, check_table
from .selection import FLOATS, INDICES, take_outputs
from .writers import add_norm_rope, append_op, check_ring, check_width, encode_rows, make_chain

# The longest, without and with overlap.
_MAX_WINDOWS = {False: 1024, True: 512}

# Few entries have several blocks each, more of them one, and many share one.
_ENTRIES = (64, 256)


def state_record(columns: int, element: str = "f32") -> Record:
    """The record of the tokens that later windows need: values, then scores.

    >>> record = dsv4.compression.state_record(1024)
    >>> state = torch.zeros(requests, record.page_bytes(8), dtype=torch.uint8, device="cuda")
    >>> dsv4.append_(state, positions, (values, scores), ring=8, requests=requests_of_tokens,
    ...              lengths=lengths, record=record)

    A request has a ring: position p is in its entry p mod 8, so the newest 8 tokens of each request
    are kept. `append_` takes positions for `slots` then. `compress_` reads them with `state` and
    the same `ring`.

    Args:
        columns: of `values`, and of `scores`.
        element: the type of both, 'f32', 'bf16' or 'f16'.

    Returns:
        a `Record` of the fields `values` and `scores`.
    """
    return Record([Field("values", columns, element), Field("scores", columns, element)])


@function
def compress_(
    values: Array,
    scores: Array,
    plan: Array,
    cache: Arrays,
    slots: Array,
    *,
    window: int,
    record: str | Record,
    recipe: str | Recipe | None = None,
    overlap: bool = False,
    bias: Array | None = None,
    norm: bool | None = None,
    weight: Array | None = None,
    eps: float = 1e-6,
    table: Array | None = None,
    positions: Array | None = None,
    neox: bool = False,
    interleaved: bool = False,
    rounding: str = "none",
    global_scale: Array | None = None,
    state: Array | None = None,
    ring: int | None = None,
    state_table: Array | None = None,
    state_page_size: int | None = None,
    biased: bool = False,
    page_size: int | None = None,
    stream: Stream | None = None,
) -> None:
    """Compresses windows of tokens to entries, and writes them to a paged cache, in one kernel.

    >>> dsv4.compress_(values, scores, plan, cache, slots, window=4, overlap=True,
    ...                record="v4_584", bias=ape, weight=weight, table=cos_sin,
    ...                positions=positions, state=state, ring=8)

    Args:
        values, scores: f32, bf16 or f16 `[tokens, D]`, `[tokens, 2 D]` with `overlap`.
        plan: i32 or i64 `[entries, 4]`: for each entry the position of its window, its request,
            and position and row of the first token of the request in this launch.
        cache, record, page_size: as for `gather`. The cache is changed.
        slots: i32 or i64 `[entries]`; -1: the entry is not written.
        window: tokens per window.
        recipe: as for `norm_rope_append_`.
        overlap: an entry has the window before, too.
        bias: f32 `[window, columns of values]`, added to the scores.
        norm: whether entries are normalised; None: if there is a `weight`, which False excludes.
        weight, eps: as for `rms_norm`.
        table, positions: as for `rope`, positions `[entries]`; without a table they are not
            rotated.
        neox, interleaved: as for `rope`.
        rounding: as for `norm_rope_append_`, and the first op is the compression. Entries without
            norm and table are rounded once, if the record stores some of their values as they are.
        global_scale: as for `norm_rope_append_`.
        state: the cache of the tokens of earlier launches, of the record `state_record`; it is read
            here, and `append_` writes it afterwards.
        ring: entries of the state per request, position p in entry p mod `ring`; the `ring` of the
            `append_` that wrote it. At least a window (two with `overlap`) less one.
        state_table: i32 or i64 `[requests, pages]`: the page table of the state.
        state_page_size: entries per page of the state; None: as its shape says.
        biased: the scores in the state have the bias.
        stream: as for `topk`.

    Raises:
        InvalidArgument: a shape, stride, record, recipe or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("compress")
    found = find_record(record)
    if any(each.scales for each in found.fields):
        recipe_of(found, recipe)
    overlap = check_flag("overlap", overlap)
    pairs, eps = check_rotation(neox, interleaved), check_float("eps", eps, 0)
    check_table(table, positions)
    norm = weight is not None if norm is None else check_flag("norm", norm)
    biased = check_flag("biased", biased)
    tokens = _State(state, state_table, state_page_size, ring, biased)
    op, work, extent = _compress_op(program, values, scores, plan, window, overlap, bias, tokens)
    check_width("values", extent, found)
    chain = make_chain(program, work, ("entries", extent), found, rounding)
    chain.add(op)
    add_norm_rope(program, [chain], norm, weight, eps, table, positions, pairs)
    fields, starts = encode_rows(program, [chain], found, recipe, global_scale)
    where = program.input("slots", slots, INDICES, ("entries",))
    type = program.cache("cache", cache, found, page_size)
    append_op(program, type, where, fields, starts, tokens="entries")
    launch(program, (), stream)


def _check_tokens(
    positions: Any, lengths: Any, requests: Any, cu_seq_lens: Any, entry_starts: Any
) -> None:
    """What says the position and the request of each token."""
    if (positions is None) == (lengths is None):
        raise make_error(
            InvalidArgument, "argument.positions", "positions",
            "'positions' of tokens or 'lengths' of requests are needed, and one of them alone",
        )  # fmt: skip
    if requests is not None and entry_starts is not None:
        raise make_error(
            InvalidArgument, "argument.requests", "requests",
            "'requests' and 'entry_starts' both say which request a row is of: pass one of them",
        )  # fmt: skip
    if cu_seq_lens is None and (requests is None or positions is None):
        raise make_error(
            InvalidArgument, "argument.cu_seq_lens", "cu_seq_lens",
            "'cu_seq_lens' is needed: only 'positions' with 'requests' do without",
        )  # fmt: skip


def _add_slots(
    program: Program, clauses: Clauses, slots: Any, page_table: Any, page_size: int | None
) -> None:
    """The clauses that say the slots of entries."""
    if slots is not None and page_table is not None:
        raise make_error(
            InvalidArgument, "argument.page_table", "page_table",
            "'slots' and 'page_table' both say where entries are: pass one of them",
        )  # fmt: skip
    if (page_table is None) != (page_size is None):
        raise make_error(
            InvalidArgument, "argument.page_size", "page_size",
            "'page_size' and 'page_table' go together: pass both, or none",
        )  # fmt: skip
    clauses.add("slots", "slots", slots, ("tokens",))
    clauses.add("pages", "page_table", page_table, ("requests", "pages"))
    if page_size is not None:
        clauses.text += f" page {check_int('page_size', page_size, 1)}"


@function
def compress_plan(
    window: int,
    positions: Array | None = None,
    *,
    lengths: Array | None = None,
    requests: Array | None = None,
    cu_seq_lens: Array | None = None,
    entry_starts: Array | None = None,
    slots: Array | None = None,
    page_table: Array | None = None,
    page_size: int | None = None,
    rows: int | None = None,
    out: Arrays | None = None,
    stream: Stream | None = None,
) -> Any:
    """The windows that the tokens of a launch complete: what `compress_` makes entries of.

    >>> plan, at = dsv4.compress_plan(4, positions, requests=requests, cu_seq_lens=cu)
    >>> plan, at, slots = dsv4.compress_plan(4, lengths=lens, cu_seq_lens=cu, rows=tokens,
    ...                                      page_table=table, page_size=64)

    Nothing of it is known to the host, so a captured graph makes the plan anew in each replay.

    Args:
        window: tokens per window, 1 to 1024.
        positions: i32 or i64 `[tokens]`: the position of each token in its request.
        lengths: i32 or i64 `[requests]`, instead of `positions`: the positions of each request
            after the launch.
        requests: i32 or i64 `[tokens]`: the request of each token; None: `cu_seq_lens` says it.
        cu_seq_lens: i32 or i64 `[requests + 1]`: request b has the tokens from element b on. Only
            `positions` with `requests` do without: then all tokens are in the state already.
        entry_starts: i32 or i64 `[requests + 1]`: the same of rows of the plan, which has then a
            row for each entry. None: it has a row for each token.
        slots: i32 or i64 `[tokens]`: the slot of the entry whose window a token ends.
        page_table, page_size: i32 or i64 `[requests, pages]`, instead of `slots`: the pages of the
            entries of each request, and the entries per page.
        rows: rows of the plan, where no other argument has as many: with `entry_starts`, and with
            `lengths` alone. With `out` it is not needed.
        out: the results, in their order, to write to.
        stream: as for `topk`.

    Returns:
        `(plan, positions)`, and with `slots` or `page_table` `(plan, positions, slots)`, of int32:
        `[rows, 4]`, `[rows]` and `[rows]`. Positions are those of the first token of each window,
        for `table` of `compress_`. A row that is no entry is -1 in all of them, and so is a slot
        of 2^31 or more.

    Raises:
        InvalidArgument: a shape, stride or option.
        TypeMismatch: an element type or a device.
    """
    program = Program("compress_plan")
    window = check_int("window", window, 1, _MAX_WINDOWS[False])
    _check_tokens(positions, lengths, requests, cu_seq_lens, entry_starts)
    clauses = Clauses(program)
    clauses.add("positions", "positions", positions, ("tokens",))
    clauses.add("lengths", "lengths", lengths, ("requests",))
    clauses.add("requests", "requests", requests, ("tokens",))
    # Without 'requests', the request of a row is searched.
    access = "rows" if requests is None else None
    clauses.add("starts", "cu_seq_lens", cu_seq_lens, ("bounds",), access)
    clauses.add("entry_starts", "entry_starts", entry_starts, ("bounds",), "rows")
    _add_slots(program, clauses, slots, page_table, page_size)
    has_slots = slots is not None or page_table is not None
    results = ("plan", "entry_positions", *("entry_slots",) * has_slots)
    given = take_outputs(out, len(results))
    of = "tokens" if entry_starts is None else "entries"
    take_rows(program, of, rows, given)
    shapes: list[tuple[int | str, ...]] = [(of, 4), (of,), (of,)]
    outs = [
        program.output(name, "i32", shape, array)
        for name, shape, array in zip(results, shapes, given)
    ]
    names = [program.fresh("w") for _ in outs]
    program.line(
        f"{', '.join(names)} = dsv4.compress_plan window {window}{clauses.text} "
        f"outs({', '.join(map(str, outs))} : {', '.join(each.type for each in outs)})"
    )
    program.returns(*zip(names, outs))
    return launch(program, results, stream)


class _State(NamedTuple):
    """The tokens of earlier launches, as the caller gives them."""

    cache: Any
    table: Any
    page_size: int | None
    ring: int | None
    biased: bool


def _compress_op(
    program: Program,
    values: Any,
    scores: Any,
    plan: Any,
    window: int,
    overlap: bool,
    bias: Any,
    state: _State,
) -> tuple[Op, Value, int]:
    """The op, its plan, and the values of an entry."""
    window = check_int("window", window, 1, _MAX_WINDOWS[overlap])
    tokens = program.input("values", values, FLOATS, ("tokens", None))
    weights = program.input("scores", scores, (tokens.element,), tuple(tokens.shape))
    work = program.input("plan", plan, INDICES, ("entries", 4))
    columns = tokens.shape[1]
    assert isinstance(columns, int)
    clauses = " overlap" if overlap else ""
    clauses += f" plan({work} : {work.type})"
    if bias is not None:
        added = program.input("bias", bias, ("f32",), (window, columns))
        clauses += f" bias({added} : {added.type})"
    of_state = state_record(columns, tokens.element)
    clauses += _state_clauses(program, state, of_state, window * (1 + overlap))
    program.bucket("entries", _ENTRIES)

    def emit(_: Value, out: Value) -> Value:
        rows = Value(program.fresh("p"), out.element, out.shape)
        program.line(
            f"{rows} = dsv4.compress {tokens}, {weights} window {window}{clauses} "
            f"outs({out} : {out.type}) : {tokens.type}, {weights.type}"
        )
        return rows

    return Op(emit, single=True), work, columns // 2 if overlap else columns


def _state_clauses(program: Program, state: _State, record: Record, window_rows: int) -> str:
    cache, table, size, ring, biased = state
    if size is not None:
        size = check_int("state_page_size", size, 1, MAX_PAGE_SIZE)
    if cache is None:
        if table is not None or ring is not None or biased:
            raise make_error(
                InvalidArgument, "argument.state", "state",
                "'state_table', 'ring' and 'biased' need a 'state'",
            )  # fmt: skip
        return ""
    if size is None and len(describe("state", cache).shape) == 2:
        raise make_error(
            InvalidArgument, "cache.page_size", "state_page_size",
            "'state_page_size' is needed: the state has the shape of pages of bytes",
        )  # fmt: skip
    type = program.cache("state", cache, record, size)
    text = f" state(%state : {type})"
    if ring is None and table is None:
        raise make_error(
            InvalidArgument, "argument.state", "state",
            "'state' needs a 'ring' or a 'state_table'",
        )  # fmt: skip
    if ring is not None:
        text += f" ring {check_ring(ring, max(window_rows - 1, 1), program.page_sizes['state'])}"
    if biased:
        text += " biased"
    if table is not None:
        value = program.input("state_table", table, INDICES, ("requests", "state_pages"))
        text += f" pages({value} : {value.type})"
    return text
