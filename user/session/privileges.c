// SPDX-License-Identifier: BSD-3-Clause
/* Which rights are still needed, by what a session, or another verb, has still to do. */
#include "session/privileges.h"

#include <linux/capability.h>
#include <string.h>

#include "base/log.h"
#include "session/session_internal.h"
#include "host/caps.h"

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
	const struct session_options *o = s->plan->o;

	return s->plan->output || (s->plan->capture_path && (o->max_bytes || o->before_ns));
}

static const struct {
	unsigned int bit;
	bool (*is_needed)(const struct session *s);
} extras[] = {
	{ CAP_SYS_ADMIN, makes_perf_events },
	{ CAP_KILL, signals_command },
	{ CAP_DAC_OVERRIDE, makes_files_later },
};

static void keep_only(uint64_t keep)
{
	int err = caps_keep(keep);

	if (err)
		log_warn("cannot give up capabilities that are not needed: %s", strerror(-err));
}

void privileges_drop_session(const struct session *s)
{
	uint64_t keep = caps_of_work();

	for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
		if (extras[i].is_needed(s))
			keep |= 1ull << extras[i].bit;
	keep_only(keep);
}

/* The file that a report goes to, perhaps in a folder of the user who typed sudo. */
static uint64_t for_output(const char *output)
{
	return output ? 1ull << CAP_DAC_OVERRIDE : 0;
}

void privileges_drop_stacks(const char *output)
{
	keep_only(caps_of_work() | for_output(output));
}

/* Source lines are in files of those who built what was measured. */
void privileges_drop_report(const char *output, bool lines)
{
	keep_only((lines ? 1ull << CAP_DAC_READ_SEARCH : 0) | for_output(output));
}
