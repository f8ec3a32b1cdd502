#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory of PyTorch's caching allocator: allocated, freed, kept, and more wanted than there is.

usage: memory.py FILE

Writes to FILE what torch.cuda.memory._snapshot() has at the error, with Python's stacks; prints
torch.cuda.memory_stats() then, as JSON.
"""
import json
import os
import pickle
import sys

import torch


def keep(n):
    return [torch.empty(1000 * (i + 1), device="cuda") for i in range(n)]


def multiply(n):
    square = torch.zeros(64, 64, device="cuda")
    return [square @ square for _ in range(n)]


def main():
    torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
    kept = keep(10)
    del kept[3:6]
    products = multiply(5)
    large = torch.empty(3 << 20, device="cuda")
    del large
    for _ in range(3):
        multiply(2)
    try:
        kept.append(torch.empty(1 << 40, device="cuda"))
    except torch.OutOfMemoryError:
        with open(sys.argv[1], "wb") as file:
            pickle.dump(torch.cuda.memory._snapshot(), file)
        print(json.dumps(torch.cuda.memory_stats()), flush=True)
    os._exit(not products)


main()
