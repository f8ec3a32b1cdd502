# SPDX-License-Identifier: BSD-3-Clause
# Packages of Debian, of any architecture and suite, from the mirror that this machine's own sources
# name. They are looked up in a private apt tree: the system's package lists are not touched and
# nothing is installed. Sourced; every function prints the cause of a failure on stderr.
#   debian_open DIR ARCHITECTURE SUITE...   the tree is DIR/apt; then:
#   debian_apt COMMAND ARGUMENT...          apt-get or apt-cache there
# shellcheck shell=bash

# The mirror of Debian's own packages, whichever way this machine's sources are written.
debian_mirror() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk '$3 == "main" && $2 !~ /security|updates|backports/ && $1 ~ /debian/ { print $1; exit }'
}

debian_apt() {
	local command=$1
	shift
	"$command" -q -o "APT::Architecture=$debian_arch" -o "APT::Architectures::=$debian_arch" \
		-o "Dir::Etc::sourcelist=$debian_tree/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o "Dir::State::Lists=$debian_tree/lists" \
		-o "Dir::Cache=$debian_tree/cache" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

debian_why() {	# the first error or warning of the last command that wrote its log
	grep -m1 '^[EW]:' "$debian_tree/log" || true
}

debian_open() {
	local mirror suite keys=/usr/share/keyrings/debian-archive-keyring.gpg
	debian_tree=$(mkdir -p "$1" && cd "$1" && pwd)/apt debian_arch=$2
	shift 2
	mirror=$(debian_mirror)
	[ -n "$mirror" ] ||
		{ echo "debian: no Debian mirror in this machine's apt sources" >&2; return 1; }
	mkdir -p "$debian_tree/lists/partial" "$debian_tree/cache/archives/partial"
	for suite; do
		echo "deb [signed-by=$keys] $mirror $suite main"
	done >"$debian_tree/sources.list"
	debian_apt apt-get update >"$debian_tree/log" 2>&1 && return
	echo "debian: apt-get update of the private tree failed: $(debian_why)" >&2
	return 1
}
