#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The vendor's PTX compiler is an archive: its functions are inside the programs and libraries that
# were linked with it. It needs no GPU.

# bats file_tags=needs:root,needs:bpf

load ../lib/common

needs_ptx() {
	needs root bpf
	[ -e "$TARGETS/ptx-shared" ] || skip "build/targets/ptx is missing: make targets-ptx"
}

@test "ptx: in a program, or in a library of a program, each call counts once, with its bytes and result" {
	needs_ptx
	local program by
	for program in ptx ptx-shared; do
		rm -f c.gpr
		run -0 "$GPUPROF" record --tier 1 -o c.gpr -- "$TARGETS/$program" --truth t.json --rounds 2
		for by in function result; do
			"$GPUPROF" report c.gpr --table calls,threads,events --by $by --format json >$by.json
			compare --no-times --tier 1 t.json $by.json
			laws $by.json
		done
		run report_value function.json \
			'len(t["calls"]), {c["class"] for c in t["calls"] if "Compile" == c["function"][-7:]}'
		assert_output "(13, {'compile'})"
	done
}

@test "ptx: stat shows each compilation and its result" {
	needs_ptx
	run -0 "$GPUPROF" stat --by result --table calls --format json -o r.json -- "$TARGETS/ptx"
	run report_value r.json 'sorted((c["function"], c["result"], c["count"], c["bytes"])
		for c in t["calls"] if c["function"].endswith(("Compile", "Create")))'
	assert_output "[('nvPTXCompilerCompile', 'NVPTXCOMPILE_ERROR_COMPILATION_FAILURE', 1, None), \
('nvPTXCompilerCompile', 'NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE', 1, None), \
('nvPTXCompilerCompile', 'NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION', 1, None), \
('nvPTXCompilerCompile', 'NVPTXCOMPILE_SUCCESS', 2, None), \
('nvPTXCompilerCreate', 'NVPTXCOMPILE_SUCCESS', 4, 268)]"
	assert_value r.json '{c["class"] for c in t["calls"]}' "{'compile'}"
}
