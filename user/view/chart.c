// SPDX-License-Identifier: BSD-3-Clause
/* Time by cell and kind, for each thread and each device of a process. */
#include "view/chart.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/rows.h"
#include "base/units.h"
#include "bucket/kernel_class.h"
#include "event/device_number.h"
#include "view/screen_line.h"
#include "view/view.h"

#define ROWS_MAX 1024		/* threads, and devices of processes: of 32 KiB each */
#define LABEL 20

enum of { OF_THREAD, OF_DEVICE };
enum ran { RAN_COMPUTE, RAN_COPY, RAN_COMM, RAN_SET, RAN_END };

/* One letter each; those of devices are the glyphs of their bar in ASCII, and its colours. */
static const struct {
	char letter;
	const char *name;
	enum line_color color;
} ran[RAN_END] = {
	[RAN_COMPUTE] = { 'C', "compute", LINE_GREEN }, [RAN_COPY] = { 'm', "copy", LINE_CYAN },
	[RAN_COMM] = { 'c', "comm", LINE_MAGENTA }, [RAN_SET] = { 's', "set", LINE_PLAIN },
};
static const char thread_letters[BUCKET_END] = {
	[CLASS_OTHER] = '-', [CLASS_LAUNCH] = 'L', [CLASS_SYNC] = 'S', [CLASS_COPY] = 'C',
	[CLASS_SET] = 'M', [CLASS_ALLOC] = 'A', [CLASS_FREE] = 'F', [CLASS_EVENT] = 'E',
	[CLASS_STREAM] = 'T', [CLASS_GRAPH] = 'G', [CLASS_COMPILE] = 'J', [CLASS_COLLECTIVE] = 'N',
	[CLASS_INIT] = 'I', [CLASS_LIBRARY] = 'B', [CLASS_QUERY] = 'Q', [BUCKET_LOST] = '!',
	[BUCKET_UNARMED] = 'u', [BUCKET_UNKNOWN] = '?', [BUCKET_OFF_0 + OFF_RUNQUEUE] = 'r',
	[BUCKET_OFF_0 + OFF_DISK] = 'd', [BUCKET_OFF_0 + OFF_IO] = 'i',
	[BUCKET_OFF_0 + OFF_LOCK] = 'l', [BUCKET_OFF_0 + OFF_PAGE_FAULT] = 'p',
	[BUCKET_OFF_0 + OFF_SLEEP] = 'z', [BUCKET_OFF_0 + OFF_OTHER] = 'o',
	[BUCKET_OFF_0 + OFF_STOPPED] = 'X',
};

/* ---- the cells ------------------------------------------------------------------------------- */

struct chart_row {
	struct chart_key {
		uint32_t process, number;	/* of a thread; of a device, the process's own */
		uint64_t of;
	} key;
	uint64_t until_ns;		/* of a thread: so far its time is known */
	uint64_t ns[CHART_CELLS][BUCKET_END];	/* of a device: by enum ran */
};

struct chart {
	uint64_t start_ns, stop_ns;
	struct rows rows;
};

static const struct rows_type type = { ROWS_OF(struct chart_row), .max = ROWS_MAX };

/* Cell i begins here. */
static uint64_t cell_at(uint64_t start_ns, uint64_t stop_ns, size_t i, size_t n)
{
	return start_ns + num_scale(stop_ns - start_ns, i, n);
}

static void add(const struct chart *c, struct chart_row *row, unsigned int kind, uint64_t from,
		uint64_t to)
{
	const uint64_t wall_ns = c->stop_ns - c->start_ns;
	size_t i;

	from = num_max(from, c->start_ns);
	to = num_min(to, c->stop_ns);
	if (from >= to || kind >= BUCKET_END)
		return;
	i = (size_t)num_scale(CHART_CELLS, from - c->start_ns, wall_ns);
	for (; i < CHART_CELLS && from < to; i++) {
		const uint64_t end = num_min(to, cell_at(c->start_ns, c->stop_ns, i + 1,
							 CHART_CELLS));

		row->ns[i][kind] += num_sub(end, from);
		from = num_max(from, end);
	}
}

static struct chart_row *find(struct chart *c, enum of of, uint32_t process, uint32_t number)
{
	const struct chart_key key = { process, number, of };

	return c->rows.n < ROWS_MAX ? rows_get(&c->rows, &type, &key, NULL) :
				      rows_find(&c->rows, &type, &key);
}

