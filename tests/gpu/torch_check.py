#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""torch.profiler before, while and after this process is watched: for each line on stdin it
profiles a few matrix products and prints how many kernels it saw. First line: "ready", or why not."""
import sys


def main():
    try:
        import torch
    except ImportError:
        print("none no PyTorch here", flush=True)
        return
    if not torch.cuda.is_available():
        print("none PyTorch finds no device", flush=True)
        return
    from torch.profiler import ProfilerActivity, profile
    a = torch.randn(512, 512, device="cuda")
    torch.mm(a, a)
    torch.cuda.synchronize()
    print("ready", flush=True)
    for _ in sys.stdin:
        with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiler:
            for _ in range(100):
                torch.mm(a, a)
            torch.cuda.synchronize()
        print(sum(1 for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA),
              flush=True)


if __name__ == "__main__":
    main()
