#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gpuprof comes and goes, half of the times by kill -9 at any moment: the target does not notice, and
# nothing of gpuprof stays in it or in the kernel. GPUPROF_CYCLES says how often.

load ../lib/common

# One start and stop; the kinds take turns. $1: number of the cycle.
cycle() {
	local kinds=("stat -p $TARGET" "stat -a" "stat --stacks -p $TARGET" \
		"record -o c.gpr -p $TARGET" "stat --attach multi -p $TARGET")
	# shellcheck disable=SC2206 # words of a command line
	local words=(${kinds[$1 % ${#kinds[@]}]} --max-loss 100%) # of 10 ms, one event may be 1 %
	if ((RANDOM % 2)); then
		"$GPUPROF" "${words[@]}" -q -d 10ms >cycle.out 2>&1 3>&- && return
		echo "cycle $1: gpuprof ${words[*]} ended with status $?: $(cat cycle.out)"
		return 1
	fi
	"$GPUPROF" "${words[@]}" -q >cycle.out 2>&1 3>&- &
	local pid=$!
	sleep "0.$(printf %03d $((RANDOM % 200)))"
	kill -KILL $pid
	wait $pid 2>/dev/null || true
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "cycles: many starts and stops, half by kill -9, leave nothing behind and change no result" {
	local seed=${GPUPROF_SEED:-$((SECONDS + $$))} n=${GPUPROF_CYCLES:-100} i
	echo "GPUPROF_SEED=$seed GPUPROF_CYCLES=$n"
	RANDOM=$seed
	LD_LIBRARY_PATH=$SIM "$TEST_LIB/answers.py" end >answers 3>&- &
	as_ready_target answers
	"$TEST_LIB/bpf_objects.py" >before
	find "/proc/$TARGET/fd" "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 | sort >own
	for ((i = 0; i < n; i++)); do
		cycle $i
	done
	wait_for 10 text_equals_file "$TARGET"
	run "$TEST_LIB/bpf_objects.py" left before
	assert_output ""
	find "/proc/$TARGET/fd" "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 | sort | diff own -
	: >end
	wait "$TARGET"
	run cat answers
	assert_output --regexp '[1-9][0-9]* rounds right, 0 wrong'
}
