#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # run sets stderr, stderr_lines
# Stacks of calls: each call is counted under the stack that it stands on, by name.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# A program on the simulated runtime, in ./app, which takes its time so that it is seen in whole.
build_app() { # COMPILER SUFFIX FLAGS...; source on stdin
	local compiler=$1 source=app.$2
	shift 2
	{
		printf '%s\n' '#include <stddef.h>' '#include <unistd.h>' '#include <stdlib.h>' \
			'#ifdef __cplusplus' 'extern "C" {' '#endif' 'int cudaMalloc(void **, size_t);' \
			'int cudaFree(void *);' 'int cudaDeviceSynchronize(void);' '#ifdef __cplusplus' '}' \
			'#endif' '#define OWN __attribute__((noinline, noclone))' 'volatile int sink;'
		cat
	} >"$source"
	"$compiler" -w -O2 -fomit-frame-pointer -fno-optimize-sibling-calls "$@" -o app "$source" \
		-L"$SIM" -l:libcudart.so.13 -Wl,-rpath,"$SIM"
}

tree() {
	cat <<'C'
OWN void leaf(int n) { void *p; cudaMalloc(&p, n + 64); cudaFree(p); sink++; }
OWN void left(int n) { leaf(n); sink++; }
OWN void right(int n) { char room[n + 100]; room[n] = 1; leaf(n + room[n]); sink += room[3]; }
OWN void deep(int n) { if (n) deep(n - 1); else leaf(1); sink++; }
int main(void) {
	usleep(200000);
	for (int i = 0; i < 300; i++) { left(i % 5); if (i % 3 == 0) right(i % 7); if (i % 10 == 0) deep(3); }
	usleep(200000);
	return 0;
}
C
}

# "COUNT STACK" of a function in a csv report, sorted; stacks from main on.
counts_of() { # REPORT FUNCTION
	python3 -c 'import csv, sys
for r in sorted((r for r in csv.DictReader(open(sys.argv[1])) if r["function"] == sys.argv[2]),
		key=lambda r: r["stack"]):
	print(r["count"], r["stack"][r["stack"].find(";main;") + 1:])' "$@"
}

TREE='30 main;deep;deep;deep;deep;leaf;cudaMalloc
300 main;left;leaf;cudaMalloc
100 main;right;leaf;cudaMalloc'

@test "stacks of calls: each path through a known call tree has its exact count" {
	tree | build_app gcc c
	for way in session multi; do
		run --separate-stderr "$GPUPROF" stat --attach "$way" --stacks --by stack --table calls --format csv \
			-o "$way.csv" -- ./app
		[[ $status -eq 4 ]] && continue
		assert_success
		assert_equal "$(counts_of "$way.csv" cudaMalloc)" "$TREE"
		assert_equal "$(counts_of "$way.csv" cudaFree)" "${TREE//cudaMalloc/cudaFree}"
	done
}

@test "stacks of calls: a capture shows them after the program and the process are gone" {
	tree | build_app gcc c
	run -0 "$GPUPROF" record -q --stacks -o run.gpr -- ./app
	rm app
	run -0 "$GPUPROF" report run.gpr --by stack --table calls --format csv -o r.csv
	assert_equal "$(counts_of r.csv cudaMalloc)" "$TREE"
	run -0 "$GPUPROF" report run.gpr --by stack --table calls --format json -o r.json
	run report_value r.json 'next(r["stack"][-3:] for r in t["calls"] if r["stack"] and "right" in r["stack"])'
	assert_output --partial "['right', 'leaf', 'cuda"
	run "$GPUPROF" report run.gpr --by stack --table calls
	assert_line --regexp '^        leaf$'
}

# As a binding does: the stacks differ in the function alone.
@test "stacks of calls: functions that are called from one place keep their own names" {
	build_app gcc c <<'C'
int (*volatile functions[])(void *) = { cudaFree, (int (*)(void *))cudaDeviceSynchronize };
OWN void call(int which) { functions[which](NULL); sink++; }
int main(void) {
	usleep(200000);
	for (int i = 0; i < 20; i++) call(i % 4 > 0);
	usleep(200000);
	return 0;
}
C
	run -0 "$GPUPROF" stat -q --stacks --by stack --table calls --format csv -o r.csv -- ./app
	assert_equal "$(counts_of r.csv cudaFree)" "5 main;call;cudaFree"
	assert_equal "$(counts_of r.csv cudaDeviceSynchronize)" "15 main;call;cudaDeviceSynchronize"
}

