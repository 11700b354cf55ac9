#!/usr/bin/env python3
"""Kills processes that compile, and looks at what is left.

usage: kill_storm.py [--seed N] [--seconds N] [--processes N] --folder DIR EXAMPLES

All processes share one cache and one folder for temporary files. Most are killed after
a random time; the others must match the oracle. In the end more processes start, and
then there may be no temporary folder, no temporary file in the cache that is older than
an hour, no compiler that runs on, and every program must still match the oracle.
"""

import argparse
import glob
import os
import random
import subprocess
import sys
import threading
import time


class Storm:
    def __init__(self, options):
        self.options = options
        self.temporary = os.path.join(options.folder, "tmp")
        os.makedirs(self.temporary)
        self.program = os.path.join(options.examples, "dequant_nvfp4.mlir")
        self.environment = dict(os.environ, TMPDIR=self.temporary,
                                DSV4_CACHE_DIR=os.path.join(options.folder, "cache"))
        self.environment.pop("DSV4_HOST_CXX", None)
        self.kills = self.ends = 0
        self.wrong = []
        self.lock = threading.Lock()

    def start(self, schedule):
        """A run with one of a few schedules, and so keys."""
        threads = 32 << schedule
        return subprocess.Popen(
            ["dsv4-run", self.program, "--target=host", "--random=1", "--dim=rows=5", "--check",
             f"--schedule=#dsv4.schedule<threads = {threads}, parts = [#dsv4.rows<lanes = 4, vector = 8>]>"],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def finish(self, process):
        """Waits for a run and notes what is wrong with it."""
        try:
            output, _ = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            with self.lock:
                self.wrong.append("a process is stuck")
            return
        with self.lock:
            self.ends += 1
            if process.returncode != 0 or b"matches the oracle" not in output:
                self.wrong.append(f"ends with {process.returncode}: {output[-300:]!r}")

    def work(self, seed):
        rng = random.Random(seed)
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end:
            process = self.start(rng.randrange(5))
            if rng.random() < 0.25:
                self.finish(process)
                continue
            time.sleep(rng.random() * 0.25)
            process.send_signal(rng.choice([9, 9, 9, 15]))
            process.communicate()
            with self.lock:
                self.kills += 1

    def temporaries(self):
        """Temporary files in the cache."""
        return glob.glob(os.path.join(self.options.folder, "cache", "v4", "*", "llvmcache-*.*"))

    def compilers(self):
        """Processes of compilers that work for this storm."""
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as file:
                    environment = file.read()
                with open(os.path.join(os.path.dirname(path), "stat"), "rb") as file:
                    state = file.read().rsplit(b") ", 1)[1][:1]
            except OSError:
                continue
            if b"TMPDIR=" + self.temporary.encode() + b"/" in environment and state != b"Z":
                found.append(path.split("/")[2])
        return found

    def run(self):
        workers = [threading.Thread(target=self.work, args=(self.options.seed * 1000 + i,))
                   for i in range(self.options.processes)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        deadline = time.monotonic() + 10
        while self.compilers() and time.monotonic() < deadline:
            time.sleep(0.05)
        if left := self.compilers():
            self.wrong.append(f"compilers run on: {left}")
        for path in self.temporaries():
            os.utime(path, (0, 0))
        # The last schedule is new, so an entry is written.
        for schedule in range(6):
            self.finish(self.start(schedule))
        if left := self.temporaries():
            self.wrong.append(f"left in the cache: {len(left)} such as {left[:3]}")
        if left := os.listdir(self.temporary):
            self.wrong.append(f"left in TMPDIR: {len(left)} such as {left[:3]}")
        for line in self.wrong[:10]:
            print(line)
        print(f"kill-storm: {self.kills} killed, {self.ends} ended, {len(self.wrong)} wrong")
        return 1 if self.wrong or not self.kills else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--folder", required=True)
    parser.add_argument("examples")
    return Storm(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
