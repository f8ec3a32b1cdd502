#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Debian's PyTorch, which is years older than PyPI's: other layouts, names and operators.

# bats file_tags=needs:root,needs:bpf,needs:torch-debian

load ../lib/common

setup_file() {
	export DEBIAN="$ROOT/build/torch-debian"
}

# Where an overload calls another of that name, its profiler has one of them.
NESTED=aten::mean,aten::div,aten::div_,aten::mul

@test "torch: of Debian's PyTorch 1.13 every operator is counted, with the shape of its first tensor" {
	run -0 "$GPUPROF" stat --torch all --shapes --off-cpu off --format json -o r.json --table ops,modules,events -- \
		"$DEBIAN/run" "$ROOT/tests/torch/models.py"
	grep '^{"overloads' <<<"$output" >ran.json
	assert_value r.json 'sum(e["lost"] or 0 for e in t["events"])' 0
	assert_value r.json '[(m["input_shape"], m["calls"]) for m in t["modules"] if m["module"].endswith("/MultiheadAttention")]' \
		"[('[4, 16, 32]', 6)]"
	run -0 "$TEST_LIB/check_shapes.py" r.json ran.json --nested "$NESTED"
	assert_output --regexp "operators ran [0-9]+ times.*without a shape: none$"
}

# Their columns are what Falcon's own scripts read.
@test "torch: pandas reads the operators and modules of Debian's PyTorch in Falcon's columns" {
	run -0 "$GPUPROF" record --torch all --shapes --off-cpu off -o c.gpr -- \
		"$DEBIAN/run" "$ROOT/tests/torch/models.py"
	run -0 "$GPUPROF" report c.gpr --format falcon -o ops.csv
	run -0 "$GPUPROF" report c.gpr --format falcon --table modules -o modules.csv
	run -0 "$GPUPROF" report c.gpr --format json --table ops,modules -o r.json
	run -0 "$DEBIAN/run" - <<-'EOF'
		import ast, json, pandas
		ops, modules, tables = pandas.read_csv("ops.csv"), pandas.read_csv("modules.csv"), json.load(open("r.json"))["tables"]
		print(",".join(ops.columns))
		print(",".join(modules.columns))
		addmm = ops[ops.operator == "aten.addmm.default"]
		print(addmm["count"].sum() == sum(r["count"] for r in tables["ops"] if r["op"] == "aten.addmm.default"),
		      abs(ops.percent_time.sum() - 100) < 1e-6, set(addmm.input_dtypes), ops.total_time_ms.is_monotonic_decreasing)
		linear = modules[modules.layer_type == "Linear"]
		shapes = [ast.literal_eval(key.split("|")[1]) for key in linear.original_key]
		print(linear.call_count.sum() == sum(r["calls"] for r in tables["modules"] if r["module"].endswith("/Linear")),
		      (16, 32) in shapes, abs((linear.time_per_call * linear.call_count - linear.total_time).max()) < 1e-9)
	EOF
	assert_output "operator,count,total_time_ms,avg_time_ms,median_time_ms,percent_time,input_shapes,input_dtypes
layer_type,input_shape,input_dtype,time_per_call,call_count,total_time,original_key
True True {'torch.float32'} True
True True True"
}
