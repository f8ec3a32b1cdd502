#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The ledger of devices: it balances, it is the truth of the simulated GPU, and what it says of idle
# time is what the program did.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# With the helper of this build in the simulated CUPTI.
profile() { # VERB ARGS...
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_TRUTH="$PWD/%p.truth" "$GPUPROF" "$@"
}

# idle REPORT.json CAUSE...: in ms, of all books
idle() {
	python3 - "$@" <<-'EOF_PY'
		import json, sys
		rows = json.load(open(sys.argv[1]))["tables"]["ledger"]
		print(sum(r["ns"] for r in rows if r["state"] == "idle" and r["bucket"] in sys.argv[2:]) // 10**6)
	EOF_PY
}

# The storage is slow now and then: the device waits for it as long as the program says that it waited
# for its input, and no longer than a busy machine explains.
stalled() {
	local waited other
	rm -f ./*.truth
	run profile stat -o r.json --format json -- "$SIM/train" --steps 60 --stall-every 10 --stall-ms 60
	assert_success || return
	waited=$(sed -n 's/.*waited for input \([0-9]*\)\.\([0-9]*\) s.*/\1\2/p' <<<"$output")
	other=$(idle r.json other runqueue disk io lock page-fault sleep off-cpu)
	echo "waited $((10#$waited)) ms for input, idle outside of calls $other ms"
	((other > 10#$waited * 95 / 100 && other < 10#$waited * 150 / 100))
}

@test "ledger: an input stall is the device's idle time, books balance, works equal the truth" {
	may_repeat "on a busy machine the program waits for a CPU, too"
	stalled || fail "idle time is not what the program waited"
	run -0 "$TEST_LIB/check_ledger.py" r.json ./*.truth
	assert_output "1 books add up"
}

@test "ledger: report of a capture equals stat of the same run, device tables too" {
	run -0 profile stat --capture c.gpr --format json -o stat.json -- "$SIM/train" --steps 20 --quiet
	"$GPUPROF" report c.gpr --format json >report.json
	cmp stat.json report.json
	[ "$(report_value report.json 'len(t["kernels"])')" -eq 6 ]
}

@test "ledger: a capture's report has a book for each of four ranks" {
	run -0 profile record -o c.gpr -- "$SIM/ddp" --steps 20 --quiet
	run -0 "$GPUPROF" report c.gpr --format json -o r.json
	run -0 "$TEST_LIB/check_ledger.py" r.json ./*.truth
	assert_output "4 books add up"
	run "$GPUPROF" report c.gpr --table ledger --format csv
	assert_output --partial ",comm,comm,"
	assert_output --partial ",idle,sync,"
	assert_output --partial ",idle,comm-host,"
}

# bats file_tags=needs:root,needs:bpf,needs:targets
@test "ledger: without a helper the report says so and how to get one" {
	start_target t cudart-dyn --launches 1000
	watch_target t stat --full
	run cat gpuprof.out
	refute_output --partial "ledger"
	refute_output --partial "kernels"
	assert_output --partial "device times: not known, no helper told of any"
}
