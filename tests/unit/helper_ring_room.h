/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of our own process and a reader of it, for the ring's tests. */
#ifndef UNIT_HELPER_RING_ROOM_H
#define UNIT_HELPER_RING_ROOM_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/cmocka.h"
#include "source/helper/ring_reader.h"
#include "helper/ring.h"

#define RING 65536u
#define ALL (~GP_RING_WANT_END)

static inline struct ring_reader *reader(struct helper_ring *r, uint32_t kinds)
{
	struct ring_reader *s = ring_reader_open(dup(r->fd), getpid(), kinds, 0);

	if (s)
		assert_int_equal(ring_reader_renew(s, time_now_ns()), 0);
	return s;
}

static inline uint32_t look(struct helper_ring *r)
{
	uint32_t fresh;

	helper_ring_look(r, time_now_ns(), &fresh);
	helper_ring_admit(r);
	return fresh;
}

/* A new ring, and who reads all of it from now on. */
static inline struct ring_reader *open_read(struct helper_ring *r)
{
	struct ring_reader *s;

	assert_int_equal(helper_ring_open(r, RING, 1), 0);
	s = reader(r, ALL);
	assert_non_null(s);
	assert_int_equal(look(r), 1);
	return s;
}

struct got {
	uint64_t n, bytes, last, begun_again;
	bool in_order;
};

/* Payloads of these tests begin with a number that grows. */
static inline int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct got *got = ctx;
	uint64_t number;

	if (kind == GP_RING_BEGIN) {
		got->begun_again++;
		return 0;
	}
	memcpy(&number, payload, sizeof(number));
	got->in_order &= !got->n || number > got->last;
	got->last = number;
	got->n++;
	got->bytes += len;
	return 0;
}

static inline void send_numbers(struct helper_ring *r, uint64_t from, uint64_t n)
{
	uint64_t payload[40] = { 0 };

	for (uint64_t i = from; i < from + n; i++) {
		payload[0] = i;
		helper_ring_send(r, GP_RING_KERNEL, payload, 8 + i % 300);
	}
}

#endif
