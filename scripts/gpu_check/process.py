"""Processes that may crash or hang, and are ended with all that they have started."""

import collections
import os
import re
import selectors
import signal
import subprocess
import threading
import time

# The exit status, negative for a signal and None at a timeout, and the output.
Ended = collections.namedtuple("Ended", "status text")


def start(arguments, environment, folder=None, stdin=subprocess.DEVNULL):
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=stdin, env=environment,
                            cwd=folder, start_new_session=True)


def end(process):
    """Ends a process; returns the rest of its output."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        return process.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired:
        return b""  # The driver does not let it go.


def run(arguments, environment, timeout, folder=None):
    process = start(arguments, environment, folder)
    try:
        output, _ = process.communicate(timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        output, status = end(process), None
    return Ended(status, output.decode(errors="replace"))


class Server:
    """A process of dsv4-run that runs one command line after another: it sets up the GPU once."""

    END = re.compile(rb"^dsv4-run: end (\d+)\n", re.M)

    def __init__(self, tool, environment):
        self.process = start([tool, "--commands"], environment, stdin=subprocess.PIPE)

    def run(self, line, timeout):
        """The end of a command line. If the process has ended, or is ended, that is the end."""
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # Its output says why.
        output, deadline = b"", time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not (found := self.END.search(output)):
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    end(self.process)
                    return Ended(None, output.decode(errors="replace"))
                read = os.read(self.process.stdout.fileno(), 1 << 16)
                if not read:
                    return Ended(self.process.wait(), output.decode(errors="replace"))
                output += read
        return Ended(int(found.group(1)), output[:found.start()].decode(errors="replace"))


class Servers:
    """A server for each thread. After a command that does not succeed there is a new one: what a kernel has
    done to a GPU context stays there."""

    def __init__(self):
        self.of_thread = threading.local()
        self.lock = threading.Lock()
        self.started = []

    def run(self, tool, line, environment, timeout):
        server = getattr(self.of_thread, "server", None)
        if not server:
            server = self.of_thread.server = Server(tool, environment)
            with self.lock:
                self.started.append(server)
        ended = server.run(line, timeout)
        if ended.status != 0:
            end(server.process)
            self.of_thread.server = None
        return ended

    def end(self):
        for server in self.started:
            end(server.process)
