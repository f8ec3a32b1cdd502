// SPDX-License-Identifier: BSD-3-Clause
/*
 * The members of all payloads, kind by kind, and the operations that need no more than the table;
 * the names of classes, and hashes of texts. Knows no capture.
 */
#include "event/schema.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MEMBER(member) ((struct event *)NULL)->member
#define AT(member) .name = #member, .at = offsetof(struct event, member)
#define NUMBER(member) { AT(member), sizeof(MEMBER(member)), 1, FIELD_NUMBER, false }
#define SHARED(member) { AT(member), sizeof(MEMBER(member)), 1, FIELD_NUMBER, true }
#define SHARED_3(member) { AT(member), sizeof(MEMBER(member)[0]), 3, FIELD_NUMBER, true }
#define SIGNED(member) { AT(member), sizeof(MEMBER(member)), 1, FIELD_SIGNED, true }
#define TEXT(member) { AT(member), sizeof(MEMBER(member)), 1, FIELD_TEXT, false }
#define SHARED_TEXT(member) { AT(member), sizeof(MEMBER(member)), 1, FIELD_TEXT, true }

static const struct event_field call[] = {
	NUMBER(call.bytes), NUMBER(call.stream), SIGNED(call.result), SHARED(call.dir),
	SHARED(call.entity), SHARED(call.stack), SHARED_3(call.shape.grid),
	SHARED_3(call.shape.block), SHARED(call.shape.shared_bytes), NUMBER(call.address),
	NUMBER(call.blocked_ns), NUMBER(call.late_ns), NUMBER(call.after_late_ns),
	NUMBER(call.late_why), SHARED(call.op), SHARED(call.module),
};

static const struct event_field task[] = {
	NUMBER(task.process_ns), TEXT(task.comm), TEXT(task.cmdline), NUMBER(task.own_tid),
};

static const struct event_field fact[] = { TEXT(fact.key), TEXT(fact.value) };

static const struct event_field count[] = {
	TEXT(count.source), TEXT(count.kind), NUMBER(count.hits), NUMBER(count.received),
	NUMBER(count.lost),
};

static const struct event_field frame[] = {
	NUMBER(frame.number), NUMBER(frame.caller), NUMBER(frame.offset), TEXT(frame.function),
	TEXT(frame.file), NUMBER(frame.flags),
};

static const struct event_field stack[] = {
	NUMBER(stack.id), NUMBER(stack.frame), NUMBER(stack.known),
};

static const struct event_field device[] = {
	TEXT(device.name), NUMBER(device.facts.device), NUMBER(device.facts.cc_major),
	NUMBER(device.facts.cc_minor), NUMBER(device.facts.multiprocessors),
	NUMBER(device.facts.warp_threads), NUMBER(device.facts.threads_per_sm),
	NUMBER(device.facts.blocks_per_sm), NUMBER(device.facts.registers_per_sm),
	NUMBER(device.facts.shared_per_sm), NUMBER(device.facts.shared_per_block),
	NUMBER(device.facts.shared_reserved), NUMBER(device.facts.memory_bytes),
	{ AT(device.facts.uuid), sizeof(MEMBER(device.facts.uuid)), 1, FIELD_CHARS, false },
};

static const struct event_field work[] = {
	NUMBER(work.correlation), NUMBER(work.graph_node), NUMBER(work.bytes),
	NUMBER(work.error_ns), SHARED(work.kind), SHARED(work.has), SHARED(work.dir),
	SHARED(work.memory), SHARED(work.registers), SHARED(work.launch_type), SHARED(work.device),
	SHARED(work.context), SHARED(work.stream), SHARED(work.graph), SHARED(work.peer_from),
	SHARED(work.peer_to), SHARED_3(work.grid), SHARED_3(work.block), SHARED_3(work.cluster),
	SHARED(work.static_shared), SHARED(work.dynamic_shared), SHARED(work.shared_executed),
	SHARED(work.local_per_thread), SHARED(work.max_active_clusters), SHARED_TEXT(work.name),
	{ AT(work.name_hash), sizeof(MEMBER(work.name_hash)), 1, FIELD_HASH, true },
};

