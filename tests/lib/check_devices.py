#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table `devices` of a report (json) against what the simulated GPU logged (GPUSIM_LOG) in all
processes that used it.

usage: check_devices.py REPORT.json LOG.json... [--turns | --apart | --any]

Of every device, known by its UUID whatever number a process gives it, each process must own the moments at
which it alone ran, `shared` are those at which several did, `idle` is the rest of the wall time (`unknown`
where works could not be seen: no more than that is of the processes' own books); no row is of anybody else. All of it to the nanosecond, but that each process's times are all off by as much as the report's
clock uncertainty says at most: so a work that begins or ends while another process runs, or as it begins or
ends, may count for twice that more or less. The wall time holds all works and is no longer than the session.
All works are in the table events, and have met their launch. And what a process waited with work queued while others ran (the ledger's `other-process`) must be the
log's, to 5 us for each call or 2 %, whichever is larger. --turns: nothing may be shared, and some process
must have waited; --apart: each process has a device of its own; --any: none of these matters; else something must be shared. The
wall time of a device is from_ns to until_ns, the session's end, and holds that of every process's own book. Prints one line, or every difference and status 1.
Knows the rules of ledger/host_devices.h in plain words, over complete lists.
"""
import argparse
import bisect
import collections
import json
import sys

NS_PER_CALL = 5000
SHARE = 0.02


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def union(spans):
    """The same time as (start, end) apart from each other, in order."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged


def common_ns(a, b):
    """How long both run, of two that union made."""
    ns, i, j = 0, 0, 0
    while i < len(a) and j < len(b):
        ns += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return ns


def owners_of(ran):
    """Of {pid: union}: ns of each pid that ran alone, and under "shared" of several at once."""
    edges = sorted((at, step, pid) for pid, spans in ran.items() for span in spans
                   for at, step in zip(span, (1, -1)))
    owned, running, before = collections.Counter(), set(), 0
    for at, step, pid in edges:
        if running:
            owned[next(iter(running)) if len(running) == 1 else "shared"] += at - before
        before = at
        (running.add if step > 0 else running.remove)(pid)
    return {owner: ns for owner, ns in owned.items() if ns}


def edges_near(spans, others, spare_ns):
    """How many of the edges of spans lie in others, or at most spare_ns beside."""
    wide = union((start - spare_ns, end + spare_ns) for start, end in others)
    starts = [start for start, _ in wide]
    near = 0
    for at in (at for span in spans for at in span):
        i = bisect.bisect_right(starts, at) - 1
        near += i >= 0 and at <= wide[i][1]
    return near


def spare_of(ran, clock_ns):
    """How much of each owner's time may be told as another's, of shared and idle all of that."""
    spare = {}
    for pid, spans in ran.items():
        others = union(span for other, of in ran.items() if other != pid for span in of)
        spare[pid] = 2 * clock_ns * (edges_near(spans, others, 2 * clock_ns) +
                                     edges_near(others, spans, 2 * clock_ns))
    spare["shared"] = spare["idle"] = sum(spare.values())
    return spare


def queued_of(works, calls):
    """When a process had nothing on a device but had launched the work that is its next there."""
    launches = {call["correlation"]: call for call in calls}
    spans, ran = [], union((w["start"], w["end"]) for w in works)
    first = {}
    for w in works:
        first.setdefault(w["start"], w)
    for (_, idle_since), (start, _) in zip(ran, ran[1:]):
        launch = launches[first[start]["correlation"]]
        spans.append((max(idle_since, launch["end"]), start))
    return union(spans)


def rows_by_device(report):
    devices = collections.defaultdict(dict)
    for row in report["tables"]["devices"]:
        devices[row["device_uuid"]][row["pid"] or row["owner"]] = row
    return devices


def check_device(uuid, rows, ran, report, say):
    """Returns the ns that were shared."""
    real = owners_of(ran)
    walls = {row["wall_ns"] for row in rows.values()}
    wall = max(walls, default=0)
    if len(walls) != 1:
        return say(f"{uuid}: wall times {walls}") or 0
    seen = {owner: row["ns"] for owner, row in rows.items()}
    unknown = seen.pop("unknown", 0)
    seen["idle"] = seen.get("idle", 0) + unknown
    if unknown > sum(row["ns"] for row in report["tables"]["ledger"]
                     if row["device_uuid"] == uuid and row["bucket"] in ("lost", "unknown")):
        say(f"{uuid}: unknown for {unknown} ns, more than to its processes")
    real["idle"] = wall - sum(real.values())
    spare = spare_of(ran, report["meta"]["clock_uncertainty_ns"])
    if sum(seen.values()) != wall:
        say(f"{uuid}: {seen} are not {wall} ns of wall time")
    for owner in sorted(seen.keys() | real.keys(), key=str):
        if abs(seen.get(owner, 0) - real.get(owner, 0)) > spare.get(owner, 0):
            say(f"{uuid}: {owner} had {seen.get(owner)} ns, by the logs {real.get(owner)} (+- {spare.get(owner)})")
    when = {(row["from_ns"], row["until_ns"]) for row in rows.values()}
    if [until - begin for begin, until in when] != [wall]:
        say(f"{uuid}: {wall} ns of wall time from and until {when}")
    if any(until != report["meta"]["duration_ns"] for _, until in when):
        say(f"{uuid}: it ends at {when}, the session at {report['meta']['duration_ns']}")
    own = max(row["wall_ns"] for row in report["tables"]["ledger"] if row["device_uuid"] == uuid)
    if own > wall:
        say(f"{uuid}: {wall} ns of wall time, of a process {own}")
    spans = [span for of in ran.values() for span in of]
    least = max(end for _, end in spans) - min(start for start, _ in spans)
    if not least <= wall <= report["meta"]["duration_ns"]:
        say(f"{uuid}: {wall} ns of wall time; works span {least}, the session {report['meta']['duration_ns']}")
    return real.get("shared", 0)


def check_waits(uuid, ran, logs, report, say):
    """Returns the ns that processes waited for others."""
    waited = 0
    for pid, (log, works) in logs.items():
        others = union(span for other, spans in ran.items() if other != pid for span in spans)
        real = common_ns(queued_of(works, log["calls"]), others)
        book = collections.Counter()
        for row in report["tables"]["ledger"]:
            if (row["pid"], row["device_uuid"]) == (pid, uuid):
                book[row["bucket"]] += row["ns"]
        seen = book["other-process"]
        limit = max(NS_PER_CALL * len(log["calls"]), SHARE * real)
        if abs(seen - real) > limit:
            say(f"{uuid}: {pid} waited {seen} ns for others, by the logs {real} (+- {limit:.0f}); its book: {dict(book)}")
        waited += real
    return waited


def check_events(report, total, say):
    rows = [row for row in report["tables"]["events"] if row["kind"] == "work"]
    if [(row["received"], row["matched"]) for row in rows] != [(total, total)]:
        say(f"of {total} works not all met their launch: {rows}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--any", action="store_true")
    options = parser.parse_args()
    wrong, shared, waited = [], 0, 0
    report, logs = load(options.report), [load(path) for path in options.logs]
    devices = collections.defaultdict(dict)
    for log in logs:
        for number, uuid in enumerate(log["devices"]):
            works = [w for w in log["works"] if w["device"] == number]
            if works:
                devices[uuid][log["pid"]] = log, works
    table = rows_by_device(report)
    if table.keys() != devices.keys():
        wrong.append(f"the report has {sorted(table)}, the logs have {sorted(devices)}")
    for uuid in sorted(table.keys() & devices.keys()):
        ran = {pid: union((w["start"], w["end"]) for w in works)
               for pid, (_, works) in devices[uuid].items()}
        shared += check_device(uuid, table[uuid], ran, report, wrong.append)
        waited += check_waits(uuid, ran, devices[uuid], report, wrong.append)
    check_events(report, sum(len(log["works"]) for log in logs), wrong.append)
    if options.turns and (shared or not waited):
        wrong.append(f"in turns {shared} ns were shared, and {waited} ns waited")
    if options.apart and (shared or waited or len(table) != len(logs)):
        wrong.append(f"apart {shared} ns were shared, and {waited} ns waited, of {len(logs)} on {len(table)}")
    if not (options.turns or options.apart or options.any or shared):
        wrong.append("no two processes ran at once")
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} differences" if wrong else
          f"{len(table)} devices of {len(logs)} processes are the truth: {shared} ns shared, {waited} waited,"
          f" clocks +- {report['meta']['clock_uncertainty_ns']}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
