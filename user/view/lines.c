// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `lines`: what each line of the program's own code did: the calls whose innermost frame
 * of the program's own (stacks_own_frame) is there, the device time of the work that these
 * launched, and the devices' idle time that they caused. What belongs to no known line is a row,
 * too, so that each column adds up to what the process has. Reads a snapshot.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "view/view.h"

enum { PID, PLACE, FILE_NAME, LINE, FUNCTION, DEVICE, HOST, IDLE, SYNCS, LAUNCHES, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[PLACE] = { "place", NULL, CELL_TEXT, 0, ROLE_LABEL, "file, line and function" },
	[FILE_NAME] = { "file", NULL, CELL_TEXT, 1, ROLE_KEY, "file of the source" },
	[LINE] = { "line", NULL, CELL_ID, 1, ROLE_KEY,
		"line in it; of compiled code only with --lines" },
	[FUNCTION] = { "function", NULL, CELL_TEXT, 1, ROLE_KEY, "function that the line is in" },
	[DEVICE] = { "device_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"device time of the work that its calls launched" },
	[HOST] = { "host_ns", NULL, CELL_NS, 0, ROLE_SUM, "time in its calls" },
	[IDLE] = { "idle_caused_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time that devices were idle because of its calls" },
	[SYNCS] = { "syncs", NULL, CELL_INT, 0, ROLE_SUM, "calls that waited for a device" },
	[LAUNCHES] = { "launches", NULL, CELL_INT, 0, ROLE_SUM, "calls that launched kernels" },
};

struct line {			/* of one process */
	struct line_key {
		/* texts of struct filling: equal ones have one address. 0: none */
		uint64_t file, function;
		uint64_t number;	/* 0: unknown */
	} key;
	uint64_t device_ns, host_ns, idle_ns, syncs, launches;
	const char *place;		/* NULL: it is no known line */
};

static const struct rows_type type = {
	ROWS_OF(struct line), ROWS_SUMS(struct line, device_ns, launches),
};

struct filling {
	struct table *t;
	const struct snapshot *snap;
	struct strpool *texts;
	struct rows lines;		/* struct line, of the process that is read */
};

/* ---- a stack's line -------------------------------------------------------------------------- */

static uint64_t keep(struct filling *r, const char *text, size_t len)
{
	struct strbuf copy = STRBUF_INIT;
	const char *kept;

	strbuf_add(&copy, text, len);
	kept = copy.failed ? NULL : strpool_add(r->texts, copy.s);
	r->t->failed |= !kept;
	strbuf_free(&copy);
	return (uintptr_t)kept;
}

/* Debug info has "f (a.cu:12);g (b.h:34)": g was inlined into f, and its line is the innermost. */
static void read_debug_line(struct filling *r, const char *lines, struct line_key *key)
{
	const char *inlined = strrchr(lines, ';'), *from = inlined ? inlined + 1 : lines;
	const char *at = strrchr(from, '('), *colon = strrchr(from, ':');

	if (!at || at - from < 2 || !colon || colon < at)
		return;
	key->function = keep(r, from, (size_t)(at - 1 - from));
	key->file = keep(r, at + 1, (size_t)(colon - at - 1));
	key->number = strtoull(colon + 1, NULL, 10);
}

static struct line_key key_of(struct filling *r, const struct stacks_frame *f)
{
	struct line_key key = { 0 };

	if (!f)
		return key;
	key.function = keep(r, f->function, strlen(f->function));
	if (f->flags & FRAME_PYTHON) {
		key.file = keep(r, f->file, strlen(f->file));
		key.number = f->offset;
	} else if (f->lines) {
		read_debug_line(r, f->lines, &key);
	}
	return key;
}

/* The row of a stack's line; NULL: out of memory, remembered. */
static struct line *line_of(struct filling *r, uint64_t stack)
{
	const struct stacks_stack *s = stack ? stacks_find(&r->snap->stacks, stack) : NULL;
	const struct stacks_frame *f = s ? stacks_own_frame(&r->snap->stacks, s->frame) : NULL;
	const struct line_key key = key_of(r, f);
	struct line *line = rows_get(&r->lines, &type, &key, NULL);

