# SPDX-License-Identifier: BSD-3-Clause
"""bench-model: what an event costs the engine: the join and the books of devices, of streams of a
helper's records; the books of threads, of calls."""
import os
import re
import subprocess

from table import Row

PROGRAMS = {        # bound in ns an event; of every case, of the first one
    "bench_devices": (150, True),
    "bench_model": (60, False),
}


def run(table, build):
    for program, (bound, every) in PROGRAMS.items():
        out = subprocess.run([os.path.join(build, "bench", program), "1e9"], check=True,
                             capture_output=True, text=True).stdout
        cases = re.findall(r"^(join \+ ledger|model_push)\s+(.+?)\s+([\d.]+) ns/event(?: \(.+\))?$", out, re.M)
        if not cases:
            raise RuntimeError(f"{program} printed no case")
        for i, (what, load, ns) in enumerate(cases):
            name = "join + ledger" if what.startswith("join") else "books of threads"
            table.add(Row(f"{name}: {load}", f"{ns} ns/event",
                          bound=("<=", bound) if every or not i else None, value=float(ns)))
