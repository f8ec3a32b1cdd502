#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the device tables of a report (json) against what the simulated GPU logged (GPUSIM_LOG).

usage: check_works.py REPORT.json LOG.json... [--idle | --exact | --faults [--foreign-clock]] [--since NS]

Kernels (names, counts, ns), copies (directions, counts, bytes, ns) and the ledger's busy and owned
time of every bucket must be the log's, to the nanosecond, for each device of each process; all works
must have met their launch. --idle: so must the causes of idle time, to 5 us for each call or 2 %,
whichever is larger; --exact: to the nanosecond, from the session's begin to its end. --faults: works may be missing, but none is made up, what is missing is counted as
lost or invalid, and no book says of more time that it knows why the device idled than it did idle: the
rest must be `lost` or `unknown`. --since: works that began before that time (CLOCK_MONOTONIC) are left
out: the session came later. --foreign-clock: another client set CUPTI's, so times are interpolated; those of
kernels may be longer by a fifth. Prints one line, or every difference and status 1.
Knows the rules of ledger/device_book.h and ledger/idle.h in plain words, over complete lists.
"""
import argparse
import bisect
import collections
import json
import sys

STATES = {"compute": 0, "comm": 1, "copy": 2, "set": 3}
OTHERS = "[other]"	# kernels whose names had no room, of one class
NS_PER_CALL = 5000
SHARE = 0.02


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Work:
    """One work of the log, and where the ledger books it."""

    def __init__(self, logged, bucket_of):
        self.start, self.end = logged["start"], logged["end"]
        self.correlation = logged["correlation"]
        kind = logged["kind"]
        if kind == "kernel":
            self.bucket = bucket_of.get(logged["name"], "?")
            self.state = "comm" if self.bucket == "comm" else "compute"
        else:
            self.state, self.bucket = ("set", "set") if kind == "set" else ("copy", f"copy-{kind}")
        lane = logged["context"] << 32 | logged["stream"]
        self.rank = (STATES[self.state], self.start, lane, self.correlation)

    def row(self):
        return self.state, self.bucket


def sweep(works):
    """Owned ns of each (state, bucket), and the gaps between works as (start, end, ended_by)."""
    edges = sorted([(w.start, 1, i) for i, w in enumerate(works)] +
                   [(w.end, 0, i) for i, w in enumerate(works)])
    owned, gaps, running, before = collections.Counter(), [], set(), None
    for at, begins, i in edges:
        if running and at > before:
            owned[min((works[r] for r in running), key=lambda w: w.rank).row()] += at - before
        if not running and begins and before is not None and at > before:
            gaps.append((before, at))
        before = at
        (running.add if begins and works[i].end > works[i].start else running.discard)(i)
    return owned, gaps


def kernels_of(logged):
    rows = collections.defaultdict(lambda: [0, 0, 1 << 64, 0])
    for w in logged:
        if w["kind"] == "kernel":
            ns, row = w["end"] - w["start"], rows[w["name"]]
            row[:] = row[0] + 1, row[1] + ns, min(row[2], ns), max(row[3], ns)
    return {name: tuple(row) for name, row in rows.items()}


def copies_of(logged):
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for w in logged:
        if w["kind"] in ("h2d", "d2h", "d2d"):
            row = rows[w["kind"]]
            row[:] = row[0] + 1, row[1] + w["bytes"], row[2] + w["end"] - w["start"]
    return {kind: tuple(row) for kind, row in rows.items()}


class Report:
    """The rows of a report, by process and device."""

    def __init__(self, path):
        self.tables = load(path)["tables"]

    def rows(self, table, pid, device):
        return [r for r in self.tables[table] if (r["pid"], r["device"]) == (pid, device)]

    def kernels(self, pid, device):
        return {r["symbol"]: (r["count"], r["total_ns"], r["min_ns"], r["max_ns"])
                for r in self.rows("kernels", pid, device)}

    def copies(self, pid, device):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for r in self.rows("copies", pid, device):
            row = sums[r["direction"]]
            row[:] = row[0] + r["count"], row[1] + r["bytes"], row[2] + r["total_ns"]
        return {kind: tuple(row) for kind, row in sums.items() if kind != "set"}

    def buckets(self):
        return {r["symbol"]: r["bucket"] for r in self.tables["kernels"] if r["name"] != OTHERS}


def compare(what, seen, real, say):
    for key in sorted(seen.keys() | real.keys(), key=str):
        if seen.get(key) != real.get(key):
            say(f"{what} {key}: {seen.get(key)}, the log has {real.get(key)}")


def by_class(kernels, bucket_of):
    """Counts and ns of each class: where names had no room their rows are one."""
    sums = collections.defaultdict(lambda: [0, 0])
    for name, (count, total, _, _) in kernels.items():
        row = sums[bucket_of.get(name, "?")]
        row[:] = row[0] + count, row[1] + total
    return {bucket: tuple(row) for bucket, row in sums.items()}


def check_kernels(report, pid, device, logged, say):
    what, seen, real = f"pid {pid} device {device}: kernel", report.kernels(pid, device), kernels_of(logged)
    rows = report.rows("kernels", pid, device)
    if any(r["name"] == OTHERS for r in rows):
        sums = collections.defaultdict(lambda: [0, 0])
        for r in rows:
            row = sums[r["bucket"]]
            row[:] = row[0] + r["count"], row[1] + r["total_ns"]
        seen = {bucket: tuple(row) for bucket, row in sums.items()}
        real = by_class(real, report.buckets())
    compare(what, seen, real, say)


def check_device(report, pid, device, logged, say):
    works = [Work(w, report.buckets()) for w in logged]
    owned, _ = sweep(works)
    busy = collections.Counter()
    for w in works:
        busy[w.row()] += w.end - w.start
    rows = report.rows("ledger", pid, device)
    what = f"pid {pid} device {device}:"
    check_kernels(report, pid, device, logged, say)
    compare(f"{what} copies", report.copies(pid, device), copies_of(logged), say)
    ran = [r for r in rows if r["state"] != "idle"]
    compare(f"{what} owned", {(r["state"], r["bucket"]): r["ns"] for r in ran if r["ns"]},
            {row: ns for row, ns in owned.items() if ns}, say)
    compare(f"{what} busy", {(r["state"], r["bucket"]): r["busy_ns"] for r in ran if r["busy_ns"]},
            {row: ns for row, ns in busy.items() if ns}, say)
    if {sum(r["ns"] for r in rows)} != {r["wall_ns"] for r in rows}:
        say(f"{what} {sum(r['ns'] for r in rows)} ns do not add up to the wall time")


def check_events(report, total, say):
    for row in report.tables["events"]:
        if row["kind"] != "work":
            continue
        if row["received"] != total or row["matched"] != total or row["orphan"] or row["late"]:
            say(f"of {total} works: {row}")
        return
    if total:
        say(f"of {total} works the table events says nothing")


def check_books(report, logs, say):
    """Each table has rows of those processes and devices that the logs have such works of, and of no other."""
    works = [(log["pid"], w) for log in logs for w in log["works"]]
    for table, kinds in ("ledger", None), ("kernels", ("kernel",)), ("copies", ("h2d", "d2h", "d2d")):
        seen = {(r["pid"], r["device"]) for r in report.tables[table] if r.get("direction") != "set"}
        books = {(pid, w["device"]) for pid, w in works if not kinds or w["kind"] in kinds}
        if seen != books:
            say(f"{table}: of (pid, device) {sorted(seen - books)} there were none, {sorted(books - seen)} are missing")


# ---- with faults ----------------------------------------------------------------------------

HONEST = ("lost", "unknown", "unarmed")
APART_NS = 2000000	# a loss is known to lie between two flushes, works are longer


def check_faulty_device(report, pid, device, logged, longer, say):
    """Returns how many ns of the device's book are lost or unknown."""
    what, rows = f"pid {pid} device {device}:", report.rows("ledger", pid, device)
    real_kernels, real_copies = kernels_of(logged), copies_of(logged)
    for name, (count, total, _, _) in report.kernels(pid, device).items():
        if name is not None and (count > real_kernels.get(name, (0,))[0] or total > real_kernels[name][1] * longer):
            say(f"{what} kernel {name} ran {count} times, {total} ns: {real_kernels.get(name)}")
    for way, (count, size, _) in report.copies(pid, device).items():
        if count > real_copies.get(way, (0,))[0] or size > real_copies[way][1]:
            say(f"{what} {count} copies {way}: {real_copies.get(way)}")
    if not rows:
        say(f"{what} has no book")
        return 0
    if {sum(r["ns"] for r in rows)} != {rows[0]["wall_ns"]}:
        say(f"{what} {sum(r['ns'] for r in rows)} ns do not add up to the wall time")
    real = sum(sweep([Work(w, report.buckets()) for w in logged])[0].values())
    known = sum(r["ns"] for r in rows if r["state"] == "idle" and r["bucket"] not in HONEST)
    if known > rows[0]["wall_ns"] - real + APART_NS + SHARE * real:
        say(f"{what} knows why it idled for {known} ns, of {rows[0]['wall_ns'] - real} idle ones")
    return sum(r["ns"] for r in rows if r["bucket"] in ("lost", "unknown"))


