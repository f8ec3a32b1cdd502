// SPDX-License-Identifier: BSD-3-Clause
/* The sections of the page, from its top to its bottom. */
#include "view/html.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "event/device_number.h"
#include "findings/findings.h"
#include "view/flame.h"
#include "view/html_moments.h"
#include "view/html_strips.h"
#include "view/screen.h"
#include "view/view.h"
#include "view/words.h"

#define BARS_MAX 64
#define BARS_FEW 4 /* of more, only the style is smaller */
#define FINDINGS_BYTES 150000 /* of all; later ones are in the command line's table */
#define FRAMES_SHOWN 40 /* of a stack */
#define NOTES_SHOWN 100
#define STACKS_SHOWN 2 /* of a finding */
#define TABLES_BYTES 400000 /* of all; more, and they have fewer rows */
#define ROWS_FIRST 500

/* html/page.S */
extern const char html_css[], html_js[], html_css_hash[], html_js_hash[];

struct page {
	struct strbuf *out;
	const struct summary *s;
	const struct snapshot *snap;
	struct findings findings;
	struct table *calls, *offcpu; /* by stack */
};

/* ---- its frame ------------------------------------------------------------------------------- */

static void add_text(const struct page *p, const char *before, const char *text, const char *after)
{
	strbuf_addstr(p->out, before);
	render_markup(p->out, text);
	strbuf_addstr(p->out, after);
}

static void add_head(const struct page *p, const char *title)
{
	strbuf_addf(p->out,
		    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
		    "form-action 'none'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"referrer\" content=\"no-referrer\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n",
		    html_css_hash, html_js_hash);
	add_text(p, "<title>gpuprof: ", title, "</title>\n<style>");
	strbuf_addstr(p->out, html_css);
	strbuf_addstr(p->out, "</style>\n</head>\n<body>\n");
}

static void add_title(const struct page *p, const char *title, const char *cost)
{
	add_text(p, "<header><span class=\"brand\">gpuprof</span><h1>", title, "</h1>");
	add_text(p, "<span class=\"cost\">", cost,
		 "</span><button id=\"theme\" type=\"button\" "
		 "hidden>dark</button></header>\n<main>\n");
}

/* ---- verdict --------------------------------------------------------------------------------- */

/* Its first sentences are the screen's. */
static void add_verdict(const struct page *p, const char *verdict)
{
	struct strbuf lead = STRBUF_INIT;

	screen_verdict_add(&lead, p->snap, &p->findings, verdict);
	add_text(p, "<section id=\"verdict\">\n<p class=\"lead\">",
		 lead.len ? lead.s : "Nothing is known to be wrong.", "</p>\n");
	p->out->failed |= lead.failed;
	strbuf_free(&lead);
	for (const char *line = verdict; *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		char *text = strndup(line, strcspn(line, "\n"));

		p->out->failed |= !text;
		if (!text)
			break;
		if (!strncmp(text, "Next: ", 6))
			add_text(p, "<p class=\"next\">Next <code class=\"command\">", text + 6,
				 "</code></p>\n");
		else if (!strncmp(text, "Evidence: ", 10))
			add_text(p, "<p>", text, "</p>\n");
		free(text);
	}
	strbuf_addstr(p->out, "</section>\n");
}

/* ---- bars ------------------------------------------------------------------------------------ */

#define BAR_WIDTH 1000

struct bar_piece {
	const char *name; /* of a class, and what it is explained as */
	uint64_t ns;
	bool is_idle;
};

/* States in their order, what is not known, and the causes of idle time, largest first. */
struct bar {
	struct bar_piece v[WORK_STATES + IDLE_CAUSES + 1];
	size_t n;
	uint64_t wall_ns;
};

static int compare_pieces(const void *a, const void *b)
{
	const struct bar_piece *x = a, *y = b;

	return num_compare(y->ns, x->ns);
}

static bool is_unknown(unsigned int cause)
{
	return cause == IDLE_UNKNOWN || cause == IDLE_LOST || cause == IDLE_UNARMED;
}

static struct bar read_bar(const struct snapshot_device *d)
{
	static const char *const states[] = { "compute", "comm", "copy", "set" };
	struct bar bar = { .wall_ns = d->sum.close_ns - d->sum.open_ns };
	size_t idle;

