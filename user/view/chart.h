/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What devices and threads did over time, as text: `report --timeline`. A row of cells each; a cell
 * of a device has what ran for most of the time that it was busy, if that is an eighth of the cell,
 * and below it how busy it was; a cell of a thread has what took most of it. Sample:
 *
 *   pid 13029 (pretrain), 2.432 s on recorder
 *
 *   GPU 0           CCmCCCmCCcCCm..CCm
 *     busy          ▁▄▇▃▆▆▄▇▃▆▆▄▆▃▆▆▄▇
 *   13029 pretrain  LlSLLlSLLlSLNLlSLL
 *   13041 loader    zzzzzzzzzzzzzzzzzz
 *
 *   a cell: 24.32 ms
 *   GPU: C compute, m copy, c comm, . idle
 *   threads: L launch, S sync, N collective, l lock, z sleep
 *
 * Its cells are kept by a consumer of events, for a session whose end is known from its beginning.
 */
#ifndef VIEW_CHART_H
#define VIEW_CHART_H

#include "view/screen.h"

#define CHART_CELLS 100

extern const struct consumer chart_consumer;

/* As many rows of threads as the shape has lines, those with the longest time in calls. 0 or
 * -errno. */
int chart_add(struct strbuf *out, const struct summary *s, const struct screen_shape *shape);

#endif
