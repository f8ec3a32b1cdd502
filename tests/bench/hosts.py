# SPDX-License-Identifier: BSD-3-Clause
"""bench-hosts: gpuprof on hosts with many processes, and what processes feel that it does not measure.

The many are cheap ones of tests/bench/crowd.c. CPU time is that of gpuprof alone, but what the
host does meanwhile (compilers, ...) reaches -a and counts: measure on a quiet host.
"""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time

from attaching import libraries
from probes import Launcher
from table import Row

FAMILY, FILES = 100, 10
FAMILY_LIMIT_S = 2
MANY, MANY_LIMIT_S = 10000, 2
IDLE, IDLE_S, IDLE_LIMIT_PCT = 1000, 10, 1
QUIET = 5               # other processes that begin in a second, at most, for a judgement
ROUNDS, TRIES, CALLS = 5, 10, 20000
STORM = 5000
COPIED = ("libcudart", "libcuda.so", "libnccl")    # small ones, to have enough distinct files


@contextlib.contextmanager
def crowd(build, n, files=()):
    """The pid of the parent of n processes that map the files and do nothing."""
    program = os.path.join(build, "bench", "crowd")
    with subprocess.Popen([program, "idle", str(n), *files], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            if process.stdout.readline() != "ready\n":
                raise OSError(f"{n} processes cannot be started")
            yield process.pid
        finally:
            process.stdin.close()
            process.wait()


def seconds(gpuprof, *args):
    """The shortest of three measurements of 1 ms."""
    taken = []
    for _ in range(3):
        start = time.monotonic()
        subprocess.run([gpuprof, "stat", "-q", "-d", "1ms", *args], stdout=subprocess.DEVNULL,
                       check=True)
        taken.append(time.monotonic() - start)
    return min(taken)


def distinct_files(build, folder):
    files = list(libraries(build))
    small = [f for f in files if os.path.basename(f).startswith(COPIED)]
    for i in range(FILES - len(files)):
        copy = os.path.join(folder, str(i), os.path.basename(small[i % len(small)]))
        os.makedirs(os.path.dirname(copy))
        shutil.copy(os.path.realpath(small[i % len(small)]), copy)
        files.append(copy)
    return files


def run_family(table, build, gpuprof):
    if not list(libraries(build)):
        table.skip("attach to many", "no CUDA library here; scripts/cuda gets them")
        return
    with tempfile.TemporaryDirectory() as folder:
        files = distinct_files(build, folder)
        with crowd(build, FAMILY, files) as parent:
            children = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True,
                                      check=True).stdout.split()
            for name, args in (("-p of their parent", ["-p", str(parent)]),
                               ("-p of each", ["-p", ",".join(children)]), ("-a", ["-a"])):
                value = seconds(gpuprof, *args)
                table.add(Row(f"attach + detach, {FAMILY} x {FILES} files, {name}",
                              f"{value * 1000:.0f} ms", bound=("<=", FAMILY_LIMIT_S), value=value))


def cpu_seconds(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as stat:
            total += int(stat.read().split()[0])
    return total / 1e9


def processes_started():
    with open("/proc/stat", encoding="utf-8") as stat:
        return next(int(line.split()[1]) for line in stat if line.startswith("processes "))


def run_many(table, build, gpuprof):
    none = seconds(gpuprof, "-a")
    with crowd(build, MANY):
        value = seconds(gpuprof, "-a")
    table.add(Row(f"start + stop of -a, {MANY} processes", f"{value * 1000:.0f} ms",
                  f"{none * 1000:.0f} ms (without them)", value / none, ("<=", MANY_LIMIT_S), value))


def run_idle(table, build, gpuprof):
    with crowd(build, IDLE) as parent:
        for name, args in (("-p of their parent", ["-p", str(parent)]), ("-a", ["-a"])):
            with subprocess.Popen([gpuprof, "stat", "-q", "-d", str(IDLE_S + 2), *args],
                                  stdout=subprocess.DEVNULL) as process:
                time.sleep(1.5)
                before, started = cpu_seconds(process.pid), processes_started()
                time.sleep(IDLE_S)
                percent = (cpu_seconds(process.pid) - before) / IDLE_S * 100
                others = (processes_started() - started) / IDLE_S
            quiet = others < QUIET
            table.add(Row(f"{IDLE} idle processes, {name}", f"{percent:.2f} % of a core",
                          bound=("<=", IDLE_LIMIT_PCT) if quiet else None, value=percent,
                          note="" if quiet else
                          f"not a quiet host: {others:.0f} other processes began each second"))


def least(target):
    """ns of a call. Without a probe one is some 4 ns: what is beside it on the CPU takes more."""
    return min(ns for _ in range(TRIES) for ns in target.call(CALLS))


def run_others(table, build, gpuprof):
    """Calls of one process while another one of the same library is measured: its text stays as it is."""
    folder = os.path.abspath(os.path.join(build, "bench"))
    bare, beside, touched = [], [], False
    with contextlib.closing(Launcher(folder)) as other, contextlib.closing(Launcher(folder)) as one:
        for _ in range(ROUNDS):
            bare.append(least(other))
            with subprocess.Popen([gpuprof, "stat", "-q", "-d", "60", "-p", str(one.pid)],
                                  stdout=subprocess.DEVNULL) as process:
                while one.text() == one.clean:
                    time.sleep(0.01)
                time.sleep(0.2)
                beside.append(least(other))
                touched |= other.text() != other.clean
                process.terminate()
    what = "a call of another process, with -p of one"
    if touched:
        table.fail(what, "its function has a probe, too")
        return
    table.add(Row(what, f"{min(beside):.1f} ns", f"{min(bare):.1f} ns (without gpuprof)",
                  min(beside) / min(bare), ("<=", 1.02), note="not a byte of its function changed"))


def run_storm(table, build, gpuprof):
    """Short-lived processes below -p: how much longer do they take?"""
    command = [os.path.join(build, "bench", "crowd"), "storm", str(STORM), "4"]
    bare = min(int(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3))
    with tempfile.NamedTemporaryFile() as report:
        own = min(int(subprocess.run([gpuprof, "stat", "-q", "-o", report.name, "--", *command],
                                     capture_output=True, check=True).stdout) for _ in range(3))
    table.add(Row(f"{STORM} processes that end at once, followed", f"{own} ms", f"{bare} ms (without)",
                  own / bare))


def run(table, build):
    gpuprof = os.path.join(build, "gpuprof")
    if os.geteuid():
        table.skip("hosts", "needs root, to attach probes")
        return
    for part in (run_family, run_many, run_idle, run_others, run_storm):
        try:
            part(table, build, gpuprof)
        except subprocess.CalledProcessError as error:
            table.fail(part.__name__, str(error))
