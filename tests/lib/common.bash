# SPDX-License-Identifier: BSD-3-Clause
# What every bats file uses: where things are, what a test needs of this machine, targets that
# start on a sign and end with the test. Knows gpuprof by its command line alone.
# shellcheck shell=bash disable=SC2034,SC2154 # bats and the tests read and set status, output, lines

bats_require_minimum_version 1.5.0

# `run -N` of bats 1.8 assigns to i of its caller (bats_version_lt), whose loop then never ends.
eval "bats_$(declare -f run)"
run() {
	local i
	bats_run "$@"
}

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
GPUPROF=${GPUPROF:-$ROOT/build/gpuprof}
TARGETS=$ROOT/build/targets
SIM=$ROOT/build/sim
TEST_LIB=$ROOT/tests/lib
export ROOT GPUPROF TARGETS SIM TEST_LIB GPUSIM_QUIET=1

setup() {
	bats_load_library bats-support
	bats_load_library bats-assert
	bats_load_library bats-file
	cd "$BATS_TEST_TMPDIR" || return
	umask 022
	unset SUDO_UID SUDO_GID SUDO_USER # commands of tests run as who runs the tests
	STARTED=()
	local tag
	for tag in $(tags_of_test); do needs "${tag#needs:}"; done
}

# Tags of the file and of this test, from the file: bats 1.8 does not pass them to the test.
tags_of_test() {
	TITLE="@test \"$BATS_TEST_DESCRIPTION\" {" awk -F '[=,]' '
		/^# bats (file|test)_tags=/ { tags[$1] = $0; sub(/.*=/, "", tags[$1]); gsub(",", " ", tags[$1]) }
		$0 == ENVIRON["TITLE"] { for (kind in tags) print tags[kind]; exit }
		/^@test/ { delete tags["# bats test_tags"] }' "$BATS_TEST_FILENAME"
}

teardown() { end_started; } # a file that has more to undo calls it, too

# A process and all below it, which nothing else would end. It is stopped first, so that none is born.
end_tree() { # PID
	local child
	kill -STOP "$1" 2>/dev/null || return 0
	for child in $(pgrep -P "$1"); do end_tree "$child"; done
	kill -KILL "$1" 2>/dev/null || true
}

# Is it of this test? Else the number is another process's now: in a long test they go round.
is_of_test() { # PID
	local pid=$1
	! grep -qszF "BATS_TEST_TMPDIR=$BATS_TEST_TMPDIR" "/proc/$pid/environ" || return 0
	while [ "${pid:-0}" -gt 1 ]; do
		[ "$pid" -ne "$BASHPID" ] || return 0
		pid=$(awk '$1 == "PPid:" { print $2 }' "/proc/$pid/status" 2>/dev/null)
	done
	return 1
}

# Ends what this test started, by pid. A target that is in a hung call needs SIGKILL.
end_started() {
	local pid
	for pid in "${STARTED[@]}"; do
		! is_of_test "$pid" || end_tree "$pid"
		wait "$pid" 2>/dev/null || true
	done
}

