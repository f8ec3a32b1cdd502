/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators of frameworks, by process and operator: how often each ran, for how long, and the works
 * that its launches gave devices. Bounded: beyond OPS_MAX, new ones share one row of their process
 * (operator 0). Start zeroed. Knows no names: an operator is the id of its event_op.
 *
 * An operator is counted when it is over. Where its return was not seen, its time is an upper
 * bound: until the thread was seen outside of it.
 */
#ifndef FACTS_OPS_H
#define FACTS_OPS_H

#include "base/hist.h"
#include "base/rows.h"
#include "event/event.h"

#define OPS_MAX 16384

struct op_row {
	struct op_key {
		uint32_t process, pad;	/* handle */
		uint64_t op;		/* 0: those that have no row of their own */
	} key;
	uint64_t count;			/* the first of its sums */
	uint64_t bound;			/* of these, those whose time is an upper bound */
	uint64_t self_ns;		/* time outside of operators inside it */
	uint64_t launches, works, works_ns;
	struct hist time;		/* of all that were counted */
};

struct ops {
	struct rows rows;		/* struct op_row */
};

static inline size_t ops_count(const struct ops *o)
{
	return o->rows.n;
}

static inline const struct op_row *ops_at(const struct ops *o, size_t i)
{
	return o->rows.v[i];
}

/* One that is over, at end_ns. 0 or -ENOMEM, as the others. */
int ops_add(struct ops *o, const struct event *ev, uint64_t end_ns);

/* A launch that was made in one; n works of a launch, which took ns in all. op 0: nothing is
 * added. */
int ops_add_launch(struct ops *o, uint32_t process, uint64_t op);
int ops_add_works(struct ops *o, uint32_t process, uint64_t op, uint64_t n, uint64_t ns);

int ops_copy(struct ops *to, const struct ops *from);	/* to is zeroed */
void ops_subtract(struct ops *from, const struct ops *earlier);

/* The rows of a process become rows of another. */
int ops_fold(struct ops *o, uint32_t process, uint32_t into);
void ops_free(struct ops *o);

#endif
