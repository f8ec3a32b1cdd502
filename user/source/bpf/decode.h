/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw records of the BPF rings -> typed events, by the catalogue. Bytes from outside are checked
 * here; the events are trusted. Knows nothing of rings or files.
 */
#ifndef SOURCE_BPF_DECODE_H
#define SOURCE_BPF_DECODE_H

#include "event/event.h"
#include "gpuprof/event.h"
#include "gpuprof/off.h"

enum decode_status {
	DECODE_OK = 0,
	DECODE_SKIP = 1,	/* a kind this version does not know */
	DECODE_INVALID = 2,	/* too short, no such row, no tid, ends before it starts */
};

/* Precomputed from the catalogue once; plain data, shared by all threads. */
struct decoder;
struct decoder *decoder_new(void);	/* NULL + errno */
void decoder_free(struct decoder *d);
const struct funcs *decoder_funcs(const struct decoder *d);

struct decode_off_texts {
	char waker[GP_COMM_LEN + 2];
	char what[256];		/* also a module's class, a shape, or a product */
};

/* One record of the `calls` ring (or of the final reading of thread states, which has the kind 0
 * when no call is open -> EVENT_TAIL). Texts may point into texts. */
enum decode_status decode_call(const struct decoder *d, const void *data, size_t len,
			       struct event *out, struct decode_off_texts *texts);

/* enum off_reason of a thread that sleeps in this system call; NULL: in one that is unknown. */
struct syscall_row;
uint8_t decode_wait_reason(const struct syscall_row *call);

/* One record of the `tasks` ring. comm must have GP_COMM_LEN + 1 bytes; out->text points to it. */
enum decode_status decode_task(const void *data, size_t len, struct event *out, char *comm);

#endif
