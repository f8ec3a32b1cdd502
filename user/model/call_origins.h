/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the calls of a process were made, by number (ledger/timeline.h: timeline_span.stack). */
#ifndef MODEL_CALL_ORIGINS_H
#define MODEL_CALL_ORIGINS_H

#include "base/map.h"
#include "base/vec.h"

struct call_scopes {			/* 0: none is known */
	uint64_t op, module;
};

/* Start zeroed. */
struct call_origins {
	struct map numbers;		/* of a stack, an operator and a module */
	VEC(uint64_t) stacks;		/* ids, by number */
	VEC(struct call_scopes) scopes;	/* the same */
	uint64_t last_stack;		/* the last one found */
	struct call_scopes last_scopes;
	uint16_t last;			/* ... and its number */
};

static inline void call_origins_free(struct call_origins *o)
{
	map_free(&o->numbers);
	VEC_FREE(&o->stacks);
	VEC_FREE(&o->scopes);
}

#endif
