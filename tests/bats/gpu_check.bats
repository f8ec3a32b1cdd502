#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/gpu-check on the simulated GPU: every item passes there, and each can fail.

load ../lib/common

KIT=$ROOT/build/gpu-check

check() { # ARGS...: gpu-check, with the simulated driver and CUPTI
	[ -x "$KIT/gpu-check" ] || make -s -C "$ROOT" gpu-check-kit
	LD_LIBRARY_PATH=$SIM GPUPROF_CUPTI=$SIM/libcupti.so.13 "$KIT/gpu-check" "$@"
}

# bats test_tags=needs:root,needs:bpf
@test "gpu-check: all that gpuprof relies on is there on the simulated GPU, with figures" {
	needs root bpf sim
	run check
	refute_line --partial FAIL
	assert_success
	assert_line --regexp '^pass +cuGetProcAddress gives the exported function'
	assert_line --regexp '^pass +uprobe: a launch costs +[0-9]+ ns, without [0-9]+ ns'
	assert_line --regexp '^pass +the text is restored'
	assert_line --regexp '^pass +helper drained: a launch costs +[0-9]+ ns'
	assert_line --regexp '^pass +arming +[0-9]+ ns; a launch meanwhile took at most [0-9]+ ns'
	assert_line --regexp '^pass +stride of kernel records +[0-9]+ bytes, CUPTI [0-9]+'
	assert_line --regexp '^pass +join: works that met their launch +5000 of 5000'
	assert_line --regexp '^pass +graphs: a record of each node +5000 of 5000'
	assert_line --regexp '^pass +a profiler of CUPTI records before, during, after +500, 500, 500'
}

@test "gpu-check: without a GPU it says so in one line, and exits 4" {
	needs sim
	! ldconfig -p | grep -q 'libcuda\.so\.1' || skip "this machine has a driver"
	[ -x "$KIT/gpu-check" ] || make -s -C "$ROOT" gpu-check-kit
	run "$KIT/gpu-check"
	assert_failure 4
	assert_output "gpu-check: no GPU to check here: no libcuda.so.1"
}

@test "gpu-check: a driver that hands out other addresses fails" {
	needs sim
	GPUSIM_PROCADDR=private run check --only driver
	assert_failure 1
	assert_line --regexp '^FAIL +cuGetProcAddress gives the exported function'
}

@test "gpu-check: records that are missing fail, of works and of nodes" {
	needs sim
	GPUSIM_CUPTI_FAULTS=drop=3 run check --only join
	assert_failure 1
	assert_line --regexp '^FAIL +join: works that met their launch'
	assert_line --regexp '^FAIL +graphs: a record of each node'
}

@test "gpu-check: a CUPTI that refuses fails, for the helper and for other profilers" {
	needs sim
	GPUSIM_CUPTI_FAULTS=refuse run check --only helper,profiler
	assert_failure 1
	assert_line --regexp '^FAIL +the helper is awake +failed'
	assert_line --regexp '^FAIL +arming'
	assert_line --regexp '^FAIL +uncertainty of the clocks'
	assert_line --regexp '^FAIL +a profiler of CUPTI records'
}

@test "gpu-check: what costs or takes more than it may fails" {
	needs sim
	GPU_CHECK_MAX_MIB=-1 run check --only memory
	assert_failure 1
	assert_line --regexp '^FAIL +device memory taken'
	[ "$(id -u)" -eq 0 ] || return 0
	GPU_CHECK_MAX_NS=-1 run check --only probes
	assert_failure 1
	assert_line --regexp '^(FAIL +uprobe: a launch costs|left out)'
}

@test "gpu-check: without privileges probes are left out, the helper is checked" {
	needs root sim
	run setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$SIM" \
		GPUPROF_CUPTI="$SIM/libcupti.so.13" "$KIT/gpu-check" --only probes,join
	assert_success
	assert_line --regexp '^left out +uprobes: cost a launch, text restored +.'
	assert_line --regexp '^pass +join: works that met their launch +5000 of 5000'
}
