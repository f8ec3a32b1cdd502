#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # run sets stderr, stderr_lines
# What hangs already is shown without a probe: each thread's call, stack and what it waits for.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# A thread that hangs in cudaStreamSynchronize; HUNG is its pid.
start_hung() {
	"$SIM/simcalls" --hang-sync cudaLaunchKernel=20 >hang.out 2>&1 3>&- &
	HUNG=$!
	STARTED+=("$HUNG")
	wait_for 10 grep -q hanging hang.out
	wait_for 10 grep -q nanosleep "/proc/$HUNG/wchan"
}

# A program that waits; OTHER is its pid.
start_other() { # COMMAND...
	"$@" 3>&- &
	OTHER=$!
	STARTED+=("$OTHER")
}

started_too() { STARTED+=("$1"); } # PID

# The functions of the first thread from the outermost to the innermost, joined by spaces.
chain() { # REPORT
	report_value "$1" '" ".join(f["function"] or "?" for f in reversed(t["stacks"][0]["frames"]))'
}

@test "stacks: a sync that hung before gpuprof started is named, down to the wait in the kernel" {
	start_hung
	run -0 --separate-stderr "$GPUPROF" stacks -p "$HUNG" --format json
	assert_equal "$stderr" ""
	printf '%s\n' "$output" >r.json
	run report_value r.json '[(s["call"], s["class"], s["library"], s["syscall"], s["stack"], s["state"])
		for s in t["stacks"]]'
	assert_output "[('cudaStreamSynchronize', 'sync', 'cudart', 'clock_nanosleep', 'whole', 'S')]"
	run chain r.json
	assert_output --regexp 'main .*simcalls_hang cudaStreamSynchronize .*clock_nanosleep$'
	assert_value r.json 'r["schema_version"], r["meta"]["sources"], r["meta"]["complete"], all(f["build_id"] for f in t["stacks"][0]["frames"]
		if f["module"] == "libc.so.6")' "(1, 'bpf,procfs', True, True)"
}

@test "stacks: text names call, wait and frames; csv and md have one row a thread" {
	start_hung
	run -0 "$GPUPROF" stacks --full -p "$HUNG"
	assert_line --index 0 --partial 'in cudaStreamSynchronize (sync), state S'
	assert_line --index 1 --partial 'in clock_nanosleep, wchan '
	assert_line --regexp '^ +[0-9]+  cudaStreamSynchronize\+0x[0-9a-f]+ +libcudart'
	run -0 "$GPUPROF" stacks -p "$HUNG" --format csv -o r.csv
	assert_output ""
	run python3 -c 'import csv; rows = list(csv.DictReader(open("r.csv")))
print(len(rows), rows[0]["call"], ";cudaStreamSynchronize;" in rows[0]["frames"])'
	assert_output "1 cudaStreamSynchronize True"
	run -0 "$GPUPROF" stacks -p "$HUNG" --format md
}

# Two processes that are alike are one entry; a stopped one is said first, with what lets it go on.
@test "stacks: text has each stack once, states in words, and who is stopped" {
	start_hung
	local first=$HUNG
	start_hung
	run -0 "$GPUPROF" stacks -p "$first,$HUNG"
	assert_line --index 0 "pids $first, $HUNG, thread \"simcalls\""
	assert_line --index 1 '    asleep in clock_nanosleep, inside of cudaStreamSynchronize'
	assert_line --index 2 --regexp '^    main > .*simcalls_hang > cudaStreamSynchronize > [0-9]+ frames of libcuda\.so\.1, '
	assert_line --index 3 -- '--full: every frame'
	assert_equal "${#lines[@]}" 4
	kill -STOP "$HUNG"
	wait_for 5 grep -q '^State:.T' "/proc/$HUNG/status"
	run -0 "$GPUPROF" stacks -p "$first,$HUNG"
	assert_line --index 0 "pid $HUNG is STOPPED by a signal or a debugger." # without ranks the other may wait for anything
	assert_line --index 1 "Go on with: kill -CONT $HUNG"
	assert_line --regexp '^    STOPPED by a signal'
	kill -CONT "$HUNG"
}

