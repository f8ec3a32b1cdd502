#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The stored captures are the oracle of every change that shall change no figure; scripts/check runs
# tests/captures/check over all of them.

load ../lib/common

# The check and one stored capture in a folder of their own, where they can be altered.
copy_check() { # NAME
	mkdir -p captures/data
	cp "$ROOT/tests/captures/check" captures
	cp "$ROOT/tests/captures/data/$1".{gpr,json.xz} captures/data
}

@test "captures: equal reports pass from any folder, locale and time zone" {
	copy_check exact-4
	run -0 env LC_ALL=C TZ=Asia/Tokyo COLUMNS=40 captures/check "$GPUPROF"
	assert_output "1 captures, 0 differ"
	cd captures/data
	run -0 ../check "$GPUPROF" exact-4
}

@test "captures: a figure that differs is named by capture, table, row and column, with both values" {
	copy_check exact-4
	python3 - <<-'EOF_PY'
		import json, lzma
		path = "captures/data/exact-4.json.xz"
		stored = json.loads(lzma.decompress(open(path, "rb").read()))
		report = json.loads(stored["json"]["out"])
		report["tables"]["calls"][0]["count"] += 7
		report["tables"]["kernels"].pop()
		stored["json"]["out"] = json.dumps(report)
		open(path, "wb").write(lzma.compress(json.dumps(stored).encode()))
	EOF_PY
	run -1 captures/check "$GPUPROF"
	assert_line --regexp '^exact-4, json: calls, pid=4000 .*, count: [0-9]+ -> [0-9]+$'
	assert_line --regexp '^exact-4, json: kernels, .*, \(row\): \(none\) -> '
	assert_line "1 captures, 1 differ"
	captures/check --update "$GPUPROF"
	run -0 captures/check "$GPUPROF"
}

@test "captures: every stored capture has stored reports and a recording script" {
	run -0 bash -c 'cd "$ROOT/tests/captures/data" && diff <(ls *.gpr | sed s/.gpr$//) <(ls *.json.xz | sed s/.json.xz$//)'
	run -0 bash -c 'diff <(sed -nE "s/^\t\t([a-z][a-z0-9.-]*) +\|.*/\1/p" "$ROOT/tests/captures/record" | sort) \
		<(cd "$ROOT/tests/captures/data" && ls *.gpr | sed s/.gpr$// | sort)'
}
