/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What devices did, by way of the join, into their books and the facts; and what threads did while
 * devices idled: every call goes into its thread's timeline, every gap of a book asks the one of
 * the thread that launched.
 */
#ifndef LEDGER_DEVICE_EVENTS_H
#define LEDGER_DEVICE_EVENTS_H

#include "facts/consumer.h"
#include "ledger/host_devices.h"

struct model;
struct thread;

/* DEVICE, SAMPLE, USER, FAULT, WATERMARK; works. */
extern const struct consumer devices_consumer;

/* A call that was pushed into t's book, whose cursor was cursor_ns before: it goes into t's
 * timeline. */
void device_note_call(struct model *m, struct thread *t, uint64_t cursor_ns,
		      const struct event *ev, unsigned int class);

/* The device of into of which that one will be a part, MEMORY_NO_DEVICE: none. */
uint32_t device_heir(struct model *m, uint32_t process, uint32_t device, uint32_t into);

/* How gaps of books are divided, for who reads them. */
struct devices_divide device_divide_by(const struct model *m);

#endif
