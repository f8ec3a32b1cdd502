// SPDX-License-Identifier: BSD-3-Clause
/* The flames in the order of their frames: those below one frame follow each other. */
#include "view/flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"

#define ROW 19			/* pixels from frame to frame; one is the gap */
#define DEPTH_MAX 96
#define NARROWEST 0.0004	/* of the whole */
#define TEXT_MAX_BYTES 160	/* that a frame shows: its tooltip has all */
#define TINTS 6

void markup_add(struct strbuf *out, const char *text)
{
	struct strbuf safe = STRBUF_INIT;

	format_safef(&safe, "%s", text);
	for (const char *c = safe.s; *c; c++)
		if (strchr("<>&\"'", *c))
			strbuf_addf(out, "&#%d;", *c);
		else
			strbuf_addch(out, *c);
	out->failed |= safe.failed;
	strbuf_free(&safe);
}

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

static void add_frame(struct drawing *d, const struct branch *b, size_t depth, double x)
{
	const char *name = frame_at(d, b->from, depth);
	const bool is_last = depth && depth + 1 == d->sorted[b->from]->n;
	struct strbuf text = STRBUF_INIT, label = STRBUF_INIT;
	char *start = strndup(name, TEXT_MAX_BYTES);

	markup_add(&text, name);
	markup_add(&label, start ? start : "");
	strbuf_addf(d->out, "<svg class=\"f f%u\" x=\"%.5g%%\" y=\"%zu\" width=\"%.5g%%\" height=\"%d\">"
			    "<title>%s: %s, %s</title><rect width=\"100%%\" height=\"100%%\"/>"
			    "<text x=\"4\" y=\"13\">%s</text></svg>\n",
		    tint_of(name, is_last), 100 * x, depth * ROW,
		    100 * num_ratio(b->ns, d->all_ns), ROW - 1, text.s, ns_text(b->ns).s,
		    percent_text(num_ratio(b->ns, d->all_ns)).s, label.s);
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
		add_frame(d, &below.v[i], depth, x);
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

void flame_svg_add(struct strbuf *out, const struct flames *f)
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

void flame_svg_add_file(struct strbuf *out, const struct flames *f)
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
		    "<text x=\"8\" y=\"18\">gpuprof: time in calls, and off the CPU outside of them, "
		    "by stack</text>\n"
		    "<svg y=\"28\" width=\"1200\" height=\"%u\">\n%s</svg>\n</svg>\n",
		    height + 36, height, frames.s);
	out->failed |= frames.failed;
	strbuf_free(&frames);
}
