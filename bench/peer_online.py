"""The online compressor in PyTorch and Triton, for peers.py.

Segments of windows of 128 tokens are pooled, from what the state has of their windows
on. Those that end their window are normalised, rotated, quantised and written, as by
the programs of dsv4-bench; the others are left in the state.
"""

import torch

from peer_common import PAGE
from peer_compress import INPUT_BYTES, POSITIONS, REQUESTS, V4, Compress, CompressHCA
from peer_compress_triton import online_kernel
from peer_writers import worst


def merge_segments(values, scores, bias, place, before, dtype):
    """The largest score, the sum of weights and that of weighted values of segments of
    as many tokens each, with those `before` them [segments, 3, channels]."""
    tokens = values.shape[0] // place.shape[0]
    at = place.long()[:, None] + torch.arange(tokens, device=place.device)
    values = values.to(dtype).unflatten(0, (-1, tokens))
    scores = scores.to(dtype).unflatten(0, (-1, tokens)) + bias.to(dtype)[at]
    most, total, dot = before.to(dtype).unbind(1)
    begins = (place == 0)[:, None]
    most = torch.where(begins, float("-inf"), most)
    higher = torch.maximum(most, scores.amax(1))
    # 0 where the window begins.
    fade = (most - higher).exp()
    weight = (scores - higher[:, None]).exp()
    total = total * fade + weight.sum(1)
    dot = dot * fade + (weight * values).sum(1)
    return torch.stack((higher, total, dot), 1)


class Online(Compress):
    """A segment of `segment` tokens of each of `segments` requests a launch; sizes are
    segments. The state has two entries per request, one that its segment goes on from and
    one that it is left in. PyTorch makes entries of all segments, writes those that are
    none to a page that nobody reads, and the state of all."""

    window, overlap, segment, segments = 128, False, 32, 256
    # Warps, rows at once.
    config_names = "warps", "block", "stages", "eviction"
    configs = (
        (4, 1, 1), (4, 4, 1), (4, 4, 3), (4, 8, 1), (4, 8, 3), (8, 4, 3), (8, 8, 1),
        (8, 8, 3), (8, 16, 1), (16, 16, 1),
    )  # fmt: skip

    def __init__(self):
        super().__init__()
        self.row_bytes = self.segment * V4 * 8 + 2 * 3 * V4 * 4 + 28
        shape = 2 * self.entries, 3, V4
        self.state = torch.rand(shape, device="cuda").mul_(4)
        self.state[:, 1] += 1
        self.state[:, 2].mul_(2).sub_(4)

    def count_tokens(self):
        return self.entries * self.segment

    def make_numbers(self):
        count = min(REQUESTS, INPUT_BYTES // (V4 * 8 * self.segment))
        self.entries = count
        number = torch.arange(count, device="cuda") % self.segments
        # As dsv4-bench has them, but in their order.
        places = self.window // self.segment
        place = ((number + 1) * places - 1) // self.segments * self.segment
        self.ended = place + self.segment == self.window
        order = torch.randperm(self.pages, device="cuda")
        slot = torch.randint(PAGE, (count,), device="cuda")
        page = torch.where(self.ended, order[:count], order[count])
        self.slot = (page * PAGE + slot).int()
        window = torch.randint(POSITIONS // self.window, (count,), device="cuda")
        self.position = {self.segments: (window * self.window).int()}
        self.place = place.int()
        self.goes_on_from, self.left_in = (2 * number).int(), (2 * number + 1).int()

    def fits(self, size, config):
        return self.segment % config[1] == 0

    def tokens(self, size, i):
        count = size * self.segment
        part = slice(i * count, (i + 1) * count)
        return self.values[part], self.scores[part]

    def data(self, size, i):
        part = slice(i * size, (i + 1) * size)
        state = self.state[2 * part.start : 2 * part.stop]
        numbers = self.place[part], self.goes_on_from[part], self.left_in[part]
        return *super().data(size, i), state, *numbers

    def pool_tokens(self, values, scores, bias, position, more, dtype):
        state, place, before, after = more
        sums = merge_segments(values, scores, bias, place, state[before.long()], dtype)
        if dtype != torch.float64:
            state.index_put_((after.long(),), sums)
        return sums[:, 2] / sums[:, 1]

    def call_triton(self, size, i, warps, block, stages, keep):
        data = self.data(size, i)
        online_kernel[(size,)](
            *data[:7], *self.pointers, *data[7:],
            SEGMENT=self.segment, BLOCK=block, STAGES=stages, KEEP=keep, num_warps=warps,
        )  # fmt: skip

    def read(self, entry):
        return super().read(entry[self.ended[: entry.shape[0]]])

    def clear(self, entry):
        super().clear(entry[self.ended[: entry.shape[0]]])

    def judge(self, got, want):
        ended = self.ended[: want[0].shape[0]]
        return super().judge(got, [part[ended] for part in want])

    def verify(self, call, size):
        result = super().verify(call, size)
        i = self.slices(size) - 1
        values, scores, bias = self.data(size, i)[:3]
        state, place, before, after = self.data(size, i)[7:]
        kept = ~self.ended[:size]
        old = state[before.long()]
        want = merge_segments(values, scores, bias, place, old, torch.float64)[kept]
        at = after.long()[kept]
        state[at] = float("nan")
        call(i)
        # Sums of up to 32 weights and weighted values in fp32, whose exponentials
        # are right to some units in the last place.
        error = worst(state[at].double(), want, 2**-18, 2**-16)
        result["worst_error"] = max(result["worst_error"], error)
        return result


class OnlineWindows(CompressHCA):
    """Segments that are whole windows have no state; the sums of several programs may
    be put together."""

    what, sizes, compiled_sizes = "compress_hca_online", (64,), (64,)


class OnlineChunks(Online):
    what, sizes, compiled_sizes = "compress_hca_online_chunks", (256,), (256,)


class OnlineDecode(Online):
    what, sizes, compiled_sizes = "compress_hca_online_decode", (64,), (64,)
    segment, segments = 1, 64
    configs = ((1, 1, 1), (2, 1, 1), (4, 1, 1), (8, 1, 1))


# Name and maker of every job.
JOBS = [
    ("compress_hca_online", OnlineWindows),
    ("compress_hca_online_chunks", OnlineChunks),
    ("compress_hca_online_decode", OnlineDecode),
]
