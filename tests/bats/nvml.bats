#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own STARTED
# What NVML reports of the host's devices, from a simulated one: how active they were, who else is on them,
# what went wrong; and that nothing depends on it.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# The simulation's devices, and where its NVML looks for orders.
board() {
	mkdir board
	export GPUSIM_DEVICES=2 GPUSIM_BOARD=$PWD/board GPUPROF_CUPTI=$SIM/libcupti.so.13
}

# facts FACT...: what the simulated NVML reports, from now on.
facts() { printf '%s\n' "$@" >board/facts; }

# with NVML GPUPROF'S ARGUMENTS: `nvml` or `none`.
with() {
	local library=$SIM/$1
	if [ "$1" = none ] && ldconfig -p | grep -c 'libnvidia-ml\.so\.1' >/dev/null; then
		skip "this machine has a driver, and with it NVML"
	fi
	shift
	run env LD_LIBRARY_PATH="$library" timeout 100 "$GPUPROF" "$@"
}

train() { # NVML [OPTION...]
	local nvml=$1
	shift
	with "$nvml" stat --capture c.gpr -o r.json --format json "$@" -- "$SIM/train" --steps "${steps:-60}" --quiet
	assert_success
}

value() { report_value r.json "$1"; }

@test "nvml: devices have NVML's index and activity, processes their memory by NVML" {
	board
	facts gpm.2=41.5 gpm.3=20 gpm.5=12.25 gpm.10@0=33.5 gpm.10@1=none context_bytes=1000000
	train nvml
	[ "$(value '{(r["device"], r["sm_active_pct"], r["tensor_active_pct"], r["sm_occupancy_pct"], r["dram_active_pct"]) for r in t["devices"]} == {(0, 41.5, 12.25, 20, 33.5), (1, 41.5, 12.25, 20, None)}')" = True ]
	[ "$(value 'all(0 < r["sampled_ns"] <= r["wall_ns"] for r in t["devices"])')" = True ]
	[ "$(value '[r["owner"] for r in t["devices"] if r["owner"] in ("unwatched", "shared")]')" = '[]' ]
	[ "$(value 'max(r["nvml_used_bytes"] or 0 for r in t["memory"]) > 1000000')" = True ]
	[ "$(value '[r["nvml_used_bytes"] for r in t["memory"] if r["kind"] == "pinned"]')" = '[None]' ]
	[ "$(value 'r["meta"]["nvml"]')" = "driver gpusim, 2 devices, activity by GPM" ]
	[ "$(value 'r["meta"]["nvml_missing"]')" = None ]
	report_says_the_same c.gpr r.json
}

@test "nvml: power, energy and clocks are those of the device, where it has them" {
	board
	facts power_mw@0=250500 clock.1@0=1410 clock.2@0=1593 energy_mj@0=70000 energy_mj@0=74500:200 \
		power_mw@1=none clock.1@1=none clock.2@1=none energy_mj@1=none
	train nvml
	[ "$(value '{tuple(r[c] for c in ("device", "power_w", "energy_j", "sm_mhz", "memory_mhz", "power_device")) for r in t["devices"]} == {(0, 250.5, 4.5, 1410, 1593, 0), (1, None, None, None, None, None)}')" = True ]
	[ "$(value '[0 < r["energy_ns"] <= r["wall_ns"] + 10**9 for r in t["devices"] if r["device"] == 0 and r["pid"]]')" = '[True]' ]
	report_says_the_same c.gpr r.json
}

@test "nvml: the memory of a process that lives for half a second is known, too" {
	board
	facts context_bytes=1000000
	local steps=40
	for _ in 1 2; do	# once more where the machine was too busy to read devices in that time
		train nvml
		[ "$(value 'max(r["nvml_used_bytes"] or 0 for r in t["memory"]) > 1000000')" = True ] && return
	done
	false
}

