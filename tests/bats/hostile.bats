#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2030,SC2031 # scripts for sh; each test has its own STARTED
# Hosts that hide things, and processes that come and go faster than anybody can look.

load ../lib/common

start_calls() { # WRAPPER...: 500 launches once `go` exists; its pid is TARGET
	LD_LIBRARY_PATH=$SIM "$@" "$SIM/simcalls" cudaLaunchKernel=500 --init --wait-file go \
		>calls.out 3>&- &
	as_ready_target calls.out
}

all_are_counted() { # [FILE]: of start_calls, by gpuprof into r.json
	wait_armed "$TARGET" cudart
	touch "${1:-go}"
	wait_gpuprof 0
	run launches
	assert_output 500
}

launches() { report_value r.json 'sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel")'; }

# bats test_tags=needs:root,needs:bpf,needs:mounts,needs:sim
@test "hostile: /proc with hidepid=2: root sees all; a user gets a message with what is missing" {
	start_calls env
	cat >hidden <<-'SCRIPT'
		mount -t proc -o hidepid=2 proc /proc && exec "$@"
	SCRIPT
	run -3 unshare -m sh hidden capsh --drop=cap_sys_admin,cap_sys_ptrace -- -c \
		"exec setpriv --reuid 65534 --clear-groups '$GPUPROF' stat -d 50ms -p $TARGET"
	one_line CAP_
	unshare -m sh hidden "$GPUPROF" stat -p "$TARGET" --table calls --format json -o r.json 2>gpuprof.err 3>&- &
	as_profiler
	all_are_counted
}

# bats test_tags=needs:root
@test "hostile: a process hidden by hidepid is reported as hidden, not as exited; exit 3" {
	local verb
	needs root mounts
	cat >hides <<-'SCRIPT'
		mount -t proc -o hidepid=2 proc /proc || exit
		sleep 60 &
		capsh --drop=cap_sys_admin,cap_sys_ptrace -- -c \
			"exec setpriv --reuid 65534 --regid 65534 --clear-groups $* -p $!"
		status=$?
		kill $!
		exit $status
	SCRIPT
	for verb in stacks doctor "stat --inject -d 50ms"; do
		# shellcheck disable=SC2086
		run unshare -pf --mount-proc sh hides "$GPUPROF" $verb
		assert_equal "$verb: $status" "$verb: 3"
		assert_output --partial "is hidden from you (hidepid)"
	done
}

# bats test_tags=needs:root,needs:bpf
@test "hostile: where a security module forbids what root's capabilities allow, the message says so" {
	cat >landlock.py <<-'EOF'
		import ctypes, os, struct, sys
		call = ctypes.CDLL(None).syscall
		makes_sockets = struct.pack("Q", 1 << 9)	# forbidden is that, and to trace what is outside
		ruleset = call(444, makes_sockets, len(makes_sockets), 0)
		if ruleset < 0 or call(446, ruleset, 0):
		    sys.exit(77)
		os.execvp(sys.argv[1], sys.argv[1:])
	EOF
	run python3 landlock.py true
	[ "$status" -ne 77 ] || skip "no Landlock here"
	sleep 60 3>&- &
	STARTED+=($!)
	run -0 python3 landlock.py "$GPUPROF" stat -a -d 50ms --table events
	assert_line --regexp '^gpuprof: warning: process [0-9]+( and [0-9]+ more)? could not be read: permission denied; something forbids it although CAP_SYS_PTRACE is there'
	run -3 python3 landlock.py "$GPUPROF" stat -p $! -d 50ms
	one_line "$!" "something forbids it although CAP_SYS_PTRACE is there"
	run python3 landlock.py "$GPUPROF" doctor -p $!
	assert_line --regexp '^FAIL +process .*something forbids it although CAP_SYS_PTRACE is there'
}

# bats file_tags=needs:root,needs:bpf,needs:mounts
@test "hostile: without procfs the error names the mount, exit 4" {
	mkdir empty
	# shellcheck disable=SC2016
	run -4 unshare -m sh -c 'mount --bind empty /proc && exec "$0" stat -d 50ms -- true' "$GPUPROF"
	one_line "mount -t proc proc /proc"
}

@test "hostile: stacks gives the reason why it runs without BPF" {
	sleep 60 &
	STARTED+=($!)
	run sh -c "ulimit -n 18; exec '$GPUPROF' stacks -p $!"
	assert_line --regexp "from /proc alone, and some will be short: .*\(ulimit -n"
	# shellcheck disable=SC2016
	run unshare -pf --mount-proc sh -c 'sleep 60 & "$1" stacks -p $!; kill $!' sh "$GPUPROF"
	assert_line --partial "gpuprof is in a pid namespace"
}

# bats file_tags=needs:root,needs:bpf
@test "hostile: gpuprof in a user namespace is refused in one line, exit 3" {
	unshare -Ur true 2>/dev/null || skip "no user namespaces here"
	run -3 unshare -Ur "$GPUPROF" stat -d 50ms -a
	one_line "user namespace"
}

# bats test_tags=needs:sim
@test "hostile: a target in a user namespace of its own is measured" {
	unshare -Ur true 2>/dev/null || skip "no user namespaces here"
	start_calls unshare -Ur
	start_gpuprof stat -p "$TARGET" --table calls --format json -o r.json
	all_are_counted
}

