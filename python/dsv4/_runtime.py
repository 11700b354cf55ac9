# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime of the process: what it counts, its devices, its cache."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import _dsv4
from ._dsv4 import Unavailable
from ._events import warn_of_cache


def nvidia_libraries() -> str:
    """Where wheels of the interpreter have NVRTC."""
    found = []
    for root in sys.path:
        base = os.path.join(root, "nvidia")
        if root and os.path.isdir(base):
            for each in sorted(os.listdir(base)):
                library = os.path.join(base, each, "lib")
                if (each.startswith("cu1") or each == "cuda_nvrtc") and os.path.isdir(library):
                    found.append(library)
    return ":".join(dict.fromkeys(found))


def freeze() -> None:
    """From now on nothing is compiled or loaded: a call that would have to raises NotPrepared.

    >>> dsv4.prepare(dsv4.topk, scores, 512)
    >>> dsv4.freeze()
    """
    _dsv4.freeze()


def counters() -> dict[str, int]:
    """Counts of the process: compiles, loads, calls, errors and others.

    >>> dsv4.counters()["compiles"]
    3

    A program that a function needs is in memory (`memory_hits`), or in the disk cache
    (`disk_hits`), or is compiled (`compiles`). `waits` are programs that another process was
    compiling, and `passed_by` those of them where it did not come to an end.
    """
    return _dsv4.counters()


def devices() -> list[dict[str, Any]]:
    """The CUDA devices: number, name, arch, memory and others. Starts the driver.

    >>> dsv4.devices()[0]["arch"]
    'sm_90a'

    The list is empty where there is no driver or no device.

    Raises:
        Unavailable: there is a driver, and it cannot be used; the message says why.
    """
    try:
        count = _dsv4.device_count()
    except Unavailable as error:
        if error.id == "driver.missing":
            return []
        raise
    return [_dsv4.device(number) for number in range(count)]


def cache_directory() -> str | None:
    """The directory of the disk cache, if it is used.

    >>> dsv4.cache_directory()
    '/home/me/.cache/dsv4'

    None if no directory is named, or the one that is named cannot be used: that is a
    `CacheWarning`, too.
    """
    directory, problem = _dsv4.cache()
    if directory is not None and problem is not None:
        warn_of_cache(directory, problem)
        return None
    return directory


_dsv4.configure(nvrtc_path=nvidia_libraries())
