#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a report (json, table calls) with the truth that a test program wrote.

usage: compare_truth.py TRUTH.json REPORT.json [--pid P] [--no-times] [--recorded] [--spare-us U] [--tier N]

Counts, errors, bytes, grids and results must be equal; times may differ by 5 us a call or 2 %,
whichever is larger. Takes the plain table, --by launch (grids) and --by result (results); what a
form does not show is not compared. Prints one line, or every difference and status 1.
Knows the forms of both files and which functions the catalogue can probe; nothing else.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

NUMBERS = ("count", "errors", "open", "bytes", "total_ns", "recorded_ns")
NS_PER_CALL = 5000
SHARE = 0.02


ON_REQUEST = re.compile(r"^(math|cu(blas|dnn)\w*)\.(c|inc)$")
QUERIES = re.compile(r"#define COMMON QUERY_ROWS.*", re.S)


def catalogue(tier):
    """Names of all functions that gpuprof probes with --tier."""
    rooms = pathlib.Path(__file__).resolve().parents[2] / "user" / "catalog"
    names = set()
    for path in sorted(p for p in rooms.iterdir() if p.suffix in (".c", ".inc")):
        if not tier and ON_REQUEST.search(path.name):
            continue
        text = path.read_text()
        text = text if tier else QUERIES.sub("", text)
        for macro, name in re.findall(r"\b(ROW|PTSZ|PTDS|WIDE|CONFIG)\((\w+)", text):
            names |= {name + suffix for suffix in ("", "_ptsz", "_ptds", "_64", "Config")
                      if macro != "ROW" or not suffix}
    return names


# cudart's first call, whichever it is, sets the driver up. That call may be one that is not probed
# (cudaSetDevice), so in the report these may stand alone.
BY_FIRST_CALL = {"cuInit", "cuDevicePrimaryCtxRetain"}

# Since CUDA 13 compiled code launches by the first, which is nothing but a jump to the second: where
# that has a probe, it sees the calls of both.
JUMPS = {"__cudaLaunchKernel": "cudaLaunchKernel", "__cudaLaunchKernel_ptsz": "cudaLaunchKernel_ptsz"}


def dim(value):
    """A grid or block in any spelling: [4, 1, 1], "4x1x1", "4,1,1"."""
    if isinstance(value, list):
        return tuple(value)
    sides = tuple(int(n) for n in re.findall(r"\d+", value))
    return sides + (1,) * (3 - len(sides))


def truth_functions(path, probed):
    """Pid, names that may be seen too, {function: row} of outermost calls; the rest is a detail of
    those or invisible."""
    with open(path, encoding="utf-8") as file:
        truth = json.load(file)
    if truth.get("truth_version") != 1:
        sys.exit(f"{path}: not a truth of version 1")
    inner = {f["function"] for f in truth["functions"] if not f["outermost"]}
    return truth["pid"], inner & BY_FIRST_CALL, joined(
        f for f in truth["functions"]
        if f["outermost"] and f.get("exported", True) and f["function"] in probed)


def joined(functions):
    """{function: row}; of one that is but a jump to another, its row is part of the other's."""
    rows = {}
    for f in functions:
        name = JUMPS.get(f["function"], f["function"])
        into = rows.setdefault(name, {"shapes": [], "results": collections.Counter()})
        for key in NUMBERS:
            into[key] = into.get(key, 0) + f.get(key, 0)
        into["shapes"] += f.get("shapes", [])
        into["results"].update(f["results"])
    return rows


class Seen:
    """What the report says of one function: its rows added up."""

    def __init__(self):
        self.number = collections.Counter()
        self.shapes = collections.Counter()
        self.results = collections.Counter()

    def add(self, row):
        for key in ("count", "errors", "open", "bytes", "total_ns"):
            self.number[key] += row.get(key) or 0
        if row.get("grid") is not None and row.get("block") is not None:
            self.shapes[dim(row["grid"]), dim(row["block"])] += row["count"]
        if row.get("result") is not None:
            self.results[row["result"]] += row["count"]


def report_functions(path, pid):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    if report.get("schema_version") != 1 or "calls" not in report.get("tables", {}):
        sys.exit(f"{path}: not a report of schema 1 with the table calls")
    seen = collections.defaultdict(Seen)
    for row in report["tables"]["calls"]:
        if row["pid"] == pid:
            seen[JUMPS.get(row["function"], row["function"])].add(row)
    return seen


def compare_times(name, truth_ns, seen_ns, count, spare_ns):
    limit = max(NS_PER_CALL * count + spare_ns, SHARE * truth_ns)
    apart = abs(seen_ns - truth_ns)
    if apart <= limit:
        return []
    return [f"{name}: total_ns {seen_ns}, truth {truth_ns}: apart by {apart}, allowed {limit:.0f}"]


def compare_function(name, truth, seen, columns, spare_ns, ns):
    wrong = []
    for key in columns:
        if seen.number[key] != truth.get(key, 0):
            wrong.append(f"{name}: {key} {seen.number[key]}, truth {truth.get(key, 0)}")
    shapes = collections.Counter()
    for s in truth["shapes"]:
        shapes[dim(s["grid"]), dim(s["block"])] += s["count"]
    if seen.shapes and shapes != seen.shapes:
        wrong.append(f"{name}: grids {dict(seen.shapes)}, truth {shapes}")
    if seen.results and truth["results"] != seen.results:
        wrong.append(f"{name}: results {dict(seen.results)}, truth {truth['results']}")
    if spare_ns is not None:
        wrong += compare_times(name, truth[ns], seen.number["total_ns"], truth["count"], spare_ns)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("truth")
    parser.add_argument("report")
    parser.add_argument("--pid", type=int, help="the target's pid, if the truth's is another")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--spare-us", type=int, default=0,
                        help="a function's times may differ by as much more: an interruption")
    parser.add_argument("--recorded", action="store_true",
                        help="times are those of CUPTI's records, which end before they are made")
    parser.add_argument("--only", metavar="COLUMN,...", default="count,errors,open,bytes",
                        help="columns to compare (some reports lack some)")
    parser.add_argument("--tier", type=int, default=0, help="the report was made with --tier N")
    options = parser.parse_args()

    times = not options.no_times
    columns = options.only.split(",")
    pid, may_be_seen, truth = truth_functions(options.truth, catalogue(options.tier))
    seen = report_functions(options.report, options.pid or pid)
    wrong = [f"{name}: not in the report, truth count {truth[name]['count']}"
             for name in sorted(truth.keys() - seen.keys())]
    wrong += [f"{name}: count {seen[name].number['count']}, but it was never called"
              for name in sorted(seen.keys() - truth.keys() - may_be_seen)]
    for name in sorted(truth.keys() & seen.keys()):
        wrong += compare_function(name, truth[name], seen[name], columns,
                                  options.spare_us * 1000 if times else None,
                                  "recorded_ns" if options.recorded else "total_ns")
    if not truth:
        wrong.append("the truth names no function that gpuprof probes")
    if wrong:
        print(f"{options.report} differs from {options.truth}:", *wrong, sep="\n  ")
        return 1
    what = list(columns)
    what += ["grids"] if any(s.shapes for s in seen.values()) else []
    what += ["results"] if any(s.results for s in seen.values()) else []
    calls = sum(f["count"] for f in truth.values())
    text = f"{len(truth)} functions, {calls} calls: {', '.join(what)} equal the truth"
    if times:
        text += ", times are within 5 us x calls or 2 %"
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
