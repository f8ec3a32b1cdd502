// SPDX-License-Identifier: BSD-3-Clause
/* The table of codes, and what is logged of them. */
#include "base/note.h"

#include <string.h>

#include "base/log.h"

static const struct {
	const char *name;
	enum note_severity severity;
} notes[NOTE_CODES] = {
	[NOTE_HELPER_BUSY] = { "helper-busy", NOTE_WARNING },
	[NOTE_HELPER_DAMAGED] = { "helper-damaged", NOTE_WARNING },
	[NOTE_HELPER_VERSION] = { "helper-version", NOTE_WARNING },
	[NOTE_HELPER_CONFINED] = { "helper-confined", NOTE_WARNING },
	[NOTE_HELPER_NOT_FOUND] = { "helper-not-found", NOTE_WARNING },
	[NOTE_HELPER_NOT_LOADABLE] = { "helper-not-loadable", NOTE_WARNING },
	[NOTE_HELPERS_FORGOTTEN] = { "helpers-forgotten", NOTE_WARNING },
	[NOTE_INJECTION_NOT_CHAINED] = { "injection-not-chained", NOTE_WARNING },
	[NOTE_CUPTI_OCCUPIED] = { "cupti-occupied", NOTE_WARNING },
	[NOTE_CUPTI_FAILED] = { "cupti-failed", NOTE_WARNING },
	[NOTE_RECORDS_LOST] = { "records-lost", NOTE_WARNING },
	[NOTE_RECORDS_KEPT] = { "records-kept", NOTE_WARNING },
	[NOTE_RECORDS_MISSING] = { "records-missing", NOTE_WARNING },
	[NOTE_RECORDS_UNREAD] = { "records-unread", NOTE_WARNING },
	[NOTE_READER_AWAY] = { "reader-away", NOTE_WARNING },
	[NOTE_CALLS_WITHOUT_CLOCK] = { "calls-without-clock", NOTE_WARNING },
	[NOTE_CLOCK_SET] = { "clock-set", NOTE_WARNING },
	[NOTE_CLOCK_FOREIGN] = { "clock-foreign", NOTE_WARNING },
	[NOTE_GRAPHS_BY_ORDER] = { "graphs-by-order", NOTE_WARNING },
	[NOTE_GRAPHS_UNMATCHED] = { "graphs-unmatched", NOTE_WARNING },
	[NOTE_FORKED_WITH_CUDA] = { "forked-with-cuda", NOTE_WARNING },
	[NOTE_DEVICE_TIMES_MISSING] = { "device-times-missing", NOTE_INFO },
	[NOTE_NVML_INCOMPLETE] = { "nvml-incomplete", NOTE_WARNING },
	[NOTE_NVML_FAILED] = { "nvml-failed", NOTE_WARNING },
	[NOTE_WITHOUT_PROBES] = { "without-probes", NOTE_INFO },
	[NOTE_PARTIALLY_PROBED] = { "partially-probed", NOTE_INFO },
	[NOTE_PROCESSES_UNREADABLE] = { "processes-unreadable", NOTE_WARNING },
	[NOTE_MATCH_UNKNOWN] = { "match-unknown", NOTE_WARNING },
	[NOTE_TOO_MANY_CHILDREN] = { "too-many-children", NOTE_WARNING },
	[NOTE_CHILDREN_NOT_FOLLOWED] = { "children-not-followed", NOTE_INFO },
	[NOTE_FUNCTIONS_NOT_SEEN] = { "functions-not-seen", NOTE_INFO },
	[NOTE_ENTRY_ONLY] = { "entry-only", NOTE_INFO },
	[NOTE_LAUNCH_MODE] = { "launch-mode", NOTE_INFO },
	[NOTE_LAUNCHES_UNSEEN] = { "launches-unseen", NOTE_INFO },
	[NOTE_UNARMED] = { "unarmed", NOTE_INFO },
	[NOTE_BUDGET] = { "budget", NOTE_WARNING },
	[NOTE_INFLIGHT_UNKNOWN] = { "inflight-unknown", NOTE_INFO },
	[NOTE_NO_CALLS] = { "no-calls", NOTE_INFO },
	[NOTE_STATES_UNREAD] = { "states-unread", NOTE_WARNING },
	[NOTE_OFF_CPU_UNREAD] = { "off-cpu-unread", NOTE_WARNING },
	[NOTE_OFF_CPU_MISSING] = { "off-cpu-missing", NOTE_INFO },
	[NOTE_OFF_CPU_SAMPLED] = { "off-cpu-sampled", NOTE_INFO },
	[NOTE_STACKS_LOST] = { "stacks-lost", NOTE_INFO },
	[NOTE_STACKS_LIMIT] = { "stacks-limit", NOTE_WARNING },
	[NOTE_STACKS_FAILED] = { "stacks-failed", NOTE_WARNING },
	[NOTE_EVENTS_LOST] = { "events-lost", NOTE_INFO },
	[NOTE_UNFOLLOWED] = { "unfollowed", NOTE_WARNING },
	[NOTE_EVENTS_INVALID] = { "events-invalid", NOTE_INFO },
	[NOTE_RECORDS_MALFORMED] = { "records-malformed", NOTE_WARNING },
	[NOTE_COUNTERS_UNBALANCED] = { "counters-unbalanced", NOTE_WARNING },
	[NOTE_WORKS_OUTSIDE] = { "works-outside", NOTE_INFO },
	[NOTE_TIME_LATE] = { "time-late", NOTE_INFO },
	[NOTE_PROCESSES_MERGED] = { "processes-merged", NOTE_INFO },
	[NOTE_GOES_ON] = { "goes-on", NOTE_INFO },
	[NOTE_CALLS_BY_CUPTI] = { "calls-by-cupti", NOTE_INFO },
	[NOTE_CAPTURE_INCOMPLETE] = { "capture-incomplete", NOTE_WARNING },
};

static const char *const severities[NOTE_SEVERITIES] = {
	[NOTE_INFO] = "info", [NOTE_WARNING] = "warning",
};

const char *note_name(enum note_code code)
{
	return notes[code].name;
}

enum note_severity note_severity(enum note_code code)
{
	return notes[code].severity;
}

const char *note_severity_name(unsigned int severity)
{
	return severity < NOTE_SEVERITIES ? severities[severity] : "?";
}

/* ---- logging -------------------------------------------------------------------------------- */

#define LOGGED_MAX 3

static unsigned int of_processes[NOTE_CODES];

void note_log(const char *name, unsigned int severity, uint32_t pid, const char *text)
{
	unsigned int code = 0;

	while (code < NOTE_CODES && strcmp(notes[code].name, name) != 0)
		code++;
	if (pid && code < NOTE_CODES && log_threshold < LOG_DEBUG &&
	    __atomic_fetch_add(&of_processes[code], 1, __ATOMIC_RELAXED) >= LOGGED_MAX)
		return;
	log_msg(severity == NOTE_WARNING ? LOG_WARN : LOG_INFO, "%s", text);
}

void note_log_rest(void)
{
	for (unsigned int code = 0; code < NOTE_CODES; code++)
		if (of_processes[code] > LOGGED_MAX)
			log_msg(notes[code].severity == NOTE_WARNING ? LOG_WARN : LOG_INFO,
				"the same of %u more processes (-v: each; gpuprof help %s)",
				of_processes[code] - LOGGED_MAX, notes[code].name);
}
