#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The next command of each planted finding, as it is printed: of a capture it is a report of that capture
# where it holds what the table needs, of a live session a new run; a shell runs it, and its table has rows.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

CAPTURE="my run's.gpr" # a name that a shell would split

setup_file() { export GPUPROF_CUPTI=$SIM/libcupti.so.13; }

# Runs the next commands of FINDING (all: of each) in REPORT.json: all match PATTERN, a shell takes each, and
# each table that one names has rows. Prints them.
run_next() { # REPORT.json FINDING PATTERN
	PATH="$PWD/bin:$PATH" python3 - "$@" <<-'EOF_PY'
		import json, re, shlex, subprocess, sys
		path, finding, pattern = sys.argv[1:]
		found = json.load(open(path))["tables"]["findings"]
		lines = {f["next"] for f in found if finding in (f["finding"], "all") and f["next"]}
		assert lines, f"no {finding}, but {[f['finding'] for f in found]}"
		for line in sorted(lines):
		    print(line, flush=True)
		    assert "\n" not in line and re.match(pattern, line), "this does not match"
		    shaped = re.sub("^(gpuprof (?:stat|report))", r"\1 -q --format json -o next.json", line)
		    shaped = shaped.replace(" -d 10s ", " -d 300ms ")
		    subprocess.run(["sh", "-c", shaped], stdout=subprocess.DEVNULL, check=True, timeout=60)
		    words = shlex.split(line)
		    if "--table" not in words:
		        continue
		    tables = json.load(open("next.json"))["tables"]
		    assert list(tables) == words[words.index("--table") + 1].split(",")
		    assert all(tables.values()), "this has no rows"
	EOF_PY
}

# From a capture of a program, and from a live session.
walk() { # FINDING|all COMMAND...
	local finding=$1
	shift
	mkdir -p bin
	ln -sf "$GPUPROF" bin/gpuprof
	"$GPUPROF" record -q --stacks -o "$CAPTURE" -- "$@" >/dev/null
	"$GPUPROF" report "$CAPTURE" --format json -o r.json
	run run_next r.json "$finding" "gpuprof (report 'my run'\\\\''s.gpr' --|stat --attach none )"
	echo "$output"
	assert_success
	"$GPUPROF" stat -q --format json -o s.json -- "$@" >/dev/null
	run run_next s.json "$finding" "gpuprof stat .* -- $1"
	echo "$output"
	assert_success
}

@test "next: each finding of the training with all faults can be followed, from a capture and live" {
	walk all "$SIM/pretrain" --steps 10 --faults all
}

@test "next: each finding of a plant can be followed, from a capture and live" {
	local finding name
	while read -r finding name; do
		walk "$finding" "$SIM/plant" "$name" --ms 400
	done <<-EOF_PLANTS
		input-stall lock
		stopped stop
		cpu-starved hog
		alloc-stall alloc
		never-freed leak
		needless-sync item
		unpinned-copies pageable
		blocking-copies pinned
		launch-bound tiny
	EOF_PLANTS
}

@test "next: of a process that has ended nothing is proposed that cannot be run, and the capture has what it has" {
	mkdir bin
	ln -s "$GPUPROF" bin/gpuprof
	eval "$("$GPUPROF" env --for shell --dir "$PWD/env" 2>env.err)"
	"$SIM/pretrain" --steps 100000 --faults all >/dev/null 3>&- &
	as_target
	wait_for 10 grep -q libcudart "/proc/$TARGET/maps"
	# Who calls is not in a capture without stacks: of a process that runs it is measured.
	"$GPUPROF" record -q --no-stacks -p "$TARGET" -d 1s -o ./-dash.gpr
	"$GPUPROF" report ./-dash.gpr --format json -o runs.json
	kill "$TARGET"
	wait "$TARGET" || true
	"$GPUPROF" report ./-dash.gpr --format json -o ended.json
	[ "$(report_value runs.json '{f["next"].partition(" -p ")[2] for f in t["findings"] if " -p " in f["next"]}')" = "{'$TARGET'}" ]
	[ "$(report_value ended.json 'any(f["next"] for f in t["findings"])')" = True ]
	[ "$(report_value ended.json '[f["next"] for f in t["findings"] if f["next"] and not f["next"].startswith("gpuprof report ./-dash.gpr --")]')" = '[]' ]
	run_next ended.json all 'gpuprof report \./-dash\.gpr --'
}

@test "next: each finding of a process that runs can be followed in that process" {
	eval "$("$GPUPROF" env --for shell --dir "$PWD/env" 2>env.err)"
	"$SIM/pretrain" --steps 100000 --faults all >/dev/null 3>&- &
	as_target
	wait_for 10 grep -q libcudart "/proc/$TARGET/maps"
	mkdir bin
	ln -s "$GPUPROF" bin/gpuprof
	"$GPUPROF" stat -q -p "$TARGET" -d 2s --format json -o r.json
	run run_next r.json all "gpuprof (stat .* -d 10s|stacks) -p $TARGET\$"
	echo "$output"
	assert_success
	assert_line --partial offcpu
}
