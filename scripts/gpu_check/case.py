"""One case: a program, its extents and operands, and what its results must equal."""

import dataclasses
import random


@dataclasses.dataclass
class Lengths:
    """Lengths of requests or rows: most at the end of a row, where the last tiles are."""

    count: int
    columns: int
    seed: int = 0

    def values(self):
        source = random.Random(self.seed)
        kinds = (
            lambda: self.columns,
            lambda: self.columns,
            lambda: max(self.columns - source.randint(0, 9), 0),
            lambda: source.randint(0, self.columns),
        )
        return [kinds[i % len(kinds)]() for i in range(self.count)]


@dataclasses.dataclass
class Other:
    """A program, or schedule, whose results have equal bits, for cases that are too large for the oracle."""

    text: str = ""  # The same program if empty.
    options: tuple = ()
    outputs: tuple = ()


@dataclasses.dataclass
class Case:
    group: str
    name: str
    text: str = ""  # Of the program, or:
    path: str = ""  # The file in the tree that has it.
    entry: str = ""
    dims: dict = dataclasses.field(default_factory=dict)
    exact: tuple = ()  # Dims that the program is specialised to.
    options: tuple = ()
    lengths: dict = dataclasses.field(default_factory=dict)
    other: Other = None  # None: the oracle.
    seed: int = 1
    launches: int = 3
    cost: float = 1.0  # About how much work it is.
    aims: str = ""  # The label of the table entry that it is for.
    optional: bool = False  # Run if there is time.
    forced: str = ""  # The family whose tables are used instead of the GPU's.
