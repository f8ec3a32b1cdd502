#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2030,SC2031 # scripts for sh; each test has its own STARTED
# -p means the process and everything below it; what is counted is counted once.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

@test "children: existing children of a -p process are measured" {
	GPUSIM_TRUTH=$PWD/%p.json LD_LIBRARY_PATH=$SIM "$SIM/simcalls" cudaLaunchKernel=500 --fork 3 \
		--init --wait-file go >calls.out 3>&- &
	STARTED+=($!)
	wait_for 10 eval '[ "$(grep -c ready calls.out)" -ge 3 ]'
	start_gpuprof stat -p "${STARTED[0]}" --table calls,threads,events --format json -o r.json
	wait_begun
	touch go
	wait_gpuprof 0
	laws r.json
	local truth n=0
	for truth in [0-9]*.json; do
		grep -q cudaLaunchKernel "$truth" || continue # the parent only waits
		compare --no-times "$truth" r.json
		n=$((n + 1))
	done
	[ $n -ge 3 ]
}

# A parent without CUDA, whose child runs a program with it when it is asked to.
start_family() {
	cat >family <<-SCRIPT
		while [ ! -e begin ]; do sleep 0.02; done
		GPUSIM_TRUTH=$PWD/child.json LD_LIBRARY_PATH=$SIM \
			"$SIM/simcalls" cudaLaunchKernel=500 --wait-ms 0 --wait-file go >child.out
		: # another command: no shell executes the last one in its own place
	SCRIPT
	sh family 3>&- &
	FAMILY=$!
	STARTED+=("$FAMILY")
}

# The family is measured; returns when its child is there, and has made no call yet.
measure_family() { # OPTIONS...
	start_family
	start_gpuprof stat -p "$FAMILY" "$@"
	wait_begun
	: >begin
	wait_for 10 grep -q ready child.out
}

@test "children: a child forked after the attach that runs a CUDA program is measured" {
	measure_family --table calls,threads,events --format json -o r.json
	wait_armed "$(pgrep -P "$FAMILY" simcalls)" cudart
	: >go
	wait_gpuprof 0
	compare --no-times child.json r.json
	laws r.json
}

@test "children: a child whose parent ends while it is attached to is measured to its end, and so is what it starts then" {
	local child
	cat >child <<-SCRIPT
		export LD_LIBRARY_PATH=$SIM
		"$SIM/simcalls" cudaLaunchKernel=500 --init --wait-file go >calls.out
		"$SIM/simcalls" cudaLaunchKernel=300 --init --wait-file later >later.out
		: >ended
	SCRIPT
	cat >family <<-'SCRIPT'
		sh -c 'sh child & echo $! >pid; while [ ! -e leave ]; do sleep 0.02; done'
		: >left
		while [ ! -e ended ]; do sleep 0.02; done
	SCRIPT
	sh family 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q ready calls.out
	child=$(cat pid)
	STARTED+=("$child")
	start_gpuprof stat -p "${STARTED[0]}" --table calls,threads,events --format json -o r.json
	wait_armed "$(pgrep -P "$child" simcalls)" cudart
	: >leave
	wait_for 10 test -e left
	: >go
	wait_for 10 grep -q ready later.out
	wait_armed "$(pgrep -P "$child" simcalls)" cudart
	: >later
	wait_gpuprof 0
	laws r.json
	assert_value r.json 'sorted(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel")' '[300, 500]'
}

@test "children: a child that reuses descriptor numbers does not get them as the helper's" {
	export GPUSIM_QUIET=1
	mkfifo fifo
	run -3 timeout 60 "$GPUPROF" stat --table events -- sh -c \
		'exec 3<>fifo 4<>fifo 5<>fifo 6<>fifo 7<>fifo 8<>fifo 9<>fifo && exec "$0" end' "$SIM/lives"
	assert_line --regexp '^helper +work +500 +500 +0 '
}

# The first thread of mix makes no call, so that no probe sees its end.
@test "children: the books of a child that exited are closed, whichever thread made its calls" {
	GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat --format json -o r.json -- \
		sh -c "$SIM/mix --rounds 300 >/dev/null; sleep 2"
	assert_value r.json '[max(x["wall_ns"] for x in t["ledger"]) < r["meta"]["duration_ns"] - 10**9,
		sum(x["launches_per_s"] for x in t["processes"]) > 0]' "[True, True]"
}

@test "children: with --isolate they are named and not followed" {
	measure_family --isolate
	: >go
	wait_gpuprof 0
	run cat gpuprof.out gpuprof.err
	assert_output --partial "not followed: "
	assert_output --partial "no calls seen"
}

