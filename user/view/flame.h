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

/* Appends all rows in FORMAT_FOLDED (as flamegraph.pl and inferno read), FORMAT_SPEEDSCOPE
 * (https://www.speedscope.app/file-format-schema.json, a profile of each process) or FORMAT_SVG
 * (a picture of its own). */
void flame_render(struct strbuf *out, struct table *const *tables, unsigned int n, enum format f);

/*
 * Appends the rows of one table, by one of its columns of nanoseconds, as an element (SVG) of a
 * page, which brings the styles. The outermost frame is on top, those that it called are below it,
 * the widest first. Positions are percentages, and each frame cuts its own text: it fits any
 * width; its name, time and share are its tooltip. Frames too narrow to be seen are left
 * out, their time stays in those above them; where it would have more bytes, wider ones, too. A
 * sample:
 *
 *   <svg class="f f3" x="12.5%" y="38" width="25%" height="18"><title>cudaMemcpy: 1.2 ms,
 *   25.0 %</title><rect/><text x="4" y="13">cudaMemcpy</text></svg>
 *
 * False: no row has a stack, and nothing was appended.
 */
#define FLAME_SVG_BYTES 130000
bool flame_add_svg(struct strbuf *out, const struct table *t, const char *column);

#endif
