/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages for users by code: programs and tests know a message by its code, people by its text.
 * Codes never change; texts may.
 */
#ifndef BASE_NOTE_H
#define BASE_NOTE_H

#include <stddef.h>
#include <stdint.h>

enum note_severity { NOTE_INFO, NOTE_WARNING, NOTE_SEVERITIES };

enum note_code {
	/* of helpers and device records */
	NOTE_HELPER_BUSY, NOTE_HELPER_DAMAGED, NOTE_HELPER_VERSION, NOTE_HELPER_CONFINED,
	NOTE_HELPER_NOT_FOUND, NOTE_HELPER_NOT_LOADABLE, NOTE_HELPERS_FORGOTTEN,
	NOTE_INJECTION_NOT_CHAINED, NOTE_CUPTI_OCCUPIED, NOTE_CUPTI_FAILED, NOTE_RECORDS_LOST,
	NOTE_RECORDS_KEPT, NOTE_RECORDS_MISSING, NOTE_RECORDS_UNREAD, NOTE_READER_AWAY,
	NOTE_CALLS_WITHOUT_CLOCK, NOTE_CLOCK_SET, NOTE_CLOCK_FOREIGN, NOTE_GRAPHS_BY_ORDER,
	NOTE_GRAPHS_UNMATCHED, NOTE_FORKED_WITH_CUDA, NOTE_DEVICE_TIMES_MISSING,
	NOTE_NVML_INCOMPLETE, NOTE_NVML_FAILED,
	/* of probes and calls */
	NOTE_WITHOUT_PROBES, NOTE_PARTIALLY_PROBED, NOTE_PROCESSES_UNREADABLE, NOTE_MATCH_UNKNOWN,
	NOTE_TOO_MANY_CHILDREN, NOTE_CHILDREN_NOT_FOLLOWED, NOTE_FUNCTIONS_NOT_SEEN,
	NOTE_ENTRY_ONLY, NOTE_LAUNCH_MODE, NOTE_LAUNCHES_UNSEEN, NOTE_UNARMED, NOTE_BUDGET,
	NOTE_INFLIGHT_UNKNOWN, NOTE_NO_CALLS, NOTE_STATES_UNREAD, NOTE_OFF_CPU_UNREAD,
	NOTE_OFF_CPU_MISSING, NOTE_OFF_CPU_SAMPLED, NOTE_STACKS_LOST, NOTE_STACKS_LIMIT,
	NOTE_STACKS_FAILED,
	/* of the data as a whole */
	NOTE_EVENTS_LOST, NOTE_UNFOLLOWED, NOTE_EVENTS_INVALID, NOTE_RECORDS_MALFORMED,
	NOTE_COUNTERS_UNBALANCED, NOTE_WORKS_OUTSIDE, NOTE_TIME_LATE, NOTE_PROCESSES_MERGED,
	NOTE_GOES_ON, NOTE_CALLS_BY_CUPTI, NOTE_CAPTURE_INCOMPLETE,
	NOTE_CODES
};

const char *note_name(enum note_code code);		/* "records-lost" */
enum note_severity note_severity(enum note_code code);
const char *note_severity_name(unsigned int severity);	/* "warning"; "?": unknown */

/* Logs a note by its code's name. A code's notes of single processes (pid not 0) are logged three
 * times, with -v always. */
void note_log(const char *name, unsigned int severity, uint32_t pid, const char *text);

/* Logs how many were left out. */
void note_log_rest(void);

#endif
