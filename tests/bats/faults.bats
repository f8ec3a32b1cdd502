#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever CUPTI or the target does: books balance, what is missing is counted and its time is `lost` or
# `unknown`, it is said, and the target's answer is right.

load ../lib/common

# faulty FAULTS ARGS-OF-MIX...: profiles it, live and from its capture; said and r.json remain.
faulty() {
	local faults=$1 status=0
	shift
	rm -f ./*.log ./*.gpr
	env GPUPROF_CUPTI="${CUPTI:-$SIM/libcupti.so.13}" GPUSIM_LOG="$PWD/%p.log" GPUSIM_CUPTI_FAULTS="$faults" \
		timeout 60 "$GPUPROF" stat --capture c.gpr --format json -o r.json -- \
		"$SIM/mix" --streams 4 --seed "$RANDOM" "$@" >said 2>&1 || status=$?
	cat said
	[ $status -eq 0 ] || [ $status -eq 5 ] || return 1
	"$GPUPROF" report c.gpr --format json -o report.json 2>/dev/null || [ $? -eq 5 ]
	cmp r.json report.json
}

# answered: each process has given the works that it logged.
answered() {
	local pid works answers=0
	while read -r pid works; do
		[ "$(grep -c '"kind": ' "$pid.log")" -eq "$works" ] || return 1
		answers=$((answers + 1))
	done < <(sed -n 's/mix: pid \([0-9]*\) gave \([0-9]*\) works/\1 \2/p' said)
	[ $answers -gt 0 ]
}

# What CUPTI does, how many of the works are seen, of how much time is not known what ran, what is said.
CUPTI_FAULTS='drop=10|some|some|device records were lost
zero=7|some|some|device records were lost
late=300|all|none|
withhold|all|none|
reorder|all|none|
reorder,drop=5,zero=9|some|some|device records were lost
busy|none|some|are not known: another client uses CUPTI in it
refuse|none|some|are not known: its helper could not start CUPTI: cuptiActivityEnable
hang|some|some|in the last .* CUPTI did not answer'

# bats test_tags=needs:root,needs:bpf
@test "faults: whatever CUPTI does, books balance, what is missing is said, the target is right" {
	needs root bpf sim
	local fault seen unseen says
	while IFS='|' read -r fault seen unseen says; do
		echo "fault: $fault"
		faulty "$fault" --rounds 900 --pause-us 300 --graphs some
		answered
		run "$TEST_LIB/check_works.py" r.json ./*.log --faults
		assert_success
		assert_output "seen $seen, not known $unseen"
		grep -Eq "$says" said
		[ -n "$says" ] || [ "$(grep -vc '^mix:' said)" -eq 0 ]
	done <<<"$CUPTI_FAULTS"
}
