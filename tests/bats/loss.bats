#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # run sets stderr
# What is lost is counted and has a place.

# bats file_tags=needs:root,needs:bpf,needs:targets

load ../lib/common

@test "loss: a burst of 1 M calls through 64 KiB; hits = received + lost, booked where it happened" {
	run -0 "$GPUPROF" record --off-cpu off --ring-size 64k --max-loss 100% -o c.gpr -- "$TARGETS/burst" --truth t.json
	"$GPUPROF" report c.gpr --max-loss 100% --table calls,threads,events --format json >r.json
	run -0 laws r.json --burst t.json
}

@test "loss: a capture written by --before includes its losses, like any capture" {
	run -0 "$GPUPROF" record --off-cpu off --ring-size 64k --max-loss 100% --before 60s --max-size 512m --on exit -o c.gpr -- \
		"$TARGETS/burst" --calls 200000 --truth t.json
	"$GPUPROF" report c.gpr --max-loss 100% --table calls,threads,events --format json >r.json
	run -0 laws r.json --burst t.json
	[ "$(report_value r.json 'r["meta"]["lost"] == sum(e["lost"] or 0 for e in t["events"] if e["source"] == "uprobe") > 0')" = True ]
}

@test "loss: the same of a running process, with -p and probes of the older kind" {
	start_target t burst --calls 100000
	watch_target t record --off-cpu off --attach multi --ring-size 64k --max-loss 100% -o c.gpr
	"$GPUPROF" report c.gpr --max-loss 100% --table calls,threads,events --format json >r.json
	run -0 laws r.json --burst t.json
}

@test "loss: more than --max-loss makes the report partial, exit 5; it is printed all the same" {
	run -0 "$GPUPROF" record --ring-size 64k --max-loss 100% -o c.gpr -- \
		"$TARGETS/burst" --calls 100000 --gap-ms 50
	run -5 "$GPUPROF" report --full c.gpr
	assert_output --partial cudaLaunchKernel
}

@test "loss: without a verb every interval is printed, also the last; the loss is judged once" {
	run -5 --separate-stderr "$GPUPROF" --ring-size 64k --budget off -i 250ms --table calls --format csv -- \
		"$TARGETS/burst" --calls 100000 --gap-ms 500
	assert [ "$(grep -c '^pid,' <<<"$output")" -ge 3 ]
	assert_equal "$(tail -n 1 <<<"$output" | cut -d, -f3)" cudaLaunchKernel
	assert_equal "$(grep -c 'more than --max-loss' <<<"$stderr")" 1
}

# bats file_tags=needs:root,needs:bpf
@test "loss: calls made while gpuprof stops are not counted: hits = received + lost of all kinds" {
	sh -c 'while :; do /bin/true; done' &
	STARTED+=($!)
	run -0 --separate-stderr "$GPUPROF" stat -p $! -d 300ms --table events --format json
	refute_regex "$stderr" 'do not add up'
	printf %s "$output" >r.json
	run report_value r.json '[row for row in t["events"] if row["kind"] == "fork"][0]["hits"] > 10'
	assert_output True
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "loss: launches up to a process's exit are recorded or lost, none twice, live and replayed" {
	run env GPUPROF_CUPTI="$SIM/libcupti.so.13" timeout 60 "$GPUPROF" stat --ring-size 16m --capture c.gpr \
		--table events,devices --format json -o r.json -- "$SIM/lives" threads
	"$GPUPROF" report c.gpr --table events,devices --format json -o report.json
	cmp r.json report.json
	python3 - <<-'EOF'
		import json
		rows = json.load(open("r.json"))["tables"]["events"]
		n = {row["kind"]: row for row in rows}
		calls, began = n["call"]["received"], n["open"]["received"]
		# A work that would have run after the exit is invalid, and its launch has met none.
		works, unrecorded = n["work"]["received"] - n["work"]["invalid"], n.get("untold", {"lost": 0})["lost"]
		# Launches that had met no work when the process ended, or when too many of them waited.
		ended = n["api"]["lost"] + n["api"]["orphan"]
		print(n["call"]["received"], n["open"], n["work"], unrecorded, n["api"])
		# Records for which there was no room are lost in a time that is reported, not one by one.
		reported, known = "unseen" in n, works + unrecorded + ended
		assert works > 0 and not n["call"]["lost"] and (reported or not n["work"]["lost"])
		# A call that has not returned may have launched, and a work may have met no launch; one launch of each
		# thread was in progress when its helper ended.
		threads = n["open"]["hits"] + n["exit"]["hits"]
		assert reported or calls - threads <= known
		assert known <= calls + began + n["work"]["orphan"]
	EOF
}

is_over() { grep -q '^State:.Z' "/proc/$1/status"; }

@test "loss: launches while gpuprof is stopped past its lease are recorded or counted as untold" {
	local until pid child
	for until in late over; do # gpuprof comes back while the target launches, and after it has ended
		env GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat --max-loss 100% --table calls,events \
			--format json -o r.json -- "$SIM/simcalls" --init --pause-us 200 \
			cudaLaunchKernel=12000 3>&- >said 2>&1 &
		pid=$!
		wait_for 30 grep -q ready said
		child=$(pgrep -P "$pid" simcalls)
		kill -STOP "$pid"
		if [ "$until" = late ]; then sleep 2.6; else wait_for 60 is_over "$child"; fi
		kill -CONT "$pid"
		wait "$pid"
		cat said
		python3 - <<-'EOF'
			import json
			tables = json.load(open("r.json"))["tables"]
			n = {row["kind"]: row for row in tables["events"]}
			works, unrecorded = n["work"]["received"], n.get("untold", {"lost": 0})["lost"]
			calls = [row["count"] for row in tables["calls"] if row["function"] == "cudaLaunchKernel"]
			print(calls, n["work"], unrecorded)
			# One that is launched just between a flush and the reading of the clocks after it is of neither.
			assert unrecorded > 0 and sum(calls) == 12000 and n["work"]["lost"] == 0
			assert 11997 <= works + unrecorded <= 12000
		EOF
	done
}
