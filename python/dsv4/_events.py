# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events of the library: the logger `dsv4`, functions of the caller, and warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from . import _dsv4
from ._options import refuse

if TYPE_CHECKING:
    import logging


class Event(NamedTuple):
    """What took long or went wrong.

    kind: 'compiled', 'disk_hit', 'loaded', 'workspace_grew', 'compile_failed', 'not_prepared',
        'warning' or 'cache_warning'. Later versions may have others.
    text: the name of the program, or a message of one line.
    device, directory: None where there is none.
    """

    kind: str
    text: str
    milliseconds: float
    bytes: int
    device: int | None
    directory: str | None


class CacheWarning(UserWarning):
    """The disk cache is not used, or an entry of it is not. Each cause comes once.

    directory: that of the cache.
    cause: what is wrong, and what to do, in one line.
    """

    def __init__(self, directory: str, cause: str) -> None:
        super().__init__(directory, cause)
        self.directory = directory
        self.cause = cause

    def __str__(self) -> str:
        return self.cause


# By the number of the C interface: the kind, the level of the logger, and what it says.
_KINDS = {
    1: ("compiled", "info", "compiled '{0.text}' in {0.milliseconds:.0f} ms"),
    2: ("compile_failed", "info", "compile failed: {0.text}"),
    3: ("loaded", "debug", "loaded '{0.text}' in {0.milliseconds:.1f} ms"),
    4: ("workspace_grew", "info", "workspace of device {0.device} grew to {0.bytes} bytes"),
    5: ("not_prepared", "info", "not prepared: {0.text}"),
    6: ("warning", "warning", "{0.text}"),
    7: ("disk_hit", "debug", "'{0.text}' was in the disk cache ({0.milliseconds:.0f} ms)"),
    8: ("cache_warning", "warning", "{0.text}"),
}

_LEVELS = ("debug", "info", "warning")

_functions: list[Callable[[Event], object]] = []
_warned: set[tuple[str, str]] = set()


def on_event(function: Callable[[Event], object]) -> Callable[[], None]:
    """Calls a function with each `Event` of the process: compiles, loads, warnings and others.

    >>> remove = dsv4.on_event(lambda event: print(event.kind, event.text))
    >>> remove()

    Returns a function that ends it. It is called on the thread whose call caused the event, before
    that call returns; what it raises is logged. A launch of what is prepared causes no event, but
    for warnings on the host target. The logger `dsv4` of `logging` has the same events.
    """
    if not callable(function):
        raise refuse("function", function, "a function of one event")
    _functions.append(function)

    def remove() -> None:
        if function in _functions:
            _functions.remove(function)

    return remove


def _logger() -> logging.Logger:
    import logging  # Takes milliseconds, and most processes need it after a compile only.

    return logging.getLogger("dsv4")


def _stack_level() -> int:
    """Of the first caller outside of this package."""
    here = os.path.dirname(__file__) + os.sep
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back
    return level


def warn_of_cache(directory: str, cause: str) -> None:
    """A CacheWarning, the first time."""
    if (directory, cause) in _warned:
        return
    _warned.add((directory, cause))
    warnings.warn(CacheWarning(directory, cause), stacklevel=_stack_level())


def _receive(
    kind: int, text: str, milliseconds: float, size: int, device: int, directory: str | None
) -> None:
    name, level, message = _KINDS.get(kind, (str(kind), "debug", "{0.text}"))
    event = Event(name, text, milliseconds, size, device if device >= 0 else None, directory)
    logger = _logger()
    # Without a handler, logging would print what the warning prints.
    if name != "cache_warning" or logger.hasHandlers():
        getattr(logger, level)("%s", message.format(event))
    for function in list(_functions):
        try:
            function(event)
        except Exception:
            logger.exception("a function of dsv4.on_event() failed")
    if name == "cache_warning":
        warn_of_cache(directory or "", text)


def _configure() -> None:
    """DSV4_LOG=debug|info|warning prints events to standard error."""
    given = os.environ.get("DSV4_LOG")
    if not given:
        return
    if given.lower() not in _LEVELS:
        warnings.warn(
            f"DSV4_LOG is {given[:40]!r}, expected 'debug', 'info' or 'warning'",
            stacklevel=_stack_level(),
        )
        return
    import logging

    logger = logging.getLogger("dsv4")
    logger.setLevel(given.upper())
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("dsv4: %(levelname)s: %(message)s"))
    # Once, also if the package is imported again.
    if not any(type(each) is logging.StreamHandler for each in logger.handlers):
        logger.addHandler(handler)


_configure()
_dsv4.set_event_hook(_receive)
