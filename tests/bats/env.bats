#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031,SC2154 # run sets stderr; a test is a subshell
# gpuprof env: the helper is installed where only its owner can replace it, what is printed can be
# pasted, and a process that was started with it shows its device times to whoever comes later.

load ../lib/common

teardown() {
	end_started
	[ -z "$PLACE" ] || rm -rf "$PLACE"
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }

@test "env: what is evaluated in a shell loads the helper, which sleeps until -p watches" {
	needs root bpf sim
	umask 077
	(
		set -e
		eval "$("$GPUPROF" env --for shell --dir "$PWD/a dir" 2>env.err)"
		exec "$SIM/train" --steps 100000 --quiet 3>&-
	) &
	STARTED+=($!)
	wait_for 10 has_ring $!
	run "$GPUPROF" doctor -p $!
	assert_line --regexp "^ok +device times +by its helper, which has not begun"
	run "$GPUPROF" stat -p $! -d 2s --format json -o r.json
	assert_success
	assert_output --partial "the helper in process $! begins for the first time: CUPTI may stall"
	run report_value r.json 'sum(k["count"] for k in t["kernels"]) > 10 and any(r["state"] == "compute" and r["ns"] for r in t["ledger"])'
	assert_output True
	assert_equal "$(stat -c %a "a dir/libgpuprof.so")" 644
	assert_equal "$(stat -c %a "a dir")" 755
}

has_ring() { find "/proc/$1/fd" -lname '/memfd:gpuprof-ring*' | grep -q .; } # PID

@test "env: each form is what its reader takes, also with odd names" {
	local odd="odd \$a'b%c\"d\\e"
	export CUDA_INJECTION64_PATH="/opt/$odd.so"
	run --separate-stderr "$GPUPROF" env --for shell --dir "$odd"
	assert_success
	eval "$output"
	assert_equal "$CUDA_INJECTION64_PATH" "$PWD/$odd/libgpuprof.so"
	assert_equal "$NVTX_INJECTION64_PATH" "$PWD/$odd/libgpuprof.so"
	assert_equal "$GPUPROF_CHAIN_INJECTION" "/opt/$odd.so"
	run --separate-stderr "$GPUPROF" env --for systemd --dir "$odd"
	assert_success
	assert_line --index 0 '[Service]'
	assert_line "Environment=\"CUDA_INJECTION64_PATH=$PWD/odd \$a'b%%c\\\"d\\\\e/libgpuprof.so\""
	run --separate-stderr "$GPUPROF" env --for k8s --dir "$odd"
	assert_success
	assert_line "          value: \"$PWD/odd \$a'b%c\\\"d\\\\e/libgpuprof.so\""
	run "$GPUPROF" env --for docker --dir "$odd"
	assert_equal "$status" 2
	assert_output --partial "a quote"
	run --separate-stderr "$GPUPROF" env --for docker --dir plain
	assert_output --regexp "^--mount type=bind,src=$PWD/plain,dst=$PWD/plain,readonly --env CUDA_INJECTION64_PATH=$PWD/plain/libgpuprof.so "
}

@test "env: another tool's injection is loaded after ours, NVTX stays with it, and both are said" {
	export CUDA_INJECTION64_PATH=/opt/tool.so NVTX_INJECTION64_PATH=/opt/tool.so
	run --separate-stderr "$GPUPROF" env --dir here
	assert_success
	assert_line "export GPUPROF_CHAIN_INJECTION=/opt/tool.so"
	refute_line --partial NVTX
	assert_regex "$stderr" "NVTX stays with /opt/tool.so"
	assert_regex "$stderr" "/opt/tool.so, which was asked for before, is loaded after the helper"
	eval "$output"
	unset NVTX_INJECTION64_PATH
	run --separate-stderr "$GPUPROF" env --dir here # once more: the same
	assert_line "export GPUPROF_CHAIN_INJECTION=/opt/tool.so"
	assert_line "export CUDA_INJECTION64_PATH=$PWD/here/libgpuprof.so"
	assert_line "export NVTX_INJECTION64_PATH=$PWD/here/libgpuprof.so"
}

@test "env: a command of gpuprof's own gets one helper, not the installed one behind it" {
	needs root bpf sim
	eval "$("$GPUPROF" env --dir here 2>/dev/null)"
	run "$GPUPROF" stat --format json -o r.json -- "$SIM/train" --steps 20 --quiet
	assert_success
	run report_value r.json 'len(t["ledger"]) > 0 and len(t["kernels"])'
	assert_output 6
}

@test "env: the file is replaced as a whole, and who has the old one keeps it" {
	"$GPUPROF" env --dir here 2>/dev/null
	cmp here/libgpuprof.so "$ROOT/build/libgpuprof.so"
	local inode
	inode=$(stat -c %i here/libgpuprof.so)
	run "$GPUPROF" env --dir here
	assert_output --partial "the helper is $PWD/here/libgpuprof.so"
	assert_equal "$(stat -c %i here/libgpuprof.so)" "$inode"
	exec 7<here/libgpuprof.so
	echo old >here/libgpuprof.so
	chmod 666 here/libgpuprof.so
	run "$GPUPROF" env --dir here
	assert_output --partial installed
	cmp here/libgpuprof.so "$ROOT/build/libgpuprof.so"
	assert_equal "$(stat -c %a here/libgpuprof.so)" 644
	assert_equal "$(cat <&7)" old
	assert_equal "$(ls here)" libgpuprof.so
}

@test "env: a directory that others can write to is refused, and so is what lies below it" {
	needs root
	mkdir -p open/below
	chmod 777 open
	run "$GPUPROF" env --dir open/below
	assert_equal "$status" 1
	one_line "cannot install the helper in $PWD/open/below: others can write to $PWD/open," --dir
	chmod 755 open
	chown 65534 open/below
	run "$GPUPROF" env --dir open/below/new
	assert_equal "$status" 1
	one_line "$PWD/open/below,"
	ln -s "$PWD/open/below" link
	run "$GPUPROF" env --dir link
	assert_equal "$status" 1
	: >file
	run "$GPUPROF" env --dir file
	assert_equal "$status" 1
	one_line "cannot make the directory file"
}

@test "env: who is not root has it in the state directory; without a home it says what to give" {
	needs root
	PLACE=$(mktemp -d) # where another user can come
	chmod 755 "$PLACE"
	cp "$GPUPROF" "$PLACE/gpuprof"
	mkdir "$PLACE/home"
	chown 65534 "$PLACE/home"
	HOME=$PLACE/home run --separate-stderr as_nobody "$PLACE/gpuprof" env
	assert_equal "$status: $stderr" "0: $stderr"
	assert_line "export CUDA_INJECTION64_PATH=$PLACE/home/.local/state/gpuprof/libgpuprof.so"
	XDG_STATE_HOME=$PLACE/home/s run --separate-stderr as_nobody "$PLACE/gpuprof" env
	assert_line "export CUDA_INJECTION64_PATH=$PLACE/home/s/gpuprof/libgpuprof.so"
	HOME='' run as_nobody "$PLACE/gpuprof" env
	assert_equal "$status" 1
	one_line "HOME is not set; give --dir"
}
