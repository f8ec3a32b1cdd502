#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A small real training with PyTorch, for the simulated GPU as for a real one.

usage: train.py [--steps N] [--workers N] [--graph-steps N] [--cnn-steps N] [--compile] [--profile WINDOWS]
                [--ready FILE --go FILE] [--halfway FILE --on FILE] [--json FILE] [--lines FILE]
                [--modules FILE] [--trace FILE] [--ranges FILE]

A Transformer encoder is trained by AdamW on batches of a DataLoader (worker processes, page-locked
memory), a CNN on batches of its own (without cuDNN, which is not simulated), checks now and then that
bytes come back as they went, copies on a stream of its own, replays a CUDA graph, with --compile runs a
function that Triton compiled, and with --profile windows of torch.profiler, of so many steps each.
--ready/--go: has set the device up and then waits for the file GO before it trains; --halfway/--on: the
same in the middle of the first window. Prints one line of JSON, what it did by its own count, and to FILE
if one is given. --lines: writes when it came to which line of this file, as [ns, line] (0: to none), by
its own tracing; --modules: when it entered and left modules, as [ns, chain of classes] ("": none), by
PyTorch's hooks; --ranges: which NVTX ranges it was in, as [ns, names] ("": none); --trace: the operators that ran on the CPU, as torch.profiler has them. Times are of
CLOCK_MONOTONIC. Values are not looked at: the simulated GPU computes nothing.
"""
import argparse
import json
import os
import sys
import threading
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset

BATCH, LENGTH, WIDTH = 8, 32, 128
PROFILED_STEPS = 6


class Numbers(Dataset):
    """Batches are the same in each run."""

    def __init__(self, batches):
        self.items = batches * BATCH

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        return torch.randn(LENGTH, WIDTH, generator=torch.Generator().manual_seed(index))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, batch):
        return self.out(self.encoder(batch))


class Training:
    def __init__(self):
        self.model = Model().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.copies = torch.cuda.Stream()
        self.steps = 0

    def step(self, batch):
        with torch.cuda.stream(self.copies):
            inputs = batch.cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.copies)
        inputs.record_stream(torch.cuda.current_stream())
        loss = ((self.model(inputs) - inputs) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        if self.steps % 5 == 0:
            loss.item()


def train_cnn(steps):
    torch.backends.cudnn.enabled = False
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(8, 16, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 8)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        out = model(torch.randn(4, 3, 16, 16, device="cuda"))
        loss = nn.functional.cross_entropy(out, torch.zeros(len(out), dtype=torch.long, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def check_round_trip():
    """What was copied to the device comes back: pageable and page-locked memory, and within it."""
    sent = torch.randint(0, 1 << 30, (4096,))
    pinned = torch.empty_like(sent, pin_memory=True)
    there = sent.cuda()
    pinned.copy_(there.clone(), non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(sent, pinned) and torch.equal(sent, there.cpu())
    assert pinned.is_pinned() and not sent.is_pinned()


def replay_graph(steps):
    model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)]).cuda()
    inputs, numbers = torch.zeros(16, 64, device="cuda"), torch.randn(16, 64).pin_memory()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(inputs).sum()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = nn.functional.gelu(model(inputs)).sum()
    for _ in range(steps):
        inputs.copy_(numbers, non_blocking=True)
        graph.replay()
    outputs.item()
    return steps


def run_compiled():
    def function(a, b):
        return torch.relu(a * b + 1).sum(-1)

    a, b = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    compiled = torch.compile(function)
    for _ in range(10):
        compiled(a, b)
    torch.cuda.synchronize()
    return 10


def profiled(training, halfway):
    """What torch.profiler has of a window, by its own trace, and when that was."""
    batch = torch.randn(BATCH, LENGTH, WIDTH).pin_memory()
    torch.cuda.synchronize()
    begin = time.monotonic_ns()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for step in range(PROFILED_STEPS):
            if step == PROFILED_STEPS // 2:
                halfway()
            training.step(batch)
        torch.cuda.synchronize()
    on_device = [e for e in profiler.events()
                 if e.device_type == torch.autograd.DeviceType.CUDA and not e.is_user_annotation]
    return {"begin_ns": begin, "end_ns": time.monotonic_ns(), "device_events": len(on_device)}


class Lines:
    """The line of this file that the main thread is on, as Python's tracing reports it."""

    def __init__(self):
        self.marks = []

    def start(self):
        self.mark(sys._getframe(1))
        sys._getframe(1).f_trace = self.trace
        sys.settrace(self.trace)

    def mark(self, frame):
        while frame and frame.f_code.co_filename != __file__:
            frame = frame.f_back
        self.marks.append((time.monotonic_ns(), frame.f_lineno if frame else 0))

    def trace(self, frame, event, _):
        if frame.f_code.co_filename != __file__:
            return None
        self.mark(frame.f_back if event == "return" else frame)
        return self.trace

    def write(self, path):
        sys.settrace(None)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.marks, file)


