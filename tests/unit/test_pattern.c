// SPDX-License-Identifier: BSD-3-Clause
/* Names of captures: what patterns mean, and that values of other processes lead nowhere else. */
#include <string.h>

#include "capture/sink_open.c"
#include "lib/test.h"

static const struct pattern_value values[] = {
	{ 'h', "node-7.example" }, { 'p', "1234" }, { 'r', "../../etc/3" }, { 'j', NULL },
	{ 't', "20261121-133000" },
};

static char expands_to(const char *pattern, const char *want)
{
	struct strbuf sb = STRBUF_INIT;
	char missing = pattern_expand(&sb, pattern, values, 5);

	if (!missing)
		assert_string_equal(sb.s, want);
	strbuf_free(&sb);
	return missing;
}

TEST(every_letter_becomes_its_value)
{
	assert_int_equal(expands_to("/d/run.%h.%p.%t.gpr", "/d/run.node-7.example.1234.20261121-133000.gpr"),
			 0);
	assert_int_equal(expands_to("100%%.gpr", "100%.gpr"), 0);
	assert_int_equal(expands_to("%%p", "%p"), 0);
	assert_int_equal(expands_to("plain", "plain"), 0);
	assert_int_equal(expands_to("", ""), 0);
}

TEST(a_value_leads_to_no_other_folder)
{
	assert_int_equal(expands_to("a/%r", "a/_._.._etc_3"), 0);
}

TEST(an_unknown_option_is_named)
{
	assert_int_equal(expands_to("%j", NULL), 'j');
	assert_int_equal(expands_to("%h%j%p", NULL), 'j');
}

TEST(letters_that_mean_nothing_are_found)
{
	assert_int_equal(pattern_unknown("%h%p%r%j%t%%"), 0);
	assert_int_equal(pattern_unknown("%x"), 'x');
	assert_int_equal(pattern_unknown("run.%"), '%');
	assert_int_equal(pattern_unknown("%%%"), '%');
	assert_int_equal(pattern_unknown("%%x"), 0);
}

TEST(long_values_are_cut)
{
	struct strbuf sb = STRBUF_INIT;
	char text[1000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pattern_expand(&sb, "%h", &(struct pattern_value){ 'h', text }, 1), 0);
	assert_int_equal(sb.len, 64);
	strbuf_free(&sb);
}
