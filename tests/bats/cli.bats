#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2154 # scripts for sh; run sets stderr
# The command line: what is wrong is said in one line, with the exit code of the contract.

load ../lib/common

@test "cli: version and help go to stdout and succeed" {
	run -0 --separate-stderr "$GPUPROF" version
	assert_output --partial gpuprof
	assert_equal "$stderr" ""
	for verb in '' stat record report doctor; do
		run -0 --separate-stderr "$GPUPROF" help $verb
		assert_equal "$stderr" ""
	done
}

@test "cli: help lists every verb, and no line of any help is wider than 100" {
	run "$GPUPROF" help
	for verb in stat record report doctor version; do
		assert_output --partial "$verb"
		"$GPUPROF" help $verb >>all
	done
	run awk 'length($0) > 100' all
	assert_output ""
}

@test "cli: an unknown option is answered with the nearest one, exit 2" {
	run -2 "$GPUPROF" stat --formt json
	one_line --formt --format
}

@test "cli: an unknown verb is answered with the nearest one, exit 2" {
	run -2 "$GPUPROF" reprot x.gpr
	one_line reprot report
}

@test "cli: malformed option values are refused before anything is measured, exit 2" {
	local words
	for words in "-p 12x" "-p 0" "-p" "-d soon" "-d -1s" "-d 0" "-d 100000d" "--format yaml" "--by color" \
		"--ring-size 3" "--max-loss 200%" "-p 1 -a" "--table nothing"; do
		# shellcheck disable=SC2086
		run "$GPUPROF" stat $words
		assert_equal "$words: $status" "$words: 2"
		one_line
	done
}

# bats test_tags=needs:root,needs:bpf
@test "cli: a pid that does not exist is named, exit 1" {
	run -1 "$GPUPROF" stat -d 1s -p 4194303
	one_line 4194303
}

@test "cli: a file that does not exist, and one that is no capture: exit 1" {
	run -1 "$GPUPROF" report nowhere.gpr
	one_line nowhere.gpr
	echo "not a capture" >text.gpr
	run -1 "$GPUPROF" report text.gpr
	one_line text.gpr
}

@test "cli: a directory or nothing at all instead of a capture: exit 1 or 2, one line" {
	run -1 "$GPUPROF" report .
	one_line
	run -2 "$GPUPROF" report
	one_line FILE
}

# bats file_tags=needs:root,needs:bpf
@test "cli: without a capability the missing one is named, exit 3" {
	run -3 setpriv --reuid=65534 --regid=65534 --clear-groups "$GPUPROF" stat -d 1s -a
	one_line CAP_
	run -3 capsh --drop=cap_bpf,cap_sys_admin -- -c "'$GPUPROF' stat -d 1s -a"
	one_line CAP_BPF
	run -3 capsh --drop=cap_perfmon,cap_sys_admin -- -c "'$GPUPROF' stat -d 1s -a"
	one_line CAP_PERFMON
}

@test "cli: an output that cannot be written is named before the command is run" {
	run -1 "$GPUPROF" record -o /nonexistent/c.gpr -- touch ran
	one_line /nonexistent/c.gpr
	assert_file_not_exists ran
}

@test "cli: csv of several tables is a file of each in a directory, the same as of that table alone" {
	local capture=$ROOT/tests/captures/data/pretrain-faulty.gpr table tables
	read -ra tables < <("$GPUPROF" report "$capture" --format json |
		python3 -c 'import json, sys; print(*json.load(sys.stdin)["tables"])')
	for _ in new again; do
		run -0 --separate-stderr "$GPUPROF" report "$capture" --format csv -o new/
		assert_output ""
		assert_regex "$stderr" "^gpuprof: wrote into new/: findings.csv, ledger.csv, [a-z., ]+$"
		assert_equal "$(ls -A new)" "$(printf '%s.csv\n' "${tables[@]}" | sort)"
		for table in "${tables[@]}"; do
			"$GPUPROF" report "$capture" --format csv --table "$table" | cmp - "new/$table.csv"
		done
	done
	run -0 "$GPUPROF" report "$capture" --format csv --table calls,copies -o new
	assert_output "gpuprof: wrote into new: calls.csv, copies.csv"
	for table in "" "-o r.csv"; do
		# shellcheck disable=SC2086 # none or two words
		run -2 "$GPUPROF" report "$capture" --format csv --table calls,copies $table
		one_line "csv is one table; give one, or a directory for a file of each: -o DIR/"
	done
	assert_file_not_exists r.csv
}

