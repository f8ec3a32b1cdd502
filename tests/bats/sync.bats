#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A call that has not returned is seen while it lasts, and its time is booked to the last instant.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# A thread that will hang in cudaStreamSynchronize after a few launches; HUNG is its pid.
start_hang() {
	"$SIM/simcalls" --wait-file go --hang-sync cudaLaunchKernel=20 >hang.out 2>&1 3>&- &
	HUNG=$!
	STARTED+=("$HUNG")
	wait_for 10 grep -q ready hang.out
}

# The same, and it hangs already.
start_hung() {
	start_hang
	: >go
	wait_hanging
}

wait_hanging() {
	wait_for 10 grep -q hanging hang.out
	wait_for 10 grep -q nanosleep "/proc/$HUNG/wchan"
}

# "yes" when the sync bucket of all threads is between two numbers of nanoseconds, else what it is.
sync_between() { # REPORT LEAST MOST
	report_value "$1" "(lambda ns: 'yes' if $2 <= ns <= $3 else ns)(
		sum(x['ns'] for x in t['threads'] if x['bucket'] == 'sync'))"
}

@test "sync: a thread still inside a sync when the session ends is booked sync to the last instant" {
	start_hang
	local before begun duration
	before=$(date +%s%N)
	start_gpuprof record -d 2s -o c.gpr -p "$HUNG"
	wait_armed "$HUNG" cudart
	: >go
	wait_hanging
	begun=$(date +%s%N)
	wait_gpuprof 0
	laws_of_capture
	run report_value r.json '[c["open"] for c in t["calls"] if c["function"] == "cudaStreamSynchronize"]'
	assert_output "[1]"
	duration=$(report_value r.json 'r["meta"]["duration_ns"]')
	run sync_between r.json $((duration - (begun - before))) "$duration"
	assert_output yes
}

@test "sync: a thread killed inside a sync is booked sync until it died, and no longer" {
	start_hang
	local before begun killed gone
	start_gpuprof record -d 30s -o c.gpr -p "$HUNG"
	wait_armed "$HUNG" cudart
	before=$(date +%s%N)
	: >go
	wait_hanging
	begun=$(date +%s%N)
	sleep 1
	killed=$(date +%s%N)
	kill -KILL "$HUNG"
	wait "$HUNG" || true
	gone=$(date +%s%N)
	wait_gpuprof
	[ "$status" -eq 0 ] || fail "status $status: $output"
	laws_of_capture
	run sync_between r.json $((killed - begun)) $((gone - before))
	assert_output yes
}

@test "sync: a capture whose recorder was killed meanwhile shows the sync as open too" {
	start_hang
	start_gpuprof record -o c.gpr -p "$HUNG"
	wait_armed "$HUNG" cudart
	: >go
	wait_hanging
	sleep 2 # a block is written each second
	kill -KILL "$PROFILER"
	wait "$PROFILER" || true
	run -5 --separate-stderr "$GPUPROF" report c.gpr --table calls,threads,events --format json
	laws_of_output
	run report_value r.json '[c["open"] for c in t["calls"] if c["function"] == "cudaStreamSynchronize"]'
	assert_output "[1]"
}

@test "sync: a thread that hung in a sync before the session is in it from the start to the end" {
	start_hung
	for target in "-p $HUNG" -a; do
		# shellcheck disable=SC2086 # an option and its value
		run -0 "$GPUPROF" record -d 1s -o c.gpr $target
		laws_of_capture
		run report_value r.json "[(c['function'], c['count'], c['open'], c['begun_before'])
			for c in t['calls'] if c['pid'] == $HUNG]"
		assert_output "[('cudaStreamSynchronize', 0, 1, 1)]"
		assert_value r.json "[(x['bucket'], x['ns'] == x['wall_ns'] == r['meta']['duration_ns'])
			for x in t['threads'] if x['pid'] == $HUNG]" "[('sync', True)]"
	done
	# Also where its call returns to.
	run -0 text_equals_file "$HUNG"
}

@test "sync: each interval of a session that began inside one is sync up to the last look" {
	start_hung
	run -0 --separate-stderr "$GPUPROF" -p "$HUNG" --interval 400ms --count 2 --table threads --format csv
	run awk -F, '$4 == "sync" && $5 > 0 { sync = $5 }
		$4 == "unknown" { unknown = $5 }
		$4 == "sync" || $4 == "unknown" { if (sync && sync + unknown == $8) { n++; sync = unknown = 0 } }
		END { print n }' <<<"$output"
	assert_output 2
}
