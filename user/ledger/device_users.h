/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that NVML saw on a device beside those whose works are reported: processes that are not
 * watched, or watched ones (known by their calls) without a helper that reports works.
 */
#ifndef LEDGER_DEVICE_USERS_H
#define LEDGER_DEVICE_USERS_H

#include "ledger/snapshot.h"
#include "facts/samples.h"

struct device_users {
	const struct snapshot *snap;		/* NULL: no process is watched */
	const struct snapshot_host *host;	/* with the devices whose works are reported; NULL: none */
};

/* The process, as the snapshot has it; NULL: its calls are not known, so it is not watched. */
const struct snapshot_process *device_users_watched(const struct device_users *o, uint32_t pid);

/* It is one of them. */
bool device_users_have(const struct device_users *o, const struct sample_user *u);

/* There are any that are watched; and all are. */
bool device_users_have_watched(const struct device_users *o, const struct sampled_device *d);
bool device_users_are_watched(const struct device_users *o, const struct sampled_device *d);

/* What keeps the works of a watched one from being known. */
const char *device_users_why(const struct device_users *o, uint32_t pid);

#endif
