#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table `ops` of a report (json) against torch.profiler's trace of the same run and the simulated
GPU's log.

usage: check_ops.py REPORT.json LOG.json TRACE.json [--innermost]

TRACE has the operators that ran on the CPU, in times of CLOCK_MONOTONIC. A launch of the log was made in
the outermost operator that its thread was in: that is the one that Python called, or the node of the
backward pass; or, of a report with --torch all, in the innermost one, overloads together. Launches and device time of each operator must be equal. Prints one line, or every
difference and status 1.
"""
import bisect
import collections
import json
import sys

NODE = "autograd::engine::evaluate_function: "
# Of torch.compile, which are no operators.
NO_OPERATOR = ("Torch-Compiled Region", "TorchDynamo", "## Call ", "triton_")
# Python calls x.cuda() and x.cpu(), which are one operator to the dispatcher.
SAME = {"aten.cuda": "aten.to", "aten.cpu": "aten.to"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def of_threads(trace):
    """{tid: [(start ns, end ns, name)]}, in order, the outer one first"""
    ops = collections.defaultdict(list)
    for e in trace["traceEvents"]:
        if e.get("cat") == "cpu_op" and not e["name"].startswith(NO_OPERATOR):
            start = trace["baseTimeNanoseconds"] + round(1000 * e["ts"])
            name = e["name"].removeprefix(NODE).replace("torch::autograd::", "").replace("aten::", "aten.")
            ops[e["tid"]].append((start, start + round(1000 * e["dur"]), name))
    return {tid: sorted(of, key=lambda op: (op[0], -op[1])) for tid, of in ops.items()}


def outermost(ops):
    outer = []
    for op in ops:
        if not outer or op[1] > outer[-1][1]:
            outer.append(op)
    return outer


def name_at(ops, ns):
    """Of the last one that began before and has not ended."""
    for i in range(bisect.bisect_right(ops, (ns, float("inf"), "")) - 1, -1, -1):
        if ns <= ops[i][1]:
            return ops[i][2]
    return None


def truth_of(log, ops):
    """{name: [launches, device ns]}, and how many launches were in none"""
    sums, op_of = collections.defaultdict(lambda: [0, 0]), {}
    for call in log["calls"]:
        name = name_at(ops.get(call["tid"], []), call["start"])
        op_of[call["correlation"]] = name
        if call["class"] == "launch":
            sums[name][0] += 1
    for work in log["works"]:
        sums[op_of.get(work["correlation"])][1] += work["end"] - work["start"]
    outside = sums.pop(None, [0, 0])[0]
    return {name: of for name, of in sums.items() if any(of)}, outside


def main():
    report, log, trace = (load(path) for path in sys.argv[1:4])
    innermost = sys.argv[4:] == ["--innermost"]
    ops = of_threads(trace)
    truth, outside = truth_of(log, ops if innermost else {tid: outermost(of) for tid, of in ops.items()})
    rows = collections.defaultdict(lambda: [0, 0])
    for row in report["tables"]["ops"]:
        name = ".".join(row["op"].split(".")[:2]) if innermost else SAME.get(row["op"], row["op"])
        rows[name] = [rows[name][0] + row["launches"], rows[name][1] + (row["device_ns"] or 0)]
    rows = {name: of for name, of in rows.items() if any(of)}
    wrong = [name for name in sorted(set(truth) | set(rows)) if truth.get(name) != rows.get(name)]
    for name in wrong:
        print(f"{name}: [launches, device ns] are {rows.get(name)}, by torch.profiler {truth.get(name)}")
    if not wrong:
        print(f"{sum(of[0] for of in truth.values())} launches are in {len(truth)} operators, {outside} in none, "
              "as torch.profiler has it")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
