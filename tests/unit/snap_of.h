/* SPDX-License-Identifier: BSD-3-Clause */
/* The snapshot of a model as a value: it lives until a few more were taken. */
#ifndef UNIT_SNAP_OF_H
#define UNIT_SNAP_OF_H

#include "model/snapshot.h"
#include "lib/cmocka.h"

static inline const struct snapshot *snap_at(const struct model *m, uint64_t now_ns)
{
	static struct snapshot *taken[16];
	static unsigned int next;
	struct snapshot **place = &taken[next++ % 16];

	snapshot_free(*place);
	*place = snapshot_take(m, now_ns);
	assert_non_null(*place);
	return *place;
}

static inline const struct snapshot *snap_of(const struct model *m)
{
	return snap_at(m, 0);
}

#endif
