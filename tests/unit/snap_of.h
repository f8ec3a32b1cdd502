/* SPDX-License-Identifier: BSD-3-Clause */
/* The snapshot of a model as a value: it lives until a few more were taken. */
#ifndef UNIT_SNAP_OF_H
#define UNIT_SNAP_OF_H

#include "model/snapshot.h"
#include "lib/cmocka.h"

/* Where the present interval of a model begins: snapshots of it are of the time since then. */
struct snap_interval {
	const struct model *m;
	struct snapshot *before;	/* NULL: none has begun */
};

static inline struct snap_interval *snap_interval(void)
{
	static struct snap_interval interval;

	return &interval;
}

static inline struct snapshot *snap_take(const struct model *m, uint64_t now_ns)
{
	const struct snap_interval *interval = snap_interval();
	struct snapshot *snap = snapshot_take(m, now_ns);

	assert_non_null(snap);
	if (interval->before && interval->m == m)
		snapshot_subtract(snap, interval->before);
	return snap;
}

static inline const struct snapshot *snap_at(const struct model *m, uint64_t now_ns)
{
	static struct snapshot *taken[16];
	static unsigned int next;
	struct snapshot **place = &taken[next++ % 16];

	snapshot_free(*place);
	*place = snap_take(m, now_ns);
	return *place;
}

static inline const struct snapshot *snap_of(const struct model *m)
{
	return snap_at(m, 0);
}

/* An interval ends, and the next one begins there. */
static inline void snap_cut(const struct model *m, uint64_t now_ns)
{
	struct snap_interval *interval = snap_interval();

	snapshot_free(interval->before);
	*interval = (struct snap_interval){ m, snapshot_take(m, now_ns) };
	assert_non_null(interval->before);
}

/* To be called before a model with intervals is freed. */
static inline void snap_forget(void)
{
	struct snap_interval *interval = snap_interval();

	snapshot_free(interval->before);
	*interval = (struct snap_interval){ 0 };
}

static inline void snap_end(struct model *m)
{
	snap_forget();
	model_free(m);
}

#endif
