#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031,SC2154 # each test is a subshell, with what `run` sets
# The live view: what it shows in a real terminal (tmux), and what each of its keys does.

# bats file_tags=needs:pty

load ../lib/common

CAPTURES=$BATS_TEST_DIRNAME/../captures/data

VIEWS=0 # terminals so far, each with a server of its own

tmux() { command tmux -L "gpuprof-$$-$VIEWS" "$@"; }
close_view() { tmux kill-server 2>/dev/null || true; }

teardown() {
	close_view
	end_started
}

# view OPTIONS...: the live view in a terminal of 100 x 30; behind it, its exit code
view() {
	local word command
	close_view
	VIEWS=$((VIEWS + 1))
	printf -v word '%q ' "$GPUPROF" top "$@"
	printf -v command 'cd %q && env -u NO_COLOR LC_ALL=C.UTF-8 TZ=UTC XDG_CONFIG_HOME=$PWD/config %s 2>err; echo "exit $?"; exec cat' "$PWD" "$word"
	tmux -f /dev/null new-session -d -x "${COLUMNS:-100}" -y "${LINES:-30}" "$command"
	tmux set -s set-clipboard on
}

on_screen() { tmux capture-pane -p | grep -Eq -- "$1"; } # REGEX
sees() { wait_for 20 on_screen "$1" || { tmux capture-pane -p; return 1; }; }
press() { tmux send-keys "$@"; }

@test "top: golden screens of stored captures: sizes, glyphs, colours, tabs, filters, help" {
	run -0 "$ROOT/tests/screens/live" "$GPUPROF"
	assert_output --regexp '^[4-9][0-9] screens of the live view, 0 differ$'
}

@test "top: 2,000 keys and sizes at random leave the terminal as it was" {
	local seed=$RANDOM
	echo "seed $seed"
	run -0 "$TEST_LIB/live_keys.py" 2000 $seed "$GPUPROF" top "$CAPTURES/ranks-alike.gpr"
	assert_output "2000 keys"
}

@test "top: help has every key, and each key of a capture's view does what help says" {
	view "$CAPTURES/ranks-alike.gpr"
	sees '8x train'
	press '?'
	sees '^q F10 +quit'
	press Down Down j
	sees '^F5 +ranks'
	press k g
	sees '^F1 [?] h'
	press Escape
	sees '8x train'
	press F5 # a row for each rank
	sees '11592 +7 train'
	press '>' # by PID
	sees 'PID[+]'
	press I
	sees 'PID-'
	press '<' I
	sees 'PID '
	press F3 1 1 5 9 0 Enter Enter
	sees 'pid 11590 train +user'
	press Tab Tab
	sees '\[threads\]'
	press BTab
	sees '\[ledger\]'
	press Left Right Right
	sees '\[threads\]'
	press F4 S Y N C Enter
	sees 'filter "SYNC"'
	sees ' sync '
	press e
	sees '^threads, row 1: '
	press Escape Escape Escape
	sees '^ +PID '
	press '['
	sees 'PAUSED'
	press Space
	wait_for 20 eval '! on_screen PAUSED'
	press t
	wait_for 20 eval '! on_screen history'
	press t w
	sees 'this is a capture already'
	press h
	sees 'the page is in ranks-alike[.]html'
	grep -q '^<!DOCTYPE html>' ranks-alike.html
	press h # only behind w
	sees '^q F10 +quit'
	press Escape
	press P
	sees 'the screen is in gpuprof-[0-9]+[.]txt'
	grep -q '^ GPU  busy' gpuprof-*.txt
	press y
	sees 'copied: gpuprof report ' # the rest may be wider than the screen
	[[ $(tmux show-buffer) == *"--table offcpu"* ]]
	press n
	sees 'Enter: back to the live view'
	press Enter
	sees '11592 +7 train'
	press f
	sees 'this is a capture: no process can be followed'
	press m
	sees 'all 387[.]8 ms'
	press F10
	sees '^exit 0'
	assert_equal "$(cat err)" ""
}

@test "top: columns and their order are as they were left, in a file of the user's own" {
	view "$CAPTURES/ranks-alike.gpr"
	sees '8x train'
	press F5 t
	sees '11592 +7 train'
	press '>' '>' I -
	wait_for 20 eval '! on_screen RANK'
	press '>'
	sees 'PID-'
	press q
	sees '^exit 0'
	assert_equal "$(cat config/gpuprof/top)" "$(printf '%s\n' 'sort PID' 'hidden RANK' reversed unfolded no-history)"
	view "$CAPTURES/ranks-alike.gpr"
	sees 'PID-'
	sees '11592 train'
	run ! on_screen 'RANK|history'
	press F5 t I + '<' q
	sees '^exit 0'
	assert_equal "$(cat config/gpuprof/top)" ""
	printf 'sort NO-SUCH\nhidden\n\xff\n%0300d\nunfolded\n' 1 >config/gpuprof/top
	view "$CAPTURES/ranks-alike.gpr"
	sees '11592 +7 train'
}

