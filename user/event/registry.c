// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes by pid, the youngest first. Of exited ones the last ENDED_MAX are kept, for events
 * that arrive late. Knows nothing of a process's activity.
 */
#include "event/registry.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/num.h"
#include "base/time.h"

#define ENDED_MAX 4096

struct entry {
	uint32_t process;	/* the handle */
	uint32_t pid;
	uint64_t exact_ns;	/* birth; 0: known from start_ns only */
	uint64_t start_ns;	/* birth; 0: unknown */
	uint64_t end_ns;	/* 0: it runs */
	struct entry *before;	/* of the same pid; NULL: none */
};

struct registry {
	struct map by_pid;		/* -> the youngest */
	struct entry *last;		/* whose event came last */
	struct entry *ended[ENDED_MAX];	/* a ring */
	size_t next_ended;
	uint32_t n;			/* handles given */
};

enum birth births_compare(uint64_t known_ns, uint64_t given_ns, bool is_exact)
{
	uint64_t apart = given_ns > known_ns ? given_ns - known_ns : known_ns - given_ns;

	if (!known_ns || !given_ns || apart < (is_exact ? 1 : SAME_BIRTH_NS))
		return BIRTH_SAME;
	return given_ns > known_ns ? BIRTH_NEWER : BIRTH_OLDER;
}

bool births_match(uint64_t read_ns, uint64_t exact_ns)
{
	uint64_t mono_ns = time_now_ns(), boot_ns = time_boot_ns();
	uint64_t asleep_ns = num_sub(boot_ns, mono_ns);

	return read_ns <= exact_ns + SAME_BIRTH_NS &&
	       read_ns + SAME_BIRTH_NS + asleep_ns >= exact_ns;
}

static enum birth compare(const struct entry *e, uint64_t start_ns, uint64_t exact_ns)
{
	if (exact_ns && e->exact_ns)
		return births_compare(e->exact_ns, exact_ns, true);
	if (exact_ns && e->start_ns && births_match(e->start_ns, exact_ns))
		return BIRTH_SAME;
	if (e->exact_ns && start_ns && births_match(start_ns, e->exact_ns))
		return BIRTH_SAME;
	return births_compare(e->start_ns, exact_ns ? exact_ns : start_ns, false);
}

static struct entry *make_entry(struct registry *r, uint32_t pid)
{
	struct entry *e = calloc(1, sizeof(*e));
	struct map_slot *slot = e ? map_put(&r->by_pid, pid, NULL) : NULL;

	if (!slot) {
		free(e);
		return NULL;
	}
	e->process = ++r->n;
	e->pid = pid;
	e->before = (struct entry *)(uintptr_t)slot->value;
	slot->value = (uintptr_t)e;
	return e;
}

static struct entry *youngest(const struct registry *r, uint32_t pid)
{
	return map_pointer(&r->by_pid, pid);
}

static void forget(struct registry *r, struct entry *e)
{
	struct entry *first = youngest(r, e->pid), *it = first;

	if (first == e && !e->before)
		map_del(&r->by_pid, e->pid);
	else if (first == e)
		map_find(&r->by_pid, e->pid)->value = (uintptr_t)e->before;
	while (it && it->before != e)
		it = it->before;
	if (it)
		it->before = e->before;
	r->last = NULL;
	free(e);
}


static void end(struct registry *r, struct entry *e, uint64_t end_ns)
{
	struct entry **place = &r->ended[r->next_ended];

	if (e->end_ns)
		return;
	e->end_ns = end_ns;
	if (*place)
		forget(r, *place);
	*place = e;
	r->next_ended = (r->next_ended + 1) % ENDED_MAX;
}

/* NULL: it is older than all that are known, or out of memory (-ENOMEM in *err). */
static struct entry *meet(struct registry *r, uint32_t pid, uint64_t start_ns, uint64_t exact_ns,
			  int *err)
{
	struct entry *first = youngest(r, pid), *e = first;

	while (e && compare(e, start_ns, exact_ns) == BIRTH_OLDER)
		e = e->before;
	if (first && !e)
		return NULL;
	if (!e || compare(e, start_ns, exact_ns) == BIRTH_NEWER) {
		if (e != first)
			return NULL;	/* between two that are known */
		e = make_entry(r, pid);
		*err = e ? 0 : -ENOMEM;
	}
	if (e && exact_ns)
		e->exact_ns = e->start_ns = exact_ns;
	else if (e && start_ns && !e->exact_ns)
		e->start_ns = start_ns;
	return e;
}

static struct entry *find(struct registry *r, const struct event *ev, int *err)
{
	struct entry *e = youngest(r, ev->pid);

	switch (ev->kind) {
	case EVENT_PROCESS:
		e = meet(r, ev->pid, ev->start_ns, ev->task.process_ns, err);
		if (!e || ev->end_ns <= e->end_ns)
			return e;
		/* An exec by a thread that is not the first ends the first one, and the process
		 * goes on. */
		for (size_t i = 0; e->end_ns && i < ENDED_MAX; i++)
			if (r->ended[i] == e)
				r->ended[i] = NULL;
		e->end_ns = 0;
		return e;
	case EVENT_THREAD:
		if (ev->task.process_ns)
			return meet(r, ev->pid, 0, ev->task.process_ns, err);
		break;
	case EVENT_EXIT:
		while (e && compare(e, 0, ev->task.process_ns) != BIRTH_SAME)
			e = e->before;
		e = e ? e : youngest(r, ev->pid);
		break;
	default:
		break;
	}
	if (!e) {
		e = make_entry(r, ev->pid);
		*err = e ? 0 : -ENOMEM;
	}
	return e;
}

int registry_stamp(struct registry *r, struct event *ev)
{
	bool is_task = ev->kind == EVENT_PROCESS || ev->kind == EVENT_THREAD ||
		       ev->kind == EVENT_EXIT;
	struct entry *e = r->last;
	int err = 0;

	ev->process = 0;
	if (!ev->pid)
		return 0;
	if (is_task || !e || e->pid != ev->pid)
		e = find(r, ev, &err);
	if (!e)
		return err;
	ev->process = e->process;
	r->last = is_task ? NULL : e;
	if (ev->kind == EVENT_EXIT && ev->tid == ev->pid)
		end(r, e, ev->end_ns ? ev->end_ns : ev->start_ns);
	return 0;
}

struct registry *registry_new(void)
{
	return calloc(1, sizeof(struct registry));
}

void registry_free(struct registry *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->by_pid.cap; i++) {
		struct entry *e = (struct entry *)(uintptr_t)r->by_pid.slot[i].value;

		while (r->by_pid.slot[i].used && e) {
			struct entry *before = e->before;

			free(e);
			e = before;
		}
	}
	map_free(&r->by_pid);
	free(r);
}
