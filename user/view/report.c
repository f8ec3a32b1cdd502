// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which tables, which rows of them, and out: --sort, --top and --filter are the same for each.
 * Knows nothing of where the events came from.
 */
#include "view/report.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "base/exit.h"
#include "view/annotate.h"
#include "view/chart.h"
#include "view/falcon.h"
#include "view/flame.h"
#include "view/output.h"
#include "view/html.h"
#include "view/render.h"
#include "view/screen.h"
#include "view/summary.h"
#include "view/torch_memory.h"
#include "view/tunableop.h"
#include "view/verdict.h"
#include "view/view.h"

#define NAME_WIDTH 48	/* of a cell in text form without --wide; on a terminal a quarter of it */
#define NAME_WIDTH_MIN 24
#define COLUMNS_MAX 512	/* of all tables that a report has */
/* of each table, where all are printed: thousands of threads would bury the rest */
#define ROWS_UNASKED 500

#define TABLES_MAX 32

/* Columns that --filter looks at. */
static const char *const name_columns[] = {
	"function", "kernel", "name", "op", "range", "operator", "layer_type",
};

struct printout {
	const struct view *pick[TABLES_MAX];	/* in the requested order */
	unsigned int n;
	struct table *tables[TABLES_MAX];	/* those that are shown */
	unsigned int n_tables;
	regex_t filter;
	bool has_filter;
	bool has_directory;		/* of csv: a file of each table in it */
};

/* Logs the name that the user may have meant; false: there is none. */
static bool suggest(const char *option, const char *what, const char *word,
		    const char *const *names, size_t n)
{
	const char *near = str_nearest(word, names, n);

	if (near)
		log_error("option '%s': no %s '%s'; did you mean '%s'?", option, what, word, near);
	return near != NULL;
}

static int unknown_table(const char *word, const char *const *names, size_t n)
{
	struct strbuf all = STRBUF_INIT;

	if (suggest("--table", "table", word, names, n))
		return EXIT_USAGE;
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", names[i]);
	log_error("option '--table': no table '%s'; there are %s", word, all.s);
	strbuf_free(&all);
	return EXIT_USAGE;
}

