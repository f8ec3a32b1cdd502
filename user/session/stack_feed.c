// SPDX-License-Identifier: BSD-3-Clause
/*
 * A copy is looked at after the mappings that were made before it were: the ring's position is
 * noted, then the events are read, then the maps, and then the ring up to that position.
 */
#include "session/stack_feed.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "source/bpf/ring.h"

#define READ_NS (5 * NS_PER_MS)
#define TELL_NS (100 * NS_PER_MS)
#define TELL_SHARE 10 /* a pass over large symbol tables takes some 10 ms: no more of its time */

struct stack_feed {
	struct loader *loader;
	struct callstacks *stacks;
	struct ring *ring;
	VEC(pid_t) mapped;	/* processes that have mapped something */
	uint64_t limit;		/* of the ring: what came before this round's events */
	uint64_t read_ns, told_ns, cost_ns;
	int err;
};

static void set_code(void *ctx, pid_t pid, const struct gp_code *code)
{
	loader_set_code(ctx, pid, code);
}

struct stack_feed *stack_feed_new(struct loader *l)
{
	struct stack_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->loader = l;
	f->stacks = callstacks_new(set_code, l);
	f->ring = f->stacks ? ring_open(loader_stacks_fd(l)) : NULL;
	if (f->ring)
		return f;
	stack_feed_free(f);
	return NULL;
}

void stack_feed_free(struct stack_feed *f)
{
	if (!f)
		return;
	ring_close(f->ring);
	callstacks_free(f->stacks);
	VEC_FREE(&f->mapped);
	free(f);
}

const struct callstacks_counts *stack_feed_counts(const struct stack_feed *f)
{
	return callstacks_counts(f->stacks);
}

uint64_t stack_feed_received(const struct stack_feed *f)
{
	return __atomic_load_n(&callstacks_counts(f->stacks)->received, __ATOMIC_RELAXED);
}

static void keep_error(struct stack_feed *f, int err)
{
	if (!f->err)
		f->err = err;
}

static int on_copy(void *ctx, const void *rec, size_t len)
{
	struct stack_feed *f = ctx;

	keep_error(f, callstacks_take(f->stacks, rec, len));
	return 0;
}

static void take_copies(struct stack_feed *f)
{
	ring_consume(f->ring, f->limit, on_copy, f);
}

void stack_feed_begin(struct stack_feed *f)
{
	f->limit = ring_produced(f->ring);
}

void stack_feed_target(struct stack_feed *f, pid_t pid)
{
	if (pid > 0)
		keep_error(f, callstacks_mapped(f->stacks, pid));
}

static void note_mapped(struct stack_feed *f, pid_t pid)
{
	pid_t *place;

	if (f->mapped.n && f->mapped.v[f->mapped.n - 1] == pid)
		return;
	place = VEC_PUSH(&f->mapped);
	if (place)
		*place = pid;
	else
		keep_error(f, -ENOMEM);
}

static void read_mapped(struct stack_feed *f)
{
	struct map seen = { 0 };
	bool is_new;

	for (size_t i = 0; i < f->mapped.n; i++)
		if (map_put(&seen, (uint64_t)f->mapped.v[i], &is_new) && is_new)
			keep_error(f, callstacks_mapped(f->stacks, f->mapped.v[i]));
	f->mapped.n = 0;
	f->read_ns = time_now_ns();
	map_free(&seen);
}

void stack_feed_event(struct stack_feed *f, const struct target_event *ev, pid_t target)
{
	switch (ev->kind) {
	case TARGET_MMAP:
		if (ev->pid == target || callstacks_knows(f->stacks, ev->pid))
			note_mapped(f, ev->pid);
		/* It may end before all events are read, but not each of them is worth a look. */
		if (time_now_ns() - f->read_ns >= READ_NS)
			read_mapped(f);
		break;
	case TARGET_EXEC:
		callstacks_exec(f->stacks, ev->pid, ev->time_ns);
		break;
	case TARGET_EXIT:
		callstacks_exit(f->stacks, ev->pid, ev->time_ns);
		break;
	default:
		break;
	}
}

int stack_feed_round(struct stack_feed *f, const struct event_sink *to, bool now)
{
	uint64_t now_ns = time_now_ns();

	read_mapped(f);
	take_copies(f);
	if (!f->err && (now || now_ns - f->told_ns >= TELL_NS + TELL_SHARE * f->cost_ns)) {
		f->told_ns = now_ns;
		keep_error(f, callstacks_tell(f->stacks, to));
		f->cost_ns = time_now_ns() - now_ns;
	}
	return f->err;
}
