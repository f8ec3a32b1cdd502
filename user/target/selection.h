/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of this host that a selector means now, and those below them: one pass over
 * /proc. */
#ifndef TARGET_SELECTION_H
#define TARGET_SELECTION_H

#include "base/vec.h"
#include "host/selector.h"

struct selected {
	pid_t pid, parent;
	bool matches;		/* itself; else it is below one that does */
	bool chosen;
	char comm[16];
};

struct selection {
	VEC(struct selected) all;	/* chosen ones, after selection_find */
	size_t matches;		/* of these, themselves */
	unsigned int denied;	/* processes that could not be judged */
};

/* Neither this process itself nor threads of the kernel are meant. 0 or -errno. Start zeroed;
 * free it in both cases. */
int selection_find(struct selection *out, const struct selector *s, bool below);

static inline void selection_free(struct selection *s)
{
	VEC_FREE(&s->all);
}

/* "3 processes match name=train: 12 (train), 13 (train), 14 (train)" */
void selection_describe(const struct selection *found, const struct selector *s,
			struct strbuf *out);

#endif
