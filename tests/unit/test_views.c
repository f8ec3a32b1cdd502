// SPDX-License-Identifier: BSD-3-Clause
/* What is promised of the columns of every table: documentation, diff, merge and sorting read them. */
#include <stdlib.h>
#include <string.h>

#include "view/schema.h"
#include "view/view.h"

#include "lib/test.h"

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);

	return len >= n && !strcmp(s + len - n, end);
}

TEST(each_table_and_column_has_one_line_of_help)
{
	for (size_t i = 0; view_list[i]; i++) {
		const struct view *v = view_list[i];

		assert_true(strlen(v->help) > 10 && strlen(v->help) <= 90);
		for (unsigned int k = 0; k < v->n_columns; k++) {
			const struct column *c = &v->columns[k];

			print_message("%s.%s\n", v->name, c->name);
			assert_non_null(c->help);
			assert_true(strlen(c->help) > 3 && strlen(c->help) <= 90);
			assert_true(ends_with(c->help, "...") || !ends_with(c->help, "."));
			assert_null(strchr(c->help, '\n'));
		}
	}
}

TEST(names_of_columns_differ_within_a_table)
{
	for (size_t i = 0; view_list[i]; i++) {
		const struct view *v = view_list[i];

		for (unsigned int k = 0; k < v->n_columns; k++)
			assert_int_equal(column_find(v->columns, v->n_columns, v->columns[k].name), k);
	}
}

TEST(a_role_fits_the_type)
{
	for (size_t i = 0; view_list[i]; i++) {
		const struct view *v = view_list[i];
		unsigned int keys = 0;

		for (unsigned int k = 0; k < v->n_columns; k++) {
			const struct column *c = &v->columns[k];
			bool is_text = c->type == CELL_TEXT || c->type == CELL_STACK ||
				       c->type == CELL_PROSE || c->type == CELL_COMMAND;

			print_message("%s.%s\n", v->name, c->name);
			keys += c->role == ROLE_KEY;
			assert_true(c->role >= ROLE_KEY && c->role <= ROLE_SHARE);
			if (is_text)
				assert_true(c->role == ROLE_KEY || c->role == ROLE_LABEL);
			if (c->type == CELL_SHARE)
				assert_int_equal(c->role, ROLE_SHARE);
			if (c->role == ROLE_TOTAL)
				assert_int_equal(c->type, CELL_NS);
			if (ends_with(c->name, "_bytes"))
				assert_int_equal(c->type, CELL_BYTES);
			if (ends_with(c->name, "_share"))
				assert_int_equal(c->type, CELL_SHARE);
			if (c->type == CELL_NS)
				assert_true(ends_with(c->name, "ns"));
		}
		assert_true(keys > 0);
	}
}

TEST(a_table_is_sorted_by_a_column_that_it_has)
{
	for (size_t i = 0; view_list[i]; i++)
		if (view_list[i]->sort)
			assert_true(column_find(view_list[i]->columns, view_list[i]->n_columns,
						view_list[i]->sort) >= 0);
}

/* ---- the JSON Schema, to which tests/bats/docs.bats holds reports -------------------------------- */

TEST(every_column_that_is_never_null_is_one)
{
	for (size_t i = 0; view_list[i]; i++) {
		const struct view *v = view_list[i];
		char *list = v->never_null ? strdup(v->never_null) : NULL, *rest = list, *name;

		while ((name = strsep(&rest, " ")))
			assert_in_range(column_find(v->columns, v->n_columns, name), 0,
					v->n_columns - 1);
		free(list);
	}
}

TEST(the_schema_has_types_and_null_as_columns_have)
{
	struct strbuf out = STRBUF_INIT;

	schema_add(&out);
	assert_false(out.failed);
	assert_non_null(strstr(out.s, "\n     \"ns\": {\"type\": \"integer\", \"minimum\": 0, "));
	assert_non_null(strstr(out.s, "\n     \"share\": {\"type\": [\"number\", \"null\"], "));
	assert_non_null(strstr(out.s, "\n     \"tensor_core\": {\"type\": [\"boolean\", \"null\"], "));
	assert_non_null(strstr(out.s, "\n     \"mig\": {\"type\": [\"integer\", \"null\"], "));
	assert_non_null(strstr(out.s, "\n     \"host\": {\"type\": [\"string\", \"null\"], "));
	/* only with --by launch */
	assert_non_null(strstr(out.s, "\n     \"captured_in\": "));
	assert_null(strstr(out.s, ", \"captured_in\""));
	strbuf_free(&out);
}
