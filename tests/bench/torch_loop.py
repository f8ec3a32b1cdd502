#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Training steps of PyTorch on the CPU, timed on request.

usage: torch_loop.py mlp|cnn|transformer

Prints "ready", then for each line WAY N of standard input the least microseconds that one of N steps took;
WAY is plain, profiler (torch.profiler of the CPU) or stacks (the same, with_stack=True).
"""
import sys
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


def mlp():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)), torch.randn(16, 64)


def cnn():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1),
                         nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 8)), \
        torch.randn(4, 3, 16, 16)


def transformer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(4, 16, 32)


class Loop:
    def __init__(self, make):
        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.model, self.inputs = make()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self):
        self.optimizer.zero_grad()
        (self.model(self.inputs) ** 2).mean().backward()
        self.optimizer.step()

    def least(self, steps):
        least = float("inf")
        for _ in range(steps):
            begin = time.perf_counter()
            self.step()
            least = min(least, time.perf_counter() - begin)
        return least * 1e6


def main():
    loop = Loop(globals()[sys.argv[1]])
    loop.least(20)
    print("ready", flush=True)
    for line in sys.stdin:
        way, steps = line.split()
        if way == "plain":
            least = loop.least(int(steps))
        else:
            with profile(activities=[ProfilerActivity.CPU], with_stack=way == "stacks"):
                least = loop.least(int(steps))
        print(least, flush=True)


if __name__ == "__main__":
    main()
