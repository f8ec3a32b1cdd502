// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which tables, which rows of them, and out. The tables are rows of `builders`; what --sort,
 * --top and --filter do is the same for each. Knows nothing of where the events came from.
 */
#include "view/print.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "base/exit.h"
#include "cli/option_row.h"
#include "cli/out.h"
#include "view/summary.h"
#include "view/verdict.h"
#include "view/views.h"

#define NAME_WIDTH 48	/* of a cell in text form without --wide; on a terminal a quarter of it */
#define NAME_WIDTH_MIN 24
#define COLUMNS_MAX 512	/* of all tables that a report has */
#define ROWS_UNASKED 500	/* of each table, where somebody reads them all: thousands of threads would bury the rest */

static struct table *build_calls(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)now_ns;
	return view_calls(m, (enum calls_by)o->by);
}

static struct table *build_findings(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	return view_findings(m, now_ns);
}

static struct table *build_ledger(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	return view_ledger(m, now_ns);
}

static struct table *build_devices(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	return view_devices(m, now_ns);
}

static struct table *build_kernels(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)now_ns;
	return o->by == CALLS_BY_LAUNCH ? view_kernels_by_launch(m) : view_kernels(m);
}

static struct table *build_lanes(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	return view_lanes(m, now_ns);
}

static struct table *build_copies(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	(void)now_ns;
	return view_copies(m);
}

static struct table *build_ranges(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	return view_ranges(m, now_ns);
}

static struct table *build_memory(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)now_ns;
	return view_memory(m, o->by == CALLS_BY_STACK);
}

static struct table *build_processes(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	return view_processes(m, now_ns);
}

static struct table *build_threads(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	return view_threads(m, now_ns);
}

static struct table *build_offcpu(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	(void)now_ns;
	return view_offcpu(m);
}

static struct table *build_events(const struct options *o, const struct model *m, uint64_t now_ns)
{
	(void)o;
	(void)now_ns;
	return view_events(m);
}

/* WITH_DEVICES: without rows it says nothing where no helper told of any. */
enum shown { ALWAYS, WITH_DEVICES, WITH_ROWS, WHEN_ASKED };

static const struct {
	const char *name;
	struct table *(*build)(const struct options *o, const struct model *m, uint64_t now_ns);
	enum shown shown;	/* where nobody asked for it by name */
} builders[] = {
	{ "findings", build_findings, WITH_DEVICES },
	{ "ledger", build_ledger, WITH_DEVICES },
	{ "devices", build_devices, WITH_DEVICES },
	{ "kernels", build_kernels, WITH_DEVICES },
	{ "lanes", build_lanes, WITH_ROWS },
	{ "copies", build_copies, WITH_DEVICES },
	{ "ranges", build_ranges, WITH_ROWS },
	{ "memory", build_memory, WITH_ROWS },
	{ "calls", build_calls, ALWAYS },
	{ "processes", build_processes, ALWAYS },
	{ "threads", build_threads, ALWAYS },
	{ "events", build_events, ALWAYS },
	{ "offcpu", build_offcpu, WHEN_ASKED },
};

#define TABLES (sizeof(builders) / sizeof(builders[0]))

/* Columns that --filter looks at. */
static const char *const name_columns[] = { "function", "kernel", "name", "op", "range" };

struct printout {
	size_t pick[TABLES];		/* indices of builders, in the order asked for */
	struct table *tables[TABLES];
	unsigned int n;
	regex_t filter;
	bool has_filter;
};

