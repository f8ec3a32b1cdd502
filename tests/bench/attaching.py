# SPDX-License-Identifier: BSD-3-Clause
"""bench-attach: what it takes to attach all probes to a process and to take them off again.

A process maps the libraries of the catalogue that are here; another maps none. Both are measured
for one millisecond; what the first takes longer is attaching and detaching. The look at threads
that are in calls already is part of it: it is measured on a process with many that are in none.
The same of all operators of PyTorch, in four processes that have its libraries.
"""
import os
import statistics
import subprocess
import sys
import time

from table import Row

LIMIT_MS = 300
TORCH_LIMIT_MS = 100
TORCH_PROCESSES = 4
REPEATS = 9
FILES = ("libcudart.so.13", "stubs/libcuda.so", "libnccl.so.2", "libnvJitLink.so.13",
         "libnvrtc.so.13", "libcublas.so.13", "libcudnn.so.9")
HOLD = """
import ctypes, sys
for name in sys.argv[1:]:
    ctypes.CDLL(name)
print("ready", flush=True)
sys.stdin.read()
"""


def libraries(build):
    """The files of the tests' own collection, or beside where its libcudart really is."""
    ours = os.path.join(build, "cuda", "lib")
    toolkit = os.path.dirname(os.path.realpath(os.path.join(ours, "libcudart.so.13")))
    for name in FILES:
        path = next((os.path.join(folder, name) for folder in (ours, toolkit)
                     if os.path.exists(os.path.join(folder, name))), None)
        if path:
            yield path


def median_ms(gpuprof, tier, files):
    command = [sys.executable, "-c", HOLD, *files]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
        target.stdout.readline()
        taken = []
        for _ in range(REPEATS):
            start = time.monotonic()
            subprocess.run([gpuprof, "stat", "-q", "--tier", str(tier), "-d", "1ms", "-p",
                            str(target.pid)], stdout=subprocess.DEVNULL, check=True)
            taken.append((time.monotonic() - start) * 1000)
        target.stdin.close()
        target.wait()
    return statistics.median(taken)


def session_ms(gpuprof, pids, *options):
    """Of a session of one millisecond."""
    taken = []
    for _ in range(REPEATS):
        start = time.monotonic()
        subprocess.run([gpuprof, "stat", "-q", "-d", "1ms", *options, "-p", pids], stdout=subprocess.DEVNULL, check=True)
        taken.append((time.monotonic() - start) * 1000)
    return statistics.median(taken)


def run_torch(table, build):
    python = os.path.join(build, "torch-venv", "bin", "python")
    if not os.path.exists(python):
        table.skip("attach", "no PyTorch: make torch")
        return
    hold = "import sys, torch\nprint('ready', flush=True)\nsys.stdin.read()"
    env = {**os.environ, "LD_LIBRARY_PATH": os.path.join(build, "torch")}
    targets = [subprocess.Popen([python, "-c", hold], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
               for _ in range(TORCH_PROCESSES)]
    for target in targets:
        target.stdout.readline()
    pids = ",".join(str(target.pid) for target in targets)
    ms = {level: session_ms(os.path.join(build, "gpuprof"), pids, "--torch", level) for level in ("off", "all")}
    for target in targets:
        target.communicate()
    table.add(Row(f"attach + detach, --torch all, {TORCH_PROCESSES} processes", f"{ms['all'] - ms['off']:.0f} ms",
                  bound=("<=", TORCH_LIMIT_MS), value=ms["all"] - ms["off"]))


def run(table, build):
    gpuprof, files = os.path.join(build, "gpuprof"), list(libraries(build))
    if os.geteuid():
        table.skip("attach", "needs root, to attach probes")
        return
    if not files:
        table.skip("attach", "no CUDA library here; scripts/cuda gets them")
        return
    for tier in (0, 1):
        try:
            none, all_ms = (median_ms(gpuprof, tier, some) for some in ([], files))
        except subprocess.CalledProcessError as error:
            table.fail("attach", str(error))
            return
        table.add(Row(f"attach + detach, {len(files)} libraries, tier {tier}",
                      figure=f"{all_ms - none:.0f} ms", bound=("<=", LIMIT_MS),
                      value=all_ms - none))
    run_torch(table, build)
