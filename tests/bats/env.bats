#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031,SC2154 # run sets stderr; a test is a subshell
# gpuprof env: the helper is installed where only its owner can replace it, what is printed can be
# pasted, and a process that was started with it shows its device times to any gpuprof that comes later.

load ../lib/common

teardown() {
	end_started
	[ -z "$PLACE" ] || rm -rf "$PLACE"
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "env: the shell form loads the helper, which sleeps until -p watches" {
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
	run -0 "$GPUPROF" stat -p $! -d 2s --format json -o r.json
	assert_output --partial "the helper in process $! begins for the first time: CUPTI may stall"
	run report_value r.json 'sum(k["count"] for k in t["kernels"]) > 10 and any(r["state"] == "compute" and r["ns"] for r in t["ledger"])'
	assert_output True
	assert_equal "$(stat -c %a "a dir/libgpuprof.so")" 644
	assert_equal "$(stat -c %a "a dir")" 755
}

@test "env: each form is valid for its reader, also with odd names" {
	local odd="odd \$a'b%c\"d\\e"
	export CUDA_INJECTION64_PATH="/opt/$odd.so"
	run -0 --separate-stderr "$GPUPROF" env --for shell --dir "$odd"
	eval "$output"
	assert_equal "$CUDA_INJECTION64_PATH" "$PWD/$odd/libgpuprof.so"
	assert_equal "$NVTX_INJECTION64_PATH" "$PWD/$odd/libgpuprof.so"
	assert_equal "$GPUPROF_CHAIN_INJECTION" "/opt/$odd.so"
	run -0 --separate-stderr "$GPUPROF" env --for systemd --dir "$odd"
	assert_line --index 0 '[Service]'
	assert_line "Environment=\"CUDA_INJECTION64_PATH=$PWD/odd \$a'b%%c\\\"d\\\\e/libgpuprof.so\""
	run -0 --separate-stderr "$GPUPROF" env --for k8s --dir "$PWD/$odd"
	assert_line "          value: \"$PWD/odd \$\$a'b%c\\\"d\\\\e/libgpuprof.so\"" # it expands \$(NAME)
	assert_line "          mountPath: \"$PWD/odd \$a'b%c\\\"d\\\\e\""
	run -2 "$GPUPROF" env --for docker --dir "$odd"
	one_line "it has a '\"'; choose another one with --dir"
	run --separate-stderr "$GPUPROF" env --for docker --dir plain
	assert_output --regexp "^--mount type=bind,src=$PWD/plain,dst=$PWD/plain,readonly --env CUDA_INJECTION64_PATH=$PWD/plain/libgpuprof.so "
}

# Readers of each form, which print the helper's path as their programs would have it.
read_k8s() {
	python3 -c 'import json, re, sys
value = re.search(r"CUDA_INJECTION64_PATH\n +value: (\".*\")", sys.stdin.read()).group(1)
print(re.sub(r"\$\$", "$", json.loads(value)))'
}
read_systemd() {
	sed -n 's/^Environment="CUDA_INJECTION64_PATH=\(.*\)"$/\1/p' | sed 's/%%/%/g; s/\\\(.\)/\1/g'
}
read_docker() { # the words that a shell makes of it
	local word words
	eval "words=($(cat))"
	for word in "${words[@]}"; do
		[[ $word != CUDA_INJECTION64_PATH=* ]] || echo "${word#*=}"
	done
}
read_shell() {
	(
		eval "$(cat)"
		echo "$CUDA_INJECTION64_PATH"
	)
}
read_slurm() { read_shell; }
read_cdi() {
	python3 -c 'import json, sys
edits = json.load(sys.stdin)["devices"][0]["containerEdits"]
print(dict(e.split("=", 1) for e in edits["env"])["CUDA_INJECTION64_PATH"])'
}
read_apptainer() { read_docker; }
read_prolog() { # Slurm takes the rest of the line as it is
	env -u CUDA_INJECTION64_PATH -u NVTX_INJECTION64_PATH sh -c "$(cat)" | sed -n 's/^export CUDA_INJECTION64_PATH=//p'
}

@test "env: in a pod an init container copies the helper to where the application mounts it read-only" {
	cd / # no directory here is used
	run -0 --separate-stderr "$GPUPROF" env --for k8s
	assert_output "$(cat <<-END
		spec:
		  template:
		    spec:
		      initContainers:
		      - name: gpuprof
		        image: IMAGE-WITH-GPUPROF
		        command:
		        - sh
		        - -c
		        - gpuprof env -q --dir /tmp/gpuprof >/dev/null && cp /tmp/gpuprof/libgpuprof.so /helper/
		        volumeMounts:
		        - name: gpuprof
		          mountPath: /helper
		      containers:
		      - name: CONTAINER
		        env:
		        - name: CUDA_INJECTION64_PATH
		          value: "/usr/lib/gpuprof/libgpuprof.so"
		        - name: NVTX_INJECTION64_PATH
		          value: "/usr/lib/gpuprof/libgpuprof.so"
		        volumeMounts:
		        - name: gpuprof
		          mountPath: "/usr/lib/gpuprof"
		          readOnly: true
		      volumes:
		      - name: gpuprof
		        emptyDir: {}
	END
	)"
	assert_regex "$stderr" "an image that holds gpuprof"
	assert_equal "${#stderr_lines[@]}" 1 # nothing is installed on this host
	run -0 "$GPUPROF" env -q --for k8s --dir "$BATS_TEST_TMPDIR/nowhere"
	assert_file_not_exists "$BATS_TEST_TMPDIR/nowhere"
	for dir in here /; do
		run -2 "$GPUPROF" env --for k8s --dir $dir
		one_line "cannot mount the helper at '$dir' in a container; give the whole name of a directory with --dir"
	done
}

