// SPDX-License-Identifier: BSD-3-Clause
/*
 * One process after the other: an event is matched with its other half, and waits if there is
 * none. A launch that met nothing is in a list until its outcome is decided.
 *
 * Examples; L launches of a kernel by one thread, W(s) their works in stream s, what becomes of L2
 * once its window is over:
 *
 *   L1 L2 L3   W1(7) W3(7)               lost: its stream has gone on
 *   L1 L2 L3   W1(7) W3(8)               open: from its return on it may run, for stream 7 has not
 *   L1 L2 sync L3   W1(7) W3(8)          lost: its thread has waited for it
 *   L1 L2      W1(7)                     open
 *   ... L4     W4(7)                     lost: open until W4 began
 */
#include "join/join.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "catalog/cbid.h"
#include "join/scopes.h"

/* ---- what waits ------------------------------------------------------------------------------ */

/*
 * The pending launches and works of one process, first come first gone, found by correlation.
 * Each grows as needed up to its bound and while the budget of all processes lasts; a few it has
 * even without. Knows nothing of matching.
 */

struct join_budget {		/* of all processes */
	int64_t left_bytes;		/* below 0: more have begun than there is room for */
	int64_t text_left_bytes;	/* for names of works that wait */
};

struct pending_link {
	uint32_t key, next, before;	/* correlation; places of the same hash */
};

/* Elements keep their number: they count from 1 and never come again; [first, next) are here,
 * number n at place n & (cap - 1). */
struct pending_ring {
	uint32_t cap;			/* places and heads; a power of two */
	uint32_t highest;		/* key so far: CUPTI counts correlations upwards */
	uint64_t first, next;
	uint32_t *head;
	struct pending_link *link;
};

struct pending_launch {
	struct launch launch;
	uint64_t used_ns;	/* end of it, or of the last work that it met */
	uint64_t began_ns;	/* of the first work that it met; 0: it met none */
	uint32_t lane;		/* of its works, in process.lanes; NONE: unknown */
	bool awaited;		/* it is of a kind that launches, and met nothing yet */
	bool is_kernel;		/* ... which always gives work */
	bool lost;		/* it met nothing, and its work is over */
	bool is_open;		/* it is awaited, its window is over, and it may run */
	bool syncs_stream;	/* when it returned its stream had done all before it */
};

struct launches {
	struct pending_launch *v;
	struct pending_ring ring;
};

struct pending_work {
	struct work work;	/* its name is its own */
	uint64_t start_ns, end_ns;
	uint32_t tid;
	uint8_t has;
};

struct works {
	struct pending_work *v;
	/* also of some that wait no longer, until they are the first */
	struct pending_ring ring;
	uint64_t waiting;
};

#define CAP_FIRST 4
#define CAP_LEAST 64		/* each has so many, whatever is left for all */
#define NEIGHBOURS 64u		/* correlations whose heads are beside each other */
#define NONE UINT32_MAX		/* the first of a chain, the last */
#define UNLINKED (UINT32_MAX - 1)	/* before: it is in no chain */

#define LINK_BYTES (sizeof(struct pending_link) + sizeof(uint32_t))
/* of a launch that is awaited, and that waits for its call */
#define LISTED_BYTES (2 * sizeof(uint32_t) + 2 * sizeof(uint64_t))
#define LAUNCH_BYTES (sizeof(struct pending_launch) + LISTED_BYTES + LINK_BYTES)
#define WORK_BYTES (sizeof(struct pending_work) + LINK_BYTES)

/* ---- rings ----------------------------------------------------------------------------------- */

static uint32_t place_of(const struct pending_ring *r, uint64_t number)
{
	return (uint32_t)(number & (r->cap - 1));
}

/* Correlations beside each other have heads beside each other, in another order. */
static uint32_t *head_of(const struct pending_ring *r, uint32_t key)
{
	return &r->head[(key ^ key / NEIGHBOURS * 0x9e3779b1u) & (r->cap - 1)];
}

/* The newest of its key from now on. */
static void link_place(struct pending_ring *r, uint32_t place, uint32_t key)
{
	uint32_t *head = head_of(r, key);

	r->highest = key > r->highest ? key : r->highest;
	r->link[place] = (struct pending_link){ key, *head, NONE };
	if (*head != NONE)
		r->link[*head].before = place;
	*head = place;
}

static void unlink_place(struct pending_ring *r, uint32_t place)
{
	struct pending_link *l = &r->link[place];

	if (l->before != NONE)
		r->link[l->before].next = l->next;
	else
		*head_of(r, l->key) = l->next;
	if (l->next != NONE)
		r->link[l->next].before = l->before;
	l->before = UNLINKED;
}

static inline uint32_t find(const struct pending_ring *r, uint32_t key)
{
	uint32_t place = key <= r->highest && r->cap ? *head_of(r, key) : NONE;

	while (place != NONE && r->link[place].key != key)
		place = r->link[place].next;
	return place;
}

/* A place more in each of three arrays; v may have moved when this fails, too. */
static int reserve(struct pending_ring *r, void **v, size_t size, uint32_t cap)
{
	void *head = realloc(r->head, cap * sizeof(*r->head)), *link, *elements;

	if (!head)
		return -ENOMEM;
	r->head = head;
	link = realloc(r->link, cap * sizeof(*r->link));
	if (!link)
		return -ENOMEM;
	r->link = link;
	elements = realloc(*v, cap * size);
	if (!elements)
		return -ENOMEM;
	*v = elements;
	return 0;
}

/* Twice as large: elements go to where they are among so many places, and are chained anew.
 * size: of an element of v; bytes: what it takes of the budget. 0 or -ENOMEM. */
static int grow(struct pending_ring *r, void **v, size_t size, size_t bytes,
		struct join_budget *budget)
{
	const uint32_t cap = r->cap ? 2 * r->cap : CAP_FIRST;

	if (reserve(r, v, size, cap))
		return -ENOMEM;		/* chains hang on r->cap alone: they are as they were */
	for (uint64_t i = r->first; i < r->next; i++) {
		uint32_t from = place_of(r, i), to = (uint32_t)(i & (cap - 1));

		if (from == to)
			continue;
		memcpy((char *)*v + to * size, (char *)*v + from * size, size);
		r->link[to] = r->link[from];
	}
	budget->left_bytes -= (int64_t)((cap - r->cap) * bytes);
	r->cap = cap;
	memset(r->head, 0xff, cap * sizeof(*r->head));
	for (uint64_t i = r->first; i < r->next; i++) {
		uint32_t at = place_of(r, i);

		if (r->link[at].before != UNLINKED)
			link_place(r, at, r->link[at].key);
	}
	if (!r->next)
		r->first = r->next = 1;
	return 0;
}

static bool is_full(const struct pending_ring *r)
{
	return r->next - r->first == r->cap;
}

static bool may_grow(const struct pending_ring *r, size_t max, size_t bytes,
		     const struct join_budget *budget)
{
	return r->cap < CAP_LEAST ||
	       (r->cap < max && budget->left_bytes >= (int64_t)(r->cap * bytes));
}

static void ring_free(struct pending_ring *r, size_t bytes, struct join_budget *budget)
{
	budget->left_bytes += (int64_t)(r->cap * bytes);
	free(r->head);
	free(r->link);
}

/* ---- launches -------------------------------------------------------------------------------- */

static struct pending_launch *launches_at(const struct launches *l, uint64_t number)
{
	return &l->v[place_of(&l->ring, number)];
}

/* The newest launch of a correlation, or NULL. */
static struct pending_launch *launches_find(const struct launches *l, uint32_t correlation)
{
	uint32_t place = find(&l->ring, correlation);

