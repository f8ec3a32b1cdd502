#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # a test is a subshell
# Libraries that were not probed yet when a process began to call them: what came before the probes is not
# counted, and the time in which that was so is shown, to people and to programs.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

teardown() { end_started; }

# A parent without CUDA; asked to, it runs a program with files of its own, which calls at once.
start_parent() { # ARGS...
	local dir=$PWD/fresh
	mkdir "$dir"
	cp -L "$SIM"/{libgpusim.so,libcuda.so.1,libcudart.so.13,simcalls} "$dir"
	start_parent_of "GPUSIM_TRUTH=$PWD/child.json LD_LIBRARY_PATH=$dir $dir/simcalls $*"
}

start_parent_of() { # COMMAND
	cat >parent <<-SCRIPT
		while [ ! -e begin ]; do sleep 0.02; done
		$1 >child.out 2>&1
		: # another command: no shell executes the last one in its own place
	SCRIPT
	sh parent 3>&- &
	PARENT=$!
	STARTED+=("$PARENT")
	start_gpuprof record -v -p "$PARENT" -o c.gpr
	wait_begun
}

stop_profiler() { # to the last thread, which has to be on a CPU for that
	kill -STOP "$PROFILER"
	wait_for 10 has_stopped "$PROFILER"
}
has_stopped() { ! grep -LE '^State:.T' "/proc/$1/task/"*/status | grep -q .; } # PID

# Of the capture: launches that were counted; was there time in which they could not be; all meta has of that.
counted() {
	"$GPUPROF" report c.gpr --format json --table calls,threads,events,processes >r.json || return
	laws r.json >&2 || return
	report_value r.json '"%d of the launches, unarmed: %s, complete: %s, lost: %d" % (
		sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel"),
		r["meta"]["unarmed_ns"] > 0, r["meta"]["complete"], r["meta"]["lost"])'
}

none_is_counted() {
	wait_gpuprof 0
	run counted
	assert_line "0 of the launches, unarmed: True, complete: True, lost: 0"
}

@test "unarmed: calls a child makes at once and that were missed have their time in meta" {
	start_parent cudaLaunchKernel=60000
	: >begin
	wait_gpuprof 0
	run -0 counted
	assert_line --regexp '^[0-9]+ of the launches, unarmed: True, complete: True, lost: [0-9]+$'
	run report_value r.json 'sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel") + r["meta"]["lost"] <= 60000'
	assert_output True
}

@test "unarmed: with every call before its probes, text and json give the uncounted time" {
	start_parent cudaLaunchKernel=3000 --hang-sync
	stop_profiler # it sees nothing of the child before its launches are made
	: >begin
	wait_for 20 grep -q hanging child.out
	kill -CONT "$PROFILER"
	child=$(pgrep -P "$PARENT" simcalls)
	STARTED+=("$child")
	wait_armed "$child" cudart
	kill "$child"
	none_is_counted
	run -0 "$GPUPROF" report --full c.gpr
	assert_note -f c.gpr unarmed " in pid $child "
	assert_line --regexp "^unarmed: [0-9.]+ m?s in pid $child \(simcalls\), before a library was probed that it had loaded: calls then are not counted"
}

@test "unarmed: a child that exited before its libraries were read is reported so, not as one without any" {
	start_parent cudaLaunchKernel=500
	stop_profiler
	: >begin
	wait_for 20 test -s child.json
	wait_for 20 eval '! pgrep -P "$PARENT" simcalls && [ ! -e "/proc/$PARENT" -o "$(cut -d" " -f3 "/proc/$PARENT/stat")" = Z ]'
	kill -CONT "$PROFILER"
	none_is_counted
	assert_note -f c.gpr no-calls "what mapped a CUDA or NCCL library had ended before"
	refute_note -f c.gpr no-calls "library was mapped"
}

@test "unarmed: libraries of CUDA's names are probed before other files that were mapped with them" {
	# As with a static runtime, whose function is a local symbol.
	echo '__attribute__((visibility("hidden"))) int cudaLaunchKernel(void) { return 0; }' >plain.c
	gcc -shared -fPIC -o libplain.so plain.c
	cat >main.c <<-'C'
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <unistd.h>
		int main(int argc, char **argv) {
			for (int i = 1; i < argc; i++) if (!dlopen(argv[i], RTLD_NOW)) return 1;
			close(creat("loaded", 0600));
			while (access("end", F_OK)) usleep(10000);
		}
	C
	gcc -o main main.c
	start_parent_of "./main ./libplain.so $SIM/libcudart.so.13"
	stop_profiler
	: >begin
	wait_for 20 test -e loaded
	kill -CONT "$PROFILER"
	wait_for 20 grep -q 'attached to .*/libplain.so' gpuprof.err
	: >end
	wait_gpuprof 0
	run grep -o '[^/]* in process' gpuprof.err
	assert_line --index 0 "libcudart.so.13 in process"
}

