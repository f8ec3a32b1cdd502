// SPDX-License-Identifier: BSD-3-Clause
/* The schema of events: what every row of it promises, and copies that are made by it. */
#include "lib/capture_lib.h"

#include <string.h>

#include "event/schema.h"
#include "lib/test.h"

/* Does the member's name begin with the payload's of the kind's first member? */
static bool same_payload(const struct event_field *a, const struct event_field *b)
{
	const size_t len = strcspn(a->name, ".");

	return len == strcspn(b->name, ".") && !strncmp(a->name, b->name, len);
}

TEST_TITLED("schema: every member lies in its payload, apart from the others",
	    every_member_lies_in_its_payload_and_apart_from_the_others)
{
	for (unsigned int kind = 0; kind < EVENT_KIND_END; kind++) {
		const struct event_schema *s = event_schema(kind);
		uint8_t used[sizeof(struct event)] = { 0 };

		if (!s)
			continue;
		assert_true(s->n <= EVENT_FIELDS_MAX && s->bytes <= sizeof(struct event));
		for (uint32_t i = 0; i < s->n; i++) {
			const struct event_field *f = &s->fields[i];

			assert_true(same_payload(f, &s->fields[0]));
			assert_true(f->at >= offsetof(struct event, call));
			assert_true(f->at + (size_t)f->size * f->count <= s->bytes);
			for (size_t k = 0; k < (size_t)f->size * f->count; k++)
				assert_int_equal(used[f->at + k]++, 0);
		}
	}
	assert_null(event_schema(0));
	assert_null(event_schema(EVENT_KIND_END));
	assert_string_equal(event_kind_name(EVENT_KIND_END), "?");
}

TEST_TITLED("schema: a clone is equal and has texts of its own",
	    a_clone_is_equal_and_has_texts_of_its_own)
{
	struct events e = { .at = { .n = 0 } };

	lib_seed();
	events_random(&e, 3000);
	for (size_t i = 0; i < e.at.n; i++) {
		const struct event *ev = &e.at.v[i];
		const struct event_schema *s = event_schema(ev->kind);
		struct event *clone = event_clone(ev);

		assert_non_null(clone);
		assert_null(event_diff(ev, &lib_funcs, clone, &lib_funcs));
		for (uint32_t k = 0; k < s->n; k++)
			if (s->fields[k].coding == FIELD_TEXT &&
			    event_field_text(ev, &s->fields[k]))
				assert_ptr_not_equal(event_field_text(ev, &s->fields[k]),
						     event_field_text(clone, &s->fields[k]));
		free(clone);
	}
	events_free(&e);
}

TEST_GROUP(lib_setup, lib_teardown);
