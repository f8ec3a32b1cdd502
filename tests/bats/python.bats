#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Python functions in stacks of calls, of waits and in findings: those that Python itself has.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

# Calls CUDA from functions of all kinds, and writes to FILE how often from which stack by Python's
# own account.
write_sites() {
	cat >grüße.py <<-'EOF'
		"""usage: grüße.py LIBCUDART FILE [--fork]"""
		import collections, ctypes, json, os, sys, threading, time

		cudart = ctypes.CDLL(sys.argv[1])
		time.sleep(0.3)		# its mappings are read some 10 ms after they were made
		seen = collections.Counter()

		def stack(frame):
		    frames = []
		    while frame:
		        code = frame.f_code
		        frames.append(f"{getattr(code, 'co_qualname', code.co_name)} ({shown(code.co_filename)}:{frame.f_lineno})")
		        frame = frame.f_back
		    return frames[:127]

		def shown(path):
		    inside = "/lib/python3." in path
		    return path.split("/lib/python3.")[1].split("/", 1)[1] if inside else path.split("/")[-1]

		LINE = sys._getframe().f_lineno + 4
		def call(*args, **kwargs):
		    frames = stack(sys._getframe(1))
		    seen[";".join([f"call (grüße.py:{LINE})"] + frames)] += 1
		    cudart.cudaDeviceSynchronize(); return 1

		def gap(n):
		    return "\n" * n

		source = f'''
		def long_gap():
		    x = 1{gap(700)}
		    call(x,{gap(70)}
		         y=[v
		            for v in (1, 2)])
		def handler():
		    try:
		        {{}}[1]
		    except KeyError:
		        for _ in range(3):
		            if _ == 2: call(); continue
		    finally:
		        call()
		relay = lambda f: lambda: f()
		@relay
		def größe_漢字():
		    return max([1, 2], key=lambda v:
		        call(v))
		class Iterator:
		    def __iter__(self): return self
		    def __next__(self):
		        call()
		        raise StopIteration
		def iterates():
		    for _ in Iterator():
		        pass
		def yields():
		    def inner():
		        yield from (call(v) for v in range(3))
		    return [v for v in inner()]
		def throws(n=5):
		    try:
		        call() if n else 1 / 0
		        throws(n - 1)
		    except ZeroDivisionError:
		        call()
		        raise
		def catches():
		    try:
		        throws()
		    except ZeroDivisionError:
		        call()
		def deep(n=200):
		    return deep(n - 1) + 1 if n else call()
		def through_native():
		    return called_back(3)
		'''
		called_back = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda n: sum(call() for _ in range(n)))
		space = {"call": call, "called_back": called_back}
		exec(compile(source, "/srv/\u6f22/générated.py", "exec"), space)
		sites = [v for n, v in space.items() if callable(v) and n not in ("call", "called_back", "Iterator", "throws", "relay")]

		def run(rounds):
		    for _ in range(rounds):
		        for site in sites:
		            site()

		def write(path):
		    with open(path, "w") as f:
		        json.dump(seen, f)

		if "--fork" in sys.argv and not os.fork():
		    run(3)
		    write(sys.argv[2] + ".child")
		    os._exit(0)
		threads = [threading.Thread(target=run, args=(n,)) for n in (4, 5)]
		for t in threads:
		    t.start()
		run(6)
		for t in threads:
		    t.join()
		write(sys.argv[2])
		os._exit(0)
	EOF
}

# Each stack's count is Python's: compares a report by stack with what the program wrote.
compare_stacks() { # REPORT FILE...
	python3 - "$@" <<-'EOF'
		import collections, json, re, sys
		got, wanted = collections.Counter(), collections.Counter()
		for row in json.load(open(sys.argv[1]))["tables"]["calls"]:
		    if row["function"] != "cudaDeviceSynchronize":
		        continue
		    frames = [f for f in reversed(row["stack"] or []) if re.search(r" \(.*:\d+\)$", f)]
		    if row["stack"] and row["stack"][0] == "[...]":
		        assert len(frames) == 128, len(frames)
		    got[";".join(frames)] += row["count"]
		for path in sys.argv[2:]:
		    for stack, count in json.load(open(path)).items():
		        wanted[stack] += count
		for stack in sorted(got.keys() | wanted.keys()):
		    if got[stack] != wanted[stack]:
		        print(f"{got[stack]} instead of {wanted[stack]}: {stack}")
		print(len(wanted), sum(wanted.values()))
	EOF
}

@test "python: each call stands on the functions that Python itself has, in each version" {
	local python
	find_pythons
	write_sites
	for python in "${PYTHONS[@]}"; do
		run -0 env LD_LIBRARY_PATH="$SIM" GPUSIM_QUIET=1 "$GPUPROF" stat --stacks --by stack \
			--table calls --format json -o r.json -- "$python" grüße.py "$SIM/libcudart.so.13" truth.json --fork
		run -0 compare_stacks r.json truth.json truth.json.child
		assert_output --regexp '^[0-9]+ [0-9]+$'
	done
}

