#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a report with what tests/targets/waits says it waited for.

usage: check_waits.py REPORT.json TRUTH [--maybe]      --maybe: this kernel may take an interrupt for
                                                         a thread (the waker's name ends in ?)

Each way took at least so long in its bucket, and its row of the table offcpu names the system call and
who woke the thread (*: its rows, of any waker, add up to that). Ready without a CPU in calls it was as long as is said of it, and no longer than the
scheduler counts. What is off the CPU by reason in offcpu adds up to the thread's book. Prints one
line, or every violation and status 1.
"""
import collections
import json
import sys

SLACK_NS = 1_000_000


def read_truth(path):
    ways, late, tid = [], None, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if fields[0] == "thread":
                tid = int(fields[1])
            elif fields[0] == "late":
                late = int(fields[1]), int(fields[2])
            else:
                ways.append((fields[0], int(fields[1]), *fields[2:]))
    return ways, late, tid


def check_buckets(rows, ways):
    ns, blocked, least = collections.Counter(), {}, collections.Counter()
    for row in rows:
        ns[row["bucket"]] += row["ns"]
        blocked[row["bucket"]] = row["blocked_ns"]
    for bucket, at_least, *_ in ways:
        least[bucket] += at_least
    for bucket, at_least in least.items():
        if ns[bucket] < at_least:
            yield f"{bucket}: {ns[bucket]} ns, at least {at_least} is true"
        if (blocked.get(bucket) or 0) < at_least:
            yield f"{bucket}: {blocked.get(bucket)} ns of it blocked, at least {at_least} is true"
    for row in rows:
        if (row["blocked_ns"] or 0) > row["ns"]:
            yield f"{row['bucket']}: blocked for {row['blocked_ns']} of {row['ns']} ns"


def check_rows(rows, ways, maybe):
    for bucket, at_least, call, waker in ways:
        if bucket in ("sync", "runqueue"):
            continue
        wakers = {waker, waker + "?"} if maybe else {waker}
        if maybe and waker == "interrupt":
            wakers = {None, waker}      # it may have come in anybody's time: then nothing is claimed
        if waker == "*":
            reported = sum(r["total_ns"] for r in rows if r["reason"] == bucket and r["syscall"] == call)
            if reported < at_least:
                yield f"{bucket}, {call}: {reported} ns in rows of offcpu, at least {at_least} is true"
            continue
        found = [r for r in rows if r["reason"] == bucket and r["syscall"] == (None if call == "-" else call)
                 and r["waker_comm"] in wakers and r["total_ns"] >= at_least]
        if len(found) != 1:
            yield f"{bucket}, {call}, woken by {waker}: {len(found)} rows of offcpu, not one"


def check_sums(threads, rows):
    """What a thread was off the CPU is in both tables, by reason or after it was woken."""
    reasons = {r["reason"] for r in rows} | {"runqueue"}
    book = sum(r["ns"] for r in threads if r["bucket"] in reasons)
    reported = sum(r["total_ns"] for r in rows)
    if book != reported:
        yield f"offcpu adds up to {reported} ns, the thread's book to {book}"


def check_late(threads, late):
    """A wakeup begins a little before the scheduler counts that it waits."""
    reported = sum(r["runqueue_ns"] or 0 for r in threads if r["bucket"] == "sync")
    if late and not late[0] <= reported <= late[1] + SLACK_NS:
        yield f"sync: {reported} ns ready without a CPU, {late[0]} to {late[1]} are true"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    ways, late, tid = read_truth(sys.argv[2])
    threads = [r for r in tables["threads"] if r["tid"] == tid]
    rows = [r for r in tables["offcpu"] if r["tid"] == tid]
    wrong = [*check_buckets(threads, ways), *check_rows(rows, ways, "--maybe" in sys.argv),
             *check_sums(threads, rows), *check_late(threads, late)]
    if wrong:
        print(f"{sys.argv[1]}:", *wrong, sep="\n  ")
        return 1
    print(f"{len(ways)} waits are as they were")
    return 0


if __name__ == "__main__":
    sys.exit(main())