@test "env: the init container's command leaves a helper that every user can read, also where all can write" {
	mkdir -m 777 helper
	run -0 --separate-stderr "$GPUPROF" env --for k8s
	local command
	command=$(sed -n 's/^ *- \(gpuprof env .*\)$/\1/p' <<<"$output" | sed "s|/tmp/gpuprof|$PWD/own|g; s|/helper/|$PWD/helper/|")
	PATH=$(dirname "$GPUPROF"):$PATH sh -c "$command"
	cmp helper/libgpuprof.so "$ROOT/build/libgpuprof.so"
	assert_equal "$(stat -c %a helper/libgpuprof.so)" 644
}

@test "env: the form cdi is a device that sets the variables and mounts the helper read-only" {
	run -0 --separate-stderr "$GPUPROF" env --for cdi --dir here
	run -0 python3 -c 'import json, sys
spec = json.loads(sys.argv[1])
print(spec["cdiVersion"], spec["kind"], *(d["name"] for d in spec["devices"]), sorted(spec))
edits = spec["devices"][0]["containerEdits"]
print(*edits["env"], sep="\n")
for m in edits["mounts"]:
    print(m["hostPath"], m["containerPath"], m["options"], len(m))' "$output"
	assert_output "$(cat <<-END
		0.6.0 gpuprof.dev/helper on ['cdiVersion', 'devices', 'kind']
		CUDA_INJECTION64_PATH=$PWD/here/libgpuprof.so
		NVTX_INJECTION64_PATH=$PWD/here/libgpuprof.so
		$PWD/here $PWD/here ['ro', 'nosuid', 'nodev', 'bind'] 3
	END
	)"
}

@test "env: the form apptainer is options, and refuses names that these or the container would cut or expand" {
	run -0 --separate-stderr "$GPUPROF" env --for apptainer --dir here
	assert_output "--bind $PWD/here:$PWD/here:ro --env CUDA_INJECTION64_PATH=$PWD/here/libgpuprof.so --env NVTX_INJECTION64_PATH=$PWD/here/libgpuprof.so"
	for bad in ',' : = '"' '$' "\`" "\\"; do
		run -2 "$GPUPROF" env --for apptainer --dir "a${bad}b"
		one_line "it has a '$bad'; choose another one with --dir"
	done
	CUDA_INJECTION64_PATH=/opt/a,b.so run -2 "$GPUPROF" env -q --for apptainer --dir here
	one_line "cannot write GPUPROF_CHAIN_INJECTION in the form asked for: its value has a ','"
}

