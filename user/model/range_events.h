/* SPDX-License-Identifier: BSD-3-Clause */
/* The NVTX ranges of the model's processes (facts/ranges.h). */
#ifndef MODEL_RANGE_EVENTS_H
#define MODEL_RANGE_EVENTS_H

#include "facts/consumer.h"

/* RANGE, EXIT, STOP; works. */
extern const struct consumer ranges_consumer;

#endif
