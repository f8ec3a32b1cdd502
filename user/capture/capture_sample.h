/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of devices in captures: both directions of GP_FIELD_SAMPLE. */
#ifndef CAPTURE_CAPTURE_SAMPLE_H
#define CAPTURE_CAPTURE_SAMPLE_H

#include "capture/capture_row.h"
#include "event/sample.h"

static inline uint8_t *sample_put(uint8_t *p, const struct device_sample *s)
{
	uint32_t has = s->has & ((1u << SAMPLE_FIELDS) - 1);

	p = varint_put(p, has);
	for (unsigned int i = 0; i < SAMPLE_FIELDS; i++)
		p = has >> i & 1 ? varint_put(p, s->v[i]) : p;
	return p;
}

/* False: it cannot be. What a later version added is read over. */
static inline bool sample_get(struct row *r, struct device_sample *s)
{
	uint32_t has;
	bool ok = row_u32(r, &has);

	memset(s, 0, sizeof(*s));
	s->has = has & ((1u << SAMPLE_FIELDS) - 1);
	for (unsigned int i = 0; i < 32; i++) {
		uint64_t v = has >> i & 1 ? row_get(r) : 0;

		if (i < SAMPLE_FIELDS)
			s->v[i] = v;
	}
	return ok;
}

#endif
