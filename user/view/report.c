// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which tables, which rows of them, and out: --sort, --top and --filter are the same for each.
 * Knows nothing of where the events came from.
 */
#include "view/report.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "base/exit.h"
#include "view/output.h"
#include "view/render.h"
#include "view/summary.h"
#include "view/verdict.h"
#include "view/view.h"

#define NAME_WIDTH 48	/* of a cell in text form without --wide; on a terminal a quarter of it */
#define NAME_WIDTH_MIN 24
#define COLUMNS_MAX 512	/* of all tables that a report has */
/* of each table, where all are printed: thousands of threads would bury the rest */
#define ROWS_UNASKED 500

#define TABLES_MAX 32

/* Columns that --filter looks at. */
static const char *const name_columns[] = { "function", "kernel", "name", "op", "range" };

struct printout {
	const struct view *pick[TABLES_MAX];	/* in the requested order */
	struct table *tables[TABLES_MAX];
	unsigned int n;
	regex_t filter;
	bool has_filter;
};

static int unknown_table(const char *word, const char *const *names, size_t n)
{
	const char *near = str_nearest(word, names, n);
	struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", names[i]);
	if (near)
		log_error("option '--table': no table '%s'; did you mean '%s'?", word, near);
	else
		log_error("option '--table': no table '%s'; there are %s", word, all.s);
	strbuf_free(&all);
	return EXIT_USAGE;
}

static int pick_table(struct printout *p, const char *name)
{
	const char *names[TABLES_MAX];
	const struct view *v;
	size_t n = 0;

	for (; (v = view_get(n)) != NULL; n++) {
		names[n] = v->name;
		if (strcmp(name, v->name))
			continue;
		for (unsigned int k = 0; k < p->n; k++)
			if (p->pick[k] == v)
				return 0;
		p->pick[p->n++] = v;
		return 0;
	}
	return unknown_table(name, names, n);
}

static int pick_listed(struct printout *p, const char *list)
{
	char *copy = strdup(list), *rest = copy, *name;
	int rc = 0;

	if (!copy) {
		log_error("cannot read the list of tables: out of memory");
		return EXIT_FAIL;
	}
	while (!rc && (name = strsep(&rest, ",")))
		rc = pick_table(p, name);
	free(copy);
	return rc;
}

static int pick_tables(struct printout *p, const struct report_options *o)
{
	if (o->tables)
		return pick_listed(p, o->tables);
	if (o->format == FORMAT_CSV)
		return pick_table(p, "calls");	/* several tables are no valid csv */
	for (size_t i = 0; view_get(i); i++)
		if (view_get(i)->shown != VIEW_WHEN_ASKED)
			p->pick[p->n++] = view_get(i);
	return 0;
}

static int compile_filter(struct printout *p, const struct report_options *o)
{
	char why[128];
	int err;

	if (!o->filter)
		return 0;
	err = regcomp(&p->filter, o->filter, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &p->filter, why, sizeof(why));
		log_error("option '--filter': '%s' is no regular expression: %s", o->filter, why);
		return EXIT_USAGE;
	}
	p->has_filter = true;
	return 0;
}

static int fill_tables(struct printout *p, const struct view_query *q)
{
	for (unsigned int i = 0; i < p->n; i++) {
		p->tables[i] = view_fill(p->pick[i], q);
		if (p->tables[i])
			continue;
		log_error("cannot make table '%s': %s", p->pick[i]->name, strerror(errno));
		return EXIT_FAIL;
	}
	return 0;
}

/* Of several tables no list of all columns is one that anybody reads. */
static const struct view *view_to_list(const struct printout *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->pick[i] == &view_calls)
			return p->pick[i];
	return p->pick[0];
}

