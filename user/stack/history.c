// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Files are opened while the process maps them: later may be too late. */
#include "stack/history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/sorted.h"
#include "base/time.h"

#define ADDRESS_END (1ull << 47)	/* vsyscall and the like lie above */

struct adding {
	struct history_reading *r;
	struct images *images;
	struct map seen;	/* images by number and bias */
	struct history_span of;	/* image and bias of the parts to come */
	bool failed;
};

static void add_span(void *ctx, uint64_t vaddr, uint64_t len)
{
	struct adding *a = ctx;
	struct history_span *s = VEC_PUSH(&a->r->spans);

	a->failed |= !s;
	if (!s)
		return;
	*s = a->of;
	s->start = a->of.bias + vaddr;
	s->end = s->start + len;
}

static const struct stack_module *module_at(const struct stack_modules *ms, uint64_t start)
{
	struct stack_space space = { .modules = ms->module.v, .n_modules = ms->module.n };

	return stack_find_module(&space, start);
}

static int visit(void *ctx, const struct target_mapping *m)
{
	struct adding *a = ctx;
	const struct stack_module *module = m->code ? module_at(&a->r->modules, m->start) : NULL;
	int image = module && module->bias_known ? images_find(a->images, m) : 0;
	bool is_new;

	if (image <= 0)
		return image;
	a->of = (struct history_span){ .bias = module->bias, .image = (unsigned int)image };
	if (!map_put(&a->seen, map_hash(module->bias) ^ (uint64_t)image, &is_new))
		return -ENOMEM;
	if (is_new)
		images_each_loaded(a->images, (unsigned int)image, add_span, a);
	return a->failed ? -ENOMEM : 0;
}

static int compare_spans(const void *a, const void *b)
{
	const struct history_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* All code is in two ranges: what lies on either side of the widest gap. */
static void describe_code(const struct stack_modules *ms, struct gp_code *code)
{
	uint64_t start[2] = { 0 }, end[2] = { 0 }, widest = 0, last = 0;

	for (size_t i = 0; i < ms->module.n && ms->module.v[i].end <= ADDRESS_END; i++) {
		const struct stack_module *m = &ms->module.v[i];

		if (!i)
			start[0] = m->start;
		if (i && m->start - last > widest) {
			widest = m->start - last;
			end[0] = last;
			start[1] = m->start;
		}
		end[widest ? 1 : 0] = last = m->end;
	}
	for (int i = 0; i < 2; i++) {
		code->start[i] = start[i];
		code->len[i] = end[i] - start[i];
	}
}

static void free_reading(struct history_reading *r)
{
	stack_modules_free(&r->modules);
	VEC_FREE(&r->spans);
}

static int read_maps(struct history *h, struct images *images, struct history_reading *r)
{
	struct stack_memory *memory = stack_memory_new(h->pid);
	struct adding a = { .r = r, .images = images };
	uint64_t start_ns = time_now_ns();	/* what is mapped meanwhile may be missed */
	int err = memory ? stack_modules_read(&r->modules, h->pid, memory) : -ENOMEM;

	stack_memory_free(memory);
	if (!err)
		err = target_each_mapping(h->pid, visit, &a);
	map_free(&a.seen);
	r->time_ns = start_ns;
	if (r->spans.n)
		qsort(r->spans.v, r->spans.n, sizeof(*r->spans.v), compare_spans);
	return !err && !r->modules.module.n ? -ESRCH : err;
}

int history_read(struct history *h, struct images *images, struct gp_code *code)
{
	struct history_reading r = { 0 }, *place;
	int err = read_maps(h, images, &r);

	if (!err && h->readings.n == HISTORY_READINGS) {
		free_reading(&h->readings.v[0]);
		VEC_DROP_FIRST(&h->readings, 1);
	}
	place = err ? NULL : VEC_PUSH(&h->readings);
	if (!place) {
		free_reading(&r);
		return err ? err : -ENOMEM;
	}
	*place = r;
	describe_code(&r.modules, code);
	code->epoch = ++h->epoch;
	return 0;
}

const struct history_reading *history_at(const struct history *h, uint64_t time_ns)
{
	const struct history_reading *found = NULL;

	for (size_t i = 0; i < h->readings.n; i++) {
		const struct history_reading *r = &h->readings.v[i];

		if ((r->time_ns < h->exec_ns) != (time_ns < h->exec_ns))
			continue;
		found = r;
		if (r->time_ns >= time_ns)
			break;
	}
	return found;
}

const struct history_span *history_span(const struct history_reading *r, uint64_t address)
{
	const size_t n = SORTED_UP_TO(r->spans.v, r->spans.n, start, address);

	return n && address < r->spans.v[n - 1].end ? &r->spans.v[n - 1] : NULL;
}

void history_free(struct history *h)
{
	for (size_t i = 0; i < h->readings.n; i++)
		free_reading(&h->readings.v[i]);
	VEC_FREE(&h->readings);
}