@test "stacks: in colour it is the same text, short and --full: headings bold, who is stopped too; md has none" {
	local options plain
	start_hung
	kill -STOP "$HUNG"
	wait_for 5 grep -q '^State:.T' "/proc/$HUNG/status"
	for options in "" --full; do
		# shellcheck disable=SC2086 # none or one
		plain=$("$GPUPROF" stacks $options -p "$HUNG")
		[[ $plain != *$'\e'* ]] || fail "a pipe has colours: $plain"
		# shellcheck disable=SC2086
		run -0 "$GPUPROF" stacks $options --color always -p "$HUNG"
		assert_equal "$(printf '%s\n' "$output" | sed 's/\x1b\[[0-9;]*m//g')" "$plain"
		case $options in
		--full) assert_line --regexp $'^\e\\[1mthread [0-9]+ \\(simcalls\\) of process .*\e\\[0m$' ;;
		*)
			assert_line --index 0 $'\e[1mpid '"$HUNG"$' is STOPPED by a signal or a debugger.\e[0m'
			assert_line $'\e[1mpid '"$HUNG, thread \"simcalls\""$'\e[0m'
			;;
		esac
		# shellcheck disable=SC2086
		run -0 env -u NO_COLOR TERM=xterm script -qec "'$GPUPROF' stacks $options -p $HUNG" /dev/null
		assert_output --partial $'\e[1m'
		# shellcheck disable=SC2086
		run -0 env NO_COLOR=1 TERM=xterm script -qec "'$GPUPROF' stacks $options -p $HUNG" /dev/null
		[[ $output != *$'\e'* ]] || fail "NO_COLOR: $output"
	done
	run -0 "$GPUPROF" stacks --format md --color always -p "$HUNG"
	[[ $output != *$'\e'* ]] || fail "md has colours"
	kill -CONT "$HUNG"
}

@test "stacks: several hung processes are shown within two seconds, neither stopped nor changed" {
	local pids=() before after
	for _ in 1 2 3 4; do
		start_hung
		pids+=("$HUNG")
	done
	before=$(awk '{ print $1 }' "/proc/$HUNG/statm")
	SECONDS=0
	run --separate-stderr "$GPUPROF" stacks -p "$(IFS=,; echo "${pids[*]}")" --format json
	[ $SECONDS -le 2 ]
	assert_success
	printf '%s\n' "$output" >r.json
	assert_value r.json '[s["call"] for s in t["stacks"]].count("cudaStreamSynchronize")' 4
	after=$(awk '{ print $1 }' "/proc/$HUNG/statm")
	assert_equal "$after" "$before"
	run grep -E '^State:|^TracerPid:' "/proc/$HUNG/status"
	assert_output --regexp $'S \\(sleeping\\)\nTracerPid:\t0$'
}

# bats file_tags=
# bats test_tags=needs:root,needs:bpf
@test "stacks: a stripped static program's frames are found without its symbols" {
	printf '%s\n' '#include <unistd.h>' 'int main(void) { return pause(); }' >s.c
	gcc -O2 -static -s -o still s.c || skip "no static libc"
	start_other ./still
	wait_for 10 grep -q pause "/proc/$OTHER/wchan"
	run -0 "$GPUPROF" stacks -p "$OTHER" --format json
	printf '%s\n' "$output" >r.json
	assert_value r.json '[(s["stack"], s["syscall"], {f["function"] for f in s["frames"]},
		len(s["frames"]) >= 4) for s in t["stacks"]]' "[('whole', 'pause', {None}, True)]"
}

# bats test_tags=needs:root,needs:sim
@test "stacks: without the right to use BPF the rows come from /proc" {
	start_hung
	run -0 --separate-stderr setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all \
		"$GPUPROF" stacks -p "$HUNG" --format json
	assert_equal "${#stderr_lines[@]}" 1
	printf '%s\n' "$output" >r.json
	run report_value r.json 'r["meta"]["sources"], t["stacks"][0]["call"]'
	assert_output "('procfs', 'cudaStreamSynchronize')"
}

# bats test_tags=needs:root
@test "stacks: another user's process is refused with the capability's name, exit 3" {
	start_other sleep 100
	run -3 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups \
		--bounding-set=-all "$GPUPROF" stacks -q -p "$OTHER"
	assert_equal "${#stderr_lines[@]}" 1
	assert_regex "$stderr" CAP_SYS_PTRACE
}

