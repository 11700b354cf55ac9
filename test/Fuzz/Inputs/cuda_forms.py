#!/usr/bin/env python3
"""Draws kernels of one op in the cuda dialect, arith, math and vector, of any types and numbers, and compiles what is
printed of them with NVRTC. A kernel is refused by the verifier, cuda-legalize or the printer, or its source compiles
without a warning.

    PATH=build/release/bin:$PATH test/Fuzz/Inputs/cuda_forms.py --seed=1 --count=100000
"""

import argparse
import collections
import random
import re
import subprocess
import sys

ELEMENTS = ["f32", "f32", "f32", "bf16", "f16", "f8E4M3FN", "f8E8M0FNU", "f4E2M1FN", "i4", "i8", "i32", "i64", "i1"]
BITS = {"i1": 1, "i4": 4, "f4E2M1FN": 4, "i8": 8, "f8E4M3FN": 8, "f8E8M0FNU": 8, "bf16": 16, "f16": 16, "f32": 32,
        "i32": 32, "i64": 64}
PARAMETERS = "%by: memref<?xi8>, %n: i32, %m: i64, %p: i1, " + ", ".join(
    f"%b{element}: memref<?x{element}>" for element in BITS)
BATCH = 64


class Drawer:
    def __init__(self, seed):
        self.random, self.lines, self.names = random.Random(seed), [], 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def some(self, chance):
        return self.random.random() < chance

    def fresh(self):
        self.names += 1
        return f"%v{self.names}"

    def line(self, text):
        self.lines.append(text)

    def element(self, *likely):
        return self.pick(*likely) if likely and self.some(0.7) else self.pick(*ELEMENTS)

    def shape(self, rank=None):
        extents = [self.pick(1, 2, 2, 4, 4, 8, 3, 16) for _ in range(rank or self.pick(1, 2))]
        return "x".join(map(str, extents)) + "x"

    def vector(self, *likely, rank=None):
        return f"vector<{self.shape(rank)}{self.element(*likely)}>"

    def number(self):
        return self.pick(0, 1, 1, 2, 4, 8, 16, 32, 3, -1, 1 << 20, 1 << 33)

    def operand(self, type):
        """A value of a type: a constant or loaded."""
        name = self.fresh()
        match = re.fullmatch(r"vector<((?:\d+x)+)(\w+)>", type)
        element = match.group(2) if match else type
        if self.some(0.25) and element in ("f32", "i32", "i64"):
            value = self.pick("1.5", "-0.0", "0x7FC00000", "0xFF800000") if element == "f32" \
                else self.pick("3", "-1", "-2147483648")
            self.line(f"{name} = arith.constant " + (f"dense<{value}> : {type}" if match else f"{value} : {type}"))
        elif match:
            stride = " stride 64" if match.group(1).count("x") == 2 else ""
            self.line(f"{name} = cuda.load %by[%n]{stride} : memref<?xi8>, i32 -> {type}")
        else:
            self.line(f"{name} = cuda.load %b{element}[%n] : memref<?x{element}>, i32 -> {type}")
        return name

    def sink(self, name, type):
        if type.startswith("vector"):
            stride = " stride 64" if type.count("x") >= 2 else ""
            self.line(f"cuda.store {name}, %by[%n]{stride} : {type}, memref<?xi8>, i32")
        else:
            self.line(f"cuda.store {name}, %b{type}[%n] : {type}, memref<?x{type}>, i32")

    def result(self, text, type):
        name = self.fresh()
        self.line(f"{name} = {text}")
        self.sink(name, type)


def resized(type, change):
    """The type with another last extent."""
    extents, element = re.fullmatch(r"vector<((?:\d+x)+)(\w+)>", type).groups()
    extents = [int(extent) for extent in extents[:-1].split("x")]
    extents[-1] = max(1, change(extents[-1]))
    return f"vector<{'x'.join(map(str, extents))}x{element}>"


def retyped(type, element):
    return re.sub(r"(vector<(?:\d+x)+)\w+>", rf"\g<1>{element}>", type) if type.startswith("vector") else element


def binary(d):
    op = d.pick("addf", "subf", "mulf", "divf", "maxnumf", "minnumf", "maximumf", "addi", "subi", "muli", "andi", "ori",
                "xori", "minsi", "maxsi", "divsi", "remsi")
    likely = ("f32",) if op.endswith("f") else ("i32", "i64")
    type = d.vector(*likely) if d.some(0.6) else d.element(*likely)
    d.result(f"arith.{op} {d.operand(type)}, {d.operand(type)} : {type}", type)


