#!/usr/bin/env python3
"""Runs random programs over the operands that engines pass, and compares them with the oracle.

usage: random_operands.py [--count N] [--seed S] [--jobs N] [--keep DIR] [-- DSV4-RUN-OPTION...]

Program i of seed S is the same everywhere. Its integers are i32 or i64, its rows bf16, f16 or f32, its tensors and
caches contiguous or strided. A failing program is printed with the command that runs it, and stays in DIR.
"""

import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

INTEGERS = ("i32", "i64")
FLOATS = ("bf16", "f16", "f32")
BYTES = {"i1": 1, "i32": 4, "i64": 8, "ui32": 4, "bf16": 2, "f16": 2, "f32": 4, "f8E4M3FN": 1, "f8E8M0FNU": 1}
RECORDS = {"v4_584": 512, "v32_656": 576, "index_fp8_132": 128, "bf16_1024": 512}
PAGE_BYTES_ALIGNMENT = 16


class Program:
    """A function under construction."""

    def __init__(self, rng):
        self.rng = rng
        self.arguments, self.body, self.results, self.dims = [], [], [], {}
        self.policies = set()

    def integer(self):
        return self.rng.choice(INTEGERS)

    def float(self):
        return self.rng.choice(FLOATS)

    def dim(self, name, *choices):
        """The name of a dim that has one of these extents, given the first time."""
        if name not in self.dims:
            self.dims[name] = self.rng.choice(choices)
        return name

    def strides(self, shape, element):
        """Strides of a tensor: usually none."""
        if len(shape) < 2 or self.rng.random() < 0.6 or element not in BYTES:
            return ""
        size = BYTES[element]
        align = self.rng.choice([a for a in (1, 2, 4, 8, 16, 16, 16) if a >= size])
        inner = 1
        strides = []
        for extent in reversed(shape[1:]):
            inner = None if inner is None or isinstance(extent, str) else inner * extent
            if inner is not None and self.rng.random() < 0.4:
                # A multiple of the alignment, not below the contiguous stride.
                stride = -(-(inner * size) // align) * align + align * self.rng.choice((0, 0, 1, 5))
                strides.append(str(stride))
                inner = stride // size if stride % size == 0 else None
            else:
                strides.append("?")
                inner = None
        return f"dsv4.strides = #dsv4.strides<[{', '.join(reversed(strides))}], align = {align}>"

    def tensor(self, name, shape, element, strided=True):
        """An argument; extents are numbers or names of dims."""
        extents = "".join(("?" if isinstance(e, str) else str(e)) + "x" for e in shape)
        attributes = [f'dsv4.name = "{name}"']
        if any(isinstance(e, str) for e in shape):
            names = ", ".join(f'"{e}"' if isinstance(e, str) else '""' for e in shape)
            attributes.append(f"dsv4.dims = [{names}]")
        if strided and (strides := self.strides(shape, element)):
            attributes.append(strides)
        kind = f"tensor<{extents}{element}>"
        self.arguments.append(f"%{name}: {kind} {{{', '.join(attributes)}}}")
        return f"%{name}", kind

    def cache(self, name, page, record):
        attributes = [f'dsv4.name = "{name}"']
        if self.rng.random() < 0.4:
            attributes.append("dsv4.strides = #dsv4.strides<[?], align = 16>")
        kind = f"!dsv4.cache<{page} x <{record}>>"
        self.arguments.append(f"%{name}: {kind} {{{', '.join(attributes)}}}")
        self.dims[f"{name}.pages"] = self.rng.choice((1, 3, 9))
        return f"%{name}", kind

    def clause(self, keyword, operand):
        return f"{keyword}({operand[0]} : {operand[1]})"

    def op(self, names, text, *results):
        """An op whose results are returned."""
        self.body.append(f"  {', '.join('%' + n for n in names)} = {text}")
        self.results += list(zip(["%" + n for n in names], results))

    def empty(self, name, of, axes, shape, element):
        """A tensor that only this function sees, with the run-time extents of `of`."""
        sizes = []
        for axis in axes:
            self.body.append(f"  %{name}_a{axis} = arith.constant {axis} : index")
            self.body.append(f"  %{name}_d{axis} = tensor.dim {of[0]}, %{name}_a{axis} : {of[1]}")
            sizes.append(f"%{name}_d{axis}")
        extents = "".join(("?" if isinstance(e, str) else str(e)) + "x" for e in shape)
        kind = f"tensor<{extents}{element}>"
        self.body.append(f"  %{name} = tensor.empty({', '.join(sizes)}) : {kind}")
        return f"%{name}", kind

    def __str__(self):
        kinds = ", ".join(kind for _, kind in self.results)
        values = ", ".join(value for value, _ in self.results)
        returned = f"return {values} : {kinds}" if self.results else "return"
        policies = ", ".join(f"{name} = #dsv4.policy<bucket>" for name in sorted(self.policies))
        attributes = f"\n    attributes {{dsv4.policies = {{{policies}}}}}" if policies else ""
        arguments = ",\n    ".join(self.arguments)
        return (f"func.func @f(\n    {arguments})" + (f" -> ({kinds})" if kinds else "") + attributes + " {\n"
                + "\n".join(self.body) + f"\n  {returned}\n}}\n")


def gather(p):
    record = p.rng.choice(list(RECORDS))
    width, page = RECORDS[record], p.rng.choice((1, 16, 64))
    cache, cache_kind = p.cache("cache", page, record)
    flat = p.rng.random() < 0.3
    tokens = None if flat else p.dim("tokens", 0, 1, 5, 33)
    shape = [p.dim("topk", 1, 3, 17)] if flat else [tokens, p.dim("topk", 1, 3, 17)]
    indices = p.tensor("indices", shape, p.integer())
    clauses = []
    if p.rng.random() < 0.6:
        requests = not flat and p.rng.random() < 0.5
        pages = p.dim("max_pages", 1, 4, 11)
        rows = [p.dim("requests", 1, 4)] if requests else [] if flat else [tokens]
        clauses.append(p.clause("pages", p.tensor("table", [*rows, pages], p.integer())))
        if requests:
            clauses.append(p.clause("requests", p.tensor("request", [tokens], p.integer())))
        if p.rng.random() < 0.5:
            per_request = requests and p.rng.random() < 0.5
            axes = ["requests"] if per_request else [] if flat else [tokens]
            clauses.append(p.clause("lengths per request" if per_request else "lengths",
                                    p.tensor("length", axes, p.integer())))
    out = p.tensor("out", [*shape, width], p.float())
    mask = p.tensor("mask", shape, "i1") if p.rng.random() < 0.4 else None
    outs = p.clause("outs", out) + (" " + p.clause("mask", mask) if mask else "")
    p.op(["rows", "valid"] if mask else ["rows"],
         f"dsv4.paged_gather {cache}[{indices[0]}] {' '.join(clauses)} {outs} : {cache_kind}, {indices[1]}",
         out[1], *([mask[1]] if mask else []))


def append(p):
    kind = p.float()
    width, page = p.rng.choice((64, 72, 512)), p.rng.choice((1, 16, 64))
    cache, cache_kind = p.cache("cache", page, f'[<"row" : {width} x {kind} in row>]')
    tokens = p.dim("tokens", 0, 1, 7, 70)
    indices = p.tensor("indices", [tokens], p.integer())
    extra = p.rng.choice((0, 0, 8))
    row = p.tensor("row", [tokens, width + extra], kind)
    clauses = ""
    if p.rng.random() < 0.5:
        ring = page * 2
        clauses = f" ring {ring} "
        if p.rng.random() < 0.6:
            requests = p.dim("requests", 1, 3)
            clauses += p.clause("requests", p.tensor("request", [tokens], p.integer()))
            if p.rng.random() < 0.5:
                clauses += " " + p.clause("pages", p.tensor("table", [requests, p.dim("max_pages", 2, 3)], p.integer()))
            clauses += " " + p.clause("lengths", p.tensor("length", [requests], p.integer()))
        else:
            clauses += p.clause("lengths", p.tensor("length", [tokens], p.integer()))
    elif p.rng.random() < 0.5:
        clauses = " unique"
    columns = f" columns [{p.rng.choice((0, extra))}]" if extra else ""
    p.body.append(f"  dsv4.paged_append {cache}[{indices[0]}]{clauses} {p.clause('fields', row)}{columns}"
                  f" : {cache_kind}, {indices[1]}")


def row_chain(p):
    """Norm, rotation and transform, one to three of them, in one kernel."""
    width = p.rng.choice((64, 128, 512))
    shape = [p.dim("tokens", 0, 1, 6, 40)] + ([p.dim("heads", 1, 5)] if p.rng.random() < 0.5 else [])
    value = p.tensor("x", [*shape, width], p.float())
    of, steps = value, p.rng.sample(["norm", "rope", "hadamard"], p.rng.randint(1, 3))
    for i, step in enumerate(steps):
        last = i + 1 == len(steps)
        element = p.float()
        out = (p.tensor("out", [*shape, width], element) if last
               else p.empty(f"t{i}", of, range(len(shape)), [*shape, width], element))
        if step == "norm":
            weight = p.clause("weight", p.tensor("weight", [width], p.float())) if p.rng.random() < 0.6 else ""
            text = f"dsv4.rms_norm {value[0]} {weight} {p.clause('outs', out)} {{eps = 1.0e-06 : f32}}"
        elif step == "rope":
            table = p.tensor("angles", [p.dim("positions", 1, 30), p.rng.choice((32, 64))], "f32")
            positions = p.tensor("position", shape, p.integer())
            inverse = "inverse " if p.rng.random() < 0.3 else ""
            text = (f"dsv4.rope {value[0]} {inverse}{p.clause('table', table)} {p.clause('positions', positions)} "
                    f"{p.clause('outs', out)}")
        else:
            text = f"dsv4.hadamard {value[0]} {p.clause('outs', out)} {{scale = 0.125 : f32}}"
        line = f"{text} : {value[1]}"
        if last:
            p.op([f"v{i}"], line, out[1])
        else:
            p.body.append(f"  %v{i} = {line}")
        value = (f"%v{i}", out[1])


def quantize(p):
    group, width, rows = p.rng.choice((32, 64, 128)), p.rng.choice((128, 256, 512)), p.dim("rows", 0, 1, 9, 50)
    scale = p.rng.choice(("f32", "f8E8M0FNU"))
    x = p.tensor("x", [rows, width], p.float())
    data = p.tensor("data", [rows, width], "f8E4M3FN")
    scales = p.tensor("scales", [rows, width // group], scale)
    format = f"format = #dsv4.format<f8E4M3FN, [<{scale} per {group}>]>"
    rounding = ", rounding = up_pow2" if scale == "f8E8M0FNU" else ""
    p.op(["q", "s"], f"dsv4.quantize {x[0]} outs({data[0]}, {scales[0]} : {data[1]}, {scales[1]}) {{{format}, "
         f"recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = divide{rounding}>}} : {x[1]}", data[1], scales[1])


def dequantize(p):
    group, width, rows = p.rng.choice((32, 64, 128)), p.rng.choice((128, 256, 512)), p.dim("rows", 0, 1, 9, 50)
    scale = p.rng.choice(("f32", "f8E8M0FNU"))
    data = p.tensor("data", [rows, width], "f8E4M3FN")
    scales = p.tensor("scales", [rows, width // group], scale)
    out = p.tensor("out", [rows, width], p.float())
    p.op(["v"], f"dsv4.dequantize {data[0]} {p.clause('scales', scales)} {p.clause('outs', out)} "
         f"{{format = #dsv4.format<f8E4M3FN, [<{scale} per {group}>]>}} : {data[1]}", out[1])


def topk(p):
    element, k = p.rng.choice(("f32", "f32", "bf16", "f16")), p.rng.choice((1, 6, 33, 512, 700))
    rows, columns = p.dim("rows", 0, 1, 3, 9), p.dim("columns", 1, 100, 1000, 5000)
    p.policies |= {"columns", "rows"} if p.rng.random() < 0.7 else {"columns"}
    scores = p.tensor("scores", [rows, columns], element)
    clauses = []
    if p.rng.random() < 0.7:
        clauses.append(p.clause("lengths", p.tensor("length", [rows], p.integer())))
        if p.rng.random() < 0.3:
            clauses.append("ratio 4")
    outs = [p.tensor("chosen", [rows, k], p.rng.choice(("i32", "i64", "ui32")))]
    if p.rng.random() < 0.4:
        outs.append(p.tensor("values", [rows, k], p.rng.choice((element, "f32"))))
    if p.rng.random() < 0.4:
        requests = p.rng.random() < 0.5
        tables = p.dim("requests", 1, 4) if requests else rows
        clauses.append(p.clause("pages", p.tensor("table", [tables, p.dim("max_pages", 1, 20, 90)], p.integer())))
        clauses.append("page 64")
        if requests:
            clauses.append(p.clause("requests", p.tensor("request", [rows], p.integer())))
        outs.append(p.tensor("slots", [rows, k], p.rng.choice(("i32", "i64", "ui32"))))
    order = p.rng.choice(("unordered", "sorted", "index_ascending"))
    p.op([f"r{i}" for i in range(len(outs))],
         f"dsv4.topk {scores[0]} {' '.join(clauses)} order {order} {p.rng.choice(('', 'smallest'))} "
         f"outs({', '.join(o for o, _ in outs)} : {', '.join(t for _, t in outs)}) : {scores[1]}",
         *[t for _, t in outs])


def router(p):
    experts, k, tokens = p.rng.choice((64, 256, 384)), p.rng.choice((1, 6, 8)), p.dim("tokens", 0, 1, 5, 77)
    logits = p.tensor("logits", [tokens, experts], p.float())
    ids = p.tensor("experts", [tokens, k], p.rng.choice(("i32", "i64", "ui32")))
    weights = p.tensor("weights", [tokens, k], "f32")
    row = p.empty("row", logits, [0], [tokens, experts], "f32")
    p.body.append(f"  %scores = dsv4.gate {logits[0]} function {p.rng.choice(('sqrt_softplus', 'sigmoid', 'softmax'))} "
                  f"outs({row[0]} : {row[1]}) : {logits[1]}")
    if p.rng.random() < 0.5:
        table = p.tensor("table", [p.dim("vocabulary", 1, 100), k], ids[1].rstrip(">").split("x")[-1].lstrip("u"))
        tokens_ids = p.tensor("ids", [tokens], p.integer())
        p.op(["found"], f"dsv4.lookup {table[0]}[{tokens_ids[0]}] outs({ids[0]} : {ids[1]}) : {table[1]}, {tokens_ids[1]}",
             ids[1])
    else:
        bias = p.clause("bias", p.tensor("bias", [experts], "f32")) if p.rng.random() < 0.5 else ""
        p.op(["found"], f"dsv4.topk %scores {bias} order sorted outs({ids[0]} : {ids[1]}) : {row[1]}", ids[1])
    p.op(["shares"], f"dsv4.route_weights %scores[%found] {p.rng.choice(('', 'renormalize'))} scale 1.5 "
         f"outs({weights[0]} : {weights[1]}) : {row[1]}, {ids[1]}", weights[1])


def compress(p):
    channels, tokens, entries = p.rng.choice((64, 128)), p.dim("tokens", 0, 1, 20, 90), p.dim("entries", 0, 1, 7)
    overlap = p.rng.random() < 0.5
    columns = 2 * channels if overlap else channels
    element = p.rng.choice(("f32", "bf16", "f16"))
    values = p.tensor("values", [tokens, columns], element)
    scores = p.tensor("scores", [tokens, columns], element)
    plan = p.tensor("plan", [entries, 4], p.integer())
    clauses = [p.clause("plan", plan)]
    if p.rng.random() < 0.7:
        clauses.append(p.clause("bias", p.tensor("bias", [4, columns], "f32")))
    if p.rng.random() < 0.7:
        cache, kind = p.cache("state", 8, f'[<"values" : {columns} x {element} in row>, '
                              f'<"scores" : {columns} x {element} in row>]')
        clauses.append(f"state({cache} : {kind})")
        if p.rng.random() < 0.5:
            clauses.append("ring 8")
        else:
            clauses.append(p.clause("pages", p.tensor("table", [p.dim("requests", 1, 3), p.dim("max_pages", 1, 9)],
                                                      p.integer())))
    out = p.tensor("out", [entries, channels], p.float())
    p.op(["pooled"], f"dsv4.compress {values[0]}, {scores[0]} window 4 {'overlap' if overlap else ''} "
         f"{' '.join(clauses)} {p.clause('outs', out)} : {values[1]}, {scores[1]}", out[1])


def two_norms(p):
    """Kernels that do not depend on each other, and may have one launch."""
    for name, rows in (("a", p.dim("rows", 0, 1, 9, 50)), ("b", p.dim("others", 0, 1, 30))):
        width = p.rng.choice((64, 128, 512))
        shape = [rows] + ([p.rng.choice((3, 4))] if p.rng.random() < 0.5 else []) + [width]
        x, out = p.tensor(f"x_{name}", shape, p.float()), p.tensor(f"out_{name}", shape, p.float())
        p.op([f"v_{name}"], f"dsv4.rms_norm {x[0]} {p.clause('outs', out)} {{eps = 1.0e-06 : f32}} : {x[1]}", out[1])


FAMILIES = (gather, append, row_chain, quantize, dequantize, topk, router, compress, two_norms)


def make(seed, index):
    """Program `index` of `seed`: its text, and the options of dsv4-run that give its extents."""
    rng = random.Random(f"{seed}/{index}")
    program = Program(rng)
    FAMILIES[index % len(FAMILIES)](program)
    options = [f"--random={rng.randrange(1, 1000)}", "--check"]
    options += [f"--dim={name}={extent}" for name, extent in program.dims.items()]
    return str(program), options


def run(arguments, folder, index):
    text, options = make(arguments.seed, index)
    path = os.path.join(folder, f"{index}.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    command = ["dsv4-run", path, *options, *arguments.options]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if result.returncode == 0:
        os.remove(path)
        return None
    return f"program {index}: {' '.join(command)}\n{text}{result.stdout}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="folder that failing programs stay in")
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            indices = range(arguments.first, arguments.first + arguments.count)
            kept = arguments.keep or folder
            for failure in pool.map(lambda index: run(arguments, kept, index), indices):
                if failure:
                    failures += 1
                    print(failure)
    print(f"{arguments.count - failures} of {arguments.count} programs match the oracle")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
