#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs FIRST, and when it has ended SECOND under the same pid. Exits 3 where that cannot be had.

usage: reuse_pid.py FIRST [ARG...] -- SECOND [ARG...]

The kernel gives out numbers in order; /proc/sys/kernel/ns_last_pid says where it goes on (root).
"""
import os
import sys

TRIES = 2000		# others fork meanwhile


def start(command, wanted=None):
    """The pid of command, if it is the wanted one; else None: nothing was started."""
    child = os.fork()
    if not child:
        if wanted and os.getpid() != wanted:
            os._exit(0)
        os.execvp(command[0], command)
    status = os.waitpid(child, 0)[1]
    if wanted and child != wanted:
        return None
    if status:
        sys.exit(1)
    return child


def main():
    at = sys.argv.index("--")
    pid = start(sys.argv[1:at])
    for _ in range(TRIES):
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as last:
            last.write(str(pid - 1))
        if start(sys.argv[at + 1:], pid):
            return
    sys.exit(3)


main()
