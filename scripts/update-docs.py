#!/usr/bin/env python3
"""Fills in the generated parts of the pages.

usage: scripts/update-docs.py [OPTION]... [PAGE]...

A page holds prose and regions of the form

    <!-- generated: KIND ARGUMENT... -->
    ...
    <!-- end generated -->

What is between the two lines is written by this script and by nobody else; the
prose around it is left alone. Without PAGE, all pages that have such regions.

  --bin=DIR     the tools; else those on PATH, else build/release/bin
  --output=DIR  write the pages there and leave the tree as it is
  --keep=KIND   leave regions of that kind as they are
  --check       write nothing; fail, and print the difference, if a page would change

Kinds:

  ir PASS [OP]     examples/gather_kv.mlir after that pass of the pipeline (its
                   last run); only the op named OP, if one is given
  source FILE      the program of a file, without the comment above it
  cuda [example]   the source of the kernel of that example, or of the program in the
                   last ```mlir block above
  error            what dsv4-opt says of the program in the last ```mlir block
  run COMMAND      a command of the tools and what it prints; times, paths and
                   keys are masked
  records          the table of all known records
  record NAME      the fields of one record
  dialect NAME     the reference of a dialect
  passes           the reference of the passes
  methods FILE     the methods of the interfaces in an ODS file
  bench [KIND]     the newest file of bench/results as tables; of those that end in
                   -KIND, if one is given
  roofline [PREFIX [KIND]]  the picture that was made of it, PREFIX before its path
"""

import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN = re.compile(r"^<!-- generated: (.*) -->$")
END = "<!-- end generated -->"
EXAMPLE = "examples/gather_kv.mlir"
PIPELINE = "--dsv4-lower-to-cuda-pipeline=dims=topk=512 arch=sm_90a"
WIDTH = 100

options = None


class Failure(Exception):
    pass


def find_tool(name):
    """The path of a tool of ours or of LLVM."""
    places = [options.bin] if options.bin else [None, "build/release/bin"]
    for place in places + ["/usr/lib/llvm-22/bin"]:
        path = os.path.join(ROOT, place) if place else os.environ.get("PATH", "")
        found = shutil.which(name, path=path)
        if found:
            return found
    raise Failure(f"there is no {name}: build first, or give --bin=DIR")


def call(tool, *arguments, text=None, fails=False):
    """Standard output of a tool, or its errors where it is to fail."""
    done = subprocess.run(
        [find_tool(tool), *arguments], input=text, capture_output=True, text=True, cwd=ROOT
    )
    if (done.returncode != 0) != fails:
        raise Failure(f"{tool} {' '.join(arguments)}: {done.stderr or 'did not fail'}")
    return done.stderr if fails else done.stdout


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


# ===-- IR ------------------------------------------------------------------=== #


def breaks(line, begin):
    """Where a line of IR may be broken: position and how deep in brackets."""
    depth, quoted = 0, False
    for i, c in enumerate(line[:-1]):
        if c == '"':
            quoted = not quoted
        elif quoted or line[i - 1 : i + 1] == "->":
            continue
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        rest = line[i + 1 :]
        if not quoted and i > begin and rest[0] == " ":
            if c in ",)" or rest.startswith((" : ", " -> ")):
                yield i + 1, depth


def wrap(line):
    """Breaks a long line of IR, not within strings and as far out of brackets as
    can be."""
    indent = len(line) - len(line.lstrip())
    lines = []
    while len(line) > WIDTH:
        places = list(breaks(line, indent + WIDTH // 3))
        fitting = [place for place in places if place[0] <= WIDTH] or places[:1]
        if not fitting:
            break
        at = min(fitting, key=lambda place: (place[1], -place[0]))[0]
        lines.append(line[:at])
        line = " " * (indent + 4) + line[at:].strip()
    return lines + [line]


def tidy(text):
    """IR as a page shows it: no aliases of attributes, no `module`, no blanks in
    a row or at the end of a line, no line longer than a page is wide."""
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "//"))]
    if lines and lines[0].startswith("module"):
        lines = lines[1:-1]
    lines = textwrap.dedent("\n".join(lines)).splitlines()
    result = []
    for line in lines:
        blanks = len(line) - len(line.lstrip())
        line = " " * blanks + re.sub(r" +", " ", line.strip())
        result += wrap(line.replace(" >", ">"))
    return "\n".join(result)


