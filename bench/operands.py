#!/usr/bin/env python3
"""Times programs with operands as engines pass them, beside their contiguous i32 twins.

usage: operands.py [--tools DIR] [--examples DIR] [--rounds N] [--only NAME,...] [--json FILE]

A twin is a program of examples/ with the same work and other operands: every integer i64; every tensor with a run-time
row stride, 128 bytes above the contiguous one; every cache with a run-time page stride, 128 bytes above its page
bytes. "unaligned" has random row strides that are aligned to elements alone, and "one apart" has rows that begin one
element after where contiguous ones would. All run in turns with valid random data and the work lists of serving, and
the smallest times of all rounds are compared.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

# Sizes beyond the L2 cache where a program can be that large, and those of one decode step.
PROGRAMS = {
    "append_swa": ("tokens=16384 requests=4096 positions=4096 window.pages=8192",
                   "tokens=64 requests=64 positions=4096 window.pages=128"),
    "gather_kv": ("tokens=256 topk=512 requests=64 max_pages=64 cache.pages=4096",
                  "tokens=8 topk=512 requests=8 max_pages=64 cache.pages=512"),
    "topk": ("queries=512 entries=32768 requests=64 pages=512", "queries=64 entries=32768 requests=64 pages=512"),
    "router": ("tokens=262144", "tokens=64"),
    "hash_router": ("tokens=262144", "tokens=64"),
    "grouped_router": ("tokens=262144", "tokens=64"),
    "quantize_nvfp4": ("rows=262144", "rows=64"),
    "dequant_nvfp4": ("rows=262144", "rows=64"),
    "csa_compress_prefill": ("tokens=16384 entries=4096 requests=8 max_pages=512 positions=4096 cache.pages=64 "
                             "state.pages=4096",),
    "csa_compress_decode": ("tokens=64 entries=64 requests=64 positions=4096 cache.pages=16 state.pages=64",),
    "hca_compress": ("tokens=16384 entries=128 requests=8 positions=4096 cache.pages=16 state.pages=64",),
    "hca_online": ("tokens=64 segments=64 positions=4096 cache.pages=16 state.pages=8",),
}


def with_i64(text):
    """The program with i64 for every integer that it reads or writes."""
    return text.replace("xi32>", "xi64>")


def element_bytes(shape):
    """Bytes of a stored element of a tensor such as "?x512xbf16". Two FP4 values are one."""
    return {"i64": 8, "i32": 4, "f32": 4, "bf16": 2, "f16": 2}.get(shape.split("x")[-1], 1)


def with_strides(text, align=lambda shape: 16):
    """The program with run-time row strides for every tensor argument of more than one axis."""
    def add(match):
        axes = match[2].count("x")
        if axes < 2:
            return match[0]
        strides = ", ".join("?" * (axes - 1))
        return match[0] + f"dsv4.strides = #dsv4.strides<[{strides}], align = {align(match[2])}>, "
    return re.sub(r"%(\w+): tensor<(\S+)> \{", add, text)


def with_unaligned_strides(text):
    """The same with rows that are aligned to their elements alone."""
    return with_strides(text, element_bytes)


def with_page_strides(text):
    """The program with a run-time page stride for every cache."""
    return re.sub(r"%(\w+): (!\w+) \{", r"\g<0>dsv4.strides = #dsv4.strides<[?], align = 16>, ", text)


TWINS = {"i64": with_i64, "strides": with_strides, "unaligned": with_unaligned_strides,
         "one apart": with_unaligned_strides, "page stride": with_page_strides}

# Rows are a cache line longer than contiguous ones. Shorter ones than that are whole sectors, because the memory
# transfers the sectors between them, too.
LINE, SECTOR = 128, 32


def line_apart(span, size):
    """Bytes from one row of `span` bytes to the next."""
    return -(-span // LINE) * LINE + LINE if span >= LINE else -(-span // SECTOR) * SECTOR


def one_apart(span, size):
    """The same where one element is between rows."""
    return span + size


def row_strides(text, extents, get_stride):
    """The dims of the run-time strides of tensors, in stored elements."""
    dims = []
    for shape, attributes in re.findall(r"%\w+: tensor<(\S+)> \{dsv4\.strides = ([^{}]*)\}", text):
        *axes, element = shape.split("x")
        name = re.search(r'dsv4\.name = "(\w+)"', attributes)[1]
        names = re.search(r"dsv4\.dims = \[([^]]*)\]", attributes)
        names = [dim.strip(' "') for dim in names[1].split(",")] if names else axes
        counts = [int(axis) if axis != "?" else extents[dim] for axis, dim in zip(axes, names)]
        packing = 2 if element == "f4E2M1FN" else 1
        size = element_bytes(shape)
        span = counts[-1] // packing * size
        for axis in range(len(axes) - 2, -1, -1):
            stride = get_stride(span, size)
            dims.append(f"{name}.stride.{axis}={stride // size}")
            span = stride * counts[axis]
    return dims


def page_strides(tools, path, text, dims):
    """The dims of the page strides of caches. The check of a launch names the bytes of a page."""
    strides = []
    for name in re.findall(r'%\w+: !\w+ \{dsv4\.strides[^{}]*?dsv4\.name = "(\w+)"', text):
        stride = f"{name}.stride.0"
        run = subprocess.run([os.path.join(tools, "dsv4-run"), path, "--random=1", f"--dim={stride}=0",
                              *[f"--dim={dim}" for dim in dims]], stderr=subprocess.PIPE, text=True)
        page_bytes = re.search(r"at least (\d+), the bytes of a page", run.stderr)
        if not page_bytes:
            sys.exit(f"operands.py: '{name}' has a page stride, but its page bytes are not known: {run.stderr}")
        strides.append(f"{stride}={int(page_bytes[1]) + LINE}")
    return strides


def stride_dims(tools, twin, path, text, dims):
    """The dims that a twin has besides those of the program."""
    if twin in ("strides", "one apart"):
        extents = {name: int(extent) for name, extent in (dim.split("=") for dim in dims)}
        return row_strides(text, extents, line_apart if twin == "strides" else one_apart)
    return page_strides(tools, path, text, dims) if twin == "page stride" else []


def prompts(window):
    """Plan rows and positions of the entries of prompts of 2048 tokens, all of them in the launch."""
    def make(tokens, entries):
        rows = [(token % 2048, token // 2048, 0, token // 2048 * 2048) for token in range(0, tokens, window)]
        return rows[:entries], [row[0] for row in rows[:entries]]
    return make


def decode_step(window):
    """Those of the last token of a window of each request: the others are in the state."""
    def make(tokens, entries):
        rows = [(64 * request, request, 64 * request + window - 1, request) for request in range(entries)]
        return rows, [row[0] for row in rows]
    return make


# What the work lists of serving look like; random ones have windows of which each token is anywhere.
WORK_LISTS = {"csa_compress_prefill": prompts(4), "hca_compress": prompts(128), "csa_compress_decode": decode_step(4)}


def write_npy(path, rows, bits):
    """Writes integers, or rows of them, as a .npy file."""
    shape = (len(rows), len(rows[0])) if isinstance(rows[0], tuple) else (len(rows),)
    numbers = [number for row in rows for number in (row if isinstance(row, tuple) else (row,))]
    header = f"{{'descr': '<i{bits // 8}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{'q' if bits == 64 else 'i'}", *numbers))


def list_inputs(name, folder, text, dims):
    """Options with the work list of a program that has one."""
    if name not in WORK_LISTS:
        return []
    extents = dict(dim.split("=") for dim in dims)
    bits = 64 if "?x4xi64" in text else 32
    options = []
    for argument, rows in zip(("plan", "position"), WORK_LISTS[name](int(extents["tokens"]), int(extents["entries"]))):
        path = os.path.join(folder, f"{name}.{argument}.i{bits}.npy")
        write_npy(path, rows, bits)
        options.append(f"--input={argument}={path}")
    return options


def time(tools, path, dims, inputs, repeat):
    """Microseconds of one launch."""
    command = [os.path.join(tools, "dsv4-run"), path, "--random=1", "--valid", "--json", f"--repeat={repeat}",
               *[f"--dim={dim}" for dim in dims], *inputs]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(command)}\n{run.stderr}")
    result = json.loads(run.stdout)
    return result["us"], result["device"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    parser.add_argument("--tools", default=os.path.join(root, "build", "release", "bin"))
    parser.add_argument("--examples", default=os.path.join(root, "examples"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", help="file that the rows are written to")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, sizes in PROGRAMS.items():
            if arguments.only and name not in arguments.only.split(","):
                continue
            with open(os.path.join(arguments.examples, name + ".mlir"), encoding="utf-8") as file:
                base = file.read()
            texts = {"contiguous i32": base, **{twin: make(base) for twin, make in TWINS.items()}}
            texts = {twin: text for twin, text in texts.items() if text != base or twin == "contiguous i32"}
            for dims in sizes:
                best, paths = {}, {}
                for twin, text in texts.items():
                    path = os.path.join(folder, twin.replace(" ", "_") + ".mlir")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
                    given = dims.split()
                    inputs = list_inputs(name, folder, text, given)
                    paths[twin] = path, given + stride_dims(arguments.tools, twin, path, text, given), inputs
                for _ in range(arguments.rounds):
                    for twin, (path, given, inputs) in paths.items():
                        microseconds, device = time(arguments.tools, path, given, inputs, arguments.repeat)
                        best[twin] = min(best.get(twin, microseconds), microseconds)
                for twin, microseconds in best.items():
                    ratio = microseconds / best["contiguous i32"]
                    rows.append({"program": name, "dims": dims, "twin": twin, "us": microseconds, "ratio": ratio,
                                 "device": device})
                    print(f"{name:22} {twin:15} {microseconds:9.2f} us {ratio:6.3f}x  {dims}", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
