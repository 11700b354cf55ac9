# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Children of fork(), and the processes of a compile."""

import os
import subprocess
import sys


def run_python(code, **variables):
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
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
        signal.alarm(10)
        os._exit(0 if (dsv4.topk(scores, 5) == expected).all() else 1)
    results.append(os.waitpid(child, 0)[1])
stop = True
thread.join()
print(results)
"""


def test_a_forked_child_launches_while_another_thread_was_launching():
    done = run_python(FORK)
    assert done.stdout == "[0, 0, 0, 0, 0, 0]\n", done.stderr