def extract(text, name):
    """The op of that name with its region: the lines from the one that has the
    name to the one that closes it."""
    lines = text.splitlines()
    for begin, line in enumerate(lines):
        head = line.strip()
        if head.startswith(name + " ") or f"= {name} " in head:
            indent = len(line) - len(line.lstrip())
            for end in range(begin + 1, len(lines)):
                if lines[end].startswith(" " * indent + "}"):
                    return textwrap.dedent("\n".join(lines[begin : end + 1]))
            return line.strip()
    raise Failure(f"the IR has no {name}")


dumps = None


def dump_after(wanted):
    """The module after the last pass of that name, or after its run number N,
    counted from 1, if the name ends in :N."""
    global dumps
    if dumps is None:
        done = subprocess.run(
            [find_tool("dsv4-opt"), EXAMPLE, PIPELINE, "-o", os.devnull,
             "--mlir-disable-threading", "--mlir-print-ir-module-scope",
             "--mlir-print-ir-after-all", "--mlir-use-nameloc-as-prefix"],
            capture_output=True, text=True, cwd=ROOT)
        if done.returncode != 0:
            raise Failure(done.stderr)
        dumps = {}
        parts = re.split(r"^// -----// IR Dump After \w+ \(([\w-]+)\).*$\n", done.stderr, flags=re.M)
        for name, text in zip(parts[1::2], parts[2::2]):
            dumps.setdefault(name, []).append(text)
    name, _, number = wanted.partition(":")
    if name not in dumps:
        raise Failure(f"the pipeline has no pass {name}")
    return dumps[name][int(number or 0) - 1]


def block(language, text):
    return f"```{language}\n{text.rstrip()}\n```"


def make_ir(arguments, _):
    name, *op = arguments
    text = tidy(dump_after(name))
    return block("mlir", extract(text, op[0]) if op else text)


def make_source(arguments, _):
    lines = read(arguments[0]).splitlines()
    while lines and (lines[0].startswith("//") or not lines[0].strip()):
        lines.pop(0)
    return block("mlir", "\n".join(lines))


# ===-- Text ----------------------------------------------------------------=== #


def last_program(above):
    found = re.findall(r"^```mlir\n(.*?)^```$", above, flags=re.M | re.S)
    if not found:
        raise Failure("there is no ```mlir block above")
    return found[-1]


def make_cuda(arguments, above):
    source = read(EXAMPLE) if arguments else last_program(above)
    pipeline = PIPELINE if arguments else "--dsv4-lower-to-cuda-pipeline"
    # Locations carry the names that the text has.
    lowered = call("dsv4-opt", pipeline, "--mlir-print-debuginfo", text=source)
    return block("cuda", call("dsv4-translate", "--mlir-to-cuda", text=lowered))


def make_error(_, above):
    errors = call("dsv4-opt", text=last_program(above), fails=True)
    found = re.findall(r"^<stdin>:\d+:\d+: (error: .*)$", errors, flags=re.M)
    if not found:
        raise Failure(errors)
    return block("text", "\n".join(found[:1]))


# Numbers that differ from run to run.
MASKS = [
    (re.compile(r"\d+(\.\d+)? (ms|us|GB/s)\b"), r"… \2"),
    (re.compile(r"/\S*/v(\d+)/"), r"~/.cache/dsv4/v\1/"),
    (re.compile(r"llvmcache-([0-9a-f]{4})[0-9a-f]{60}"), "llvmcache-…"),
]

playground = None


