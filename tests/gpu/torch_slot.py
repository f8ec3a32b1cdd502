#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""torch_slot.py WHAT: PyTorch at work, and what it knows itself of that, as a line of JSON at the end.

  plain           400 steps of 3 kernels, then 200 replays of a graph of 30
  truth           400 steps within torch.profiler
  profiler        steps before, within and after torch.profiler, and again 1.5 s later
  wait            prints "ready PID", then one step a millisecond until SIGTERM, 60 s at most
  waited          the same, after a window of torch.profiler that is over
  summary FILE... what gpuprof's reports (JSON) contain of such runs, in a few lines; without PyTorch
"""
import json
import os
import signal
import sys
import time

KERNELS = 3  # of a step


class Work:
    """Steps of three kernels: a matrix product and two of elements."""

    def __init__(self, torch):
        self.torch = torch
        shape = {"device": "cuda", "dtype": torch.bfloat16}
        self.a = torch.randn(2048, 2048, **shape)
        self.b = torch.randn(2048, 2048, **shape)
        self.c = torch.empty_like(self.a)
        self.step()
        torch.cuda.synchronize()

    def step(self):
        self.torch.mm(self.a, self.b, out=self.c)
        self.c.mul_(0.5)
        self.c.add_(1.0)

    def run(self, steps):
        """Counts, and milliseconds by events of the device and by our clock."""
        cuda = self.torch.cuda
        first, last = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        began = time.monotonic()
        first.record()
        for i in range(steps):
            self.step()
            if i % 50 == 49:
                cuda.synchronize()
        last.record()
        cuda.synchronize()
        return {"steps": steps, "kernels": KERNELS * steps, "device_ms": first.elapsed_time(last),
                "wall_ms": (time.monotonic() - began) * 1e3}

    def profiled(self, steps):
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            out = self.run(steps)
        cuda = self.torch.autograd.DeviceType.CUDA
        kernels = [e for e in profiler.events() if e.device_type == cuda]
        return {**out, "profiler_kernels": len(kernels),
                "profiler_ms": sum(e.time_range.elapsed_us() for e in kernels) / 1e3}

    def replayed(self, replays):
        torch = self.torch
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.step()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):
            for _ in range(10):
                self.step()
        began = time.monotonic()
        for _ in range(replays):
            graph.replay()
        torch.cuda.synchronize()
        return {"replays": replays, "kernels": 10 * KERNELS * replays,
                "wall_ms": (time.monotonic() - began) * 1e3}

    def waited(self, seconds):
        """One step a millisecond, until SIGTERM: how long was the longest?"""
        stopped = []
        signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
        print("ready", os.getpid(), flush=True)
        longest, steps, end = 0.0, 0, time.monotonic() + seconds
        while time.monotonic() < end and not stopped:
            began = time.monotonic()
            self.step()
            self.torch.cuda.synchronize()
            longest = max(longest, time.monotonic() - began)
            steps += 1
            time.sleep(0.001)
        return {"steps": steps, "kernels": KERNELS * steps, "longest_step_ms": longest * 1e3}


def at_work(what):
    import torch
    work, out = Work(torch), {"what": what, "torch": torch.__version__, "cuda": torch.version.cuda}
    if what == "plain":
        out["eager"] = work.run(400)
        out["graph"] = work.replayed(200)
    elif what == "truth":
        out["eager"] = work.profiled(400)
    elif what == "profiler":
        out["before"] = work.run(2000)
        out["profiled"] = work.profiled(2000)
        out["after"] = work.run(2000)
        time.sleep(1.5)
        out["later"] = work.run(2000)
    else:
        if what == "waited":
            out["profiled"] = work.profiled(200)
        out["loop"] = work.waited(60)
    print(json.dumps(out), flush=True)


META = ("sources", "attach", "complete", "lost", "clock_uncertainty_ns", "own_cost_share",
        "launches_reached_driver", "single_stepped", "not_seen", "unarmed_ns")


def summary(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    tables, meta = report["tables"], report["meta"]
    print("==", os.path.basename(path), {key: meta.get(key) for key in META})
    for row in tables.get("ledger", []):
        print("  ledger:", row["device"], row["state"], row["bucket"], row["ns"], round(row["share"], 4))
    for row in tables.get("kernels", [])[:6]:
        print("  kernels:", str(row["name"])[:60], row["count"], row["total_ns"], row["avg_ns"])
    for row in tables.get("events", []):
        if row["received"]:
            print("  events:", {key: value for key, value in row.items() if value})
    for note in meta.get("notes", []):
        print("  note:", note["code"], note["text"])


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "summary":
        for path in sys.argv[2:]:
            summary(path)
    elif what in ("plain", "truth", "profiler", "wait", "waited"):
        at_work(what)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
