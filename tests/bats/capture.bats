#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # RANDOM is seeded in each test
# A capture is the run: its report is what stat printed, and no accident makes it unreadable.
# shellcheck disable=SC2154 # run --separate-stderr sets stderr and stderr_lines

load ../lib/common

# A capture of some calls, once for all tests of this file.
setup_file() {
	SAMPLE=$BATS_FILE_TMPDIR/sample.gpr
	export SAMPLE
	[ "$(id -u)" -eq 0 ] || return 0
	"$BATS_TEST_DIRNAME/../../build/gpuprof" record -q -o "$SAMPLE" -- \
		"$BATS_TEST_DIRNAME/../../build/targets/cudart-dyn" --threads 2 --launches 5000 \
		--copies 100 --allocs 100 --syncs 100 >&2 || true
}

needs_sample() {
	needs root bpf targets
	assert_file_exists "$SAMPLE"
}

report() { "$GPUPROF" report "$@"; }

# bats test_tags=needs:root,needs:bpf,needs:targets
@test "capture: report of a capture equals stat of the same run, in every format" {
	local format
	for format in text md csv json; do
		rm -f c.gpr
		"$GPUPROF" stat --capture c.gpr --format $format -- \
			"$TARGETS/cudart-dyn" --launches 2000 --copies 50 --syncs 20 >stat.out
		assert_file_not_empty stat.out
		"$GPUPROF" report c.gpr --format $format >report.out
		run -0 diff -u stat.out report.out
	done
}

# bats file_tags=needs:root,needs:bpf
@test "capture: it is readable by its owner alone" {
	needs_sample
	run stat -c %a "$SAMPLE"
	assert_output 600
}

# bats test_tags=needs:targets
@test "capture: kill -9 of the recorder at random moments; all complete blocks read, exit 5" {
	local i moments=${GPUPROF_KILLS:-30} seed=${GPUPROF_SEED:-$RANDOM}
	echo "GPUPROF_SEED=$seed"
	RANDOM=$seed
	start_target t cudart-dyn --launches 400 --copies 20 --rounds 100000 --pause-us 30 --threads 2
	go t
	for ((i = 0; i < moments; i++)); do
		start_gpuprof record -o c.gpr -p "$TARGET"
		wait_armed "$TARGET"
		wait_for 10 test -e c.gpr # the worker makes it, at about the same time
		sleep "0.$(printf %03d $((RANDOM % 300)))"
		kill -KILL "$PROFILER"
		wait "$PROFILER" || true
		status=0
		report c.gpr --table calls,threads,events --format json >r.json || status=$?
		assert_equal "$status" 5
		run -0 laws r.json
		rm c.gpr
	done
}

@test "capture: a file truncated anywhere reports its complete blocks and exits 5, or is refused as no capture" {
	needs_sample
	local size i cut seed=${GPUPROF_SEED:-$RANDOM}
	echo "GPUPROF_SEED=$seed"
	RANDOM=$seed
	size=$(stat -c %s "$SAMPLE")
	for ((i = 0; i < 25; i++)); do
		cut=$((RANDOM * 32768 % size + RANDOM % size))
		cut=$((cut % size))
		head -c $cut "$SAMPLE" >cut.gpr
		run report cut.gpr
		[ "$status" -eq 5 ] || [ "$status" -eq 1 ] || fail "cut at $cut: status $status: $output"
	done
}

@test "capture: zstd can decompress a capture" {
	needs_sample
	run -0 bash -c "zstd -dcq <'$SAMPLE' | wc -c"
	assert [ "$output" -gt 1000 ]
}

@test "capture: a file of a later version is refused with a one-line error" {
	needs_sample
	"$TEST_LIB/later_version.py" "$SAMPLE" later.gpr
	run -1 report later.gpr
	assert_equal "${#lines[@]}" 1
	assert_output --partial "later gpuprof"
}

# bats file_tags=needs:root,needs:bpf,needs:targets
@test "capture: a full disk ends the recording in one line, and what was recorded stays readable" {
	mkdir small
	mount -t tmpfs -o size=600k none small || skip "cannot mount a tmpfs here"
	run "$GPUPROF" record -d 20s -o small/c.gpr -- \
		"$TARGETS/cudart-dyn" --threads 4 --launches 25000 --pause-us 150
	local code=$status said=$output
	run report --full small/c.gpr
	umount small
	assert_equal "$code" 1
	[[ $said == *space* ]] || fail "says nothing of a full disk: $said"
	assert_equal "$status" 5
	assert_output --partial cudaLaunchKernel
}

@test "capture: a report of a file still being recorded says so and shows its events so far" {
	start_target t cudart-dyn --launches 100 --pause-us 200 --rounds 100000
	start_gpuprof record -o growing.gpr -p "$TARGET"
	wait_armed "$TARGET"
	go t
	wait_for 10 sh -c '"$0" report --full growing.gpr 2>/dev/null | grep -q cudaLaunchKernel' "$GPUPROF"
	run -5 "$GPUPROF" report --full growing.gpr
	assert_output --partial "growing.gpr is still being recorded: this is what it holds so far"
	kill -INT "$PROFILER"
	wait_gpuprof
	run -0 "$GPUPROF" report --full growing.gpr
}

# bats file_tags=
@test "capture: writing to standard output is refused before anything runs" {
	run -2 --separate-stderr "$GPUPROF" record -o - -- touch ran
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"standard output"* ]]
	assert_file_not_exist ran
	assert_file_not_exist -
}

# bats test_tags=needs:sim
@test "capture: twice as many living processes as are followed take no more memory, and are a loss" {
	local n
	for n in 20000 40000; do
		"$SIM/many" many.gpr works $n
		run -5 --separate-stderr python3 -c '
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(status)' "$GPUPROF" report many.gpr --table events --format csv -o events.csv
		echo "$n: $output MiB"
		peak[n]=$output
		grep -q "^,process,,16384,$((n - 16384))," events.csv
	done
	[ "${peak[40000]}" -le $((peak[20000] * 11 / 10)) ]
}
