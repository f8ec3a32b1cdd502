// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes the truth file: merges the records of all threads, then prints them. Threads may still run
 * meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpusim_memory.h"
#include "truth_internal.h"

// clang-format off
#define ROW(name, class) [GPUSIM_FN_##name] = { #name, GPUSIM_CLASS_##class },
static const struct {
	const char *name;
	enum gpusim_class class;
} functions[] = {
	GPUSIM_RUNTIME_FUNCTIONS(ROW)
	GPUSIM_DRIVER_FUNCTIONS(ROW)
	GPUSIM_NCCL_FUNCTIONS(ROW)
};
#undef ROW
// clang-format on

#define ROW(name) [GPUSIM_CLASS_##name] = #name,
static const char *const classes[] = { GPUSIM_CLASSES(ROW) };
#undef ROW

const char *truth_function_name(enum gpusim_function function)
{
	return functions[function].name;
}

const char *truth_class_name(enum gpusim_function function)
{
	return classes[functions[function].class];
}

static struct truth_thread *first_thread(void)
{
	return __atomic_load_n(&truth_threads, __ATOMIC_ACQUIRE);
}

static struct truth_shape *first_shape(const struct truth_counts *counts)
{
	return __atomic_load_n(&counts->shapes, __ATOMIC_ACQUIRE);
}

static void merge_result(struct truth_counts *sum, const struct truth_result *result)
{
	uint64_t count = truth_read(&result->count);
	int i;

	if (!count)
		return;
	for (i = 0; i < TRUTH_RESULTS - 1; i++)
		if (!sum->results[i].count || sum->results[i].code == result->code)
			break;
	sum->results[i].code = result->code;
	sum->results[i].count += count;
}

static void merge_shape(struct truth_counts *sum, const struct truth_shape *shape)
{
	struct truth_shape *known;

	for (known = sum->shapes; known; known = known->next)
		if (memcmp(&known->shape, &shape->shape, sizeof(shape->shape)) == 0)
			break;
	if (!known) {
		known = calloc(1, sizeof(*known));
		if (!known)
			abort();
		known->shape = shape->shape;
		known->next = sum->shapes;
		sum->shapes = known;
	}
	known->count += truth_read(&shape->count);
}

static void merge_counts(struct truth_counts *sum, const struct truth_counts *counts)
{
	const struct truth_shape *shape;
	int i;

	sum->count += truth_read(&counts->count);
	sum->begun += truth_read(&counts->begun);
	sum->errors += truth_read(&counts->errors);
	sum->bytes += truth_read(&counts->bytes);
	sum->total_ns += truth_read(&counts->total_ns);
	sum->recorded_ns += truth_read(&counts->recorded_ns);
	if (truth_read(&counts->max_ns) > sum->max_ns)
		sum->max_ns = truth_read(&counts->max_ns);
	for (i = 0; i < TRUTH_RESULTS; i++)
		merge_result(sum, &counts->results[i]);
	for (shape = first_shape(counts); shape; shape = shape->next)
		merge_shape(sum, shape);
}