@test "stacks of calls: C++ names are shown as written" {
	build_app g++ cc <<'CC'
namespace ns { template <class T> struct Pool { OWN void take(T n) { void *p; cudaMalloc(&p, (size_t)n); sink++; } }; }
int main() {
	ns::Pool<float> pool;
	usleep(200000);
	for (int i = 0; i < 10; i++) pool.take(64.0f);
	usleep(200000);
}
CC
	run -0 "$GPUPROF" stat -q --stacks --by stack --table calls --format csv -o r.csv -- ./app
	assert_equal "$(counts_of r.csv cudaMalloc)" "10 main;ns::Pool<float>::take;cudaMalloc"
}

@test "stacks of calls: generated code is named by its perf map, else shown as unnamed" {
	may_repeat "a busy machine learns late of the memory of generated code"
	build_app gcc c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
OWN void work(void) { void *p; cudaMalloc(&p, 64); sink++; }
int main(int argc, char **argv) {
	char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *f = argc > 1 ? fopen(path, "w") : 0;
	memcpy(at, code, sizeof(code));
	if (f) { fprintf(f, "%lx %zx LazyCompile:*step app.js:7\n", (long)at, sizeof(code)); fclose(f); }
	usleep(2000000);
	for (int i = 0; i < 20; i++) ((void (*)(void (*)(void)))at)(work);
	usleep(200000);
	if (f) unlink(path);
	return 0;
}
C
	run -0 "$GPUPROF" stat -q --stacks --by stack --table calls --format csv -o r.csv -- ./app named
	assert_equal "$(counts_of r.csv cudaMalloc)" "20 main;LazyCompile:*step app.js:7;work;cudaMalloc"
	run -0 "$GPUPROF" stat -q --stacks --by stack --table calls --format csv -o r.csv -- ./app
	run counts_of r.csv cudaMalloc
	assert_output --regexp '^20 main;0x[0-9a-f]+;work;cudaMalloc$'
}

# next(n, 12) makes one call, on a stack that is n's own, of 4,096.
paths() {
	cat <<'C'
OWN void zero(int n, int bits);
OWN void one(int n, int bits);
OWN void next(int n, int bits) {
	void *p;
	if (!bits) cudaMalloc(&p, 64);
	else if (n & 1) one(n >> 1, bits - 1);
	else zero(n >> 1, bits - 1);
	sink++;
}
OWN void zero(int n, int bits) { next(n, bits); sink++; }
OWN void one(int n, int bits) { next(n, bits); sink++; }
C
}

@test "stacks of calls: of a process that calls while it is attached to, hits = received + lost" {
	build_app gcc c <<<"$(paths) int main(void) { for (int n = 0;; n++) { next(n % 4096, 12); usleep(200); } }"
	./app 3>&- &
	as_target
	for selection in "-p$TARGET" "-p$TARGET" -a -a; do
		run -0 --separate-stderr "$GPUPROF" stat -q --max-loss 100% --stacks "$selection" -d 500ms --table events --format json
		printf %s "$output" >r.json
		refute_note counters-unbalanced
		assert_value r.json '[e["received"] > 0 for e in t["events"] if e["kind"] == "stack"]' '[True]'
	done
}

