/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the fields of one capture row with a length, whose bytes anybody may have written. Numbers are
 * read without a look at the row's end: who reads a row asks at its end whether it ended well, and before
 * a number of it is used for anything but another number. So many bytes that no row's numbers take more
 * can be read behind it (DECODE_SLACK). Texts are checked at once. Knows no row.
 */
#ifndef CAPTURE_CAPTURE_ROW_H
#define CAPTURE_CAPTURE_ROW_H

#include <gpuprof/capture.h>

#include <stdbool.h>
#include <string.h>

#include "event/event.h"
#include "base/varint.h"

struct row {
	const uint8_t *p;
	const uint8_t *end;
};

static inline uint64_t row_get(struct row *r)
{
	uint64_t v;

	r->p = varint_get(r->p, &v);
	return v;
}

static inline bool row_ended_well(const struct row *r)
{
	return r->p <= r->end;
}

static inline bool row_u32(struct row *r, uint32_t *out)
{
	uint64_t v = row_get(r);

	*out = (uint32_t)v;
	return v <= UINT32_MAX;
}

static inline bool row_u8(struct row *r, uint8_t *out)
{
	uint64_t v = row_get(r);

	*out = (uint8_t)v;
	return v <= UINT8_MAX;
}

static inline bool row_s32(struct row *r, int32_t *out)
{
	int64_t v = varint_unzigzag(row_get(r));

	*out = (int32_t)v;
	return v >= INT32_MIN && v <= INT32_MAX;
}

static inline const char *row_text(struct row *r)
{
	uint64_t len = row_get(r);
	const char *s = (const char *)r->p;

	if (!row_ended_well(r) || len > GP_TEXT_MAX || len >= (uint64_t)(r->end - r->p))
		return NULL;
	if (strnlen(s, len + 1) != len)
		return NULL;
	r->p += len + 1;
	return s;
}

static inline bool row_shape(struct row *r, struct launch_shape *s)
{
	bool ok = true;

	for (int i = 0; i < 3; i++)
		ok &= row_u32(r, &s->grid[i]);
	for (int i = 0; i < 3; i++)
		ok &= row_u32(r, &s->block[i]);
	s->shared_bytes = row_get(r);
	return ok;
}

#endif
