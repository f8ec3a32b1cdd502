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

# Each of them at once: the counts of a program, of torch.profiler beside it, and of gpuprof.
# bats test_tags=needs:root,needs:bpf,needs:sim,needs:torch
@test "gpu-slot: one command, PyTorch included, answers what the simulated GPU was set to" {
	local kit=$ROOT/build/gpu-check
	[ -x "$kit/gpu-slot" ] || make -s -C "$ROOT" gpu-check-kit
	cat >python <<-SH
		#!/bin/sh
		export LD_LIBRARY_PATH=$ROOT/build/torch:$SIM/cupti13.3:$SIM GPUSIM_CUPTI=13.3 GPUSIM_BACKED=1
		exec $ROOT/build/torch-venv/bin/python "\$@"
	SH
	chmod +x python
	run -0 env LD_LIBRARY_PATH="$SIM" GPUPROF_CUPTI="$SIM/cupti13.3/libcupti.so.13" GPUSIM_CUPTI=13.3 \
		SLOT_PYTHON="$PWD/python" "$kit/gpu-slot" out "$kit"
	run -1 grep -hE 'left out|FAIL|exit status [^0]' out/*.txt
	run -0 cat out/check.txt
	assert_line --regexp '^pass +torch.profiler before, during, after +100, 100, 100 of 100 kernels'
	assert_line --regexp '^pass +PyTorch: 6000 nodes of graphs in the queue at once +6004 works, 0 lost'
	run -0 cat out/torch.txt
	assert_line --regexp '"what": "truth".*"kernels": 1200.*"profiler_kernels": 1200'
	assert_line --regexp '"what": "plain".*"steps": 400.*"replays": 200'
	assert_line --regexp '"what": "waited".*"steps": 200.*"profiler_kernels": 600'
	reports_agree
}

# 400 steps, 200 graphs of ten and one step before each of the two; three kernels a step, and every work
# met its launch, but for those that had run when the session began and few whose clock another client set.
# Beside torch.profiler there are fewer, and that is said.
reports_agree() {
	local name
	mkdir reports
	tar xzf out/reports.tar.gz -C reports
	assert_value reports/plain.json 'sorted(r["count"] for r in t["kernels"])[-3:]' '[2402, 2402, 2402]'
	for name in plain profiler inject-wait inject-waited; do
		assert_value "reports/$name.json" 'next(e["hits"] > 1000 and e["received"] == e["hits"] and
			e["hits"] - e["matched"] - sum(int(n["text"].split()[1].replace(",", ""))
				for n in r["meta"]["notes"] if n["code"] == "works-outside") <= 3
			for e in t["events"] if e["kind"] == "work")' True
	done
	assert_note -f reports/profiler.json cupti-occupied
	assert_note -f reports/inject-waited.json clock-foreign
}
