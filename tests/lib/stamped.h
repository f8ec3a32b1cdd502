/* SPDX-License-Identifier: BSD-3-Clause */
/* Events with handles of their processes, as a session's pipeline gives them: new ones from each START
 * on. */
#ifndef TESTS_LIB_STAMPED_H
#define TESTS_LIB_STAMPED_H

#include <stdlib.h>

#include "event/registry.h"

static inline struct event stamped(const struct event *ev)
{
	static struct registry *r;
	struct event own = *ev;

	if (ev->kind == EVENT_START) {
		registry_free(r);
		r = NULL;
	}
	if (!r)
		r = registry_new();
	if (!r || registry_stamp(r, &own))
		abort();
	return own;
}

#endif
