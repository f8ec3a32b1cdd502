// SPDX-License-Identifier: BSD-3-Clause
/* Tables: sorting, cutting, and the exact bytes of each rendering, also of hostile names. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "event/device_number.h"
#include "lib/test.h"
#include "view/render.h"

static const struct column columns[] = {
	{ .name = "pid", .type = CELL_ID },
	{ .name = "function", .type = CELL_TEXT },
	{ .name = "count", .type = CELL_INT },
	{ .name = "bytes", .type = CELL_BYTES },
	{ .name = "total_ns", .type = CELL_NS },
	{ .name = "share", .type = CELL_SHARE },
	{ .name = "ratio", .type = CELL_REAL, .wide = 1 },
};

#define N (sizeof(columns) / sizeof(columns[0]))

enum { PID, FUNCTION, COUNT, BYTES, TOTAL, SHARE, RATIO };

static struct cell *add(struct table *t, uint64_t pid, const char *function, uint64_t count)
{
	struct cell *c = table_row(t);

	assert_non_null(c);
	cell_u(&c[PID], pid);
	cell_s(t, &c[FUNCTION], function);
	assert_false(t->failed);
	cell_u(&c[COUNT], count);
	return c;
}

static struct table *sample(void)
{
	struct table *t = table_new("calls", columns, N);
	struct cell *c;

	assert_non_null(t);
	c = add(t, 1234567, "cudaLaunchKernel", 1234567);
	cell_u(&c[TOTAL], 12345678);
	cell_d(&c[SHARE], 0.123);
	c = add(t, 42, "cudaMemcpy", 3);
	cell_u(&c[BYTES], 1572864);
	cell_u(&c[TOTAL], 999);
	cell_d(&c[SHARE], NAN);
	cell_d(&c[RATIO], 1.0 / 3);
	return t;
}

static void renders(struct table *t, const struct report *with, enum format f, const char *wanted)
{
	struct report r = with ? *with : (struct report){ 0 };
	struct strbuf sb = STRBUF_INIT;

	r.tables = &t;
	r.n_tables = 1;
	report_render(&sb, &r, f);
	assert_false(sb.failed);
	assert_string_equal(sb.s, wanted);
	strbuf_free(&sb);
	table_free(t);
}

TEST(text_aligns_numbers_right_and_gives_them_units)
{
	renders(sample(), &(struct report){ .head = "head", .foot = "foot" }, FORMAT_TEXT,
		"head\n\n"
		"calls\n"
		"    pid  function              count    bytes     total   share\n"
		"1234567  cudaLaunchKernel  1,234,567        -  12.35 ms  12.3 %\n"
		"     42  cudaMemcpy                3  1.5 MiB    999 ns       -\n"
		"\nfoot\n");
}

TEST(wide_shows_the_wide_columns_too)
{
	struct table *t = sample();

	table_top(t, 1, true);
	renders(t, &(struct report){ .wide = true }, FORMAT_TEXT,
		"calls\n"
		"    pid  function              count  bytes     total   share  ratio\n"
		"1234567  cudaLaunchKernel  1,234,567      -  12.35 ms  12.3 %      -\n"
		"... 1 more\n");
}

TEST(a_column_unknown_in_every_row_is_hidden)
{
	struct table *t = sample();

	table_top(t, 1, true);
	renders(t, NULL, FORMAT_TEXT,
		"calls\n"
		"    pid  function              count     total   share\n"
		"1234567  cudaLaunchKernel  1,234,567  12.35 ms  12.3 %\n"
		"... 1 more\n");
}

TEST(a_cut_table_names_the_option_for_all_rows)
{
	struct table *t = sample();

	table_top(t, 2, false);
	assert_false(t->unasked);
	table_top(t, 1, false);
	assert_true(t->unasked);
	renders(t, NULL, FORMAT_TEXT,
		"calls\n"
		"    pid  function              count     total   share\n"
		"1234567  cudaLaunchKernel  1,234,567  12.35 ms  12.3 %\n"
		"... 1 more (--table calls has all)\n");
}

TEST(a_book_is_cut_at_whole_owners_by_default)
{
	static const struct {
		unsigned int books;
		size_t most;
		bool asked;
		size_t kept;
	} cuts[] = {
		{ PID + 1, 7, false, 6 }, { PID + 1, 7, true, 7 }, { PID + 1, 6, false, 6 }, { 0, 7, false, 7 },
		{ PID + 1, 2, false, 2 }, { PID + 1, 12, false, 12 },
	};

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		struct table *t = table_new("calls", columns, N);

		for (uint64_t row = 0; row < 12; row++)
			add(t, row / 3, "f", row);
		t->book_columns = cuts[i].books;
		table_top(t, cuts[i].most, cuts[i].asked);
		assert_int_equal(t->n_rows, cuts[i].kept);
		assert_int_equal(t->cut, 12 - cuts[i].kept);
		table_free(t);
	}
}

TEST(columns_are_as_wide_as_their_content)
{
	struct table *t = table_new("calls", columns + FUNCTION, 2);
	struct cell *c = table_row(t);

	cell_s(t, &c[0], "\u6f22\u5b57");
	cell_u(&c[1], 1);
	c = table_row(t);
	cell_s(t, &c[0], "e\u0301\u00e4bcdefgh");
	cell_u(&c[1], 22222);
	renders(t, NULL, FORMAT_TEXT,
		"calls\n"
		"function    count\n"
		"\u6f22\u5b57            1\n"
		"e\u0301\u00e4bcdefgh  22,222\n");
}

TEST(a_table_without_rows_has_a_message)
{
	struct table *why = table_new("calls", columns, N);

	renders(table_new("calls", columns, N), NULL, FORMAT_TEXT, "calls\n(none)\n");
	why->none = "nobody called";
	renders(why, NULL, FORMAT_TEXT, "calls\n(none: nobody called)\n");
	renders(table_new("calls", columns, 3), NULL, FORMAT_CSV, "pid,function,count\n");
	renders(table_new("calls", columns, 3), NULL, FORMAT_JSON,
		"{\"schema_version\": 1,\n \"meta\": {},\n \"tables\": {\n  \"calls\": []\n }}\n");
}

TEST(long_names_are_cut_in_the_middle_between_characters)
{
	struct table *t = table_new("calls", columns + FUNCTION, 2);

	cell_s(t, table_row(t), "abcdefghijklmnopqrstuvwxyz");
	cell_s(t, table_row(t),
	       "\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc\u00df");
	cell_s(t, table_row(t), "\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57");
	cell_s(t, table_row(t), "exactlyten");
	renders(t, &(struct report){ .name_width = 10 }, FORMAT_TEXT,
		"calls\n"
		"function\n"
		"abcde\u2026wxyz\n"
		"\u00e4\u00f6\u00fc\u00df\u00e4\u2026\u00e4\u00f6\u00fc\u00df\n"
		"\u6f22\u5b57\u2026\u6f22\u5b57\n"
		"exactlyten\n");
	t = table_new("calls", columns + FUNCTION, 2);
	cell_s(t, table_row(t), "abcdefghijklmnopqrstuvwxyz");
	renders(t, &(struct report){ .name_width = 10, .ascii = true }, FORMAT_TEXT,
		"calls\nfunction\nabcde..xyz\n");
}

TEST(hostile_names_cannot_reach_the_terminal)
{
	struct table *t = table_new("calls", columns + FUNCTION, 1);

	cell_s(t, table_row(t), "a\x1b[2Jb\nc\td\x7f\x80\xc3(\xe2\x80\xae\xc2\x9b");
	cell_s(t, table_row(t), "\xed\xa0\x80\xf5\xc0\xaf");
	renders(t, NULL, FORMAT_TEXT,
		"calls\nfunction\n"
		"a\\x1b[2Jb\\nc\\td\\x7f\\x80\\xc3(\\u202e\\u009b\n"
		"\\xed\\xa0\\x80\\xf5\\xc0\\xaf\n");
}

TEST(hostile_names_cannot_reach_what_reads_json_or_csv)
{
	struct table *t[2];

	for (int i = 0; i < 2; i++) {
		t[i] = table_new("calls", columns + FUNCTION, 1);
		cell_s(t[i], table_row(t[i]), "=1+2\xc2\x9b\xe2\x80\xae");
		cell_s(t[i], table_row(t[i]), "-bash");
	}
	renders(t[0], NULL, FORMAT_CSV, "function\n'=1+2\\u009b\\u202e\n'-bash\n");
	renders(t[1], NULL, FORMAT_JSON,
		"{\"schema_version\": 1,\n \"meta\": {},\n \"tables\": {\n  \"calls\": [\n"
		"   {\"function\": \"=1+2\\u009b\\u202e\"},\n   {\"function\": \"-bash\"}\n  ]\n }}\n");
}

static const struct column got[] = {
	{ .name = "finding", .type = CELL_TEXT },
	{ .name = "cause", .type = CELL_PROSE },
	{ .name = "share", .type = CELL_SHARE },
};

/* Sentences stand below their row; a verdict before all tables; both are broken where they are long. */
TEST(sentences_are_below_their_row_and_the_verdict_comes_first)
{
	static const char word[] = "1234567890123456789";
	struct table *t = table_new("findings", got, 3);
	struct cell *c = table_row(t);
	struct strbuf many = STRBUF_INIT;

	for (int i = 0; i < 6; i++)
		strbuf_addf(&many, "%s%s", i ? " " : "", word);
	cell_s(t, &c[0], "stall");
	cell_s(t, &c[1], many.s);
	cell_d(&c[2], 0.25);
	strbuf_addstr(&many, "\nNext: \x1b");
	renders(t, &(struct report){ .head = "head", .verdict = many.s }, FORMAT_TEXT,
		"head\n\n"
		"1234567890123456789 1234567890123456789 1234567890123456789 1234567890123456789\n"
		"  1234567890123456789 1234567890123456789\n"
		"Next: \\x1b\n\n"
		"findings\n"
		"finding   share\n"
		"stall    25.0 %\n"
		"    cause     1234567890123456789 1234567890123456789 1234567890123456789 1234567890123456789\n"
		"              1234567890123456789 1234567890123456789\n");
	strbuf_free(&many);
}

