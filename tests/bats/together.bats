#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Several gpuprofs at one process, each killed in turn: the others go on, and when the last is gone the
# helper drains and the process goes on as if never watched.

load ../lib/common

state() { "$TEST_LIB/helper_state.py" "$TARGET"; } # STATE READERS BYTES

is_watched_by() { # N: so many readers, and records for them
	local now later
	read -ra now < <(state)
	[ "${now[0]} ${now[1]}" = "awake $1" ] || return
	sleep 0.2
	read -ra later < <(state)
	[ "${later[1]}" = "$1" ] && [ "${later[2]}" -gt "${now[2]}" ]
}

is_left_alone() { [[ $(state) == "drained 0 "* ]]; }

# In the background, with its own output; its pid is STARTED_PID.
begin() { # NAME ARGS...
	"$GPUPROF" "${@:2}" >"$1.out" 2>"$1.err" 3>&- &
	STARTED_PID=$!
	STARTED+=("$STARTED_PID")
}

kill_now() { # PID
	kill -KILL "$1"
	wait "$1" || true
}

kernels() { report_value "$1" 'sum(k["count"] for k in t["kernels"])'; } # REPORT.json

is_measured() { "$GPUPROF" stat -d 1s --format json -o e.json -p "$TARGET" && [ "$(kernels e.json)" -gt 0 ]; }

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "together: the interval view, record and stat, each killed: the others go on, at last it drains" {
	eval "$("$GPUPROF" env --dir here 2>/dev/null)"
	"$SIM/train" --steps 1000000 --stall-every 0 --quiet >target.out 2>&1 3>&- &
	as_target
	wait_for 20 state
	assert_regex "$(state)" "^virgin 0 "

	local view record stat second
	begin view -i 500ms -p "$TARGET"
	view=$STARTED_PID
	begin record record -o c.gpr -p "$TARGET"
	record=$STARTED_PID
	begin stat stat --format json -o s.json -p "$TARGET"
	stat=$STARTED_PID
	wait_for 30 is_watched_by 3
	wait_for 20 grep -q compute view.out

	kill_now "$view"
	wait_for 20 is_watched_by 2
	kill_now "$record"
	wait_for 20 is_watched_by 1
	run -5 "$GPUPROF" report c.gpr --format json -o c.json # what it had is there
	[ "$(kernels c.json)" -gt 0 ]

	begin second record -o d.gpr -p "$TARGET"
	second=$STARTED_PID
	wait_for 20 is_watched_by 2
	kill_now "$stat"
	wait_for 20 is_watched_by 1
	kill -INT "$second"
	wait "$second"
	"$GPUPROF" report d.gpr --format json -o d.json
	[ "$(kernels d.json)" -gt 0 ]
	wait_for 20 is_left_alone

	begin last stat -p "$TARGET"
	wait_for 20 is_watched_by 1
	kill_now "$STARTED_PID"
	wait_for 20 is_left_alone
	wait_for 40 is_measured # it goes on, and can be watched again: slots of the killed are free after 10 s
	wait_for 20 text_equals_file "$TARGET" libcuda.so.1
}