	return place == NONE ? NULL : &l->v[place];
}

static void launches_drop_first(struct launches *l)
{
	uint32_t place = place_of(&l->ring, l->ring.first++);

	unlink_place(&l->ring, place);
	if (l->v[place].launch.scope)
		scope_release(l->v[place].launch.scope);
}

static bool launches_must_drop(const struct launches *l, const struct join_budget *budget)
{
	return is_full(&l->ring) && !may_grow(&l->ring, JOIN_LAUNCHES_MAX, LAUNCH_BYTES, budget);
}

/* A new one, where the oldest has to go if there is no room. NULL: out of memory. */
static struct pending_launch *launches_add(struct launches *l, struct join_budget *budget,
					   uint32_t correlation)
{
	void *v = l->v;
	int err = 0;

	if (launches_must_drop(l, budget))
		launches_drop_first(l);
	else if (is_full(&l->ring))
		err = grow(&l->ring, &v, sizeof(*l->v), LAUNCH_BYTES, budget);
	l->v = v;
	if (err)
		return NULL;
	link_place(&l->ring, place_of(&l->ring, l->ring.next), correlation);
	return launches_at(l, l->ring.next++);
}

/* ---- works ----------------------------------------------------------------------------------- */

static struct pending_work *works_at(const struct works *w, uint64_t number)
{
	return &w->v[place_of(&w->ring, number)];
}

static bool is_waiting(const struct works *w, uint64_t number)
{
	return w->ring.link[place_of(&w->ring, number)].before != UNLINKED;
}

static int64_t text_bytes(const char *text)
{
	return text ? (int64_t)strlen(text) + 1 : 0;
}

/* A copy of ev waits; there is room for it. 0 or -ENOMEM. */
static int works_add(struct works *w, struct join_budget *budget, const struct event *ev)
{
	char *name = ev->work.name ? strdup(ev->work.name) : NULL;
	void *v = w->v;
	int err = ev->work.name && !name ? -ENOMEM : 0;

	if (!err && is_full(&w->ring))
		err = grow(&w->ring, &v, sizeof(*w->v), WORK_BYTES, budget);
	w->v = v;
	if (err) {
		free(name);
		return err;
	}
	budget->text_left_bytes -= text_bytes(name);
	link_place(&w->ring, place_of(&w->ring, w->ring.next), ev->work.correlation);
	*works_at(w, w->ring.next++) = (struct pending_work){
		.work = ev->work, .start_ns = ev->start_ns, .end_ns = ev->end_ns, .tid = ev->tid,
		.has = ev->has };
	works_at(w, w->ring.next - 1)->work.name = name;
	w->waiting++;
	return 0;
}

/* The oldest that waits: there is one. */
static struct pending_work *works_first(const struct works *w)
{
	return works_at(w, w->ring.first);
}

/* Valid while it waits. */
static struct event works_event(const struct pending_work *work, uint32_t process, uint32_t pid)
{
	return (struct event){ .kind = EVENT_WORK, .has = work->has, .process = process, .pid = pid,
			       .tid = work->tid, .start_ns = work->start_ns, .end_ns = work->end_ns,
			       .work = work->work };
}

static void free_text(struct join_budget *budget, struct pending_work *work)
{
	budget->text_left_bytes += text_bytes(work->work.name);
	free((char *)(uintptr_t)work->work.name);
	work->work.name = NULL;
}

static void works_remove(struct works *w, struct join_budget *budget, struct pending_work *work)
{
	free_text(budget, work);
	unlink_place(&w->ring, (uint32_t)(work - w->v));
	w->waiting--;
	while (w->ring.first < w->ring.next && !is_waiting(w, w->ring.first))
		w->ring.first++;
}

#define HORIZON_EVERY 1024		/* records of a process between two horizons */
#define HORIZON_EVERY_NS 100000000ull
#define MARKS_MAX 4096		/* few: one that comes late moves those after it */
#define AHEAD_MAX 4096		/* launches that are looked at for the next one that met a work */
#define LANES_MAX 1024		/* of a process; when more come all are forgotten */
#define SYNCS_MAX 4096		/* of a process, the latest */
#define OPEN_MAX 1024		/* queues of a process with launches that may run */
#define RESUMED_MAX 32		/* times without records after which something may run still */
#define RESUMED_QUEUES_MAX 1024	/* that are seen after one */

struct uncalled {		/* a launch whose call may come yet */
	uint64_t moment_ns;
	uint32_t tid;
	uint32_t number;		/* the low half */
};

/* The meaning of a function that CUPTI records. */
#define API_LAUNCH 0x01		/* it gives work */
/* ... always: not only where there are bytes to copy, or nodes of a graph */
#define API_KERNEL 0x02
#define API_CAPTURE 0x04	/* a stream captures from now on */
#define API_CAPTURED 0x08	/* ... no more */
/* it returns when all is over that was launched in the thread's context, in its stream */
#define API_SYNC 0x10
#define API_SYNC_STREAM 0x20
#define API_SYNCS (API_SYNC | API_SYNC_STREAM)
#define API_NOTED (API_CAPTURE | API_CAPTURED | API_SYNC)
#define API_KNOWN 0x80		/* it was looked up */

/*
 * What a launch says of its stream is its queue: the handle where that names one stream at a time,
 * else (it is of a default stream, or unknown) its thread, too. Works of a queue are in one lane,
 * or in several where it may be several streams.
 */
struct lane {
	uint64_t queue;
	uint32_t context, stream;	/* of its latest work that is no graph's */
	bool has_stream;
	uint64_t since_ns;		/* launches since then gave works of this stream alone */
	uint64_t met_ns;		/* of launches that met a work, the latest */
	uint64_t began_ns;		/* of their works, the latest */
	uint64_t seen;			/* number of the launch that next_began() saw it for */
};

struct sync {			/* a call that waits for all that a thread launched before */
	uint64_t start_ns, end_ns;
	uint64_t queue;			/* ... into this one; ALL_QUEUES: into any */
	uint32_t tid;
};

#define ALL_QUEUES UINT64_MAX

struct open {			/* launches of a thread into a queue that may run */
	uint64_t queue;
	uint32_t tid;
	bool forgotten;			/* one of them at least is known no more */
	uint64_t since_ns;		/* return of the first */
	uint64_t start_ns, end_ns;	/* of the last */
	uint64_t launches;		/* that may still meet a work */
};

/*
 * What was launched while nothing was recorded may run on, in streams that are not known. It is
 * over once a call returned that waited for all of them; or when every stream that is used again
 * within RESUMED_NS has come to something that was launched since then. A call that waits for a
 * stream uses it, also while it has not returned; so may one have that began before.
 */
struct resumed {
	uint64_t since_ns, from_ns;	/* recording resumed: the first time, the last */
	uint64_t synced_ns;		/* UINT64_MAX: no call has waited for all */
	bool is_full;			/* a queue has no place */
	VEC(struct {
		uint64_t queue;
		uint64_t seen_ns;	/* its first launch, or wait for it */
		uint64_t over_ns;	/* its first work began, or the wait is over; UINT64_MAX */
	}) queues;
};

#define RESUMED_NS JOIN_SETTLE_NS

