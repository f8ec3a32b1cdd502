#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The Debian package and the wheel: well made, the same bytes each time, and what is in them runs.
# tests/packages installs them into a bare root.

load ../lib/common

CAPTURE=$BATS_TEST_DIRNAME/../captures/data/pretrain-faulty.gpr

@test "packages: the deb passes lintian, is made alike twice, and its binary reports what ours does" {
	local deb
	deb=$("$ROOT/scripts/package" deb)
	cp "$deb" first.deb
	"$ROOT/scripts/package" deb
	cmp "$deb" first.deb
	run lintian --fail-on error,warning --allow-root "$deb"
	assert_success
	assert_output ""
	dpkg-deb -x "$deb" root
	assert_equal "$(root/usr/bin/gpuprof report "$CAPTURE")" "$("$GPUPROF" report "$CAPTURE")"
	for page in man1/gpuprof.1 man1/gpuprof-stat.1 man7/gpuprof-words.7 man7/gpuprof-tables.7; do
		assert_file_exists "root/usr/share/man/$page.gz"
	done
}

@test "packages: pip puts the binary of the wheel into an environment, and takes it away" {
	local wheel
	wheel=$("$ROOT/scripts/package" wheel)
	python3 -m venv env
	run -0 env/bin/pip install --no-index -q "$wheel"
	assert_equal "$(env/bin/gpuprof report "$CAPTURE")" "$("$GPUPROF" report "$CAPTURE")"
	env/bin/pip uninstall -y -q gpuprof
	assert_file_not_exist env/bin/gpuprof
	assert_equal "$(find env -name '*gpuprof*')" ""
}
