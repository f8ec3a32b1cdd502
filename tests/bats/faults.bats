#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own STARTED
# Whatever CUPTI or the target does: books balance, what is missing is counted and its time is `lost` or
# `unknown`, it is said, and the target's answer is right.

# bats file_tags=needs:root,needs:bpf,needs:sim

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

# What CUPTI does, how many of the works are seen, of how much time is not known what ran, which note.
CUPTI_FAULTS='drop=10|some|some|records-lost
vanish=10|some|some|records-missing|CUPTI counted none as dropped
zero=7|some|some|records-lost
late=300|all|none|
prompt,one-buffer,forget,steady,odd=3|all|none|
reorder|all|none|
reorder,drop=5,zero=9|some|some|records-lost
keep=3|some|some|records-kept
busy|none|some|cupti-occupied
refuse|none|some|cupti-failed|cuptiActivityEnable
hang|some|some|records-unread
unusable|none|some|cupti-failed|cuptiActivityRegisterCallbacks
back=50|[as][lo][lm]e?|some|clock-set|was set meanwhile, 1 times'

@test "faults: whatever CUPTI does, books balance, losses are reported, the target's result is right" {
	local fault seen unseen code text
	may_repeat "two readings of the clock that disagree by more than they took move times by nanoseconds"
	while IFS='|' read -r fault seen unseen code text; do
		echo "fault: $fault"
		faulty "$fault" --rounds 1800 --pause-us 300 --graphs some
		answered
		run -0 "$TEST_LIB/check_works.py" r.json ./*.log --faults
		assert_output --regexp "^seen $seen, not known $unseen\$"
		[ -z "$code" ] || assert_note "$code" "$text"
		[ -n "$code" ] || [ "$(grep -vcE '^mix:|of the events were lost' said)" -eq 0 ]
	done <<<"$CUPTI_FAULTS"
}

# Warnings of a report: those of when it was measured, without the target's own lines.
warnings() { sed -n 's/^gpuprof: warning: //p' "$1"; } # FILE

@test "faults: records that CUPTI drops uncounted or never gives back are losses, live and in a report" {
	local fault attach
	for fault in vanish=11 keep=3; do
		for attach in auto none; do
			echo "fault: $fault, probes: $attach"
			rm -f ./*.gpr
			run -5 env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_CUPTI_FAULTS=$fault "$GPUPROF" stat \
				--attach $attach --capture c.gpr --format json -o r.json -- "$SIM/mix" --streams 4 \
				--rounds 1800 --pause-us 300
			printf '%s\n' "$output" >said
			assert_equal "$(warnings said | wc -l)" 2
			assert_note events-lost 'lost: (at least )?[1-9]'
			assert_value r.json '0.01 < r["meta"]["lost"] / r["meta"]["events"] < 0.5' True
			run -5 "$GPUPROF" report c.gpr --format json -o report.json
			printf '%s\n' "$output" >reported
			diff <(warnings said) <(warnings reported)
			cmp r.json report.json
		done
	done
}

# What CUPTI does, with which probes, and what is known of memory.
MEMORY_FAULTS='drop=20|auto|1 processes have what they have|--lost
drop=20|none|0 processes have what they have, of 1 not all is known
zero=7|auto|1 processes have what they have|--lost
zero=7|none|0 processes have what they have, of 1 not all is known
drop=1|auto|1 processes have what they have|--calls
vanish=5|auto|1 processes have what they have
vanish=5|none|1 processes have what they have
reorder|none|1 processes have what they have
busy|auto|1 processes have what they have|--calls'

@test "faults: memory equals the truth, or is marked incomplete and reports no leak" {
	local fault attach known calls status
	while IFS='|' read -r fault attach known calls; do
		rm -f ./*.truth ./*.gpr
		status=0
		env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_TRUTH="$PWD/%p.truth" GPUSIM_CUPTI_FAULTS="$fault" \
			"$GPUPROF" stat --attach "$attach" --capture c.gpr --format json -o r.json -- \
			"$SIM/hoard" --rounds 400 --seed "$RANDOM" 2>said || status=$?
		echo "fault: $fault, probes: $attach, $(cat said)"
		[ $status -eq 0 ] || [ $status -eq 5 ]
		run -0 "$TEST_LIB/check_memory.py" r.json ./*.truth --faults ${calls:+"$calls"}
		assert_output "$known"
		"$GPUPROF" report c.gpr --format json -o report.json 2>said || [ $? -eq 5 ]
		cmp r.json report.json
	done <<<"$MEMORY_FAULTS"
}

@test "faults: contexts destroyed, children forked, a device that vanishes: every work is seen" {
	local row
	may_repeat "two readings of the clock that disagree by more than they took move times by nanoseconds"
	for row in "--destroy" "--fork"; do
		echo "mix $row"
		faulty "" --rounds 600 --pause-us 200 "$row"
		answered
		"$TEST_LIB/check_works.py" r.json ./*.log --idle
	done
	rm -f ./*.log
	run -1 env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log" GPUSIM_VANISH=200 \
		"$GPUPROF" stat --format json -o r.json -- "$SIM/mix" --rounds 600
	one_line "mix: " "unknown error"
	"$TEST_LIB/check_works.py" r.json ./*.log
	run report_value r.json '[(f["severity"], f["finding"], f["cause"][:57]) for f in t["findings"]][0]'
	assert_output "('high', 'cuda-error', 'cudaLaunchKernel gave cudaErrorUnknown (999): the device ')"
}

@test "faults: without libcupti device time is unknown, with a message" {
	local alone=$PWD/alone
	mkdir "$alone"
	cp "$SIM"/{mix,libcudart.so.13,libcuda.so.1,libgpusim.so} "$alone"
	run -0 env GPUSIM_LOG="$PWD/%p.log" "$GPUPROF" stat --format json -o r.json -- "$alone/mix"
	assert_note cupti-failed # or a real one was found
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log --faults
	assert_output "seen none, not known some"
}

@test "faults: a libcupti newer than the driver: the message has both versions and the remedy" {
	run -0 env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_CUPTI=13.1 GPUSIM_CUPTI_FAULTS=unusable \
		"$GPUPROF" stat --format json -o r.json -- "$SIM/mix"
	assert_output --regexp "could not start CUPTI: libcupti 13.1 is newer than the driver's CUDA 13.0; start it with GPUPROF_CUPTI="
}

# A target halfway through its works, under gpuprof; its pid is TARGET.
start_midway() { # ARGS-OF-MIX...
	rm -f half ./*.log
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log" "$GPUPROF" stat --format json \
		--launch both -o r.json -- "$SIM/mix" --rounds 3000 --pause-us 300 --mark half "$@" >said 2>&1 3>&- &
	as_profiler
	wait_for 30 test -e half
	TARGET=$(pgrep -P "$PROFILER" -x mix)
	STARTED+=("$TARGET")
}

balanced() { # the books of r.json add up; prints how many ns of them are unknown
	report_value r.json 'sum(x["ns"] for x in t["ledger"] if x["bucket"] == "unknown") if all(
		sum(x["ns"] for x in t["ledger"] if x["pid"] == y["pid"] and x["device"] == y["device"]) == y["wall_ns"]
		for y in t["ledger"]) else "not balanced"'
}

@test "faults: device time before the helper is awake is unknown, and launches are counted" {
	GPUPROF_CUPTI="$SIM/libcupti.so.13" CUDA_INJECTION64_PATH="$ROOT/build/libgpuprof.so" "$SIM/mix" --rounds 20000 \
		--pause-us 100 --mark half >/dev/null 2>&1 3>&- &
	STARTED+=("$!")
	wait_for 60 test -e half
	"$GPUPROF" stat -p "$!" -d 1 --format json -o r.json
	run balanced
	assert_output --regexp '^[1-9][0-9]*$'
	assert_value r.json '[x["lost"] > 0 for x in t["events"] if x["kind"] == "untold"]' "[True]"
}

@test "faults: device time of a killed target after its last delivered buffer is unknown, with a message" {
	start_midway
	kill -KILL "$TARGET"
	wait "$PROFILER" || [ $? -eq 137 ]
	grep -q "what devices did for process $TARGET in the last .* it was killed or" said
	run balanced
	assert_output --regexp '^[1-9][0-9]*$'
	# Every launch is a work that was recorded, or one that was not; but for those of the millisecond after
	# the last record, which are not counted: clocks of calls and of records differ by less.
	run report_value r.json '(sum(x["count"] for x in t["calls"] if x["class"] in ("launch", "copy", "set"))
		- sum(x["received"] for x in t["events"] if x["kind"] == "work")
		- sum(x["lost"] for x in t["events"] if x["kind"] == "untold")
		- sum(x["orphan"] + (x["lost"] or 0) for x in t["events"] if x["kind"] == "api"))'
	assert_output --regexp '^[0-9]$'
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 0' True
}

# The worker of the device that is not there calls exit(1) while the other one launches.
@test "faults: launches after the helper's last record are unknown, and counted" {
	for _ in {1..20}; do	# one run in two or three launches something then
		GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat --format json -o r.json -- \
			"$SIM/mix" --devices 2 --rounds 300 || [ $? -eq 1 ]
		# Each has a record, or is counted; but for those of each thread's last millisecond, as above.
		assert_value r.json '(sum(x["count"] for x in t["calls"] if x["class"] in ("launch", "copy", "set"))
			<= sum(x["received"] for x in t["events"] if x["kind"] == "api")
			+ sum(x["lost"] for x in t["events"] if x["kind"] == "untold") + 18)' True
		run report_value r.json 'any(x["kind"] == "untold" and x["lost"] for x in t["events"]) \
			and any(x["bucket"] == "unknown" for x in t["ledger"])'
		[ "$output" = False ] || break
	done
	assert_output True
}

@test "faults: a target that executes itself is two programs, each with its works" {
	start_midway --exec
	wait "$PROFILER"
	[ "$(grep -c '^mix: ' said)" -eq 2 ]
	run balanced
	assert_output --regexp '^[0-9]+$'
	# Two programs' works, recorded, or lost with the first one's last; but for a millisecond's, as above.
	run report_value r.json '(sum(x["received"] for x in t["events"] if x["kind"] == "work"),
		sum(x["lost"] for x in t["events"] if x["kind"] == "untold"))'
	read -r -d '' recorded unrecorded <<<"${output//[(),]/}" || true
	assert [ $((recorded + unrecorded)) -le 3200 ]
	assert [ $((recorded + unrecorded)) -ge 3191 ]
	assert [ "$recorded" -gt 2000 ]
	# None waited for the other program, 20 ms or more. The simulated device's own latency is half a
	# millisecond, beside what a launching thread has no CPU for.
	assert_value r.json 'max(x["latency_max_ns"] for x in t["lanes"]) < 15e6' True
}

@test "faults: a target that is stopped goes on and every work is seen" {
	start_midway
	kill -STOP "$TARGET"
	wait_for 5 grep -q 'State:.*T' "/proc/$TARGET/status"
	sleep 0.5
	kill -CONT "$TARGET"
	wait "$PROFILER"
	answered
	"$TEST_LIB/check_works.py" r.json ./*.log
}

@test "faults: killing gpuprof leaves a target that gives the right result" {
	start_midway
	kill -KILL "$PROFILER"
	wait_for 60 test -e "$TARGET.log"
	wait_for 10 grep -q '^mix: ' said
	answered
}

@test "faults: device time at the end of a session of a stopped target is unknown, with a message" {
	env CUDA_INJECTION64_PATH="$ROOT/build/libgpuprof.so" GPUPROF_CUPTI="$SIM/libcupti.so.13" \
		"$SIM/mix" --rounds 20000 --pause-us 300 --wait-file go --mark half >said 3>&- &
	as_target
	wait_for 10 grep -q libcuda "/proc/$TARGET/maps"
	start_gpuprof stat -p "$TARGET" --format json -o r.json
	wait_armed "$TARGET" cudart
	touch go
	wait_for 30 test -e half
	kill -STOP "$TARGET"
	sleep 0.5
	interrupt_gpuprof
	assert_output --partial "in the last"
	run balanced
	assert_output --regexp '^[1-9][0-9]*$'
	kill -CONT "$TARGET"
	wait "$TARGET"
	grep -q 'gave 20000 works' said
}

@test "faults: a helper of another version is left alone, with a message" {
	python3 - <<-'EOF_PY' 3>&- &
		import fcntl, os, struct, time
		fd = os.memfd_create("gpuprof-ring", os.MFD_ALLOW_SEALING)
		os.ftruncate(fd, 1 << 20)
		os.pwrite(fd, struct.pack("<QII", 0x676e697266707567, 99, 4096), 0)
		fcntl.fcntl(fd, 1033, 2 | 4)	# F_ADD_SEALS: shrink, grow
		open("ready", "w").close()
		time.sleep(60)
	EOF_PY
	as_target
	wait_for 10 test -e ready
	"$GPUPROF" stat -p "$TARGET" -d 300ms --format json -o r.json
	assert_note helper-version
}

@test "faults: the one of several processes that has no helper is named" {
	cat >both <<-'EOF_SH'
		"$SIM/mix" && env -u CUDA_INJECTION64_PATH -u NVTX_INJECTION64_PATH "$SIM/mix"
	EOF_SH
	run -0 env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat --format json -o r.json -- sh both
	local without
	without=$(sed -n 's/^mix: pid \([0-9]*\) .*/\1/p' <<<"$output" | tail -n 1)
	assert_note helper-not-found "process $without "
	assert_value r.json "len({x['pid'] for x in t['ledger']} - {$without})" 1
}