@test "children: the filter of the parent's probes ends without a call lost or doubled" {
	cat >family <<-SCRIPT
		GPUSIM_TRUTH=$PWD/busy.json LD_LIBRARY_PATH=$SIM \
			"$SIM/simcalls" cudaLaunchKernel=20000 --pause-us 100 --init --wait-file go &
		echo \$! >busy
		while [ ! -e begin ]; do sleep 0.02; done
		GPUSIM_TRUTH=$PWD/child.json LD_LIBRARY_PATH=$SIM \
			"$SIM/simcalls" cudaLaunchKernel=500 --wait-ms 0 --wait-file probed >child.out
		wait
	SCRIPT
	sh family >calls.out 3>&- &
	FAMILY=$!
	STARTED+=("$FAMILY")
	wait_for 10 grep -q ready calls.out
	start_gpuprof stat -p "$FAMILY" --table calls,threads,events --format json -o r.json
	wait_armed "$(cat busy)" cudart
	touch go begin
	wait_for 10 grep -q ready child.out
	wait_armed "$(pgrep -P "$FAMILY" simcalls | grep -vx "$(cat busy)")" cudart
	touch probed
	wait_gpuprof 0
	compare --no-times busy.json r.json
	compare --no-times child.json r.json
	laws r.json
}

# bats file_tags=needs:root,needs:bpf,needs:targets
# 330 that end, and half a minute later 70 more, which is when the first ones are added up. The first threads of
# these make no call, so that their ends are looked for every 5 s; and 10 s after it an end is settled.
@test "children: of hundreds that exited 256 keep rows of their own, and every call is in a row" {
	cat >many <<-'END'
		for i in $(seq 330); do
			"$TARGETS/cudart-dyn" --launches $i &
			[ $((i % 4)) -ne 0 ] || wait
		done
		wait
		sleep 25
		for i in $(seq 70); do "$TARGETS/cudart-dyn" --launches 1; done
	END
	TARGETS=$TARGETS run beforehand timeout 120 "$GPUPROF" stat --format json -o r.json -- bash many
	assert_success
	laws r.json >&2
	run report_value r.json 'sum(x["count"] for x in t["calls"] if x["function"] == "cudaLaunchKernel")'
	assert_output $((330 * 331 / 2 + 70))
	assert_value r.json 'sum(x["pid"] is None for x in t["processes"])' 1
	assert_value r.json 'sum(x["pid"] is not None for x in t["processes"]) <= 256 + 70' True
}

# "closed", "open", or what is named to CUDA instead of the helper.
starts() {
	cat >starts <<-'END'
		import os, subprocess, sys
		how = sys.argv[1]
		if how.startswith("/"):
		    os.environ.update({name + "_INJECTION64_PATH": how for name in ("CUDA", "NVTX")})
		subprocess.run(sys.argv[2:], check=True, close_fds=how == "closed")
	END
}

# bats file_tags=needs:root,needs:bpf,needs:sim
# As torchrun and mpirun start theirs.
@test "children: a child started with all descriptors closed has the helper, and its works equal the truth" {
	starts
	local attach
	for attach in auto none; do
		GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_TRUTH=$PWD/t.json timeout 60 "$GPUPROF" stat --attach "$attach" \
			--format json -o r.json -- python3 starts closed "$SIM/mix" --rounds 100
		laws r.json
		run -0 "$TEST_LIB/check_ledger.py" r.json t.json
		assert_output "1 books add up"
	done
}

# bats test_tags=needs:mounts
@test "children: the helper's file goes to the next directory where one is mounted noexec" {
	starts
	cat >forbids <<-'END'
		mount -t tmpfs -o noexec none /run || exit
		[ "$1" = one ] || mount -t tmpfs -o noexec none /dev/shm || exit
		"$2" stat --table events -- python3 starts closed "$3" --rounds 100
	END
	local places
	for places in one both; do
		GPUPROF_CUPTI="$SIM/libcupti.so.13" run timeout 60 unshare -m sh forbids "$places" "$GPUPROF" "$SIM/mix"
		assert_success
		assert_line --regexp '^helper +work +[1-9][0-9]+ '
	done
}

@test "children: a child that cannot load the helper is reported with the reason" {
	starts
	local attach why="process [0-9]+ \(mix\).*its environment names the helper's file, which is not there"
	for attach in auto none; do
		GPUPROF_CUPTI="$SIM/libcupti.so.13" timeout 60 "$GPUPROF" stat --attach "$attach" --format json -o r.json -- \
			python3 starts /nowhere/libgpuprof.so "$SIM/mix" --rounds 1500 --pause-us 500 >said 2>&1
		cat said
		assert_note helper-not-loadable "$why"
		[ "$(grep -c 'are not known' said)" -eq 1 ]
		[ $attach = auto ] ||
			assert_note no-calls "could not load the helper in $why"
	done
}
