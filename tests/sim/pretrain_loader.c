// SPDX-License-Identifier: BSD-3-Clause
/* pretrain: a thread that reads batches, ahead of time or when asked. Storage is a sleep. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pretrain.h"

enum { READ_MS = 20, LABEL_BYTES = 4096 };

struct loader {
	const struct pretrain *plan;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t asked, loaded; /* batches that may be read, and were */
	uint64_t taken;
	void *slots[LOADER_SLOTS];
	bool ended;
};

static void read_batch(void)
{
	struct timespec time = { 0, READ_MS * 1000000 };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static void *load(void *argument)
{
	struct loader *loader = argument;
	uint64_t number;

	pthread_mutex_lock(&loader->lock);
	while (!loader->ended) {
		if (loader->loaded == loader->asked) {
			pthread_cond_wait(&loader->changed, &loader->lock);
			continue;
		}
		number = loader->loaded;
		pthread_mutex_unlock(&loader->lock);
		read_batch();
		pthread_mutex_lock(&loader->lock);
		while (!loader->slots[number % LOADER_SLOTS])
			pthread_cond_wait(&loader->changed, &loader->lock);
		memset(loader->slots[number % LOADER_SLOTS], (int)number, LABEL_BYTES);
		loader->loaded++;
		pthread_cond_broadcast(&loader->changed);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

struct loader *loader_start(const struct pretrain *plan)
{
	struct loader *loader = calloc(1, sizeof(*loader));

	CHECK(loader == NULL);
	loader->plan = plan;
	loader->asked = plan->faults[FAULT_INPUT] ? 0 : LOADER_SLOTS;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->changed, NULL);
	CHECK(pthread_create(&loader->thread, NULL, load, loader));
	pthread_setname_np(loader->thread, "loader");
	return loader;
}

void loader_allocate(struct loader *loader)
{
	void *slots[LOADER_SLOTS];
	int i;

	for (i = 0; i < LOADER_SLOTS; i++) {
		if (loader->plan->faults[FAULT_PAGEABLE])
			slots[i] = malloc(LOADER_BYTES);
		else
			CHECK(cudaMallocHost(&slots[i], LOADER_BYTES));
		CHECK(slots[i] == NULL);
	}
	pthread_mutex_lock(&loader->lock);
	memcpy(loader->slots, slots, sizeof(slots));
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

/* With a batch in hand there is room for the one after the next. */
void *loader_next(struct loader *loader)
{
	uint64_t start_ns = marks_now_ns();
	void *slot;

	pthread_mutex_lock(&loader->lock);
	if (loader->asked == loader->taken)
		loader->asked++;
	pthread_cond_broadcast(&loader->changed);
	while (loader->loaded == loader->taken)
		pthread_cond_wait(&loader->changed, &loader->lock);
	slot = loader->slots[loader->taken++ % LOADER_SLOTS];
	if (!loader->plan->faults[FAULT_INPUT])
		loader->asked = loader->taken + LOADER_SLOTS - 1;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	if (loader->plan->faults[FAULT_INPUT])
		marks_add(FAULT_INPUT, start_ns);
	return slot;
}

void loader_end(struct loader *loader)
{
	int i;

	pthread_mutex_lock(&loader->lock);
	loader->ended = true;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	pthread_join(loader->thread, NULL);
	for (i = 0; i < LOADER_SLOTS; i++) {
		if (loader->plan->faults[FAULT_PAGEABLE])
			free(loader->slots[i]);
		else
			CHECK(cudaFreeHost(loader->slots[i]));
	}
	free(loader);
}
