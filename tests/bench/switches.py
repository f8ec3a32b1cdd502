# SPDX-License-Identifier: BSD-3-Clause
"""bench-switches: what the scheduler's hooks (--off-cpu) cost a wakeup and a switch, of threads that
make calls and of all others on the host, in interleaved rounds.
"""
import contextlib
import os
import signal
import subprocess
import time

from probes import wait_idle
from table import Row

TURNS = 1000            # so short that now and then no other thread comes between
TIMES = 120             # of a round
ROUNDS = int(os.environ.get("BENCH_ROUNDS", 5))
WATCHED_BOUND_NS = 600  # these two beyond programs that do nothing at both hooks
UNWATCHED_BOUND_NS = 60
TARGET_BOUND_NS = 200   # of threads that are not recorded: the events that watch mappings
HOOK_BOUND_NS = 20      # beyond a program that does nothing


class Switcher:
    """A program that is asked and answers, line by line."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid

    def say(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def gpuprof(build, *options):
    """Attached within; must end well."""
    command = [os.path.join(build, "gpuprof"), "stat", "-q", "--ring-size", "64m", "--budget", "1s",
               "--table", "events", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            wait_idle(process.pid)
            time.sleep(0.5)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            error = process.communicate()[1]
    if process.returncode not in (0, 5):
        raise OSError(f"gpuprof ended with status {process.returncode}: {error.decode()}")


@contextlib.contextmanager
def programs_that_do_nothing(build):
    """At both hooks, within."""
    hooks = Switcher(os.path.join(build, "bench", "hooks"), "idle")
    try:
        if hooks.process.stdout.readline().strip() != "ready":
            raise OSError("no program can be attached to the scheduler's hooks")
        yield
    finally:
        hooks.close()


def best(build, path, watched, calls, off_cpu):
    """The least ns per turn of one round, with gpuprof and its --off-cpu: "on", "off", "nothing" (off, and
    programs that do nothing at its hooks), or (None) without gpuprof."""
    target, other = Switcher(path), Switcher(path)
    try:
        with contextlib.ExitStack() as session:
            if off_cpu == "nothing":
                session.enter_context(programs_that_do_nothing(build))
            if off_cpu:
                session.enter_context(gpuprof(build, "--off-cpu", "on" if off_cpu == "on" else "off", "-p",
                                              str((target if watched else other).pid)))
            if calls:
                target.say("call")
            target.say(4 * TURNS)
            return min(float(target.say(TURNS)) for _ in range(TIMES))
    finally:
        target.close()
        other.close()


def add_hooks(table, build, path):
    """What a switch and a wakeup of others take, by the kernel's own count."""
    hooks, target, other = Switcher(os.path.join(build, "bench", "hooks")), Switcher(path), Switcher(path)
    try:
        if hooks.process.stdout.readline().strip() != "ready":
            raise OSError("the kernel tells no times of BPF programs")
        least = {}
        with gpuprof(build, "--off-cpu", "on", "-p", str(other.pid)):
            for _ in range(ROUNDS):
                hooks.say("")
                target.say(40 * TURNS)
                _, switch, _, none, _, waking, _, none_waking = hooks.say("").split()
                for name, ns, idle in (("switch", switch, none), ("wakeup", waking, none_waking)):
                    pair = (float(ns) - float(idle), float(ns), float(idle))
                    least[name] = min(least.get(name, pair), pair)
        for name, (more, ns, idle) in least.items():
            table.add(Row(f"the hook of a {name}, of threads that make no call", f"{ns:.1f} ns",
                          f"{idle:.1f} ns (a program that does nothing)", ns / idle,
                          ("<=", HOOK_BOUND_NS), more,
                          "by the kernel's statistics, with its clock; the bound is on the difference, in ns"))
    finally:
        for process in (hooks, target, other):
            process.close()


def run(table, build):
    path = os.path.join(build, "bench", "switcher")
    ways = {        # watched, calls, --off-cpu
        "bare": (False, False, None),
        "others, off": (False, False, "off"),
        "others, nothing": (False, False, "nothing"),
        "others": (False, False, "on"),
        "idle, off": (True, False, "off"),
        "watched, nothing": (True, True, "nothing"),
        "watched": (True, True, "on"),
    }
    ns = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            ns[name] = min(ns[name], best(build, path, *way))
    for what, name, peer, bound in (
            ("a session, of threads of other processes", "others, off", "bare", None),
            ("a session, of its target's threads", "idle, off", "bare", TARGET_BOUND_NS),
            ("programs that do nothing at the hooks", "others, nothing", "others, off", None),
            ("--off-cpu, of threads that make no call", "others", "others, nothing", UNWATCHED_BOUND_NS),
            ("--off-cpu, of threads that make calls", "watched", "watched, nothing", WATCHED_BOUND_NS)):
        more = ns[name] - ns[peer]
        table.add(Row(what, f"{ns[name]:.0f} ns", f"{ns[peer]:.0f} ns {peer}", ns[name] / ns[peer],
                      bound and ("<=", bound), more, f"{more:+.0f} ns of CPU"))
    add_hooks(table, build, path)
