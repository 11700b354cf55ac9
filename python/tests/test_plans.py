# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Later calls of a function: launched by a plan, which is only for calls like the first."""

import gc
import sys
import threading

import numpy as np
import producers
import pytest
import reference

import dsv4
from dsv4 import _dsv4, _kernels, quantisation, rows, selection


@pytest.fixture
def programs(monkeypatch):
    """The names of the programs that are made."""
    made = []

    class Noted(_kernels.Program):
        def __init__(self, name):
            made.append(name)
            super().__init__(name)

    for module in (quantisation, rows, selection):
        monkeypatch.setattr(module, "Program", Noted)
    return made


@pytest.fixture
def scores(rng):
    # Extents that no other test has.
    return rng.standard_normal((6, 43)).astype(np.float32)


def test_a_second_call_makes_no_program(programs, scores, rng):
    lengths = np.array([3, 43, 0, 7, 9, 1], np.int32)
    for number in range(3):
        given = rng.standard_normal(scores.shape).astype(np.float32)
        values, indices = dsv4.topk(
            given, 5, lengths=lengths, sorted=True, return_values=True, stream=None
        )
        np.testing.assert_array_equal(indices, reference.topk(given, 5, lengths))
        assert values.dtype == np.float32 and values.shape == (6, 5)
        out = np.empty((6, 5), np.int32)
        assert dsv4.topk(given, 5, lengths=lengths, sorted=True, out=out) is out
        np.testing.assert_array_equal(out, indices)
        lengths = lengths[::-1].copy()
    assert programs == ["topk"] * 2


def key(*args, **kw):
    return _dsv4.describe_call(args, kw)[0]