static void write_string(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
			fprintf(file, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

static const char *result_name(int function, int result)
{
	if (function >= GPUSIM_DRIVER_END)
		return gpusim_nccl_error_name(result);
	return gpusim_error_name(result, function < GPUSIM_RUNTIME_END);
}

static void write_results(FILE *file, const struct truth_counts *sum, int function)
{
	const char *name;
	int i;

	fputs(", \"results\": {", file);
	for (i = 0; i < TRUTH_RESULTS && sum->results[i].count; i++) {
		name = result_name(function, sum->results[i].code);
		if (i)
			fputs(", ", file);
		if (name)
			fprintf(file, "\"%s\": %" PRIu64, name, sum->results[i].count);
		else
			fprintf(file, "\"%d\": %" PRIu64, sum->results[i].code,
				sum->results[i].count);
	}
	fputc('}', file);
}

static void write_shapes(FILE *file, struct truth_counts *sum)
{
	struct truth_shape *shape;
	const uint32_t *grid, *block;

	fputs(", \"shapes\": [", file);
	while ((shape = sum->shapes)) {
		grid = shape->shape.grid;
		block = shape->shape.block;
		fprintf(file,
			"{\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"count\": %" PRIu64 "}",
			grid[0], grid[1], grid[2], block[0], block[1], block[2], shape->count);
		sum->shapes = shape->next;
		free(shape);
		if (sum->shapes)
			fputs(", ", file);
	}
	fputc(']', file);
}

static void write_row(FILE *file, int function, int place, struct truth_counts *sum)
{
	fprintf(file,
		"{\"function\": \"%s\", \"class\": \"%s\", \"outermost\": %s, \"exported\": %s",
		functions[function].name, classes[functions[function].class],
		place & GPUSIM_NESTED ? "false" : "true",
		place & GPUSIM_PRIVATE ? "false" : "true");
	fprintf(file, ", \"count\": %" PRIu64 ", \"errors\": %" PRIu64 ", \"open\": %" PRIu64,
		sum->count, sum->errors, sum->begun - sum->count);
	fprintf(file, ", \"bytes\": %" PRIu64 ", \"total_ns\": %" PRIu64 ", \"recorded_ns\": %" PRIu64
		", \"max_ns\": %" PRIu64, sum->bytes, sum->total_ns, sum->recorded_ns, sum->max_ns);
	write_results(file, sum, function);
	write_shapes(file, sum);
	fputc('}', file);
}

static void write_functions(FILE *file)
{
	const struct truth_thread *thread;
	const char *separator = "\n";
	int function, place;

	for (function = 0; function < GPUSIM_FUNCTIONS; function++) {
		for (place = 0; place < GPUSIM_PLACES; place++) {
			struct truth_counts sum = { 0 };

			for (thread = first_thread(); thread; thread = thread->next)
				merge_counts(&sum, &thread->counts[function][place]);
			if (!sum.begun)
				continue;
			fputs(separator, file);
			write_row(file, function, place, &sum);
			separator = ",\n";
		}
	}
}

static void write_classes(FILE *file, const struct truth_thread *thread)
{
	uint64_t ns[GPUSIM_CLASS_COUNT] = { 0 };
	const char *separator = "";
	int i;

	for (i = 0; i < GPUSIM_FUNCTIONS; i++) {
		ns[functions[i].class] += truth_read(&thread->counts[i][0].total_ns);
		ns[functions[i].class] += truth_read(&thread->counts[i][GPUSIM_PRIVATE].total_ns);
	}
	for (i = 0; i < GPUSIM_CLASS_COUNT; i++) {
		if (!ns[i])
			continue;
		fprintf(file, "%s\"%s\": %" PRIu64, separator, classes[i], ns[i]);
		separator = ", ";
	}
}

static void write_threads(FILE *file)
{
	const struct truth_thread *thread;
	const char *separator = "\n";

	for (thread = first_thread(); thread; thread = thread->next) {
		fprintf(file, "%s{\"tid\": %d, \"name\": ", separator, thread->tid);
		write_string(file, thread->name);
		fprintf(file,
			", \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64 ", \"classes\": {",
			truth_read(&thread->first_ns), truth_read(&thread->last_ns));
		write_classes(file, thread);
		fputs("}}", file);
		separator = ",\n";
	}
}

static void write_truth(FILE *file)
{
	fprintf(file, "{\"truth_version\": 1, \"simulated\": true, \"pid\": %d, \"seed\": %" PRIu64,
		(int)getpid(), gpusim_seed());
	fputs(",\n\"functions\": [", file);
	write_functions(file);
	fputs("\n],\n\"threads\": [", file);
	write_threads(file);
	fputs("\n],\n\"memory\": [", file);
	gpusim_memory_write_truth(file);
	fputs("\n]}\n", file);
}

/* The path with the first %p replaced by the pid; the caller frees it. */
static char *expand_path(const char *pattern, const char *suffix)
{
	const char *mark = strstr(pattern, "%p");
	char *path;
	int length;

	if (mark)
		length = asprintf(&path, "%.*s%d%s%s", (int)(mark - pattern), pattern,
				  (int)getpid(), mark + 2, suffix);
	else
		length = asprintf(&path, "%s%s", pattern, suffix);
	return length < 0 ? NULL : path;
}

int truth_write_file(const char *pattern, void (*write)(FILE *file))
{
	char *path = expand_path(pattern, ""), *draft = expand_path(pattern, ".tmp");
	FILE *file = path && draft ? fopen(draft, "we") : NULL;
	int error = 0;

	if (!file) {
		error = -errno;
		goto cleanup;
	}
	write(file);
	if (fclose(file) || rename(draft, path))
		error = -errno;
cleanup:
	if (error)
		fprintf(stderr, "gpusim: cannot write the truth to %s: %s\n", pattern,
			strerror(-error));
	free(path);
	free(draft);
	return error;
}

int gpusim_write_truth(void)
{
	const char *pattern = getenv("GPUSIM_TRUTH");

	return pattern && *pattern ? truth_write_file(pattern, write_truth) : 0;
}
