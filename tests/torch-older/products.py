#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks a real cuBLAS for products of matrices, by each of its functions. No GPU is needed: they fail.

usage: products.py LIBCUBLAS LIBCUBLASLT READY GO

Makes the file READY when it has loaded them, and waits for GO. Prints one line of JSON: {"asked": {"FUNCTION LAYOUT
M N K BATCH DTYPE LDA LDB LDC BIAS": calls}, "not there": functions that this version does not have}.
"""
import collections
import ctypes
import json
import os
import pathlib
import sys
import time

LETTERS = {"S": "float32", "D": "float64", "C": "complex64", "Z": "complex128", "H": "float16"}
DTYPES = {"float32": 0, "float16": 2, "bfloat16": 14, "int8": 3, "float8_e4m3fn": 28}
asked, missing = collections.Counter(), []
buffer = ctypes.create_string_buffer(1 << 16)
ZEROS = ctypes.addressof(buffer)	# for a handle that was never made, and factors
GARBAGE = 0x55aa << 32		# what is above a number of 32 bits is undefined


def call(lib, name, *arguments):
    function = getattr(lib, name, None)
    if function is None:
        missing.append(name)
        return False
    function.restype = ctypes.c_int
    function(*(ctypes.c_uint64(a) for a in arguments))
    return True


def product(lib, name, wide, form, dtype, sizes, types=None):
    """One call, of arguments that no other call has: m, n, k, lda, ldb, ldc, batch."""
    m, n, k, lda, ldb, ldc, batch = (size + (1 << 33 if wide else 0) for size in sizes)
    put = (lambda number: number) if wide else lambda number: number | GARBAGE
    a, b, c = ((t | GARBAGE,) for t in types) if types else ((), (), ())
    stride = (7,) if form == "StridedBatched" else ()
    arguments = [0, 1, 0, put(m), put(n), put(k), 0, 0, *a, put(lda), *stride, 0, *b, put(ldb), *stride, 0, 0, *c,
                 put(ldc), *stride]
    arguments += [put(batch)] if form else []
    arguments += [68, 99] if types else []
    if call(lib, name, *arguments):
        asked[f"{name} tn {m} {n} {k} {batch if form else 1} {dtype} {lda} {ldb} {ldc} False"] += 1


def products(lib):
    sizes = [10, 20, 30, 40, 50, 60, 3]
    forms = ("", "Batched", "StridedBatched")
    for wide in False, True:
        end = "_64" if wide else ""
        for letter, dtype in LETTERS.items():
            for form in forms:
                version = "" if form or letter == "H" else "_v2"
                sizes = [size + 1 for size in sizes]
                product(lib, f"cublas{letter}gemm{form}{version}{end}", wide, form, dtype, sizes)
        for name, dtype in ("Cgemm3m", "complex64"), ("Zgemm3m", "complex128"):
            product(lib, f"cublas{name}{end}", wide, "", dtype, sizes)
        for form in forms[1:]:
            product(lib, f"cublasCgemm3m{form}{end}", wide, form, "complex64", sizes)
        for name, form in ("Gemm", ""), ("GemmBatched", "Batched"), ("GemmStridedBatched", "StridedBatched"):
            for dtype in "float16", "int8":
                product(lib, f"cublas{name}Ex{end}", wide, form, f"{dtype}, {dtype}, float32",
                        sizes, [DTYPES[dtype], DTYPES[dtype], 0])
        product(lib, f"cublasSgemmEx{end}", wide, "", "bfloat16", sizes, [14, 14, 14])


def matmul(lib, layout, batch, bias, dtype):
    """One of 10 x 20 x 30, as the library itself describes it."""
    def described(create, *arguments):
        out = ctypes.c_void_p()
        if getattr(lib, create)(ctypes.byref(out), *arguments):
            raise RuntimeError(create)
        return out

    def put(setter, on, attribute, value):
        if getattr(lib, setter)(on, attribute, ctypes.byref(value), ctypes.sizeof(value)):
            raise RuntimeError(f"{setter} {attribute}")

    m, n, k, a, b = 10, 20, 30, layout[0] == "t", layout[1] == "t"
    matrices = [(k, m) if a else (m, k), (n, k) if b else (k, n), (m, n)]
    layouts = [described("cublasLtMatrixLayoutCreate", DTYPES[dtype], ctypes.c_uint64(rows), ctypes.c_uint64(columns),
                         ctypes.c_int64(rows + 5)) for rows, columns in matrices]
    for matrix in layouts if batch > 1 else ():
        put("cublasLtMatrixLayoutSetAttribute", matrix, 5, ctypes.c_int32(batch))
        put("cublasLtMatrixLayoutSetAttribute", matrix, 6, ctypes.c_int64(4096))
    operation = described("cublasLtMatmulDescCreate", 68, 0)
    put("cublasLtMatmulDescSetAttribute", operation, 3, ctypes.c_int32(a))
    put("cublasLtMatmulDescSetAttribute", operation, 4, ctypes.c_int32(b))
    if bias:
        put("cublasLtMatmulDescSetAttribute", operation, 7, ctypes.c_int32(bias))
    a_layout, b_layout, d_layout = (matrix.value for matrix in layouts)
    call(lib, "cublasLtMatmul", ZEROS, operation.value, ZEROS, 0, a_layout, 0, b_layout, ZEROS, 0, d_layout, 0, d_layout, 0,
         0, 0, 0)
    lds = " ".join(str(rows + 5) for rows, _ in matrices)
    asked[f"cublasLtMatmul {layout} {m} {n} {k} {batch} {dtype} {lds} {bool(bias)}"] += 1


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    cublaslt = ctypes.CDLL(sys.argv[2], ctypes.RTLD_GLOBAL)
    cublas = ctypes.CDLL(sys.argv[1])
    pathlib.Path(sys.argv[3]).touch()
    while not os.path.exists(sys.argv[4]):
        time.sleep(0.01)
    products(cublas)
    for layout in "nn", "nt", "tn", "tt":
        for batch in 1, 4:
            for bias in 0, 4, 36:	# CUBLASLT_EPILOGUE_BIAS, _GELU_BIAS
                for dtype in "float16", "float32":
                    matmul(cublaslt, layout, batch, bias, dtype)
    print(json.dumps({"asked": asked, "not there": missing}))


main()
