#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Debian's PyTorch, which is years older than PyPI's: other layouts, names and operators.

# bats file_tags=needs:root,needs:bpf,needs:torch-debian

load ../lib/common

setup_file() {
	export DEBIAN="$ROOT/build/torch-debian"
}

@test "torch: of Debian's PyTorch 1.13 every operator is counted, with the shape of its first tensor" {
	run -0 "$GPUPROF" stat --torch all --shapes --off-cpu off --format json -o r.json --table ops,modules,events -- \
		"$DEBIAN/run" "$ROOT/tests/torch/models.py"
	grep '^{"aten' <<<"$output" >called.json
	run -0 python3 - <<-'EOF'
		import collections, json
		called, tables = json.load(open("called.json")), json.load(open("r.json"))["tables"]
		ops, wrong = collections.defaultdict(collections.Counter), {}
		for r in tables["ops"]:
		    if r["op"].startswith("aten."):
		        ops["aten::" + r["op"].split(".")[1]][r["input_shape"] or "none"] += r["count"]
		# Where an overload calls another of that name, the profiler has one of them.
		inside = {"aten::mean", "aten::div", "aten::div_", "aten::mul"}
		# They have no tensor, or a list of them.
		without = {"aten::empty", "aten::empty_strided", "aten::zeros", "aten::ones", "aten::randn", "aten::stack", "aten::cat"}
		for op, shapes in called.items():
		    if op in without:
		        shapes = {"none": shapes["[]"]}
		    if (collections.Counter(shapes) - ops[op]) if op in inside else shapes != ops[op]:
		        wrong[op] = shapes, dict(ops[op])
		modules = {r["module"]: r["calls"] for r in tables["modules"]}
		print(wrong, set(ops) - set(called), sum(map(lambda shapes: sum(shapes.values()), called.values())) > 8000,
		      modules["TransformerEncoder/TransformerEncoderLayer/MultiheadAttention"],
		      sum(e["lost"] or 0 for e in tables["events"]))
	EOF
	assert_output "{} set() True 6 0"
}
