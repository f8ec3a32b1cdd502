#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is the text of a process equal to the files it comes from?

usage: text_equal.py PID [PART]...      PART: only files with one of these in their path

Compares each executable file mapping of the process, through /proc/PID/mem, with the file itself.
A uprobe is a breakpoint in the text, so a process that is probed differs. Needs root. Prints a line
for each file; status 0 all equal, 1 some differ, 2 nothing was compared (of one PART).
"""
import sys


def executable_mappings(pid, parts):
    """(address, size, file offset, path) of each."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            if len(fields) < 6 or "x" not in fields[1] or not fields[5].startswith("/"):
                continue
            path = fields[5].strip()
            if not any(part in path for part in parts):
                continue
            start, end = (int(n, 16) for n in fields[0].split("-"))
            # maps pads addresses to eight digits, the names in map_files are not padded.
            yield start, end - start, int(fields[2], 16), path, f"{start:x}-{end:x}"


def read_at(path, offset, size):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(size)


def main():
    pid, parts = sys.argv[1], sys.argv[2:] or [""]
    compared, different = [], 0
    for address, size, offset, path, name in executable_mappings(pid, parts):
        memory = read_at(f"/proc/{pid}/mem", address, size)
        on_disk = read_at(f"/proc/{pid}/map_files/{name}", offset, size)
        wrong = sum(a != b for a, b in zip(memory, on_disk)) if memory != on_disk else 0
        if memory[:len(on_disk)] != on_disk:
            print(f"{path}: {wrong} bytes differ")
            different += 1
        else:
            print(f"{path}: equal")
        compared.append(path)
    missing = [part for part in parts if not any(part in path for path in compared)]
    if missing:
        print(f"no executable mapping of {missing[0] or 'a file'} in process {pid}", file=sys.stderr)
        return 2
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
