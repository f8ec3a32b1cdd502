# SPDX-License-Identifier: BSD-3-Clause
"""bench-probes: what a probed call costs the caller, by each tool, at the same function of one
process, in interleaved rounds (A B C A B C ...), so that drift of the machine meets all alike.

Each tool is attached for its round alone. It is armed when the function's text shows it, and the
round counts only if the tool says afterwards that it saw every call.
"""
import contextlib
import csv
import io
import os
import re
import shutil
import signal
import statistics
import subprocess
import time

from table import Row

CALLS = 20000           # of each of the launcher's parts
WARM_UP = 1000
PARTS = 9
ROUNDS = int(os.environ.get("BENCH_ROUNDS", 5))
PATIENCE_S = 10
SIGNALS = 2
BPFTRACE_USTACK = "uprobe:{file}:cudaLaunchKernel {{ @[ustack(64)] = count(); }}"


class Failure(Exception):
    """One line: what could not be measured and why."""


class Launcher:
    """The target; keeps the text of its function as it was before anyone came."""

    def __init__(self, folder, *arguments):
        self.file = os.path.join(folder, "libcudart.so.13")
        self.process = subprocess.Popen([os.path.join(folder, "launcher"), *arguments], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.address = int(self.process.stdout.readline(), 16)
        self.clean = self.text()

    def text(self):
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(self.address)
            return memory.read(8)

    def file_offset(self):
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                fields = line.split()
                start, end = (int(n, 16) for n in fields[0].split("-"))
                if start <= self.address < end:
                    return self.address - start + int(fields[2], 16)
        raise Failure("the launcher's function is in no mapping")

    def call(self, calls):
        """ns per call, of each part."""
        self.process.stdin.write(f"{calls}\n")
        self.process.stdin.flush()
        return [float(n) for n in self.process.stdout.readline().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Tool:
    """One way to look at the function. command() starts it; saw() reads from its output how many
    calls it saw: each of the numbers it says must be right."""

    def __init__(self, name, command, saw, stop=signal.SIGINT):
        self.name, self.command, self.saw, self.stop = name, command, saw, stop
        self.parts = []
        self.notes = set()

    def measure(self, target):
        with subprocess.Popen(self.command(target), stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                self.wait_text(target, process, lambda text: text != target.clean, "attach")
                wait_idle(process.pid)
                target.call(WARM_UP)
                parts = target.call(CALLS)
            finally:
                out, err = self.end(process)
        self.wait_text(target, None, lambda text: text == target.clean, "detach")
        self.check(process.returncode, out, err)
        self.parts.append(parts)

    def wait_text(self, target, process, wanted, what):
        end = time.monotonic() + PATIENCE_S
        while not wanted(target.text()):
            if process and process.poll() is not None:
                raise Failure(f"{self.name}: {first_line(process.stderr.read())}")
            if time.monotonic() > end:
                raise Failure(f"{self.name} did not {what} within {PATIENCE_S} s")
            time.sleep(0.01)

    def end(self, process):
        # bpftrace 0.17 forgets a signal that comes before it waits for events.
        for _ in range(SIGNALS):
            if self.stop and process.poll() is None:
                process.send_signal(self.stop)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=PATIENCE_S)  # closes its stdin
        process.kill()
        process.communicate()
        raise Failure(f"{self.name} did not end within {SIGNALS * PATIENCE_S} s")

    def check(self, status, out, err):
        if status not in (0, 5):    # 5: gpuprof, data is partial; said below
            raise Failure(f"{self.name} ended with status {status}: {first_line(err)}")
        seen, calls = self.saw(out, self.notes), (WARM_UP + CALLS) * PARTS
        if set(seen) != {calls}:
            self.notes.add(f"{self.name} saw {' and '.join(map(str, seen)) or 'none'} of {calls} calls")

    def best(self):
        return min(min(parts) for parts in self.parts)

    def median(self):
        return statistics.median(n for parts in self.parts for n in parts)

    def __str__(self):
        return f"{self.best():.0f} / {self.median():.0f} ns"


def first_line(text):
    return next((line for line in text.splitlines() if line.strip()), "it said nothing")


def wait_idle(pid):
    """Attaching goes on behind the first breakpoint: until the tool waits for events."""
    for _ in range(100):
        time.sleep(0.02)
        with open(f"/proc/{pid}/wchan", encoding="utf-8") as wchan:
            if re.search("poll|do_wait", wchan.read()):     # do_wait: a shell for its child
                break
    time.sleep(0.1)


# ---- the tools ---------------------------------------------------------------------------------

def saw_gpuprof(out, notes):
    rows = [r for r in csv.DictReader(io.StringIO(out)) if r["hits"] and r["lost"]]
    lost = sum(int(r["lost"]) for r in rows)
    if any(int(r["hits"]) != int(r["received"]) + int(r["lost"]) for r in rows if r["received"]):
        notes.add("gpuprof: hits are not received + lost")
    if lost:
        notes.add(f"gpuprof lost {lost} events of a round")
    if not rows:
        notes.add("gpuprof: its events table counts nothing")
    return [sum(int(r["hits"]) for r in rows if r["kind"] in ("call", "added"))]


def gpuprof(program, name, *options):
    return Tool(name, lambda target: [program, "stat", "-p", str(target.pid), "-d", "60", "-q",
                                      "--table", "events", "--format", "csv", *options],
                saw_gpuprof)


def saw_ftrace(out, _notes):
    return [int(n) for n in re.findall(r"(?:entries|returns) (\d+)", out)]


def saw_bpftrace(out, _notes):
    total = [int(n) for n in re.findall(r"^@: (\d+)$", out, re.M)]
    total += [sum(int(n) for n in stacks)] if (stacks := re.findall(r"^\]: (\d+)$", out, re.M)) else []
    bars = [int(n) for n in re.findall(r"^\[.*?[\])]\s+(\d+) \|", out, re.M)]
    return total + ([sum(bars)] if bars else [])


def bpftrace(name, script):
    return Tool(name, lambda target: ["bpftrace", "-p", str(target.pid), "-e",
                                      script.format(file=target.file)], saw_bpftrace)


def ftrace(name):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ftrace")
    return Tool(name, lambda target: ["unshare", "-m", script, target.file,
                                      hex(target.file_offset())], saw_ftrace, stop=None)


def compared(program):
    """(what, gpuprof's tool, its peer, bound on the ratio); None where a tool is missing."""
    peer = ftrace("ftrace p: + r:")
    session = gpuprof(program, "gpuprof session", "--attach", "session")
    stacks = gpuprof(program, "gpuprof --stacks", "--attach", "session", "--stacks")
    ustack = bpftrace("bpftrace ustack", BPFTRACE_USTACK)
    rows = [("launch, full record, entry+return: session", session, peer, 1.00),
            ("launch, full record, entry+return: multi",
             gpuprof(program, "gpuprof multi", "--attach", "multi"), peer, 1.00),
            ("launch with its stack, to one without", stacks, session, 1.50),
            ("launch with its stack: .eh_frame, and frame pointers", stacks, ustack, 2.50)]
    if not shutil.which("bpftrace"):
        rows = [(what, own, None if other is ustack else other, bound)
                for what, own, other, bound in rows]
    return rows


def compared_blocking(program):
    """The same of a call that blocks, which has its stack taken now and then."""
    none = gpuprof(program, "gpuprof --no-stacks", "--attach", "session", "--no-stacks")
    return [("sync, its stack sampled, to one without",
             gpuprof(program, "gpuprof session", "--attach", "session"), none, 1.10)]


# ---- the rounds --------------------------------------------------------------------------------

def run_rounds(target, tools):
    """Parts of the bare function. A tool that cannot run takes no part in further rounds."""
    bare, failed = [], {}
    for _ in range(ROUNDS):
        target.call(WARM_UP)
        bare.append(target.call(CALLS))
        for tool in tools:
            if tool in failed:
                continue
            try:
                tool.measure(target)
            except (Failure, OSError) as failure:
                failed[tool] = str(failure)
    return bare, failed


def ratio_of(own, other):
    """Of the two tools in the same round, the median of all rounds."""
    return statistics.median(statistics.median(a) / statistics.median(b)
                             for a, b in zip(own.parts, other.parts))


def add_row(table, comparison, failed):
    what, own, other, bound = comparison
    for tool in (own, other):
        if tool in failed:
            table.fail(what, failed[tool])
            return
    notes = sorted((own.notes) | (other.notes if other else set()))
    if not other:
        notes.append("bpftrace is not installed: scripts/deps bench")
    table.add(Row(what, str(own), f"{other} ({other.name})" if other else "-",
                  ratio_of(own, other) if other else None, ("<=", bound),
                  note="; ".join(notes)))


def run(table, build):
    if os.geteuid() != 0:
        table.fail("cost of a probe", "needs root, to attach probes")
        return
    program = os.path.join(build, "gpuprof")
    compare(table, build, compared(program))
    compare(table, build, compared_blocking(program), "sync")


def compare(table, build, comparisons, *arguments):
    tools = list(dict.fromkeys(t for c in comparisons for t in c[1:3] if t))
    folder = os.path.abspath(os.path.join(build, "bench"))
    with contextlib.closing(Launcher(folder, *arguments)) as target:
        bare, failed = run_rounds(target, tools)
    parts = [n for round_ in bare for n in round_]
    table.add(Row("bare call, best / median",
                  f"{min(parts):.0f} / {statistics.median(parts):.0f} ns",
                  note=f"thread CPU time of a call, {ROUNDS} rounds of {PARTS} x {CALLS} calls; "
                       "ratio: of medians in the same round, median of rounds"))
    for comparison in comparisons:
        add_row(table, comparison, failed)
