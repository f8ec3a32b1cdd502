#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own output
# scripts/gpu-slot and gpu_facts on the simulated GPU: one command answers everything, and each experiment
# answers what the simulated CUPTI was set to.

# bats file_tags=needs:sim

load ../lib/common

KIT=$ROOT/build/gpu-check
LATE=$SIM/cupti13.3/libcupti.so.13	# with the functions that came with 13.2 and 13.3

need_kit() { [ -x "$KIT/gpu-slot" ] || make -s -C "$ROOT" gpu-check-kit; }

# An experiment on the simulated driver and CUPTI; NAME=VALUE are its settings. Exit status of gpu_facts.
facts() { # EXPERIMENT NAME=VALUE...
	need_kit
	run env LD_LIBRARY_PATH="$SIM" GPUPROF_CUPTI="$SIM/libcupti.so.13" \
		GPU_FACTS_CUDART="$SIM/libcudart.so.13" "${@:2}" timeout 60 "$KIT/gpu_facts" "$1"
}

answer() { sed -n "s/^$1: //p" <<<"$output"; } # KEY

answers() { # KEY REGEX: one such answer is so
	answer "$1" | grep -Eq -- "$2" && return
	printf 'no "%s: %s" in:\n%s\n' "$1" "$2" "$output" >&2
	return 1
}