	for (unsigned int state = 0; state < WORK_STATES; state++) {
		bar.v[bar.n].name = states[state];
		for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
			if (!strcmp(device_state_name(i), states[state]))
				bar.v[bar.n].ns += d->sum.owned_ns[i];
		bar.n++;
	}
	bar.v[bar.n++] = (struct bar_piece){ "unknown", idle_unknown_ns(d->idle_ns), false };
	idle = bar.n;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		if (!is_unknown(i))
			bar.v[bar.n++] = (struct bar_piece){ idle_name(i), d->idle_ns[i], true };
	qsort(bar.v + idle, bar.n - idle, sizeof(*bar.v), compare_pieces);
	return bar;
}

static void add_pieces(struct strbuf *out, const struct bar *bar)
{
	uint64_t at_ns = 0;

	strbuf_addf(out,
		    "<svg class=\"bar\" viewBox=\"0 0 %d 10\" preserveAspectRatio=\"none\" "
		    "role=\"img\">",
		    BAR_WIDTH);
	for (size_t i = 0; i < bar->n; i++) {
		const struct bar_piece *piece = &bar->v[i];

		if (!piece->ns)
			continue;
		strbuf_addf(out,
			    "<rect class=\"b-%s%s\" x=\"%.5g\" width=\"%.5g\" height=\"10\"><title>"
			    "%s%s: %s, %s</title></rect>",
			    piece->name, piece->is_idle ? " idle" : "",
			    BAR_WIDTH * num_ratio(at_ns, bar->wall_ns),
			    BAR_WIDTH * num_ratio(piece->ns, bar->wall_ns),
			    piece->is_idle ? "idle: " : "", piece->name, ns_text(piece->ns).s,
			    percent_text(num_ratio(piece->ns, bar->wall_ns)).s);
		at_ns += piece->ns;
	}
	strbuf_addstr(out, "</svg>\n");
}

/* Pieces of half a percent and more; the others are named in the table. */
static void add_legend(struct strbuf *out, const struct bar *bar)
{
	uint64_t idle_ns = 0;

	strbuf_addstr(out, "<ul class=\"legend\">");
	for (size_t i = 0; i < bar->n; i++) {
		const struct bar_piece *piece = &bar->v[i];

		idle_ns += piece->is_idle ? piece->ns : 0;
		if (piece->ns * 200 >= bar->wall_ns && piece->ns)
			strbuf_addf(out,
				    "<li%s><i class=\"b-%s\"></i><span data-word=\"%s\">%s</span> "
				    "%s</li>",
				    piece->is_idle ? " class=\"idle\"" : "", piece->name,
				    piece->name, piece->name,
				    percent_text(num_ratio(piece->ns, bar->wall_ns)).s);
	}
	strbuf_addf(out, "<li class=\"all\">idle in all %s</li></ul>\n",
		    percent_text(num_ratio(idle_ns, bar->wall_ns)).s);
}

static const char *name_of_device(const struct page *p, const struct snapshot_device *d)
{
	const struct sampled_device *sampled =
		d->has_facts ? samples_find(&p->snap->samples, d->facts.uuid) : NULL;

	if (d->host && d->host->name[0])
		return d->host->name;
	return sampled ? sampled->name : "";
}

static uint64_t busy_ns(const struct bar *bar)
{
	uint64_t ns = 0;

	for (unsigned int state = 0; state < WORK_STATES; state++)
		ns += bar->v[state].ns;
	return ns;
}

static void add_bar(const struct page *p, const struct snapshot_device *d)
{
	const struct bar bar = read_bar(d);
	const char *comm = view_comm(p->snap, d->process), *name = name_of_device(p, d);
	struct strbuf label = STRBUF_INIT;

	strbuf_addf(p->out, "<div class=\"gpu\"><h3><span>GPU %s</span> <small>",
		    device_text(d->number).s);
	format_safef(&label, "%s%s%s", name, *name ? ", " : "", comm ? comm : "");
	if (d->pid != MODEL_PAST_PID)
		strbuf_addf(&label, " (pid %u)", d->pid);
	add_text(p, "", label.s, "</small>");
	strbuf_addf(p->out, "<b>%s busy of %s</b></h3>\n",
		    percent_text(num_ratio(busy_ns(&bar), bar.wall_ns)).s, ns_text(bar.wall_ns).s);
	add_pieces(p->out, &bar);
	add_legend(p->out, &bar);
	strbuf_addstr(p->out, "</div>\n");
	strbuf_free(&label);
}

