#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has the catalogue a row for every function that any version of a library exports?

usage: exports.py EVENTS

EVENTS is build/rows/events. exports/*.txt (scripts/gen-exports) say what each version has;
exports/left_out.txt which functions have no row (library, pattern, why). A function that neither
has fails, as does a pattern that fits nothing and a row that no version exports.
"""
import json
import pathlib
import re
import subprocess
import sys

WHERE = pathlib.Path(__file__).parent / "exports"
OTHER_HEADER = re.compile(r"cuProfiler")	# cudaProfiler.h, which is in no wheel


def lines(name):
    return (WHERE / name).read_text(encoding="utf-8").splitlines()


def main():
    said = subprocess.run([sys.argv[1], "--rows"], capture_output=True, text=True, check=True).stdout
    rows = {(r["library"], r["function"]) for r in map(json.loads, said.splitlines())}
    left_out = [line.split(" ", 2)[:2] for line in lines("left_out.txt")]
    fits, wrong = set(), []
    for library in ("cudart", "cuda", "nccl", "nvjitlink", "nvptxcompiler"):
        versions, *functions = lines(f"{library}.txt")
        names = {line.split()[0] for line in functions}
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
