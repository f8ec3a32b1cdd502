#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The helper in processes whose C library is older than this machine's: that of Debian 11, fetched once.

load ../lib/common

OLD=$ROOT/build/glibc

needs_old() {
	local status=0 said
	said=$("$TEST_LIB/old-glibc" "$OLD" 2>&1) || status=$?
	[ $status -ne 4 ] || skip "${said##*$'\n'}"
	[ $status -eq 0 ] || fail "$said"
}

start_guest() { # LIBRARY [HELPER]
	"$OLD/run" "$OLD/guest" "$@" >guest.out 2>&1 3>&- &
	GUEST=$!
	STARTED+=("$GUEST")
	wait_for 10 grep . guest.out
}

has_helper() { # PID: its ring, and its thread
	find "/proc/$1/fd" -lname '/memfd:gpuprof-ring*' | grep -q . &&
		grep -q '^gpuprof-helper$' "/proc/$1/task"/*/comm
}

@test "glibc: the helper loads and begins under the C library of Debian 11" {
	needs_old
	start_guest - "$ROOT/build/libgpuprof.so"
	assert_equal "$(cat guest.out)" 2.31
	wait_for 10 has_helper "$GUEST"
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "glibc: --inject works with the separate libdl of Debian 11" {
	needs_old
	[ "$(uname -m)" = x86_64 ] || skip "--inject was not tried on this machine"
	start_guest "$SIM/libcuda.so.1"
	run -0 "$GPUPROF" stat --inject --yes -d 1s -p "$GUEST"
	assert_line --partial "the helper is in process $GUEST"
	has_helper "$GUEST"
	kill -0 "$GUEST"
}
