#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program whose answers are known: does being profiled change what its calls return?

usage: LD_LIBRARY_PATH=SIM answers.py END_FILE

Makes the same round of calls of the CUDA runtime, good ones and bad ones, until END_FILE exists, and
compares what each returns with the first round. Prints "ready" after that one, and last
"N rounds right, M wrong"; status 1 when an answer was wrong.
"""
import ctypes
import os
import sys
import time

SIZE = 4096
TO_DEVICE, TO_HOST, NO_DIRECTION = 1, 2, 77
NOWHERE = ctypes.c_void_p(4711)


def round_of_calls(cuda, host):
    memory, stream, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int(-1)
    size = ctypes.c_size_t(SIZE)
    return (
        cuda.cudaGetDeviceCount(ctypes.byref(count)), count.value,
        cuda.cudaMalloc(ctypes.byref(memory), size), bool(memory.value),
        cuda.cudaStreamCreate(ctypes.byref(stream)), bool(stream.value),
        cuda.cudaMemcpy(memory, host, size, TO_DEVICE),
        cuda.cudaMemcpyAsync(host, memory, size, TO_HOST, stream),
        cuda.cudaMemcpy(memory, host, size, NO_DIRECTION),
        cuda.cudaStreamSynchronize(stream),
        cuda.cudaStreamDestroy(stream),
        cuda.cudaFree(memory),
        cuda.cudaFree(NOWHERE),
        cuda.cudaGetLastError(),
    )


def main():
    cuda, end = ctypes.CDLL("libcudart.so.13"), sys.argv[1]
    host = ctypes.create_string_buffer(SIZE)
    first = round_of_calls(cuda, host)
    if first[:4] != (0, first[1], 0, True) or len(set(first)) < 3:
        sys.exit(f"these calls do not work at all: {first}")
    print("ready", flush=True)
    right = wrong = 0
    while not os.path.exists(end):
        same = round_of_calls(cuda, host) == first
        right, wrong = right + same, wrong + (not same)
        time.sleep(0.0005)
    print(f"{right} rounds right, {wrong} wrong", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
