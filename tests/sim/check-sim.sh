#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Checks the simulated GPU as built: the first instructions of its shims, and that train and simcalls leave the truth
# they should. usage: check-sim.sh [BUILD/sim]   (default: build/sim)
# shellcheck disable=SC2317  # the checks are reached through report
# No grep -q at the end of a pipe: it leaves when it has found, and pipefail takes who still writes for failed.
set -euo pipefail

sim=${1:-build/sim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
export GPUSIM_QUIET=1

report() { # report NAME COMMAND...: runs it, prints ok or not ok with what it said
	local name=$1 status
	shift
	# not as a condition: that would switch off -e inside the check
	set +e
	(set -e; "$@") >"$work/said" 2>&1
	status=$?
	set -e
	if [[ $status == 0 ]]; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' "$work/said"
		failed=1
	fi
}

# But those that compiled code calls before main, which do next to nothing and are not probed.
first_instructions() { # first_instructions LIBRARY MNEMONIC: every exported function begins with it
	objdump -d --no-show-raw-insn "$1" >"$work/code"
	nm -D --defined-only "$1" | sed -n 's/.* T \([^@]*\).*/\1/p' |
		grep -Ev '^__cuda(Register|Unregister|GetKernel)' >"$work/names"
	awk -v wanted="$2" '
		NR == FNR { exported[$1] = 1; total++; next }
		/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3); sub(/@.*/, "", name); fresh = 1; next }
		fresh && name in exported {
			seen++
			if ($2 != wanted) { print name ": " $2; bad = 1 }
		}
		{ fresh = 0 }
		END { if (seen != total || !total) { print seen " of " total " seen"; bad = 1 }; exit bad }
	' "$work/names" "$work/code"
}

launch_thunk() { # launch_thunk LIBRARY: __cudaLaunchKernel is a jump into cudaLaunchKernel
	objdump -d "$1" | grep -A6 '<__cudaLaunchKernel.*>:$' | grep -E '(jmp|b) .*<cudaLaunchKernel(@|>)' >/dev/null
}

truth() { # truth FILE PYTHON: an assertion about the truth; count(f), nested(f), row(f) are at hand
	python3 - "$1" "$2" <<-'PY'
	import json, sys
	truth = json.load(open(sys.argv[1]))
	assert truth["truth_version"] == 1 and truth["simulated"] is True
	def row(name, outermost=True):
	    rows = [f for f in truth["functions"] if f["function"] == name and f["outermost"] == outermost]
	    return rows[0] if rows else {"count": 0, "open": 0, "bytes": 0}
	def count(name):
	    return row(name)["count"]
	def nested(name):
	    return row(name, False)["count"]
	for f in truth["functions"]:
	    assert f["count"] == sum(f["results"].values()), f
	    assert f["max_ns"] <= f["total_ns"], f
	    if f["class"] == "launch" and "Graph" not in f["function"]:
	        assert f["count"] == sum(s["count"] for s in f["shapes"]), f
	outermost_ns = sum(f["total_ns"] for f in truth["functions"] if f["outermost"])
	assert outermost_ns == sum(sum(t["classes"].values()) for t in truth["threads"])
	assert eval(sys.argv[2]), [(f["function"], f["outermost"], f["count"]) for f in truth["functions"]]
	PY
}

train_counts() { # train_counts LIBRARIES: 12 steps on 2 threads, 26 launches a step and one before
	LD_LIBRARY_PATH=$1 GPUSIM_TRUTH=$work/train.json "$sim/train" --steps 12 --threads 2 --quiet
	truth "$work/train.json" "count('cudaLaunchKernel') == 2 * (1 + 12 * 26) == nested('cuLaunchKernel') \
		and count('cudaMemcpyAsync') == 12 * 2 * 3 and nested('cuMemcpyHtoDAsync_v2') == 12 * 2 * 2 \
		and count('cudaStreamSynchronize') == 12 * 2 and count('cudaEventRecord') == 12 * 2 * 2 \
		and row('cudaMemcpyAsync')['bytes'] == 12 * 2 * ((16 << 20) + 4096 + 4) \
		and len(truth['threads']) == 2 and len(row('cudaLaunchKernel')['shapes']) == 6"
}

calls_counts() { # calls_counts PROGRAM OPTION...: what was ordered was called
	GPUSIM_TRUTH=$work/calls.json "$@" cudaLaunchKernel=1000 __cudaLaunchKernel=500 cudaMalloc=20 cudaFree=20 \
		cudaMemcpy=30 cudaDeviceSynchronize=5 --threads 2
	truth "$work/calls.json" "count('cudaLaunchKernel') == 3000 and count('cudaMalloc') == 2 * 21 \
		and count('cudaFree') == 40 and count('cudaMemcpy') == 60 and count('cudaDeviceSynchronize') == 10 \
		and row('cudaMemcpy')['bytes'] == 60 * 4096"
}