static int compare_devices(const void *a, const void *b)
{
	const struct snapshot_device *x = *(const struct snapshot_device *const *)a,
				     *y = *(const struct snapshot_device *const *)b;
	const int c = num_compare(x->number, y->number);

	return c ? c : num_compare(x->process, y->process);
}

static void add_bars(const struct page *p)
{
	const struct snapshot_device **v = calloc(p->snap->devices.n + 1, sizeof(*v));
	size_t n = 0;

	p->out->failed |= !v;
	for (size_t i = 0; v && i < p->snap->devices.n; i++)
		if (html_shows_device(&p->snap->devices.v[i]))
			v[n++] = &p->snap->devices.v[i];
	if (n)
		qsort(v, n, sizeof(*v), compare_devices);
	strbuf_addf(p->out, "<section id=\"gpus\"%s>\n<h2>Time of each GPU</h2>\n",
		    n > BARS_FEW ? " class=\"many\"" : "");
	for (size_t i = 0; i < n && i < BARS_MAX; i++)
		add_bar(p, v[i]);
	if (n > BARS_MAX)
		strbuf_addf(p->out, "<p class=\"note\">%zu more are in the table ledger.</p>\n",
			    n - BARS_MAX);
	free(v);
	if (!n)
		strbuf_addstr(p->out,
			      "<p class=\"note\">No GPU worked for these processes, as far as is "
			      "known; what is not known, the end of this page says.</p>\n");
	strbuf_addstr(p->out, "</section>\n");
}

/* ---- over time ------------------------------------------------------------------------------- */

static void add_time(const struct page *p)
{
	strbuf_addstr(
		p->out,
		"<section id=\"time\">\n<h2>Over time</h2>\n"
		"<noscript><p class=\"note\">Drawn by the page's own script, which is switched off "
		"here.</p></noscript>\n"
		"<div id=\"strips\" tabindex=\"0\" role=\"application\" aria-label=\"Time of GPUs "
		"and "
		"threads; arrow keys, plus, minus and 0 move and zoom\"></div>\n"
		"</section>\n");
}

/* ---- findings -------------------------------------------------------------------------------- */

static const struct cell *known(const struct table *t, size_t row, const char *column)
{
	const struct cell *c = table_cell(t, row, column);

	return c->known ? c : NULL;
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	return a && b && a->u == b->u;
}

static void add_stack(const struct page *p, const char *stack, const struct cell *ns)
{
	const char *end = stack + strlen(stack);

	add_text(p, "<div class=\"stack\"><b>", ns ? ns_text(ns->u).s : "", "</b><ol>");
	for (size_t n = 0; end > stack && n < FRAMES_SHOWN; n++) { /* the innermost first */
		const char *start = end;
		char *frame;

		while (start > stack && start[-1] != ';')
			start--;
		frame = strndup(start, (size_t)(end - start));
		p->out->failed |= !frame;
		add_text(p, "<li>", frame ? frame : "", "</li>");
		free(frame);
		end = start > stack ? start - 1 : stack;
	}
	strbuf_addf(p->out, "</ol>%s</div>\n", end > stack ? "..." : "");
}

/* Of the calls that the finding names, and of its thread's waits; both tables have the longest
 * first. */
static void add_stacks(const struct page *p, const struct table *findings, size_t row)
{
	const struct cell *pid = known(findings, row, "pid"), *tid = known(findings, row, "tid"),
			  *function = known(findings, row, "function");
	size_t n = 0;

	for (size_t i = 0; function && i < p->calls->n_rows && n < STACKS_SHOWN; i++) {
		const struct cell *stack = known(p->calls, i, "stack");

		if (!stack || !is_same(pid, known(p->calls, i, "pid")) ||
		    strcmp(table_cell(p->calls, i, "function")->s, function->s) != 0)
			continue;
		strbuf_addstr(p->out, n++ ? "" : "<details><summary>stacks</summary>\n");
		add_stack(p, stack->s, known(p->calls, i, "total_ns"));
	}
	for (size_t i = 0; tid && !function && i < p->offcpu->n_rows && n < STACKS_SHOWN; i++) {
		const struct cell *stack = known(p->offcpu, i, "stack");

		if (!stack || !is_same(pid, known(p->offcpu, i, "pid")) ||
		    !is_same(tid, known(p->offcpu, i, "tid")))
			continue;
		strbuf_addstr(p->out, n++ ? "" : "<details><summary>stacks</summary>\n");
		add_stack(p, stack->s, known(p->offcpu, i, "total_ns"));
	}
	strbuf_addstr(p->out, n ? "</details>\n" : "");
}

