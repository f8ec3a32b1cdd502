#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table memory of a report (json) against the truth that simulated programs wrote.

usage: check_memory.py REPORT.json TRUTH.json... [--faults]

Of each process and kind the sums over its rows are the truth's, to the byte. Where one source told
of all, so are peaks. --faults: or all its rows are marked, and nothing is said of leaks. Prints one line, or every difference and status 1.
"""
import argparse
import collections
import json
import sys

SUMS = ("live_bytes", "allocs", "frees", "failed")


def add_up(rows, key):
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        for name in SUMS:
            sums[key(row)][name] += row[name]
    return sums


def check(rows, truth, say):
    pid = truth["pid"]
    mine = [row for row in rows if row["pid"] == pid]
    seen = add_up(mine, lambda row: row["kind"])
    real = add_up(truth["memory"], lambda row: row["kind"])
    for kind in seen.keys() | real.keys():
        if seen[kind] != real[kind]:
            say(f"pid {pid}: {kind} is {dict(seen[kind])}, the truth has {dict(real[kind])}")
    for kind in real:
        peaks = [row["peak_bytes"] for row in mine if row["kind"] == kind and row["allocs"]]
        devices = [row["peak_bytes"] for row in truth["memory"] if row["kind"] == kind and row["allocs"]]
        if len(peaks) == len(devices) and sorted(peaks) != sorted(devices):
            say(f"pid {pid}: peaks of {kind} are {peaks}, the truth has {devices}")
    for row in mine:
        if row["leaked_bytes"] not in (None, row["live_bytes"]) or row["untracked"] or row["unsized"]:
            say(f"not all of it is known: {row}")


def is_marked(tables, pid, say):
    rows = [row for row in tables["memory"] if row["pid"] == pid]
    if len({row["incomplete"] for row in rows}) > 1:
        say(f"pid {pid}: some rows are marked, some are not")
    if not rows or not rows[0]["incomplete"]:
        return False
    if any(row["leaked_bytes"] is not None for row in rows):
        say(f"pid {pid}: leaks of what is not all known")
    if any(row["finding"] == "never-freed" and row["pid"] == pid for row in tables["findings"]):
        say(f"pid {pid}: a finding on what is not all known")
    if any(row["live_bytes"] is not None for row in tables["processes"] if row["pid"] == pid):
        say(f"pid {pid}: the process has bytes that are not all known")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("truths", nargs="+")
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    wrong, marked = [], 0
    with open(options.report, encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    for path in options.truths:
        with open(path, encoding="utf-8") as file:
            truth = json.load(file)
        if is_marked(tables, truth["pid"], wrong.append):
            marked += 1
            continue
        check(tables["memory"], truth, wrong.append)
    if marked and not options.faults:
        wrong.append(f"{marked} processes are marked as incomplete")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} differences" if wrong else
          f"{len(options.truths) - marked} processes have what they have"
          + (f", of {marked} not all is known" if marked else ""))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
