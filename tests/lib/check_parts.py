# SPDX-License-Identifier: BSD-3-Clause
"""Two parts of a capture, cut at a random moment, add up to the whole.

check_parts.py GPUPROF SEED CAPTURE...

Exactly: the wall time, that of each thread, each device's owners, the calls that returned, the memory
that was allocated, the calls in ranges. A device is nowhere idle where the whole has it as unknown (but
for launches after a helper's last record: from that on, the device is unknown in the whole, and in a
part only if one is in it). A work that runs at the cut is in both parts with its whole time, so kernels
are counted once too often at most for each lane.
"""
import collections
import json
import random
import subprocess
import sys

EXACT = {
    "threads": (("pid", "tid"), ("ns",)),	# buckets: what gpuprof took is estimated
    "devices": (("device", "owner"), ("ns",)),
    "calls": (("pid", "function"), ("count", "errors")),
    "memory": (("pid", "device", "kind"), ("allocs", "frees")),
    "ranges": (("pid", "nvtx_domain", "range", "kind"), ("host_ns",)),
}
MAYBE_IDLE = ("idle", "unknown")	# who owns a device


def report(gpuprof, capture, *options):
    run = subprocess.run([gpuprof, "report", capture, "-q", "--format", "json", "--max-loss", "100", *options],
                         capture_output=True, text=True)
    if run.returncode not in (0, 5):
        sys.exit(f"report {capture} {' '.join(options)}: exit {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def sums(reported, table):
    keys, columns = EXACT[table]
    total = collections.Counter()
    for row in reported["tables"][table]:
        key = tuple("maybe idle" if k == "owner" and row[k] in MAYBE_IDLE else row[k] for k in keys)
        if table == "ranges" and row["kind"] != "push":
            continue
        for column in columns:
            total[key, column] += row[column] or 0
    return total


def idle(reported):
    return sum(row["ns"] for row in reported["tables"]["devices"] if row["owner"] == "idle")


def has_late_launches(reported):
    return any(row["kind"] == "untold" and row["received"] + row["lost"] for row in reported["tables"]["events"])


def kernels(reported):
    return sum(row["count"] for row in reported["tables"]["kernels"])


def check(gpuprof, capture, cut):
    whole = report(gpuprof, capture)
    at = f"{int(whole['meta']['duration_ns'] * cut)}ns"
    parts = [report(gpuprof, capture, "--to", at), report(gpuprof, capture, "--from", at)]
    bad = []
    duration = sum(p["meta"]["duration_ns"] for p in parts)
    if duration != whole["meta"]["duration_ns"]:
        bad.append(f"duration: {duration}, not {whole['meta']['duration_ns']}")
    for table in EXACT:
        wanted, got = sums(whole, table), sums(parts[0], table) + sums(parts[1], table)
        bad += [f"{table} {key}: {got[key]}, not {wanted[key]}" for key in wanted if got[key] != wanted[key]]
    if sum(map(idle, parts)) > idle(whole) and not has_late_launches(whole):
        bad.append(f"idle: {sum(map(idle, parts))}, not at most {idle(whole)}")
    over = sum(kernels(p) for p in parts) - kernels(whole)
    if not 0 <= over <= len(whole["tables"]["lanes"]):
        bad.append(f"kernels: {over} more than in the whole")
    return [f"{capture}, cut at {at}: {line}" for line in bad]


def main():
    gpuprof, seed, captures = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    dice = random.Random(seed)
    bad = [line for c in captures for line in check(gpuprof, c, dice.uniform(0.05, 0.95))]
    print(f"seed {seed}: {len(captures)} captures, {len(bad)} sums differ")
    print("\n".join(bad[:20]))
    return bool(bad)


sys.exit(main())