/* What is to be typed is one line however narrow the terminal; in a file the footer is one, too. */
TEST(a_narrow_terminal_breaks_sentences_and_no_command)
{
	static const struct column next[] = {
		{ .name = "cause", .type = CELL_PROSE }, { .name = "next", .type = CELL_COMMAND },
	};
	struct report r = { .head = "a head that is no longer than its terminal is wide",
			    .verdict = "a verdict that is longer than its terminal is wide\n"
				       "Next: gpuprof stat --table kernels --sort count -p 12",
			    .foot = "lost: none; what gpuprof cost is not known", .columns = 30 };
	struct table *t = table_new("findings", next, 2);
	struct cell *c = table_row(t);

	cell_s(t, &c[0], "it waits for somebody who does not come");
	cell_s(t, &c[1], "gpuprof stat --table kernels --sort count -p 12");
	renders(t, &r, FORMAT_TEXT,
		"a head that is no longer than its\n"
		"  terminal is wide\n\n"
		"a verdict that is longer than its\n"
		"  terminal is wide\n"
		"Next: gpuprof stat --table kernels --sort count -p 12\n\n"
		"findings\n"
		"\n\n"
		"    cause     it waits for somebody who\n"
		"              does not come\n"
		"    next      gpuprof stat --table kernels --sort count -p 12\n\n"
		"lost: none; what gpuprof cost is not\n"
		"  known\n");
}

