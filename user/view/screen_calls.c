// SPDX-License-Identifier: BSD-3-Clause
/* Rows of the table `calls`, added up over processes. */
#include "view/screen_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "view/view.h"

struct function {
	const char *name;
	uint64_t count, open, total_ns, longest_ns;
};

struct functions {
	VEC(struct function) all;	/* a few hundred at most: those that gpuprof probes */
};

static struct function *find(struct functions *f, const char *name)
{
	struct function *to;

	for (size_t i = 0; i < f->all.n; i++)
		if (!strcmp(f->all.v[i].name, name))
			return &f->all.v[i];
	to = VEC_PUSH(&f->all);
	if (to)
		*to = (struct function){ .name = name };
	return to;
}

/* 0 or -ENOMEM. */
static int add_up(struct functions *f, const struct table *t)
{
	const int name = table_column(t, "function"), count = table_column(t, "count"),
		  open = table_column(t, "open"), total = table_column(t, "total_ns"),
		  longest = table_column(t, "max_ns");

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct cell *c = table_cells(t, i);
		struct function *to = find(f, c[name].s);

		if (!to)
			return -ENOMEM;
		to->count = num_add(to->count, c[count].u);
		to->open = num_add(to->open, c[open].u);
		if (!c[total].known)	/* none of them has returned */
			continue;
		to->total_ns = num_add(to->total_ns, c[total].u);
		to->longest_ns = num_max(to->longest_ns, c[longest].u);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	const int order = num_compare(y->total_ns, x->total_ns);

	return order ? order : strcmp(x->name, y->name);
}

/* As far as there is room. */
static void add_line(struct screen_line *l, const char *name, const char *count, const char *total,
		     const char *longest)
{
	const size_t used = 12 + (l->width < 50 ? 0 : 10) + (l->width < 78 ? 0 : 12);

	line_add_field(l, name, num_min(l->width - used, 44), false);
	if (l->width >= 50)
		line_add_field(l, count, 10, true);
	line_add_field(l, total, 12, true);
	if (l->width >= 78)
		line_add_field(l, longest, 12, true);
	line_end(l);
}

static void add_function(struct screen_line *l, const struct function *f)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_addf(&name, " %s", f->name);
	if (f->open)
		strbuf_addf(&name, ", %s go%s on", count_text(f->open).s, f->open == 1 ? "es" : "");
	add_line(l, name.s, count_text(f->count).s, f->count ? ns_text(f->total_ns).s : "-",
		 f->count ? ns_text(f->longest_ns).s : "-");
	l->out->failed |= name.failed;
	strbuf_free(&name);
}

void screen_calls_add(struct screen_line *l, const struct snapshot *snap)
{
	const struct view_query q = { .snapshot = snap, .hides_stacks = true };
	struct table *t = view_fill(&view_calls, &q);
	struct functions f = { 0 };

	l->out->failed |= !t || add_up(&f, t);
	if (f.all.n)
		qsort(f.all.v, f.all.n, sizeof(f.all.v[0]), compare);
	if (f.all.n && l->left > 2) {
		line_end(l);
		add_line(l, "calls", "count", "total", "longest");
	}
	for (size_t i = 0; i < f.all.n && l->left; i++)
		add_function(l, &f.all.v[i]);
	VEC_FREE(&f.all);
	table_free(t);
}
