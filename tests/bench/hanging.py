# SPDX-License-Identifier: BSD-3-Clause
"""bench-hanging: a simulated job that hung in a collective before gpuprof was started.

How long `stacks` takes until it has named every rank's call, and how much longer a session takes
to begin and end when it has to look at such threads, than with as many that are in no call.
"""
import json
import os
import statistics
import subprocess
import tempfile
import time

from table import Row

RANKS, THREADS = 8, 32
STACKS_S = 2
ATTACH_MS = 300
REPEATS = 5
CALLS = {"ncclAllReduce", "cudaStreamSynchronize"}


class Job:
    """RANKS processes of THREADS threads, of which one each is in a call once it hangs."""

    def __init__(self, build, folder, hangs):
        env = dict(os.environ, GPUSIM_QUIET="1", **({"GPUSIM_NCCL_HANG": "1:9"} if hangs else {}))
        self.go = os.path.join(folder, f"go-{hangs}")
        self.process = subprocess.Popen(
            [os.path.join(build, "sim", "ddp"), "--ranks", str(RANKS), "--idle-threads",
             str(THREADS - 1), "--quiet", "--wait-file", self.go],
            env=env, stdout=subprocess.PIPE, text=True)
        lines = [self.process.stdout.readline() for _ in range(RANKS)]
        self.pids = [int(line.split()[-1]) for line in lines]
        if hangs:
            with open(self.go, "w", encoding="utf-8"):
                time.sleep(3)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def time_stacks(gpuprof, job):
    """Seconds, and how many ranks have a thread whose call and whose native function have names."""
    start = time.monotonic()
    done = subprocess.run([gpuprof, "stacks", "-q", "--format", "json", "-p",
                           ",".join(map(str, job.pids))], stdout=subprocess.PIPE, check=True)
    taken = time.monotonic() - start
    rows = json.loads(done.stdout)["tables"]["stacks"]
    named = {row["pid"] for row in rows if row["call"] in CALLS and
             any(frame["function"] for frame in row["frames"])}
    return taken, len(named), len(rows)


def time_session(gpuprof, pid):
    taken = []
    for _ in range(REPEATS):
        start = time.monotonic()
        subprocess.run([gpuprof, "stat", "-q", "-d", "1ms", "-p", str(pid)],
                       stdout=subprocess.DEVNULL, check=True)
        taken.append((time.monotonic() - start) * 1000)
    return statistics.median(taken)


def run(table, build):
    gpuprof = os.path.join(build, "gpuprof")
    if os.geteuid():
        table.skip("hanging", "needs root, to attach probes")
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            with Job(build, folder, False) as job:
                free_ms = time_session(gpuprof, job.pids[0])
            with Job(build, folder, True) as job:
                seconds, named, threads = time_stacks(gpuprof, job)
                one_ms = time_session(gpuprof, job.pids[0])
                all_ms = time_session(gpuprof, job.process.pid)
    except (OSError, subprocess.CalledProcessError) as error:
        table.fail("hanging", str(error))
        return
    if named != RANKS:
        table.fail("hanging", f"{named} of {RANKS} ranks have a thread whose call and function are named")
        return
    table.add(Row(f"stacks of {RANKS} ranks, {threads} threads, hung", figure=f"{seconds:.2f} s",
                  bound=("<=", STACKS_S), value=seconds))
    table.add(Row("session of one hung rank, start to end", figure=f"{one_ms:.0f} ms",
                  peer=f"{free_ms:.0f} ms in no call", bound=("<=", ATTACH_MS),
                  value=one_ms - free_ms, note="the bound is on what its hung thread adds"))
    table.add(Row(f"session of all {RANKS} ranks, start to end", figure=f"{all_ms:.0f} ms"))
