#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Without a verb: the tables of devices are of each interval, and all intervals are the whole.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# sums FILE: of reports that follow each other: what adds up, and whether each book balances
sums() {
	python3 - "$@" <<-'EOF_PY'
		import collections, json, sys
		decoder, text, reports = json.JSONDecoder(), open(sys.argv[1]).read(), []
		while text.strip():
		    report, end = decoder.raw_decode(text.lstrip())
		    text = text.lstrip()[end:]
		    reports.append(report["tables"])
		for rows in (r["ledger"] for r in reports):
		    for wall in {row["wall_ns"] for row in rows}:
		        assert wall == sum(row["ns"] for row in rows), rows
		kernels = sum(row["count"] for r in reports for row in r["kernels"])
		copies = sum(row["count"] for r in reports for row in r["copies"])
		walls = [r["ledger"][0]["wall_ns"] for r in reports if r["ledger"]]
		total = collections.Counter()
		for r in reports:
		    for row in r["kernels"]:
		        total["kernels"] += row["total_ns"]
		    for row in r["ledger"]:
		        if row["state"] in ("compute", "comm"):
		            total["busy"] += row["busy_ns"]
		print(len(reports) > 2, len(walls) > 1, kernels, copies, total["busy"] == total["kernels"])
	EOF_PY
}

# adds_up REPORTS WHOLE: each begins where the one before ended, and books and wall time are those of the whole
adds_up() {
	python3 - "$@" <<-'EOF_PY'
		import collections, json, sys
		def read(path):
		    decoder, text = json.JSONDecoder(), open(path).read().strip()
		    while text:
		        report, end = decoder.raw_decode(text)
		        text = text[end:].lstrip()
		        yield report
		def walls(reports):
		    sums = collections.Counter()
		    for r in reports:
		        sums["wall"] += r["meta"]["duration_ns"]
		        for row in r["tables"]["ledger"]:
		            sums["ledger", row["pid"], row["device"]] += row["ns"]
		        for row in r["tables"]["devices"]:
		            sums["device", row["device_uuid"]] += row["ns"]
		    return sums
		parts, whole = list(read(sys.argv[1])), list(read(sys.argv[2]))
		for before, after in zip(parts, parts[1:]):
		    assert before["meta"]["end"] == after["meta"]["start"], (before["meta"], after["meta"])
		assert len(parts) > 2 and walls(parts) == walls(whole), (walls(parts), walls(whole))
		assert len(walls(whole)) > 2
	EOF_PY
}

@test "intervals: kernels, copies and busy time add up to the truth and, to the ns, to the whole" {
	local kernels copies
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_TRUTH="$PWD/t.truth" \
		"$GPUPROF" --interval 500ms --capture c.gpr --format json --quiet -- \
		"$SIM/train" --steps 200 --quiet >all.json
	kernels=$(python3 -c 'import json; print(sum(f["count"] for f in json.load(open("t.truth"))["functions"] if f["function"].startswith("cuLaunchKernel")))')
	copies=$(python3 -c 'import json; print(sum(f["count"] for f in json.load(open("t.truth"))["functions"] if f["function"].startswith("cuMemcpy")))')
	run sums all.json
	assert_output "True True $kernels $copies True"
	"$GPUPROF" report c.gpr --table ledger,devices --format json >whole.json
	adds_up all.json whole.json
}

@test "intervals: the single interval of -n 1 has device times and the requested length" {
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" \
		"$GPUPROF" -i 400ms -n 1 --format json --quiet -- "$SIM/train" --steps 100 --quiet >r.json
	assert_value r.json '(r["meta"]["duration_ns"] >= 400e6, len(t["ledger"]) > 0,
		"was not seen" in r["meta"]["verdict"])' "(True, True, False)"
}

@test "intervals: the first is of at most one second, later ones of five, unless --interval or --count is given" {
	lengths() { # OPTION...: of the first two intervals, in seconds (half a one is one); of how many
		"$GPUPROF" --format json --quiet "$@" -p "$!" >all.json
		python3 - <<-'PY'
			import json
			text, lengths = open("all.json").read(), []
			while text.strip():
			    report, end = json.JSONDecoder().raw_decode(text.lstrip())
			    text = text.lstrip()[end:]
			    lengths.append(report["meta"]["duration_ns"])
			print(*["%.0f" % (ns / 1e9 + 0.3) for ns in lengths[:2]], "of", len(lengths))
		PY
	}
	"$SIM/train" --steps 100000 --quiet 3>&- &
	STARTED+=($!)
	assert_equal "$(lengths -d 6100ms)" "1 5 of 3"
	assert_equal "$(lengths -d 3s --interval 2s)" "2 1 of 2"
}
