// SPDX-License-Identifier: BSD-3-Clause
/* One table of rows. */
#include "facts/ops.h"

#include <errno.h>

#include "base/num.h"

_Static_assert(sizeof(struct op_key) == 16, "no padding");

static void other_key(void *key)
{
	((struct op_key *)key)->op = 0;
}

static const struct rows_type type = {
	ROWS_OF(struct op_row), ROWS_SUMS(struct op_row, count, works_ns),
	ROWS_HISTS(struct op_row, time, time), .drops_empty = true, .max = OPS_MAX,
	.other = other_key,
};

static struct op_row *find_row(struct ops *o, uint32_t process, uint64_t op)
{
	const struct op_key key = { .process = process, .op = op };

	return rows_get(&o->rows, &type, &key, NULL);
}

int ops_add(struct ops *o, const struct event *ev, uint64_t end_ns)
{
	const uint64_t ns = num_sub(end_ns, ev->start_ns);
	struct op_row *row = find_row(o, ev->process, ev->op.id);

	if (!row || hist_add(&row->time, ns))
		return -ENOMEM;
	row->count++;
	row->bound += !(ev->has & HAS_END);
	row->self_ns += num_sub(ns, ev->op.inner_ns);
	return 0;
}

int ops_add_launch(struct ops *o, uint32_t process, uint64_t op)
{
	struct op_row *row = op ? find_row(o, process, op) : NULL;

	if (row)
		row->launches++;
	return op && !row ? -ENOMEM : 0;
}

int ops_add_works(struct ops *o, uint32_t process, uint64_t op, uint64_t n, uint64_t ns)
{
	struct op_row *row = op ? find_row(o, process, op) : NULL;

	if (!row)
		return op ? -ENOMEM : 0;
	row->works += n;
	row->works_ns += ns;
	return 0;
}

int ops_copy(struct ops *to, const struct ops *from)
{
	return rows_copy(&to->rows, &from->rows);
}

void ops_subtract(struct ops *from, const struct ops *earlier)
{
	rows_subtract(&from->rows, &earlier->rows);
}

static bool is_of_another(void *process, void *row)
{
	return ((const struct op_row *)row)->key.process != *(const uint32_t *)process;
}

int ops_fold(struct ops *o, uint32_t process, uint32_t into)
{
	for (size_t i = 0, n = o->rows.n; i < n; i++) {
		const struct op_row *row = o->rows.v[i];
		struct op_row *to;

		if (row->key.process != process)
			continue;
		to = find_row(o, into, row->key.op);
		if (!to || rows_add(&type, to, row))
			return -ENOMEM;
	}
	rows_keep(&o->rows, is_of_another, &process);
	return 0;
}

void ops_free(struct ops *o)
{
	rows_free(&o->rows);
}