# bats test_tags=needs:mounts,needs:sim
@test "hostile: the mount a target's libraries came from is gone, and its root is empty" {
	mkdir away empty
	local go=$BATS_RUN_TMPDIR/go.$BATS_TEST_NUMBER.${BATS_TEST_TRY_NUMBER:-1} # not hidden by what is mounted here
	cat >inside <<-SCRIPT
		mount -t tmpfs none "$PWD/away" &&
		cp -L "$SIM"/libgpusim.so "$SIM"/libcuda.so.1 "$SIM"/libcudart.so.13 "$SIM"/simcalls away &&
		cd away && { LD_LIBRARY_PATH=$PWD/away ./simcalls cudaLaunchKernel=500 --init \
			--wait-file "$go" >"$PWD/calls.out" & echo \$! >"$PWD/pid"; } &&
		until grep -q ready "$PWD/calls.out"; do sleep 0.05; done
		cd / && umount -l "$PWD/away" && mount -t tmpfs none "$PWD" && : >"$PWD/x"; wait
	SCRIPT
	LD_LIBRARY_PATH='' unshare -m sh inside 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q ready calls.out
	TARGET=$(cat pid)
	STARTED+=("$TARGET")
	wait_for 10 grep -q " $PWD tmpfs" "/proc/$TARGET/mounts"
	start_gpuprof stat -d 1s -p "$TARGET" --table calls --format json -o r.json
	wait_armed "$TARGET" cudart
	wait_gpuprof 0
	run -0 text_equals_file "$TARGET"
	start_gpuprof stat -p "$TARGET" --table calls --format json -o r.json
	all_are_counted "$go"
}

# bats test_tags=needs:sim
@test "hostile: a storm of processes below -p and beside -a: no error, no call lost or doubled" {
	cp -L "$SIM/simcalls" storming # a name of its own: -a sees whatever else runs here
	cat >storm <<-'SCRIPT'
		while [ ! -e go ]; do sleep 0.02; done
		for i in 1 2 3 4; do
			./storming cudaLaunchKernel=50 --wait-ms 300 >/dev/null &
			n=0
			while [ $n -lt 100 ]; do (:); n=$((n + 1)); done
		done
		wait
	SCRIPT
	local how
	for how in -p -a; do
		rm -f go
		LD_LIBRARY_PATH=$SIM sh storm 3>&- &
		as_target
		if [ $how = -p ]; then
			start_gpuprof stat -q -p "$TARGET" --table calls,threads,events --format json -o r.json
		else
			start_gpuprof stat -q -a --table calls,threads,events --format json -o r.json
		fi
		wait_begun
		touch go
		wait "$TARGET"
		[ $how = -p ] || kill -INT "$PROFILER"
		wait_gpuprof 0
		assert_output ""
		laws r.json
		run report_value r.json 'sorted(c["count"] for c in t["calls"]
			if c["function"] == "cudaLaunchKernel" and c["comm"] == "storming")'
		assert_output "[50, 50, 50, 50]"
	done
}

# With the helper in each, and two CPUs for all of them and gpuprof.
# bats test_tags=needs:sim
@test "hostile: forty ranks on a busy host with -a: each launch and its work is counted or lost, and books add up" {
	local rank pids
	may_repeat "-a has whatever else runs on the machine"
	taskset -cp 0,1 $BASHPID >/dev/null
	cp -L "$SIM/simcalls" crowding # a name of its own: -a sees whatever else runs here
	eval "$("$GPUPROF" env --for shell --dir "$PWD/env" 2>env.err)"
	for ((rank = 0; rank < 40; rank++)); do
		RANK=$rank LD_LIBRARY_PATH=$SIM ./crowding cudaLaunchKernel=3000 cudaStreamSynchronize=30 --init \
			--pause-us 20 --wait-file go >$rank.out 3>&- &
		STARTED+=($!)
	done
	pids=("${STARTED[@]}")
	wait_for 30 eval '[ "$(cat ./*.out | grep -c ready)" -eq 40 ]'
	start_gpuprof stat -q -a --table calls,threads,ledger,kernels,processes,events --format json -o r.json
	wait_begun
	for pid in "${pids[@]}"; do wait_for 30 is_awake "$pid"; done
	touch go
	wait "${pids[@]}"
	kill -INT "$PROFILER"
	wait_gpuprof
	laws r.json
	python3 - $status <<-'PY'
		import json, sys
		report, status = json.load(open("r.json")), int(sys.argv[1])
		tables, meta = report["tables"], report["meta"]
		ranks = {p["pid"]: p["rank"] for p in tables["processes"] if p["comm"] == "crowding"}
		def lost(*kinds):
		    return sum(e["lost"] or 0 for e in tables["events"] if e["kind"] in kinds)
		def counts(rows):
		    return {row["pid"]: row["count"] for row in rows if row["pid"] in ranks}
		calls = counts(c for c in tables["calls"] if c["function"] == "cudaLaunchKernel")
		works = counts(tables["kernels"])
		print(status, calls, lost("call"), works, lost("work", "untold"))
		assert sorted(ranks.values()) == list(range(40)), ranks
		assert max(calls.values()) <= 3000 and max(works.values()) <= 3000
		assert sum(calls.values()) + lost("call") >= 40 * 3000
		assert sum(works.values()) + lost("work", "untold") >= 40 * 3000
		# Of each rank a launch may have been in progress when recording ended and began.
		if len(tables["processes"]) == 40:
		    assert sum(works.values()) + lost("work", "untold") <= 40 * 3000 + 40
		assert status == (0 if meta["complete"] else 5)
		assert meta["lost"] or meta["complete"]
	PY
}

@test "hostile: a target whose /proc entries vanish at any step is reported as exited" {
	local i
	for i in 00 01 02 03 04 05 07 09 12; do
		sleep "0.$i" 3>&- &
		run "$GPUPROF" stat -d 10ms -p $! --table events
		[ "$status" -eq 0 ] || { assert_equal "$status" 1; one_line "process $!"; }
	done
	sleep 0.15 3>&- &
	run "$GPUPROF" doctor -p $!
	[ "$status" -le 1 ]
}
