#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2030,SC2031 # scripts for sh; each test has its own STARTED
# What gpuprof needs to run, what it says where a right is missing, what it gives up once it runs.

load ../lib/common

WORK=(2 19 38 39 40) # CAP_DAC_READ_SEARCH, SYS_PTRACE, PERFMON, BPF, CHECKPOINT_RESTORE

# Without these, and without CAP_SYS_ADMIN, which stands for some of them.
without() { # CAPABILITIES COMMAND...
	local set=cap_sys_admin,$1
	shift
	capsh --drop="$set" -- -c 'exec "$0" "$@"' "$@"
}

with_only() { # BIT... -- COMMAND...: without all others
	local keep=' ' drop='' bit
	while [ "$1" != -- ]; do
		keep+="$1 "
		shift
	done
	shift
	for bit in {0..40}; do
		[[ $keep == *" $bit "* ]] || drop+=${drop:+,}$bit
	done
	capsh --drop="$drop" -- -c 'exec "$0" "$@"' "$@"
}

# A folder that every user may look into, with the simulated libraries: OPEN.
open_folder() {
	OPEN=$(mktemp -d /tmp/gpuprof-bats.XXXXXX)
	cp -L "$SIM"/{libgpusim.so,libcuda.so.1,libcudart.so.13,simcalls} "$OPEN"
	chmod -R go+rX "$OPEN"
}

teardown() {
	end_started
	rm -rf "${OPEN:-}"
}

start_calls() { # UID: 500 launches once OPEN/go exists; its pid is TARGET
	LD_LIBRARY_PATH=$OPEN setpriv --reuid "$1" --clear-groups "$OPEN/simcalls" \
		cudaLaunchKernel=500 --init --wait-file "$OPEN/go" >calls.out 3>&- &
	as_ready_target calls.out
}

