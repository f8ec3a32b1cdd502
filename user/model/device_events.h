/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device activity, by way of the join, into its books and the facts; and threads' activity while
 * devices idled: every call goes into its thread's timeline, every gap of a book is divided by
 * the timeline of the thread that launched.
 */
#ifndef MODEL_DEVICE_EVENTS_H
#define MODEL_DEVICE_EVENTS_H

#include "facts/consumer.h"
#include "ledger/host_devices.h"

struct model;
struct thread;

/* DEVICE, SAMPLE, USER, FAULT, WATERMARK; works. */
extern const struct consumer devices_consumer;

/* A call that was pushed into t's book. */
struct noted_call {
	uint64_t cursor_ns;	/* of the book, before */
	uint8_t class;		/* enum bucket */
	bool captured;		/* into a graph */
};

/* It goes into t's timeline, and to the records that wait for it. */
void device_note_call(struct model *m, struct thread *t, const struct event *ev,
		     const struct noted_call *call);

/* CUPTI's record of a call goes to the join, with the call; where no call ends later, it may
 * come yet. */
int device_push_api(struct model *m, const struct event *ev);

/* The device of into of which that one will be a part, MEMORY_NO_DEVICE: none. */
uint32_t device_successor(struct model *m, uint32_t process, uint32_t device, uint32_t into);

/* The division of gaps of books, for readers. */
struct devices_divide device_divide_by(const struct model *m);

#endif
