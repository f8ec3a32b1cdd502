#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2209 # env is the program itself
# `-- CMD` belongs to the user: gpuprof's own end, however it comes, is not the command's, and a
# report does not wait for the command.

# bats file_tags=needs:root,needs:bpf

load ../lib/common

# A command that ignores requests to end; writes `ended` when it is done by itself.
stubborn() {
	cat >stubborn <<-'SCRIPT'
		trap '' INT TERM HUP
		echo $$ >pid
		while [ ! -e enough ]; do sleep 0.05; done
		echo >ended
	SCRIPT
}

@test "command: with -d the report comes after DUR, not after the command" {
	stubborn
	start_gpuprof stat --full -d 300ms -- sh stubborn
	wait_for 5 grep -q '^lost:' gpuprof.out
	assert_file_not_exists ended
	: >enough
	wait_gpuprof 0
	assert_file_exists ended
}

@test "command: a second signal ends gpuprof with its report, and leaves the command running" {
	local sig real=$GPUPROF
	for sig in INT TERM HUP; do
		rm -f enough ended pid
		stubborn
		GPUPROF=env start_gpuprof --default-signal=HUP "$real" stat --full -- sh stubborn
		wait_for 5 test -s pid
		kill -s "$sig" "$PROFILER"
		wait_for 5 grep -q '^ShdPnd:.0*$' "/proc/$PROFILER/status" # taken: a second one is another
		sleep 0.3
		kill -0 "$PROFILER"
		kill -s "$sig" "$PROFILER"
		wait_gpuprof
		assert_equal "$status" $((128 + $(kill -l "$sig")))
		assert_output --partial "to process $(cat pid), waiting for it to end"
		assert_output --partial "leaving process $(cat pid) running"
		run cat gpuprof.out
		assert_output --partial 'lost: none'
		kill -0 "$(cat pid)"
		: >enough
		wait_for 5 test -e ended
	done
}

@test "command: one INT that no terminal sent reaches the command" {
	local real=$GPUPROF
	GPUPROF=env start_gpuprof --default-signal=INT "$real" stat -- sleep 20 # not ignored, as by &
	wait_for 5 pgrep -P "$PROFILER" -x sleep
	kill -INT "$PROFILER"
	wait_gpuprof 130
}

# bats test_tags=needs:mounts,needs:targets
@test "command: a full disk ends the capture, not the command" {
	cat >full <<-'SCRIPT'
		mkdir disk && mount -t tmpfs -o size=16k none disk && "$1" record -o disk/c.gpr -- \
			sh -c '"$0" --launches 200000; echo >survived' "$2"
		echo $? >status
		cp disk/c.gpr .
	SCRIPT
	run beforehand unshare -m sh full "$GPUPROF" "$TARGETS/cudart-dyn"
	assert_output --partial "No space left"
	assert_file_exists survived
	assert_equal "$(cat status)" 1
	run -5 "$GPUPROF" report c.gpr
}

@test "command: a command that cannot be run is a one-line error with a shell's exit status" {
	echo text >text
	mkdir directory
	echo older >c.gpr
	local verb
	for verb in stat "record -o c.gpr" "--interval 1s" "stat --attach none"; do
		# shellcheck disable=SC2086 # words
		run "$GPUPROF" $verb -- ./text
		assert_equal "$verb: $status" "$verb: 126"
		one_line "cannot run ./text: Permission denied"
		# shellcheck disable=SC2086 # words
		run -127 "$GPUPROF" $verb -- ./missing
		one_line "cannot run ./missing: No such file or directory"
	done
	run -126 "$GPUPROF" stat -- ./directory
	run -127 "$GPUPROF" stat -- no-such-command
	one_line "cannot run no-such-command: No such file or directory in PATH"
	assert_equal "$(cat c.gpr)" older
}


# bats file_tags=needs:root,needs:bpf,needs:targets
# bats test_tags=needs:pty
@test "command: a terminal's QUIT and its end reach the command once, and the capture is whole" {
	cat >script <<-'SCRIPT'
		trap 'echo quit >>script.out' QUIT
		trap 'echo hup >>script.out' HUP
		(trap '' QUIT HUP; exec "$1" --truth truth.json --launches 300 --end-file end) &
		while [ ! -s truth.json ] && kill -0 $!; do sleep 0.05; done
		: >began
		until [ -s script.out ]; do sleep 0.05; done
		sleep 0.3
		: >end
		wait
		exit 7
	SCRIPT
	local key
	for key in quit hangup; do
		rm -f script.out began truth.json end c.gpr
		run beforehand "$TEST_LIB/in_terminal.py" $key began \
			"$GPUPROF" record -o c.gpr -- sh script "$TARGETS/cudart-dyn"
		assert_equal "$key: $status" "$key: 7"
		assert_equal "$(cat script.out)" "$([ $key = quit ] && echo quit || echo hup)"
		"$GPUPROF" report c.gpr --format json --output r.json
		assert_value r.json 'sum(c["count"] for c in t["calls"])' 300
	done
}

@test "command: under nohup gpuprof keeps measuring when the terminal hangs up" {
	local real=$GPUPROF
	start_target t cudart-dyn --launches 200
	GPUPROF=env start_gpuprof --ignore-signal=HUP "$real" record -o c.gpr -p "$TARGET"
	wait_armed "$TARGET"
	kill -s HUP "$PROFILER"
	go t
	wait_for 10 test -s t.json
	finish t
	wait_gpuprof 0
	"$GPUPROF" report c.gpr --format json --output r.json
	assert_value r.json 'sum(c["count"] for c in t["calls"])' 200
}

@test "command: QUIT and HUP end a session of -p as INT does, with its capture whole" {
	local sig real=$GPUPROF
	for sig in QUIT HUP; do
		start_target "$sig" cudart-dyn --launches 200
		GPUPROF=env start_gpuprof --default-signal=QUIT,HUP "$real" record -o $sig.gpr -p "$TARGET"
		wait_armed "$TARGET"
		go "$sig"
		wait_for 10 test -s "$sig.json"
		kill -s $sig "$PROFILER"
		wait_gpuprof 0
		finish "$sig"
		"$GPUPROF" report $sig.gpr --format json --output r.json
		assert_value r.json 'sum(c["count"] for c in t["calls"])' 200
	done
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "command: a file size limit ends neither the command nor gpuprof; too small a limit is reported" {
	run -0 bash -c 'ulimit -f 4096; exec "$0" stat --format json -o r.json -- "$1" --rounds 30' "$GPUPROF" "$SIM/mix"
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 0' True
	run -0 bash -c 'ulimit -f 64; exec "$0" stat --full -- "$1" --rounds 30' "$GPUPROF" "$SIM/mix"
	assert_line --partial "mix runs without the helper, so device times are not known: it may have no file of more than 64 KiB"
	assert_line --regexp "launch +[0-9]+"
}
