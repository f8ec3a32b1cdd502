// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: records go into the client's buffers as they are made. A buffer
 * is requested on the thread that makes the first record, inside its launch, and held until it is full
 * or flushed: one for each thread by default from 13.0 on, one for all before. A flush completes, on its own
 * thread, the buffers in which no record is incomplete; a worker completes full ones. Buffers that are
 * out when other callbacks are registered go to those. A record that is incomplete when its kind is
 * disabled comes when the kind is enabled again, and ends then (kineto#1105).
 *
 * The client is called with no lock of this file held, but inside the application's call.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcupti.h"

struct made { /* a record in a buffer */
	size_t at;
	uint64_t ready_ns;
	uint32_t kind;
};

struct buffer {
	struct buffer *next;
	uint8_t *at;
	size_t bytes, used, max; /* max: records; 0: as many as fit */
	struct made *made;
	size_t count, room;
};

struct lane { /* of a thread, or of all */
	struct lane *next;
	struct buffer *open; /* NULL: none was requested yet */
};

struct held { /* of a disabled kind */
	struct held *next;
	union cupti_record rec;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER; /* where all threads have one buffer */
static struct lane *lanes, shared;
static __thread struct lane *mine;
static struct buffer *full, **full_end = &full;
static struct held *held;
static cupti_request_fn request;
static cupti_complete_fn complete;
static uint64_t made_ever;
static size_t dropped;
static bool zeroed; /* the client promises zeroed buffers */
static int per_thread = -1; /* as a client chose; -1: none did */

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child that launches, as far as it gets, waits for no thread that it does not have. */
static __attribute__((constructor)) void watch_forks(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

void cupti_buffers_register(cupti_request_fn ask, cupti_complete_fn done)
{
	take_lock();
	request = ask;
	complete = done;
	give_lock();
}

bool cupti_buffers_have_client(void)
{
	return request != NULL;
}

void cupti_buffers_are_zeroed(bool yes)
{
	zeroed = yes;
}

void cupti_buffers_per_thread(bool yes)
{
	per_thread = yes;
}

bool cupti_buffers_are_per_thread(void)
{
	return per_thread < 0 ? cupti_version()->per_thread : per_thread;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static struct lane *lane_of_thread(void)
{
	if (!cupti_buffers_are_per_thread() || cupti_faults()->one_buffer)
		return &shared;
	if (!mine) {
		mine = calloc(1, sizeof(*mine));
		if (!mine)
			abort();
		take_lock();
		mine->next = lanes;
		lanes = mine;
		give_lock();
	}
	return mine;
}

/* With the lock. It is complete as soon as its records are. */
static void close_buffer(struct lane *lane)
{
	*full_end = lane->open;
	full_end = &lane->open->next;
	lane->open = NULL;
}

/* Real CUPTI clears the buffer here, on the launching thread, unless the client promised zeros. */
static void clear(uint8_t *at, size_t bytes)
{
	size_t i;

	if (!zeroed) {
		memset(at, 0, bytes);
		return;
	}
	for (i = 0; i < bytes; i++)
		if (at[i]) {
			fprintf(stderr, "gpusim: a buffer promised to be zeroed is not\n");
			abort();
		}
}

/* NULL: the client gave none. */
static struct buffer *buffer_new(void)
{
	struct buffer *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	request(&b->at, &b->bytes, &b->max);
	if (b->at && b->bytes) {
		clear(b->at, b->bytes);
		return b;
	}
	/* Only from API 27 (12.9) on a client may refuse (kineto's kCuptiBufferRejectionMinVersion). */
	if (cupti_version()->number < 27)
		raise(SIGSEGV);
	free(b);
	return NULL;
}

static bool has_room(const struct buffer *b, size_t size)
{
	return b && b->used + size <= b->bytes && (!b->max || b->count < b->max);
}

/* With the lock. */
static void put(struct buffer *b, const union cupti_record *rec, size_t size, uint64_t ready_ns)
{
	if (b->count == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->made = realloc(b->made, b->room * sizeof(*b->made));
		if (!b->made)
			abort();
	}
	b->made[b->count++] = (struct made){ b->used, ready_ns, rec->kind };
	memset(b->at + b->used, 0xa5, size);
	memcpy(b->at + b->used, rec, size < sizeof(*rec) ? size : sizeof(*rec));
	b->used += size;
}

static void add(const union cupti_record *rec, uint64_t ready_ns)
{
	size_t size = cupti_version()->bytes[rec->kind];
	struct lane *lane = lane_of_thread();
	struct buffer *b;

	take_lock();
	if (lane->open && !has_room(lane->open, size))
		close_buffer(lane);
	if (!lane->open) {
		give_lock();
		b = buffer_new();
		take_lock();
		lane->open = b;
	}
	if (has_room(lane->open, size))
		put(lane->open, rec, size, ready_ns);
	else
		dropped++;
	give_lock();
}

static bool vanishes(const union cupti_record *rec)
{
	static uint64_t kernels;
	uint64_t each = cupti_faults()->vanish;

	return each && rec->kind == KIND_CONCURRENT_KERNEL && !rec->kernel.graph &&
	       __atomic_add_fetch(&kernels, 1, __ATOMIC_RELAXED) % each == 0;
}

void cupti_buffers_add(const union cupti_record *rec, uint64_t ready_ns)
{
	const struct cupti_faults *faults = cupti_faults();
	uint64_t number = __atomic_add_fetch(&made_ever, 1, __ATOMIC_RELAXED);
	bool alone = lane_of_thread() == &shared;
	union cupti_record copy = *rec;

	if (!request || vanishes(rec))
		return;
	/* CUPTI drops what it got no buffer for; one is always requested for a device's record. */
	if (faults->drop && number % faults->drop == 0 && rec->kind != KIND_DEVICE) {
		__atomic_add_fetch(&dropped, 1, __ATOMIC_RELAXED);
		return;
	}
	if (faults->zero && number % faults->zero == 0)
		cupti_record_forget_times(&copy);
	if (ready_ns != GPUSIM_FOREVER)
		ready_ns += faults->late_ms * 1000000;
	if (alone)
		pthread_mutex_lock(&adding);
	add(&copy, ready_ns);
	if (faults->odd && number % faults->odd == 0) {
		copy = (union cupti_record){ .kind = KIND_ODD };
		add(&copy, 0);
	}
	if (alone)
		pthread_mutex_unlock(&adding);
}

/* ---- completing ------------------------------------------------------------------------------ */

static bool is_complete(const struct buffer *b, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		if (b->made[i].ready_ns > now_ns)
			return false;
	return true;
}

/* A record of it is complete and another is not. */
static bool is_mixed(const struct buffer *b, uint64_t now_ns)
{
	size_t i, complete_ones = 0;

	for (i = 0; i < b->count; i++)
		complete_ones += b->made[i].ready_ns <= now_ns;
	return complete_ones && complete_ones < b->count;
}

/* With the lock: what is incomplete has no end. */
static void cut_off(struct buffer *b, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		if (b->made[i].ready_ns > now_ns)
			cupti_record_forget_times((void *)(b->at + b->made[i].at));
}

/* With the lock: the complete records of a buffer that has others, for the fault `prompt`. */
static struct buffer *split(struct buffer *b, uint64_t now_ns)
{
	struct buffer *rest = calloc(1, sizeof(*rest));
	size_t i, kept = 0, used = 0;

	if (!rest)
		abort();
	*rest = (struct buffer){ .bytes = b->bytes };
	request(&rest->at, &rest->bytes, &rest->max);
	if (!rest->at)
		abort();
	for (i = 0; i < b->count; i++) {
		const struct made made = b->made[i];
		size_t size = cupti_version()->bytes[made.kind];

		if (made.ready_ns > now_ns) {
			put(rest, (void *)(b->at + made.at), size, made.ready_ns);
			continue;
		}
		memmove(b->at + used, b->at + made.at, size);
		b->made[kept++] = (struct made){ used, made.ready_ns, made.kind };
		used += size;
	}
	memset(b->at + used, 0, b->used - used);
	b->count = kept;
	b->used = used;
	return rest;
}

/* With the lock: buffers without incomplete records, in order; all of them if forced. */
static struct buffer *take_complete(struct buffer **from, bool forced, uint64_t now_ns,
				    struct buffer **end)
{
	struct buffer *b = *from;

	while (b) {
		if (!forced && cupti_faults()->prompt && is_mixed(b, now_ns)) {
			struct buffer *rest = split(b, now_ns);

			rest->next = b->next;
			b->next = rest;
		}
		if (!forced && !is_complete(b, now_ns)) {
			from = &b->next;
			b = b->next;
			continue;
		}
		cut_off(b, now_ns);
		*from = b->next;
		end[0]->next = b;
		end[0] = b;
		b->next = NULL;
		b = *from;
	}
	return *from;
}

static void turn_around(struct buffer *b)
{
	uint8_t *copy = malloc(b->used + 1);
	size_t i, used = 0;

	if (!copy)
		abort();
	for (i = b->count; i-- > 0; used += cupti_version()->bytes[b->made[i].kind])
		memcpy(copy + used, b->at + b->made[i].at, cupti_version()->bytes[b->made[i].kind]);
	memcpy(b->at, copy, used);
	free(copy);
}

static void give_back(struct buffer *b)
{
	static uint64_t buffers;
	uint64_t each = cupti_faults()->keep;

	if (cupti_faults()->reorder)
		turn_around(b);
	if (complete && (!each || __atomic_add_fetch(&buffers, 1, __ATOMIC_RELAXED) % each))
		complete(NULL, 0, b->at, b->bytes, b->used);
	free(b->made);
	free(b);
}

/* all: the open ones too, as a flush does. */
static void complete_buffers(bool all, bool forced)
{
	uint64_t now_ns = gpusim_now_ns();
	struct buffer first = { .next = NULL }, *end = &first, *b;
	struct lane *lane;

	take_lock();
	take_complete(&full, forced, now_ns, &end);
	for (full_end = &full; *full_end;)
		full_end = &(*full_end)->next;
	for (lane = all ? lanes : NULL; lane; lane = lane->next)
		take_complete(&lane->open, forced, now_ns, &end);
	if (all)
		take_complete(&shared.open, forced, now_ns, &end);
	give_lock();
	while ((b = first.next)) {
		first.next = b->next;
		give_back(b);
	}
}

void cupti_buffers_flush(bool forced)
{
	complete_buffers(true, forced);
}

void cupti_buffers_work(void)
{
	complete_buffers(false, false);
}

size_t cupti_buffers_dropped(void)
{
	return __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
}

/* ---- disabling and enabling ------------------------------------------------------------------ */

static void hold_in(struct buffer *b, uint32_t kind, uint64_t now_ns)
{
	size_t i, kept = 0, used = 0, before = b ? b->used : 0;

	for (i = 0; b && i < b->count; i++) {
		const struct made made = b->made[i];
		size_t size = cupti_version()->bytes[made.kind];

		if (made.kind == kind && made.ready_ns > now_ns) {
			struct held *h = calloc(1, sizeof(*h));

			if (!h)
				abort();
			memcpy(&h->rec, b->at + made.at, size < sizeof(h->rec) ? size : sizeof(h->rec));
			h->next = held;
			held = h;
			continue;
		}
		memmove(b->at + used, b->at + made.at, size);
		b->made[kept++] = (struct made){ used, made.ready_ns, made.kind };
		used += size;
	}
	if (!b || used == before)
		return;
	memset(b->at + used, 0, before - used);
	b->count = kept;
	b->used = used;
}

void cupti_buffers_hold(uint32_t kind)
{
	uint64_t now_ns = gpusim_now_ns();
	struct buffer *b;
	struct lane *lane;

	if (cupti_faults()->forget)
		return;
	take_lock();
	for (b = full; b; b = b->next)
		hold_in(b, kind, now_ns);
	for (lane = lanes; lane; lane = lane->next)
		hold_in(lane->open, kind, now_ns);
	hold_in(shared.open, kind, now_ns);
	give_lock();
}

void cupti_buffers_return(uint32_t kind)
{
	struct held **at, *h, *out = NULL;

	take_lock();
	for (at = &held; (h = *at);) {
		if (h->rec.kind != kind) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		h->next = out;
		out = h;
	}
	give_lock();
	while ((h = out)) {
		out = h->next;
		cupti_record_end_now(&h->rec);
		cupti_buffers_add(&h->rec, 0);
		free(h);
	}
}

/* cuptiFinalize: what the client has not got back stays lost. */
void cupti_buffers_forget(void)
{
	struct lane *lane;

	take_lock();
	full = NULL;
	full_end = &full;
	for (lane = lanes; lane; lane = lane->next)
		lane->open = NULL;
	shared.open = NULL;
	held = NULL;
	request = NULL;
	complete = NULL;
	give_lock();
}
