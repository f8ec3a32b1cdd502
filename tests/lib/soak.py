#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many nodes of graphs under gpuprof on the simulated GPU, more than CUPTI's buffers on the device take.

usage: soak.py GPUPROF SIM RECORDS [--room N] [--renew N] [--speed N] [--slack KB]

The program launches graphs of 1,000 nodes in one stream until there were RECORDS. --room: of nodes on the
device (CUPTI's 25,000,000), --renew: the helper's limit below that, --speed: the device's, --slack: growth
that is no leak: at 500,000 works a second the queue of those that may be out of order has 16 MiB, and
doubles when some wait for a slow machine, or until CUPTI is enabled anew. Of the report and of the sums that
the simulation kept it checks that

  - each record that CUPTI made came or is counted as lost;
  - works took no longer than they took, and what they took beyond is lost or unknown; no cause is known
    of more idle time than there was;
  - CUPTI was enabled anew as often as it had to be, and each time is booked as unseen;
  - neither the program, with the helper in it, nor gpuprof has grown since a third was done.

Prints one line, or what is wrong and status 1.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

NODES = 1000
STREAMS = 1		# so no work runs beside another, and their times add up
APART_NS = 2000000	# a loss is known to lie between two flushes
SHARE = 0.02
GROWTH = 1.2
PERIOD_S = 0.1
START_S = 60		# and some time for each record, then it hangs
EACH_S = 0.00005
HONEST = ("lost", "unknown", "unarmed")


def resident_kb(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")), 0)


def program_of(gpuprof):
    """The pid of its command; 0: there is none now."""
    try:
        children = pathlib.Path(f"/proc/{gpuprof}/task/{gpuprof}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return int(children[0]) if children else 0


def watch(process, until):
    """Memory of the program and of gpuprof while the program runs."""
    memory = []
    while process.poll() is None:
        if time.monotonic() > until:
            for pid in program_of(process.pid), process.pid:
                if pid:
                    os.kill(pid, signal.SIGKILL)
            sys.exit("soak: it does not end")
        now = resident_kb(program_of(process.pid)), resident_kb(process.pid)
        if all(now):
            memory.append(now)
        time.sleep(PERIOD_S)
    return memory


def run(options):
    env = {**os.environ, "GPUPROF_CUPTI": f"{options.sim}/libcupti.so.13", "GPUSIM_LOG": "soak.log",
           "GPUSIM_LOG_SUMS": "1", "GPUSIM_SPEED": str(options.speed), "GPUSIM_CUPTI_FAULTS": f"device={options.room}"}
    if options.renew:
        env["GPUPROF_GRAPH_NODES"] = str(options.renew)
    command = [options.gpuprof, "stat", "--format", "json", "-o", "soak.json", "--",
               f"{options.sim}/mix", "--graphs", "only", "--nodes", str(NODES), "--streams", str(STREAMS),
               "--rounds", str(options.records // NODES), "--seed", "3"]
    with open("soak.said", "w", encoding="utf-8") as said, \
            subprocess.Popen(command, env=env, stdout=said, stderr=said) as process:
        memory = watch(process, time.monotonic() + START_S + EACH_S * options.records)
    if process.returncode not in (0, 5):	# 5: more was lost than --max-loss
        sys.exit(f"soak: gpuprof ended with {process.returncode}:\n{pathlib.Path('soak.said').read_text()}")
    return memory


def check_records(tables, logged, say):
    row = next(r for r in tables["events"] if (r["source"], r["kind"]) == ("helper", "work"))
    if row["received"] + row["lost"] != logged["recorded"]:
        say(f"of {logged['recorded']} records {row['received']} came and {row['lost']} are counted as lost")
    return row


def check_time(tables, logged, say):
    rows = tables["ledger"]
    wall = rows[0]["wall_ns"]
    ran = sum(r["busy_ns"] for r in rows if r["state"] != "idle")
    missing = sum(r["ns"] for r in rows if r["bucket"] in HONEST)
    known = sum(r["ns"] for r in rows if r["state"] == "idle" and r["bucket"] not in HONEST)
    apart = APART_NS + SHARE * logged["ns"]
    if sum(r["ns"] for r in rows) != wall:
        say(f"{sum(r['ns'] for r in rows)} ns do not add up to {wall}")
    if ran > logged["ns"]:
        say(f"works ran for {ran} ns, {logged['ns']} in truth")
    if ran + missing < logged["ns"] - apart:
        say(f"works ran for {ran} ns, {missing} ns are missing: {logged['ns']} in truth")
    if known > wall - logged["ns"] + apart:
        say(f"why it idled is known for {known} ns, of {wall - logged['ns']} idle ones")
    return ran, missing


def check_cycles(tables, logged, options, say):
    cycles = (logged["recorded"] - 1) // options.room
    unseen = sum(r["received"] for r in tables["events"] if r["kind"] == "unseen")
    unknown = sum(r["ns"] for r in tables["ledger"] if r["bucket"] == "unknown")
    if unseen < cycles or (cycles and not unknown):
        say(f"CUPTI had to be enabled anew {cycles} times: {unseen} are booked, {unknown} ns")
    return cycles


def check_memory(memory, slack_kb, say):
    if len(memory) < 6:
        say(f"it was over too soon: {len(memory)} looks")
        return
    for what, of in ("the program", 0), ("gpuprof", 1):
        before = memory[len(memory) // 3][of]
        after = max(look[of] for look in memory[-len(memory) // 3:])
        if after > before * GROWTH + slack_kb:
            say(f"{what} grew from {before} KiB to {after}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpuprof")
    parser.add_argument("sim")
    parser.add_argument("records", type=int)
    parser.add_argument("--room", type=int, default=25000000)
    parser.add_argument("--renew", type=int)
    parser.add_argument("--speed", type=int, default=10)
    parser.add_argument("--slack", type=int, default=16384)
    options = parser.parse_args()
    wrong = []
    memory = run(options)
    with open("soak.json", encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    with open("soak.log", encoding="utf-8") as file:
        sums = json.load(file)["sums"]
    logged = {key: sum(row[key] for row in sums) for key in ("count", "ns", "recorded")}
    row = check_records(tables, logged, wrong.append)
    ran, missing = check_time(tables, logged, wrong.append)
    cycles = check_cycles(tables, logged, options, wrong.append)
    check_memory(memory, options.slack, wrong.append)
    print(f"{logged['count']} works, {row['received']} came, {row['lost']} lost, {row['invalid']} invalid; "
          f"{ran} ns of {logged['ns']}, {missing} missing; {cycles} cycles; "
          f"KiB {memory[len(memory) // 3]} .. {memory[-1]}")
    for what in wrong:
        print(f"soak: {what}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
