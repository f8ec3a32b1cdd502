/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes --inject is for: those of -p and what is below them. Only reads. */
#ifndef SESSION_BRING_WHOM_H
#define SESSION_BRING_WHOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "session/session_options.h"

struct bring_one {
	pid_t pid;
	bool is_named;		/* by -p */
	bool has_helper;
	bool is_copy;		/* forked with its parent's CUDA, which it cannot use */
	bool is_unknown;	/* what it maps could not be read, or it is us */
	uint64_t cuda_at;	/* where CUDA's library is mapped; 0: nowhere */
};

struct bring_whom {
	VEC(struct bring_one) v;	/* who is named first */
	struct map known;		/* pid -> where in v */
};

int bring_whom_read(struct bring_whom *whom, const struct session_options *o);	/* 0 or -ENOMEM */
void bring_whom_free(struct bring_whom *whom);

/* Is the helper to be brought into it? Who is named and cannot be read is tried, so that it says why. */
bool bring_is_for(const struct bring_one *one);

#endif
