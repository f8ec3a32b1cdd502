#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # a test is a subshell
# Collectives of several processes on the simulated NCCL: counted exactly in every rank, and visible
# while they hang.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# The pid of rank N of the ddp that was started with --wait-file.
pid_of_rank() { sed -n "s/^ddp: rank $1 ready, pid //p" ddp.out; }

all_ready() { [ "$(grep -c ready ddp.out)" -eq "$1" ]; } # RANKS

# Four ranks that wait until the file `go` exists; those the launcher starts die with it.
start_ddp() { # ARGS...
	"$SIM/ddp" --wait-file go --quiet "$@" >ddp.out 2>ddp.err 3>&- &
	STARTED+=("$!")
	wait_for 10 all_ready 4
}

@test "collectives: each of four ranks has exactly its own collectives and bytes; aliases count once" {
	local by truth truths
	run -0 env GPUSIM_TRUTH="$PWD/rank-%p.json" "$GPUPROF" record -o c.gpr -- \
		"$SIM/ddp" --ranks 4 --steps 200 --bytes 1000000 --quiet
	truths=(rank-*.json)
	assert_equal "${#truths[@]}" 4
	for by in function launch result; do
		"$GPUPROF" report c.gpr --table calls,threads,events --by $by --format json >$by.json
		laws $by.json
		for truth in "${truths[@]}"; do
			compare --no-times "$truth" $by.json
		done
	done
	# 200 through ncclAllReduce and 200 through pncclAllReduce, which has the same address.
	run report_value function.json \
		'{(c["function"], c["count"], c["bytes"]) for c in t["calls"] if "AllReduce" in c["function"]}'
	assert_output "{('ncclAllReduce', 400, 200000800)}"
}

@test "collectives: -p of the launcher measures every rank, each with exactly its own" {
	local rank
	start_ddp --steps 100
	start_gpuprof record -o c.gpr -p "${STARTED[0]}"
	for rank in 0 1 2 3; do
		wait_armed "$(pid_of_rank $rank)" nccl
	done
	wait_begun
	: >go
	wait_gpuprof 0
	laws_of_capture
	run report_value r.json 'sorted(c["count"] for c in t["calls"] if c["function"] == "ncclAllReduce")'
	assert_output '[200, 200, 200, 200]'
	run report_value r.json '{c["bytes"] for c in t["calls"] if c["function"] == "ncclAllReduce"}'
	assert_output "{$((100 * ((4 << 20) + 4)))}"
}

# Attaches to rank N of a job whose rank 1 will hang in its 9th collective, and reports.
watch_hang() { # N
	local pid
	export GPUSIM_NCCL_HANG=1:9
	start_ddp --steps 100
	pid=$(pid_of_rank "$1")
	start_gpuprof stat -d 2s --table calls,threads,events --format json -o r.json -p "$pid"
	wait_armed "$pid" nccl
	: >go
	wait_gpuprof 0
	laws r.json
}

# Rank 1 of four, in r.json.
assert_hang() { # PID
	assert_value r.json "[(x['severity'], x['pid'], x['cause']) for x in t['findings'] if x['finding'] == 'hang']" \
		"[('high', $1, 'ranks 0, 2-3 wait in cudaStreamSynchronize for rank 1, which is in ncclAllReduce')]"
}

@test "collectives: ranks that hung before the session are in a collective and in its sync from the start, and the job hangs" {
	local rank
	export GPUSIM_NCCL_HANG=1:9
	start_ddp --steps 100
	: >go
	sleep 1
	run -0 --separate-stderr "$GPUPROF" stat -d 2s --table calls,threads,events,findings --format json -p "${STARTED[0]}"
	laws_of_output
	assert_hang "$(pid_of_rank 1)"
	assert_value r.json "{x['pid']: (x['bucket'], x['ns'] == r['meta']['duration_ns'])
		for x in t['threads']}[$(pid_of_rank 1)]" "('collective', True)"
	for rank in 0 2 3; do
		assert_value r.json "{x['pid']: (x['bucket'], x['ns'] == r['meta']['duration_ns'])
			for x in t['threads']}[$(pid_of_rank $rank)]" "('sync', True)"
	done
	run report_value r.json 'sorted((c["function"], c["open"], c["begun_before"]) for c in t["calls"])'
	assert_output "[('cudaStreamSynchronize', 1, 1), ('cudaStreamSynchronize', 1, 1), ('cudaStreamSynchronize', 1, 1), ('ncclAllReduce', 1, 1)]"
}

