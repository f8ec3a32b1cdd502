# SPDX-License-Identifier: BSD-3-Clause
"""The functions of the catalogue's rows as the vendor's headers declare them, callable with ctypes.

Reads functions/*.txt (scripts/gen-functions). ctypes places the arguments by the machine's ABI:
nothing here says in which register or stack word one lies. Knows nothing of the catalogue.

usage: api.py LIBRARY      prints the names of its functions, of all versions
"""
import collections
import ctypes
import pathlib
import re
import sys

WHERE = pathlib.Path(__file__).parent / "functions"
INTS = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}
REALS = {4: ctypes.c_float, 8: ctypes.c_double}

# kind: pointer, int, real or struct; ctype: what passes it
Parameter = collections.namedtuple("Parameter", "type name kind ctype")


def struct(name, size, alignment):
    """One that is passed like the vendor's: the same size, all of its members integers."""
    member = INTS[4 if alignment == 4 else 8]
    fields = [(f"word{i}", member) for i in range(size // ctypes.sizeof(member))]
    return type(name.replace(" ", "_"), (ctypes.Structure,), {"_fields_": fields})


def passed_as(name, kind, size, alignment):
    if kind == "struct":
        return struct(name, size, alignment)
    return (INTS if kind == "int" else REALS)[size]


def read_lines(name):
    return (WHERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def variants(word):
    """f, f_ptsz of "f{,_ptsz}"."""
    base, _, ends = word.rstrip("}").partition("{")
    return [base + end for end in ends.split(",")]


def functions(line):
    """Names, parameters (None: not listed) and versions of "f{,_ptsz}(int n) 11.7-" or "11.7-: f g"."""
    if listed := re.fullmatch(r"(\d[^:]*): (.*)", line):
        return [name for word in listed[2].split() for name in variants(word)], None, listed[1]
    word, params, versions = re.fullmatch(r"([\w{},]+)\((.*)\) ?(.*)", line).groups()
    return variants(word), params, versions


class Prototypes:
    """{function: [Parameter, ...]} of a library; of an older version where one is named."""

    def __init__(self, library, version=None):
        self.types, self.functions = {}, {}
        names = [library] + [f"{library}-{v}" for v in (12, 11) if version and v >= version]
        for name in names:
            self.read(read_lines(name))
        self.read([line[len(library) + 1:] for line in read_lines("undeclared")
                   if line.startswith(library + " ")])

    def read(self, lines):
        for line in lines:
            if line.startswith("type "):
                passed, names = line.removeprefix("type ").split(": ")
                kind, size, alignment = passed.split()
                self.types |= {name: (kind, passed_as(name, kind, int(size), int(alignment)))
                               for name in names.split(", ")}
                continue
            if line.startswith("versions "):
                continue
            names, params, _ = functions(line)
            if params is not None:
                parameters = [self.parameter(p) for p in params.split(", ") if p]
                self.functions |= {name: parameters for name in names}

    def parameter(self, text):
        kind, name = re.fullmatch(r"(.*?)\s*(\w*)", text).groups()
        if not kind:		# a type without a name
            kind, name = name, ""
        return Parameter(kind, name, *self.types.get(kind, ("pointer", ctypes.c_void_p)))


def words(*names):
    return [(name, ctypes.c_uint64) for name in names]


def halves(*names):
    return [(name, ctypes.c_uint32) for name in names]


def axes(name):
    return words(f"{name}X", f"{name}Y", f"{name}Z")


def pitched(name):
    return words(f"{name}Ptr", f"{name}Pitch", f"{name}Xsize", f"{name}Ysize")


# What some pointers point to: the members of the vendor's structs, in order.
LAYOUTS = {
    "cudaLaunchConfig_t": halves("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
    + words("shared", "stream", "attrs") + halves("numAttrs"),
    "CUlaunchConfig": halves("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "shared")
    + words("stream", "attrs") + halves("numAttrs"),
    "struct cudaMemcpy3DParms": words("srcArray") + axes("srcPos") + pitched("src")
    + words("dstArray") + axes("dstPos") + pitched("dst") + words("width", "height", "depth")
    + halves("kind"),
    "struct cudaMemcpy3DPeerParms": words("srcArray") + axes("srcPos") + pitched("src")
    + halves("srcDevice") + words("dstArray") + axes("dstPos") + pitched("dst")
    + halves("dstDevice") + words("width", "height", "depth"),
    "CUDA_MEMCPY2D": words("srcXInBytes", "srcY") + halves("srcMemoryType")
    + words("srcHost", "srcDevice", "srcArray", "srcPitch", "dstXInBytes", "dstY")
    + halves("dstMemoryType") + words("dstHost", "dstDevice", "dstArray", "dstPitch", "width", "height"),
    "CUDA_MEMCPY3D": words("srcXInBytes", "srcY", "srcZ", "srcLOD") + halves("srcMemoryType")
    + words("srcHost", "srcDevice", "srcArray", "srcContext", "srcPitch", "srcHeight",
            "dstXInBytes", "dstY", "dstZ", "dstLOD") + halves("dstMemoryType")
    + words("dstHost", "dstDevice", "dstArray", "dstContext", "dstPitch", "dstHeight",
            "width", "height", "depth"),
}
LAYOUTS["CUDA_MEMCPY3D_PEER"] = LAYOUTS["CUDA_MEMCPY3D"]
STRUCTS = {name: type(re.sub(r"\W", "_", name), (ctypes.Structure,), {"_fields_": fields})
           for name, fields in LAYOUTS.items()}


def pointee(kind):
    """The struct that a parameter of this type points to, or None."""
    return STRUCTS.get(kind.rstrip(" *").removesuffix("_v2")) if kind.endswith("*") else None


if __name__ == "__main__":
    HAS_OLDER = (WHERE / f"{sys.argv[1]}-11.txt").exists()
    print("\n".join(sorted(Prototypes(sys.argv[1], 11 if HAS_OLDER else None).functions)))
