#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # a test is a subshell
# What may be running is not idle: random programs, attached to at a random moment, with a kernel that hangs
# in every second one. GPUPROF_DICE says how many, GPUPROF_SEED repeats one.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# A program that --seed draws, with the helper in it; it hangs where the seed is odd.
start_dice() { # SEED
	(
		set -e
		eval "$("$GPUPROF" env --for shell --dir "$PWD/env" 2>env.err)"
		export GPUSIM_LOG=$PWD/dice.log GPUSIM_SEED=$1
		[ $(($1 % 2)) -eq 0 ] || export GPUSIM_HANG=$(($1 * 37 / 2 % 400 + 1))
		exec "$SIM/dice" --seed "$1" --ms $((2300 + $1 % 900)) 3>&-
	) >dice.out 2>dice.err &
	as_target
	wait_for 10 has_ring "$TARGET"
}

@test "running: a device of any program is never idle while it runs, at attach, in a hang, at the end" {
	local seed=${GPUPROF_SEED:-$RANDOM} n=${GPUPROF_DICE:-10} i
	[ -z "${GPUPROF_SEED:-}" ] || n=1
	for ((i = seed; i < seed + n; i++)); do
		rm -f dice.log
		start_dice "$i"
		sleep "$(printf '0.%03d' $((i % 900)))"
		echo "GPUPROF_SEED=$i: $(cat dice.out)"
		run -0 "$GPUPROF" stat -p "$TARGET" -d 1s --table ledger --format json -o r.json
		wait_for 10 test -e dice.log
		wait "$TARGET"
		"$TEST_LIB/check_running.py" r.json dice.log
	done
}

# Attached to while it runs; and from before its launch.
@test "running: a kernel longer than the session is not idle, and its end is not made up" {
	local how
	eval "$("$GPUPROF" env --for shell --dir "$PWD/env" 2>env.err)"
	export GPUSIM_LOG=$PWD/%p.log
	for how in during before; do
		if [ $how = during ]; then
			"$SIM/held" --hold-ms 2500 >held.out 3>&- &
			as_target
			wait_for 10 grep -q pid held.out
			run -0 "$GPUPROF" stat -p "$TARGET" -d 1s --table ledger,kernels,findings --format json -o r.json
			wait "$TARGET"
			run -0 "$TEST_LIB/check_running.py" r.json "$TARGET.log"
			assert_line --regexp 'ran 100.0%, seen 0.0%, idle 0.0%, unknown 100.0%'
		else
			rm ./*.log
			run -0 "$GPUPROF" stat -d 1s --table ledger,kernels,findings --format json -o r.json -- "$SIM/held" --hold-ms 2500
			wait_for 10 eval 'ls ./*.log'
			run -0 "$TEST_LIB/check_running.py" r.json ./*.log
		fi
		assert_value r.json '[k for k in t["kernels"] if k["total_ns"]]' '[]'
		assert_value r.json '[f for f in t["findings"] if f["share"]]' '[]'
		run -0 report_value r.json 'r["meta"]["verdict"]'
		assert_line --regexp --index 0 'was not seen|is not known'
	done
}
