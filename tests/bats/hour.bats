#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # run sets stderr
# A new user's first hour: what they type first does what is meant, or says what to type. More of it is tested with
# each verb: the screen (screen.bats), hangs (stacks.bats), Next (next.bats), words (words.bats), sudo (command.bats).

load ../lib/common

PRETRAIN=$ROOT/tests/captures/data/pretrain-faulty.gpr

# One line on standard error.
says() { # STATUS TEXT ARGUMENT...
	local status=$1 text=$2
	shift 2
	run -"$status" --separate-stderr "$GPUPROF" "$@"
	assert_equal "$output" ""
	assert_equal "$stderr" "gpuprof: $text"
}

@test "hour: a capture or a program in place of a verb: the command to type" {
	cp "$PRETRAIN" run.gpr
	printf '#!/bin/sh\n' >train
	chmod +x train
	says 2 "'run.gpr' is a capture; type: gpuprof report run.gpr" run.gpr
	says 2 "'./train' is a program; type: gpuprof stat -- ./train" ./train
}

@test "hour: commands to type name a capture so that a shell and gpuprof take it" {
	cp "$PRETRAIN" ./-dash.gpr
	cp "$PRETRAIN" "my run.gpr"
	says 2 "'-dash.gpr' is a capture; type: gpuprof report ./-dash.gpr" report -dash.gpr
	says 2 "'-dash.gpr' is a capture; type: gpuprof report ./-dash.gpr" -dash.gpr
	says 2 "'my run.gpr' is a capture; type: gpuprof report 'my run.gpr'" "my run.gpr"
	run -0 "$GPUPROF" report ./-dash.gpr
	assert_line "next   gpuprof report ./-dash.gpr --wide --table offcpu"
	run -0 "$GPUPROF" report "my run.gpr"
	assert_line "next   gpuprof report 'my run.gpr' --wide --table offcpu"
	run -0 bash -c '"$GPUPROF" report /dev/stdin <./-dash.gpr' # which is no file for the next command
	assert_line --regexp '^next   gpuprof stat --stacks .* -- sim/pretrain --faults all$'
	run -0 "$GPUPROF" report -q "$ROOT/tests/captures/data/calls-everyone.gpr" # ended, and not started by gpuprof
	refute_line --regexp '^next '
	assert_line --regexp '^more '
}

@test "hour: report without a file is of the newest capture here" {
	says 2 "'report' needs a capture, and no .gpr file is here; give one: gpuprof report FILE" report
	cp "$PRETRAIN" old.gpr
	cp "$ROOT/tests/captures/data/ddp.gpr" new.gpr
	touch -d yesterday old.gpr
	mkdir -p dir.gpr
	ln -s old.gpr link.gpr
	run -0 --separate-stderr "$GPUPROF" report
	assert_equal "$stderr" "gpuprof: new.gpr is the newest capture here"
	assert_equal "$output" "$("$GPUPROF" report new.gpr)"
}

# bats test_tags=needs:root,needs:bpf
@test "hour: what the program prints is not in json, csv or md on standard output" {
	local format
	printf '#!/bin/sh\necho its own output\n' >noisy
	chmod +x noisy
	for format in json csv md; do
		run -0 --separate-stderr "$GPUPROF" stat --format $format -- ./noisy
		refute_output --partial "its own output"
		assert_equal "$stderr" "gpuprof: what ./noisy prints goes to standard error: standard output is for the report
its own output"
		run -0 --separate-stderr "$GPUPROF" stat --format $format -o r -- ./noisy
		assert_output "its own output"
	done
	run -0 --separate-stderr "$GPUPROF" stat -- ./noisy
	assert_line --index 0 "its own output"
}

