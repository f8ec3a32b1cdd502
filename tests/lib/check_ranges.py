#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table ranges of a report (json) against what tests/sim/ranges_truth says of itself.

usage: check_ranges.py REPORT.json TRUTH.json [PID]

Counts and launches are equal, the time on threads lies between the bounds, the wall is no longer
than that, and the device's time is that of the kernels and copies that were launched there, to the
nanosecond. With PID the report is of several processes, and that one is meant. Prints one line, or every difference and status 1.
"""
import json
import sys

# What is launched inside of each range; "copies" are all copies.
INSIDE = {
    "step": {"k_forward", "k_layer", "k_replay", "copies"},
    "forward": {"k_forward", "k_layer"},
    "layer": {"k_layer"},
    "load": {"copies"},
    "window": {"k_window", "k_replay"},
    "handoff": {"k_forward", "k_layer", "k_window", "k_replay", "copies"},
    "replay": {"k_replay"},
    "whole": set(),
    "gate": set(),
    "left": set(),
}


def main():
    tables, truth = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    pid = int(sys.argv[3]) if len(sys.argv) > 3 else None
    tables = {name: [row for row in rows if pid in (None, row["pid"])]
              for name, rows in tables["tables"].items() if name in ("kernels", "copies", "ranges")}
    device = {row["name"]: row["total_ns"] for row in tables["kernels"]}
    device["copies"] = sum(row["total_ns"] for row in tables["copies"])
    rows = {(row["nvtx_domain"] or "", row["range"]): row for row in tables["ranges"]}
    wrong = []

    def say(name, what, seen, real):
        wrong.append(f"{name}: {what} {seen}, truth {real}")

    for name, real in truth["ranges"].items():
        row = rows.pop((real["domain"], name), None)
        if row is None:
            say(name, "range", "not there", real)
            continue
        for what in ("count", "launches", "open"):
            if row[what] != real[what]:
                say(name, what, row[what], real[what])
        if real["open"] and name != "left":    # that ended with its threads
            if row["host_ns"] < real["least_ns"]:
                say(name, "host_ns", row["host_ns"], f"at least {real['least_ns']}")
        elif not real["least_ns"] <= row["host_ns"] <= real["most_ns"]:
            say(name, "host_ns", row["host_ns"], f"{real['least_ns']} to {real['most_ns']}")
        if row["wall_ns"] > row["host_ns"]:
            say(name, "wall_ns", row["wall_ns"], f"at most {row['host_ns']}")
        busy = sum(device[part] for part in INSIDE[name])
        if row["device_ns"] != busy:
            say(name, "device_ns", row["device_ns"], busy)
    marks = sum(row["count"] for row in rows.values() if row["kind"] == "mark")
    if marks != truth["marks"] or any(row["kind"] != "mark" for row in rows.values()):
        say("marks", "rows", rows, truth["marks"])
    for line in wrong:
        print(line)
    print("differences" if wrong else f"{len(truth['ranges'])} ranges are the truth's")
    return bool(wrong)


sys.exit(main())
