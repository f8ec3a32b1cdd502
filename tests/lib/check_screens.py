#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do the first screens of the stored captures keep to their lines and columns, with the figures of json?

usage: check_screens.py

Prints how many screens and findings there were, or what is wrong and status 1.
"""
import json
import lzma
import pathlib
import re
import sys
import unicodedata

DATA = pathlib.Path(__file__).resolve().parent.parent / "captures" / "data"
SHAPES = {"screen 100": (100, 26), "screen 80 ascii": (80, 24)}
ROW = re.compile(r"^ *\d+ +(?P<lost>[0-9.]+) % +(?P<best>[0-9.]+)x  (?P<name>[a-z-]+) ")
BUSY = re.compile(r"^GPU (\S+) was busy (?:at least )?([0-9.]+) % of the time\.")


BAR = re.compile(r"^GPU \S+ ")
STRIP = re.compile(r"^busy {6}(?P<cells>[ ?·▁▂▃▄▅▆▇█]+|[ ?.1-8]+) [0-9.]+ [num]?s$")


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


def overflow(view, screen):
    columns, lines = SHAPES[view]
    text = screen.splitlines()
    if len(text) > lines:
        yield f"{len(text)} lines"
    for line in text:
        if width(line) > columns and not line.startswith("next "):
            yield f"{width(line)} columns: {line}"
        if view.endswith("ascii") and not line.isascii():
            yield f"not ASCII: {line}"


def misplaced(view, screen):
    """Strips that do not stand below a bar of their width."""
    lines = screen.splitlines()
    for i, line in enumerate(lines):
        if not line.startswith("busy" + 6 * " "):
            continue
        strip = STRIP.match(line)
        if not strip or width(line) != SHAPES[view][0] or strip["cells"].rstrip() == "" or \
                not BAR.match(lines[i - 2]) or not lines[i - 1].startswith(" " * 10):
            yield line


def shown(row):
    """A device as the screen has it: 0, or 0:1 of a MIG instance."""
    return str(row["device"]) + (f":{row['mig']}" if row["mig"] is not None else "")


def busy_shares(tables, device):
    """Of each process's book of the device, and of the device."""
    books = {}
    for row in tables["ledger"]:
        if shown(row) == device:
            book = books.setdefault(row["pid"], [0, row["wall_ns"]])
            book[0] += row["ns"] if row["state"] != "idle" else 0
    uuids = {r["device_uuid"] for r in tables["ledger"] if shown(r) == device}
    for uuid in uuids:      # all processes on a device of the host
        rows = [r for r in tables["devices"] if r["device_uuid"] == uuid]
        if rows:
            books[uuid] = (sum(r["ns"] for r in rows if r["owner"] not in ("idle", "unknown")), rows[0]["wall_ns"])
    return [f"{100 * ns / wall:.1f}" for ns, wall in books.values()]


def contradictions(screen, report):
    """Findings of the screen against those of json: the largest share of each name."""
    listed = {}
    for f in report["tables"]["findings"]:
        if f["share"] is not None and f["finding"] not in listed:
            listed[f["finding"]] = f"{100 * f['share']:.1f}", f"{1 / (1 - f['gain_bound']):.2f}"
    for line in screen.splitlines():
        row, busy = ROW.match(line), BUSY.match(line)
        if row and listed.get(row["name"]) != (row["lost"], row["best"]):
            yield f"{line}: json has {listed.get(row['name'])}"
        if busy and busy[2] not in busy_shares(report["tables"], busy[1]):
            yield f"{line}: json has {busy_shares(report['tables'], busy[1])}"


def main():
    wrong, screens, findings = [], 0, 0
    for path in sorted(DATA.glob("*.json.xz")):
        stored = json.loads(lzma.decompress(path.read_bytes()))
        for view in SHAPES:
            screen = stored[view]["out"]
            wrong += [f"{path.stem} {view}: {why}" for why in (*overflow(view, screen), *misplaced(view, screen))]
            if not screen:
                continue
            report = json.loads(stored["json"]["out"])
            wrong += [f"{path.stem} {view}: {why}" for why in contradictions(screen, report)]
            screens += 1
            findings += sum(bool(ROW.match(line)) for line in screen.splitlines())
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{screens} screens, {findings} findings")


if __name__ == "__main__":
    main()
