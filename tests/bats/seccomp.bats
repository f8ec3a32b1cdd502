#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Targets under seccomp are measured and live.

load ../lib/common

measure_confined() { # WAY
	rm -f t.json t.ready t.go t.end c.gpr
	start_target t confined --launches 2000 --copies 300
	start_gpuprof record --attach "$1" -o c.gpr -p "$TARGET"
	wait_armed "$TARGET"
	go t
	wait_for 20 test -e t.json
	finish t
	wait "$TARGET" || fail "$1: the target ended with status $?"
	wait_gpuprof 0
	laws_of_capture
	[ "$(report_value r.json 'r["meta"]["return_probes"]')" = all ] || columns=count,bytes
	compare --no-times --only "${columns:-count,errors,bytes}" t.json r.json
}

# bats test_tags=needs:root,needs:bpf,needs:targets
@test "attach: a target under deny-all seccomp is measured and lives" {
	local way
	run "$TARGETS/confined" --forbidden 1
	[ "$status" -eq 159 ] || fail "the filter forbids nothing: status $status"
	for way in session multi; do
		measure_confined "$way"
	done
}
