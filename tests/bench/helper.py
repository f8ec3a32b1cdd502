# SPDX-License-Identifier: BSD-3-Clause
"""What the helper costs: its hot paths, and a launch-bound loop on the simulated GPU with it asleep,
awake, and beside what the simulated CUPTI costs by itself, with the same buffers. Thread CPU time of
the launching thread. They take turns, and those of one turn are a pair: of pairs the median counts. All
start anew several times, since one process of a program is faster than another."""
import os
import statistics
import subprocess

from table import Row

HOT = {             # of bench_helper: what, bound in ns
    "record": ("a record into the helper's ring", 60),
    "name": ("a name that the helper knows", None),
    "range-asleep": ("an NVTX call, nobody watches", None),
    "range": ("an NVTX call, watched", None),
}
CALLS = 5000
TURNS = 5
STARTS = 7


class Loop:
    """A loop of launches that goes on when it is asked, so that several can take turns."""

    def __init__(self, build, injection, watched=False):
        env = {**os.environ, "LD_LIBRARY_PATH": f"{build}/sim", "GPUSIM_QUIET": "1",
               "GPUPROF_CUPTI": f"{build}/sim/libcupti.so.13"}
        if injection:
            env["CUDA_INJECTION64_PATH"] = injection
        self.process = subprocess.Popen([f"{build}/bench/launcher"], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.costs = []
        self.reader = None
        self.run(100)
        if watched:
            self.reader = subprocess.Popen([f"{build}/bench/bench_reader", str(self.process.pid)], text=True,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            if self.reader.stdout.readline().strip() != "awake":
                raise OSError("the helper did not wake")
        self.costs = []

    def run(self, calls=CALLS):
        self.process.stdin.write(f"{calls}\n")
        self.process.stdin.flush()
        self.costs.append(statistics.median(float(part) for part in self.process.stdout.readline().split()))

    def end(self):
        for process in (self.process, self.reader):
            if process:
                process.communicate()


def costs_of(build, helper):
    """A list of costs for each kind of loop: of one turn at one place."""
    loops = {"none": Loop(build, None), "asleep": Loop(build, helper),
             "cupti": Loop(build, os.path.abspath(f"{build}/bench/libcupti_alone.so")),
             "awake": Loop(build, helper, True)}
    for turn in range(TURNS):
        for loop in list(loops.values())[::-1 if turn % 2 else 1]:
            loop.run()
    for loop in loops.values():
        loop.end()
    return {name: loop.costs for name, loop in loops.items()}


def run(table, build):
    out = subprocess.run([f"{build}/bench/bench_helper"], check=True, capture_output=True, text=True)
    for line in out.stdout.splitlines():
        name, ns = line.split()
        what, bound = HOT[name]
        table.add(Row(what, f"{ns} ns", bound=bound and ("<=", bound), value=float(ns)))
    helper = os.path.abspath(f"{build}/libgpuprof.so")
    starts = [costs_of(build, helper) for _ in range(STARTS)]
    costs = {name: [ns for of in starts for ns in of[name]] for name in starts[0]}
    ns = {name: statistics.median(of) for name, of in costs.items()}
    asleep = statistics.median(a / b for a, b in zip(costs["asleep"], costs["none"]))
    awake = statistics.median(a - b for a, b in zip(costs["awake"], costs["cupti"]))
    table.add(Row("a simulated launch, helper asleep", f"{ns['asleep']:.0f} ns", f"without: {ns['none']:.0f} ns",
                  asleep, ("<=", 1.01)))
    table.add(Row("a simulated launch, helper awake", f"{ns['awake']:.0f} ns", f"CUPTI alone: {ns['cupti']:.0f} ns",
                  ns["awake"] / ns["cupti"], ("<=", 300), awake,
                  note=f"the bound is on the difference, {awake:.0f} ns"))
