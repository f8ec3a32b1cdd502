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
	wait_gpuprof 0
	laws r.json
}

# bats test_tags=needs:root,needs:bpf,needs:mounts,needs:sim
@test "namespaces: a process in a pid namespace is named by the host's pid, and counts once" {
	needs_unshare -pfm --mount-proc
	start_apart -pm --mount-proc
	grep -q 'pid 1$' calls.out
	measure -p "$TARGET"
	compare --no-times --pid "$TARGET" t.json r.json
	assert_value r.json "[(p['pid'], p['ns_pid']) for p in t['processes']]" "[($TARGET, 1)]"
	assert_value r.json "$TARGET in {h['tid'] for h in t['threads']}" True
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "namespaces: a shift of the clock in a time namespace changes no time and no count" {
	needs_unshare -Tf --monotonic 1000000
	start_apart -T --monotonic 1000000 --boottime 2000000
	measure --name simcalls
	compare --no-times --pid "$TARGET" t.json r.json
	run report_value r.json "max(h['wall_ns'] for h in t['threads']) <= r['meta']['duration_ns']"
	assert_output True
	run report_value r.json "0 < ($(cut -d. -f1 /proc/uptime) + 1) * 10**9 - t['processes'][0]['start_ns'] < 60 * 10**9"
	assert_output True
}

# bats test_tags=needs:root,needs:bpf,needs:sim,needs:targets
@test "namespaces: a pid that is used again is two processes, each with its own calls" {
	# shellcheck disable=SC2153 # TARGETS: of common.bash
	"$TARGETS/successor" true true >/dev/null || skip "clone3 with a chosen pid is not permitted here"
	local calls="LD_LIBRARY_PATH=$SIM exec $SIM/simcalls --wait-ms 300 cudaLaunchKernel"
	run -0 "$GPUPROF" stat --capture c.gpr --table calls,processes,threads,events --format json -o r.json -- \
		"$TARGETS/successor" "RANK=1 $calls=300 --threads 2" "RANK=2 $calls=200"
	run report_value r.json "len({p['pid'] for p in t['processes']}), [p['rank'] for p in t['processes']]"
	assert_output "(1, [1, 2])"
	# shellcheck disable=SC2016
	local by_birth='[[sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel" and
		c["process_start_ns"] == p["start_ns"]), len({(h["tid"], h["birth_ns"]) for h in t["threads"]
		if h["process_start_ns"] == p["start_ns"]})] for p in t["processes"]]'
	assert_value r.json "$by_birth" "[[600, 2], [200, 1]]"
	laws r.json
	"$GPUPROF" report c.gpr --table calls,processes,threads --format json >again.json
	assert_value again.json "$by_birth" "[[600, 2], [200, 1]]"
}

# ---- with the helper ------------------------------------------------------------------------------

# A target with the helper, apart: 2 threads that launch 300 times each once `go` exists.
start_helped() { # UNSHARE_OPTION...
	CUDA_INJECTION64_PATH=$ROOT/build/libgpuprof.so GPUPROF_CUPTI=$SIM/libcupti.so.13 start_apart "$@"
}

# All works of TARGET are joined, its threads are the host's, its books are the truth's.
measure_helped() { # OPTION...
	start_gpuprof stat "$@" --format json -o r.json
	wait_armed "$TARGET" cudart
	wait_for 10 is_awake "$TARGET"
	touch go
	wait "${STARTED[0]}"
	kill -INT "$PROFILER" 2>/dev/null || true
	wait_gpuprof 0
	laws r.json
	compare --no-times --pid "$TARGET" t.json r.json
	sed -i "s/\"pid\": [0-9]*/\"pid\": $TARGET/" t.json
	run -0 "$TEST_LIB/check_ledger.py" r.json t.json
	assert_output "1 books add up"
	assert_value r.json '[k["count"] for k in t["kernels"]]' "[600]"
}

# bats file_tags=needs:root,needs:bpf,needs:mounts,needs:sim
@test "namespaces: all works of a process in a pid namespace meet their launches, in the host's threads" {
	needs_unshare -pfm --mount-proc
	start_helped -pm --mount-proc
	grep -q 'pid 1$' calls.out
	measure_helped -p "$TARGET"
}

@test "namespaces: all works of a process in a time namespace meet their launches; nothing is early or late" {
	needs_unshare -Tf --monotonic 1000000
	start_helped -pmT --mount-proc --monotonic 1000000 --boottime 2000000
	measure_helped -p "$TARGET"
	run report_value r.json "[(e['skew'], e['late'], e['invalid']) for e in t['events'] if e['kind'] == 'work']"
	assert_output "[(0, 0, 0)]"
}

# Both inside: the truth's pid is the report's.
demo_inside() { # UNSHARE_OPTION...
	GPUPROF_CUPTI=$SIM/libcupti.so.13 GPUSIM_TRUTH=$PWD/t.json unshare -f "$@" \
		"$GPUPROF" stat -o r.json --format json --capture c.gpr -- "$SIM/pretrain" --steps 10 --faults all
	laws r.json
	run -0 "$TEST_LIB/check_ledger.py" r.json t.json
	assert_output "1 books add up"
	report_says_the_same c.gpr r.json
}

# bats file_tags=needs:root,needs:mounts,needs:sim
@test "namespaces: gpuprof and its command in a pid namespace: works without probes, with a message" {
	needs_unshare -pfm --mount-proc
	demo_inside -pm --mount-proc
	run -0 unshare -fpm --mount-proc env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat \
		--format json -o r.json -- "$SIM/train" --steps 2 --quiet
	assert_note without-probes "in a container with pids of its own; run gpuprof on the host"
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "namespaces: gpuprof and its command in a time namespace see the host's times" {
	needs_unshare -Tf --monotonic 1000000
	demo_inside -T --monotonic 1000000 --boottime 2000000
	run report_value r.json "0 < ($(cut -d. -f1 /proc/uptime) + 1) * 10**9 - t['processes'][0]['start_ns'] < 60 * 10**9"
	assert_output True
	demo_inside -T --monotonic -50 --boottime -70
	compare --no-times t.json r.json
}
