#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains an MLP, a CNN and a transformer on the CPU, and prints how often torch.profiler says that each
operator ran, by the shape of its first tensor ("none": it has none), as JSON:

  {"overloads": true, "types": true, "ops": {"aten::mm": {"[16, 32] float": 3}}}

PyTorch before 2.9 does not say which overload it was; 1.13 says no types, and takes numbers for tensors.

usage: models.py
"""
import collections
import json
import os
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

STEPS = 3


def models():
    yield nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 8)), (16, 32)
    yield nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(8, 16, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 8)), (4, 3, 16, 16)
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    yield nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (4, 16, 32)


def train(model, shape):
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        out = model(torch.randn(shape))
        rows = out.flatten(0, -2)
        loss = (out ** 2).mean() + nn.functional.cross_entropy(rows, torch.zeros(len(rows), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


# What torch.profiler says of arguments that are no tensor.
OTHERS = ("", "Scalar", "ScalarList", "TensorList")


def first_tensor(args):
    for dims, kind in zip(args.get("Input Dims", []), args.get("Input type", [])):
        if kind not in OTHERS:
            return f"{dims} {kind}"
    return "none"


def train_all():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for model, shape in models():
        train(model, shape)


def overloads():
    """torch.profiler's, if it can tell them apart; else None"""
    try:
        return torch._C._profiler._ExperimentalConfig(capture_overload_names=True)
    except TypeError:
        return None


def traced():
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, experimental_config=overloads()) as profiler:
        train_all()
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    return [(e["name"], first_tensor(e["args"])) for e in events if e.get("cat") == "cpu_op"]


def listed():
    with torch.autograd.profiler.profile(record_shapes=True) as profiler:
        train_all()
    return [(e.name, str(e.input_shapes[0]) if e.input_shapes else "none") for e in profiler.function_events]


def main():
    is_old = torch.__version__.startswith("1.")
    ops = collections.defaultdict(collections.Counter)
    for name, shape in listed() if is_old else traced():
        if name.startswith("aten::"):
            ops[name][shape] += 1
    print(json.dumps({"overloads": not is_old and overloads() is not None, "types": not is_old, "ops": ops}))


if __name__ == "__main__":
    main()
