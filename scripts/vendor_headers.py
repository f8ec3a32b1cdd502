# SPDX-License-Identifier: BSD-3-Clause
"""What the vendor's headers declare: the functions that return a status, with their parameters.

Reads headers through gcc -E. Knows nothing of what becomes of them.
"""
import re
import subprocess

STATUS = ("cudaError_t|CUresult|ncclResult_t|cublasStatus_t|cudnnStatus_t|nvrtcResult|"
          "nvJitLinkResult|nvPTXCompileResult")
PROTOTYPE = re.compile(rf"\b(?:{STATUS})\s+(\w+)\s*\(((?:[^();]|\([^()]*\))*)\)")
HEADERS = {
    "cudart": "#include <cuda_runtime_api.h>\n#include <cuda_profiler_api.h>\n",
    "cuda": "#include <cuda.h>\n#include <cudaProfiler.h>\n",
    "nvrtc": "#include <nvrtc.h>\n",
    "nvjitlink": "#include <nvJitLink.h>\n",
    "nvptxcompiler": "#include <nvPTXCompiler.h>\n",
    "cublas": "#include <cublas_v2.h>\n#include <cublasXt.h>\n",
    "cublaslt": "#include <cublasLt.h>\n",
    "cudnn": "#include <cudnn.h>\n",
    "nccl": "#include <nccl.h>\n",
}


def preprocess(text, include, defines):
    run = subprocess.run(["gcc", "-E", "-P", "-x", "c", *defines, "-I", include, "-"], input=text,
                         capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else ""


def prototypes(library, includes):
    """{symbol: [(type, name), ...]}"""
    found = {}
    for include in includes:
        for defines in ([], ["-D__CUDA_API_VERSION_INTERNAL"]):
            text = preprocess(HEADERS[library], include, defines)
            for name, args in PROTOTYPE.findall(text):
                found.setdefault(name, parameters(args))
    return found


def declaration(declared, name):
    """The parameters of a symbol: its own, or those of the function that it is a form of."""
    base = re.sub(r"^__(nvJitLink\w+?)_\d+_\d+$", r"\1", re.sub("_pt[sd][sz]$", "", name))
    return declared.get(name, declared.get(base))


def parameters(text):
    out = []
    for arg in re.split(r",(?![^(]*\))", text):
        arg = re.sub(r"\bconst\b", " ", arg).strip()
        arg = re.sub(r"\s+", " ", arg)
        if arg in ("", "void"):
            continue
        match = re.match(r"(.*?)(\w+)\s*((?:\[\w*\])*)$", arg)
        if match and match.group(1).strip():
            out.append((match.group(1).strip() + ("*" if match.group(3) else ""), match.group(2)))
        else:
            out.append((arg, ""))
    return out
