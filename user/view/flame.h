/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of threads by stack, for flame graphs, from the rows of `calls` (by stack) and `offcpu`:
 * time in calls below the name of the call, and time off the CPU outside of calls below its reason.
 * No time is in both; what a thread computed itself is in neither. In nanoseconds.
 *
 *   train (pid 12);main;step;cudaMemcpy 1234567
 *   train (pid 12);main;load;[lock] 7654321
 */
#ifndef VIEW_FLAME_H
#define VIEW_FLAME_H

#include "base/vec.h"
#include "view/render.h"

/* The frames of a row, outermost first: its process, those of its stack, the call or the reason. */
struct flame {
	uint64_t ns;
	size_t first, n;		/* its frames: index and number */
};

#define FLAME_NO_STACK "[no stack]"	/* a frame: no stack is known */

struct flames {				/* start zeroed */
	VEC(struct flame) all;
	VEC(const char *) frames;	/* of the pool: equal ones have one address */
	struct strpool *names;
	bool failed;			/* out of memory: it lacks rows, and must not be shown */
};

/* Adds the rows of a table by one of its columns of nanoseconds; rows with none are left out. */
void flames_read(struct flames *f, const struct table *t, const char *column);
void flames_free(struct flames *f);

/* Appends all rows in FORMAT_FOLDED (as flamegraph.pl and inferno read), FORMAT_SPEEDSCOPE
 * (https://www.speedscope.app/file-format-schema.json, a profile of each process) or FORMAT_SVG
 * (view/flame_svg.h). */
void flame_render(struct strbuf *out, struct table *const *tables, unsigned int n, enum format f);

#endif
