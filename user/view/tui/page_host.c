// SPDX-License-Identifier: BSD-3-Clause
/* The first page: the devices of the host, and the processes that use them, worst first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/utf8.h"
#include "view/device_bar.h"
#include "view/render.h"
#include "view/tui/page_device.h"
#include "view/view.h"

/* ---- devices --------------------------------------------------------------------------------- */

#define DEVICES_MOST 8
#define STRIP 20
#define BAR 20

/* What NVML samples, from so many columns of the screen on. */
static const struct sample_column {
	const char *title;
	uint8_t field, width;
	uint16_t divisor, columns;
} sample_columns[] = {
	{ "SM", SAMPLE_SM, 4, SAMPLE_FULL / 100, 100 },
	{ "TC", SAMPLE_TENSOR, 4, SAMPLE_FULL / 100, 120 },
	{ "DRAM", SAMPLE_DRAM, 5, SAMPLE_FULL / 100, 100 },
	{ "memory", SAMPLE_USED_BYTES, 12, 1, 100 },
	{ "W", SAMPLE_POWER_MW, 6, 1000, 100 },
	{ "MHz", SAMPLE_SM_MHZ, 6, 1, 120 },
};

#define SAMPLE_COLUMNS (sizeof(sample_columns) / sizeof(sample_columns[0]))
#define SAMPLES_FROM 100	/* columns of the screen; on a narrower one there are no samples */

static void add_device_titles(struct drawing *g, bool has_strip, bool has_samples)
{
	g->page->title_line[0] = page_line(g);
	strbuf_addf(&g->line.text, "%4s %5s  ", "GPU", "busy");
	if (has_strip)
		line_add_field(&g->line, "history", STRIP + 2, false);
	line_add_field(&g->line, "time", BAR + 1, false);
	for (size_t i = 0; has_samples && i < SAMPLE_COLUMNS; i++)
		if (g->line.width >= sample_columns[i].columns)
			line_add_field(&g->line, sample_columns[i].title, sample_columns[i].width,
				       true);
	strbuf_addstr(&g->line.text, has_samples ? "  note" : " note");
	line_end(&g->line);
}

/* The mean of the samples; "?": unknown. */
static void add_sample(struct drawing *g, const struct page_device *v,
		       const struct sample_column *c)
{
	const double gib = 1 << 30;
	char text[32] = "?";
	double mean;

	if (c->field == SAMPLE_USED_BYTES) {
		if (v->used_bytes && v->total_bytes)
			snprintf(text, sizeof(text), "%.0f/%.0f GB", (double)v->used_bytes / gib,
				 (double)v->total_bytes / gib);
	} else if (v->sampled && samples_mean(v->sampled, c->field, &mean)) {
		snprintf(text, sizeof(text), "%.0f", mean / c->divisor);
	}
	line_add_field(&g->line, text, c->width, true);
}

static void add_device(struct drawing *g, const struct page_device *v, bool has_strip,
		       bool has_samples)
{
	char text[32];

	snprintf(text, sizeof(text), v->alike ? "%s-%s" : "%s", device_text(v->number).s,
		 device_text(v->last).s);
	line_add_field(&g->line, text, 4, true);
	line_add_field(&g->line, page_busy_text(v->ns, v->wall_ns, text, sizeof(text)), 6, true);
	strbuf_addstr(&g->line.text, "  ");
	if (has_strip) {
		page_add_history(g, v, STRIP);
		strbuf_addstr(&g->line.text, "  ");
	}
	line_add_bar(&g->line, device_parts, v->ns, DEVICE_PARTS, BAR);
	line_go_to(&g->line, 13 + (has_strip ? STRIP + 2 : 0) + BAR + 1);
	for (size_t i = 0; has_samples && i < SAMPLE_COLUMNS; i++)
		if (g->line.width >= sample_columns[i].columns)
			add_sample(g, v, &sample_columns[i]);
	strbuf_addf(&g->line.text, "%s%s", has_samples ? "  " : " ", v->note.s);
	line_end(&g->line);
}

static void add_legend(struct drawing *g, size_t at)
{
	line_go_to(&g->line, at);
	for (size_t i = 0; i < DEVICE_PARTS; i++) {
		line_add_glyph(&g->line, &device_parts[i]);
		strbuf_addf(&g->line.text, " %s  ", device_parts[i].name);
	}
	line_end(&g->line);
}