static void add_finding(const struct page *p, const struct table *t, size_t row)
{
	const struct cell *share = known(t, row, "share"), *gain = known(t, row, "gain_bound"),
			  *device = known(t, row, "device"), *where = known(t, row, "where"),
			  *next = known(t, row, "next"), *advice = known(t, row, "advice");
	const char *name = table_cell(t, row, "finding")->s;
	const struct word *word = word_of_finding(name);

	strbuf_addf(p->out, "<article class=\"finding %s\"><div class=\"lost\">%s<small>%s",
		    table_cell(t, row, "severity")->s,
		    share ? percent_text(share->d).s : table_cell(t, row, "severity")->s,
		    share ? "lost" : "");
	if (gain && gain->d < 0.999)
		strbuf_addf(p->out, " <span>at best %.2fx</span>", 1 / (1 - gain->d));
	add_text(p, "</small></div><div><h3>", word && word->title ? word->title : name, " ");
	strbuf_addf(p->out, "<code data-word=\"%s\">%s</code>", name, name);
	if (device)
		strbuf_addf(p->out, " <small>GPU %s</small>", device_text((uint32_t)device->u).s);
	add_text(p, "</h3>\n<p>", table_cell(t, row, "cause")->s, "</p>\n");
	add_text(p, "<p class=\"evidence\">", table_cell(t, row, "evidence")->s, "</p>\n");
	if (where)
		add_text(p, "<p>In <code>", where->s, "</code></p>\n");
	if (advice)
		add_text(p, "<p class=\"fix\"><b>Fix</b> ", advice->s, "</p>\n");
	if (next)
		add_text(p, "<p class=\"next\"><b>Next</b> <code class=\"command\">", next->s,
			 "</code></p>\n");
	add_stacks(p, t, row);
	strbuf_addstr(p->out, "</div></article>\n");
}

static void add_findings(const struct page *p)
{
	struct table *t = view_fill(&view_findings, &(struct view_query){ .snapshot = p->snap });
	const size_t from = p->out->len;
	size_t i = 0;

	p->out->failed |= !t;
	if (t && t->n_rows)
		strbuf_addstr(p->out, "<section id=\"findings\">\n<h2>Findings</h2>\n");
	for (; t && i < t->n_rows && p->out->len - from < FINDINGS_BYTES; i++)
		add_finding(p, t, i);
	if (t && i < t->n_rows)
		strbuf_addf(p->out, "<p class=\"note\">%zu more (--table findings)</p>\n",
			    t->n_rows - i);
	strbuf_addstr(p->out, t && t->n_rows ? "</section>\n" : "");
	table_free(t);
}

/* ---- flame graphs ---------------------------------------------------------------------------- */

static bool add_flame(const struct page *p, const char *title, const struct table *t,
		      const char *column)
{
	const size_t from = p->out->len;
	bool any;

	strbuf_addf(p->out, "<h3>%s</h3>\n", title);
	any = flame_add_svg(p->out, t, column);
	if (!any && !p->out->failed)
		p->out->s[p->out->len = from] = '\0';
	return any;
}

