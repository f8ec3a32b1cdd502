#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table `ops` of a report (json), made with --torch all, against what tests/torch/models.py says
that torch.profiler recorded of the same run.

usage: check_shapes.py REPORT.json RAN.json [--without-shapes] [--nested OPERATOR,...]

Each operator must have been counted as often, with each shape of its first tensor. gpuprof may know none
where torch.profiler has one, of 2 in 1,000 calls at most; it may have no other. --nested: operators of which
torch.profiler leaves out the overload that another calls. Prints one line, with the operators that have no
shape, or every difference and status 1.
"""
import argparse
import collections
import json
import sys

NONE = "none"
UNKNOWN_SHARE = 0.002
# As the profiler calls them.
TYPES = {"float": "float32", "double": "float64", "int": "int32",
         "long int": "int64", "long": "int64"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def of_profiler(ran):
    """{operator: {shape: count}}"""
    ops = collections.defaultdict(collections.Counter)
    for op, shapes in ran["ops"].items():
        for shape, n in shapes.items():
            if ran["types"] and shape != NONE:
                sizes, kind = shape.split("] ")
                shape = f"{sizes}] {TYPES.get(kind, kind)}"
            ops[op][shape] += n
    return ops


def of_report(report, ran):
    """The same"""
    ops = collections.defaultdict(collections.Counter)
    for row in report["tables"]["ops"]:
        space, _, name = row["op"].partition(".")
        if space != "aten":
            continue
        name = name.removesuffix(".default") if ran["overloads"] else name.split(".")[0]
        shape = row["input_shape"]
        if shape and ran["types"]:
            shape += " " + row["input_dtype"]
        ops["aten::" + name][shape or NONE] += row["count"]
    return ops


def compare(op, theirs, ours, types, say):
    """Returns the calls whose shape is unknown."""
    more, less = ours - theirs, theirs - ours
    # Without types a number is a tensor: "[]", of operators that have none.
    if not types and more.keys() == {NONE} and less == {"[]": more[NONE]}:
        return 0
    if set(more) - {NONE} or more[NONE] != sum(less.values()):
        say(f"{op}: {dict(ours)}, by torch.profiler {dict(theirs)}")
    return more[NONE]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("ran")
    parser.add_argument("--without-shapes", action="store_true")
    parser.add_argument("--nested", default="")
    options = parser.parse_args()
    ran = load(options.ran)
    theirs, ours = of_profiler(ran), of_report(load(options.report), ran)
    unknown, wrong = {}, []
    for op in sorted(theirs | ours):
        if op in options.nested.split(","):
            ours[op] -= ours[op] - theirs[op]
        if options.without_shapes:
            if theirs[op].total() != ours[op].total():
                wrong.append(f"{op}: {ours[op].total()}, by torch.profiler {theirs[op].total()}")
            continue
        n = compare(op, theirs[op], ours[op], ran["types"], wrong.append)
        if n:
            unknown[op] = n
    calls = sum(shapes.total() for shapes in theirs.values())
    if sum(unknown.values()) > UNKNOWN_SHARE * calls:
        wrong.append(f"of {sum(unknown.values())} of {calls} calls the shape is unknown: {unknown}")
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{len(theirs)} operators ran {calls} times, as torch.profiler has it; without a shape: "
              f"{' '.join(unknown) or 'none'}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
