#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Rows of the catalogue on the real libraries: what a call's arguments say is what the report says.

# bats file_tags=needs:root,needs:bpf,needs:targets

load ../lib/common

# Records TARGET and compares each form of the table with its truth.
exact() { # TIER TARGET ARGS...
	local by tier=$1 target=$2
	shift 2
	run -0 "$GPUPROF" record --tier "$tier" -o c.gpr -- "$TARGETS/$target" --truth t.json "$@"
	for by in function launch result; do
		"$GPUPROF" report c.gpr --table calls,threads,events --by $by --format json >$by.json
		compare --no-times --tier "$tier" t.json $by.json
		laws $by.json
	done
}

# The directory of a library of the toolkit, or the test is skipped. Tests need no more of the
# toolkit than libcudart; the rest is there or not.
toolkit_has() { # FILE
	toolkit=$(dirname "$(readlink -f "$ROOT/build/cuda/lib/libcudart.so.13")")
	[ -e "$toolkit/$1" ] || skip "no $1 beside the toolkit's libcudart"
}

@test "catalog: 58 functions of the real libcudart: counts, bytes, results" {
	exact 0 rows --rounds 50
	assert_value function.json 'len(t["calls"])' 58
}

@test "catalog: the same of their twins for the per-thread default stream" {
	exact 0 rows-twins --rounds 50
	run report_value function.json '[c["bytes"] for c in t["calls"] if c["function"] == "cudaMemcpy2DAsync_ptsz"]'
	assert_output "[$((50 * 100 * 7 + 25 * 49 * 7))]"
}

@test "catalog: unknown byte counts are empty, not zero" {
	exact 0 rows
	assert_value function.json \
		'[c["bytes"] for c in t["calls"] if c["function"] == "cudaMallocArray"]' '[None]'
}

@test "catalog: queries are probed only with --tier 1" {
	exact 0 rows --queries 30
	assert_value function.json '[c for c in t["calls"] if c["class"] == "query"]' '[]'
	rm c.gpr
	exact 1 rows --queries 30
	run report_value function.json '{c["count"] for c in t["calls"] if c["class"] == "query"}'
	assert_output '{30}'
}

@test "catalog: NCCL collectives: bytes by count and data type" {
	exact 0 nccl --refused 25 --groups 5
	assert_value function.json '{c["class"] for c in t["calls"]}' "{'collective'}"
}

@test "catalog: a run-time compilation is compile, with the compiler's own results" {
	toolkit_has libnvrtc.so.13
	cat >compile.py <<-'PY'
		import ctypes, sys
		rtc = ctypes.CDLL(sys.argv[1])
		prog = ctypes.c_void_p()
		for text in b"__global__ void f() {}", b"__global__ void g() {}", b"this is no CUDA":
		    assert not rtc.nvrtcCreateProgram(ctypes.byref(prog), text, b"f.cu", 0, None, None)
		    rtc.nvrtcCompileProgram(prog, 0, None)
		    assert not rtc.nvrtcDestroyProgram(ctypes.byref(prog))
	PY
	# A wheel's compiler does not find its other half beside itself.
	LD_LIBRARY_PATH=$toolkit run "$GPUPROF" stat --by result --table calls --format json -o r.json -- \
		python3 compile.py "$toolkit/libnvrtc.so.13"
	assert_success
	run report_value r.json 'sorted((c["class"], c["function"], c["result"], c["count"]) for c in t["calls"])'
	assert_output "[('compile', 'nvrtcCompileProgram', 'NVRTC_ERROR_COMPILATION', 1), \
('compile', 'nvrtcCompileProgram', 'NVRTC_SUCCESS', 2), \
('compile', 'nvrtcCreateProgram', 'NVRTC_SUCCESS', 3), \
('compile', 'nvrtcDestroyProgram', 'NVRTC_SUCCESS', 3)]"
}

@test "catalog: linking device code is compile, by the plain names and by those that headers call" {
	toolkit_has libnvJitLink.so.13
	cat >link.py <<-'PY'
		import ctypes, sys, time
		linker, handle = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
		time.sleep(1) # 90 MB, to be read before it is probed
		ptx = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n\0"
		arch = (ctypes.c_char_p * 1)(b"-arch=sm_80")
		for form in "nvJitLink%s", "__nvJitLink%s_13_0":
		    create, add, complete, destroy = (getattr(linker, form % name) for name in (
		        "Create", "AddData", "Complete", "Destroy"))
		    for text in ptx, b"no ptx\0":
		        create(ctypes.byref(handle), 1, arch)
		        add(handle, 2, text, ctypes.c_size_t(len(text)), b"f")
		        complete(handle)
		        destroy(ctypes.byref(handle))
	PY
	run -0 "$GPUPROF" stat --by result --table calls --format json -o r.json -- \
		python3 link.py "$toolkit/libnvJitLink.so.13"
	run report_value r.json 'sorted((c["class"], c["function"], c["result"], c["count"]) for c in t["calls"]
		if "AddData" in c["function"] or "Create" in c["function"])'
	assert_output "[('compile', '__nvJitLinkAddData_13_0', 'NVJITLINK_ERROR_INCORRECT_INPUT_TYPE', 1), \
('compile', '__nvJitLinkAddData_13_0', 'NVJITLINK_SUCCESS', 1), \
('compile', '__nvJitLinkCreate_13_0', 'NVJITLINK_SUCCESS', 2), \
('compile', 'nvJitLinkAddData', 'NVJITLINK_ERROR_INCORRECT_INPUT_TYPE', 1), \
('compile', 'nvJitLinkAddData', 'NVJITLINK_SUCCESS', 1), \
('compile', 'nvJitLinkCreate', 'NVJITLINK_SUCCESS', 2)]"
}

@test "catalog: with --tier 1 a matrix product has its m, n, k and how many" {
	toolkit_has libcublas.so.13
	cat >product.py <<-'PY'
		import ctypes, sys
		blas, none, wide = ctypes.CDLL(sys.argv[1]), None, ctypes.c_longlong
		for _ in range(5): # without a handle each is refused
		    blas.cublasSgemm_v2(none, 0, 1, 128, 256, 512, none, none, 1, none, 2, none, none, 3)
		    blas.cublasSgemmStridedBatched(none, 0, 0, 64, 32, 16, none, none, 1, wide(10), none, 2,
		                                   wide(20), none, none, 3, wide(30), 7)
	PY
	run -0 "$GPUPROF" record --tier 1 -o c.gpr -- python3 product.py "$toolkit/libcublas.so.13"
	"$GPUPROF" report c.gpr --by launch --table calls --format json >r.json
	run report_value r.json 'sorted((c["function"], c["count"], c["grid"], c["block"]) for c in t["calls"])'
	assert_output "[('cublasSgemmStridedBatched', 5, '64x32x16', '7x1x1'), \
('cublasSgemm_v2', 5, '128x256x512', '1x1x1')]"
	"$GPUPROF" report c.gpr --by result --table calls --format json >r.json
	assert_value r.json '{c["result"] for c in t["calls"]}' "{'CUBLAS_STATUS_NOT_INITIALIZED'}"
}