/* What a device reported itself comes before who uses it: device-fault, throttled. */
static void note_findings(struct drawing *g, struct page_device *v)
{
	for (size_t i = g->findings.all.n; i--;) {
		const struct finding *f = &g->findings.all.v[i];

		if (f->device >= v->number && f->device <= v->last &&
		    (!strcmp(f->name, "device-fault") || !strcmp(f->name, "throttled")))
			snprintf(v->note.s, sizeof(v->note.s), "%s", f->name);
	}
}

static void add_devices(struct drawing *g)
{
	const bool has_strip = g->l->has_strips && g->line.width >= 80 && !g->d->is_batch;
	struct page_devices list = { 0 };
	const size_t most = num_min(DEVICES_MOST, num_max(g->line.left / 3, 1));
	bool has_samples = false;
	size_t shown;

	g->line.out->failed |= page_devices_read(&list, g->snap) < 0;
	shown = num_min(list.all.n, g->d->is_batch ? SIZE_MAX : most);
	for (size_t i = 0; i < list.all.n; i++) {
		has_samples |= list.all.v[i].sampled && list.all.v[i].sampled->sampled_ns;
		note_findings(g, &list.all.v[i]);
	}
	has_samples &= g->line.width >= SAMPLES_FROM;
	if (list.all.n)
		add_device_titles(g, has_strip, has_samples);
	for (size_t i = 0; i < shown; i++)
		add_device(g, &list.all.v[i], has_strip, has_samples);
	if (shown < list.all.n) {
		strbuf_addf(&g->line.text, "%4s %zu more", "", list.all.n - shown);
		line_end(&g->line);
	}
	if (list.all.n)
		add_legend(g, 13);
	if (g->line.left > 4)
		line_end(&g->line);
	page_devices_free(&list);
}

/* ---- processes ------------------------------------------------------------------------------- */

struct process_row {
	const struct snapshot_process *p;
	size_t table_row;
	uint64_t ns[DEVICE_PARTS], wall_ns;	/* of its devices */
	struct strbuf devices;		/* "0", "0-7" */
	size_t n_devices, threads, stopped;
	double lost;			/* of its devices' time; < 0: unknown */
	const char *waits;		/* its largest finding, or cause of idle time; NULL: none */
	size_t alike;			/* so many more rows */
};

struct process_list {
	struct drawing *g;
	struct table *t;		/* `processes` */
	VEC(struct process_row) all;
};

/* Where rows with these names are in the table. */
static const struct cell *cell_of(const struct process_list *v, const struct process_row *r,
				  const char *column)
{
	return table_cell(v->t, r->table_row, column);
}

static const char *text_of(const struct process_list *v, const struct process_row *r,
			   const char *column)
{
	const struct cell *c = cell_of(v, r, column);

	return c->known ? c->s : NULL;
}

/* ---- columns of the list ---- */

static void add_text(struct drawing *g, const char *text, size_t width, bool right)
{
	struct strbuf safe = STRBUF_INIT;

	format_safef(&safe, "%s", text ? text : "-");
	line_add_field(&g->line, safe.s, width, right);
	g->line.out->failed |= safe.failed;
	strbuf_free(&safe);
}

struct list_column {
	const char *title, *from;	/* from: column of the table `processes`; NULL: of rows */
	uint8_t width;
	uint8_t priority;		/* the smaller, the longer it stays */
	bool is_right;
	bool is_rare;			/* only where it is known of a row */
	void (*add)(const struct process_list *v, const struct process_row *r, size_t width);
	double (*number)(const struct process_row *r);	/* to sort by, the largest first */
};

static void add_pid(const struct process_list *v, const struct process_row *r, size_t width)
{
	char text[32];

	if (r->p->pid == MODEL_PAST_PID)
		snprintf(text, sizeof(text), "ended");
	else
		snprintf(text, sizeof(text), "%u", r->p->pid);
	line_add_field(&v->g->line, text, width, true);
}

static void add_gpus(const struct process_list *v, const struct process_row *r, size_t width)
{
	line_add_field(&v->g->line, r->devices.len ? r->devices.s : "-", width, true);
}

static void add_busy(const struct process_list *v, const struct process_row *r, size_t width)
{
	char text[32];

	line_add_field(&v->g->line, page_busy_text(r->ns, r->wall_ns, text, sizeof(text)), width,
		       true);
}

