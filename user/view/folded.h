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

/* "main;train;cudaLaunchKernel"; "[...];" first: what called the outermost frame is not known. A
 * frame without a function is its file and offset, or its address. *text is NULL for a stack of
 * which nothing is known, else it lives until folded_free. 0 or -ENOMEM. */
int folded_text(struct folded *f, uint64_t id, const char **text);
void folded_free(struct folded *f);

#endif