@test "stacks of calls: a lost stack is unknown, never another stack, and its call is counted" {
	build_app gcc c <<<"$(paths)
	int main(void) {
		while (access(\"go\", F_OK)) usleep(10000);
		for (int n = 0; n < 4096; n++) next(n, 12);
		while (access(\"end\", F_OK)) usleep(10000);
		return 0;
	}"
	./app 3>&- &
	local app=$!
	STARTED+=("$app")
	start_gpuprof stat --stacks --stack-size 16k --by stack --table calls,events --format json -p "$app"
	wait_armed "$app"
	kill -STOP "$PROFILER"
	touch go
	sleep 1
	kill -CONT "$PROFILER"
	sleep 0.5
	touch end
	wait "$PROFILER" || true
	run report_value gpuprof.out 'sum(c["count"] for c in t["calls"] if c["function"] == "cudaMalloc")'
	assert_output 4096
	assert_value gpuprof.out '[e["lost"] > 0 for e in t["events"] if e["kind"] == "stack"]' '[True]'
	refute_note -f gpuprof.out counters-unbalanced
	# Each stack that is known was stood on once.
	assert_value gpuprof.out '({c["count"] for c in t["calls"] if c["stack"]},
		any(c["stack"] is None for c in t["calls"]))' '({1}, True)'
}

@test "stacks of calls: --lines distinguishes call sites of one function and shows inlined functions" {
	build_app gcc c -g -Wl,--build-id <<'C'
static inline __attribute__((always_inline)) void small(int n) { void *p; cudaMalloc(&p, n + 64); sink++; }
OWN void work(int n) {
	small(n);
	if (n % 2) small(n);
}
int main(void) {
	usleep(200000);
	for (int i = 0; i < 30; i++) work(i);
	usleep(200000);
	return 0;
}
C
	"$GPUPROF" record -q --stacks -o run.gpr -- ./app
	"$GPUPROF" report run.gpr --by stack --table calls --format csv -o plain.csv
	assert_equal "$(counts_of plain.csv cudaMalloc)" "45 main;work;cudaMalloc"
	run "$GPUPROF" report run.gpr --lines --by stack --table calls --format csv -o lines.csv
	[ "$status" -ne 4 ] || skip "built without libdw"
	assert_success
	run counts_of lines.csv cudaMalloc
	assert_line --regexp '^30 .*main \(app.c:[0-9]+\);work \(app.c:17\);small \(app.c:15\);cudaMalloc'
	assert_line --regexp '^15 .*main \(app.c:[0-9]+\);work \(app.c:18\);small \(app.c:15\);cudaMalloc'
	rm app
	run -0 "$GPUPROF" report run.gpr --lines --by stack --table calls --format csv -o gone.csv
	run counts_of gone.csv cudaMalloc
	assert_output --partial 'main;work;cudaMalloc'
}

# bats file_tags=needs:root,needs:bpf
@test "stacks of calls: a report that does not show the recorded stacks names the option" {
	run -0 --separate-stderr "$GPUPROF" stat --stacks -o r.txt -- true
	assert_equal "${#stderr_lines[@]}" 1
	[[ $stderr == *"--by stack"* ]]
}

# bats file_tags=needs:root,needs:bpf
@test "stacks of calls: folded and speedscope have the times of the tables, by process" {
	tree | build_app gcc c
	"$GPUPROF" stat -q --stacks --capture c.gpr --max-loss 100% -o /dev/null -- ./app
	"$GPUPROF" report c.gpr --max-loss 100% --by stack --table calls,offcpu --format json -o r.json
	"$GPUPROF" report c.gpr --max-loss 100% --format folded -o r.folded
	"$GPUPROF" report c.gpr --max-loss 100% --format speedscope -o r.speedscope
	grep -q '^app (pid [0-9]*);.*;main;left;leaf;cudaMalloc [0-9]*$' r.folded
	run -0 python3 - <<-'PY'
		import json
		t = json.load(open("r.json"))["tables"]
		wanted = sum(row["total_ns"] for row in t["calls"] + t["offcpu"])
		rows = [line.rsplit(" ", 1) for line in open("r.folded")]
		scope = json.load(open("r.speedscope"))
		names = [frame["name"] for frame in scope["shared"]["frames"]]
		flames = [(";".join(names[n] for n in sample), str(ns)) for p in scope["profiles"]
		          for sample, ns in zip(p["samples"], p["weights"], strict=True)]
		assert sorted(flames) == sorted((stack, ns.strip()) for stack, ns in rows)
		assert len(names) == len(set(names))
		print(wanted > 0, sum(int(ns) for _, ns in rows) == wanted)
	PY
	assert_output "True True"
	run -0 --separate-stderr "$GPUPROF" stat -q --format folded -- ./app
	assert_line --regexp ';main;right;leaf;cudaFree [0-9]+$'
	run -2 "$GPUPROF" report c.gpr --format folded --table calls
	assert_output --partial "leave out '--table'"
	"$GPUPROF" stat -q --no-stacks --capture bare.gpr -o /dev/null -- ./app
	run -0 "$GPUPROF" report bare.gpr --format speedscope -o /dev/null
	assert_output "gpuprof: warning: no stack is known: measure with --stacks"
}
