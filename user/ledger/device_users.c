// SPDX-License-Identifier: BSD-3-Clause
/* All lists are short, and asked for a report. */
#include "ledger/device_users.h"

#include <stddef.h>

static const struct snapshot_process *find(const struct device_users *o, uint32_t pid)
{
	return o->snap ? snapshot_process(o->snap, pid) : NULL;
}

const struct snapshot_process *device_users_watched(const struct device_users *o, uint32_t pid)
{
	const struct snapshot_process *p = find(o, pid);

	return p && call_stats_count(&p->calls) ? p : NULL;
}

/* Those that were seen there before the interval are gone. */
bool device_users_have(const struct device_users *o, const struct sample_user *u)
{
	for (size_t i = 0; o->host && i < o->host->members.n; i++)
		if (o->host->members.v[i].pid == u->pid)
			return false;
	return !o->snap || u->seen_ns >= o->snap->session.interval_ns;
}

static size_t count(const struct device_users *o, const struct sampled_device *d, bool watched)
{
	size_t n = 0;

	for (size_t i = 0; i < d->users.n; i++)
		if (device_users_have(o, &d->users.v[i]))
			n += watched == !!device_users_watched(o, d->users.v[i].pid);
	return n;
}

bool device_users_have_watched(const struct device_users *o, const struct sampled_device *d)
{
	return count(o, d, true);
}

bool device_users_are_watched(const struct device_users *o, const struct sampled_device *d)
{
	return count(o, d, true) && !count(o, d, false) && !d->nameless && !d->nameless_before;
}

const char *device_users_why(const struct device_users *o, uint32_t pid)
{
	const char *why = snapshot_identity(find(o, pid), "helper_why");

	return why ? why : "no helper told of them";
}
