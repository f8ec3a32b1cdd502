#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Devices of the host: who had them, over all processes, whatever number each gives them.

load ../lib/common

# Two on one device, one on another, as long as the machine lets two run at once.
share() {
	rm -f ./*.truth
	run env GPUSIM_DEVICES=2 SIM="$SIM" GPUPROF_CUPTI="$SIM/libcupti.so.13" \
		GPUSIM_TRUTH="$PWD/%p.truth" "$GPUPROF" stat --capture c.gpr -o r.json --format json \
		-- sh two.sh
	assert_success || return
	[ "$(report_value r.json 'sum(r["ns"] for r in t["devices"] if r["owner"] == "shared") > 0')" = True ]
}

# bats test_tags=needs:root,needs:bpf
@test "devices: two processes that share one, by other numbers, are told apart to the nanosecond" {
	needs root bpf sim
	cat >two.sh <<-'EOF_SH'
		CUDA_VISIBLE_DEVICES=0,1 "$SIM/train" --steps 40 --quiet &
		CUDA_VISIBLE_DEVICES=1,0 "$SIM/train" --steps 40 --quiet &
		CUDA_VISIBLE_DEVICES=1 "$SIM/train" --steps 40 --quiet &
		wait
	EOF_SH
	share || share # a busy machine is given a second chance
	run "$TEST_LIB/check_ledger.py" r.json ./*.truth
	assert_success
	[ "$(report_value r.json 'len({r["device_uuid"] for r in t["devices"]})')" -eq 2 ]
	[ "$(report_value r.json 'len([r for r in t["devices"] if r["pid"]])')" -eq 3 ]
	"$GPUPROF" report c.gpr --format json >report.json
	cmp r.json report.json
}
