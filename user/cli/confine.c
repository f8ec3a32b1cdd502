// SPDX-License-Identifier: BSD-3-Clause
/* Which rights are still needed, by what the session has still to do. */
#include "cli/confine.h"

#include <linux/capability.h>
#include <string.h>

#include "base/log.h"
#include "cli/session_internal.h"
#include "probe/caps.h"

/* Perf events of probes are made by CAP_SYS_ADMIN alone, also for what is loaded later. */
static bool makes_perf_events(const struct session *s)
{
	return s->loader && loader_way(s->loader) == WAY_PERF;
}

/* It may be another user's, from the start or by itself. */
static bool signals_command(const struct session *s)
{
	return s->command.pid > 0;
}

/* Files that are made or removed later, perhaps in a folder of the user who typed sudo. */
static bool makes_files_later(const struct session *s)
{
	const struct options *o = s->plan->o;

	const char *capture = s->plan->capture_path;

	return (o->output && o->output != capture) || (capture && (o->max_bytes || o->before_ns));
}

static const struct {
	unsigned int bit;
	bool (*is_needed)(const struct session *s);
} extras[] = {
	{ CAP_SYS_ADMIN, makes_perf_events },
	{ CAP_KILL, signals_command },
	{ CAP_DAC_OVERRIDE, makes_files_later },
};

void confine_session(const struct session *s)
{
	uint64_t keep = caps_of_work();
	int err;

	for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
		if (extras[i].is_needed(s))
			keep |= 1ull << extras[i].bit;
	err = caps_keep(keep);
	if (err)
		log_warn("cannot give up capabilities that are not needed: %s", strerror(-err));
}
