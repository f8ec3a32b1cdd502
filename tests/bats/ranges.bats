#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ranges are what the program says of itself: nested, overlapping, over threads, in domains; with
# probes and without, live and from a capture.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

needs_ranges() { [ -x "$SIM/ranges_truth" ] || skip "no NVTX header on this machine"; }

profile() { env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" "$@"; }

ranges_are_true() { # OPTION...
	run -0 profile stat "$@" --capture c.gpr --format json -o r.json -- "$SIM/ranges_truth" 4 20 truth.json
	run -0 "$TEST_LIB/check_ranges.py" r.json truth.json
	report_says_the_same c.gpr r.json
}

BETWEEN_STAMPS="a busy machine takes the CPU between a range's stamp and the program's own"

@test "ranges: each equals the truth, with its launches and their device time, also from a capture" {
	needs_ranges
	may_repeat "$BETWEEN_STAMPS"
	ranges_are_true
}

@test "ranges: of three processes at once on devices of their own each has its truth" {
	needs_ranges
	may_repeat "$BETWEEN_STAMPS"
	local n
	export GPUSIM_DEVICES=3
	# shellcheck disable=SC2016 # variables of the script
	run -0 profile stat --format json -o r.json -- sh -c 'for n in 0 1 2; do
		CUDA_VISIBLE_DEVICES=$n "$1" $((n + 1)) 20 truth.$n & echo $! >pid.$n
	done; wait' sh "$SIM/ranges_truth"
	for n in 0 1 2; do
		run -0 "$TEST_LIB/check_ranges.py" r.json truth.$n "$(cat pid.$n)"
	done
	[ "$(report_value r.json 'len({x["pid"] for x in t["ranges"]})')" -eq 3 ]
}

# bats file_tags=needs:root,needs:sim
@test "ranges: they are the same without probes" {
	needs_ranges
	may_repeat "$BETWEEN_STAMPS"
	ranges_are_true --attach none
}

@test "ranges: text shows them if there are any, and --filter matches names" {
	needs_ranges
	run -0 profile stat --full --attach none -- "$SIM/ranges_truth" 1 2 truth.json
	assert_line --regexp "^ranges$"
	run profile stat --full --attach none -- "$SIM/train" --steps 2 --quiet
	refute_line --regexp "^ranges$"
	run -0 profile stat -q --attach none --table ranges --filter '^(load|step)$' --format csv -- "$SIM/ranges_truth" 1 2 truth.json
	assert_line --index 0 "pid,nvtx_domain,range,kind,count,open,wall_ns,host_ns,device_ns,launches"
	assert_equal "${#lines[@]}" 3
}
