"""Hazards as racecheck reports them one by one, and those that are none.

racecheck loses track of `__syncthreads()` between warps of which some arrive at a named barrier and others wait
there, as the warps that compute and those that load do in kernels of index scores. Then it reports accesses of
their selections that are on both sides of `__syncthreads()`, and only between threads of the two kinds. The same
selections have no hazard in kernels without such warps, where all of their hazards count.

In a kernel with both kinds of warps a hazard is explained if it is between threads of two kinds, in memory before
that of the source. All accesses by which the two kinds pass keys and queries on are in the memory of the source.
"""

import dataclasses
import glob
import os
import re

# What the system has of shared memory, and what a selection with scores in shared memory has at least in front
# of the kernel's dynamic memory: its bins and some words.
SYSTEM_BYTES, STATIC_BYTES = 1024, 9216
UNKNOWN = "a kernel"
# Files of selections, and of the accesses that they are made of.
SELECTION = {f"{name}.cuh" for name in (
    "topk", "topk_list", "topk_load", "topk_resident", "topk_rows", "topk_spread", "topk_tiles", "accesses", "core",
    "memory", "primitives", "tiles")}


@dataclasses.dataclass
class Hazard:
    kernel: str = ""  # Empty if the report has it in no line.
    functions: set = dataclasses.field(default_factory=set)
    threads: list = dataclasses.field(default_factory=list)
    address: int = -1


@dataclasses.dataclass
class Roles:
    """A kernel whose threads from `loaders` on load, and whose source has memory from `source` on or later."""

    kernel: str
    loaders: int
    source: int

    def explain(self, hazard):
        """Where racecheck has the names of functions, all are of the selection."""
        if hazard.kernel not in ("", self.kernel):
            return ""
        if not all(name == UNKNOWN or name.split(":")[0] in SELECTION for name in hazard.functions):
            return ""
        kinds = {thread >= self.loaders for thread in hazard.threads}
        if len(kinds) == 2 and 0 <= hazard.address < self.source:
            return "warps that compute and warps that load, before the memory of the source"
        return ""


def read_hazards(text, functions):
    """From a report of racecheck, by hazard or as an analysis, which has no addresses."""
    hazards = []
    for line in text.splitlines():
        if re.search(r"=+ (Error|Warning): (Race|Potential)", line):
            hazards.append(Hazard())
        if not hazards:
            continue
        if found := re.search(r"at __shared__ 0x([0-9a-f]+)", line):
            hazards[-1].address = int(found.group(1), 16)
        if found := re.search(r"(?:Read|Write) Thread \((\d+),", line):
            hazards[-1].threads.append(int(found.group(1)))
        if found := re.search(r"Thread \(.*\) at (\w+)\+0x", line):
            hazards[-1].kernel = found.group(1)
        if found := re.search(r"(?:access|and|at).* in (\S+\.\w+):(\d+)", line):
            hazards[-1].functions.add(functions.find(found.group(1), int(found.group(2))))
    for hazard in hazards:
        hazard.functions = hazard.functions or {UNKNOWN}
    return hazards


def read_roles(folder):
    """The roles of the threads of the kernel that was emitted into a folder, if it has some."""
    for path in glob.glob(os.path.join(folder, "*.cu")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        kernel = text[text.rfind('extern "C"'):]
        if "index_score_block" not in kernel:
            continue
        warpgroups = re.findall(r"warpgroups = (\d+)", text)
        source = max(map(int, re.findall(r"shared_from\((\d+)\)", kernel)), default=0)
        name = re.search(r"^(\w+)\(", kernel, re.M)
        if warpgroups and name:
            static = STATIC_BYTES if "topk_resident" in kernel else 0
            return Roles(name.group(1), 128 * int(warpgroups[-1]), SYSTEM_BYTES + static + source)
    return None
