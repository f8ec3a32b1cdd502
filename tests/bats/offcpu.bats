#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Why threads that make calls are off the CPU: of a program whose waits are known by construction.

# shellcheck disable=SC2030,SC2031 # a test is a subshell

# bats file_tags=needs:root,needs:bpf,needs:targets

load ../lib/common

# A kernel without symbols for its variables cannot distinguish an interrupt from the thread it interrupts.
maybe() {
	[ "$(uname -m)" = aarch64 ] || grep -qwE '__preempt_count|pcpu_hot' /proc/kallsyms || echo --maybe
}

# The program waits until it may go; probes are in it by then.
start_waits() { # WAY...
	"$TARGETS/waits" truth ready go "$@" 3>&- &
	WAITS=$!
	STARTED+=("$WAITS")
	wait_for 10 test -e ready
}

# Until gpuprof waits for events: then all its probes are there.
wait_running() {
	wait_armed "$WAITS" waits
	wait_for 10 grep -q poll "/proc/$PROFILER/wchan"
}

# Some kernels do not report each switch. What is not known then is said to be lost: it cannot be compared.
is_whole() {
	[ "$(report_value "$1" 'r["meta"]["lost"] + sum(x["ns"] for x in t["threads"] if x["bucket"] == "lost")')" -eq 0 ]
}

is_as_it_was() { # REPORT.json
	# shellcheck disable=SC2046 # an option, or none
	run -0 "$TEST_LIB/check_waits.py" "$1" truth $(maybe)
	run -0 laws "$1"
}

# As the program says how long it waited for its loader, and a busy machine makes of it.
starved() {
	local waited lock
	run env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat -o r.json --format json \
		--table ledger,offcpu,threads -- "$SIM/train" --steps 60 --stall-every 10 --stall-ms 60
	assert_success || return
	waited=$(sed -n 's/.*waited for input \([0-9]*\)\.\([0-9]*\) s.*/\1\2/p' <<<"$output")
	lock=$(report_value r.json 'sum(x["ns"] for x in t["ledger"] if x["bucket"] == "lock") // 10**6')
	echo "waited $((10#$waited)) ms for input, the device idle for a lock $lock ms"
	((lock > 10#$waited * 80 / 100 && lock < 10#$waited * 120 / 100))
}

@test "offcpu: sleep, lock, pipe, socket, contention and a blocked sync have their reasons and wakers" {
	for _ in 1 2 3 4 5; do
		rm -f truth
		run -0 "$GPUPROF" stat --step-limit 1s --max-loss 100% --table threads,offcpu,events --format json \
			-o r.json -- "$TARGETS/waits" truth "" "" sleep sync lock pipe poll run
		! is_whole r.json || break
	done
	is_as_it_was r.json
}

# A sync that was woken, and got no CPU before who woke it had done with it.
late_sync() {
	rm -f truth
	run "$GPUPROF" stat --step-limit 1s --max-loss 100% --table threads,offcpu,events --format json \
		-o r.json -- "$TARGETS/waits" truth "" "" late
	[ "$status" -ne 77 ] || skip "no thread can be kept from its CPU here, or nobody counts it"
	assert_success || return
	run -0 "$TEST_LIB/check_waits.py" r.json truth
}

@test "offcpu: a sync that was ready without a CPU has that time, never more than the scheduler's" {
	late_sync || late_sync # it may lose the CPU once more before it returns
	run -0 laws r.json
}

@test "offcpu: a page fault served by another thread is page-fault, and names that thread" {
	run "$TARGETS/waits" truth "" "" fault
	[ "$status" -ne 77 ] || skip "this kernel has no userfaultfd"
	run -0 "$GPUPROF" stat --step-limit 1s --max-loss 100% --table threads,offcpu,events --format json -o r.json -- \
		"$TARGETS/waits" truth "" "" fault
	is_as_it_was r.json
}

@test "offcpu: reads served by a disk are waits for the disk, with the call and file kind" {
	local no_disk="no disk is waited for here: no O_DIRECT, a file system in memory, or no count of it"
	for _ in {1..10}; do # a disk may answer before the thread has left its CPU
		rm -f truth
		run "$GPUPROF" stat --step-limit 1s --max-loss 100% --table threads,offcpu,events --format json \
			-o r.json -- "$TARGETS/waits" truth "" "" disk
		[ "$status" -ne 77 ] || continue
		assert_success
		! is_whole r.json || break
	done
	[ "$status" -ne 77 ] || skip "$no_disk"
	is_as_it_was r.json
	run report_value r.json '{x["file"] for x in t["offcpu"] if x["reason"] == "disk" and x["syscall"] == "pread64"}'
	assert_output "{'file'}"
}

@test "offcpu: a capture gives the same for an attached process" {
	for _ in 1 2 3 4 5; do
		rm -f truth ready go
		start_waits lock pipe sync
		start_gpuprof record --max-loss 100% --step-limit 1s -o c.gpr -p "$WAITS"
		wait_running
		: >go
		wait_gpuprof 0
		"$GPUPROF" report c.gpr --max-loss 100% --table threads,offcpu,events --format json >r.json
		! is_whole r.json || break
	done
	is_as_it_was r.json
	run report_value r.json '[e["hits"] == e["received"] > 0 for e in t["events"] if e["kind"] == "off"]'
	assert_output '[True]'
}

@test "offcpu: a wait that outlasts the session is booked to its last instant, and shown as open" {
	start_waits hang
	start_gpuprof stat --step-limit 1s --max-loss 100% --table threads,offcpu --format json -o r.json -p "$WAITS"
	wait_running
	: >go
	wait_for 10 grep -q hanging truth
	wait_for 10 grep -q pipe "/proc/$WAITS/wchan"
	sleep 0.5
	interrupt_gpuprof
	run -0 laws r.json
	assert_value r.json '[(x["reason"], x["syscall"], x["file"], x["count"], x["open"])
		for x in t["offcpu"] if x["open"]]' "[('io', 'read', 'pipe', 0, 1)]"
	assert_value r.json 'sum(x["ns"] for x in t["threads"] if x["bucket"] == "io") >= 5e8' True
}

@test "offcpu: every interval of a thread that waits all the time is all waiting" {
	start_waits hang
	start_gpuprof -i 250ms --step-limit 1s --table threads --format csv -p "$WAITS"
	wait_running
	: >go
	wait_for 30 grep -qE ',io,([0-9]+),1,\1,\1,' gpuprof.out
	kill -INT "$PROFILER"
	wait_gpuprof
}

@test "offcpu: nothing is recorded unless requested, and unknown is not zero" {
	run -0 "$GPUPROF" stat --off-cpu off --step-limit 1s --table threads,offcpu,events --format json -o r.json -- \
		"$TARGETS/waits" truth "" "" sleep
	run report_value r.json '([x["bucket"] for x in t["threads"] if x["blocked_ns"] is not None], t["offcpu"],
		[x for x in t["threads"] if x["runqueue_ns"] is not None], [e["hits"] for e in t["events"] if e["kind"] == "off"])'
	assert_output '([], [], [], [0])'
	run "$GPUPROF" stat --off-cpu off --table offcpu -- "$TARGETS/waits" truth "" "" sleep
	assert_output --partial 'not recorded: --off-cpu on'
}