@test "top: figures of a capture are those of its report, to the digit" {
	local name
	for name in pretrain-faulty device-shared ranks-alike; do
		COLUMNS=200 "$GPUPROF" top --batch "$CAPTURES/$name.gpr" >text
		"$GPUPROF" report "$CAPTURES/$name.gpr" --format json -o json
		python3 - text json <<-'EOF_PY'
			import json, re, sys
			text, tables = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))["tables"]
			rows = {int(m[1]): m for m in re.finditer(r"^ *(\d+) .*? (>?)(\d+) % [█▓▒?·]", text, re.M)}
			seen = 0
			for p in tables["processes"]:
			    if p["pid"] not in rows:        # folded into one that is alike
			        continue
			    books = [r for r in tables["ledger"] if r["pid"] == p["pid"]]
			    wall = sum({r["device"]: r["wall_ns"] for r in books}.values())
			    idle = sum(r["ns"] for r in books if r["state"] == "idle")
			    assert int(rows[p["pid"]][3]) == round(100 - 100 * idle / wall), (p["pid"], idle, wall)
			    seen += 1
			assert seen, text
		EOF_PY
	done
}

@test "top: without a terminal, or one that can do nothing, an error; without a verb reports" {
	run -2 "$GPUPROF" top "$CAPTURES/ddp.gpr"
	one_line "the live view needs a terminal; for text: gpuprof top --batch -n 1"
	run -4 script -qec "TERM=no-such-terminal '$GPUPROF' top '$CAPTURES/ddp.gpr'" /dev/null
	one_line "this host knows no terminal 'no-such-terminal'"
	run -2 script -qec "TERM=dumb '$GPUPROF' top '$CAPTURES/ddp.gpr'" /dev/null
	one_line "needs a terminal"
	run -2 "$GPUPROF" top -- true
	one_line "top starts no command"
	run -2 "$GPUPROF" top "$CAPTURES/ddp.gpr" -p 1
	one_line "do not go with a capture"
	run -1 "$GPUPROF" top --batch no-such.gpr
	one_line "no-such.gpr"
}

@test "top: a name with control characters and invalid UTF-8 reaches no terminal as it is" {
	local name=$'e\e]0;x\a\xff\u202e'
	cp "$TARGETS/cudart-dyn" "$name"
	"$GPUPROF" record -q -o c.gpr -- "./$name" --launches 5
	COLUMNS=100 run -0 "$GPUPROF" top --batch c.gpr
	assert_line --partial 'e\x1b]0;x\x07'
	[[ $output != *$'\e'* && $output != *$'\u202e'* && $output != *$'\xff'* ]] || fail "raw"
	view c.gpr
	sees 'x1b'
	press q
	sees '^exit 0'
}

@test "top: stopped by a terminal's key it leaves the screen, and draws it again when it goes on" {
	VIEWS=1
	tmux -f /dev/null new-session -d -x 100 -y 30 \
		"PS1='shell> ' XDG_CONFIG_HOME=$PWD LC_ALL=C.UTF-8 bash --norc --noprofile -i"
	sees 'shell>'
	press "'$GPUPROF' top '$CAPTURES/ranks-alike.gpr'" Enter
	sees '8x train'
	press C-z
	sees 'Stopped'
	assert_equal "$(tmux display -p '#{alternate_on} #{cursor_flag}')" "0 1"
	press fg Enter
	sees '8x train'
	assert_equal "$(tmux display -p '#{alternate_on}')" 1
	tmux resize-window -x 60 -y 12
	wait_for 20 eval "! on_screen 'LAUNCH/S'"
	press q
	sees 'shell>'
}

# ---- a session -------------------------------------------------------------------------------

