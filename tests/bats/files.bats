#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# One file under many names, many files of one name: every call is counted exactly once.

# bats file_tags=needs:root,needs:bpf,needs:sim

load ../lib/common

teardown() {
	end_started
	cd / || return
	umount "$BATS_TEST_TMPDIR"/*.top 2>/dev/null || true
	umount -l "$BATS_TEST_TMPDIR" 2>/dev/null || true
}

# A folder with the simulated libraries and a program that uses them.
library_folder() { # DIR
	mkdir -p "$1"
	cp -L "$SIM"/{libgpusim.so,libcuda.so.1,libcudart.so.13,simcalls} "$1"
}

# Starts that program; it makes 500 launches when `go` exists. Truth in NAME.json, pid in TARGET.
start_copy() { # DIR NAME [WRAPPER...]
	local dir=$1 name=$2
	shift 2
	GPUSIM_TRUTH=$PWD/$name.json LD_LIBRARY_PATH=$dir \
		"$@" "$dir/simcalls" cudaLaunchKernel=500 --init --wait-file go >"$name.out" 3>&- &
	as_ready_target "$name.out"
}

watch_all() { start_gpuprof stat -a --table calls,threads,events --format json -o r.json; }

# Once each NAME has written its truth, the report of watch_all must equal all of them.
report_equals() { # NAME...
	local name
	wait_armed "$TARGET" cudart
	touch go
	for name; do wait_for 20 test -s "$name.json"; done
	interrupt_gpuprof
	for name; do compare --no-times "$name.json" r.json; done
	laws r.json
}

overlay() { # LOWER NAME: mounts NAME.top over LOWER
	mkdir -p "$2.up" "$2.work" "$2.top"
	mount -t overlay overlay -o "lowerdir=$1,upperdir=$2.up,workdir=$2.work" "$2.top"
}

@test "files: two overlays over one lower folder, and that folder itself" {
	mount -t tmpfs none "$PWD" # overlayfs does not stack on every file system
	cd "$PWD" || return
	library_folder "$PWD/lower"
	overlay "$PWD/lower" "$PWD/a"
	overlay "$PWD/lower" "$PWD/b"
	start_copy "$PWD/lower" lower
	start_copy "$PWD/a.top" a
	start_copy "$PWD/b.top" b
	watch_all
	report_equals lower a b
}

@test "files: a hard link is the same file, a copy is another" {
	library_folder "$PWD/one"
	mkdir two
	ln one/* two/
	library_folder "$PWD/three"
	start_copy "$PWD/one" one
	start_copy "$PWD/two" two
	start_copy "$PWD/three" three
	watch_all
	report_equals one two three
}

@test "files: a library deleted while in use is measured" {
	library_folder "$PWD/gone"
	start_copy "$PWD/gone" gone
	rm -r gone
	watch_all
	report_equals gone
}

# bats test_tags=needs:mounts
@test "files: a library in a mount namespace of the target is measured" {
	mkdir private
	cat >inside <<-SCRIPT
		mount -t tmpfs none "$PWD/private" &&
		cp -L "$SIM"/libgpusim.so "$SIM"/libcuda.so.1 "$SIM"/libcudart.so.13 "$SIM"/simcalls private &&
		exec "\$@"
	SCRIPT
	start_copy "$PWD/private" private unshare -m sh inside
	run ls private
	assert_output ""
	watch_all
	report_equals private
}

@test "files: a library replaced while in use: old and new are measured" {
	library_folder "$PWD/dir"
	start_copy "$PWD/dir" old
	library_folder "$PWD/fresh"
	mv fresh/* dir/
	start_copy "$PWD/dir" new
	watch_all
	report_equals old new
}

@test "files: a library replaced while it is measured: old and new are measured" {
	library_folder "$PWD/dir"
	start_copy "$PWD/dir" old
	watch_all
	wait_armed "$TARGET" cudart
	library_folder "$PWD/fresh"
	mv fresh/* dir/
	start_copy "$PWD/dir" new
	report_equals old new
}

# A library in dir/ whose inode number was, a moment ago, that of a program that ran.
reuse_inode() { # DIR
	local before
	mkdir -p "$1"
	for _ in {1..90}; do
		cp /bin/sleep victim
		before=$(stat -c %i victim)
		./victim 0.1
		rm victim
		cp -L "$SIM/libcudart.so.13" "$1/"
		[ "$(stat -c %i "$1/libcudart.so.13")" != "$before" ] || return 0
		rm "$1/libcudart.so.13"
	done
	return 1
}

@test "files: a library that reuses a deleted file's inode number is measured" {
	start_gpuprof stat -a --table calls,threads,events --format json -o r.json
	wait_begun
	reuse_inode reused || skip "this file system does not use numbers again"
	GPUSIM_TRUTH=$PWD/reused.json LD_LIBRARY_PATH=$PWD/reused:$SIM \
		"$SIM/simcalls" cudaLaunchKernel=500 --wait-ms 700
	interrupt_gpuprof
	compare --no-times reused.json r.json
}

@test "files: a library overwritten in place while probed is reported, once" {
	library_folder "$PWD/dir"
	start_copy "$PWD/dir" old
	start_gpuprof stat -a
	wait_armed "$TARGET" cudart
	kill -KILL "$TARGET"
	wait "$TARGET" || true
	cat "$SIM/endbr/libcudart.so.13" >dir/libcudart.so.13
	sleep 0.1
	LD_LIBRARY_PATH=$PWD/dir "$SIM/simcalls" cudaLaunchKernel=5 --wait-ms 300 || true
	kill -INT "$PROFILER"
	wait_gpuprof
	assert_output --partial "dir/libcudart.so.13 was overwritten while it is probed"
}
