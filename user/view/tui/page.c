// SPDX-License-Identifier: BSD-3-Clause
/* What all pages have: the header, the verdict, and the line of keys. */
#include "view/tui/drawing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/time.h"
#include "base/units.h"
#include "base/utf8.h"
#include "event/device_number.h"
#include "view/render.h"
#include "view/summary.h"
#include "view/verdict.h"

#define VERDICT_LINES 2

void page_free(struct page *p)
{
	strbuf_free(&p->text);
	strbuf_free(&p->shown.command);
	strbuf_free(&p->shown.next);
}

/* ---- header ---------------------------------------------------------------------------------- */

/* "12:04:05": when the snapshot was taken, here */
static void add_clock(struct strbuf *out, const struct snapshot *snap)
{
	const uint64_t offset_ns = snapshot_fact_number(snap, "wall_offset_ns");
	const struct unit_text text = clock_text(num_add(snap->now_ns, offset_ns));

	if (offset_ns && *text.s)
		strbuf_addf(out, "%s, ", text.s);
}

/* Its device books are settled up to some time before its end. 0: they are, or there are none. */
static uint64_t behind_ns(const struct snapshot *snap)
{
	uint64_t behind = 0;

	for (size_t i = 0; i < snap->hosts.n; i++)
		behind = num_max(behind, num_sub(snap->now_ns, snap->hosts.v[i].sum.close_ns));
	return behind;
}

static void add_when(struct strbuf *out, const struct drawing *g)
{
	const uint64_t ns = num_sub(g->snap->now_ns, g->snap->since_ns);
	const uint64_t behind = behind_ns(g->snap);
	const bool has_mark = g->l->since_mark && g->d->history->since;

	add_clock(out, g->snap);
	strbuf_addf(out, "%s%s%s", has_mark && !g->d->file ? "" : has_mark ? "all " : "last ",
		    ns_text(ns).s, has_mark && !g->d->file ? " since the mark" : "");
	if (g->l->is_paused)
		strbuf_addf(out, ", PAUSED %.1f s ago",
			    (double)num_sub(history_at(g->d->history, 0)->now_ns, g->snap->now_ns) /
				    (double)NS_PER_SEC);
	else if (g->d->has_ended && !g->d->file)
		strbuf_addstr(out, ", ENDED");
	else if (behind >= 100 * NS_PER_MS && !g->d->file)
		strbuf_addf(out, ", GPUs %.1f s behind", (double)behind / (double)NS_PER_SEC);
	if (g->l->filter[0])
		format_safef(out, ", filter \"%s\"", g->l->filter);
}

/* "cost ~0.25 %, CPU 1.4 %, lost 0 %": of the targets' threads; of a CPU, gpuprof itself */
static void add_cost(struct strbuf *out, const struct summary *s, double cpu_share)
{
	if (s->cost.call_ns && s->thread_ns)
		strbuf_addf(out, "cost ~%.2g %%, ", 100 * summary_cost_share(s));
	if (summary_budget_text(s->snap))
		strbuf_addf(out, "%s, ", summary_budget_text(s->snap));
	if (cpu_share >= 0)
		strbuf_addf(out, "CPU %.1f %%, ", 100 * cpu_share);
	strbuf_addf(out, "%s %s%.3g %%", s->losses.lost ? "LOST" : "lost",
		    s->losses.is_at_least ? "at least " : "", 100 * s->losses.share);
}

static void add_header(struct drawing *g)
{
	const struct summary s = summary_read(g->snap, false);
	struct strbuf when = STRBUF_INIT, cost = STRBUF_INIT;
	const char *host = snapshot_fact(g->snap, "host");

	add_cost(&cost, &s, g->d->cpu_share);
	add_when(&when, g);
	format_safef(&g->line.text, "gpuprof  %s", g->d->file ? str_basename(g->d->file) :
						   host	      ? host :
								"");
	strbuf_addf(&g->line.text, "  %s", when.s);
	if (utf8_str_width(g->line.text.s) + 2 + cost.len <= g->line.width)
		line_go_to(&g->line, g->line.width - cost.len);
	else
		strbuf_addstr(&g->line.text, "  ");
	strbuf_addstr(&g->line.text, cost.s);
	line_end(&g->line);
	g->line.out->failed |= when.failed || cost.failed;
	strbuf_free(&when);
	strbuf_free(&cost);
}

/* ---- verdict --------------------------------------------------------------------------------- */

/* The command of that finding, or of the verdict of all. */
static void keep_next(struct drawing *g, const char *verdict)
{
	const struct finding *f = drawing_finding(g, g->l->page == LIVE_PROCESS ?
						       g->l->open.process : 0);
	const char *next = strstr(verdict, "Next: ");

	if (g->l->page == LIVE_PROCESS && f && f->next.len)
		strbuf_addstr(&g->page->shown.next, f->next.s);
	else if (next)
		strbuf_add(&g->page->shown.next, next + 6, strcspn(next + 6, "\n"));
}

/* What leads comes first: two lines may not have room for its cause. */
static void add_loss(struct strbuf *out, const struct finding *f)
{
	strbuf_addf(out, "GPU %s loses %s to %s", device_text(f->device).s,
		    percent_text(f->share).s, f->name);
	if (f->gain_bound < 0.999)
		strbuf_addf(out, " (without it at best %.2fx)", 1 / (1 - f->gain_bound));
	strbuf_addf(out, ": %s.", f->cause.s);
}

