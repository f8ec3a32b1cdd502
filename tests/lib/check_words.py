#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does `gpuprof help WORD` explain every word of the stored captures' reports?

usage: check_words.py GPUPROF

Words are names of tables and columns, keys of meta and of notes, codes of notes, and what cells of
these columns hold. Prints how many there are, or those without a text and status 1.
"""
import json
import lzma
import pathlib
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "captures" / "data"
CELLS = {"bucket", "state", "finding", "idle_cause", "reason"}


def reports():
    for path in sorted(DATA.glob("*.json.xz")):
        stored = json.loads(lzma.decompress(path.read_bytes()))
        if stored["json"]["out"]:
            yield json.loads(stored["json"]["out"])


def words_of(report):
    yield from report
    yield from report["meta"]
    for note in report["meta"]["notes"]:
        yield from note
        yield note["code"]
    for table, rows in report["tables"].items():
        yield table
        for row in rows:
            yield from row
            for column in CELLS & set(row):
                if row[column]:
                    yield row[column]


def main():
    words = sorted({word for report in reports() for word in words_of(report)})
    unknown = [w for w in words
               if subprocess.run([sys.argv[1], "help", w], capture_output=True, check=False).returncode]
    if unknown:
        sys.exit("no text for: " + ", ".join(unknown))
    print(f"{len(words)} words")


if __name__ == "__main__":
    main()
