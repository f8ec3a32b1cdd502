/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of all processes by function, as the first screen has them where no device is known.
 * Sample:
 *
 *   calls                                            count       total     longest
 *    cudaStreamSynchronize, 4 go on                    510     1.209 s    26.26 ms
 */
#ifndef VIEW_SCREEN_CALLS_H
#define VIEW_SCREEN_CALLS_H

#include "model/snapshot.h"
#include "view/screen_line.h"

/* As many lines as are left. */
void screen_calls_add(struct screen_line *l, const struct snapshot *snap);

#endif
