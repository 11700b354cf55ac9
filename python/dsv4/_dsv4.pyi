"""Kernels, errors, and what the extension does for the functions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._arrays import Maker
from ._types import Array, Stream

class View(tuple[Any, ...]):
    """What an array is, by DLPack."""

    def __new__(cls, values: Iterable[Any]) -> View: ...
    @property
    def element(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...] | None: ...
    @property
    def device_type(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def read_only(self) -> bool: ...

class Error(Exception):
    """An error of dsv4.

    id: the same in every version, such as 'argument.extent'.
    argument: the name of the argument that is wrong, or None.
    index: its index, or -1.
    driver_result: the CUresult behind it, or 0.
    """

    id: str
    argument: str | None
    index: int
    driver_result: int

class InvalidArgument(Error, ValueError):
    """A shape, stride, alignment, count, name or option is wrong."""

class TypeMismatch(Error, TypeError):
    """The element type, kind of memory or device of an argument is wrong."""

class Unavailable(Error, RuntimeError):
    """The machine lacks something: a driver, a device, a compiler, memory."""

class CompileFailed(Error, RuntimeError):
    """The compiler refused the program, or failed."""

class LoadFailed(Error, RuntimeError):
    """The driver or the loader refused the code of a kernel."""

class LaunchFailed(Error, RuntimeError):
    """The driver or the device reported an error of a launch."""

class CorruptEntry(Error, RuntimeError):
    """Bytes are no entry of this version, or are damaged: compile anew."""

class NotPrepared(Error, RuntimeError):
    """The call would have to compile, load or allocate while its stream captures a graph, or after
    freeze(): prepare before.
    """

class Kernel:
    """A compiled program.

    kernel(*arrays, stream=None, workspace=None) launches it, with one array or number for each name
    in `arguments`, on the current stream of the library that made the arrays, or on `stream`.
    dsv4.compile(), dsv4.prepare() and dsv4.load() make kernels.
    """

    @property
    def name(self) -> str:
        """Of the function of the program."""
    @property
    def target(self) -> str:
        """'cuda' or 'host'."""
    @property
    def arch(self) -> str:
        """'sm_90a' for instance."""
    @property
    def key(self) -> str:
        """The digest of what it was compiled from."""
    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments."""
    @property
    def alignments(self) -> tuple[int, ...]:
        """Bytes that the first element of each argument is aligned to."""
    @property
    def unaligned(self) -> Kernel | None:
        """The kernel that is launched for other addresses, or None: they are refused."""
    def __call__(
        self,
        *arrays: Array | float,
        stream: Stream | None = None,
        workspace: Array | None = None,
    ) -> None: ...
    def launch(
        self,
        *arrays: Array | float,
        stream: Stream | None = None,
        workspace: Array | None = None,
    ) -> None:
        """The same as a call of the kernel, and a little faster: keep `launch = kernel.launch` for
        a loop.
        """
    def load(self, device: int = 0, stream: Stream | None = None) -> None:
        """Loads the kernel on a device, so that no launch has to."""
    def workspace_bytes(self, *arrays: Array | float) -> int:
        """The bytes of workspace of such a launch."""
    def entry(self) -> bytes:
        """The compiled program as bytes, for dsv4.load()."""

class Plan:
    def __new__(
        cls,
        kernel: Kernel,
        sources: tuple[int, ...],
        makers: tuple[Maker, ...],
        like: int,
        results: tuple[int, ...],
        after: Callable[[Any, Any], None] | None,
        make_on: Callable[[Maker, Any, Any], Any] | None,
        types: tuple[type, ...],
        as_tuple: bool = False,
    ) -> Plan: ...

def configure(
    *, compiler: str | None = None, nvrtc_path: str | None = None, cache_dir: str | None = None
) -> None: ...
def compile(
    text: str,
    entry: str | None = None,
    dims: Mapping[str, int] | None = None,
    target: int = 0,
    arch: str | None = None,
    schedule: str | None = None,
    source_name: str | None = None,
    device: int = 0,
    stream: Stream | None = None,
) -> Kernel: ...
def open_entry(entry: bytes) -> Kernel: ...
def check_contents(
    kernel: Kernel, kind: int, argument: int, rows: int, table: int, pool: int, bound: int, /
) -> None: ...
def join_kernels(kernel: Kernel, other: Kernel, /) -> None: ...
def describe(array: Array) -> View: ...
def current_stream(array: Array) -> int | None: ...
def stream_address(stream: Stream) -> int: ...
def launch_planned(
    plans: dict[Any, Plan], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any: ...
def planned(
    plans: dict[Any, Plan],
    otherwise: Callable[[tuple[Any, ...], dict[str, Any]], Any],
    enabled: Callable[[], bool] = ...,
    graded: Callable[[tuple[Any, ...], dict[str, Any]], Any] = ...,
    /,
) -> Callable[..., Any]: ...
def rest_plans(rest: bool) -> bool: ...
def describe_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
def set_stream_hook(hook: Callable[[Any, int], int | None] | None) -> None: ...
def set_bits_hook(hook: Callable[[Any], tuple[Any, str] | None] | None) -> None: ...
def version() -> tuple[int, int]: ...
def device_count() -> int: ...
def device(number: int) -> dict[str, Any]: ...
def counters() -> dict[str, int]: ...
def note_memory_hit() -> None: ...
def cache() -> tuple[str | None, str | None]: ...
def set_event_hook(
    hook: Callable[[int, str, float, int, int, str | None], None] | None,
) -> None: ...
def freeze() -> None: ...