@test "env: the form prolog prints Slurm's lines, but none for a task with its own injection or without the file" {
	run -0 --separate-stderr "$GPUPROF" env --for prolog --dir "it's here"
	echo "$output" >prolog
	run -0 sh prolog
	assert_line --index 0 "export CUDA_INJECTION64_PATH=$PWD/it's here/libgpuprof.so"
	assert_line --index 1 "export NVTX_INJECTION64_PATH=$PWD/it's here/libgpuprof.so"
	assert_equal "${#lines[@]}" 2
	NVTX_INJECTION64_PATH=/opt/nvtx.so run -0 sh prolog
	assert_output "export CUDA_INJECTION64_PATH=$PWD/it's here/libgpuprof.so"
	CUDA_INJECTION64_PATH=/opt/tool.so run -0 sh prolog
	assert_output ""
	rm "it's here/libgpuprof.so"
	run -0 sh prolog
	assert_output ""
}

@test "env: --remove takes the variables out again, and puts back what was asked for before" {
	eval "$("$GPUPROF" env -q --dir here)"
	run -0 --separate-stderr "$GPUPROF" env --remove
	assert_output $'unset CUDA_INJECTION64_PATH\nunset NVTX_INJECTION64_PATH'
	export CUDA_INJECTION64_PATH="/opt/it's.so" NVTX_INJECTION64_PATH=/opt/nvtx.so
	eval "$("$GPUPROF" env -q --dir here)"
	run -0 sh -c 'eval "$("$0" env -q --remove)"; env | grep INJECTION | grep -v ^GPUPROF_INJECTIONS= | sort' "$GPUPROF"
	assert_output $'CUDA_INJECTION64_PATH=/opt/it\'s.so\nNVTX_INJECTION64_PATH=/opt/nvtx.so'
	unset GPUPROF_CHAIN_INJECTION
	CUDA_INJECTION64_PATH=/opt/tool.so run -0 --separate-stderr "$GPUPROF" env --remove
	assert_equal "$output: $stderr" ": gpuprof: nothing to remove: no variable names the helper"
	GPUPROF_CHAIN_INJECTION=$'/opt/a\nb' CUDA_INJECTION64_PATH=$PWD/here/libgpuprof.so run -2 "$GPUPROF" env --remove
	one_line "its value has a control character"
	for vain in '--remove --dir here' '--remove --check' '--check --for k8s' '-p 1'; do
		# shellcheck disable=SC2086 # words
		run -2 "$GPUPROF" env $vain
		assert_equal "${#lines[@]}" 1
	done
}

@test "env: --check finds what is not set, not there, of another version, another tool's" {
	run -1 --separate-stderr "$GPUPROF" env --check
	assert_line --regexp '^no +variable +CUDA_INJECTION64_PATH is not set; type: eval'
	eval "$("$GPUPROF" env -q --dir here)"
	run -0 "$GPUPROF" env --check
	assert_line "ok   variable   CUDA_INJECTION64_PATH=$PWD/here/libgpuprof.so"
	assert_line "ok   file       $PWD/here/libgpuprof.so is of this version and can be loaded"
	NVTX_INJECTION64_PATH=/opt/tool.so run -0 "$GPUPROF" env --check
	assert_line --regexp "^- +variable +NVTX_INJECTION64_PATH=/opt/tool.so is not the helper"
	CUDA_INJECTION64_PATH=/opt/tool.so run -1 "$GPUPROF" env --check
	assert_line --regexp "^no +variable +CUDA_INJECTION64_PATH=/opt/tool.so is not the helper"
	echo longer >>here/libgpuprof.so
	run -1 "$GPUPROF" env --check
	assert_line --regexp "^no +file +$PWD/here/libgpuprof.so is of another version"
	rm here/libgpuprof.so
	run -1 "$GPUPROF" env --check
	assert_line --regexp "^no +file +$PWD/here/libgpuprof.so: No such file"
	assert_equal "$(ls here)" "" # nothing was installed
}

# bats test_tags=needs:root
@test "env: --check: where no programs may be executed the helper cannot be loaded" {
	mkdir noexec
	run -1 unshare -m sh -c 'mount -t tmpfs -o noexec,mode=755 none noexec &&
		eval "$("$0" env -q --dir noexec)" && exec "$0" env --check' "$GPUPROF"
	assert_line --regexp "^no +file +$PWD/noexec/libgpuprof.so cannot be loaded: Operation not permitted"
}

