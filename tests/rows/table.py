#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which rows of the catalogue the tests call on which library, as csv. Probes nothing.

usage: table.py EVENTS LIBRARY[-VERSION]=FILE...

EVENTS is build/rows/events. A column for each file: 1 where call.py calls the function, 0 where the
library does not have it or it does not return without a device. Fails when a row is called on none.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

CALL = pathlib.Path(__file__).parent / "call.py"


def called(library):
    """{(library, function)} of those that return."""
    with tempfile.TemporaryDirectory() as where:
        subprocess.run([sys.executable, CALL, f"{where}/calls", "--unprobed", "1", library],
                       check=True, stderr=subprocess.DEVNULL)
        lines = pathlib.Path(where, "calls").read_text(encoding="utf-8").splitlines()
    return {(t["library"], t["function"]) for t in map(json.loads, lines)}


def main():
    said = subprocess.run([sys.argv[1], "--rows"], capture_output=True, text=True, check=True).stdout
    columns = {library: called(library) for library in sys.argv[2:]}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["library", "function", "class", "tier", *columns])
    bad = 0
    for row in map(json.loads, said.splitlines()):
        cells = [int((row["library"], row["function"]) in c) for c in columns.values()]
        out.writerow([row["library"], row["function"], row["class"], row["tier"], *cells])
        bad += not any(cells)
    if bad:
        sys.exit(f"table.py: {bad} rows are called on none of these")


main()
