#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own STARTED
# Pids are the host's and times are the host's, whatever namespaces a target lives in; a number that is
# used again is another process.

load ../lib/common

needs_unshare() { # OPTION...
	unshare "$@" true 2>/dev/null || skip "unshare $* is not permitted here"
}

# In namespaces of its own, 300 launches once `go` exists; its pid, the host's, is TARGET.
start_apart() { # UNSHARE_OPTION...
	GPUSIM_TRUTH=$PWD/t.json LD_LIBRARY_PATH=$SIM unshare -f "$@" "$SIM/simcalls" \
		cudaLaunchKernel=300 --threads 2 --init --wait-file "$PWD/go" >calls.out 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q ready calls.out
	TARGET=$(pgrep -P $! simcalls)
	STARTED+=("$TARGET")
}

measure() { # OPTION...
	start_gpuprof stat "$@" --table calls,processes,threads,events --format json -o r.json
	wait_armed "$TARGET" cudart
	touch go
	wait "${STARTED[0]}"
	kill -INT "$PROFILER" 2>/dev/null || true
	wait_gpuprof
	assert_success
	laws r.json
}

# bats test_tags=needs:root,needs:bpf
@test "namespaces: a process in a pid namespace is named by the host's pid, and counts once" {
	needs root bpf sim mounts
	needs_unshare -pfm --mount-proc
	start_apart -pm --mount-proc
	grep -q 'pid 1$' calls.out
	measure -p "$TARGET"
	compare --no-times --pid "$TARGET" t.json r.json
	run report_value r.json "[(p['pid'], p['ns_pid']) for p in t['processes']]"
	assert_output "[($TARGET, 1)]"
	run report_value r.json "$TARGET in {h['tid'] for h in t['threads']}"
	assert_output True
}

# bats test_tags=needs:root,needs:bpf
@test "namespaces: a shift of the clock in a time namespace changes no time and no count" {
	needs root bpf sim
	needs_unshare -Tf --monotonic 1000000
	start_apart -T --monotonic 1000000 --boottime 2000000
	measure --name simcalls
	compare --no-times --pid "$TARGET" t.json r.json
	run report_value r.json "max(h['wall_ns'] for h in t['threads']) <= r['meta']['duration_ns']"
	assert_output True
	run report_value r.json "0 < ($(cut -d. -f1 /proc/uptime) + 1) * 10**9 - t['processes'][0]['start_ns'] < 60 * 10**9"
	assert_output True
}

# bats test_tags=needs:root,needs:bpf
@test "namespaces: a pid that is used again is two processes, each with its own calls" {
	needs root bpf sim targets
	# shellcheck disable=SC2153 # TARGETS: of common.bash
	"$TARGETS/successor" true true >/dev/null || skip "clone3 with a chosen pid is not permitted here"
	local calls="LD_LIBRARY_PATH=$SIM exec $SIM/simcalls --wait-ms 300 cudaLaunchKernel"
	run "$GPUPROF" stat --capture c.gpr --table calls,processes,threads,events --format json -o r.json -- \
		"$TARGETS/successor" "RANK=1 $calls=300 --threads 2" "RANK=2 $calls=200"
	assert_success
	run report_value r.json "len({p['pid'] for p in t['processes']}), [p['rank'] for p in t['processes']]"
	assert_output "(1, [1, 2])"
	# shellcheck disable=SC2016
	local by_birth='[[sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel" and
		c["process_start_ns"] == p["start_ns"]), len({(h["tid"], h["birth_ns"]) for h in t["threads"]
		if h["process_start_ns"] == p["start_ns"]})] for p in t["processes"]]'
	run report_value r.json "$by_birth"
	assert_output "[[600, 2], [200, 1]]"
	laws r.json
	"$GPUPROF" report c.gpr --table calls,processes,threads --format json >again.json
	run report_value again.json "$by_birth"
	assert_output "[[600, 2], [200, 1]]"
}
