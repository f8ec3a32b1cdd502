# SPDX-License-Identifier: BSD-3-Clause
"""The table of `make bench`: a line per comparison, printed as it is known. Knows no measurement.

A figure is a number with a unit; the peer is the other tool's figure, or the same tool's at
another size. The ratio is figure / peer. A bound is on the ratio or, where there is no peer,
on the figure itself; "<= 1.05" or ">= 5".
"""
import dataclasses

WIDTHS = (42, 22, 38, 5, 7, 4)
HEADS = ("what", "figure", "peer", "ratio", "bound", "")


@dataclasses.dataclass
class Row:
    what: str
    figure: str = "-"
    peer: str = "-"
    ratio: float = None
    bound: tuple = None     # ("<=", 1.05)
    value: float = None     # what the bound is on; None: the ratio
    note: str = ""          # why there is no figure, or what to know of it


class Table:
    def __init__(self):
        self.over = []
        self.failed = []
        self.has_head = False

    def line(self, fields):
        if not self.has_head:
            self.has_head = True
            self.line(HEADS)
        text = "  ".join(f"{field:<{width}}" for field, width in zip(fields, WIDTHS))
        print(text.rstrip(), flush=True)

    def add(self, row):
        self.line((row.what, row.figure, row.peer,
                   "-" if row.ratio is None else f"{row.ratio:.3f}",
                   "-" if row.bound is None else f"{row.bound[0]} {row.bound[1]:g}",
                   self.judge(row)))
        if row.note:
            print(f"    {row.note}", flush=True)

    def judge(self, row):
        value = row.ratio if row.value is None else row.value
        if row.bound is None or value is None:
            return "-"
        relation, bound = row.bound
        if value <= bound if relation == "<=" else value >= bound:
            return "ok"
        self.over.append(row.what)
        return "OVER"

    def fail(self, what, why):
        """Something that could not run: makes the whole run fail."""
        self.failed.append(what)
        self.add(Row(what, note=f"could not run: {why}"))

    def skip(self, what, why):
        self.add(Row(what, note=why))

    def end(self):
        """Says in a line what is over its bound, and what could not run. The run's exit status."""
        for what, names in (("OVER its bound", self.over), ("could not run", self.failed)):
            if names:
                print(f"{what}: {'; '.join(names)}", flush=True)
        return 1 if self.over or self.failed else 0