static const struct event_field api[] = {
	NUMBER(api.correlation), NUMBER(api.again), SHARED(api.cbid), SHARED(api.domain),
	SIGNED(api.result),
};

static const struct event_field range[] = {
	NUMBER(range.id), NUMBER(range.again), SHARED(range.what), SHARED_TEXT(range.name),
	SHARED_TEXT(range.domain),
};

static const struct event_field off[] = {
	NUMBER(off.woken_ns), NUMBER(off.waker), NUMBER(off.blocked_ns), NUMBER(off.stack),
	SHARED(off.reason), SHARED_TEXT(off.waker_name), SHARED_TEXT(off.syscall),
};

static const struct event_field unseen[] = {
	NUMBER(unseen.why), NUMBER(unseen.of), NUMBER(unseen.count),
};

static const struct event_field memory[] = {
	NUMBER(memory.op), NUMBER(memory.kind), NUMBER(memory.address), NUMBER(memory.bytes),
	NUMBER(memory.device), NUMBER(memory.again),
};

static const struct event_field sample[] = {
	TEXT(sample.uuid), TEXT(sample.name), NUMBER(sample.number),
	{ AT(sample.values), sizeof(MEMBER(sample.values)), 1, FIELD_VALUES, false },
};

static const struct event_field user[] = {
	TEXT(user.uuid), TEXT(user.name), NUMBER(user.number), NUMBER(user.bytes),
};

static const struct event_field fault[] = {
	TEXT(fault.uuid), TEXT(fault.name), NUMBER(fault.number), NUMBER(fault.what),
	NUMBER(fault.value),
};

static const struct event_field node[] = { NUMBER(node.id), NUMBER(node.original) };

static const struct event_field note[] = {
	TEXT(note.code), TEXT(note.text), NUMBER(note.severity),
};

static const struct event_field sched[] = {
	NUMBER(sched.ran_ns), NUMBER(sched.delayed_ns), NUMBER(sched.first), NUMBER(sched.last),
};

static const struct event_field op[] = { SHARED(op.id), NUMBER(op.inner_ns) };

#define PAYLOAD_END(member) (offsetof(struct event, member) + sizeof(MEMBER(member)))
#define SCHEMA(kind_name, member) { .name = kind_name, .fields = member, \
	.n = sizeof(member) / sizeof(member[0]), .bytes = PAYLOAD_END(member) }
#define BARE(kind_name) { .name = kind_name, .bytes = offsetof(struct event, call) }

static const struct event_schema schemas[] = {
	[EVENT_CALL] = SCHEMA("call", call),
	[EVENT_ENTER] = SCHEMA("enter", call),
	[EVENT_OPEN] = SCHEMA("open", call),
	[EVENT_THREAD] = SCHEMA("thread", task),
	[EVENT_EXIT] = SCHEMA("exit", task),
	[EVENT_FORK] = SCHEMA("fork", task),
	[EVENT_PROCESS] = SCHEMA("process", task),
	[EVENT_TAIL] = BARE("tail"),
	[EVENT_FACT] = SCHEMA("fact", fact),
	[EVENT_COUNT] = SCHEMA("count", count),
	[EVENT_START] = BARE("start"),
	[EVENT_STOP] = BARE("stop"),
	[EVENT_WATERMARK] = BARE("watermark"),
	[EVENT_UNARMED] = BARE("unarmed"),
	[EVENT_IDENTITY] = SCHEMA("identity", fact),
	[EVENT_INSIDE] = SCHEMA("inside", call),
	[EVENT_LEFT] = SCHEMA("left", call),
	[EVENT_GONE] = SCHEMA("gone", call),
	[EVENT_FRAME] = SCHEMA("frame", frame),
	[EVENT_STACK] = SCHEMA("stack", stack),
	[EVENT_DEVICE] = SCHEMA("device", device),
	[EVENT_WORK] = SCHEMA("work", work),
	[EVENT_API] = SCHEMA("api", api),
	[EVENT_RANGE] = SCHEMA("range", range),
	[EVENT_OFF] = SCHEMA("off", off),
	[EVENT_UNSEEN] = SCHEMA("unseen", unseen),
	[EVENT_MEMORY] = SCHEMA("memory", memory),
	[EVENT_SAMPLE] = SCHEMA("sample", sample),
	[EVENT_USER] = SCHEMA("user", user),
	[EVENT_FAULT] = SCHEMA("fault", fault),
	[EVENT_CUPTI_CALL] = SCHEMA("told", call),
	[EVENT_NODE] = SCHEMA("node", node),
	[EVENT_NOTE] = SCHEMA("note", note),
	[EVENT_SCHED] = SCHEMA("sched", sched),
	[EVENT_OP] = SCHEMA("op", op),
	[EVENT_ASKS] = BARE("asks"),
};
_Static_assert(sizeof(schemas) / sizeof(schemas[0]) == EVENT_KIND_END, "a row for each kind");

