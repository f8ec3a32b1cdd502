// SPDX-License-Identifier: BSD-3-Clause
/* Names of captures: what patterns mean, and that values of other processes lead nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/pattern.h"

static const struct pattern_value values[] = {
	{ 'h', "node-7.example" }, { 'p', "1234" }, { 'r', "../../etc/3" }, { 'j', NULL },
	{ 't', "20261121-133000" },
};

static char expand(const char *pattern, const char *want)
{
	struct strbuf sb = STRBUF_INIT;
	char missing = pattern_expand(&sb, pattern, values, 5);

	if (!missing)
		assert_string_equal(sb.s, want);
	strbuf_free(&sb);
	return missing;
}

static void every_letter_becomes_its_value(void **state)
{
	(void)state;
	assert_int_equal(expand("/d/run.%h.%p.%t.gpr", "/d/run.node-7.example.1234.20261121-133000.gpr"),
			 0);
	assert_int_equal(expand("100%%.gpr", "100%.gpr"), 0);
	assert_int_equal(expand("%%p", "%p"), 0);
	assert_int_equal(expand("plain", "plain"), 0);
	assert_int_equal(expand("", ""), 0);
}

static void a_value_leads_to_no_other_folder(void **state)
{
	(void)state;
	assert_int_equal(expand("a/%r", "a/_._.._etc_3"), 0);
}

static void an_unknown_option_is_named(void **state)
{
	(void)state;
	assert_int_equal(expand("%j", NULL), 'j');
	assert_int_equal(expand("%h%j%p", NULL), 'j');
}

static void letters_that_mean_nothing_are_found(void **state)
{
	(void)state;
	assert_int_equal(pattern_unknown("%h%p%r%j%t%%"), 0);
	assert_int_equal(pattern_unknown("%x"), 'x');
	assert_int_equal(pattern_unknown("run.%"), '%');
	assert_int_equal(pattern_unknown("%%%"), '%');
	assert_int_equal(pattern_unknown("%%x"), 0);
}

static void long_values_are_cut(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pattern_expand(&sb, "%h", &(struct pattern_value){ 'h', text }, 1), 0);
	assert_int_equal(sb.len, 64);
	strbuf_free(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_letter_becomes_its_value),
		cmocka_unit_test(a_value_leads_to_no_other_folder),
		cmocka_unit_test(an_unknown_option_is_named),
		cmocka_unit_test(letters_that_mean_nothing_are_found),
		cmocka_unit_test(long_values_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