@test "stacks: a thread of the kernel has a state and a wait channel, and no call or stack" {
	[ "$(cat /proc/2/comm)" = kthreadd ] || skip "no kernel threads are seen here"
	"$GPUPROF" stacks -q --isolate -p 2 --format json >r.json || [ $? -eq 3 ]
	run report_value r.json '[(s["comm"], s["syscall"], s["call"], s["stack"]) for s in t["stacks"]]'
	assert_output "[('kthreadd', None, None, 'none')]"
}

@test "stacks: no process, a dead one and no pid at all" {
	run -2 "$GPUPROF" stacks
	assert_output --partial "-p PID"
	run -1 "$GPUPROF" stacks -q -p 4194303
	assert_equal "${#lines[@]}" 1
	run -2 "$GPUPROF" stacks -a
}

# bats test_tags=needs:root
@test "stacks: a running thread whose callers are unknown is marked so" {
	echo 'int main(void) { for (;;) ; }' >spin.c
	cc -O1 -static -s -fomit-frame-pointer -fno-unwind-tables -fno-asynchronous-unwind-tables \
		-o spin spin.c
	./spin 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q spin "/proc/$!/comm"
	sleep 0.1
	run -0 "$GPUPROF" stacks --full -p $!
	assert_output --partial "it was running"
	assert_output --partial "what called this cannot be told"
}

# ---- Python ----------------------------------------------------------------------------------------

# The Python frames of each thread, the first thread first: "file:line:function" from the outermost.
python_frames() { # REPORT
	report_value "$1" '"\n".join(" ".join("%s:%s:%s" % (f["file"].rsplit("/")[-1], f["line"], f["function"])
		for f in reversed(s["python"] or [])) for s in sorted(t["stacks"], key=lambda s: s["tid"]))'
}

# bats test_tags=needs:root
@test "stacks: Python's frames have file, line and function, of each thread and version" {
	local python
	find_pythons 11 # has qualified names
	cat >nested.py <<-'EOF'
		import asyncio, threading, time

		class Trainer:
		    def step(self, batch):
		        total = sum(
		            self.wait(b)
		            for b in batch)
		        return total

		    def wait(self, n):
		        time.sleep(600)
		        return n

		async def fetch():
		    (lambda: time.sleep(600))()

		async def load():
		    await fetch()

		threading.Thread(target=lambda: asyncio.run(load()), daemon=True).start()
		Trainer().step([1, 2])
	EOF
	for python in "${PYTHONS[@]}"; do
		start_other "$python" nested.py
		wait_for 10 grep -q nanosleep "/proc/$OTHER"/task/*/wchan
		wait_for 10 eval '[ "$(cat /proc/'"$OTHER"'/task/*/wchan | grep -o nanosleep | wc -l)" -ge 2 ]'
		run -0 --separate-stderr "$GPUPROF" stacks -p "$OTHER" --format json
		printf '%s\n' "$output" >r.json
		run python_frames r.json
		assert_line --index 0 'nested.py:21:<module> nested.py:5:Trainer.step nested.py:6:Trainer.step.<locals>.<genexpr> nested.py:11:Trainer.wait'
		assert_line --index 1 --regexp ' nested.py:18:load nested.py:15:fetch nested.py:15:fetch.<locals>.<lambda>$'
		run -0 "$GPUPROF" stacks -p "$OTHER"
		assert_line --regexp '^    <module> \(nested\.py:21\) > Trainer\.step \(nested\.py:5\) > Trainer\.step\.<locals>\.<genexpr> \(nested\.py:6\) > Trainer\.wait \(nested\.py:11\) > .*clock_nanosleep$'
		refute_output --partial _PyEval_EvalFrameDefault
		refute_output --partial _bootstrap
		run -0 "$GPUPROF" stacks --full -p "$OTHER"
		assert_line --regexp '^ +Trainer\.wait +.*/nested\.py:11$'
		assert_output --partial _PyEval_EvalFrameDefault
		kill "$OTHER"
	done
}