# bats file_tags=needs:root,needs:bpf
@test "unarmed: a process that mapped only cublas, which is not probed, has missed nothing" {
	echo 'int cublasCreate_v2(void) { return 0; }' >blas.c
	cc -shared -fPIC -Wl,-soname,libcublas.so.13 -o libcublas.so.13 blas.c
	echo 'int cublasCreate_v2(void); int main(void) { return cublasCreate_v2(); }' >main.c
	cc -o solver main.c ./libcublas.so.13
	start_parent_of "LD_LIBRARY_PATH=$PWD $PWD/solver; : >ended"
	stop_profiler
	: >begin
	wait_for 20 test -e ended
	kill -CONT "$PROFILER"
	wait_gpuprof 0
	run counted
	assert_line "0 of the launches, unarmed: False, complete: True, lost: 0"
	run "$GPUPROF" report --full c.gpr
	assert_output --partial "no CUDA or NCCL library was mapped (what cublas and cudnn do alone needs --tier 1)"
}

# ---- processes that end within milliseconds -------------------------------------------------------

# Programs that allocate 50 times, print their pid and end, in $PWD/app: app/WAY finds its own copy of the
# runtime in that way, wherever app lies.
SHORT_WAYS=(runpath rpath path cache dlopen)
build_short() {
	local way
	mkdir app
	for way in "${SHORT_WAYS[@]}"; do
		mkdir "app/lib-$way"
		cp -L "$SIM"/{libgpusim.so,libcuda.so.1,libcudart.so.13} "app/lib-$way"
	done
	cat >short.c <<-'C'
		#include <dlfcn.h>
		#include <stddef.h>
		#include <stdio.h>
		#include <unistd.h>
		int cudaMalloc(void **, size_t);
		int main(void) {
			int (*call)(void **, size_t) = OPEN;
			void *p;
			for (int i = 0; i < 50; i++) call(&p, 64);
			return printf("%d\n", (int)getpid()) < 0;
		}
	C
	echo 'int cudaMalloc(void **, long); int middle(void **p, long n) { return cudaMalloc(p, n); }' >middle.c
	local runtime=(-L "$SIM" -l:libcudart.so.13)
	# shellcheck disable=SC2016 # $ORIGIN is the linker's
	{
		gcc -DOPEN=cudaMalloc -o app/runpath short.c "${runtime[@]}" -Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib-runpath'
		gcc -shared -fPIC -o app/libmiddle.so middle.c "${runtime[@]}" -Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib-rpath'
		gcc -DOPEN=middle -DcudaMalloc=middle -o app/rpath short.c -L app -lmiddle -Wl,--allow-shlib-undefined,-rpath,'$ORIGIN'
	}
	gcc -DOPEN=cudaMalloc -o app/path short.c "${runtime[@]}" -Wl,--allow-shlib-undefined
	cp app/path app/cache
	gcc '-DOPEN=dlsym(dlopen("lib-dlopen/libcudart.so.13", RTLD_NOW), "cudaMalloc")' -o app/dlopen short.c
}

# Runs them in app: some when control/begin is opened, others when control/go is, TOGETHER at a time.
short_script() { # WAY FIRST OTHERS TOGETHER
	cat >app/script <<-SCRIPT
		run() {
			i=0
			while [ \$i -lt \$1 ]; do
				./$1 &
				i=\$((i + 1))
				[ \$((i % $4)) -ne 0 ] || wait
			done
			wait
		}
		[ $1 != path ] || export LD_LIBRARY_PATH=lib-path
		read -r _ <control/begin
		run $2 >control/first
		: >control/first.done
		read -r _ <control/go
		run $3 >control/others
	SCRIPT
	rm -rf app/control
	mkdir app/control
	mkfifo app/control/begin app/control/go
}