struct process {
	uint32_t process, pid;		/* handle; of works that it passes on */
	struct launches launches;
	struct works works;
	VEC(struct uncalled) uncalled;	/* by their moments */
	/* When its streams captured, by CUPTI's records: for launches without a probed call. A
	 * moment is in a capture if the record before it is a beginning, or the next one an end. */
	VEC(struct {
		uint64_t ns;
		bool ends;
	}) marks;			/* by time */
	VEC(struct lane) lanes;
	struct map lane_by_key;		/* -> index of a lane */
	uint64_t last_key;		/* of the lane that was found */
	size_t last_lane;
	uint32_t context;		/* of its latest work; 0: none came */
	bool has_contexts;		/* more than one */
	VEC(struct sync) syncs;		/* by start_ns */
	VEC(struct open) open;
	VEC(struct resumed) resumed;
	VEC(uint32_t) awaiting;		/* numbers, the low half, of launches that were awaited */
	struct {			/* none of launches [from, next) into it met a work */
		uint64_t queue;
		uint64_t from, next;
	} ahead;
	uint64_t lost_ns;		/* up to then records of works are said to be lost */
	uint64_t latest_ns;		/* that a record of it named */
	bool has_no_launches;		/* works of it have WORK_HAS_NO_LAUNCH */
	uint64_t horizon_ns, horizon_at_ns;	/* the last one passed on, and the watermark then */
	uint64_t exit_ns;		/* 0: it goes on */
	uint64_t exec_ns;		/* it executed its program then; 0: no such time is known */
	unsigned int records;		/* since the last horizon */
};

struct join {
	struct join_sink sink;
	/* NULL: there are no scopes */
	const struct scope *(*scope_at)(void *ctx, uint32_t process, uint32_t tid, uint64_t ns);
	/* NULL: it is unknown what threads wait for */
	bool (*next_wait)(void *ctx, uint32_t process, uint64_t ns, size_t *at,
			  struct join_wait *out);
	VEC(struct process *) all;
	struct map by_process;		/* handle -> struct process */
	struct process *last;		/* that was found; NULL: none */
	struct join_budget budget;
	uint64_t start_ns, stop_ns;	/* of the session; 0: not known */
	uint64_t watermark_ns;		/* 0: there is none */
	bool knows_earlier;		/* what was before the session */
	bool goes_on;			/* works of the last launches are in another file */
	struct join_counts counts;
	/* API_* of the runtime's functions, the driver's; 0: not looked up yet */
	uint8_t api_roles[2][CBID_MAX];
};

/* ---- processes ------------------------------------------------------------------------------- */

struct join *join_new(const struct join_sink *sink)
{
	struct join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->sink = *sink;
	j->budget = (struct join_budget){ JOIN_ROOM_BYTES, JOIN_TEXT_BYTES };
	return j;
}

static void process_free(struct join *j, struct process *p)
{
	for (uint64_t i = p->launches.ring.first; i < p->launches.ring.next; i++)
		scope_release(launches_at(&p->launches, i)->launch.scope);
	ring_free(&p->launches.ring, LAUNCH_BYTES, &j->budget);
	free(p->launches.v);
	for (uint64_t i = p->works.ring.first; i < p->works.ring.next; i++)
		free_text(&j->budget, works_at(&p->works, i));
	ring_free(&p->works.ring, WORK_BYTES, &j->budget);
	free(p->works.v);
	VEC_FREE(&p->uncalled);
	VEC_FREE(&p->marks);
	VEC_FREE(&p->lanes);
	map_free(&p->lane_by_key);
	VEC_FREE(&p->syncs);
	VEC_FREE(&p->open);
	for (size_t i = 0; i < p->resumed.n; i++)
		VEC_FREE(&p->resumed.v[i].queues);
	VEC_FREE(&p->resumed);
	VEC_FREE(&p->awaiting);
	free(p);
}

void join_free(struct join *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->all.n; i++)
		process_free(j, j->all.v[i]);
	VEC_FREE(&j->all);
	map_free(&j->by_process);
	free(j);
}

/* NULL: out of memory. */
static struct process *find_process(struct join *j, const struct event *ev)
{
	struct process *p, **at;
	struct map_slot *slot;

	if (j->last && j->last->process == ev->process)
		return j->last;
	slot = map_put(&j->by_process, ev->process, NULL);
	j->last = slot ? (void *)(uintptr_t)slot->value : NULL;
	if (!slot || j->last)
		return j->last;
	p = calloc(1, sizeof(*p));
	at = p ? VEC_PUSH(&j->all) : NULL;
	if (!at) {
		free(p);
		map_del(&j->by_process, ev->process);
		return NULL;
	}
	p->process = ev->process;
	p->pid = ev->pid;
	*at = p;
	slot->value = (uintptr_t)p;
	j->last = p;
	return p;
}

static struct process *known_process(const struct join *j, uint32_t process)
{
	return map_pointer(&j->by_process, process);
}

static bool is_one_stream(uint64_t queue)
{
	return queue >> 32 > LAUNCH_STREAM_DEFAULTS;
}

static uint64_t queue_of(uint16_t stream, uint32_t tid)
{
	const uint64_t queue = (uint64_t)stream << 32;

	return is_one_stream(queue) ? queue : queue | tid;
}

static uint64_t launch_queue(const struct launch *launch)
{
	return queue_of(launch->call.stream, launch->tid);
}

/* ---- what was launched while nothing was recorded ------------------------------------------- */

/* Where there is no place or memory for a queue only a wait for all counts. */
static void note_resumed(struct resumed *r, uint64_t queue, uint64_t seen_ns, uint64_t over_ns)
{
	size_t i = 0;

	while (i < r->queues.n && r->queues.v[i].queue != queue)
		i++;
	if (i == r->queues.n) {
		r->is_full |= i >= RESUMED_QUEUES_MAX || !VEC_PUSH(&r->queues);
		if (r->is_full)
			return;
		r->queues.v[i].queue = queue;
		r->queues.v[i].seen_ns = seen_ns;
		r->queues.v[i].over_ns = over_ns;
	}
	r->queues.v[i].seen_ns = num_min(r->queues.v[i].seen_ns, seen_ns);
	r->queues.v[i].over_ns = num_min(r->queues.v[i].over_ns, over_ns);
}

/* A launch into the queue, or a call that waits for it, began at seen_ns; over_ns: what was in the
 * queue before is over, UINT64_MAX: that is unknown. */
static void resume_queue(struct process *p, uint64_t queue, uint64_t seen_ns, uint64_t over_ns)
{
	for (size_t i = 0; i < p->resumed.n; i++)
		if (seen_ns >= p->resumed.v[i].from_ns)
			note_resumed(&p->resumed.v[i], queue, seen_ns, over_ns);
}

static void resume_sync(struct process *p, const struct sync *sync)
{
	if (sync->queue != ALL_QUEUES)
		resume_queue(p, sync->queue, sync->start_ns, sync->end_ns);
	for (size_t i = 0; i < p->resumed.n && sync->queue == ALL_QUEUES; i++) {
		struct resumed *r = &p->resumed.v[i];

		if (sync->start_ns >= r->from_ns && !p->has_contexts)
			r->synced_ns = num_min(r->synced_ns, sync->end_ns);
	}
}

static bool is_over(const struct resumed *r, uint64_t queue)
{
	for (size_t i = 0; i < r->queues.n; i++)
		if (r->queues.v[i].queue == queue)
			return r->queues.v[i].over_ns != UINT64_MAX;
	return false;
}

/* All that is known to be used again is over; UINT64_MAX: but a thread still waits for what may not
 * be. Else when those returned that waited as recording resumed. */
static uint64_t waited_ns(const struct join *j, const struct process *p, const struct resumed *r,
			  uint64_t over)
{
	struct join_wait w;
	size_t at = 0;

	while (j->next_wait && over != UINT64_MAX &&
	       j->next_wait(j->sink.ctx, p->process, r->from_ns, &at, &w)) {
		if (w.start_ns <= r->from_ns)
			over = num_max(over, w.end_ns);
		else if (w.end_ns == UINT64_MAX && w.start_ns <= num_add(over, RESUMED_NS) &&
			 !is_over(r, queue_of(w.stream, w.tid)))
			over = UINT64_MAX;
	}
	return over;
}