static const char *const classes[] = {
	[CLASS_OTHER] = "other", [CLASS_LAUNCH] = "launch", [CLASS_SYNC] = "sync",
	[CLASS_COPY] = "copy", [CLASS_SET] = "set", [CLASS_ALLOC] = "alloc",
	[CLASS_FREE] = "free", [CLASS_EVENT] = "event", [CLASS_STREAM] = "stream",
	[CLASS_GRAPH] = "graph", [CLASS_COMPILE] = "compile",
	[CLASS_COLLECTIVE] = "collective", [CLASS_INIT] = "init", [CLASS_LIBRARY] = "library",
	[CLASS_QUERY] = "query",
};
_Static_assert(sizeof(classes) / sizeof(classes[0]) == CLASS_END, "a name for each class");

const char *class_name(unsigned int class)
{
	return class < CLASS_END ? classes[class] : "?";
}

const struct event_schema *event_schema(unsigned int kind)
{
	return kind < EVENT_KIND_END && schemas[kind].name ? &schemas[kind] : NULL;
}

uint32_t event_schema_shared(const struct event_schema *s)
{
	uint32_t shared = 0;

	for (uint32_t i = 0; s && i < s->n; i++)
		shared |= (uint32_t)s->fields[i].shared << i;
	return shared;
}

const char *event_kind_name(unsigned int kind)
{
	const struct event_schema *s = event_schema(kind);

	return s ? s->name : "?";
}

bool event_field_is_set(const struct event *ev, const struct event_field *f)
{
	const char *at = (const char *)ev + f->at;

	if (f->count == 1 && f->size <= 8)
		return event_field_get(ev, f, 0);
	for (size_t i = 0; i < (size_t)f->size * f->count; i++)
		if (at[i])
			return true;
	return false;
}

struct event *event_clone(const struct event *ev)
{
	const struct event_schema *s = event_schema(ev->kind);
	size_t bytes = sizeof(*ev);
	struct event *copy;
	const char *text;
	char *to;

	for (uint32_t i = 0; s && i < s->n; i++)
		if (s->fields[i].coding == FIELD_TEXT && event_field_text(ev, &s->fields[i]))
			bytes += strlen(event_field_text(ev, &s->fields[i])) + 1;
	copy = malloc(bytes);
	if (!copy)
		return NULL;
	*copy = *ev;
	to = (char *)(copy + 1);
	for (uint32_t i = 0; s && i < s->n; i++) {
		if (s->fields[i].coding != FIELD_TEXT ||
		    !(text = event_field_text(ev, &s->fields[i])))
			continue;
		*(const char **)event_field_at(copy, &s->fields[i]) = to;
		to = stpcpy(to, text) + 1;
	}
	return copy;
}

uint64_t event_text_hash(const char *text)
{
	return text ? XXH64(text, strlen(text), 0) : 0;
}
