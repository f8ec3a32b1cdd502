#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the device tables of reports (json) against the truth that simulated programs wrote.

usage: check_ledger.py REPORT.json TRUTH.json...

Every book adds up to its wall time, no row owns more than it was busy, every work met its launch,
and kernels and copies are as many (and as many bytes) as the truth says were launched. Who had a
device of the host adds up too, and is what the books of its processes say.
Prints one line, or every difference and status 1.
"""
import collections
import json
import sys

def check_books(rows, say):
    books = collections.defaultdict(list)
    for row in rows:
        books[row["pid"], row["device"]].append(row)
        if row["state"] != "idle" and not row["ns"] <= row["busy_ns"]:
            say(f"owns more than it was busy: {row}")
    for book, of in books.items():
        total = sum(row["ns"] for row in of)
        if {total} != {row["wall_ns"] for row in of}:
            say(f"book {book}: {total} ns of {of[0]['wall_ns']}")
        keys = [(row["state"], row["bucket"]) for row in of]
        if len(keys) != len(set(keys)):
            say(f"book {book}: a bucket has two rows")
    return books


def check_devices(rows, ledger, say):
    busy = collections.Counter()
    for row in ledger:
        if row["state"] != "idle":
            busy[row["device_uuid"], row["pid"]] += row["ns"]
    devices = collections.defaultdict(dict)
    for row in rows:
        devices[row["device_uuid"]][row["pid"] or row["owner"]] = row
    for uuid, owners in devices.items():
        total = sum(row["ns"] for row in owners.values())
        if {total} != {row["wall_ns"] for row in owners.values()}:
            say(f"device {uuid}: {total} ns of its wall time")
        users = [pid for (device, pid), ns in busy.items() if device == uuid and ns]
        shared = owners.get("shared", {"ns": 0})["ns"]
        for pid in users if len(users) < 3 else []:
            owned = owners.get(pid, {"ns": 0})["ns"]
            if owned + shared != busy[uuid, pid]:
                say(f"device {uuid}: {pid} had {owned} + {shared} of {busy[uuid, pid]} ns")


def launched(truth, prefix, key):
    return sum(f[key] for f in truth["functions"] if f["function"].startswith(prefix))


def check_works(tables, truth, say):
    kernels, copies = (
        [r for r in tables[name] if r["pid"] == truth["pid"]] for name in ("kernels", "copies")
    )
    own = [r for r in kernels if r["bucket"] != "comm"]  # NCCL's are launched by NCCL
    pairs = {
        "kernels": (sum(r["count"] for r in own), launched(truth, "cuLaunchKernel", "count")),
        "copies": (sum(r["count"] for r in copies), launched(truth, "cuMemcpy", "count")),
        "bytes": (sum(r["bytes"] for r in copies), launched(truth, "cuMemcpy", "bytes")),
    }
    for what, (seen, real) in pairs.items():
        if seen != real:
            say(f"pid {truth['pid']}: {seen} {what}, the truth has {real}")


def main():
    wrong = []
    with open(sys.argv[1], encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    books = check_books(tables["ledger"], wrong.append)
    check_devices(tables["devices"], tables["ledger"], wrong.append)
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            check_works(tables, json.load(file), wrong.append)
    for row in tables["events"]:
        if row["kind"] == "work" and (row["matched"] != row["received"] or row["orphan"] or row["late"]):
            wrong.append(f"not all works met their launch: {row}")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(books)} books add up" if not wrong else f"{len(wrong)} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