private_address() { # the runtime's launches reach a twin that no symbol names
	GPUSIM_PROCADDR=private GPUSIM_TRUTH=$work/private.json "$sim/simcalls" cudaLaunchKernel=10
	truth "$work/private.json" "nested('cuLaunchKernel') == 10 and not row('cuLaunchKernel', False)['exported']"
}

per_thread_twins() { # the runtime's twins call the driver's, with the same bytes
	GPUSIM_TRUTH=$work/twins.json "$sim/simcalls" cudaLaunchKernel_ptsz=10 cudaMemcpy_ptds=20 cudaMemcpyAsync_ptsz=6 \
		cudaMemset_ptds=7 cudaStreamSynchronize_ptsz=3 cudaEventRecord_ptsz=4 cudaMallocAsync_ptsz=2
	truth "$work/twins.json" "nested('cuLaunchKernel_ptsz') == 10 and nested('cuMemcpyHtoD_v2_ptds') == 10 \
		and nested('cuMemcpyDtoH_v2_ptds') == 10 and row('cudaMemcpy_ptds')['bytes'] == 20 * 4096 \
		and nested('cuMemcpyHtoDAsync_v2_ptsz') == 3 and nested('cuMemsetD8_v2_ptds') == 7 \
		and nested('cuStreamSynchronize_ptsz') == 3 and nested('cuEventRecord_ptsz') == 4 \
		and nested('cuMemAllocAsync_ptsz') == 2 and nested('cuStreamSynchronize') == 0"
}

stripped_static() { # nothing in it says where the runtime is, and it calls like the others
	local mode exported
	[[ -z $(nm "$sim/simcalls-static" 2>/dev/null) ]]
	! nm -D "$sim/simcalls-static" | grep cuda >/dev/null || return 1
	for mode in export private; do
		GPUSIM_PROCADDR=$mode GPUSIM_TRUTH=$work/static.json "$sim/simcalls-static" cudaLaunchKernel=10
		exported=$([[ $mode == export ]] && echo True || echo False)
		truth "$work/static.json" "count('cudaLaunchKernel') == 10 == nested('cuLaunchKernel') \
			and row('cuLaunchKernel', False)['exported'] == $exported"
	done
}

older_runtime() { # the runtime of CUDA 12 under its name
	local library=$sim/cuda12/libcudart.so.12
	objdump -p "$library" | grep -E 'SONAME +libcudart.so.12$' >/dev/null
	nm -D "$library" | grep 'cudaLaunchKernel@@libcudart.so.12' >/dev/null
	GPUSIM_TRUTH=$work/older.json "$sim/simcalls-dl" --dlopen "$library" cudaLaunchKernel=5
	truth "$work/older.json" "count('cudaLaunchKernel') == 5"
}

open_call() { # a synchronise that never returns is open in the truth
	GPUSIM_TRUTH=$work/hang.json "$sim/simcalls" --hang-sync --exit-after-ms 100
	truth "$work/hang.json" "row('cudaStreamSynchronize')['open'] == 1 and count('cudaStreamSynchronize') == 0"
}

hang_on_order() { # GPUSIM_HANG=3: the third kernel never ends
	local status=0
	GPUSIM_HANG=4 "$sim/simcalls" cudaLaunchKernel=3 cudaDeviceSynchronize=1
	GPUSIM_HANG=3 timeout -s KILL 0.5 "$sim/simcalls" cudaLaunchKernel=3 cudaDeviceSynchronize=1 || status=$?
	[[ $status == 137 ]]
}

out_of_memory() { # allocations beyond the device's memory fail with the real code
	GPUSIM_MEMORY_BYTES=4096 GPUSIM_TRUTH=$work/memory.json "$sim/simcalls" cudaMalloc=6
	truth "$work/memory.json" "row('cudaMalloc')['results'] == {'cudaSuccess': 4, 'cudaErrorMemoryAllocation': 2} \
		and row('cudaMalloc')['errors'] == 2"
}

every_function() { # every function that simcalls offers succeeds
	local functions
	mapfile -t functions < <("$sim/simcalls" --list | sed 's/$/=3/')
	GPUSIM_TRUTH=$work/all.json "$sim/simcalls" "${functions[@]}" --threads 3
	truth "$work/all.json" "all(f['errors'] == 0 and f['open'] == 0 for f in truth['functions'])"
}