/* When all of it was over, by what is known so far; UINT64_MAX: not yet. */
static uint64_t resumed_over_ns(const struct join *j, const struct process *p,
				const struct resumed *r)
{
	uint64_t over = UINT64_MAX, before;

	for (size_t i = 0; i < r->queues.n && !r->is_full; i++)
		over = num_min(over, r->queues.v[i].over_ns);
	do {
		before = over;
		for (size_t i = 0; i < r->queues.n; i++)
			if (r->queues.v[i].seen_ns <= num_add(over, RESUMED_NS))
				over = num_max(over, r->queues.v[i].over_ns);
		over = waited_ns(j, p, r, over);
	} while (over > before);
	return num_min(over, r->synced_ns);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void forget_lanes(struct process *p)
{
	p->lanes.n = 0;
	p->last_key = 0;
	map_clear(&p->lane_by_key);
	for (uint64_t i = p->launches.ring.first; i < p->launches.ring.next; i++)
		launches_at(&p->launches, i)->lane = NONE;
}

/* Its index; negative: out of memory. */
static int64_t find_or_make_lane(struct process *p, uint64_t queue, uint32_t context,
				 uint32_t stream)
{
	struct map_slot *slot;
	struct lane *lane;
	uint64_t key = queue;
	bool is_new;

	if (!is_one_stream(queue))
		key ^= map_hash((uint64_t)context << 32 | stream);
	if (p->last_lane < p->lanes.n && p->last_key == key)
		return (int64_t)p->last_lane;
	if (p->lanes.n >= LANES_MAX && !map_find(&p->lane_by_key, key))
		forget_lanes(p);
	slot = map_put(&p->lane_by_key, key, &is_new);
	lane = slot && is_new ? VEC_PUSH(&p->lanes) : NULL;
	if (!slot || (is_new && !lane)) {
		map_del(&p->lane_by_key, key);
		return -ENOMEM;
	}
	if (is_new) {
		lane->queue = queue;
		slot->value = p->lanes.n - 1;
	}
	p->last_key = key;
	p->last_lane = slot->value;
	return (int64_t)p->last_lane;
}

/* Nodes of a graph are in streams of their own, but the graph is in that of its launch. */
static int note_lane(struct process *p, struct pending_launch *by, uint32_t context,
		     uint32_t stream, bool is_node)
{
	const struct launch *launch = &by->launch;
	const uint64_t queue = launch_queue(launch);
	struct lane *lane;
	int64_t at;

	if (is_node && !is_one_stream(queue))
		return 0;
	at = find_or_make_lane(p, queue, context, stream);
	if (at < 0)
		return (int)at;
	by->lane = (uint32_t)at;
	lane = &p->lanes.v[at];
	if (!is_node) {
		if (lane->has_stream && (lane->context != context || lane->stream != stream))
			lane->since_ns = num_max(lane->met_ns, launch->start_ns);
		lane->has_stream = true;
		lane->context = context;
		lane->stream = stream;
	}
	lane->met_ns = num_max(lane->met_ns, launch->start_ns);
	lane->began_ns = num_max(lane->began_ns, by->began_ns);
	resume_queue(p, queue, launch->start_ns, by->began_ns);
	if (!is_one_stream(queue))
		resume_queue(p, p->last_key, launch->start_ns, by->began_ns);
	return 0;
}

static int note_sync(const struct join *j, struct process *p, struct sync sync)
{
	size_t at;

	if (j->stop_ns && sync.end_ns > j->stop_ns)	/* in the session nothing is over by it */
		return 0;
	if (p->syncs.n >= SYNCS_MAX)
		VEC_DROP_FIRST(&p->syncs, p->syncs.n / 2);
	at = SORTED_UP_TO(p->syncs.v, p->syncs.n, start_ns, sync.start_ns);
	if (!VEC_INSERT(&p->syncs, at))
		return -ENOMEM;
	p->syncs.v[at] = sync;
	resume_sync(p, &sync);
	return 0;
}

/* A call that waits for its stream, where it is known which one that is. */
static int note_stream_sync(const struct join *j, struct process *p, const struct launch *call)
{
	if (call->call.stream == LAUNCH_STREAM_UNKNOWN)
		return 0;
	return note_sync(j, p, (struct sync){ call->start_ns, call->end_ns, launch_queue(call),
					      call->tid });
}

/* ---- whether a launch is over ---------------------------------------------------------------- */

/* Of a launch of the thread into the queue that took [start_ns, end_ns): in how many lanes its work
 * may have been, if each has met a launch after it. *by_ns: by when each had begun a later work. 0:
 * one has not, or none is known. A launch whose stream is unknown may run in one that no work has
 * shown yet, unless records were lost since. */
static size_t lanes_past(const struct process *p, uint64_t queue, uint64_t start_ns,
			 uint64_t end_ns, uint64_t *by_ns)
{
	size_t n = 0;

	*by_ns = end_ns;
	if (queue >> 32 == LAUNCH_STREAM_UNKNOWN && p->lost_ns < start_ns)
		return 0;
	for (size_t i = 0; i < p->lanes.n; i++) {
		const struct lane *lane = &p->lanes.v[i];

		if (lane->queue != queue)
			continue;
		if (lane->met_ns < end_ns || start_ns < lane->since_ns)
			return 0;
		*by_ns = num_max(*by_ns, lane->began_ns);
		n++;
	}
	return n;
}

/* By when n lanes of its queue had begun the first work that was launched after it; 0: that is not
 * among so many launches that are known. */
static uint64_t next_began(struct process *p, uint64_t number, size_t n)
{
	const struct launch *launch = &launches_at(&p->launches, number)->launch;
	const uint64_t queue = launch_queue(launch);
	const uint64_t end = num_min(p->launches.ring.next, number + AHEAD_MAX);
	uint64_t i = number + 1, by_ns = launch->end_ns;
	bool is_first = true;

	if (p->ahead.queue == queue && p->ahead.from <= number && number < p->ahead.next) {
		i = p->ahead.next;
	} else {
		p->ahead.queue = queue;
		p->ahead.from = number;
	}
	for (; i < end; i++) {
		const struct pending_launch *at = launches_at(&p->launches, i);
		struct lane *lane = at->lane == NONE ? NULL : &p->lanes.v[at->lane];

		if (!lane || lane->queue != queue || lane->seen == number ||
		    at->launch.start_ns < launch->end_ns)
			continue;
		if (is_first)
			p->ahead.next = i;
		is_first = false;
		lane->seen = number;
		by_ns = num_max(by_ns, at->began_ns);
		if (!--n)
			return by_ns;
	}
	if (is_first)
		p->ahead.next = i;
	return 0;
}

/* Of a process with several contexts it is unknown which one a thread waits for. */
static bool is_of_sync(const struct process *p, const struct sync *sync, uint32_t tid,
		       uint64_t queue)
{
	return sync->tid == tid &&
	       (sync->queue == ALL_QUEUES ? !p->has_contexts : sync->queue == queue);
}

/* When the first call returned that began after the launch and waited for it; UINT64_MAX: none. */
static uint64_t synced_ns(const struct process *p, uint32_t tid, uint64_t queue, uint64_t end_ns)
{
	for (size_t i = SORTED_BELOW(p->syncs.v, p->syncs.n, start_ns, end_ns); i < p->syncs.n; i++)
		if (is_of_sync(p, &p->syncs.v[i], tid, queue))
			return p->syncs.v[i].end_ns;
	return UINT64_MAX;
}

/* By when the launch, which met no work, was over; UINT64_MAX: it may run. */
static uint64_t over_ns(struct process *p, uint64_t number)
{
	const struct launch *launch = &launches_at(&p->launches, number)->launch;
	const uint64_t queue = launch_queue(launch);
	uint64_t over = synced_ns(p, launch->tid, queue, launch->end_ns), by_ns, next_ns;
	const size_t n = lanes_past(p, queue, launch->start_ns, launch->end_ns, &by_ns);

	if (!n)
		return over;
	next_ns = next_began(p, number, n);
	return num_min(over, next_ns ? next_ns : by_ns);
}

/* ---- launches that may run ------------------------------------------------------------------- */

static int push_unseen(struct join *j, const struct process *p, unsigned int why,
		       uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns >= end_ns || !j->sink.unseen)
		return 0;
	return j->sink.unseen(j->sink.ctx, p->process, why, start_ns, end_ns);
}