/* Readings of what lasts begin where it began. */
static void add_known(const struct chart *c, struct chart_row *row, unsigned int kind,
		      uint64_t from, uint64_t to)
{
	add(c, row, kind, num_max(from, row->until_ns), to);
	row->until_ns = num_max(row->until_ns, to);
}

static int push_off(struct chart *c, const struct event *ev)
{
	struct chart_row *row = find(c, OF_THREAD, ev->process, ev->tid);
	const uint64_t woken_ns = ev->end_ns - num_min(ev->off.woken_ns, ev->end_ns);

	if (!row || (off_is_in_call(ev->off.reason) && ev->off.reason != OFF_NO_END))
		return 0;
	add_known(c, row, bucket_of_off(ev->off.reason), ev->start_ns, woken_ns);
	add_known(c, row, BUCKET_OFF_0 + OFF_RUNQUEUE, woken_ns, ev->end_ns);
	return 0;
}

struct chart_events {
	struct chart chart;		/* first: see the snapshot's */
	const struct funcs *funcs;
};

static int init(void *state, struct model *m)
{
	((struct chart_events *)state)->funcs = model_funcs(m);
	return 0;
}

static int on_event(void *state, const struct event *ev)
{
	struct chart_events *e = state;
	struct chart *c = &e->chart;
	struct chart_row *row;

	if (ev->kind == EVENT_START)
		c->start_ns = ev->start_ns;
	if (ev->kind == EVENT_STOP)
		c->stop_ns = ev->end_ns;
	if (c->start_ns >= c->stop_ns || ev->kind == EVENT_START || ev->kind == EVENT_STOP)
		return 0;
	if (ev->kind == EVENT_OFF)
		return push_off(c, ev);
	row = ev->func < e->funcs->n ? find(c, OF_THREAD, ev->process, ev->tid) : NULL;
	if (row && ev->kind == EVENT_CUPTI_CALL)	/* not in the order of the thread's */
		add(c, row, e->funcs->v[ev->func].class, ev->start_ns, ev->end_ns);
	else if (row)
		add_known(c, row, e->funcs->v[ev->func].class, ev->start_ns, ev->end_ns);
	return 0;
}

static enum ran ran_of(const struct work *w)
{
	switch (w->kind) {
	case WORK_KIND_KERNEL:
		return kernel_class_of(w->name) == KERNEL_COMM ? RAN_COMM : RAN_COMPUTE;
	case WORK_KIND_GRAPH:
		return RAN_COMPUTE;
	default:
		return w->kind == WORK_KIND_SET ? RAN_SET : RAN_COPY;
	}
}

static int on_work(void *state, const struct event *work, const struct launch *launch)
{
	struct chart *c = state;
	struct chart_row *row = find(c, OF_DEVICE, work->process, work->work.device);

	(void)launch;
	if (row && c->start_ns < c->stop_ns)
		add(c, row, ran_of(&work->work), work->start_ns, work->end_ns);
	return 0;
}

static int copy(void *to, const void *from)
{
	struct chart *c = to;
	const struct chart *of = from;

	c->start_ns = of->start_ns;
	c->stop_ns = of->stop_ns;
	return rows_copy(&c->rows, &of->rows);
}

static void free_chart(void *state)
{
	rows_free(&((struct chart *)state)->rows);
}

const struct consumer chart_consumer = {
	.kinds = 1ull << EVENT_START | 1ull << EVENT_STOP | 1ull << EVENT_CALL |
		 1ull << EVENT_OPEN | 1ull << EVENT_LEFT | 1ull << EVENT_INSIDE |
		 1ull << EVENT_OFF | 1ull << EVENT_CUPTI_CALL,
	.size = sizeof(struct chart_events),
	.init = init,
	.on_event = on_event,
	.on_work = on_work,
	.copy = copy,
	.free = free_chart,
};

/* ---- rows ------------------------------------------------------------------------------------ */

struct drawing {
	const struct summary *s;
	const struct chart *chart;
	struct screen_line line;
	size_t cells;
	uint64_t ran, was;		/* letters that were used: of devices, of threads */
};

static uint64_t begin_of(const struct drawing *d, size_t cell)
{
	return cell_at(d->chart->start_ns, d->chart->stop_ns, cell, d->cells);
}