forked_children() { # each child writes a truth of its own
	GPUSIM_TRUTH=$work/child-%p.json "$sim/simcalls-dl" --fork 3 --late-dlopen cudaMalloc=7
	local file files=("$work"/child-*.json)
	[[ ${#files[@]} == 3 ]]
	for file in "${files[@]}"; do
		truth "$file" "count('cudaMalloc') == 7"
	done
}

aliases() { # every ncclX is weak, and a strong pncclX has the same address
	nm -D --defined-only "$sim/libnccl.so.2" | awk '
		$2 == "W" { weak["p" $3] = $1; total++ }
		$2 == "T" { strong[$3] = $1 }
		END {
			for (name in weak)
				if (strong[name] != weak[name]) { print name; bad = 1 }
			if (total < 20 || length(strong) != total) { print total, length(strong); bad = 1 }
			exit bad
		}'
}

nccl_begins_with() { # nccl_begins_with MNEMONIC: every function, by its address, since each has two names
	local address
	for address in $(nm -D --defined-only "$sim/libnccl.so.2" | awk '$2 == "T" { print $1 }'); do
		objdump -d --no-show-raw-insn --start-address="0x$address" --stop-address=$((0x$address + 1)) \
			"$sim/libnccl.so.2" | tail -n 1 | grep "$1" >/dev/null
	done
}

data_parallel() { # each of 4 ranks has a truth of its own, and no shared memory is left
	local file files
	GPUSIM_TRUTH=$work/rank-%p.json "$sim/ddp" --ranks 4 --steps 10 --bytes 1000000 --quiet
	files=("$work"/rank-*.json)
	[[ ${#files[@]} == 4 ]]
	for file in "${files[@]}"; do
		truth "$file" "count('ncclAllReduce') == 20 and row('ncclAllReduce')['bytes'] == 10 * (1000000 + 4) \
			and row('ncclAllReduce')['class'] == 'collective' and row('ncclBroadcast')['bytes'] == 1000000 \
			and count('ncclGroupEnd') == 1 and row('ncclSend')['bytes'] == 4 \
			and row('ncclCommInitRank')['results'] == {'ncclSuccess': 1} and len(truth['threads']) == 1"
	done
}

late_rank() { # rank 1 is 20 ms late at each of 22 works: the others wait for it in their synchronises
	local file waited
	GPUSIM_NCCL_LATE=1:20 GPUSIM_TRUTH=$work/late-%p.json "$sim/ddp" --ranks 2 --steps 10 --quiet
	for file in "$work"/late-*.json; do
		waited="row('cudaStreamSynchronize')['total_ns']"
		truth "$file" "21 * 20e6 <= $waited"
	done
}

in_pause() { # in_pause PID...: how many of these processes wait for a signal
	local pid count=0
	for pid; do
		grep -q pause "/proc/$pid/wchan" && count=$((count + 1))
	done
	echo "$count"
}

hung_rank() { # rank 1 stays in its 4th collective, the others in the synchronise of that step
	local ddp ranks status=0 tries
	GPUSIM_NCCL_HANG=1:4 "$sim/ddp" --ranks 3 --steps 10 --quiet 2>/dev/null &
	ddp=$!
	for ((tries = 0; tries < 100; tries++)); do
		sleep 0.1
		mapfile -t ranks < <(pgrep -P "$ddp")
		[[ $(in_pause "${ranks[@]}") == 0 ]] || break
	done
	sleep 0.5
	[[ $(in_pause "${ranks[@]}") == 1 ]] || status=2
	kill "${ranks[@]}"
	wait "$ddp" || status=$((status + $?))
	[[ ${#ranks[@]} == 3 && $status == 1 ]]
}

if [[ $(uname -m) == x86_64 ]]; then
	for library in libcuda.so.1 libcudart.so.13; do
		report "$library: every function begins with push" first_instructions "$sim/$library" push
		report "endbr/$library: every function begins with endbr64" \
			first_instructions "$sim/endbr/$library" endbr64
	done
	report "libnccl.so.2: every function begins with push" nccl_begins_with push
fi
report "libcudart.so.13: __cudaLaunchKernel jumps into cudaLaunchKernel" launch_thunk "$sim/libcudart.so.13"
report "train: the truth has every call" train_counts "$sim"
report "train: the same with the endbr libraries" train_counts "$sim/endbr"
report "simcalls: the truth has every call" calls_counts "$sim/simcalls"
report "simcalls-dl: the same through dlopen" calls_counts "$sim/simcalls-dl" --dlopen "$sim/libcudart.so.13" --init
report "simcalls: every function offered works" every_function
report "simcalls: forked children write their own truth" forked_children
report "libnccl.so.2: each function has a weak and a tools' name" aliases
report "ddp: every rank's truth has its collectives" data_parallel
report "GPUSIM_NCCL_LATE=RANK:MS: the others wait for that rank" late_rank
report "GPUSIM_NCCL_HANG=RANK:N: that rank hangs in its N-th collective" hung_rank
report "cuGetProcAddress: private hands out twins" private_address
report "per-thread twins: each calls its twin of the driver" per_thread_twins
report "simcalls-static: stripped, and calls all the same" stripped_static
report "libcudart.so.12: the same under that name" older_runtime
report "a synchronise that hangs is open in the truth" open_call
report "GPUSIM_HANG=N: the N-th kernel never ends" hang_on_order
report "GPUSIM_MEMORY_BYTES: allocations beyond it fail" out_of_memory
exit "$failed"
