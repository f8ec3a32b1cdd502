#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own STARTED
# The ways to attach: each reports the same of what it attaches; the last one attaches little, and
# says so. What other kernels have is tested by tests/kernels.

load ../lib/common

CORE=(cudaLaunchKernel=3000 cudaMemcpy=200 cudaMemcpyAsync=100 cudaStreamSynchronize=40
	cudaMemset=30 cudaMalloc=20 cudaFree=20)

has_way() { [ "$("$GPUPROF" doctor --attach "$1" 2>/dev/null | grep -c '^ok  *probes')" -eq 1 ]; }

needs_perf() { capability_bit 21 || skip "perf events need CAP_SYS_ADMIN"; }

# A program with five functions of libcudart inside, all of them core (tests/kernels/target.c).
build_target() {
	cc -D_GNU_SOURCE -std=gnu11 -g -O1 -fno-omit-frame-pointer -static -pthread -o target \
		"$ROOT/tests/kernels/target.c"
}

# perf's probes come one by one.
all_three_armed() { "$TEST_LIB/text_equal.py" "$1" libnccl | grep -q ': 3 bytes differ'; }

# "exact" if the report r.json has the calls that the files say, and no others.
calls_are_exact() { # TRUTH...
	python3 - "$@" <<-'PY'
	import json, sys
	want = sorted(tuple(line.split()[1:]) for name in sys.argv[1:] for line in open(name) if line.startswith(("calls", "wide")))
	got = sorted((str(c["pid"]), c["function"], str(c["count"]), str(c["errors"]),
	              "-" if c["bytes"] is None else str(c["bytes"])) for c in json.load(open("r.json"))["tables"]["calls"])
	print("exact" if got == want else f"got {got}, want {want}")
	PY
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "ways: session, multi and perf report the same calls; perf of the core functions, and says so" {
	needs_perf
	local way ways=()
	for way in session multi perf; do
		has_way $way || continue
		ways+=("$way")
		env GPUSIM_TRUTH="$PWD/$way.truth" "$GPUPROF" stat --attach $way --format json -o $way.json -- \
			"$SIM/simcalls" "${CORE[@]}" cudaEventRecord=50 --threads 2
		laws $way.json
		[ $way = perf ] || compare --no-times $way.truth $way.json
	done
	run python3 - "${ways[@]}" <<-'PY'
	import json, sys
	report = {way: json.load(open(way + ".json")) for way in sys.argv[1:]}
	rows = {way: {c["function"]: (c["class"], c["count"], c["errors"], c["bytes"]) for c in r["tables"]["calls"]}
	        for way, r in report.items()}
	full = [way for way in rows if way != "perf"]
	for way in full:
	    assert rows[way] == rows[full[0]], way
	    assert report[way]["meta"]["functions_left_out"] == 0, way
	perf, meta = rows["perf"], report["perf"]["meta"]
	assert perf.keys() >= {"cudaLaunchKernel", "cudaMemcpy", "cudaMemcpyAsync", "cudaStreamSynchronize"}, perf
	# What is left out comes from CUPTI's records, which know no bytes.
	for way in full:
	    assert perf.keys() == rows[way].keys(), (way, perf.keys() ^ rows[way].keys())
	    for function in perf:
	        assert perf[function][:3] == rows[way].get(function, ())[:3], (way, function)
	        also = () if function in ("cudaMemcpy", "cudaMemcpyAsync") else (None,)
	        assert perf[function][3] in (*also, rows[way][function][3]), (way, function)
	assert 20 <= meta["functions_probed"] <= 32 and meta["functions_left_out"] > 100, meta
	print("equal:", *sys.argv[1:])
	PY
	assert_output "equal: ${ways[*]}"
}

# bats file_tags=needs:root,needs:bpf
@test "ways: perf ends its filter at the first child, without a call lost or doubled" {
	needs_perf
	build_target
	sh -c 'until [ -e begin ]; do sleep 0.02; done; ./target truth 10 1; exit $?' 3>&- &
	STARTED+=($!)
	start_gpuprof stat --attach perf -p $! -d 6s --format json -o r.json
	wait_begun
	: >begin
	wait_gpuprof 0
	wait "${STARTED[0]}" # breakpoints came, and all went again
	run calls_are_exact truth
	assert_output exact
	[ "$(cut -d' ' -f2 truth | sort -u | wc -l)" -eq 2 ] # the child and its own child
}

@test "ways: perf probes a file of two processes given with -p once, for both" {
	needs_perf
	build_target
	./target one 10 1 3>&- &
	STARTED+=($!)
	./target two 10 1 3>&- &
	STARTED+=($!)
	run -0 "$GPUPROF" stat --attach perf -p "${STARTED[0]},${STARTED[1]}" -d 5s --format json -o r.json
	wait "${STARTED[0]}"
	wait "${STARTED[1]}"
	run calls_are_exact one two
	assert_output exact
	run report_value r.json 'r["meta"]["functions_probed"] == len({c["function"] for c in t["calls"]})'
	assert_output True
}

@test "ways: perf without CAP_SYS_ADMIN exits 3 and names it; the others do without" {
	needs_perf
	build_target
	run -3 capsh --drop=cap_sys_admin -- -c "'$GPUPROF' stat --attach perf -- ./target truth"
	assert_output --partial "CAP_SYS_ADMIN is missing"
	assert [ ! -e truth ]
	run -0 capsh --drop=cap_sys_admin -- -c "'$GPUPROF' stat -- ./target truth"
}

# bats test_tags=needs:sim
@test "ways: calls without a perf probe come from the helper, each once; a capture shows the same" {
	needs_perf
	run -0 env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log" timeout 60 "$GPUPROF" record \
		--attach perf -o c.gpr -- "$SIM/mix" --graphs some --rounds 1000 --pause-us 100
	"$GPUPROF" report c.gpr --format json >r.json
	laws r.json >&2
	# Of each function of the runtime that the simulated GPU's log has, as many calls.
	run python3 - r.json ./*.log <<-'EOF'
		import collections, json, sys
		report, log = (json.load(open(f)) for f in sys.argv[1:])
		ran = collections.Counter(c["function"] for c in log["calls"] if c["function"].startswith("cuda"))
		seen = {c["function"]: c["count"] for c in report["tables"]["calls"]}
		print({f: (n, seen.get(f)) for f, n in ran.items() if seen.get(f) != n and f != "cudaSetDevice"})
	EOF
	assert_output "{}"
	run report_value r.json '[e["received"] > 0 for e in t["events"] if e["kind"] == "told"]'
	assert_output "[True]"
}

@test "ways: doctor reports that perf probes a few functions only" {
	needs_perf
	run -0 "$GPUPROF" doctor --attach perf
	assert_output --partial "the best 32 of "
	run "$GPUPROF" doctor
	refute_output --partial "the best"
}

@test "ways: functions that the kernel refuses to probe are named, and cost the others nothing" {
	needs_perf
	grep -qw avx /proc/cpuinfo || skip "needs a CPU with AVX"
	# A VEX encoding of opcode 6f, which the kernel takes for one that writes to a port.
	cat >nccl.s <<-'ASM'
		.macro function name:req, first:vararg
		.globl \name
		.type \name, %function
		\name: \first
		xor %eax, %eax
		ret
		.size \name, .-\name
		.endm
		.text
		function ncclAllReduce, nop
		function ncclReduce, vmovdqa %xmm0, %xmm0
		function ncclGroupStart, nop
		function ncclGroupEnd, nop
		.section .note.GNU-stack,"",@progbits
	ASM
	cat >caller.c <<-'C'
		#include <unistd.h>
		int ncclAllReduce(void), ncclReduce(void), ncclGroupStart(void), ncclGroupEnd(void);
		int main(void)
		{
			while (access("go", F_OK))
				usleep(10000);
			for (int i = 0; i < 100; i++)
				ncclGroupStart(), ncclAllReduce(), ncclReduce(), ncclGroupEnd();
			usleep(300000);
		}
	C
	cc -shared -o libnccl.so.2 nccl.s
	cc -O1 -o caller caller.c ./libnccl.so.2
	local way caller
	for way in auto multi perf; do
		rm -f go
		./caller 3>&- &
		caller=$!
		STARTED+=("$caller")
		wait_for 5 grep -q libnccl "/proc/$caller/maps"
		start_gpuprof stat --attach $way -p "$caller" --format json -o r.json
		wait_for 30 all_three_armed "$caller"
		wait_for 30 all_wait "$PROFILER" # perf's breakpoint is there before the program that it runs
		: >go
		wait_gpuprof 0
		run report_value r.json 'sorted((c["function"], c["count"]) for c in t["calls"]), r["meta"]["not_seen"]'
		assert_output "([('ncclAllReduce', 100), ('ncclGroupEnd', 100), ('ncclGroupStart', 100)], 'ncclReduce')"
	done
	rm -f go
	./caller 3>&- &
	caller=$!
	STARTED+=("$caller")
	wait_for 5 grep -q libnccl "/proc/$caller/maps"
	run "$GPUPROF" doctor -p "$caller"
	assert_output --partial "ncclReduce: the kernel cannot probe how they begin"
}
