// SPDX-License-Identifier: BSD-3-Clause
/* Threads by their numbers; the one that was asked for last is asked for again. */
#include "join/streams.h"

#include <errno.h>

#include "base/num.h"

void streams_free(struct streams *s)
{
	VEC_FREE(&s->all);
	map_free(&s->by_tid);
}

/* NULL: it is not known. */
static struct thread_streams *find(struct streams *s, uint32_t tid)
{
	const struct map_slot *slot;

	if (s->last < s->all.n && s->all.v[s->last].tid == tid)
		return &s->all.v[s->last];
	slot = map_find(&s->by_tid, tid);
	if (!slot)
		return NULL;
	s->last = slot->value;
	return &s->all.v[s->last];
}

/* NULL: out of memory. */
static struct thread_streams *find_or_make(struct streams *s, uint32_t tid)
{
	struct thread_streams *t = find(s, tid);
	struct map_slot *slot;

	if (t)
		return t;
	if (s->all.n >= STREAMS_THREADS_MAX) {
		s->all.n = 0;
		map_clear(&s->by_tid);
	}
	slot = map_put(&s->by_tid, tid, NULL);
	t = slot ? VEC_PUSH(&s->all) : NULL;
	if (!t) {
		map_del(&s->by_tid, tid);
		return NULL;
	}
	slot->value = s->all.n - 1;
	t->tid = tid;
	return t;
}

int streams_note_work(struct streams *s, const struct launch *launch, const struct work *work)
{
	struct thread_streams *t = find_or_make(s, launch->tid);
	uint64_t since_ns;

	if (!t)
		return -ENOMEM;
	t->met_ns = num_max(t->met_ns, launch->start_ns);
	if (t->met_ns >= t->unended_ns)
		t->unended_ns = 0;
	if (work->has & WORK_HAS_GRAPH && work->graph)	/* its nodes are in streams of their own */
		return 0;
	since_ns = num_max(t->came_ns, launch->start_ns);
	if (t->came_ns && work->context != t->context)
		t->context_since_ns = since_ns;
	if (t->came_ns && (work->context != t->context || work->stream != t->stream))
		t->stream_since_ns = since_ns;
	t->context = work->context;
	t->stream = work->stream;
	t->came_ns = since_ns;
	return 0;
}

int streams_note_sync(struct streams *s, uint32_t tid, uint64_t ns)
{
	struct thread_streams *t = find_or_make(s, tid);

	if (!t)
		return -ENOMEM;
	t->synced_ns = num_max(t->synced_ns, ns);
	return 0;
}

bool streams_have_waited(struct streams *s, uint32_t tid, uint32_t context, uint64_t start_ns,
			 uint64_t end_ns)
{
	const struct thread_streams *t = find(s, tid);

	return t && t->synced_ns >= end_ns &&
	       (!t->came_ns || (t->context == context && start_ns >= t->context_since_ns));
}

bool streams_are_past(struct streams *s, const struct launch *launch)
{
	const struct thread_streams *t = find(s, launch->tid);

	if (!t)
		return false;
	return (launch->start_ns >= t->stream_since_ns && t->came_ns > launch->end_ns) ||
	       (launch->start_ns >= t->context_since_ns && t->synced_ns >= launch->end_ns);
}

int streams_note_given_up(struct streams *s, const struct launch *launch)
{
	struct thread_streams *t = find_or_make(s, launch->tid);

	if (!t)
		return -ENOMEM;
	if (launch->start_ns > t->met_ns && (!t->unended_ns || launch->start_ns < t->unended_ns))
		t->unended_ns = launch->start_ns;
	return 0;
}

bool streams_unended(const struct streams *s, uint32_t *tid, uint64_t *since_ns)
{
	const struct thread_streams *first = NULL;

	for (size_t i = 0; i < s->all.n; i++) {
		const struct thread_streams *t = &s->all.v[i];

		if (t->unended_ns && (!first || t->unended_ns < first->unended_ns))
			first = t;
	}
	if (!first)
		return false;
	*tid = first->tid;
	*since_ns = first->unended_ns;
	return true;
}