# bats test_tags=needs:root,needs:sim
@test "stacks: Python's functions lead to the call that they wait in" {
	local python
	find_pythons 11
	cat >train.py <<-'EOF'
		import ctypes, sys
		cudart = ctypes.CDLL(sys.argv[1])
		p, n = ctypes.c_void_p(), ctypes.c_size_t(8 << 30)
		cudart.cudaMalloc(ctypes.byref(p), n)
		def step():
		    cudart.cudaMemcpyAsync(p, p, n, 3, None)
		    cudart.cudaDeviceSynchronize()
		while True:
		    step()
	EOF
	for python in "${PYTHONS[@]}"; do
		start_other env GPUSIM_QUIET=1 GPUSIM_COPY_GBPS=1 LD_LIBRARY_PATH="$SIM" "$python" train.py "$SIM/libcudart.so.13"
		wait_for 10 eval '"$GPUPROF" stacks -p "$OTHER" | tee out | grep -q "inside of cudaDeviceSynchronize$"'
		run -0 cat out
		assert_line --regexp '^    <module> \(train\.py:9\) > step \(train\.py:7\) > .*cudaDeviceSynchronize > [0-9]+ frames of libcuda\.so\.1, '
		kill "$OTHER"
	done
}

# What Python itself has for each thread (sys._current_frames) is what gpuprof reads: lines of calls
# over several lines, backwards, behind long gaps, in handlers; names beyond ASCII.
# bats test_tags=needs:root
@test "stacks: Python's frames are those that Python itself reports" {
	local python
	find_pythons
	cat >grüße.py <<-'EOF'
		import json, sys, threading, time

		def gap(n):
		    return "\n" * n

		source = f'''
		def long_gap():
		    x = 1{gap(700)}
		    stop(x,{gap(70)}
		         y=[v
		            for v in (1, 2)])
		def backwards():
		    return (stop
		            )(
		        1,
		        y=
		        2)
		def handler():
		    try:
		        {{}}[1]
		    except KeyError:
		        with open("/dev/null"):
		            for _ in range(3):
		                if _ == 2: stop(); continue
		    finally:
		        pass
		relay = lambda f: lambda: f()
		@relay
		def größe_漢字():
		    return max([1, 2], key=lambda v:
		        stop(v))
		class Iterator:
		    def __iter__(self): return self
		    def __next__(self):
		        stop()
		def iterates():
		    for _ in Iterator():
		        pass
		def yields():
		    def inner():
		        yield from (stop(v) for v in range(3))
		    return [v for v in inner()]
		def matches(n=70):
		    match [1, {{"k": 2}}]:
		        case [a, {{"k": b}}] if stop(a, b):
		            return
		def deep(n=70):
		    return deep(n - 1) + 1 if n else stop()
		'''
		if sys.version_info < (3, 10):  # has no match
		    source = source[:source.index("def matches")] + source[source.index("def deep"):]

		def stop(*args, **kwargs):
		    time.sleep(600)

		space = {"stop": stop}
		exec(compile(source, "/srv/\u6f22/générated.py", "exec"), space)
		names = [n for n, v in space.items() if callable(v) and n not in ("stop", "Iterator", "relay")]
		for n in names:
		    threading.Thread(target=space[n], daemon=True).start()

		def frames(of):
		    out = []
		    while of:
		        out.append([of.f_code.co_filename, of.f_lineno, getattr(of.f_code, "co_qualname", of.f_code.co_name)])
		        of = of.f_back
		    return out

		def report():
		    last = None
		    while True:
		        time.sleep(0.1)
		        now = sys._current_frames()
		        now = {t.native_id: frames(now[t.ident]) for t in threading.enumerate()
		               if t.ident != threading.get_ident()}
		        if now == last and len(now) == len(names) + 1 and all(f[0][2] == "stop" for f in now.values()):
		            break
		        last = now
		    with open("truth.new", "w") as f:
		        json.dump(now, f)
		    import os
		    os.rename("truth.new", "truth.json")

		threading.Thread(target=report, daemon=True).start()
		stop()
	EOF
	for python in "${PYTHONS[@]}"; do
		rm -f truth.json
		start_other "$python" grüße.py
		wait_for 20 test -e truth.json
		run -0 --separate-stderr "$GPUPROF" stacks -p "$OTHER" --format json
		printf '%s\n' "$output" >r.json
		run -0 report_value r.json '(lambda truth, got: [(tid, got.get(tid), f) for tid, f in truth.items() if got.get(tid) != f] or len(truth) > 7)(
			json.load(open("truth.json")),
			{str(s["tid"]): [[f["file"], f["line"], f["function"]] for f in s["python"]] for s in t["stacks"] if s["python"]})'
		assert_output True
		kill "$OTHER"
	done
}

