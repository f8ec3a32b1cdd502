#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Programs that hide where their CUDA runtime is, and what they call for per-thread streams.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

CALLS=(cudaLaunchKernel=3000 cudaMemcpy=200 cudaMemcpyAsync=100 cudaStreamSynchronize=40)
TWINS=(cudaLaunchKernel_ptsz=500 cudaLaunchKernelExC_ptsz=50 cudaMemcpy_ptds=40 cudaMemcpyAsync_ptsz=30
	cudaMemset_ptds=20 cudaMemsetAsync_ptsz=10 cudaStreamSynchronize_ptsz=5 cudaEventRecord_ptsz=7
	cudaMallocAsync_ptsz=8 cudaFreeAsync_ptsz=8)

# Runs a program of the simulation under gpuprof: capture c.gpr, truth t.json.
record_calls() { # PROGRAM ARGS...
	run -0 env GPUSIM_TRUTH="$PWD/t.json" "$GPUPROF" record -o c.gpr -- "$SIM/$1" "${@:2}"
	laws_of_capture
}

# What the driver was called by the runtime, for each function of the report, these among them:
# "exact", or what it is.
driver_is_exact() { # FUNCTION...
	python3 - "$@" <<-'PY'
	import json, sys
	seen = {c["function"]: (c["count"], c["bytes"] or 0) for c in json.load(open("r.json"))["tables"]["calls"]}
	truth = {f["function"]: (f["count"], f["bytes"]) for f in json.load(open("t.json"))["functions"]
	         if not f["outermost"] and f["exported"]}
	wrong = {name: (seen[name], truth.get(name)) for name in seen if seen[name] != truth.get(name)}
	missing = set(sys.argv[1:]) - seen.keys()
	print(wrong or missing or "exact")
	PY
}

@test "static: a stripped static runtime is seen by the driver it calls, each call once" {
	record_calls simcalls-static "${CALLS[@]}" --threads 2
	run driver_is_exact cuLaunchKernel cuMemcpyHtoD_v2 cuMemcpyDtoHAsync_v2 cuStreamSynchronize
	assert_output exact
}

@test "static: its calls for the per-thread stream are seen by the driver's twins" {
	record_calls simcalls-static "${TWINS[@]}" --threads 2
	run driver_is_exact cuLaunchKernel_ptsz cuLaunchKernelEx_ptsz cuMemcpyHtoD_v2_ptds \
		cuMemcpyDtoHAsync_v2_ptsz cuMemsetD8_v2_ptds cuMemsetD8Async_ptsz cuStreamSynchronize_ptsz \
		cuEventRecord_ptsz cuMemAllocAsync_ptsz cuMemFreeAsync_ptsz
	assert_output exact
}

@test "static: with private driver addresses, too, no calls are reported" {
	GPUSIM_PROCADDR=private record_calls simcalls-static "${CALLS[@]}" "${TWINS[@]}"
	run report_value r.json '[c["function"] for c in t["calls"] if c["class"] in ("launch", "copy", "sync")]'
	assert_output '[]'
}

@test "static: with a shared runtime each call counts once, whatever address the driver gives" {
	local mode
	for mode in export private; do
		rm -f c.gpr t.json
		GPUSIM_PROCADDR=$mode record_calls simcalls "${CALLS[@]}"
		compare --no-times t.json r.json
	done
}

@test "static: calls for the per-thread stream count once, with their bytes, whatever address it is" {
	local mode
	for mode in export private; do
		rm -f c.gpr t.json
		GPUSIM_PROCADDR=$mode record_calls simcalls "${TWINS[@]}" cuMemcpyHtoD_v2_ptds=9 \
			cuMemsetD32_v2_ptds=11 cuMemcpyDtoHAsync_v2_ptsz=12 cuStreamSynchronize_ptsz=13
		compare --no-times t.json r.json
	done
}

@test "static: the runtime of CUDA 12 is found under its name" {
	record_calls simcalls-dl --dlopen "$SIM/cuda12/libcudart.so.12" --wait-ms 700 "${CALLS[@]}"
	compare --no-times t.json r.json
}