static struct open *find_open(struct process *p, const struct launch *launch)
{
	const uint64_t queue = launch_queue(launch);

	for (size_t i = 0; i < p->open.n; i++)
		if (p->open.v[i].queue == queue && p->open.v[i].tid == launch->tid)
			return &p->open.v[i];
	return NULL;
}

/* NULL: out of memory. */
static struct open *find_or_make_open(struct process *p, const struct launch *launch)
{
	struct open *o = find_open(p, launch);

	if (o)
		return o;
	if (p->open.n >= OPEN_MAX) {	/* the last one is for all that come then, and stays */
		o = &p->open.v[p->open.n - 1];
		o->queue = ALL_QUEUES;
		o->tid = 0;
		return o;
	}
	o = VEC_PUSH(&p->open);
	if (!o)
		return NULL;
	o->queue = launch_queue(launch);
	o->tid = launch->tid;
	o->since_ns = launch->end_ns;
	return o;
}

static int open_launch(struct process *p, struct pending_launch *at, bool forgets)
{
	struct open *o = find_or_make_open(p, &at->launch);

	if (!o)
		return -ENOMEM;
	o->since_ns = num_min(o->since_ns, at->launch.end_ns);
	o->start_ns = num_max(o->start_ns, at->launch.start_ns);
	o->end_ns = num_max(o->end_ns, at->launch.end_ns);
	o->forgotten |= forgets;
	o->launches += !forgets;
	at->is_open = !forgets;
	return 0;
}

static void lose_open(struct join *j, struct process *p, const struct open *o)
{
	for (uint64_t i = p->launches.ring.first; o->launches && i < p->launches.ring.next; i++) {
		struct pending_launch *at = launches_at(&p->launches, i);

		if (!at->is_open || at->launch.tid != o->tid ||
		    launch_queue(&at->launch) != o->queue)
			continue;
		at->awaited = at->is_open = false;
		at->lost = true;
		j->counts.lost++;
	}
}

/* Devices may have run it until then: pushes the part not pushed before. */
static int pass_open_until(struct join *j, const struct process *p, const struct open *o,
			   uint64_t end_ns)
{
	return push_unseen(j, p, UNSEEN_UNKNOWN, num_max(o->since_ns, p->horizon_ns), end_ns);
}

/* A work or a call has come: what is over now was lost. */
static int close_open(struct join *j, struct process *p)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < p->open.n; i++) {
		struct open *o = &p->open.v[i];
		uint64_t by_ns, over = synced_ns(p, o->tid, o->queue, o->end_ns);

		if (lanes_past(p, o->queue, o->start_ns, o->end_ns, &by_ns))
			over = num_min(over, by_ns);
		if (err || over == UINT64_MAX) {
			p->open.v[kept++] = *o;
			continue;
		}
		err = pass_open_until(j, p, o, over);
		lose_open(j, p, o);
	}
	p->open.n = kept;
	return err;
}

/* Its work came after all, which began then. */
static int meet_open(struct join *j, struct process *p, struct pending_launch *by,
		     uint64_t began_ns)
{
	struct open *o = find_open(p, &by->launch);
	int err;

	by->is_open = false;
	if (!o || --o->launches || o->forgotten)
		return 0;
	err = pass_open_until(j, p, o, began_ns);
	*o = p->open.v[--p->open.n];
	return err;
}

static int pass_open(struct join *j, const struct process *p, uint64_t end_ns)
{
	const struct open *first = NULL;

	for (size_t i = 0; i < p->open.n; i++)
		if (!first || p->open.v[i].since_ns < first->since_ns)
			first = &p->open.v[i];
	return first ? pass_open_until(j, p, first, end_ns) : 0;
}

/* As pass_open(), of what was launched while nothing was recorded. Up to end_ns, and RESUMED_NS
 * more, all is known, or nothing more will be. */
static int pass_resumed(struct join *j, struct process *p, uint64_t end_ns)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < p->resumed.n; i++) {
		struct resumed *r = &p->resumed.v[i];
		const uint64_t since_ns = num_max(r->since_ns, p->horizon_ns);
		const uint64_t over = resumed_over_ns(j, p, r);

		if (!err)
			err = push_unseen(j, p, UNSEEN_UNKNOWN, since_ns, num_min(over, end_ns));
		if (over > end_ns)
			p->resumed.v[kept++] = *r;
		else
			VEC_FREE(&r->queues);
	}
	p->resumed.n = kept;
	return err;
}

/* Nothing was recorded up to its end, and what was launched until then may run on. */
static int resume(const struct join *j, struct process *p, const struct event *unseen)
{
	const size_t n = p->resumed.n;
	const bool goes_on = n && unseen->start_ns <= p->resumed.v[n - 1].from_ns;
	struct resumed *r;

	if (j->stop_ns && unseen->start_ns >= j->stop_ns)
		return 0;
	r = goes_on || n >= RESUMED_MAX ? &p->resumed.v[n - 1] : VEC_PUSH(&p->resumed);
	if (!r)
		return -ENOMEM;
	if (!r->since_ns || (goes_on && r->since_ns == r->from_ns))
		r->since_ns = num_max(r->since_ns, unseen->end_ns);
	r->from_ns = num_max(r->from_ns, unseen->end_ns);
	r->synced_ns = UINT64_MAX;
	r->is_full = false;
	r->queues.n = 0;
	return 0;
}

/* ---- launches that are awaited --------------------------------------------------------------- */

/* The number whose low half that is, if it is still there. */
static uint64_t whole_number(const struct process *p, uint32_t low)
{
	const uint64_t first = p->launches.ring.first;

	return first + (uint32_t)(low - (uint32_t)first);
}

/* The i-th of the list, and its number; NULL: it is awaited no more. */
static struct pending_launch *awaited_at(const struct process *p, size_t i, uint64_t *number)
{
	struct pending_launch *launch;

	*number = whole_number(p, p->awaiting.v[i]);
	launch = launches_at(&p->launches, *number);
	return *number < p->launches.ring.next && launch->awaited ? launch : NULL;
}

static void note_captured(struct join *j, struct pending_launch *l)
{
	l->awaited = false;
	j->counts.launches--;
	j->counts.captured++;
}

enum reason { REASON_AGED, REASON_FORGOTTEN, REASON_ENDED };

