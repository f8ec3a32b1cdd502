#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do two reports (json) of equal runs say the same of what was called and what devices did?

usage: same_tables.py REPORT.json REPORT.json

Compares what does not depend on how long things took or which number a process has. Prints a line,
or what differs and status 1.
"""
import json
import sys

COLUMNS = {
    "calls": ("comm", "function", "class", "count", "errors", "open", "result"),
    "kernels": ("device", "symbol", "name", "bucket", "count", "registers", "block", "grid", "occupancy_pct"),
    "copies": ("device", "direction", "pinned", "count", "bytes"),
    "ranges": ("nvtx_domain", "range", "count", "launches"),
    "memory": ("comm", "device", "kind", "live_bytes", "peak_bytes", "allocs", "frees", "failed", "leaked_bytes",
               "since", "frees_before", "unsized", "untracked", "incomplete"),
    "ledger": ("comm", "device", "device_uuid", "state", "bucket"),
}


def is_compared(table, row):
    """What idles is told by probes."""
    return table != "ledger" or row["state"] != "idle"


def rows(path, table):
    with open(path, encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    return sorted([str(row[c]) for c in COLUMNS[table]] for row in tables.get(table, []) if is_compared(table, row))


def main():
    same = True
    for table in COLUMNS:
        one, other = (rows(path, table) for path in sys.argv[1:3])
        for row in one:
            if row not in other:
                print(f"{table}: only in {sys.argv[1]}: {row}")
        for row in other:
            if row not in one:
                print(f"{table}: only in {sys.argv[2]}: {row}")
        same = same and one == other
    print("the same" if same else "they differ")
    return not same


sys.exit(main())
