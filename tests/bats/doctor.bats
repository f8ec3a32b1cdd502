#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2030,SC2031 # scripts for sh; each test has its own STARTED
# Why does a process show nothing? doctor -p names the reason, and what to do.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

start_calls() { # ARGS...: of simcalls; its pid is TARGET
	LD_LIBRARY_PATH=$SIM "$SIM/simcalls" "$@" >calls.out 3>&- &
	as_ready_target calls.out
}

doctor_says() { # STATUS REGEXP...: of `doctor -p TARGET`
	run "$GPUPROF" doctor -p "$TARGET"
	assert_equal "$status" "$1"
	shift
	local regexp
	for regexp; do
		assert_output --regexp "$regexp"
	done
}

@test "doctor: a process that maps no library, but whose child does; one with neither" {
	sleep 60 3>&- &
	as_target
	doctor_says 0 'less +libraries +it maps no CUDA or NCCL library'
	LD_LIBRARY_PATH=$SIM sh -c '"$SIM/simcalls" cudaLaunchKernel=1 --init --wait-file go; :' \
		>calls.out 3>&- &
	as_ready_target calls.out
	doctor_says 0 'ok +libraries +none here; 1 process below it maps one'
	touch go
}

@test "doctor: libraries are mapped, and nothing is called; then something is" {
	start_calls cudaLaunchKernel=100000 --pause-us 100 --init --wait-file go
	doctor_says 0 'functions of cudart .*libcudart.so.13: [1-9][0-9]* functions' \
		'less +calls +none began within 1 s: .*gpuprof stacks -p'
	touch go
	doctor_says 0 'ok +calls +[1-9].* began within 1 s, most of them of cu(da)?LaunchKernel'
	run -0 text_equals_file "$TARGET"
}

@test "doctor: a static runtime without symbols is seen by the driver only" {
	cp "$SIM/simcalls-static" stripped
	strip stripped
	LD_LIBRARY_PATH=$SIM ./stripped cudaLaunchKernel=1 --init --wait-file go >calls.out 3>&- &
	as_ready_target calls.out
	doctor_says 0 'less +runtime +no libcudart' 'seen as calls of the driver'
}

# bats file_tags=needs:root,needs:bpf
@test "doctor: libraries that are measured only on request are listed" {
	echo 'void cublasCreate_v2(void) { } void cublasSgemm_v2(void) { }' >blas.c
	cc -shared -fPIC -o libcublas.so.13 blas.c
	python3 -c 'import ctypes, time
ctypes.CDLL("./libcublas.so.13"); open("ready", "w"); time.sleep(60)' 3>&- &
	as_target
	wait_for 10 test -e ready
	doctor_says 0 'less +functions of cublas .*2 with --tier 1' 'less +tables +empty but with --tier 1'
}

# bats test_tags=needs:mounts
@test "doctor: in a container: which, and its pid there" {
	unshare -pf --mount-proc sleep 60 3>&- &
	STARTED+=($!)
	wait_for 10 pgrep -P $! -x sleep
	TARGET=$(pgrep -P $! -x sleep)
	STARTED+=("$TARGET")
	doctor_says 0 'ok +container .*pid there: 1'
}

# A program of 32 bits that waits for ever: its header, and pause(2) again and again.
program_of_32_bits() { # FILE
	python3 -c 'import struct, sys
code = b"\xb8\x1d\x00\x00\x00\xcd\x80\xeb\xf7"
head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
load = struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 4096)
open(sys.argv[1], "wb").write(head + load + code)' "$1"
	chmod +x "$1"
}

@test "doctor: a program of 32 bits, a zombie, a thread of the kernel, a stopped one, none" {
	[ "$(uname -m)" = x86_64 ] || skip "the program is for x86"
	program_of_32_bits small
	./small 3>&- &
	as_target
	wait_for 10 eval '[ "$(readlink /proc/$TARGET/exe)" != "$(readlink /proc/$$/exe)" ]'
	if kill -0 "$TARGET" 2>/dev/null; then
		doctor_says 0 'less +architecture +a program of another machine or of 32 bits'
	fi
	sh -c 'sleep 0.1 & echo $! >zombie; exec sleep 60' 3>&- &
	STARTED+=($!)
	wait_for 10 sh -c 'grep -q "State:.*Z" /proc/$(cat zombie)/status'
	TARGET=$(cat zombie)
	doctor_says 0 'less +process +a zombie'
	sleep 60 3>&- &
	as_target
	kill -STOP "$TARGET"
	doctor_says 0 "less +process +stopped by a signal: .*kill -CONT $TARGET"
	TARGET=2
	[ "$(cat /proc/2/comm)" != kthreadd ] || doctor_says 0 'less +process +a thread of the kernel'
	TARGET=4194303
	doctor_says 1 'FAIL +process +4194303 cannot be looked at: there is none'
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "doctor: a process that may not be read" {
	start_calls cudaLaunchKernel=1 --init --wait-file go
	run -3 capsh --drop=cap_sys_admin,cap_sys_ptrace -- -c 'exec "$0" "$@"' "$GPUPROF" doctor -p "$TARGET"
	assert_output --regexp 'FAIL +process +what it maps cannot be read: Permission denied.*CAP_SYS_PTRACE'
}

@test "doctor: it begins with what can be measured, and ends with what to type for a process" {
	start_calls cudaLaunchKernel=1 --init --wait-file go
	run -0 "$GPUPROF" doctor -p "$TARGET"
	assert_line --index 1 --regexp '^Every process can be measured: gpuprof -p PID, or -- CMD\. Device times '
	assert_equal "${lines[-1]}" "next   gpuprof stat -d 10s -p $TARGET"
	run -3 --separate-stderr setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all "$GPUPROF" doctor -p "$TARGET"
	assert_line --index 1 --regexp '^Commands of yours can be measured, without probes: gpuprof stat -- CMD\. '
	assert_line --index 2 --partial 'sudo gpuprof -p PID (CAP_BPF is missing)'
	assert_equal "${lines[-1]}" "next   sudo gpuprof stat -d 10s -p $TARGET"
}

@test "doctor: a report of a stopped process says so, and how to continue it" {
	start_calls cudaLaunchKernel=1 --init --wait-file go
	kill -STOP "$TARGET"
	run -0 "$GPUPROF" stat --full -d 10ms -p "$TARGET"
	assert_line --regexp "^no calls: process $TARGET \(simcalls\) is stopped by a signal: it calls nothing until kill -CONT $TARGET"
	"$GPUPROF" record -o c.gpr -d 10ms -p "$TARGET"
	assert_note -f c.gpr no-calls "is stopped by a signal"
}

@test "doctor: a report without calls gives the reason: nothing mapped, nothing called" {
	sleep 60 3>&- &
	STARTED+=($!)
	"$GPUPROF" stat -d 10ms -p $! --format json -o r.json
	assert_note no-calls "no CUDA or NCCL library was mapped"
	start_calls cudaLaunchKernel=1 --init --wait-file go
	"$GPUPROF" record -o c.gpr -d 10ms -p "$TARGET"
	assert_note -f c.gpr no-calls "[1-9][0-9]* functions in [23] files were probed, none was called"
}
