#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Are reports in json as the JSON Schema has them, has it every key of theirs, and is each of one type (or null)?

usage: check_schema.py SCHEMA REPORT...     of tests/captures: NAME.json.xz, of which each json is one

Prints how many reports are valid, or what is not and status 1. Needs python3-jsonschema.
"""
import collections
import json
import lzma
import pathlib
import sys

import jsonschema

SHOWN = 20


def strict(schema):
    """The same, where an object has no other keys than those named: users' schemas let some come."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(part) for key, part in schema.items()}
    return {**made, "additionalProperties": False} if schema.get("type") == "object" else made


def reports(path):
    """(name, report) of each in the file."""
    stored = json.loads(lzma.open(path).read() if path.suffix == ".xz" else path.read_text(encoding="utf-8"))
    if "schema_version" in stored:
        yield path.name, stored
        return
    for view, printed in stored.items():
        if view.startswith("json"):
            yield f"{path.name}, {view}", json.loads(printed["out"])


def rejects(validator, report):
    """That the check can fail: no column may be missing, null or of another type where it may not."""
    ledger = {"tables": {"ledger": [dict(report["tables"]["ledger"][0])]}}
    for change in ({"ns": None}, {"ns": "1"}, {"ns": 1.5}, {"ns": -1}, {"device": "0"}, {"device": "0:1"}, {"more": 1}, None):
        made = json.loads(json.dumps({**report, **ledger}))
        if change is None:
            del made["tables"]["ledger"][0]["rank"]
        else:
            made["tables"]["ledger"][0].update(change)
        if validator.is_valid(made):
            return [f"a ledger with {change or 'no rank'} is valid"]
    return []


TYPES = {int: "number", float: "number"}      # the rest by name


def types_of(report):
    """((table, key), type) of each value that is not null."""
    rows = [("meta", report["meta"])] + [("notes", note) for note in report["meta"]["notes"]]
    rows += [(table, row) for table, all_rows in report["tables"].items() for row in all_rows]
    return {((table, key), TYPES.get(type(value), type(value).__name__))
            for table, row in rows for key, value in row.items() if value is not None}


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator, bad, n = jsonschema.Draft202012Validator(strict(schema)), [], 0
    tried, types = False, set()
    for path in map(pathlib.Path, sys.argv[2:]):
        for name, report in reports(path):
            n += 1
            types |= types_of(report)
            bad += [f"{name}: {'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(report)]
            if not tried and report["tables"].get("ledger"):
                tried = True
                bad += rejects(validator, report)
    several = [where for where, count in collections.Counter(where for where, _ in types).items() if count > 1]
    bad += [f"{table}.{key} has several types: {sorted(t for where, t in types if where == (table, key))}" for table, key in several]
    print("\n".join(bad[:SHOWN]) or f"{n} reports are valid")
    return bool(bad) or not tried


sys.exit(main())