static void add_verdict(struct drawing *g)
{
	const struct finding *f = drawing_finding(g, g->l->page == LIVE_PROCESS ?
						       g->l->open.process : 0);
	const size_t left = g->line.left;
	struct strbuf verdict = STRBUF_INIT, text = STRBUF_INIT;

	g->line.out->failed |= verdict_add(&verdict, g->snap) < 0;
	if (f && f->has_share && !f->is_severe)
		add_loss(&text, f);
	else if (g->l->page != LIVE_PROCESS || f)
		screen_verdict_add(&text, g->snap, &g->findings, verdict.s);
	keep_next(g, verdict.s);
	line_set_color(&g->line, LINE_BOLD);
	line_add_sentences(&g->line, text.len ? text.s : "No loss was found, as far as is known.",
			   num_min(VERDICT_LINES, left));
	line_set_color(&g->line, LINE_PLAIN);
	while (left - g->line.left < VERDICT_LINES && g->line.left && !g->d->is_batch)
		line_end(&g->line);	/* what is below does not move */
	g->line.out->failed |= text.failed || verdict.failed;
	strbuf_free(&verdict);
	strbuf_free(&text);
}

/* ---- the last line --------------------------------------------------------------------------- */

/* What there was no room for is not there, and what there was left of it is empty. */
static void fit_lines(struct drawing *g)
{
	struct page *p = g->page;
	size_t lines = 0, at = 0;

	while (at < p->text.len && lines < g->lines)
		lines += p->text.s[at++] == '\n';
	p->text.len = at;
	if (at)
		p->text.s[at] = '\0';
	for (; lines < g->lines; lines++)
		strbuf_addch(&p->text, '\n');
	if (p->cursor_line >= g->lines)
		p->cursor_line = PAGE_NO_LINE;
}

static void add_keys(struct drawing *g)
{
	const struct live *l = g->l;

	fit_lines(g);
	if (l->message[0])
		format_safef(&g->line.text, "%s", l->message);
	else if (l->prompt != PROMPT_NONE)
		format_safef(&g->line.text, "%s: %s_",
			     l->prompt == PROMPT_FILTER ? "Filter" : "Find",
			     l->prompt == PROMPT_FILTER ? l->filter : l->find);
	else
		live_add_keys(&g->line.text, l, g->line.width);
	line_end(&g->line);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void add_help(struct drawing *g)
{
	struct strbuf text = STRBUF_INIT;

	live_add_help(&text);
	strbuf_addstr(&text, "\nGPU TIME, bars: C compute, m copy, c comm, . idle, ? unknown\n"
			     "GPU LOST: share of its devices' time that its findings cost\n"
			     "Words: gpuprof help WORD, as 'gpuprof help input-stall'\n");
	drawing_add_text(g, text.s);
	g->line.out->failed |= text.failed;
	strbuf_free(&text);
}

static void (*const pages[LIVE_PAGES])(struct drawing *g) = {
	[LIVE_HOST] = page_host_add, [LIVE_PROCESS] = page_process_add,
	[LIVE_EXPLAIN] = page_explain_add, [LIVE_HELP] = add_help,
};

static void page_reset(struct page *p, const struct history *h)
{
	strbuf_reset(&p->text);
	strbuf_reset(&p->shown.next);
	p->cursor_line = p->title_line[0] = p->title_line[1] = PAGE_NO_LINE;
	p->shown.rows = p->shown.rows_shown = p->shown.sorts = p->shown.tabs = 0;
	p->shown.at = (struct live_process){ 0 };
	p->shown.found = SIZE_MAX;
	p->shown.refreshes = h->all.n;
}

static const struct snapshot *snapshot_of(const struct live *l, const struct history *h)
{
	return l->since_mark && h->since ? h->since : history_at(h, l->back);
}

int page_draw(struct page *p, const struct live *l, const struct page_data *d,
	      const struct screen_shape *shape)
{
	struct drawing g = {
		.page = p, .l = l, .d = d, .snap = snapshot_of(l, d->history),
		.line = { .text = STRBUF_INIT, .out = &p->text, .ascii = shape->ascii,
			  .has_color = shape->has_color,
			  .width = num_max(shape->columns, PAGE_COLUMNS_MIN),
			  .left = num_max(shape->lines, PAGE_LINES_MIN) - !d->is_batch } };
	int err = 0;

	g.lines = g.line.left;
	page_reset(p, d->history);
	if (g.snap)
		err = findings_read(&g.findings, g.snap);
	if (g.snap && !err) {
		add_header(&g);
		if (l->page != LIVE_HELP && l->page != LIVE_EXPLAIN)
			add_verdict(&g);
		pages[l->page](&g);
	} else if (!err) {
		strbuf_addstr(&g.line.text, "gpuprof  measuring; the first figures come at once");
		line_end(&g.line);
	}
	if (!d->is_batch)
		add_keys(&g);
	findings_free(&g.findings);
	line_free(&g.line);
	return err ? err : p->text.failed || p->shown.next.failed ? -ENOMEM : 0;
}
