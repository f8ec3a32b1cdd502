# SPDX-License-Identifier: BSD-3-Clause
"""bench-live: the live view in a terminal of 120 x 40: how soon it has figures, what it takes of a
CPU, and how much it sends. A host of a thousand processes, a hundred of which make calls; and one
process of ten thousand launches a second.
"""
import contextlib
import fcntl
import os
import pty
import signal
import struct
import termios
import threading
import time

from hosts import cpu_seconds, crowd
from probes import PARTS, Launcher
from table import Row

PROCESSES, TARGETS = 1000, 100
FIRST_MS, MANY_PCT, ONE_PCT, BYTES = 500, 2, 1, 2000
LAUNCHES = 10000        # a second, of one process
ROUNDS, PATIENCE_S, WARM_UP_S, WATCH_S = 5, 30, 3, 10


class View:
    """`gpuprof top ARGS` in a pseudo-terminal; what it sends is read as it comes."""

    def __init__(self, gpuprof, *args):
        self.begun, self.first_s, self.bytes = time.monotonic(), None, 0
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            os.execve(gpuprof, [gpuprof, "top", *args], dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8"))
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        end = b""
        with contextlib.suppress(OSError):
            while True:
                text = os.read(self.terminal, 65536)
                self.bytes += len(text)
                end = (end + text)[-65536:]
                if self.first_s is None and b"launcher" in end:     # a row of a target
                    self.first_s = time.monotonic() - self.begun

    def wait(self):
        while self.first_s is None:
            if time.monotonic() - self.begun > PATIENCE_S:
                raise OSError(f"top had no figures within {PATIENCE_S} s")
            time.sleep(0.001)
        return self.first_s

    def watch(self):
        """Of a CPU, in percent; bytes sent in a second."""
        time.sleep(WARM_UP_S)
        cpu, sent, begun = cpu_seconds(self.pid), self.bytes, time.monotonic()
        time.sleep(WATCH_S)
        taken = time.monotonic() - begun
        return (cpu_seconds(self.pid) - cpu) / taken * 100, (self.bytes - sent) / taken

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        self.reader.join()
        os.close(self.terminal)


@contextlib.contextmanager
def calling(build, n, calls, every_s):
    """n processes that make so many calls, all of them every so many seconds."""
    folder, goes_on = os.path.abspath(os.path.join(build, "bench")), threading.Event()
    with contextlib.ExitStack() as stack:
        targets = [stack.enter_context(contextlib.closing(Launcher(folder))) for _ in range(n)]

        def drive():
            due = time.monotonic()
            while not goes_on.wait(max(0, due - time.monotonic())):
                due = max(due + every_s, time.monotonic() - every_s)
                for target in targets:
                    target.call(max(1, round(calls / PARTS)))

        driver = threading.Thread(target=drive)
        driver.start()
        try:
            yield targets
        finally:
            goes_on.set()
            driver.join()


def run_many(table, build, gpuprof):
    folder = os.path.join(build, "bench")
    first = []
    with crowd(build, PROCESSES - TARGETS, [os.path.join(folder, "libcudart.so.13")]), \
            calling(build, TARGETS, 10, 0.2):
        for i in range(ROUNDS):
            with contextlib.closing(View(gpuprof, "-a")) as view:
                first.append(view.wait())
                if i == ROUNDS - 1:
                    percent, sent = view.watch()
    value = sorted(first)[ROUNDS // 2] * 1000
    where = f"top -a, {PROCESSES} processes, {TARGETS} call"
    table.add(Row(f"first figures, {where}", f"{value:.0f} ms", bound=("<=", FIRST_MS), value=value))
    table.add(Row(where, f"{percent:.2f} % of a core", bound=("<=", MANY_PCT), value=percent))
    table.add(Row(f"sent, {where}", f"{sent:.0f} bytes/s", bound=("<=", BYTES), value=sent))


def run_one(table, build, gpuprof):
    with calling(build, 1, LAUNCHES / 100, 0.01) as targets, \
            contextlib.closing(View(gpuprof, "-p", str(targets[0].pid))) as view:
        view.wait()
        percent, sent = view.watch()
    where = f"top -p of {LAUNCHES} launches/s"
    table.add(Row(where, f"{percent:.2f} % of a core", bound=("<=", ONE_PCT), value=percent))
    table.add(Row(f"sent, {where}", f"{sent:.0f} bytes/s", bound=("<=", BYTES), value=sent))


def run(table, build):
    gpuprof = os.path.join(build, "gpuprof")
    if os.geteuid():
        table.skip("live", "needs root, to attach probes")
        return
    run_many(table, build, gpuprof)
    run_one(table, build, gpuprof)