# bats test_tags=needs:sim
@test "env: --check -p reads the process's own variables, files and maps" {
	"$SIM/train" --steps 100000 --quiet 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q libcuda.so /proc/$!/maps
	run -1 "$GPUPROF" env --check -p $!
	assert_line --regexp "^no +variable +CUDA_INJECTION64_PATH is not set; start it anew"
	assert_line --regexp "^no +loaded +CUDA is mapped without it"
	eval "$("$GPUPROF" env -q --dir here)"
	"$SIM/train" --steps 100000 --quiet 3>&- &
	STARTED+=($!)
	wait_for 10 has_ring $!
	sleep 1000 3>&- &
	STARTED+=($!)
	unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
	run -0 "$GPUPROF" env --check -p "${STARTED[1]}"
	assert_line --index 0 "process ${STARTED[1]}"
	assert_line --regexp "^ok +loaded +it is mapped; its state: gpuprof doctor -p ${STARTED[1]}$"
	wait_for 10 grep -q sleep "/proc/$!/comm"
	run -0 "$GPUPROF" env --check -p $!
	assert_line --regexp "^ok +variable +CUDA_INJECTION64_PATH=$PWD/here/libgpuprof.so"
	assert_line --regexp "^- +loaded +not yet: the process has not loaded CUDA"
	run -1 "$GPUPROF" env --check -p 4194303
	one_line "cannot look at process 4194303: there is no such process"
}

