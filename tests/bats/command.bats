#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2209 # env is the program itself
# `-- CMD` belongs to the user: gpuprof's own end, however it comes, is not the command's, and a
# report does not wait for the command.

load ../lib/common

# A command that ignores whoever asks it to end; writes `ended` when it is done by itself.
stubborn() {
	cat >stubborn <<-'SCRIPT'
		trap '' INT TERM HUP
		echo $$ >pid
		while [ ! -e enough ]; do sleep 0.05; done
		echo >ended
	SCRIPT
}

# bats test_tags=needs:root,needs:bpf
@test "command: with -d the report comes after DUR, not after the command" {
	needs root bpf
	stubborn
	start_gpuprof stat -d 300ms -- sh stubborn
	wait_for 5 grep -q '^lost:' gpuprof.out
	assert_file_not_exists ended
	: >enough
	wait_gpuprof
	assert_success
	assert_file_exists ended
}

# bats test_tags=needs:root,needs:bpf
@test "command: a second signal ends gpuprof with its report, and leaves the command running" {
	needs root bpf
	local sig
	for sig in INT TERM HUP; do
		rm -f enough ended pid
		stubborn
		start_gpuprof stat -- sh stubborn
		wait_for 5 test -s pid
		kill -s "$sig" "$PROFILER"
		sleep 0.3
		kill -0 "$PROFILER"
		kill -s "$sig" "$PROFILER"
		wait_gpuprof
		assert_equal "$status" $((128 + $(kill -l "$sig")))
		assert_output --partial "$(cat pid) is still running"
		run cat gpuprof.out
		assert_output --partial 'lost: none'
		kill -0 "$(cat pid)"
		: >enough
		wait_for 5 test -e ended
	done
}

# bats test_tags=needs:root,needs:bpf
@test "command: one INT that no terminal sent reaches the command" {
	needs root bpf
	local real=$GPUPROF
	GPUPROF=env start_gpuprof --default-signal=INT "$real" stat -- sleep 20 # not ignored, as by &
	wait_for 5 pgrep -P "$PROFILER" -x sleep
	kill -INT "$PROFILER"
	wait_gpuprof
	assert_equal "$status" 130
}

# bats test_tags=needs:root,needs:bpf
@test "command: a full disk ends the capture, not the command" {
	needs root bpf targets mounts
	cat >full <<-'SCRIPT'
		mkdir disk && mount -t tmpfs -o size=16k none disk && "$1" record -o disk/c.gpr -- \
			sh -c '"$0" --launches 200000; echo >survived' "$2"
		echo $? >status
		cp disk/c.gpr .
	SCRIPT
	run unshare -m sh full "$GPUPROF" "$TARGETS/cudart-dyn"
	assert_output --partial "No space left"
	assert_file_exists survived
	assert_equal "$(cat status)" 1
	run "$GPUPROF" report c.gpr
	assert_equal "$status" 5
}

# bats test_tags=needs:root,needs:bpf
@test "command: one that may not be run is the command's fault: exit 1, no capability named" {
	needs root bpf
	echo text >text
	run "$GPUPROF" stat -- ./text
	assert_equal "$status" 1
	assert_output --partial "cannot run ./text: Permission denied"
}
