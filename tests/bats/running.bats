#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
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
