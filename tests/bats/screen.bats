#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2030,SC2031,SC2154 # each test is a subshell, with what `run` sets
# The first screen: what stat and report print unless tables are asked for.

load ../lib/common

CAPTURES=$BATS_TEST_DIRNAME/../captures/data

teardown() { end_started; }

# The widest line of $output, but for the next command, and how many lines there are.
shape() { python3 -c '
import sys
lines = sys.stdin.read().splitlines()
print(max(len(l) for l in lines if not l.startswith("next ")), len(lines))' <<<"$output"; }

@test "screen: those of the stored captures fit, and have the figures of json" {
	run -0 "$TEST_LIB/check_screens.py"
	assert_output --regexp '^[1-9][0-9]+ screens, [1-9][0-9]+ findings$'
}

@test "screen: golden ones of nine captures in five shapes: widths, glyphs, colour" {
	run -0 "$ROOT/tests/screens/check" "$GPUPROF"
	assert_output "45 screens, 0 lines differ or are wrong"
}

@test "screen: verdict, bar, findings, times, next and more; every option that shapes tables prints tables" {
	local option
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr"
	assert_line --index 0 --regexp '^pid [0-9]+ \(pretrain\), 2\.[0-9]+ s on [^ ]+ +cost ~[0-9.]+ % \(estimated\); nothing lost$'
	assert_line --regexp '^GPU 0 was busy [0-9.]+ % of the time\. [0-9.]+ % is lost to input-stall: '
	assert_line --regexp '^GPU 0     .* 2\.431 s$'
	assert_line --regexp '^ 2 +14\.0 % +1\.16x  unpinned-copies +copies pageable memory +[0-9]+ \(pretrain\) +30 x 11\.18 ms$'
	assert_line --regexp '^    all 5 findings of GPU 0 fixed: at best 2\.[0-9]+x \([0-9.]+ ms instead of 2\.431 s\)$'
	assert_line --regexp '^time of GPU 0 +kernels +count +avg +of all$'
	assert_line --regexp '^next   gpuprof report [^ ]*/pretrain-faulty\.gpr --wide --table offcpu$'
	assert_line --regexp '^more   --full: all tables   words: gpuprof help input-stall   --html run[.]html: a page to send$'
	refute_line ledger
	for option in --full --wide '--table ledger' '--top 3' '--sort ns' '--by launch' '--format md'; do
		# shellcheck disable=SC2086
		run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr" $option
		assert_line --regexp '^(#+ )?ledger$' || fail "$option"
		refute_line --regexp '^more   '
	done
}

@test "screen: busy shows when the device worked, in eighths, on average as much as its bar; findings come first" {
	cd "$CAPTURES" # so that the next command is one line
	run -0 env LC_ALL=C "$GPUPROF" report pretrain-faulty.gpr
	assert_line --regexp '^busy {6}[.1-8]{78} +31\.18 ms$'
	average=$(grep '^busy ' <<<"$output" | cut -c 11-88 | fold -w 1 | awk '{ sum += $1 } END { printf "%.3f", sum / 8 / NR }')
	awk "BEGIN { exit !($average > 0.60 && $average < 0.63) }" || fail "$average, not 0.615"
	run -0 "$GPUPROF" report pretrain-faulty.gpr
	assert_line --regexp '^busy {6}[▁▂▃▄▅▆▇█]{78} +31\.18 ms$'
	local size # no place: one line less, or columns
	for size in '100 25' '80 26'; do
		run -0 env COLUMNS="${size% *}" LINES="${size#* }" "$GPUPROF" report pretrain-faulty.gpr
		refute_line --regexp '^busy '
		assert_line --regexp '^ 3 .*exposed-comm'
	done
}

@test "screen: busy has ? where nothing is known, and no glyph where the process had ended; without devices there is none" {
	run -0 "$GPUPROF" report "$CAPTURES/calls-hang.gpr"
	assert_line --regexp '^busy {6}··▁\?{75} +7\.694 ms$'
	run -0 "$GPUPROF" report "$CAPTURES/before-exit.gpr" # of 150 ms the process was there for 61
	assert_line --regexp '^busy {6}[▁▂▃▄▅▆▇█·]{32} {46} +1\.923 ms$'
	run -0 "$GPUPROF" report "$CAPTURES/train-no-helper.gpr"
	refute_line --regexp '^busy '
}

@test "screen: --full has one line of advice under each finding; help WORD has all of it" {
	local findings
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr"
	refute_line --regexp '^ *advice '
	run -0 "$GPUPROF" report --full "$CAPTURES/pretrain-faulty.gpr"
	findings=$("$GPUPROF" report --format json --table findings "$CAPTURES/pretrain-faulty.gpr" | grep -c '"finding": ')
	[ "$findings" -ge 5 ]
	assert_equal "$(grep -A1 '^    advice    [^ ].*\.$' <<<"$output" | grep -c '^    next  ')" "$findings"
	assert_line '    advice    copy from and to pinned memory: cudaMallocHost, or DataLoader(pin_memory=True).'
	run -0 "$GPUPROF" help unpinned-copies
	refute_output --partial advice
	assert_line --regexp '^in CUDA +allocate host buffers with cudaMallocHost'
}

@test "screen: any width and height: no line is wider than 20 to 100 columns, no screen longer than 16 to 26 lines" {
	local size wide high
	for size in '1 1' '20 5' '31 40' '45 16' '59 24' '60 16' '79 23' '80 24' '99 26' '500 1000' 'x -1'; do
		read -r wide high <<<"$size"
		for capture in pretrain-faulty mix-many ddp-hang train-no-helper errors nvml-all; do
			run env LC_ALL=C "COLUMNS=$wide" "LINES=$high" "$GPUPROF" report -q "$CAPTURES/$capture.gpr"
			read -r width height < <(shape)
			case $wide in
			1) [ "$width" -le 20 ] && [ "$height" -le 16 ] ;;
			20 | 45 | 60) [ "$width" -le "$wide" ] && [ "$height" -le 16 ] ;;
			31 | 59) [ "$width" -le "$wide" ] && [ "$height" -le 26 ] ;;
			79 | 80) [ "$width" -le "$wide" ] && [ "$height" -le 24 ] ;;
			*) [ "$width" -le 100 ] && [ "$height" -le 26 ] ;;
			esac || fail "$size, $capture: $width x $height"$'\n'"$output"
			assert_line --regexp '^more   '
			[[ $capture != pretrain-faulty || $high -lt 24 ]] || assert_line --regexp '^ 1  26.5 %  .*input-s'
		done
	done
}