static int no_such_column(const struct printout *p, const char *word)
{
	const char *names[COLUMNS_MAX], *near;
	const struct view *v = view_to_list(p);
	struct strbuf list = STRBUF_INIT;
	size_t n = 0;

	for (unsigned int i = 0; i < p->n; i++)
		for (unsigned int k = 0; k < p->pick[i]->n_columns && n < COLUMNS_MAX; k++)
			names[n++] = p->pick[i]->columns[k].name;
	near = str_nearest(word, names, n);
	for (unsigned int i = 0; i < v->n_columns; i++)
		strbuf_addf(&list, "%s%s", i ? ", " : "", v->columns[i].name);
	if (near)
		log_error("option '--sort': no column '%s'; did you mean '%s'?", word, near);
	else
		log_error("option '--sort': no column '%s'; table %s has %s%s", word, v->name,
			  list.s, p->n > 1 ? " (with --table NAME another's are listed)" : "");
	strbuf_free(&list);
	return EXIT_USAGE;
}

/* Of a name, or of the title that text shows. */
static int find_column(const struct view *v, int by, const char *word)
{
	return column_find(v->columns, view_columns(v, (enum calls_by)by), word);
}

static int check_sort(const struct printout *p, const struct report_options *o)
{
	for (unsigned int i = 0; o->sort && i < p->n; i++)
		if (find_column(p->pick[i], o->by, o->sort) >= 0)
			return 0;
	return o->sort ? no_such_column(p, o->sort) : 0;
}

static int sort_tables(struct printout *p, const char *column)
{
	for (unsigned int i = 0; column && i < p->n; i++) {
		if (table_sort(p->tables[i], column) != -ENOMEM)
			continue;
		log_error("cannot sort table '%s': out of memory", p->tables[i]->name);
		return EXIT_FAIL;
	}
	return 0;
}

struct name_filter {
	const regex_t *regex;
	int column;
};

static bool matches(const struct cell *cells, const void *ctx)
{
	const struct name_filter *f = ctx;
	const struct cell *c = &cells[f->column];

	return c->known && !regexec(f->regex, c->s, 0, NULL, 0);
}

static int name_column(const struct view *v)
{
	for (size_t i = 0; i < sizeof(name_columns) / sizeof(name_columns[0]); i++) {
		int at = column_find(v->columns, v->n_columns, name_columns[i]);

		if (at >= 0)
			return at;
	}
	return -ENOENT;
}

static int check_filter(const struct printout *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (name_column(p->pick[i]) >= 0)
			return 0;
	if (!p->has_filter)
		return 0;
	log_error("option '--filter' needs a table with names; add '--table calls'");
	return EXIT_USAGE;
}

static void filter_tables(struct printout *p)
{
	for (unsigned int i = 0; p->has_filter && i < p->n; i++) {
		struct name_filter f = { &p->filter, name_column(p->pick[i]) };

		if (f.column >= 0)
			table_keep(p->tables[i], matches, &f);
	}
}

/* For programs, and who names tables, all rows are there. */
static void cut_tables(struct printout *p, const struct report_options *o)
{
	bool is_read = !o->tables && (o->format == FORMAT_TEXT || o->format == FORMAT_MD);
	size_t most = o->top ? o->top : is_read ? ROWS_UNASKED : 0;

	for (unsigned int i = 0; most && i < p->n; i++)
		table_top(p->tables[i], most, o->top);
}

/* The part that needs no snapshot: the tables, their columns and the filter. */
static int choose(struct printout *p, const struct report_options *o)
{
	int rc = pick_tables(p, o);

	if (!rc)
		rc = compile_filter(p, o);
	if (!rc)
		rc = check_filter(p);
	return rc ? rc : check_sort(p, o);
}

static int fill(struct printout *p, const struct report_options *o, const struct summary *s)
{
	int rc = fill_tables(p, &(struct view_query){ s->snap, (enum calls_by)o->by });

	if (rc)
		return rc;
	filter_tables(p);
	rc = sort_tables(p, o->sort);
	if (!rc)
		cut_tables(p, o);
	return rc;
}

static bool is_shown(enum view_shown shown, const struct table *t, const struct snapshot *snap)
{
	switch (shown) {
	case VIEW_WITH_DEVICES:
		return snap->devices.n || t->n_rows;
	case VIEW_WITH_ROWS:
		return t->n_rows;
	default:
		return true;
	}
}