/* No work came of it, and it is not waited for any longer. */
static int decide(struct join *j, struct process *p, uint64_t number, enum reason why)
{
	struct pending_launch *at = launches_at(&p->launches, number);
	const struct launch *launch = &at->launch;
	const uint64_t moment_ns = launch_moment(launch->start_ns, launch->end_ns);
	const size_t mark = SORTED_UP_TO(p->marks.v, p->marks.n, ns, moment_ns);
	uint64_t over;

	if ((mark && !p->marks.v[mark - 1].ends) || (mark < p->marks.n && p->marks.v[mark].ends)) {
		note_captured(j, at);
		return 0;
	}
	if (!at->is_kernel)
		return 0;
	over = over_ns(p, number);
	if (over == UINT64_MAX && why == REASON_ENDED && j->goes_on)
		return 0;
	if (over == UINT64_MAX)
		return open_launch(p, at, why == REASON_FORGOTTEN);
	at->awaited = false;
	at->lost = true;
	j->counts.lost++;
	return push_unseen(j, p, UNSEEN_LOST, launch->end_ns, over);
}

/* The oldest launch makes place for another. */
static int forget_first(struct join *j, struct process *p)
{
	struct pending_launch *at = launches_at(&p->launches, p->launches.ring.first);
	struct open *o = at->is_open ? find_open(p, &at->launch) : NULL;

	if (o) {
		o->launches--;
		o->forgotten = true;
	}
	if (!at->awaited || at->is_open)
		return 0;
	return decide(j, p, p->launches.ring.first, REASON_FORGOTTEN);
}

/* Launches that began before floor_ns are awaited no more; UINT64_MAX: at the end none is,
 * unless another file goes on. *first_ns: when the first began of those that are, UINT64_MAX:
 * there is none. */
static int decide_all(struct join *j, struct process *p, uint64_t floor_ns, uint64_t *first_ns)
{
	const enum reason why = floor_ns == UINT64_MAX ? REASON_ENDED : REASON_AGED;
	const bool keeps = why == REASON_ENDED && j->goes_on;
	size_t kept = 0;
	int err = 0;

	*first_ns = UINT64_MAX;
	for (size_t i = 0; i < p->awaiting.n; i++) {
		uint64_t number;
		const struct pending_launch *at = awaited_at(p, i, &number);

		if (!at)
			continue;
		if (!err && at->launch.start_ns < floor_ns)
			err = decide(j, p, number, why);
		if (!at->awaited || (!keeps && at->launch.start_ns < floor_ns))
			continue;
		p->awaiting.v[kept++] = p->awaiting.v[i];
		*first_ns = num_min(*first_ns, at->launch.start_ns);
	}
	p->awaiting.n = kept;
	return err;
}

/* ---- works ---------------------------------------------------------------------------------- */

static bool is_outside(const struct join *j, const struct event *work)
{
	return work->end_ns < j->start_ns || (j->stop_ns && work->start_ns >= j->stop_ns);
}

/* The open scopes of a launch that meets a work. One of a kernel has one work, and does not hold
 * them: that would keep as many lists as there are launches, each cold when it is freed. */
static void meet_scope(struct join *j, const struct process *p, struct pending_launch *by)
{
	struct launch *l = &by->launch;
	const struct scope *scope;

	if (l->scope || (l->works && !by->is_kernel))
		return;
	scope = j->scope_at(j->sink.ctx, p->process, l->tid,
			    launch_moment(l->start_ns, l->end_ns));
	l->scope = by->is_kernel ? (struct scope *)(uintptr_t)scope : scope_hold(scope);
}

/* What a work says of its launch and of those before it. */
static int meet(struct join *j, struct process *p, struct pending_launch *by,
		const struct event *work)
{
	const struct work *w = &work->work;
	int err = by->is_open ? meet_open(j, p, by, work->start_ns) : 0;

	j->counts.met += by->awaited || by->lost;
	j->counts.lost -= by->lost;
	by->awaited = by->lost = false;
	by->began_ns = by->began_ns ? num_min(by->began_ns, work->start_ns) : work->start_ns;
	by->used_ns = num_max(by->used_ns, work->end_ns);
	p->has_contexts |= p->context && p->context != w->context;
	p->context = w->context;
	if (!err)
		err = note_lane(p, by, w->context, w->stream, w->has & WORK_HAS_GRAPH && w->graph);
	return err || !p->open.n ? err : close_open(j, p);
}

static int pass_on(struct join *j, struct process *p, const struct event *work,
		   struct pending_launch *by)
{
	const bool is_early = by && num_add(work->start_ns, JOIN_SKEW_NS) < by->launch.start_ns;
	const bool outside = is_outside(j, work);
	int err;

	if (outside || is_early) {
		j->counts.invalid++;
		j->counts.outside += outside;
		return by && !is_early ? meet(j, p, by, work) : 0;
	}
	if (by) {
		if (j->scope_at)
			meet_scope(j, p, by);
		err = meet(j, p, by, work);
		if (err)
			return err;
		j->counts.matched++;
		j->counts.skew += work->start_ns < by->launch.start_ns;
	}
	j->counts.orphan += !by;
	j->counts.late += work->start_ns < p->horizon_ns;
	err = j->sink.work(j->sink.ctx, work, by ? &by->launch : NULL);
	if (by) {
		by->launch.works++;
		by->launch.works_ns += work->end_ns - work->start_ns;
	}
	if (by && by->is_kernel)
		by->launch.scope = NULL;
	return err;
}

static int give_up_first(struct join *j, struct process *p)
{
	struct pending_work *w = works_first(&p->works);
	const struct event ev = works_event(w, p->process, p->pid);
	int err = pass_on(j, p, &ev, NULL);

	works_remove(&p->works, &j->budget, w);
	return err;
}

static inline int drop_aged(struct join *j, struct process *p, uint64_t latest_ns)
{
	const uint64_t aged_ns = num_sub(latest_ns, JOIN_WINDOW_NS);
	int err = 0;

	while (!err && p->works.waiting && works_first(&p->works)->end_ns < aged_ns)
		err = give_up_first(j, p);
	while (p->launches.ring.first < p->launches.ring.next) {
		const struct pending_launch *l = launches_at(&p->launches, p->launches.ring.first);

		if (l->awaited || l->lost || l->used_ns >= aged_ns)
			break;
		launches_drop_first(&p->launches);
	}
	return err;
}

/* It waits, or the oldest of its process do no longer. */
static int keep_work(struct join *j, struct process *p, const struct event *ev)
{
	const struct pending_ring *ring = &p->works.ring;
	int err = 0;

	while (!err && p->works.waiting &&
	       ((ev->work.name && text_bytes(ev->work.name) > j->budget.text_left_bytes) ||
		(is_full(ring) && !may_grow(ring, JOIN_WORKS_MAX, WORK_BYTES, &j->budget))))
		err = give_up_first(j, p);
	return err ? err : works_add(&p->works, &j->budget, ev);
}

/* The program that the process executed then counts its launches from 1, as the one before had. */
static bool is_one_program(const struct process *p, uint64_t launched_ns, uint64_t worked_ns)
{
	return (launched_ns < p->exec_ns) == (worked_ns < p->exec_ns);
}

static int push_work(struct join *j, struct process *p, const struct event *ev)
{
	const bool is_without = ev->work.has & WORK_HAS_NO_LAUNCH;
	struct pending_launch *by =
		is_without ? NULL : launches_find(&p->launches, ev->work.correlation);
	bool is_early;

	if (by && !is_one_program(p, by->launch.start_ns, ev->start_ns))
		by = NULL;
	p->has_no_launches |= is_without;
	is_early = ev->end_ns < j->start_ns && !j->knows_earlier;
	return by || is_without || is_early ? pass_on(j, p, ev, by) : keep_work(j, p, ev);
}

/* ---- launches and their calls --------------------------------------------------------------- */

