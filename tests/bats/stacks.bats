#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # run sets stderr, stderr_lines
# What hangs already is shown without a probe: each thread's call, stack and what it waits for.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# A thread that hangs in cudaStreamSynchronize; HUNG is its pid.
start_hung() {
	"$SIM/simcalls" --hang-sync cudaLaunchKernel=20 >hang.out 2>&1 3>&- &
	HUNG=$!
	STARTED+=("$HUNG")
	wait_for 10 grep -q hanging hang.out
	wait_for 10 grep -q nanosleep "/proc/$HUNG/wchan"
}

# A program that waits; OTHER is its pid.
start_other() { # COMMAND...
	"$@" 3>&- &
	OTHER=$!
	STARTED+=("$OTHER")
}

# The functions of the first thread from the outermost to the innermost, joined by spaces.
chain() { # REPORT
	report_value "$1" '" ".join(f["function"] or "?" for f in reversed(t["stacks"][0]["frames"]))'
}

@test "stacks: a sync that hung before gpuprof started is named, down to the wait in the kernel" {
	start_hung
	run -0 --separate-stderr "$GPUPROF" stacks -p "$HUNG" --format json
	assert_equal "$stderr" ""
	printf '%s\n' "$output" >r.json
	run report_value r.json '[(s["call"], s["class"], s["library"], s["syscall"], s["stack"], s["state"])
		for s in t["stacks"]]'
	assert_output "[('cudaStreamSynchronize', 'sync', 'cudart', 'clock_nanosleep', 'whole', 'S')]"
	run chain r.json
	assert_output --regexp 'main .*simcalls_hang cudaStreamSynchronize .*clock_nanosleep$'
	assert_value r.json 'r["schema_version"], r["meta"]["sources"], r["meta"]["complete"], all(f["build_id"] for f in t["stacks"][0]["frames"]
		if f["module"] == "libc.so.6")' "(1, 'bpf,procfs', True, True)"
}

@test "stacks: text names call, wait and frames; csv and md have one row a thread" {
	start_hung
	run -0 "$GPUPROF" stacks --full -p "$HUNG"
	assert_line --index 0 --partial 'in cudaStreamSynchronize (sync), state S'
	assert_line --index 1 --partial 'in clock_nanosleep, wchan '
	assert_line --regexp '^ +[0-9]+  cudaStreamSynchronize\+0x[0-9a-f]+ +libcudart'
	run -0 "$GPUPROF" stacks -p "$HUNG" --format csv -o r.csv
	assert_output ""
	run python3 -c 'import csv; rows = list(csv.DictReader(open("r.csv")))
print(len(rows), rows[0]["call"], ";cudaStreamSynchronize;" in rows[0]["frames"])'
	assert_output "1 cudaStreamSynchronize True"
	run -0 "$GPUPROF" stacks -p "$HUNG" --format md
}

# Two processes that are alike are one entry; a stopped one is said first, with what lets it go on.
@test "stacks: text has each stack once, states in words, and who is stopped" {
	start_hung
	local first=$HUNG
	start_hung
	run -0 "$GPUPROF" stacks -p "$first,$HUNG"
	assert_line --index 0 "pids $first, $HUNG, thread \"simcalls\""
	assert_line --index 1 '    asleep in clock_nanosleep, inside of cudaStreamSynchronize'
	assert_line --index 2 --regexp '^    main > .*simcalls_hang > cudaStreamSynchronize > [0-9]+ frames of libcuda\.so\.1, '
	assert_line --index 3 -- '--full: every frame'
	assert_equal "${#lines[@]}" 4
	kill -STOP "$HUNG"
	wait_for 5 grep -q '^State:.T' "/proc/$HUNG/status"
	run -0 "$GPUPROF" stacks -p "$first,$HUNG"
	assert_line --index 0 "pid $HUNG is STOPPED by a signal or a debugger." # without ranks the other may wait for anything
	assert_line --index 1 "Go on with: kill -CONT $HUNG"
	assert_line --regexp '^    STOPPED by a signal'
	kill -CONT "$HUNG"
}