def check_faulty_hosts(report, logs, say):
    """A device is not told to be idle for more than it was: the rest must be unknown."""
    spans, rows = collections.defaultdict(list), collections.defaultdict(list)
    for log in logs:
        for w in log["works"]:
            spans[log["devices"][w["device"]]].append((w["start"], w["end"]))
    for row in report.tables["devices"]:
        rows[row["device_uuid"]].append(row)
    for uuid, of in rows.items():
        wall = of[0]["wall_ns"]
        if sum(row["ns"] for row in of) != wall:
            say(f"device {uuid}: {of} do not add up")
        real, before = 0, 0
        for start, end in sorted(spans[uuid]):
            real += max(0, end - max(start, before))
            before = max(before, end)
        idle = sum(row["ns"] for row in of if row["owner"] == "idle")
        if idle > wall - real + APART_NS + SHARE * real:
            say(f"device {uuid}: idle for {idle} ns, of {wall - real} idle ones")


def check_faulty_events(report, total, unseen, say):
    row = next((r for r in report.tables["events"] if r["kind"] == "work"), None)
    if row is None:
        return 0
    missing = row["hits"] < total and not unseen
    if row["hits"] != row["received"] + row["lost"] or missing:
        say(f"of {total} works: {row}")
    return row["received"] - row["invalid"]


