# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source of kernels, from the compiler as a program."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from . import _dsv4
from ._arrays import make_error
from ._dsv4 import CompileFailed, Unavailable
from ._kernels import check_dims, check_option, check_program, program_of
from ._options import refuse
from ._runtime import nvidia_libraries
from ._program_text import ProgramText, text_of

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from ._launches import ProgramInfo


class TextFile(Protocol):
    """A file that text is written to."""

    def write(self, text: str, /) -> object: ...


def emit(
    fn: Callable[..., Any] | str | ProgramText,
    /,
    *example_args: Any,
    file: str | os.PathLike[str] | TextFile | None = None,
    **kw: Any,
) -> str:
    """The CUDA source of the kernels of a program, or of a function for such arguments.

    >>> print(dsv4.emit(dsv4.topk, scores, 512))
    >>> print(dsv4.emit(text, dims={"topk": 512}, arch="sm_100a"))
    >>> source = dsv4.emit(dsv4.topk, scores, 512, file="topk.cu")

    Args:
        fn: a function of dsv4, or the text of a program, or a program of `dsv4.programs`.
        example_args, kw: as for the function. With a text: `like`, `entry`, `dims`, `arch`
            and `schedule` as for `compile`.
        file: where the source is written, too: the path of a file, which is replaced, or an open
            text file.

    Raises:
        CompileFailed: the compiler refuses the text; the message has the line.
        Unavailable: there is no compiler.
        OSError: the file cannot be written.

    Needs neither a GPU nor NVRTC. A function, and a text with `like`, has another kernel for arrays
    that are aligned less than their rows are: it is shown for such arrays.
    """
    write = _writer(file)
    if isinstance(fn, (str, ProgramText)):
        if example_args:
            raise TypeError("emit() of a text takes options by name only")
        source = _emit(text_of(fn)[0], **kw)
    else:
        program = program_of(fn, example_args, kw)
        text = program.text(aligned=program.is_served(program.alignments))
        source = _emit(text, dims=program.bounds)
    if write is not None:
        write(source)
    return source


def _writer(file: str | os.PathLike[str] | TextFile | None) -> Callable[[str], object] | None:
    """What writes a text to a file that is named, or open. A mistake is an error before anything
    is compiled."""
    if file is None:
        return None
    if isinstance(file, (str, os.PathLike)):
        path = os.fspath(file)

        def write(text: str) -> None:
            with open(path, "w", encoding="utf-8") as opened:
                opened.write(text)

        return write
    found: Callable[[str], object] | None = getattr(file, "write", None)
    if not callable(found) or isinstance(file, (io.RawIOBase, io.BufferedIOBase)):
        raise refuse("file", file, "the path of a file, or a file that is open for text")
    return found


def _find_compiler() -> str:
    """As the library finds it."""
    given = os.environ.get("DSV4_COMPILER")
    if given:
        return given
    here = os.path.dirname(os.path.realpath(_dsv4.__file__))
    for folder in ("", "../bin", "../libexec/dsv4"):
        path = os.path.join(here, folder, "dsv4-compile")
        if os.access(path, os.X_OK):
            return path
    raise make_error(
        Unavailable, "compiler.missing", None,
        f"there is no compiler: expected 'dsv4-compile' in '{here}': install dsv4's tools, or set "
        "DSV4_COMPILER",
    )  # fmt: skip


def _run_compiler(compiler: str, arguments: list[str], **options: Any) -> CompletedProcess[str]:
    import subprocess  # Takes milliseconds, and few programs need it.

    try:
        return subprocess.run(
            [compiler, f"--caller={os.getpid()}", *arguments],
            capture_output=True, text=True, check=False, **options,
        )  # fmt: skip
    except OSError as error:
        raise make_error(
            Unavailable, "compiler.start", None,
            f"the compiler '{compiler}' cannot be started: {error.strerror}",
        ) from error  # fmt: skip


def _emit(
    text: str,
    *,
    like: Mapping[str, Any] | None = None,
    entry: str | None = None,
    dims: Mapping[str, int] | None = None,
    arch: str | None = None,
    schedule: str | None = None,
) -> str:
    text, extents = check_program(text), check_dims(dims) or {}
    if like is not None:
        import json  # Few programs have any.

        from ._launches import alignments_of
        from ._like import Like

        described = Like(text, check_option("entry", entry), like)
        extents = {**described.bounds(), **extents}

        def plan(text: str) -> ProgramInfo:
            written = ask_compiler("--emit-plan", "cuda", text, entry, extents, arch, schedule)
            info: ProgramInfo = json.loads(written)["program"]
            return info

        described.make(plan, alignments_of)
        text = described.text()
    source = ask_compiler("--emit-kernels", "cuda", text, entry, extents, arch, schedule)
    # They name lines of the text, which a function made.
    return re.sub(r"^ *#line .*\n", "", source, flags=re.MULTILINE)


def ask_compiler(
    what: str, target: str, text: str, entry: str | None, dims: Mapping[str, int] | None,
    arch: str | None, schedule: str | None,
) -> str:  # fmt: skip
    """What the compiler writes of a text for the option `what`. It compiles nothing."""
    command = ["-", what, "-o", "-", f"--target={target}"]
    command += [f"--dim={dim}={extent}" for dim, extent in (check_dims(dims) or {}).items()]
    for option, given in (("arch", arch), ("entry", entry), ("schedule", schedule)):
        value = check_option(option, given)
        if value:
            command.append(f"--{option}={value}")
    done = _run_compiler(_find_compiler(), command, input=check_program(text))
    if done.returncode:
        message = done.stderr.strip().removeprefix("dsv4-compile: error: ")
        raise make_error(CompileFailed, "compile.failed", None, message)
    written: str = done.stdout
    return written


def compiler_versions() -> tuple[str, list[str]]:
    """The compiler, and what it says of itself, of NVRTC and of the C++ compiler."""
    compiler = _find_compiler()
    libraries = [nvidia_libraries(), os.environ.get("LD_LIBRARY_PATH", "")]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    done = _run_compiler(compiler, ["--version"], env=environment)
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise make_error(
            Unavailable, "compiler.start", None,
            f"the compiler '{compiler}' does not run: {done.stderr.strip() or done.returncode}",
        )  # fmt: skip
    return compiler, lines
