#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls every function of the catalogue that a library exports, and reports with which arguments.

usage: call.py OUT [--seed N] [--rounds N] [--unprobed 1] LIBRARY[-VERSION]=FILE...

Each parameter gets a value of its own. A double (tests/rows/double.c) returns a chosen value, any
other library what it wants; there, handles are null and pointers lead to memory of this process,
and a forked child has tried each call before: what crashes, hangs or ends the process is skipped.
Makes OUT.ready and then no call before probes are in the text of every library (--unprobed: at
once). OUT gets a line of json a call; it has also whether a probe was on the function. Knows the
vendor's prototypes, and of gpuprof no more than that a probe is a breakpoint.
"""
import ctypes
import json
import os
import pathlib
import random
import signal
import sys
import time

import api

ARENA = 1 << 22		# what pointers lead to
SLICE = 1 << 14		# of it, for one parameter
RESULTS = (0, 1, 2, 35, 700, 999, 32767, 40000, 2**31 - 1, -1, -32767, -40000, -2**31)
SECONDS = 3		# a call may take
OPENING = 16		# bytes in which a breakpoint may be, behind an endbr64
ARM_SECONDS = 60
STILL_SECONDS = 4	# no more breakpoints came in that time: it has all of them
POLL_SECONDS = 0.1
# Where the first does nothing but jump to the second, that one has the probe.
JUMPS = {"__cudaLaunchKernel": "cudaLaunchKernel", "__cudaLaunchKernel_ptsz": "cudaLaunchKernel_ptsz"}


class Library:
    def __init__(self, text):
        self.name, path = text.split("=", 1)
        self.name, _, version = self.name.partition("-")
        self.dll = ctypes.CDLL(path)
        self.functions = api.Prototypes(self.name, int(version) if version else None).functions
        try:
            self.result = ctypes.c_int.in_dll(self.dll, "rows_double_result")
        except ValueError:
            self.result = None		# not a double
        self.symbols = list(self.find())
        self.openings = {symbol: self.opening(symbol) for symbol, _ in self.symbols}

    def find(self):
        """(symbol, the function's name) of each that is there; an alias after its function."""
        for name in self.functions:
            for symbol in (name, f"p{name}") if self.name == "nccl" else (name,):
                if hasattr(self.dll, symbol):
                    yield symbol, name

    def opening(self, symbol):
        return ctypes.string_at(ctypes.cast(getattr(self.dll, symbol), ctypes.c_void_p).value, OPENING)

    def is_probed(self, symbol):
        return self.opening(symbol) != self.openings[symbol]

    def seen_as(self, symbol, name):
        """The function whose call it is to a probe."""
        target = JUMPS.get(symbol)
        return target if target and not self.is_probed(symbol) and self.is_probed(target) else name

    def probed(self):
        return sum(self.is_probed(symbol) for symbol, _ in self.symbols)


class Values:
    """Arguments: all different, or null handles and our own memory."""

    def __init__(self, rng, is_real, memory):
        self.rng, self.is_real, self.memory = rng, is_real, memory
        self.pointees = {}
        self.n_wide = 0

    def number(self, kind, name, size):
        if kind in ("enum cudaMemcpyKind", "kind"):
            return self.rng.choice((0, 1, 2, 3, 4, 4, 5))
        if kind == "ncclDataType_t":
            return self.rng.choice((*range(12), *range(12), 12, 200))
        if name.endswith("MemoryType"):
            return self.rng.choice((1, 2, 3, 4, 4, 0, 5))
        if self.is_real:
            return self.rng.randrange(1, 100)
        if size < 8:
            return self.rng.randrange(1 << 8 * size)
        # Products of two and of three sizes stay below 2^64, one alone needs more than 32 bits.
        return self.rng.randrange(1, 1 << (42 if self.n_wide < 2 else 30 if self.n_wide < 3 else 20))

    def pointer(self, parameter, at):
        layout = api.pointee(parameter.type)
        if not layout and not parameter.type.endswith("*") and self.is_real:
            return 0		# a handle
        if not layout and not self.is_real:
            return self.rng.getrandbits(64)
        address = self.memory + at * SLICE
        if layout:
            self.fill(layout.from_address(address), parameter.name)
        return address

    def fill(self, struct, name):
        kept = self.pointees[name] = {}
        self.n_wide = 3
        for field, ctype in struct._fields_:
            value = self.number(field, field, ctypes.sizeof(ctype))
            if field.endswith("Array"):
                value = self.rng.choice((0, 0, 0, value))
            setattr(struct, field, value)
            kept[field] = value

    def of(self, parameters):
        self.pointees = {}
        self.n_wide = sum(p.kind == "int" and ctypes.sizeof(p.ctype) == 8 for p in parameters)
        for at, p in enumerate(parameters):
            if p.kind == "pointer":
                yield self.pointer(p, at)
            elif p.kind == "int":
                yield self.number(p.type, p.name, ctypes.sizeof(p.ctype))
            elif p.kind == "real":
                yield self.rng.random()
            else:
                self.n_wide = 3
                yield [self.number("", "", ctypes.sizeof(c)) for _, c in p.ctype._fields_]


def call(library, symbol, parameters, values):
    function = getattr(library.dll, symbol)
    function.restype = ctypes.c_int
    function.argtypes = [p.ctype for p in parameters]
    return function(*(p.ctype(*v) if p.kind == "struct" else p.ctype(v)
                      for p, v in zip(parameters, values)))


def survivors(todo, do):
    """Those of todo that a child comes back from; it is forked anew after each that it does not."""
    alive, at = [], 0
    while at < len(todo):
        back, there = os.pipe()
        child = os.fork()
        if not child:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            for one in todo[at:]:
                signal.alarm(SECONDS)
                do(one)
                os.write(there, b".")
            os._exit(0)
        os.close(there)
        with open(back, "rb") as pipe:
            done = len(pipe.read())
        os.waitpid(child, 0)
        alive += todo[at:at + done]
        at += done + 1
    return alive


def plan(libraries, rounds, rng, memory):
    """Every call that is to be made: (library, symbol, name, parameters, values, pointees, result)."""
    for library in libraries:
        is_real = library.result is None
        for turn in range(1 if is_real else rounds):
            for symbol, name in library.symbols:
                made = Values(rng, is_real, memory)
                seed = rng.random()
                made.rng = random.Random(seed)
                values = list(made.of(library.functions[name]))
                result = None if is_real else (RESULTS + RESULTS)[turn + rng.randrange(len(RESULTS))]
                yield library, symbol, name, values, seed, result


def perform(memory, one):
    """Makes the call, and tells of it."""
    library, symbol, name, values, seed, result = one
    parameters = library.functions[name]
    ctypes.memset(memory, 0, ARENA)
    again = Values(random.Random(seed), library.result is None, memory)
    list(again.of(parameters))		# what its pointers lead to
    if result is not None:
        library.result.value = result
    function = library.seen_as(symbol, name)
    is_probed = function != name or library.is_probed(symbol)
    got = call(library, symbol, parameters, values)
    return {"library": library.name, "symbol": symbol, "function": function, "result": got,
            "is_probed": is_probed, "pointees": again.pointees,
            "params": [{"type": p.type, "name": p.name, "value": v, "size": ctypes.sizeof(p.ctype)}
                       for p, v in zip(parameters, values)]}


def wait_armed(libraries):
    """Until every function has a probe, or every library some and no more come."""
    every = [len(library.symbols) for library in libraries]
    before, since = None, time.monotonic()
    end = since + ARM_SECONDS
    while time.monotonic() < end:
        now = [library.probed() for library in libraries]
        if now != before:
            before, since = now, time.monotonic()
        if now == every or all(now) and time.monotonic() - since > STILL_SECONDS:
            return
        time.sleep(POLL_SECONDS)
    sys.exit(f"call.py: not armed: {dict(zip((l.name for l in libraries), before))} of {every}")


def options(words):
    given = {"--seed": None, "--rounds": "1", "--unprobed": None}
    out, *rest = words
    while rest[0] in given:
        given[rest[0]], rest = rest[1], rest[2:]
    return out, given, rest


def main():
    out, given, files = options(sys.argv[1:])
    seed = given["--seed"] or str(random.randrange(1 << 32))
    print(f"call.py: --seed {seed}", file=sys.stderr)
    arena = ctypes.create_string_buffer(ARENA)
    memory = ctypes.addressof(arena)
    libraries = [Library(f) for f in files]
    todo = list(plan(libraries, int(given["--rounds"]), random.Random(seed), memory))
    real = [one for one in todo if one[0].result is None]
    alive = survivors(real, lambda one: perform(memory, one))
    for one in real:
        if one not in alive:
            print(f"call.py: {one[0].name}: {one[1]} does not return here: not called",
                  file=sys.stderr)
            todo.remove(one)
    pathlib.Path(f"{out}.ready").touch()
    if not given["--unprobed"]:
        wait_armed(libraries)
    made = [perform(memory, one) for one in todo]
    pathlib.Path(out).write_text("".join(json.dumps(t) + "\n" for t in made), encoding="utf-8")


main()