@test "nvml: every table names a device by its index on the host, whatever ordinal the process uses" {
	board
	export CUDA_VISIBLE_DEVICES=1
	train nvml
	[ "$(value '{r["device"] for name in ("ledger", "devices", "kernels", "copies", "memory", "findings") for r in t.get(name, [])} - {None}')" = '{1}' ]
	train none
	[ "$(value '{r["device"] for name in ("ledger", "kernels", "copies") for r in t[name]}')" = '{0}' ]
}

@test "nvml: an unwatched process owns the busy time that no watched process had" {
	board
	facts process@0=1/5000 process@1=1/5000 utilization@0=50 utilization@1=0
	train nvml
	[ "$(value 'sum(r["ns"] for r in t["devices"]) == sum({r["device"]: r["wall_ns"] for r in t["devices"]}.values())')" = True ]
	# Of what NVML watched, all that train did not have; at the device that ran nothing, none.
	[ "$(value '[r["source"] for r in t["devices"] if r["owner"] == "unwatched" and r["device"] == 0]')" = "['samples']" ]
	[ "$(value 'sum(r["ns"] for r in t["devices"] if r["device"] == 0 and r["owner"] == "unwatched") > sum(r["ns"] for r in t["devices"] if r["device"] == 0 and r["owner"] == "idle")')" = True ]
	[ "$(value '[r["owner"] for r in t["devices"] if r["device"] == 1]')" = "['idle']" ]
	report_says_the_same c.gpr r.json
}

@test "nvml: a watched process is not blamed for idle time in which an unwatched one has the device" {
	board
	export GPUSIM_DEVICES=12 CUDA_VISIBLE_DEVICES=11 # others on this host have the first ones
	local how used
	CUDA_INJECTION64_PATH="$ROOT/build/libgpuprof.so" LD_LIBRARY_PATH=$SIM \
		"$SIM/train" --steps 100000 --stall-every 1 --stall-ms 20 --quiet 3>&- &
	as_target
	until compgen -G 'board/process-*' >/dev/null; do sleep 0.05; done # it has a context
	for used in 100 0; do
		facts process@11=1/5000 utilization@11=$used
		for how in "-p $TARGET" -a; do
			# shellcheck disable=SC2086 # two words
			with nvml stat $how -d 2s -o r.json --format json
			[ "$status" -eq 0 ] || [ "$status" -eq 5 ] # others' events were lost
			# Its stalls are the device's loss only where that was idle.
			assert_value r.json "[f['share'] > 0.2 for f in t['findings'] if f['pid'] == $TARGET and f['finding'] == 'input-stall']" \
				"[$([ $used -eq 0 ] && echo True || echo False)]"
			[ $used -eq 0 ] || [[ $(value 'r["meta"]["verdict"]') != *"device 11 (pid $TARGET"*"is lost to"* ]]
		done
	done
}

@test "nvml: with -a, devices that no watched process uses are shown by their samples" {
	board
	export GPUSIM_DEVICES=4
	facts process@2=1/5000 utilization@2=50 utilization@3=0
	CUDA_VISIBLE_DEVICES=1 "$SIM/train" --steps 100000 --quiet &
	STARTED+=($!)
	until compgen -G 'board/process-*' >/dev/null; do sleep 0.05; done	# it has a context
	with nvml stat -a -d 2s -o r.json --format json --capture c.gpr
	assert_success
	owners() { value "sorted(r['owner'] for r in t['devices'] if r['device'] == $1 and r['source'] == 'samples')"; }
	[[ $(owners 2) == *"'unwatched'"* ]]
	[ "$(owners 3)" = "['idle']" ]
	[ "$(value '{r["users"] for r in t["devices"] if r["device"] == 2}')" = "{'1'}" ]
	[ "$(value 'all(sum(r["ns"] for r in t["devices"] if r["device"] == d) == w for d, w in {r["device"]: r["wall_ns"] for r in t["devices"]}.items())')" = True ]
	report_says_the_same c.gpr r.json
	# Of one process's devices only is a report on it.
	with nvml stat -p "${STARTED[-1]}" -d 500ms -o r.json --format json
	[ "$(value '[r for r in t["devices"] if r["device"] in (0, 2, 3)]')" = '[]' ]
}