@test "env: hostile names are quoted in every form, or refused" {
	local form name
	# shellcheck disable=SC2016 # not to be expanded
	local -a names=('$(touch evil)' '`touch evil`' "a'b" 'a;touch evil' '#a' '~a' '-a' 'a$$(HOME)b' '%h%%' '{a}: [b]' 'é')
	for form in shell systemd docker k8s slurm cdi apptainer prolog; do
		for name in "${names[@]}"; do
			case $form:$name in
			k8s:*:* | apptainer:*[\$\`:]*) continue ;;
			esac
			run --separate-stderr "$GPUPROF" env --for "$form" --dir "$PWD/$name"
			assert_equal "$form $name $status" "$form $name 0"
			assert_equal "$form $("read_$form" <<<"$output")" "$form $PWD/$name/libgpuprof.so"
		done
		for name in $'a\nb' $'a\tb' $'a\eb' $'a\rb' $'a\x7fb'; do
			run --separate-stderr "$GPUPROF" env --for "$form" --dir "$PWD/$name"
			assert_equal "$form $status $output" "$form 2 "
			assert_regex "$stderr" "it has a control character; choose another one with --dir$"
			assert_equal "${#stderr_lines[@]}" 1
			CUDA_INJECTION64_PATH=/opt/$name.so run --separate-stderr "$GPUPROF" env --for "$form" --dir "$PWD/here"
			assert_equal "$form $status $output" "$form 2 "
			assert_regex "$stderr" "cannot write GPUPROF_CHAIN_INJECTION in the form asked for: its value has a control"
		done
	done
	assert_file_not_exists evil
	for form in systemd k8s cdi; do
		for name in $'a\xffb' $'a\xc2\x85b' $'a\xe2\x80\xa8b'; do
			run -2 "$GPUPROF" env --for $form --dir "$PWD/$name"
			assert_output --partial "it has what is no plain UTF-8"
		done
	done
	run -2 "$GPUPROF" env --for k8s --dir "$PWD/a:b"
	one_line "it has a ':'"
	run -2 "$GPUPROF" env --for docker --dir "$PWD/a,b"
	one_line "it has a ','"
	mkdir 'x,y' && ln -s 'x,y' plain
	run -0 "$GPUPROF" env --for docker --dir plain # what is printed is what was checked
}

# bats test_tags=needs:root
@test "env: a symbolic link is printed unresolved, and the owners of its directories are checked" {
	mkdir v1 v2 open
	ln -s v1 current
	for form in shell docker; do
		run -0 --separate-stderr "$GPUPROF" env --for $form --dir "$PWD/./current//"
		assert_output --partial "CUDA_INJECTION64_PATH=$PWD/current/libgpuprof.so"
	done
	ln -sfn v2 current # an upgrade
	run "$GPUPROF" env --dir current
	assert_output --partial "installed $PWD/current/libgpuprof.so"
	run --separate-stderr "$GPUPROF" env --dir v1/../current # not to be left so
	assert_line "export CUDA_INJECTION64_PATH=$PWD/v2/libgpuprof.so"
	chmod 777 open
	ln -s "$PWD/v1" open/link
	ln -s open/link far
	run -1 "$GPUPROF" env --dir far # by a link that others can replace to a place that they cannot
	one_line "cannot install the helper in $PWD/far: others can write to $PWD/open,"
	ln -s round round
	run -1 "$GPUPROF" env --dir round
	ln -s "$PWD/v1" theirs
	chown -h 65534 theirs
	run -1 "$GPUPROF" env --dir theirs
	one_line "others can write to $PWD/theirs,"
}

@test "env: another tool's injection is loaded after ours and keeps NVTX; both are reported" {
	export CUDA_INJECTION64_PATH=/opt/tool.so NVTX_INJECTION64_PATH=/opt/tool.so
	run -0 --separate-stderr "$GPUPROF" env --dir here
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

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "env: a command of gpuprof's own gets one helper, not the installed one behind it" {
	eval "$("$GPUPROF" env --dir here 2>/dev/null)"
	run -0 "$GPUPROF" stat --format json -o r.json -- "$SIM/train" --steps 20 --quiet
	assert_value r.json 'len(t["ledger"]) > 0 and len(t["kernels"])' 6
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

# bats file_tags=needs:root
@test "env: a directory that only the user's own group can write to is as good as the user's" {
	[ "$(getent group "$(id -g)")" = "root:x:0:" ] && ! awk -F: '$4 == 0 && $3' /etc/passwd | grep . ||
		skip "root has no group of its own here"
	mkdir -m 775 own
	run -0 "$GPUPROF" env --dir own/new
	chgrp 65534 own # of mode 0775 still
	run -1 "$GPUPROF" env --dir own/new
	one_line "others can write to $PWD/own,"
	chgrp 0 own
	python3 - <<-'END' || skip "no access control lists on this file system"
		import os, struct, sys
		entries = [(1, 7, -1), (2, 7, 65534), (4, 7, -1), (16, 7, -1), (32, 5, -1)]
		acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *e) for e in entries)
		try:
		    os.setxattr("own", "system.posix_acl_access", acl)
		except OSError:
		    sys.exit(1)
	END
	run -1 "$GPUPROF" env --dir own/new # user 65534 may write there
	one_line "others can write to $PWD/own,"
}

@test "env: a directory that others can write to is refused, and so is what lies below it" {
	mkdir -p open/below
	chmod 777 open
	run -1 "$GPUPROF" env --dir open/below
	one_line "cannot install the helper in $PWD/open/below: others can write to $PWD/open," --dir
	chmod 755 open
	chown 65534 open/below
	run -1 "$GPUPROF" env --dir open/below/new
	one_line "$PWD/open/below,"
	ln -s "$PWD/open/below" link
	run -1 "$GPUPROF" env --dir link
	one_line "$PWD/open/below,"
	: >file
	run -1 "$GPUPROF" env --dir file
	one_line "cannot make the directory file"
}

@test "env: an ordinary user installs into the state directory; without a home the error names the option" {
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

# bats file_tags=needs:sim
@test "env: a limit of file sizes ends no process that loads the helper, and nothing is half installed" {
	run -1 bash -c 'ulimit -f 64; exec "$0" env --dir small' "$GPUPROF"
	one_line "cannot write $PWD/small/libgpuprof.so: File too large; raise the limit of files (ulimit -f)"
	assert_equal "$(ls -A small)" ""
	eval "$("$GPUPROF" env -q --dir whole)"
	for kib in 0 64 4096; do
		run -0 bash -c 'ulimit -f "$0"; exec "$1" --rounds 30' "$kib" "$SIM/mix"
	done
}

# bats test_tags=needs:root,needs:bpf
@test "env: the helper of a process that installed a seccomp filter since stays asleep, with a message" {
	python3 -c 'import struct, sys
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 257), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000)] # openat: the end
sys.stdout.buffer.write(b"".join(struct.pack("HBBI", *i) for i in code))' >filter
	eval "$("$GPUPROF" env -q --dir whole)"
	"$SIM/caged" filter >target.out 2>&1 3>&- &
	STARTED+=($!)
	wait_for 10 grep -q caged target.out
	"$GPUPROF" stat -d 300ms -p $! --format json -o r.json
	assert_note helper-confined "process $! "
	kill -0 $!
	run "$GPUPROF" stat --table devices -- timeout 2 "$SIM/caged" filter # CUPTI begins before
	assert_line --partial "caged["
	refute_output --partial "lets seccomp filter"
}
