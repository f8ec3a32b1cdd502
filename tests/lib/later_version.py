#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Copies a capture and makes it one of a later version (include/gpuprof/capture.h).

usage: later_version.py FROM.gpr TO.gpr

Raises gp_file_header.major and makes the header's hash (XXH64) true again, so that nothing but the
version is wrong.
"""
import struct
import sys

P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MASK = 2**64 - 1
HASHED_BYTES = 32


def rotate(value, bits):
    value &= MASK
    return (value << bits | value >> (64 - bits)) & MASK


def mix(lane, word):
    return rotate(lane + word * P2, 31) * P1 & MASK


def xxh64_of_32_bytes(data):
    """XXH64 with seed 0, of exactly one stripe."""
    lanes = [mix(lane, word) for lane, word in
             zip((P1 + P2, P2, 0, -P1), struct.unpack("<4Q", data))]
    value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
    for lane in lanes:
        value = ((value ^ mix(0, lane)) * P1 + P4) & MASK
    value = (value + len(data)) & MASK
    value = (value ^ value >> 33) * P2 & MASK
    value = (value ^ value >> 29) * P3 & MASK
    return value ^ value >> 32


def main():
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    was = struct.unpack_from("<Q", data, HASHED_BYTES)[0]
    if xxh64_of_32_bytes(bytes(data[:HASHED_BYTES])) != was:
        sys.exit(f"{sys.argv[1]}: the header's hash is not what this script computes")
    major = struct.unpack_from("<H", data, 16)[0]
    struct.pack_into("<H", data, 16, major + 1)
    struct.pack_into("<Q", data, HASHED_BYTES, xxh64_of_32_bytes(bytes(data[:HASHED_BYTES])))
    with open(sys.argv[2], "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
