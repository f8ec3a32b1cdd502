/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each kind of event consists of: one table of its payload's members, from which captures are
 * encoded and decoded, events copied, compared and made up by fuzzers. A member's place in its list
 * is its bit in captures: append only.
 */
#ifndef EVENT_SCHEMA_H
#define EVENT_SCHEMA_H

#include "event/event.h"

enum field_coding {
	FIELD_NUMBER = 1,	/* unsigned, of 1, 2, 4 or 8 bytes; or several of 4 */
	FIELD_SIGNED,		/* int32_t */
	FIELD_TEXT,		/* const char *; NULL: unknown */
	FIELD_CHARS,		/* an array with a text and 0s to its end */
	FIELD_VALUES,		/* struct device_sample */
	FIELD_HASH,		/* of the text before it; in no capture */
};

struct event_field {
	const char *name;	/* as in event.h: "call.bytes" */
	uint16_t at;		/* in struct event */
	uint8_t size;		/* bytes, of one */
	uint8_t count;
	uint8_t coding;
	bool shared;		/* many events have it alike: captures write it once a block */
};

#define EVENT_FIELDS_MAX 32	/* of a kind */

struct event_schema {
	const char *name;	/* of the kind */
	const struct event_field *fields;
	uint32_t n;
	uint32_t bytes;		/* of struct event, up to the payload's end */
};

const struct event_schema *event_schema(unsigned int kind);	/* NULL: no such kind */
uint32_t event_schema_shared(const struct event_schema *s);	/* the shared fields, as bits */

static inline void *event_field_at(struct event *ev, const struct event_field *f)
{
	return (char *)ev + f->at;
}

/* One of a number's values. */
static inline uint64_t event_field_get(const struct event *ev, const struct event_field *f,
				       unsigned int i)
{
	const char *at = (const char *)ev + f->at + (size_t)i * f->size;

	switch (f->size) {
	case 1: return *(const uint8_t *)at;
	case 2: return *(const uint16_t *)at;
	case 4: return *(const uint32_t *)at;
	default: return *(const uint64_t *)at;
	}
}

static inline const char *event_field_text(const struct event *ev, const struct event_field *f)
{
	return *(const char *const *)((const char *)ev + f->at);
}

/* Is it anything but 0, NULL or ""? */
bool event_field_is_set(const struct event *ev, const struct event_field *f);

/* Are the payloads alike in this member? */
bool event_field_equal(const struct event *a, const struct event *b, const struct event_field *f);

#endif