@test "nvml: two watched processes on one device are not unwatched to each other" {
	board
	with nvml stat -o r.json --format json --capture c.gpr -- sh -c \
		"'$SIM/train' --steps 80 --quiet & '$SIM/train' --steps 80 --quiet & wait"
	assert_success
	[ "$(value 'len({r["pid"] for r in t["devices"] if r["pid"]})')" -eq 2 ]
	[ "$(value '[r["ns"] for r in t["devices"] if r["owner"] == "unwatched"]')" = '[]' ]
}

# `gpuprof` alone, without the right to probe.
bare() { run setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all env LD_LIBRARY_PATH="$SIM/$1" "$GPUPROF"; }

@test "nvml: gpuprof alone, without privileges, shows who is on which GPU and what to type" {
	board
	bare none
	assert_success
	assert_line --index 0 --regexp '^gpuprof .*: where does GPU time go\? .*: no NVIDIA driver \(.*libnvidia-ml\.so\.1'
	assert_line --regexp '^sudo gpuprof stacks -p PID '
	facts utilization@0=97
	LD_LIBRARY_PATH=$SIM CUDA_INJECTION64_PATH='' RANK=3 "$SIM/train" --steps 20000 --quiet 3>&- &
	STARTED+=($!)
	on_board() { bare nvml && [[ $output == *" $1 train"* ]]; }
	wait_for 10 on_board $!
	assert_line --index 0 --regexp 'driver gpusim, 2 devices$'
	assert_line --index 1 --regexp '^ GPU   busy +memory  process +user +to measure it$'
	assert_line --index 2 --regexp "^   0   97 % +0 / 16 GiB +$! train +rank 3 +root +sudo gpuprof -p $!\$"
	assert_line --index 3 --regexp '^   1    0 % +0 / 16 GiB  no process$'
	local heading=${lines[1]%user *} row=${lines[2]%root *}
	assert_equal "${#heading}" "${#row}"
}

@test "nvml: a watched process without a helper is named so, not as unwatched" {
	board
	facts utilization@0=50
	with nvml stat -o r.json --format json --capture c.gpr -- sh -c "
		env -u CUDA_INJECTION64_PATH -u NVTX_INJECTION64_PATH '$SIM/train' --steps 160 --quiet &
		'$SIM/train' --steps 80 --quiet
		wait"
	assert_success
	assert_value r.json '{r["owner"] for r in t["devices"] if r["device"] == 0 and not r["pid"]} >= {"untold"}' True
	[ "$(value '[r for r in t["devices"] if r["owner"] == "unwatched"]')" = '[]' ]
	run value '[f["cause"] for f in t["findings"] if f["finding"].endswith("-process")]'
	assert_output --regexp "^\\['GPU 0 is used by others whose works are not known: pid [0-9]+ \\(train, watched: no helper is in it"
	report_says_the_same c.gpr r.json
}

# instance N: its UUID, of the simulated GPU 0.
instance() { printf 'MIG-67707573-696d-0000-0000-00000000%02x00' $(($1 + 1)); }

# Two processes, each in a MIG instance of its own: train_apart NVML FACT...
train_apart() {
	local nvml=$1
	shift
	facts mig@0=3 "$@"
	# shellcheck disable=SC2016 # it is the inner shell that expands them
	with "$nvml" stat --capture c.gpr -o r.json --format json -- sh -c 'for uuid; do
			CUDA_VISIBLE_DEVICES=$uuid GPUSIM_LOG=$uuid.json "$SIM/train" --steps 80 --quiet & done; wait' \
		sh "$(instance 0)" "$(instance 1)"
}

