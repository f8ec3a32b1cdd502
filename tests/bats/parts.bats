#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Parts of a capture, `report --from TIME --to TIME`, and what was when in it: --timeline.

load ../lib/common

DATA=$BATS_TEST_DIRNAME/../captures/data

report() { "$GPUPROF" report "$@"; }

@test "parts: two of them add up to the whole, for every stored capture cut at a random moment" {
	local seed=${GPUPROF_SEED:-$RANDOM} captures
	mapfile -t captures < <(find "$DATA" -name '*.gpr' | sort |
		grep -vE '/(damaged|empty|cut|rotated\.00000[0-9])\.gpr')
	run -0 python3 "$ROOT/tests/lib/check_parts.py" "$GPUPROF" "$seed" "${captures[@]}"
	assert_output --regexp "^seed $seed: [0-9]{2,} captures, 0 sums differ"
}

@test "parts: the part that is all of it is the report" {
	report "$DATA/train-env.gpr" --table calls,threads,ledger,kernels,memory --format json >whole.json
	report "$DATA/train-env.gpr" --table calls,threads,ledger,kernels,memory --format json --from 0s >part.json
	run -0 python3 - <<-'EOF_PY'
		import json
		whole, part = (json.load(open(name))["tables"] for name in ("whole.json", "part.json"))
		# Threads' rows: but for what gpuprof took, which is estimated.
		def threads(tables):
		    return sorted((r["tid"], r["bucket"], r["wall_ns"], r["blocked_ns"]) for r in tables.pop("threads"))
		assert threads(whole) == threads(part)
		assert whole == part
	EOF_PY
}

@test "parts: by the time of day, as the capture's own clock and this time zone have it" {
	local start
	start=$(report "$DATA/train-env.gpr" --format json | jq -r .meta.start)
	export TZ=UTC
	run -0 report "$DATA/train-env.gpr" --format json --from "${start:11:12}" --to 23:59:59
	assert_equal "$(jq -r '.meta.start[0:23]' <<<"$output")" "${start:0:23}"
	export TZ=UTC-1 # an hour later there
	run -2 report "$DATA/train-env.gpr" --to "${start:11:12}"
	assert_output --partial "nothing is between --from and --to: the capture is of "
}

@test "parts: the screen says which, and the next command is of the same part" {
	run -0 report "$DATA/pretrain-faulty.gpr" --from 500ms --to 1.2s
	assert_line --regexp '^pid [0-9]+ \(pretrain\), 700\.0 ms \(500\.0 ms to 1\.200 s\) on recorder'
	assert_line --regexp '^next   gpuprof report .* --from 500ms --to 1\.2s --wide --table offcpu$'
	eval "run -0 ${lines[-2]#next   gpuprof }" # report ...
	assert_line --partial "(500.0 ms to 1.200 s)"
}

@test "parts: a wrong time, an empty part and a capture without times are reported as such" {
	run -2 report "$DATA/exact-1.gpr" --from yesterday
	assert_output --partial "option '--from': 'yesterday' is not accepted; give a time from the beginning such as 10s"
	run -2 report "$DATA/exact-1.gpr" --from 2s --to 1s
	assert_output --partial "nothing is between --from and --to"
	run -1 report "$DATA/cut.gpr" --from 1ms
	assert_output --partial "it holds no time"
	run -2 "$GPUPROF" stat --from 1s -- true
	assert_output --partial "--from"
}

@test "timeline: each thread's letters are its buckets, to a cell or so" {
	run -0 report "$DATA/train-no-helper.gpr" --timeline
	run -0 python3 - "$output" <(report "$DATA/train-no-helper.gpr" --table threads --format json) <<-'EOF_PY'
		import json, sys
		row = next(line for line in sys.argv[1].splitlines() if " train  " in line)
		cells, tid = row[20:], int(row.split()[0])
		for bucket in json.load(open(sys.argv[2]))["tables"]["threads"]:
		    letter = {"sync": "S", "launch": "L", "lock": "l", "sleep": "z"}.get(bucket["bucket"])
		    if bucket["tid"] == tid and letter:
		        shown = cells.count(letter) / len(cells.strip())
		        assert abs(shown - bucket["share"]) < 0.08, (bucket, shown)
	EOF_PY
}

@test "timeline: of a part, in 60 columns of ASCII, no more than so many threads" {
	export COLUMNS=60 LC_ALL=C
	run -0 report "$DATA/train-threads.gpr" --timeline --from 100ms --to 200ms --top 2
	assert_line --index 0 --partial '100.0 ms (100.0 ms to 200.0 ms)'
	assert_line 'a cell: 2.500 ms'
	assert_line --regexp '^GPU 0 {15}[CmC.]{40}$'
	assert_line --regexp '^  busy {14}[1-8.]{40}$'
	assert_line "1 more threads (--top 3)"
	[ -z "$(tr -d '\n -~' <<<"$output")" ]
}

@test "timeline: is text" {
	run -2 report "$DATA/train-threads.gpr" --timeline --format json
	assert_output --partial "option '--timeline' is text"
	run -2 "$GPUPROF" stat --timeline -- true
	assert_output --partial "--timeline"
}
