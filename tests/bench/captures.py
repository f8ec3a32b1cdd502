# SPDX-License-Identifier: BSD-3-Clause
"""bench-capture, bench-replay, bench-heap: what captures cost to write, to read and to hold.

Captures are made by `generate` with the recorder's own writer, in a folder that is removed. The
heap is that of a whole process, its peak, reported by the kernel.
"""
import contextlib
import csv
import os
import re
import subprocess
import tempfile
import time

from table import Row

REPLAY_EVENTS = 20_000_000
REPLAY_WORKS = 5_000_000
PAGE_EVENTS = 10_000_000
PAGE_S, PAGE_BYTES = 15, 2_000_000
SMALL_EVENTS, LARGE_EVENTS = 4_000_000, 50_000_000     # fewer do not fill the timelines of threads
SMALL_CALLS, LARGE_CALLS = 1_000_000, 10_000_000
REPEATS = 3
HEAP_MIB = 64           # beside the rings, of works
HEAP_RATIO, HEAP_BYTES = 1.05, 2 << 20     # whichever allows more
PATIENCE_S = 20


class Failure(Exception):
    """One line: what could not be measured and why."""


def run_or_fail(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Failure(f"{os.path.basename(command[0])} ended with status {done.returncode}"
                      f"{': ' + said[-1] if said else ''}")
    return done.stdout


class Bench:
    """Where the programs are, and a folder for captures."""

    def __init__(self, build, folder):
        self.folder = folder
        self.gpuprof = os.path.join(build, "gpuprof")
        self.tools = os.path.join(build, "bench")
        self.sim = os.path.join(build, "sim")

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name):
        return os.path.join(self.tools, name)

    def generate(self, events, *what):
        path = self.path(f"{events}.gpr")
        run_or_fail([self.tool("generate"), str(events), path, *what])
        return path

    def measured(self, *command):
        """The command, so run that read_measure tells its cost afterwards."""
        return [self.tool("measure"), self.path("measure"), *command]

    def read_measure(self):
        """wall ns, CPU ns, peak bytes"""
        with open(self.path("measure"), encoding="utf-8") as file:
            wall, cpu, kib = (int(n) for n in file.read().split())
        return wall, cpu, kib << 10

    def report(self, capture, *options):
        cpu = str(max(os.sched_getaffinity(0)))
        run_or_fail(["taskset", "-c", cpu, *self.measured(self.gpuprof, "report", capture, *options)])
        return self.read_measure()


