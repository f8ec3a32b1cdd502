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

@test "launch: auto counts each launch once, whichever library makes it" {
	expect "$BOTH reached=500" auto export simcalls
	expect "$BOTH reached=0" auto private simcalls
	expect "$BOTH reached=500" auto export simcalls-inside
	expect "cuLaunchKernel=800 reached=0" auto export simcalls-static
	assert_value r.json 'r["meta"]["launch"]' "auto: of the runtime and of the driver"
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

@test "launch: driver probes the driver's launches alone, and warns when it sees none" {
	expect "cuLaunchKernel=800 reached=0" driver export simcalls
	expect "cuLaunchKernel=800 reached=0" driver export simcalls-inside
	expect "cuLaunchKernel=800 reached=0" driver export simcalls-static
	expect "cuLaunchKernel=300 reached=0" driver private simcalls
	GPUSIM_PROCADDR=private run "$GPUPROF" stat --launch driver -- "$SIM/simcalls" cudaLaunchKernel=20
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
