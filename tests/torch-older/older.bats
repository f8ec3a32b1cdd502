#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Older versions of PyTorch from PyPI: where tensors have their sizes, what operators and their texts are called.

# bats file_tags=needs:root,needs:bpf,needs:torch-older

load ../lib/common

# VERSION OPERATORS: all of models.py's are counted, with their shapes; these are without one.
as_profiler() {
	local place=$ROOT/build/torch-$1
	run -0 env LD_LIBRARY_PATH="$place/stubs" "$GPUPROF" stat --torch all --shapes --off-cpu off --format json -o r.json \
		--table ops,modules,events -- "$place/bin/python" "$ROOT/tests/torch/models.py"
	grep '^{"overloads' <<<"$output" >ran.json
	assert_value r.json 'sum(e["lost"] or 0 for e in t["events"])' 0
	assert_value r.json '[m["calls"] for m in t["modules"] if m["module"].endswith("/MultiheadAttention")]' "[6]"
	run -0 "$TEST_LIB/check_shapes.py" r.json ran.json
	assert_output --regexp "^1[0-9]{2} operators ran [89][0-9]{3} times.*without a shape: $2$"
}

@test "torch-older: operators and shapes of 2.1" { as_profiler 2.1.2 aten::_foreach_mul_; }
@test "torch-older: operators and shapes of 2.4" { as_profiler 2.4.1 aten::_foreach_mul_; }
@test "torch-older: operators and shapes of 2.6" { as_profiler 2.6.0 aten::_foreach_mul_; }
@test "torch-older: operators and shapes of 2.9" { as_profiler 2.9.1 aten::_foreach_mul_.Tensor; }
