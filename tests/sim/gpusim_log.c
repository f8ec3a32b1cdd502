// SPDX-License-Identifier: BSD-3-Clause
/*
 * The log: two lists that only grow, or sums, under a lock of their own. See gpusim_log.h for the
 * file.
 */
#include "gpusim_log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "truth_internal.h"

struct list {
	char *items;
	size_t size; /* of one */
	size_t count, room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *pattern; /* NULL: nothing is kept */
static bool sums; /* of works, instead of lists */
static struct list works = { .size = sizeof(struct gpusim_trace_work) };
static struct list calls = { .size = sizeof(struct gpusim_trace_call) };

static void read_environment(void)
{
	const char *wanted = getenv("GPUSIM_LOG"), *added = getenv("GPUSIM_LOG_SUMS");

	pattern = wanted && *wanted ? wanted : NULL;
	sums = added && !strcmp(added, "1");
}

bool gpusim_log_is_wanted(void)
{
	pthread_once(&once, read_environment);
	return pattern;
}

/* With the lock held: the place of one more. */
static void *add(struct list *list)
{
	size_t room = list->room ? 2 * list->room : 1024;

	if (list->count == list->room) {
		list->items = realloc(list->items, room * list->size);
		if (!list->items)
			abort();
		list->room = room;
	}
	return list->items + list->count++ * list->size;
}

void gpusim_log_work(const struct gpusim_trace_work *work, bool recorded)
{
	if (!gpusim_log_is_wanted())
		return;
	pthread_mutex_lock(&lock);
	if (sums)
		gpusim_log_sums_add(work, recorded);
	else
		memcpy(add(&works), work, sizeof(*work));
	pthread_mutex_unlock(&lock);
}

uint64_t gpusim_log_call(const struct gpusim_trace_call *call)
{
	struct gpusim_trace_call *logged;
	uint64_t now_ns;

	if (!gpusim_log_is_wanted() || sums)
		return gpusim_now_ns();
	pthread_mutex_lock(&lock);
	logged = add(&calls);
	*logged = *call;
	now_ns = logged->end_ns = gpusim_now_ns(); /* a thread that had to wait for the lock was in its call */
	pthread_mutex_unlock(&lock);
	return now_ns;
}

void gpusim_log_forget(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	works.count = calls.count = 0;
	gpusim_log_sums_forget();
}

static void write_devices(FILE *file)
{
	int device, i;
	unsigned char uuid[16];

	for (device = 0; device < gpusim_device_count(); device++) {
		gpusim_device_uuid(device, uuid);
		fprintf(file, "%s\"%s-", device ? ", " : "",
			gpusim_device_is_instance(device) ? "MIG" : "GPU");
		for (i = 0; i < 16; i++)
			fprintf(file, "%s%02x", i >= 4 && i <= 10 && i % 2 == 0 ? "-" : "",
				uuid[i]);
		fputc('"', file);
	}
}

const char *gpusim_work_kind_name(enum gpusim_work_kind kind)
{
	static const char *const kinds[GPUSIM_WORK_KINDS] = {
		[GPUSIM_KERNEL] = "kernel", [GPUSIM_COPY_HTOD] = "h2d", [GPUSIM_COPY_DTOH] = "d2h",
		[GPUSIM_COPY_DTOD] = "d2d", [GPUSIM_SET] = "set",
	};

	return kinds[kind];
}

static void write_work(FILE *file, const struct gpusim_trace_work *w)
{
	const char *name = w->work.kind == GPUSIM_KERNEL ? gpusim_kernel_name(w->work.entity) : NULL;
	const uint32_t *grid = w->work.shape.grid, *block = w->work.shape.block;

	fprintf(file, "{\"device\": %d, \"kind\": \"%s\", \"name\": ", w->device,
		gpusim_work_kind_name(w->work.kind));
	fprintf(file, name ? "\"%s\"" : "null", name);
	fprintf(file, ", \"context\": %u, \"stream\": %u, \"correlation\": %u", w->context,
		w->stream, w->correlation);
	fprintf(file, ", \"start\": %" PRIu64 ", \"end\": %" PRIu64 ", \"bytes\": %" PRIu64,
		w->work.start_ns, w->work.end_ns, w->work.bytes);
	fprintf(file, ", \"pageable\": %s", w->work.pageable ? "true" : "false");
	fprintf(file, ", \"graph\": %u, \"node\": %" PRIu64, w->graph, w->graph_node);
	fprintf(file, ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]}", grid[0], grid[1],
		grid[2], block[0], block[1], block[2]);
}

static void write_call(FILE *file, const struct gpusim_trace_call *c)
{
	fprintf(file, "{\"tid\": %d, \"class\": \"%s\", \"function\": \"%s\"", c->tid,
		truth_class_name(c->function), truth_function_name(c->function));
	fprintf(file, ", \"start\": %" PRIu64 ", \"end\": %" PRIu64, c->start_ns, c->end_ns);
	fprintf(file, ", \"correlation\": %u, \"result\": %d}", c->correlation, c->result);
}

static void write_lists(FILE *file)
{
	size_t i;

	fputs("],\n\"works\": [", file);
	for (i = 0; i < works.count; i++) {
		fputs(i ? ",\n" : "\n", file);
		write_work(file, (void *)(works.items + i * works.size));
	}
	fputs("\n],\n\"calls\": [", file);
	for (i = 0; i < calls.count; i++) {
		fputs(i ? ",\n" : "\n", file);
		write_call(file, (void *)(calls.items + i * calls.size));
	}
}

static void write_log(FILE *file)
{
	fprintf(file, "{\"log_version\": 1, \"simulated\": true, \"pid\": %d, \"seed\": %" PRIu64,
		(int)getpid(), gpusim_seed());
	fputs(",\n\"devices\": [", file);
	write_devices(file);
	pthread_mutex_lock(&lock);
	if (sums)
		gpusim_log_sums_write(file);
	else
		write_lists(file);
	pthread_mutex_unlock(&lock);
	fputs("\n]}\n", file);
}

int gpusim_write_log(void)
{
	if (!gpusim_log_is_wanted() || (!works.count && !calls.count && gpusim_log_sums_are_empty()))
		return 0;
	return truth_write_file(pattern, write_log);
}
