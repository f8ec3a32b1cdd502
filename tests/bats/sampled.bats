#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# With -a the scheduler's events are not recorded, and threads that drive devices are sampled by procfs: planted
# faults of the host's side are named by their cause and share then, too, as estimates; healthy programs have none.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# tests/sim/plant.c beside gpuprof -a, from before its start to after its end: r.json, c.gpr, l.json. It has a device
# of its own, since others on this host may have programs on simulated ones. BESIDE runs meanwhile, with its pid.
beside_all() { # BESIDE NAME [COMMAND...]: that starts the plant
	local beside=$1 name=$2
	shift 2
	rm -f l.json r.json c.gpr
	DEVICE=$((8 + RANDOM % 8))
	start_gpuprof stat -a --format json -o r.json --capture c.gpr
	wait_begun
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" CUDA_INJECTION64_PATH="$ROOT/build/libgpuprof.so" LD_LIBRARY_PATH="$SIM" \
		GPUSIM_DEVICES=16 CUDA_VISIBLE_DEVICES=$DEVICE GPUSIM_LOG="$PWD/l.json" \
		"$@" "$SIM/plant" "$name" --ms 6000 >plant.out 3>&- &
	as_target
	$beside "$TARGET"
	wait "$TARGET"
	kill -INT "$PROFILER"
	wait_gpuprof
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ] # others' events were lost
	report_says_the_same c.gpr r.json
}

adds_up() { # the book of the plant's device, from some accounts
	assert_value r.json \
		"{sum(l['ns'] for l in t['ledger'] if l['pid'] == $TARGET)} == {l['wall_ns'] for l in t['ledger'] if l['pid'] == $TARGET}" \
		True
	assert_value r.json "[e['received'] > 0 for e in t['events'] if (e['source'], e['kind']) == ('procfs', 'sched')]" '[True]'
}

# What check_plant.py wants of it; the finding is an estimate.
finds() { # FINDING [WORD...]
	adds_up
	run "$TEST_LIB/check_plant.py" r.json l.json "$(sed -n 's/.*run delay \([0-9]*\) ns/\1/p' plant.out)" "$@"
	echo "$* $output"
	report_value r.json "[(l['bucket'], l['ns'] / 1e9) for l in t['ledger'] if l['pid'] == $TARGET]"
	assert_success
	assert_value r.json \
		"[(f['severity'], 'estimated from samples' in f['evidence']) for f in t['findings'] if f['pid'] == $TARGET and f['finding'] == '$1']" \
		"[('medium', True)]"
	assert_note off-cpu-sampled 'estimated from samples'
}

stop_it() { # PID
	sleep 1.5
	kill -STOP "$1"
	sleep 1.5
	kill -CONT "$1"
}

# Has its CPU, at a lower priority, for 2 s.
starve_it() { # PID
	sleep 1
	renice -n 19 -p "$1" >/dev/null
	taskset -c "$CPU" timeout 2 sh -c 'while :; do :; done' 3>&- || true
	renice -n 0 -p "$1" >/dev/null
}

@test "sampled: with -a a stopped process is found stopped, for as long as it was" {
	may_repeat "what the machine does besides is in the share"
	beside_all stop_it healthy
	finds stopped
}

@test "sampled: with -a a thread whose CPU another program has is found without a CPU" {
	may_repeat "what the machine does besides is in the share"
	CPU=$(taskset -pc $$ | sed 's/.*[:, -]//')
	beside_all starve_it thinks taskset -c "$CPU"
	finds cpu-starved
}

@test "sampled: with -a what a thread waits for outside of calls is named" {
	may_repeat "what the machine does besides is in the share"
	beside_all : lock
	finds input-stall "a lock or another thread"
	beside_all : server
	finds input-stall "input or output"
	beside_all : sleep
	finds input-stall "time to pass"
	beside_all : compute
	finds input-stall "host code"
}

# That a machine at work has no CPU for it is no fault of the program.
@test "sampled: with -a healthy programs are not found stopped, or to wait" {
	local name
	for name in healthy thinks short-kernels syncer; do
		beside_all : $name
		adds_up
		assert_value r.json \
			"[f['finding'] for f in t['findings'] if f['pid'] == $TARGET and f['finding'] in ('stopped', 'input-stall') and f['share'] > 0.05]" \
			'[]'
	done
}

@test "sampled: with --off-cpu off, and where the scheduler's events are recorded, nothing is sampled" {
	local how
	for how in off on; do
		run -0 env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat --off-cpu $how --table events --format csv -- \
			"$SIM/plant" healthy --ms 500
		refute_output --partial procfs
	done
}