# A program on the simulated GPU, with the helper in it. Sets P.
start_train() {
	GPUPROF_CUPTI=$SIM/libcupti.so.13 CUDA_INJECTION64_PATH=$ROOT/build/libgpuprof.so LD_LIBRARY_PATH=$SIM \
		"$SIM/pretrain" --steps 100000 >/dev/null 2>&1 3>&- &
	P=$!
	STARTED+=("$P")
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "top: the view of a process that runs: rows, pause, mark, stacks, capture, end of the process" {
	start_train
	view -p "$P"
	sees "$P pretrain +0 "
	sees '^ +0 +>?[0-9]+ %'
	press Space
	sees 'PAUSED'
	press Space m
	sees 'since the mark'
	press m
	wait_for 20 eval '! on_screen "since the mark"'
	press s
	sees 'pid [0-9]+, thread "pretrain"'
	sees 'Enter: back'
	press Enter
	sees "$P pretrain"
	press w
	sees 'the last minute is in gpuprof-[0-9-]+[.]gpr; h: a page'
	press h
	sees 'the page is in gpuprof-[0-9-]+[.]html'
	grep -q '^<!DOCTYPE html>' gpuprof-*.html
	run -0 "$GPUPROF" report gpuprof-*.gpr --format json
	assert_output --partial "\"pid\": $P"
	press Enter Tab
	sees '\[ledger\]'
	sees ' compute +gemm '
	kill -9 "$P"
	sees 'ENDED'
	press q
	sees '^exit 0'
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "top: without a verb on a terminal it is the view; as text it prints each refresh" {
	start_train
	COLUMNS=100 run -0 "$GPUPROF" top --batch -n 3 --delay 300ms -p "$P"
	assert_equal "$(grep -c '^gpuprof  ' <<<"$output")" 3
	assert_equal "$(grep -c "$P pretrain" <<<"$output")" 3
	VIEWS=1
	tmux -f /dev/null new-session -d -x 100 -y 30 "'$GPUPROF' -p $P; echo \"exit \$?\"; exec cat"
	sees "$P pretrain"
	press q
	sees '^exit 0'
	run -0 timeout 60 script -qec "TERM=dumb '$GPUPROF' -p $P -n 1 -i 300ms" /dev/null
	assert_output --regexp "pid $P \(pretrain\)"
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "top: signals, a crash and the end of the terminal: it is restored, and no probe is left" {
	local signal view
	start_train
	for signal in TERM INT HUP SEGV ABRT; do
		view -p "$P"
		sees "$P pretrain"
		view=$(pgrep -f -x "$GPUPROF top -p $P")
		kill -$signal "$view"
		sees '^exit '
		tmux send-keys -l 'typed again'
		sees 'typed again' # echo is on
		assert_equal "$(tmux display -p '#{cursor_flag} #{alternate_on}')" "1 0"
	done
	view -p "$P"
	sees "$P pretrain"
	view=$(pgrep -f -x "$GPUPROF top -p $P")
	close_view
	wait_for 20 eval "! kill -0 $view"
	kill -0 "$P"
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "top: a process without a helper says so in its row, and i asks before it brings one in" {
	LD_LIBRARY_PATH=$SIM "$SIM/train" --steps 1000000 --quiet 3>&- &
	P=$!
	STARTED+=("$P")
	view -p "$P"
	sees "$P train .*no helper: i"
	press i
	sees 'stat -d 1s --inject -p'
	sees 'y/N|yes'
	press n Enter
	sees 'Enter: back'
	press Enter
	sees "$P train .*no helper: i"
	press q
	sees '^exit 0'
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "top: f follows one process of the host alone, with its time off the CPU; the host's session goes on" {
	local bytes follows="$GPUPROF top -p "
	start_train
	follows+=$P
	view -a --capture host.gpr
	sees "$P pretrain"
	press F4 "$P" Enter
	sees "filter \"$P\""
	press Enter BTab BTab
	sees '^The ledger has an estimate[.] f follows this process alone'
	press f
	wait_for 20 pgrep -f -x "$follows"
	sees "^ +$P pretrain"
	press Enter BTab BTab
	sees '\[offcpu\]'
	sees ' (lock|runqueue) '
	bytes=$(stat -c %s host.gpr)
	wait_for 20 eval "[ \$(stat -c %s host.gpr) -gt $bytes ]"
	press f
	sees 'its time off the CPU is traced here, too'
	press q
	sees '^The ledger has an estimate'
	run ! pgrep -f -x "$follows"
	press f
	wait_for 20 pgrep -f -x "$follows"
	sees "^ +$P pretrain"
	kill "$(pgrep -f -x "$GPUPROF top -a --capture host.gpr")"
	sees '^exit 0'
	run ! pgrep -f -x "$follows"
	tmux send-keys -l 'typed again'
	sees 'typed again' # echo is on
	run -0 "$GPUPROF" report host.gpr --table events --format json -o r.json
	assert_value r.json '[r["lost"] for r in t["events"] if r["source"] == "uprobe" and r["kind"] == "call"]' '[0]'
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "top: a target that launches without pause: the view keeps below its budget, and says so" {
	may_repeat "where others have the CPUs, its launches cost less than that"
	"$SIM/simcalls" --init --exit-after-ms 60000 cudaLaunchKernel=1000000000 >/dev/null 2>&1 3>&- &
	P=$!
	STARTED+=("$P")
	view -p "$P"
	sees "$P simcalls"
	sees '^gpuprof .* launches probed in part, '
	press q
	sees '^exit 0'
	grep -q 'probes cost thread .* of its time, and --budget is 1 %' err
}
