#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Targets stay as they are: probes are in no other program's text, and in none when gpuprof ends.

# bats file_tags=needs:root,needs:bpf,needs:targets

load ../lib/common

@test "attach: after the end of -d the target's text equals its file, and it runs on" {
	start_target t cudart-dyn --launches 100
	start_gpuprof record -o c.gpr -d 1s -p "$TARGET"
	wait_armed "$TARGET"
	wait_gpuprof 0
	run -0 text_equals_file "$TARGET"
	go t
	wait_for 10 test -e t.json
}

@test "attach: kill -9 of gpuprof leaves the target's text equal to its file, and it runs on" {
	start_target t cudart-dyn --launches 1000 --rounds 20 --pause-us 50
	start_gpuprof record -o c.gpr -p "$TARGET"
	wait_armed "$TARGET"
	go t
	sleep 0.2
	kill -KILL "$PROFILER"
	wait "$PROFILER" || true
	wait_for 5 text_equals_file "$TARGET"
	wait_for 30 test -e t.json
}

@test "attach: with -p another process of the same library never has a breakpoint" {
	start_target other cudart-dyn --launches 200 --rounds 30 --pause-us 20
	local other=$TARGET
	start_target t cudart-dyn --launches 200 --rounds 30 --pause-us 20
	start_gpuprof record -o c.gpr -p "$TARGET"
	wait_armed "$TARGET"
	run -0 text_equals_file "$other"
	go t
	go other
	while [ ! -e t.json ]; do
		run -0 text_equals_file "$other"
	done
	finish t
	wait_gpuprof 0
	"$GPUPROF" report c.gpr --table calls --format json >r.json
	compare --no-times t.json r.json
	assert_value r.json "{c['pid'] for c in t['calls']} == {$TARGET}" True
}

@test "attach: gpuprof holds no probe before it starts and none after it ends, with -- CMD" {
	start_target bystander cudart-dyn --launches 100
	run -0 "$GPUPROF" record -o c.gpr -- "$TARGETS/cudart-dyn" --launches 100
	run -0 text_equals_file "$TARGET"
}

@test "attach: a target that exits during attach ends the session cleanly" {
	local i
	for i in 1 2 3 4 5 6; do
		start_target "t$i" cudart-dyn --launches 10
		start_gpuprof record -o "c$i.gpr" -d 2s -p "$TARGET"
		sleep "0.0$((i * 2 - 1))"
		kill -KILL "$TARGET"
		wait_gpuprof
		[ "$status" -le 1 ] || fail "status $status: $output"
		if [ -e "c$i.gpr" ]; then
			run "$GPUPROF" report "c$i.gpr"
			[ "$status" -eq 0 ] || [ "$status" -eq 5 ] || fail "status $status: $output"
		fi
	done
}

@test "attach: with --isolate children of a process given with -p are named as not followed" {
	mkfifo go end
	cat >parent.sh <<-SCRIPT
		: >ready
		read line <go
		"$TARGETS/cudart-dyn" --launches 10
		: >over
		read line <end
	SCRIPT
	bash parent.sh 3>&- &
	STARTED+=($!)
	wait_for 5 test -e ready
	start_gpuprof record -o c.gpr --isolate -p $!
	wait_begun
	echo >go
	wait_for 10 test -e over
	interrupt_gpuprof
	assert_note -f c.gpr children-not-followed "1 child of pid ${STARTED[0]}: [0-9]+"
}

# README's way out for programs that cancel threads while they wait for a device.
# bats test_tags=needs:root
@test "attach: with --attach none a thread that is cancelled inside a call undoes what its callers began" {
	cat >runtime.c <<-'C'
		#include <unistd.h>
		__attribute__((noinline)) int cudaDeviceSynchronize(void) { return pause(); }
	C
	cat >main.c <<-'C'
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		int cudaDeviceSynchronize(void);
		static void undo(void *of) { puts(of); }
		static void *wait_for_device(void *unused) {
			pthread_cleanup_push(undo, "undone");
			cudaDeviceSynchronize();
			pthread_cleanup_pop(0);
			return unused;
		}
		int main(void) {
			pthread_t thread;
			if (pthread_create(&thread, NULL, wait_for_device, NULL)) return 1;
			usleep(300000);
			return pthread_cancel(thread) || pthread_join(thread, NULL);
		}
	C
	gcc -O1 -fexceptions -fno-omit-frame-pointer -fcf-protection=none -shared -fPIC -o libcudart.so.13 runtime.c
	gcc -O1 -fexceptions -pthread -o main main.c ./libcudart.so.13 -Wl,-rpath,"$PWD"
	run -0 --separate-stderr "$GPUPROF" stat -q --attach none --table calls -o report -- ./main
	assert_output undone
	# With probes it ends in order, and its call is seen.
	run -0 --separate-stderr "$GPUPROF" stat -q --table calls --format json -o r.json -- ./main
	assert_value r.json '[c["function"] for c in t["calls"] if c["count"] + c["open"]]' "['cudaDeviceSynchronize']"
}
