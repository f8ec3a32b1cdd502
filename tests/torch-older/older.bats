#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Older versions of PyTorch from PyPI: where tensors have their sizes, what operators and their texts are called.

# bats file_tags=needs:root,needs:bpf,needs:torch-older

load ../lib/common

# VERSION OPERATORS: all of models.py's are counted, with their shapes; these are without one.
as_counted() {
	local place=$ROOT/build/torch-$1
	run -0 env LD_LIBRARY_PATH="$place/stubs" "$GPUPROF" stat --torch all --shapes --off-cpu off --format json -o r.json \
		--table ops,modules,events -- "$place/bin/python" "$ROOT/tests/torch/models.py"
	grep '^{"overloads' <<<"$output" >ran.json
	assert_value r.json 'sum(e["lost"] or 0 for e in t["events"])' 0
	assert_value r.json '[m["calls"] for m in t["modules"] if m["module"].endswith("/MultiheadAttention")]' "[6]"
	run -0 "$TEST_LIB/check_shapes.py" r.json ran.json
	assert_output --regexp "^1[0-9]{2} operators ran [89][0-9]{3} times.*without a shape: $2$"
}

# VERSION: each product that the real library is asked for is recorded as it was.
as_asked() {
	local lib
	lib=$(dirname "$(find "$ROOT/build/cublas-$1" -name 'libcublas.so.*')")
	python3 "$ROOT/tests/torch-older/products.py" "$lib"/libcublas.so.* "$lib"/libcublasLt.so.* ready go >asked.json 3>&- &
	TARGET=$!
	STARTED+=("$TARGET")
	wait_for 60 test -e ready
	start_gpuprof stat --gemms --off-cpu off --format json -o r.json --table gemm,events -p "$TARGET"
	wait_armed "$TARGET" libcublas.so
	wait_armed "$TARGET" libcublasLt.so
	: >go
	wait_gpuprof 0
	run -0 python3 - <<-'EOF'
		import json
		asked, tables = json.load(open("asked.json")), json.load(open("r.json"))["tables"]
		columns = "function layout m n k batch dtype lda ldb ldc bias".split()
		got = {" ".join(str(row[c]) for c in columns): row["calls"] for row in tables["gemm"]}
		print({key: (got.get(key), asked["asked"].get(key)) for key in set(got) | set(asked["asked"])
		       if got.get(key) != asked["asked"].get(key)}, len(got) + len(asked["not there"]), sum(e["lost"] or 0 for e in tables["events"]))
	EOF
	assert_output "{} 84 0"
}

@test "torch-older: products of cuBLAS 11.11" { as_asked 11.11.3.6; }
@test "torch-older: products of cuBLAS 12.1" { as_asked 12.1.3.1; }
@test "torch-older: products of cuBLAS 12.9" { as_asked 12.9.1.4; }
@test "torch-older: products of cuBLAS 13.10" { as_asked 13.10.0.20; }
@test "torch-older: operators and shapes of 2.1" { as_counted 2.1.2 aten::_foreach_mul_; }
@test "torch-older: operators and shapes of 2.4" { as_counted 2.4.1 aten::_foreach_mul_; }
@test "torch-older: operators and shapes of 2.6" { as_counted 2.6.0 aten::_foreach_mul_; }
@test "torch-older: operators and shapes of 2.9" { as_counted 2.9.1 aten::_foreach_mul_.Tensor; }