static void add_time(const struct process_list *v, const struct process_row *r, size_t width)
{
	struct screen_line *l = &v->g->line;
	const size_t at = utf8_str_width(l->text.s);
	const uint64_t unknown[DEVICE_PARTS] = { [DEVICE_PART_UNKNOWN] = 1 };

	line_add_bar(l, device_parts, r->wall_ns ? r->ns : unknown, DEVICE_PARTS, width);
	line_go_to(l, at + width);
}

/* "train"; "8x train": ranks that are alike */
static void add_command(const struct process_list *v, const struct process_row *r, size_t width)
{
	struct strbuf text = STRBUF_INIT;

	if (r->alike)
		strbuf_addf(&text, "%zux ", r->alike + 1);
	format_safef(&text, "%s", r->p->comm[0] ? r->p->comm : "-");
	line_add_field(&v->g->line, text.s, width, false);
	v->g->line.text.failed |= text.failed;
	strbuf_free(&text);
}

static bool is_stopped(const struct process_row *r)
{
	return r->threads && r->stopped == r->threads;
}

static void add_waits(const struct process_list *v, const struct process_row *r, size_t width)
{
	const bool needs_helper = !r->wall_ns && call_stats_count(&r->p->calls);

	if (is_stopped(r))
		line_set_color(&v->g->line, LINE_BOLD_RED);
	line_add_field(&v->g->line, is_stopped(r)    ? "STOPPED" :
				    r->waits	     ? r->waits :
				    r->p->exit_ns    ? "ended" :
				    needs_helper     ? "no helper: i" :
						       "-",
		       width, false);
	line_set_color(&v->g->line, LINE_PLAIN);
}

static void add_lost(const struct process_list *v, const struct process_row *r, size_t width)
{
	line_set_color(&v->g->line, r->lost >= FINDING_SHARE_HIGH   ? LINE_RED :
				    r->lost >= FINDING_SHARE_MEDIUM ? LINE_YELLOW :
								      LINE_PLAIN);
	line_add_field(&v->g->line, r->lost < 0 ? "?" : percent_text(r->lost).s, width, true);
	line_set_color(&v->g->line, LINE_PLAIN);
}

static double lost_number(const struct process_row *r)
{
	return r->lost;
}

static double pid_number(const struct process_row *r)
{
	return -(double)r->p->pid;
}

static double busy_number(const struct process_row *r)
{
	return r->wall_ns ? 1 - num_ratio(r->ns[DEVICE_PART_IDLE] + r->ns[DEVICE_PART_UNKNOWN],
					  r->wall_ns) : -1;
}

static double device_number(const struct process_row *r)
{
	return r->devices.len ? -strtod(r->devices.s, NULL) : -INFINITY;
}

static const struct list_column columns[] = {
	{ "PID", NULL, 7, 0, true, false, add_pid, pid_number },
	{ "RANK", "rank", 5, 7, true, true, NULL, NULL },
	{ "USER", "user", 8, 10, false, false, NULL, NULL },
	{ "JOB", "job", 10, 11, false, true, NULL, NULL },
	{ "POD", "pod", 16, 12, false, true, NULL, NULL },
	{ "CONTAINER", "container", 14, 13, false, true, NULL, NULL },
	{ "COMMAND", NULL, 13, 1, false, false, add_command, NULL },
	{ "GPU", NULL, 4, 2, true, false, add_gpus, device_number },
	{ "BUSY", NULL, 5, 3, true, false, add_busy, busy_number },
	{ "GPU TIME", NULL, 14, 5, false, false, add_time, busy_number },
	{ "WAITS MOST FOR", NULL, 16, 4, false, false, add_waits, NULL },
	{ "GPU LOST", NULL, 9, 0, true, false, add_lost, lost_number },
	{ "LAUNCH/S", "launches_per_s", 9, 6, true, false, NULL, NULL },
	{ "MEM", "live_bytes", 9, 8, true, false, NULL, NULL },
	{ "SYNC", "sync_share", 6, 9, true, false, NULL, NULL },
	{ "COMM", "exposed_comm_share", 6, 9, true, false, NULL, NULL },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

const char *page_column(int i)
{
	return i >= 0 && i < (int)COLUMNS ? columns[i].title : NULL;
}

static void add_cell(const struct process_list *v, const struct process_row *r,
		     const struct list_column *c)
{
	const struct cell *cell = c->from ? cell_of(v, r, c->from) : NULL;
	const unsigned int type = c->from ? v->t->columns[table_column(v->t, c->from)].type : 0;
	char text[32];

	if (c->add) {
		c->add(v, r, c->width);
		return;
	}
	if (!cell->known)
		snprintf(text, sizeof(text), "-");
	else if (type == CELL_SHARE)
		snprintf(text, sizeof(text), "%.0f %%", cell->d * 100);
	else if (type == CELL_REAL)
		snprintf(text, sizeof(text), "%s", short_count_text((uint64_t)(cell->d + 0.5)).s);
	else if (type == CELL_BYTES)
		snprintf(text, sizeof(text), "%s", bytes_text(cell->u).s);
	else if (type == CELL_ID)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)cell->u);
	add_text(v->g, cell->known && type == CELL_TEXT ? cell->s : text, c->width, c->is_right);
}

