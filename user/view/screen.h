/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first screen: what `stat` and `report` print unless tables are asked for. Its layout is a
 * function of the snapshot and the shape of the screen alone. Sample, cut to 80 columns:
 *
 *   pid 8255 (pretrain), 2.431 s on vm        cost ~0.25 % (estimated); nothing lost
 *
 *   GPU 0 was busy 61.5 % of the time. 26.5 % is lost to input-stall: thread 8255
 *   (pretrain) is in no call while ... Without that: at best 1.36x.
 *
 *   GPU 0   CCCCCCCCCCCCCCCCCCCCCCCmmmmmmmmcccccc......................     2.431 s
 *           C compute 38 %  m copy 14 %  c comm 10 %  . idle 39 %: lock 26 %
 *   busy    147366473664636647456374564646636557365573651346463664    31.18 ms
 *
 *    #    lost  at best  finding          where                 how often
 *    1  26.5 %    1.36x  input-stall      thread 8255 (pretrain)  30 x 21.50 ms
 *       all 4 of GPU 0 gone: at best 2.46x (980.2 ms instead of 2.431 s)
 *
 *   time of GPU 0                             kernels            count      avg
 *    gemm      881.9 ms   36.3 %  ###         sgemm_128x64_nt      480  1.05 ms
 *
 *   next   gpuprof stat --stacks --wide --table offcpu -- ./pretrain
 *   more   --full: all tables   words: gpuprof help input-stall
 *
 * `busy` is how busy the GPU was from the session's begin to its end, in eighths of a column's
 * time, which stands at its right: `.` not at all, `?` mostly unknown, blank where its book was not
 * open.
 * It gives way to findings and, below 90 columns, to times.
 *
 * In colour the verdict is bold, `lost` red (a finding of high severity) or yellow (medium), and
 * each kind of part of a bar has a colour; without the escape sequences the text is the same.
 */
#ifndef VIEW_SCREEN_H
#define VIEW_SCREEN_H

#include <stdbool.h>

#include "view/summary.h"

struct screen_shape {
	unsigned int columns, lines;	/* more and less is used as these say */
	bool ascii, has_color;
	bool interval;			/* one of many: short, and with the time of day */
};

#define SCREEN_COLUMNS 100	/* where no terminal says otherwise, and at most */
#define SCREEN_COLUMNS_MIN 20	/* parts of lines are left out below 60 */
#define SCREEN_LINES 26
#define SCREEN_LINES_MIN 16
#define SCREEN_INTERVAL_LINES 12

/* Adds no more lines, and none that is wider, except for the next command, which is whole. verdict:
 * as verdict_add has it; notes: the report's. 0 or -errno. */
int screen_add(struct strbuf *out, const struct summary *s, const char *verdict,
	       const struct notes *notes, const struct screen_shape *shape);

/* A verdict that is a finding with a share, in words; else the first sentences of `verdict`, which
 * is verdict_add's. findings: those of the snapshot. */
struct findings;
void screen_verdict_add(struct strbuf *out, const struct snapshot *snap,
			const struct findings *findings, const char *verdict);

#endif
