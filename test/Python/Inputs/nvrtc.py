"""Compiles a program for CUDA in a fresh environment, and says which NVRTC did it.

    nvrtc.py toolkit | cu13 | cuda_nvrtc | missing  PACKAGE FOLDER

cu13 and cuda_nvrtc are where the wheels of NVRTC 13 and 12 have it: the environment gets such a
folder, with links to the NVRTC of this machine.
"""

import glob
import os
import shutil
import subprocess
import sys

from hiding import hiding, nvrtc_folders

SONAMES = {"cu13": "libnvrtc.so.13", "cuda_nvrtc": "libnvrtc.so.12"}
CODE = """
import dsv4, sys
from dsv4._source import compiler_versions
from dsv4._selftest import _PROGRAM
print(compiler_versions()[1][1])
try:
    kernel = dsv4.compile(_PROGRAM, target="cuda", arch="sm_90a")
    print("compiled for", kernel.target, kernel.arch)
except dsv4.Error as error:
    print(f"{type(error).__name__} ({error.id}): {error}")
"""


def add_nvrtc(environment, wheel, python):
    """What a wheel of NVRTC would install."""
    line = python("from dsv4._source import compiler_versions; print(compiler_versions()[1][1])")
    real = os.path.realpath(line.split(": ", 1)[1].strip())
    [packages] = glob.glob(environment + "/lib/python3*/site-packages")
    folder = os.path.join(packages, "nvidia", wheel, "lib")
    os.makedirs(folder)
    os.symlink(real, os.path.join(folder, SONAMES[wheel]))


def main():
    mode, package, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    environment = os.path.join(folder, "environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": package, "DSV4_CACHE_DIR": folder}
    hide = hiding(nvrtc_folders() or ["/mnt"]) if mode == "missing" else []
    for name in ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH"):
        if mode != "missing" and name in os.environ:
            variables[name] = os.environ[name]

    def python(code):
        words = [*hide, environment + "/bin/python", "-B", "-c", code]
        done = subprocess.run(
            words, env=variables, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    if mode in SONAMES:
        add_nvrtc(environment, mode, python)
    print(python(CODE), end="")


main()
