#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table `lines` or `modules` of a report (json) against a program's own marks and the simulated
GPU's log.

usage: check_marks.py lines REPORT.json LOG.json MARKS.json FILE
       check_marks.py modules REPORT.json LOG.json MARKS.json

MARKS: [[ns, key], ...], the line of FILE that the program was on from then on (0: none), or the chain of
modules that its first thread was in ("": none), in order. A call of the log belongs to what was marked at
its start, and a work to the call that launched it: to a line whichever thread made the call, to a module
if the first thread did. Device time, launches and, of lines, syncs of each must be equal, to the
nanosecond and the call; what the table has on no line must be what was on none. Prints one line, or every
difference and status 1.
"""
import bisect
import collections
import json
import sys

# table: columns of the report, of what the truth has
COLUMNS = {"lines": ("device_ns", "launches", "syncs"), "modules": ("device_self_ns", "launches")}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def truth_of(table, log, marks):
    """{key: [device ns, launches, syncs]}; "none" has the rest."""
    at = [ns for ns, _ in marks]
    sums = collections.defaultdict(lambda: [0, 0, 0])
    key_of = {}
    for call in log["calls"]:
        i = bisect.bisect_right(at, call["start"]) - 1
        counts = i >= 0 and (table == "lines" or call["tid"] == log["pid"])
        key = counts and marks[i][1] or "none"
        if call["correlation"]:
            key_of[call["correlation"]] = key
        if call["class"] in ("launch", "sync"):
            sums[key][1 if call["class"] == "launch" else 2] += 1
    for work in log["works"]:
        sums[key_of.get(work["correlation"], "none")][0] += work["end"] - work["start"]
    return sums


def reported(table, report, file):
    sums = collections.defaultdict(lambda: [0] * len(COLUMNS[table]))
    for row in report["tables"][table]:
        key = row["module"] if table == "modules" else row["line"] if row["file"] == file else "none"
        for i, column in enumerate(COLUMNS[table]):
            sums[key][i] += row[column] or 0
    return sums


def main():
    table, report, log, marks = sys.argv[1], *(load(path) for path in sys.argv[2:5])
    truth, rows = truth_of(table, log, marks), reported(table, report, sys.argv[5:] and sys.argv[5])
    total = sum(sums[1] for sums in truth.values())
    if table == "modules":
        truth.pop("none")
    truth, rows = ({key: list(sums[:len(COLUMNS[table])]) for key, sums in of.items() if any(sums[:len(COLUMNS[table])])}
                   for of in (truth, rows))
    wrong = [key for key in sorted(set(truth) | set(rows), key=str) if truth.get(key) != rows.get(key)]
    for key in wrong:
        print(f"{key}: {', '.join(COLUMNS[table])} are {rows.get(key)}, truth {truth.get(key)}")
    if not wrong:
        truth.pop("none", None)
        print(f"{sum(sums[1] for sums in truth.values())} launches of {total} are in {len(truth)} {table}, as they were")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
