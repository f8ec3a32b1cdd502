#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --budget: what gpuprof costs a thread stays below a share of its time, at 300,000 launches a second
# and more. Costs are counted hits times their calibrated cost, so that a busy machine changes nothing.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# Launches that many ms, without a helper unless there is one in the environment.
start_launching() { # MS ARGS...
	"$SIM/simcalls" --init --wait-file go --exit-after-ms "$1" "${@:2}" cudaLaunchKernel=1000000000 \
		>target.out 2>&1 3>&- &
	as_ready_target target.out
}

# gpuprof on the target from before its first launch to its end: gpuprof.out, c.gpr and its report r.json.
watch_launching() { # ARGS...
	start_gpuprof "$@" --max-loss 100% -p "$TARGET"
	wait_armed "$TARGET"
	wait_begun
	! has_ring "$TARGET" || wait_for 20 is_awake "$TARGET"
	: >go
	wait_gpuprof 0
	rm go
	"$GPUPROF" report c.gpr --max-loss 100% --format json -o r.json \
		--table calls,threads,events,processes
	laws r.json
}

# What was paid of SHARE: all that was, after what may be at first (2 s of it) and up to 0.15 s of launching
# until each pause of the session begins.
is_kept() { # SHARE
	assert_value r.json "r['meta']['own_cost_ns'] <= $1 * (r['meta']['duration_ns'] + 2e9) + 60e6" True
	# the figure is what was hit: as the table has it, and the kernel's counters
	assert_value r.json 'sum(r["hits"] for r in t["events"] if r["kind"] == "call") == r["meta"]["own_cost_calls"]' True
}

launches_of_report() { report_value r.json 'sum(c["count"] for c in t["calls"] if c["class"] == "launch")'; }

ns_of() { report_value r.json "sum(r['ns'] for r in t['threads'] if r['bucket'] in '$*'.split())"; } # BUCKET...

@test "budget: by default what intervals cost stays below 1 %; it steps down once and says so" {
	may_repeat "where others have the CPUs, its launches cost less than that"
	start_launching 15000
	watch_launching -i 3s --capture c.gpr
	[ "$(grep -c 'budget: probes cost thread' gpuprof.err)" -eq 1 ]
	assert_note budget 'cost thread .* ~[0-9]+ % of its time, and --budget is 1 %: launches are probed for ~[0-9.]+ % of the time now'
	grep -q 'estimated; launches probed in part' gpuprof.out # the header
	is_kept 0.01
	# They are still looked at: in more than the first moment, and each time for long enough to count.
	[ "$(launches_of_report)" -gt 20000 ]
}

@test "budget: what is not seen is unarmed, not other, and rates are of what is seen" {
	start_launching 9000
	watch_launching record --budget 0.3% -o c.gpr
	assert_note budget 'launches are probed for'
	assert_note unarmed 'launches were not probed'
	assert_value r.json 'r["meta"]["unarmed_ns"] > 3e9' True
	# None of that time is other; waiting for a CPU is seen all the same.
	run -0 ns_of unarmed runqueue page-fault stopped
	assert [ "${lines[0]}" -ge "$(report_value r.json 'round(0.97 * r["meta"]["unarmed_ns"])')" ]
	run -0 ns_of other
	assert [ "${lines[0]}" -le "$(report_value r.json 'r["meta"]["duration_ns"] - r["meta"]["unarmed_ns"]')" ]
	# The rate while they are probed is far above what was counted in all the time.
	assert_value r.json '(t["processes"][0]["launches_per_s"] >
		2e9 * sum(c["count"] for c in t["calls"]) / r["meta"]["duration_ns"])' True
	is_kept 0.003
}

@test "budget: a target whose launches cost less is never stepped down; each launch is counted" {
	"$SIM/simcalls" --init --wait-file go --pause-us 1000 cudaLaunchKernel=3000 >target.out 2>&1 3>&- &
	as_ready_target target.out
	watch_launching -i 1s --capture c.gpr
	refute_note budget
	[ "$(launches_of_report)" -eq 3000 ]
	! grep -q 'launches probed' gpuprof.out || fail "it stepped down"
}