static int unknown_table(const char *word, const char *const *names, size_t n)
{
	const char *near = options_nearest(word, names, n);
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
	const char *names[TABLES];

	for (size_t i = 0; i < TABLES; i++) {
		names[i] = builders[i].name;
		if (strcmp(name, names[i]))
			continue;
		for (unsigned int k = 0; k < p->n; k++)
			if (p->pick[k] == i)
				return 0;
		p->pick[p->n++] = i;
		return 0;
	}
	return unknown_table(name, names, TABLES);
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

static int pick_tables(struct printout *p, const struct options *o)
{
	if (o->tables)
		return pick_listed(p, o->tables);
	if (o->format == FORMAT_CSV)
		return pick_table(p, "calls");	/* several tables are no valid csv */
	for (size_t i = 0; i < TABLES; i++)
		if (builders[i].shown != WHEN_ASKED)
			p->pick[p->n++] = i;
	return 0;
}

static int compile_filter(struct printout *p, const struct options *o)
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

static int build_tables(struct printout *p, const struct options *o, const struct model *m,
			uint64_t now_ns)
{
	for (unsigned int i = 0; i < p->n; i++) {
		p->tables[i] = builders[p->pick[i]].build(o, m, now_ns);
		if (p->tables[i])
			continue;
		log_error("cannot make table '%s': %s", builders[p->pick[i]].name,
			  strerror(errno));
		return EXIT_FAIL;
	}
	return 0;
}

/* Of several tables no list of all columns is one that anybody reads. */
static const struct table *table_to_list(const struct printout *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (!strcmp(table_name(p->tables[i]), "calls"))
			return p->tables[i];
	return p->tables[0];
}

static void add_columns(struct strbuf *out, const struct table *t)
{
	unsigned int n;
	const struct column *c = table_columns(t, &n);

	for (unsigned int i = 0; i < n; i++)
		strbuf_addf(out, "%s%s", i ? ", " : "", c[i].name);
}

static int no_such_column(const struct printout *p, const char *word)
{
	const char *names[COLUMNS_MAX], *near;
	const struct table *t = table_to_list(p);
	struct strbuf list = STRBUF_INIT;
	size_t n = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		unsigned int columns;
		const struct column *c = table_columns(p->tables[i], &columns);

		for (unsigned int k = 0; k < columns && n < COLUMNS_MAX; k++)
			names[n++] = c[k].name;
	}
	near = options_nearest(word, names, n);
	add_columns(&list, t);
	if (near)
		log_error("option '--sort': no column '%s'; did you mean '%s'?", word, near);
	else
		log_error("option '--sort': no column '%s'; table %s has %s%s", word, table_name(t), list.s,
			  p->n > 1 ? " (with --table NAME another's are listed)" : "");
	strbuf_free(&list);
	return EXIT_USAGE;
}

