#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A call that a thread was in before gpuprof came is in the books from the start, and its end is bounded:
# it lies between the last look that found the thread in it and what the thread did next.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# Threads that wait in syncs of known length; HELD is their process, held.out will have the truth.
start_held() { start_inside "$SIM/held" "$@"; } # ARGS...

# A program that says `pid` and is in a call soon; its pid is HELD.
start_inside() { # COMMAND...
	"$@" >held.out 3>&- &
	HELD=$!
	STARTED+=("$HELD")
	wait_for 10 grep -q pid held.out
	if [ "${GPUSIM_SPIN:-0}" = 1 ]; then
		sleep 0.3
	else
		wait_for 10 all_sleep
	fi
}

all_sleep() { ! grep -L nanosleep "/proc/$HELD/task/"*/wchan | grep -q .; }

# Of each thread of the truth, in ms: how much longer its sync was booked than the truth has it since
# the session began. Less than 0: the thread was off its CPU between its return and its clock.
surplus_ms() { # REPORT BUCKET...
	python3 - "$@" <<'END'
import datetime, json, sys, time
report = json.load(open(sys.argv[1]))
whole, _, fraction = report["meta"]["start"].rstrip("Z").partition(".")
start = int(datetime.datetime.fromisoformat(whole + "+00:00").timestamp()) * 10**9 + int(fraction)
start -= time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
rows = report["tables"]["threads"]
for line in open("held.out"):
    words = line.split()
    if words[1] != "thread":
        continue
    true = int(words[6]) - max(int(words[4]), start)
    booked = sum(r["ns"] for r in rows if r["tid"] == int(words[2]) and r["bucket"] in sys.argv[2:])
    print(round((booked - true) / 10**6))
END
}

# All numbers on stdin are between two others.
all_between() { # LEAST MOST
	awk -v least="$1" -v most="$2" '{ n++; bad += $1 < least || $1 > most; print }
		END { exit bad || !n }'
}

begun_before() { report_value "$1" '[(c["function"], c["count"], c["open"], c["begun_before"])
	for c in t["calls"] if c["begun_before"]]'; }

@test "inflight: the ends of syncs of several threads are bounded, and the bound is labelled" {
	start_held --threads 4 --hold-ms 900 --step-ms 150 --calls 500 --stay-ms 300
	run -0 "$GPUPROF" record -o c.gpr -p "$HELD"
	laws_of_capture
	run begun_before r.json
	assert_output "[('cudaStreamSynchronize', 0, 0, 4)]"
	run report_value r.json '[c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel"]'
	assert_output '[2000]'
	surplus_ms r.json sync | all_between -600 0
	surplus_ms r.json sync unknown | all_between -100 150
	run report_value r.json '{x["bucket"] for x in t["threads"]} & {"lost", "copy", "query"}'
	assert_output 'set()' # between calls they may be off the CPU
	assert_note inflight-unknown
	# What is known of no call is no number: not how long it took.
	run report_value r.json '[(c["total_ns"], c["max_ns"], c["errors"]) for c in t["calls"] if c["class"] == "sync"]'
	assert_output '[(None, None, None)]'
}

@test "inflight: with -a, of threads that wait on their CPUs; a returned one is no open call" {
	GPUSIM_SPIN=1 start_held --hold-ms 1500 --stay-ms 900
	run -0 --separate-stderr "$GPUPROF" stat -a -d 2s --table calls,threads,events --format json
	laws_of_output
	wait "$HELD"
	surplus_ms r.json sync | all_between -800 2
	run report_value r.json "[(c['open'], c['begun_before']) for c in t['calls'] if c['pid'] == $HELD]"
	assert_output '[(0, 1)]'
}

@test "inflight: of a process killed in a call only the time since the last look is unknown" {
	start_held --hold-ms 60000
	local begun killed
	start_gpuprof record -d 30s -o c.gpr -p "$HELD"
	wait_armed "$HELD" cudart
	begun=$(date +%s%N)
	sleep 1
	killed=$(date +%s%N)
	kill -KILL "$HELD"
	wait "$HELD" || true
	wait_gpuprof 0
	laws_of_capture
	# From the last look on, a second before at most, it may have returned.
	assert_value r.json "$((killed - begun)) <= sum(x['ns'] for x in t['threads'])" True
	assert_value r.json "[x['ns'] == x['wall_ns'] or x['ns'] > $((killed - begun)) - 1.2e9
		for x in t['threads'] if x['bucket'] == 'sync']" '[True]'
	assert_value r.json "{x['bucket'] for x in t['threads']} - {'sync', 'unknown'}" 'set()'
}

