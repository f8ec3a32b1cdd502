#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table memory of a report (json) against the truth that simulated programs wrote.

usage: check_memory.py REPORT.json TRUTH.json...

Of each process and kind the sums over its rows are the truth's, to the byte. Where one source told
of all, so are peaks. Prints one line, or every difference and status 1.
"""
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


def main():
    wrong = []
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)["tables"]["memory"]
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            check(rows, json.load(file), wrong.append)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(sys.argv) - 2} processes have what they have" if not wrong else
          f"{len(wrong)} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
