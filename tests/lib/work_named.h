/* SPDX-License-Identifier: BSD-3-Clause */
/* A work with a name, for initialisers of events. */
#ifndef TESTS_LIB_WORK_NAMED_H
#define TESTS_LIB_WORK_NAMED_H

#include "event/event.h"

static inline struct work work_named(struct work work, const char *name)
{
	work.name = name;
	return work;
}

#endif
