// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: records wait here in the order they were made and go into the
 * client's buffers when they are complete and it flushes, or when they would fill a buffer. The
 * client is called with no lock held.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libcupti.h"

enum { QUEUE_MAX = 1 << 22 };

struct item {
	uint64_t ready_ns;
	union cupti_record rec;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
static struct item *items;
static size_t count, room;
static uint64_t made;
static size_t dropped;

/* With the lock. NULL: dropped. */
static struct item *item_new(void)
{
	const struct cupti_faults *faults = cupti_faults();
	struct item *grown;

	made++;
	if (faults->drop && made % faults->drop == 0)
		return NULL;
	if (count == room) {
		if (room == QUEUE_MAX)
			return NULL;
		grown = realloc(items, (room ? 2 * room : 1024) * sizeof(*items));
		if (!grown)
			return NULL;
		items = grown;
		room = room ? 2 * room : 1024;
	}
	return &items[count++];
}

static bool vanishes(const union cupti_record *rec)
{
	static uint64_t kernels;
	uint64_t each = cupti_faults()->vanish;

	return each && rec->kind == KIND_CONCURRENT_KERNEL && !rec->kernel.graph &&
	       __atomic_add_fetch(&kernels, 1, __ATOMIC_RELAXED) % each == 0;
}

void cupti_queue_add(const union cupti_record *rec, uint64_t ready_ns)
{
	const struct cupti_faults *faults = cupti_faults();
	struct item *item;

	if (vanishes(rec))
		return;
	pthread_mutex_lock(&lock);
	item = item_new();
	if (item) {
		item->rec = *rec;
		item->ready_ns = ready_ns == GPUSIM_FOREVER ? ready_ns :
							      ready_ns + faults->late_ms * 1000000;
		if (faults->zero && made % faults->zero == 0)
			cupti_record_forget_times(&item->rec);
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&lock);
}

/* Takes what is complete, or everything; the taken are the caller's to free. */
static struct item *take(bool forced, size_t *taken)
{
	uint64_t now_ns = gpusim_now_ns();
	struct item *out;
	size_t i, kept = 0;

	*taken = 0;
	pthread_mutex_lock(&lock);
	out = malloc((count + 1) * sizeof(*out));
	for (i = 0; out && i < count; i++) {
		bool ready = forced || items[i].ready_ns <= now_ns;

		/* A buffer with an unfinished record is withheld, and what comes after it. */
		if (!ready && cupti_faults()->withhold)
			now_ns = 0;
		if (ready)
			out[(*taken)++] = items[i];
		else
			items[kept++] = items[i];
	}
	if (out)
		count = kept;
	pthread_mutex_unlock(&lock);
	return out;
}

/* With the lock for flushing. */
static void give_back(cupti_complete_fn complete, uint8_t *buffer, size_t bytes, size_t used)
{
	static uint64_t buffers;

	buffers++;
	if (!cupti_faults()->keep || buffers % cupti_faults()->keep)
		complete(NULL, 0, buffer, bytes, used);
}

static void give(const struct item *list, size_t n, cupti_request_fn request,
		 cupti_complete_fn complete)
{
	const struct cupti_version *version = cupti_version();
	uint8_t *buffer = NULL;
	size_t bytes = 0, used = 0, max = 0, in_buffer = 0, i;

	for (i = 0; i < n; i++) {
		const union cupti_record *rec =
			&list[cupti_faults()->reorder ? n - 1 - i : i].rec;
		size_t size = version->bytes[rec->kind];

		if (buffer && (used + size > bytes || (max && in_buffer == max))) {
			give_back(complete, buffer, bytes, used);
			buffer = NULL;
		}
		if (!buffer) {
			request(&buffer, &bytes, &max);
			used = in_buffer = 0;
		}
		if (!buffer || bytes < size) {
			pthread_mutex_lock(&lock);
			dropped++;
			pthread_mutex_unlock(&lock);
			continue;
		}
		memset(buffer + used, 0xa5, size);
		memcpy(buffer + used, rec, size < sizeof(*rec) ? size : sizeof(*rec));
		used += size;
		in_buffer++;
	}
	if (buffer)
		give_back(complete, buffer, bytes, used);
}

void cupti_queue_flush(bool forced, cupti_request_fn request, cupti_complete_fn complete)
{
	struct item *list;
	size_t n;

	pthread_mutex_lock(&flushing);
	list = take(forced, &n);
	if (list && n && request && complete)
		give(list, n, request, complete);
	free(list);
	pthread_mutex_unlock(&flushing);
}

size_t cupti_queue_ready(void)
{
	uint64_t now_ns = gpusim_now_ns();
	size_t i, ready = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < count; i++)
		ready += items[i].ready_ns <= now_ns;
	pthread_mutex_unlock(&lock);
	return ready;
}

size_t cupti_queue_dropped(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return n;
}
