#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A target of gpu-check with torch.profiler. First line: "ready", or "none" and why. Then it executes each
line on stdin and prints one:

  profile    profiles a few matrix products: how many kernels it saw
  begin      torch.profiler begins
  busy MS    keeps the device busy for so long: how many kernels
  end        it ends: how many kernels it saw
  launch N   so many matrix products, not profiled
  deep N     replays a graph of 30 of them so often, without waiting in between: how many kernels
"""
import sys
import time


class Target:
    def __init__(self, torch):
        self.torch = torch
        self.small = torch.randn(512, 512, device="cuda")
        self.large = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
        self.profiler = None
        self.launch(1)
        self.multiply(self.large)

    def multiply(self, matrix):
        self.torch.mm(matrix, matrix)
        self.torch.cuda.synchronize()

    def launch(self, count):
        for _ in range(count):
            self.torch.mm(self.small, self.small)
        self.torch.cuda.synchronize()
        return count

    def deep(self, replays):
        cuda, nodes = self.torch.cuda, 30
        graph = cuda.CUDAGraph()
        out = self.torch.empty_like(self.small)
        with cuda.graph(graph):
            for _ in range(nodes):
                self.torch.mm(self.small, self.small, out=out)
        for _ in range(replays):
            graph.replay()
        cuda.synchronize()
        return nodes * replays

    def busy(self, milliseconds):
        end, count = time.monotonic() + milliseconds / 1e3, 0
        while time.monotonic() < end:
            for _ in range(8):
                self.torch.mm(self.large, self.large)
            self.torch.cuda.synchronize()
            count += 8
        return count

    def begin(self, _):
        from torch.profiler import ProfilerActivity, profile
        self.profiler = profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU])
        self.profiler.__enter__()
        return "begun"

    def end(self, _):
        self.torch.cuda.synchronize()
        self.profiler.__exit__(None, None, None)
        cuda = self.torch.autograd.DeviceType.CUDA
        return sum(1 for e in self.profiler.events() if e.device_type == cuda)

    def profile(self, _):
        self.begin(0)
        self.launch(100)
        return self.end(0)


def main():
    try:
        import torch
    except ImportError:
        print("none no PyTorch here", flush=True)
        return
    if not torch.cuda.is_available():
        print("none PyTorch finds no device", flush=True)
        return
    target = Target(torch)
    print("ready", flush=True)
    for line in sys.stdin:
        command, *number = line.split() or [""]
        if command in ("profile", "begin", "busy", "end", "launch", "deep"):
            answer = getattr(target, command)(int(number[0]) if number else 0)
        else:
            answer = "failed: unknown"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
