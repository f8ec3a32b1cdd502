#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --launch: whose launches are probed. The programs make 500 launches by the runtime and 300 by the
# driver; which of them can be seen is in the tables below.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# Launches that a report of PROGRAM shows, by function, and how many of the runtime's were hit in the
# driver again.
launches() { # MODE export|private PROGRAM
	GPUSIM_PROCADDR=$2 run "$GPUPROF" stat --launch "$1" --table calls,threads,events --format json \
		-o r.json -- "$SIM/$3" --init --wait-ms 500 cudaLaunchKernel=500 cuLaunchKernel=300
	assert_success
	laws r.json
	run report_value r.json '" ".join(
		["%s=%d" % (c["function"], c["count"]) for c in sorted(t["calls"], key=lambda c: c["function"])
		 if c["class"] == "launch"] + ["reached=%d" % r["meta"]["launches_reached_driver"]])'
}

expect() { # EXPECTED MODE ADDRESSES PROGRAM
	launches "${@:2}"
	[ "$output" = "$1" ] || fail "--launch $2, $3 addresses, $4: $output, not $1"
}

BOTH="cuLaunchKernel=300 cudaLaunchKernel=500"

@test "launch: both counts each launch once, whichever library makes it" {
	expect "$BOTH reached=500" both export simcalls
	expect "$BOTH reached=0" both private simcalls
	expect "$BOTH reached=500" both export simcalls-inside
	expect "cuLaunchKernel=800 reached=0" both export simcalls-static
	assert_value r.json 'r["meta"]["launch"]' "both: of the runtime and of the driver"
	refute_note launch-mode
}

# A process without a helper, measured with -p while it makes the calls.
measure_process() { # OPTION... -- CALL...
	local options=() pid
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$SIM/simcalls" --init --wait-file go "$@" >out 2>&1 3>&- &
	pid=$!
	STARTED+=("$pid")
	wait_for 5 grep -q ready out
	start_gpuprof stat "${options[@]}" --table calls,threads,events --format json -o r.json -p "$pid"
	wait_armed "$pid" libcuda.so.1
	wait_begun
	: >go
	wait_gpuprof 0
	rm go
	laws r.json
}

counted() { # FUNCTION...
	report_value r.json "\" \".join(str(sum(c[\"count\"] for c in t[\"calls\"]
		if c[\"function\"] == f)) for f in \"$*\".split())"
}

# Of 20,000 launches, at 10 us each or more, the last ones are far from the first 1000.
@test "launch: auto takes the driver's probes off when no process calls it, and loses no launch" {
	local way
	for way in session multi; do
		measure_process --attach $way -- --pause-us 10 cudaLaunchKernel=20000 cudaDeviceSynchronize=5
		run counted cudaLaunchKernel cuLaunchKernel cudaDeviceSynchronize
		assert_output "20000 0 5"
		assert_value r.json '1000 <= r["meta"]["launches_reached_driver"] < 19000' True
		assert_note launch-mode 'probed in the runtime alone for .* --launch both'
		refute_note launches-unseen
	done
}

@test "launch: auto brings them back when a process calls the driver itself" {
	measure_process -- --pause-us 100 cudaLaunchKernel=5000 cuMemAlloc_v2=5000 cuLaunchKernel=700 \
		cudaLaunchKernel=300
	run counted cudaLaunchKernel cuMemAlloc_v2 cuLaunchKernel
	assert_output "5300 5000 700"
	assert_value r.json '1000 <= r["meta"]["launches_reached_driver"] < 5000' True
	assert_note launches-unseen 'calls the driver itself, too'
}

# The second process launches by the driver alone, 0.1 s after it has loaded that.
@test "launch: auto brings them back when a process comes" {
	# shellcheck disable=SC2016 # its own variables
	run -0 "$GPUPROF" stat --table calls --format json -o r.json -- sh -c '
		unset CUDA_INJECTION64_PATH
		"$SIM/simcalls" --init --wait-ms 300 --pause-us 50 cudaLaunchKernel=20000 &
		sleep 1.2
		"$SIM/simcalls-static" --init --wait-ms 100 cudaLaunchKernel=500
		wait'
	run counted cudaLaunchKernel cuLaunchKernel
	assert_output "20000 500"
	assert_value r.json '1000 <= r["meta"]["launches_reached_driver"] < 19000' True
}

# What the helper's records say, each once, where no probe sees it; what may block is still probed.
@test "launch: none is probed while CUPTI records them; each is counted once, with its time" {
	local way
	for way in session multi; do
		run -0 env GPUSIM_TRUTH="$PWD/truth" "$GPUPROF" stat --attach $way --format json -o r.json -- \
			"$SIM/simcalls" --threads 2 --pause-us 10 cudaLaunchKernel=20000 cuLaunchKernel=100 \
			cudaDeviceSynchronize=5
		laws r.json
		run counted cudaLaunchKernel cuLaunchKernel cudaDeviceSynchronize
		assert_output "40000 200 10"
		assert_value r.json 'r["meta"]["own_cost_calls"] < 30000' True
		assert_note launch-mode 'not probed for .*, as CUPTI recorded those of all processes'
		assert_note calls-by-cupti
		assert_value r.json '[(r["hits"] == r["received"] == r["matched"], r["orphan"]) for r in t["events"]
			if r["kind"] == "work"]' "[(True, 0)]"
	done
}

