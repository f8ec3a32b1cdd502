#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has a report the tables and columns that users rely on, in json and in csv, and are both what readers read?

usage: check_tables.py REPORT.json DIR (of TABLE.csv)

Both of the same capture with all tables. Prints how many rows agreed, or what is missing and status 1.
"""
import csv
import json
import pathlib
import sys

# The contract: a name never goes away and never changes its meaning; more may follow.
CONTRACT = {
    "findings": "pid severity finding cause evidence share gain_bound advice next tid function count each_ns",
    "ledger": "pid comm rank device device_uuid bucket ns share busy_ns overlapped_ns wall_ns",
    "devices": "device device_uuid owner ns share wall_ns sm_active_pct tensor_active_pct dram_active_pct "
               "users power_w energy_j energy_ns sm_mhz memory_mhz power_device",
    "kernels": "pid device name bucket count total_ns avg_ns min_ns max_ns p50_ns p99_ns queue_p50_ns queue_p99_ns "
               "registers static_shared_bytes dynamic_shared_bytes block grid cluster waves occupancy_pct limiter "
               "tensor_core tensor_core_evidence",
    "copies": "pid device direction pinned count bytes total_ns gb_per_s",
    "memory": "pid device kind stack live_bytes peak_bytes allocs frees failed leaked_bytes nvml_used_bytes since",
    "ranges": "pid nvtx_domain range count wall_ns host_ns device_ns launches",
    "calls": "pid comm function class count errors open bytes total_ns avg_ns p50_ns p99_ns max_ns grid block result",
    "processes": "pid user comm rank rank_source job pod container devices busy_share idle_cause launches_per_s "
                 "sync_share exposed_comm_share live_bytes verdict",
    "threads": "pid tid comm bucket ns share blocked_ns wall_ns",
    "events": "source kind hits received lost matched orphan late skew invalid",
    "lanes": "pid comm device lane works busy_ns",
    "offcpu": "pid tid comm reason syscall waker_comm count total_ns",
}
META = ("host start end version complete lost own_cost_ns own_cost_share clock_uncertainty_ns sources command gpus")


def read_tables(directory):
    """{table: rows, the first one with the names of the columns}"""
    return {path.stem: list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
            for path in pathlib.Path(directory).glob("*.csv")}


def text_of(value):
    """What csv has for a value of json."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ";".join(value)
    return "" if value is None else str(value)


def is_equal(cell, value):
    if isinstance(value, float):
        return bool(cell) and float(cell) == value
    return cell == text_of(value)


def check(name, rows, table):
    bad = []
    if not table:
        return [f"{name}: not in csv"]
    header, *lines = table
    bad += [f"{name}: no column {c}" for c in CONTRACT[name].split() if c not in header]
    if len(lines) != len(rows):
        return bad + [f"{name}: {len(rows)} rows in json, {len(lines)} in csv"]
    for row, line in zip(rows, lines):
        if list(row) != header:
            bad.append(f"{name}: json has {list(row)}, csv {header}")
        bad += [f"{name}: {c}: json {row[c]!r}, csv {cell!r}" for c, cell in zip(header, line) if not is_equal(cell, row[c])]
    return bad


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    tables = read_tables(sys.argv[2])
    bad = [f"meta: no {key}" for key in META.split() if key not in report["meta"]]
    bad += [] if report["schema_version"] == 1 else ["schema_version is not 1"]
    for name in CONTRACT:
        bad += check(name, report["tables"].get(name, []), tables.get(name))
    print("\n".join(bad[:20]) or f"{sum(len(rows) for rows in report['tables'].values())} rows agree")
    return bool(bad)


sys.exit(main())
