#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks laws that every report (json) obeys, whatever was measured.

usage: check_report.py REPORT.json [--burst TRUTH.json]

Each thread's buckets add up to its wall time. hits = received + lost for every source and kind.
--burst: the truth of tests/targets/burst. What is reported and what is lost add up to it, losses
happened, no quiet thread has a `lost` bucket, and a noisy one at most for as long as the burst was.
Prints one line, or every violation and status 1.
"""
import argparse
import collections
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_books(rows):
    sums, wall = collections.Counter(), {}
    for row in rows:
        key = row["pid"], row["tid"], row.get("birth_ns")  # numbers are used again
        sums[key] += row["ns"]
        wall.setdefault(key, row["wall_ns"])
        if wall[key] != row["wall_ns"]:
            yield f"thread {key}: two wall times, {wall[key]} and {row['wall_ns']}"
    for key, ns in sums.items():
        if ns != wall[key]:
            yield f"thread {key}: buckets sum to {ns}, its wall time is {wall[key]}"


def check_events(rows):
    for row in rows:
        if None in (row["hits"], row["received"], row["lost"]):
            continue
        if row["hits"] != row["received"] + row["lost"]:
            yield (f"events {row['source']}/{row['kind']}: hits {row['hits']} is not received "
                   f"{row['received']} + lost {row['lost']}")


def check_burst(tables, truth):
    lost_ns = {(r["pid"], r["tid"]): r["ns"] for r in tables["threads"] if r["bucket"] == "lost"}
    lost = sum(r["lost"] or 0 for r in tables["events"] if r["kind"] == "call")
    seen = sum(r["count"] for r in tables["calls"] if r["pid"] == truth["pid"])
    calls = sum(t["calls"] for t in truth["threads"])
    noisy = [t for t in truth["threads"] if t["role"] == "noisy"]

    if not lost:
        yield "nothing was lost: the burst was no burst"
    if seen + lost != calls:
        yield f"{seen} calls reported + {lost} lost are not the {calls} made"
    if lost and not any(lost_ns.get((truth["pid"], t["tid"])) for t in noisy):
        yield "calls were lost, but no noisy thread has a lost bucket"
    for thread in truth["threads"]:
        ns = lost_ns.get((truth["pid"], thread["tid"]), 0)
        # Until the next thing that was seen of a thread, its end at the latest.
        limit = 0 if thread["role"] == "quiet" else thread["last_ns"] - thread["first_ns"] + 10**9
        if ns > limit:
            yield f"{thread['role']} thread {thread['tid']}: {ns} ns lost, at most {limit} can be"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("--burst", metavar="TRUTH")
    options = parser.parse_args()

    tables = load(options.report)["tables"]
    wrong = [*check_books(tables.get("threads", [])), *check_events(tables.get("events", []))]
    if options.burst:
        wrong += check_burst(tables, load(options.burst))
    if wrong:
        print(f"{options.report}:", *wrong, sep="\n  ")
        return 1
    rows = ", ".join(f"{len(tables[name])} rows of {name}" for name in tables)
    print(f"the laws hold: {rows}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