@test "collectives: stacks names the call and the native function of every rank of a job that hung before" {
	GPUSIM_NCCL_HANG=1:9 start_ddp --steps 100
	: >go
	hung() { [ "$("$GPUPROF" stacks -q -p "${STARTED[0]}" --format json 2>/dev/null |
		python3 -c 'import json, sys; print(sum(s["call"] is not None for s in json.load(sys.stdin)["tables"]["stacks"]))')" -eq 4 ]; }
	wait_for 20 hung
	run -0 "$GPUPROF" stacks -p "${STARTED[0]}"
	assert_line --index 0 "ranks 0, 2, 3 wait in a call; rank 1 (pid $(pid_of_rank 1)) is in a collective that it has not launched yet."
	assert_line --index 1 "If that lasts, this job hangs: the others wait for it."
	assert_line --regexp "^ranks 0, 2, 3 \(pids [0-9]+, [0-9]+, [0-9]+\), thread \"ddp\"$"
	refute_line --partial gpuprof-helper
	kill -STOP "$(pid_of_rank 2)"
	wait_for 5 grep -q '^State:.T' "/proc/$(pid_of_rank 2)/status"
	run -0 "$GPUPROF" stacks -p "${STARTED[0]}"
	assert_line --index 0 "This job hangs: ranks 0, 1, 3 wait for rank 2 (pid $(pid_of_rank 2)), which is STOPPED by a signal or a debugger."
	assert_line --index 1 "Go on with: kill -CONT $(pid_of_rank 2)"
	run -0 "$GPUPROF" stacks --color always -p "${STARTED[0]}"
	assert_line --index 0 --regexp $'^\e\\[1;31mThis job hangs: .* a debugger\\.\e\\[0m$'
	assert_line --index 1 "Go on with: kill -CONT $(pid_of_rank 2)"
	kill -CONT "$(pid_of_rank 2)"
	"$GPUPROF" stacks -p "${STARTED[0]}" --format json -o r.json
	run report_value r.json "sorted((s['call'], s['stack'], s['call'] in [f['function'] for f in s['frames']],
		s['frames'][-1]['function'] is not None) for s in t['stacks'] if s['call'])"
	assert_output "[$(printf "('cudaStreamSynchronize', 'whole', True, True), %.0s" 1 2 3)('ncclAllReduce', 'whole', True, True)]"
	run report_value r.json "[s['call'] for s in t['stacks'] if s['pid'] == $(pid_of_rank 1) and s['call']]"
	assert_output "['ncclAllReduce']"
}

# A collective of a stream of its own, beside kernels that end: as DDP has them.
@test "collectives: the device of a rank that waits for one that hung is never idle, and the job hangs" {
	local rank
	run -137 --separate-stderr env GPUSIM_NCCL_HANG=1:9 "$GPUPROF" stat -d 3s --table ledger,events,findings --format json -o r.json -- \
		timeout -s KILL 6 "$SIM/ddp" --steps 100 --two-streams --quiet
	laws r.json
	for rank in 0 2 3; do
		assert_value r.json "(lambda ns: ns['unknown'] > 1e9 and ns['no-work'] < 1e9)(
			{b: sum(x['ns'] for x in t['ledger'] if x['rank'] == $rank and x['bucket'] == b)
			for b in ('unknown', 'no-work')})" True
	done
	assert_value r.json "sum(x['lost'] or 0 for x in t['events'])" 0
	assert_hang "$(report_value r.json "{x['pid'] for x in t['ledger'] if x['rank'] == 1}.pop()")"
}