# A runtime whose sync waits and then launches inside.
build_nesting() {
	printf '%s\n' '#include <unistd.h>' '__attribute__((noinline)) int cudaLaunchKernel(void) { return usleep(1); }' \
		'__attribute__((noinline)) int cudaDeviceSynchronize(void) {' \
		'usleep(1500000); for (int i = 0; i < 100; i++) cudaLaunchKernel(); return 7; }' >r.c
	printf '%s\n' '#include <stdio.h>' 'int cudaDeviceSynchronize(void); int cudaLaunchKernel(void);' \
		'int main(void) { puts("held: pid"); fflush(stdout); cudaDeviceSynchronize();' \
		'for (int i = 0; i < 5; i++) cudaLaunchKernel(); }' >p.c
	gcc -O1 -fno-omit-frame-pointer -fcf-protection=none -shared -fPIC -o libcudart.so.13 r.c &&
		gcc -O1 -o nesting p.c ./libcudart.so.13 -Wl,-rpath,"$PWD"
}

# bats file_tags=needs:root,needs:bpf
@test "inflight: a call that is made within it ends it" {
	build_nesting || skip "no C compiler"
	start_inside ./nesting
	run -0 --separate-stderr "$GPUPROF" stat -p "$HELD" --table calls,threads,events --format json
	laws_of_output
	run begun_before r.json
	assert_output "[('cudaDeviceSynchronize', 0, 0, 1)]"
	run report_value r.json '[(c["function"], c["count"], c["errors"]) for c in t["calls"]]'
	assert_output "[('cudaLaunchKernel', 105, 0), ('cudaDeviceSynchronize', 0, None)]"
}

@test "inflight: a call that began before its mapped library was probed" {
	build_nesting || skip "no C compiler"
	python3 -c 'import ctypes, time
time.sleep(1.5); ctypes.CDLL("./libcudart.so.13").cudaDeviceSynchronize()' 3>&- &
	STARTED+=("$!")
	run -0 --separate-stderr "$GPUPROF" stat -p "$!" --table calls,threads,events --format json
	laws_of_output
	# The first moment may be seen after all.
	run report_value r.json '[(c["function"], c["count"] + c["begun_before"], c["open"]) for c in t["calls"]]'
	assert_output "[('cudaLaunchKernel', 100, 0), ('cudaDeviceSynchronize', 1, 0)]"
	run report_value r.json '1e9 < sum(x["ns"] for x in t["threads"] if x["bucket"] in ("sync", "unknown")) < 2e9'
	assert_output True
}

@test "inflight: a call of the real runtime that waits for its driver, made by Python" {
	local runtime=$ROOT/build/cuda/lib/libcudart.so.13
	[ -e "$runtime" ] || skip "no real libcudart here"
	printf '%s\n' '#include <unistd.h>' '__attribute__((constructor)) static void slow(void) { sleep(2); }' >d.c
	gcc -shared -fPIC -o libcuda.so.1 d.c || skip "no C compiler"
	start_inside env LD_LIBRARY_PATH="$PWD" python3 -c 'import ctypes, sys
cudart = ctypes.CDLL(sys.argv[1]); print("held: pid", flush=True); cudart.cudaMalloc(None, 4)' "$runtime"
	run -0 --separate-stderr "$GPUPROF" stat -p "$HELD" --table calls,threads,events --format json
	laws_of_output
	run report_value r.json '[(c["function"], c["count"], c["errors"], c["begun_before"]) for c in t["calls"]]'
	assert_output "[('cudaMalloc', 0, None, 1)]"
	run report_value r.json '[0.5e9 < x["ns"] < 2e9 for x in t["threads"] if x["bucket"] == "alloc"]'
	assert_output '[True]'
}
