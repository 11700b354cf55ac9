"""What the jobs of peers.py share. Needs PyTorch and a GPU."""

import torch

PAGE, POOL_BYTES = 64, 4400 << 20


class Job:
    """Launches of `size` rows or tokens, `slices(size)` of which share no data.

    Subclasses have `what`, `layout`, `sizes`, `compiled_sizes` (those that eager
    PyTorch and torch.compile are timed for), `eager`, `slices`, `call_eager` and
    `call_triton`, whose last arguments are one of `configs` and of `policies` (eviction).
    """

    # Rows a program, warps.
    config_names = "rows", "warps", "eviction"
    configs = ((1, 1), (2, 1), (4, 1), (4, 4), (8, 4), (8, 8))
    policies = "", "evict_last"
    rows_per_size = 1
    row_bytes = 0  # Read and written for a row, about.
    compiles = True  # False where torch.compile changes nothing.

    @property
    def compiled(self):
        """What torch.compile gets, to be called by `call_compiled`."""
        return self.eager

    def call_compiled(self, function, size, i):
        return self.call_eager(size, i, function)

    def fits(self, size, config):
        return size * self.rows_per_size % config[0] == 0

    def verify(self, call, size):
        """Members of the row that say how right `call` is for the last slice. An
        error of 1 is 2^-8 of a bf16 value, one unit in its last place at most 2."""
        i = self.slices(size) - 1
        want = self.call_eager(size, i, dtype=torch.float64)
        got = call(i).view_as(want)
        a, b = got.double(), want.double()
        worst = ((a - b).abs() / (b.abs() * 2**-8 + 2**-126)).max().item()
        return {"worst_error": worst if torch.isfinite(a).all() else float("inf")}


def random_bytes(rows, columns, moderate):
    """Random bytes, none a NaN; moderate ones have no extreme exponents."""
    data = torch.empty(rows * columns // 8, dtype=torch.int64, device="cuda")
    data = data.random_(-(2**63), 2**63 - 1).view(torch.uint8).view(rows, columns)
    if moderate:
        return data.bitwise_and_(0x9F).bitwise_or_(0x20)
    return data.sub_((data & 127 == 127).to(torch.uint8))


def aligned(numbers, size):
    """A row of `size` of the numbers a slice, each where 16 bytes begin."""
    rows = numbers[: numbers.numel() // size * size].view(-1, size)
    return torch.nn.functional.pad(rows, (0, -size % 4))
