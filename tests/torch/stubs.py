#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the vendor's libraries that a PyTorch is linked to and that are missing, each function of which fails:
enough to import it and to run it on the CPU, of any version. (stand_ins.py has those of the pinned version that
work.)

usage: stubs.py TORCH_LIB_DIR OUT_DIR

A library has the functions that PyTorch's libraries want of it by version; the CUDA runtime has those that they
want without one, too.
"""
import collections
import pathlib
import re
import subprocess
import sys

UNVERSIONED = re.compile(r"_*(cu[A-Z]|cuda|cublas|cudnn|cufft|cufile|cupti|curand|cusolver|cusparse|nccl|nvrtc|nvtx)")
ERROR = 999     # cudaErrorUnknown, and none of the others' successes


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def wanted_of(paths):
    """{library: {version or "": functions}}, of those that none of the paths and no directory of the system has"""
    needed, library_of, undefined, defined = set(), {}, set(), set()
    for path in paths:
        library = None
        for line in lines_of("objdump", "-p", path):
            words = line.split()
            if words[:1] == ["NEEDED"]:
                needed.add(words[1])
            elif words[:2] == ["required", "from"]:
                library = words[2].rstrip(":")
            elif library and len(words) == 4:
                library_of[words[3]] = library
        for line in lines_of("nm", "-D", path):
            *_, kind, name = line.split()
            (undefined if kind == "U" else defined).add(name if kind == "U" else name.partition("@")[0])
    known = {path.name for path in paths} | {line.split()[0] for line in lines_of("ldconfig", "-p")[1:]}
    wanted = {library: collections.defaultdict(set) for library in needed - known}
    runtime = next(library for library in wanted if library.startswith("libcudart.so"))
    for name, _, version in (symbol.partition("@") for symbol in undefined):
        library = library_of.get(version) if version else runtime
        if name not in defined and library in wanted and (version or UNVERSIONED.match(name)):
            wanted[library][version].add(name)
    return wanted


def build(out, library, functions):
    source, script = out / "stub.c", out / "stub.map"
    names = sorted(name for of in functions.values() for name in of)
    source.write_text("".join(f"int {name}(void);\nint {name}(void)\n{{\n\treturn {ERROR};\n}}\n" for name in names),
                      encoding="utf-8")
    script.write_text("".join(f"{version} {{ global: {'; '.join(sorted(of))}; }};\n"
                              for version, of in functions.items() if version), encoding="utf-8")
    versions = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
    subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", source, f"-Wl,-soname,{library}", *versions,
                    "-o", out / library], check=True)
    source.unlink()
    script.unlink()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    libs, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for library, functions in wanted_of(sorted(libs.glob("lib*.so*"))).items():
        build(out, library, functions)


if __name__ == "__main__":
    main()
