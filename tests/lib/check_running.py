#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds a session on a running process against the simulated GPU's log (GPUSIM_LOG): what may run is not idle.

usage: check_running.py REPORT.json LOG.json

Of a device's wall time no more may be idle with a known cause than the device idled, whatever ran when the
session came or hangs at its end; and once a cudaDeviceSynchronize that began after the helper woke has
returned, no more may be unknown than what runs there unseen. Prints the shares, or what is wrong and status 1.
"""
import datetime
import json
import sys
import time

from compare_findings import both, length, union

HONEST = ("lost", "unknown", "unarmed")
EDGES_NS = 1000000	# the report's times are of another clock
WAKES_NS = 400000000	# within so long after the session began
SLACK_NS = 50000000


def monotonic(text):
    """Of a report's time."""
    whole, fraction = text.rstrip("Z").split(".")
    at = datetime.datetime.fromisoformat(whole + "+00:00")
    return int(at.timestamp()) * 10**9 + int(fraction.ljust(9, "0")) - (time.time_ns() - time.monotonic_ns())


def main():
    report, log = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    start, stop = monotonic(report["meta"]["start"]), monotonic(report["meta"]["end"])
    rows = [r for r in report["tables"]["ledger"] if r["pid"] == log["pid"]]
    wall, wrong = rows[0]["wall_ns"] if rows else stop - start, []
    ran = length(both(union((w["start"], w["end"]) for w in log["works"]), [(start, stop)]))
    seen = sum(r["ns"] for r in rows if r["state"] != "idle")
    known = sum(r["ns"] for r in rows if r["state"] == "idle" and r["bucket"] not in HONEST)
    unknown = sum(r["ns"] for r in rows if r["bucket"] in HONEST)
    if known > wall - ran + EDGES_NS:
        wrong.append(f"idle with a cause {known} ns, of {wall - ran} idle ones")
    synced = min((c["end"] for c in log["calls"]
                  if c["function"] == "cudaDeviceSynchronize" and c["start"] >= start + WAKES_NS), default=stop)
    if synced < stop and unknown - (ran - seen) > synced - start + SLACK_NS:
        wrong.append(f"unknown {unknown} ns, of which {ran - seen} ran: all had been waited for after {synced - start}")
    if not rows:
        wrong.append("the process has no book")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"of {wall / 1e9:.3f} s: ran {ran / wall:.1%}, seen {seen / wall:.1%}, idle {known / wall:.1%},"
          f" unknown {unknown / wall:.1%}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