def make_run(_, __, line=""):
    """Commands of a page run one after another in one directory, so that a later
    one sees the files and the cache of an earlier one."""
    tool, *arguments = shlex.split(line)
    done = subprocess.run(
        [find_tool(tool), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, cwd=playground,
        env={**os.environ, "DSV4_CACHE_DIR": os.path.join(playground, "cache")})
    output = done.stdout
    for pattern, replacement in MASKS:
        output = pattern.sub(replacement, output)
    output = output.replace(playground + "/", "")
    # One long line of a shell is two.
    command = line if len(line) < WIDTH - 4 else line.replace(" --dim ", " \\\n    --dim ", 1)
    return block("console", f"$ {command}\n{output}")


# ===-- Records -------------------------------------------------------------=== #

BITS = {"f4E2M1FN": 4, "i4": 4, "f8E4M3FN": 8, "f8E8M0FNU": 8, "bf16": 16, "f32": 32}
FIELD = re.compile(
    r'<"(?P<name>\w+)" : (?P<extent>\d+) x (?P<element>\w+) in (?P<place>\w+)'
    r'(?: scales "(?P<scales>\w+)" per (?P<group>\w+))?'
    r"(?: interleave (?P<interleave>\d+))?(?: at (?P<at>\d+))?(?: pad (?P<pad>\d+))?"
    r"(?P<high> high_first)?\s*>")

known = None


def known_records():
    """Every known record, as the compiler prints it, with byte offsets."""
    global known
    if known is not None:
        return known
    refused = call("dsv4-opt", text="func.func private @f(!dsv4.cache<1 x <no_such_record>>)", fails=True)
    names = re.search(r"known are (.*)", refused).group(1).split(", ")
    types = ", ".join(f"!dsv4.cache<64 x <{name}>>" for name in names)
    printed = call("dsv4-opt", text=f"func.func private @f({types})")
    known = {}
    for name in names:
        body = re.search(rf"^#{name} = #dsv4.record<\[(.*)\](?:, align (\d+))?>$", printed, flags=re.M)
        ends, fields, arrays = {"row": 0, "tail": 0}, [], 0
        matches = list(FIELD.finditer(re.sub(r" +", " ", body.group(1))))
        if len(matches) != body.group(1).count("<"):
            raise Failure(f"cannot read record {name}: {body.group(1)}")
        for match in matches:
            field = match.groupdict()
            field["bytes"] = int(field["extent"]) * BITS[field["element"]] // 8
            place, pad = field["place"], int(field["pad"] or 0)
            if place == "array":
                arrays += field["bytes"] if field["group"] != "tensor" else 0
            else:
                field["offset"] = int(field["at"]) if field["at"] else ends[place]
                ends[place] = max(ends[place], field["offset"] + field["bytes"] + pad)
            fields.append(field)
        align = int(body.group(2) or 1)
        per_entry = ends["row"] + ends["tail"]
        known[name] = {
            "fields": fields, "align": align, "bytes": per_entry + arrays,
            "page": -(-64 * per_entry // align) * align, **ends}
    return known


def describe_where(field, record):
    if field["place"] == "array":
        return "one array of one scale" if field["group"] == "tensor" else "array of its own"
    if field["place"] == "row":
        return f"row, byte {field['offset']}"
    return f"tail, byte {field['offset']}"


def describe_scales(field):
    if not field["scales"]:
        return "values"
    group = {"row": "one per entry", "tensor": "one per cache"}.get(field["group"], f"one per {field['group']}")
    extra = f", interleaved by {field['interleave']}" if field["interleave"] else ""
    return f"scales of `{field['scales']}`, {group}{extra}"


def make_record(arguments, _):
    record = known_records()[arguments[0]]
    lines = ["| field | elements | bytes | where | holds |", "|---|---|---|---|---|"]
    for field in record["fields"]:
        pad = f" + {field['pad']} unused" if field["pad"] else ""
        lines.append(
            f"| `{field['name']}` | {field['extent']} x `{field['element']}` | {field['bytes']}{pad} | "
            f"{describe_where(field, record)} | {describe_scales(field)} |")
    return "\n".join(lines)


def make_records(_, __):
    lines = ["| record | bytes per entry | row | tail | page aligned to | page of 64 | values per row |",
             "|---|---|---|---|---|---|---|"]
    for name, record in known_records().items():
        values = sum(int(f["extent"]) for f in record["fields"] if not f["scales"])
        lines.append(
            f"| [`{name}`](#{name}) | {record['bytes']} | {record['row'] or '–'} | {record['tail'] or '–'} | "
            f"{record['align']} | {record['page'] or '–'} | {values} |")
    return "\n".join(lines)


# ===-- Reference -----------------------------------------------------------=== #


def tablegen(file, *arguments):
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(find_tool("mlir-tblgen")))), "include")
    folders = [os.path.dirname(file), os.path.join(ROOT, "dialects", "DSV4"), include]
    text = call("mlir-tblgen", *arguments, file, *(word for folder in folders for word in ("-I", folder)))
    lines = [line.rstrip() for line in text.splitlines()]
    text = "\n".join(line for line in lines if line != "[TOC]" and "Autogenerated" not in line)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def make_dialect(arguments, _):
    name = arguments[0]
    folders = os.listdir(os.path.join(ROOT, "dialects"))
    folder = next((f for f in folders if f.lower() == name), name)
    text = tablegen(f"dialects/{folder}/{folder}Ops.td", "-gen-dialect-doc", f"-dialect={name}")
    # Errors name operands; here the column before does.
    return re.sub(r"^(\| `(\w+)` \| (?:variadic of )?)'\2', a ", r"\1", text, flags=re.M)


