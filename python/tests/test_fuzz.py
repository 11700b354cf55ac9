# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random calls, a few of those of fuzz_options.py: most are refused, and none in another way than
docs/Python.md says."""

import fuzz_options
import pytest

import dsv4


@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls(seed):
    fuzz = fuzz_options.Fuzz(seed, launches=10, emits=150)
    for _ in range(3000):
        fuzz.step()
    assert not fuzz.failures, fuzz.failures[:3]
    # It draws what is accepted, too, and of each function.
    assert fuzz.counts["refused"] > 1000 and fuzz.counts["emitted"] + fuzz.counts["launched"] > 300
    assert {each.__name__ for each in fuzz_options.CALLS} <= {
        each for each in dsv4.__all__ if callable(getattr(dsv4, each))
    }


def test_the_fuzz_sees_failures(monkeypatch):
    fuzz = fuzz_options.Fuzz(1, launches=0, emits=0)
    for error, kind in (
        (dsv4.CompileFailed("no"), "CompileFailed"),
        (dsv4.InvalidArgument("two\nlines"), "message"),
        (dsv4.InvalidArgument("x" * 301), "message"),
        (ZeroDivisionError("no"), "ZeroDivisionError"),
    ):
        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(fuzz, "run", fail)
        monkeypatch.setattr(fuzz, "draw_call", lambda: (dsv4.topk, {}))
        fuzz.step()
        assert fuzz.failures[-1][0] == kind
