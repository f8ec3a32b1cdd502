/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of each test, which its program makes in BEFORE_EACH with restart(). To be included
 * behind all headers whose functions take a model.
 */
#ifndef UNIT_MODEL_EACH_H
#define UNIT_MODEL_EACH_H

#include "lib/test.h"
#include "model_room.h"
#include "snap_of.h"

static struct model *m;

static inline void restart(uint64_t start_ns)
{
	snap_end(m);
	m = session(start_ns);
}

AFTER_EACH
{
	snap_end(m);
	m = NULL;
}

#endif
