# SPDX-License-Identifier: BSD-3-Clause
"""What the arguments of a call mean, by the names and types that the vendor's headers give them.

The expectation that decoded records are compared with: bytes, direction, stream, entity and shape.
Made from nothing but what call.py says it passed; where arguments lie is not known here. What is
not in the result is expected to be unknown.
"""
import re

WORD = (1 << 32) - 1
# ncclDataType_t: int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 and two of 8 bits
NCCL_TYPE_BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)
H2D, D2H, D2D, DEFAULT = 1, 2, 3, 4

# Names of the parameter with the size, by what the function does.
SIZES = {
    "copy": ("count", "ByteCount", "size"),
    "set": ("count", "N"),
    "alloc": ("size", "bytesize", "bytes", "count"),
    "free": ("size", "bytesize"),
    "compile": ("size", "ptxCodeLen"),
}
RECTANGLES = (("width", "height"), ("Width", "Height"), ("WidthInBytes", "Height"))

# What does not follow from arguments: a count of operations or elements, not of bytes, or bytes in
# lists behind pointers.
NO_BYTES = re.compile(
    r"cu(da)?Memcpy(3D)?BatchAsync|cu(da)?Mem(Prefetch|Discard|DiscardAndPrefetch)BatchAsync|"
    r"cuMemBatchDecompressAsync|cu(da)?Malloc(3D)?(Mipmapped)?Array|cu\w*ArrayCreate|"
    r"cuda(ImportExternalMemory|ExternalMemoryGet)|cu(da)?MemPoolSetAccess|"
    r"cuMemcpy2D(Unaligned|Async)?$|cuMemcpy3D(Async)?$")
# Versions of the library have the stream in different places, of what is otherwise the same symbol.
NO_STREAM = re.compile(r"cuda(MemPrefetchAsync|Memcpy(3D)?BatchAsync)$")
FIXED_DIRS = ((r"cuMemcpyHto[AD]", H2D), (r"cuMemcpy[AD]toH", D2H), (r"cuMemcpy([AD]to[AD]|Peer)", D2D),
              (r"cudaMemcpy(3D)?Peer", D2D), (r"cuMemcpy(Async)?$|cu(da)?MemcpyWithAttributesAsync", DEFAULT))


class Call:
    """One call of call.py's list, with its parameters by name and by type."""

    def __init__(self, made):
        self.name = re.sub(r"_pt[sd][sz]$", "", made["function"])
        self.library = made["library"]
        self.named = {p["name"]: p["value"] for p in made["params"]}
        # The driver's functions that those with _v2 replaced have 32-bit sizes; no program calls them
        # on 64-bit machines, and their bytes are left unknown.
        self.wide = {p["name"]: p["value"] for p in made["params"] if p["size"] == 8}
        self.params = made["params"]
        self.pointees = made["pointees"]

    def is_like(self, pattern):
        return re.match(pattern, self.name)

    def of_type(self, *types):
        return next((p["value"] for p in self.params if p["type"] in types), None)

    def struct(self):
        return next(iter(self.pointees.values()), None)


def product(*factors):
    total = 1
    for factor in factors:
        total *= factor
    return {"bytes": total} if total < 1 << 64 else {}


# ---- launches and products -----------------------------------------------------------------------

def launch(call):
    named, struct = call.named, call.struct()
    if call.library == "cudart" and "gridDim" in named:
        return {"grid": named["gridDim"], "block": named["blockDim"], "shared": named["sharedMem"]}
    if struct and "gridX" in struct:
        return {"grid": [struct[f"grid{a}"] for a in "XYZ"], "block": [struct[f"block{a}"] for a in "XYZ"],
                "shared": struct["shared"], "stream": struct["stream"]}
    if "gridDimX" in named:
        return {"grid": [named[f"gridDim{a}"] for a in "XYZ"],
                "block": [named[f"blockDim{a}"] for a in "XYZ"], "shared": named["sharedMemBytes"]}
    return {}


def launched(call):
    """What is launched: a function, a kernel or a graph."""
    for name in ("func", "kernel", "f", "graphExec", "hGraphExec"):
        if name in call.named:
            return {"entity": call.named[name]}
    return {}


