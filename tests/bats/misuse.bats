#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016,SC2030,SC2031 # scripts for sh; each test has its own STARTED
# What people do wrong at the command line, and must not suffer for: each is one line, at once.

# bats file_tags=needs:root,needs:bpf

load ../lib/common

@test "misuse: the id of a thread is refused as a thread's, exit 1" {
	python3 -c 'import threading, time
t = threading.Thread(target=time.sleep, args=(20,), daemon=True); t.start()
print(t.native_id, file=open("tid", "w")); t.join()' 3>&- &
	STARTED+=($!)
	wait_for 10 test -s tid
	run -1 "$GPUPROF" stat -d 1s -p "$(cat tid)"
	one_line "$(cat tid)" thread
}

@test "misuse: a zombie and a pid that ends while gpuprof attaches: one line, exit 1" {
	sh -c 'sleep 0.2 & echo $! >zombie; exec sleep 20' 3>&- &
	STARTED+=($!)
	wait_for 10 sh -c 'grep -q "State:.*Z" /proc/$(cat zombie)/status'
	run -1 "$GPUPROF" stat -d 1s -p "$(cat zombie)"
	one_line "process $(cat zombie) ended"
}

# bats test_tags=needs:mounts
@test "misuse: inside a container with its own pids: exit 4, not an empty table" {
	run -4 unshare -pf --mount-proc "$GPUPROF" stat -d 1s -a
	one_line container --pid=host
}

@test "misuse: a script without #! runs as a shell would run it; a lying ELF too" {
	printf 'echo "ran $1"; exit 7\n' >script
	printf '\177ELF garbage' >lies
	chmod +x script lies
	run -7 "$GPUPROF" stat -q --table calls -- ./script well
	assert_output --partial "ran well"
	run -127 "$GPUPROF" stat -q -- ./lies
	assert_output --partial lies
}

@test "misuse: a report that cannot be written to its file is refused before the command runs" {
	local path
	for path in /nonexistent/report . /proc/version/x; do
		run -1 "$GPUPROF" stat -o "$path" -- touch ran
		one_line "cannot write $path"
		assert_file_not_exists ran
	done
}

@test "misuse: a report goes into no file, link or FIFO that another may have prepared" {
	local file
	touch others.csv
	chown 65534 others.csv
	ln -s target link.csv
	mkfifo fifo
	for file in others.csv link.csv fifo; do
		run -1 timeout -s KILL 20 "$GPUPROF" stat --format csv --table calls -o $file -- touch ran
		one_line "cannot write $file: it"
		assert_file_not_exists ran
	done
	assert_file_not_exists target
	[ ! -s others.csv ]
	run -1 "$GPUPROF" record -q -o others.csv -- touch ran
	one_line "others.csv belongs to another user"
	assert_file_not_exists ran
	# what a device is for, and a pipe of one's own
	"$GPUPROF" stat --format csv --table calls -o /dev/null -- true
	[ "$("$GPUPROF" stat --format csv --table calls -o /dev/stdout -- true | wc -l)" -eq 1 ]
}

@test "misuse: a report takes a file's place when it is whole, and keeps its mode" {
	echo before >r.csv
	chmod 640 r.csv
	exec 5<r.csv
	"$GPUPROF" stat --format csv --table calls -o r.csv -- true
	assert_equal "$(cat <&5)" before
	exec 5<&-
	assert_equal "$(stat -c %a r.csv)" 640
	grep -q ^pid, r.csv
	run ls
	refute_output --partial .part
}

@test "misuse: a report that turns out not to fit goes to standard output" {
	run -1 --separate-stderr "$GPUPROF" stat -o /dev/full --format json -- true
	laws_of_output
}

@test "misuse: no report overwrites a capture, neither its source nor the one just made" {
	"$GPUPROF" record -q -o c.gpr -- true
	cp c.gpr before.gpr
	run -1 "$GPUPROF" report c.gpr -o c.gpr
	one_line "c.gpr is a capture"
	run -1 "$GPUPROF" stat -o c.gpr -- true
	cmp c.gpr before.gpr
	run -1 "$GPUPROF" stat --full -q -o both --capture both -- true
	assert_output --partial "lost: none"
	"$GPUPROF" report both
}

@test "misuse: doctor accepts CAP_SYS_ADMIN for the capabilities that were split from it" {
	run -0 capsh --drop=cap_bpf,cap_perfmon,cap_checkpoint_restore -- -c "'$GPUPROF' doctor"
	refute_output --partial missing
}

@test "misuse: a message lets no control, reading direction or broken byte of a name through" {
	run -1 "$GPUPROF" report $'x\xc2\x9b2J\xe2\x80\xae\xff\x1b[2J\u00e9.gpr'
	one_line $'cannot open x??2J?????[2J\u00e9.gpr'
}
