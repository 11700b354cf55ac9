# Kills a command, by SIGKILL, while its host compiler runs, which must end too.
import os
import signal
import subprocess
import sys
import time

tmp, command = sys.argv[1], sys.argv[2:]
ids = tmp + ".ids"
compiler = tmp + ".cxx"
with open(compiler, "w") as file:
    file.write(f"#!/bin/sh\nsleep 1000 &\necho $$ $! > {ids}.new\n")
    file.write(f"mv {ids}.new {ids}\nwait\n")
os.chmod(compiler, 0o700)
environment = dict(os.environ, TMPDIR=tmp, DSV4_HOST_CXX=compiler, DSV4_CACHE_DIR="")
run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def wait_until(condition, what):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    sys.exit(f"never came true: {what}")


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


wait_until(lambda: os.path.exists(ids), "the compiler runs")
os.kill(run.pid, signal.SIGKILL)
run.wait()
with open(ids) as file:
    processes = file.read().split()
wait_until(lambda: not any(map(is_running, processes)), "the compiler ends")
