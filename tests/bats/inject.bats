#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2030,SC2031 # sources of programs; a test is a subshell
# --inject: the helper comes into a process that runs already, which goes on as if nothing had been;
# where it cannot come without risk, it does not, and says why.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

teardown() {
	end_started
	[ -z "$PLACE" ] || rm -rf "$PLACE"
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }

# A program of the simulation; it runs when its libcuda is mapped and its first launches are made.
start_sim() { # PROGRAM ARGS...
	nice -n "${NICER:-0}" "$SIM/$1" "${@:2}" >target.out 2>&1 3>&- &
	as_target
	wait_for 20 grep -q libcuda.so.1 "/proc/$TARGET/maps"
}

refused() { # PID REASON: no word to the process, one line, exit 4
	run "$GPUPROF" stat --inject --yes -d 1s -p "$1"
	assert_equal "$status: $output" "4: gpuprof: cannot bring the helper into process $1: $2"
}

@test "inject: a running process shows its device times; its text and its result are unchanged" {
	start_sim hardy end "$SIM/libchained.so"
	run "$GPUPROF" doctor -p "$TARGET"
	assert_line --regexp "^less +device times +not known: no helper in it; gpuprof stat --inject -p $TARGET brings one"
	# Its threads launch all the time: on a busy machine, more than is read in time.
	run -0 "$GPUPROF" stat --inject --yes -d 2s --max-loss 100% --format json -o r.json -p "$TARGET"
	assert_line --regexp "the helper is in process $TARGET; its thread [0-9]+ was stopped for [0-9.]+ ms"
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 10' True
	wait_for 10 text_equals_file "$TARGET" libcuda.so.1 libcudart.so.13 libc.so.6 hardy
	# It is there: no question.
	run -0 "$GPUPROF" stat --inject -d 1s --max-loss 100% --format json -o r.json -p "$TARGET"
	refute_output --partial "the helper is in"
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 10' True
	run "$GPUPROF" doctor -p "$TARGET"
	assert_line --regexp "^ok +device times +by its helper, which is (awake|asleep)"
	: >end
	wait "$TARGET"
	assert_equal "$(tail -n 1 target.out)" right
}

@test "inject: many-threaded programs are measured in turn and released unharmed" {
	local i n=$((${GPUPROF_INJECTIONS:-20} / 4)) NICER=10
	for ((i = 0; i < n; i++)); do
		rm -f end
		start_sim hardy end "$SIM/libchained.so"
		run -0 "$GPUPROF" stat --inject --yes -d 200ms --format json -o r.json -p "$TARGET"
		assert_line --partial "the helper is in process $TARGET"
		wait_for 10 text_equals_file "$TARGET" libcuda.so.1 libcudart.so.13 libc.so.6 hardy
		: >end
		wait "$TARGET"
		assert_equal "$(tail -n 1 target.out)" right
	done
}

# bats test_tags=needs:pty
@test "inject: it asks on a terminal and requires --yes without one" {
	start_sim train --steps 100000 --quiet
	run -2 "$GPUPROF" stat --inject -d 1s -p "$TARGET" </dev/null
	one_line "give --yes"
	for answer in n ''; do
		run script -qec "'$GPUPROF' stat --inject -d 1s -p $TARGET" /dev/null <<<"$answer"
		assert_equal "$status" 1
		assert_output --partial "Go on? [y/N]"
		assert_output --partial "aborted: the answer was not y"
	done
	run find "/proc/$TARGET/fd" -lname '/memfd:gpuprof*'
	assert_output ""
	run script -qec "'$GPUPROF' stat --inject -d 1s --table kernels -p $TARGET" /dev/null <<<y
	assert_equal "$status" 0
	assert_output --partial "the helper is in process $TARGET"
	assert_output --partial gemm
	run -2 "$GPUPROF" stat --inject --yes -a
	one_line "'--inject' needs '--pid'"
	run -2 "$GPUPROF" stat --yes -p "$TARGET"
	one_line "'--yes' needs '--inject'"
}