def gemm(call):
    if call.library != "cublas" or not re.match(r"cublas\w*[gG]emm(?!GroupedBatched|Grouped)", call.name):
        return {}
    if call.is_like(r"cublasXt|cublasUint8gemmBias"):
        return {}		# of many devices at once; of another order of arguments
    named = call.named
    batch = named.get("batchCount", named.get("batch_count", 1))
    return {"grid": [named["m"] & WORD, named["n"] & WORD, named["k"] & WORD],
            "block": [batch & WORD, 1, 1], "shared": 0}


# ---- copies, sets, memory ------------------------------------------------------------------------

def cube_bytes(call):
    """Of 3D forms, whose extent is a struct, in an argument or behind one."""
    struct, extent = call.struct(), call.of_type("struct cudaExtent")
    if extent:
        return product(*extent)
    if struct and "depth" in struct:
        if call.library == "cudart" and (struct["srcArray"] or struct["dstArray"]):
            return {}		# the width counts the array's elements
        return product(struct["width"], struct["height"], struct["depth"])
    if struct and "width" in struct:
        return product(struct["width"], struct["height"])
    return None


def plain_bytes(call, klass):
    for width, height in RECTANGLES:
        if width in call.wide and height in call.wide:
            return [call.wide[width], call.wide[height]]
    return next(([call.wide[n]] for n in SIZES.get(klass, ()) if n in call.wide), None)


def size(call, klass):
    if klass not in SIZES or NO_BYTES.match(call.name):
        return {}
    cube = cube_bytes(call)
    if cube is not None:
        return cube
    factors = plain_bytes(call, klass)
    if factors is None:
        return {}
    width = re.search(r"D(16|32)", call.name) if klass == "set" else None
    return product(*factors, int(width.group(1)) // 8 if width else 1)


def direction(call, klass):
    if klass != "copy":
        return {}
    kind, struct = call.of_type("enum cudaMemcpyKind"), call.struct()
    if kind is None and struct:
        kind = struct.get("kind")
    if kind is not None:
        return {"dir": kind} if kind <= DEFAULT else {}
    if struct and "srcMemoryType" in struct:
        ends = struct["srcMemoryType"], struct["dstMemoryType"]
        if not all(1 <= end <= 4 for end in ends):
            return {}
        return {"dir": DEFAULT if 4 in ends else (ends[0] != 1) * 2 + (ends[1] != 1)}
    return next(({"dir": d} for pattern, d in FIXED_DIRS if call.is_like(pattern)), {})


# ---- NCCL ----------------------------------------------------------------------------------------

def collective(call):
    found = {}
    count = next((call.named[n] for n in ("count", "sendcount", "recvcount") if n in call.named), None)
    kind = call.of_type("ncclDataType_t")
    if count is not None and kind is not None and kind < len(NCCL_TYPE_BYTES):
        found = product(count, NCCL_TYPE_BYTES[kind])
    return found


def communicator(call):
    """Known where it is one of the first six arguments, and no address that it is written to."""
    comm = next((p["value"] for p in call.params[:6] if p["type"] == "ncclComm_t"), None)
    return {} if comm is None else {"entity": comm}


# What a call of a graph or an event is about, where not what it launches.
ABOUT = ((r"cu(da)?(EventRecord(WithFlags)?|StreamWaitEvent)$", ("event", "hEvent")),
         (r"cu(da)?Graph(Instantiate\w*|Clone)$", ("graph", "hGraph", "originalGraph")),
         (r"cu(da)?GraphExecUpdate(_v2)?$|cu(da)?GraphExecDestroy$", ("graphExec", "hGraphExec")),
         (r"cu(da)?GraphDestroy$", ("graph", "hGraph")))


def about(call):
    for pattern, names in ABOUT:
        if call.is_like(pattern):
            return {"entity": next(call.named[n] for n in names if n in call.named)}
    return {}


def meaning(made, klass):
    call = Call(made)
    if klass == "query":
        return {}		# asked for by who wants to know that it is asked, not of what
    found = {}
    stream = call.of_type("cudaStream_t", "CUstream")
    if stream is not None and not NO_STREAM.match(call.name):
        found["stream"] = stream
    if klass == "launch":
        found |= launch(call) | launched(call)
    if klass == "collective":
        found |= collective(call)
    if call.library == "nccl" and klass in ("collective", "init"):
        found |= communicator(call)
    pool = call.of_type("cudaMemPool_t", "CUmemoryPool")
    if pool is not None and klass == "alloc":
        found["entity"] = pool
    return found | about(call) | gemm(call) | size(call, klass) | direction(call, klass)
