// SPDX-License-Identifier: BSD-3-Clause
/* One process: its devices over time, and its rows of each table; and what a row means. */
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/utf8.h"
#include "view/render.h"
#include "view/tui/page_device.h"
#include "view/view.h"
#include "view/words.h"

static const struct view *const tabs[] = {
	&view_findings, &view_ledger, &view_threads, &view_kernels, &view_calls, &view_copies,
	&view_memory, &view_ops, &view_modules, &view_lines, &view_ranges, &view_offcpu, &view_gemm,
};

#define TABS (sizeof(tabs) / sizeof(tabs[0]))
#define ROWS_MOST 500		/* of a table */

/* ---- who it is ------------------------------------------------------------------------------- */

static void add_identity(struct drawing *g, const struct snapshot_process *p)
{
	static const char *const keys[] = { "user", "rank", "job", "pod", "container", "devices" };

	format_safef(&g->line.text, "pid %u %s", p->pid, p->comm);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = snapshot_identity(p, keys[i]);

		if (value)
			format_safef(&g->line.text, "  %s %s", keys[i], value);
	}
	if (p->exit_ns)
		strbuf_addstr(&g->line.text, "  ended");
	line_end(&g->line);
}

#define LABEL 10

static void add_device(struct drawing *g, const struct page_device *v)
{
	const size_t width = num_sub(g->line.width, LABEL);
	char text[32];

	strbuf_addf(&g->line.text, "GPU %s", device_text(v->number).s);
	line_go_to(&g->line, LABEL);
	for (size_t i = 0; i < DEVICE_PARTS; i++)
		if (v->ns[i] * 200 >= v->wall_ns) {
			line_add_part(&g->line, &device_parts[i], v->ns[i], v->wall_ns);
			strbuf_addstr(&g->line.text, "  ");
		}
	line_end(&g->line);
	line_add_field(&g->line, page_busy_text(v->ns, v->wall_ns, text, sizeof(text)), LABEL - 2,
		       true);
	strbuf_addstr(&g->line.text, "  ");
	line_add_bar(&g->line, device_parts, v->ns, DEVICE_PARTS, width);
	line_end(&g->line);
	if (!g->l->has_strips || g->line.left < 12 || g->d->is_batch)
		return;
	line_add_field(&g->line, "over time", LABEL, false);
	page_add_history_parts(g, v, width);
	line_end(&g->line);
	line_add_field(&g->line, "busy", LABEL, false);
	page_add_history(g, v, width);
	line_end(&g->line);
}

static void add_devices(struct drawing *g)
{
	struct page_devices v = { 0 };

	g->line.out->failed |= page_devices_read_process(&v, g->snap, g->l->open.process) < 0;
	for (size_t i = 0; i < v.all.n && g->line.left > 8; i++)
		add_device(g, &v.all.v[i]);
	if (!v.all.n) {
		strbuf_addstr(&g->line.text, "No device times: no helper in this process reports "
			      "them (i brings it in, and asks first).");
		line_end(&g->line);
	}
	page_devices_free(&v);
}

/* ---- its rows of a table --------------------------------------------------------------------- */

struct wanted {
	uint32_t pid;
	int column;
};

static bool is_of_process(const struct cell *cells, const void *ctx)
{
	const struct wanted *w = ctx;

	return w->column < 0 || (cells[w->column].known && cells[w->column].u == w->pid);
}

struct row_filter {
	const struct table *t;
	const char *typed;
};

static bool row_matches(const struct cell *cells, const void *ctx)
{
	const struct row_filter *f = ctx;

	for (unsigned int i = 0; i < f->t->n_columns; i++)
		if (cell_is_text(f->t->columns[i].type) && cells[i].known &&
		    drawing_matches(f->typed, cells[i].s))
			return true;
	return !*f->typed;
}

/* The process is named above: no row repeats it. */
static void forget_process(struct table *t)
{
	static const char *const names[] = { "pid", "comm" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const int column = table_column(t, names[i]);

		if (column < 0 || !strcmp(t->name, "threads"))
			continue;
		for (size_t row = 0; row < t->n_rows; row++)
			t->cells[row * t->n_columns + (size_t)column].known = 0;
	}
}

