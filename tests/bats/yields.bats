#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # run sets stderr
# A program with a profiler of its own (as torch.profiler behaves): that one has all of its events, as if we
# were not there; gpuprof says who has CUPTI, and what it could not see meanwhile is unknown.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# The profiler's windows saw all, and the books add up; t: the tables, by: ns of the ledger's buckets.
profile() { # WHEN WINDOWS OPTIONS-OF-GPUPROF...
	GPUPROF_CUPTI=$SIM/libcupti.so.13 run --separate-stderr "$GPUPROF" stat --format json -o r.json \
		"${@:3}" -- "$SIM/client" "$1"
	assert_success
	assert_equal "${#lines[@]}" "$2"
	# In a window begun while we record, all but those of a buffer that CUPTI had of us.
	for line in "${lines[@]}"; do
		assert_regex "$line" '^profiler: on, all kernels( but [1-6]?[0-9])?$'
	done
	laws r.json
}

of_wall() { # EXPRESSION: of unknown, the share of wall time that is so
	report_value r.json "(lambda unknown: $1)(sum(r['share'] for r in t['ledger'] if r['bucket'] == 'unknown'))"
}

@test "yields: an earlier profiler keeps CUPTI and is named; device time is unknown" {
	profile before 1
	assert_note cupti-occupied "are not known: .*: probably torch.profiler"
	run of_wall "unknown > 0.8"
	assert_output True
	assert_value r.json 'len(t["kernels"])' 0
}

@test "yields: between two windows of a profiler that releases CUPTI device times are known, else not" {
	profile teardown 2
	assert_note cupti-occupied "are not all known: .*: probably torch.profiler"
	run of_wall "0.3 < unknown < 0.9"
	assert_output True
	assert_value r.json '0 < sum(k["count"] for k in t["kernels"]) <= 800' True
}

# Launches had no probes when the first window began, and have had them since: of 3800 one window has 1000.
@test "yields: launches that neither CUPTI recorded nor a probe saw are few, and said" {
	profile teardown 2
	assert_note launches-unseen 'made launches in .* s that are not counted'
	assert_value r.json '1900 < sum(c["count"] for c in t["calls"] if c["class"] == "launch") < 3800' True
	profile teardown 2 --launch both
	refute_note launches-unseen
	assert_value r.json 'sum(c["count"] for c in t["calls"] if c["class"] == "launch")' 3800
}

@test "yields: --cupti subscribe leaves CUPTI to a profiler that may come, with a message" {
	profile during 1 --cupti subscribe
	assert_regex "$stderr" "as without --cupti subscribe: CUPTI is left free for another client: probably torch.profiler"
}