@test "nvml: each MIG instance is a device, by UUID and the host's numbers, with its own figures" {
	board
	export SIM
	train_apart nvml gpm.2@0/0=41.5 gpm.2@0/1=10 gpm.5=3 context_bytes=1000000 power_mw=250000
	assert_success
	run -0 "$TEST_LIB/check_schema.py" "$ROOT/user/doc/report.schema.json" r.json
	run -0 python3 "$BATS_TEST_DIRNAME/../lib/check_devices.py" r.json MIG-*.json --apart
	local table
	for table in devices ledger; do
		[ "$(value "{(r['device'], r['mig'], r['device_uuid']) for r in t['$table']} == {(0, 0, '$(instance 0)'), (0, 1, '$(instance 1)')}")" = True ]
	done
	[ "$(value '{(r["device"], r["mig"], r["sm_active_pct"], r["tensor_active_pct"]) for r in t["devices"]} == {(0, 0, 41.5, 3), (0, 1, 10, 3)}')" = True ]
	[ "$(value '{r["owner"] for r in t["devices"] if not r["pid"]}')" = "{'idle'}" ]
	# NVML has the power of GPUs only.
	[ "$(value '{(r["power_w"], r["power_device"]) for r in t["devices"]}')" = "{(250, 0)}" ]
	[ "$(value 'all({(r["device"], r["mig"]) for r in t[name]} == {(0, 0), (0, 1)} for name in ("kernels", "copies", "memory", "lanes"))')" = True ]
	[ "$(value 'len({(r["pid"], r["mig"]) for r in t["kernels"]})')" -eq 2 ]
	[ "$(value 'sorted((r["devices"], r["devices_source"]) for r in t["processes"] if r["busy_share"])')" = "[('0:0', 'used'), ('0:1', 'used')]" ]
	[ "$(value 'min(max(r["nvml_used_bytes"] or 0 for r in t["memory"] if r["mig"] == i) for i in (0, 1)) >= 1000000')" = True ]
	[ "$(value 'r["meta"]["nvml"]')" = "driver gpusim, 4 devices, activity by GPM" ]
	report_says_the_same c.gpr r.json
	"$GPUPROF" report c.gpr --table devices --format csv >devices.csv
	grep -q "^0,1,$(instance 1)," devices.csv
}

@test "nvml: a GPU's faults are its MIG instances' too; activity stays with its instance" {
	board
	export SIM
	train_apart nvml xid@0/1=43:100 xid@0=79:200 throttle@0=0x20 process@0=1/5000/2
	assert_success
	finding() { value "sorted((f['device'], f['mig'], f['cause']) for f in t['findings'] if f['finding'] == '$1')"; }
	[ "$(finding device-fault)" = "[(0, 0, 'GPU 0: XID 79, the GPU has fallen off the bus'), (0, 1, 'GPU 0: XID 79, the GPU has fallen off the bus')]" ]
	[ "$(value '["XID 43" in f["evidence"] for f in sorted(t["findings"], key=lambda f: f["mig"] or 0) if f["finding"] == "device-fault"]')" = '[False, True]' ]
	[ "$(finding throttled)" = "[(0, 0, 'GPU 0: its clocks were kept down by heat'), (0, 1, 'GPU 0: its clocks were kept down by heat')]" ]
	[ "$(value '{(r["device"], r["mig"]) for r in t["devices"] if r["owner"] == "unwatched"}')" = "{(0, 1)}" ]
	[[ $(finding unwatched-process) == "[(0, 1, 'GPU 0:1 is used by others"* ]]
}

@test "nvml: meta has the versions of the driver and of its CUDA, of several the newest, in captures too; else null" {
	board
	versions() { value '(r["meta"]["driver_version"], r["meta"]["cuda_version"])'; }
	steps=5 train nvml
	[ "$(versions)" = "('gpusim', '13.0')" ]
	report_says_the_same c.gpr r.json
	with none stat -o r.json --format json -- sh -c \
		"for v in 12040 12080 11080; do GPUSIM_DRIVER=\$v '$SIM/train' --steps 3 --quiet || exit; done"
	assert_success
	[ "$(versions)" = "(None, '12.8')" ]
	with nvml stat -o r.json --format json -- env -u CUDA_INJECTION64_PATH "$SIM/train" --steps 5 --quiet
	assert_success
	[ "$(versions)" = "('gpusim', None)" ]
}

