#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A jitted function of JAX on the simulated GPU: XLA makes an elementwise kernel and a reduction of it.

usage: fuse.py CALLS

Prints "ok" once all calls are done. No kernel computes, so no value is looked at.
"""
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_PLATFORMS", "cuda")
os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")	# of the vendor's libraries' versions

from jax._src import hardware_utils

hardware_utils.has_visible_nvidia_gpu = lambda: True	# it looks for /dev/nvidia0

import jax
import jax.numpy as jnp


def main():
    fused = jax.jit(lambda x: jnp.tanh(x * 2 + 1).sum())
    x = jnp.ones((128, 128))
    for _ in range(int(sys.argv[1])):
        result = fused(x)
    result.block_until_ready()
    print("ok")


main()
