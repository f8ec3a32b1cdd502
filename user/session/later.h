/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are to be looked at again in a while. Knows no clock and not what for. */
#ifndef SESSION_LATER_H
#define SESSION_LATER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct later_look {
	pid_t pid;
	uint64_t time_ns;	/* what happened to it, when */
	uint64_t due_ns;
	uint64_t again_ns;	/* 0: once; else after that long again, then after twice as long */
	const void *watch;	/* the caller's */
};

struct later {
	VEC(struct later_look) all;
};

int later_add(struct later *l, const struct later_look *look);	/* 0 or -ENOMEM */
void later_forget(struct later *l, pid_t pid);

/* Takes one that is due; one that comes again stays, with its next time. False: none is. */
bool later_take(struct later *l, uint64_t now_ns, struct later_look *out);
int later_timeout_ms(const struct later *l, uint64_t now_ns);	/* for poll; -1: nothing waits */
void later_free(struct later *l);

#endif