@test "budget: off never steps down, and stat and record have none unless asked" {
	local options
	for options in "-i 1s --budget off --capture c.gpr" "record -o c.gpr"; do
		"$SIM/simcalls" --init --wait-file go cudaLaunchKernel=1000000 >target.out 2>&1 3>&- &
		as_ready_target target.out
		# shellcheck disable=SC2086 # options are words
		watch_launching $options
		refute_note budget
		assert_value r.json 'sum(c["count"] for c in t["calls"] if c["class"] == "launch") + r["meta"]["lost"]' 1000000
	done
}

@test "budget: where an awake helper records launches, its records are the launches" {
	may_repeat "where others have the CPUs, its launches cost less than that"
	eval "$("$GPUPROF" env --dir here 2>/dev/null)"
	start_launching 4000 --pause-us 3
	watch_launching -i 1s --budget 0.1% --capture c.gpr
	assert_note budget 'from now on launches are what CUPTI records'
	refute_note unarmed 'launches were not probed'
	is_kept 0.001
}

# Also for moments in which its launches are probed, too: each is counted once.
@test "budget: a process whose launches CUPTI records is counted in full while another's are left out" {
	may_repeat "where others have the CPUs, its launches cost less than that"
	start_launching 9000
	local busy=$TARGET
	eval "$("$GPUPROF" env --dir here 2>/dev/null)"
	"$SIM/simcalls" --init --wait-file go --pause-us 100 cudaLaunchKernel=30000 >recorded.out 2>&1 3>&- &
	as_ready_target recorded.out
	start_gpuprof record --budget 1% --max-loss 100% -o c.gpr -p "$busy,$TARGET"
	wait_armed "$busy"
	wait_begun
	wait_for 20 is_awake "$TARGET"
	: >go
	wait_gpuprof 0
	laws_of_capture
	assert_note budget "cost thread $busy of process $busy"
	assert_value r.json "sum(c['count'] for c in t['calls'] if c['class'] == 'launch' and c['pid'] == $TARGET)" 30000
}

@test "budget: processes that come do not bring the probes of launches back; they are unarmed, too" {
	may_repeat "where others have the CPUs, its launches cost less than that"
	unset CUDA_INJECTION64_PATH
	cat >parent <<-'SCRIPT'
		while [ ! -e go ]; do sleep 0.02; done
		"$SIM/simcalls" --init --exit-after-ms 9000 cudaLaunchKernel=1000000000 >target.out 2>&1 &
		sleep 2
		for i in 1 2 3 4 5 6; do
			"$SIM/simcalls" --init --pause-us 1000 cudaLaunchKernel=300 cudaDeviceSynchronize=10 >short.out
			sleep 0.4
		done
		wait
	SCRIPT
	sh parent 3>&- &
	as_target
	start_gpuprof record --budget 1% -o c.gpr --max-loss 100% -p "$TARGET"
	wait_begun
	: >go
	wait_gpuprof 0
	"$GPUPROF" report c.gpr --format json --table calls,threads,events,processes -o r.json
	laws r.json
	assert_note budget 'launches are probed for'
	is_kept 0.01
	# Each has made its calls that are probed; of its launches hardly any was seen.
	assert_value r.json 'sum(c["count"] for c in t["calls"] if c["function"] == "cudaDeviceSynchronize")' 60
	assert_value r.json 'len([p for p in t["processes"] if p["launches_per_s"] is None]) >= 3' True
}

@test "budget: with -a the launches of all are left out where those of one cost too much; all are unarmed" {
	may_repeat "where others have the CPUs, its launches cost less than that"
	unset CUDA_INJECTION64_PATH
	start_launching 6000
	local busy=$TARGET
	"$SIM/simcalls" --init --wait-file go --pause-us 1000 cudaDeviceSynchronize=10 cudaLaunchKernel=2000 \
		>calm.out 2>&1 3>&- &
	as_ready_target calm.out
	start_gpuprof record -a --budget 1% -d 8s --max-loss 100% -o c.gpr
	wait_armed "$busy"
	wait_begun
	: >go
	wait_gpuprof 0
	"$GPUPROF" report c.gpr --max-loss 100% --format json -o r.json --table calls,threads,events,processes
	laws r.json
	assert_note budget "cost thread $busy of process $busy"
	is_kept 0.01
	for pid in "$busy" "$TARGET"; do
		assert_value r.json "sum(r['ns'] for r in t['threads']
			if r['pid'] == $pid and r['bucket'] == 'unarmed') > 1e9" True
	done
	assert_value r.json "sum(c['count'] for c in t['calls']
		if c['pid'] == $TARGET and c['function'] == 'cudaDeviceSynchronize')" 10
}