@test "screen: on a terminal it fits, with a line for the prompt; without UTF-8 it is ASCII" {
	run -0 script -qec "stty cols 80 rows 20; '$GPUPROF' report --color never '$CAPTURES/pretrain-faulty.gpr'" /dev/null
	output=${output//$'\r'/}
	read -r width height < <(shape)
	[ "$width" -le 80 ] && [ "$height" -le 19 ] || fail "$width x $height"
	assert_line --partial '█'
	LC_ALL=C run -0 script -qec "stty cols 80 rows 24; '$GPUPROF' report --color never '$CAPTURES/pretrain-faulty.gpr'" /dev/null
	LC_ALL=C refute_output --regexp '[^[:print:][:space:]]'
}

@test "screen: colours are escape sequences around the same text, and only verdict, lost and bars have any" {
	local capture colored red=$'\e[31m' yellow=$'\e[33m' bold=$'\e[1m'
	for capture in "$CAPTURES"/*.gpr; do
		run "$GPUPROF" report -q --color never "$capture"
		[[ $output != *$'\e'* ]] || fail "$capture: colours"
		colored=$("$GPUPROF" report -q --color always "$capture" | sed 's/\x1b\[[0-9;]*m//g') || true
		assert_equal "$colored" "$output"
	done
	run -0 "$GPUPROF" report --color always "$CAPTURES/pretrain-faulty.gpr"
	assert_line --partial "${bold}GPU 0 was busy "
	assert_line --partial " 1 $red 26.5 %"
	assert_line --partial " 4 $yellow  8.9 %"
	assert_line --regexp '^ 5   2\.0 % '
	assert_line --regexp '^time of GPU 0  [^'$'\e'']*$'
	[ "$(grep -cF -e "$red" -e "$yellow" <<<"$output")" -eq 4 ] || fail "$output"
}

@test "screen: tables fit: what is alike in all rows, or has no room, is named below them" {
	local columns capture
	for capture in pretrain-faulty ddp mix-many stacks; do
		"$GPUPROF" report -q --full "$CAPTURES/$capture.gpr" >full
		for columns in 60 80 100 120; do
			COLUMNS=$columns LC_ALL=C.UTF-8 "$GPUPROF" report -q --full "$CAPTURES/$capture.gpr" >narrow
			run -0 python3 - $columns full narrow <<-'EOF_PY'
				import re, sys
				columns, titles = int(sys.argv[1]), []
				for path in sys.argv[2:]:
				    tables = re.findall(r"^([a-z]+)\n((?:.+\n)+)", open(path).read(), re.M)
				    titles.append({})
				    for name, text in tables:
				        lines = text.splitlines()
				        below = re.sub(r"\n {12,}", " ", text)
				        found = set(re.split(" {2,}", lines[0].strip()))
				        for line in re.findall(r"^  left out: (.*) \(--wide\)$", below, re.M):
				            found |= set(line.split(", "))
				        for line in re.findall(r"^  in all rows: (.*)$", below, re.M):
				            found |= {title for title in titles[0].get(name, ())
				                      if any(part.startswith(title + " ") for part in line.split(", "))}
				        titles[-1][name] = found
				        wide = [line for line in lines if len(line) > columns and not line.startswith("    next")]
				        if path == "narrow" and name != "findings" and wide:
				            print(name, wide)
				if titles[0].keys() != titles[1].keys():
				    print(titles[0].keys(), titles[1].keys())
				print(*((k, titles[0][k] ^ titles[1][k]) for k in titles[0] if titles[0][k] != titles[1][k]), sep="\n", end="")
			EOF_PY
			assert_output ""
		done
	done
	run -0 env COLUMNS=80 "$GPUPROF" report -q "$CAPTURES/pretrain-faulty.gpr" --table kernels
	assert_line --regexp '^name +bucket +count +total +share +avg$'
	assert_line "  in all rows: pid 13029, device 0"
	assert_line "  left out: max, p99, queue_p50, block, grid, occupancy_pct (--wide)"
	run -0 env COLUMNS=80 "$GPUPROF" report -q "$CAPTURES/pretrain-faulty.gpr" --table kernels --sort queue_p50
	assert_line --regexp '^name .* queue_p50'
	run -0 env COLUMNS=80 "$GPUPROF" report -q "$CAPTURES/pretrain-faulty.gpr" --table kernels --wide
	refute_line --regexp '^  (in all rows|left out)'
}

@test "screen: --full in colour is the same text: headings and verdict bold, shares by severity" {
	local capture colored format
	for capture in "$CAPTURES"/*.gpr; do
		run "$GPUPROF" report -q --full --color never "$capture"
		[[ $output != *$'\e'* ]] || fail "$capture: colours"
		colored=$("$GPUPROF" report -q --full --color always "$capture" | sed 's/\x1b\[[0-9;]*m//g') || true
		assert_equal "$colored" "$output"
	done
	tagged() { "$GPUPROF" report -q --full --color always "$1" | sed 's/\x1b\[0m/<>/g; s/\x1b\[\([0-9;]*\)m/<\1>/g'; }
	run -0 tagged "$CAPTURES/pretrain-faulty.gpr"
	assert_line --regexp '^<1>26\.5 % of device 0 .*<>$'
	assert_line --regexp '^<1>  call while .*<>$' # a line of its own
	assert_line --regexp '^Evidence: [^<]*$'
	assert_line '<1>findings<>'
	assert_line --regexp '^<1>severity<>  <1>finding<> '
	assert_line --regexp '^high +input-stall .*  <31>26\.5 %<> [^<]*$'
	assert_line --regexp '^medium +exposed-comm .*  <33>9\.9 %<> [^<]*$'
	assert_line --regexp '^low [^<]*$'
	for format in md csv json; do
		run -0 "$GPUPROF" report -q --full --color always --format $format "$CAPTURES/pretrain-faulty.gpr"
		[[ $output != *$'\e'* ]] || fail "$format: colours"
	done
}

# bats test_tags=needs:pty
@test "screen: --color auto is on a terminal only, and not with NO_COLOR or TERM=dumb" {
	local way set options wanted report="'$GPUPROF' report '$CAPTURES/pretrain-faulty.gpr'"
	for way in 'A=1||yes' 'NO_COLOR=||yes' 'NO_COLOR=1||no' 'TERM=dumb||no' 'NO_COLOR=1|--color always|yes' \
		'A=1|--color never|no' 'A=1|--full|yes' 'NO_COLOR=1|--full|no' 'A=1|--full --format md|no' 'A=1|-o c.txt; cat c.txt|no'; do
		IFS='|' read -r set options wanted <<<"$way"
		run -0 env -u NO_COLOR TERM=xterm "$set" script -qec "$report $options" /dev/null
		assert_output --partial input-stall
		case $output in
		*$'\e['*) assert_equal "yes: $way" "$wanted: $way" ;;
		*) assert_equal "no: $way" "$wanted: $way" ;;
		esac
	done
	TERM=xterm run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr"
	[[ $output != *$'\e'* ]] || fail "not on a terminal"
	run -2 "$GPUPROF" report --color sometimes "$CAPTURES/pretrain-faulty.gpr"
	one_line 'auto, always or never'
}

@test "screen: a reader that closes its end is no error" {
	run -0 bash -c "set -o pipefail; '$GPUPROF' report '$CAPTURES/pretrain-faulty.gpr' | head -n 1"
}

# bats test_tags=needs:root,needs:sim
@test "screen: stat prints one, too; names reach no terminal raw; without calls it has the reason" {
	local name=$'e\e[31mvil\u202e'
	cp "$SIM/train" "$name"
	GPUPROF_CUPTI="$SIM/libcupti.so.13" LD_LIBRARY_PATH=$SIM run -0 "$GPUPROF" stat -- "./$name" --steps 20 --quiet
	assert_line --regexp '^more   --full: all tables'
	assert_output --partial '\x1b[31mvil\u202e'
	[[ $output != *$'\e'* && $output != *$'\u202e'* ]] || fail "raw"
	run -0 "$GPUPROF" stat -- true
	assert_line --index 0 --partial "no calls seen in true"
	assert_line --partial "no calls: "
}

# What a terminal got, each rewritten line on one of its own.
on_terminal() { # COMMAND
	run script -qec "$1" /dev/null
	output=${output//$'\r\e[K'/$'\n'}
	output=${output//$'\r'/}
	mapfile -t lines <<<"$output"
}

# bats test_tags=needs:root,needs:bpf
@test "screen: on a terminal it says at once what is measured and how to end it, then each second how far it is" {
	sleep 60 3>&- &
	STARTED+=($!)
	on_terminal "'$GPUPROF' stat -p $! -d 3s"
	assert_equal "${lines[0]}" "gpuprof: measuring process $! and its children for 3.000 s; Ctrl-C ends it"
	assert_line --regexp '^[1-3] s, [0-9,]+ events$'
	on_terminal "'$GPUPROF' stat -q -p $! -d 100ms"
	refute_output --partial measuring
	on_terminal "'$GPUPROF' stat --isolate -p $!,$$ -d 100ms"
	assert_equal "${lines[0]}" "gpuprof: measuring 2 processes for 100.0 ms; Ctrl-C ends it"
	on_terminal "'$GPUPROF' stat -- sleep 1.5"
	assert_equal "${lines[0]}" "gpuprof: measuring 'sleep' until it ends; Ctrl-C is passed on"
	refute_output --regexp '1 s, '
	run -0 --separate-stderr "$GPUPROF" stat -p $! -d 100ms
	assert_equal "$stderr" ""
}

# bats test_tags=needs:root,needs:bpf
@test "screen: a message stands above the line that is rewritten" {
	sleep 60 3>&- &
	STARTED+=($!)
	on_terminal "'$GPUPROF' record -o /dev/shm/gpuprof-screen-$$.gpr -p $! -d 1500ms"
	rm -f /dev/shm/gpuprof-screen-$$.gpr
	assert_line --regexp '^gpuprof: kept [0-9]+ records in /dev/shm/'
}

# bats test_tags=needs:root,needs:bpf,needs:sim
@test "screen: an interval has at most 12 lines, with the time of day; --full has all tables" {
	LD_LIBRARY_PATH=$SIM "$SIM/train" --steps 20000 --quiet 3>&- &
	STARTED+=($!)
	run -0 "$GPUPROF" -i 250ms -n 3 -p $!
	assert_equal "$(grep -cE '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]  .*pid [0-9]+' <<<"$output")" 3
	[ "$(awk -v RS= 'split($0, line, "\n") > most { most = split($0, line, "\n") } END { print most }' <<<"$output")" -le 12 ] || fail "$output"
	assert_line --partial 'did was not seen: no helper is in it'
	refute_line calls
	run -0 "$GPUPROF" --full -i 250ms -n 1 -p $!
	assert_line calls
}
