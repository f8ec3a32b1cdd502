#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Real JAX on the simulated GPU: what XLA made of a jitted function is measured to the last work.

# bats file_tags=needs:root,needs:bpf,needs:sim,needs:jax

load ../lib/common

FUSE=("$ROOT/build/jax-venv/bin/python" "$ROOT/tests/jax/fuse.py")
# XLA compiles with ptxas and libdevice.
WITH_JAX=(env "XLA_FLAGS=--xla_gpu_cuda_data_dir=$ROOT/build/cuda" "LD_LIBRARY_PATH=$ROOT/build/jax:$SIM/cupti13.3:$SIM:$SIM/nvml" GPUSIM_CUPTI=13.3
	GPUSIM_BACKED=1 GPUSIM_LOG=%p.log)

calls_of() { report_value r.json "sum(c['count'] for c in t['calls'] if c['function'] == '$1')"; }
in_log() { python3 -c 'import json, sys
print(sum(c["function"] == sys.argv[1] for c in json.load(open(sys.argv[2]))["calls"]))' "$1" ./*.log; }

@test "jax: every work and launch of a jitted fusion is measured, by the names that XLA gave" {
	run -0 "${WITH_JAX[@]}" "$GPUPROF" stat --format json -o r.json -- "${FUSE[@]}" 50
	assert_output --partial ok
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log
	assert_output --partial "works in 1 books are the truth"
	local function
	for function in cuLaunchKernel cuLaunchKernelEx cuMemcpyHtoDAsync_v2 cuMemCreate; do
		assert_equal "$(calls_of $function)" "$(in_log $function)"
	done
	assert [ "$(in_log cuMemCreate)" -gt 0 ]
	assert [ $(($(in_log cuLaunchKernel) + $(in_log cuLaunchKernelEx))) -gt 100 ]
	run report_value r.json 'sorted((k["symbol"], k["count"], k["bucket"]) for k in t["kernels"] if k["count"] == 50)'
	assert_output "[('input_reduce_fusion', 50, 'reduce'), ('loop_tanh_fusion', 50, 'elementwise')]"
	# XLA's ranges: what ran has its name, the passes of its compiler are two rows of hundreds
	run report_value r.json 'sorted({x["range"].split(":#")[0] for x in t["ranges"] if x["launches"]})'
	assert_output "['Thunk', 'XlaModule']"
	assert_value r.json 'sum(x["range"].startswith("XlaPass") for x in t["ranges"])' 2
	laws r.json
}
