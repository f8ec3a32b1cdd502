#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is every call that call.py made in the capture, once, with its arguments and result?

usage: check.py EVENTS CAPTURE CALLS [--every-row] [--unprobed N]

EVENTS is build/rows/events. Calls must be there in their order and nothing else; a row that has
two records has them both, in order. --every-row: a row of the catalogue that was not called fails.
Calls of functions without a probe must not be there; more such functions than N (0) fail. Prints
what differs, and then how many calls of how many rows of each library were the same.
"""
import collections
import json
import subprocess
import sys

from meaning import meaning

SHOWN = 30
RESULT_MAX = 32767	# results saturate there (GP_RESULT_MAX)
DETAILS = ("bytes", "dir", "stream", "entity", "grid", "block", "shared")


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def output(*command):
    return json_lines(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def expected(made, row):
    """The records of a call: what is known at its entry, and at its return."""
    record = {"library": made["library"], "function": made["function"]}
    record |= meaning(made, row["class"])
    records = [record | {"kind": "enter"}] if row["two"] else []
    result = max(-RESULT_MAX, min(RESULT_MAX, made["result"]))
    return [*records, record | {"kind": "call", "result": result}]


def describe(record):
    return record and " ".join(f"{k}={v}" for k, v in record.items() if k not in ("tid", "seq"))


def differences(wanted, seen):
    """A line for each pair that differs; of two lists whose functions part, the place."""
    for at, (want, got) in enumerate(zip(wanted, seen)):
        if (want["function"], want["kind"]) != (got["function"], got["kind"]):
            yield f"record {at}: expected {describe(want)}, is {describe(got)}"
            return
        for key in ("library", "result", *DETAILS):
            if want.get(key) != got.get(key):
                yield (f"{want['function']} ({want['kind']}): {key} is {got.get(key)}, "
                       f"expected {want.get(key)}")
    if len(wanted) != len(seen):
        yield f"{len(seen)} records, expected {len(wanted)}"


def main():
    events, capture, calls, *more = sys.argv[1:]
    allowed = int(more[more.index("--unprobed") + 1]) if "--unprobed" in more else 0
    rows = {(r["library"], r["function"]): r for r in output(events, "--rows")}
    with open(calls, encoding="utf-8") as file:
        made = json_lines(file.read())
    seen = output(events, capture)
    wanted = [r for t in made if t["is_probed"]
              for r in expected(t, rows[t["library"], t["function"]])]
    wrong = list(differences(wanted, seen))
    unprobed = sorted({t["symbol"] for t in made if not t["is_probed"]})
    if unprobed:
        print("not probed:", *unprobed)
    if len(unprobed) > allowed:
        wrong.append(f"{len(unprobed)} functions were not probed, at most {allowed} may be")
    if len({r["tid"] for r in seen}) != 1 or [r["seq"] for r in seen] != list(range(1, len(seen) + 1)):
        wrong.append("the records are not one thread's, numbered from 1")
    called = {(t["library"], t["function"]) for t in made if t["is_probed"]}
    if "--every-row" in more:
        wrong += [f"{library}: {name} is not called by the test" for library, name in rows
                  if (library, name) not in called]
    print("\n".join(wrong[:SHOWN]), end="\n" if wrong else "")
    if len(wrong) > SHOWN:
        print(f"... {len(wrong)} in all")
    of_rows = collections.Counter(library for library, _ in rows)
    for library, n in collections.Counter(library for library, _ in called).items():
        n_calls = sum(t["library"] == library and t["is_probed"] for t in made)
        print(f"{library}: {n} of {of_rows[library]} rows, {n_calls} calls")
    sys.exit(1 if wrong else 0)


main()