# bats test_tags=needs:root
@test "stacks: Python's frames of a process that was forked, of a container's pids, and of one that ends" {
	find_pythons 11
	cat >forks.py <<-'EOF'
		import os, threading, time
		def child():
		    time.sleep(600)
		if os.fork() == 0:
		    child()
		threading.Thread(target=child, daemon=True).start()
		time.sleep(600)
	EOF
	start_other "${PYTHONS[0]}" forks.py
	wait_for 10 eval '[ "$(pgrep -cP '"$OTHER"')" -eq 1 ] && grep -q nanosleep /proc/$(pgrep -P '"$OTHER"')/wchan'
	started_too "$(pgrep -P "$OTHER")"
	run -0 "$GPUPROF" stacks --isolate -p "$(pgrep -P "$OTHER")"
	assert_output --partial '<module> (forks.py:5) > child (forks.py:3) > '

	if unshare --pid --fork true 2>/dev/null; then
		start_other unshare --pid --fork --kill-child "${PYTHONS[0]}" forks.py
		wait_for 10 eval '[ "$(cat /proc/$(pgrep -P '"$OTHER"')/task/*/wchan | grep -o nanosleep | wc -l)" -eq 2 ]'
		run -0 "$GPUPROF" stacks --isolate -p "$(pgrep -P "$OTHER")"
		assert_output --partial '<module> (forks.py:7) > '
		assert_output --regexp ' child \(forks.py:3\) > '
	fi

	# Threads come and go, and the process ends at any moment of the look.
	cat >ends.py <<-'EOF'
		import threading, time
		def spin(end):
		    while time.monotonic() < end:
		        sorted(range(50), key=lambda v: -v)
		end = time.monotonic() + 1.5
		while time.monotonic() < end:
		    threads = [threading.Thread(target=spin, args=(time.monotonic() + 0.02,)) for _ in range(4)]
		    [t.start() for t in threads]
		    [t.join() for t in threads]
	EOF
	start_other "${PYTHONS[0]}" ends.py
	while kill -0 "$OTHER" 2>/dev/null && [ "$(awk '{ print $3 }' "/proc/$OTHER/stat")" != Z ]; do
		timeout 10 "$GPUPROF" stacks -q -p "$OTHER" --format json >r.json || [ $? -eq 1 ]
	done
	run -0 timeout 10 "$GPUPROF" version
}

# bats test_tags=needs:root
@test "stacks: what only looks like Python neither stops gpuprof nor has frames" {
	cat >looks.c <<-'EOF'
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		char _PyRuntime[65536] __attribute__((section(".PyRuntime"), aligned(16))) = { 1 };
		int main(int argc, char **argv)
		{
			void **word = (void **)_PyRuntime;
			for (size_t i = 0; i < sizeof(_PyRuntime) / sizeof(*word); i++)
				word[i] = argc > 2 ? (void *)(((size_t)rand() << 32) ^ (size_t)rand()) :
						     (void *)_PyRuntime;
			if (argc > 1 && *argv[1]) {
				unsigned long version = strtoul(argv[1], NULL, 16);
				memcpy(_PyRuntime, "xdebugpy", 8);
				memcpy(_PyRuntime + 8, &version, 8);
				memset(_PyRuntime + 16, 0, 8);
				for (size_t i = 3; i < 100; i++)
					word[i] = (void *)(argc > 2 ? rand() % 4096ul : 8 * i);
			}
			return pause();
		}
	EOF
	gcc -O1 -o libpython3.11 looks.c
	local arguments
	for arguments in "" 30d00f0 30e00f0 "30d00f0 random" 30e00f0\ random 2070012; do
		# shellcheck disable=SC2086 # one or two
		start_other ./libpython3.11 $arguments
		wait_for 10 grep -q pause "/proc/$OTHER/wchan"
		run -0 --separate-stderr timeout 10 "$GPUPROF" stacks -p "$OTHER" --format json
		assert_equal "$stderr" ""
		printf '%s\n' "$output" >r.json
		assert_value r.json '[s["python"] for s in t["stacks"]]' "[None]"
	done
}

# bats test_tags=needs:root
@test "stacks: a process without Python has none, and no text of it" {
	start_other sleep 100
	wait_for 10 grep -q nanosleep "/proc/$OTHER/wchan"
	run -0 "$GPUPROF" stacks -p "$OTHER" --format json
	printf '%s\n' "$output" >r.json
	assert_value r.json '[s["python"] for s in t["stacks"]]' "[None]"
	run -0 "$GPUPROF" stacks --full -p "$OTHER"
	refute_output --partial .py
}
