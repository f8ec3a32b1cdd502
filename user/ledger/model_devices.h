/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a model knows of devices and of memory. A part of ledger/model.h, where it is said how long
 * what is read is valid.
 */
#ifndef LEDGER_MODEL_DEVICES_H
#define LEDGER_MODEL_DEVICES_H

#include "ledger/devices.h"
#include "facts/memory_book.h"
#include "facts/samples.h"
#include "ledger/share_book.h"

struct model;

/* What processes did on devices; times of books as of model_now. */
const struct devices *model_devices(const struct model *m);

/* NULL: nobody asked for it. */
struct kernel_configs;
const struct kernel_configs *model_kernel_configs(const struct model *m);

/* The book of one of these, closed at now, and why it idled: the sum of idle_ns is sum->idle_ns.
 * stalls as devices_read has them. 0 or -ENOMEM. */
int model_device(const struct model *m, const struct device_state *s, uint64_t now_ns,
		 struct device_sum *sum, uint64_t idle_ns[IDLE_CAUSES], struct stalls *stalls);

/* What memory process i has; NULL: nothing is known of any. */
const struct memory_book *model_memory(const struct model *m, size_t process);

/* Records of it were lost: allocations and frees are missing or counted twice, bytes may be too
 * few or too many. Stays so, since what lives now is not known any more. */
bool model_memory_incomplete(const struct model *m, size_t process);

/* Who had a device of the host (devices_host), closed at now: the caller's, for share_book_free.
 * NULL + errno. */
struct share_book *model_share(const struct model *m, const struct host_device *host,
			       uint64_t now_ns);

/* What the host's devices told of themselves. */
const struct samples *model_samples(const struct model *m);

/* By which number a process's device is shown: the host's, where the devices themselves told it;
 * else the process's own. */
uint32_t model_device_number(const struct model *m, uint32_t pid, uint32_t device);

#endif
