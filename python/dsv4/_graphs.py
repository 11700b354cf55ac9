# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of launches on a GPU, which graphs of torch replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ._benchmark import Candidate
from ._copies import CopyKernel, Kernels, copy_kernels

_ROUNDS = 21
# Of the GPUs of today.
_MAX_CACHE_BYTES = 128 << 20
# The time that a replay is given to be queued: the GPU then does not wait for the processor.
_QUEUE_US = 100
# Of each of two buffers, between which two copies leave nothing else in the L2 cache.
_FLUSH_BYTES = 128 << 20
# Addresses of allocations are multiples of it.
_ALIGNMENT = 512


class TorchDevice:
    """A GPU, by torch."""

    def __init__(self, index: int) -> None:
        properties = torch.cuda.get_device_properties(index)
        self.index = index
        self.name: str = properties.name
        self.multiprocessors: int = properties.multi_processor_count
        # Torch does not have it before 2.4.
        self.cache_bytes: int = getattr(properties, "L2_cache_size", 0) or _MAX_CACHE_BYTES
        self._major: int = properties.major
        self._flush: tuple[Any, Any] | None = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The current device, with a stream of its own, and without gradients."""
        self._kernels = Kernels()
        with torch.cuda.device(self.index), torch.no_grad():
            # What the arguments wait for.
            torch.cuda.synchronize()
            self._stream = torch.cuda.Stream()
            try:
                yield
            finally:
                torch.cuda.synchronize()
                self._kernels.unload()
                self._flush = None

    def free_bytes(self) -> int:
        free: int = torch.cuda.mem_get_info()[0]
        held: int = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return free + held

    @staticmethod
    def _span(array: Any) -> int:
        """Elements from the first to the last."""
        if array.numel() == 0:
            return 0
        steps = ((int(n) - 1) * int(stride) for n, stride in zip(array.shape, array.stride()))
        return 1 + sum(steps)

    def span_bytes(self, array: Any) -> int:
        return self._span(array) * int(array.element_size())

    def clone(self, array: Any) -> Any:
        """A tensor of the same shape, strides, alignment and contents."""
        span = self._span(array)
        start = array.data_ptr() % _ALIGNMENT // array.element_size()
        memory = torch.empty(start + span, dtype=array.dtype, device=array.device)
        source = array.detach().as_strided((span,), (1,))
        memory[start:].copy_(source)
        return memory.as_strided(array.shape, array.stride(), start)

    def allocate(self, size: int) -> Any:
        return torch.zeros(size, dtype=torch.uint8, device="cuda")

    def copy_kernels(self) -> list[CopyKernel]:
        return copy_kernels(self._major)

    def copy(self, of: CopyKernel, to: int, source: int, size: int) -> None:
        self._kernels.copy(of, to, source, size, self._stream.cuda_stream)

    def empty(self, grid: tuple[int, int, int], programmatic: bool) -> None:
        self._kernels.empty(grid, programmatic and self._major >= 9, self._stream.cuda_stream)

    def time(self, candidates: Sequence[Candidate], flushed: bool) -> list[list[float]]:
        """Microseconds of a launch of each candidate, in each round."""
        # Copies of the arguments are made on another stream.
        torch.cuda.synchronize()
        graphs = [self._capture(each) for each in candidates]
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times: list[list[float]] = [[] for _ in candidates]
        with torch.cuda.stream(self._stream):
            for graph in graphs:
                graph.replay()  # Uploads it.
            for round in range(_ROUNDS):
                for step in range(len(candidates)):
                    # Every round starts elsewhere, so that neighbours change.
                    index = (step + round) % len(candidates)
                    if flushed:
                        self._flush_cache()
                    self._kernels.wait(_QUEUE_US, self._stream.cuda_stream)
                    begin.record()
                    graphs[index].replay()
                    end.record()
                    end.synchronize()
                    us = begin.elapsed_time(end) * 1e3
                    times[index].append(us / candidates[index].launches)
        return times

    def _capture(self, of: Candidate) -> torch.cuda.CUDAGraph:
        # A first launch loads a kernel, and gives the stream the workspace that one may need.
        with torch.cuda.stream(self._stream):
            of.launch(0)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
            for i in range(of.launches):
                of.launch(i)
        return graph

    def _flush_cache(self) -> None:
        """Fills the L2 cache. Lines that are loaded with evict_last give way to their like only;
        the other copy then leaves the cache as launches without that policy find it."""
        if self._flush is None:
            self._flush = self.allocate(_FLUSH_BYTES), self.allocate(_FLUSH_BYTES)
        to, source = (each.data_ptr() for each in self._flush)
        for evict_last in (True, False):
            self.copy(CopyKernel(1, evict_last, False), to, source, _FLUSH_BYTES)
