// SPDX-License-Identifier: BSD-3-Clause
/* All lists are short, and asked for a report. */
#include "ledger/device_users.h"

#include <stddef.h>

static size_t find(const struct model *m, uint32_t pid)
{
	size_t i = m ? model_processes(m) : 0;

	while (i > 0 && model_process(m, i - 1)->pid != pid)
		i--;
	return i;
}

const struct model_process *device_users_watched(const struct device_users *o, uint32_t pid)
{
	size_t i = find(o->model, pid);
	const struct model_process *p = i ? model_process(o->model, i - 1) : NULL;

	return p && call_stats_count(&p->calls) ? p : NULL;
}

bool device_users_have(const struct device_users *o, const struct sample_user *u)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->members[i]->pid == u->pid)
			return false;
	return u->seen_ns >= o->since_ns;
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
	size_t i = find(o->model, pid);
	const char *why = i ? model_identity(o->model, i - 1, "helper_why") : NULL;

	return why ? why : "no helper told of them";
}
