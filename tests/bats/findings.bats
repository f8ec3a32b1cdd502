#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own STARTED
# Findings: a training with four planted faults, each found with the share that the simulated GPU and
# the program say it had; the same training without, in which nothing is; and what is said first.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# pretrain under gpuprof: c.gpr, its report r.json, l.json and m.json, what happened.
pretrain() { # ARGS...
	rm -f c.gpr
	env GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/l.json" PRETRAIN_MARKS=m.json \
		"$GPUPROF" record -q -o c.gpr -- "$SIM/pretrain" "$@"
	"$GPUPROF" report c.gpr --format json -o r.json
	"$TEST_LIB/compare_findings.py" r.json l.json m.json
}

# A machine that is busy just then is given a second chance; which one it was is said.
compared() {
	run pretrain "$@"
	[ "$status" -eq 0 ] && return
	echo "once more, since: $output"
	run pretrain "$@"
}

@test "findings: four planted faults are found with their true shares; the verdict names the largest" {
	compared --faults all
	assert_success
	assert_equal "${#lines[@]}" 4
	run -0 "$GPUPROF" report c.gpr --table findings
	assert_line --regexp '^[0-9.]+ % of device 0 \(pid [0-9]+, pretrain\) is lost to [a-z-]+: '
	assert_line --regexp '^Evidence: '
	assert_line --regexp '^Next: gpuprof '
	run "$GPUPROF" report c.gpr --table findings --format csv
	assert_line --index 0 "severity,finding,pid,device,mig,share,gain_bound,cause,evidence,advice,next,tid,function,count,each_ns,where"
	run "$GPUPROF" report c.gpr --table processes --format json -o p.json
	[ "$(report_value p.json 't["processes"][0]["verdict"]')" != none ]
}

# The functions of tests/sim/pretrain_*.c that have the faults.
PLANTED="exposed-comm trainer_step < all_reduce
input-stall copy_batch < loader_next
needless-sync trainer_step < look
unpinned-copies trainer_step < copy_batch"

wheres() { # REPORT
	report_value "$1" '"\n".join(sorted(r["finding"] + " " + r["where"] for r in t["findings"] if r["where"]))'
}

@test "findings: where is the program's function that waits, copies and reduces, of stat, record and -p" {
	export GPUPROF_CUPTI="$SIM/libcupti.so.13"
	run -0 "$GPUPROF" record -q --max-loss 100% -o c.gpr -- "$SIM/pretrain" --faults all
	"$GPUPROF" report c.gpr --table findings --format json -o r.json
	run wheres r.json
	assert_output "$PLANTED"
	run -0 "$GPUPROF" report c.gpr
	assert_line --regexp '^ #  .* where  +how often$'
	assert_line --regexp 'unpinned-copies .* copy_batch +[0-9]+ x '
	assert_line --regexp 'needless-sync .* trainer_step < look +[0-9]+ x '
	run -0 "$GPUPROF" report c.gpr --full
	assert_output --partial 'trainer_step < look'
	"$GPUPROF" stat -q --max-loss 100% --table findings --format json -o r.json -- "$SIM/pretrain" --faults all >/dev/null
	run wheres r.json
	assert_output "$PLANTED"
	GPUPROF_ARM=1 "$SIM/pretrain" --steps 100000 --faults all >/dev/null 3>&- &
	STARTED+=("$!")
	sleep 0.3
	"$GPUPROF" record -q --max-loss 100% -d 1s -o c.gpr -p "$!"
	run -0 "$GPUPROF" report c.gpr --max-loss 100% --by stack --table calls
	assert_output --partial '        look'
}

@test "findings: without stacks, or of the whole host, where is the thread" {
	export GPUPROF_CUPTI="$SIM/libcupti.so.13"
	"$GPUPROF" record -q --max-loss 100% --no-stacks -o c.gpr -- "$SIM/pretrain" --steps 10 --faults all
	run -0 "$GPUPROF" report c.gpr --max-loss 100%
	assert_line --regexp '^ #  .* where \(thread\) +how often$'
	"$GPUPROF" report c.gpr --max-loss 100% --format json -o r.json
	assert_value r.json '{r["where"] for r in t["findings"]}' '{None}'
	assert_value r.json 'next(e["lost"] + e["received"] for e in t["events"] if e["kind"] == "stack")' 0
	"$GPUPROF" stat -q -a -d 100ms --format json -o r.json
	assert_value r.json 'next(e["lost"] + e["received"] for e in t["events"] if e["kind"] == "stack")' 0
}

@test "findings: the training without faults has no finding of 5 % or more, and the report says so" {
	compared
	assert_success
	run "$GPUPROF" report c.gpr --format md
	assert_line --partial "No avoidable loss above 5 % was found: device 0"
	run "$GPUPROF" report c.gpr --table processes --format csv
	assert_output --partial ",none,"
}

