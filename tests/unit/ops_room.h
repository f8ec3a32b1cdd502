/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of thread 8 of process 7, what they launch, and tables of them. */
#ifndef UNIT_OPS_ROOM_H
#define UNIT_OPS_ROOM_H

#include <stdlib.h>
#include <string.h>

#include "lib/work_named.h"
#include "probe/ops.h"
#include "view_of.h"
#include "model_each.h"	/* behind all headers whose functions take a model */

#define BASE 1000000000000ull

static inline void named(const char *name)
{
	struct event ev = { .kind = EVENT_FRAME, .frame.function = name };

	ev.frame.number = op_id(name);
	ev.frame.flags = FRAME_OP;
	push(m, ev);
}

static inline void op_of(uint64_t id, uint32_t tid, uint64_t start, uint64_t end, uint64_t inner, bool measured)
{
	struct event ev = { .kind = EVENT_OP, .pid = 7, .tid = tid, .has = measured ? HAS_END : 0,
			    .start_ns = BASE + start, .end_ns = BASE + end };

	ev.op.id = id;
	ev.op.inner_ns = inner;
	push(m, ev);
}

static inline void launch_of(uint32_t seq, uint64_t start, uint64_t end, uint64_t op, uint64_t module)
{
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = seq, .func = L,
				.has = HAS_END, .start_ns = BASE + start, .end_ns = BASE + end,
				.call.op = op, .call.module = module });
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8, .api.correlation = seq,
				.api.cbid = 211, .api.domain = 5, .start_ns = BASE + start + 1,
				.end_ns = BASE + end - 1 });
}

static inline void launch_in(uint32_t seq, uint64_t start, uint64_t end, const char *op)
{
	launch_of(seq, start, end, op ? op_id(op) : 0, 0);
}

static inline void work_of(uint32_t correlation, uint64_t start, uint64_t end)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE + start,
				.end_ns = BASE + end, .work = work_named(w, "sgemm") });
}

/* The columns (separated by blanks) of each row, a line each. */
static inline void assert_table(const struct view *v, const char *columns, const char *wanted)
{
	struct table *t = view_now(v, m);
	struct strbuf text = STRBUF_INIT;

	assert_non_null(t);
	for (size_t row = 0; row < t->n_rows; row++) {
		char *names = strdup(columns), *rest = names, *name;

		while ((name = strsep(&rest, " "))) {
			const int at = table_column(t, name);
			const struct cell *c = &table_cells(t, row)[at];

			assert_true(at >= 0);
			if (!c->known)
				strbuf_addch(&text, '?');
			else if (t->columns[at].type == CELL_TEXT)
				strbuf_addstr(&text, c->s);
			else if (t->columns[at].type == CELL_REAL || t->columns[at].type == CELL_SHARE)
				strbuf_addf(&text, "%g", c->d);
			else
				strbuf_addf(&text, "%llu", (unsigned long long)c->u);
			strbuf_addch(&text, rest ? ' ' : '\n');
		}
		free(names);
	}
	assert_string_equal(text.s, wanted);
	strbuf_free(&text);
	table_free(t);
}

#endif
