// SPDX-License-Identifier: BSD-3-Clause
#include "view/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/vec.h"

#define ROW 19			/* pixels from frame to frame; one is the gap */
#define DEPTH_MAX 96
#define NARROWEST 0.0004	/* of the whole */
#define TEXT_MAX_BYTES 160	/* that a frame shows: its tooltip has all */
#define TINTS 6
#define NO_STACK "[no stack]"

/* The frames of a row, outermost first: its process, those of its stack, the call or the reason. */
struct flame {
	uint64_t ns;
	size_t first, n;		/* its frames: index and number */
};

struct flames {
	VEC(struct flame) all;
	VEC(const char *) frames;	/* of the pool: equal ones have one address */
	struct strpool *names;
	bool failed;
};

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
	add_stack(f, stack ? stack : NO_STACK);
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

static void read_table(struct flames *f, const struct table *t, const char *column)
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

static void free_flames(struct flames *f)
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

/* ---- a picture ------------------------------------------------------------------------------- */

/* The flames in the order of their frames: those below one frame follow each other. */

struct drawing {
	struct strbuf *out;
	const struct flames *f;
	const struct flame **sorted;
	uint64_t all_ns;
	unsigned int depth;		/* so many rows are drawn */
	double narrowest;		/* that is drawn, of the whole */
};

/* Flames [from, to) have one frame at a depth. */
struct branch {
	size_t from, to;
	uint64_t ns;
};

static const char *frame_at(const struct drawing *d, size_t flame, size_t depth)
{
	const struct flame *one = d->sorted[flame];

	return depth < one->n ? d->f->frames.v[one->first + depth] : NULL;
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;
	const int c = num_compare(y->ns, x->ns);

	return c ? c : num_compare(x->from, y->from);
}

/* The same function has the same tint everywhere; the last frame, the call or the reason, has one
 * of its own. */
static unsigned int tint_of(const char *name, bool is_last)
{
	uint32_t hash = 2166136261u;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	if (is_last)
		return *name == '[' ? TINTS + 1 : TINTS;
	return hash % TINTS;
}

static void draw_frame(struct drawing *d, const struct branch *b, size_t depth, double x)
{
	const char *name = frame_at(d, b->from, depth);
	const bool is_last = depth && depth + 1 == d->sorted[b->from]->n;
	struct strbuf text = STRBUF_INIT, label = STRBUF_INIT;
	char *start = strndup(name, TEXT_MAX_BYTES);

	render_markup(&text, name);
	render_markup(&label, start ? start : "");
	strbuf_addf(d->out,
		    "<svg class=\"f f%u\" x=\"%.5g%%\" y=\"%zu\" width=\"%.5g%%\" height=\"%d\">"
		    "<title>%s: %s, %s</title><rect width=\"100%%\" height=\"100%%\"/>"
		    "<text x=\"4\" y=\"13\">%s</text></svg>\n",
		    tint_of(name, is_last), 100 * x, depth * ROW, 100 * num_ratio(b->ns, d->all_ns),
		    ROW - 1, text.s, ns_text(b->ns).s, percent_text(num_ratio(b->ns, d->all_ns)).s,
		    label.s);
	d->out->failed |= text.failed || label.failed || !start;
	d->depth = (unsigned int)num_max(d->depth, depth + 1);
	strbuf_free(&text);
	strbuf_free(&label);
	free(start);
}

/* Flames [from, to) have the same frames above depth. */
static void add_level(struct drawing *d, size_t from, size_t to, size_t depth, double x)
{
	VEC(struct branch) below = { 0 };
	struct branch *b = NULL;

	for (size_t i = from; i < to && depth < DEPTH_MAX; i++) {
		const char *name = frame_at(d, i, depth);

		if (!name)
			continue;
		if (!b || name != frame_at(d, b->from, depth)) {
			b = VEC_PUSH(&below);
			d->out->failed |= !b;
			if (!b)
				break;
			*b = (struct branch){ i, i, 0 };
		}
		b->to = i + 1;
		b->ns = num_add(b->ns, d->sorted[i]->ns);
	}
	if (below.n)
		qsort(below.v, below.n, sizeof(*below.v), compare_branches);
	for (size_t i = 0; i < below.n; i++) {
		const double width = num_ratio(below.v[i].ns, d->all_ns);

		if (width < d->narrowest)
			break;
		draw_frame(d, &below.v[i], depth, x);
		add_level(d, below.v[i].from, below.v[i].to, depth + 1, x);
		x += width;
	}
	VEC_FREE(&below);
}

