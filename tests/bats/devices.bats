#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Devices of the host: who had them, over all processes, whatever number each gives them.

# bats file_tags=needs:root,needs:bpf,needs:sim

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

# together TURNS [LATER]: two to five processes with one to three devices each, numbered by each in another order;
# they begin when all have a device, or (LATER) each some time after the one before. Seeds are drawn and printed; GPUPROF_SEED repeats one.
together() {
	local devices=$((RANDOM % 3 + 1)) processes=$((RANDOM % 4 + 2)) i visible
	local rounds=600 begin="--wait-file go" later=${2:-}
	rm -rf ./*.log go board && mkdir board
	for ((i = 0; i < processes; i++)); do
		visible=$(seq 0 $((devices - 1)) | shuf --random-source=<(yes "$RANDOM") | paste -sd, -)
		[ -z "$later" ] || { begin="" rounds=$((RANDOM % 500 + 100)); echo "sleep 0.0$((RANDOM % 10))"; }
		echo "CUDA_VISIBLE_DEVICES=$visible \"\$SIM/mix\" --devices $devices --streams $((RANDOM % 4 + 1))" \
			"--graphs some --rounds $((rounds / devices)) --pause-us 500 --seed $RANDOM $begin &"
	done >all.sh
	[ -n "$later" ] ||
		echo "until [ \$(ls board | grep -c process-) -eq $processes ]; do sleep 0.05; done; : >go" >>all.sh
	echo wait >>all.sh
	cat all.sh
	env GPUSIM_TURNS="$1" GPUSIM_BOARD="$PWD/board" GPUSIM_DEVICES="$devices" SIM="$SIM" \
		GPUSIM_LOG="$PWD/%p.log" GPUPROF_CUPTI="$SIM/libcupti.so.13" timeout 60 \
		"$GPUPROF" stat --ring-size 64M --format json -o r.json -- sh all.sh >said 2>&1 || { cat said; return 1; }
	[ "$(find . -name '*.log' | wc -l)" -eq $processes ]
}

@test "devices: the owners of a device equal the processes' own logs, concurrent and in turns" {
	local seed=${GPUPROF_SEED:-$RANDOM}
	may_repeat "while a process's time is unknown, as its helper arms, so is whom it waited for"
	echo "GPUPROF_SEED=$seed"
	RANDOM=$seed
	together 0
	"$TEST_LIB/check_devices.py" r.json ./*.log
	together 1
	"$TEST_LIB/check_devices.py" r.json ./*.log --turns
	together $((RANDOM % 2)) later
	"$TEST_LIB/check_devices.py" r.json ./*.log --any
}

@test "devices: two processes sharing a device under different ordinals are separated to the nanosecond" {
	cat >two.sh <<-'EOF_SH'
		CUDA_VISIBLE_DEVICES=0,1 "$SIM/train" --steps 40 --quiet &
		CUDA_VISIBLE_DEVICES=1,0 "$SIM/train" --steps 40 --quiet &
		CUDA_VISIBLE_DEVICES=1 "$SIM/train" --steps 40 --quiet &
		wait
	EOF_SH
	may_repeat "on a busy machine the three may run one after the other"
	share || fail "they shared no device"
	run -0 "$TEST_LIB/check_ledger.py" r.json ./*.truth
	[ "$(report_value r.json 'len({r["device_uuid"] for r in t["devices"]})')" -eq 2 ]
	[ "$(report_value r.json 'len([r for r in t["devices"] if r["pid"]])')" -eq 3 ]
	report_says_the_same c.gpr r.json
}

@test "devices: a process has rows in the ledger for the devices that it used, not for all it sees" {
	env GPUSIM_DEVICES=4 GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat -o r.json --format json \
		-- sh -c "\"$SIM/train\" --steps 20 --quiet & CUDA_VISIBLE_DEVICES=2,1 \"$SIM/train\" --steps 20 --quiet; wait"
	[ "$(report_value r.json 'sorted({(r["device_uuid"][-1]) for r in t["ledger"]})')" = "['0', '2']" ]
	[ "$(report_value r.json 'len({(r["pid"], r["device_uuid"]) for r in t["ledger"]})')" -eq 2 ]
	[ "$(report_value r.json 'len({r["device_uuid"] for r in t["devices"]})')" -eq 4 ]
}
