"""Which functions of the device library kernels call."""

import concurrent.futures
import glob
import os
import re
import subprocess

# Where the compiler names functions.
EMITTERS = "lib/**/*.cpp"
LIBRARY = "runtime/device/dsv4/**/*.cuh"


def read_all(tree, pattern):
    text = []
    for path in sorted(glob.glob(os.path.join(tree, pattern), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text.append(file.read())
    return "\n".join(text)


def library_types(tree):
    """The types and enumerators of the device library."""
    return set(re.findall(r"\b(?:struct|enum class|class|enum|using)\s+(\w+)", read_all(tree, LIBRARY)))


def entry_points(tree):
    """The functions of the device library that kernels may call: those that the compiler has the name of."""
    named = set(re.findall(r"\"dsv4::(\w+)", read_all(tree, EMITTERS)))
    return named - library_types(tree)


def called_functions(source):
    """What the kernels of a source call, without the device library before them."""
    kernels = re.findall(r'^extern "C" __global__.*?^}', source, re.M | re.S)
    return set(re.findall(r"\bdsv4::(\w+)\s*[<(]", "\n".join(kernels)))


def emit(compiler, case, tree, arch):
    """The source of a case. Raises an error if the program is refused."""
    text = case.text
    if case.path:
        with open(os.path.join(tree, case.path), encoding="utf-8") as file:
            text = file.read()
    policies = re.findall(r"([\w.]+) = #dsv4\.policy<", text)
    exact = case.exact or {name: extent for name, extent in case.dims.items() if name in policies}
    command = [compiler, "-", "--target=cuda", f"--arch={arch}", "--emit-source", "--no-cache", "-o", "-"]
    command += [f"--dim={name}={extent}" for name, extent in exact.items()]
    command += [f"--entry={case.entry}"] if case.entry else []
    command += [option for option in case.options if option.startswith("--schedule")]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{case.name}: {done.stderr.strip()[:500]}")
    return done.stdout


def calls_of(compiler, cases, tree, arch, jobs=2):
    """The functions that each case calls, in order; what went wrong."""
    errors = []

    def look(case):
        try:
            return called_functions(emit(compiler, case, tree, arch))
        except RuntimeError as error:
            errors.append(str(error))
            return set()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(look, cases)), errors
