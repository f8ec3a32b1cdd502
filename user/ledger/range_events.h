/* SPDX-License-Identifier: BSD-3-Clause */
/* The NVTX ranges of the model's processes (facts/ranges.h). */
#ifndef LEDGER_RANGE_EVENTS_H
#define LEDGER_RANGE_EVENTS_H

#include "facts/consumer.h"

/* RANGE, EXIT, STOP; works. */
extern const struct consumer ranges_consumer;

#endif