@test "nvml: without NVML the report lists what is missing, and nothing else changes" {
	board
	train none
	refute_output --partial 'NVML:'
	[[ $(value 'r["meta"]["nvml_missing"]') == *libnvidia-ml.so.1* ]]
	[ "$(value '{(r["device"], r["sm_active_pct"]) for r in t["devices"]}')" = '{(None, None)}' ]
	assert_note -f c.gpr nvml-incomplete 'cannot load it: libnvidia-ml.so.1'
}

@test "nvml: a failing query is reported once, with NVML's reason, and the rest goes on" {
	board
	facts error.nvmlInit_v2=9
	train nvml
	[ "$(grep -c 'NVML: nvmlInit_v2' <<<"$output")" -eq 1 ]
	[[ $(value 'r["meta"]["nvml_missing"]') == nvmlInit_v2:*"(NVML error 9)" ]]
	facts error.nvmlDeviceGetUtilizationRates=999 error.nvmlGpmMetricsGet=15
	train nvml
	[ "$(grep -c 'NVML: nvml' <<<"$output")" -eq 1 ]
	[ "$(value '{r["device"] for r in t["devices"]}')" = '{0, 1}' ]
}

@test "nvml: a hanging NVML holds nothing up" {
	board
	local call
	for call in nvmlInit_v2 nvmlDeviceGetUtilizationRates; do
		facts hang.$call=1
		train nvml
		[ "$(value 'sum(r["count"] for r in t["kernels"]) > 0 and r["meta"]["complete"]')" = True ]
		report_says_the_same c.gpr r.json
	done
	# It is said while the session runs.
	facts hang.nvmlInit_v2=1
	with nvml stat -o r.json --format json -- "$SIM/train" --steps 360 --quiet
	assert_output --partial 'did not answer for 3 s while it initialises'
	[[ $(value 'r["meta"]["nvml_missing"]') == *'while it initialises' ]]
}

