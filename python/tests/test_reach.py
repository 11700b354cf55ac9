# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ops and clauses of the dialect the functions reach.

They are read in the reference, which is made of ODS, and those that are reached in the programs of
all cases of test_pairs.py. docs/Python.md says of the others why no function makes them.
"""

import collections
import os
import re

import numpy as np
import pairs
import pytest
import test_pairs

import dsv4
from dsv4 import _kernels

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")


def read(*path):
    with open(os.path.join(DOCS, *path), encoding="utf-8") as file:
        return file.read()


def find_clauses():
    """The keywords in the syntax of every op."""
    sections = re.split(r"^### `(dsv4\.\w+)` ", read("Dialects", "DSV4.md"), flags=re.MULTILINE)
    clauses = {}
    for op, text in zip(sections[1::2], sections[2::2]):
        [syntax] = re.findall(r"^operation ::= `dsv4\.\w+`(.*?)^```", text, re.M | re.DOTALL)
        # What is printed by a directive of its own.
        syntax = syntax.replace("custom<RowOffset>", "`offset`")
        clauses[op] = set(re.findall(r"`(\w+)`", syntax))
    return clauses


def find_reached(clauses):
    """The ops and clauses of the programs of all functions, and of one program each."""
    reached = collections.defaultdict(set)
    for model in test_pairs.MODELS:
        for case in pairs.cover(model):
            call = model.make(case, np.random.default_rng(1))
            arguments = {n: test_pairs.pass_arrays(v) for n, v in call.arguments.items()}
            text = _kernels.program_of(getattr(dsv4, model.name), (), arguments).text()
            for line in re.findall(r"^.*\bdsv4\.\w+ .*$", text, re.MULTILINE):
                collect(line, clauses, reached)
    return reached


def collect(line, clauses, reached):
    """Adds the op of a line of a program, and its keywords."""
    found = re.match(r" *(?:%\w+(?:, %\w+)* = )?(dsv4\.\w+) (.*)", line)
    if not found:
        return
    op, rest = found.groups()
    # Names, types and attributes are no keywords.
    rest = re.sub(r"%\w+|\{.*\}|[!#]?[\w.]+<[^<>]*(<[^<>]*(<[^<>]*>[^<>]*)*>[^<>]*)*>", " ", rest)
    reached[op] |= clauses[op] & set(re.findall(r"\w+", rest))


def find_listed():
    """What docs/Python.md lists: the clauses of ops, or None for the whole op."""
    page = read("Python.md")
    section = page[page.index("## What only programs can say") :].partition("\n## ")[0]
    listed = {}
    for ops, clauses, reason in re.findall(r"^\| (`dsv4.*?) \| (.*?) \| (.+) \|$", section, re.M):
        assert reason.strip()
        for op in re.findall(r"`(dsv4\.\w+)`", ops):
            assert op not in listed, f"{op} has two rows"
            listed[op] = set(re.findall(r"`(\w+)`", clauses)) if clauses != "all" else None
    return listed


@pytest.fixture(scope="module")
def clauses():
    return find_clauses()


@pytest.fixture(scope="module")
def reached(clauses):
    return find_reached(clauses)


def test_the_reference_is_read(clauses):
    assert len(clauses) > 20
    assert {"lengths", "pages", "page", "ties", "high", "nan", "first"} <= clauses["dsv4.topk"]
    assert {"offset", "in_bytes", "seq_starts", "mask"} <= clauses["dsv4.paged_gather"]
    assert clauses["dsv4.rms_norm"] == {"weight", "outs"}


def test_programs_are_read():
    clauses = {"dsv4.topk": {"lengths", "ties", "high", "page", "outs", "pages", "smallest"}}
    reached = collections.defaultdict(set)
    collect(
        "  %r1, %r2 = dsv4.topk %lengths pages(%smallest : tensor<?x?xi32>) page 4 ties high "
        "outs(%a, %b : tensor<?x4xi32>, tensor<?x4xf32>) {smallest = 1} : tensor<?x?xf32>",
        clauses, reached,
    )  # fmt: skip
    assert reached == {"dsv4.topk": {"pages", "page", "ties", "high", "outs"}}
    collect("  return %r1 : tensor<?x4xi32>", clauses, reached)
    collect("%a: tensor<?xi32> {dsv4.name = \"lengths\"}", clauses, reached)
    assert reached == {"dsv4.topk": {"pages", "page", "ties", "high", "outs"}}


def test_what_no_function_reaches_is_listed(clauses, reached):
    listed = find_listed()
    for op, known in clauses.items():
        missing = known - reached[op] if op in reached else known
        if op not in reached:
            assert op in listed and listed[op] is None, f"no function makes {op}, nor is it listed"
            continue
        assert listed.get(op, set()) is not None, f"{op} is listed, and a function makes it"
        assert missing == listed.get(op, set()), (
            f"{op}: no function reaches {sorted(missing)}; docs/Python.md lists "
            f"{sorted(listed.get(op, set()))}"
        )
    assert set(listed) <= set(clauses)