capability_bit() { # BIT: is it in the effective set?
	local mask
	mask=$(awk '$1 == "CapEff:" { print $2 }' /proc/self/status)
	(( (16#$mask >> $1) & 1 ))
}

# A test that a busy machine can fail, and no fault of ours, says so and is run once more when it
# fails. scripts/check shows which were, and fails when they are many. GPUPROF_REPEATS=0: none is.
may_repeat() { # REASON
	BATS_TEST_RETRIES=${GPUPROF_REPEATS:-1}
	[ "$BATS_TEST_TRY_NUMBER" -eq 1 ] || echo "# repeated: $BATS_TEST_DESCRIPTION ($1)" >&3
}

# needs root bpf sim ...: skips the test, with the reason, where one of these is missing. setup() calls
# it for each tag needs:X of a test.
needs() {
	local what
	for what; do
		case $what in
		root) [ "$(id -u)" -eq 0 ] || skip "needs root" ;;
		bpf)
			[ "$(id -u)" -eq 0 ] || skip "needs root, to attach probes"
			[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
			capability_bit 21 || capability_bit 39 || skip "BPF is not permitted here"
			;;
		mounts)
			unshare -m true 2>/dev/null ||
				skip "no mount namespace of one's own here (in a plain chroot / is no mount point)"
			;;
		chromium) command -v chromium >/dev/null || skip "no chromium: scripts/deps test" ;;
		pty) [ -e /dev/pts/ptmx ] || skip "no pseudo terminals: mount devpts on /dev/pts" ;;
		torch) [ -e "$ROOT/build/torch/made" ] || skip "build/torch is missing: make torch" ;;
		torch-debian)
			[ -e "$ROOT/build/torch-debian/run" ] || skip "build/torch-debian is missing: make torch-debian" ;;
		torch-older) [ -e "$ROOT/build/cublas-13.10.0.20/wheels" ] || skip "older ones are missing: make torch-older" ;;
		jax) [ -e "$ROOT/build/jax/made" ] || skip "build/jax is missing: make jax" ;;
		targets | sim) [ -d "$ROOT/build/$what" ] || skip "build/$what is missing: make $what" ;;
		esac
	done
}

one_line() { # PART...: one line was said, and it has these parts
	assert_equal "${#lines[@]}" 1
	local part
	for part; do
		assert_output --partial "$part"
	done
}

wait_for() { # SECONDS COMMAND...: until it succeeds
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "waited in vain for: $*" >&2
			return 1
		fi
		sleep 0.02
	done
}

# What was started in the background just now is the test's target or its gpuprof, and ends with the
# test; of a ready target FILE says so.
as_target() {
	TARGET=$!
	STARTED+=("$TARGET")
}
as_ready_target() { # FILE
	as_target
	wait_for 10 grep -q ready "$1"
}
as_profiler() {
	PROFILER=$!
	STARTED+=("$PROFILER")
}

# Starts a program of tests/targets that makes no call before `go`; its pid is TARGET.
# It writes NAME.json, the truth, and then stays until `finish`.
start_target() { # NAME PROGRAM ARGS...
	local name=$1 program=$2
	shift 2
	"$TARGETS/$program" --truth "$name.json" --ready-file "$name.ready" --wait-file "$name.go" \
		--end-file "$name.end" "$@" 3>&- &
	as_target
	wait_for 10 test -e "$name.ready"
}
go() { : >"$1.go"; }
finish() { : >"$1.end"; }

# gpuprof on a command that starts programs of tests/targets itself: the command's own environment
# names their libcudart, so that it is probed before it is mapped wherever it lies.
beforehand() { LD_LIBRARY_PATH=$ROOT/build/cuda/lib "$@"; } # COMMAND...

# Starts gpuprof in the background; its pid is PROFILER. Output in gpuprof.out and gpuprof.err.
start_gpuprof() { # ARGS...
	"$GPUPROF" "$@" >gpuprof.out 2>gpuprof.err 3>&- &
	as_profiler
}

# The exit status of gpuprof in the background, as `run` would have it, with its messages; it has to be
# STATUS if that is given.
wait_gpuprof() { # [STATUS]
	status=0
	wait "$PROFILER" || status=$?
	output=$(cat gpuprof.err)
	case ${1-} in
	'') ;;
	0) assert_success ;;
	*) assert_failure "$1" ;;
	esac
}
interrupt_gpuprof() {
	kill -INT "$PROFILER"
	wait_gpuprof 0
}

# gpuprof on the target of start_target, from before its first call to its end.
watch_target() { # NAME ARGS...: of gpuprof
	local name=$1
	shift
	start_gpuprof "$@" -p "$TARGET"
	wait_armed "$TARGET"
	go "$name"
	wait_for 60 test -e "$name.json"
	finish "$name"
	wait_gpuprof 0
}

text_equals_file() { "$TEST_LIB/text_equal.py" "$@"; } # PID [LIBRARY]...
text_differs() {
	local code=0
	"$TEST_LIB/text_equal.py" "$@" >/dev/null 2>&1 || code=$?
	[ $code -eq 1 ] # 2: the library is not mapped yet
}