# The target is measured by COMMAND..., and all of its launches are.
counts_all() { # COMMAND...
	"$@" stat -p "$TARGET" --table calls --format json -o r.json 2>gpuprof.err 3>&- &
	as_profiler
	wait_armed "$TARGET" cudart
	touch "$OPEN/go"
	wait_gpuprof 0
	run report_value r.json 'sum(c["count"] for c in t["calls"] if c["function"] == "cudaLaunchKernel")'
	assert_output 500
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "privileges: the documented capabilities are enough for a process of another user" {
	open_folder
	start_calls 65534
	counts_all with_only "${WORK[@]}" -- "$GPUPROF"
	run cat gpuprof.err
	assert_output ""
}

# bats test_tags=needs:root,needs:bpf
@test "privileges: without one that is required, exit 3 and its name" {
	local name
	for name in CAP_BPF CAP_PERFMON; do
		run -3 without "${name,,}" "$GPUPROF" stat -d 1s -a
		one_line "$name"
		run -3 without "${name,,}" "$GPUPROF" doctor
		assert_output --regexp "FAIL +$name +missing"
	done
}

# bats file_tags=needs:root,needs:bpf,needs:sim
@test "privileges: without CAP_SYS_PTRACE, one's own processes are measured and -a names the others" {
	open_folder
	start_calls 65534
	run -0 without cap_sys_ptrace "$GPUPROF" record -o c.gpr -a -d 10ms
	assert_note -f c.gpr processes-unreadable CAP_SYS_PTRACE
	run without cap_sys_ptrace "$GPUPROF" doctor
	assert_output --regexp "less +CAP_SYS_PTRACE +missing"
	kill -KILL "$TARGET"
	LD_LIBRARY_PATH=$OPEN capsh --drop=cap_sys_ptrace,cap_sys_admin -- -c 'exec "$0" "$@"' \
		"$OPEN/simcalls" cudaLaunchKernel=500 --init --wait-file "$OPEN/go" >calls.out 3>&- &
	as_ready_target calls.out
	counts_all without cap_sys_ptrace "$GPUPROF"
}

@test "privileges: without CAP_DAC_READ_SEARCH readable files are measured" {
	open_folder
	start_calls 65534
	run without cap_dac_read_search,cap_dac_override "$GPUPROF" doctor
	assert_output --regexp "less +CAP_DAC_READ_SEARCH +missing"
	counts_all without cap_dac_read_search,cap_dac_override "$GPUPROF"
}

@test "privileges: without CAP_CHECKPOINT_RESTORE files are found by name; deleted ones are reported" {
	open_folder
	start_calls 65534
	rm "$OPEN/libcuda.so.1"
	counts_all without cap_checkpoint_restore "$GPUPROF"
	run cat gpuprof.err
	assert_output --partial "needs CAP_CHECKPOINT_RESTORE"
}

# ---- what is given up ------------------------------------------------------------------------

# The capabilities of a process' threads that have any, and NoNewPrivs where it is not set.
rights() { # PID
	cat "/proc/$1/task"/*/status | awk '
		$1 == "CapPrm:" && $2 !~ /^0*$/ { print $2 }
		$1 == "CapEff:" && $2 !~ /^0*$/ { print $2 }
		$1 == "NoNewPrivs:" && !$2 { print "may get more" }' | sort -u
}

bits() { # BIT...: as /proc/PID/status shows them
	local sum=0 bit
	for bit; do sum=$((sum | 1 << bit)); done
	printf '%016x\n' $sum
}

has_rights() { [ "$(rights "$1")" = "$(bits "${@:2}")" ]; } # PID BIT...

# bats file_tags=needs:root,needs:bpf
@test "privileges: a running gpuprof has only the capabilities it needs and cannot get more" {
	sleep 60 3>&- &
	STARTED+=($!)
	start_gpuprof stat -p $!
	wait_for 5 has_rights "$PROFILER" "${WORK[@]}"
	interrupt_gpuprof
	start_gpuprof record -o c.gpr --max-size 1m --max-files 2 -a
	wait_for 5 has_rights "$PROFILER" "${WORK[@]}" 1 # CAP_DAC_OVERRIDE, for the files to come
	interrupt_gpuprof
}

# bats test_tags=needs:sim
# A full pipe: what is written to it waits until it is read.
hold() { # FD
	mkfifo "pipe$1"
	eval "exec $1<>pipe$1"
	head -c 65536 /dev/zero >&"$1"
}

@test "privileges: a report and a snapshot keep the capabilities they still need" {
	"$GPUPROF" record -o c.gpr -- true
	hold 7
	start_gpuprof report c.gpr -o /dev/fd/7
	wait_for 5 has_rights "$PROFILER" 1 # CAP_DAC_OVERRIDE
	head -c 65536 <&7 >/dev/null
	wait_gpuprof 0
	hold 8
	start_gpuprof stacks -p $$ -o /dev/fd/8
	wait_for 5 has_rights "$PROFILER" "${WORK[@]}" 1
	head -c 65536 <&8 >/dev/null
	wait_gpuprof 0
}

@test "privileges: the command of -- CMD keeps its capabilities, and gpuprof can end it" {
	grep -E 'Cap(Prm|Eff|Inh|Amb)|NoNewPrivs' /proc/self/status >mine
	start_gpuprof stat -q -- sh -c "grep -E 'Cap(Prm|Eff|Inh|Amb)|NoNewPrivs' /proc/self/status >theirs
		exec setpriv --reuid 65534 --clear-groups sleep 60"
	wait_for 5 has_rights "$PROFILER" "${WORK[@]}" 5 # CAP_KILL
	wait_for 5 pgrep -P "$PROFILER" -x sleep
	diff mine theirs
	kill -TERM "$PROFILER"
	wait_gpuprof 143
}

# bats test_tags=needs:sim
@test "privileges: files created later belong to the user who ran sudo" {
	open_folder
	mkdir "$OPEN/home"
	chown 65534:65534 "$OPEN/home"
	run -0 env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody LD_LIBRARY_PATH="$OPEN" "$GPUPROF" record \
		-o "$OPEN/home/c.gpr" --max-size 64k --max-files 3 -- "$OPEN/simcalls" cudaLaunchKernel=100000
	run bash -c "ls '$OPEN/home' | wc -l"
	assert_output 3
	run -0 env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody "$GPUPROF" stat -o "$OPEN/home/report" -- true
	assert_file_not_empty "$OPEN/home/report"
}
