#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What record keeps: files of limited size, the last stretch of a session, names with what is known.

load ../lib/common

# Launches that a capture holds; it must be complete.
launches() { # FILE
	"$GPUPROF" report "$1" --format json >report.json || return
	laws report.json >&2 || return
	report_value report.json 'sum(x["count"] for x in t["calls"] if x["function"] == "cudaLaunchKernel")'
}

duration_ms() { report_value report.json 'r["meta"]["duration_ns"] // 10**6'; }

# bats test_tags=needs:root,needs:bpf,needs:targets
@test "keep: rotated files hold every call of a run once, each reads alone, none is too large" {
	local file n sum=0
	run -0 "$GPUPROF" record -o run.gpr --max-size 64k -- "$TARGETS/cudart-dyn" --launches 100000 --syncs 10
	assert_output --partial "run.000001.gpr"
	for file in run.*.gpr; do
		n=$(launches "$file") || fail "$file: not complete"
		sum=$((sum + n))
		assert [ "$(stat -c %s "$file")" -le 65536 ]
	done
	assert [ "$(find . -name 'run.*.gpr' | wc -l)" -ge 2 ]
	assert_equal $sum 100000
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "keep: each of the rotated files knows the device, and together they hold every work" {
	may_repeat "a busy machine lets more run beyond a file's watermark"
	local file seen=0 works
	run -0 env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log" timeout 60 "$GPUPROF" \
		record -o run.gpr --max-size 256k -- "$SIM/mix" --rounds 10000 --pause-us 50
	for file in run.*.gpr; do
		"$GPUPROF" report "$file" --format json >report.json
		laws report.json >&2
		run report_value report.json '{x["device_uuid"] is not None for x in t["ledger"]}'
		assert_output "{True}"
		works=$(report_value report.json '[e["matched"] + e["orphan"] for e in t["events"] if e["kind"] == "work"][0]')
		seen=$((seen + works))
	done
	assert_note -f run.000001.gpr goes-on 'run\.000002\.gpr'
	assert [ "$(find . -name 'run.*.gpr' | wc -l)" -ge 3 ]
	works=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["works"]))' ./*.log)
	# What ran beyond the watermark when a file ended is outside of it.
	assert [ $seen -le "$works" ]
	assert [ $((seen * 100)) -ge $((works * 99)) ]
}

# The first file's count of stack copies: hits,received,...
first_copies() {
	"$GPUPROF" record -o copies.gpr --stacks --max-size 64k -- \
		"$TARGETS/cudart-dyn" --launches 100000 --syncs 10 || return
	"$GPUPROF" report copies.000001.gpr --table events --format csv | sed -n 's/^uprobe,stack,//p'
}

# bats file_tags=needs:root,needs:bpf,needs:targets
@test "keep: copies of stacks are counted in the rotated file they belong to" {
	may_repeat "a busy machine loses copies of stacks"
	run --separate-stderr first_copies
	[[ $output == [1-9]*,[1-9]* ]] || fail "copies of the first file: $output"
}

@test "keep: an older capture of the same name is renamed, with a message" {
	local n
	for n in 10 20 30; do
		run -0 "$GPUPROF" record -- "$TARGETS/cudart-dyn" --launches $n
	done
	assert_output --partial "gpuprof: gpuprof.gpr is an older capture and kept as gpuprof.old2.gpr"
	assert_equal "$(launches gpuprof.old.gpr) $(launches gpuprof.old2.gpr) $(launches gpuprof.gpr)" "10 20 30"
	for n in 1 2; do
		run -0 "$GPUPROF" record -o run.gpr --max-size 64k -- "$TARGETS/cudart-dyn" --launches $n
	done
	assert_equal "$(launches run.000001.gpr) $(launches run.000002.gpr)" "1 2"
}

@test "keep: of more files than --max-files the oldest are removed" {
	run -0 "$GPUPROF" record -o run --max-size 64k --max-files 2 -- "$TARGETS/cudart-dyn" --launches 200000
	assert_equal "$(find . -name 'run.*' | wc -l)" 2
	assert_file_not_exist run.000001
	# The last one may begin as the target ends and have no launch; it is complete all the same.
	local files=(run.*)
	assert [ "$(launches "${files[0]}")" -gt 0 ]
	assert [ "$(launches "${files[1]}")" -ge 0 ]
}

