/* SPDX-License-Identifier: BSD-3-Clause */
/* Source lines and inlined functions for the frames of a report (--lines). */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "event/stacks.h"

/* Reads the debug info of each file that has frames, if this host has that very build of it, and
 * reports those without. 0, or an exit code: this build cannot, or out of memory; logged. */
int lines_find(struct stacks *s);

#endif