static void add_flames(const struct page *p)
{
	bool any;

	strbuf_addstr(p->out, "<section id=\"flames\">\n<h2>By stack</h2>\n");
	any = add_flame(p, "Time in calls", p->calls, "total_ns");
	any |= add_flame(p, "Off the CPU, outside of calls", p->offcpu, "total_ns");
	any |= add_flame(p, "Device time, by who launched it", p->calls, "device_ns");
	if (!any)
		strbuf_addstr(p->out, "<p class=\"note\">The capture has no stacks: record with "
				      "--stacks.</p>\n");
	strbuf_addstr(p->out, "</section>\n");
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Sentences, frames and commands do not fit into a cell. */
static bool is_column(const struct table *t, unsigned int i)
{
	const unsigned int type = t->columns[i].type;

	return render_shows(t, i) && (type == CELL_TEXT || !cell_is_text(type));
}

static bool is_number(unsigned int type)
{
	return !cell_is_text(type) && type != CELL_BOOL;
}

static void add_titles(struct strbuf *out, const struct table *t)
{
	strbuf_addstr(out, "<thead><tr>");
	for (unsigned int i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if (!is_column(t, i))
			continue;
		strbuf_addf(out, "<th scope=\"col\"%s title=\"",
			    is_number(c->type) ? " class=\"n\"" : "");
		render_markup(out, c->help);
		strbuf_addstr(out, "\">");
		render_markup(out, column_title(c).s);
		strbuf_addstr(out, "</th>");
	}
	strbuf_addstr(out, "</tr></thead>\n");
}

/* Of an unknown number there is none: it is the last in any order. */
static void add_order(struct strbuf *out, const struct cell *cell, unsigned int type)
{
	if (!cell->known || type == CELL_DEVICE)
		return;
	if (type == CELL_NS || type == CELL_BYTES || type == CELL_INT)
		strbuf_addf(out, " data-v=\"%" PRIu64 "\"", cell->u);
	else if (type == CELL_SHARE || type == CELL_REAL)
		strbuf_addf(out, " data-v=\"%.6g\"", cell->d);
}

static void add_cell(struct strbuf *out, const struct cell *cell, const struct column *c)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addstr(out, is_number(c->type) ? "<td class=\"n\"" : "<td");
	add_order(out, cell, c->type);
	strbuf_addch(out, '>');
	format_cell(&text, cell, c->type);
	render_markup(out, text.s);
	strbuf_addstr(out, "</td>");
	out->failed |= text.failed;
	strbuf_free(&text);
}

static bool adds_up(const struct column *c)
{
	return c->role == ROLE_SUM &&
	       (c->type == CELL_NS || c->type == CELL_BYTES || c->type == CELL_INT);
}

/* "312 more rows", and what they add up to. */
static void add_rest(struct strbuf *out, const struct table *t, size_t from)
{
	bool is_first = true;

	strbuf_addstr(out, "<tfoot><tr>");
	for (unsigned int i = 0; i < t->n_columns; i++) {
		struct cell sum = { 0 };

		if (!is_column(t, i))
			continue;
		if (is_first) {
			strbuf_addf(out, "<td>%s more</td>", count_text(t->n_rows - from).s);
			is_first = false;
			continue;
		}
		for (size_t row = from; adds_up(&t->columns[i]) && row < t->n_rows; row++)
			if (table_cells(t, row)[i].known)
				cell_u(&sum, num_add(sum.u, table_cells(t, row)[i].u));
		if (sum.known)
			add_cell(out, &sum, &t->columns[i]);
		else
			strbuf_addstr(out, "<td></td>");
	}
	strbuf_addstr(out, "</tr></tfoot>\n");
}

/* The first rows; the sums of the others are its last row. */
static void add_table(struct strbuf *out, const struct view *v, const struct table *t, size_t rows)
{
	const size_t shown = num_min(rows, t->n_rows);

	strbuf_addf(out, "<section class=\"table\" id=\"t-%s\"><h3>%s <small>", v->name, v->name);
	render_markup(out, v->help);
	strbuf_addstr(out, "</small></h3>\n<div class=\"scroll\"><table>\n");
	add_titles(out, t);
	strbuf_addstr(out, "<tbody>\n");
	for (size_t row = 0; row < shown; row++) {
		strbuf_addstr(out, "<tr>");
		for (unsigned int i = 0; i < t->n_columns; i++)
			if (is_column(t, i))
				add_cell(out, &table_cells(t, row)[i], &t->columns[i]);
		strbuf_addstr(out, "</tr>\n");
	}
	strbuf_addstr(out, "</tbody>\n");
	if (shown < t->n_rows)
		add_rest(out, t, shown);
	strbuf_addstr(out, "</table></div></section>\n");
}

/* All that have rows; findings have a section of their own. */
static void add_tables_of(const struct page *p, struct strbuf *out, size_t rows)
{
	for (size_t i = 0; view_list[i]; i++) {
		struct table *t = NULL;

		if (view_list[i] == &view_findings)
			continue;
		t = view_fill(view_list[i],
			      &(struct view_query){ .snapshot = p->snap, .hides_stacks = true });
		out->failed |= !t;
		if (t && t->n_rows)
			add_table(out, view_list[i], t, rows);
		table_free(t);
	}
}