@contextlib.contextmanager
def bench_for(table, build, what):
    """A failure inside is a row of the table."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=os.path.join(build, "bench")) as folder:
        try:
            yield Bench(os.path.abspath(build), os.path.abspath(folder))
        except Failure as failure:
            table.fail(what, str(failure))


def mib(size):
    return f"{size / (1 << 20):.1f} MiB"


# ---- capture -----------------------------------------------------------------------------------

def run_capture(table, build):
    what = "capture: encode, compress, write"
    with bench_for(table, build, what) as bench:
        out = run_or_fail([bench.tool("bench_capture"), "4000000", bench.path("c.gpr")])
        ns = {name.strip(): float(n) for name, n in re.findall(r"^(.+?)\s+([\d.]+) ns", out, re.M)}
        size = dict(re.findall(r"^(raw|file)\s+([\d.]+) bytes/event", out, re.M))
        each = ns["encode, compress, write"]
        table.add(Row(what, f"{each:.1f} ns/event", bound=("<=", 50), value=each,
                      note=f"CPU time, launch-heavy stream; encoding alone {ns['encode']:.1f} ns; "
                           f"{size['raw']} bytes/event, {size['file']} in the file"))
    demo = "capture of the demo"
    if os.geteuid() != 0:
        table.fail(demo, "needs root, to attach probes")
        return
    with bench_for(table, build, demo) as bench:
        add_demo(table, bench, demo)


def add_demo(table, bench, what):
    path = bench.path("demo.gpr")
    env = dict(os.environ, LD_LIBRARY_PATH=bench.sim, GPUSIM_QUIET="1")
    run_or_fail([bench.gpuprof, "record", "-q", "-o", path, "--", os.path.join(bench.sim, "train")],
                env=env)
    out = run_or_fail([bench.gpuprof, "report", path, "--table", "events", "--format", "csv"])
    events = sum(int(row["received"] or 0) for row in csv.DictReader(out.splitlines())
                 if row["kind"] in ("call", "enter"))
    size = os.path.getsize(path)
    if not events:
        raise Failure("the demo made no calls")
    table.add(Row(what, f"{size / events:.1f} bytes/event",
                  note=f"{size} bytes, {events} events (calls and entries), names and facts included"))


# ---- replay ------------------------------------------------------------------------------------

def run_replay(table, build):
    what = "replay on one core"
    with bench_for(table, build, what) as bench:
        capture = bench.generate(REPLAY_EVENTS)
        runs = [bench.report(capture) for _ in range(REPEATS)]
        wall, cpu = min(r[0] for r in runs), min(r[1] for r in runs)
        rate = REPLAY_EVENTS * 1000 / wall
        table.add(Row(what, f"{rate:.1f} M events/s", bound=(">=", 5), value=rate,
                      note=f"wall time of `gpuprof report`, {REPLAY_EVENTS / 1e6:.0f} M events, "
                           f"best of {REPEATS}; by CPU time {REPLAY_EVENTS * 1000 / cpu:.1f}"))
    what = "replay of works on one core"
    with bench_for(table, build, what) as bench:
        capture = bench.generate(2 * REPLAY_WORKS, "works")
        runs = [bench.report(capture) for _ in range(REPEATS)]
        wall, cpu = min(r[0] for r in runs), min(r[1] for r in runs)
        rate = REPLAY_WORKS * 1000 / wall
        table.add(Row(what, f"{rate:.1f} M works/s", bound=(">=", 3), value=rate,
                      note=f"wall time of `gpuprof report`, {REPLAY_WORKS / 1e6:.0f} M works and as "
                           f"many API records, best of {REPEATS}; by CPU time "
                           f"{REPLAY_WORKS * 1000 / cpu:.1f}"))
        peak = max(r[2] for r in runs)
        table.add(Row("peak memory of that replay", mib(peak), bound=("<=", HEAP_MIB), value=peak / (1 << 20),
                      note="of the whole process, in MiB"))
    what = "page of a capture on one core"
    with bench_for(table, build, what) as bench:
        for kind in ([], ["works"]):
            add_page(table, bench, what, kind)


def add_page(table, bench, what, kind):
    capture, page = bench.generate(PAGE_EVENTS, *kind), bench.path("page.html")
    runs = [bench.report(capture, "--format", "html", "-o", page) for _ in range(REPEATS)]
    size = os.path.getsize(page)
    wall = min(r[0] for r in runs) / 1e9
    table.add(Row(what, f"{wall:.2f} s", bound=("<=", PAGE_S), value=wall,
                  note=f"{PAGE_EVENTS / 1e6:.0f} M {'works and API records' if kind else 'calls'}, best of "
                       f"{REPEATS}; peak {mib(max(r[2] for r in runs))}"))
    table.add(Row("size of that page", f"{size / 1e3:.0f} kB", bound=("<=", PAGE_BYTES), value=size))


# ---- heap --------------------------------------------------------------------------------------

def heap_bound(small):
    return round(max(HEAP_RATIO, 1 + HEAP_BYTES / small), 2)


def add_heap(table, what, small, large):
    """small, large: (label, peak bytes)"""
    table.add(Row(what, f"{mib(large[1])} ({large[0]})", f"{mib(small[1])} ({small[0]})",
                  large[1] / small[1], ("<=", heap_bound(small[1])),
                  note="bound: 5 % or 2 MiB more, whichever allows more"))


def add_live(table, bench, what):
    """Other load makes the queue between ring and engine longer for a while, up to 16 MiB; what
    grows with the number of calls would grow in every run, so the least of a few is taken."""
    small = min(live_peak(bench, SMALL_CALLS) for _ in range(REPEATS))
    large = live_peak(bench, LARGE_CALLS)
    for _ in range(REPEATS - 1):
        if large > small * heap_bound(small):
            large = min(large, live_peak(bench, LARGE_CALLS))
    add_heap(table, what, (f"{SMALL_CALLS // 1_000_000} M calls", small),
             (f"{LARGE_CALLS // 1_000_000} M calls", large))


def live_peak(bench, calls):
    """The peak of a `gpuprof stat` that sees so many calls of another process."""
    start = bench.path("start")
    env = dict(os.environ, LD_LIBRARY_PATH=bench.sim, GPUSIM_QUIET="1")
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(subprocess.Popen(
            [os.path.join(bench.sim, "simcalls"), "--wait-file", start,
             f"cudaLaunchKernel={calls}"],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        stack.callback(target.kill)
        target.stdout.readline()    # ready
        stat = stack.enter_context(subprocess.Popen(
            bench.measured(bench.gpuprof, "stat", "-p", str(target.pid), "-q", "--table", "events",
                           "--format", "csv"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        stack.callback(stat.terminate)
        wait_armed(target.pid, stat)
        with open(start, "w", encoding="utf-8"):
            pass
        out, err = stat.communicate()
    os.remove(start)
    if stat.returncode not in (0, 5):
        raise Failure(f"gpuprof stat ended with status {stat.returncode}: {err.strip()}")
    check_calls(out, calls)
    return bench.read_measure()[2]


def wait_armed(pid, stat):
    end = time.monotonic() + PATIENCE_S
    check = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/text_equal.py")
    while subprocess.run([check, str(pid), "libcudart"], capture_output=True,
                         check=False).returncode != 1:
        if stat.poll() is not None or time.monotonic() > end:
            raise Failure("gpuprof stat did not attach to simcalls")
        time.sleep(0.05)
    time.sleep(0.2)


def check_calls(out, calls):
    seen = [int(row["hits"]) for row in csv.DictReader(out.splitlines()) if row["kind"] == "call"]
    if sum(seen) < calls:
        raise Failure(f"gpuprof stat saw {seen} of {calls} calls")


def run_heap(table, build):
    what = "peak memory of report"
    with bench_for(table, build, what) as bench:
        peaks = []
        for events in (SMALL_EVENTS, LARGE_EVENTS):
            capture = bench.generate(events)
            peaks.append((f"{events // 1_000_000} M events", bench.report(capture)[2]))
            os.remove(capture)
        add_heap(table, what, *peaks)
    what = "peak memory of stat, live"
    if os.geteuid() != 0:
        table.fail(what, "needs root, to attach probes")
        return
    with bench_for(table, build, what) as bench:
        add_live(table, bench, what)
