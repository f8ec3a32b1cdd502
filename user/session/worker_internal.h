/* SPDX-License-Identifier: BSD-3-Clause */
/* The insides of the worker, shared by worker.c (the thread) and worker_watch.c (what it follows). */
#ifndef SESSION_WORKER_INTERNAL_H
#define SESSION_WORKER_INTERNAL_H

#include <poll.h>
#include <pthread.h>

#include "base/vec.h"
#include "session/dull.h"
#include "session/later.h"
#include "session/worker.h"
#include "target/target_watch.h"

struct watch {
	struct target_watch *tw;	/* NULL: its events come with those of the first one */
	pid_t pid, filter;
};

#define WORKER_BLOCKS 64	/* of at most 1 MiB; then the engine waits, and the rings fill */

struct worker {
	struct attach *attach;
	struct inflight *inside;		/* NULL: nothing is looked at */
	uint64_t armed_ns;		/* when probes were made last */
	struct later later;
	struct newcomers newcomers;	/* selector NULL: nobody is chosen by what is known of him */
	struct dull dull;
	bool follow_children, only_followed;
	bool heard;			/* the last look at a watch told something */
	bool missed;			/* somebody had a library, and ended too soon */
	VEC(struct watch) watches;
	struct pollfd *fds;
	struct capture_sink *keep;		/* NULL: none */
	struct stack_feed *feed;	/* NULL: no stacks are taken */
	bool feed_failed;		/* which was said */
	pid_t announced;		/* last */
	int stop_fd, event_fd, block_fd;
	pthread_t thread;
	bool running;

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t room;
	VEC(struct event *) events;	/* clones */
	struct capture_block *block[WORKER_BLOCKS];	/* to store, the oldest first */
	size_t blocks;
	unsigned int noted;		/* times that left_out was */
	bool left_out[GP_ROWS_MAX];
};

struct worker_turn {
	struct worker *w;
	const struct watch *watch;
};

void worker_note_left_out(struct worker *w);	/* something was attached */
int worker_tell(struct worker *w, const struct event *ev);	/* the engine; 0 or -ENOMEM */
void worker_on_event(void *turn, const struct target_event *ev);
void worker_look_at_due(struct worker *w);	/* processes that were to be looked at again */

#endif