/* Those that were dropped, or whose time is over; else the first half. */
static void drop_uncalled(struct process *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->uncalled.n; i++)
		if (whole_number(p, p->uncalled.v[i].number) < p->launches.ring.next)
			p->uncalled.v[kept++] = p->uncalled.v[i];
	p->uncalled.n = kept;
	if (kept > p->launches.ring.cap / 2)
		VEC_DROP_FIRST(&p->uncalled, kept / 2);
}

/* The launch that was added last waits for its call. */
static int await_call(struct process *p, const struct pending_launch *by)
{
	const struct uncalled u = {
		launch_moment(by->launch.start_ns, by->launch.end_ns), by->launch.tid,
		(uint32_t)(p->launches.ring.next - 1) };
	size_t at;

	if (p->uncalled.n >= p->launches.ring.cap)
		drop_uncalled(p);
	if (!VEC_PUSH(&p->uncalled))
		return -ENOMEM;
	for (at = p->uncalled.n - 1; at && p->uncalled.v[at - 1].moment_ns > u.moment_ns; at--)
		p->uncalled.v[at] = p->uncalled.v[at - 1];
	p->uncalled.v[at] = u;
	return 0;
}

/* Where there is no memory for what it says of streams, less is known to be over. */
static void meet_call(struct join *j, struct process *p, const struct uncalled *u,
		      const struct launch_call *call)
{
	const uint64_t number = whole_number(p, u->number);
	struct pending_launch *launch = launches_at(&p->launches, number);

	if (number >= p->launches.ring.next || u->moment_ns < call->start_ns)
		return;
	launch->launch.call = *call;
	if (call->captured && launch->awaited)
		note_captured(j, launch);
	if (launch->syncs_stream)
		(void)note_stream_sync(j, p, &launch->launch);
	if (launch->lane != NONE) {
		const struct lane lane = p->lanes.v[launch->lane];

		(void)note_lane(p, launch, lane.context, lane.stream, !lane.has_stream);
	}
	if (launch->launch.works && j->sink.called)
		j->sink.called(j->sink.ctx, p->process,
			       p->launches.ring.link[launch - p->launches.v].key, &launch->launch);
}