def check_faulty(report, logs, longer, say):
    total = sum(len(log["works"]) for log in logs)
    unseen = 0
    for log in logs:
        for device in sorted({w["device"] for w in log["works"]}):
            logged = [w for w in log["works"] if w["device"] == device]
            unseen += check_faulty_device(report, log["pid"], device, logged, longer, say)
    check_faulty_hosts(report, logs, say)
    # Calls that a busy machine lost make time `lost`, too; works are missing where a helper says so.
    said = any(row["kind"] == "unseen" or row["kind"] == "api" and row["lost"]
               for row in report.tables["events"])
    seen = check_faulty_events(report, total, said, say)
    if said and seen < total and not unseen:
        say("works are missing, and no book has time that is lost or unknown")
    print(f"seen {'all' if seen == total else 'some' if seen else 'none'},"
          f" not known {'some' if said else 'none'}")


# ---- why devices idled ----------------------------------------------------------------------

CAUSES = {"copy": "copy-host", "free": "alloc", "collective": "comm-host"}
# What a thread did outside of calls, which the log does not distinguish.
OTHER = ("other", "off-cpu", "stopped", "runqueue", "disk", "io", "lock", "page-fault", "sleep", "input", "op", "python",
         "init")
OUTSIDE = ("other", "no-work", "unknown", "unarmed")	# of time outside what a log knows


class Thread:
    """The calls of one thread, one after the other."""

    def __init__(self):
        self.calls = []

    def within(self, start, end):
        first = bisect.bisect_right(self.calls, start, key=lambda call: call["end"])
        for i in range(first, len(self.calls)):
            if self.calls[i]["start"] >= end:
                return
            yield self.calls[i]

    def divide(self, start, end, idle):
        """Adds the time of [start, end) to the causes of the calls that it was in."""
        left = end - start
        for call in self.within(start, end):
            ns = min(call["end"], end) - max(call["start"], start)
            if ns > 0:
                idle[CAUSES.get(call["class"], call["class"])] += ns
                left -= ns
        idle["other"] += left


