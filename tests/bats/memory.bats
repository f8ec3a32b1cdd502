#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The table of memory is the truth of the simulated GPU, whether calls or records report it.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# CUPTI (a path, or "none": no helper can use it) VERB ARGS...
profile() {
	local cupti=$1
	shift
	rm -f ./*.truth
	run -0 env GPUPROF_CUPTI="$cupti" GPUSIM_TRUTH="$PWD/%p.truth" "$GPUPROF" "$@"
}

@test "memory: calls and CUPTI's records of them are one allocation each, from a capture too" {
	profile "$SIM/libcupti.so.13" stat --capture c.gpr --format json -o r.json -- \
		"$SIM/hoard" --threads 4 --rounds 400 --seed "$RANDOM"
	run -0 "$TEST_LIB/check_memory.py" r.json ./*.truth
	[ "$(report_value r.json 'sum(r["leaked_bytes"] for r in t["memory"]) > 0')" = True ]
	[ "$(report_value r.json '{r["since"] for r in t["memory"]}')" = "{'start'}" ]
	report_says_the_same c.gpr r.json
}

@test "memory: without a helper that can use CUPTI, calls alone give the same" {
	profile /nonexistent stat --format json -o r.json -- "$SIM/hoard" --rounds 400 --seed "$RANDOM"
	run -0 "$TEST_LIB/check_memory.py" r.json ./*.truth --calls
	run -0 "$GPUPROF" stat --table memory --stacks --by stack -- "$SIM/hoard" --rounds 400
	assert_output --partial "cudaMallocAsync"
}

@test "memory: an attached process is known from the attach on; frees of older memory are counted apart" {
	GPUSIM_TRUTH="$PWD/%p.truth" "$SIM/hoard" --threads 2 --rounds 400 --ready-file ready \
		--wait-file go --end-file end 3>&- &
	STARTED+=($!)
	wait_for 20 test -e ready
	start_gpuprof stat -p $! --format json -o r.json
	wait_armed "${STARTED[0]}"
	: >go
	: >end
	wait_gpuprof 0
	[ "$(report_value r.json '{r["since"] for r in t["memory"]}')" = "{'attach'}" ]
	[ "$(report_value r.json 'sum(r["frees_before"] for r in t["memory"]) > 0')" = True ]
	[ "$(report_value r.json 'sum(r["allocs"] for r in t["memory"]) > 0')" = True ]
	[ "$(report_value r.json 'sum(r["unsized"] + r["untracked"] for r in t["memory"])')" -eq 0 ]
}
