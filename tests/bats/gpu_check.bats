#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own output
# scripts/gpu-check on the simulated GPU: each item can fail. That all pass there: gpu_slot.bats.

load ../lib/common

KIT=$ROOT/build/gpu-check

teardown() {
	end_started
	rm -rf "${OPEN:-}"
}

need_kit() { [ -x "$KIT/gpu-check" ] || make -s -C "$ROOT" gpu-check-kit; }

check() { # ARGS...: gpu-check, with the simulated driver and CUPTI
	need_kit
	LD_LIBRARY_PATH=$SIM GPUPROF_CUPTI=$SIM/libcupti.so.13 "$KIT/gpu-check" "$@"
}

# bats file_tags=needs:sim
@test "gpu-check: without a GPU it says so in one line, and exits 4" {
	! ldconfig -p | grep -q 'libcuda\.so\.1' || skip "this machine has a driver"
	need_kit
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

put_code() { # FUNCTION BYTES: where the simulated driver in ./sim has it
	local at
	at=$(nm -D sim/libcuda.so.1 | sed -n "s/^0*\([0-9a-f]*\) T $1\$/\1/p")
	at=$((0x$at + $(objdump -h sim/libcuda.so.1 | awk '$2 == ".text" { print "0x" $6, "- 0x" $4 }')))
	printf '%b' "$2" | dd of=sim/libcuda.so.1 bs=1 seek=$at conv=notrunc status=none
}

@test "gpu-check: a function whose first instruction cannot be probed fails" {
	[ "$(uname -m)" = x86_64 ] || skip "the code that is put there is x86's"
	cp -r "$SIM" sim
	put_code cuGraphLaunch '\x48\x83\xec\x08'
	SIM=$PWD/sim run check --only driver
	fails 'cuGraphLaunch begins with what can be probed +4883ec08[0-9a-f]{8} step'
}

@test "gpu-check: a push with an empty prefix fails, which the kernel single-steps" {
	[ "$(uname -m)" = x86_64 ] || skip "the code that is put there is x86's"
	cp -r "$SIM" sim
	put_code cuGraphLaunch '\x40\x55\x90\x90'
	SIM=$PWD/sim run check --only driver
	fails 'cuGraphLaunch begins with what can be probed +40559090[0-9a-f]{8} step'
}

# bats test_tags=needs:root,needs:bpf
@test "gpu-check: it finds libcupti itself, and prints what the machine is" {
	need_kit
	run -0 env -u GPUPROF_CUPTI LD_LIBRARY_PATH="$SIM" "$KIT/gpu-check" --only machine,join
	refute_line --partial FAIL
	assert_line --regexp "^ +libcupti in use +$SIM/libcupti.so.13\$"
	assert_line --regexp '^ +CUDA of the driver +13000$'
	assert_line --regexp '^ +limits on tracing +ptrace_scope .* perf_event_paranoid .*BTF'
	assert_line --regexp '^pass +join: works that met their launch +5000 of 5000'
	run -0 env LD_LIBRARY_PATH="$SIM" "$KIT/gpu-check" --libraries
	assert_line "$SIM/libcupti.so.13"
	assert_line "$SIM/libcudart.so.13"
}

@test "gpu-check: graphs that meet the wrong launch from the second session on fail" {
	run check --only sessions
	fails 'session 4: nodes that met the launch of their graph +[0-9]+ of 2000' \
		'session 5: nodes that met the launch of their graph +[0-9]+ of 2000'
}

@test "gpu-check: a target that hangs is given up after its time, once" {
	local began=$SECONDS
	GPUSIM_HANG=100 GPU_CHECK_SECONDS=2 run check --only sessions
	assert_failure 1
	assert_line --regexp "a launch without gpuprof .* failed: no answer to 'launch 2000' within 2 s"
	assert [ $((SECONDS - began)) -lt 60 ]
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

@test "gpu-check: nodes of graphs that are neither recorded nor counted as lost fail" {
	GPUSIM_CUPTI_FAULTS=keep=2 run check --only memory
	fails 'each node of a graph is recorded or counted as lost +[0-9]+ kernels and 0 lost of 200000'
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
	need_kit
	OPEN=$(mktemp -d /tmp/gpuprof-bats.XXXXXX) # where another user can come
	cp -RL "$KIT" "$OPEN/kit"
	cp -L "$SIM"/{libgpusim.so,libcuda.so.1,libcudart.so.13,libcupti.so.13} "$OPEN"
	chmod -R go+rX "$OPEN"
	run -0 setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$OPEN" \
		GPUPROF_CUPTI="$OPEN/libcupti.so.13" "$OPEN/kit/gpu-check" --only probes,join
	assert_line --regexp '^left out +uprobes: cost a launch, text restored +.'
	assert_line --regexp '^pass +join: works that met their launch +5000 of 5000'
}
