#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own STARTED
# Without probes: an ordinary user's gpuprof, or one that is told to do without, knows calls by CUPTI's
# records; what it prints of devices is what root's prints.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# A folder that every user may use, with gpuprof and the simulation: OPEN.
open_folder() {
	OPEN=$(mktemp -d /tmp/gpuprof-bats.XXXXXX)
	cp -L "$GPUPROF" "$SIM"/{libgpusim.so,libcuda.so.1,libcudart.so.13,libcupti.so.13,libnccl.so.2,train,ddp} "$OPEN"
	cp -L "$SIM"/{hoard,ranges} "$SIM"/libranges*.so "$OPEN"
	chmod -R go+rX "$OPEN"
	chmod go+w "$OPEN"
}

teardown() {
	end_started
	rm -rf "${OPEN:-}"
}

with_sim() { # COMMAND...
	env LD_LIBRARY_PATH="$OPEN" GPUPROF_CUPTI="$OPEN/libcupti.so.13" GPUSIM_TRUTH="$OPEN/%p.truth" "$@"
}

as_nobody() { with_sim setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

@test "unprivileged: an ordinary user's tables are root's and the truth's" {
	open_folder
	run -0 as_nobody "$OPEN/gpuprof" stat -o "$OPEN/user.json" --format json -- "$OPEN/train" --steps 20 --threads 2 --quiet
	run -0 "$TEST_LIB/check_ledger.py" "$OPEN/user.json" "$OPEN"/*.truth
	assert_output "1 books add up"
	compare --recorded --only count,errors,open "$OPEN"/*.truth "$OPEN/user.json"
	laws "$OPEN/user.json"
	with_sim "$OPEN/gpuprof" stat -o root.json --format json -- "$OPEN/train" --steps 20 --threads 2 --quiet
	run -0 "$TEST_LIB/same_tables.py" "$OPEN/user.json" root.json
	run report_value "$OPEN/user.json" 'len({h["tid"] for h in t["threads"]}), r["meta"]["sources"], t["processes"][0]["user"]'
	assert_output "(2, 'cupti: API records of single functions', 'nobody')"
	assert_note -f "$OPEN/user.json" without-probes "CAP_BPF is missing; run as root or with sudo"
	run report_value "$OPEN/user.json" '[b for b in t["ledger"] if b["bucket"] == "other" and b["state"] == "idle"]'
	assert_output "[]"
	run -0 as_nobody "$OPEN/gpuprof" stat --full -- "$OPEN/train" --steps 2 --quiet
	assert_line --index 0 --partial "without probes (CAP_BPF is missing; run as root or with sudo): calls are those that CUPTI records"
}

# What three programs do below a shell: work and copies, ranges, memory of all kinds.
job() {
	cat >"$OPEN/job" <<-'EOF_JOB'
		#!/bin/bash
		at=$(dirname "$0")
		"$at/hoard" --rounds 400 --seed "$SEED" && "$at/ranges" && "$at/train" --steps 20 --quiet
	EOF_JOB
	chmod 755 "$OPEN/job"
}

@test "unprivileged: kernels, copies, memory, ranges and busy rows are root's, idle that probes explain is unknown" {
	open_folder
	job
	export SEED=$RANDOM
	echo "seed $SEED"
	as_nobody "$OPEN/gpuprof" stat -o "$OPEN/user.json" --format json -- "$OPEN/job"
	with_sim "$OPEN/gpuprof" stat -o root.json --format json -- "$OPEN/job"
	run -0 "$TEST_LIB/same_tables.py" "$OPEN/user.json" root.json
	for report in "$OPEN/user.json" root.json; do
		run report_value "$report" '(all(t[n] for n in ("kernels", "copies", "memory", "ranges", "ledger")),
			{m["since"] for m in t["memory"]}, {m["kind"] for m in t["memory"]} >= {"device", "pool", "pinned"})'
		assert_output "(True, {'start'}, True)"
	done
	assert_value "$OPEN/user.json" '("other" in {b["bucket"] for b in t["ledger"] if b["state"] == "idle"},
		any(b["bucket"] == "unknown" for b in t["ledger"]))' "(False, True)"
}

# Its calls alone look like a sync of 2 s.
@test "unprivileged: a process that is stopped in a sync is named so, as an estimate" {
	open_folder
	cat >"$OPEN/job" <<-'EOF_JOB'
		#!/bin/bash
		"$(dirname "$0")/train" --steps 150 --quiet &
		sleep 1.3; kill -STOP $!; sleep 2; kill -CONT $!; wait
	EOF_JOB
	chmod 755 "$OPEN/job"
	run -0 as_nobody "$OPEN/gpuprof" stat --capture "$OPEN/c.gpr" --format json -o "$OPEN/r.json" -- "$OPEN/job"
	assert_value "$OPEN/r.json" '[(f["finding"], f["severity"], "estimated from samples" in f["evidence"]) for f in t["findings"]][0]' \
		"('stopped', 'medium', True)"
	assert_value "$OPEN/r.json" '[1.9e9 < b["ns"] < 2.2e9 for b in t["ledger"] if b["bucket"] == "stopped"]' '[True]'
	assert_note -f "$OPEN/r.json" off-cpu-sampled 'root records it'
	report_says_the_same "$OPEN/c.gpr" "$OPEN/r.json"
	run -0 as_nobody "$OPEN/gpuprof" stat --off-cpu off --format json -o "$OPEN/r.json" -- "$OPEN/job"
	assert_value "$OPEN/r.json" '[b for b in t["ledger"] if b["bucket"] == "stopped"]' '[]'
	assert_value "$OPEN/r.json" '["not recorded if the thread was stopped" in f["evidence"] for f in t["findings"]][0]' True
}

# bats file_tags=needs:root,needs:sim
@test "unprivileged: works, books, copies and memory of an ordinary user's mix equal the truth, to the nanosecond" {
	open_folder
	cp "$SIM/mix" "$OPEN"
	local graphs seed
	for graphs in some only; do
		seed=$RANDOM
		echo "graphs $graphs, seed $seed"
		rm -f "$OPEN"/*.log "$OPEN"/*.truth
		as_nobody env GPUSIM_DEVICES=4 GPUSIM_LOG="$OPEN/%p.log" "$OPEN/gpuprof" stat -o "$OPEN/r.json" --format json -- \
			"$OPEN/mix" --devices 4 --streams 4 --graphs $graphs --rounds 160 --seed "$seed"
		"$TEST_LIB/check_works.py" "$OPEN/r.json" "$OPEN"/*.log
		"$TEST_LIB/check_memory.py" "$OPEN/r.json" "$OPEN"/*.truth
	done
}

@test "unprivileged: report of a capture that was made without probes equals its stat" {
	open_folder
	run -0 as_nobody "$OPEN/gpuprof" stat --capture "$OPEN/c.gpr" --format json -o "$OPEN/stat.json" -- "$OPEN/ddp" --steps 10 --quiet
	"$GPUPROF" report "$OPEN/c.gpr" --format json >report.json
	cmp "$OPEN/stat.json" report.json
	run -0 "$TEST_LIB/check_ledger.py" report.json "$OPEN"/*.truth
	assert_output "4 books add up"
	run report_value report.json 'len({c["pid"] for c in t["calls"]}), len({p["pid"] for p in t["processes"]})'
	assert_output "(4, 4)"
}

@test "unprivileged: before CUPTI 12.5 calls come from the records of all functions, and meta says so" {
	open_folder
	run -0 as_nobody env GPUSIM_CUPTI=12.4 "$OPEN/gpuprof" stat -o "$OPEN/r.json" --format json -- "$OPEN/train" --steps 10 --quiet
	compare --recorded --only count,errors,open "$OPEN"/*.truth "$OPEN/r.json"
	run report_value "$OPEN/r.json" 'r["meta"]["sources"]'
	assert_output "cupti: API records of all functions (before CUPTI 12.5)"
}

@test "unprivileged: a process that has the helper is measured by its own user, one without is not" {
	open_folder
	cp "$ROOT/build/libgpuprof.so" "$OPEN"
	chmod go+r "$OPEN/libgpuprof.so"
	LD_LIBRARY_PATH=$OPEN CUDA_INJECTION64_PATH=$OPEN/libgpuprof.so GPUPROF_CUPTI=$OPEN/libcupti.so.13 \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$OPEN/train" --steps 20000 --quiet 3>&- &
	local target=$!
	STARTED+=("$target")
	wait_for 10 bash -c "ls -l /proc/$target/fd | grep -q memfd:gpuprof-ring"
	run -0 as_nobody "$OPEN/gpuprof" stat -p "$target" -d 1s --format json -o "$OPEN/r.json"
	run report_value "$OPEN/r.json" '[(c["comm"], c["count"] > 100) for c in t["calls"] if c["function"] == "cudaLaunchKernel"]'
	assert_output "[('train', True)]"
	laws "$OPEN/r.json"
	setpriv --reuid 65534 --regid 65534 --clear-groups sleep 60 3>&- &
	STARTED+=($!)
	run -3 as_nobody "$OPEN/gpuprof" stat -p $! -d 1s
	assert_output --partial "CAP_BPF is missing"
}

@test "unprivileged: options that need probes are refused with the missing capability or process" {
	open_folder
	for option in --stacks '--tier 1' '--off-cpu on' '--attach multi'; do
		# shellcheck disable=SC2086
		run -3 as_nobody "$OPEN/gpuprof" stat $option -- true
		assert_output --partial "CAP_BPF is missing"
	done
	run "$GPUPROF" stat --attach none -a
	assert_failure
	one_line "--attach none needs a process"
	run "$GPUPROF" stat --attach none --tier 1 -- true
	assert_failure
	one_line "--tier 1 needs probes"
	run "$GPUPROF" stat --attach none --off-cpu on -- true
	assert_failure
	one_line "--off-cpu on needs probes"
}

@test "unprivileged: intervals of a session without probes add up to the truth" {
	open_folder
	as_nobody "$OPEN/gpuprof" --interval 1s --table calls,threads,ledger --format json -- \
		"$OPEN/train" --steps 250 --quiet >all.json
	run python3 - all.json "$OPEN"/*.truth <<-'EOF_PY'
		import json, sys
		decoder, text, reports = json.JSONDecoder(), open(sys.argv[1]).read(), []
		while text.strip():
		    report, end = decoder.raw_decode(text.lstrip())
		    text = text.lstrip()[end:]
		    reports.append(report["tables"])
		launches = sum(c["count"] for r in reports for c in r["calls"] if c["function"] == "cudaLaunchKernel")
		truth = [f for f in json.load(open(sys.argv[2]))["functions"] if f["function"] == "cudaLaunchKernel"]
		print(len(reports) > 1, launches == truth[0]["count"])
		for r in reports:
		    walls = {(t["pid"], t["tid"]): t["wall_ns"] for t in r["threads"]}
		    for key, wall in walls.items():
		        assert wall == sum(t["ns"] for t in r["threads"] if (t["pid"], t["tid"]) == key)
	EOF_PY
	assert_output "True True"
}

@test "unprivileged: unseen calls of forked children are reported" {
	run env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat --attach none --format json -o r.json -- \
		"$SIM/lives" fork-stay
	assert_note forked-with-cuda
}

# As torchrun and mpirun start theirs.
# bats test_tags=needs:bpf
@test "unprivileged: a child of CMD started with all descriptors closed has a helper" {
	open_folder
	run -0 as_nobody "$OPEN/gpuprof" stat --table events -- python3 -c '
import subprocess, sys
sys.exit(subprocess.run(sys.argv[1:], close_fds=True).returncode)' "$OPEN/train" --steps 20 --quiet
	assert_line --regexp '^helper +work +[1-9][0-9]+ '
}

# As mpirun's daemons and `&` in scripts do.
# bats test_tags=needs:bpf
@test "unprivileged: a process whose parent has ended is measured, and CMD's status passed on" {
	open_folder
	cat >"$OPEN/job" <<-'EOF_JOB'
		at=$(dirname "$0")
		(sh -c 'sleep 0.3; "$0"/train --steps 20 --quiet; : >"$0/trained"' "$at" &)
		while [ ! -e "$at/trained" ]; do sleep 0.02; done
		(true &)
		sleep 1
		ps --ppid "$PPID" -o stat= >"$at/left"
		exit 7
	EOF_JOB
	run -7 as_nobody "$OPEN/gpuprof" stat -o "$OPEN/r.json" --format json -- sh "$OPEN/job"
	assert_value "$OPEN/r.json" '[p["comm"] for p in t["processes"] if p["launches_per_s"]]' "['train']"
	compare --recorded --only count,errors,open "$OPEN"/*.truth "$OPEN/r.json"
	run -0 cat "$OPEN/left"
	refute_line --regexp '^Z' # nothing that has ended is left
}
