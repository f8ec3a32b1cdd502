/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of a session with four functions, for the tests of the model. */
#ifndef UNIT_MODEL_ROOM_H
#define UNIT_MODEL_ROOM_H

#include "model/model.h"
#include "lib/cmocka.h"
#include "lib/stamped.h"

enum { L, S, C, N };

static const struct funcs funcs = {
	.n = 4,
	.v = {
		[L] = { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 },
		[S] = { "cudaStreamSynchronize", "cudart", CLASS_SYNC, 1 },
		[C] = { "cudaMemcpy", "cudart", CLASS_COPY, 0 },
		[N] = { "ncclAllReduce", "nccl", CLASS_COLLECTIVE, 1 },
	},
};

static inline void push(struct model *m, struct event ev)
{
	ev = stamped(&ev);
	assert_int_equal(model_push(m, &ev), 0);
}

static inline struct model *session(uint64_t start_ns)
{
	struct model *m = model_new(&funcs);

	assert_non_null(m);
	push(m, (struct event){ .kind = EVENT_START, .start_ns = start_ns });
	return m;
}

/* The session ends, and with it the wait for launches of works. */
static inline void finish(struct model *m, uint64_t end_ns)
{
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = end_ns });
	assert_int_equal(model_finish(m), 0);
}

#endif
