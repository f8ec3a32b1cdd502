/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by inside.c (the life of a call), inside_link.c (where it returns to) and inside_look.c (what
 * threads are in). */
#ifndef SESSION_INSIDE_INTERNAL_H
#define SESSION_INSIDE_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "session/inside.h"
#include "probe/loader_seed.h"
#include "stack/snapshot.h"

#define INSIDE_NO_LINK SIZE_MAX

enum inside_state { CALL_FOUND, CALL_ARMED, CALL_WATCHED, CALL_UNPROBED, CALL_OVER };

struct inside_call {
	pid_t pid, tid;
	uint16_t row;
	uint8_t state;		/* enum inside_state */
	bool tried;		/* to probe its return */
	uint8_t looks;		/* that told nothing, one after the other */
	bool ran;		/* when last looked at: what is known is as of its last tick */
	uint64_t since_ns;
	uint64_t due_ns;	/* of the next look */
	uint64_t returns_to;	/* address */
	uint64_t sp;		/* stack pointer there */
	size_t link;		/* index, or INSIDE_NO_LINK */
};

struct inside_link {		/* many threads are in calls from one place */
	pid_t pid;
	uint64_t returns_to;
	unsigned int users;
	int fd;			/* -1: it cannot be probed, or was closed */
};

struct inside_pids {
	VEC(uint32_t) all;
};

struct inside {
	struct loader *loader;
	unsigned int tier;
	struct inside_pids fresh;	/* to be looked at for the first time */
	VEC(struct inside_call) calls;
	struct map known;	/* their threads */
	VEC(struct inside_link) links;
};

int inside_add_pid(struct inside_pids *pids, pid_t pid);	/* once; 0 or -ENOMEM */

struct inside_look {
	struct inside *in;
	struct map seen;	/* threads that have made a call that was seen */
	struct stack_snapshot *snapshot;
	struct map by_tid;	/* index in the snapshot + 1 */
	uint64_t start_ns;	/* before registers were read */
	loader_regs_fn fn;
	void *fn_ctx;
	bool failed;
};

/* 0, -ENOMEM, or -ENOTSUP where registers cannot be read. inside_look_end in any case. */
int inside_look_at(struct inside_look *look, struct inside *in, const struct inside_pids *at);
void inside_look_end(struct inside_look *look);

/* Is it in a call, and where does that return to? */
bool inside_read_call(const struct stack_thread *t, struct inside_call *c);

/* Has it made a call that was seen? */
bool inside_was_seen(const struct inside_look *look, pid_t tid);

/* Tells BPF of it; sp 0: it cannot be seen to return. */
void inside_mark(struct inside *in, const struct inside_call *c, uint64_t sp);

void inside_link_process(struct inside *in, pid_t pid);	/* returns of its calls that were FOUND */
void inside_unlink(struct inside *in, struct inside_call *c);
void inside_close_links(struct inside *in, bool unused);	/* those; else all */
void inside_leave_links(struct inside *in);	/* to the loader */

#endif
