#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs operators and modules on tensors of every type and of many shapes, and prints which, as JSON:
{"aten.squeeze.default": {"[2, 3] int8": 1}}; "None None": of a tensor whose shape gpuprof does not record.

usage: shapes.py
"""
import collections
import json

import torch
from torch import nn

# Types of which a tensor can be made.
TYPES = ("uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool bfloat16 "
         "bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz "
         "uint16 uint32 uint64 uint1 uint2 uint3 uint4 uint5 uint6 uint7 int1 int2 int3 int4 int5 int6 int7 "
         "float8_e8m0fnu float4_e2m1fn_x2").split()
SHAPES = [(), (0,), (7,), (1, 0), (2, 3), (2, 3, 4), (1, 1, 1, 5), (2, 1, 2, 1, 2), (1, 2, 3, 1, 2, 1),
          (1, 1, 1, 1, 1, 1, 9), (2, 1, 1, 1, 1, 1, 1, 2)]


class Maker(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(6, 2), nn.ReLU())

    def forward(self, n):
        return self.inner(torch.ones(n, 6))


def text(tensor):
    return f"{list(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"


def main():
    made = collections.defaultdict(collections.Counter)
    for name in TYPES:
        tensor = torch.empty(2, 3, dtype=getattr(torch, name))
        tensor.squeeze()
        made["aten.squeeze.default"][text(tensor)] += 1
    for shape in SHAPES:
        tensor = torch.ones(shape)
        torch.cos(tensor)
        made["aten.cos.default"][text(tensor)] += 1
    # Views: a tensor has its own sizes, whatever its storage; that of one element begins in the middle.
    matrix = torch.ones(4, 6)
    for tensor in (matrix.t(), matrix[1:3, ::2], matrix[1, 1], matrix.expand(5, 4, 6)):
        torch.sin(tensor)
        made["aten.sin.default"][text(tensor)] += 1
    # Of a sparse tensor they are those of the dense one; of its values the operator is called, too.
    sparse = torch.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], (3, 4))
    torch.tan(sparse)
    made["aten.tan.default"][text(sparse)] += 1
    made["aten.tan.default"][text(sparse._values())] += 1
    torch.acos(torch.ones((1,) * 9))
    made["aten.acos.default"]["None None"] += 1
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    torch.neg(nested)
    made["aten.neg.default"]["None None"] += 1
    made["aten.neg.default"]["[5] float32"] += 1    # all its elements
    # With nothing before its shape is first seen, and again.
    for _ in range(100):
        torch.erf(matrix)
        made["aten.erf.default"][text(matrix)] += 1
    # A module has the shape of the first operator in it that has a tensor.
    module = Maker()
    for n in (4, 4, 5):
        module(n)
        for inner in ("Maker", "Maker/Sequential", "Maker/Sequential/Linear"):
            made[inner][f"[{n}, 6] float32"] += 1
        made["Maker/Sequential/ReLU"][f"[{n}, 2] float32"] += 1
    print(json.dumps(made))


if __name__ == "__main__":
    main()