# So it is by -p of the launcher before the hang and after it. It is certain after half of the session.
@test "collectives: -p calls a job of two streams hung, with its rank, whether it came before the hang or after" {
	local when rank start
	eval "$("$GPUPROF" env --for shell --dir "$PWD/env" 2>env.err)"
	export GPUSIM_NCCL_HANG=1:9
	for when in before after; do
		rm -f go ddp.out
		start_ddp --steps 100 --two-streams
		[ $when = before ] || { : >go && sleep 1; }
		start=$(date +%s%N)
		start_gpuprof stat --table ledger,calls,threads,events,findings --format json -o r.json -p "${STARTED[-1]}"
		for rank in 0 1 2 3; do wait_armed "$(pid_of_rank $rank)" nccl; done
		: >go
		sleep "$(awk "BEGIN { print 1 + 1.2 * ($(date +%s%N) - $start) / 1e9 }")"
		interrupt_gpuprof
		laws r.json
		assert_hang "$(pid_of_rank 1)"
		for rank in 0 2 3; do
			assert_value r.json "(sum(x['ns'] for x in t['ledger'] if x['pid'] == $(pid_of_rank $rank)
				and x['state'] == 'idle' and x['bucket'] not in ('unknown', 'unarmed'))
				<= {'before': r['meta']['duration_ns'] / 2, 'after': 1e6}['$when'])" True
		done
		end_tree "${STARTED[-1]}"
	done
}

# Ranks 0, 1 and 3 wait for rank 2.
assert_stopped() {
	local remedy
	remedy="; go on with: kill -CONT $(pid_of_rank 2)"
	"$GPUPROF" report c.gpr --table findings --format json >r.json
	run report_value r.json '[f["cause"] for f in t["findings"] if f["finding"] == "hang"]'
	assert_output --regexp \
		"^..ranks 0-1, 3 wait in [A-Za-z]+ for rank 2, which is stopped by a signal or a debugger, in [a-zA-Z ]+$remedy.\]$"
}

@test "collectives: the others wait for a rank that is stopped, whatever it was doing" {
	local rank
	start_ddp --steps 100000
	start_gpuprof record -o c.gpr -p "${STARTED[0]}"
	for rank in 0 1 2 3; do wait_armed "$(pid_of_rank $rank)" nccl; done
	: >go
	sleep 0.5
	kill -STOP "$(pid_of_rank 2)"
	sleep 3
	interrupt_gpuprof
	assert_stopped
}

@test "collectives: they wait for one that was stopped in a call before gpuprof came" {
	start_ddp --steps 100000
	: >go
	sleep 0.5
	kill -STOP "$(pid_of_rank 2)"
	sleep 0.5
	run -0 "$GPUPROF" record -d 2s -o c.gpr -p "${STARTED[0]}"
	assert_stopped
	kill -CONT "$(pid_of_rank 2)"
	run -0 "$GPUPROF" stat -d 2s --table findings -p "${STARTED[0]}"
	refute_output --partial "stopped by"
}

# "yes" when the bucket of all threads is between two numbers of nanoseconds, else what it is.
bucket_between() { # BUCKET LEAST MOST
	report_value r.json "(lambda ns: 'yes' if $2 <= ns <= $3 else ns)(
		sum(x['ns'] for x in t['threads'] if x['bucket'] == '$1'))"
}

# The functions with an open call, outermost.
open_calls() { report_value r.json '[c["function"] for c in t["calls"] if c["open"]]'; }

@test "collectives: a rank that hangs in one is in it, open, to the last instant" {
	watch_hang 1
	run open_calls
	assert_output "['ncclAllReduce']"
	run bucket_between collective 1e9 2.2e9
	assert_output yes
}

@test "collectives: a rank that waits for one that hangs is in its sync, open, to the last instant" {
	watch_hang 2
	run open_calls
	assert_output "['cudaStreamSynchronize']"
	run bucket_between sync 1e9 2.2e9
	assert_output yes
}