@test "launch: helper probes none from the start" {
	run -0 "$GPUPROF" stat --launch helper --format json -o r.json -- "$SIM/simcalls" \
		cudaLaunchKernel=5000 cuLaunchKernel=100 cudaDeviceSynchronize=5
	laws r.json
	run counted cudaLaunchKernel cuLaunchKernel cudaDeviceSynchronize
	assert_output "5000 100 5"
	assert_value r.json 'r["meta"]["own_cost_calls"] < 100' True
	assert_value r.json 'r["meta"]["launch"]' "helper: none, CUPTI records them"
}

@test "launch: runtime probes the driver's launches only where no runtime can be probed" {
	expect "cudaLaunchKernel=500 reached=0" runtime export simcalls
	run report_value r.json 'r["meta"]["launch"], r["meta"]["own_cost_nested"] < 100'
	assert_output "('runtime: of the runtime alone', True)"
	expect "cudaLaunchKernel=500 reached=0" runtime private simcalls-inside
	expect "cuLaunchKernel=800 reached=0" runtime export simcalls-static
	run report_value r.json 'r["meta"]["launch"]'
	assert_output "runtime: of the runtime, and of the driver for a process without one to probe"
}

# CUDA's compiler makes launches by __cudaLaunchKernel, which jumps to cudaLaunchKernel.
@test "launch: one that jumps to another function is one trap" {
	local way
	for way in session multi; do
		GPUSIM_TRUTH="$PWD/truth" run -0 "$GPUPROF" stat --launch runtime --attach $way \
			--table calls,events --format json -o r.json -- "$SIM/simcalls" --wait-ms 500 \
			cudaLaunchKernel=300 __cudaLaunchKernel=500 __cudaLaunchKernel_ptsz=200
		laws r.json
		run counted cudaLaunchKernel cudaLaunchKernel_ptsz __cudaLaunchKernel __cudaLaunchKernel_ptsz
		assert_output "800 200 0 0"
		compare --no-times truth r.json
		assert_value r.json 'r["meta"]["own_cost_nested"] < 100' True # the start's
	done
}

@test "launch: driver probes the driver's launches alone, and warns when it sees none" {
	expect "cuLaunchKernel=800 reached=0" driver export simcalls
	expect "cuLaunchKernel=800 reached=0" driver export simcalls-inside
	expect "cuLaunchKernel=800 reached=0" driver export simcalls-static
	expect "cuLaunchKernel=300 reached=0" driver private simcalls
	GPUSIM_PROCADDR=private run "$GPUPROF" stat --full --launch driver -- "$SIM/simcalls" cudaLaunchKernel=20
	assert_output --partial "launch: none was seen in the driver, where alone they were looked for"
}

@test "launch: processes of both kinds that share a driver are each measured, with -p and with -- CMD" {
	local pids=() program
	for program in simcalls simcalls-static; do
		"$SIM/$program" --init --wait-file go cudaLaunchKernel=500 >"$program.out" 2>&1 3>&- &
		STARTED+=($!)
		pids+=($!)
		wait_for 5 grep -q ready "$program.out"
	done
	start_gpuprof stat --launch runtime --table calls --format json -o p.json -p "${pids[0]},${pids[1]}"
	wait_armed "${pids[0]}"
	wait_armed "${pids[1]}" libcuda.so.1
	wait_begun
	: >go
	wait_gpuprof 0
	run report_value p.json \
		'sorted((c["function"], c["count"]) for c in t["calls"] if c["class"] == "launch")'
	assert_output "[('cuLaunchKernel', 500), ('cudaLaunchKernel', 500)]"
	# shellcheck disable=SC2016 # its own variables
	run -0 "$GPUPROF" stat --launch runtime --table calls --format json -o c.json -- bash -c '
		for program in simcalls simcalls-static; do
			"$SIM/$program" --init --wait-ms 1500 cudaLaunchKernel=500 &
		done
		wait'
	run report_value c.json \
		'sorted((c["function"], c["count"]) for c in t["calls"] if c["class"] == "launch")'
	assert_output "[('cuLaunchKernel', 500), ('cudaLaunchKernel', 500)]"
}