# bats file_tags=needs:root,needs:sim
@test "nvml: with --attach none it is the same" {
	board
	facts gpm.2=41.5
	train nvml --attach none
	[ "$(value '{r["sm_active_pct"] for r in t["devices"]}')" = '{41.5}' ]
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "nvml: a fault is the first finding, with its time; clocks and unwatched processes are findings, too" {
	board
	local steps=120
	facts xid@0=79:200 ecc_single@0=0:100 throttle@0=0x24 utilization=60 process@0=1/123456789
	train nvml
	[ "$(value '(t["findings"][0]["finding"], t["findings"][0]["severity"], t["findings"][0]["share"])')" = "('device-fault', 'high', None)" ]
	[ "$(value 't["findings"][0]["cause"]')" = 'GPU 0: XID 79, the GPU has fallen off the bus' ]
	[[ $(value 't["findings"][0]["evidence"]') =~ "an error of memory was corrected at "[0-9.]+" s; XID 79 at "[0-9.]+" s" ]]
	[[ $(value 'r["meta"]["verdict"]') == 'A device failed (pid '*'XID 79'* ]]
	[ "$(value '[(f["device"], f["severity"], f["cause"]) for f in t["findings"] if f["finding"] == "throttled"]')" = "[(0, 'medium', 'GPU 0: its clocks were kept down by heat')]" ]
	[[ $(value '[f["cause"] for f in t["findings"] if f["finding"] == "unwatched-process"]') == *'pid 1 (117.7 MiB'* ]]
	report_says_the_same c.gpr r.json
}

@test "nvml: clocks that are kept down are in the verdict, whether it names a loss or none" {
	local steps=60
	board
	facts throttle@0=0x24
	train nvml
	[[ $(value 'r["meta"]["verdict"]') == *' % of device 0 '*' is lost to '*'GPU 0: its clocks were kept down by heat ('* ]]
	with nvml stat -o r.json --format json -- "$SIM/plant" healthy --ms 500
	[[ $(value 'r["meta"]["verdict"]') == 'No avoidable loss above 5 % was found: '*'GPU 0: its clocks were kept down by heat ('* ]]
}

@test "nvml: a device lost meanwhile is a fault, and the others are still read" {
	board
	local steps=120
	facts gpm.2=41.5 lost@1=1:300
	train nvml
	[[ $(value 't["findings"][0]["cause"]') =~ "GPU 1: "("NVML cannot reach it any more"|"XID 79, the GPU has fallen off the bus") ]]
	[ "$(value '{r["sm_active_pct"] for r in t["devices"] if r["device"] == 0}')" = '{41.5}' ]
}

@test "nvml: a reset device comes back by itself with its number; both events are reported" {
	board
	local steps=300 text
	facts gpm.2=41.5 reset@1=15:400:900
	train nvml
	[ "$(value '[f["cause"] for f in t["findings"] if f["finding"] == "device-fault"]')" = "['GPU 1: it was lost, and came back']" ]
	text=$(value '[f["evidence"] for f in t["findings"] if f["finding"] == "device-fault"][0]')
	[[ $text =~ "NVML cannot reach it any more at "[0-9.]+" s; NVML can reach it again at "[0-9.]+" s" ]]
	[ "$(value '{(r["device"], r["sm_active_pct"]) for r in t["devices"]} == {(0, 41.5), (1, 41.5)}')" = True ]
	# It was not sampled while it was lost, and was after.
	[ "$(value 'min(r["sampled_ns"] for r in t["devices"] if r["device"] == 1) + 300e6 < max(r["sampled_ns"] for r in t["devices"] if r["device"] == 0)')" = True ]
	[ "$(value 'min(r["sampled_ns"] for r in t["devices"] if r["device"] == 1) > 600e6')" = True ]
	report_says_the_same c.gpr r.json
}

@test "nvml: instances of a GPU that enters MIG mode meanwhile are in tables of the whole host" {
	board
	facts mig@1=2:700 gpm.2=41.5
	CUDA_VISIBLE_DEVICES=0 "$SIM/train" --steps 100000 --quiet &
	STARTED+=($!)
	wait_for 20 compgen -G 'board/process-*'
	with nvml stat -a -d 3s -o r.json --format json
	assert_success
	[ "$(value '{(r["device"], r["mig"]) for r in t["devices"]} == {(0, None), (1, None), (1, 0), (1, 1)}')" = True ]
	[ "$(value '[f for f in t["findings"] if f["finding"] == "device-fault"]')" = '[]' ]
}

@test "nvml: --gpu selects processes of a MIG instance by number or UUID; a missing instance is an error" {
	board
	facts mig@0=3
	local place chosen
	declare -A pids
	for place in 0 1; do
		CUDA_VISIBLE_DEVICES=$(instance $place) "$SIM/train" --steps 100000 --quiet &
		pids[$place]=$!
		STARTED+=($!)
	done
	two_there() { [ "$(find board -name 'process-*' | wc -l)" -eq 2 ]; }
	wait_for 20 two_there
	for chosen in 0:1 "$(instance 1)"; do
		with nvml stat --gpu "$chosen" -d 500ms --format json -o r.json
		assert_success
		[ "$(value '{r["pid"] for r in t["calls"]}')" = "{${pids[1]}}" ]
	done
	with nvml stat --gpu 0:7 -d 1s
	assert_equal "$status" 2
	one_line "no MIG instance '0:7', but 0:0 ($(instance 0)), 0:1"
	with nvml stat --gpu MIG-GPU-0000/1/0 -d 1s
	assert_equal "$status" 2
	one_line "no MIG instance 'MIG-GPU-0000/1/0'"
	with none stat --gpu 0:1 -d 1s
	assert_equal "$status" 2
	one_line "MIG instance '0:1' cannot be looked up without NVML: cannot load it"
}

# bats file_tags=needs:sim
@test "nvml: doctor reports whether it answers" {
	board
	with nvml doctor
	assert_output --regexp 'ok +NVML +driver gpusim, 2 devices, activity by GPM'
	with none doctor
	assert_output --regexp 'less +NVML +cannot load it: libnvidia-ml.so.1'
	facts error.nvmlInit_v2=18
	with nvml doctor
	assert_output --regexp 'less +NVML +nvmlInit_v2: .*NVML error 18'
}