def test_what_a_key_is_made_of(scores):
    shifted = np.zeros(6 * 43 + 1, np.float32)[1:].reshape(6, 43)
    wide = np.zeros((6, 86), np.float32)
    same = np.zeros_like(scores)
    frozen = producers.Modern(scores)
    frozen.flags = 1
    keys = [
        key(scores, 5), key(scores, 6), key(scores, 5.0), key(scores, "5"), key(scores, None),
        key(scores, True), key(scores, 2**70), key(scores), key(scores, k=5), key(scores, n=5),
        key(scores, (5,)), key(scores, (5, ())), key((scores, 5)), key(scores, dsv4.Recipe),
        key(scores[:5].copy(), 5), key(scores.view(np.int32), 5), key(shifted, 5),
        key(wide[:, :43], 5), key(wide[:, 1:44], 5), key(scores, same, 5), key(scores, scores, 5),
        key(producers.Modern(scores), 5), key(frozen, 5), key(producers.OnDevice(scores), 5),
        key(scores, 5, workspace=same),
        key(scores, 5, dsv4.KNOWN_RECORDS["v4_584"]), key(scores, 5, dsv4.KNOWN_RECORDS["v32_656"]),
        key(scores, 5, dsv4.KNOWN_RECIPES["nvfp4"]), key(scores, 5, dsv4.KNOWN_RECIPES["mxfp4"]),
        key(scores.reshape(6, 1, 43), 5), key(scores, "ab", "c"), key(scores, "a", "bc"),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert key(scores, 5) == key(np.ones_like(scores), 5) == key(scores, 5, stream=7)
    assert key(scores, 2**70) == key(scores, 2**70)
    record = dsv4.KNOWN_RECORDS["v4_584"]
    assert key(scores, record) == key(scores, dsv4.Record(record.fields, record.align))


def test_calls_that_have_no_key(scores):
    for bad in ({}, {1}, scores.T[::2].astype("V8"), "\ud800", [[[[]]]], "x" * 10000):
        assert _dsv4.describe_call((scores, bad), {}) is NotImplemented
        assert _dsv4.launch_planned({}, (scores, bad), {}) is NotImplemented
    assert _dsv4.describe_call((scores,) * 65, {}) is NotImplemented

    class Stopped:
        def __dlpack_device__(self):
            raise KeyboardInterrupt

        def __dlpack__(self):
            raise AssertionError("not needed")

    with pytest.raises(KeyboardInterrupt):
        dsv4.topk(Stopped(), 3)


def test_a_plan_keeps_no_arrays(scores):
    out = np.empty((6, 4), np.int32)
    before = [sys.getrefcount(each) for each in (scores, out)]
    for _ in range(3):
        dsv4.topk(scores, 4, out=[out])
        result = dsv4.topk(scores, 4)
        with pytest.raises(dsv4.TypeMismatch, match="'stream'"):
            dsv4.topk(scores, 4, stream="default")
    assert sys.getrefcount(result) == 2
    gc.collect()
    assert [sys.getrefcount(each) for each in (scores, out)] == before


def test_what_a_plan_cannot_be_for(programs, scores):
    """A function without a workspace refuses one in later calls, too."""
    for _ in range(2):
        with pytest.raises(TypeError, match="workspace"):
            dsv4.rms_norm(scores, workspace=np.zeros(8, np.uint8))
        dsv4.rms_norm(scores)
    assert programs == ["rms_norm"]
    with pytest.raises(dsv4.InvalidArgument):
        dsv4.rms_norm(scores, out=np.empty((5, 43), np.float32))


def test_prepare_and_emit_after_a_plan_launch_nothing(scores):
    out = np.zeros((6, 3), np.int32)
    dsv4.topk(scores, 3, sorted=True, out=out)
    out[:] = 7
    assert dsv4.prepare(dsv4.topk, scores, 3, sorted=True, out=out).arguments[-1] == "indices"
    assert (out == 7).all()


def test_the_oldest_plan_is_forgotten_when_there_are_too_many(monkeypatch, programs):
    monkeypatch.setattr(_kernels, "_MAX_PLANS", 3)
    made = []
    for number in (1, 2, 3, 3, 4, 2, 3, 4, 1, 3, 4, 1, 2):
        before = len(programs)
        # With a tuple in its key, too, which is compared by itself.
        dsv4.quantize(np.zeros((number, 128), np.float32), dsv4.KNOWN_RECIPES["deepseek_fp8"])
        dsv4.rms_norm(np.zeros((number, 47), np.float32))
        made.append(len(programs) - before)
    #               1  2  3  3  4  2  3  4  1  3  4  1  2
    assert made == [2, 2, 2, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2]


def test_threads_share_plans(rng):
    given = [rng.standard_normal((n % 3 + 1, 53)).astype(np.float32) for n in range(6)]
    failures = []

    def run(x):
        for _ in range(50):
            y = dsv4.rms_norm(x)
            if not np.allclose(y, reference.rms_norm(x), rtol=1e-5, atol=1e-6):
                failures.append(y)

    threads = [threading.Thread(target=run, args=(x,)) for x in given]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures


def test_a_plan_is_checked():
    x = np.zeros((4, 8), np.float32)
    kernel = dsv4.prepare(dsv4.rms_norm, x)
    make = lambda **other: _dsv4.Plan(  # noqa: E731
        **{"kernel": kernel, "sources": (0, -1), "makers": (lambda: np.ones_like(x),), "like": 0,
           "results": (1,), "after": None, "make_on": None, "types": (np.ndarray,), **other}
    )  # fmt: skip
    identity = _dsv4.describe_call((x,), {})[0]
    assert (_dsv4.launch_planned({identity: make()}, (x,), {}) == 0).all()
    for bad in (
        {"kernel": 3}, {"sources": (1, -1)}, {"sources": (0, -2)}, {"results": (2,)}, {"like": 1},
        {"results": (-1,)}, {"sources": (0,) * 65}, {"types": ()}, {"makers": (3,)},
        {"makers": ((make,),)}, {"makers": ((make, 0),)}, {"makers": ((make, make, make),)},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            make(**bad)
    calls = []
    plan = make(after=lambda like, stream: calls.append((like is x, stream)))
    _dsv4.launch_planned({identity: plan}, (x,), {"stream": 0})
    assert calls == [(True, 0)]
    # Arrays are made on a stream if the caller gives one.
    asked, new = [], np.zeros_like(x)
    plan = make(
        make_on=lambda maker, like, stream: asked.append((maker(), like is x, stream)) or new
    )
    assert _dsv4.launch_planned({identity: plan}, (x,), {"stream": 0}) is new
    assert [each[1:] for each in asked] == [(True, 0)] and (asked[0][0] == 1).all()
    for kw in ({}, {"stream": None}):
        assert _dsv4.launch_planned({identity: plan}, (x,), kw) is not new
    assert len(asked) == 1
    broken = make(make_on=lambda maker, like, stream: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        _dsv4.launch_planned({identity: broken}, (x,), {"stream": 0})
    failing = make(makers=(lambda: 1 / 0,))
    with pytest.raises(ZeroDivisionError):
        _dsv4.launch_planned({identity: failing}, (x,), {})


def test_quick_makers_are_for_the_current_device(scores):
    """What they make on another device is not used."""
    kernel = dsv4.prepare(dsv4.rms_norm, scores)
    identity = _dsv4.describe_call((scores,), {})[0]
    quick, sure = np.empty_like(scores), np.empty_like(scores)

    def launch(*makers):
        plan = _dsv4.Plan(kernel, (0, -1), (makers,), 0, (1,), None, None, (np.ndarray,))
        return _dsv4.launch_planned({identity: plan}, (scores,), {})

    assert launch(lambda: quick, lambda: sure) is quick
    assert launch(lambda: producers.OnDevice(quick), lambda: sure) is sure
    np.testing.assert_array_equal(sure, quick)
    before = sys.getrefcount(sure), sys.getrefcount(quick)
    for makers, error in (
        ((lambda: 1 / 0, lambda: sure), ZeroDivisionError),
        ((lambda: producers.OnDevice(quick), lambda: 1 / 0), ZeroDivisionError),
        ((lambda: 3, lambda: sure), dsv4.TypeMismatch),
        ((lambda: producers.OnDevice(quick), lambda: 3), dsv4.TypeMismatch),
    ):
        with pytest.raises(error):
            launch(*makers)
    gc.collect()
    assert before == (sys.getrefcount(sure), sys.getrefcount(quick))


def test_calls_in_turns_have_their_plans(programs, rng):
    """The last plan is tried first, and only for calls like its own."""
    given = [rng.standard_normal((n, 59)).astype(np.float32) for n in (1, 2, 1, 2, 2, 1, 1, 3)]
    record = dsv4.Recipe("f8E4M3FN", "f32", "row")
    for x in given:
        np.testing.assert_allclose(dsv4.rms_norm(x), reference.rms_norm(x), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(
            dsv4.rms_norm(x, eps=3.0), reference.rms_norm(x, eps=3.0), rtol=1e-5, atol=1e-6
        )
    assert programs == ["rms_norm"] * 6
    for recipe in (record, record._replace(floor=100.0), record):
        values, scales = dsv4.quantize(given[0], recipe)
        floor = max(np.abs(given[0]).max(), recipe.floor) / 448
        np.testing.assert_allclose(scales, [floor], rtol=1e-6)


def test_planned_functions(scores):
    kernel = dsv4.prepare(dsv4.rms_norm, scores)
    plans, calls = {}, []
    run = _dsv4.planned(plans, lambda args, kw: calls.append((args, kw)) or 5)
    assert run(scores, eps=2) == run() == run({}) == 5
    assert [each[1] for each in calls] == [{"eps": 2}, {}, {}]
    assert calls[0][0][0] is scores and calls[1][0] == ()
    plans[_dsv4.describe_call((scores,), {})[0]] = _dsv4.Plan(
        kernel, (0, -1), (lambda: np.empty_like(scores),), 0, (1,), None, None, (np.ndarray,)
    )
    np.testing.assert_array_equal(run(scores), dsv4.rms_norm(scores))
    assert len(calls) == 3
    for bad in ((), (plans,), (plans, 3), (3, run), (plans, run, 1)):
        with pytest.raises(TypeError):
            _dsv4.planned(*bad)
    with pytest.raises(ZeroDivisionError):
        _dsv4.planned({}, lambda args, kw: 1 / 0)(scores)