TEST(md_escapes_markup)
{
	struct table *t = table_new("calls", columns + FUNCTION, 2);
	struct cell *c = table_row(t);

	cell_s(t, &c[0], "op<float*>|a_b __x\n");
	cell_u(&c[1], 1000);
	table_row(t);
	renders(t, &(struct report){ .head = "a *b*", .foot = "x\ny" }, FORMAT_MD,
		"a \\*b\\*\n\n"
		"## calls\n\n"
		"| function | count |\n"
		"| :--- | ---: |\n"
		"| op\\<float\\*\\>\\|a_b \\_\\_x\\\\n | 1,000 |\n"
		"| - | - |\n"
		"\nx  \ny\n");
}

TEST(csv_has_raw_numbers_and_quotes_where_needed)
{
	struct table *t = sample();

	add(t, 1, "f(int, \"x\")\n", UINT64_MAX);
	renders(t, &(struct report){ .head = "head", .foot = "foot" }, FORMAT_CSV,
		"pid,function,count,bytes,total_ns,share,ratio\n"
		"1234567,cudaLaunchKernel,1234567,,12345678,0.123,\n"
		"42,cudaMemcpy,3,1572864,999,,0.3333333333333333\n"
		"1,\"f(int, \"\"x\"\")\\n\",18446744073709551615,,,,\n");
}

TEST(json_is_strict_and_whole)
{
	struct meta_pair pairs[] = {
		{ "host", { .known = 1, .s = "a\"b" }, CELL_TEXT },
		{ "complete", { .known = 1, .u = 1 }, CELL_BOOL },
		{ "lost", { .known = 1, .u = UINT64_MAX }, CELL_INT },
		{ "start", { .known = 0 }, CELL_TEXT },
	};
	struct meta meta = { .v = pairs, .n = 4 };
	struct table *t = sample();

	cell_d(&add(t, 7, "\x01\\\xff\u00e9", 0)[SHARE], INFINITY);
	renders(t, &(struct report){ .meta = &meta }, FORMAT_JSON,
		"{\"schema_version\": 1,\n"
		" \"meta\": {\"host\": \"a\\\"b\", \"complete\": true, "
		"\"lost\": 18446744073709551615, \"start\": null},\n"
		" \"tables\": {\n"
		"  \"calls\": [\n"
		"   {\"pid\": 1234567, \"function\": \"cudaLaunchKernel\", \"count\": 1234567, "
		"\"bytes\": null, \"total_ns\": 12345678, \"share\": 0.123, \"ratio\": null},\n"
		"   {\"pid\": 42, \"function\": \"cudaMemcpy\", \"count\": 3, "
		"\"bytes\": 1572864, \"total_ns\": 999, \"share\": null, "
		"\"ratio\": 0.3333333333333333},\n"
		"   {\"pid\": 7, \"function\": \"\\u0001\\\\\xef\xbf\xbd\u00e9\", \"count\": 0, "
		"\"bytes\": null, \"total_ns\": null, \"share\": null, \"ratio\": null}\n"
		"  ]\n }}\n");
}