@test "keep: a full disk while rotating is a one-line error; complete files stay complete" {
	mkdir small
	mount -t tmpfs -o size=300k none small || skip "cannot mount a tmpfs here"
	run "$GPUPROF" record -o small/c.gpr --max-size 64k -d 20s -- \
		"$TARGETS/cudart-dyn" --threads 4 --launches 300000
	local code=$status said=$output file complete=0
	for file in small/c.*.gpr; do
		status=0
		"$GPUPROF" report "$file" >/dev/null 2>&1 || status=$?
		[ $status -eq 0 ] && complete=$((complete + 1))
		[ $status -eq 0 ] || [ $status -eq 5 ] || break
	done
	umount small
	assert_equal "$code" 1
	[[ $said == *"No space"* ]] || fail "says nothing of a full disk: $said"
	[ $status -eq 0 ] || [ $status -eq 5 ] || fail "$file: status $status"
	assert [ $complete -ge 2 ]
}

@test "keep: --before holds the last stretch, written when the target exits" {
	run -0 "$GPUPROF" record -o last.gpr --before 1s --on exit -- \
		"$TARGETS/cudart-dyn" --launches 200 --pause-us 500 --rounds 20
	assert_output --partial "kept the last 1.000 s"
	local n
	n=$(launches last.gpr)
	assert_equal "$(duration_ms)" 1000
	assert [ "$n" -gt 100 ]
	assert [ "$n" -lt 3000 ]
}

@test "keep: kill -9 of the target still writes the held events" {
	start_target t cudart-dyn --launches 100 --pause-us 200 --rounds 100000
	start_gpuprof record -o last.gpr --before 300ms -p "$TARGET"
	wait_armed "$TARGET"
	go t
	sleep 1
	assert_file_not_exist last.gpr
	kill -KILL "$TARGET"
	wait_gpuprof 0
	assert [ "$(launches last.gpr)" -gt 100 ]
	assert_equal "$(duration_ms)" 300
}

@test "keep: SIGUSR1 writes the held events and the recording continues; no signal, no file" {
	start_target t cudart-dyn --launches 100 --pause-us 200 --rounds 100000
	start_gpuprof record -o held.gpr --before 300ms --on signal -p "$TARGET"
	wait_armed "$TARGET"
	go t
	sleep 0.5
	kill -USR1 "$PROFILER"
	wait_for 5 test -e held.gpr
	sleep 0.5
	kill -USR1 "$PROFILER"
	wait_for 5 test -e held.000002.gpr
	interrupt_gpuprof
	assert_file_not_exist held.000003.gpr
	for file in held.gpr held.000002.gpr; do
		assert [ "$(launches $file)" -gt 100 ]
	done
	run "$GPUPROF" record -o none.gpr --before 1s --on signal -- "$TARGETS/cudart-dyn" --launches 5
	assert_output --partial "nothing was kept"
	assert_file_not_exist none.gpr
}

@test "keep: a file that SIGUSR1 requested and cannot be written: one line, exit 1" {
	mkdir gone
	start_target t cudart-dyn --launches 5
	start_gpuprof record -o gone/held.gpr --before 1s --on signal -p "$TARGET"
	wait_armed "$TARGET"
	rmdir gone
	kill -USR1 "$PROFILER"
	wait_for 5 test -s gpuprof.err
	kill -INT "$PROFILER"
	wait_gpuprof 1
	assert_output "gpuprof: cannot create gone/held.gpr: No such file or directory"
}

@test "keep: -o takes host, pid, rank, job and time" {
	RANK=5 SLURM_JOB_ID=a/b run "$GPUPROF" record -o '%h.%p.r%r.j%j.%t.%%.gpr' -- "$TARGETS/cudart-dyn"
	assert_success
	local name
	name=$(echo ./*.gpr)
	[[ $name =~ ^\./$(uname -n)\.[0-9]+\.r5\.ja_b\.20[0-9]{6}-[0-9]{6}\.%\.gpr$ ]] || fail "$name"
}

@test "keep: an unknown rank is refused before anything runs" {
	unset RANK OMPI_COMM_WORLD_RANK SLURM_PROCID
	run -1 "$GPUPROF" record -o 'x.%r.gpr' -- touch ran
	assert_output --partial RANK
	assert_file_not_exist ran
	run -1 "$GPUPROF" record -o 'x.%p.gpr' -a -d 1s
	assert_output --partial "-p PID"
}

# bats file_tags=
@test "keep: meaningless patterns and options are refused, exit 2" {
	local words
	for words in "-o %x" "-o a.%" "--max-files 3" "--on exit" "--max-size 5" "--max-size 10q" \
		"--before 1s --max-files 2" "--before soon" "--on stall --before 1s"; do
		# shellcheck disable=SC2086
		run "$GPUPROF" record $words -- true
		assert_equal "$words: $status" "$words: 2"
		assert_equal "${#lines[@]}" 1
	done
}
