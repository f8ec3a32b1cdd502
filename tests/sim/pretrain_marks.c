// SPDX-License-Identifier: BSD-3-Clause
/* pretrain: what its faults took, kept in memory until it ends. One thread adds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "pretrain.h"

static struct mark {
	enum fault fault;
	uint64_t start_ns, end_ns;
} *marks;
static size_t count, room;

uint64_t marks_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void marks_add(enum fault fault, uint64_t start_ns)
{
	if (count == room) {
		room = room ? 2 * room : 1024;
		marks = realloc(marks, room * sizeof(*marks));
		if (!marks)
			abort();
	}
	marks[count++] = (struct mark){ fault, start_ns, marks_now_ns() };
}

/* "time on a CPU, time waiting for one, time slices" */
static uint64_t run_delay_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	uint64_t ran_ns, delay_ns = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64 " %" SCNu64, &ran_ns, &delay_ns) != 2)
		delay_ns = 0;
	fclose(file);
	return delay_ns;
}

bool marks_write(const char *path)
{
	FILE *file = fopen(path, "we");
	size_t i;

	if (!file) {
		perror(path);
		return false;
	}
	fprintf(file, "{\"pid\": %d, \"run_delay_ns\": %" PRIu64 ", \"marks\": [", (int)getpid(),
		run_delay_ns());
	for (i = 0; i < count; i++)
		fprintf(file, "%s\n{\"fault\": \"%s\", \"start\": %" PRIu64 ", \"end\": %" PRIu64 "}",
			i ? "," : "", pretrain_faults[marks[i].fault], marks[i].start_ns,
			marks[i].end_ns);
	fputs("]}\n", file);
	if (!fclose(file))
		return true;
	perror(path);
	return false;
}
