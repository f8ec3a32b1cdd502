#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Real PyTorch on the simulated GPU: a training with worker processes, autograd's threads, streams and
# CUDA graphs is measured to the last work, however gpuprof comes to it.

# bats file_tags=needs:root,needs:bpf,needs:sim,needs:torch

load ../lib/common

teardown() {
	end_started
	[ -z "$PLACE" ] || rm -rf "$PLACE"
}

TRAIN=("$ROOT/build/torch-venv/bin/python" "$ROOT/tests/torch/train.py" --json train.json)

# A CUPTI that can be armed inside cuInit: PyTorch 2.15's own, 13.2, is not before. No function: its pid in
# the background is the program's.
WITH_TORCH=(env "LD_LIBRARY_PATH=$ROOT/build/torch:$SIM/cupti13.3:$SIM" GPUSIM_CUPTI=13.3 GPUSIM_BACKED=1
	GPUSIM_LOG=%p.log)
# 13.2 is not called before the driver is initialised: what runs until then is not recorded.
FROM_START=(env "LD_LIBRARY_PATH=$ROOT/build/torch:$SIM" GPUSIM_CUPTI=13.1)

of_train() { python3 -c 'import json, sys; t = json.load(open("train.json")); print(eval(sys.argv[1]))' "$1"; }

# Starts the training, which waits for the file `go` once its model is on the device.
start_train() { # ARGS...
	"${WITH_TORCH[@]}" "${TRAIN[@]}" --ready ready --go go "$@" >train.out 2>&1 3>&- &
	TARGET=$!
	STARTED+=("$TARGET")
	wait_for 60 test -e ready
}

# All works and calls from then on; the session ends with the training.
trains_to_the_end() {
	wait_for 20 is_awake "$TARGET"
	wait_armed "$TARGET" libcudart.so.13
	: >go
	wait_gpuprof 0
	wait "$TARGET" || { cat train.out >&2; return 1; }
	measured "$(of_train 't["begin_ns"]')"
}