# Programs that share devices, and the verdict on them: its share is the device's true idle share.
shared_verdict() { # GPUPROF_ARGS... <SCRIPT
	cat >all.sh
	rm -f ./*.log
	export SIM GPUPROF_CUPTI="$SIM/libcupti.so.13" GPUSIM_LOG="$PWD/%p.log"
	"$GPUPROF" stat --table findings,devices,ledger,threads --format json -o r.json "$@"
	"$TEST_LIB/check_shared.py" r.json ./*.log
}

@test "findings: a process that waits is not blamed for a device that another one keeps busy" {
	shared_verdict -- sh all.sh <<-'EOF_SH'
		"$SIM/plant" healthy --ms 1500 &
		"$SIM/train" --steps 40 --stall-every 1 --stall-ms 50 --quiet &
		wait
	EOF_SH
	shared_verdict -- sh all.sh <<-'EOF_SH'
		"$SIM/plant" healthy --ms 1500 &
		"$SIM/train" --steps 4 --stall-every 1 --stall-ms 400 --quiet &
		"$SIM/plant" sleep --ms 1500 &
		"$SIM/plant" short-kernels --ms 1500 & stopped=$!
		sleep 0.4; kill -STOP $stopped; sleep 0.8; kill -CONT $stopped
		wait
	EOF_SH
}

@test "findings: of a device that processes share its true idle share is lost, whatever the others do" {
	shared_verdict -- sh all.sh <<-'EOF_SH'
		"$SIM/plant" sleep --ms 1500 &
		"$SIM/train" --steps 4 --stall-every 1 --stall-ms 400 --quiet &
		wait
	EOF_SH
	shared_verdict -- sh all.sh <<-'EOF_SH'
		"$SIM/plant" sleep --ms 1500 &
		"$SIM/plant" sleep --ms 1500 & stopped=$!
		sleep 0.4; kill -STOP $stopped; sleep 0.8; kill -CONT $stopped
		wait
	EOF_SH
}

@test "findings: with -a a stranger that idles on a busy device does not come before another device's loss" {
	eval "$("$GPUPROF" env --for shell --dir "$PWD/env" 2>env.err)"
	mkdir board
	export GPUSIM_DEVICES=2 GPUSIM_BOARD=$PWD/board GPUSIM_LOG=$PWD/%p.log
	"$SIM/plant" healthy --ms 3500 3>&- &
	STARTED+=($!)
	"$SIM/train" --steps 8 --stall-every 1 --stall-ms 400 --quiet 3>&- &
	STARTED+=($!)
	CUDA_VISIBLE_DEVICES=1 "$SIM/plant" server --ms 3500 3>&- &
	STARTED+=($!)
	CUDA_VISIBLE_DEVICES=1 "$SIM/train" --steps 8 --stall-every 1 --stall-ms 400 --quiet 3>&- &
	STARTED+=($!)
	sleep 0.5
	LD_LIBRARY_PATH=$SIM/nvml "$GPUPROF" stat -a -d 2s --table findings,devices,ledger,threads --format json -o r.json
	wait "${STARTED[@]}"
	run -0 "$TEST_LIB/check_shared.py" r.json ./*.log
	assert_output --partial "of device 1 "
}

@test "findings: where off-CPU time is not recorded a stopped process is no finding of severity high" {
	cat >stop.sh <<-'EOF_SH'
		"$SIM/train" --steps 150 --stall-every 0 --quiet & pid=$!
		sleep 0.5; kill -STOP $pid; sleep 2; kill -CONT $pid
		wait
	EOF_SH
	for without in "--off-cpu off" "--attach none --off-cpu off"; do
		# shellcheck disable=SC2086 # two words
		run -0 env SIM="$SIM" GPUPROF_CUPTI="$SIM/libcupti.so.13" "$GPUPROF" stat $without \
			--table findings --format csv -- sh stop.sh
		refute_output --regexp '^high,'
		assert_output --partial "it was not recorded if the thread was stopped or had no CPU"
	done
}

@test "findings: a command that a signal kills in its first call is named with both" {
	cat >die.py <<-'EOF'
		import ctypes
		lib = ctypes.CDLL("libcuda.so.1")
		lib.cuCtxCreate_v2(ctypes.c_void_p(1), 0, 0)
	EOF
	run -139 env LD_LIBRARY_PATH="$SIM" "$GPUPROF" stat --full --capture c.gpr -- python3 die.py
	assert_line "The command was killed by SIGSEGV in cuCtxCreate_v2."
	run -0 "$GPUPROF" report --full c.gpr
	assert_line "The command was killed by SIGSEGV in cuCtxCreate_v2."
	refute_output --partial "no calls" # it was in one
}

@test "findings: without device times the verdict bounds what the thread's calls allow" {
	LD_LIBRARY_PATH=$SIM "$SIM/simcalls" cudaLaunchKernel=1000 cudaStreamSynchronize=100 --init \
		--wait-file go >calls.out 3>&- &
	as_ready_target calls.out
	start_gpuprof stat --full -p "$TARGET"
	wait_armed "$TARGET"
	touch go
	wait_gpuprof 0
	run cat gpuprof.out
	assert_line --partial "did was not seen: no helper is in it."
	assert_line --partial "waits for the device in synchronising calls"
	assert_output --regexp 'costs[[:space:]]+it[[:space:]]+at[[:space:]]+most[[:space:]]+[0-9.]+ %'
	refute_output --partial "Next:" # it has ended, and gpuprof did not start it
	refute_line findings
}

# bats file_tags=needs:root,needs:bpf,needs:targets
@test "findings: a missing driver that fails every call is the verdict (real libcudart)" {
	[ ! -e /dev/nvidiactl ] || skip "this machine has a driver"
	start_target t cudart-dyn --launches 1000
	watch_target t stat --full
	run cat gpuprof.out
	assert_output --regexp 'CUDA cannot be used \(pid [0-9]+, cudart-dyn\): cudaLaunchKernel gave cudaErrorInsufficientDriver'
	assert_line "Evidence: 1,000 calls failed so."
	assert_line "Next: nvidia-smi"
}
