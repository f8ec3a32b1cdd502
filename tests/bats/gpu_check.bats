#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own output
# scripts/gpu-check on the simulated GPU: every item passes there, and each can fail.

load ../lib/common

KIT=$ROOT/build/gpu-check

check() { # ARGS...: gpu-check, with the simulated driver and CUPTI
	[ -x "$KIT/gpu-check" ] || make -s -C "$ROOT" gpu-check-kit
	LD_LIBRARY_PATH=$SIM GPUPROF_CUPTI=$SIM/libcupti.so.13 "$KIT/gpu-check" "$@"
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "gpu-check: every assumption holds on the simulated GPU, with figures" {
	run check
	refute_line --partial FAIL
	assert_success
	assert_line --regexp '^pass +cuGetProcAddress gives the exported function'
	assert_line --regexp '^pass +uprobe: a launch costs +[0-9]+ ns, without [0-9]+ ns'
	assert_line --regexp '^pass +the text is restored'
	assert_line --regexp '^pass +helper drained: a launch costs +[0-9]+ ns'
	assert_line --regexp '^pass +arming +[0-9]+ ns; a launch meanwhile took at most [0-9]+ ns'
	assert_line --regexp '^pass +stride of kernel records +[0-9]+ bytes, CUPTI [0-9]+'
	assert_line --regexp '^pass +--inject: works are seen +[0-9]+ kernels'
	assert_line --regexp '^pass +--inject: the text is restored'
	assert_line --regexp '^pass +join: works that met their launch +5000 of 5000'
	assert_line --regexp '^pass +graphs: a record of each node +5000 of 5000'
	assert_line --regexp '^pass +graphs: callbacks report each node +5000 of 5000'
	assert_line --regexp '^pass +a profiler of CUPTI records before, during, after +500, 500, 500'
}

# bats file_tags=needs:sim
@test "gpu-check: without a GPU it says so in one line, and exits 4" {
	! ldconfig -p | grep -q 'libcuda\.so\.1' || skip "this machine has a driver"
	[ -x "$KIT/gpu-check" ] || make -s -C "$ROOT" gpu-check-kit
	run -4 "$KIT/gpu-check"
	assert_output "gpu-check: no GPU to check here: no libcuda.so.1"
}

# fails WHAT...: gpu-check found these wrong, each on one line, and nothing else.
fails() {
	local what
	assert_failure 1
	for what; do
		assert_line --regexp "^FAIL +$what"
	done
	assert_equal "$(grep -c ^FAIL <<<"$output")" $#
}

@test "gpu-check: a driver that hands out other addresses fails" {
	GPUSIM_PROCADDR=private run check --only driver
	fails 'cuGetProcAddress gives the exported function +0x[0-9a-f]+ 0x[0-9a-f]+$'
}

@test "gpu-check: a function whose first instruction cannot be probed fails" {
	[ "$(uname -m)" = x86_64 ] || skip "the code that is put there is x86's"
	local at
	cp -r "$SIM" sim
	at=$(nm -D sim/libcuda.so.1 | sed -n 's/^0*\([0-9a-f]*\) T cuGraphLaunch$/\1/p')
	at=$((0x$at + $(objdump -h sim/libcuda.so.1 | awk '$2 == ".text" { print "0x" $6, "- 0x" $4 }')))
	printf '\x48\x83\xec\x08' | dd of=sim/libcuda.so.1 bs=1 seek=$at conv=notrunc status=none
	SIM=$PWD/sim run check --only driver
	fails 'cuGraphLaunch begins with what can be probed +4883ec08'
}

# bats test_tags=needs:root,needs:bpf
@test "gpu-check: changed code fails, after probes and after --inject" {
	GPUSIM_SCAR=12000 run check --only probes
	fails 'the text is restored +[0-9a-f]{16}, before [0-9a-f]{16}$'
	GPUSIM_SCAR=2100 run check --only inject
	fails '--inject: the text is restored +[0-9a-f]{16}, before [0-9a-f]{16}$'
}

@test "gpu-check: an unreliable helper fails: stride, records, clock" {
	GPUSIM_CUPTI=8.0 GPUSIM_CUPTI_FAULTS=drop=9,clock=200 run check --only helper
	fails 'stride of kernel records +136 bytes, CUPTI 8$' 'records of unknown kind or size, lost +[0-9]+, [0-9]+$' \
		'uncertainty of the clocks \(least, median ns\) +[0-9]+ [0-9]+$'
}

@test "gpu-check: missing records of works and of nodes fail" {
	GPUSIM_CUPTI_FAULTS=drop=3,deaf run check --only join
	fails 'join: works that met their launch' 'graphs: a record of each node' \
		'graphs: callbacks report each node +0 of 5000'
}

@test "gpu-check: a CUPTI that refuses fails, for the helper and for other profilers" {
	GPUSIM_CUPTI_FAULTS=refuse run check --only helper,profiler
	assert_failure 1
	assert_line --regexp '^FAIL +the helper is awake +failed'
	assert_line --regexp '^FAIL +arming'
	assert_line --regexp '^FAIL +uncertainty of the clocks'
	assert_line --regexp '^FAIL +a profiler of CUPTI records'
}

@test "gpu-check: a cost or memory use above its limit fails" {
	GPU_CHECK_MAX_MIB=-1 run check --only memory
	assert_failure 1
	assert_line --regexp '^FAIL +device memory taken'
	[ "$(id -u)" -eq 0 ] || return 0
	GPU_CHECK_MAX_NS=-1 run check --only probes
	assert_failure 1
	assert_line --regexp '^(FAIL +uprobe: a launch costs|left out)'
}

# bats test_tags=needs:root
@test "gpu-check: without privileges probes are left out, the helper is checked" {
	run -0 setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$SIM" \
		GPUPROF_CUPTI="$SIM/libcupti.so.13" "$KIT/gpu-check" --only probes,join
	assert_line --regexp '^left out +uprobes: cost a launch, text restored +.'
	assert_line --regexp '^pass +join: works that met their launch +5000 of 5000'
}