/* NULL: out of memory. The caller's to free. */
static struct table *read_tab(const struct drawing *g)
{
	const struct view *v = tabs[g->l->tab % TABS];
	struct table *t = view_fill(v, &(struct view_query){ .snapshot = g->snap,
				    .hides_stacks = !v->shows_stacks });
	struct row_filter filter = { t, g->l->filter };
	struct wanted wanted;

	if (!t)
		return NULL;
	wanted = (struct wanted){ g->l->open.pid, table_column(t, "pid") };
	table_keep(t, is_of_process, &wanted);
	table_keep(t, row_matches, &filter);
	table_top(t, ROWS_MOST, false);
	forget_process(t);
	return t;
}

static void add_tabs(struct drawing *g)
{
	const size_t tab = g->l->tab % TABS;

	for (size_t i = 0; i < TABS; i++) {
		strbuf_addstr(&g->line.text, i ? " " : "");
		line_set_color(&g->line, i == tab ? LINE_BOLD : LINE_PLAIN);
		strbuf_addf(&g->line.text, i == tab ? "[%s]" : "%s", tabs[i]->name);
		line_set_color(&g->line, LINE_PLAIN);
	}
	line_end(&g->line);
	g->page->shown.tabs = TABS;
}

/* Lines of a rendered table: its titles, and the rows from the first one that is shown. */
static void add_lines(struct drawing *g, const char *text, size_t first, size_t cursor)
{
	size_t row = 0;

	for (const char *at = text; *at && g->line.left; at += *at == '\n') {
		const size_t len = strcspn(at, "\n");

		if (!row)
			g->page->title_line[0] = page_line(g);
		else if (row - 1 == cursor && !g->d->is_batch)
			g->page->cursor_line = page_line(g);
		if (!row || row > first) {
			strbuf_add(&g->line.text, at, len);
			line_end(&g->line);
		}
		at += len;
		row++;
	}
}

static void find_row(struct drawing *g, const struct table *t, size_t cursor)
{
	const struct row_filter find = { t, g->l->find };

	for (size_t i = 0; *find.typed && i < t->n_rows; i++) {
		const size_t at = (cursor + i) % t->n_rows;

		if (row_matches(table_cells(t, at), &find)) {
			g->page->shown.found = at;
			return;
		}
	}
}

static void add_table(struct drawing *g, struct table *t)
{
	struct live_shown *shown = &g->page->shown;
	const size_t room = num_sub(g->line.left, 1);
	const size_t cursor = num_min(g->l->cursor[LIVE_PROCESS], num_sub(t->n_rows, 1));
	struct strbuf text = STRBUF_INIT;

	shown->rows = t->n_rows;
	shown->rows_shown = num_min(room, t->n_rows);
	report_render(&text, &(struct report){ .tables = &t, .n_tables = 1, .only_rows = true,
		      .ascii = g->line.ascii, .columns = (unsigned int)g->line.width,
		      .name_width = (unsigned int)num_max(g->line.width / 3, 16) }, FORMAT_TEXT);
	add_lines(g, text.s, drawing_first_row(g, cursor, t->n_rows, room), cursor);
	find_row(g, t, cursor);
	g->line.out->failed |= text.failed;
	strbuf_free(&text);
}

static void add_without_off_cpu(struct drawing *g)
{
	if (tabs[g->l->tab % TABS] == &view_offcpu && !g->d->file &&
	    !snapshot_knows_off_cpu(g->snap))
		line_add_sentences(&g->line, "The ledger has an estimate. f follows this process "
				   "alone, and traces its time off the CPU.", 2);
}

void page_process_add(struct drawing *g)
{
	const struct snapshot_process *p = snapshot_process(g->snap, g->l->open.process);
	struct table *t = read_tab(g);

	if (p)
		add_identity(g, p);
	else
		strbuf_addf(&g->line.text, "pid %u did nothing in this time", g->l->open.pid);
	if (!p)
		line_end(&g->line);
	g->page->shown.at = g->l->open;
	add_devices(g);
	if (g->line.left > 6)
		line_end(&g->line);
	add_tabs(g);
	g->line.out->failed |= !t;
	if (t)
		add_table(g, t);
	add_without_off_cpu(g);
	table_free(t);
}

