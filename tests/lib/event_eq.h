/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are two events the same, as far as anyone may know? Functions are compared by what their tables
 * say, because a capture brings its own table.
 */
#ifndef TESTS_LIB_EVENT_EQ_H
#define TESTS_LIB_EVENT_EQ_H

#include <string.h>

#include "event/event.h"
#include "event/sample.h"
#include "event/work.h"

static inline bool event_eq_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static inline bool event_eq_func(const struct event *a, const struct funcs *fa,
				 const struct event *b, const struct funcs *fb)
{
	const struct func *x, *y;

	if (!event_has_func(a->kind))
		return a->func == b->func;
	if (a->func >= fa->n || b->func >= fb->n)
		return false;
	x = &fa->v[a->func];
	y = &fb->v[b->func];
	return event_eq_text(x->name, y->name) && event_eq_text(x->library, y->library) &&
	       x->class == y->class && x->two == y->two;
}

/* The name of the first field that differs; NULL: equal. */
static inline const char *event_diff(const struct event *a, const struct funcs *fa,
				     const struct event *b, const struct funcs *fb)
{
#define EVENT_EQ_FIELD(f) do { if (a->f != b->f) return #f; } while (0)
	EVENT_EQ_FIELD(kind);
	EVENT_EQ_FIELD(has);
	EVENT_EQ_FIELD(dir);
	EVENT_EQ_FIELD(result);
	EVENT_EQ_FIELD(pid);
	EVENT_EQ_FIELD(tid);
	EVENT_EQ_FIELD(seq);
	EVENT_EQ_FIELD(start_ns);
	EVENT_EQ_FIELD(end_ns);
	EVENT_EQ_FIELD(bytes);
	EVENT_EQ_FIELD(stream);
	EVENT_EQ_FIELD(entity);
	EVENT_EQ_FIELD(stack);
	EVENT_EQ_FIELD(blocked_ns);
	EVENT_EQ_FIELD(late_why);
	EVENT_EQ_FIELD(late_ns);
	EVENT_EQ_FIELD(after_late_ns);
	EVENT_EQ_FIELD(shape.shared_bytes);
#undef EVENT_EQ_FIELD
	if (memcmp(a->shape.grid, b->shape.grid, sizeof(a->shape.grid)))
		return "shape.grid";
	if (memcmp(a->shape.block, b->shape.block, sizeof(a->shape.block)))
		return "shape.block";
	if (!event_eq_func(a, fa, b, fb))
		return "func";
	if (!a->work != !b->work || (a->work && memcmp(a->work, b->work, sizeof(*a->work))))
		return "work";
	if (!a->device != !b->device ||
	    (a->device && memcmp(a->device, b->device, sizeof(*a->device))))
		return "device";
	if (!a->sample != !b->sample ||
	    (a->sample && memcmp(a->sample, b->sample, sizeof(*a->sample))))
		return "sample";
	if (!event_eq_text(a->text, b->text))
		return "text";
	return event_eq_text(a->text2, b->text2) ? NULL : "text2";
}

#endif