def conversion(d):
    op, source, target = d.pick(("extf", ("bf16", "f16", "f8E4M3FN"), ("f32",)), ("truncf", ("f32",), ("bf16", "f16")),
                                ("sitofp", ("i4", "i8", "i32"), ("f32",)), ("extsi", ("i8", "i16", "i32"), ("i32", "i64")),
                                ("extui", ("i1", "i8"), ("i32", "i64")), ("trunci", ("i64", "i32"), ("i32", "i16", "i8")))
    type = d.vector(*source) if d.some(0.6) else d.element(*source)
    to = retyped(type, d.element(*target))
    d.result(f"arith.{op} {d.operand(type)} : {type} to {to}", to)


def choice(d):
    type = d.vector() if d.some(0.6) else d.element("i32")
    if d.some(0.5):
        d.result(f"arith.select %p, {d.operand(type)}, {d.operand(type)} : {type}", type)
        return
    predicate = d.pick("eq", "ne", "slt", "sge", "ult")
    type = d.element("i32", "i64")
    name = d.fresh()
    d.line(f"{name} = arith.cmpi {predicate}, {d.operand(type)}, {d.operand(type)} : {type}")
    d.result(f"arith.select {name}, {d.operand(type)}, {d.operand(type)} : {type}", type)


def of_vector(d):
    type = d.vector("f32")
    double = resized(type, lambda extent: 2 * extent)
    source = d.operand(type)
    first = d.vector(rank=1)
    kind = d.pick("sqrt", "interleave", "slice", "extract")
    if kind == "sqrt":
        d.result(f"math.sqrt {source} : {type}", type)
    elif kind == "interleave":
        d.result(f"vector.interleave {source}, {d.operand(type)} : {type} -> {double}", double)
    elif kind == "slice":
        to = resized(first, lambda extent: extent // 2)
        count = re.search(r"\d+", to).group()
        d.result(f"vector.extract_strided_slice {d.operand(first)} {{offsets = [{d.pick(0, 1)}], sizes = [{count}], "
                 f"strides = [1]}} : {first} to {to}", to)
    else:
        one = f"vector<1x{d.element('f32')}>"
        d.result(f"vector.extract {d.operand(one)}[0] : {one[9:-1]} from {one}", one[9:-1])


def unary_call(d):
    type = d.vector("f32")
    op = d.pick("one_nan", "activation exp", "activation sigmoid", "activation sqrt_softplus", "swap_nibbles", "hadamard")
    if op == "swap_nibbles":
        type = retyped(type, d.element("f4E2M1FN", "i4"))
    lanes = f" lanes {d.number()}" if op == "hadamard" and d.some(0.6) else ""
    d.result(f"cuda.{op} {d.operand(type)}{lanes} : {type}", type)


def scaled(d):
    tile = d.vector("f32", rank=2)
    scales = d.vector("f32", "f8E8M0FNU")
    kind = d.pick("expand", "dequantize", "quantize")
    if kind == "expand":
        scales = retyped(scales, re.search(r"(\w+)>", tile).group(1).split("x")[-1])
        d.result(f"cuda.expand {d.operand(scales)} : {scales} to {tile}", tile)
    elif kind == "dequantize":
        values, tile = retyped(tile, d.element("f8E4M3FN", "f4E2M1FN", "i4")), retyped(tile, d.pick("f32", "bf16"))
        d.result(f"cuda.dequantize {d.operand(values)} by {d.operand(scales)} : {values} by {scales} to {tile}", tile)
    else:
        values, to = retyped(tile, d.pick("f32", "bf16")), retyped(tile, d.pick("f8E4M3FN", "f4E2M1FN"))
        flags = d.pick("", "", " ties_down", " drop_negative_zero", " ties_down drop_negative_zero")
        d.result(f"cuda.quantize {d.operand(values)} by {d.operand(scales)}{flags} : {values} by {scales} to {to}", to)


def encoded(d):
    type = d.vector("f32")
    to = retyped(type, d.pick("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU"))
    flags = d.pick("", " up", " ties_down", " drop_negative_zero")
    d.result(f"cuda.encode {d.operand(type)}{flags} : {type} to {to}", to)


def rearranged(d):
    kind = d.pick("join", "steps", "keep_vectors", "pad", "alternate", "transpose")
    tile, flat = d.vector(rank=2), d.vector(rank=1)
    double, half = resized(flat, lambda extent: 2 * extent), resized(flat, lambda extent: extent // 2)
    steps, rest = re.fullmatch(r"vector<(\d+)(x.*)", tile).groups()
    if kind == "join" and d.some(0.5):
        d.result(f"cuda.join {d.operand(flat)}, {d.operand(flat)} : {flat}, {flat} to {double}", double)
    elif kind == "join":
        to = f"vector<{2 * int(steps)}{rest}"
        d.result(f"cuda.join {d.operand(tile)}, {d.operand(tile)} : {tile}, {tile} to {to}", to)
    elif kind == "steps":
        to = f"vector<1{rest}"
        d.result(f"cuda.steps {d.operand(tile)} from {d.pick(0, 1, -1)} : {tile} to {to}", to)
    elif kind == "keep_vectors":
        tile = retyped(tile, d.pick("f32", "bf16", "f16"))
        otherwise = d.pick("0.0", "1.5", "0x7FC00000", "0xFF800000")
        d.result(f"cuda.keep_vectors {d.operand(tile)}, %n otherwise {otherwise} : {tile}, i32", tile)
    elif kind == "pad":
        d.result(f"cuda.pad {d.operand(flat)} : {flat} to {double}", double)
    elif kind == "alternate":
        type = retyped(flat, "f32")
        d.result(f"cuda.alternate {d.operand(type)}{d.pick('', ' odd')} : {type} to {retyped(half, 'f32')}",
                 retyped(half, "f32"))
    else:
        d.result(f"cuda.transpose {d.operand(flat)} rows {d.pick(1, 2, 3, 4)} : {flat}", flat)


def reduced(d):
    type = d.vector("f32", "bf16", "f16")
    extents = [int(extent) for extent in re.findall(r"(\d+)x", type)]
    lanes = d.pick(1, 1, 2, 8, 32) if len(extents) == 2 else 1
    elements = lanes
    for extent in extents:
        elements *= extent
    group = d.pick(elements, elements, extents[-1], d.pick(1, 2, 4, 3))
    to = f"vector<{max(1, elements // group)}xf32>" if d.some(0.6) else d.vector("f32")
    kind = d.pick("sum", "max_abs", "max_abs_nan", "max_nan")
    clause = f" lanes {lanes}" if lanes != 1 else ""
    d.result(f"cuda.reduce {kind} {d.operand(type)} per {group}{clause} : {type} to {to}", to)


def indexed(d):
    kind = d.pick("gather", "sequence", "splice", "where_valid", "columns", "element", "narrow")
    ids = d.vector("i32", rank=d.pick(1, 2))
    ids = retyped(ids, "i32")
    floats = retyped(ids, "f32")
    if kind == "gather":
        element = d.pick("f32", "bf16", "f16", "i32", "i64")
        to = retyped(ids, element)
        d.result(f"cuda.gather %b{element}[%n] at {d.operand(ids)} below {d.pick(1, 8, 256)} : memref<?x{element}>, i32, "
                 f"{ids} -> {to}", to)
    elif kind == "sequence":
        d.result(f"cuda.sequence %n by %n from %n stride 64 : i32, i32, i32 -> {ids}", ids)
    elif kind == "splice":
        type = d.pick(ids, floats)
        d.result(f"cuda.splice {d.operand(type)} before 8, {d.operand(type)} from %n stride 8 : {type}, i32", type)
    elif kind == "where_valid":
        index, of = d.pick((d.operand(ids), ids), ("%n", "i32"))
        type = d.pick(ids, floats)
        otherwise = d.pick("", " otherwise 1.5", " otherwise 0xFF800000") if type == floats else ""
        d.result(f"cuda.where_valid {d.operand(type)} at {index} below 8{otherwise} : {type}, {of}", type)
    elif kind == "columns":
        row = d.vector("f32", rank=2)
        to = retyped("vector<1x" + row.split("x", 1)[1], "f32")
        row = retyped(row, "f32")
        d.result(f"cuda.columns {d.operand(row)} at %n lanes {d.pick(1, 8, 32)} : {row}, i32 to {to}", to)
    elif kind == "element":
        row = retyped(d.vector("f32", rank=2), "f32")
        d.result(f"cuda.element {d.operand(row)} at %n : {row}, i32 to vector<1x1xf32>", "vector<1x1xf32>")
    else:
        wide = retyped(ids, "i64")
        d.result(f"cuda.narrow {d.operand(wide)} : {wide} to {ids}", ids)


def memory(d):
    kind = d.pick("scalar", "scalar", "vector", "part", "runs", "words", "words")
    align = d.pick("", "", f" align {d.number()}")
    condition = d.pick("", " if %p")
    if kind == "scalar":
        element = d.element()
        name = d.fresh()
        ordered = d.pick("", " ordered") if not condition else ""
        d.line(f"{name} = cuda.load %b{element}[%n]{condition}{align}{d.pick('', ' evict_last')}{ordered} : "
               f"memref<?x{element}>, i32 -> {element}")
        d.line(f"cuda.store {name}, %b{element}[%n]{align}{d.pick('', ' streaming')} : {element}, memref<?x{element}>, i32")
    elif kind == "vector":
        type = d.vector()
        vectors = d.pick("", " vectors %n : i32")
        condition = "" if vectors else condition
        name = d.fresh()
        d.line(f"{name} = cuda.load %by[%n]{condition}{vectors} stride {d.number()}{align} : memref<?xi8>, i32 -> {type}")
        d.line(f"cuda.store {name}, %by[%n]{vectors} stride {d.number()}{align} : {type}, memref<?xi8>, i32")
    elif kind == "part":
        element = d.pick("f32", "bf16", "f16")
        type = d.vector(element)
        type = retyped(type, element)
        d.result(f"cuda.load_part %b{element}[%n] of %n : memref<?x{element}>, i32, i32 -> {type}", type)
    elif kind == "runs":
        type = d.vector("i8", "f8E8M0FNU", "i32", "f32")
        if d.some(0.5):
            d.result(f"cuda.load_runs %by[%n]{condition} from %n step {d.number()} run {d.number()} stride %m : memref<?xi8>,"
                     f" i32, i32, i64 -> {type}", type)
        else:
            d.line(f"cuda.store_runs {d.operand(type)}, %by[%n] from %n step {d.number()} run {d.number()} count "
                   f"{d.number()} pad {d.number()} stride %m : {type}, memref<?xi8>, i32, i32, i64")
    else:
        type, lanes = d.vector(rank=2), d.pick(2, 4, 8, 32, d.number())
        if d.some(0.5):
            d.line(f"cuda.store_words {d.operand(type)}, %by[%n] lanes {lanes} : {type}, memref<?xi8>, i32")
            return
        name = d.fresh()
        d.line(f"{name} = cuda.load_words %by[%n]{condition} lanes {lanes} : memref<?xi8>, i32 -> {type}")
        d.result(f"cuda.realign {name} of %by[%n] lanes {d.pick(lanes, lanes, 8)} : {type}, memref<?xi8>, i32", type)


KINDS = [binary, conversion, choice, of_vector, unary_call, scaled, encoded, rearranged, reduced, indexed, memory]


def draw(seed, index):
    """The text of kernel `index`."""
    d = Drawer(seed * 1000003 + index)
    d.pick(*KINDS)(d)
    body = "\n    ".join(d.lines)
    return f"gpu.module @m{index} {{\n  gpu.func @k{index}({PARAMETERS}) kernel {{\n    {body}\n    gpu.return\n  }}\n}}\n"


def tool(command, text):
    run = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode < 0:
        sys.exit(f"{command[0]} ended with signal {-run.returncode}:\n{text}")
    return run.stdout


def emit(programs):
    """The sources of the kernels that are not refused, by their numbers."""
    passes = "--pass-pipeline=builtin.module(gpu.module(cuda-legalize,cuda-prepare-for-emission))"
    lowered = tool(["dsv4-opt", "--split-input-file", passes, "--mlir-print-debuginfo"], "// -----\n".join(programs))
    source = tool(["dsv4-translate", "--split-input-file", "--mlir-to-cuda"], lowered)
    kernels = re.findall(r'^extern "C" __global__ void\nk(\d+)\(.*?^}\n', source, re.M | re.S)
    texts = re.findall(r'^extern "C" __global__ void\nk\d+\(.*?^}\n', source, re.M | re.S)
    return dict(zip(map(int, kernels), texts))


def compiles(text, arch):
    run = subprocess.run(["dsv4-nvrtc-check", "--max-stack=1000000", arch], input=text, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return run.returncode == 0, run.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--arch", default="sm_90a")
    options = parser.parse_args()
    counts = collections.Counter()
    for begin in range(0, options.count, BATCH):
        programs = [draw(options.seed, i) for i in range(begin, min(begin + BATCH, options.count))]
        sources = emit(programs)
        counts["refused"] += len(programs) - len(sources)
        good, _ = compiles("".join(sources.values()), options.arch) if sources else (True, "")
        for i, source in sources.items():
            alone, log = (True, "") if good else compiles(source, options.arch)
            counts["compiled" if alone else "failed"] += 1
            if not alone:
                print(f"kernel {i} is printed as source that NVRTC refuses:\n{programs[i - begin]}{log}")
    print(f"{options.count} kernels: {counts['compiled']} compiled, {counts['refused']} refused, {counts['failed']} failed")
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