/* ---- what a row means ------------------------------------------------------------------------ */

/* Paragraphs: lines of the screen's width. */
static void add_wrapped(struct strbuf *out, const char *s, size_t width)
{
	struct strbuf text = STRBUF_INIT;
	struct screen_line line = { .text = STRBUF_INIT, .out = &text, .width = width,
				    .left = SIZE_MAX };

	line_add_sentences(&line, s, SIZE_MAX);
	strbuf_addstr(out, text.s);
	out->failed |= text.failed;
	strbuf_free(&text);
	line_free(&line);
}

static void explain_finding(struct strbuf *out, const struct drawing *g, const struct finding *f)
{
	const struct word *w = word_of_finding(f->name);
	struct strbuf text = STRBUF_INIT;

	if (f->has_share)
		strbuf_addf(&text, "%s: %s lost. %s.", f->name, percent_text(f->share).s,
			    f->cause.s);
	else
		strbuf_addf(&text, "%s: %s.", f->name, f->cause.s);
	add_wrapped(out, text.s, g->line.width);
	add_wrapped(out, f->evidence.s, g->line.width);
	if (w) {
		strbuf_addch(out, '\n');
		add_wrapped(out, w->what, g->line.width);
	}
	if (w && w->cuda) {
		strbuf_reset(&text);
		strbuf_addf(&text, "To do: %s", w->cuda);
		add_wrapped(out, text.s, g->line.width);
	}
	if (f->next.len)
		strbuf_addf(out, "Next: %s\n", f->next.s);
	strbuf_addch(out, '\n');
	out->failed |= text.failed;
	strbuf_free(&text);
}

/* Of a process, or (0) all of them. */
static void explain_findings(struct strbuf *out, const struct drawing *g, uint32_t process)
{
	size_t n = 0;

	for (size_t i = 0; i < g->findings.all.n; i++) {
		const struct finding *f = &g->findings.all.v[i];

		if (process && f->process != process)
			continue;
		explain_finding(out, g, f);
		n++;
	}
	if (!n)
		strbuf_addstr(out, "Nothing is wrong here, as far as is known.\n");
}

/* "  avg          1.05 ms   its mean time", a line for each cell that is known. */
static void explain_cells(struct strbuf *out, const struct table *t, size_t row)
{
	for (unsigned int i = 0; i < t->n_columns; i++) {
		const struct cell *c = &table_cells(t, row)[i];

		if (!c->known)
			continue;
		strbuf_addf(out, "  %-14s ", column_title(&t->columns[i]).s);
		format_cell(out, c, t->columns[i].type);
		strbuf_addf(out, "   %s\n", t->columns[i].help);
	}
}

static void explain_row(struct strbuf *out, const struct drawing *g)
{
	const struct view *v = tabs[g->l->tab % TABS];
	struct table *t = read_tab(g);
	const size_t row = t ? num_min(g->l->cursor[LIVE_PROCESS], num_sub(t->n_rows, 1)) : 0;

	out->failed |= !t;
	if (t && !t->n_rows)
		strbuf_addf(out, "The table %s has no row%s%s\n", v->name, t->none ? ": " : ".",
			    t->none ? t->none : "");
	if (t && t->n_rows) {
		strbuf_addf(out, "%s, row %zu: %s\n\n", v->name, row + 1, v->help);
		explain_cells(out, t, row);
	}
	table_free(t);
}

void page_explain_add(struct drawing *g)
{
	const bool is_process = g->l->before[LIVE_EXPLAIN] == LIVE_PROCESS;
	struct strbuf text = STRBUF_INIT;

	if (!is_process)
		explain_findings(&text, g, g->l->at.process);
	else if (tabs[g->l->tab % TABS] == &view_findings)
		explain_findings(&text, g, g->l->open.process);
	else
		explain_row(&text, g);
	drawing_add_text(g, text.s);
	g->line.out->failed |= text.failed;
	strbuf_free(&text);
}
