/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether what a thread launched is over, though no work of it was told: so that it is known to be lost,
 * not late. By the order of works alone: those of one stream run one after the other, and a thread that
 * has waited for its context has waited for all it launched there. For join.c only.
 *
 * Examples; L launches of a thread, W(s) their works in stream s, all of one context; is L2 over?
 *
 *   L1 L2 L3   W1(7) W3(7)               yes: the thread's works are of one stream, and a later one came
 *   L1 L2 L3   W1(7) W3(8)               nobody knows: it may be of stream 7, and run
 *   L1 L2 sync L3   W1(7) W3(8)          yes
 *   L1 L2 sync                           yes, but where works of the thread are of several contexts
 *   L1 L2      W1(7)                     nobody knows
 *
 * What a thread launched last, and is not over as far as anybody knows, may run or wait still: of
 * L1 L2 L3 L4   W1(7) W2(7), where L3 and L4 are waited for no longer, it is L3.
 */
#ifndef JOIN_STREAMS_H
#define JOIN_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/work.h"
#include "join/join.h"

#define STREAMS_THREADS_MAX 1024	/* of a process; when more come all are forgotten */

struct thread_streams {
	uint32_t tid;
	uint32_t context, stream;	/* of the work that came last */
	uint64_t stream_since_ns;	/* what was launched since then gave works of this stream alone */
	uint64_t context_since_ns;	/* ... of this context */
	uint64_t came_ns;		/* of launches that met a work, the latest; 0: none has */
	uint64_t synced_ns;		/* when it waited for its context last */
	uint64_t met_ns;		/* as came_ns, of graphs too */
	uint64_t unended_ns;		/* of launches after that, given up, the first; 0: there is none */
};

/* Start zeroed. */
struct streams {
	VEC(struct thread_streams) all;
	struct map by_tid;		/* -> index */
	size_t last;
};

void streams_free(struct streams *s);

/* A work came, of a launch. 0 or -ENOMEM. */
int streams_note_work(struct streams *s, const struct launch *launch, const struct work *work);

/* A thread has waited for all it launched in its context before ns. 0 or -ENOMEM. */
int streams_note_sync(struct streams *s, uint32_t tid, uint64_t ns);

/* Has a thread waited for all it launched in [start_ns, end_ns) in the context, of which works came that are not
 * noted here? */
bool streams_have_waited(struct streams *s, uint32_t tid, uint32_t context, uint64_t start_ns,
			 uint64_t end_ns);

bool streams_are_past(struct streams *s, const struct launch *launch);

/* Its work is waited for no longer, and nobody knows whether it is over. 0 or -ENOMEM. */
int streams_note_given_up(struct streams *s, const struct launch *launch);

/* Of all threads the one whose work may run the longest; false: there is none. */
bool streams_unended(const struct streams *s, uint32_t *tid, uint64_t *since_ns);

#endif
