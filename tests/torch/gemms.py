#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Products of matrices of known sizes with PyTorch, on the simulated GPU as on a real one.

usage: gemms.py --marks FILE

Each is asked for several times, as cuBLAS has it: column by column, so that the second operand comes
first. FILE: when it came to which, as [ns, "layout m n k batch dtype"] ("": none). Times are of
CLOCK_MONOTONIC.
"""
import argparse
import json
import time

import torch
from torch import nn

TYPES = {torch.float32: "float32", torch.float64: "float64", torch.float16: "float16",
         torch.bfloat16: "bfloat16", torch.complex64: "complex64"}


def made(*sizes, dtype=torch.float32):
    return torch.ones(*sizes, device="cuda", dtype=dtype)


def products():
    """(key, function that asks for it), with operands that exist already."""
    for dtype, name in TYPES.items():
        a, b = made(8, 64, dtype=dtype), made(64, 32, dtype=dtype)
        yield f"nn 32 8 64 1 {name}", lambda a=a, b=b: torch.mm(a, b)
    a, b = made(8, 64), made(64, 32)
    yield "tt 8 32 64 1 float32", lambda: torch.mm(b.t(), a.t())
    narrow, low = made(16, 64)[:, :24], made(24, 40)
    yield "nn 40 16 24 1 float32", lambda: torch.mm(narrow, low)
    square = made(48, 48)
    yield "tn 48 48 48 1 float32", lambda: torch.mm(square, square.t())
    x, y = made(4, 8, 16), made(4, 16, 24)
    yield "nn 24 8 16 4 float32", lambda: torch.bmm(x, y)
    half, more = made(4, 8, 16, dtype=torch.half), made(4, 24, 16, dtype=torch.half)
    yield "tn 24 8 16 4 float16", lambda: torch.bmm(half, more.transpose(1, 2))
    for bias in True, False:
        layer, rows = nn.Linear(64, 48, bias=bias).cuda(), made(10 + bias, 64)
        yield f"tn 48 {10 + bias} 64 1 float32", lambda layer=layer, rows=rows: layer(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--marks", required=True)
    marks = []
    args = parser.parse_args()
    with torch.no_grad():
        for i, (key, ask) in enumerate(list(products())):
            marks.append((time.monotonic_ns(), key))
            for _ in range(3 + i):
                ask()
            marks.append((time.monotonic_ns(), ""))
    torch.cuda.synchronize()
    with open(args.marks, "w", encoding="utf-8") as file:
        json.dump(marks, file)


main()
