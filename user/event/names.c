// SPDX-License-Identifier: BSD-3-Clause
/* The names of the event model's enums, as outputs and captures spell them, and hashes of texts. */
#include "event/names.h"

#include <string.h>
#include <xxhash.h>

#include "event/event.h"

static const char *const classes[] = {
	[CLASS_OTHER] = "other", [CLASS_LAUNCH] = "launch", [CLASS_SYNC] = "sync",
	[CLASS_COPY] = "copy", [CLASS_SET] = "set", [CLASS_ALLOC] = "alloc",
	[CLASS_FREE] = "free", [CLASS_EVENT] = "event", [CLASS_STREAM] = "stream",
	[CLASS_GRAPH] = "graph", [CLASS_COMPILE] = "compile",
	[CLASS_COLLECTIVE] = "collective", [CLASS_INIT] = "init", [CLASS_LIBRARY] = "library",
	[CLASS_QUERY] = "query",
};
_Static_assert(sizeof(classes) / sizeof(classes[0]) == CLASS_END, "a name for each class");

static const char *const reasons[] = {
	[OFF_RUNQUEUE] = "runqueue", [OFF_DISK] = "disk", [OFF_IO] = "io", [OFF_LOCK] = "lock",
	[OFF_PAGE_FAULT] = "page-fault", [OFF_SLEEP] = "sleep", [OFF_OTHER] = "off-cpu",
	[OFF_STOPPED] = "stopped",
};
_Static_assert(sizeof(reasons) / sizeof(reasons[0]) == OFF_REASON_END, "a name for each reason");

static const char *const counters[] = {
	[COUNTER_NESTED] = "nested", [COUNTER_REACHED] = "reached",
	[COUNTER_ABANDONED] = "abandoned", [COUNTER_FOREIGN] = "foreign",
	[COUNTER_UNFOLLOWED] = "unfollowed",
};
_Static_assert(sizeof(counters) / sizeof(counters[0]) == COUNTER_END, "a name for each counter");

const char *class_name(unsigned int class)
{
	return class < CLASS_END ? classes[class] : "?";
}

const char *off_reason_name(unsigned int reason)
{
	return reason < OFF_REASON_END ? reasons[reason] : "?";
}

const char *counter_name(unsigned int counter)
{
	return counter < COUNTER_END ? counters[counter] : "?";
}

uint64_t event_text_hash(const char *text)
{
	return text ? XXH64(text, strlen(text), 0) : 0;
}
