#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The page to send: report --html, stat --html, --format html; and the flame graph alone, --format svg.

load ../lib/common

CAPTURES=$BATS_TEST_DIRNAME/../captures/data

@test "html: pages of the stored captures: strips add up to the ledger and the threads, to the nanosecond; at most 2 MB; no address" {
	run -0 "$TEST_LIB/check_html.py" sums "$GPUPROF" "$CAPTURES"/*.gpr
	assert_output --regexp '^[1-9][0-9]+ pages, [1-9][0-9]{2,} strips add up$'
}

@test "html: report --html writes the page beside the screen; --format html and export print the same page" {
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr"
	screen=$output
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr" --html page.html
	assert_output "$screen"
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr" --format html -o other.html
	refute_output
	cmp page.html other.html
	"$GPUPROF" export "$CAPTURES/pretrain-faulty.gpr" --format html | cmp - page.html
	run -0 grep -c 'GPU 0 was busy 61.5 % of the time. 26.5 % is lost to input-stall' page.html
	assert_output 1
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr" --format csv --html page.html -o calls.csv
	assert_file_exist calls.csv
	cmp page.html other.html
}

@test "html: of a part of a capture, the page is of that part" {
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr" --from 1s --to 1.5s --format html -o page.html
	run -0 grep -o '"wall_ns": [0-9]*' page.html
	assert_output '"wall_ns": 500000000'
}

@test "html: a page that cannot be written is an error in one line, before anything is read; a capture is never overwritten" {
	run ! "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr" --html missing/page.html
	one_line missing/page.html 'No such file'
	cp "$CAPTURES/pretrain-faulty.gpr" run.gpr
	run ! "$GPUPROF" report run.gpr --html run.gpr
	one_line run.gpr capture
	cmp run.gpr "$CAPTURES/pretrain-faulty.gpr"
	run -2 "$GPUPROF" record --html page.html -- true
	one_line --html
}

@test "html: what a capture does not know is said: a cut one, an empty one, one without stacks" {
	local name
	for name in cut empty; do
		"$GPUPROF" report "$CAPTURES/$name.gpr" --format html -o page.html || [ $? -eq 5 ]
		run -0 grep -c 'No GPU worked for these processes, as far as is known' page.html
	done
	run -0 "$GPUPROF" report "$CAPTURES/pretrain-faulty.gpr" --format html -o page.html
	run -0 grep -c 'The capture has no stacks: record with --stacks' page.html
}

# bats test_tags=needs:chromium
@test "html: in a browser: light, dark, wide and narrow; sorted, filtered, zoomed by mouse, wheel and keys; no error, no request" {
	local name
	for name in pretrain-faulty stacks; do
		"$GPUPROF" report "$CAPTURES/$name.gpr" --format html -o page.html
		run -0 "$TEST_LIB/check_html.py" browser page.html
		assert_output "a page: looked at, sorted, filtered, zoomed; no error, no request"
	done
}

# bats test_tags=needs:chromium
@test "html: light and dark, 1280 and 380 pixels wide, a page looks as the pictures do that are stored" {
	cp "$CAPTURES/stacks.gpr" .
	TZ=UTC "$GPUPROF" report stacks.gpr --format html -o page.html
	run -0 "$TEST_LIB/check_html.py" pictures "$ROOT/tests/screens/golden-page" page.html # --update draws them anew
	assert_output "a page looks as its 4 pictures do"
}

# bats test_tags=needs:chromium
@test "html: names with markup, quotes, control characters and bytes that are no UTF-8 are text in a browser" {
	[ -x "$ROOT/build/unit/test_html" ] || skip "build/unit/test_html is missing: make unit"
	TEST_HTML_PAGE=page.html "$ROOT/build/unit/test_html"
	run -0 "$TEST_LIB/check_html.py" hostile page.html
	assert_output "hostile names are text"
}

# bats test_tags=needs:bpf,needs:sim
@test "html: stat --html has the strips of a live session, and its sums are those of the capture it kept" {
	run -0 "$GPUPROF" stat --html page.html --capture run.gpr -- "$SIM/train" --steps 20 --quiet
	run -0 grep -c '\["call", "sync", \[' page.html
	run -0 grep -c '\["compute", ' page.html
	run -0 "$TEST_LIB/check_html.py" sums "$GPUPROF" run.gpr
	assert_output --regexp '^1 pages, [1-9][0-9]* strips add up$'
}

@test "svg: a flame graph as a picture: well-formed, children inside of their callers, the whole is its rows" {
	run -0 "$GPUPROF" report "$CAPTURES/stacks.gpr" --format svg -o flame.svg
	run -0 python3 - flame.svg <<-'END'
		import sys
		import xml.etree.ElementTree as tree
		svg = "{http://www.w3.org/2000/svg}"
		frames = tree.parse(sys.argv[1]).getroot().find(svg + "svg").findall(svg + "svg")
		spans = [(float(f.get("y")), float(f.get("x")[:-1]), float(f.get("width")[:-1])) for f in frames]
		top = [s for s in spans if s[0] == 0]
		assert abs(sum(width for _, _, width in top) - 100) < 0.1, top
		for y, x, width in spans:
		    assert y == 0 or any(y - 19 == up and x > left - 0.01 and x + width < left + all + 0.01
		                         for up, left, all in spans), (y, x, width)
		names = [f.find(svg + "text").text for f in frames]
		assert "cudaStreamSynchronize" in names and "[lock]" in names, names
		print(len(frames) > 10)
	END
	assert_output True
	run -2 "$GPUPROF" report "$CAPTURES/stacks.gpr" --format svg --table calls
	one_line "'--format svg'" "leave out '--table'"
}