static int compare_flames(const void *a, const void *b, void *flames)
{
	const struct flame *x = *(const struct flame *const *)a,
			   *y = *(const struct flame *const *)b;
	const char *const *frames = ((const struct flames *)flames)->frames.v;
	int c = 0;

	for (size_t i = 0; !c && i < x->n && i < y->n; i++)
		if (frames[x->first + i] != frames[y->first + i])
			c = strcmp(frames[x->first + i], frames[y->first + i]);
	return c ? c : num_compare(x->n, y->n);
}

/* Returns the height of what it appends. */
static unsigned int add_frames(struct strbuf *out, const struct flames *f, double narrowest)
{
	struct drawing d = { .out = out, .f = f, .narrowest = narrowest };

	d.sorted = calloc(f->all.n + 1, sizeof(*d.sorted));
	out->failed |= !d.sorted;
	for (size_t i = 0; d.sorted && i < f->all.n; i++) {
		d.sorted[i] = &f->all.v[i];
		d.all_ns = num_add(d.all_ns, f->all.v[i].ns);
	}
	if (d.sorted && f->all.n)
		qsort_r(d.sorted, f->all.n, sizeof(*d.sorted), compare_flames,
			(void *)(uintptr_t)f);
	if (d.sorted)
		add_level(&d, 0, f->all.n, 0, 0);
	free(d.sorted);
	return d.depth * ROW;
}

static void add_svg(struct strbuf *out, const struct flames *f)
{
	struct strbuf frames = STRBUF_INIT;
	double narrowest = NARROWEST;
	unsigned int height = add_frames(&frames, f, narrowest);

	while (frames.len > FLAME_SVG_BYTES && narrowest < 1) {
		strbuf_reset(&frames);
		height = add_frames(&frames, f, narrowest *= 2);
	}
	if (height)
		strbuf_addf(out, "<svg class=\"flame\" width=\"100%%\" height=\"%u\">\n%s</svg>\n",
			    height, frames.s);
	out->failed |= frames.failed;
	strbuf_free(&frames);
}

static void add_svg_file(struct strbuf *out, const struct flames *f)
{
	struct strbuf frames = STRBUF_INIT;
	const unsigned int height = num_max(add_frames(&frames, f, NARROWEST), ROW);

	strbuf_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"%u\" "
		    "font-family=\"sans-serif\" font-size=\"12\">\n"
		    "<style>.f rect{fill:#f2d0a4}.f1 rect{fill:#f0c08c}.f2 rect{fill:#ecd9b0}"
		    ".f3 rect{fill:#f3c6a5}.f4 rect{fill:#e9cf9f}.f5 rect{fill:#f5dcb8}"
		    ".f6 rect{fill:#9cc4e4}.f7 rect{fill:#e79a92}</style>\n"
		    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		    "<text x=\"8\" y=\"18\">gpuprof: time in calls, and off the CPU outside of "
		    "them, by stack</text>\n"
		    "<svg y=\"28\" width=\"1200\" height=\"%u\">\n%s</svg>\n</svg>\n",
		    height + 36, height, frames.s);
	out->failed |= frames.failed;
	strbuf_free(&frames);
}

/* ---- all ------------------------------------------------------------------------------------ */

void flame_render(struct strbuf *out, struct table *const *tables, unsigned int n, enum format f)
{
	struct flames flames = { 0 };

	for (unsigned int i = 0; i < n; i++)
		read_table(&flames, tables[i], "total_ns");
	out->failed |= flames.failed;
	if (f == FORMAT_FOLDED)
		add_folded(out, &flames);
	else if (f == FORMAT_SVG)
		add_svg_file(out, &flames);
	else
		add_speedscope(out, &flames);
	free_flames(&flames);
}

static bool has_stacks(const struct flames *f)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.v[i].n > 1 && strcmp(f->frames.v[f->all.v[i].first + 1], NO_STACK) != 0)
			return true;
	return false;
}

bool flame_add_svg(struct strbuf *out, const struct table *t, const char *column)
{
	struct flames flames = { 0 };
	bool has;

	read_table(&flames, t, column);
	out->failed |= flames.failed;
	has = has_stacks(&flames);
	if (has)
		add_svg(out, &flames);
	free_flames(&flames);
	return has;
}
