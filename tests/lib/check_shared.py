#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the verdict of a report (json) on processes that share devices against the simulated GPU's logs of
all of them (GPUSIM_LOG).

usage: check_shared.py REPORT.json LOG.json...

A device's true loss is the share of its wall time in which none of its processes ran anything there, between
the first work and the last. No process loses more of it than that and 2 points. Where it is 5 % or more of a
device the verdict names a process of the device that has the most of it, with that share to 2 points; what was not
seen of the device, or is cpu-starved's or gpuprof's own, may be missing. Where no device has so much no loss is
named. Prints a line, and what is wrong with status 1.
"""
import json
import re
import sys

from check_running import monotonic
from compare_findings import LOUD, POINTS, both, length, union

APART = {"exposed-comm", "unpinned-copies", "blocking-copies"}  # count while something runs


def main():
    report, *logs = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
    tables, verdict, wrong = report["tables"], report["meta"]["verdict"], []
    begin, true = monotonic(report["meta"]["start"]), {}
    of_pid = {log["pid"]: log["devices"] for log in logs}
    for row in tables["devices"]:
        spans = union((w["start"], w["end"]) for log in logs for w in log["works"]
                      if log["devices"][w["device"]] == row["device_uuid"])
        ran = both(spans, [(begin + row["from_ns"], begin + row["until_ns"])])
        true[row["device_uuid"]] = length([(a[1], b[0]) for a, b in zip(ran, ran[1:])]) / row["wall_ns"]
    uuids = {row["device"]: row["device_uuid"] for row in tables["devices"]}

    def uuid_of(pid, device):   # by the host's number, or the process's own
        return uuids.get(device) or of_pid[pid][device]

    shares, starved = {}, {}    # (pid, UUID): of all findings, and of cpu-starved
    for f in tables["findings"]:
        if f["share"] is not None and f["finding"] not in APART and f["pid"] in of_pid:
            key = f["pid"], uuid_of(f["pid"], f["device"])
            shares[key] = shares.get(key, 0) + f["share"]
            if f["finding"] == "cpu-starved":
                starved[key] = f["share"]
    for (pid, uuid), share in shares.items():
        if share > true[uuid] + POINTS:
            wrong.append(f"process {pid} loses {share:.1%} of {uuid}, which idled {true[uuid]:.1%}")
    lost = re.match(r"([0-9.]+) % of device (\d+) \(pid (\d+)[^)]*\) is lost to ", verdict)
    most = max(true, key=true.get)
    if bool(lost) != (true[most] >= LOUD):
        wrong.append(f"most idle is {most}")
    elif lost:
        share, pid = float(lost[1]) / 100, int(lost[3])
        uuid = uuid_of(pid, int(lost[2]))
        rows = [row for row in tables["devices"] if row["device_uuid"] == uuid]
        unseen = sum(row["ns"] for row in rows if row["owner"] == "unknown")
        unseen += sum(row["ns"] for row in tables["threads"] if (row["pid"], row["bucket"]) == (pid, "gpuprof"))
        least = true[uuid] - POINTS - starved.get((pid, uuid), 0) - unseen / rows[0]["wall_ns"]
        if uuid != most:
            wrong.append(f"most idle is {most}")
        if not least <= share <= true[uuid] + POINTS:
            wrong.append(f"{uuid} idled {true[uuid]:.1%}, seen of that is {least + POINTS:.1%}")
    print(f"idled {', '.join(f'{u}: {s:.1%}' for u, s in true.items())}; {verdict.splitlines()[0]}")
    for line in wrong:
        print(line, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
