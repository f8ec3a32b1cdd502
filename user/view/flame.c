// SPDX-License-Identifier: BSD-3-Clause
#include "view/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/flame_svg.h"

/* ---- reading the tables --------------------------------------------------------------------- */

static void add_frame(struct flames *f, const char *text, size_t len)
{
	const char **frame = VEC_PUSH(&f->frames);
	struct strbuf name = STRBUF_INIT;

	strbuf_add(&name, text, len);
	if (frame)
		*frame = name.failed ? NULL : strpool_add(f->names, name.s);
	f->failed |= !frame || !*frame;
	strbuf_free(&name);
}

static const char *last_frame(const char *stack)
{
	const char *at = strrchr(stack, ';');

	return at ? at + 1 : stack;
}

static void add_stack(struct flames *f, const char *stack)
{
	for (;; stack++) {
		const size_t len = strcspn(stack, ";");

		add_frame(f, stack, len);
		stack += len;
		if (!*stack)
			return;
	}
}

struct of_table {		/* columns; -ENOENT: it has none */
	int pid, comm, stack, ns, function, reason;
};

static const char *text_in(const struct cell *row, int column)
{
	return column >= 0 && row[column].known ? row[column].s : NULL;
}

static void add_row(struct flames *f, const struct cell *row, const struct of_table *at)
{
	const char *comm = text_in(row, at->comm), *stack = text_in(row, at->stack);
	const char *function = text_in(row, at->function), *reason = text_in(row, at->reason);
	struct flame flame = { .ns = row[at->ns].u, .first = f->frames.n };
	struct strbuf text = STRBUF_INIT;
	struct flame *added;

	if (!row[at->ns].known || !flame.ns)
		return;
	format_safef(&text, "%s", comm ? comm : "process");
	if (row[at->pid].known)
		strbuf_addf(&text, " (pid %" PRIu64 ")", row[at->pid].u);
	add_frame(f, text.s, text.len);
	add_stack(f, stack ? stack : FLAME_NO_STACK);
	if (function && (!stack || strcmp(last_frame(stack), function) != 0))
		add_frame(f, function, strlen(function));
	strbuf_reset(&text);
	strbuf_addf(&text, "[%s]", reason ? reason : "");
	if (reason)
		add_frame(f, text.s, text.len);
	flame.n = f->frames.n - flame.first;
	added = VEC_PUSH(&f->all);
	if (added)
		*added = flame;
	f->failed |= !added || text.failed;
	strbuf_free(&text);
}

void flames_read(struct flames *f, const struct table *t, const char *column)
{
	const struct of_table at = {
		.pid = column_find(t->columns, t->n_columns, "pid"),
		.comm = column_find(t->columns, t->n_columns, "comm"),
		.stack = column_find(t->columns, t->n_columns, "stack"),
		.ns = column_find(t->columns, t->n_columns, column),
		.function = column_find(t->columns, t->n_columns, "function"),
		.reason = column_find(t->columns, t->n_columns, "reason"),
	};

	if (!f->names)
		f->names = strpool_new();
	f->failed |= !f->names;
	if (at.pid < 0 || at.ns < 0 || f->failed)
		return;
	for (size_t i = 0; i < t->n_rows; i++)
		add_row(f, t->cells + i * t->n_columns, &at);
}

void flames_free(struct flames *f)
{
	VEC_FREE(&f->all);
	VEC_FREE(&f->frames);
	strpool_free(f->names);
}

/* ---- forms ---------------------------------------------------------------------------------- */

static void add_folded(struct strbuf *out, const struct flames *f)
{
	for (size_t i = 0; i < f->all.n; i++) {
		const struct flame *flame = &f->all.v[i];

		for (size_t k = 0; k < flame->n; k++)
			format_safef(out, "%s%s", k ? ";" : "", f->frames.v[flame->first + k]);
		strbuf_addf(out, " %" PRIu64 "\n", flame->ns);
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Frames of one name are one, as speedscope knows them by their number. */
static size_t sort_names(const char **names, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
		if (!i || names[i] != names[kept - 1])
			names[kept++] = names[i];
	return kept;
}

static void add_names(struct strbuf *out, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		strbuf_addstr(out, i ? ",\n {\"name\": " : "\n {\"name\": ");
		render_json_string(out, names[i]);
		strbuf_addch(out, '}');
	}
}

static size_t number_of(const char *frame, const char *const *names, size_t n)
{
	const char *const *name = bsearch(&frame, names, n, sizeof(*names), compare_names);

	return (size_t)(name - names);
}

/* The profile of one process: the flames that begin with its name. */
static void add_profile(struct strbuf *out, const struct flames *f, const char *process,
			const char *const *names, size_t n)
{
	struct strbuf weights = STRBUF_INIT;
	const char *separator = "";
	uint64_t sum_ns = 0;

	strbuf_addstr(out, "{\"type\": \"sampled\", \"unit\": \"nanoseconds\", \"name\": ");
	render_json_string(out, process);
	strbuf_addstr(out, ", \"startValue\": 0, \"samples\": [");
	for (size_t i = 0; i < f->all.n; i++) {
		const size_t first = f->all.v[i].first;

		if (f->frames.v[first] != process)
			continue;
		strbuf_addf(out, "%s[", separator);
		for (size_t k = 0; k < f->all.v[i].n; k++)
			strbuf_addf(out, "%s%zu", k ? "," : "",
				    number_of(f->frames.v[first + k], names, n));
		strbuf_addch(out, ']');
		strbuf_addf(&weights, "%s%" PRIu64, separator, f->all.v[i].ns);
		sum_ns += f->all.v[i].ns;
		separator = ",";
	}
	strbuf_addf(out, "],\n \"weights\": [%s], \"endValue\": %" PRIu64 "}", weights.s, sum_ns);
	out->failed |= weights.failed;
	strbuf_free(&weights);
}

static void add_speedscope(struct strbuf *out, const struct flames *f)
{
	VEC(const char *) names = { 0 }, processes = { 0 };
	const char **name;

	out->failed |= !VEC_COPY(&names, &f->frames);
	for (size_t i = 0; i < f->all.n; i++) {
		name = VEC_PUSH(&processes);
		if (name)
			*name = f->frames.v[f->all.v[i].first];
		out->failed |= !name;
	}
	names.n = sort_names(names.v, names.n);
	processes.n = sort_names(processes.v, processes.n);
	strbuf_addstr(out, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
			   "\"exporter\": \"gpuprof\", \"name\": \"gpuprof\",\n"
			   "\"shared\": {\"frames\": [");
	add_names(out, names.v, names.n);
	strbuf_addstr(out, "]},\n\"profiles\": [\n");
	for (size_t i = 0; i < processes.n; i++) {
		strbuf_addstr(out, i ? ",\n" : "");
		add_profile(out, f, processes.v[i], names.v, names.n);
	}
	strbuf_addstr(out, "]}\n");
	VEC_FREE(&names);
	VEC_FREE(&processes);
}

void flame_render(struct strbuf *out, struct table *const *tables, unsigned int n, enum format f)
{
	struct flames flames = { 0 };

	for (unsigned int i = 0; i < n; i++)
		flames_read(&flames, tables[i], "total_ns");
	out->failed |= flames.failed;
	if (f == FORMAT_FOLDED)
		add_folded(out, &flames);
	else if (f == FORMAT_SVG)
		flame_svg_add_file(out, &flames);
	else
		add_speedscope(out, &flames);
	flames_free(&flames);
}
