#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls operators of PyTorch on the CPU, each a known number of times, and prints how often as JSON.

usage: ops.py [THROWS]

Operators that throw (1,000 times, or THROWS), that are nested (a tensor's class handles them in Python), in several threads,
backward passes, some of which throw, and modules, as their own hooks count them.
"""
import collections
import json
import sys
import threading

import torch
from torch import nn
from torch.nn import functional

THREADS = 4


class Logged(torch.Tensor):
    """Its operators are handled in Python, which calls the same operator on plain tensors."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        plain = [a.as_subclass(torch.Tensor) if isinstance(a, Logged) else a for a in args]
        return func(*plain, **(kwargs or {}))


class Thrower(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("as ordered")


def add_often(a, times):
    for _ in range(times):
        torch.add(a, a)


def throw_often(times):
    caught = 0
    for _ in range(times):
        try:
            torch.mm(torch.ones(2, 3), torch.ones(4, 5))
        except RuntimeError:
            caught += 1
    return caught


def go_backward(times):
    a, b = (torch.ones(4, requires_grad=True) for _ in range(2))
    for _ in range(times):
        (torch.mul(a, b) + 1).sum().backward()


def throw_backward(times):
    a, caught = torch.ones(4, requires_grad=True), 0
    for _ in range(times):
        try:
            torch.exp(Thrower.apply(a)).sum().backward()
        except ValueError:
            caught += 1
    return caught


class Block(nn.Module):
    def __init__(self, throws):
        super().__init__()
        self.inner, self.throws = nn.Linear(4, 4), throws

    def forward(self, x):
        x = self.inner(x)
        if self.throws:
            raise ValueError("as ordered")
        return x


def call_modules(times):
    """How often each chain of classes was called."""
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sequential(Block(False), Block(False)))
    thrower, open_ones, called = Block(True), [], collections.Counter()

    def enter(module, _):
        open_ones.append(type(module).__name__)
        called["/".join(open_ones)] += 1

    def leave(_, __, ___):
        open_ones.pop()

    for module in [*net.modules(), *thrower.modules()]:
        module.register_forward_pre_hook(enter)
        module.register_forward_hook(leave)
    for _ in range(times):
        net(torch.ones(2, 4))
        try:
            thrower(torch.ones(2, 4))
        except ValueError:
            open_ones.clear()
    return called


def main():
    torch.set_num_threads(1)
    a = torch.ones(4)
    called = {"aten.add": 0}
    add_often(a, 100)
    called["aten.add"] += 100
    threads = [threading.Thread(target=add_often, args=(a, 250)) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    called["aten.add"] += 250 * THREADS
    for _ in range(30):
        torch.sub(a.as_subclass(Logged), a)
    called["aten.sub"] = 60		# each within itself
    for _ in range(20):
        functional.linear(torch.ones(2, 3), torch.ones(4, 3))
    called["aten.linear"] = 20
    called["aten.mm"] = throw_often(int(sys.argv[1]) if sys.argv[1:] else 1000)
    go_backward(25)
    throwers = throw_backward(40)
    called["aten.exp"] = throwers
    called["aten.mul"] = 25
    called["aten.add"] += 25	# by the operator +
    called |= {"MulBackward0": 25, "ExpBackward0": throwers, "SumBackward0": 25 + throwers,
               "AccumulateGrad": 50}
    modules = call_modules(35)
    called["aten.linear"] += 35 * 4
    print(json.dumps({"ops": called, "modules": modules}))


if __name__ == "__main__":
    main()
