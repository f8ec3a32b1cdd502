#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2030,SC2031 # scripts for sh; each test has its own STARTED
# Targets chosen by what people know of them: exactly these are measured, with every call they make.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

GROUPS_OF_TEST=()

teardown() {
	local group
	end_started
	for group in "${GROUPS_OF_TEST[@]}"; do
		unshare -m sh -c 'mount -t cgroup2 none "$0" && cd "$0" && rmdir -p "$1"' "$PWD/groups" \
			"$group" 2>/dev/null || true
	done
	rm -rf "${OPEN:-}"
}

# Starts a program that launches COUNT times once `go` exists, and writes NAME.json; its pid is TARGET.
# LATE=--wait-ms: it makes no call before, so that all can be seen by a gpuprof that runs already.
start_calls() { # NAME COUNT PROGRAM [WRAPPER...]: the wrapper ends in exec
	local name=$1 count=$2 program=$3
	shift 3
	GPUSIM_TRUTH=$PWD/$name.json LD_LIBRARY_PATH=$SIM "$@" "$program" cudaLaunchKernel="$count" \
		"${LATE:---init}" ${LATE:+0} --wait-file "$PWD/go" >"$name.out" 3>&- &
	as_ready_target "$name.out"
}

named_copy() { cp "$SIM/simcalls" "$1" && echo "./$1"; } # NAME: the program under another name

# Starts gpuprof and returns when what matches now is probed.
start_choosing() { # OPTION...
	start_gpuprof stat "$@" --table calls,processes,threads,events --format json -o r.json
	wait_for 10 grep -q ' match' gpuprof.err || { cat gpuprof.err >&2; return 1; }
}

# Lets the targets go, and ends the session when they have ended.
let_go() {
	local pid
	touch go
	for pid in "${STARTED[@]}"; do
		[ "$pid" = "$PROFILER" ] || wait "$pid"
	done
	interrupt_gpuprof
	laws r.json
}

only() { # PID...: no other process has calls in the report
	run report_value r.json "sorted({c['pid'] for c in t['calls']}) == sorted([$(IFS=,; echo "$*")])"
	assert_output True
}

@test "select: --name matches comm, program (however long) or script; children count too" {
	local a b c
	start_calls a 300 "$(named_copy alpha-1)"
	a=$TARGET
	start_calls b 200 "$(named_copy a-program-of-a-very-long-name)"
	b=$TARGET
	start_calls other 100 "$(named_copy omega)"
	cat >job.sh <<-SCRIPT
		GPUSIM_TRUTH=$PWD/c.json LD_LIBRARY_PATH=$SIM "$SIM/simcalls" cudaLaunchKernel=50 \
			--init --wait-file $PWD/go >c.out &
		echo \$! >c.pid.new
		mv c.pid.new c.pid
		wait
	SCRIPT
	bash ./job.sh 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q ready c.out
	wait_for 10 test -e c.pid
	c=$(cat c.pid)
	start_choosing --name 'alpha*,a-program-of-a-very-long-name' --name job.sh
	let_go
	only "$a" "$b" "$c"
	compare --no-times a.json r.json
	compare --no-times b.json r.json
	compare --no-times c.json r.json
	assert_regex "$(cat gpuprof.err)" "3 processes match name=alpha\*,a-program-of-a-very-long-name,job.sh: .*; 1 below"
}

@test "select: --user by name and by number; the processes table names the user" {
	OPEN=$(mktemp -d /tmp/gpuprof-bats.XXXXXX)
	cp -L "$SIM"/{libgpusim.so,libcuda.so.1,libcudart.so.13,simcalls} "$OPEN"
	chmod -R go+rX "$OPEN"
	touch "$OPEN/t.json"
	chmod 666 "$OPEN/t.json"
	start_calls root 100 "$SIM/simcalls"
	GPUSIM_TRUTH=$OPEN/t.json LD_LIBRARY_PATH=$OPEN setpriv --reuid 65534 --clear-groups \
		"$OPEN/simcalls" cudaLaunchKernel=77 --init --wait-ms 2500 >unselected.out 3>&- &
	as_ready_target unselected.out
	start_choosing --user 65534,daemon
	let_go
	only "$TARGET"
	run report_value r.json '[(p["user"], p["comm"]) for p in t["processes"]]'
	assert_output "[('nobody', 'simcalls')]"
	run report_value r.json 'sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel")'
	assert_output 77
}