/* Of a narrow screen a cell is several that were kept. */
static uint64_t sum_of(const struct drawing *d, const struct chart_row *row, size_t cell,
		       unsigned int kind)
{
	const size_t from = cell * CHART_CELLS / d->cells, to = (cell + 1) * CHART_CELLS / d->cells;
	uint64_t ns = 0;

	for (size_t i = from; row && i < to; i++)
		ns += row->ns[i][kind];
	return ns;
}

/* The letters of a row, each with its colour. */
static void add_letter(struct screen_line *l, char letter, enum line_color color)
{
	line_set_color(l, color);
	strbuf_addch(&l->text, letter);
}

static void add_device_cell(struct drawing *d, const struct snapshot_device *s,
			    const struct chart_row *row, size_t cell)
{
	const struct strip_time t = strip_read(&s->strip, begin_of(d, cell), begin_of(d, cell + 1));
	uint64_t most_ns = 0;
	unsigned int most = 0;
	char other = 0;

	if (!t.busy_ns && !t.idle_ns && !t.unknown_ns)
		other = ' ';
	else if (t.unknown_ns > t.busy_ns + t.idle_ns)
		other = '?';
	else if (t.busy_ns < (t.busy_ns + t.idle_ns) / 8)
		other = '.';
	for (unsigned int i = 0; i < RAN_END && !other; i++) {
		const uint64_t ns = sum_of(d, row, cell, i);

		if (ns > most_ns) {
			most = i;
			most_ns = ns;
		}
	}
	d->ran |= other ? 0 : 1u << most;
	add_letter(&d->line, other ? other : ran[most].letter,
		   other ? LINE_PLAIN : ran[most].color);
}

static const struct chart_row *row_of(const struct drawing *d, enum of of, uint32_t process,
				      uint32_t number)
{
	return rows_find(&d->chart->rows, &type, &(struct chart_key){ process, number, of });
}

static void add_device(struct drawing *d, const struct snapshot_device *s)
{
	const struct chart_row *row = row_of(d, OF_DEVICE, s->process, s->device);
	struct screen_line *l = &d->line;

	strbuf_addf(&l->text, "GPU %s", device_text(s->number).s);
	if (d->s->snap->processes.n > 1)
		strbuf_addf(&l->text, " pid %u", s->pid);
	line_go_to(l, LABEL);
	for (size_t i = 0; i < d->cells; i++)
		add_device_cell(d, s, row, i);
	line_set_color(l, LINE_PLAIN);
	line_end(l);
	strbuf_addstr(&l->text, "  busy");
	line_go_to(l, LABEL);
	line_add_strip(l, &s->strip, d->chart->start_ns, d->chart->stop_ns, d->cells);
	line_end(l);
}

static enum line_color color_of(unsigned int bucket)
{
	if (bucket_is_off(bucket))
		return LINE_RED;
	if (bucket == CLASS_SYNC)
		return LINE_YELLOW;
	return bucket == CLASS_LAUNCH ? LINE_GREEN : LINE_PLAIN;
}

static void add_thread_cell(struct drawing *d, const struct snapshot_thread *t,
			    const struct chart_row *row, size_t cell)
{
	const uint64_t from = num_max(begin_of(d, cell), t->book.open_ns),
		       to = num_min(begin_of(d, cell + 1), t->book.close_ns);
	uint64_t left_ns = num_sub(to, from), most_ns = 0;
	unsigned int most = CLASS_OTHER;

	if (!left_ns) {
		add_letter(&d->line, ' ', LINE_PLAIN);
		return;
	}
	for (unsigned int i = 0; i < BUCKET_END; i++) {
		const uint64_t ns = i == CLASS_OTHER ? 0 : sum_of(d, row, cell, i);

		left_ns = num_sub(left_ns, ns);
		if (ns > most_ns) {
			most = i;
			most_ns = ns;
		}
	}
	most = left_ns > most_ns ? (unsigned int)CLASS_OTHER : most;
	d->was |= 1ull << most;
	add_letter(&d->line, thread_letters[most], color_of(most));
}

static const struct chart_row *row_of_thread(const struct drawing *d,
					     const struct snapshot_thread *t)
{
	return row_of(d, OF_THREAD, d->s->snap->processes.v[t->process].process, t->tid);
}

static void add_thread(struct drawing *d, const struct snapshot_thread *t)
{
	const struct snapshot_process *p = &d->s->snap->processes.v[t->process];
	const struct chart_row *row = row_of_thread(d, t);
	const char *comm = snapshot_thread_comm(d->s->snap, p->process, t->tid);
	struct screen_line *l = &d->line;

	format_safef(&l->text, "%u %s", t->tid, comm ? comm : "");
	line_go_to(l, LABEL);
	for (size_t i = 0; i < d->cells; i++)
		add_thread_cell(d, t, row, i);
	line_set_color(l, LINE_PLAIN);
	line_end(l);
}

