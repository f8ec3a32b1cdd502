#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Man pages and completions: made from the same table as help, readable by what they are made for.

load ../lib/common

bash_offers() { run "$TEST_LIB/complete.bash" gpuprof.bash "$@"; } # WORD...
fish_offers() { run fish -c "source gpuprof.fish; complete -C '$1' | cut -f1"; } # LINE
zsh_makes() { run timeout 30 "$TEST_LIB/complete.zsh" "$PWD" "$1"; } # LINE

completion() { # SHELL FILE
	"$GPUPROF" help --as "$1" >"$2"
}

@test "docs: help, man pages and the three completions name the same options of each verb" {
	run -0 "$TEST_LIB/check_docs.py" "$GPUPROF"
}

@test "docs: every man page is read by groff without a warning" {
	for verb in '' $("$GPUPROF" help --as verbs); do
		"$GPUPROF" help ${verb:+"$verb"} --as man >page
		run -0 groff -man -Tutf8 -ww -z page
		assert_output ""
		groff -man -Tascii -P-cbou page | grep 'EXIT STATUS'
	done
	for words in words tables; do
		"$GPUPROF" help $words --as man >page
		run -0 groff -man -Tutf8 -ww -z page
		assert_output ""
		groff -man -Tascii -P-cbou page | grep "gpuprof-$words -"
	done
}

@test "docs: the page for programs is user/doc/agents.md, and what it names is there" {
	"$GPUPROF" help agents | diff - "$ROOT/user/doc/agents.md"
	local word
	for word in share gain_bound cause evidence next wall_ns state bucket verdict lost complete notes; do
		"$GPUPROF" help agents | grep -q "$word"
		"$GPUPROF" help $word >explained
	done
}

@test "docs: the JSON Schema is that of this gpuprof's tables, and every json of the stored captures is valid" {
	"$GPUPROF" help schema | diff "$ROOT/user/doc/report.schema.json" - ||
		fail "a column or key of meta changed: build/gpuprof help schema >user/doc/report.schema.json"
	run -0 "$TEST_LIB/check_schema.py" "$ROOT/user/doc/report.schema.json" "$ROOT"/tests/captures/data/*.json.xz
	assert_output --regexp '^[0-9]{3,} reports are valid$'
}

@test "docs: help explains every word of the stored captures' reports" {
	run -0 "$TEST_LIB/check_words.py" "$GPUPROF"
	assert_output --regexp '^2[0-9][0-9] words$'
}

@test "docs: help of a word has what it is, how it is measured, what to do; a wrong one has a suggestion" {
	run -0 "$GPUPROF" help input-stall
	assert_line --index 0 'input-stall: a finding'
	assert_line --regexp '^measured +GPU idle time'
	assert_line --regexp '^in PyTorch +DataLoader\('
	run -0 "$GPUPROF" help calls
	assert_line --index 0 'calls: a table (--table calls)'
	assert_line --regexp '^  total_ns +time in the calls$'
	run -0 "$GPUPROF" help words
	assert_line --partial 'input-stall needless-sync'
	run -2 "$GPUPROF" help input-stal
	one_line "no verb or word 'input-stal'; did you mean 'input-stall'?"
	run -2 "$GPUPROF" help qqqqqqqqqq
	one_line "'gpuprof help words' lists them"
}

@test "docs: bash completes verbs, options of the verb, choices, also behind '='" {
	completion bash gpuprof.bash
	bash_offers rep
	assert_output report
	bash_offers stat --form
	assert_output -- --format
	bash_offers report --dur
	assert_output ""
	bash_offers -p 1 stat --format te
	assert_output text
	bash_offers stat --format = j
	assert_output json
	bash_offers stat --format =
	assert_line csv
	PATH=$(dirname "$GPUPROF"):$PATH bash_offers help ve
	assert_line verdict
	assert_line version
	PATH=$(dirname "$GPUPROF"):$PATH bash_offers help input-
	assert_output input-stall
}

@test "docs: bash completes captures, files, pids and the command's name" {
	completion bash gpuprof.bash
	: >'a run.gpr'
	: >other.txt
	mkdir directory
	bash_offers report ''
	assert_output $'a run.gpr\ndirectory'
	bash_offers stat -o oth
	assert_output other.txt
	bash_offers stat -p "1,$BASHPID"
	assert_line "1,$BASHPID"
	bash_offers stat -- mkfif
	assert_line mkfifo
	bash_offers stat -- ls oth
	assert_output other.txt
	bash_offers stat -d ''
	assert_output ""
}

@test "docs: the bash completion passes shellcheck" {
	completion bash gpuprof.bash
	run shellcheck gpuprof.bash
	assert_output ""
}

# bats test_tags=needs:pty
@test "docs: zsh completes verbs, options of the verb, choices and captures" {
	completion zsh _gpuprof
	: >run.gpr
	: >run.txt
	zsh_makes 'gpuprof rep'
	assert_output 'gpuprof report '
	zsh_makes 'gpuprof -p 1 stat --form'
	assert_output 'gpuprof -p 1 stat --format='
	zsh_makes 'gpuprof stat --format=js'
	assert_output 'gpuprof stat --format=json '
	zsh_makes 'gpuprof report ru'
	assert_output 'gpuprof report run.gpr '
	zsh_makes 'gpuprof stat -a -- mkfif'
	assert_output 'gpuprof stat -a -- mkfifo '
}

@test "docs: fish completes verbs, options of the verb, choices, captures, pids, commands" {
	completion fish gpuprof.fish
	: >run.gpr
	fish_offers 'gpuprof rep'
	assert_output report
	fish_offers 'gpuprof -p 1 stat --form'
	assert_output -- --format
	fish_offers 'gpuprof report --dur'
	assert_output ""
	fish_offers 'gpuprof stat --format j'
	assert_output json
	fish_offers 'gpuprof report ru'
	assert_output run.gpr
	fish_offers "gpuprof stat -p $BASHPID"
	assert_line "$BASHPID"
	fish_offers 'gpuprof stat -- mkfif'
	assert_output mkfifo
}

@test "docs: make install puts them where shells and man look, uninstall leaves nothing" {
	make -s -C "$ROOT" install DESTDIR="$PWD/root" PREFIX=/usr
	assert_file_exist root/usr/share/man/man1/gpuprof.1
	for verb in $("$GPUPROF" help --as verbs); do
		assert_file_exist "root/usr/share/man/man1/gpuprof-$verb.1"
	done
	cmp root/usr/share/bash-completion/completions/gpuprof <("$GPUPROF" help --as bash)
	cmp root/usr/share/zsh/site-functions/_gpuprof <("$GPUPROF" help --as zsh)
	cmp root/usr/share/doc/gpuprof/report.schema.json "$ROOT/user/doc/report.schema.json"
	cmp root/usr/share/fish/vendor_completions.d/gpuprof.fish <("$GPUPROF" help --as fish)
	make -s -C "$ROOT" uninstall DESTDIR="$PWD/root" PREFIX=/usr
	assert_equal "$(find root -type f)" ""
}