# bats test_tags=needs:root,needs:bpf
@test "hour: pids as shells give them" {
	sleep 100 3>&- &
	STARTED+=($!)
	sleep 100 3>&- &
	STARTED+=($!)
	for list in "${STARTED[0]},${STARTED[1]}" "${STARTED[0]} ${STARTED[1]}" "$(printf '%s\n' "${STARTED[@]}")"; do
		run -0 --separate-stderr "$GPUPROF" stat -d 50ms -p "$list"
		assert_output --partial "no calls seen in pid ${STARTED[0]},${STARTED[1]}"
	done
	says 2 "unexpected argument '2'; separate process ids by commas, as in -p \"\$(pgrep -d, -x NAME)\"" stat -p 1 2
	says 2 "option '--pid': 'abc' is not accepted; give process ids such as 1234 or 1234,1240" -p abc
}

@test "hour: every kind of word is explained, a plural or a slip is answered with the nearest" {
	local word
	for word in ledger input-stall unarmed wall_ns verdict; do
		run -0 --separate-stderr "$GPUPROF" help $word
		assert_line --index 0 --regexp "^$word: a "
	done
	for word in words tables; do
		run -0 "$GPUPROF" help $word
		assert_line --index 0 "gpuprof help WORD explains one of these, or a column of a table."
	done
	says 2 "no verb or word 'buckets'; did you mean 'bucket'?" help buckets
	says 2 "no verb or word 'ledgr'; did you mean 'ledger'?" help ledgr
}

@test "hour: of the ranks of a job each kind of finding is one row" {
	run -0 env COLUMNS=100 LINES=40 "$GPUPROF" report -q "$ROOT/tests/captures/data/ddp.gpr"
	[ "$(grep -cE '^ ?[0-9]+ +[0-9.<]+ %' <<<"$output")" -gt 0 ]
	[ -z "$(sed -nE 's/^ ?[0-9]+ +[0-9.<]+ % +[0-9.]+x  ([a-z-]+) .*/\1/p' <<<"$output" | sort | uniq -d)" ]
	assert_line --regexp '^ ?[0-9]+ .* [0-9]+, from [0-9.]+ % '
}

# bats test_tags=needs:root,needs:bpf
@test "hour: a name that no process has: it waits as long as -d says, then exit 1" {
	run -1 --separate-stderr "$GPUPROF" stat --name nosuch -d 200ms
	assert_equal "$stderr" "gpuprof: no process matches name=nosuch yet; waiting for one to start, as long as -d says
gpuprof: no process that matches used CUDA or NCCL meanwhile"
}

# bats test_tags=needs:root,needs:bpf
@test "hour: doctor begins with what can be measured here" {
	run "$GPUPROF" doctor
	assert_line --index 1 --regexp '^(Every process can be measured: gpuprof -p PID, or -- CMD|.*gpuprof stat -- CMD)'
}

# bats test_tags=needs:root,needs:bpf
@test "hour: a capture is not written where a directory is; the error has what to give" {
	mkdir dir
	says 1 "cannot create dir: it is a directory; give the name of a file in it" record -q -o dir -- true
	says 1 "cannot create dir/: it is a directory; give the name of a file in it" record -q -o dir/ -- true
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "hour: Ctrl-C ends stat -p with its report" {
	LD_LIBRARY_PATH=$SIM "$SIM/train" --steps 100000 --quiet >/dev/null 3>&- &
	as_target
	wait_for 10 grep -q libcuda "/proc/$TARGET/maps"
	start_gpuprof stat -p "$TARGET"
	sleep 1
	interrupt_gpuprof
	grep -q "^pid $TARGET (train), " gpuprof.out
}

@test "hour: a table by stack of a capture without stacks says so" {
	run -0 --separate-stderr "$GPUPROF" report "$PRETRAIN" --by stack --table calls
	assert_equal "$stderr" "gpuprof: warning: no stack is known: measure with --stacks"
	run -0 --separate-stderr "$GPUPROF" report "$ROOT/tests/captures/data/stacks.gpr" --by stack --table calls
	assert_equal "$stderr" ""
}
