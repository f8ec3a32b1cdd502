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
	start_gpuprof record -p "$PARENT" -o c.gpr
	wait_begun
}

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
	kill -STOP "$PROFILER" # it sees nothing of the child before its launches are made
	: >begin
	wait_for 20 grep -q hanging child.out
	kill -CONT "$PROFILER"
	child=$(pgrep -P "$PARENT" simcalls)
	STARTED+=("$child")
	wait_probed "$child" cudart
	kill "$child"
	none_is_counted
	run -0 "$GPUPROF" report c.gpr
	assert_note -f c.gpr unarmed " in pid $child "
	assert_line --regexp "^unarmed: [0-9.]+ m?s in pid $child \(simcalls\), before a library was probed that it had loaded: calls then are not counted"
}

@test "unarmed: a child that exited before its libraries were read is reported so, not as one without any" {
	start_parent cudaLaunchKernel=500
	kill -STOP "$PROFILER"
	: >begin
	wait_for 20 test -s child.json
	wait_for 20 eval '! pgrep -P "$PARENT" simcalls && [ ! -e "/proc/$PARENT" -o "$(cut -d" " -f3 "/proc/$PARENT/stat")" = Z ]'
	kill -CONT "$PROFILER"
	none_is_counted
	assert_note -f c.gpr no-calls "what mapped a CUDA or NCCL library had ended before"
	refute_note -f c.gpr no-calls "library was mapped"
}

# bats file_tags=needs:root,needs:bpf
@test "unarmed: a process that mapped only cublas, which is not probed, has missed nothing" {
	echo 'int cublasCreate_v2(void) { return 0; }' >blas.c
	cc -shared -fPIC -Wl,-soname,libcublas.so.13 -o libcublas.so.13 blas.c
	echo 'int cublasCreate_v2(void); int main(void) { return cublasCreate_v2(); }' >main.c
	cc -o solver main.c ./libcublas.so.13
	start_parent_of "LD_LIBRARY_PATH=$PWD $PWD/solver; : >ended"
	kill -STOP "$PROFILER"
	: >begin
	wait_for 20 test -e ended
	kill -CONT "$PROFILER"
	wait_gpuprof 0
	run counted
	assert_line "0 of the launches, unarmed: False, complete: True, lost: 0"
	run "$GPUPROF" report c.gpr
	assert_output --partial "no CUDA or NCCL library was mapped (what cublas and cudnn do alone needs --tier 1)"
}
