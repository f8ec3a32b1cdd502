// SPDX-License-Identifier: BSD-3-Clause
/* Events that every live source pushes about itself, and how one reports what it cannot do. */
#include "session/live_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"

void live_push_fact(const struct event_sink *to, const char *key, const char *fmt, ...)
{
	char value[4096];	/* longer texts of facts are cut */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	to->push(to->ctx, &(struct event){ .kind = EVENT_FACT, .fact.key = key,
					   .fact.value = value });
}

void live_push_trait(const struct event_sink *to, pid_t pid, const char *key, const char *value)
{
	to->push(to->ctx, &(struct event){ .kind = EVENT_IDENTITY, .pid = (uint32_t)pid,
					   .tid = (uint32_t)pid, .fact.key = key,
					   .fact.value = value });
}

void live_push_note(const struct event_sink *to, enum note_code code, pid_t pid,
		    const char *fmt, ...)
{
	const enum note_severity severity = note_severity(code);
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note_log(note_name(code), severity, (uint32_t)pid, text);
	to->push(to->ctx, &(struct event){ .kind = EVENT_NOTE, .pid = (uint32_t)pid,
					   .note.code = note_name(code), .note.text = text,
					   .note.severity = (uint8_t)severity });
}

int live_push_count(const struct event_sink *to, const char *source, const char *kind,
		    uint64_t received, uint64_t lost)
{
	return to->push(to->ctx, &(struct event){ .kind = EVENT_COUNT, .count.source = source,
						  .count.kind = kind,
						  .count.hits = num_add(received, lost),
						  .count.received = received,
						  .count.lost = lost });
}

int live_cannot(const char *what, int err)
{
	static const char *const advice[] = {
		[EMFILE] = "; raise the limit of open files (ulimit -n)",
		[EAGAIN] = " to start a thread; raise the limit of processes (ulimit -u)",
		[ENOMEM] = "; give a smaller --ring-size, or raise the limit of memory (ulimit -v)",
	};
	const char *text = (size_t)err < sizeof(advice) / sizeof(advice[0]) ? advice[err] : NULL;

	log_error("cannot %s: %s%s", what, strerror(err), text ? text : "");
	return err == ENOMEM ? -EIO : -err;
}
