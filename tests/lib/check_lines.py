#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table `lines` of a report (json) against a program's own tracing and the simulated GPU's log.

usage: check_lines.py REPORT.json LOG.json MARKS.json FILE

MARKS: [[ns, line], ...] of FILE, the line that the program was on from then on (0: none), in order. A
call of the log belongs to the line at its start, whichever thread made it, and a work to the line of
the call that launched it. Device time, launches and syncs of each line must be equal, to the nanosecond
and the call; what the table has on no line must be what was on none. Prints one line, or every
difference and status 1.
"""
import bisect
import collections
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def truth_of(log, marks):
    """{line: [device ns, launches, syncs]}"""
    at = [ns for ns, _ in marks]
    lines = collections.defaultdict(lambda: [0, 0, 0])
    line_of = {}
    for call in log["calls"]:
        i = bisect.bisect_right(at, call["start"]) - 1
        line = marks[i][1] if i >= 0 else 0
        if call["correlation"]:
            line_of[call["correlation"]] = line
        if call["class"] in ("launch", "sync"):
            lines[line][1 if call["class"] == "launch" else 2] += 1
    for work in log["works"]:
        lines[line_of.get(work["correlation"], 0)][0] += work["end"] - work["start"]
    return {line: sums for line, sums in lines.items() if any(sums)}


def reported(report, file):
    lines = collections.defaultdict(lambda: [0, 0, 0])
    for row in report["tables"]["lines"]:
        line = row["line"] if row["file"] == file else 0
        for i, column in enumerate(("device_ns", "launches", "syncs")):
            lines[line][i] += row[column] or 0
    return {line: sums for line, sums in lines.items() if any(sums)}


def main():
    report, log, marks = (load(path) for path in sys.argv[1:4])
    truth, rows = truth_of(log, marks), reported(report, sys.argv[4])
    wrong = [line for line in sorted(set(truth) | set(rows)) if truth.get(line) != rows.get(line)]
    for line in wrong:
        print(f"line {line}: [device ns, launches, syncs] are {rows.get(line)}, truth {truth.get(line)}")
    if not wrong:
        on_lines = sum(sums[1] for line, sums in truth.items() if line)
        print(f"{on_lines} launches of {sum(sums[1] for sums in truth.values())} are on {len(truth) - (0 in truth)} lines, as they were")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