# Until all probes are in a target's text that are meant for it, also in that of one which came later:
# some are, and no thread of gpuprof (of start_gpuprof) is at work.
wait_armed() { # PID [LIBRARY]
	wait_for 10 text_differs "$@" || { cat gpuprof.err >&2; return 1; }
	[ "$(cat "/proc/${PROFILER:-none}/comm" 2>/dev/null)" != gpuprof ] || wait_for 10 all_wait "$PROFILER"
}
all_wait() { [ -d "/proc/$1/task" ] && ! grep -LE 'poll|futex' "/proc/$1/task/"*/wchan | grep -q .; } # PID

# Is a helper in it?
has_ring() { find "/proc/$1/fd" -lname '/memfd:gpuprof-ring*' | grep -q .; } # PID

# Was its helper woken? Its state is a word of the ring's first page (gpuprof/ring.h).
is_awake() { # PID
	local fd
	for fd in "/proc/$1/fd"/*; do
		[[ $(readlink "$fd") == /memfd:gpuprof-ring* ]] || continue
		[ "$(od -An -tu4 -j48 -N4 "$fd" | tr -d ' ')" -eq 3 ] && return
	done
	return 1
}

# Until gpuprof waits for events: what its targets had mapped when it came is probed then.
wait_begun() {
	wait_for 20 grep -q poll "/proc/$PROFILER/wchan" || { cat gpuprof.err >&2; return 1; }
}

compare() { "$TEST_LIB/compare_truth.py" "$@"; }
laws() { "$TEST_LIB/check_report.py" "$@"; }
laws_of_output() { # of a report in json, which becomes r.json
	printf '%s\n' "$output" >r.json
	laws r.json
}
laws_of_capture() { # of c.gpr's report, which becomes r.json
	"$GPUPROF" report c.gpr --table calls,threads,events --format json >r.json
	laws r.json
}

# The value of a python expression over the report r (json), with its tables as t.
# The notes of a report in json (r.json), or of a capture: code, tab, text, one a line.
notes_of() { # [FILE]
	local file=${1:-r.json}
	if [[ $file == *.gpr ]]; then
		"$GPUPROF" report "$file" --format json >"$file.notes.json" || [ $? -eq 5 ] # some are lost
		file=$file.notes.json
	fi
	report_value "$file" '"\n".join(n["code"] + "\t" + n["text"] for n in r["meta"]["notes"])'
}

# There is a note of that code and, for what its text has of this run, with that text.
assert_note() { # [-f FILE] CODE [REGEX]
	local file=r.json notes
	if [ "$1" = -f ]; then
		file=$2
		shift 2
	fi
	notes=$(notes_of "$file")
	grep -Eq -- "^$1	.*${2:-}" <<<"$notes" && return
	printf 'no note %s in %s:\n%s\n' "$*" "$file" "$notes" >&2
	return 1
}

refute_note() { # [-f FILE] CODE [REGEX]
	if assert_note "$@" 2>/dev/null; then
		echo "note $* is there" >&2
		return 1
	fi
}

report_value() { # REPORT EXPRESSION
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); t = r["tables"]
print(eval(sys.argv[2]))' "$@"
}
assert_value() { # REPORT EXPRESSION VALUE
	run -0 report_value "$1" "$2"
	assert_output "$3"
}

# The report of a capture is, byte by byte, the one that was printed when it was made.
report_says_the_same() { # CAPTURE REPORT
	"$GPUPROF" report "$1" --format json >report.json
	cmp "$2" report.json
}

# The CPythons here that gpuprof knows, each once: PYTHONS.
find_pythons() { # [OLDEST_MINOR]
	local python
	mapfile -t PYTHONS < <(for python in python3 /usr/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.{8,9,1[0-9]}*/bin/python3; do
		"$python" -c 'import os, sys
if sys.implementation.name == "cpython" and (3, int(sys.argv[1])) <= sys.version_info < (3, 15):
	print(os.path.realpath(sys.executable))' "${1:-8}" 2>/dev/null || true
	done | sort -u)
	[ ${#PYTHONS[@]} -gt 0 ] || skip "no CPython of 3.${1:-8} to 3.14"
}