def idle_of(works, gaps, calls):
    """Idle ns by cause, of gaps between works."""
    threads, launches = collections.defaultdict(Thread), {}
    for call in calls:
        threads[call["tid"]].calls.append(call)	# outermost ones: in the order in which they end
        launches[call["correlation"]] = call
    first, idle = {}, collections.Counter()
    for w in works:
        first[w.start] = min(first.get(w.start, w), w, key=lambda x: x.rank)
    for start, end in gaps:
        call = launches[first[end].correlation]
        enter = min(max(call["start"], start), end)
        leave = min(max(call["end"], enter), end)
        idle["queued"] += end - leave
        idle[CAUSES.get(call["class"]) if call["class"] in ("copy", "collective") else "launch"] += \
            leave - enter
        threads[call["tid"]].divide(start, enter, idle)
    return idle


def check_idle_exactly(report, pid, device, log, say):
    works = [Work(w, report.buckets()) for w in log["works"] if w["device"] == device]
    start, stop = log["session"]
    gaps = [(start, min(w.start for w in works))] + sweep(works)[1]
    real = idle_of(works, [g for g in gaps if g[0] < g[1]], log["calls"])
    real["no-work"] += stop - max(w.end for w in works)
    rows = report.rows("ledger", pid, device)
    seen = {r["bucket"]: r["ns"] for r in rows if r["state"] == "idle" and r["ns"]}
    compare(f"pid {pid} device {device}: idle", seen, {c: ns for c, ns in real.items() if ns}, say)


def check_idle(report, pid, device, log, say):
    works = [Work(w, report.buckets()) for w in log["works"] if w["device"] == device]
    asked = {w.correlation for w in works}
    threads = {call["tid"] for call in log["calls"] if call["correlation"] in asked}
    calls = [call for call in log["calls"] if call["tid"] in threads]
    first = min(min(w.start for w in works), min(call["start"] for call in calls))
    rows = report.rows("ledger", pid, device)
    gaps = [(first, min(w.start for w in works))] + sweep(works)[1]
    real = idle_of(works, gaps, calls)
    seen = collections.Counter()
    for row in rows:
        if row["state"] == "idle":
            seen["other" if row["bucket"] in OTHER else row["bucket"]] += row["ns"]
    # A book begins before the first call, and ends when its session does: no log knows how long.
    outside = rows[0]["wall_ns"] - max(w.end for w in works) + first
    # In a call, too, a thread may be without a CPU, which the log counts as the call's.
    without_cpu = sum(row["ns"] for row in rows if row["state"] == "idle" and row["bucket"] == "runqueue")
    limit = max(NS_PER_CALL * len(calls), SHARE * sum(real.values()))
    for cause in sorted(set(seen) | set(real)):
        least, most = real[cause] - limit - without_cpu, real[cause] + limit
        if cause == "other":
            most += without_cpu
        if cause in OUTSIDE:
            most += outside
        if not least <= seen[cause] <= most:
            say(f"pid {pid} device {device}: idle {cause} {seen[cause]} ns, the log has {real[cause]}"
                f" (+- {limit:.0f}, {without_cpu} without a CPU, and {', '.join(OUTSIDE)} up to {outside}"
                " before and behind)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--foreign-clock", action="store_true")
    parser.add_argument("--since", type=int, default=0)
    options = parser.parse_args()
    wrong, total, books = [], 0, 0
    report, logs = Report(options.report), [load(path) for path in options.logs]
    for log in logs:
        log["works"] = [w for w in log["works"] if w["start"] >= options.since]
    if options.faults:
        check_faulty(report, logs, 1.2 if options.foreign_clock else 1, wrong.append)
        for line in wrong[:40]:
            print(line, file=sys.stderr)
        return bool(wrong)
    for log in logs:
        total += len(log["works"])
        for device in sorted({w["device"] for w in log["works"]}):
            books += 1
            logged = [w for w in log["works"] if w["device"] == device]
            check_device(report, log["pid"], device, logged, wrong.append)
            if options.idle:
                check_idle(report, log["pid"], device, log, wrong.append)
            if options.exact:
                check_idle_exactly(report, log["pid"], device, log, wrong.append)
    check_books(report, logs, wrong.append)
    check_events(report, total, wrong.append)
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} differences" if wrong else f"{total} works in {books} books are the truth")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
