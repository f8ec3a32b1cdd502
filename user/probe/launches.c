// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "probe/launches.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "catalog/catalog.h"

#define DOUBLED_MAX 16

#define ASK_EVERY_NS (1 * NS_PER_SEC)	/* whether a process has ended, which /proc has */

struct caller {
	pid_t pid;
	uint64_t launches;	/* by the runtime, since it last called the driver itself */
	unsigned int returns;	/* it brought all back so often */
	bool calls_driver;	/* itself */
	bool was_left_out;	/* its launches by the driver were not probed */
	bool was_surprising;	/* see launches_surprise */
	bool was_lost;		/* CUPTI stopped to record it while it was not probed */
	uint64_t alive_ns;	/* it had not ended then */
};

enum call_of { OF_OTHERS, OF_RUNTIME_LAUNCH, OF_DRIVER, OF_DRIVER_LAUNCH };

struct launches {
	uint8_t of[GP_ROWS_MAX];	/* enum call_of */
	VEC(struct caller) callers;
	struct map by_pid;		/* -> index + 1 */
	size_t last;			/* index of the one that called last */
	enum plan_part until;		/* what is probed, as it was chosen last */
	uint64_t since_ns;		/* all are probed; settled since then */
	uint64_t seen;			/* launches since then */
	bool failed;			/* to know a caller */
	pid_t surprise;
};

struct launches *launches_new(void)
{
	struct launches *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->until = PLAN_PARTS;
	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++) {
		const struct catalog_library *lib = catalog_library(i);

		for (size_t k = 0; k < lib->n_rows; k++) {
			uint8_t *of = &l->of[catalog_first_row(i) + k];

			bool launches = lib->rows[k].class == CLASS_LAUNCH;

			if (lib == &catalog_cuda)
				*of = launches ? OF_DRIVER_LAUNCH : OF_DRIVER;
			else if (lib == &catalog_cudart && launches)
				*of = OF_RUNTIME_LAUNCH;
		}
	}
	return l;
}

void launches_free(struct launches *l)
{
	if (!l)
		return;
	VEC_FREE(&l->callers);
	map_free(&l->by_pid);
	free(l);
}

/* NULL: out of memory. */
static struct caller *find_caller(struct launches *l, pid_t pid)
{
	struct map_slot *slot;
	struct caller *c;

	if (l->last < l->callers.n && l->callers.v[l->last].pid == pid)
		return &l->callers.v[l->last];
	slot = map_put(&l->by_pid, (uint64_t)pid, NULL);
	if (slot && slot->value) {
		l->last = slot->value - 1;
		return &l->callers.v[l->last];
	}
	c = slot ? VEC_PUSH(&l->callers) : NULL;
	l->failed |= !c;
	if (!c)
		return NULL;
	*c = (struct caller){ .pid = pid };
	l->last = l->callers.n - 1;
	slot->value = l->callers.n;
	return c;
}

/* The last one takes its place. */
static void forget_caller(struct launches *l, size_t i)
{
	struct map_slot *moved;

	map_del(&l->by_pid, (uint64_t)l->callers.v[i].pid);
	l->callers.v[i] = l->callers.v[--l->callers.n];
	moved = i < l->callers.n ? map_find(&l->by_pid, (uint64_t)l->callers.v[i].pid) : NULL;
	if (moved)
		moved->value = i + 1;
}

static uint64_t enough(const struct caller *c)
{
	return (uint64_t)LAUNCHES_ENOUGH << c->returns;
}

/* Has it launched, if at all, often enough without calling the driver itself? */
static bool is_safe(const struct caller *c)
{
	return (!c->launches && !c->calls_driver) || c->launches >= enough(c);
}

static void note_driver(struct launches *l, struct caller *c, const struct event *ev)
{
	if (ev->start_ns < l->since_ns)
		return;
	if (l->until == PLAN_DRIVER_LAUNCHES && c->calls_driver && is_safe(c))
		c->returns += c->returns < DOUBLED_MAX;
	if (c->was_left_out && !c->was_surprising &&
	    (l->until == PLAN_DRIVER_LAUNCHES || l->of[ev->func] == OF_DRIVER_LAUNCH)) {
		c->was_surprising = true;
		l->surprise = c->pid;
	}
	c->calls_driver = true;
	c->launches = 0;
}

void launches_push(struct launches *l, const struct event *ev)
{
	struct caller *c = find_caller(l, (pid_t)ev->pid);

	if (!c)
		return;
	if (l->of[ev->func] == OF_RUNTIME_LAUNCH) {
		c->launches++;
		c->was_left_out |= l->until == PLAN_DRIVER_LAUNCHES;
		l->seen++;
	} else if (l->of[ev->func] != OF_OTHERS) {
		note_driver(l, c, ev);
	}
}

pid_t launches_surprise(struct launches *l)
{
	pid_t pid = l->surprise;

	l->surprise = 0;
	return pid;
}

/* Is each caller so? Those that are not, and have ended, are forgotten. */
static bool all_are(struct launches *l, const struct launches_facts *facts,
		    bool (*is)(const struct launches *l, struct caller *c,
			       const struct launches_facts *facts))
{
	for (size_t i = 0; i < l->callers.n;) {
		struct caller *c = &l->callers.v[i];

		if (is(l, c, facts)) {
			i++;
			continue;
		}
		if (c->alive_ns && facts->now_ns < c->alive_ns + ASK_EVERY_NS)
			return false;
		if (!facts->has_ended(facts->ctx, c->pid)) {
			c->alive_ns = facts->now_ns;
			return false;
		}
		forget_caller(l, i);
	}
	return l->callers.n > 0;
}

/* One whose records ended while no launch was probed has another client of CUPTI, which may come
 * again. */
static bool is_recorded(const struct launches *l, struct caller *c,
			const struct launches_facts *facts)
{
	if (!facts->is_recorded || c->was_lost)
		return false;
	if (facts->is_recorded(facts->ctx, c->pid))
		return true;
	c->was_lost = l->until == PLAN_RUNTIME_LAUNCHES && (c->launches || c->calls_driver);
	return false;
}

static bool is_used_safely(const struct launches *l, struct caller *c,
			   const struct launches_facts *facts)
{
	(void)l;
	(void)facts;
	return is_safe(c);
}

enum plan_part launches_needed(struct launches *l, const struct launches_facts *facts)
{
	return !l->failed && all_are(l, facts, is_used_safely) ? PLAN_DRIVER_LAUNCHES : PLAN_PARTS;
}

enum plan_part launches_choose(struct launches *l, const struct attach_launches *now,
			       const struct launches_facts *facts)
{
	const uint64_t now_ns = facts->now_ns;
	bool enough;

	if (now->until == PLAN_PARTS && now->since_ns + LAUNCHES_SETTLE_NS > l->since_ns) {
		l->since_ns = now->since_ns + LAUNCHES_SETTLE_NS;
		l->seen = 0;
	}
	l->until = now->until;
	if (l->failed || (now->until == PLAN_PARTS && now_ns < l->since_ns))
		return PLAN_PARTS;
	if (all_are(l, facts, is_recorded))
		return PLAN_RUNTIME_LAUNCHES;
	enough = now->until == PLAN_DRIVER_LAUNCHES ? now_ns < now->since_ns + LAUNCHES_LOOK_NS :
						      l->seen >= LAUNCHES_ENOUGH;
	return now->until != PLAN_RUNTIME_LAUNCHES && enough && all_are(l, facts, is_used_safely) ?
		       PLAN_DRIVER_LAUNCHES : PLAN_PARTS;
}