/* Unless requested by name, the words below the tables are enough. */
static void leave_out_empty(struct printout *p, const struct report_options *o,
			    const struct snapshot *snap)
{
	unsigned int kept = 0;

	if (o->tables || o->format == FORMAT_JSON)
		return;
	for (unsigned int i = 0; i < p->n; i++) {
		if (!is_shown((enum view_shown)p->pick[i]->shown, p->tables[i], snap)) {
			table_free(p->tables[i]);
			continue;
		}
		p->pick[kept] = p->pick[i];
		p->tables[kept++] = p->tables[i];
	}
	for (unsigned int i = kept; i < p->n; i++)
		p->tables[i] = NULL;
	p->n = kept;
}

static void printout_free(struct printout *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		table_free(p->tables[i]);
	if (p->has_filter)
		regfree(&p->filter);
}

bool report_shows_stacks(const struct report_options *o)
{
	struct printout p = { 0 };
	bool shows = o->by == CALLS_BY_STACK;

	if (!pick_tables(&p, o))
		for (unsigned int i = 0; i < p.n; i++)
			shows |= p.pick[i]->shows_stacks;
	return shows;
}

int report_check(const struct report_options *o)
{
	struct printout p = { 0 };
	int rc = choose(&p, o);

	printout_free(&p);
	return rc ? rc : output_check(o->output);
}

static void render(struct strbuf *out, const struct report_options *o, const struct printout *p,
		   const struct summary *s)
{
	struct strbuf head = STRBUF_INIT, verdict = STRBUF_INIT, foot = STRBUF_INIT;
	struct strpool *pool = strpool_new();
	const struct terminal terminal = output_terminal(o->output);
	const unsigned int columns = terminal.columns;
	struct meta_pair pairs[SUMMARY_META];
	struct notes notes = { .all = { .n = 0 } };
	struct meta meta = { .v = pairs, .notes = &notes };

	summary_head(&head, s);
	if (verdict_add(&verdict, s->snap))
		out->failed = true;
	if (summary_notes(&notes, &foot, s))
		out->failed = true;
	if (pool)
		meta.n = summary_meta(pairs, s, verdict.s, pool);
	report_render(out, &(struct report){
		.meta = &meta, .tables = p->tables, .n_tables = p->n, .head = head.s,
		.verdict = verdict.s, .foot = foot.s, .wide = o->wide, .columns = columns,
		.ascii = terminal.is_ascii,
		.name_width = columns ? num_max(columns / 4, NAME_WIDTH_MIN) : NAME_WIDTH,
	}, (enum format)o->format);
	out->failed |= !pool || head.failed || foot.failed;
	strpool_free(pool);
	strbuf_free(&head);
	strbuf_free(&verdict);
	strbuf_free(&foot);
	notes_free(&notes);
}

static int judge_loss(const struct report_options *o, const struct summary *s)
{
	if (s->lost_share <= o->max_loss)
		return EXIT_OK;
	log_warn("%.3g %% of the events were lost, more than --max-loss %.3g%%; "
		 "measure with a larger --ring-size", s->lost_share * 100, o->max_loss * 100);
	return EXIT_PARTIAL;
}

int report_print(const struct report_options *o, const struct snapshot *snap,
		 const struct report_state *state)
{
	static const struct report_state plain;
	const struct report_state *st = state ? state : &plain;
	struct summary s = summary_read(snap, st->incomplete);
	struct strbuf out = STRBUF_INIT;
	struct printout p = { 0 };
	int rc = choose(&p, o);

	if (!rc)
		rc = fill(&p, o, &s);
	if (!rc) {
		leave_out_empty(&p, o, snap);
		if (st->again && o->format != FORMAT_JSON)
			strbuf_addch(&out, '\n');
		render(&out, o, &p, &s);
		rc = output_write(o->output, &out);
	}
	strbuf_free(&out);
	printout_free(&p);
	return rc || st->unjudged ? rc : judge_loss(o, &s);
}

int report_judge(const struct report_options *o, const struct snapshot *snap)
{
	struct summary s = summary_read(snap, false);

	return judge_loss(o, &s);
}
