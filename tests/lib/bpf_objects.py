#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which BPF programs, maps and links does the kernel hold, and do some have no owner?

usage: bpf_objects.py            prints each as "KIND ID"
       bpf_objects.py left FILE  prints those that are not in FILE (an earlier output) and that no
                                 process has open: left behind; status 1 if there are any after 10 s

Needs root. What another process has made meanwhile is that process' own.
"""
import ctypes
import os
import struct
import sys
import time

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
NEXT_ID = {"prog": 11, "map": 12, "link": 31}   # commands of bpf(2)
PATIENCE_S = 10


def ids(command):
    libc, last = ctypes.CDLL(None, use_errno=True), 0
    while True:
        attr = ctypes.create_string_buffer(struct.pack("III", last, 0, 0), 12)
        if libc.syscall(SYS_BPF, command, attr, 12):
            return
        last = struct.unpack_from("I", attr, 4)[0]
        yield last


def objects():
    return {(kind, number) for kind, command in NEXT_ID.items() for number in ids(command)}


def held():
    """What some process has open, by itself or through a link."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fdinfo"):
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as info:
                    for line in info:
                        key, _, value = line.partition(":")
                        if key in ("prog_id", "map_id", "link_id"):
                            found.add((key[:-3], int(value)))
        except OSError:
            continue            # gone, or closed meanwhile
    return found


def left(before):
    """Held first: what is made in between is then no candidate yet."""
    end = time.monotonic() + PATIENCE_S
    while True:
        candidates = objects() - before
        remaining = (candidates - held()) & objects()
        if not remaining or time.monotonic() > end:
            return remaining
        time.sleep(0.2)


def main():
    if len(sys.argv) == 1:
        for kind, number in sorted(objects()):
            print(kind, number)
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        before = {(kind, int(number)) for kind, number in map(str.split, file)}
    remaining = left(before)
    for kind, number in sorted(remaining):
        print(f"{kind} {number} is nobody's")
    return 1 if remaining else 0


if __name__ == "__main__":
    sys.exit(main())