static int sort_tables(struct printout *p, const char *column)
{
	bool any = false;

	for (unsigned int i = 0; column && i < p->n; i++) {
		int err = table_sort(p->tables[i], column);

		if (err == -ENOMEM) {
			log_error("cannot sort table '%s': out of memory",
				  table_name(p->tables[i]));
			return EXIT_FAIL;
		}
		any |= !err;
	}
	return !column || any ? 0 : no_such_column(p, column);
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

static int name_column(const struct table *t)
{
	for (size_t i = 0; i < sizeof(name_columns) / sizeof(name_columns[0]); i++) {
		int at = table_column(t, name_columns[i]);

		if (at >= 0)
			return at;
	}
	return -ENOENT;
}

static int filter_tables(struct printout *p)
{
	bool any = false;

	for (unsigned int i = 0; p->has_filter && i < p->n; i++) {
		struct name_filter f = { &p->filter, name_column(p->tables[i]) };

		if (f.column < 0)
			continue;
		any = true;
		table_keep(p->tables[i], matches, &f);
	}
	if (any || !p->has_filter)
		return 0;
	log_error("option '--filter' needs a table with names; add '--table calls'");
	return EXIT_USAGE;
}

/* For programs, and who names tables, all rows are there. */
static void cut_tables(struct printout *p, const struct options *o)
{
	bool is_read = !o->tables && (o->format == FORMAT_TEXT || o->format == FORMAT_MD);
	size_t most = o->top ? o->top : is_read ? ROWS_UNASKED : 0;

	for (unsigned int i = 0; most && i < p->n; i++)
		table_top(p->tables[i], most, o->top);
}

static int prepare(struct printout *p, const struct options *o, const struct model *m,
		   uint64_t now_ns)
{
	int rc = pick_tables(p, o);

	if (!rc)
		rc = compile_filter(p, o);
	if (!rc)
		rc = build_tables(p, o, m, now_ns);
	if (!rc)
		rc = filter_tables(p);
	if (!rc)
		rc = sort_tables(p, o->sort);
	if (!rc)
		cut_tables(p, o);
	return rc;
}

static bool is_shown(enum shown shown, const struct table *t, const struct model *m)
{
	switch (shown) {
	case WITH_DEVICES:
		return devices_count(model_devices(m)) || table_rows(t);
	case WITH_ROWS:
		return table_rows(t);
	default:
		return true;
	}
}

/* Where nobody asked for them by name, the words below the tables are enough. */
static void leave_out_empty(struct printout *p, const struct options *o, const struct model *m)
{
	unsigned int kept = 0;

	if (o->tables || o->format == FORMAT_JSON)
		return;
	for (unsigned int i = 0; i < p->n; i++) {
		if (!is_shown(builders[p->pick[i]].shown, p->tables[i], m)) {
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
	for (unsigned int i = 0; i < TABLES; i++)
		table_free(p->tables[i]);
	if (p->has_filter)
		regfree(&p->filter);
}

static bool shows_stacks(const struct printout *p, const struct options *o)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (builders[p->pick[i]].build == build_offcpu)
			return true;
	return o->by == CALLS_BY_STACK;
}

int print_check(const struct options *o)
{
	struct funcs *none = calloc(1, sizeof(*none));
	struct model *m = none ? model_new(none) : NULL;
	struct printout p = { 0 };
	int rc = EXIT_FAIL;

	if (m)
		rc = prepare(&p, o, m, 0);
	else
		log_error("cannot prepare the report: out of memory");
	if (!rc && o->stacks && !shows_stacks(&p, o) && !o->capture)
		log_warn("option '--stacks' takes stacks that this report does not show; give '--by stack'");
	printout_free(&p);
	model_free(m);
	free(none);
	return rc ? rc : out_check(o->output);
}

static void render(struct strbuf *out, const struct options *o, const struct printout *p,
		   const struct summary *s)
{
	struct strbuf head = STRBUF_INIT, verdict = STRBUF_INIT, foot = STRBUF_INIT;
	struct strpool *pool = strpool_new();
	unsigned int columns = out_columns(o->output);
	struct meta_pair pairs[SUMMARY_META];
	struct meta meta = { .v = pairs };

	summary_head(&head, s);
	if (verdict_add(&verdict, s->model, s->now_ns))
		out->failed = true;
	summary_foot(&foot, s);
	if (pool)
		meta.n = summary_meta(pairs, s, verdict.s, pool);
	report_render(out, &(struct report){
		.meta = &meta, .tables = p->tables, .n_tables = p->n, .head = head.s,
		.verdict = verdict.s, .foot = foot.s, .wide = o->wide, .columns = columns,
		.ascii = columns && out_is_ascii(),
		.name_width = columns ? num_max(columns / 4, NAME_WIDTH_MIN) : NAME_WIDTH,
	}, (enum format)o->format);
	out->failed |= !pool || head.failed || foot.failed;
	strpool_free(pool);
	strbuf_free(&head);
	strbuf_free(&verdict);
	strbuf_free(&foot);
}

static int judge_loss(const struct options *o, const struct summary *s)
{
	if (s->lost_share <= o->max_loss)
		return EXIT_OK;
	log_warn("%.3g %% of the events were lost, more than --max-loss %.3g%%; "
		 "measure with a larger --ring-size", s->lost_share * 100, o->max_loss * 100);
	return EXIT_PARTIAL;
}

int print_report(const struct options *o, const struct model *m, const struct print_extra *extra)
{
	struct summary s = summary_read(m, extra);
	struct strbuf out = STRBUF_INIT;
	struct printout p = { 0 };
	int rc = prepare(&p, o, m, s.now_ns);

	if (!rc) {
		leave_out_empty(&p, o, m);
		if (extra && extra->again && o->format != FORMAT_JSON)
			strbuf_addch(&out, '\n');
		render(&out, o, &p, &s);
		rc = out_write(o->output, &out);
	}
	strbuf_free(&out);
	printout_free(&p);
	if (rc || (extra && extra->unjudged))
		return rc;
	return judge_loss(o, &s);
}

int print_loss(const struct options *o, const struct model *m)
{
	struct summary s = summary_read(m, NULL);

	return judge_loss(o, &s);
}