@test "inject: stopped, traced, filtered processes and those without CUDA are refused with the reason" {
	start_sim train --steps 100000 --quiet
	kill -STOP "$TARGET"
	wait_for 10 grep -q '^State:.T' "/proc/$TARGET/status"
	refused "$TARGET" "it is stopped; let it go on first (kill -CONT)"
	kill -CONT "$TARGET"
	python3 - "$TARGET" 3>&- <<-'EOF_PY' &
		import ctypes, sys, time
		libc = ctypes.CDLL(None, use_errno=True)
		libc.ptrace.argtypes = [ctypes.c_long] * 4
		assert libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0  # PTRACE_SEIZE
		time.sleep(60)
	EOF_PY
	local tracer=$!
	STARTED+=("$tracer")
	wait_for 10 grep -q "^TracerPid:.$tracer\$" "/proc/$TARGET/status"
	refused "$TARGET" "process $tracer traces it already (a debugger, strace); end that first"
	sleep 60 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q libc.so.6 "/proc/$!/maps"
	refused $! "it has not loaded CUDA (libcuda) yet; begin when it has, or start it with \`gpuprof env\`"
	refused 2 "it is a thread of the kernel's; give the pid of a program"
	run -4 bash -c "exec '$GPUPROF' stat --inject --yes -d 1s -p \$\$"
	one_line "it is this gpuprof; give the pid of a program that uses CUDA"
}

# A parent without CUDA, as torchrun, whose two children have it and launch once `go` exists.
start_parent() {
	rm -f go mix.out
	GPUPROF_CUPTI=$SIM/libcupti.so.13 GPUSIM_TRUTH=$PWD/%p.truth "$SIM/mix" --processes 2 --rounds 200 --wait-file go \
		>mix.out 2>&1 3>&- &
	as_target
	wait_for 20 have_cuda
	mapfile -t CHILDREN < <(pgrep -P "$TARGET")
	STARTED+=("${CHILDREN[@]}")
}
have_cuda() { [ "$(pgrep -P "$TARGET" | sed 's:.*:/proc/&/maps:' | xargs -r grep -l libcuda.so.1 | wc -l)" -eq 2 ]; }

@test "inject: the children of a parent without CUDA get it, and their works equal the truth" {
	local named child
	for named in parent both; do
		start_parent
		[ $named = parent ] || named=",${CHILDREN[1]}"
		start_gpuprof stat --inject --yes --format json -o r.json -p "$TARGET${named#parent}"
		for child in "${CHILDREN[@]}"; do
			wait_for 20 is_awake "$child" || { cat gpuprof.err; return 1; }
			wait_armed "$child" libcudart.so.13
		done
		: >go
		wait "$TARGET"
		wait_gpuprof 0
		assert_output --partial "the helper is in process ${CHILDREN[0]};"
		assert_output --partial "the helper is in process ${CHILDREN[1]};"
		assert_output --partial "no CUDA (libcuda) is loaded yet in process $TARGET: the helper is only in those"
		laws r.json
		run -0 "$TEST_LIB/check_ledger.py" r.json "${CHILDREN[0]}.truth" "${CHILDREN[1]}.truth"
		assert_output "2 books add up"
	done
}

@test "inject: a child that cannot get the helper is named, and fails the session only if no process has it" {
	local child
	start_parent
	run -2 "$GPUPROF" stat --inject -d 1s -p "$TARGET" </dev/null
	one_line "and 1 more"
	run -4 "$GPUPROF" stat --inject --yes --isolate -d 1s -p "$TARGET"
	one_line "process $TARGET: it has not loaded CUDA (libcuda) yet"
	kill -STOP "${CHILDREN[@]}"
	for child in "${CHILDREN[@]}"; do
		wait_for 10 grep -q '^State:.T' "/proc/$child/status"
	done
	run -4 "$GPUPROF" stat --inject --yes -d 1s -p "$TARGET"
	assert_line "gpuprof: warning: cannot bring the helper into process ${CHILDREN[0]}: it is stopped; let it go on first (kill -CONT)"
	assert_line "gpuprof: no process of -p has the helper, nor one below them"
	kill -CONT "${CHILDREN[1]}"
	wait_for 10 grep -q '^State:.[SRD]' "/proc/${CHILDREN[1]}/status"
	run -0 "$GPUPROF" stat --inject --yes -d 100ms -p "$TARGET"
	assert_line "gpuprof: warning: cannot bring the helper into process ${CHILDREN[0]}: it is stopped; let it go on first (kill -CONT)"
	assert_line --partial "the helper is in process ${CHILDREN[1]};"
	kill -CONT "${CHILDREN[0]}"
}

# As PyTorch's data loaders: CUDA is in them, and would not work.
@test "inject: a process forked with CUDA loaded is left alone unless given with -p" {
	python3 - "$SIM/libcuda.so.1" 3>&- <<-'EOF_PY' &
		import ctypes, os, sys, time
		ctypes.CDLL(sys.argv[1])
		child = os.fork()
		if child:
		    with open("child.new", "w") as file:
		        print(child, file=file)
		    os.rename("child.new", "child")
		time.sleep(60)
	EOF_PY
	as_target
	wait_for 20 test -e child
	local child
	child=$(cat child)
	STARTED+=("$child")
	run -0 "$GPUPROF" stat --inject --yes -d 100ms -p "$TARGET"
	assert_line --partial "the helper is in process $TARGET;"
	refute_output --partial "the helper is in process $child;"
	assert_line --partial "process $child was forked with CUDA loaded, and is left without the helper; if it uses a device itself, name it: -p $child"
	run -0 "$GPUPROF" stat --inject --yes -d 100ms -p "$child"
	assert_line --partial "the helper is in process $child;"
}

