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

@test "plants: in healthy shapes nothing is found" {
	local name
	for name in healthy short-kernels long-kernels two-streams four-streams ordered copies thinks queries watcher \
		sleeper syncer pool graph sets read-back log epochs driver prefetch; do
		plant $name
	done
}
