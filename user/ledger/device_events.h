/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What devices did, by way of the join, into their books and the facts; and what threads did while
 * devices idled: every call goes into its thread's timeline, every gap of a book asks the one of
 * the thread that launched. Where nothing else is said functions return 0 or -ENOMEM.
 */
#ifndef LEDGER_DEVICE_EVENTS_H
#define LEDGER_DEVICE_EVENTS_H

#include "event/event.h"
#include "ledger/host_devices.h"

struct model;
struct thread;

int device_init(struct model *m);	/* 0 or -errno */
void device_free(struct model *m);
int device_push(struct model *m, const struct event *ev);	/* those of devices; or -EINVAL */

int device_watermark(struct model *m, const struct event *ev);	/* all that ended before has come */
void device_cut(struct model *m);

/* A call that was pushed into t's book, whose cursor was cursor_ns before: it goes into t's
 * timeline. */
void device_note_call(struct model *m, struct thread *t, uint64_t cursor_ns,
		      const struct event *ev, unsigned int class);

/* devices_finish and devices_fold. The device of into of which that one will be a part,
 * MEMORY_NO_DEVICE: none. */
int device_finish(struct model *m, uint32_t pid, bool *done);
int device_fold(struct model *m, uint32_t pid, uint32_t into);
uint32_t device_heir(struct model *m, uint32_t pid, uint32_t device, uint32_t into);

/* How gaps of books are divided, for who reads them. */
struct devices_divide device_divide_by(const struct model *m);

/* Nothing more will come: gaps of books end with the session. */
int device_end(struct model *m);

#endif