static int pick_table(struct printout *p, const char *name)
{
	const char *names[TABLES_MAX] = { NULL };
	const struct view *v;
	size_t n = 0;

	for (; (v = view_list[n]) != NULL; n++) {
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

/* A file of csv has one table: several need a directory, one that exists or ends in a slash. */
static bool names_directory(const struct report_options *o)
{
	struct stat st;

	if (o->format != FORMAT_CSV || !o->output)
		return false;
	return str_ends_in(o->output, "/") || (!stat(o->output, &st) && S_ISDIR(st.st_mode));
}

static int pick_falcon(struct printout *p, const char *tables)
{
	if (tables && strcmp(tables, view_ops.name) && strcmp(tables, view_modules.name)) {
		log_error("option '--format falcon' is of one table: --table ops or --table "
			  "modules");
		return EXIT_USAGE;
	}
	p->pick[p->n++] = tables && !strcmp(tables, view_modules.name) ? &view_falcon_modules :
									 &view_falcon_operators;
	return 0;
}

static int pick_gemm(struct printout *p, const char *tables)
{
	if (tables && strcmp(tables, view_gemm.name)) {
		log_error("option '--format tunableop' is of one table: --table gemm");
		return EXIT_USAGE;
	}
	p->pick[p->n++] = &view_gemm;
	return 0;
}

static int pick_tables(struct printout *p, const struct report_options *o)
{
	if (o->format == FORMAT_TUNABLEOP)
		return pick_gemm(p, o->tables);
	if (o->format == FORMAT_TORCH_MEMORY || o->format == FORMAT_HTML)
		return 0;
	if (o->format == FORMAT_FALCON)
		return pick_falcon(p, o->tables);
	p->has_directory = names_directory(o);
	if (o->tables)
		return pick_listed(p, o->tables);
	if (o->format == FORMAT_CSV && !p->has_directory)
		return pick_table(p, "calls");
	if (o->format >= FORMAT_TABLES)
		return pick_listed(p, "calls,offcpu");
	for (size_t i = 0; view_list[i]; i++)
		if (view_list[i]->shown != VIEW_WHEN_ASKED)
			p->pick[p->n++] = view_list[i];
	return 0;
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

static int compile_filter(struct printout *p, const struct report_options *o)
{
	bool has_names = false;
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
	for (unsigned int i = 0; i < p->n; i++)
		has_names |= name_column(p->pick[i]) >= 0;
	if (!has_names)
		log_error("option '--filter' needs a table with names; add '--table calls'");
	return has_names ? 0 : EXIT_USAGE;
}

static int unknown_column(const struct printout *p, const char *word)
{
	const struct view *v = p->pick[0];
	struct strbuf list = STRBUF_INIT;
	const char *names[COLUMNS_MAX];
	size_t n = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		for (unsigned int k = 0; k < p->pick[i]->n_columns && n < COLUMNS_MAX; k++)
			names[n++] = p->pick[i]->columns[k].name;
		if (p->pick[i] == &view_calls)
			v = &view_calls;	/* a list of all tables' columns is too long */
	}
	if (suggest("--sort", "column", word, names, n))
		return EXIT_USAGE;
	for (unsigned int i = 0; i < v->n_columns; i++)
		strbuf_addf(&list, "%s%s", i ? ", " : "", v->columns[i].name);
	log_error("option '--sort': no column '%s'; table %s has %s%s", word, v->name, list.s,
		  p->n > 1 ? " (with --table NAME another's are listed)" : "");
	strbuf_free(&list);
	return EXIT_USAGE;
}

/* A column's name, or the title that text shows. */
static int check_sort(const struct printout *p, const struct report_options *o)
{
	for (unsigned int i = 0; o->sort && i < p->n; i++)
		if (column_find(p->pick[i]->columns,
				view_columns(p->pick[i], (enum calls_by)o->by), o->sort) >= 0)
			return 0;
	return o->sort ? unknown_column(p, o->sort) : 0;
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

static int check_directory(const struct printout *p, const struct report_options *o)
{
	if (p->n < 2 || o->format != FORMAT_CSV || p->has_directory)
		return 0;
	log_error("option '--table': csv is one table; give one, or a directory for a file of "
		  "each: -o DIR/ (of stat and report)");
	return EXIT_USAGE;
}

/* The part that needs no snapshot: the tables, their columns and the filter. */
static int choose(struct printout *p, const struct report_options *o)
{
	int rc = pick_tables(p, o);

	if (!rc && o->timeline && o->format != FORMAT_TEXT) {
		log_error("option '--timeline' is text; --format json --table threads,ledger has "
			  "the sums");
		rc = EXIT_USAGE;
	}
	if (!rc && o->annotate && o->format != FORMAT_TEXT) {
		log_error("option '--annotate' is text; --format json --table lines has the "
			  "figures");
		rc = EXIT_USAGE;
	}
	if (!rc)
		rc = check_directory(p, o);
	if (!rc)
		rc = compile_filter(p, o);
	return rc ? rc : check_sort(p, o);
}

/* Filled, filtered, sorted and cut; NULL and a logged error. */
static struct table *make_table(const struct printout *p, const struct view *v,
				const struct report_options *o, const struct view_query *q)
{
	const struct name_filter filter = { &p->filter, name_column(v) };
	/* For programs, and who names tables, all rows are there. */
	bool is_read = !o->tables && (o->format == FORMAT_TEXT || o->format == FORMAT_MD);
	size_t most = o->top ? o->top : is_read ? ROWS_UNASKED : 0;
	struct table *t = view_fill(v, q);

	if (!t) {
		log_error("cannot make table '%s': %s", v->name, strerror(errno));
		return NULL;
	}
	if (p->has_filter && filter.column >= 0 && t->n_rows) {
		table_keep(t, matches, &filter);
		t->none = "no row matches --filter";
	}
	if (o->sort && table_sort(t, o->sort) == -ENOMEM) {
		log_error("cannot sort table '%s': out of memory", v->name);
		table_free(t);
		return NULL;
	}
	if (most)
		table_top(t, most, o->top);
	return t;
}

/* Unless requested by name, the words below the tables are enough for an empty one. */
static bool is_shown(const struct report_options *o, enum view_shown shown, const struct table *t,
		     const struct snapshot *snap)
{
	if (t->n_rows || o->tables || o->format == FORMAT_JSON || o->format == FORMAT_CSV ||
	    o->format > FORMAT_SVG)
		return true;
	return shown == VIEW_WITH_DEVICES ? snap->devices.n : shown != VIEW_WITH_ROWS;
}

static int fill(struct printout *p, const struct report_options *o, const struct snapshot *snap)
{
	const struct view_query q = {
		.snapshot = snap, .by = (enum calls_by)o->by, .prune = o->prune,
		.hides_stacks = !o->wide && o->by != CALLS_BY_STACK &&
				(o->format == FORMAT_TEXT || o->format == FORMAT_MD)
	};

	for (unsigned int i = 0; i < p->n; i++) {
		struct table *t = make_table(p, p->pick[i], o, &q);

		if (!t)
			return EXIT_FAIL;
		if (is_shown(o, (enum view_shown)p->pick[i]->shown, t, snap))
			p->tables[p->n_tables++] = t;
		else
			table_free(t);
	}
	return 0;
}

static void printout_free(struct printout *p)
{
	for (unsigned int i = 0; i < p->n_tables; i++)
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

struct file_name {
	char s[40];
};

static struct file_name csv_name(const char *table)
{
	struct file_name name;

	snprintf(name.s, sizeof(name.s), "%s.csv", table);
	return name;
}

/* Each file of a directory. */
static int check_files(const struct printout *p, const char *dir)
{
	int rc = EXIT_OK;

	for (unsigned int i = 0; !rc && i < p->n; i++)
		rc = output_check_in(dir, csv_name(p->pick[i]->name).s);
	return rc;
}

int report_check(const struct report_options *o)
{
	struct printout p = { 0 };
	int rc = choose(&p, o);

	printout_free(&p);
	if (rc)
		return rc;
	rc = p.has_directory ? check_files(&p, o->output) : output_check(o->output);
	return rc || !o->html ? rc : output_check(o->html);
}

/* The terminal that shows standard output: its columns, 0 for none. */
static unsigned int terminal_columns(const char *path)
{
	struct winsize size;

	return path || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

/* The user's locale has no more characters, as far as is known. */
static bool locale_is_ascii(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !(locale && *locale); i++)
		locale = getenv(names[i]);
	return !locale || !(strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

static void read_size(const char *text, unsigned int *size)
{
	const unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	if (n && n <= INT_MAX)
		*size = (unsigned int)n;
}

/* Of the terminal, else as COLUMNS says; 0: any number. */
static unsigned int text_columns(const char *path)
{
	unsigned int columns = terminal_columns(path);

	if (!columns)
		read_size(getenv("COLUMNS"), &columns);
	return columns;
}

struct screen_shape report_screen_shape(const char *path)
{
	struct screen_shape shape = { .columns = SCREEN_COLUMNS, .lines = SCREEN_LINES,
				      .ascii = locale_is_ascii() };
	const char *columns = getenv("COLUMNS"), *lines = getenv("LINES");
	struct winsize size;

	if (!path && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col) {
		shape.columns = size.ws_col;
		if (size.ws_row)
			shape.lines = size.ws_row - 1;	/* the shell's prompt follows */
		return shape;
	}
	read_size(columns, &shape.columns);
	read_size(lines, &shape.lines);
	return shape;
}

/* Nothing was asked for that only tables have. */
static bool is_screen(const struct report_options *o)
{
	return o->format == FORMAT_TEXT && !o->full && !o->tables && !o->wide && !o->sort &&
	       !o->filter && !o->top && o->by == CALLS_BY_FUNCTION;
}

static void render_screen(struct strbuf *out, const struct report_options *o,
			  const struct summary *s, bool interval)
{
	struct screen_shape shape = report_screen_shape(o->output);
	struct strbuf verdict = STRBUF_INIT;
	struct summary_text text;

	shape.has_color = report_is_colored(o);
	shape.interval = interval;
	out->failed |= verdict_add(&verdict, s->snap) < 0;
	out->failed |= summary_write(&text, s, verdict.s) < 0;
	out->failed |= screen_add(out, s, verdict.s, &text.notes, &shape) < 0;
	summary_text_free(&text);
	strbuf_free(&verdict);
}

static void render_chart(struct strbuf *out, const struct report_options *o,
			 const struct summary *s)
{
	struct screen_shape shape = report_screen_shape(o->output);

	shape.has_color = report_is_colored(o);
	if (o->top)
		shape.lines = (unsigned int)num_min(o->top, UINT_MAX);
	out->failed |= chart_add(out, s, &shape) < 0;
}

static void render(struct strbuf *out, const struct report_options *o, const struct printout *p,
		   const struct summary *s)
{
	const bool is_terminal = terminal_columns(o->output);
	const unsigned int columns = text_columns(o->output);
	struct strbuf verdict = STRBUF_INIT;
	struct summary_text text;

	out->failed |= verdict_add(&verdict, s->snap) < 0;
	out->failed |= summary_write(&text, s, verdict.s) < 0;
	report_render(out, &(struct report){
		.meta = &text.meta, .tables = p->tables, .n_tables = p->n_tables,
		.head = text.head.s, .verdict = verdict.s, .foot = text.foot.s,
		.wide = o->wide, .columns = columns, .sort = o->sort,
		.ascii = is_terminal && locale_is_ascii(), .has_color = report_is_colored(o),
		.name_width = columns ? num_max(columns / 4, NAME_WIDTH_MIN) : NAME_WIDTH,
	}, (enum format)o->format);
	summary_text_free(&text);
	strbuf_free(&verdict);
}

static void render_tunableop(struct strbuf *out, const struct table *gemm)
{
	const size_t left_out = tunableop_add(out, gemm);

	if (left_out)
		log_info("%zu of %zu products are left out: TunableOp does not tune their types or "
			 "functions", left_out, gemm->n_rows);
	if (!gemm->n_rows)
		log_warn("%s", gemm->none);
}

static void render_torch_memory(struct strbuf *out, const struct snapshot *snap)
{
	if (!torch_memory_add(out, snap))
		log_warn("no memory of PyTorch's was recorded: record --torch-memory");
}

static void render_page(struct strbuf *out, const struct summary *s)
{
	struct strbuf verdict = STRBUF_INIT;
	struct summary_text text;

	out->failed |= verdict_add(&verdict, s->snap) < 0;
	out->failed |= summary_write(&text, s, verdict.s) < 0;
	out->failed |= html_add(out, s, verdict.s, &text) < 0;
	summary_text_free(&text);
	strbuf_free(&verdict);
}

static int write_page(const char *path, const struct summary *s)
{
	struct strbuf out = STRBUF_INIT;
	int rc;

	render_page(&out, s);
	rc = output_write(path, &out);
	strbuf_free(&out);
	return rc;
}

static int judge_loss(const struct report_options *o, const struct summary *s)
{
	const struct snapshot_losses *l = &s->losses;
	bool by_rings = l->lost > num_add(l->uncounted, l->unfollowed);

	if (l->share <= o->max_loss)
		return EXIT_OK;
	log_warn("%s%.3g %% of the events were lost, more than --max-loss %.3g%%%s",
		 l->is_at_least ? "at least " : "", l->share * 100, o->max_loss * 100,
		 by_rings ? "; measure with a larger --ring-size" : "");
	return EXIT_PARTIAL;
}

/* All that can be written are; messages name the others. */
static int write_files(const struct printout *p, const char *dir)
{
	struct strbuf out = STRBUF_INIT, names = STRBUF_INIT;
	int rc = EXIT_OK;

	for (unsigned int i = 0; i < p->n_tables; i++) {
		struct file_name name = csv_name(p->tables[i]->name);

		strbuf_reset(&out);
		report_render(&out, &(struct report){ .tables = &p->tables[i], .n_tables = 1 },
			      FORMAT_CSV);
		if (output_write_in(dir, name.s, &out))
			rc = EXIT_FAIL;
		else
			strbuf_addf(&names, "%s%s", names.len ? ", " : "", name.s);
	}
	if (names.len)
		log_info("wrote into %s: %s", dir, names.s);
	strbuf_free(&names);
	strbuf_free(&out);
	return rc;
}

/* Tables, stacks, or the one screen. */
static int print_one(const struct report_options *o, const struct printout *p,
		     const struct summary *s, const struct report_state *st)
{
	struct strbuf out = STRBUF_INIT;
	int rc = EXIT_OK;

	if (st->again && o->format < FORMAT_JSON)
		strbuf_addch(&out, '\n');
	if (o->annotate)
		rc = annotate_add(&out, s->snap, o->annotate, o->full);
	else if (o->timeline)
		render_chart(&out, o, s);
	else if (is_screen(o))
		render_screen(&out, o, s, st->unjudged);
	else if (o->format == FORMAT_FALCON)
		report_render(&out, &(struct report){ .tables = p->tables, .n_tables = 1 },
			      FORMAT_CSV);
	else if (o->format == FORMAT_TORCH_MEMORY)
		render_torch_memory(&out, s->snap);
	else if (o->format == FORMAT_TUNABLEOP)
		render_tunableop(&out, p->tables[0]);
	else if (o->format == FORMAT_HTML)
		render_page(&out, s);
	else if (o->format < FORMAT_TABLES)
		render(&out, o, p, s);
	else
		flame_render(&out, p->tables, p->n_tables, (enum format)o->format);
	if (!rc)
		rc = output_write(o->output, &out);
	strbuf_free(&out);
	return rc;
}

static bool samples_stacks(const struct snapshot *snap)
{
	const char *fact = snapshot_fact(snap, "stacks");

	return fact && !strcmp(fact, "sampled");
}

int report_print(const struct report_options *o, const struct snapshot *snap,
		 const struct report_state *state)
{
	static const struct report_state plain;
	const struct report_state *st = state ? state : &plain;
	struct summary s = summary_read(snap, st->incomplete);
	struct printout p = { 0 };
	int rc = choose(&p, o);

	if (!rc && !is_screen(o) && !o->timeline && !o->annotate)
		rc = fill(&p, o, snap);
	if (!rc && o->by == CALLS_BY_STACK && !snap->stacks.frames.n)
		log_warn("no stack is known: measure with --stacks");
	else if (!rc && o->by == CALLS_BY_STACK && samples_stacks(snap))
		log_info("stacks are known of calls that block and of waits alone, of frequent "
			 "ones sampled: --stacks takes all");
	if (!rc)
		rc = p.has_directory ? write_files(&p, o->output) : print_one(o, &p, &s, st);
	if (!rc && o->html)
		rc = write_page(o->html, &s);
	printout_free(&p);
	return rc || st->unjudged ? rc : judge_loss(o, &s);
}

int report_judge(const struct report_options *o, const struct snapshot *snap)
{
	struct summary s = summary_read(snap, false);

	return judge_loss(o, &s);
}
