# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records, fields and recipes of a caller: which there are, and that they do not change."""

import copy
import pickle
import random

import numpy as np
import pytest

import dsv4
from dsv4 import Field, Record

X = Field("x", 32, "f4E2M1FN")
SCALE = Field("s", 2, "f8E4M3FN", scales="x", per=16)

# Fields that no record has: the part that is wrong, and what was given.
FIELDS = [
    ("name", {"name": 'x" : 8 x f32 in row>'}), ("name", {"name": ""}), ("name", {"name": "1x"}),
    ("name", {"name": "x-y"}), ("name", {"name": "é"}), ("name", {"name": "x" * 65}),
    ("name", {"name": None}), ("name", {"name": "x\n"}),
    ("extent", {"extent": 0}), ("extent", {"extent": 65537}), ("extent", {"extent": "8"}),
    ("extent", {"extent": 8.0}), ("extent", {"extent": True}), ("extent", {"extent": np.ones(3)}),
    ("element", {"element": "f64"}), ("element", {"element": "f32>"}), ("element", {"element": 3}),
    ("element", {"element": "f8E8M0FNU"}), ("extent", {"element": "i32", "extent": 65}),
    ("extent", {"element": "i4", "extent": 7}), ("placement", {"placement": "page"}),
    ("per", {"per": 16}), ("per", {"scales": "y", "per": "col"}), ("per", {"scales": "y"}),
    ("per", {"scales": "y", "per": 0}), ("scales", {"scales": "", "per": 8}),
    ("scales", {"scales": 'y" per 8', "per": 8}),
    ("element", {"scales": "y", "per": 8, "element": "i4"}),
    ("placement", {"scales": "y", "per": "tensor"}), ("interleave", {"interleave": 0}),
    ("interleave", {"interleave": 2}), ("interleave", {"scales": "y", "per": 1, "interleave": 3}),
    ("at", {"at": -1}), ("at", {"at": 2**20 + 1}), ("at", {"at": "0"}), ("pad", {"pad": -1}),
    ("pad", {"pad": None}), ("at", {"at": 0, "placement": "array"}),
    ("pad", {"pad": 4, "placement": "array"}), ("high_first", {"high_first": True}),
    ("high_first", {"high_first": "yes", "element": "i4"}),
]  # fmt: skip

# Records that there are not: what the error says.
RECORDS = [
    (([],), "a field of data is needed"),
    (([Field("m", 4, "i32")],), "a field of data is needed"),
    (("abc",), "expected a tuple or a list"),
    (([X, "y"],), "expected dsv4.Field"),
    (([X, X],), "two fields have the name 'x'"),
    (([SCALE, X],), "'s' scales 'x', expected a field of data before it"),
    (([X, SCALE._replace(per=15)],), "does not divide"),
    (([X, SCALE._replace(extent=4, per=16)],), "has 4 elements, expected 2"),
    (([X, Field("y", 4, "f32", at=3)],), "starts at byte 3"),
    (([X, Field("y", 4, "f32", at=8)],), "fields 'x' and 'y' overlap"),
    (([Field(f"x{i}", 32, "f32") for i in range(65)],), "65 fields"),
    (([Field("x", 65536, "i4"), Field("y", 2, "i4")],), "65538 values"),
    (([X], 0), "'record.align' is 0"),
    (([X], "a"), "'record.align' is 'a'"),
    (([X], 1, 'v"'), "'record.name'"),
]  # fmt: skip


@pytest.mark.parametrize("part, given", FIELDS, ids=map(str, range(len(FIELDS))))
def test_a_field_is_refused(part, given):
    field = {"name": "x", "extent": 8, "element": "f32", **given}
    if given.get("scales") is not None and "element" not in given:
        field["element"] = "f8E4M3FN"
    with pytest.raises(dsv4.InvalidArgument, match=f"'field.{part}' is ") as caught:
        Field(**field)
    assert caught.value.id == f"option.field.{part}"
    assert len(str(caught.value)) < 300 and str(caught.value).isprintable()


@pytest.mark.parametrize("given, message", RECORDS, ids=map(str, range(len(RECORDS))))
def test_a_record_is_refused(given, message):
    with pytest.raises(dsv4.InvalidArgument, match=message) as caught:
        Record(*given)
    assert caught.value.id.startswith("option.record.")


