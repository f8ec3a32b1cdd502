#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What users read: tables and columns that they rely on, and the one line that says what was wrong.

load ../lib/common

ALL=findings,ledger,devices,kernels,lanes,copies,ranges,memory,calls,processes,threads,events,offcpu

PLACE=

teardown() {
	end_started
	[ -z "$PLACE" ] || rm -rf "$PLACE"
}

sim() { env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$@"; }

# bats test_tags=needs:root,needs:sim
@test "words: every table has its columns, in json and csv alike, as their readers read them" {
	sim "$GPUPROF" record -q --attach none -o c.gpr -- "$SIM/train" --steps 5 --quiet
	sim "$GPUPROF" record -q --attach none -o r.gpr -- "$SIM/ranges"
	sim "$GPUPROF" record -q --attach none -o h.gpr -- "$SIM/hoard" --rounds 50
	local capture by
	for capture in c r h; do
		for by in function launch result stack; do
			"$GPUPROF" report $capture.gpr --by $by --table $ALL --format json -o all.json
			"$GPUPROF" report $capture.gpr --by $by --table $ALL --format csv -q -o all/
			run -0 "$TEST_LIB/check_tables.py" all.json all
			assert_output --partial "rows agree"
		done
	done
}

# bats test_tags=needs:root
@test "words: an unknown column or table is a one-line error listing the known ones, exit 2, before anything is measured" {
	run -2 "$GPUPROF" stat --sort foo -- touch ran
	one_line "option '--sort': no column 'foo'; table calls has pid, comm, function"
	run -2 "$GPUPROF" stat --table threads --sort foo -- touch ran
	one_line "table threads has pid, tid, comm, bucket, ns, share"
	run -2 "$GPUPROF" stat --sort totl_ns -- touch ran
	one_line "did you mean 'total_ns'?"
	run -2 "$GPUPROF" stat --table kernls -- touch ran
	one_line "option '--table': no table 'kernls'; did you mean 'kernels'?"
	run -2 "$GPUPROF" stat --table calls,foo -- touch ran
	one_line "there are findings, ledger"
	assert_file_not_exist ran
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "words: memory never freed is a finding with its bytes, freed memory is not" {
	sim "$GPUPROF" stat --format json -o hoard.json -- "$SIM/hoard" --rounds 400
	run report_value hoard.json '[(f["finding"], f["severity"], f["share"]) for f in t["findings"]]'
	assert_output "[('never-freed', 'low', None)]"
	run report_value hoard.json 't["findings"][0]["evidence"]'
	assert_output --regexp '^[0-9.]+ MiB in [0-9]+ allocations?, of [0-9.]+ MiB that it had at most$'
	sim "$GPUPROF" stat --format json -o train.json -- "$SIM/train" --steps 5 --quiet
	assert_value train.json '[f for f in t["findings"] if f["finding"] == "never-freed"]' "[]"
}

@test "words: a program without GPU use and one with an idle device get no fault findings" {
	run -0 "$GPUPROF" stat --full -- true
	assert_line --partial "no calls seen in true"
	assert_line --partial "no calls: "
	refute_output --partial "avoidable"
	run -0 sim "$GPUPROF" stat --table calls -- "$SIM/hoard" --rounds 50
	assert_output --partial "did nothing: no work of it was seen"
	refute_output --partial "avoidable"
}

@test "words: a device whose kernel hangs is not reported as idle" {
	export GPUSIM_HANG=1000 GPUPROF_CUPTI="$SIM/libcupti.so.13"
	start_gpuprof stat --format json -o hang.json -- "$SIM/train" --quiet
	wait_for 20 pgrep -P "$PROFILER" -x train
	sleep 5 # CUPTI gives no record of the last second's kernels while that one runs
	kill -TERM "$PROFILER" # a shell without a terminal has what it starts in the background ignore INT
	wait_gpuprof
	run report_value hang.json 'r["meta"]["verdict"]'
	assert_output --regexp '^What device 0 \(pid [0-9]+, train\) did, or waited for, is not known for [89][0-9.]+ % of the time'
	assert_value hang.json 'max(t["ledger"], key=lambda row: row["ns"])["bucket"]' "unknown"
	assert_value hang.json 'max(t["devices"], key=lambda row: row["ns"])["owner"]' "unknown"
}

# bats file_tags=needs:root,needs:sim
@test "words: for an ordinary user's process without a helper the error names --inject, exit 3" {
	PLACE=$(mktemp -d /tmp/gpuprof-bats.XXXXXX) # where another user can come
	cp -L "$GPUPROF" "$PLACE"
	chmod -R go+rX "$PLACE"
	setpriv --reuid 65534 --regid 65534 --clear-groups sleep 60 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q 65534 "/proc/$!/status"
	run -3 setpriv --reuid 65534 --regid 65534 --clear-groups "$PLACE/gpuprof" stat -p $! -d 1s
	one_line "CAP_BPF is missing" "--inject"
}