# Runs in a control group of its own (v2, whatever is mounted here).
in_group() { # GROUP COMMAND...
	mkdir -p groups
	exec unshare -m sh -c 'mount -t cgroup2 none "$0" && mkdir -p "$0/$1" || exit
		echo $$ >"$0/$1/cgroup.procs"; shift; exec "$@"' "$PWD/groups" "$@"
}

start_in_group() { # NAME COUNT GROUP
	GROUPS_OF_TEST+=("$3")
	start_calls "$1" "$2" "$SIM/simcalls" in_group "$3"
}

# bats test_tags=needs:mounts
@test "select: --cgroup takes a path, what is below it, and patterns of parts" {
	local a b top=gp-bats-$$
	start_in_group a 300 "$top/work.slice/one"
	a=$TARGET
	start_in_group b 200 "$top/work.slice/two"
	b=$TARGET
	start_in_group other 100 "$top/rest.slice"
	start_choosing --cgroup "/sys/fs/cgroup/$top/work.slice/one,$top/work.s*/t[v-x]o"
	let_go
	only "$a" "$b"
	compare --no-times a.json r.json
	compare --no-times b.json r.json
	run report_value r.json "[p['cgroup'] for p in t['processes'] if p['pid'] == $a]"
	assert_output --partial "/$top/work.slice/one"
}

# bats test_tags=needs:mounts
@test "select: --pod by UID and by name; pod and container are in the table" {
	local a b id uid
	uid=12345678-90ab-cdef-0123-$(printf %012x $$)
	id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
	POD_NAME=trainer-0 start_in_group a 300 "kubepods.slice/kubepods-pod${uid//-/_}.slice/cri-containerd-$id.scope"
	a=$TARGET
	POD_NAME=trainer-1 start_in_group b 200 "kubepods.slice/kubepods-pod${uid//-/_}1.slice"
	b=$TARGET
	POD_NAME=trainer-0 start_calls other 100 "$SIM/simcalls" # in no pod, whatever it says
	start_choosing --pod "$uid,trainer-1"
	let_go
	only "$a" "$b"
	compare --no-times a.json r.json
	compare --no-times b.json r.json
	run report_value r.json "[(p['pod'], p['pod_uid'], p['container'], p['runtime']) for p in t['processes'] if p['pid'] == $a]"
	assert_output "[('trainer-0', '$uid', '0123456789ab', 'containerd')]"
}

@test "select: --job by the environment; rank, job and where they come from are in every format" {
	local a
	SLURM_JOB_ID=77 SLURM_PROCID=3 start_calls a 300 "$SIM/simcalls"
	a=$TARGET
	SLURM_JOB_ID=777 start_calls other 100 "$SIM/simcalls"
	PBS_JOBID=5.server RANK=9 start_calls b 200 "$SIM/simcalls"
	start_choosing --job 77 --job 5 --capture c.gpr
	let_go
	only "$a" "$TARGET"
	compare --no-times a.json r.json
	compare --no-times b.json r.json
	run report_value r.json "sorted((p['rank'], p['rank_source'], p['job'], p['job_source']) for p in t['processes'])"
	assert_output "[(3, 'SLURM_PROCID', '77', 'slurm'), (9, 'RANK', '5.server', 'pbs')]"
	"$GPUPROF" report c.gpr --table processes --format json >again.json
	run report_value again.json "t['processes'] == json.load(open('r.json'))['tables']['processes']"
	assert_output True
	run --separate-stderr "$GPUPROF" report c.gpr --table processes --format csv
	assert_line --index 0 --partial "pid,user,comm,rank,rank_source,job,pod,container,devices"
	assert_line --regexp "^$a,root,simcalls,3,SLURM_PROCID,77,"
	run "$GPUPROF" report c.gpr --table processes
	assert_line --regexp "$a +root +simcalls +3 +SLURM_PROCID +77 "
	run "$GPUPROF" report c.gpr --table processes --format md
	assert_line --regexp "$a.*SLURM_PROCID"
}

