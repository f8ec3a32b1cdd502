#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What programs call on the real CUDA libraries is reported exactly.

# bats file_tags=needs:root,needs:bpf,needs:targets

load ../lib/common

ALL_KINDS=(--exc 500 --copies 400 --memsets 40 --allocs 40 --syncs 20)

# Every form of the table calls in capture C.gpr equals the truth T.json.
exact() { # C T
	local by
	for by in function launch result; do
		"$GPUPROF" report "$1.gpr" --table calls,threads,events --by $by --format json >"$by.json"
		compare --no-times "$2.json" "$by.json"
		laws "$by.json"
	done
}

record_command() { # TARGET ARGS...
	run -0 "$GPUPROF" record -o c.gpr -- "$TARGETS/$1" --truth t.json "${@:2}"
	exact c t
}

# The simulated training, with its times.
training() {
	local by
	run env GPUSIM_TRUTH="$PWD/t.json" "$GPUPROF" record -o c.gpr -- "$SIM/train"
	assert_success || return
	for by in function launch result; do
		"$GPUPROF" report c.gpr --by $by --table calls,threads,events --format json >$by.json
		compare t.json $by.json || return
		laws $by.json || return
	done
}

record_process() { # TARGET ARGS...
	start_target t "$@"
	watch_target t record -o c.gpr
	exact c t
}

@test "counts: 100,000 launches of known grids and copies of known sizes, with -- CMD" {
	record_command cudart-dyn --launches 100000 "${ALL_KINDS[@]}"
}

@test "counts: the same of a running process, with -p" {
	record_process cudart-dyn --launches 100000 "${ALL_KINDS[@]}"
}

@test "counts: the same with probes of the older kind, --attach multi" {
	run -0 "$GPUPROF" record --attach multi -o c.gpr -- \
		"$TARGETS/cudart-dyn" --truth t.json --launches 20000 "${ALL_KINDS[@]}"
	exact c t
}

@test "counts: a pid that is used again is another process" {
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "this kernel cannot be told which pid comes next"
	run beforehand "$GPUPROF" stat --format json -o r.json -- "$TEST_LIB/reuse_pid.py" \
		"$TARGETS/cudart-dyn" --launches 10 --pause-us 10000 -- \
		"$TARGETS/cudart-dl" --launches 20 --pause-us 10000
	[ "$status" -ne 3 ] || skip "others take every pid here"
	assert_success
	run report_value r.json \
		'sorted((c["comm"], c["count"]) for c in t["calls"]), len({c["pid"] for c in t["calls"]})'
	assert_output "([('cudart-dl', 20), ('cudart-dyn', 10)], 1)"
}

@test "counts: a tid that is used again at once is another thread" {
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "which tid comes next cannot be chosen here"
	run beforehand "$GPUPROF" stat --table calls,threads,events --format json -o r.json -- \
		"$TARGETS/tids" --threads 200
	[ "$status" -ne 3 ] || skip "others take every tid here"
	assert_success
	laws r.json
	run report_value r.json \
		'[c["count"] for c in t["calls"]], {x["invalid"] for x in t["events"]} - {None}, r["meta"]["lost"]'
	assert_output "([200], {0}, 0)"
	run report_value r.json 'len({x["tid"] for x in t["threads"]}), len({x["birth_ns"] for x in t["threads"]})'
	assert_output "(1, 200)"
}

@test "counts: eight threads that call at once" {
	record_command cudart-dyn --threads 8 --launches 3000 "${ALL_KINDS[@]}"
}

@test "counts: a statically linked libcudart, found by its local symbols" {
	record_command cudart-static --launches 20000 "${ALL_KINDS[@]}"
}

@test "counts: a statically linked libcudart of a running process" {
	record_process cudart-static --launches 20000 "${ALL_KINDS[@]}"
}

@test "counts: a library that the program loads later is probed before it is long mapped" {
	record_command cudart-dl --load-ms 700 --launches 5000 "${ALL_KINDS[@]}"
}

@test "counts: an nvcc <<<>>> launch counts once, with shared and with static libcudart" {
	record_command triple --launches 3000
	rm c.gpr t.json
	record_command triple-static --launches 3000
}

@test "counts: NCCL unique ids and groups; a function under two names counts once" {
	record_command nccl --ids 30 --aliases 20 --groups 50
	run report_value result.json '{c["function"]: c["count"] for c in t["calls"]}["ncclGetUniqueId"]'
	assert_output 50
}

