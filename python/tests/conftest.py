# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the package on the host target: PYTHONPATH=build/release/python pytest python/tests."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)
