#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has the catalogue a row for every function that any version of a library exports?

usage: exports.py EVENTS

EVENTS is build/rows/events. functions/*.txt (scripts/gen-functions) list the exports of each version,
functions/left_out.txt the functions without a row (library, pattern, reason). A function in neither
fails, and so do a pattern that fits nothing and a row that no version exports.
"""
import json
import re
import subprocess
import sys

from api import functions, read_lines

OTHER_HEADER = re.compile(r"cuProfiler")	# cudaProfiler.h, which is in no wheel


def main():
    said = subprocess.run([sys.argv[1], "--rows"], capture_output=True, text=True, check=True).stdout
    rows = {(r["library"], r["function"]) for r in map(json.loads, said.splitlines())}
    left_out = [line.split(" ", 2)[:2] for line in read_lines("left_out")]
    fits, wrong = set(), []
    for library in ("cudart", "cuda", "nccl", "nvjitlink", "nvptxcompiler"):
        versions, *lines = read_lines(library)
        listed = [functions(line) for line in lines if not line.startswith("type ")]
        names = {name for found, _, exported in listed if exported for name in found}
        for name in names - {n for of, n in rows if of == library}:
            found = [(of, p) for of, p in left_out if of == library and re.fullmatch(p, name)]
            fits |= set(found)
            if not found:
                wrong.append(f"{library}: {name} has no row")
        wrong += [f"{library}: no version has {n}" for of, n in rows
                  if of == library and n not in names and not OTHER_HEADER.match(n)]
        print(f"{library}: {len(names)} functions of {versions}")
    wrong += [f"{of}: {p} leaves nothing out" for of, p in left_out if (of, p) not in fits]
    print("\n".join(sorted(wrong)), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