# A filter of classic BPF: ANSWER to call NUMBER, else all is allowed.
filter_of() { # NUMBER ANSWER
	python3 -c 'import struct, sys
code = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[1])), (6, 0, 0, int(sys.argv[2], 0)), (6, 0, 0, 0x7fff0000)]
sys.stdout.buffer.write(b"".join(struct.pack("HBBI", *i) for i in code))' "$@"
}

start_caged() { # NUMBER ANSWER
	filter_of "$@" >filter
	start_sim caged filter
	wait_for 10 grep -q '^Seccomp:.2' "/proc/$TARGET/status"
}

@test "inject: a seccomp filter that allows the helper's calls is accepted, another is refused" {
	start_caged 435 0x00050026 # clone3: there is none, as Docker has it
	run "$GPUPROF" doctor -p "$TARGET"
	assert_line --partial "gpuprof stat --inject -p $TARGET brings one, if its seccomp filter lets that pass"
	run -0 "$GPUPROF" stat --inject --yes -d 1s --format json -o r.json -p "$TARGET"
	assert_line --partial "the helper is in process $TARGET"
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 0' True
	start_caged 77 0x80000000 # ftruncate: the end of the process
	refused "$TARGET" "its seccomp filter does not let pass ftruncate, which the helper needs; allow it there (docker: --security-opt seccomp=FILE), or leave --inject out"
	run -4 capsh --drop=cap_sys_admin -- -c "'$GPUPROF' stat --inject --yes -d 1s -p $TARGET"
	one_line "it has a seccomp filter, and to see what that allows, gpuprof needs CAP_SYS_ADMIN and no filter of its own; run it as root on the host"
	kill -0 "$TARGET"
}

@test "inject: with a driver before CUDA 12.6 only by --force, as its CUPTI may crash graphs" {
	cp "$SIM/libcuda.so.1" libcuda.so.550.54.14
	ln -s libcuda.so.550.54.14 libcuda.so.1
	LD_LIBRARY_PATH="$PWD" "$SIM/mix" --graphs only --rounds 100000 --pause-us 1000 >target.out 2>&1 3>&- &
	as_target
	wait_for 20 grep -q libcuda.so.550 "/proc/$TARGET/maps"
	run -4 "$GPUPROF" stat --inject --yes -d 1s -p "$TARGET"
	one_line "its driver, 550, is older than CUDA 12.6: if it has made CUDA graphs, CUPTI may crash it"
	run "$GPUPROF" doctor -p "$TARGET"
	assert_line --regexp "^less +device times +not known: .*its driver, 550, is older than CUDA 12.6"
	run -0 "$GPUPROF" stat --inject --force --yes -d 1s --format json -o r.json -p "$TARGET"
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 0' True
	run -2 "$GPUPROF" stat --force -d 1s -p "$TARGET"
}

@test "inject: a file size limit below a ring's size is refused at once" {
	start_sim train --steps 100000 --quiet
	prlimit --fsize=65536: --pid "$TARGET"
	run -4 "$GPUPROF" stat --inject --yes -d 1s -p "$TARGET"
	one_line "it may have no file of more than 64 KiB, and the helper needs one of"
	run "$GPUPROF" doctor -p "$TARGET"
	assert_line --regexp "^less +device times +not known: .*no file of more than 64 KiB"
	prlimit --fsize=1048576: --pid "$TARGET"
	# A ring as small as that may lose what CUPTI hands over at once.
	run -0 "$GPUPROF" stat --inject --yes -d 1s --max-loss 90% --format json -o r.json -p "$TARGET"
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 0' True
}

