# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every two documented options of every function and operator, in every two of their values.

Calls are compared with NumPy, on arrays of varied alignment, stride and integer types. The cases of
a function have all pairs of its options, many in each. `--pairs-seed=N` makes other cases.
"""

import concurrent.futures
import inspect
import itertools
import zlib

import numpy as np
import pairs
import pairs_index
import pairs_plans
import pairs_queries
import pairs_readers
import pairs_routers
import pairs_rows
import pairs_selection
import pairs_writers
import pytest

import dsv4

MODELS = (
    *pairs_selection.MODELS, *pairs_routers.MODELS, *pairs_rows.MODELS, *pairs_queries.MODELS,
    *pairs_readers.MODELS, *pairs_writers.MODELS, *pairs_index.MODELS, *pairs_plans.MODELS,
)  # fmt: skip


def describe(case, model):
    """The options that are not the default."""
    return {name: value for name, value in case.items() if value != model.options[name][0]}


def arrays_of(value):
    if isinstance(value, pairs.Arranged):
        return [value]
    return [each for one in value for each in arrays_of(one)] if isinstance(value, tuple) else []


def pass_arrays(value):
    """The arguments of a call, with arrays for those in memory of their own."""
    if isinstance(value, pairs.Arranged):
        return value.array
    is_list = isinstance(value, tuple) and arrays_of(value)
    return tuple(map(pass_arrays, value)) if is_list else value


def check(model, case, call, invoke):
    """Why a call is wrong, or None."""
    memory = [
        (each, each.memory.copy()) for one in call.arguments.values() for each in arrays_of(one)
    ]
    try:
        results = invoke(model.name, {n: pass_arrays(v) for n, v in call.arguments.items()})
    except dsv4.Error as error:
        return f"{type(error).__name__}: {error}"
    if len(results) != len(call.expected):
        return f"{len(results)} results, expected {list(call.expected)}"
    if why := call.verify(results):
        return why
    for (name, expected), got in zip(call.expected.items(), results):
        if expected is None:
            continue
        decoded = expected.decode(np.asarray(got))
        if decoded.shape != expected.values.shape or not np.allclose(
            decoded, expected.values, expected.rtol, expected.atol, equal_nan=True
        ):
            return f"{name} is\n{decoded}\nexpected\n{expected.values}"
    for each, before in memory:
        strays = each.find_strays(before)
        if len(strays):
            return f"{len(strays)} bytes beside an array were written"
    return None


def run_function(name, arguments):
    """The results of a call, then the caches that it changed."""
    results = getattr(dsv4, name)(**arguments)
    return (*list_results(results), *list_changed(name, arguments))


def list_results(results):
    if results is None:
        return ()
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def list_changed(name, arguments):
    """The arrays of the cache that a function changes."""
    if not name.endswith("_"):
        return ()
    changed = arguments["cache"]
    return changed if isinstance(changed, tuple) else (changed,)


def try_case(model, case, invoke):
    seed = zlib.crc32(repr(case).encode())
    call = model.make(case, np.random.default_rng(seed))
    return check(model, case, call, invoke)


def run_cases(model, invoke, seed):
    """Most of the time compilers run: for two cases at a time."""
    cases = pairs.cover(model, seed)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda case: try_case(model, case, invoke), cases)
    wrong = [
        f"{describe(case, model)}: {why}" for case, why in zip(cases, answers) if why is not None
    ]
    assert not wrong, f"{len(wrong)} of {len(cases)} cases of {model.name}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_pairs_of_options(model, pytestconfig):
    run_cases(model, run_function, pytestconfig.getoption("--pairs-seed"))


def test_every_function_has_a_model():
    functions = {
        name for name, each in vars(dsv4).items()
        if inspect.isfunction(each) and "stream" in inspect.signature(each).parameters
    } - {"compile"}  # fmt: skip
    assert functions == {each.name for each in MODELS}


def test_cases_have_all_pairs():
    model = pairs.Model("f", {"a": (0, 1, 2), "b": (0, 1), "c": (0, 1)}, None,
                        lambda case: not (case["a"] == 2 and case["b"] == 1))  # fmt: skip
    cases = pairs.cover(model)
    met = {pair for case in cases for pair in itertools.combinations(case.items(), 2)}
    assert len(met) == 3 * 2 - 1 + 3 * 2 + 2 * 2 and len(cases) < 9