	if (line && f)
		line->place = f->flags & FRAME_PYTHON || !f->lines ? f->place : f->lines;
	r->t->failed |= !line;
	return line;
}

/* ---- a process's lines ----------------------------------------------------------------------- */

static void add_calls(struct filling *r, const struct snapshot_process *p)
{
	for (size_t i = 0; i < call_stats_count(&p->calls); i++) {
		const struct call_stat *c = call_stats_at(&p->calls, i);
		const unsigned int class = r->snap->funcs->v[c->key.func].class;
		struct line *line = c->count || c->works ? line_of(r, c->key.stack) : NULL;

		if (!line)
			continue;
		line->host_ns = num_add(line->host_ns, c->time.total);
		line->device_ns = num_add(line->device_ns, c->works_ns);
		line->syncs += class == CLASS_SYNC ? c->count : 0;
		line->launches += class == CLASS_LAUNCH ? c->count : 0;
	}
}

static uint64_t works_ns(const struct snapshot_device *d)
{
	uint64_t ns = num_add(kernels_total_ns(&d->kernels), d->sets.total_ns);

	for (size_t i = 0; i < sizeof(d->copies) / sizeof(d->copies[0]); i++)
		for (size_t k = 0; k < sizeof(d->copies[0]) / sizeof(d->copies[0][0]); k++)
			ns = num_add(ns, d->copies[i][k].total_ns);
	return ns;
}

static uint64_t stalls_ns(const struct stalls *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < stalls_count(s); i++)
		ns = num_add(ns, stalls_at(s, i)->ns);
	return ns;
}

/* Idle time to the lines of the calls that caused it; the rest, and device time of works whose
 * call is unknown, to none. */
static void add_devices(struct filling *r, const struct snapshot_process *p)
{
	uint64_t all_ns = 0, placed_ns = 0, idle_ns = 0, idle_placed_ns = 0;
	struct line *rest;

	for (size_t i = 0; i < r->lines.n; i++)
		placed_ns += ((const struct line *)r->lines.v[i])->device_ns;
	for (size_t i = 0; i < r->snap->devices.n; i++) {
		const struct snapshot_device *d = &r->snap->devices.v[i];

		if (d->process != p->process)
			continue;
		all_ns = num_add(all_ns, works_ns(d));
		idle_ns = num_add(idle_ns, stalls_ns(&d->stalls));
		for (size_t k = 0; k < d->stalls.places.n; k++) {
			const struct stall_place *place = d->stalls.places.v[k];
			struct line *line = place->ns ? line_of(r, place->key.stack) : NULL;

			if (!line)
				continue;
			line->idle_ns += place->ns;
			idle_placed_ns += place->ns;
		}
	}
	if (all_ns <= placed_ns && idle_ns <= idle_placed_ns)
		return;
	rest = line_of(r, 0);
	if (!rest)
		return;
	rest->device_ns += num_sub(all_ns, placed_ns);
	rest->idle_ns += num_sub(idle_ns, idle_placed_ns);
}

static void add_row(struct filling *r, const struct snapshot_process *p, const struct line *line)
{
	struct cell *row = table_row(r->t);

	view_put_pid(&row[PID], p->pid);
	if (line->key.number)
		cell_u(&row[LINE], line->key.number);
	if (p->has_device) {
		cell_u(&row[DEVICE], line->device_ns);
		cell_u(&row[IDLE], line->idle_ns);
	}
	cell_u(&row[HOST], line->host_ns);
	cell_u(&row[SYNCS], line->syncs);
	cell_u(&row[LAUNCHES], line->launches);
	cell_s(r->t, &row[PLACE], line->place ? line->place : "(no line)");
	cell_s(r->t, &row[FILE_NAME], (const char *)(uintptr_t)line->key.file);
	cell_s(r->t, &row[FUNCTION], (const char *)(uintptr_t)line->key.function);
}

static void add_process(struct filling *r, const struct snapshot_process *p)
{
	add_calls(r, p);
	add_devices(r, p);
	for (size_t i = 0; i < r->lines.n; i++)
		add_row(r, p, r->lines.v[i]);
	rows_free(&r->lines);
}

static void fill(struct table *t, const struct view_query *q)
{
	struct filling r = { .t = t, .snap = q->snapshot, .texts = strpool_new() };

	t->failed |= !r.texts;
	for (size_t i = 0; r.texts && i < q->snapshot->processes.n; i++)
		add_process(&r, &q->snapshot->processes.v[i]);
	strpool_free(r.texts);
}

const struct view view_lines = {
	.name = "lines",
	.help = "a process and line of its own code (all launches: --stacks)",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "place host_ns syncs launches",
	.sort = "device_ns",
	.shown = VIEW_WHEN_ASKED,
	.shows_stacks = true,
	.fill = fill,
};
