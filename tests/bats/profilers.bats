#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What gpuprof reports beside a profiler of the program that it cannot notice (torch.profiler since August
# 2026): times of a clock that is not CUPTI's own, and records that it takes.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# client, whose helper sleeps until gpuprof comes; until its profiler's first window is over. Before CUPTI
# 13.2 gpuprof would get no works after it.
start_client() { # WHEN
	LD_LIBRARY_PATH=$SIM/cupti13.2:$SIM GPUSIM_CUPTI=13.2 GPUPROF_CUPTI=$SIM/cupti13.2/libcupti.so.13 \
		CUDA_INJECTION64_PATH=$ROOT/build/libgpuprof.so CLIENT_STYLE=torch GPUSIM_LOG=$PWD/client.log \
		"$SIM/client" "$1" >client.out 2>&1 3>&- &
	TARGET=$!
	STARTED+=("$TARGET")
	wait_for 30 grep -q profiler: client.out
}

# Of one kernel, as reported and as the simulation logged it.
kernel_ns() { # REPORT LOG
	python3 -c 'import json, sys
k = json.load(open(sys.argv[1]))["tables"]["kernels"][0]
works = [w["end"] - w["start"] for w in json.load(open(sys.argv[2]))["works"] if w["kind"] == "kernel"]
print(k["total_ns"] / k["count"], sum(works) / len(works))' "$@"
}

@test "profilers: after one that set CUPTI's clock to ticks kernels have their true times, with a note" {
	local ns true_ns
	start_client twice
	"$GPUPROF" stat -p "$TARGET" -d 2.6 --format json -o r.json 2>gpuprof.err
	wait "$TARGET"
	laws r.json
	read -r ns true_ns < <(kernel_ns r.json client.log)
	# The simulation's own ticks are uncertain by 0.3 us, of 3.
	assert_value r.json "0.8 < $ns / $true_ns < 1.2" True
	assert_note clock-foreign "set CUPTI's clock to ticks of 0.476 ns: times are interpolated between readings"
	refute_note clock-set
}

# Of the client's time, the share that is lost or unknown.
beside_torch() { # WHEN
	LD_LIBRARY_PATH=$SIM GPUPROF_CUPTI=$SIM/libcupti.so.13 CLIENT_STYLE=torch \
		"$GPUPROF" stat --format json -o r.json -- "$SIM/client" "$1" >client.out 2>gpuprof.err
	laws r.json
	assert_note '(records-missing|records-kept|cupti-occupied)'
	report_value r.json 'sum(x["share"] for x in t["ledger"] if x["bucket"] in ("lost", "unknown"))'
}

# When its window is over the helper comes back: before the second one lie three of eight seconds.
@test "profilers: while one has CUPTI's records, which nothing shows, the device is not idle but unknown" {
	run beside_torch during
	assert_success
	[[ ${lines[-1]} == 0.[89]* ]]
	run beside_torch twice
	assert_success
	[[ ${lines[-1]} == 0.[567]* ]]
}