/* ---- rows ---- */

static int compare_numbers(const void *a, const void *b)
{
	return num_compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* "0", "0-3,6" */
static void read_device_names(struct process_row *r, const struct snapshot *snap)
{
	VEC(uint32_t) v = { 0 };
	size_t until;

	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];
		uint32_t *number = s->process == r->p->process ? VEC_PUSH(&v) : NULL;

		if (number)
			*number = s->number;
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(v.v[0]), compare_numbers);
	for (size_t i = 0; i < v.n; i = until) {
		for (until = i + 1; until < v.n && v.v[until] == v.v[until - 1] + 1; until++)
			;
		strbuf_addf(&r->devices, "%s%s", i ? "," : "", device_text(v.v[i]).s);
		if (until > i + 1)
			strbuf_addf(&r->devices, "-%s", device_text(v.v[until - 1]).s);
	}
	VEC_FREE(&v);
}

static void read_devices(struct process_row *r, const struct drawing *g)
{
	uint64_t idle_ns[IDLE_CAUSES] = { 0 };
	const struct finding *f = drawing_finding(g, r->p->process);
	unsigned int most = 0;

	for (size_t i = 0; i < g->snap->devices.n; i++) {
		const struct snapshot_device *s = &g->snap->devices.v[i];
		struct device_bar bar;

		if (s->process != r->p->process)
			continue;
		bar = device_bar_read(s);
		num_add_each(r->ns, bar.ns, DEVICE_PARTS);
		num_add_each(idle_ns, s->idle_ns, IDLE_CAUSES);
		r->wall_ns += bar.wall_ns;
		r->n_devices++;
	}
	for (unsigned int i = 1; i < IDLE_CAUSES; i++)
		if (idle_ns[i] > idle_ns[most])
			most = i;
	if (f)
		r->waits = f->name;
	else if (idle_ns[most])
		r->waits = idle_name(most);
	/* of what is not known nothing is known to be lost */
	r->lost = f || r->ns[DEVICE_PART_UNKNOWN] * 2 < r->wall_ns ? 0 : -1;
	r->lost = r->n_devices ? r->lost : -1;
	for (size_t i = 0; i < g->findings.all.n && r->n_devices; i++)
		if (g->findings.all.v[i].process == r->p->process && g->findings.all.v[i].has_share)
			r->lost += g->findings.all.v[i].share / (double)r->n_devices;
	read_device_names(r, g->snap);
}

/* The filter looks at all that names a process. */
static bool is_wanted(const struct process_list *v, const struct process_row *r, const char *typed)
{
	static const char *const names[] = { "comm", "cmdline", "user", "job", "pod", "container" };
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", r->p->pid);
	if (drawing_matches(typed, pid))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (drawing_matches(typed, text_of(v, r, names[i])))
			return true;
	return false;
}

