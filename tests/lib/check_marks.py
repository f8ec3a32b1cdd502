#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table `lines`, `modules`, `ranges` or `gemm` of a report (json) against a program's own marks and the simulated
GPU's log.

usage: check_marks.py lines REPORT.json LOG.json MARKS.json FILE
       check_marks.py modules|ranges|gemm REPORT.json LOG.json MARKS.json

MARKS: [[ns, key], ...], the line of FILE that the program was on from then on (0: none), or the chain of
modules that its first thread was in, the ranges or the product of matrices ("": none), in order. A call of the log belongs to what was marked at
its start, and a work to the call that launched it: to a line or range whichever thread made the call, to a module
if the first thread did, to a product if its kernel multiplies. Launches of ranges are
all calls that a work came of. Device time, launches and, of lines, syncs of each must be equal, to the
nanosecond and the call; what the table has on no line must be what was on none. Prints one line, or every
difference and status 1.
"""
import bisect
import collections
import json
import re
import sys

# table: columns of the report, of what the truth has
COLUMNS = {"lines": ("device_ns", "launches", "syncs"), "modules": ("device_self_ns", "launches"),
           "gemm": ("device_ns", "launches"), "ranges": ("device_ns", "launches")}
PRODUCT = ("layout", "m", "n", "k", "batch", "dtype")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def truth_of(table, log, marks):
    """{key: [device ns, launches, syncs]}; "none" has the rest."""
    at = [ns for ns, _ in marks]
    sums = collections.defaultdict(lambda: [0, 0, 0])
    key_of = {}
    calls, works = log["calls"], log["works"]
    if table == "gemm":
        works = [work for work in works if re.search("gemm|nvjet", work["name"] or "")]
        multiply = {work["correlation"] for work in works}
        calls = [call for call in calls if call["correlation"] in multiply]
    made = {work["correlation"] for work in works}
    for call in calls:
        i = bisect.bisect_right(at, call["start"]) - 1
        counts = i >= 0 and (table != "modules" or call["tid"] == log["pid"])
        key = counts and marks[i][1] or "none"
        if call["correlation"]:
            key_of[call["correlation"]] = key
        if table == "ranges" and call["correlation"] in made:
            sums[key][1] += 1
        elif table != "ranges" and call["class"] in ("launch", "sync"):
            sums[key][1 if call["class"] == "launch" else 2] += 1
    for work in works:
        sums[key_of.get(work["correlation"], "none")][0] += work["end"] - work["start"]
    return each_inside(sums) if table == "ranges" else sums


def each_inside(sums):
    """Of "step/backward" what step and what backward has."""
    each = collections.defaultdict(lambda: [0, 0, 0])
    for key, of in sums.items():
        for name in set(key.split("/")):
            each[name] = [a + b for a, b in zip(each[name], of)]
    return each


def reported(table, report, file):
    sums = collections.defaultdict(lambda: [0] * len(COLUMNS[table]))
    for row in report["tables"][table]:
        if table == "ranges":
            key = row["range"]
        elif table == "lines":
            key = row["line"] if row["file"] == file else "none"
        else:
            key = row["module"] if table == "modules" else " ".join(str(row[column]) for column in PRODUCT)
        for i, column in enumerate(COLUMNS[table]):
            sums[key][i] += row[column] or 0
    return sums


def main():
    table, report, log, marks = sys.argv[1], *(load(path) for path in sys.argv[2:5])
    truth, rows = truth_of(table, log, marks), reported(table, report, sys.argv[5:] and sys.argv[5])
    total = sum(sums[1] for sums in truth.values())
    if table != "lines":
        truth.pop("none", None)
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
