/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one thread has open, and had: a list, innermost first, that is never changed once it is made.
 * A begin puts a new head before it, an end of what is further in makes the heads anew; each change is
 * remembered with its time until it is settled, so that what was open at a time can be asked. For
 * ranges*.c only.
 */
#ifndef FACTS_RANGES_OPEN_H
#define FACTS_RANGES_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranges_open {
	struct ranges_open *below;	/* what it is inside of; NULL: nothing */
	uint64_t start_ns;
	uint64_t id;			/* of one that was started */
	uint32_t row;
	uint32_t refs;			/* lists that begin with or go on by it */
	uint8_t kind;			/* enum range_kind */
	bool inner;			/* its time is that of another of the same row, further out */
	uint64_t host_ns;		/* its own time, else, is since then */
};

struct ranges_change {
	uint64_t ns;
	struct ranges_open *top;	/* since then; NULL: nothing */
};

struct ranges_thread {
	struct ranges_open *top;
	uint32_t depth, deep;		/* of the list; pushed beyond what is kept */
	struct ranges_change *v;	/* a ring; cap is a power of two */
	uint32_t cap, n, first;
	uint64_t forgotten_ns;		/* what was open before is not known any more */
	uint64_t exit_ns;		/* it has ended then; 0: not */
	uint32_t tid;
};

/* room: changes that all threads may still remember. 0 or -ENOMEM: nothing has changed. */
int ranges_thread_add(struct ranges_thread *t, const struct ranges_open *range, size_t *room);
int ranges_thread_remove(struct ranges_thread *t, const struct ranges_open *range, uint64_t ns,
			 size_t *room);

/* What was open at a time; *forgotten: that is not known. */
const struct ranges_open *ranges_thread_at(const struct ranges_thread *t, uint64_t ns, bool *forgotten);

/* Nobody will ask for times before. */
void ranges_thread_forget(struct ranges_thread *t, uint64_t ns, size_t *room);
void ranges_thread_clear(struct ranges_thread *t, size_t *room);

#endif