@test "counts: children of CMD are followed" {
	cat >two.sh <<-SCRIPT
		"$TARGETS/cudart-dyn" --truth a.json --ready-file a --wait-file go --launches 1000 &
		echo \$! >a.pid
		"$TARGETS/cudart-static" --truth b.json --ready-file b --wait-file go --launches 2000 --copies 10 &
		echo \$! >b.pid
		wait
	SCRIPT
	start_gpuprof record -o c.gpr -- sh two.sh
	# What a script runs is probed when it maps its libraries: until then it is unarmed.
	wait_for 10 test -e a -a -e b
	wait_armed "$(cat a.pid)"
	wait_armed "$(cat b.pid)"
	touch go
	wait_gpuprof 0
	exact c a
	exact c b
}

@test "counts: -a sees processes that start later, each with its own counts" {
	start_target t cudart-dyn --launches 10 # its library is what -a attaches to at the start
	start_gpuprof record -o c.gpr -a
	wait_armed "$TARGET"
	wait_begun
	"$TARGETS/cudart-dyn" --truth a.json --launches 4000 "${ALL_KINDS[@]}"
	"$TARGETS/cudart-dyn" --truth b.json --launches 1000
	interrupt_gpuprof
	exact c a
	exact c b
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "counts: the simulated training equals its truth, times within 5 us a call or 2 %" {
	may_repeat "a busy machine takes the CPU between two stamps of a call"
	training || fail "its times are not those of the truth"
}

@test "counts: functions that begin with endbr64 are probed after it" {
	run -0 env GPUSIM_TRUTH="$PWD/t.json" LD_LIBRARY_PATH="$SIM/endbr" \
		"$GPUPROF" record -o c.gpr -- "$SIM/train"
	exact c t
}

# bats file_tags=needs:root,needs:bpf,needs:targets
@test "counts: exec in another thread: each owner of a number has its own calls, nothing is lost" {
	cat >exec.py <<-'PY'
		import ctypes, os, sys, threading, time
		cudart = ctypes.CDLL(sys.argv[1])
		def call(n):
		    for _ in range(n):
		        cudart.cudaFree(None)
		def leave():
		    call(50)
		    os.execv(sys.executable, [sys.executable, *sys.argv, "again"])
		if sys.argv[2:]:
		    call(20)
		    sys.exit()
		call(30)
		time.sleep(0.1)
		threading.Thread(target=leave).start()
		time.sleep(60)
	PY
	lib=$(ldd "$TARGETS/cudart-dyn" | awk '/libcudart/ { print $3 }')
	run -0 env LD_LIBRARY_PATH="$(dirname "$lib")" "$GPUPROF" record -o c.gpr -- \
		python3 exec.py "$lib"
	"$GPUPROF" report c.gpr --format json >r.json
	assert_value r.json '[row["count"] for row in t["calls"]]' '[100]'
	assert_value r.json 'len({(row["tid"], row["wall_ns"]) for row in t["threads"]})' 3
	run report_value r.json 'r["meta"]["lost"], sum(row["invalid"] or 0 for row in t["events"])'
	assert_output '(0, 0)'
}

# Probes are in place a little before the session begins, and until after it has ended.
# bats test_tags=needs:sim
@test "counts: calls begin and end where the books do, live as in a report" {
	"$SIM/simcalls" --init --wait-file go --pause-us 20 cudaLaunchKernel=10000000 >calls.out 2>&1 3>&- &
	as_ready_target calls.out
	: >go
	run -0 "$GPUPROF" stat --capture c.gpr -p "$TARGET" -d 500ms --table calls,threads,events \
		--format json
	laws_of_output
	run report_value r.json '[c["function"] for c in t["calls"]]'
	assert_output "['cudaLaunchKernel']"
	run report_value r.json 'sum(c["total_ns"] for c in t["calls"]) <= sum(
		x["ns"] + (x["own_cost_ns"] or 0) for x in t["threads"] if x["bucket"] == "launch")'
	assert_output True
	run report_value r.json '(lambda e: e["late"] > 0 and e["received"] - e["late"] - sum(
		c["count"] + c["open"] for c in t["calls"]))([e for e in t["events"] if e["kind"] == "call"][0])'
	assert_output 0
	"$GPUPROF" report c.gpr --table calls,threads,events --format json >c.json
	"$TEST_LIB/same_tables.py" r.json c.json
}
