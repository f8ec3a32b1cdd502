/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are two events the same, as far as any consumer may know? Payloads are compared by the schema;
 * functions by what their tables say, because a capture brings its own table.
 */
#ifndef TESTS_LIB_EVENT_EQ_H
#define TESTS_LIB_EVENT_EQ_H

#include <string.h>

#include "event/schema.h"

static inline bool event_eq_func(const struct event *a, const struct funcs *fa,
				 const struct event *b, const struct funcs *fb)
{
	const struct func *x, *y;

	if (!event_has_func(a->kind))
		return true;
	if (a->func >= fa->n || b->func >= fb->n)
		return false;
	x = &fa->v[a->func];
	y = &fb->v[b->func];
	return !strcmp(x->name, y->name) && !strcmp(x->library, y->library) &&
	       x->class == y->class && x->two == y->two;
}

/* Are the payloads alike in this member? */
static inline bool event_field_equal(const struct event *a, const struct event *b, const struct event_field *f)
{
	const char *x, *y;

	if (f->coding == FIELD_HASH)
		return true;	/* of texts that are compared */
	if (f->coding != FIELD_TEXT)
		return !memcmp((const char *)a + f->at, (const char *)b + f->at,
			       (size_t)f->size * f->count);
	x = event_field_text(a, f);
	y = event_field_text(b, f);
	return x && y ? !strcmp(x, y) : x == y;
}

/* The name of the first field that differs; NULL: equal. */
static inline const char *event_diff(const struct event *a, const struct funcs *fa,
				     const struct event *b, const struct funcs *fb)
{
	const struct event_schema *s = event_schema(a->kind);

#define EVENT_EQ_FIELD(f) do { if (a->f != b->f) return #f; } while (0)
	EVENT_EQ_FIELD(kind);
	EVENT_EQ_FIELD(has);
	EVENT_EQ_FIELD(process);
	EVENT_EQ_FIELD(pid);
	EVENT_EQ_FIELD(tid);
	EVENT_EQ_FIELD(seq);
	EVENT_EQ_FIELD(start_ns);
	EVENT_EQ_FIELD(end_ns);
#undef EVENT_EQ_FIELD
	for (uint32_t i = 0; s && i < s->n; i++)
		if (!event_field_equal(a, b, &s->fields[i]))
			return s->fields[i].name;
	return event_eq_func(a, fa, b, fb) ? NULL : "func";
}

#endif
