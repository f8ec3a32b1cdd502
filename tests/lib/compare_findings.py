#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the findings of a report (json) against what the simulated GPU and the program wrote down.

usage: compare_findings.py REPORT.json LOG.json MARKS.json

LOG is the simulation's (GPUSIM_LOG: every work), MARKS the program's (PRETRAIN_MARKS of pretrain: when each
planted fault was at work, and how long its thread had no CPU). The truth of a fault, as a share of
the wall time of the report's book:
  input     no work ran, and the program waited for a batch
  sync      no work ran, from when the device ran dry in a planted sync until its next work, less input
  comm      communication ran, and no other kernel
  pageable  a copy of pageable memory ran, and no kernel; or no work ran since it did in that call
Every fault that was planted is found with its share within 2 percentage points, the verdict names the
largest, and nothing else is found with 5 % or more. That the thread had no CPU is kept apart: a share may
be lower by that of cpu-starved, which is not more than the kernel counts, and by what was not reported of it
(in calls only the last wait is), up to 5 points; of calls it may be higher by the latter only. Prints a line per fault, or every difference
and status 1.
"""
import json
import sys

FINDING = {"input": "input-stall", "comm": "exposed-comm", "sync": "needless-sync",
           "pageable": "unpinned-copies"}
POINTS = 0.02
LOUD = 0.05
UNREPORTED = 0.05
CALLS = {"sync", "pageable"}    # what others, who had no CPU either, do not add to


def union(spans):
    """Sorted, disjoint."""
    out = []
    for start, end in sorted(s for s in spans if s[1] > s[0]):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def length(spans):
    return sum(end - start for start, end in spans)


def both(a, b):
    """Where two unions overlap."""
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            out.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out


def without(a, b):
    """a where b is not."""
    inverse, at = [], 0
    for start, end in b:
        inverse.append((at, start))
        at = end
    inverse.append((at, 1 << 63))
    return both(a, union(inverse))


def begun_in(gaps, calls):
    """The gaps that began while a call of these went on."""
    return [g for g in gaps if any(start <= g[0] < end for start, end in calls)]


def truth(log, marks):
    """Fault -> ns."""
    works = log["works"]
    span = lambda keep: union((w["start"], w["end"]) for w in works if keep(w))
    is_comm = lambda w: bool(w["name"]) and w["name"].startswith("nccl")
    compute = span(lambda w: w["kind"] == "kernel" and not is_comm(w))
    comm = span(is_comm)
    busy = span(lambda w: True)
    gaps = [(a[1], b[0]) for a, b in zip(busy, busy[1:])]
    during = {f: union((m["start"], m["end"]) for m in marks["marks"] if m["fault"] == f)
              for f in FINDING}
    pageable = span(lambda w: w["pageable"] and w["bytes"] > 65536)
    in_copy = begun_in(gaps, during["pageable"]) + both(gaps, during["pageable"])
    return {
        "input": length(both(gaps, during["input"])),
        "sync": length(without(begun_in(gaps, during["sync"]), during["input"])),
        "comm": length(without(comm, compute)),
        "pageable": length(without(pageable, union(compute + comm))) + length(union(in_copy)),
    }


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def without_cpu(tables, found, marks, wall, say):
    """The shares that cpu-starved has, and that is known to the kernel alone; takes it out of found."""
    reported = sum(r["runqueue_ns"] or 0 for r in tables["threads"] if r["tid"] == marks["pid"])
    starved = found.pop("cpu-starved", {"share": 0})["share"]
    if reported > marks["run_delay_ns"] + POINTS * wall:
        say(f"ready without a CPU for {reported} ns, the kernel counts {marks['run_delay_ns']}")
    if starved > reported / wall + POINTS:
        say(f"cpu-starved has {starved}, the thread was so for {reported / wall}")
    return starved, min(max(marks["run_delay_ns"] - reported, 0) / wall, UNREPORTED)


def check(report, log, marks, say):
    """Lines that say how they compare."""
    tables, pid = report["tables"], marks["pid"]
    walls = {r["wall_ns"] for r in tables["ledger"] if r["pid"] == pid}
    found = {r["finding"]: r for r in tables["findings"] if r["pid"] == pid}
    if len(walls) != 1:
        say(f"pid {pid} has {len(walls)} books in the report")
        return []
    wall = walls.pop()
    starved, unreported = without_cpu(tables, found, marks, wall, say)
    slack = starved + unreported
    # What may be gpuprof's own cost is in the share of a sync and not in what is gained.
    own = sum(r["ns"] for r in tables["threads"] if (r["pid"], r["bucket"]) == (pid, "gpuprof")) / wall
    planted = {m["fault"] for m in marks["marks"]}
    lines, shares = [], {}
    for fault, ns in truth(log, marks).items():
        seen = found.pop(FINDING[fault], {"share": 0, "gain_bound": 0})
        shares[FINDING[fault]] = ns / wall
        off = seen["share"] - ns / wall
        allowed = POINTS + (unreported if off > 0 and fault in CALLS else slack)
        if fault in planted or fault == "comm" or seen["share"] >= LOUD:
            lines.append(f"{FINDING[fault]:16} {100 * seen['share']:5.1f} %   truth {100 * ns / wall:5.1f} %")
            if abs(off) > allowed:
                say(f"{lines[-1]}: apart by {100 * off:.1f} points, {100 * allowed:.1f} allowed")
        if seen["gain_bound"] < seen["share"] - (own if fault == "sync" else 0):
            say(f"{FINDING[fault]}: gains at most {seen['gain_bound']}, less than its share without {own}")
    for row in found.values():
        if (row["share"] or 0) >= LOUD + slack:
            say(f"found, but not planted: {row}")
    shares["cpu-starved"] = starved
    check_verdict(report["meta"]["verdict"], shares, slack, say)
    return lines


def check_verdict(verdict, shares, slack, say):
    largest = max(shares.values())
    close = [f for f, share in shares.items() if share >= largest - POINTS - slack]
    if largest >= LOUD + POINTS + slack and not any(f" is lost to {f}:" in verdict for f in close):
        say(f"the verdict names none of {close}: {verdict}")
    if largest < LOUD - POINTS and " is lost to " in verdict and slack < POINTS:
        say(f"nothing was planted, yet the verdict is: {verdict}")
    if verdict.count("\n") > 2:
        say("the verdict has more than three sentences")


def main():
    wrong = []
    lines = check(*map(read, sys.argv[1:4]), wrong.append)
    for line in wrong:
        print(line, file=sys.stderr)
    print("\n".join(lines) if not wrong else f"{len(wrong)} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