def test_a_changed_field_is_checked():
    with pytest.raises(dsv4.InvalidArgument, match="'field.extent' is 3"):
        X._replace(extent=3)
    with pytest.raises(dsv4.InvalidArgument, match="'recipe.floor' is -1"):
        dsv4.KNOWN_RECIPES["mxfp4"]._replace(floor=-1)
    assert X._replace(extent=64) == Field("x", 64, "f4E2M1FN")


def test_records_do_not_change():
    record = Record([X, SCALE], 16, "mine")
    for name, value in (("fields", ()), ("align", 'x"'), ("name", "v4_584"), ("other", 1)):
        with pytest.raises(AttributeError):
            setattr(record, name, value)
    for made in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), copy.copy(record)):
        assert made == record and made.name == "mine" and hash(made) == hash(record)
    assert pickle.loads(pickle.dumps(X)) == X


def test_a_name_of_a_caller_is_no_other_record():
    """The name of a record is in a program only where the compiler knows it by that name."""
    mine = Record([Field("kv", 512, "bf16")], name="v4_584")
    assert str(mine) == '<[<"kv" : 512 x bf16 in row>]>'
    assert str(Record([X], name="mine")) == '<[<"x" : 32 x f4E2M1FN in row>]>'
    known = dsv4.KNOWN_RECORDS["v4_584"]
    assert str(known) == "<v4_584>" == str(Record(known.fields, known.align, known.name))


def test_pages_that_are_not_aligned():
    record = Record([Field("x", 4, "f8E4M3FN"), Field("y", 4, "f8E4M3FN", "tail", at=1),
                     Field("m", 1, "f32", at=4), Field("z", 2, "i4")])  # fmt: skip
    cache = np.zeros((2, record.page_bytes(3)), np.uint8)
    with pytest.raises(dsv4.InvalidArgument, match="field 'm' is aligned to its 4 bytes") as caught:
        dsv4.gather(cache, np.zeros(1, np.int32), record=record, page_size=3)
    assert caught.value.id == "option.page_size"


def draw(rng):
    """The parts of a field, good or bad."""
    scales = rng.choice([None, None, "x0"])
    return {
        "extent": rng.choice([1, 2, 4, 7, 8, 16]),
        "element": rng.choice(["f4E2M1FN", "i4", "f8E4M3FN", "f8E8M0FNU", "bf16", "f32", "i32"]),
        "placement": rng.choice(["row", "row", "tail", "array"]),
        "scales": scales,
        "per": rng.choice([4, 8, "row", "tensor"]) if scales else None,
        "interleave": rng.choice([1, 1, 1, 2]) if scales else 1,
        "at": rng.choice([None, None, None, 0, 3, 8, 16]),
        "pad": rng.choice([0, 0, 1, 4]),
        "high_first": rng.random() < 0.1,
    }


def print_field(name, parts):
    """As Field does, which would check it."""
    field = tuple.__new__(Field, (name, *parts.values()))
    return str(field)


def test_records_are_those_of_the_compiler():
    """Python refuses what the compiler refuses, and nothing else."""
    rng = random.Random(3)
    good = 0
    for _ in range(120):
        drafts = [{**draw(rng), "scales": None, "per": None, "interleave": 1}]
        drafts += [draw(rng) for _ in range(rng.choice([0, 0, 1, 2]))]
        size, align = rng.choice([1, 3, 8]), rng.choice([1, 1, 16])
        try:
            record = Record(
                [Field(name=f"x{i}", **parts) for i, parts in enumerate(drafts)], align
            )
            record.check_page(size)
            refused = None
        except dsv4.InvalidArgument as error:
            refused = str(error)
        fields = ", ".join(print_field(f"x{i}", parts) for i, parts in enumerate(drafts))
        cache = f"!dsv4.cache<{size} x <[{fields}], align {align}>>"
        data = [p for p in drafts if p["scales"] is None and p["element"] != "i32"]
        rows = f"tensor<4x{sum(each['extent'] for each in data) or 1}xf32>"
        text = (
            f"func.func @f(%c: {cache}, %i: tensor<4xi32>, %o: {rows}) -> {rows} {{\n"
            f"  %r = dsv4.paged_gather %c[%i] outs(%o : {rows}) : {cache}, tensor<4xi32>\n"
            f"  return %r : {rows}\n}}\n"
        )
        try:
            dsv4.emit(text)
            compiled = None
        except dsv4.CompileFailed as error:
            compiled = str(error)
        assert bool(refused) == bool(compiled), (text, refused, compiled)
        good += not refused
    assert 20 < good < 100