/* Rows of the table are processes of the snapshot, in its order. */
static void read_rows(struct process_list *v)
{
	const struct snapshot *snap = v->g->snap;
	size_t at = 0;

	for (size_t i = 0; i < v->t->n_rows; i++) {
		const struct cell *pid = table_cell(v->t, i, "pid");
		const struct cell *start = table_cell(v->t, i, "start_ns");
		struct process_row *r;

		while (at < snap->processes.n &&
		       (pid->known ? snap->processes.v[at].pid != pid->u ||
				     (start->known && snap->processes.v[at].start_ns != start->u) :
				     snap->processes.v[at].pid != MODEL_PAST_PID))
			at++;
		r = at < snap->processes.n ? VEC_PUSH(&v->all) : NULL;
		if (!r) {
			v->g->line.out->failed = true;
			return;
		}
		*r = (struct process_row){ .p = &snap->processes.v[at++], .table_row = i,
					   .devices = STRBUF_INIT };
		read_devices(r, v->g);
		for (size_t k = 0; k < snap->threads.n; k++) {
			const struct snapshot_thread *t = &snap->threads.v[k];

			if (t->process != (size_t)(r->p - snap->processes.v) || !t->has_book)
				continue;
			r->threads++;
			r->stopped += t->stopped;
		}
	}
}

static double number_of(const struct process_list *v, const struct process_row *r,
			const struct list_column *c)
{
	const struct cell *cell = c->from ? cell_of(v, r, c->from) : NULL;
	const unsigned int type = c->from ? v->t->columns[table_column(v->t, c->from)].type : 0;

	if (!cell)
		return c->number ? c->number(r) : 0;
	if (!cell->known)
		return -INFINITY;
	return type == CELL_SHARE || type == CELL_REAL ? cell->d : (double)cell->u;
}

/* As a tree: processes of one job follow each other, by their ranks. */
static int compare_jobs(const struct process_list *v, const struct process_row *x,
			const struct process_row *y)
{
	const char *job = text_of(v, x, "job"), *other = text_of(v, y, "job");
	const struct cell *rank = cell_of(v, x, "rank"), *of_other = cell_of(v, y, "rank");
	const int order = strcmp(job ? job : "\xff", other ? other : "\xff");

	if (order)
		return order;
	return rank->known && of_other->known ? num_compare(rank->u, of_other->u) :
						of_other->known - rank->known;
}

/* As it is best: most lost first, then most busy. Ties keep the order of pids. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct process_list *v = ctx;
	const struct process_row *x = a, *y = b;
	const struct list_column *c = v->g->l->sort < 0 ? NULL : &columns[v->g->l->sort];
	double more = c ? number_of(v, x, c) - number_of(v, y, c) : x->lost - y->lost;
	int order;

	order = v->g->l->is_unfolded ? compare_jobs(v, x, y) : 0;
	if (order)
		return order;
	if (c && c->add == add_command) {
		order = strcmp(x->p->comm, y->p->comm);
	} else if (c && c->from && v->t->columns[table_column(v->t, c->from)].type == CELL_TEXT) {
		const char *s = text_of(v, x, c->from), *t = text_of(v, y, c->from);

		order = strcmp(s ? s : "\xff", t ? t : "\xff");
	} else {
		if (!c && more == 0)
			more = busy_number(x) - busy_number(y);
		order = more > 0 ? -1 : more < 0;
	}
	if (v->g->l->is_reversed)
		order = -order;
	return order ? order : num_compare(x->p->pid, y->p->pid);
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Ranks of one job that do and wait for the same. */
static bool are_alike(const struct process_list *v, const struct process_row *a,
		      const struct process_row *b)
{
	const char *job = text_of(v, a, "job"), *other = text_of(v, b, "job");

	if (!cell_of(v, a, "rank")->known || !cell_of(v, b, "rank")->known ||
	    !same(a->p->comm, b->p->comm) || (job != other && !same(job, other)) ||
	    !(a->waits == b->waits || same(a->waits, b->waits)) || is_stopped(a) != is_stopped(b))
		return false;
	return device_parts_are_alike(a->ns, a->wall_ns, b->ns, b->wall_ns);
}

/* Of rows that are alike and follow each other only the first is left. */
static void fold_rows(struct process_list *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->all.n; i++) {
		if (kept && are_alike(v, &v->all.v[kept - 1], &v->all.v[i])) {
			v->all.v[kept - 1].alike++;
			strbuf_free(&v->all.v[i].devices);
		} else {
			v->all.v[kept++] = v->all.v[i];
		}
	}
	v->all.n = kept;
}

static void filter_rows(struct process_list *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->all.n; i++)
		if (is_wanted(v, &v->all.v[i], v->g->l->filter))
			v->all.v[kept++] = v->all.v[i];
		else
			strbuf_free(&v->all.v[i].devices);
	v->all.n = kept;
}

/* ---- the list as lines ---- */