static void add_tables(const struct page *p)
{
	struct strbuf tables = STRBUF_INIT;

	strbuf_addstr(
		p->out,
		"<section id=\"tables\">\n<h2>Tables</h2>\n"
		"<p class=\"tools\" hidden><input id=\"filter\" type=\"search\" "
		"placeholder=\"filter rows\" aria-label=\"filter rows of all tables\"></p>\n");
	add_tables_of(p, &tables, ROWS_FIRST);
	for (size_t rows = ROWS_FIRST / 2; tables.len > TABLES_BYTES && rows; rows /= 2) {
		strbuf_reset(&tables);
		add_tables_of(p, &tables, rows);
	}
	strbuf_addstr(p->out, tables.s);
	strbuf_addstr(p->out, "</section>\n");
	p->out->failed |= tables.failed;
	strbuf_free(&tables);
}

/* ---- notes, words ---------------------------------------------------------------------------- */

static void add_notes(const struct page *p, const struct summary_text *text)
{
	strbuf_addstr(p->out, "<section id=\"notes\">\n<h2>What limits this</h2>\n<ul>\n");
	for (size_t i = 0; i < text->notes.all.n && i < NOTES_SHOWN; i++)
		add_text(p, "<li>", text->notes.all.v[i].text, "</li>\n");
	strbuf_addstr(p->out, "</ul>\n");
	if (text->notes.all.n > NOTES_SHOWN)
		strbuf_addf(p->out, "<p>%zu more (--format json)</p>\n",
			    text->notes.all.n - NOTES_SHOWN);
	for (const char *line = text->foot.s; *line;) {
		char *one = strndup(line, strcspn(line, "\n"));

		p->out->failed |= !one;
		if (one && *one)
			add_text(p, "<p>", one, "</p>\n");
		free(one);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	strbuf_addstr(p->out, "</section>\n");
}

static void add_words(const struct page *p)
{
	strbuf_addstr(p->out,
		      "<section id=\"glossary\">\n<details><summary>Words</summary>\n<dl>\n");
	for (const struct word *w = word_list; w->name; w++) {
		if (w->kind != WORD_FINDING && w->kind != WORD_BUCKET && w->kind != WORD_SCREEN)
			continue;
		add_text(p, "<dt>", w->name, "</dt>");
		add_text(p, "<dd>", w->what, "</dd>\n");
	}
	strbuf_addstr(p->out, "</dl>\n</details>\n</section>\n");
}

/* ---- data ------------------------------------------------------------------------------------ */

/* No '<' may stand in the text of a script; in json it stands in names only. */
static void add_data(const struct page *p)
{
	struct strbuf data = STRBUF_INIT;

	strbuf_addstr(&data, "{\"time\": ");
	p->out->failed |= html_strips_add(&data, p->s) < 0;
	strbuf_addstr(&data, ",\n\"moments\": ");
	html_moments_add(&data, p->snap);
	strbuf_addstr(&data, "}");
	strbuf_addstr(p->out, "<script type=\"application/json\" id=\"data\">");
	for (const char *c = data.s; *c;) {
		const size_t len = strcspn(c, "<");

		strbuf_add(p->out, c, len);
		strbuf_addstr(p->out, c[len] ? "\\u003c" : "");
		c += len + (c[len] != '\0');
	}
	strbuf_addf(p->out, "</script>\n<script>%s</script>\n", html_js);
	p->out->failed |= data.failed;
	strbuf_free(&data);
}

int html_add(struct strbuf *out, const struct summary *s, const char *verdict,
	     const struct summary_text *text)
{
	struct view_query q = { .snapshot = s->snap, .by = CALLS_BY_STACK };
	struct page p = { .out = out, .s = s, .snap = s->snap };
	struct strbuf title = STRBUF_INIT, cost = STRBUF_INIT;

	p.calls = view_fill(&view_calls, &q);
	p.offcpu = view_fill(&view_offcpu, &q);
	summary_add_title(&title, &cost, s);
	out->failed |= findings_read(&p.findings, s->snap) < 0;
	if (p.calls && p.offcpu && !out->failed) {
		add_head(&p, title.s);
		add_title(&p, title.s, cost.s);
		add_verdict(&p, verdict);
		add_bars(&p);
		add_time(&p);
		add_findings(&p);
		add_flames(&p);
		add_tables(&p);
		add_notes(&p, text);
		add_words(&p);
		strbuf_addstr(out, "</main>\n");
		add_data(&p);
		strbuf_addstr(out, "</body>\n</html>\n");
	}
	out->failed |= !p.calls || !p.offcpu || title.failed || cost.failed;
	findings_free(&p.findings);
	table_free(p.calls);
	table_free(p.offcpu);
	strbuf_free(&title);
	strbuf_free(&cost);
	return out->failed ? -ENOMEM : 0;
}
