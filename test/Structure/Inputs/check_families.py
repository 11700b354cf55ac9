"""Checks that generic code names no family of ops.

A family is a group of ops with a meaning of its own: caches, rows, windows, selection, routing. Ops
of a kernel (`dsv4.kernel`, `buffer`, `extent`, ...) and ops of elements (`row.read`, `reduce`, ...)
are known to all passes.

    check_families.py SOURCE            includes and names of op classes in the sources
    check_families.py SOURCE --libraries BUILD NM   symbols of op classes in the libraries
"""

import argparse
import os
import re
import subprocess
import sys

# Generic code, as folders or files: what is directly in a folder, and of other folders everything.
FLAT = ["lib/Transforms", "lib/Target/CUDA"]
DEEP = ["lib/Target/CUDA/Dialect", "lib/Transforms/Distribution", "lib/JIT", "lib/Signature", "lib/Pipelines", "lib/Support", "runtime/lib"]
FILES = [
    "lib/Conversion/DSV4ToRow/DSV4ToRow.cpp",
    "lib/Conversion/DSV4ToRow/RowContext.cpp",
    "lib/Dialect/DSV4/Rowwise.cpp",
    "lib/Schedule/Schedule.cpp",
    "lib/Schedule/ScheduleKind.cpp",
    "lib/Schedule/ScheduleTable.cpp",
    "include/dsv4/Conversion/RowContext.h",
    "include/dsv4/Dialect/Access.h",
    "include/dsv4/Dialect/DSV4/Base.h",
    "include/dsv4/Dialect/DSV4/KernelOps.h",
    "include/dsv4/Dialect/RecordLayout.h",
    "include/dsv4/Dialect/Row/Base.h",
    "include/dsv4/Passes.h",
    "include/dsv4/Signature.h",
    "include/dsv4/Transforms/Distribution.h",
    "include/dsv4/Transforms/DistributionModel.h",
]
LIBRARIES = [
    "lib/JIT/libdsv4_jit.a",
    "lib/Pipelines/libdsv4_pipelines.a",
    "lib/Signature/libdsv4_signature.a",
    "lib/Target/libdsv4_target_cuda.a",
    "lib/Transforms/libdsv4_transforms.a",
]
# What families there are follows from the definitions.
FAMILY_FILES = {
    "dsv4": ["Cache", "Row", "Window", "Select", "Score", "Route"],
    "row": ["Window", "Select", "Score"],
    "cuda": ["Window", "Select", "Tile", "Score"],
}
# Ops of one family that are defined among those of memory, and the files that may name them: models of
# distribution, and what lowerings build them with.
SINGLE_OPS = {"row": ["MayWriteOp", "IsLastOp", "SearchOp"], "cuda": ["InPoolOp", "IsLastOp", "SearchOp"]}
BUILDERS = ["lib/Transforms/Distribution/Scalars.cpp", "lib/Conversion/DSV4ToRow/RowContext.cpp"]
FOLDERS = {"dsv4": "DSV4", "row": "Row", "cuda": "CUDA"}
HEADERS = re.compile(
    r'#include "(?:dsv4/Dialect/(?:DSV4|Row|CUDA)\.h|dsv4/Dialect/DSV4/(?:Cache|Row|Window|Select|Score|Route)Ops\.h'
    r'|dsv4/Dialect/Row/(?:Window|Select|Score)Ops\.h|dsv4/Dialect/CUDA/(?:Window|Select|Tile|Score)Ops\.h)"'
)


def find_classes(source):
    """Op classes of families, by the namespace they are in."""
    classes = {}
    for dialect, families in FAMILY_FILES.items():
        folder = FOLDERS[dialect]
        for family in families:
            path = os.path.join(source, "dialects", folder, f"{folder}{family}Ops.td")
            with open(path, encoding="utf-8") as stream:
                found = re.findall(rf"^def {folder}_(\w+Op) :", stream.read(), flags=re.M)
            if not found:
                sys.exit(f"{path}: no op is defined there")
            classes.setdefault(dialect, []).extend(found)
    return classes


def list_sources(source):
    for folder in FLAT:
        for name in sorted(os.listdir(os.path.join(source, folder))):
            if name.endswith((".cpp", ".h")):
                yield f"{folder}/{name}"
    for folder in DEEP:
        for parent, _, names in sorted(os.walk(os.path.join(source, folder))):
            for name in sorted(names):
                if name.endswith((".cpp", ".h")):
                    yield os.path.relpath(os.path.join(parent, name), source)
    yield from FILES


def check_sources(source, classes):
    # The namespace tells ops of one name apart.
    dsv4_names = "|".join(classes["dsv4"])
    row_names = "|".join(classes["row"])
    cuda_names = "|".join(classes["cuda"])
    names = re.compile(
        rf"(?<!cuda::)(?<!row::)\b(?:{dsv4_names})\b|\brow::(?:{row_names})\b|\bcuda::(?:{cuda_names})\b"
    )
    single = re.compile("|".join(rf"\b{dialect}::(?:{'|'.join(ops)})\b" for dialect, ops in SINGLE_OPS.items()))
    errors = []
    for path in list_sources(source):
        with open(os.path.join(source, path), encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                code = line.split("//")[0]
                if HEADERS.search(line):
                    errors.append(f"{path}:{number}: includes ops of a family: {line.strip()}")
                found = names.findall(code)
                if path not in BUILDERS:
                    found += single.findall(code)
                for name in found:
                    errors.append(f"{path}:{number}: names the op class {name}")
    return errors


def check_libraries(build, nm, classes):
    patterns = [rf"\bdsv4::(?:{'|'.join(classes['dsv4'])})\b"]
    patterns += [rf"\bdsv4::{dialect}::(?:{'|'.join(classes[dialect])})\b" for dialect in ("row", "cuda")]
    names = re.compile("|".join(patterns))
    single = re.compile("|".join(rf"\bdsv4::{dialect}::(?:{'|'.join(ops)})\b" for dialect, ops in SINGLE_OPS.items()))
    builders = [os.path.basename(path) + ".o" for path in BUILDERS]
    errors = []
    for library in LIBRARIES:
        path = os.path.join(build, library)
        if not os.path.exists(path):
            sys.exit(f"{path}: is not there")
        member = ""
        text = subprocess.run([nm, "-C", path], check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            if line.endswith(".o:"):
                member = line[:-1]
            else:
                found = names.search(line)
                if not found and os.path.basename(member) not in builders:
                    found = single.search(line)
                if found:
                    errors.append(f"{library}({member}): has a symbol of {found.group()}: {line.strip()[:160]}")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--libraries", nargs=2, metavar=("BUILD", "NM"))
    arguments = parser.parse_args()
    classes = find_classes(arguments.source)
    if arguments.libraries:
        errors = check_libraries(*arguments.libraries, classes)
    else:
        errors = check_sources(arguments.source, classes)
    print("\n".join(errors) if errors else "generic code names no family of ops")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
