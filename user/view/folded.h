/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks as one text: the functions from the outermost to the innermost, joined by ';', as flame
 * graphs take them. For views only. */
#ifndef VIEW_FOLDED_H
#define VIEW_FOLDED_H

#include "event/stacks.h"

struct folded {			/* start with stacks set, else zeroed */
	const struct stacks *stacks;
	struct strpool *texts;
	struct map by_id;	/* id -> text: stacks with the same functions have the same text */
};

/* "main;train;cudaLaunchKernel"; "[...];" first: the caller of the outermost frame is unknown. A
 * frame without a function is its file and offset, or its address. *text is NULL for an unknown
 * stack, else it lives until folded_free. 0 or -ENOMEM. */
int folded_text(struct folded *f, uint64_t id, const char **text);

static inline void folded_free(struct folded *f)
{
	strpool_free(f->texts);
	map_free(&f->by_id);
}

#endif
