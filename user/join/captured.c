// SPDX-License-Identifier: BSD-3-Clause
/* There are few captures at a time, of few streams each: all are looked at. */
#include "join/captured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define STREAMS_MAX 256		/* of one capture; more spoil it */
#define EVENTS_MAX 4096
#define CAPTURES_MAX 64		/* under way at once; more are not followed */

struct captured *captured_get(struct captured *c)
{
	if (c)
		c->refs++;
	return c;
}

void captured_put(struct captured *c)
{
	if (!c || --c->refs)
		return;
	c->room->calls_left += c->calls.n;
	VEC_FREE(&c->calls);
	free(c);
}

static void capturing_free(struct capturing *c)
{
	captured_put(c->into);
	VEC_FREE(&c->streams);
	VEC_FREE(&c->events);
}

void capturings_free(struct capturings *c)
{
	for (size_t i = 0; i < c->all.n; i++)
		capturing_free(&c->all.v[i]);
	VEC_FREE(&c->all);
}

/* ---- streams and events ---------------------------------------------------------------------- */

static size_t find(const uint64_t *v, size_t n, uint64_t what)
{
	size_t i = 0;

	while (i < n && v[i] != what)
		i++;
	return i;
}

static struct capturing *of_stream(struct capturings *c, uint64_t stream)
{
	for (size_t i = 0; i < c->all.n; i++)
		if (find(c->all.v[i].streams.v, c->all.v[i].streams.n, stream) <
		    c->all.v[i].streams.n)
			return &c->all.v[i];
	return NULL;
}

static int add_stream(struct capturing *c, uint64_t stream)
{
	uint64_t *at;

	if (c->streams.n >= STREAMS_MAX) {
		c->into->spoiled = true;
		return 0;
	}
	at = VEC_PUSH(&c->streams);
	if (!at)
		return -ENOMEM;
	*at = stream;
	c->into->streams++;
	return 0;
}

/* The event is where the stream is: in a capture, or in none. */
static int record(struct capturings *c, uint64_t event, struct capturing *where)
{
	uint64_t *at;

	for (size_t i = 0; i < c->all.n; i++) {
		struct capturing *other = &c->all.v[i];
		size_t k = find(other->events.v, other->events.n, event);

		if (k == other->events.n)
			continue;
		if (other == where)
			return 0;
		other->events.v[k] = other->events.v[--other->events.n];
	}
	if (!where)
		return 0;
	if (where->events.n >= EVENTS_MAX) {
		where->into->spoiled = true;
		return 0;
	}
	at = VEC_PUSH(&where->events);
	if (!at)
		return -ENOMEM;
	*at = event;
	return 0;
}

static int wait(struct capturings *c, uint64_t event, uint64_t stream)
{
	for (size_t i = 0; i < c->all.n; i++) {
		struct capturing *at = &c->all.v[i];

		if (find(at->events.v, at->events.n, event) < at->events.n)
			return of_stream(c, stream) ? 0 : add_stream(at, stream);
	}
	return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What is 0 bytes long is no node. */
static bool is_nothing(const struct event *call, enum graph_role role)
{
	return (role == ROLE_COPY || role == ROLE_SET) && call->has & HAS_BYTES && !call->call.bytes;
}

void captured_fill(struct captured_call *out, const struct event *call, enum graph_role role)
{
	static const uint8_t kinds[ROLE_END_OF_ROLES] = {
		[ROLE_KERNEL] = WORK_KIND_KERNEL, [ROLE_ROUTINE] = WORK_KIND_KERNEL,
		[ROLE_COPY] = WORK_KIND_COPY, [ROLE_SET] = WORK_KIND_SET,
	};

	*out = (struct captured_call){
		.start_ns = call->start_ns, .end_ns = call->end_ns, .tid = call->tid,
		.func = call->func, .kind = kinds[role],
		.entity = role == ROLE_KERNEL && call->has & HAS_ENTITY ? call->call.entity : 0,
		.bytes = call->has & HAS_BYTES ? call->call.bytes : 0,
		.has_shape = role == ROLE_KERNEL && call->has & HAS_SHAPE };
	memcpy(out->grid, call->call.shape.grid, sizeof(out->grid));
	memcpy(out->block, call->call.shape.block, sizeof(out->block));
}

static int add_call(struct captured *c, const struct event *call, enum graph_role role)
{
	struct captured_call *at;

	if (is_nothing(call, role))
		return 0;
	if (!c->room->calls_left) {
		c->spoiled = true;
		return 0;
	}
	at = VEC_PUSH(&c->calls);
	if (!at)
		return -ENOMEM;
	c->room->calls_left--;
	captured_fill(at, call, role);
	return 0;
}

/* A routine names no stream: it is of what its thread captures. */
static struct capturing *of_thread(struct capturings *c, uint32_t tid)
{
	for (size_t i = 0; i < c->all.n; i++)
		if (c->all.v[i].tid == tid)
			return &c->all.v[i];
	return NULL;
}

int capturings_push(struct capturings *c, const struct event *call, enum graph_role role)
{
	struct capturing *at = role == ROLE_ROUTINE ? of_thread(c, call->tid) :
			       call->has & HAS_STREAM ? of_stream(c, call->call.stream) : NULL;

	if (role == ROLE_RECORD)
		return record(c, call->call.entity, at);
	if (role == ROLE_WAIT)
		return wait(c, call->call.entity, call->call.stream);
	if (!at)
		return 0;
	if (role == ROLE_SPOIL || role == ROLE_LAUNCH) {
		at->into->spoiled = true;
		return role == ROLE_LAUNCH;
	}
	return add_call(at->into, call, role) ? -ENOMEM : 1;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void drop(struct capturings *c, struct capturing *at)
{
	capturing_free(at);
	*at = c->all.v[--c->all.n];
}

int capturings_begin(struct capturings *c, struct graphs_room *room, const struct event *call,
		     uint64_t losses)
{
	struct capturing *at = call->has & HAS_STREAM ? of_stream(c, call->call.stream) : NULL;

	if (at)			/* its end was not seen */
		drop(c, at);
	if (!(call->has & HAS_STREAM) || c->all.n >= CAPTURES_MAX)
		return 0;
	at = VEC_PUSH(&c->all);
	if (!at)
		return -ENOMEM;
	at->tid = call->tid;
	at->into = calloc(1, sizeof(*at->into));
	if (at->into)
		*at->into = (struct captured){ .room = room, .refs = 1, .losses = losses };
	if (at->into && !add_stream(at, call->call.stream))
		return 0;
	drop(c, at);
	return -ENOMEM;
}

static int by_time(const void *a, const void *b)
{
	const struct captured_call *x = a, *y = b;

	return num_compare(x->start_ns, y->start_ns);
}

void capturings_lost(struct capturings *c, uint32_t tid)
{
	for (size_t i = c->all.n; i-- > 0;)
		if (c->all.v[i].tid == tid)
			drop(c, &c->all.v[i]);
}

struct captured *capturings_end(struct capturings *c, const struct event *call)
{
	struct capturing *at = call->has & HAS_STREAM ? of_stream(c, call->call.stream) : NULL;
	struct captured *into;

	if (!at)
		return NULL;
	into = at->into;
	at->into = NULL;
	into->end_ns = call->end_ns;
	if (into->calls.n)
		qsort(into->calls.v, into->calls.n, sizeof(into->calls.v[0]), by_time);
	drop(c, at);
	return into;
}
