/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gates: work whose end another party decides. A library that does collectives submits one to a
 * stream; when the stream reaches it, `arrive` gets the time, and from then on `end_ns` is asked
 * until it knows the end. Both are called with the world's lock held and must not block.
 */
#ifndef GPUSIM_GATE_H
#define GPUSIM_GATE_H

#include "gpusim.h"

struct gpusim_gate_calls {
	void (*arrive)(void *argument, uint64_t time_ns);
	uint64_t (*end_ns)(void *argument); /* 0: not known yet */
	/* A word that changes (with a FUTEX_WAKE) when end_ns may know more. */
	const uint32_t *(*changes)(void *argument);
	const void *(*entity)(void *argument); /* NULL: no kernel that anybody could see */
	void (*release)(void *argument); /* after the last call of the others */
};

/*
 * The work occupies both streams: the one of the caller, and `lane`, which keeps the works of one
 * communicator in order. On failure `argument` stays the caller's.
 */
int gpusim_gate_submit(struct gpusim_stream *handle, struct gpusim_stream *lane,
		       const struct gpusim_gate_calls *calls, void *argument);
/* Asks all gates now, for a caller that changed what they say. */
void gpusim_gates_ask(void);

#endif