measured() { # SINCE
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log --since "$1"
	assert_output --partial "works in 1 books are the truth"
	run -0 "$TEST_LIB/check_calls.py" r.json ./*.log --since "$1"
	laws r.json
}

# For each window of torch.profiler, how many works the simulation logged more than that has.
unseen_by_profiler() {
	of_train '" ".join(str(sum(w["begin_ns"] <= work["start"] <= w["end_ns"] for work in works) - w["device_events"])
		for works in [json.load(open("%d.log" % t["pid"]))["works"]] for w in t["windows"])'
}

# gpuprof made nothing up, and knows what it has not seen.
yielded() {
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log --faults --foreign-clock
	assert_output --regexp "not known some$"
	assert_note cupti-occupied "another client uses CUPTI in it: probably torch.profiler"
	laws r.json
}

@test "torch: every call and work of a training is measured from its start" {
	run -0 "${WITH_TORCH[@]}" "${FROM_START[@]}" "$GPUPROF" stat --format json -o r.json -- \
		"${TRAIN[@]}" --steps 20
	measured 0
	assert_value r.json 'sum(k["count"] for k in t["kernels"]) > 2500' True
	assert_value r.json '{k["bucket"] for k in t["kernels"]} >= {"gemm", "optimizer", "norm", "attention"}' True
}

# The launches of autograd's threads, by the simulation's account, are those of train.py's loss.backward().
# A directory of Triton's own, and no process of its own for it, which has a context and no work.
compiles() { export TRITON_CACHE_DIR=$PWD/triton TORCHINDUCTOR_CACHE_DIR=$PWD/inductor TORCHINDUCTOR_COMPILE_THREADS=1; }

@test "torch: device time, launches and syncs of each line of Python are the simulation's" {
	compiles
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --stacks --off-cpu off --table lines --format json \
		-o r.json -- "${TRAIN[@]}" --steps 10 --compile --lines lines.json
	run -0 "$TEST_LIB/check_marks.py" lines r.json ./"$(of_train 't["pid"]')".log lines.json "$ROOT/tests/torch/train.py"
	assert_output --regexp "^[0-9]+ launches of [0-9]+ are in [0-9]+ lines, as they were$"
}

@test "torch: device time and launches of each module of PyTorch's are the simulation's" {
	compiles
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --torch python --off-cpu off --table modules --format json \
		-o r.json -- "${TRAIN[@]}" --steps 10 --compile --modules modules.json
	run -0 "$TEST_LIB/check_marks.py" modules r.json ./"$(of_train 't["pid"]')".log modules.json
	assert_output --regexp "^[0-9]+ launches of [0-9]+ are in [0-9]+ modules, as they were$"
}

# What PyTorch itself would have TunableOp tune, it has written when it ends.
@test "torch: device time and launches of each product of matrices are the simulation's, as TunableOp has it" {
	local tunable=(env PYTORCH_TUNABLEOP_ENABLED=1 PYTORCH_TUNABLEOP_TUNING=0 PYTORCH_TUNABLEOP_RECORD_UNTUNED=1)
	run -0 "${WITH_TORCH[@]}" "${tunable[@]}" "$GPUPROF" record --gemms --torch python --off-cpu off -o r.gpr -- \
		"${TRAIN[0]}" "$ROOT/tests/torch/gemms.py" --marks marks.json
	run -0 "$GPUPROF" report r.gpr --table gemm,events --format json -o r.json
	run -0 "$TEST_LIB/check_marks.py" gemm r.json ./*.log marks.json
	assert_output "102 launches of 102 are in 12 gemm, as they were"
	run -0 "$GPUPROF" report r.gpr --format tunableop -o tuned.csv
	run -0 diff <(sort tunableop_untuned0.csv) <(sort tuned.csv)
	run -0 "$GPUPROF" report r.gpr --table gemm --prune 10% --format json -o most.json
	assert_value most.json '[r["share"] >= 0.1 for r in t["gemm"]] == [True] * len(t["gemm"]) and 0 < len(t["gemm"]) < 10' True
	assert_value r.json 'round(t["gemm"][-1]["cumulative_share"], 9), sum(r["lost"] or 0 for r in t["events"])' "(1, 0)"
}

@test "torch: the products of a training are those that TunableOp would tune, its operators keep their launches" {
	local tunable=(env PYTORCH_TUNABLEOP_ENABLED=1 PYTORCH_TUNABLEOP_TUNING=0 PYTORCH_TUNABLEOP_RECORD_UNTUNED=1)
	run -0 "${WITH_TORCH[@]}" "${tunable[@]}" "$GPUPROF" record --gemms --torch python --off-cpu off -o r.gpr -- \
		"${TRAIN[@]}" --steps 10 --trace trace.json
	run -0 "$GPUPROF" report r.gpr --format tunableop -o tuned.csv
	run -0 diff <(sort tunableop_untuned0.csv) <(sort tuned.csv)
	run -0 "$GPUPROF" report r.gpr --table ops,gemm --format json -o r.json
	run -0 "$TEST_LIB/check_ops.py" r.json ./"$(of_train 't["pid"]')".log trace.json
	assert_output --regexp "^[0-9]+ launches are in [0-9]+ operators, 20 in none, as torch.profiler has it$"
}

# Without --torch, and without stacks: backward passes run in threads of autograd's.
@test "torch: NVTX ranges have what was launched in them, in the backward pass too" {
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --no-stacks --off-cpu off --table ranges --format json \
		-o r.json -- "${TRAIN[@]}" --steps 10 --ranges ranges.json
	run -0 "$TEST_LIB/check_marks.py" ranges r.json ./"$(of_train 't["pid"]')".log ranges.json
	assert_output --regexp "^[0-9]+ launches of [0-9]+ are in 2 ranges, as they were$"
}

# In none are those of replayed graphs (20), and of what was compiled (10).
@test "torch: launches and device time of each operator are torch.profiler's, forward and backward" {
	compiles
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --torch python --off-cpu off --table ops --format json \
		-o r.json -- "${TRAIN[@]}" --steps 10 --compile --trace trace.json
	run -0 "$TEST_LIB/check_ops.py" r.json ./"$(of_train 't["pid"]')".log trace.json
	assert_output --regexp "^[0-9]+ launches are in [0-9]+ operators, 30 in none, as torch.profiler has it$"
}

@test "torch: with --torch all launches and device time are those of the innermost operator of torch.profiler's" {
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --torch all --off-cpu off --table ops --format json \
		-o r.json -- "${TRAIN[@]}" --steps 10 --trace trace.json
	run -0 "$TEST_LIB/check_ops.py" r.json ./"$(of_train 't["pid"]')".log trace.json --innermost
	assert_output --regexp "^1[0-9]{3} launches are in 40 operators, 20 in none, as torch.profiler has it$"
}

# The account is torch.cuda.memory_stats(), the state what PyTorch's own recorder has.
@test "torch: memory that its allocator gives is as PyTorch counts it, and its state at an error as it records it" {
	run -0 --separate-stderr "${WITH_TORCH[@]}" "$GPUPROF" record --torch-memory --stacks --off-cpu off -o r.gpr -- \
		"${TRAIN[0]}" "$ROOT/tests/torch/memory.py" torchs.pickle
	grep '^{' <<<"$output" >stats.json
	run -0 "$GPUPROF" report r.gpr --format torch-memory -o ours.pickle
	run -0 "$TEST_LIB/check_torch_memory.py" ours.pickle torchs.pickle "$ROOT/tests/torch/memory.py"
	assert_output "1 segments, 12 blocks and 91 events as PyTorch has them"
	run -0 "$GPUPROF" report r.gpr --table memory,events --format json -o r.json
	assert_value r.json '[[r[c] for c in ("device", "allocs", "frees", "live_bytes", "peak_bytes")] for r in t["memory"] if r["kind"] == "torch"]' \
		"$(python3 -c 'import json; s = json.load(open("stats.json")); print([[0, s["allocation.all.allocated"],
			s["allocation.all.freed"], s["requested_bytes.all.current"], s["requested_bytes.all.peak"]]])')"
	run -0 "$GPUPROF" report r.gpr --table memory --by stack --format json -o r.json
	assert_value r.json 'sum(r["live_bytes"] for r in t["memory"] if r["kind"] == "torch" and "keep (memory.py:19)" in "".join(r["stack"]))' \
		"$(python3 -c 'print(4 * sum(1000 * (i + 1) for i in range(10) if i not in range(3, 6)))')"
}

@test "torch: each launch stands on the lines of Python that asked for it, in the backward pass too" {
	# Stacks of calls alone: how often threads leave the CPU is the machine's.
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --stacks --off-cpu off --by stack --table calls,events --format json \
		-o r.json -- "${TRAIN[@]}" --steps 20 --workers 0
	run -0 python3 - "$(grep -n 'loss\.backward()' "$ROOT/tests/torch/train.py" | cut -d: -f1)" ./*.log <<-'EOF'
		import json, sys
		log, tables = json.load(open(sys.argv[2])), json.load(open("r.json"))["tables"]
		called = [c for c in log["calls"] if c["function"] == "cudaLaunchKernel"]
		rows = [r for r in tables["calls"] if r["function"] == "cudaLaunchKernel"]
		def of(name):
		    return sum(r["count"] for r in rows if any(f.startswith(name) for f in r["stack"] or []))
		asked = {f"{of} (train.py:{line})" for of, line in zip(("Training.step", "train_cnn"), sys.argv[1].split())}
		backward = sum(r["count"] for r in rows if asked & set(r["stack"] or []) and
		               any(f.startswith("_engine_run_backward (torch/autograd/") for f in r["stack"]))
		copies = next(e for e in tables["events"] if e["kind"] == "stack")
		print(len(called) > 2500, sum(r["count"] for r in rows) == len(called), of("main (train.py:") / len(called) >= 0.99,
		      backward == sum(c["tid"] != log["pid"] for c in called) > 1000, copies["hits"] < len(called) / 4, copies["lost"])
	EOF
	assert_output "True True True True True 0"
}

@test "torch: a training lives whose backward passes throw, in Python and in C++, from four threads" {
	cat >throws.py <<-'EOF'
		import os, threading, torch
		class Bad(torch.autograd.Function):
		    @staticmethod
		    def forward(ctx, x):
		        return x * 2
		    @staticmethod
		    def backward(ctx, grad):
		        raise ValueError("no gradient")
		caught = []
		def run():
		    x = torch.ones(4, device="cuda", requires_grad=True)
		    for _ in range(200):
		        try:
		            Bad.apply(x).sum().backward()
		        except ValueError:
		            caught.append(1)
		        y = (x * x).sum()
		        y.backward()
		        try:
		            y.backward()		# its graph is gone
		        except RuntimeError:
		            caught.append(2)
		threads = [threading.Thread(target=run) for _ in range(3)]
		for t in threads:
		    t.start()
		run()
		for t in threads:
		    t.join()
		print("caught", caught.count(1), caught.count(2), flush=True)
		os._exit(0)	# PyTorch itself may abort when its workers still run: 1 of 12 without gpuprof
	EOF
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat -q --stacks --by stack --table calls --format json -o r.json -- \
		"${TRAIN[0]}" throws.py
	assert_line "caught 800 800"
	laws r.json
}

@test "torch: so it is under CUPTI 13.2, the version of PyTorch's own" {
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --format json -o r.json -- "${TRAIN[@]}" --steps 20
	measured 0
}

@test "torch: a training started under gpuprof env is measured by -p from its next call on" {
	eval "$("$GPUPROF" env --dir here 2>/dev/null)"
	start_train --steps 20
	start_gpuprof stat --format json -o r.json -p "$TARGET"
	trains_to_the_end
}

@test "torch: --inject brings the helper into a training, which goes on" {
	may_repeat "a launch that is under way when probes come back is counted by the driver's name"
	start_train --steps 20
	start_gpuprof stat --inject --yes --format json -o r.json -p "$TARGET"
	trains_to_the_end
	assert_file_contains gpuprof.err "the helper is in process $TARGET"
}

@test "torch: a kernel that Triton compiled has its name" {
	compiles
	run -0 "${WITH_TORCH[@]}" "${FROM_START[@]}" "$GPUPROF" stat --format json -o r.json -- \
		"${TRAIN[@]}" --steps 2 --compile
	run -0 "$TEST_LIB/check_works.py" r.json ./*.log
	assert_value r.json 'sum(k["count"] for k in t["kernels"] if k["symbol"].startswith("triton_"))' 10
}

# The oracle: two readers of the simulation agree.
@test "torch: torch.profiler sees as many events on the device as the simulation logged" {
	run -0 "${WITH_TORCH[@]}" "${TRAIN[@]}" --steps 2 --profile 2
	assert_equal "$(unseen_by_profiler)" "0 0"
}

# gpuprof's buffers that are out when a window begins go to the profiler, which drops them: at most 60
# records each, of the main thread and of autograd's.
is_nearly_all() { [ "$1" -ge 0 ] && [ "$1" -le 120 ]; }

@test "torch: torch.profiler takes CUPTI from gpuprof; it has all but the first works, gpuprof names it" {
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --format json -o r.json -- "${TRAIN[@]}" --steps 5 --profile 2
	read -r first second < <(unseen_by_profiler)
	is_nearly_all "$first"
	is_nearly_all "$second"
	yielded
}

has_yielded() { [[ $("$TEST_LIB/helper_state.py" "$TARGET") == "yielded "* ]]; }

@test "torch: gpuprof that comes in the middle of a window of torch.profiler takes nothing from it" {
	eval "$("$GPUPROF" env --dir here 2>/dev/null)"
	start_train --steps 5 --profile 2 --halfway halfway --on on
	: >go
	wait_for 60 test -e halfway
	start_gpuprof stat --format json -o r.json -p "$TARGET"
	wait_armed "$TARGET" libcudart.so.13
	wait_for 20 has_yielded
	: >on
	wait_gpuprof 0
	wait "$TARGET"
	read -r first second < <(unseen_by_profiler)
	assert_equal "$first" 0
	is_nearly_all "$second"
	yielded
}

@test "torch: each operator and module that Python calls is counted, also those that throw, and each backward node" {
	run -0 "${WITH_TORCH[@]}" "$GPUPROF" stat --torch python --table ops,modules,events --format json -o r.json -- \
		"$ROOT/build/torch-venv/bin/python" "$ROOT/tests/torch/ops.py"
	grep '^{"ops"' <<<"$output" >called.json
	run -0 python3 - <<-'EOF'
		import json
		called, tables = json.load(open("called.json")), json.load(open("r.json"))["tables"]
		ops = {r["op"]: r for r in tables["ops"]}
		wrong = {op: (n, ops[op]["count"] if op in ops else 0) for op, n in called["ops"].items()
		         if op not in ops or ops[op]["count"] != n}
		modules = {r["module"]: r["calls"] for r in tables["modules"]}
		nested = ops["aten.sub"]
		print(wrong, modules == called["modules"] or (modules, called["modules"]),
		      nested["host_self_ns"] < nested["host_total_ns"], ops["aten.mm"]["time_source"],
		      ops["MulBackward0"]["time_source"], sum(e["lost"] or 0 for e in tables["events"]))
	EOF
	assert_output "{} True True measured upper bound 0"
}

PYTHON=("${WITH_TORCH[@]}" "$GPUPROF" stat --off-cpu off --format json -o r.json --table "ops,modules,threads,events")

# models.py ran, with these options of gpuprof: its operators are those of torch.profiler.
models_as_profiler() { # GPUPROF_OPTION... [-- CHECK_OPTION...]
	local options=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
	"${PYTHON[@]}" "${options[@]}" -- "$ROOT/build/torch-venv/bin/python" "$ROOT/tests/torch/models.py" >models.out
	grep '^{"overloads' models.out >ran.json
	assert_value r.json 'sum(e["lost"] or 0 for e in t["events"])' 0
	run -0 "$TEST_LIB/check_shapes.py" r.json ran.json "${@:2}"
}

@test "torch: with --torch all each operator is counted as torch.profiler does, overloads apart" {
	models_as_profiler --torch all -- --without-shapes
	assert_output --regexp "^1[0-9]{2} operators ran [89][0-9]{3} times"
	assert_value r.json 'sorted({r["time_source"] for r in t["ops"]})' "['measured', 'upper bound']"
}

# The operator whose first tensor is behind a list has none for gpuprof.
@test "torch: with --shapes each operator's first tensor is the one that torch.profiler has" {
	models_as_profiler --torch all --shapes
	assert_output --regexp "^1[0-9]{2} operators ran [89][0-9]{3} times.*without a shape: aten::_foreach_mul_.Tensor$"
}

@test "torch: shapes of any type of element and up to 8 dimensions are right; of others unknown" {
	run -0 "${PYTHON[@]}" --torch all --shapes -- "$ROOT/build/torch-venv/bin/python" "$ROOT/tests/torch/shapes.py"
	grep '^{"aten' <<<"$output" >made.json
	run -0 python3 - <<-'EOF'
		import json
		made, tables = json.load(open("made.json")), json.load(open("r.json"))["tables"]
		ops = {}
		for r in tables["ops"]:
		    ops.setdefault(r["op"], {})[f'{r["input_shape"]} {r["input_dtype"]}'] = r["count"]
		for r in tables["modules"]:
		    ops.setdefault(r["module"], {})[f'{r["input_shape"]} {r["input_dtype"]}'] = r["calls"]
		print({op: (shapes, ops.get(op)) for op, shapes in made.items() if ops.get(op) != shapes})
	EOF
	assert_output "{}"
}

# linear() without a bias is 20 more of mm.
@test "torch: 100,000 operators that throw are counted, and their program lives" {
	run -0 "${PYTHON[@]}" --torch all -- "$ROOT/build/torch-venv/bin/python" "$ROOT/tests/torch/ops.py" 100000
	grep -q '"aten.mm": 100000' <<<"$output"
	assert_value r.json '[o["count"] for o in t["ops"] if o["op"] == "aten.mm.default"][0]' 100020
	laws r.json
}

@test "torch: a training to which operators' probes were attached 50 times has the losses of one without" {
	local losses=("${WITH_TORCH[@]}" "$ROOT/build/torch-venv/bin/python" "$ROOT/tests/torch/losses.py") steps hash
	"${losses[@]}" --until stop >losses.out 2>losses.err 3>&- &
	TARGET=$!
	STARTED+=("$TARGET")
	wait_for 60 grep -q ready losses.out
	for _ in {1..25}; do
		"$GPUPROF" stat --torch all --shapes -d 20ms --format json -o r.json -p "$TARGET"
		"$GPUPROF" stat --torch python -d 20ms --format json -o r.json -p "$TARGET"
	done
	assert_value r.json 'len(t["ops"]) > 5' True
	: >stop
	wait "$TARGET" || { cat losses.err >&2; return 1; }
	read -r steps hash < <(tail -n 1 losses.out)
	run -0 --separate-stderr "${losses[@]}" --steps "$steps"
	assert_line "$steps $hash"
}
