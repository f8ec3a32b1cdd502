/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranges of one process (NVTX: push and pop, start and end, marks), and the works launched
 * in them. A launch is in all ranges that its thread had open when it was made; a range that was
 * started is open on the thread that started it, wherever it ends. Bounded: names, threads,
 * depth, and the length of the history. Knows nothing of devices, tables or other processes.
 *
 * Of each domain, name and kind: how often it began; wall, when any such range was open; host, the
 * time that threads had one open (a range inside another of its name on one thread adds nothing);
 * device, the times of works that were launched in it, added up; launches, calls that gave devices
 * work. A range that is open when the books close ends there, or with its thread, and is in `open`.
 * One that began before the capture has no name until it ends: it is in the row RANGES_BEFORE of
 * its domain, with wall time since the session began, and its launches are unknown.
 *
 * Examples; one thread, a launch L whose kernel takes 7:
 *
 *   push a 10, push b 20, L 25, pop 30, pop 50        a: wall 40, device 7;  b: wall 10, device 7
 *   start a 10, push b 20, end a 30, L 35, pop 40     a: wall 20;            b: wall 20, device 7
 *   push a 10, push a 20, pop 30, pop 40              a: count 2, wall 30, host 30
 *   two threads: push a 10, pop 30; push a 20, pop 40 a: count 2, wall 30, host 40
 *   T push a 30; U push a 10, pop 12; then T pop 40   a: count 2, wall 12, host 12
 *   pop 20; closed at 100 in a session from 5         (begun before): count 1, wall 15
 *   of XLA, push XlaPass:#name=a#; XlaPass:#name=b#   XlaPass: count 2
 */
#ifndef FACTS_RANGES_H
#define FACTS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "join/launch.h"
#include "join/scopes.h"

#define RANGES_ROWS_MAX 4096	/* of a process; more names are RANGES_OTHERS */
#define RANGES_BEFORE "(begun before)"
#define RANGES_OTHERS "(others)"

enum range_kind { RANGE_KIND_PUSH, RANGE_KIND_START, RANGE_KIND_MARK, RANGE_KINDS };

/* "push", "start", "mark", "?" */
static inline const char *range_kind_name(unsigned int kind)
{
	static const char *const names[RANGE_KINDS] = { "push", "start", "mark" };

	return kind < RANGE_KINDS ? names[kind] : "?";
}

struct range_sum {
	const char *domain, *name;	/* NULL: the default domain; it has none, or its name was
					 * lost */
	uint8_t kind;			/* enum range_kind */
	bool before;			/* it is the row RANGES_BEFORE */
	uint64_t count;
	uint64_t open, left;		/* that have not ended; whose thread ended first */
	uint64_t wall_ns, host_ns;
	uint64_t device_ns, launches;
};

struct ranges;

/* They are scopes of their process, which exits and settles are reported to. open_ns: the
 * session's begin. NULL + errno. */
struct ranges *ranges_new(uint64_t open_ns, struct scopes *scopes);
void ranges_free(struct ranges *r);

/* One EVENT_RANGE. 0, -EINVAL (an end of nothing, of no thread) or -ENOMEM. */
int ranges_push(struct ranges *r, const struct event *ev);

/* A work and its launch. */
void ranges_work(struct ranges *r, const struct event *work, const struct launch *launch);

/* The innermost range that the thread had open then: the number of its row + 1; 0: none is
 * known. */
uint32_t ranges_innermost(const struct ranges *r, uint32_t tid, uint64_t ns);

/* the session ended: nothing is open later */
void ranges_stop(struct ranges *r, uint64_t end_ns);

size_t ranges_count(const struct ranges *r);
void ranges_read(const struct ranges *r, size_t i, uint64_t now_ns, struct range_sum *out);

/* Subtracts the rows of an earlier reading, of the same process or of one that was merged into it;
 * `open` stays. */
void range_sums_subtract(struct range_sum *from, size_t n, const struct range_sum *earlier,
			 size_t n_earlier);

/* All that from came to by end_ns, of a process that is no more, as if it had been to's. from
 * stays. 0, or -ENOMEM: to is of no use. */
int ranges_merge(struct ranges *to, const struct ranges *from, uint64_t end_ns);
size_t ranges_bytes(const struct ranges *r);	/* allocated, about */

/* Works whose launch was so long ago that its open ranges are forgotten. */
uint64_t ranges_unplaced(const struct ranges *r);

#endif