# A root with app in it, and what its programs need of this system.
build_root() {
	local file
	mkdir -p root/etc root/bin root/dev root/proc
	: >root/dev/null
	cp -L /bin/sh root/bin/sh
	for file in $(ldd /bin/sh "$PWD/app/path" "$PWD"/app/lib-path/* | grep -o '/[^ :]*' | sort -u); do
		[[ $file == "$PWD"/* ]] || cp -L --parents "$file" root
	done
	echo /app/lib-cache >root/etc/ld.so.conf
}

start_short() { # PLACE
	case $1 in
	host) (cd app && exec sh script) 3>&- & ;;
	chroot)
		rm -rf root/app
		cp -r app root/app
		ldconfig -r root
		# $ORIGIN needs /proc
		unshare -m sh -c 'mount --bind /proc root/proc && exec chroot root sh -c "cd /app; exec sh script"' 3>&- &
		;;
	mounts) # the files are in no other mount namespace
		mkdir -p only
		echo "$PWD/only/lib-cache" >conf
		unshare -m sh -c 'mount -t tmpfs none only && cp -r app/* only && mount --bind app/control only/control
			ldconfig -f conf -C cache && mount --bind cache /etc/ld.so.cache
			cd only && exec sh script' 3>&- &
		;;
	esac
	as_target
}

# Each way to find the library, in one place; eight processes at once, with GPUPROF_SHORT also one after the
# other.
each_short() { # TEST PLACE WAY...
	local test=$1 place=$2 together way
	shift 2
	build_short
	[ "$place" != chroot ] || build_root
	for together in 8 ${GPUPROF_SHORT:+1}; do
		for way; do "$test" "$place" "$way" "$together"; done
	done
}

# The first ones end before gpuprof looks: all of their calls are missed, which is reported of each; of the
# others no call is. GPUPROF_SHORT: so many others.
short_processes() { each_short short_processes_of "$@"; } # PLACE WAY...

short_processes_of() { # PLACE WAY TOGETHER
	local control=app/control
	[ "$1" != chroot ] || control=root/app/control
	short_script "$2" "$3" "${GPUPROF_SHORT:-16}" "$3"
	start_short "$1"
	start_gpuprof stat -v -p "$TARGET" --max-loss 100% --table calls,events --format json -o r.json
	wait_begun
	stop_profiler
	: >"$control/begin"
	wait_for 60 test -e "$control/first.done"
	kill -CONT "$PROFILER"
	wait_for 20 grep -q 'attached to .*/libcudart' gpuprof.err
	wait_for 20 grep -q 'attached to .*/libcuda\.' gpuprof.err
	: >"$control/go"
	wait_gpuprof 0
	run -0 short_outcome "$control"
	assert_output "$3 first, $3 of them unarmed, 0 counted; ${GPUPROF_SHORT:-16} others, 0 of them unarmed, ${GPUPROF_SHORT:-16} counted"
}

short_outcome() { # CONTROL: of r.json
	python3 - "$1" <<-'PY'
		import json, sys
		report = json.load(open("r.json"))
		unarmed = {n["pid"] for n in report["meta"]["notes"] if n["code"] == "unarmed"}
		counted = {c["pid"] for c in report["tables"]["calls"] if c["function"] == "cudaMalloc" and c["count"] == 50}
		def outcome(name):
		    pids = {int(pid) for pid in open(f"{sys.argv[1]}/{name}")}
		    return f"{len(pids)} {name}, {len(pids & unarmed)} of them unarmed, {len(pids & counted)} counted"
		print(outcome("first"), outcome("others"), sep="; ")
		for name in "first", "others":
		    for pid in {int(pid) for pid in open(f"{sys.argv[1]}/{name}")} - unarmed - counted:
		        sys.exit(f"{pid} ({name}) is not counted in full, and missed nothing")
	PY
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "unarmed: of processes that end at once, each one that missed calls is named, others are counted in full" {
	short_processes host runpath rpath path dlopen # the host's cache is left alone
}

# bats test_tags=needs:root,needs:bpf,needs:sim,needs:mounts
@test "unarmed: the same of such processes in a root of their own" {
	short_processes chroot "${SHORT_WAYS[@]}"
}

# bats test_tags=needs:root,needs:bpf,needs:sim,needs:mounts
@test "unarmed: the same where the libraries are in a mount namespace of their own" {
	short_processes mounts "${SHORT_WAYS[@]}"
}

# While gpuprof attaches: what is not counted in full is named. As many processes as short_processes has
# others; not one is held back.
short_from_first() { each_short short_from_first_of "$@"; } # PLACE WAY...

short_from_first_of() { # PLACE WAY TOGETHER [SELECTION]
	local control=app/control selection=${4:--p}
	[ "$1" != chroot ] || control=root/app/control
	short_script "$2" "${GPUPROF_SHORT:-16}" 0 "$3"
	if [ "$selection" = -- ]; then
		start_gpuprof stat -q --table calls --format json -o r.json -- sh -c 'cd app; exec sh script'
	else
		start_short "$1"
		[ "$selection" = -a ] || selection+=$TARGET
		start_gpuprof stat "$selection" --table calls --format json -o r.json
		wait_begun
	fi
	: >"$control/begin"
	: >"$control/go"
	[ "$selection" != -a ] || { wait "$TARGET" && kill -INT "$PROFILER"; }
	wait_gpuprof 0
	run -0 short_outcome "$control"
	[ -z "${GPUPROF_SHORT:-}" ] || echo "# $1, $2, $3 together, $selection: $output" >&3
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "unarmed: while gpuprof attaches, each process is counted in full or named" {
	local selection
	build_short
	for selection in -p -a --; do short_from_first_of host runpath 4 $selection; done
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "unarmed: from the first process on each is counted in full or named, whatever finds the library" {
	short_from_first host runpath rpath path dlopen
}

# bats test_tags=needs:root,needs:bpf,needs:sim,needs:mounts
@test "unarmed: each is, from the first on, in a root of their own" {
	short_from_first chroot "${SHORT_WAYS[@]}"
}

# bats test_tags=needs:root,needs:bpf,needs:sim,needs:mounts
@test "unarmed: each is, from the first on, in a mount namespace of their own" {
	short_from_first mounts "${SHORT_WAYS[@]}"
}
