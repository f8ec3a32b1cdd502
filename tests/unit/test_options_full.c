// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parser over tables as large as they may grow, in place of those of options_table.c:
 * OPTIONS_ROWS_MAX options and OPTIONS_VERBS_MAX verbs. Each option is for one verb.
 */
#include <stdio.h>

#include "base/exit.h"
#include "cli/option_row.h"
#include "cli/option_value.h"
#include "lib/test.h"

static char row_names[OPTIONS_ROWS_MAX][16], verb_names[OPTIONS_VERBS_MAX][16];
static struct option_row rows[OPTIONS_ROWS_MAX + 1];
static struct verb verbs[OPTIONS_VERBS_MAX + 1];

const struct option_row *const options_rows = rows;
const struct verb *const options_verbs = verbs;

int option_set_flag(struct options *o, const struct option_row *row, const char *value)
{
	(void)row;
	(void)value;
	o->session.count++;
	return 0;
}

static int make_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPTIONS_ROWS_MAX; i++) {
		snprintf(row_names[i], sizeof(row_names[i]), "option-%zu", i);
		rows[i] = (struct option_row){ .name = row_names[i], .set = option_set_flag,
					       .verbs = 1u << i % OPTIONS_VERBS_MAX };
	}
	for (size_t i = 0; i < OPTIONS_VERBS_MAX; i++) {
		if (i)
			snprintf(verb_names[i], sizeof(verb_names[i]), "verb-%zu", i);
		verbs[i] = (struct verb){ .name = verb_names[i], .usage = "" };
	}
	return 0;
}

static int parse(struct options *o, size_t verb, size_t option)
{
	char word[24];
	char *argv[] = { (char *)"gpuprof", word, verb_names[verb], NULL };

	snprintf(word, sizeof(word), "--option-%zu", option);
	return options_parse(o, verb ? 3 : 2, argv);
}

TEST(each_option_is_accepted_by_its_verb_and_refused_by_others)
{
	struct options o;

	for (size_t i = 0; i < OPTIONS_ROWS_MAX; i++)
		for (size_t v = 0; v < OPTIONS_VERBS_MAX; v++) {
			bool applies = i % OPTIONS_VERBS_MAX == v;

			assert_int_equal(parse(&o, v, i), applies ? 0 : EXIT_USAGE);
			assert_int_equal(o.session.count, 1);
			assert_ptr_equal(o.verb, &verbs[v]);
			options_free(&o);
		}
}

TEST(unknown_options_and_verbs_are_refused)
{
	char *argv[] = { (char *)"gpuprof", (char *)"verb-99", NULL };
	struct options o;

	assert_int_equal(parse(&o, 0, OPTIONS_ROWS_MAX), EXIT_USAGE);
	options_free(&o);
	assert_int_equal(options_parse(&o, 2, argv), EXIT_USAGE);
	options_free(&o);
}

TEST_GROUP(make_tables, NULL);
