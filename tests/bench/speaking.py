# SPDX-License-Identifier: BSD-3-Clause
"""bench-speaking: how soon gpuprof writes, on a terminal: that it measures, and the first figures.

Figures are the first line with a number of events, or the first report of an interval.
"""
import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

from table import Row

FIRST_MS, FIGURES_S, CROWDED_S = 100, 1.2, 1
ROUNDS, PATIENCE_S = 5, 30
SHORT, AT_ONCE = 255, 8         # processes that use the GPU for some milliseconds
FIGURES = re.compile(rb"[0-9,]+ events|[0-9.]+ % of|busy|no calls seen")


def environment(build):
    sim = os.path.abspath(os.path.join(build, "sim"))
    return dict(os.environ, LD_LIBRARY_PATH=sim, GPUSIM_QUIET="1", TERM="xterm")


@contextlib.contextmanager
def training(build):
    with subprocess.Popen([os.path.join(build, "sim", "train"), "--steps", "1000000", "--quiet"],
                          env=environment(build), stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(1)
            yield process.pid
        finally:
            process.kill()


@contextlib.contextmanager
def short_lived(build):
    train = os.path.join(build, "sim", "train")
    script = f"seq {SHORT} | xargs -P {AT_ONCE} -I_ {train} --steps 20 --quiet >/dev/null"
    with subprocess.Popen(["sh", "-c", script], env=environment(build), stdout=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            time.sleep(0.5)
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def listen(command, env, wanted=FIGURES):
    """Seconds to the first byte and to what is wanted."""
    begun = time.monotonic()
    pid, terminal = pty.fork()
    if not pid:
        os.execve(command[0], command, env)
    first, text = None, b""
    try:
        while time.monotonic() - begun < PATIENCE_S:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            text += os.read(terminal, 65536)
            first = first or time.monotonic() - begun
            if wanted.search(text):
                return first, time.monotonic() - begun
    finally:
        os.kill(pid, signal.SIGINT)
        os.close(terminal)
        os.waitpid(pid, 0)
    raise OSError(f"{' '.join(command)} printed no {wanted.pattern!r} within {PATIENCE_S} s: {text[-200:]!r}")


def measure(table, build, what, args, first_ms=FIRST_MS, wanted=FIGURES):
    gpuprof = os.path.join(build, "gpuprof")
    heard = [listen([gpuprof, *args], environment(build), wanted) for _ in range(ROUNDS)]
    first, figures = (sorted(times)[ROUNDS // 2] for times in zip(*heard))
    table.add(Row(f"first byte, {what}", f"{first * 1000:.0f} ms", bound=("<=", first_ms), value=first * 1000))
    if wanted is FIGURES:
        table.add(Row(f"first figures, {what}", f"{figures:.2f} s", bound=("<=", FIGURES_S), value=figures))


def run(table, build):
    if os.geteuid():
        table.skip("speaking", "needs root, to attach probes")
        return
    train = os.path.join(build, "sim", "train")
    with training(build) as pid, tempfile.NamedTemporaryFile(suffix=".gpr") as capture:
        measure(table, build, "-p", ["-p", str(pid)])
        measure(table, build, "stat -p", ["stat", "-p", str(pid)])
        measure(table, build, "record -p", ["record", "-o", capture.name, "-p", str(pid)])
    # Nothing more comes until it ends: the terminal is the program's.
    measure(table, build, "stat -- CMD", ["stat", "--", train, "--steps", "1000000", "--quiet"],
            wanted=re.compile(rb"\n"))
    with short_lived(build):
        measure(table, build, f"-a, {SHORT} short ones", ["-a"], CROWDED_S * 1000)
