# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Children of fork(), and the processes of a compile."""

import os
import signal
import subprocess
import sys
import time

import pytest

import dsv4


def run_python(code, **variables):
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300
    )


FORK = """
import os, signal, threading
import numpy as np
import dsv4
scores = np.random.default_rng(1).standard_normal((64, 4000), np.float32)
expected = dsv4.topk(scores, 5)
stop = False
def work():
    while not stop:
        dsv4.topk(scores, 5)
thread = threading.Thread(target=work)
thread.start()
results = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        signal.alarm(40)
        os._exit(0 if (dsv4.topk(scores, 5) == expected).all() else 1)
    results.append(os.waitpid(child, 0)[1])
stop = True
thread.join()
print(results)
"""


def test_a_forked_child_launches_while_another_thread_was_launching():
    done = run_python(FORK)
    assert done.stdout == "[0, 0, 0, 0, 0, 0]\n", done.stderr


# ===-- The processes of a compile ---------------------------------------------===

# A C++ compiler with a process of its own, neither of which ends. It says who they are, and its
# parent, which watches it.
ENDLESS = """#!/bin/sh
sleep 1000 &
echo $$ $! $PPID > {folder}/new && mv {folder}/new {folder}/pids
wait
"""

COMPILE = "import numpy, dsv4; dsv4.topk(numpy.zeros((1, 300), 'f4'), 3)"


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            # Nobody may wait for it where the tests run.
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def comes_true(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def parent_of(process):
    with open(f"/proc/{process}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


@pytest.fixture
def endless(tmp_path):
    """The environment of a compile that does not end."""
    compiler = tmp_path / "c++"
    compiler.write_text(ENDLESS.format(folder=tmp_path))
    compiler.chmod(0o700)
    return {
        **os.environ,
        "DSV4_HOST_CXX": str(compiler),
        "DSV4_CACHE_DIR": str(tmp_path / "cache"),
        "TMPDIR": str(tmp_path),
    }


def processes_of(folder):
    """The compilers and their watchers, once they run."""
    assert comes_true((folder / "pids").exists)
    found = [int(each) for each in (folder / "pids").read_text().split()]
    found.append(parent_of(found[2]))
    assert all(map(is_running, found))
    (folder / "pids").unlink()
    return found


def ends(processes):
    return comes_true(lambda: not any(map(is_running, processes)))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("thread", ["main", "other"])
def test_a_process_that_ends_takes_its_compilers_along(tmp_path, endless, how, thread):
    code = COMPILE
    if thread == "other":
        code = f"import threading\nthreading.Thread(target=exec, args=({code!r},)).start()"
    with subprocess.Popen([sys.executable, "-c", code], env=endless) as python:
        compilers = processes_of(tmp_path)
        python.send_signal(how)
    assert ends(compilers)


def test_a_compiler_behind_a_script_ends_too(tmp_path, endless):
    (tmp_path / "wrapper").write_text('#!/bin/sh\n"$COMPILER" "$@"\nexit $?\n')
    (tmp_path / "wrapper").chmod(0o700)
    compiler = os.path.join(os.path.dirname(dsv4.__file__), "dsv4-compile")
    endless |= {"COMPILER": compiler, "DSV4_COMPILER": str(tmp_path / "wrapper")}
    with subprocess.Popen([sys.executable, "-c", COMPILE], env=endless) as python:
        compilers = processes_of(tmp_path)
        python.kill()
    assert ends(compilers)


INTERRUPT = """
import os, signal, sys, threading, time
import numpy, dsv4
# Who runs the tests in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _ in range(int(sys.argv[1])):
    def interrupt():
        while not os.path.exists(sys.argv[2]):
            time.sleep(0.01)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    sent = []
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    try:
        dsv4.topk(numpy.zeros((1, 300), "f4"), 3)
    except KeyboardInterrupt:
        print(time.monotonic() - sent[0], *open(sys.argv[2]).read().split())
    thread.join()
    os.unlink(sys.argv[2])
del os.environ["DSV4_HOST_CXX"]
assert dsv4.topk(numpy.zeros((1, 300), "f4"), 3).shape == (1, 3)
"""


def test_ctrl_c_ends_a_compile_at_once(tmp_path, endless):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT, "5", str(tmp_path / "pids")],
        env=endless, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 5
    # The machine may be busy in one of them.
    assert min(float(line[0]) for line in lines) < 0.2
    assert ends([int(each) for line in lines for each in line[1:]])


def test_a_handler_of_a_signal_runs_meanwhile(tmp_path, endless):
    code = f"""
import signal, numpy, dsv4
def handle(number, frame):
    raise TimeoutError("of the handler")
signal.signal(signal.SIGALRM, handle)
try:
    signal.setitimer(signal.ITIMER_REAL, 1)
    {COMPILE}
except TimeoutError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], env=endless, capture_output=True, text=True)
    assert done.stdout == "of the handler\n", done.stderr


def test_many_cold_processes_compile_once(tmp_path):
    code = COMPILE + "; c = dsv4.counters(); print(c['compiles'], c['disk_hits'])"
    environment = {**os.environ, "DSV4_CACHE_DIR": str(tmp_path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE)
        for _ in range(16)
    ]
    results = sorted(each.communicate()[0] for each in processes)
    assert results == [b"0 1\n"] * 15 + [b"1 0\n"]


def test_a_stopped_compiler_does_not_block_others(tmp_path, endless):
    with subprocess.Popen([sys.executable, "-c", COMPILE], env=endless) as python:
        compilers = processes_of(tmp_path)
        os.kill(compilers[-1], signal.SIGSTOP)
        # One that compiles with the same compiler has the same key.
        endless_one = (tmp_path / "c++").stat()
        (tmp_path / "c++.new").write_text(
            '#!/bin/sh\nexec c++ "$@"\n'.ljust(endless_one.st_size, "\n")
        )
        (tmp_path / "c++.new").chmod(0o700)
        os.utime(tmp_path / "c++.new", ns=(endless_one.st_atime_ns, endless_one.st_mtime_ns))
        os.replace(tmp_path / "c++.new", tmp_path / "c++")
        code = COMPILE + "; c = dsv4.counters(); print(c['compiles'], c['waits'], c['passed_by'])"
        begin = time.monotonic()
        done = subprocess.run([sys.executable, "-c", code], env=endless, capture_output=True)
        assert done.stdout == b"1 1 1\n", done.stderr
        assert time.monotonic() - begin < 50  # The wait is a minute at most.
        python.kill()
    assert ends(compilers)
