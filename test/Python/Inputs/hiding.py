"""Commands that see some folders empty, in a namespace of their own."""

import glob
import os
import re
import shutil
import subprocess

SCRIPT = 'while [ "$1" != -- ]; do mount -t tmpfs none "$1"; shift; done; shift; exec "$@"'


def hiding(folders):
    """Words to put before a command; none if this machine does not allow that."""
    words = ["unshare", "--map-root-user", "--mount", "sh", "-ec", SCRIPT, "sh", *folders, "--"]
    try:
        seen = subprocess.run([*words, "ls", *folders], capture_output=True, text=True, cwd="/")
    except OSError:
        return []
    files = [line for line in seen.stdout.splitlines() if line and line.rstrip(":") not in folders]
    return [] if seen.returncode or files else words


def nvrtc_folders():
    """Those of this machine where the compiler finds NVRTC without being told where."""
    places = ["/usr/local/cuda*/lib*", "/usr/local/cuda*/targets/*/lib"]
    places += [f"{root}/lib/python3*/*-packages/nvidia/*/lib" for root in ("/usr", "/usr/local")]
    files = [file for each in places for file in glob.glob(each + "/libnvrtc.so*")]
    ldconfig = shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if ldconfig:
        known = subprocess.run([ldconfig, "-p"], capture_output=True, text=True).stdout
        files += re.findall(r"=> (.*/libnvrtc\.so.*)", known)
    return sorted({os.path.dirname(os.path.realpath(each)) for each in files})


def build_folders(source, build):
    """What to hide of a build: one may be in the other."""
    return [each for each in sorted({source, build}) if not each.startswith(source + "/")]


def can_hide_build(source, build):
    return bool(hiding(build_folders(*map(os.path.realpath, (source, build)))))


def can_hide_nvrtc():
    folders = nvrtc_folders()
    # A folder of the system has what every program needs, too.
    if any(os.path.exists(os.path.join(each, "libc.so.6")) for each in folders):
        return False
    return bool(hiding(folders or ["/mnt"]))