class Modules:
    """The chain of classes of modules that the main thread is in, as PyTorch's hooks are called."""

    def __init__(self):
        self.marks, self.chain = [], []

    def start(self):
        nn.modules.module.register_module_forward_pre_hook(self.enter)
        nn.modules.module.register_module_forward_hook(self.leave)

    def mark(self):
        self.marks.append((time.monotonic_ns(), "/".join(self.chain)))

    def enter(self, module, _):
        self.chain.append(type(module).__name__)
        self.mark()

    def leave(self, *_):
        self.chain.pop()
        self.mark()

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.marks, file)


class Ranges:
    """NVTX ranges around forward and backward of each step."""

    def __init__(self):
        self.marks, self.names = [], []

    def start(self):
        step, backward = Training.step, torch.Tensor.backward
        Training.step = lambda *args: self.inside("step", step, *args)
        torch.Tensor.backward = lambda *args: self.inside("backward", backward, *args)

    def mark(self):
        self.marks.append((time.monotonic_ns(), "/".join(self.names)))

    def inside(self, name, function, *args):
        torch.cuda.nvtx.range_push(name)
        self.names.append(name)
        self.mark()
        try:
            return function(*args)
        finally:
            self.names.pop()
            self.mark()
            torch.cuda.nvtx.range_pop()

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.marks, file)


class Operators:
    """Those that ran on the CPU, as torch.profiler has them."""

    def __init__(self):
        self.profiler = profile(activities=[ProfilerActivity.CPU])

    def start(self):
        self.profiler.start()

    def write(self, path):
        self.profiler.stop()
        clock = time.time_ns() - time.monotonic_ns()
        self.profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        trace["baseTimeNanoseconds"] -= clock
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)


def wait_for(ready, go):
    with open(ready, "x", encoding="utf-8"):
        pass
    while not os.path.exists(go):
        time.sleep(0.01)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--graph-steps", type=int, default=20)
    parser.add_argument("--cnn-steps", type=int, default=3)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--profile", type=int, default=0)
    parser.add_argument("--ready")
    parser.add_argument("--go")
    parser.add_argument("--halfway")
    parser.add_argument("--on")
    parser.add_argument("--json")
    parser.add_argument("--lines")
    parser.add_argument("--modules")
    parser.add_argument("--trace")
    parser.add_argument("--ranges")
    args = parser.parse_args()
    watched = [(watch(), path) for watch, path in
               ((Lines, args.lines), (Modules, args.modules), (Operators, args.trace),
                (Ranges, args.ranges)) if path]
    for watch, _ in watched:
        watch.start()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    training = Training()
    if args.ready:
        torch.cuda.synchronize()
        wait_for(args.ready, args.go)
    started = time.monotonic_ns()
    check_round_trip()
    for batch in DataLoader(Numbers(args.steps), batch_size=BATCH, num_workers=args.workers,
                            pin_memory=True):
        training.step(batch)
    train_cnn(args.cnn_steps)
    done = {"pid": os.getpid(), "steps": training.steps}
    done["windows"] = []
    for window in range(args.profile):
        waits = args.halfway and not window
        done["windows"].append(profiled(training, lambda: waits and wait_for(args.halfway, args.on)))
    done["graph_steps"] = replay_graph(args.graph_steps)
    done["compiled"] = run_compiled() if args.compile else 0
    torch.cuda.synchronize()
    done["begin_ns"], done["ns"] = started, time.monotonic_ns() - started
    for watch, path in watched:
        watch.write(path)
    done["threads"] = sorted({t.name for t in threading.enumerate()})
    done["peak_bytes"] = torch.cuda.max_memory_allocated()
    line = json.dumps(done)
    print(line, flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
