#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Faults of many kinds, one in each run of a training that is healthy without: each is named first, with its
# share of the device's time and where it is; and shapes that are healthy, in which nothing is found.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# NAME of tests/sim/plant.c; what check_plant.py wants of it.
plant() { # NAME [FINDING WORD...]
	local name=$1
	shift
	rm -f l.json
	run -0 --separate-stderr env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/l.json" "$GPUPROF" \
		stat --format json -o r.json -- "$SIM/plant" "$name" --ms 1000
	run "$TEST_LIB/check_plant.py" r.json l.json "$(sed -n 's/.*run delay \([0-9]*\) ns/\1/p' <<<"$output")" "$@"
	echo "$name: $output"
	assert_success
}

@test "plants: what a thread waits for outside of calls is named, and who lets it go on" {
	may_repeat "on a busy machine Linux 6.18 reports neither wake nor return of a few threads"
	plant sleep input-stall sleep
	plant compute input-stall "host code"
	plant collect input-stall "host code"
	plant lock input-stall lock holder
	plant loader input-stall lock loader
	plant server input-stall "read socket" server
	plant poll input-stall poll server
	plant pipe input-stall "read pipe" feeder
	plant program input-stall wait
	plant stop stopped
	plant hog cpu-starved
}

@test "plants: calls that leave the device without work are named" {
	plant alloc alloc-stall cuda
	plant leak never-freed
	plant item needless-sync cuda
	plant item-copy needless-sync cudaMemcpy
	plant sync needless-sync cudaDeviceSynchronize
	plant event needless-sync cudaEventSynchronize
	plant pageable unpinned-copies cudaMemcpy
	plant pinned blocking-copies cudaMemcpy
	plant tiny launch-bound
}

@test "plants: a rank that others wait for is named before them" {
	local streams
	for streams in "" --two-streams; do
		rm -f ./*.log
		# shellcheck disable=SC2086 # none or one
		run -0 env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log" "$GPUPROF" \
			stat --format json -o r.json -- "$SIM/ddp" --steps 15 --late-ms 80 --quiet $streams
		PYTHONPATH=$TEST_LIB python3 - <<-'PY'
			import json
			from compare_findings import POINTS, union
			report = json.load(open("r.json"))
			tables, first = report["tables"], report["tables"]["findings"][0]
			late = next(p["pid"] for p in tables["processes"] if p["rank"] == 3)
			wall = next(row["wall_ns"] for row in tables["ledger"] if row["pid"] == late)
			ran = union((w["start"], w["end"]) for w in json.load(open(f"{late}.log"))["works"])
			gaps = [b[0] - a[1] for a, b in zip(ran, ran[1:])]
			truth = sum(ns for ns in gaps if ns >= 1e6) / wall
			print(f"{first['finding']} {first['share']:.1%}, truth {truth:.1%}; {report['meta']['verdict']}")
			assert (first["finding"], first["pid"]) == ("input-stall", late)
			assert abs(first["share"] - truth) <= POINTS
			assert f"(pid {late}, ddp) is lost to input-stall:" in report["meta"]["verdict"]
		PY
	done
}

@test "plants: in healthy shapes nothing is found" {
	local name
	for name in healthy short-kernels long-kernels two-streams four-streams ordered copies thinks queries watcher \
		sleeper syncer pool graph sets read-back log epochs driver prefetch; do
		plant $name
	done
}