bool join_push_call(struct join *j, uint32_t process, uint32_t tid, const struct launch_call *call)
{
	struct process *p = known_process(j, process);
	size_t kept = 0;
	bool more = false;

	for (size_t i = 0; p && i < p->uncalled.n; i++) {
		const struct uncalled u = p->uncalled.v[i];

		if (u.tid == tid && u.moment_ns < call->end_ns) {
			meet_call(j, p, &u, call);
			continue;
		}
		more |= u.tid == tid;
		p->uncalled.v[kept++] = u;
	}
	if (p)
		p->uncalled.n = kept;
	return more;
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Two records of one launch: the outer one's times are its. */
static bool widen(struct pending_launch *known, const struct event *api)
{
	struct launch *l = &known->launch;

	if (l->tid != api->tid || api->start_ns > l->end_ns || l->start_ns > api->end_ns)
		return false;
	l->start_ns = num_min(l->start_ns, api->start_ns);
	l->end_ns = num_max(l->end_ns, api->end_ns);
	return true;
}

/* A record that is a synchronization, or begins or ends a capture. */
static int note_api(const struct join *j, struct process *p, const struct event *api,
		    unsigned int roles)
{
	const uint64_t ns = roles & API_CAPTURE ? api->start_ns : api->end_ns;
	size_t at;

	if (roles & API_SYNC)
		return note_sync(j, p, (struct sync){ api->start_ns, api->end_ns, ALL_QUEUES,
						      api->tid });
	if (p->marks.n >= MARKS_MAX)
		VEC_DROP_FIRST(&p->marks, p->marks.n / 2);
	at = SORTED_UP_TO(p->marks.v, p->marks.n, ns, ns);
	if (!VEC_INSERT(&p->marks, at))
		return -ENOMEM;
	p->marks.v[at].ns = ns;
	p->marks.v[at].ends = roles & API_CAPTURED;
	return 0;
}

/* Works that came before their launch. */
static int meet_works(struct join *j, struct process *p, struct pending_launch *by,
		      const struct event *api)
{
	int err = 0;

	while (!err && p->works.waiting) {
		uint32_t place = find(&p->works.ring, api->api.correlation);	/* the newest */
		struct pending_work *w = place == NONE ? NULL : &p->works.v[place];
		struct event work;

		if (!w || !is_one_program(p, api->start_ns, w->start_ns))
			break;
		work = works_event(w, p->process, p->pid);
		err = pass_on(j, p, &work, by);
		works_remove(&p->works, &j->budget, w);
	}
	return err;
}

static unsigned int look_up_api(unsigned int domain, unsigned int cbid)
{
	static const uint8_t by_role[ROLE_LAST] = {
		[ROLE_LAUNCH] = API_LAUNCH, [ROLE_BEGIN] = API_CAPTURE, [ROLE_SPOIL] = API_CAPTURE,
		[ROLE_END] = API_CAPTURED, [ROLE_SYNC] = API_SYNC,
	};
	const char *name = cbid_name(domain, cbid);
	const struct catalog_row *row = name ? catalog_find(name) : NULL;

	if (!row || row->role == ROLE_PREFETCH)
		return 0;
	if (by_role[row->role])
		return by_role[row->role];
	if (row->class == CLASS_LAUNCH)
		return API_LAUNCH | API_KERNEL;
	if (row->class == CLASS_SYNC)
		return row->stream ? API_SYNC_STREAM : 0;
	return row->class == CLASS_COPY || row->class == CLASS_SET ? API_LAUNCH : 0;
}

/* API_* of a record. One that failed gives no work, and begins nothing. */
static unsigned int api_roles_of(struct join *j, const struct event *api)
{
	const unsigned int cbid = api->api.cbid;
	const bool driver = api->api.domain == CBID_DRIVER;
	uint8_t *known;

	if (cbid >= CBID_MAX)
		return 0;
	known = &j->api_roles[driver][cbid];
	if (!*known)
		*known = (uint8_t)(API_KNOWN |
				   look_up_api(driver ? CBID_DRIVER : CBID_RUNTIME, cbid));
	return *known & (api->api.result ? API_CAPTURED : ~API_KNOWN);
}

static int push_api(struct join *j, struct process *p, const struct event *ev,
		    const struct launch_call *call)
{
	const unsigned int roles = api_roles_of(j, ev);
	const bool launches = roles & API_LAUNCH && !ev->api.again;
	struct pending_launch *by = launches_find(&p->launches, ev->api.correlation);
	uint32_t *number;
	int err = 0;

	if (by && widen(by, ev))
		return 0;
	if (launches_must_drop(&p->launches, &j->budget))
		err = forget_first(j, p);
	if (err)
		return err;
	by = launches_add(&p->launches, &j->budget, ev->api.correlation);
	if (!by)
		return -ENOMEM;
	*by = (struct pending_launch){
		.launch = { .tid = ev->tid, .start_ns = ev->start_ns, .end_ns = ev->end_ns },
		.used_ns = ev->end_ns, .lane = NONE, .is_kernel = roles & API_KERNEL,
		.syncs_stream = roles & API_SYNC_STREAM };
	if (call)
		by->launch.call = *call;
	if (roles & API_NOTED)
		err = note_api(j, p, ev, roles);
	else if (by->syncs_stream)
		err = note_stream_sync(j, p, &by->launch);
	if (!err && !call)
		err = await_call(p, by);
	if (!err && p->open.n && roles & API_SYNCS)
		err = close_open(j, p);
	if (err)
		return err;
	j->counts.captured += launches && by->launch.call.captured;
	/* Of one that ended before the session began the works may have, too, and no source would
	 * report them; nor of one that began when it had stopped. */
	by->awaited = launches && !by->launch.call.captured &&
		      (ev->end_ns >= j->start_ns || j->knows_earlier) &&
		      (!j->stop_ns || ev->start_ns < j->stop_ns) &&
		      (by->is_kernel || !p->has_no_launches);
	j->counts.launches += by->awaited;
	if (by->awaited && by->is_kernel)
		resume_queue(p, launch_queue(&by->launch), ev->start_ns, UINT64_MAX);
	if (by->awaited) {
		number = VEC_PUSH(&p->awaiting);
		if (!number)
			return -ENOMEM;
		*number = (uint32_t)(p->launches.ring.next - 1);
	}
	return p->works.waiting ? meet_works(j, p, by, ev) : 0;
}

/* ---- the horizon ---------------------------------------------------------------------------- */

static int push_horizon(struct join *j, struct process *p)
{
	uint64_t latest = num_max(p->latest_ns, j->watermark_ns);
	uint64_t floor_ns = num_sub(latest, JOIN_WINDOW_NS);
	uint64_t ns;
	int err = decide_all(j, p, floor_ns, &ns);

	if (err)
		return err;
	for (uint64_t i = p->works.ring.first; i < p->works.ring.next; i++)
		if (is_waiting(&p->works, i))
			ns = num_min(ns, works_at(&p->works, i)->start_ns);
	ns = num_min(ns, num_sub(latest, JOIN_SETTLE_NS));
	ns = num_max(ns, floor_ns);
	if (j->watermark_ns)
		ns = num_min(ns, j->watermark_ns);
	p->records = 0;
	p->horizon_at_ns = j->watermark_ns;
	if (ns <= p->horizon_ns)
		return 0;
	err = pass_open(j, p, ns);
	if (!err)
		err = pass_resumed(j, p, ns);
	p->horizon_ns = ns;
	return err ? err : j->sink.horizon(j->sink.ctx, p->process, ns);
}

/* Of a silent process, entries past the window leave before the horizon passes them; a reporting
 * process may still send late ones. */
static int watch_time(struct join *j, struct process *p)
{
	int err = p->records ? 0 : drop_aged(j, p, num_max(p->latest_ns, j->watermark_ns));

	return err ? err : push_horizon(j, p);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* No kernel runs longer than its process. */
static void count_ended(struct join *j, struct process *p)
{
	for (uint64_t i = p->launches.ring.first; i < p->launches.ring.next; i++) {
		struct pending_launch *at = launches_at(&p->launches, i);

		if (!at->awaited || !at->is_kernel)
			continue;
		at->awaited = false;
		at->lost = true;
		j->counts.lost++;
		j->counts.ended++;
	}
}

static int give_up_all(struct join *j, struct process *p)
{
	uint64_t first_ns;
	int err = 0;

	while (!err && p->works.waiting)
		err = give_up_first(j, p);
	if (!err)
		err = decide_all(j, p, UINT64_MAX, &first_ns);
	if (err || j->goes_on)
		return err;
	if (p->exit_ns)
		count_ended(j, p);
	err = pass_resumed(j, p, UINT64_MAX);
	return err ? err : pass_open(j, p, UINT64_MAX);
}

int join_end(struct join *j)
{
	int err = 0;

	for (size_t i = 0; i < j->all.n && !err; i++)
		err = give_up_all(j, j->all.v[i]);
	return err;
}

static int push_watermark(struct join *j, uint64_t ns)
{
	size_t kept = 0;
	int err = 0;

	j->watermark_ns = num_max(j->watermark_ns, ns);
	for (size_t i = 0; i < j->all.n; i++) {
		struct process *p = j->all.v[i];

		if (!err && j->watermark_ns - p->horizon_at_ns > HORIZON_EVERY_NS)
			err = watch_time(j, p);
		if (err || !p->exit_ns ||
		    j->watermark_ns <= num_add(p->exit_ns, JOIN_WINDOW_NS)) {
			j->all.v[kept++] = p;
			continue;
		}
		err = give_up_all(j, p);
		if (!err)
			err = j->sink.horizon(j->sink.ctx, p->process, j->watermark_ns);
		map_del(&j->by_process, p->process);
		j->last = NULL;
		process_free(j, p);
	}
	j->all.n = kept;
	return err;
}

/* ---- input ---------------------------------------------------------------------------------- */

int join_push_api(struct join *j, const struct event *ev, const struct launch_call *call)
{
	struct process *p = find_process(j, ev);
	int err;

	if (!p)
		return -ENOMEM;
	p->latest_ns = num_max(p->latest_ns, ev->end_ns);
	err = ev->kind == EVENT_API ? push_api(j, p, ev, call) : push_work(j, p, ev);
	if (!err)
		err = drop_aged(j, p, p->latest_ns);
	return err || ++p->records < HORIZON_EVERY ? err : push_horizon(j, p);
}

bool join_knows(const struct join *j, uint32_t process)
{
	const struct process *p = known_process(j, process);

	return p && p->latest_ns;
}

/* Up to its end no work was recorded, nor what launched it; or records were lost. */
static int push_unseen_event(struct join *j, const struct event *ev)
{
	struct process *p;

	if (ev->unseen.of == UNSEEN_OF_MEMORY || ev->end_ns <= ev->start_ns ||
	    (ev->unseen.why == UNSEEN_UNKNOWN && ev->end_ns == UINT64_MAX))
		return 0;
	p = find_process(j, ev);
	if (!p)
		return -ENOMEM;
	if (ev->unseen.why == UNSEEN_UNKNOWN)
		return resume(j, p, ev);
	p->lost_ns = num_max(p->lost_ns, ev->end_ns);
	return 0;
}

int join_push(struct join *j, const struct event *ev)
{
	struct process *p;

	switch (ev->kind) {
	case EVENT_WORK:
		return join_push_api(j, ev, NULL);
	case EVENT_START:
		j->start_ns = ev->start_ns;
		return 0;
	case EVENT_STOP:
		j->stop_ns = ev->end_ns;
		return 0;
	case EVENT_WATERMARK:
		return push_watermark(j, ev->end_ns);
	case EVENT_UNSEEN:
		return push_unseen_event(j, ev);
	case EVENT_EXIT:
		p = ev->tid == ev->pid ? known_process(j, ev->process) : NULL;
		if (p)
			p->exit_ns = ev->end_ns;
		return 0;
	case EVENT_PROCESS:
		p = known_process(j, ev->process);
		if (p)
			p->exec_ns = num_max(p->exec_ns, ev->end_ns);
		return 0;
	default:
		return 0;
	}
}

void join_use_scopes(struct join *j, const struct scope *(*at)(void *ctx, uint32_t process,
							       uint32_t tid, uint64_t ns))
{
	j->scope_at = at;
}

void join_use_waits(struct join *j, bool (*next)(void *ctx, uint32_t process, uint64_t ns,
						 size_t *at, struct join_wait *out))
{
	j->next_wait = next;
}

void join_knows_earlier(struct join *j)
{
	j->knows_earlier = true;
}

void join_goes_on(struct join *j)
{
	j->goes_on = true;
}

void join_counts(const struct join *j, struct join_counts *out)
{
	*out = j->counts;
	out->waiting = out->awaited = 0;
	for (size_t i = 0; i < j->all.n; i++) {
		const struct process *p = j->all.v[i];
		uint64_t number;

		out->waiting += p->works.waiting;
		for (size_t k = 0; k < p->awaiting.n; k++)
			out->awaited += awaited_at(p, k, &number) != NULL;
	}
}