@test "offcpu: with --stacks a wait has its stack" {
	run -0 "$GPUPROF" stat --stacks --step-limit 1s --table offcpu --format json -o r.json -- \
		"$TARGETS/waits" truth "" "" lock
	run report_value r.json '[x["stack"] for x in t["offcpu"] if x["reason"] == "lock"][0]'
	assert_output --partial 'main;lock_way;wait_for_waker;wait_lock'
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "offcpu: a device idles for the lock its thread waits for, and offcpu names the waker" {
	starved || starved # a busy machine is given a second chance
	run -0 laws r.json
	assert_value r.json 'max((x for x in t["offcpu"] if x["reason"] == "lock"),
		key=lambda x: x["total_ns"])["waker_comm"].rstrip("?")' loader-0
}

@test "offcpu: a stop by a signal is booked as stopped, wherever the thread was, not to its calls" {
	run -0 env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat -o r.json --capture c.gpr --format json -- bash -c '
		"$1" --streams 1 --rounds 600 --pause-us 300 --wait-file /dev/null --mark half >said & pid=$!
		for ((i = 0; i < 1000; i++)); do [ -e half ] && break; sleep 0.01; done
		kill -STOP "$pid"; sleep 2; kill -CONT "$pid"; wait "$pid"' - "$SIM/mix"
	run -0 "$GPUPROF" report c.gpr --format json -o report.json
	cmp r.json report.json
	run report_value r.json '1.9e9 < sum(x["ns"] for x in t["ledger"] if x["bucket"] == "stopped") < 2.5e9'
	assert_output True
	assert_value r.json '" is lost to stopped: " in r["meta"]["verdict"]' True
	run -0 laws r.json
}
