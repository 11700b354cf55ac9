# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records and recipes are those of the compiler and of its pages."""

import os
import re

import pytest

import dsv4
from dsv4.recipes import print_f32

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")


def read(page):
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("name", sorted(dsv4.KNOWN_RECORDS))
def test_a_record_is_the_compilers(name):
    """The text would not parse if the cache of the argument were of another type."""
    record = dsv4.KNOWN_RECORDS[name]
    spelled = dsv4.Record(record.fields, record.align)
    assert spelled == record and spelled.name == ""
    text = f"""
func.func @gather(%cache: !dsv4.cache<64 x {spelled}>, %i: tensor<?xi32>,
                  %out: tensor<?x{record.values}xbf16>) -> tensor<?x{record.values}xbf16> {{
  %r = dsv4.paged_gather %cache[%i] outs(%out : tensor<?x{record.values}xbf16>)
      : !dsv4.cache<64 x {record}>, tensor<?xi32>
  return %r : tensor<?x{record.values}xbf16>
}}
"""
    assert "gather(" in dsv4.emit(text)


def test_records_are_those_of_the_page():
    rows = re.findall(
        r"^\| \[`(\w+)`\]\(#\w+\) \| (\d+) \| ([\d–]+) \| ([\d–]+) \| (\d+) \| ([\d–]+) "
        r"\| (\d+) \|$",
        read("Records.md"), re.MULTILINE,
    )  # fmt: skip
    assert [each[0] for each in rows] == list(dsv4.KNOWN_RECORDS)
    for name, _, row, tail, align, page, values in rows:
        record = dsv4.KNOWN_RECORDS[name]
        assert record.part_bytes("row") == int(row.replace("–", "0"))
        assert record.part_bytes("tail") == int(tail.replace("–", "0"))
        assert (record.align, record.values) == (int(align), int(values))
        if page != "–":
            assert record.page_bytes(64) == int(page)
            assert record.page_size(int(page)) == 64


def test_recipes_are_those_of_the_page():
    rows = re.findall(
        r"^\| (.*?) \| .*? \| (`f.*?) \| `#dsv4.quantizer<(.*?)>` \|$", read("Quantisation.md"),
        re.MULTILINE,
    )  # fmt: skip
    assert len(rows) >= 12
    for who, format, parameters in rows:
        attribute = re.sub(
            r"floor = (\S+) : f32",
            lambda match: f"floor = {print_f32(float(match[1]))} : f32",
            f"#dsv4.quantizer<{parameters}>",
        )
        payload, scale = re.findall(r"`(f\w+)`", format)[:2]
        groups = re.findall(r"per (\d+|row|tensor)(?: or (\d+))?", format)[0]
        found = [
            name
            for name, each in dsv4.KNOWN_RECIPES.items()
            if each.attribute == attribute
            and (each.payload, each.scale) == (payload, scale)
            and str(each.group) in groups
        ]
        # One is the same but for a zero's sign: a recipe of the caller's own.
        assert found or "the same, without -0" in who, (who, attribute)


def test_sizes_of_pages():
    record = dsv4.KNOWN_RECORDS["v4_584"]
    for size in (1, 2, 16, 63, 64, 256):
        assert record.page_size(record.page_bytes(size)) is not None
        assert record.page_bytes(record.page_size(record.page_bytes(size))) == record.page_bytes(
            size
        )
    assert record.page_size(100) is None