TEST(colours_of_text_are_of_headings_the_verdict_and_shares_by_severity)
{
	static const struct column lost[] = {
		{ .name = "severity" }, { .name = "share", .type = CELL_SHARE } };
	static const char *const severities[] = { "high", "medium", "low", NULL };
	struct table *t = table_new("f", lost, 2);

	for (size_t i = 0; i < 4; i++) {
		struct cell *row = table_row(t);

		cell_s(t, &row[0], severities[i]);
		cell_d(&row[1], 0.5);
	}
	renders(t, &(struct report){ .verdict = "Killed.\nThis job hangs: a\nb.\nEvidence: c.\n"
						"Next: d",
				     .has_color = true }, FORMAT_TEXT,
		"\n\033[1mKilled.\033[0m\n\033[1;31mThis job hangs: a\033[0m\n\033[1mb.\033[0m\n"
		"Evidence: c.\nNext: d\n\033[1mf\033[0m\n"
		"\033[1mseverity\033[0m   \033[1mshare\033[0m\n"
		"high      \033[31m50.0 %\033[0m\nmedium    \033[33m50.0 %\033[0m\n"
		"low       50.0 %\n-         50.0 %\n");
}

TEST(an_instance_is_named_by_its_gpu_and_itself)
{
	static const struct column device[] = { { .name = "device", .type = CELL_DEVICE } };
	struct table *t[2];

	for (int i = 0; i < 2; i++) {
		t[i] = table_new("d", device, 1);
		cell_u(table_row(t[i]), 12);
		cell_u(table_row(t[i]), device_number_instance(12, 0));
		cell_u(table_row(t[i]), device_number_instance(0, 1));
	}
	renders(t[0], NULL, FORMAT_CSV, "device\n12\n12\n0\n");
	renders(t[1], NULL, FORMAT_TEXT, "d\ndevice\n    12\n  12:0\n   0:1\n");
	t[0] = table_new("d", device, 1);
	cell_u(table_row(t[0]), 12);
	cell_u(table_row(t[0]), device_number_instance(12, 0));
	renders(t[0], NULL, FORMAT_JSON, "{\"schema_version\": 1,\n \"meta\": {},\n \"tables\": {\n"
		"  \"d\": [\n   {\"device\": 12},\n   {\"device\": 12}\n  ]\n }}\n");
}

TEST(sorting_is_stable_with_the_unknown_last)
{
	struct table *t = table_new("calls", columns, N);

	cell_u(&add(t, 1, "b", 5)[BYTES], 1);
	add(t, 2, "a", 5);
	cell_u(&add(t, 3, "c", 9)[BYTES], 7);
	add(t, 4, NULL, 1);
	assert_int_equal(table_sort(t, "count"), 0);
	assert_int_equal(table_cells(t, 0)[PID].u, 3);
	assert_int_equal(table_cells(t, 1)[PID].u, 1);
	assert_int_equal(table_cells(t, 2)[PID].u, 2);
	assert_int_equal(table_sort(t, "bytes"), 0);
	assert_int_equal(table_cells(t, 0)[PID].u, 3);
	assert_int_equal(table_cells(t, 1)[PID].u, 1);
	assert_int_equal(table_sort(t, "function"), 0);
	assert_int_equal(table_cells(t, 0)[PID].u, 2);
	assert_int_equal(table_cells(t, 3)[PID].u, 4);
	assert_int_equal(table_sort(t, "total"), 0);
	assert_int_equal(table_sort(t, "none"), -ENOENT);
	table_free(t);
}

static bool is_odd(const struct cell *cells, const void *ctx)
{
	(void)ctx;
	return cells[PID].u & 1;
}

TEST(rows_are_kept_and_cut_in_order)
{
	struct table *t = table_new("calls", columns, N);

	for (uint64_t pid = 0; pid < 100; pid++)
		add(t, pid, "f", 1);
	table_keep(t, is_odd, NULL);
	assert_int_equal(t->n_rows, 50);
	table_top(t, 60, true);
	assert_int_equal(t->cut, 0);
	table_top(t, 10, true);
	assert_int_equal(t->cut, 40);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(table_cells(t, i)[PID].u, 2 * i + 1);
	add(t, 5, "f", 1);
	assert_int_equal(table_sort(t, "pid"), 0);
	assert_int_equal(table_cells(t, 0)[PID].u, 19);
	table_free(t);
}
