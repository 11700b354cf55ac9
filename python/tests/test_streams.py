# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New arrays are memory of the stream of the launch: on libraries that stand in for torch and CuPy,
without a GPU."""

import contextlib
import sys
import types

import pytest

from dsv4 import _arrays

HERE, OTHER = 0, 1
CURRENT, GIVEN = 0x1000, 0x2000


class _OnGpu:
    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return 2, self.device


class OfTorch(_OnGpu):
    __module__ = "torch"


class OfCupy(_OnGpu):
    __module__ = "cupy.ndarray"


class FakeCuda:
    """What torch.cuda and cupy.cuda have in common: a current device, and a current stream of each
    device, on which arrays are made."""

    def __init__(self, current=CURRENT):
        self.device, self.streams, self.made = HERE, {HERE: current, OTHER: current}, []

    @contextlib.contextmanager
    def at(self, device, stream):
        before = self.device, self.streams[device]
        self.device, self.streams[device] = device, stream
        yield
        self.device, self.streams[device] = before

    def make(self):
        self.made.append((self.device, self.streams[self.device]))
        return "made"


class FakeTorch(FakeCuda):
    """torch.cuda: the context of a stream makes its device current."""

    def current_stream(self, device):
        return types.SimpleNamespace(cuda_stream=self.streams[device])

    def default_stream(self, device):
        return device, 0

    def ExternalStream(self, address, device):  # noqa: N802
        assert address not in (0, 1), "the pool of torch would not be that of its default stream"
        return device, address

    def stream(self, stream):
        return self.at(*stream)


class FakeCupy(FakeCuda):
    """cupy.cuda: a stream of another device than the current one is refused."""

    def __init__(self, current=CURRENT, external=True):
        super().__init__(current)
        self.Stream = types.SimpleNamespace(null=self._stream(0))
        if external:
            self.Stream.from_external = self._from_external

    @contextlib.contextmanager
    def _stream(self, address, device=None):
        assert device in (None, self.device), "created on another device"
        with self.at(self.device, address):
            yield

    def _from_external(self, stream):
        version, address = stream.__cuda_stream__()
        assert version == 0 and address not in (0, 1)
        return self._stream(address, self.device)

    def ExternalStream(self, address, device):  # noqa: N802
        assert not hasattr(self.Stream, "from_external"), "CuPy warns of it"
        assert address not in (0, 1), "the pool of CuPy would not be that of its default stream"
        return self._stream(address, device)

    def Device(self, number):  # noqa: N802
        return self.at(number, self.streams[number])

    def get_current_stream(self):
        return types.SimpleNamespace(ptr=self.streams[self.device])


LIBRARIES = [
    (OfTorch, FakeTorch, {}), (OfCupy, FakeCupy, {}), (OfCupy, FakeCupy, {"external": False}),
]  # fmt: skip


@pytest.fixture
def make(monkeypatch):
    def make(cls, cuda, device, stream):
        library = _arrays.library_of(cls(device))
        monkeypatch.setitem(sys.modules, library, types.SimpleNamespace(cuda=cuda))
        assert _arrays.make_on_stream(cuda.make, cls(device), stream) == "made"
        [made] = cuda.made
        # The caller's are as they were.
        assert cuda.device == HERE and len(set(cuda.streams.values())) == 1
        return made

    return make


@pytest.mark.parametrize("cls, fake, options", LIBRARIES)
@pytest.mark.parametrize("device", [HERE, OTHER])
@pytest.mark.parametrize("stream, expected", [(0, 0), (1, 0), (GIVEN, GIVEN)])
def test_memory_is_of_the_stream_of_the_launch(
    make, cls, fake, options, device, stream, expected
):
    given = types.SimpleNamespace(ptr=stream)
    assert make(cls, fake(**options), device, stream) == (device, expected)
    assert make(cls, fake(**options), device, given) == (device, expected)


@pytest.mark.parametrize("cls, fake, options", LIBRARIES)
@pytest.mark.parametrize("current", [0, CURRENT])
def test_the_current_stream_stays(make, monkeypatch, cls, fake, options, current):
    cuda = fake(current=current, **options)
    for each in ("stream", "ExternalStream", "Stream"):
        monkeypatch.setattr(cuda, each, None, raising=False)
    assert make(cls, cuda, HERE, current) == (HERE, current)


@pytest.mark.parametrize("cls, fake, options", LIBRARIES)
def test_a_quick_maker_is_for_the_current_stream_only(make, cls, fake, options):
    """It makes arrays on the current device."""
    cuda = fake(**options)
    sure = cuda.make
    cuda.make = (None, sure)
    assert make(cls, cuda, OTHER, GIVEN) == (OTHER, GIVEN)