# bats file_tags=needs:root,needs:bpf
@test "inject: static, foreign, musl's and ended programs are refused" {
	printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >pause.c
	cc -static -o static pause.c
	./static 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q "$PWD/static" "/proc/$!/maps"
	refused $! "it has no glibc (a static program?), through which the helper could be loaded; without --inject its calls are seen"

	# musl is known by its dynamic linker.
	cp /bin/true ld-musl-x86_64.so.1
	python3 -c 'import mmap, time
f = open("ld-musl-x86_64.so.1", "rb")
m = mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
time.sleep(60)' 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q ld-musl "/proc/$!/maps"
	refused $! "its C library is musl, and the helper needs glibc; without --inject its calls are seen"

	python3 -c 'import os, time
child = os.fork()
if not child:
	os._exit(0)
open("child", "w").write(str(child))
time.sleep(60)' 3>&- &
	STARTED+=($!)
	wait_for 10 test -s child
	local child
	child=$(cat child)
	wait_for 10 grep -q '^State:.Z' "/proc/$child/status"
	refused "$child" "it has ended (a zombie): nothing of it runs"
}

@test "inject: a 32-bit program is refused" {
	[ "$(uname -m)" = x86_64 ] || skip "the program is one of x86"
	printf '.globl _start\n_start: mov $29, %%eax\nint $0x80\njmp _start\n' >narrow.s # pause
	as --32 -o narrow.o narrow.s && ld -m elf_i386 -o narrow narrow.o
	./narrow 3>&- &
	local pid=$!
	STARTED+=("$pid")
	wait_for 5 grep -q "$PWD/narrow" "/proc/$pid/maps" || skip "this kernel runs no 32-bit programs"
	refused "$pid" "it is no 64-bit program of this machine's architecture; only such ones can load the helper"
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "inject: a process whose only thread is in a signal handler, or in qsort, is left alone" {
	cat >busy.c <<-'EOF_C'
		#include <dlfcn.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		static void rest(int signal) { for (;;) pause(); }
		static int compare(const void *a, const void *b) { rest(0); return 0; }
		int main(int argc, char **argv)
		{
			int numbers[2] = { 2, 1 };
			if (!dlopen(argv[1], RTLD_NOW)) return 1;
			signal(SIGUSR1, rest);
			if (argc > 2) qsort(numbers, 2, sizeof(int), compare);
			raise(SIGUSR1);
			return 0;
		}
	EOF_C
	cc -o busy busy.c -ldl
	local more
	for more in '' qsort; do
		./busy "$SIM/libcuda.so.1" $more 3>&- &
		STARTED+=($!)
		wait_for 10 grep -q libcuda.so.1 "/proc/$!/maps"
		wait_for 10 grep -q "^34 " "/proc/$!/syscall" # pause
		run -4 "$GPUPROF" stat --inject --yes -d 1s -p $!
		one_line "none of its threads came to where it can be asked safely" "try again"
		[ "$more" ] || assert_output --partial "it is in a signal handler"
		grep -q "^34 " "/proc/$!/syscall" # it still waits there
	done
}

@test "inject: without the right to trace the missing capability is named, exit 3" {
	start_sim train --steps 100000 --quiet
	run -3 capsh --drop=cap_sys_ptrace,cap_sys_admin -- -c "'$GPUPROF' stat --inject --yes -d 1s -p $TARGET"
	one_line "CAP_SYS_PTRACE is missing; run gpuprof as root or with sudo"
	PLACE=$(mktemp -d) # where another user can come
	chmod 755 "$PLACE"
	cp "$GPUPROF" "$PLACE/gpuprof"
	run -3 as_nobody "$PLACE/gpuprof" stat --inject --yes -d 1s -p "$TARGET"
	one_line "it is user $(id -u)'s, not yours, and CAP_SYS_PTRACE is missing; run gpuprof as root or with sudo"
	run -4 as_nobody "$PLACE/gpuprof" stat --inject --yes -d 1s -p 2
	one_line "it is a thread of the kernel's"
}

@test "inject: a thread that no signal reaches is reported, and a later attempt works" {
	cat >deep.c <<-'EOF_C'
		#include <dlfcn.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			if (!dlopen(argv[1], RTLD_NOW)) return 1;
			if (!vfork()) {
				while (access("enough", F_OK)) usleep(1000);
				_exit(0);
			}
			for (;;) pause();
		}
	EOF_C
	cc -o deep deep.c -ldl
	./deep "$SIM/libcuda.so.1" 3>&- &
	local pid=$!
	STARTED+=("$pid")
	wait_for 10 grep -q '^State:.D' "/proc/$pid/status"
	run -4 "$GPUPROF" stat --inject --yes -d 1s -p $pid
	assert_line --regexp "where it can be asked safely \(thread $pid waits in the kernel where no signal reaches it.*\); try again"
	grep -q '^TracerPid:.0$' "/proc/$pid/status"
	: >enough
	wait_for 10 grep -q "^34 " "/proc/$pid/syscall" # pause
	run "$GPUPROF" stat --inject --yes -d 1s -p $pid
	assert_line --partial "the helper is in process $pid"
}