# Whole milliseconds of the answer, which may have more in front: "0 ok, 300.123 ms".
milliseconds() { answer "$1" | sed -n 's/.*[, ]\([0-9]*\)\.[0-9]* ms.*/\1/p;s/^\([0-9]*\)\.[0-9]* ms.*/\1/p' | head -n 1; } # KEY

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "gpu-slot: one command within 3 minutes, six small files, all assumptions hold on the simulated GPU" {
	local file began=$SECONDS name
	need_kit
	mkdir kit kit/cupti-13.2
	find "$KIT" -maxdepth 1 -type f -exec ln -s -t kit {} +
	cp "$SIM/cupti13.2/libcupti.so.13" kit/cupti-13.2/
	printf '#!/bin/sh\n[ "$1" = - ] || { echo no PyTorch in this Python; exit 1; }\n' >python
	chmod +x python
	run -0 env LD_LIBRARY_PATH="$SIM" GPUPROF_CUPTI="$LATE" GPUSIM_CUPTI=13.3 SLOT_PYTHON="$PWD/python" \
		"$KIT/gpu-slot" out kit
	assert [ $((SECONDS - began)) -le 180 ]
	for file in out/*; do
		assert [ "$(stat -c %s "$file")" -le 1048576 ]
	done
	assert_equal "$(cd out && echo *)" 'census.txt check.txt facts.txt torch.txt versions.txt'
	assert_equal "$(cat out/torch.txt)" '### PyTorch: left out: its import ended with 1: no PyTorch in this Python'
	run -1 grep -h 'exit status' out/*.txt
	for name in noinit inject occupied takeover inflight withhold graphs threads clock ticks memory nested \
		arm cost device finish address; do
		assert_file_contains out/facts.txt "^== $name: "
	done
	assert_file_contains out/facts.txt '^ *libcupti in use .*libcupti.so.13$'
	assert_file_contains out/facts.txt '^### all of it took [0-9]* s$'
	assert_file_contains out/census.txt '^in all: [0-9]* push$'
	assert_file_contains out/versions.txt '^### cupti-13.2, graphs$'
	run -0 cat out/check.txt
	all_items_pass
}

all_items_pass() { # of gpu-check, with figures
	refute_line --partial FAIL
	assert_line --regexp '^pass +cuGetProcAddress gives the exported function'
	assert_line --regexp '^pass +cuGraphLaunch begins with what can be probed +[0-9a-f]{16} push'
	assert_line --regexp '^pass +uprobe: a launch costs +[0-9]+ ns, without [0-9]+ ns'
	assert_line --regexp '^pass +the text is restored'
	assert_line --regexp '^pass +helper drained: a launch costs +[0-9]+ ns'
	assert_line --regexp '^pass +arming +[0-9]+ ns; a launch meanwhile took at most [0-9]+ ns'
	assert_line --regexp '^pass +stride of kernel records +232 bytes, CUPTI 130300'
	assert_line --regexp '^pass +--inject: works are seen +[0-9]+ kernels'
	assert_line --regexp '^pass +--inject: the text is restored'
	assert_line --regexp '^pass +join: works that met their launch +5000 of 5000'
	assert_line --regexp '^pass +graphs: a record of each node +5000 of 5000'
	assert_line --regexp '^pass +graphs: callbacks report each node +5000 of 5000'
	assert_line --regexp '^pass +each node of a graph is recorded or counted as lost +20[0-9]{4} kernels'
	assert_line --regexp '^pass +session 3: works that met their launch +2000 of 2000'
	assert_line --regexp '^pass +session 5: nodes that met the launch of their graph +2000 of 2000'
	assert_line --regexp '^pass +a profiler of CUPTI records before, during, after +500, (500|4[4-9][0-9]), 500 of 500'
	assert_line --regexp '^pass +gpuprof first, then a profiler of CUPTI records: gpuprof does not call it idle'
	assert_line --regexp '^pass +a profiler of CUPTI records first, then gpuprof: the profiler sees all +400 of 400'
}

@test "gpu-slot: without time left its steps are left out, and without a GPU each has its reason" {
	need_kit
	LD_LIBRARY_PATH=$SIM SLOT_SECONDS=0 run -0 "$KIT/gpu-slot" out
	assert_file_contains out/facts.txt '^### inflight: left out: no time left$'
	! ldconfig -p | grep -q 'libcuda\.so\.1' || skip "this machine has a driver"
	run -1 "$KIT/gpu_facts" clock
	assert_line 'left out: no libcuda.so.1'
	run -4 "$KIT/gpu-check" --only machine
	assert_output "gpu-check: no GPU to check here: no libcuda.so.1"
}

@test "gpu_facts: noinit has CUPTI's version before cuInit, or its error, or its crash" {
	facts noinit
	answers 'cuptiGetVersion before cuInit' '^0 ok'
	answers version '^130001$'
	answers 'size of kernel' '^216 bytes$'
	facts noinit GPUSIM_CUPTI=13.3 GPUPROF_CUPTI="$LATE"
	answers 'cuptiGetVersion before cuInit' '^999 unknown error'
	answers clock 'answers 999$'
	facts noinit GPUSIM_CUPTI=13.2 GPUSIM_CUPTI_FAULTS=unusable
	assert_equal "$status" 139
	answers libcupti .
	facts noinit GPUPROF_CUPTI=/nowhere
	assert_equal "$status" 77
	answers 'left out' '^no libcupti'
}

@test "gpu_facts: inject and finish arm as the helper does, with each version's sizes" {
	facts inject CUDA_INJECTION64_PATH="$KIT/gpu_facts.so"
	assert_success
	answers 'cuDeviceGetCount inside cuInit' '^3, ' # not initialized
	answers 'kernels recorded' '^100$'
	facts finish GPUSIM_CUPTI=13.5 GPUPROF_CUPTI="$LATE"
	assert_success
	answers 'size of kernel' '^248 bytes; by cuptiActivityGetStructSize 0, 248$'
	answers 'enable single functions' '^1[0-9]{3}, '
	answers end '100 kernels not flushed'
	facts finish GPUSIM_CUPTI=12.1
	answers 'size of kernel' '^208 bytes$'
	answers 'enable single functions' '^0, '
}

@test "gpu_facts: occupied sees what shows that CUPTI is in use" {
	facts occupied
	answers 'kinds while enabled' '^no cuptiActivityGetEnabledKinds'
	answers 'cuptiSubscribe while kinds are enabled' '^0 ok'
	answers 'kernels recorded' '^200 of 200$'
	facts occupied GPUSIM_CUPTI=13.3 GPUPROF_CUPTI="$LATE"
	answers 'kinds while enabled' '^0, 2 kinds: 5 10$'
	answers 'kinds after' '^0, 0 kinds:$'
	facts occupied GPUSIM_CUPTI_FAULTS=busy
	answers 'cuptiSubscribe while kinds are enabled' '^39 multiple subscribers'
}

@test "gpu_facts: takeover finds buffers at the client that registered last" {
	facts takeover
	answers 'a device record while A is registered' 'reached A$'
	answers 'B is registered, 500 more' '^client B: .* 1 of others, .* 1000 records'
	answers 'a device record while B is registered' 'reached B$'
	answers 'A has not enabled again, 500 more' '^client A: .* 0 records'
	answers 'A has enabled again, 500 more' '^client A: .* 500 records'
}

@test "gpu_facts: inflight and withhold follow the works that CUPTI holds back" {
	facts inflight
	answers 'records while it runs' '^0$'
	answers 'records after it ended' '^0$'
	answers 'records after enabling again and one launch' '^2$'
	assert [ "$(milliseconds "a kernel's length")" -ge 1250 ]
	facts inflight GPUSIM_CUPTI_FAULTS=forget
	assert [ "$(milliseconds "a kernel's length")" -le 310 ]
	facts withhold
	answers 'flush while a kernel of another stream runs' '^0 of 200 '
	answers 'flush after it ended' '^201 of 201$'
	answers 'then a flush' '^20 of 20$'
	facts withhold GPUSIM_CUPTI_FAULTS=prompt
	answers 'flush while a kernel of another stream runs' '^200 of 200 '
}

@test "gpu_facts: graphs finds wrong correlations from the second session on, before 13.1 alone" {
	facts graphs
	answers 'session 1, made before' ' 200 kernels, 200 met a launch, 0 of them the wrong one'
	answers 'session 2, made before' ' 200 kernels, 0 met a launch'
	answers 'session 5, made while whole graphs are' ' 0 kernels, .* 20 whole graphs$'
	answers 'session 6, nodes again' ' 200 kernels, 0 met a launch'
	facts graphs GPUSIM_CUPTI=13.3 GPUPROF_CUPTI="$LATE"
	answers 'session 2, made before' ' 200 kernels, 200 met a launch, 0 of them the wrong one'
	answers 'session 5, made while whole graphs are' ' 0 kernels, .* 20 whole graphs$'
	answers 'session 7, whole graphs, made before' ' 0 kernels, .* 0 whole graphs$'
}

@test "gpu_facts: threads counts a buffer for each thread from 13.0 on, one before" {
	facts threads
	answers '96 threads have launched 10 each' '^client A: 9[67] asked, .* 9[67] out'
	answers 'after they ended and a forced flush' ' 0 out, '
	facts threads GPUSIM_CUPTI=12.9
	answers '96 threads have launched 10 each' '^client A: 1 asked, .* 1 out'
}

@test "gpu_facts: clock and ticks find the clock of records" {
	facts clock
	answers 'clock before' '^-?[0-9]{1,5} ns from CLOCK_REALTIME'
	answers 'kernels that began before their call' '^0 of 2000$'
	answers 'kernel.end - kernel.start' 'p50 [23][0-9]{3} '
	answers 'records met of kind 10' '^216 bytes$'
	facts ticks
	answers 'cuptiGetTimestamp' '^is in ticks$'
	answers 'a kernel of 1 ms' "^[1-9][0-9]{6} long$"
	answers 'clock then' '^-?[0-9]{1,5} ns from CLOCK_REALTIME'
}

@test "gpu_facts: arm sees a cold enabling, and launches that wait for it" {
	facts arm GPUSIM_CUPTI_FAULTS=cold=400
	assert [ "$(milliseconds 'enable kernel')" -ge 400 ]
	assert [ "$(milliseconds 'launches, enable kernel')" -ge 300 ]
	assert [ "$(milliseconds 'enable kernel again')" -le 100 ]
}

@test "gpu_facts: device finds nodes without times, and whether disabling renews the buffers" {
	facts device GPUSIM_CUPTI_FAULTS=device=150000
	answers 'round 1, 100000 nodes more' '^100000 kernels, 0 without times'
	answers 'round 1, 100000 nodes more' '^100000 kernels, 50000 without times'
	answers 'round 2, 100000 nodes more' '^100000 kernels, 0 without times'
	facts device 'GPUSIM_CUPTI_FAULTS=device!=150000'
	run ! answers 'round 2, 100000 nodes more' '^100000 kernels, 0 without times'
}

@test "gpu_facts: address, census, memory, nested, cost" {
	facts address
	answers 'cuLaunchKernel, legacy' ' push exported as cuLaunchKernel$'
	answers 'addresses that are exported' '^([0-9]+) of \1$'
	facts address GPUSIM_PROCADDR=private
	answers 'cuLaunchKernel, legacy' 'NOT EXPORTED'
	facts census LD_LIBRARY_PATH="$SIM/endbr:$SIM"
	[ "$(uname -m)" != x86_64 ] || answers cuGraphLaunch '^f30f1efa55.* push$'
	facts memory
	answers alloc '^1048576 bytes, kind 3, async 0'
	answers free '^4194304 bytes, kind 3, async 1'
	facts nested
	answers 'both APIs' '^cudaMalloc, '
	run -1 grep -q 'one by one: cudaMemset' <<<"$output" # before 13.3 not in a process with a context
	facts nested GPUSIM_CUPTI=13.3 GPUPROF_CUPTI="$LATE"
	answers 'functions one by one' '^cudaMemset, '
	facts cost
	answers kernels '^p50 [0-9]+ p90 [0-9]+ p99 [0-9]+ max [0-9]+ ns'
	answers 'all disabled, no flush' '^p50 '
}
