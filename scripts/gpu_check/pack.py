"""The binaries that gpu-check needs, stripped and compressed, in a folder that travels to a GPU."""

import lzma
import os
import shutil
import stat
import subprocess
import tempfile

# Where a build has them. All but the first are there only if GoogleTest is, and without sanitizers.
BINARIES = {"dsv4-run": "bin", "dsv4-integration-tests": "bin", "dsv4-fuzz": "bin",
            "dsv4RuntimeTests": os.path.join("test", "Unit", "Runtime")}
NEEDED = "dsv4-run"
SUFFIX = ".xz"


def pack(build, folder, commit):
    """Writes the folder; returns its size in bytes."""
    os.makedirs(folder, exist_ok=True)
    total = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, folder_in in BINARIES.items():
            path, stripped = os.path.join(build, folder_in, name), os.path.join(scratch, name)
            if not os.path.exists(path):
                if name == NEEDED:
                    raise FileNotFoundError(f"{path}: build it first")
                print(f"gpu-check: left out {name}, which {build} does not have")
                continue
            subprocess.run(["strip", "-o", stripped, path], check=True)
            packed = os.path.join(folder, name + SUFFIX)
            with open(stripped, "rb") as source, lzma.open(packed, "wb", preset=1) as target:
                shutil.copyfileobj(source, target)
            total += os.path.getsize(packed)
    with open(os.path.join(folder, "commit"), "w", encoding="utf-8") as file:
        file.write(commit + "\n")
    return total


def unpack(folder, target):
    """Makes executables of what pack() has written; those that are not packed are used as they are."""
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(folder):
        path, base = os.path.join(folder, name), name.removesuffix(SUFFIX)
        if base not in BINARIES:
            continue
        result = os.path.join(target, base)
        if name.endswith(SUFFIX):
            with lzma.open(path) as source, open(result, "wb") as file:
                shutil.copyfileobj(source, file)
            os.chmod(result, os.stat(result).st_mode | stat.S_IXUSR)
        else:
            os.symlink(os.path.abspath(path), result)


def read_commit(folder):
    try:
        with open(os.path.join(folder, "commit"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def describe_commit(tree):
    """The commit of a tree, and whether it is changed; empty where git does not know."""
    def git(*arguments):
        done = subprocess.run(["git", "-C", tree, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""
    commit = git("rev-parse", "--short=12", "HEAD")
    return commit + (" and changes" if commit and git("status", "--porcelain") else "")
