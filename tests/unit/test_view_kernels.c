// SPDX-License-Identifier: BSD-3-Clause
/* The table of kernels: what names become that say nothing. */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "model_room.h"
#include "view_of.h"
#include "lib/work_named.h"

#define BASE 1000000000ull

TEST(an_empty_kernel_name_is_shown)
{
	static const struct work work = { .kind = WORK_KIND_KERNEL, .correlation = 1 };
	struct model *m = session(BASE);
	struct table *t;

	push(m, (struct event){ .kind = EVENT_WORK, .pid = 12, .start_ns = BASE + 10, .end_ns = BASE + 20,
				.work = work_named(work, "") });
	finish(m, BASE + 100);
	t = view_now(&view_kernels, m);
	assert_non_null(t);
	assert_int_equal(t->n_rows, 1);
	assert_string_equal(table_cells(t, 0)[table_column(t, "name")].s, "(no name)");
	assert_string_equal(table_cells(t, 0)[table_column(t, "symbol")].s, "");
	table_free(t);
	model_free(m);
}
