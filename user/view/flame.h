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

#include "view/render.h"

/* Appends all rows in FORMAT_FOLDED (as flamegraph.pl and inferno read) or FORMAT_SPEEDSCOPE
 * (https://www.speedscope.app/file-format-schema.json, a profile of each process). */
void flame_render(struct strbuf *out, struct table *const *tables, unsigned int n, enum format f);

#endif
