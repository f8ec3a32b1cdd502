// SPDX-License-Identifier: BSD-3-Clause
#include "view/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "base/units.h"
#include "view/render.h"
#include "view/view.h"

#define NUMBER_MAX 1000000u	/* lines of a file */
#define NEAR 3u			/* so many around one that did something are shown, too */
#define TAB 8u
#define NAMED 4u		/* files in a message */

/* What is shown of a line, in the order of its columns. */
static const struct {
	const char *name, *title;
	int width;
	bool is_time;
} shown[] = {
	{ "device_ns", "device", 12, true },
	{ "host_ns", "host", 12, true },
	{ "idle_caused_ns", "idle", 12, true },
	{ "syncs", "syncs", 9, false },
	{ "launches", "launches", 10, false },
};

#define SHOWN (sizeof(shown) / sizeof(shown[0]))

struct figures {
	uint64_t v[SHOWN];
	bool is_known[SHOWN];
};

struct annotated {
	const char *path;
	const char *file;		/* as the rows have it; NULL: none matches */
	struct table *table;
	int file_column, line_column, pid_column, column[SHOWN];
	VEC(struct figures) lines;	/* [number - 1] */
	uint64_t pid;			/* 0: of several */
};

/* ---- which rows ------------------------------------------------------------------------------ */

/* Are they the same, or is one the end of the other, behind a slash? */
static bool is_same_file(const char *a, const char *b)
{
	const size_t x = strlen(a), y = strlen(b);
	const char *longer = x > y ? a : b, *shorter = x > y ? b : a;
	const size_t more = x > y ? x - y : y - x;

	return !strcmp(longer + more, shorter) && (!more || longer[more - 1] == '/');
}

static const char *file_of(const struct annotated *a, size_t row)
{
	const struct cell *cells = table_cells(a->table, row);

	return cells[a->file_column].known && cells[a->line_column].known ?
	       cells[a->file_column].s : NULL;
}

/* Cells of one table have equal texts at one address. */
static int refuse(const struct annotated *a, const char *why)
{
	const char *named[NAMED];
	struct strbuf list = STRBUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < a->table->n_rows && n < NAMED; i++) {
		const char *file = file_of(a, i);
		bool is_new = file != NULL;

		for (size_t k = 0; k < n; k++)
			is_new &= named[k] != file;
		if (!is_new)
			continue;
		named[n++] = file;
		format_safef(&list, "%s%s", n > 1 ? ", " : "", file);
	}
	if (n)
		log_error("option '--annotate': %s '%s'; lines are known of %s", why, a->path,
			  list.s);
	else
		log_error("option '--annotate': no line of source is known; record a Python "
			  "program with 'record --stacks'");
	strbuf_free(&list);
	return EXIT_FAIL;
}

/* The file that the path means: exactly, else the only one that it may be. */
static int choose_file(struct annotated *a)
{
	const char *path = strncmp(a->path, "./", 2) ? a->path : a->path + 2;
	bool several = false;

	for (size_t i = 0; i < a->table->n_rows; i++) {
		const char *file = file_of(a, i);

		if (!file || file == a->file || !is_same_file(file, path))
			continue;
		if (!strcmp(file, path)) {
			a->file = file;
			return EXIT_OK;
		}
		several |= a->file != NULL;
		a->file = file;
	}
	if (several)
		return refuse(a, "several files end in");
	return a->file ? EXIT_OK : refuse(a, "no call is on a line of");
}

/* 0 or -ENOMEM. */
static int add_figures(struct annotated *a, const struct cell *cells)
{
	const uint64_t number = cells[a->line_column].u;
	struct figures *f;

	if (!number || number > NUMBER_MAX)
		return 0;
	while (a->lines.n < number) {
		f = VEC_PUSH(&a->lines);
		if (!f)
			return -ENOMEM;
		*f = (struct figures){ 0 };
	}
	f = &a->lines.v[number - 1];
	for (size_t i = 0; i < SHOWN; i++) {
		const struct cell *c = &cells[a->column[i]];

		f->is_known[i] |= c->known;
		f->v[i] = num_add(f->v[i], c->known ? c->u : 0);
	}
	return 0;
}

