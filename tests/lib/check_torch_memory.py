#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds `gpuprof report --format torch-memory` against what PyTorch itself recorded of the same run.

usage: check_torch_memory.py OURS.pickle PYTORCHS.pickle SCRIPT.py

Segments, the blocks in use in each with their sizes, and every event, in order, must be equal; and so must
be the lines of SCRIPT.py that each was asked for at. PyTorch's may end before ours. Prints one line, or the
first difference and status 1.
"""
import pickle
import sys


def load(path):
    with open(path, "rb") as file:
        return pickle.load(file)


def lines(of, script):
    return [(f["line"], f["name"].split(".")[-1]) for f in of["frames"] if f["filename"] == script]


def state(snapshot, script):
    return sorted((s["device"], s["address"], s["total_size"], s["segment_type"], s["allocated_size"], s["active_size"],
                   [(b["address"], b["size"], b["requested_size"], lines(b, script))
                    for b in s["blocks"] if b["state"] == "active_allocated"]) for s in snapshot["segments"])


def trace(snapshot, script):
    return [[(e["action"], e.get("addr"), e["size"], lines(e, script)) for e in of if e["action"] != "snapshot"]
            for of in snapshot["device_traces"]]


def main():
    script = sys.argv[3]
    ours, torchs = (load(path) for path in sys.argv[1:3])
    segments, events = state(ours, script), trace(ours, script)
    for a, b in zip(segments, state(torchs, script), strict=True):
        if a != b:
            print(f"segment {a}, by PyTorch {b}")
            return 1
    n = 0
    for mine, its in zip(events, trace(torchs, script)):
        for a, b in zip(mine, its):
            if a != b:
                print(f"event {n}: {a}, by PyTorch {b}")
                return 1
            n += 1
        if len(mine) < len(its):
            print(f"event {len(mine)}: none, by PyTorch {its[len(mine)]}")
            return 1
    print(f"{len(segments)} segments, {sum(len(s[-1]) for s in segments)} blocks and {n} events as PyTorch has them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
