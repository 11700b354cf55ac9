# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the models of functions that read paged caches share with those that write."""

import numpy as np
from pairs import LAYOUTS, arrange
from pairs_selection import arrange_maybe
from stores import RECORDS

# `apart`: other bytes follow each entry.
CACHE = {"record": tuple(RECORDS), "cache_layout": (*LAYOUTS, "apart")}


def give_page_table(case, arguments, table):
    """Pages of each request: rows of a table, or with `indptr` one after the other."""
    if case["indptr"]:
        ends = np.arange(0, table.size + 1, table.shape[-1])
        arrange_maybe(arguments, "indptr", ends, case["indptr"], case["token_layout"])
        table = table.reshape(-1)
    arguments["page_table"] = arrange(table.astype(case["page_table"]), case["table_layout"])


def allows_layout(case):
    """Entries with tails in their page cannot be apart."""
    return not (case["cache_layout"] == "apart" and case["record"] in ("fp8", "key_fp8"))