static int read_rows(struct annotated *a)
{
	bool is_first = true;
	int err = 0;

	for (size_t i = 0; i < a->table->n_rows && !err; i++) {
		const struct cell *cells = table_cells(a->table, i);

		if (file_of(a, i) != a->file)
			continue;
		if (is_first)
			a->pid = cells[a->pid_column].u;
		else if (a->pid != cells[a->pid_column].u)
			a->pid = 0;
		is_first = false;
		err = add_figures(a, cells);
	}
	return err;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool did_something(const struct annotated *a, uint64_t number)
{
	const struct figures *f = number && number <= a->lines.n ? &a->lines.v[number - 1] : NULL;

	for (size_t i = 0; f && i < SHOWN; i++)
		if (f->v[i])
			return true;
	return false;
}

static bool is_near(const struct annotated *a, uint64_t number)
{
	for (uint64_t i = num_sub(number, NEAR); i <= number + NEAR; i++)
		if (did_something(a, i))
			return true;
	return false;
}

static void add_numbers(struct strbuf *out, const struct annotated *a, uint64_t number)
{
	static const struct figures none;
	const struct figures *f = number <= a->lines.n ? &a->lines.v[number - 1] : &none;

	for (size_t i = 0; i < SHOWN; i++)
		strbuf_addf(out, "%*s", shown[i].width,
			    !did_something(a, number) ? "" :
			    !f->is_known[i]	      ? "?" :
			    !f->v[i]		      ? "-" :
			    shown[i].is_time	      ? ns_text(f->v[i]).s :
							count_text(f->v[i]).s);
}

static void add_source(struct strbuf *out, const char *text, size_t len)
{
	struct strbuf line = STRBUF_INIT;

	for (size_t i = 0; i < len && text[i] != '\n'; i++) {
		if (text[i] != '\t') {
			strbuf_addch(&line, text[i]);
			continue;
		}
		do {
			strbuf_addch(&line, ' ');
		} while (line.len % TAB);
	}
	format_safef(out, "%s", line.s);
	out->failed |= line.failed;
	strbuf_free(&line);
}

static void add_line(struct strbuf *out, const struct annotated *a, uint64_t number,
		     const char *text, size_t len)
{
	add_numbers(out, a, number);
	strbuf_addf(out, "%6" PRIu64 "  ", number);
	add_source(out, text, len);
	strbuf_addch(out, '\n');
}

static void add_head(struct strbuf *out, const struct annotated *a, const struct snapshot *snap)
{
	const char *comm = NULL;

	for (size_t i = 0; i < snap->processes.n; i++)
		if (snap->processes.v[i].pid == a->pid)
			comm = snap->processes.v[i].comm;
	format_safef(out, "%s: ", a->file);
	if (!a->pid)
		strbuf_addstr(out, "of several processes, added up");
	else
		strbuf_addf(out, "of pid %" PRIu64, a->pid);
	if (a->pid && comm && *comm)
		format_safef(out, " (%s)", comm);
	strbuf_addstr(out, "\n\n");
	for (size_t i = 0; i < SHOWN; i++)
		strbuf_addf(out, "%*s", shown[i].width, shown[i].title);
	strbuf_addch(out, '\n');
}

static void add_lines(struct strbuf *out, const struct annotated *a, FILE *source, bool whole)
{
	static const char ends[] = "(the file ends before this line)";
	bool is_left_out = false;
	uint64_t number = 0;
	char *text = NULL;
	size_t size = 0;
	ssize_t len;

	while (number < NUMBER_MAX && (len = getline(&text, &size, source)) > 0) {
		number++;
		if (whole || is_near(a, number)) {
			strbuf_addstr(out, is_left_out ? "...\n" : "");
			add_line(out, a, number, text, (size_t)len);
		}
		is_left_out = !whole && !is_near(a, number);
	}
	for (uint64_t i = number + 1; i <= a->lines.n; i++)
		if (did_something(a, i))
			add_line(out, a, i, ends, sizeof(ends) - 1);
	free(text);
}

/* Later than it ran: other lines may be meant. */
static void warn_newer(const struct annotated *a, const struct snapshot *snap, FILE *source)
{
	const char *offset = snapshot_fact(snap, "wall_offset_ns");
	struct stat st;

	if (!offset || fstat(fileno(source), &st))
		return;
	if ((uint64_t)st.st_mtim.tv_sec * NS_PER_SEC >
	    strtoull(offset, NULL, 10) + snap->session.start_ns)
		log_warn("%s is newer than the recording: its lines may be others now", a->path);
}

static int annotate(struct strbuf *out, struct annotated *a, const struct snapshot *snap,
		    bool whole)
{
	int rc = choose_file(a);
	FILE *source;

	if (rc)
		return rc;
	source = fopen(a->path, "re");
	if (!source) {
		log_error("cannot read %s: %s; give --annotate the path of its source here",
			  a->path, strerror(errno));
		return EXIT_FAIL;
	}
	out->failed |= read_rows(a) < 0;
	warn_newer(a, snap, source);
	add_head(out, a, snap);
	add_lines(out, a, source, whole);
	fclose(source);
	return EXIT_OK;
}

int annotate_add(struct strbuf *out, const struct snapshot *snap, const char *path, bool whole)
{
	const struct view_query query = { .snapshot = snap };
	struct annotated a = { .path = path, .table = view_fill(&view_lines, &query) };
	int rc;

	if (!a.table) {
		log_error("cannot annotate %s: %s", path, strerror(errno));
		return EXIT_FAIL;
	}
	a.pid_column = table_column(a.table, "pid");
	a.file_column = table_column(a.table, "file");
	a.line_column = table_column(a.table, "line");
	for (size_t i = 0; i < SHOWN; i++)
		a.column[i] = table_column(a.table, shown[i].name);
	rc = annotate(out, &a, snap, whole);
	VEC_FREE(&a.lines);
	table_free(a.table);
	return rc;
}
