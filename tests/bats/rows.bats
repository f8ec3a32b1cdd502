#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every row of the catalogue: a call through the vendor's prototype, with a value of its own in each
# argument, is one record (or two) with what those values mean and the result. On the vendor's
# libraries where they can be called without a device, on doubles that return a chosen value for
# all of them. Real libraries here: those that scripts/cuda and scripts/cuda-older have. cublas, cudnn
# and the compilers are hundreds of megabytes: they are tested where a toolkit or `make targets-all`
# has them, and by their doubles elsewhere.

# bats file_tags=needs:root,needs:bpf

load ../lib/common

ROWS=$ROOT/build/rows
CALL=$ROOT/tests/rows/call.py
CHECK=$ROOT/tests/rows/check.py
DOUBLES=(cudart="$ROWS/libcudart.so.13" cudart-12="$ROWS/libcudart.so.13" cudart-11="$ROWS/libcudart.so.13"
	cuda="$ROWS/libcuda.so.1" nccl="$ROWS/libnccl.so.2" nvrtc="$ROWS/libnvrtc.so.13"
	nvjitlink="$ROWS/libnvJitLink.so.13" nvptxcompiler="$ROWS/libptx.so" cublas="$ROWS/libcublas.so.13"
	cublaslt="$ROWS/libcublasLt.so.13" cudnn="$ROWS/libcudnn.so.9")

# Calls every function of the libraries under probes; leaves c.gpr and calls.jsonl.
record_rows() { # WAY [--rounds N] LIBRARY=FILE...
	local way=$1 pid
	shift
	[ -x "$ROWS/events" ] || skip "build/rows is missing: make rows"
	python3 "$CALL" calls.jsonl "$@" 2>call.err 3>&- &
	pid=$!
	STARTED+=("$pid")
	wait_for 30 test -e calls.jsonl.ready || { cat call.err; return 1; }
	start_gpuprof record --tier 1 --attach "$way" --off-cpu off -o c.gpr -p "$pid"
	wait "$pid" || { cat call.err gpuprof.err; return 1; }
	wait_gpuprof 0
	cat call.err # the seed, and what was skipped
}

same() { "$CHECK" "$ROWS/events" c.gpr calls.jsonl "$@"; }

@test "rows: each of the catalogue's, on doubles: arguments, bytes, kinds, results, once" {
	record_rows session --rounds 2 "${DOUBLES[@]}"
	same --every-row
}

@test "rows: the same with probes of the older kind" {
	record_rows multi --rounds 2 "${DOUBLES[@]}"
	same --every-row
}

# bats test_tags=needs:targets
@test "rows: every function of the real libcudart and libnccl that returns without a device" {
	local way lib=$ROOT/build/cuda/lib
	for way in session multi; do
		rm -f calls.jsonl*
		record_rows $way cudart="$lib/libcudart.so.13" nccl="$lib/libnccl.so.2"
		run -0 same
		assert_line --regexp '^cudart: 3[0-9][0-9] of [0-9]+ rows'
		assert_line --regexp '^nccl: [345][0-9] of [0-9]+ rows'
	done
}

@test "rows: every function of the real libcudart of CUDA 12 and 11" {
	local old=$ROOT/build/cuda-older
	[ -e "$old/libcudart.so.12" ] || skip "build/cuda-older is missing: scripts/cuda-older"
	record_rows session cudart-12="$old/libcudart.so.12"
	run -0 same
	assert_line --regexp '^cudart: 3[0-9][0-9] of [0-9]+ rows'
	rm calls.jsonl*
	record_rows session cudart-11="$old/libcudart.so.11.0"
	run -0 same
	assert_line --regexp '^cudart: 3[0-9][0-9] of [0-9]+ rows'
}

# bats test_tags=needs:targets
@test "rows: every function of the toolkit's cublas, cudnn and compilers that returns without a device" {
	local toolkit libraries=() name file
	toolkit=$(dirname "$(readlink -f "$ROOT/build/cuda/lib/libcudart.so.13")")
	while read -r name file; do
		[ ! -e "$toolkit/$file" ] || libraries+=("$name=$toolkit/$file")
	done <<-'END'
		nvrtc libnvrtc.so.13
		nvjitlink libnvJitLink.so.13
		cublas libcublas.so.13
		cublaslt libcublasLt.so.13
		cudnn libcudnn.so.9
	END
	[ ${#libraries[@]} -gt 0 ] || skip "only libcudart is here: their doubles are tested"
	record_rows session "${libraries[@]}"
	same --unprobed 6 # of cudnn, whose first instructions would be single-stepped
}

@test "rows: every function of the real PTX compiler inside a library" {
	[ -e "$TARGETS/libptx.so" ] || skip "build/targets/libptx.so is missing: make targets-ptx"
	record_rows session nvptxcompiler="$TARGETS/libptx.so"
	run -0 same
	assert_line --regexp '^nvptxcompiler: 1[0-9] of 15 rows'
}

# bats file_tags=
@test "rows: there is one for every function of NCCL since 2.18, of the runtime and driver since 11.7, of the linker and the PTX compiler" {
	[ -x "$ROWS/events" ] || skip "build/rows is missing: make rows"
	"$ROOT/tests/rows/exports.py" "$ROWS/events"
}
