// SPDX-License-Identifier: BSD-3-Clause
/* How much of what happened is known to be missing, whoever lost it. */
#include <string.h>

#include "base/num.h"
#include "view/summary.h"

static uint64_t sum_received(const struct model_counts *c)
{
	static const uint8_t kinds[] = { EVENT_CALL, EVENT_ENTER, EVENT_EXIT, EVENT_LEFT,
					 EVENT_OFF };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(kinds); i++)
		sum = num_add(sum, c->received[kinds[i]]);
	return sum;
}

/*
 * The kernel's counters and the holes in threads' numbers tell the same loss; a capture that was
 * cut has only the holes up to there, so the larger of the two is taken.
 */
void summary_read_losses(struct summary *s)
{
	uint64_t hits = 0, lost = 0;
	struct model_counts counts;

	model_counts(s->model, &counts);
	for (size_t i = 0; i < model_readings(s->model); i++) {
		const struct model_reading *r = model_reading(s->model, i);

		/* Copies of stacks that are lost leave calls without them; bytes are no events. */
		if (!strcmp(r->kind, "stack") || !strcmp(r->kind, "kept-bytes"))
			continue;
		hits = num_add(hits, r->hits);
		lost = num_add(lost, r->lost);
	}
	s->lost = num_max(lost, counts.lost);
	s->events = num_max(hits, num_add(sum_received(&counts), s->lost));
	s->lost_share = s->events ? (double)s->lost / (double)s->events : 0;
}
