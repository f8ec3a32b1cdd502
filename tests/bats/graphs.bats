#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# CUDA graphs: each node is a work of the launch that ran it, or a graph is one work; and what becomes of
# them when CUPTI's buffers on the device are used up.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# What is said, r.json and the logs of 2,000 graphs of NODES nodes each remain.
graphs() { # NODES OPTIONS-OF-GPUPROF...
	local status=0 nodes=$1
	shift
	rm -f ./*.log
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log" timeout 60 "$GPUPROF" stat \
		--format json -o r.json "$@" -- "$SIM/mix" --graphs only --nodes "$nodes" --rounds 2000 \
		--pause-us 200 --seed "$RANDOM" >said 2>&1 || status=$?
	cat said
	[ $status -eq 0 ] || [ $status -eq 5 ]
}

works() { report_value r.json '[e["matched"] for e in t["events"] if e["kind"] == "work"][0]'; }
in_logs() { python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["works"]))' ./*.log; }
kernels() { report_value r.json 'sum(k["count"] for k in t["kernels"])'; }

@test "graphs: a whole graph is one work, as long as its nodes together" {
	graphs 6 --graphs whole
	run works
	assert_output 2000
	run kernels
	assert_output 0
	local nodes_ns
	nodes_ns=$(python3 -c 'import json, sys
print(sum(w["end"] - w["start"] for w in json.load(open(sys.argv[1]))["works"]))' ./*.log)
	run report_value r.json "[x['busy_ns'] >= $nodes_ns for x in t['ledger'] if (x['state'], x['bucket']) == ('compute', 'graph')]"
	assert_output "[True]"
}

@test "graphs: CUPTI is enabled anew before its buffers on the device are used up, and the gap is booked" {
	GPUSIM_CUPTI=13.1 GPUPROF_GRAPH_NODES=2000 GPUSIM_CUPTI_FAULTS=device=10000 graphs 6
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log --faults
	assert_output --regexp '^seen (all|some), not known some$' # a few may run in the gap
	run report_value r.json 'sum(x["ns"] for x in t["ledger"] if x["bucket"] == "unknown") < 10**8'
	assert_output True
	# To CUPTI it is another session, and before 13.1 U1 launches of graphs have wrong numbers in that.
	GPUSIM_CUPTI=13.0 GPUPROF_GRAPH_NODES=2000 GPUSIM_CUPTI_FAULTS=device=10000 graphs 6
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log --faults
	assert_note graphs-unmatched
}

# CUPTI before 13.2 ends a process that launches a graph made while graphs were not recorded whole; 13.2 and
# later record nothing of it.
@test "graphs: of a process that runs they are recorded by their nodes, also where whole ones are enough" {
	local version
	for version in 12.8 13.0 13.2 13.3 13.5; do
		LD_LIBRARY_PATH="$SIM/cupti$([ $version = 13.5 ] && echo 13.3 || echo $version):$SIM" \
			GPUSIM_CUPTI=$version \
			CUDA_INJECTION64_PATH="$ROOT/build/libgpuprof.so" "$SIM/mix" --graphs only \
			--rounds 100000 --pause-us 1000 >target.out 2>&1 3>&- &
		as_target
		wait_for 20 grep -q libcuda "/proc/$TARGET/maps"
		sleep 0.3
		run -0 --separate-stderr "$GPUPROF" -i 1s -n 2 --format csv --table ledger -p "$TARGET"
		refute_output --partial ",compute,graph,"
		assert_output --partial ",compute,other,"
		kill -0 "$TARGET"
		kill "$TARGET"
	done
	run -2 "$GPUPROF" stat --graphs whole -p "$TARGET"
	one_line "where graphs may have been made before, CUPTI could end the process"
}

@test "graphs: nodes without times are lost, until nodes are recorded again" {
	export GPUSIM_CUPTI=13.1
	GPUSIM_CUPTI_FAULTS=device=2500 graphs 12
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log --faults
	assert_output "seen some, not known some"
	run works
	assert [ "$output" -gt 2500 ]
	assert_note records-lost
	GPUSIM_CUPTI_FAULTS='device!=2500' graphs 12
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log --faults
	assert_note records-lost
}

@test "graphs: a soak: of many cycles each record is accounted for, device time is kept, memory is flat" {
	if [ -n "${GPUPROF_SOAK:-}" ]; then # records, with the room that CUPTI has
		run -0 "$TEST_LIB/soak.py" "$GPUPROF" "$SIM" "$GPUPROF_SOAK" --slack 65536
	else
		run -0 "$TEST_LIB/soak.py" "$GPUPROF" "$SIM" 2000000 --room 400000 --renew 200000 --speed 5
	fi
}

# Kernels of the logs' graphs, and of these in the report: with their captured call, without it.
in_graphs() {
	python3 -c 'import json, sys
print(sum(w["kind"] == "kernel" and bool(w["graph"]) for w in json.load(open(sys.argv[1]))["works"]))' ./*.log
}
evidence() { # EVIDENCE
	report_value r.json "sum(k['count'] for k in t['kernels'] if k['evidence'] == '$1')"
}

@test "graphs: kernels by launch: each node has the captured call, once all nodes were seen" {
	graphs 6 --by launch
	run report_value r.json '[e["orphan"] for e in t["events"] if e["kind"] == "api"]'
	assert_output "[0]" # of what was captured no work is awaited
	local order unresolved
	order=$(evidence order) unresolved=$(evidence unresolved)
	assert_equal $((order + unresolved)) "$(in_graphs)"
	assert [ "$unresolved" -le 48 ] # the first launches of each graph, until all nodes of one came
	assert [ "$order" -gt 1000 ]
	run report_value r.json "sorted({(k['captured_in'], k['captured_tid'] > 0) for k in t['kernels'] if k['evidence'] == 'order'})"
	assert_output "[('cudaLaunchKernel', True)]"
	# Where a node never comes nothing is said of its graph; and without probes of none.
	GPUSIM_CUPTI_FAULTS=drop=2 graphs 6 --by launch
	assert [ "$(evidence order)" -lt "$order" ]
	graphs 6 --by launch --attach none
	assert_equal "$(evidence order)" 0
	assert_equal "$(evidence unresolved)" "$(in_graphs)"
	# What was captured is known as such by CUPTI's records of captures alone.
	assert_value r.json '[e["orphan"] for e in t["events"] if e["kind"] == "api"]' "[0]"
	run report_value r.json '[e["hits"] > 0 for e in t["events"] if e["kind"] == "captured"]'
	assert_output "[True]"
}

@test "graphs: --cupti subscribe: each node has the captured call, from the first launch on" {
	graphs 6 --by launch --cupti subscribe
	assert_equal "$(evidence callback)" "$(in_graphs)"
	run report_value r.json "sorted({(k['captured_in'], k['captured_tid'] > 0) for k in t['kernels'] if k['evidence']})"
	assert_output "[('cudaLaunchKernel', True)]"
	# Where callbacks cannot be had it is said, and goes on by order.
	GPUSIM_CUPTI_FAULTS=deaf graphs 6 --by launch --cupti subscribe
	assert [ "$(evidence order)" -gt 1000 ]
	assert_equal "$(evidence callback)" 0
	grep -q "nodes of graphs are known by their order, as without --cupti subscribe: cuptiEnableCallback failed: CUPTI_ERROR_NOT_INITIALIZED" said
}

# bats file_tags=needs:sim
@test "graphs: --cupti subscribe: the same without probes, and from a capture" {
	rm -f ./*.log
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log" "$GPUPROF" record -o r.gpr \
		--attach none --cupti subscribe -- "$SIM/mix" --graphs only --rounds 500 --pause-us 200
	"$GPUPROF" report r.gpr --by launch --format json -o r.json
	assert_equal "$(evidence callback)" "$(in_graphs)"
}

# bats test_tags=needs:root,needs:bpf
@test "graphs: interval reports have whole graphs unless nodes are requested" {
	export GPUPROF_CUPTI="$SIM/libcupti.so.13"
	local mix=("$SIM/mix" --graphs only --rounds 200 --pause-us 100)
	run -0 "$GPUPROF" -i 30s --table ledger --format csv -- "${mix[@]}"
	assert_output --partial ",compute,graph,"
	run -0 "$GPUPROF" -i 30s --graphs nodes --table ledger --format csv -- "${mix[@]}"
	refute_output --partial ",compute,graph,"
	assert_output --partial ",compute,"
}
