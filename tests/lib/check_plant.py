#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the findings of a report (json) on `plant` against the simulated GPU's log of works.

usage: check_plant.py REPORT.json LOG.json RUN_DELAY_NS [FINDING WORD...]

The truth of the planted fault is the share of the book's wall time in which the device did nothing
between its first work and its last, or, of copies and communication, in which nothing else ran. FINDING
comes first, has that share within 2 points (or none), and each WORD is in its cause or evidence; time without a CPU
(RUN_DELAY_NS of the main thread) may be cpu-starved's instead, or unreported up to 5 points, and gpuprof's own
cost is nobody's, nor is what the book has as unknown or lost. The verdict may be of another program with a book.
Without FINDING nothing but these has 5 % or more. Prints a line, or what is wrong and status 1.
"""
import json
import sys

from compare_findings import LOUD, POINTS, UNREPORTED, length, union, without

COPIES = {"unpinned-copies", "blocking-copies"}


def truth(works, finding):
    """ns"""
    span = lambda keep: union((w["start"], w["end"]) for w in works if keep(w))
    busy = span(lambda w: True)
    lost = length([(a[1], b[0]) for a, b in zip(busy, busy[1:])])
    if finding in COPIES:
        large = span(lambda w: w["kind"] != "kernel" and w["bytes"] > 65536)
        lost += length(without(large, span(lambda w: w["kind"] == "kernel")))
    return lost


def main():
    report, log = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    run_delay, (planted, *words) = int(sys.argv[3]), sys.argv[4:] or ("none",)
    found = {f["finding"]: f for f in reversed(report["tables"]["findings"]) if f["pid"] == log["pid"]}
    shares = {name: f["share"] for name, f in found.items() if f["share"]}
    wall = next(r["wall_ns"] for r in report["tables"]["ledger"] if r["pid"] == log["pid"])
    starved = 0 if planted == "cpu-starved" else shares.pop("cpu-starved", 0)
    own = sum(r["ns"] for r in report["tables"]["threads"] if (r["tid"], r["bucket"]) == (log["pid"], "gpuprof")) / wall
    slack, share = own + starved + min(run_delay / wall, UNREPORTED), truth(log["works"], planted) / wall
    unseen = sum(r["ns"] for r in report["tables"]["ledger"]
                 if r["pid"] == log["pid"] and r["state"] == "idle" and r["bucket"] in ("unknown", "lost")) / wall
    verdict, got, wrong = report["meta"]["verdict"], shares.get(planted, 0), []
    if planted == "none":
        wrong += [f"{name} has {got:.1%}" for name, got in shares.items() if got >= LOUD]
    elif planted not in found:
        wrong.append(f"found is {list(found)}")
    else:
        most = max(shares, key=shares.get, default=planted)
        if most != planted:
            wrong.append(f"{most} comes first")
        if planted in shares and not share - POINTS - slack - unseen <= got <= share + POINTS:
            wrong.append(f"{planted} has {got:.1%}, the truth is {share:.1%}, without a CPU or ours {slack:.1%}")
        said = found[planted]["cause"] + "; " + found[planted]["evidence"]
        wrong += [f"'{word}' is not in: {said}" for word in words if word not in said]
        of_others = len({r["pid"] for r in report["tables"]["ledger"]}) > 1 and f"(pid {log['pid']}," not in verdict
        if starved < got and got >= LOUD and f" is lost to {planted}:" not in verdict and not of_others:
            wrong.append(f"the verdict is {verdict}")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{planted} {shares.get(planted, 0):.1%}, truth {share:.1%}, without a CPU or ours {slack:.1%}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
