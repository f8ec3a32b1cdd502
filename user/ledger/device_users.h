/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who was on a device beside those whose works are told, by what NVML saw there: processes that
 * nobody watches, or (of those all are known by their calls) that have no helper to tell of their
 * works.
 */
#ifndef LEDGER_DEVICE_USERS_H
#define LEDGER_DEVICE_USERS_H

#include "ledger/devices.h"
#include "ledger/model.h"
#include "facts/samples.h"

struct device_users {
	const struct model *model;		/* NULL: nobody is watched */
	struct host_member *const *told;	/* n of them: on the device, of processes whose
						 * works are told */
	size_t n;
	uint64_t since_ns;			/* who was seen there before is gone */
};

/* The process, as the model has it; NULL: its calls are not known, so it is not watched. */
const struct model_process *device_users_watched(const struct device_users *o, uint32_t pid);

/* It is one of them. */
bool device_users_have(const struct device_users *o, const struct sample_user *u);

/* There are any that are watched; and all are. */
bool device_users_have_watched(const struct device_users *o, const struct sampled_device *d);
bool device_users_are_watched(const struct device_users *o, const struct sampled_device *d);

/* What keeps the works of a watched one from being known. */
const char *device_users_why(const struct device_users *o, uint32_t pid);

#endif