# In a /dev of its own, with files for devices.
with_devices() {
	exec unshare -m sh -c 'mount -t tmpfs none /dev || exit
		for n in "null 3" "zero 5" "random 8" "urandom 9"; do mknod -m 666 /dev/${n% *} c 1 ${n#* }; done
		touch /dev/nvidiactl /dev/nvidia0 /dev/nvidia1; exec "$@"' sh "$@"
}

# bats test_tags=needs:mounts
@test "select: --gpu selects processes that have the device open or open it later" {
	[ ! -e /proc/driver/nvidia ] || skip "this host has devices of its own"
	local a
	start_calls a 300 "$SIM/simcalls" with_devices sh -c 'exec 7</dev/nvidia1; exec "$0" "$@"'
	a=$TARGET
	start_calls other 100 "$SIM/simcalls" with_devices sh -c 'exec 7</dev/nvidia0; exec "$0" "$@"'
	with_devices "$GPUPROF" stat -v --gpu 1 --table calls,processes,threads,events --format json -o r.json \
		>gpuprof.out 2>gpuprof.err 3>&- &
	as_profiler
	wait_for 10 grep -q ' match' gpuprof.err
	LATE=--wait-ms CUDA_VISIBLE_DEVICES=1 start_calls b 200 "$SIM/simcalls"
	wait_for 10 grep -q "process $TARGET is chosen" gpuprof.err # others' probes may be in its text
	wait_for 10 text_differs "$TARGET" cudart
	let_go
	only "$a" "$TARGET"
	compare --no-times a.json r.json
	compare --no-times b.json r.json
	run report_value r.json "sorted((p['devices'], p['devices_source']) for p in t['processes'])"
	assert_output "[('1', 'open'), ('1', 'visible')]"
}

@test "select: all kinds must match, patterns of one kind are alternatives; --isolate excludes children" {
	local a
	SLURM_JOB_ID=77 start_calls a 300 "$(named_copy alpha)"
	a=$TARGET
	SLURM_JOB_ID=78 start_calls other-job 100 ./alpha
	SLURM_JOB_ID=77 start_calls other-name 100 "$(named_copy omega)"
	GPUSIM_TRUTH=$PWD/%p.json LD_LIBRARY_PATH=$SIM SLURM_JOB_ID=77 sh -c 'cat gone; ./omega "$@" & wait' \
		alpha cudaLaunchKernel=10 --init --wait-file "$PWD/go" >below.out 2>&1 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q ready below.out
	start_choosing --name alpha,beta --job 77 --user root --isolate
	let_go
	only "$a"
	compare --no-times a.json r.json
}

@test "select: a matching process that starts later is measured with its children, no other is" {
	local a b children
	start_calls a 300 "$(named_copy alpha)"
	a=$TARGET
	start_choosing -v --name 'alpha,runner.sh'
	LATE=--wait-ms start_calls other 100 "$(named_copy omega)"
	LATE=--wait-ms start_calls b 200 ./alpha
	b=$TARGET
	cat >runner.sh <<-SCRIPT
		#!/bin/sh
		GPUSIM_TRUTH=$PWD/%p.child LD_LIBRARY_PATH=$SIM ./omega cudaLaunchKernel=50 --fork 2 \
			--wait-file $PWD/go >child.out
	SCRIPT
	chmod +x runner.sh
	./runner.sh 3>&- &
	STARTED+=($!)
	wait_for 10 eval '[ "$(grep -c ready child.out)" -ge 2 ]'
	wait_for 10 grep -q "process $b is chosen" gpuprof.err
	wait_for 10 grep -q "process $! is chosen" gpuprof.err
	wait_for 10 all_wait "$PROFILER"
	let_go
	compare --no-times a.json r.json
	compare --no-times b.json r.json
	mapfile -t children < <(grep -l cudaLaunchKernel ./*.child | tr -dc '0-9\n')
	assert_equal "${#children[@]}" 2
	only "$a" "$b" "${children[@]}"
	run report_value r.json 'sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel")'
	assert_output 600
}

# bats file_tags=
# bats test_tags=needs:root,needs:bpf
@test "select: without a match it reports so and waits" {
	run -1 "$GPUPROF" stat --full --name no-process-has-it -d 300ms
	assert_line "gpuprof: no process matches name=no-process-has-it yet; waiting for one to start, as long as -d says"
	assert_output --partial "no calls seen in any process with name=no-process-has-it"
	assert_line "gpuprof: no process that matches used CUDA or NCCL meanwhile"
}

@test "select: meaningless selectors are refused in one line, exit 2" {
	local bad
	# shellcheck disable=SC1003 # a backslash
	for bad in '--user no-such-user' '--name [a' '--name a,,b' '--cgroup a\' '--gpu 99' '--gpu first' \
		'--pod [x' '--job ,' '--name a -p 1' '--name a -a' '--name a -- true'; do
		# shellcheck disable=SC2086 # words
		run -2 "$GPUPROF" stat $bad
		assert_equal "${#lines[@]}" 1
	done
}