/* ---- which ----------------------------------------------------------------------------------- */

static uint64_t busy_ns(const struct snapshot_thread *t)
{
	uint64_t ns = 0;

	for (unsigned int i = CLASS_OTHER + 1; i < CLASS_END; i++)
		ns += t->book.ns[i];
	return ns;
}

static int by_calls(const void *a, const void *b)
{
	const struct snapshot_thread *x = *(const struct snapshot_thread *const *)a,
				     *y = *(const struct snapshot_thread *const *)b;
	const int order = num_compare(busy_ns(y), busy_ns(x));

	return order ? order : num_compare(x->number, y->number);
}

static void add_threads(struct drawing *d, size_t most)
{
	const struct snapshot *snap = d->s->snap;
	const struct snapshot_thread **v = calloc(snap->threads.n + 1, sizeof(*v));
	const bool is_full = d->chart->rows.n >= ROWS_MAX;
	size_t n = 0, shown, late = 0;

	d->line.text.failed |= !v;
	for (size_t i = 0; v && i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		if (!t->has_book || t->past)
			continue;
		if (is_full && !row_of_thread(d, t))
			late++;
		else
			v[n++] = t;
	}
	if (n)
		qsort(v, n, sizeof(*v), by_calls);
	shown = num_min(n, most);
	for (size_t i = 0; i < shown; i++)
		add_thread(d, v[i]);
	if (shown < n) {
		strbuf_addf(&d->line.text, "%zu more threads (--top %zu)", n - shown, n);
		line_end(&d->line);
	}
	if (late) {
		strbuf_addf(&d->line.text, "%zu thread%s came too late to be kept (%u rows)", late,
			    late == 1 ? "" : "s", ROWS_MAX);
		line_end(&d->line);
	}
	free(v);
}

static void add_devices(struct drawing *d)
{
	const struct snapshot *snap = d->s->snap;

	for (size_t i = 0; i < snap->devices.n; i++)
		if (snapshot_device_has_worked(&snap->devices.v[i]))
			add_device(d, &snap->devices.v[i]);
}

static void add_letters(struct drawing *d)
{
	const uint64_t wall_ns = d->chart->stop_ns - d->chart->start_ns;
	struct screen_line *l = &d->line;
	struct strbuf words = STRBUF_INIT;

	line_end(l);
	strbuf_addf(&l->text, "a cell: %s", ns_text(wall_ns / d->cells).s);
	line_end(l);
	if (d->ran) {
		strbuf_addstr(&l->text, "GPU: ");
		for (unsigned int i = 0; i < RAN_END; i++)
			if (d->ran >> i & 1)
				strbuf_addf(&l->text, "%c %s, ", ran[i].letter, ran[i].name);
		strbuf_addstr(&l->text, ". idle");
		line_end(l);
	}
	if (!d->was)
		return;
	for (unsigned int i = 0; i < BUCKET_END; i++)
		if (d->was >> i & 1)
			strbuf_addf(&words, "%s%c %s", words.len ? ", " : "threads: ",
				    thread_letters[i], bucket_name(i));
	l->text.failed |= words.failed;
	line_add_sentences(l, words.s, 3);
	strbuf_free(&words);
}

int chart_add(struct strbuf *out, const struct summary *s, const struct screen_shape *shape)
{
	const struct chart *c = consumer_state(&s->snap->states, &chart_consumer);
	struct drawing d = { .s = s, .chart = c };
	struct strbuf cost = STRBUF_INIT;

	d.cells = num_min(CHART_CELLS, num_max(shape->columns, LABEL + 20) - LABEL);
	d.line = (struct screen_line){ .width = LABEL + d.cells, .left = SIZE_MAX,
				       .ascii = shape->ascii, .has_color = shape->has_color,
				       .out = out };
	summary_add_title(&d.line.text, &cost, s);
	line_end(&d.line);
	line_end(&d.line);
	add_devices(&d);
	add_threads(&d, shape->lines);
	add_letters(&d);
	strbuf_free(&cost);
	out->failed |= d.line.text.failed;
	line_free(&d.line);
	return out->failed ? -ENOMEM : 0;
}
