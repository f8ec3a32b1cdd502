// SPDX-License-Identifier: BSD-3-Clause
/* The names of the event model's enums, as outputs and captures spell them; what texts are known by. */
#include "event/event.h"

#include <string.h>
#include <xxhash.h>

static const char *const kinds[] = {
	[EVENT_CALL] = "call", [EVENT_ENTER] = "enter", [EVENT_OPEN] = "open",
	[EVENT_THREAD] = "thread", [EVENT_EXIT] = "exit", [EVENT_FORK] = "fork",
	[EVENT_PROCESS] = "process", [EVENT_TAIL] = "tail", [EVENT_FACT] = "fact",
	[EVENT_COUNT] = "count", [EVENT_START] = "start", [EVENT_STOP] = "stop",
	[EVENT_WATERMARK] = "watermark", [EVENT_UNARMED] = "unarmed",
	[EVENT_FRAME] = "frame", [EVENT_STACK] = "stack",
	[EVENT_IDENTITY] = "identity",
	[EVENT_INSIDE] = "inside", [EVENT_LEFT] = "left", [EVENT_GONE] = "gone",
	[EVENT_DEVICE] = "device", [EVENT_WORK] = "work", [EVENT_API] = "api",
	[EVENT_RANGE] = "range", [EVENT_OFF] = "off", [EVENT_UNSEEN] = "unseen",
	[EVENT_MEMORY] = "memory",
	[EVENT_SAMPLE] = "sample", [EVENT_USER] = "user", [EVENT_FAULT] = "fault",
	[EVENT_TOLD] = "told", [EVENT_NODE] = "node",
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == EVENT_KIND_END, "a name for each kind");

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

const char *event_kind_name(unsigned int kind)
{
	return kind < EVENT_KIND_END && kinds[kind] ? kinds[kind] : "?";
}

const char *class_name(unsigned int class)
{
	return class < CLASS_END ? classes[class] : "?";
}

const char *off_reason_name(unsigned int reason)
{
	return reason < OFF_REASON_END ? reasons[reason] : "?";
}

uint64_t event_text_hash(const char *text)
{
	return text ? XXH64(text, strlen(text), 0) : 0;
}
