// SPDX-License-Identifier: BSD-3-Clause
/* See the header: what a file is told of before takes no more of it than it may. */
#include "capture/keep.h"

#include <string.h>

#define ROW_BYTES 32		/* of one, about, without its texts */

struct telling {
	const struct event_sink *to;
	uint64_t left_bytes;
};

static uint64_t length(const char *text)
{
	return text ? strlen(text) + 2 : 0;
}

static int tell(void *ctx, const struct event *ev)
{
	struct telling *t = ctx;
	uint64_t bytes = ROW_BYTES + length(ev->text) + length(ev->text2);

	if (bytes > t->left_bytes)
		return 0;
	t->left_bytes -= bytes;
	return t->to->push(t->to->ctx, ev);
}

int keep_begin(const struct keep *k, uint64_t before_ns, uint64_t max_bytes, const struct event_sink *to)
{
	struct telling t = { to, max_bytes / 8 };

	return k->on_begin ? k->on_begin(k->cut_ctx, before_ns, &(struct event_sink){ tell, &t }) : 0;
}
