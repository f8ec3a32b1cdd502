// SPDX-License-Identifier: BSD-3-Clause
/* The truth of a test target: counts kept per thread, written once as JSON. */
#include "target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t truth_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Tables are small and full ones are a bug of the target: the last slot takes what does not fit. */
static struct truth_function *function_of(struct truth_function *v, const char *name)
{
	int i = 0;

	while (i < TRUTH_FUNCTIONS - 1 && v[i].name && v[i].name != name && strcmp(v[i].name, name))
		i++;
	v[i].name = name;
	return &v[i];
}

static struct truth_result *result_of(struct truth_function *f, int code)
{
	int i = 0;

	while (i < TRUTH_RESULTS - 1 && f->results[i].count && f->results[i].code != code)
		i++;
	f->results[i].code = code;
	return &f->results[i];
}

static struct truth_shape *shape_of(struct truth_function *f, const uint32_t grid[3],
				    const uint32_t block[3])
{
	int i = 0;

	while (i < TRUTH_SHAPES - 1 && f->shapes[i].count &&
	       (memcmp(f->shapes[i].grid, grid, sizeof(f->shapes[i].grid)) ||
		memcmp(f->shapes[i].block, block, sizeof(f->shapes[i].block))))
		i++;
	memcpy(f->shapes[i].grid, grid, sizeof(f->shapes[i].grid));
	memcpy(f->shapes[i].block, block, sizeof(f->shapes[i].block));
	return &f->shapes[i];
}

struct truth_function *truth_call(struct truth *t, const char *name, uint64_t start_ns, int result)
{
	uint64_t now_ns = truth_now_ns();
	struct truth_function *f = function_of(t->functions, name);

	if (!t->tid) {
		t->tid = gettid();
		t->first_ns = start_ns;
	}
	t->last_ns = now_ns;
	t->calls++;
	f->count++;
	f->errors += result != 0;
	f->total_ns += now_ns - start_ns;
	result_of(f, result)->count++;
	return f;
}

void truth_launch(struct truth_function *f, const uint32_t grid[3], const uint32_t block[3])
{
	shape_of(f, grid, block)->count++;
}

static void function_add(struct truth_function *sum, const struct truth_function *f)
{
	sum->count += f->count;
	sum->errors += f->errors;
	sum->bytes += f->bytes;
	sum->total_ns += f->total_ns;
	for (int i = 0; i < TRUTH_RESULTS; i++)
		if (f->results[i].count)
			result_of(sum, f->results[i].code)->count += f->results[i].count;
	for (int i = 0; i < TRUTH_SHAPES; i++)
		if (f->shapes[i].count)
			shape_of(sum, f->shapes[i].grid, f->shapes[i].block)->count +=
				f->shapes[i].count;
}

static void function_write(FILE *out, const struct truth_function *f,
			   const char *(*result_name)(int code))
{
	const char *comma = "";

	fprintf(out, "{\"function\": \"%s\", \"outermost\": true, \"count\": %" PRIu64
		", \"errors\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"total_ns\": %" PRIu64
		",\n   \"results\": {", f->name, f->count, f->errors, f->bytes, f->total_ns);
	for (int i = 0; i < TRUTH_RESULTS && f->results[i].count; i++, comma = ", ")
		fprintf(out, "%s\"%s\": %" PRIu64, comma, result_name(f->results[i].code),
			f->results[i].count);
	fputs("}, \"shapes\": [", out);
	comma = "";
	for (int i = 0; i < TRUTH_SHAPES && f->shapes[i].count; i++, comma = ", ") {
		const uint32_t *g = f->shapes[i].grid, *b = f->shapes[i].block;

		fprintf(out, "%s{\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"count\": %"
			PRIu64 "}", comma, g[0], g[1], g[2], b[0], b[1], b[2], f->shapes[i].count);
	}
	fputs("]}", out);
}

static void threads_write(FILE *out, const struct truth *threads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s\n  {\"tid\": %d, \"role\": \"%s\", \"calls\": %" PRIu64
			", \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64 "}", i ? "," : "",
			threads[i].tid, threads[i].role ? threads[i].role : "", threads[i].calls,
			threads[i].first_ns, threads[i].last_ns);
}

int truth_write(const char *path, const struct truth *threads, size_t n,
		const char *(*result_name)(int code))
{
	struct truth_function sum[TRUTH_FUNCTIONS] = { 0 };
	FILE *out;

	if (!path)
		return 0;
	for (size_t i = 0; i < n; i++)
		for (int j = 0; j < TRUTH_FUNCTIONS && threads[i].functions[j].name; j++)
			function_add(function_of(sum, threads[i].functions[j].name),
				     &threads[i].functions[j]);
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return -1;
	}
	fprintf(out, "{\"truth_version\": 1, \"pid\": %d, \"functions\": [", getpid());
	for (int j = 0; j < TRUTH_FUNCTIONS && sum[j].name; j++) {
		fputs(j ? ",\n  " : "\n  ", out);
		function_write(out, &sum[j], result_name);
	}
	fputs("], \"threads\": [", out);
	threads_write(out, threads, n);
	fputs("]}\n", out);
	return fclose(out) ? -1 : 0;
}
