#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table memory of a report (json) against the truth that simulated programs wrote.

usage: check_memory.py REPORT.json TRUTH.json... [--calls | --lost] [--faults]

Of each process, device and kind the sums over its rows are the truth's, to the byte, so are peaks, and no
other process has any. --calls: calls alone reported it, which know no devices;
--lost: calls reported all, and records some: sums are by kind, and peaks of what has no record not comparable. --faults: or all its rows are marked, and nothing is said of leaks. Prints one line, or every difference and status 1.
"""
import argparse
import collections
import json
import sys

SUMS = ("live_bytes", "allocs", "frees")	# failed ones have no device


def add_up(rows, key, names):
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        for name in names:
            sums[key(row)][name] += row[name]
    return {key: counts for key, counts in sums.items() if any(counts.values())}


def compare(seen, real, pid, say):
    for key in sorted(seen.keys() | real.keys(), key=str):
        if seen.get(key) != real.get(key):
            say(f"pid {pid}: {key} is {dict(seen.get(key, {}))}, the truth has {dict(real.get(key, {}))}")


def check(rows, truth, calls, lost, say):
    def key(row):
        return row["kind"] if calls or lost else (row["device"], row["kind"])

    pid = truth["pid"]
    mine = [row for row in rows if row["pid"] == pid]
    compare(add_up(mine, key, SUMS), add_up(truth["memory"], key, SUMS), pid, say)
    compare(add_up(mine, lambda row: row["kind"], ("failed",)),
            add_up(truth["memory"], lambda row: row["kind"], ("failed",)), pid, say)
    seen = sorted(((key(row), row["peak_bytes"]) for row in mine if row["allocs"]), key=str)
    real = sorted(((key(row), row["peak_bytes"]) for row in truth["memory"] if row["allocs"]), key=str)
    if seen != real and not lost:
        say(f"pid {pid}: peaks are {seen}, the truth has {real}")
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
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--lost", action="store_true")
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    wrong, marked, pids = [], 0, set()
    with open(options.report, encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    for path in options.truths:
        with open(path, encoding="utf-8") as file:
            truth = json.load(file)
        pids.add(truth["pid"])
        if is_marked(tables, truth["pid"], wrong.append):
            marked += 1
            continue
        check(tables["memory"], truth, options.calls, options.lost, wrong.append)
    others = {row["pid"] for row in tables["memory"]} - pids
    if others:
        wrong.append(f"processes {sorted(others, key=str)} have memory, and wrote no truth")
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
