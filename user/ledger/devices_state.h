/* SPDX-License-Identifier: BSD-3-Clause */
/* The insides of devices.h, shared by devices.c and devices_past.c (what is over); for no other file. */
#ifndef LEDGER_DEVICES_STATE_H
#define LEDGER_DEVICES_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "ledger/host_devices.h"

struct devices {
	VEC(struct device_state *) all;
	struct map by_process;		/* pid << 32 | device -> struct device_state */
	struct device_state *last;	/* that was found; NULL: none */
	struct kernels_budget kernels;
	struct device_room waiting;
	struct host_devices hosts;
	struct devices_divide crowded;	/* divide NULL: unknown */
	struct device_counts dropped;	/* of books that are no more */
};

static inline uint64_t device_key(uint32_t pid, uint32_t device)
{
	return (uint64_t)pid << 32 | device;
}

void device_state_free(struct device_state *s);

/* devices_settle of one. 0 or -ENOMEM. */
int devices_settle_one(struct devices *d, struct device_state *s, uint64_t horizon_ns,
		       const struct devices_divide *by);

#define DEVICES_OVER UINT64_MAX		/* now_ns: all is settled, to its end (share_book_is_over) */

/* How long it waited in this interval while another process ran on the device. 0 or -ENOMEM. */
int devices_read_waited(const struct device_state *s, uint64_t now_ns,
			const struct devices_divide *by, uint64_t *waited_ns);

#endif
