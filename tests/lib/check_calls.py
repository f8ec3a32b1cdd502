#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the calls of a report (json, table calls) against those the simulated GPU logged (GPUSIM_LOG).

usage: check_calls.py REPORT.json LOG.json... [--since NS]

Of each process and function that gpuprof probes by itself, counts and errors must be the log's.
--since: calls that began before that time (CLOCK_MONOTONIC) are left out. Prints one line, or every
difference and status 1. Knows the forms of both files, and what compare_truth.py knows of the catalogue.
"""
import argparse
import collections
import json
import sys

from compare_truth import BY_FIRST_CALL, catalogue

NOT_READY = 600


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def logged(paths, probed, since):
    calls = collections.defaultdict(lambda: [0, 0])
    for log in map(load, paths):
        for call in log["calls"]:
            if call["function"] in probed and call["start"] >= since:
                row = calls[log["pid"], call["function"]]
                row[:] = row[0] + 1, row[1] + (call["result"] not in (0, NOT_READY))
    return calls


def reported(path, real):
    calls = collections.defaultdict(lambda: [0, 0])
    for r in load(path)["tables"]["calls"]:
        key = r["pid"], r["function"]
        if key in real or r["function"] not in BY_FIRST_CALL:
            row = calls[key]
            row[:] = row[0] + r["count"], row[1] + r["errors"]
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--since", type=int, default=0)
    options = parser.parse_args()
    real = logged(options.logs, catalogue(0), options.since)
    seen = reported(options.report, real)
    wrong = [f"pid {pid} {name}: {seen.get((pid, name))} calls and errors, the log has {real.get((pid, name))}"
             for pid, name in sorted(real.keys() | seen.keys()) if real.get((pid, name)) != seen.get((pid, name))]
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} differences" if wrong else
          f"{sum(count for count, _ in real.values())} calls are the truth")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
