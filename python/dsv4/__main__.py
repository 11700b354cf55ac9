# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m dsv4: versions, devices, compilers, the cache, and a self-test.

    python -m dsv4              all of it
    python -m dsv4 --no-test    without the self-test
    python -m dsv4 --json       as one object of JSON
    python -m dsv4 programs     the programs of dsv4.programs, with their parameters

The self-test runs on each device, and on the host target. Exit status: 0 if nothing failed and
entries can be launched, on a device or on the host target.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

import dsv4

from . import _dsv4, _selftest, programs
from ._source import compiler_versions


def _find_devices() -> dict[str, Any]:
    try:
        count = _dsv4.device_count()
        return {"found": [_dsv4.device(number) for number in range(count)], "problem": None}
    except dsv4.Error as error:
        return {"found": [], "problem": str(error)}


def _find_compiler() -> dict[str, Any]:
    try:
        compiler, lines = compiler_versions()
    except dsv4.Error as error:
        return {"path": None, "versions": [], "problem": str(error)}
    return {"path": compiler, "versions": lines, "problem": None}


def _find_cache() -> dict[str, Any]:
    directory, problem = _dsv4.cache()
    sizes = []
    for root, _, names in os.walk(directory or "") if problem is None else ():
        for name in names:
            try:
                sizes.append(os.path.getsize(os.path.join(root, name)))
            except OSError:  # Another process removed it.
                continue
    return {
        "directory": directory, "problem": problem, "files": len(sizes), "bytes": sum(sizes),
    }  # fmt: skip


def collect(test: bool = True) -> dict[str, Any]:
    """All that is printed. `ok` is None without a test."""
    number, abi = _dsv4.version()
    devices = _find_devices()
    found: dict[str, Any] = {
        "dsv4": dsv4.__version__,
        "abi": abi,
        "python": ".".join(map(str, sys.version_info[:3])),
        "devices": devices["found"],
        "devices_problem": devices["problem"],
        "compiler": _find_compiler(),
        "cache": _find_cache(),
        "tests": [],
        "ok": None,
    }
    if test:
        outcomes = [_selftest.run_on_device(each) for each in found["devices"]]
        outcomes.append(_selftest.run_on_host())
        found["tests"] = [each._asdict() for each in outcomes]
        found["ok"] = any(each.can_launch for each in outcomes) and not any(
            each.status == "failed" for each in outcomes
        )
    return found


def _print_devices(found: dict[str, Any]) -> None:
    if found["devices_problem"] is not None:
        print(f"devices     none: {found['devices_problem']}")
    for each in found["devices"]:
        gigabytes = each["memory_bytes"] / 2**30
        print(
            f"devices     {each['device']}: {each['name']}, {each['arch']}, "
            f"{each['multiprocessors']} multiprocessors, {gigabytes:.0f} GiB, "
            f"driver for CUDA {each['driver_version'] // 1000}."
            f"{each['driver_version'] % 1000 // 10}"
        )


def _print_compiler(compiler: dict[str, Any]) -> None:
    if compiler["problem"] is not None:
        print(f"compiler    none: {compiler['problem']}")
        return
    first, *others = compiler["versions"]
    print(f"compiler    {compiler['path']}: {first}")
    print("\n".join(others))


def _print_cache(cache: dict[str, Any]) -> None:
    if cache["problem"] is not None:
        print(f"cache       not used: {cache['problem']}")
    elif cache["directory"] is None:
        print("cache       none: set DSV4_CACHE_DIR or HOME")
    else:
        size = cache["bytes"] / 2**20
        print(f"cache       {cache['directory']}: {cache['files']} files, {size:.1f} MiB")


def _print(found: dict[str, Any]) -> None:
    version = f"{found['dsv4']}, binary interface {found['abi']} (Python {found['python']})"
    print(f"dsv4        {version}")
    _print_devices(found)
    _print_compiler(found["compiler"])
    _print_cache(found["cache"])
    for each in found["tests"]:
        why = f": {each['message']}" if each["message"] else ""
        print(f"self-test   {each['status']} on {each['where']}{why}")


def collect_programs() -> list[dict[str, Any]]:
    """The programs, with the values of their parameters."""
    found = []
    for name in programs.names():
        program = programs.load(name)
        found.append({
            "name": name,
            "what": program.summary,
            "arguments": list(program.arguments),
            "parameters": [each._asdict() for each in programs.parameters(name)],
        })  # fmt: skip
    return found


def _print_programs(found: list[dict[str, Any]]) -> None:
    for each in found:
        print(f"{each['name']}: {each['what']}")
        numbers = ", ".join(f"{of['name']} = {of['default']}" for of in each["parameters"])
        if numbers:
            print(f"    {numbers}")


def _report(found: Any, print_it: Callable[[Any], None], as_json: bool) -> int:
    if as_json:
        import json

        print(json.dumps(found, indent=2))
    else:
        print_it(found)
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dsv4", description="What dsv4 finds here.")
    parser.add_argument(
        "what", nargs="?", choices=["programs"], help="the programs of dsv4.programs instead"
    )
    parser.add_argument("--no-test", action="store_true", help="without the self-test")
    parser.add_argument("--json", action="store_true", help="as one object of JSON")
    options = parser.parse_args(arguments)
    if options.what == "programs":
        return _report(collect_programs(), _print_programs, options.json)
    found = collect(test=not options.no_test)
    _report(found, _print, options.json)
    return 1 if found["ok"] is False else 0


if __name__ == "__main__":
    sys.exit(main())