@test "stacks: in colour it is the same text, short and --full: headings bold, who is stopped too; md has none" {
	local options plain
	start_hung
	kill -STOP "$HUNG"
	wait_for 5 grep -q '^State:.T' "/proc/$HUNG/status"
	for options in "" --full; do
		# shellcheck disable=SC2086 # none or one
		plain=$("$GPUPROF" stacks $options -p "$HUNG")
		[[ $plain != *$'\e'* ]] || fail "a pipe has colours: $plain"
		# shellcheck disable=SC2086
		run -0 "$GPUPROF" stacks $options --color always -p "$HUNG"
		assert_equal "$(printf '%s\n' "$output" | sed 's/\x1b\[[0-9;]*m//g')" "$plain"
		case $options in
		--full) assert_line --regexp $'^\e\\[1mthread [0-9]+ \\(simcalls\\) of process .*\e\\[0m$' ;;
		*)
			assert_line --index 0 $'\e[1mpid '"$HUNG"$' is STOPPED by a signal or a debugger.\e[0m'
			assert_line $'\e[1mpid '"$HUNG, thread \"simcalls\""$'\e[0m'
			;;
		esac
		# shellcheck disable=SC2086
		run -0 env -u NO_COLOR TERM=xterm script -qec "'$GPUPROF' stacks $options -p $HUNG" /dev/null
		assert_output --partial $'\e[1m'
		# shellcheck disable=SC2086
		run -0 env NO_COLOR=1 TERM=xterm script -qec "'$GPUPROF' stacks $options -p $HUNG" /dev/null
		[[ $output != *$'\e'* ]] || fail "NO_COLOR: $output"
	done
	run -0 "$GPUPROF" stacks --format md --color always -p "$HUNG"
	[[ $output != *$'\e'* ]] || fail "md has colours"
	kill -CONT "$HUNG"
}

@test "stacks: several hung processes are shown within two seconds, neither stopped nor changed" {
	local pids=() before after
	for _ in 1 2 3 4; do
		start_hung
		pids+=("$HUNG")
	done
	before=$(awk '{ print $1 }' "/proc/$HUNG/statm")
	SECONDS=0
	run --separate-stderr "$GPUPROF" stacks -p "$(IFS=,; echo "${pids[*]}")" --format json
	[ $SECONDS -le 2 ]
	assert_success
	printf '%s\n' "$output" >r.json
	assert_value r.json '[s["call"] for s in t["stacks"]].count("cudaStreamSynchronize")' 4
	after=$(awk '{ print $1 }' "/proc/$HUNG/statm")
	assert_equal "$after" "$before"
	run grep -E '^State:|^TracerPid:' "/proc/$HUNG/status"
	assert_output --regexp $'S \\(sleeping\\)\nTracerPid:\t0$'
}

# bats file_tags=
# bats test_tags=needs:root,needs:bpf
@test "stacks: a stripped static program's frames are found without its symbols" {
	printf '%s\n' '#include <unistd.h>' 'int main(void) { return pause(); }' >s.c
	gcc -O2 -static -s -o still s.c || skip "no static libc"
	start_other ./still
	wait_for 10 grep -q pause "/proc/$OTHER/wchan"
	run -0 "$GPUPROF" stacks -p "$OTHER" --format json
	printf '%s\n' "$output" >r.json
	assert_value r.json '[(s["stack"], s["syscall"], {f["function"] for f in s["frames"]},
		len(s["frames"]) >= 4) for s in t["stacks"]]' "[('whole', 'pause', {None}, True)]"
}

# bats test_tags=needs:root,needs:sim
@test "stacks: without the right to use BPF the rows come from /proc" {
	start_hung
	run -0 --separate-stderr setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all \
		"$GPUPROF" stacks -p "$HUNG" --format json
	assert_equal "${#stderr_lines[@]}" 1
	printf '%s\n' "$output" >r.json
	run report_value r.json 'r["meta"]["sources"], t["stacks"][0]["call"]'
	assert_output "('procfs', 'cudaStreamSynchronize')"
}

# bats test_tags=needs:root
@test "stacks: another user's process is refused with the capability's name, exit 3" {
	start_other sleep 100
	run -3 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups \
		--bounding-set=-all "$GPUPROF" stacks -q -p "$OTHER"
	assert_equal "${#stderr_lines[@]}" 1
	assert_regex "$stderr" CAP_SYS_PTRACE
}

@test "stacks: a thread of the kernel has a state and a wait channel, and no call or stack" {
	[ "$(cat /proc/2/comm)" = kthreadd ] || skip "no kernel threads are seen here"
	"$GPUPROF" stacks -q --isolate -p 2 --format json >r.json || [ $? -eq 3 ]
	run report_value r.json '[(s["comm"], s["syscall"], s["call"], s["stack"]) for s in t["stacks"]]'
	assert_output "[('kthreadd', None, None, 'none')]"
}

@test "stacks: no process, a dead one and no pid at all" {
	run -2 "$GPUPROF" stacks
	assert_output --partial "-p PID"
	run -1 "$GPUPROF" stacks -q -p 4194303
	assert_equal "${#lines[@]}" 1
	run -2 "$GPUPROF" stacks -a
}

# bats test_tags=needs:root
@test "stacks: a running thread whose callers are unknown is marked so" {
	echo 'int main(void) { for (;;) ; }' >spin.c
	cc -O1 -static -s -fomit-frame-pointer -fno-unwind-tables -fno-asynchronous-unwind-tables \
		-o spin spin.c
	./spin 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q spin "/proc/$!/comm"
	sleep 0.1
	run -0 "$GPUPROF" stacks --full -p $!
	assert_output --partial "it was running"
	assert_output --partial "what called this cannot be told"
}