@test "python: a process in a pid namespace of its own has them, too" {
	unshare -pf true || skip "no pid namespace can be made here"
	write_sites
	run -0 env LD_LIBRARY_PATH="$SIM" GPUSIM_QUIET=1 "$GPUPROF" stat --stacks --by stack --table calls --format json \
		-o r.json -- unshare -pf python3 grüße.py "$SIM/libcudart.so.13" truth.json --fork
	run -0 compare_stacks r.json truth.json truth.json.child
	assert_output --regexp '^[0-9]+ [0-9]+$'
}

@test "python: a finding has the line of the program that waits, without an option" {
	cat >train.py <<-'EOF'
		import ctypes, queue, sys, threading, time
		cudart = ctypes.CDLL(sys.argv[1])
		p, n = ctypes.c_void_p(), ctypes.c_size_t(8 << 20)
		cudart.cudaMalloc(ctypes.byref(p), n)
		batches = queue.Queue(1)
		def load():
		    for i in range(60):
		        time.sleep(0.02)
		        batches.put(i)
		    batches.put(None)
		class Trainer:
		    def next_batch(self):
		        return batches.get()
		    def train(self):
		        while self.next_batch() is not None:
		            cudart.cudaMemcpyAsync(p, p, n, 3, None)
		            cudart.cudaDeviceSynchronize()
		threading.Thread(target=load).start()
		Trainer().train()
	EOF
	run -0 env LD_LIBRARY_PATH="$SIM" GPUSIM_QUIET=1 COLUMNS=100 "$GPUPROF" stat -- python3 train.py "$SIM/libcudart.so.13"
	assert_line --regexp '^ 1 .* input-stall .* train\.py:13 '
	run -0 env LD_LIBRARY_PATH="$SIM" GPUSIM_QUIET=1 "$GPUPROF" stat --format json -o r.json -- \
		python3 train.py "$SIM/libcudart.so.13"
	assert_value r.json '[f["where"] for f in t["findings"] if f["finding"] == "input-stall"]' \
		"['Trainer.train < train.py:13 in Trainer.next_batch']"
}

# Its state holds anything: no frames of it, and calls as without it.
@test "python: what only looks like Python has native stacks" {
	cat >app.c <<-'C'
		#include <stdint.h>
		int cudaDeviceSynchronize(void);
		uint64_t state[4096];
		__attribute__((section(".PyRuntime"))) uint64_t _PyRuntime[4096] = { 1 };
		__attribute__((noinline)) void step(void) { cudaDeviceSynchronize(); __asm__ volatile(""); }
		int main(void)
		{
			for (int i = 0; i < 4096; i++)
				state[i] = _PyRuntime[i] = (uintptr_t)(i % 3 ? state : _PyRuntime) + 8 * (i * 7 % 4000);
			for (int i = 0; i < 100; i++)
				step();
			return 0;
		}
	C
	gcc -O1 -fno-optimize-sibling-calls -o libpython3.11 app.c -L"$SIM" -l:libcudart.so.13 -Wl,-rpath,"$SIM"
	run -0 env GPUSIM_QUIET=1 "$GPUPROF" stat --stacks --by stack --table calls --format json -o r.json -- ./libpython3.11
	assert_value r.json '[(r["count"], r["stack"][-3:]) for r in t["calls"] if r["function"] == "cudaDeviceSynchronize"]' \
		"[(100, ['main', 'step', 'cudaDeviceSynchronize'])]"
}

# The main thread calls CUDA, and waits: for the interpreter's lock, which another thread holds; then for
# a lock of its own.
@test "python: a thread that waits for the global interpreter lock is said to, and for no other lock" {
	cat >locks.py <<-'EOF'
		import ctypes, sys, threading, time
		cudart = ctypes.CDLL(sys.argv[1])
		buffer = ctypes.c_void_p()
		cudart.cudaMalloc(ctypes.byref(buffer), 4096)
		time.sleep(0.3)		# its mappings are read some 10 ms after they were made
		done = False
		def burn():
		    while not done:
		        pass
		burner = threading.Thread(target=burn)
		burner.start()
		until = time.monotonic() + 1
		while time.monotonic() < until:
		    cudart.cudaMemset(buffer, 0, 4096)
		done = True
		burner.join()
		lock = threading.Lock()
		for _ in range(5):
		    lock.acquire()
		    threading.Timer(0.05, lock.release).start()
		    with lock:
		        cudart.cudaMemset(buffer, 0, 4096)
	EOF
	find_pythons 10
	for python in "${PYTHONS[@]}"; do
		run -0 env LD_LIBRARY_PATH="$SIM" "$GPUPROF" stat -q --table offcpu --format json -o r.json -- \
			"$python" locks.py "$SIM/libcudart.so.13"
		run -0 python3 - <<-'EOF'
			import json
			rows = [r for r in json.load(open("r.json"))["tables"]["offcpu"] if r["pid"] == r["tid"] and r["reason"] == "lock"]
			ns = {gil: sum(r["total_ns"] for r in rows if (r["file"] == "GIL") == gil) for gil in (True, False)}
			print(ns[True] > 300e6 or ns, 200e6 < ns[False] < 500e6 or ns)
		EOF
		assert_output "True True"
	done
}
