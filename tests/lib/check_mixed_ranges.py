#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table ranges of a report (json) against what tests/sim/mix says of its ranges (--ranges DIR)
and what the simulated GPU logged (GPUSIM_LOG).

usage: check_mixed_ranges.py REPORT.json DIR LOG.json...

The rows are those of the ranges that were, with their counts, with the calls that gave devices work while
their thread had one open, and with these works' time, to the nanosecond. How long they were open lies
between the times that were read around their begin and their end. Prints one line, or every difference and status 1.
"""
import collections
import json
import os
import sys


class Range:
    """One line: a range of a thread, open from within begin to within end."""

    def __init__(self, line):
        tid, domain, name, kind, *times = line.split()
        self.tid, self.key = int(tid), (None if domain == "-" else domain, name, kind)
        times = [int(t) for t in times]
        self.begin, self.end = times[0:2], times[2:4]


def union_ns(spans):
    ns, until = 0, 0
    for start, end in sorted(spans):
        ns += max(0, end - max(start, until))
        until = max(until, end)
    return ns


def bounds(ranges, length):
    """The least and the most that length gives, of spans that lie within theirs."""
    return (length((r.begin[1], max(r.begin[1], r.end[0])) for r in ranges),
            length((r.begin[0], r.end[1]) for r in ranges))


def total_ns(spans):
    return sum(end - start for start, end in spans)


def launched_in(ranges, log):
    """Calls that gave work while a range of their thread was open, and the time of what they gave."""
    calls, ns, gave = collections.defaultdict(list), collections.Counter(), set()
    for w in log["works"]:
        ns[w["correlation"]] += w["end"] - w["start"]
        gave.add(w["correlation"])
    for call in log["calls"]:
        if call["correlation"] in gave:
            calls[call["tid"]].append(call)
    inside = set()
    for r in ranges:
        inside |= {c["correlation"] for c in calls[r.tid] if r.begin[1] <= c["start"] and c["end"] <= r.end[0]}
    return len(inside), sum(ns[c] for c in inside)


def check(rows, ranges, log, say):
    by_key = collections.defaultdict(list)
    for r in ranges:
        by_key[r.key].append(r)
    seen = {(row["nvtx_domain"], row["range"], row["kind"]): row for row in rows}
    if len(seen) != len(rows) or seen.keys() != by_key.keys():
        say(f"{len(rows)} rows {sorted(seen, key=str)}, the truth has {sorted(by_key, key=str)}")
    for key in seen.keys() & by_key.keys():
        row, of = seen[key], by_key[key]
        found = tuple(row[c] for c in ("count", "open", "launches", "device_ns"))
        real = (len(of), 0, *launched_in(of, log))
        if found != real:
            say(f"{key}: (count, open, launches, device_ns) {found}, the truth has {real}")
        for column, length in ("host_ns", total_ns), ("wall_ns", union_ns):
            least, most = bounds(of, length)
            if column == "wall_ns" and len({r.tid for r in of}) > 1:
                least = 0	# threads' events need not come in the order of time: some of it may be missed
            if not least <= row[column] <= most:
                say(f"{key}: {column} {row[column]}, the truth has {least} to {most}")


def main():
    wrong, total, launches = [], 0, 0
    with open(sys.argv[1], encoding="utf-8") as file:
        table = json.load(file)["tables"]["ranges"]
    pids = set()
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8") as file:
            log = json.load(file)
        pid = log["pid"]
        pids.add(pid)
        with open(os.path.join(sys.argv[2], f"{pid}.ranges"), encoding="utf-8") as file:
            ranges = [Range(line) for line in file]
        total += len(ranges)
        rows = [row for row in table if row["pid"] == pid]
        launches += sum(row["launches"] for row in rows)
        check(rows, ranges, log, lambda text, pid=pid: wrong.append(f"pid {pid}: {text}"))
    if {row["pid"] for row in table} - pids:
        wrong.append(f"ranges of {({row['pid'] for row in table} - pids)}, which were not")
    if not launches:
        wrong.append("nothing was launched in any range")
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} differences" if wrong else f"{total} ranges are the truth's")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
