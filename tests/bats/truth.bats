#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Without a fault the tables of devices are the truth to the nanosecond, whatever the mixture of devices,
# streams, processes, graphs and CUPTI's versions: every pair of these here, all of them with
# GPUPROF_MIXTURES=all (scripts/check --long). Seeds are drawn and printed; GPUPROF_SEED repeats one.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# devices streams processes graphs cupti: each pair of values is in some row.
PAIRS='1 1 1 some 11.8
4 4 1 never 12.8
4 16 1 some 13.0
8 4 1 only 11.8
1 4 4 only 13.0
1 16 4 never 11.8
4 1 4 only 12.8
8 16 4 some 12.8
1 4 64 some 12.8
4 16 64 only 11.8
8 1 64 never 13.0
4 4 4 some 99.0'

all_mixtures() {
	local d s p g c
	for p in 1 4 64; do for d in 1 4 8; do for s in 1 4 16; do
		for g in never some only; do for c in 11.8 12.8 13.0; do
			echo "$d $s $p $g $c"
		done; done
	done; done; done
}

# mixed DEVICES STREAMS PROCESSES GRAPHS CUPTI [PAUSE_US]: profiled, live and from its capture.
mixed() {
	local seed=${GPUPROF_SEED:-$RANDOM} rounds=$(($3 > 4 ? 32 / $1 + 8 : 160)) ranges=()
	[ ! -e "$SIM/ranges" ] || ranges=(--ranges mixed) # NVTX was there
	echo "devices $1 streams $2 processes $3 graphs $4 CUPTI $5: GPUPROF_SEED=$seed"
	rm -rf mixed && mkdir mixed
	env GPUSIM_DEVICES="$1" GPUSIM_CUPTI="$5" GPUPROF_CUPTI="$SIM/libcupti.so.13" \
		GPUSIM_SEED="$seed" GPUSIM_LOG="$PWD/mixed/%p.log" GPUSIM_TRUTH="$PWD/mixed/%p.truth" \
		timeout 120 "$GPUPROF" stat --capture mixed/c.gpr --format json -o mixed/r.json -- \
		"$SIM/mix" --devices "$1" --streams "$2" --processes "$3" --graphs "$4" \
		--rounds "$rounds" --pause-us "${6:-0}" --seed "$seed" "${ranges[@]}" >mixed/said 2>&1 ||
		{ cat mixed/said; return 1; }
	"$GPUPROF" report mixed/c.gpr --format json -o mixed/report.json
	cmp mixed/r.json mixed/report.json
	[ "$(find mixed -name '*.log' | wc -l)" -eq "$3" ]
	"$TEST_LIB/check_works.py" mixed/r.json mixed/*.log
	"$TEST_LIB/check_memory.py" mixed/r.json mixed/*.truth
	[ ${#ranges[@]} -eq 0 ] || "$TEST_LIB/check_mixed_ranges.py" mixed/r.json mixed mixed/*.log
}

idle_is_true() { "$TEST_LIB/check_works.py" mixed/r.json mixed/*.log --idle; }

# The same with threads that pause, and the causes of idle time. The trap of a probe is where a thread loses
# its CPU if another wants it, and that time is of the call or before it, as one looks: once more then.
mixed_with_idle() { # DEVICES STREAMS PROCESSES GRAPHS CUPTI
	mixed "$@" 3000
	if idle_is_true; then
		return
	fi
	mixed "$@" 3000
	idle_is_true
}

@test "truth: works, books and copies of any mix equal the truth, to the nanosecond" {
	local row
	while read -ra row; do
		mixed "${row[@]}"
		[ "${row[2]}" -ne 1 ] || mixed_with_idle "${row[@]}"
	done < <(if [ "${GPUPROF_MIXTURES:-}" = all ]; then all_mixtures; else echo "$PAIRS"; fi)
}

@test "truth: live idle causes of processes that share devices are within 5 us a call or 2 %" {
	mixed_with_idle 1 4 4 some 12.8
	mixed_with_idle 4 1 4 only 13.0
	mixed_with_idle 2 8 3 never 11.8
}

# What is done to the tables t of a true report, and who must see it.
MUTANTS='check_works.py|t["ledger"].append(dict(t["ledger"][0], pid=1))
check_works.py|t["ledger"].append(dict(t["ledger"][0], device=7))
check_works.py|t["kernels"].append(dict(t["kernels"][0], device=7))
check_works.py|t["copies"].append(dict(t["copies"][0], pid=1))
check_works.py|t["kernels"][0]["total_ns"] += 1
check_memory.py|[r.update(device=1 - r["device"]) for r in t["memory"]]
check_memory.py|t["memory"][0]["live_bytes"] += 1
check_memory.py|t["memory"][0]["peak_bytes"] += 1
check_memory.py|t["memory"][0].update(incomplete=True)
check_memory.py|t["memory"].append(dict(t["memory"][0], pid=1))
check_memory.py|t["memory"].append(dict(t["memory"][0], device=7))
check_mixed_ranges.py|t["ranges"][0]["count"] += 1
check_mixed_ranges.py|t["ranges"][0]["launches"] += 1
check_mixed_ranges.py|t["ranges"][0]["device_ns"] += 1
check_mixed_ranges.py|t["ranges"][0].update(nvtx_domain="another")
check_mixed_ranges.py|t["ranges"][0]["host_ns"] += 10**9
check_mixed_ranges.py|t["ranges"].pop()
check_mixed_ranges.py|t["ranges"].append(dict(t["ranges"][0], pid=1))'

@test "truth: comparing reports with the truth finds each altered figure" {
	local checker change of n=0
	mixed 2 4 1 some 13.0
	python3 - "$MUTANTS" <<-'EOF_PY'
		import json, sys
		for n, line in enumerate(sys.argv[1].splitlines()):
		    r = json.load(open("mixed/r.json"))
		    t = r["tables"]
		    exec(line.split("|")[1])
		    json.dump(r, open(f"mutant-{n}.json", "w"))
	EOF_PY
	while IFS='|' read -r checker change; do
		case $checker in
		check_works.py) of=(mixed/*.log) ;;
		check_memory.py) of=(mixed/*.truth) ;;
		*) [ -e "$SIM/ranges" ] || break # they are the last
			of=(mixed mixed/*.log) ;;
		esac
		run "$TEST_LIB/$checker" "mutant-$n.json" "${of[@]}"
		n=$((n + 1))
		echo "$checker, $change: $output"
		assert_failure 1
		assert_output --regexp '[0-9]+ differences$'
	done <<<"$MUTANTS"
}

# exact ARGS-OF-SCRIBE...: a capture with exact stamps, and its report
exact() {
	local seed=${GPUPROF_SEED:-$RANDOM}
	echo "scribe $*: GPUPROF_SEED=$seed"
	rm -f x.gpr
	"$SIM/scribe" x.gpr x.log "$@" --seed "$seed" 2>/dev/null
	"$GPUPROF" report x.gpr --format json -o x.json
	"$TEST_LIB/check_works.py" x.json x.log --exact
}

# bats file_tags=needs:sim
@test "truth: in a capture with exact stamps every idle nanosecond has its true cause" {
	exact --rounds 1500
	exact --devices 4 --streams 1 --threads 4 --rounds 400
	exact --devices 2 --streams 16 --threads 9 --rounds 300
	exact --devices 8 --streams 3 --threads 16 --rounds 100
	exact --devices 1 --streams 4 --threads 2 --rounds 8000 # settled as it goes
}