def make_passes(_, __):
    return tablegen("include/dsv4/Passes.td", "-gen-pass-doc")


def make_methods(arguments, _):
    lines = []
    for part in tablegen(arguments[0], "-gen-op-interface-docs").split("\n## ")[1:]:
        lines.append(f"* `{part.split(' ')[0]}`")
        for name, about in re.findall(r"#### `(\w+)`\n\n```c\+\+\n.*?```\n\n(.*?)\n\n", part + "\n\n", flags=re.S):
            text = " ".join(about.split()).rstrip(".")
            text = f"`{name}`: {text[0].lower() + text[1:]}."
            lines.append(textwrap.fill(text, 100, initial_indent="  * ", subsequent_indent="    ",
                                       break_long_words=False, break_on_hyphens=False))
    return "\n".join(lines)


# ===-- Measurements --------------------------------------------------------=== #


def newest_results(kind):
    """The newest file of a kind: with that after its date, `-writers` say, or
    nothing."""
    folder = os.path.join(ROOT, "bench", "results")
    name = re.compile(r".*-\d{4}-\d\d-\d\d" + (f"-{kind}" if kind else "") + r"\.json")
    files = sorted(f for f in os.listdir(folder) if name.fullmatch(f)) if os.path.isdir(folder) else []
    loaded = []
    for file in files:
        with open(os.path.join(folder, file), encoding="utf-8") as stream:
            data = json.load(stream)
        date = str(data.get("date", "")) if isinstance(data, dict) else ""
        loaded.append((date, file, data))
    return max(loaded, key=lambda entry: entry[:2])[1:] if loaded else (None, None)


def show(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return "–" if value is None else str(value)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(show(cell) for cell in row) + " |" for row in rows])


def make_bench(arguments, _):
    """The newest file that bench/run.py wrote: what was copied, the rows with the
    schedules of the built-in table, what a compile and a launch cost."""
    file, data = newest_results(arguments[0] if arguments else "")
    if file is None:
        return "No results have been recorded yet: `bench/results` is empty."
    dsv4, peers = data["dsv4"], data.get("peers", {}).get("rows", [])
    best = max(copy["tb_per_s"] for copy in dsv4["copies"])
    names = sorted({peer["peer"] for peer in peers})

    def ratio(row, peer):
        keys = ("what", "layout", "size", "l2")
        for other in peers:
            if other["peer"] == peer and all(other[key] == row[key] for key in keys):
                return other["us"] / row["us"]
        return None

    parts = [
        f"From `bench/results/{file}`: {dsv4['device']['name']}, driver {data['driver']}, {data['date']}, "
        f"commit {data['commit'][:12]}. Medians. Size is tokens with 512 rows each for a gather, tokens for an append, "
        "entries for a compression, segments for an online one, elements of a row for a top-k, tokens for a router, rows of 512 else; `cold` has "
        "distinct rows and results in every launch.",
        table(["kernel", "record", "size", "L2", "µs", "TB/s", "of the best copy", "a copy of as many bytes, µs",
               "empty kernel, µs"] + [f"{name} takes, times" for name in names] + ["equals the oracle"],
              [[row["what"], f"`{row['layout']}`", str(row["size"]), row["l2"], row["us"], row["tb_per_s"],
                row["tb_per_s"] / best, row["same_copy_us"], row["empty_pdl_us"]]
               + [ratio(row, name) for name in names] + [row["matches_oracle"]]
               for row in dsv4["rows"] if row["from_table"]]),
        "Copies of 1 GiB, at the beginning and at the end of the run:",
        table(["copy", "µs", "TB/s"], [[c["name"], c["us"], c["tb_per_s"]] for c in dsv4["copies"]]),
    ]
    if dsv4.get("compile"):
        parts.append(table(
            ["compile", "record", "passes and printing, ms", "NVRTC, ms", "NVRTC of an empty kernel, ms",
             "disk hit to launchable, ms"],
            [[c["what"], f"`{c['layout']}`", c["passes_ms"], c["nvrtc_ms"], c["nvrtc_empty_ms"], c["disk_hit_ms"]]
             for c in dsv4["compile"]]))
    if dsv4.get("dispatch"):
        held, bare = dsv4["dispatch"]["held_us"], dsv4["dispatch"]["bare_us"]
        parts.append(f"A launch of a loaded kernel takes {show(held)} µs of the calling thread, the bare driver call "
                     f"{show(bare)} µs.")
    return "\n\n".join(parts)


