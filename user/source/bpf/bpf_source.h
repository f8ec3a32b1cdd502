/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live source: drained records -> events, pushed into a sink in arrival order, with
 * everything that arrived counted by kind. Used by the engine thread.
 */
#ifndef SOURCE_BPF_BPF_SOURCE_H
#define SOURCE_BPF_BPF_SOURCE_H

#include "source/bpf/decode.h"
#include "source/bpf/drain.h"
#include "event/event.h"

struct bpf_source {
	struct drain *drain;
	const struct decoder *decoder;
	struct event_sink sink;
	uint64_t received[GP_KINDS];	/* records, by kind */
	uint64_t skipped;		/* kinds this version does not know */
	uint64_t invalid;		/* malformed: a bug of ours or a newer BPF side */
	int err;			/* the sink's first error; nothing is pushed after it */
};

/* Takes the waiting records and pushes them. Returns l->err. */
int bpf_source_pump(struct bpf_source *l);

/* One state of loader_each_state: EVENT_TAIL, then EVENT_OPEN if a call is open. */
void bpf_source_push_state(struct bpf_source *l, const void *rec, size_t len, uint64_t now_ns);

/* One reading of loader_each_off, as far as until_ns. */
void bpf_source_push_off(struct bpf_source *l, const void *rec, size_t len, uint64_t until_ns);

#endif