# Another user could prepare each in /tmp.
@test "cli: no link and no file or directory of another user leads csv elsewhere; a command is not run" {
	local capture=$ROOT/tests/captures/data/pretrain-faulty.gpr what
	mkdir some theirs elsewhere
	ln -s elsewhere linked
	ln -s nowhere dangling
	ln -s "$PWD/elsewhere/file" some/copies.csv
	for what in linked linked/ linked// dangling/; do
		run -1 "$GPUPROF" stat --format csv --table calls,copies -o $what -- touch ran
		assert_output "gpuprof: cannot write files into $what: it is a symbolic link; give the directory itself"
	done
	run -1 "$GPUPROF" stat --format csv --table calls,copies -o some -- touch ran
	assert_output "gpuprof: cannot write some/copies.csv: it is a symbolic link; give the name of a file"
	run -1 "$GPUPROF" stat --format csv -o no/such/ -- touch ran
	assert_output "gpuprof: cannot write files into no/such/: No such file or directory"
	run -1 "$GPUPROF" stat --format json -o some -- touch ran
	assert_output "gpuprof: cannot write some: Is a directory"
	run -1 "$GPUPROF" stat --format json -o new/ -- touch ran
	assert_output "gpuprof: cannot write new/: Is a directory"
	cp "$capture" some/calls.csv
	run -1 "$GPUPROF" stat --format csv --table calls -o some -- touch ran
	assert_output "gpuprof: some/calls.csv is a capture and would be overwritten; choose another name"
	if [ "$(id -u)" -eq 0 ]; then
		rm some/*
		touch some/copies.csv
		chown 65534 theirs some/copies.csv
		run -1 "$GPUPROF" stat --format csv -o theirs -- touch ran
		assert_output "gpuprof: cannot write files into theirs: it belongs to another user; choose another directory"
		run -1 "$GPUPROF" stat --format csv -o some -- touch ran
		assert_output "gpuprof: cannot write some/copies.csv: it belongs to another user; choose another name"
	fi
	assert_file_not_exists ran
	assert_equal "$(ls -A elsewhere theirs)" "$(printf 'elsewhere:\n\ntheirs:')"
}

# The directory becomes a link between the look at it and the writing.
@test "cli: csv that cannot be written into its directory goes to standard output" {
	mkdir elsewhere
	run -1 --separate-stderr "$GPUPROF" stat -q --format csv --table calls,copies -o late/ -- ln -s elsewhere late
	assert_regex "$stderr" "cannot write late/calls.csv: it is a symbolic link; .* the report is on standard output instead"
	assert_line --regexp "^pid,comm,function,"
	assert_line --regexp "^pid,device,mig,direction,"
	assert_equal "$(ls -A elsewhere)" ""
}

@test "cli: a file that is no capture is not overwritten" {
	echo precious >precious
	run "$GPUPROF" record -o precious -- true
	assert_failure
	run cat precious
	assert_output precious
}

@test "cli: -- CMD passes on the command's exit status and names a command that cannot be run" {
	run -42 "$GPUPROF" stat -- sh -c 'exit 42'
	run -143 "$GPUPROF" stat -- sh -c 'kill -TERM $$'
	run "$GPUPROF" stat -- ./no-such-program
	assert_failure
	assert_output --partial no-such-program
}

# bats test_tags=needs:targets
@test "cli: data goes to stdout, messages to stderr" {
	run -0 --separate-stderr "$GPUPROF" stat --format json -- "$TARGETS/cudart-dyn" --launches 10
	laws_of_output
}

@test "cli: -- CMD under sudo runs as the invoking user, with its environment" {
	run env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody GIVEN=kept \
		"$GPUPROF" stat -q -- sh -c 'echo "who $(id -u):$(id -g) $GIVEN"'
	assert_output --partial "who 65534:65534 kept"
}

# As sudo does: it is called with one environment, and runs gpuprof with another.
@test "cli: -- CMD under sudo has the PATH, HOME and virtual environment that sudo was called with" {
	mkdir venv
	chmod 755 . venv
	printf '#!/bin/sh\necho "mine $HOME $VIRTUAL_ENV ${PYTHONPATH-none} $KEPT"\n' >venv/mine
	chmod 755 venv/mine
	cp "$(command -v bash)" sudo
	cat >call <<-EOF_CALL
		env -i SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody PATH=/usr/bin:/bin HOME=/root PYTHONPATH=/root KEPT=yes \
			'$GPUPROF' stat -o /dev/null -- mine
		exit \$?
	EOF_CALL
	cp -r venv /tmp/gpuprof-venv-$$ # which every user can reach
	run -0 --separate-stderr env -u PYTHONPATH HOME=/home/alice VIRTUAL_ENV=/v PATH="/tmp/gpuprof-venv-$$:$PATH" ./sudo call
	rm -r /tmp/gpuprof-venv-$$
	assert_line "mine /home/alice /v none yes"
	[[ $stderr == *"mine runs as nobody, with the PATH, HOME and the like that sudo was called with"* ]]
}

# bats test_tags=needs:targets
@test "cli: without a verb it prints a report every interval, -n times" {
	start_target t cudart-dyn --launches 1000000 --pause-us 200
	go t
	run -0 --separate-stderr "$GPUPROF" -p "$TARGET" -i 300ms -n 3 --table calls --format csv
	run grep -c ',cudaLaunchKernel,' <<<"$output"
	assert_output 3
}

has_run() { [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -ge 5 ]; } # PID: for 50 ms; it is amid its calls

# bats test_tags=needs:targets
@test "cli: Ctrl-C ends stat with its report" {
	start_target t cudart-dyn --launches 1000000 --pause-us 200
	start_gpuprof stat -p "$TARGET"
	wait_armed "$TARGET"
	go t
	wait_for 10 has_run "$TARGET"
	interrupt_gpuprof
	run cat gpuprof.out
	assert_output --partial cudaLaunchKernel
}

@test "cli: doctor reports that this host is supported" {
	run -0 "$GPUPROF" doctor
	assert_output --partial session
}

# bats test_tags=needs:targets
@test "cli: doctor -p gives the reason why a process has no rows" {
	start_target t cudart-static-stripped --launches 1
	run "$GPUPROF" doctor -p "$TARGET"
	[ "$status" -le 5 ]
	assert_output --partial "$TARGET"
}

# bats test_tags=needs:mounts
@test "cli: a kernel without BTF is named, exit 4, and no file is left behind" {
	cat >without <<-'SCRIPT'
		mount -t tmpfs none /sys/kernel/btf && exec "$@"
	SCRIPT
	run -4 unshare -m sh without "$GPUPROF" stat -- touch never
	assert [ ! -e never ]
	run -4 unshare -m sh without "$GPUPROF" record -o never.gpr -a -d 1
	one_line BTF CONFIG_DEBUG_INFO_BTF "--attach none"
	run test -e never.gpr
	assert_failure
}

# bats test_tags=needs:sim
@test "cli: with a low limit of open files the error advises to raise it" {
	run -1 bash -c 'ulimit -n 16; exec "$0" record -o r.gpr -- "$1" --rounds 30' "$GPUPROF" "$SIM/mix"
	one_line "ulimit -n"
}

@test "cli: a session that cannot start replaces no older capture" {
	"$GPUPROF" record -o old.gpr -- true
	cp old.gpr kept.gpr
	run "$GPUPROF" record -o old.gpr -- ./no-such-program
	assert_failure
	one_line no-such-program
	cmp old.gpr kept.gpr
}

@test "cli: another user's process without CAP_SYS_PTRACE is one line and exit 3" {
	setpriv --reuid 65534 --clear-groups sleep 60 3>&- &
	STARTED+=($!)
	run -3 capsh --drop=cap_sys_admin,cap_sys_ptrace,cap_checkpoint_restore -- -c \
		"exec '$GPUPROF' stat -d 1 -p $!"
	one_line "$!" CAP_SYS_PTRACE
}

# bats file_tags=
@test "cli: the help of verbs that print tables lists each table" {
	run -2 "$GPUPROF" report "$BATS_TEST_DIRNAME/none.gpr" --table qqqqqqqqqqqqq
	assert_output --partial "there are findings, "
	read -ra tables < <(sed 's/.*there are //; s/,//g' <<<"$output")
	for verb in stat report; do
		"$GPUPROF" help $verb | sed -n '/^Tables: /,/\.$/p' | tr -d '\n' >listed
		for table in "${tables[@]}"; do
			grep -qw "$table" listed || fail "help $verb does not name $table"
		done
	done
}
