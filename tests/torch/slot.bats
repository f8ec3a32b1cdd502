#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gpu-slot's and gpu-check's programs of PyTorch, on the simulated GPU.

# bats file_tags=needs:sim,needs:torch

load ../lib/common

@test "gpu-slot: its PyTorch programs count their kernels as torch.profiler does" {
	local python=(env "LD_LIBRARY_PATH=$ROOT/build/torch:$SIM/cupti13.2:$SIM" GPUSIM_CUPTI=13.2
		GPUSIM_BACKED=1 "$ROOT/build/torch-venv/bin/python")
	run -0 --separate-stderr "${python[@]}" "$ROOT/tests/gpu/torch_slot.py" truth
	assert_line --partial '"kernels": 1200, '
	assert_line --partial '"profiler_kernels": 1200, '
	run -0 --separate-stderr "${python[@]}" "$ROOT/tests/gpu/torch_check.py" \
		< <(printf '%s\n' profile begin 'launch 7' end nonsense)
	assert_equal "${lines[*]}" 'ready 100 begun 7 7 failed: unknown'
}
