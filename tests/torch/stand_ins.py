#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds stand-ins of the libraries that libtorch is linked to and that tests/sim does not simulate.

usage: stand_ins.py TORCH_LIB_DIR SIM_DIR OUT_DIR

The functions are those that the libraries of TORCH_LIB_DIR leave undefined, by the version that each
asks for or its prefix, so that no list has to follow PyTorch's versions. What cublas.c, cublaslt.c and
cudnn.c have is taken from there; another matrix product launches one kernel; all others of cuBLAS succeed
and do nothing. A function of the other libraries says on stderr that it is not simulated, and fails.
Knows nothing of gpuprof.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# soname: (version of its symbols, what unversioned ones begin with, by hand)
LIBRARIES = {
    "libcublas.so.13": ("libcublas.so.13", None, "cublas.c"),
    "libcublasLt.so.13": ("libcublasLt.so.13", None, "cublaslt.c"),
    "libcudnn.so.9": ("libcudnn.so.9", None, "cudnn.c"),
    "libcufft.so.12": ("libcufft.so.12", None, None),
    "libcusolver.so.12": ("libcusolver.so.12", None, None),
    "libcusparse.so.12": ("libcusparse.so.12", None, None),
    "libnvrtc.so.13": ("libnvrtc.so.13", None, None),
    "libnvshmem_host.so.3": ("NVSHMEM", "nvshmem", None),
    "libcufile.so.0": (None, "cuFile", None),
    "libcusparseLt.so.0": (None, "cusparseLt", None),
}
# What multiplies, and where it has the rows and columns of the result.
PRODUCTS = [(re.compile(name, re.I), at) for name, at in (
    ("gemm|geam|matmul|syrk", (3, 4)), ("gemv", (2, 3)), ("trsm", (5, 6)), ("ger", (1, 2)), ("dot", (1, 1)))]
TEXT = re.compile(r"(String|Name)$")
CFLAGS = ["-O1", "-g", "-fPIC", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-Wall",
          "-Wextra", "-Werror", "-pthread"]


def symbols(path, which):
    """Names of a library's dynamic symbols, each with its version or None."""
    lines = subprocess.run(["nm", "-D", which, path], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    for line in lines:
        name, _, version = line.split()[-1].partition("@")
        yield name, version.lstrip("@") or None


def wanted_of(torch_libs):
    wanted = {soname: set() for soname in LIBRARIES}
    for path in sorted(torch_libs.glob("lib*.so")):
        for name, version in symbols(path, "--undefined-only"):
            for soname, (node, prefix, _) in LIBRARIES.items():
                if version == node is not None or not version and prefix and name.startswith(prefix):
                    wanted[soname].add(name)
    return wanted


def by_hand(source):
    """Names of the functions that a source defines at the beginning of a line."""
    text = (HERE / source).read_text(encoding="utf-8")
    return set(re.findall(r"^[a-z].*?\b(cu(?:blas|dnn)\w+)\(", text, re.M))


def stub(name, soname):
    if TEXT.search(name):
        return f'const char *{name}(void) {{ return "{name}"; }}\n'
    for product, (m, n) in PRODUCTS if soname.startswith("libcublas.") else ():
        if product.search(name):
            return f"PRODUCT({name}, {m}, {n})\n"
    return f"{'NOTHING' if 'blas' in soname else 'MISSING'}({name})\n"


def build(soname, names, sim, out):
    node, prefix, source = LIBRARIES[soname]
    names = sorted(names - (by_hand(source) if source else set()))
    with tempfile.TemporaryDirectory() as work:
        stubs, scripts = pathlib.Path(work, "stubs.c"), pathlib.Path(work, "version.map")
        stubs.write_text('#include "stand_in.h"\n' + "".join(stub(n, soname) for n in names),
                         encoding="utf-8")
        scripts.write_text(f"{node or ''} {{ global: *; }};\n", encoding="utf-8")
        made = pathlib.Path(work, soname)
        subprocess.run(
            [os.environ.get("CC", "cc"), "-shared", *CFLAGS, "-I", HERE, "-I", HERE.parent / "sim",
             f"-Wl,-soname,{soname}", f"-Wl,--version-script={scripts}", "-o", made, stubs,
             *([HERE / source] if source else []), "-L", sim, "-l:libcudart.so.13",
             f"-Wl,-rpath-link,{sim}"], check=True)
        shutil.move(made, out / soname)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    torch_libs, sim, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for soname, names in wanted_of(torch_libs).items():
        build(soname, names, sim.resolve(), out)


main()
