/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which launches of a process were captured into graphs, so that they gave no work: for certain, by
 * calls that probes saw; and where such a call was lost, or there are no probes, whether any stream
 * captured just then, by CUPTI's records of when captures began and ended. Bounded, calls by what all
 * processes share, too: the older half leaves. For join.c only.
 *
 * A moment is within a capture if what CUPTI recorded last before it is a beginning, or next after it an
 * end; so one of the two records suffices. Examples; B and E such records, the moments in between:
 *
 *   no B yes E no              no B yes B yes E yes E no
 *   E lost: no B yes           B lost: yes E no
 */
#ifndef JOIN_CAPTURES_H
#define JOIN_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "join/join_room.h"

struct capture_call {
	uint64_t start_ns, end_ns;
	uint32_t tid;
};

struct capture_mark {
	uint64_t ns;
	bool ends;
};

/* Start zeroed. */
struct captures {
	VEC(struct capture_call) calls;
	VEC(struct capture_mark) marks;	/* by time */
};

void captures_free(struct captures *c, struct join_room *room);

/* A call that was captured. 0 or -ENOMEM. */
int captures_add_call(struct captures *c, struct join_room *room, const struct capture_call *call);
size_t captures_want(const struct captures *c);	/* of the room, for one more: 0 if there is a place */
bool captures_have_call(const struct captures *c, uint32_t tid, uint64_t at_ns);

/* A capture began, or ended, at ns. 0 or -ENOMEM. */
int captures_mark(struct captures *c, uint64_t ns, bool ends);
bool captures_are_at(const struct captures *c, uint64_t ns);

#endif