def make_roofline(arguments, _):
    prefix = arguments[0] if arguments else ""
    name = f"roofline-{arguments[1]}.png" if len(arguments) > 1 else "roofline.png"
    if not os.path.exists(os.path.join(ROOT, "bench/results", name)):
        return "The roofline picture appears here once `bench/results` has one."
    return f"![Bytes moved and time of every kernel, beside a copy]({prefix}bench/results/{name})"


# ===-- Pages ---------------------------------------------------------------=== #

MAKERS = {
    "ir": make_ir, "source": make_source, "cuda": make_cuda, "error": make_error,
    "records": make_records, "record": make_record, "dialect": make_dialect,
    "passes": make_passes, "methods": make_methods, "bench": make_bench, "roofline": make_roofline,
}


def update(text):
    result, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        line = lines[at]
        result.append(line)
        at += 1
        match = BEGIN.match(line)
        if line == END:
            raise Failure(f"line {at} is '{END}' of no region: its first marker is one line")
        if not match:
            continue
        end = at
        while end < len(lines) and lines[end] != END and not BEGIN.match(lines[end]):
            end += 1
        if end == len(lines) or lines[end] != END:
            raise Failure(f"'{line}' has no '{END}'")
        kind, _, rest = match.group(1).partition(" ")
        if kind in options.keep:
            result += lines[at : end + 1]
        elif kind == "run":
            result += ["", make_run(None, None, rest), "", END]
        elif kind in MAKERS:
            result += ["", MAKERS[kind](rest.split(), "\n".join(result)), "", END]
        else:
            raise Failure(f"'{kind}' is no kind of region")
        at = end + 1
    return "\n".join(result) + "\n"


def pages():
    found = ["README.md"]
    for folder, _, files in sorted(os.walk(os.path.join(ROOT, "docs"))):
        found += [os.path.relpath(os.path.join(folder, f), ROOT) for f in sorted(files) if f.endswith(".md")]
    return [page for page in found if os.path.exists(os.path.join(ROOT, page))]


def main():
    global options, playground
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="")
    parser.add_argument("--output", default="")
    parser.add_argument("--keep", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("page", nargs="*")
    options = parser.parse_args()
    stale = []
    for page in options.page or pages():
        before = read(page)
        with tempfile.TemporaryDirectory() as folder:
            playground = os.path.realpath(folder)
            for shown in ("examples", "test"):
                os.symlink(os.path.join(ROOT, shown), os.path.join(playground, shown))
            try:
                after = update(before)
            except Failure as failure:
                sys.exit(f"update-docs: {page}: {failure}")
        if after != before:
            stale.append(page)
            if options.check:
                sys.stdout.writelines(difflib.unified_diff(
                    before.splitlines(True), after.splitlines(True), page, "what the tools say now"))
        target = os.path.join(options.output or ROOT, page)
        if not options.check and (after != before or options.output):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(after)
    for page in stale:
        print(("stale: " if options.check else "updated: ") + page)
    if options.check and stale:
        sys.exit("update-docs: run scripts/update-docs.py")


if __name__ == "__main__":
    main()