/* Which columns there is room for, by their priorities. */
static void choose_columns(const struct process_list *v, bool shown[COLUMNS])
{
	size_t left = v->g->line.width;

	for (unsigned int priority = 0; priority < 16; priority++)
		for (size_t i = 0; i < COLUMNS; i++) {
			bool is_known = !columns[i].is_rare;

			for (size_t k = 0; k < v->all.n && !is_known; k++)
				is_known = cell_of(v, &v->all.v[k], columns[i].from)->known;
			if (columns[i].priority != priority || !is_known ||
			    v->g->l->hidden >> i & 1 || left < columns[i].width)
				continue;
			shown[i] = true;
			left = num_sub(left, columns[i].width + 1);
		}
}

static void add_titles(const struct process_list *v, const bool shown[COLUMNS])
{
	struct drawing *g = v->g;
	bool is_first = true;
	char text[32];

	g->page->title_line[1] = page_line(g);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!shown[i])
			continue;
		snprintf(text, sizeof(text), "%s%s", columns[i].title,
			 g->l->sort == (int)i ? (g->l->is_reversed ? "-" : "+") : "");
		strbuf_addstr(&g->line.text, is_first ? "" : " ");
		line_add_field(&g->line, text, columns[i].width, columns[i].is_right);
		is_first = false;
	}
	line_end(&g->line);
}

static void add_row(const struct process_list *v, const struct process_row *r,
		    const bool shown[COLUMNS])
{
	bool is_first = true;

	for (size_t i = 0; i < COLUMNS; i++) {
		if (!shown[i])
			continue;
		strbuf_addstr(&v->g->line.text, is_first ? "" : " ");
		add_cell(v, r, &columns[i]);
		is_first = false;
	}
	line_end(&v->g->line);
}

/* The cursor is on the process it was on, wherever its row is now. */
static size_t cursor_of(const struct process_list *v)
{
	const struct live *l = v->g->l;

	for (size_t i = 0; l->at.pid && i < v->all.n; i++)
		if (v->all.v[i].p->process == l->at.process)
			return i;
	return num_min(l->cursor[LIVE_HOST], num_sub(v->all.n, 1));
}

static void find_row(const struct process_list *v, size_t cursor)
{
	const char *find = v->g->l->find;

	for (size_t i = 0; *find && i < v->all.n; i++) {
		const size_t at = (cursor + i) % v->all.n;

		if (is_wanted(v, &v->all.v[at], find)) {
			v->g->page->shown.found = at;
			return;
		}
	}
}

static void add_rows(const struct process_list *v)
{
	struct drawing *g = v->g;
	struct live_shown *shown = &g->page->shown;
	const size_t cursor = cursor_of(v);
	bool has[COLUMNS] = { false };
	size_t first;

	choose_columns(v, has);
	add_titles(v, has);
	shown->rows = v->all.n;
	shown->rows_shown = num_min(v->all.n, g->line.left);
	shown->sorts = COLUMNS;
	first = drawing_first_row(g, cursor, v->all.n, g->line.left);
	for (size_t i = first; i < v->all.n && g->line.left; i++) {
		if (i == cursor && !g->d->is_batch) {
			g->page->cursor_line = page_line(g);
			shown->at = (struct live_process){ v->all.v[i].p->process,
							   v->all.v[i].p->pid };
		}
		add_row(v, &v->all.v[i], has);
	}
	find_row(v, cursor);
	if (!v->all.n && g->line.left) {
		strbuf_addstr(&g->line.text, g->l->filter[0] ?
			      "no process has this in its names" :
			      "no process that is watched has called CUDA yet");
		line_end(&g->line);
	}
}

void page_host_add(struct drawing *g)
{
	struct process_list v = { .g = g, .t = view_fill(&view_processes, &(struct view_query){
							 .snapshot = g->snap }) };

	add_devices(g);
	g->line.out->failed |= !v.t;
	if (v.t) {
		read_rows(&v);
		filter_rows(&v);
		if (v.all.n)
			qsort_r(v.all.v, v.all.n, sizeof(v.all.v[0]), compare_rows, &v);
		if (!g->l->is_unfolded)
			fold_rows(&v);
		add_rows(&v);
	}
	for (size_t i = 0; i < v.all.n; i++)
		strbuf_free(&v.all.v[i].devices);
	VEC_FREE(&v.all);
	table_free(v.t);
}
