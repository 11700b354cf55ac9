"""Installs the wheel into a fresh environment, far from the build, and uses it there.

    use_wheel.py hidden | seen  WHEEL SOURCE BUILD

With `hidden`, the package does not see the folders of the source and of the build while it runs. In
any case no file of the package may name them.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

from hiding import build_folders, hiding

METADATA = """
from importlib import metadata
import dsv4
assert metadata.version("dsv4") == dsv4.__version__
terms = [file.name for file in metadata.files("dsv4") if file.parent.name == "licenses"]
print("terms:", *sorted(terms))
print("extras:", *metadata.metadata("dsv4").get_all("Provides-Extra"))
"""
TESTS = ["test_docs.py", "test_main.py", "test_stubs.py", "test_kernels.py", "test_rows.py"]


def clean_environment(folder):
    """Without what a shell or the tests of the build have set."""
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "CUDA_HOME") if name in os.environ}
    # No tool of the build.
    keep["PATH"] = os.pathsep.join(
        each for each in keep["PATH"].split(os.pathsep) if not each.startswith(BUILD)
    )
    return {**keep, "HOME": folder, "DSV4_CACHE_DIR": folder + "/cache"}


def install(folder):
    """A fresh environment with the wheel, NumPy and pytest, and no network."""
    tools = os.path.join(SOURCE, "build", "wheel-tools")
    environment = os.path.join(folder, "environment")
    subprocess.run([tools + "/bin/python", "-m", "venv", environment], check=True)
    subprocess.run(
        [environment + "/bin/python", "-m", "pip", "install", "--quiet", "--no-index",
         "--disable-pip-version-check", "--find-links", tools + "/wheels", "--requirement",
         os.path.join(SOURCE, "python", "wheel", "test-requirements.txt"), WHEEL],
        check=True,
    )  # fmt: skip
    return environment


def check_paths(environment):
    [package] = glob.glob(environment + "/lib/python3*/site-packages/dsv4")
    for root, _, names in os.walk(package):
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                contents = file.read()
            for path in (SOURCE, BUILD):
                if path.encode() in contents:
                    sys.exit(f"{name} of the wheel names {path}")


def main():
    with tempfile.TemporaryDirectory(prefix="dsv4-wheel-") as folder:
        environment = install(folder)
        check_paths(environment)
        tree = os.path.join(folder, "tree")
        for each in ("python/tests", "docs"):
            shutil.copytree(os.path.join(SOURCE, each), os.path.join(tree, each))
        hide = hiding(build_folders(SOURCE, BUILD)) if MODE == "hidden" else []
        if MODE == "hidden" and not hide:
            sys.exit("this machine cannot hide the build")
        python = [*hide, environment + "/bin/python", "-B"]
        tests = [os.path.join(tree, "python", "tests", each) for each in TESTS]
        for words in (
            ["-m", "dsv4"], ["-c", METADATA],
            ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--needs=", *tests],
        ):  # fmt: skip
            done = subprocess.run([*python, *words], cwd=folder, env=clean_environment(folder))
            if done.returncode:
                return done.returncode
    return 0


MODE = sys.argv[1]
WHEEL, SOURCE, BUILD = map(os.path.realpath, sys.argv[2:])
sys.exit(main())
