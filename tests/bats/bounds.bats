#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The bounds predict: a training without a fault is as fast as `at best` said of the run with it. Times of the
# simulated GPU and sleeps of the program are most of a run; of two runs the faster one counts, which a busy
# machine disturbed less.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

setup_file() { export GPUPROF_CUPTI=$SIM/libcupti.so.13; }

train() { # FAULTS|none: two runs, FAULTS.N.json
	local n arguments=()
	[ "$1" = none ] || arguments=(--faults "$1")
	for n in 1 2; do
		"$GPUPROF" stat -q --table findings,ledger --format json -o "$1.$n.json" -- \
			"$SIM/pretrain" "${arguments[@]}" >/dev/null
	done
}

# The wall time that the run with FAULTS loses to what REST does not have, and the bound of that: of FINDING, or
# (all) what findings of the screen's line `all N fixed` save. They are at most 5 points apart.
predicts() { # FAULTS REST FINDING|all
	python3 - "$@" <<-'EOF_PY'
		import json, sys
		POINTS = 0.05
		def fastest(faults):
		    reports = [json.load(open(f"{faults}.{n}.json")) for n in (1, 2)]
		    runs = [(r["tables"]["ledger"][0]["wall_ns"], r["tables"]["findings"]) for r in reports]
		    return min(runs, key=lambda run: run[0])
		faults, rest, finding = sys.argv[1:]
		(wall, found), (wall_without, _) = fastest(faults), fastest(rest)
		won = 1 - wall_without / wall
		one = {f["finding"]: f["gain_bound"] for f in found if f["share"]}
		if finding == "all":    # the bound of a sync has time of the others: it counts with its share
		    one["needless-sync"] = next(f["share"] for f in found if f["finding"] == "needless-sync")
		bound = sum(one.values()) if finding == "all" else one.get(finding, 0)
		print(f"{faults} without {finding}: {won:.1%} of {wall / 1e9:.3f} s, at best {bound:.1%}")
		sys.exit(abs(won - bound) > POINTS)
	EOF_PY
}

@test "bounds: without a planted fault the run is as fast as its finding says, alone and of all four" {
	may_repeat "others had the CPUs for long"
	local faults
	for faults in none input comm sync pageable all; do train $faults; done
	predicts input none input-stall
	predicts comm none exposed-comm
	predicts sync none needless-sync
	predicts pageable none unpinned-copies
	predicts all none all
}

@test "bounds: with one of four faults gone the run is as fast as its finding says" {
	may_repeat "others had the CPUs for long"
	local faults
	for faults in all comm,sync,pageable input,sync,pageable input,comm,pageable input,comm,sync; do
		train $faults
	done
	predicts all comm,sync,pageable input-stall
	predicts all input,sync,pageable exposed-comm
	predicts all input,comm,pageable needless-sync
	predicts all input,comm,sync unpinned-copies
}
