// SPDX-License-Identifier: BSD-3-Clause
/*
 * The laws of the simulated GPU, on libgpusim itself: order within streams and between them, what a
 * synchronise promises, how long copies take, what memory is counted, which codes errors have.
 * Built with $(BUILD)/sim/libgpusim.so.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sim/gpusim.h"
#include "lib/test.h"

enum { MS = 1000000, SLOW = 50 * MS, MEMORY_BYTES = 1 << 20 };

static const uint64_t LONG = 10000ULL * MS;
static const char quick_kernel[1], slow_kernel[1], long_kernel[1], endless_kernel[1];

static struct gpusim_stream *new_stream(unsigned int flags)
{
	struct gpusim_stream *stream;

	assert_int_equal(gpusim_stream_create(flags, &stream), GPUSIM_OK);
	return stream;
}

static struct gpusim_work submit(struct gpusim_stream *stream, struct gpusim_work work)
{
	assert_int_equal(gpusim_submit(stream, &work), GPUSIM_OK);
	return work;
}

static struct gpusim_work kernel_of(const void *entity)
{
	return (struct gpusim_work){ .kind = GPUSIM_KERNEL, .entity = entity,
				     .shape = { { 4, 2, 1 }, { 32, 1, 1 } } };
}

static struct gpusim_work launch(struct gpusim_stream *stream, const void *entity)
{
	return submit(stream, kernel_of(entity));
}

static struct gpusim_work copy(struct gpusim_stream *stream, enum gpusim_work_kind kind,
			       uint64_t bytes)
{
	return submit(stream, (struct gpusim_work){ .kind = kind, .bytes = bytes });
}

/* A context for each test, so that none waits for the work of another. */
static struct gpusim_context *current;

BEFORE_EACH
{
	assert_int_equal(gpusim_context_create(0, &current), GPUSIM_OK);
}

AFTER_EACH
{
	assert_int_equal(gpusim_context_destroy(current), GPUSIM_OK);
}

TEST(test_stream_is_fifo)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	uint64_t before = gpusim_now_ns();
	struct gpusim_work last = launch(stream, long_kernel);
	int i;

	assert_true(last.start_ns >= before);
	assert_int_equal(last.end_ns - last.start_ns, LONG);
	for (i = 0; i < 100; i++) {
		struct gpusim_work next = launch(stream, quick_kernel);

		assert_int_equal(next.start_ns, last.end_ns);
		last = next;
	}
	assert_int_equal(gpusim_stream_destroy(stream), GPUSIM_OK);
}

TEST(test_streams_overlap)
{
	struct gpusim_stream *one = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_stream *other = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_work first = launch(one, long_kernel);
	struct gpusim_work second = launch(other, long_kernel);

	assert_true(second.start_ns < first.end_ns);
}

TEST(test_legacy_stream_orders_blocking_streams)
{
	struct gpusim_stream *stream = new_stream(0);
	struct gpusim_work before = launch(stream, slow_kernel);
	struct gpusim_work legacy = launch(GPUSIM_STREAM_LEGACY, slow_kernel);
	struct gpusim_work after = launch(stream, slow_kernel);

	assert_true(legacy.start_ns >= before.end_ns);
	assert_true(after.start_ns >= legacy.end_ns);
}

TEST(test_sync_returns_after_all_work)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_work last;

	launch(stream, slow_kernel);
	last = launch(stream, slow_kernel);
	assert_int_equal(gpusim_stream_query(stream), GPUSIM_NOT_READY);
	assert_int_equal(gpusim_stream_sync(stream), GPUSIM_OK);
	assert_true(gpusim_now_ns() >= last.end_ns);
	assert_int_equal(gpusim_stream_query(stream), GPUSIM_OK);
	last = launch(stream, slow_kernel);
	assert_int_equal(gpusim_context_sync(), GPUSIM_OK);
	assert_true(gpusim_now_ns() >= last.end_ns);
}

TEST(test_copies_take_bytes_by_bandwidth)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_work work = copy(stream, GPUSIM_COPY_HTOD, 10 * MS);

	/* GPUSIM_COPY_GBPS=10, set by the group: 10 bytes a nanosecond */
	assert_int_equal(work.end_ns - work.start_ns, MS);
	work = copy(stream, GPUSIM_COPY_DTOH, 5 * MS);
	assert_int_equal(work.end_ns - work.start_ns, MS / 2);
	work = copy(stream, GPUSIM_COPY_DTOD, 1000 * MS);
	assert_int_equal(work.end_ns - work.start_ns, MS);
}

TEST(test_copies_of_pageable_memory_are_slower)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_work work = { .kind = GPUSIM_COPY_HTOD, .bytes = 6 * MS, .pageable = true };
	void *pinned, *other;

	assert_int_equal(gpusim_submit(stream, &work), GPUSIM_OK);
	assert_int_equal(work.end_ns - work.start_ns, MS); /* 6 bytes a nanosecond */
	assert_int_equal(gpusim_host_alloc(100, &pinned), GPUSIM_OK);
	assert_int_equal(gpusim_host_alloc(100, &other), GPUSIM_OK);
	assert_true(gpusim_host_is_pinned((uint64_t)(uintptr_t)pinned + 99));
	assert_false(gpusim_host_is_pinned((uint64_t)(uintptr_t)&work));
	assert_int_equal(gpusim_host_free(pinned), GPUSIM_OK);
	assert_false(gpusim_host_is_pinned((uint64_t)(uintptr_t)pinned));
	assert_true(gpusim_host_is_pinned((uint64_t)(uintptr_t)other));
	assert_int_equal(gpusim_host_free(other), GPUSIM_OK);
}

TEST(test_copy_engines_serve_one_at_a_time)
{
	struct gpusim_stream *one = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_stream *other = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_work first = copy(one, GPUSIM_COPY_HTOD, 2000ULL * MS);
	struct gpusim_work same = copy(other, GPUSIM_COPY_HTOD, 2000ULL * MS);
	struct gpusim_work back =
		copy(new_stream(GPUSIM_STREAM_NON_BLOCKING), GPUSIM_COPY_DTOH, 2000ULL * MS);

	assert_true(same.start_ns >= first.end_ns);
	assert_true(back.start_ns < first.end_ns);
}

TEST(test_one_seed_gives_one_run)
{
	static const char by_rule[1];
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	uint64_t sum = 0, distinct = 0, last_ns = 0;
	int i;

	assert_int_equal(gpusim_seed(), 7);
	for (i = 0; i < 64; i++) {
		struct gpusim_work work = launch(stream, by_rule);
		uint64_t ns = work.end_ns - work.start_ns;

		/* 4x2 blocks of 32 threads: 3004 ns, give or take 1/16 */
		assert_in_range(ns, 3004 - 188, 3004 + 188);
		sum += ns;
		distinct += ns != last_ns;
		last_ns = ns;
	}
	assert_true(distinct > 32);
	assert_in_range(sum / 64, 3004 - 60, 3004 + 60);
}

TEST(test_events_mark_the_end_of_work)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_stream *waiter = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_event *before, *after;
	struct gpusim_work work;
	float ms;

	assert_int_equal(gpusim_event_create(&before), GPUSIM_OK);
	assert_int_equal(gpusim_event_create(&after), GPUSIM_OK);
	assert_int_equal(gpusim_event_elapsed(&ms, before, after), GPUSIM_INVALID_HANDLE);
	launch(stream, slow_kernel);
	gpusim_event_record(before, stream);
	work = launch(stream, slow_kernel);
	gpusim_event_record(after, stream);
	assert_int_equal(gpusim_event_query(after), GPUSIM_NOT_READY);
	assert_int_equal(gpusim_event_elapsed(&ms, before, after), GPUSIM_NOT_READY);
	assert_int_equal(gpusim_stream_wait_event(waiter, after), GPUSIM_OK);
	assert_int_equal(launch(waiter, quick_kernel).start_ns, work.end_ns);
	assert_int_equal(gpusim_event_sync(after), GPUSIM_OK);
	assert_true(gpusim_now_ns() >= work.end_ns);
	assert_int_equal(gpusim_event_elapsed(&ms, before, after), GPUSIM_OK);
	assert_true(ms > 49.99f && ms < 50.01f);
	assert_int_equal(gpusim_event_destroy(after), GPUSIM_OK);
	assert_int_equal(gpusim_event_sync(after), GPUSIM_INVALID_HANDLE);
}

TEST(test_memory_is_counted)
{
	uint64_t one, two, more, free_bytes, total_bytes;

	assert_int_equal(gpusim_memory_alloc(MEMORY_BYTES / 2, &one), GPUSIM_OK);
	assert_int_equal(gpusim_memory_alloc(100, &two), GPUSIM_OK);
	assert_int_not_equal(one, two);
	assert_true(gpusim_memory_is_device(one) && gpusim_memory_is_device(two));
	assert_false(gpusim_memory_is_device((uint64_t)(uintptr_t)&one));
	gpusim_device_memory(0, &free_bytes, &total_bytes);
	assert_int_equal(total_bytes, MEMORY_BYTES);
	assert_int_equal(free_bytes, MEMORY_BYTES / 2 - 100);
	assert_int_equal(gpusim_memory_alloc(MEMORY_BYTES / 2, &more), GPUSIM_OUT_OF_MEMORY);
	assert_int_equal(gpusim_memory_free(two), GPUSIM_OK);
	assert_int_equal(gpusim_memory_alloc(MEMORY_BYTES / 2, &more), GPUSIM_OK);
	assert_int_equal(gpusim_memory_free(two), GPUSIM_INVALID_VALUE);
	assert_int_equal(gpusim_memory_free(one), GPUSIM_OK);
	assert_int_equal(gpusim_memory_free(more), GPUSIM_OK);
	gpusim_device_memory(0, &free_bytes, &total_bytes);
	assert_int_equal(free_bytes, MEMORY_BYTES);
}

TEST(test_random_allocations_never_overlap)
{
	struct {
		uint64_t address, bytes;
	} held[64] = { 0 };
	uint64_t free_bytes, total_bytes;
	int round, i, j;

	for (round = 0; round < 5000; round++) {
		i = rand() % 64;
		if (held[i].address)
			assert_int_equal(gpusim_memory_free(held[i].address), GPUSIM_OK);
		held[i].address = 0;
		held[i].bytes = 1 + (uint64_t)rand() % (MEMORY_BYTES / 64);
		assert_int_equal(gpusim_memory_alloc(held[i].bytes, &held[i].address), GPUSIM_OK);
		for (j = 0; j < 64; j++)
			if (j != i && held[j].address)
				assert_true(held[i].address + held[i].bytes <= held[j].address ||
					    held[j].address + held[j].bytes <= held[i].address);
	}
	for (i = 0; i < 64; i++)
		if (held[i].address)
			gpusim_memory_free(held[i].address);
	gpusim_device_memory(0, &free_bytes, &total_bytes);
	assert_int_equal(free_bytes, total_bytes);
}

TEST(test_errors_have_the_real_codes)
{
	struct gpusim_stream *stream = new_stream(0);
	struct gpusim_work work = kernel_of(quick_kernel);
	struct gpusim_context *context;
	uint64_t address;

	assert_int_equal(gpusim_stream_destroy(stream), GPUSIM_OK);
	assert_int_equal(gpusim_stream_destroy(stream), 400);
	assert_int_equal(gpusim_stream_sync(stream), 400);
	assert_int_equal(gpusim_stream_sync((struct gpusim_stream *)(uintptr_t)0x1234567), 400);
	assert_int_equal(gpusim_event_query((struct gpusim_event *)&work), 400);
	assert_int_equal(gpusim_memory_alloc(MEMORY_BYTES + 1, &address), 2);
	assert_int_equal(gpusim_memory_alloc(0, &address), 1);
	work.shape.block[0] = 2048;
	assert_int_equal(gpusim_submit(NULL, &work), 1);
	work = kernel_of(NULL);
	assert_int_equal(gpusim_submit(NULL, &work), 400);
	assert_int_equal(gpusim_context_primary(2, &context), 101);
	assert_string_equal(gpusim_error_name(2, true), "cudaErrorMemoryAllocation");
	assert_string_equal(gpusim_error_name(2, false), "CUDA_ERROR_OUT_OF_MEMORY");
	assert_null(gpusim_error_name(12345, true));
}

TEST(test_graph_replays_what_was_captured)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_graph_exec *exec;
	struct gpusim_graph *graph;
	struct gpusim_work after;
	uint64_t before;

	assert_int_equal(gpusim_capture_begin(stream), GPUSIM_OK);
	assert_int_equal(launch(stream, slow_kernel).end_ns, 0);
	launch(stream, slow_kernel);
	assert_int_equal(gpusim_stream_sync(stream), GPUSIM_CAPTURE_UNSUPPORTED);
	assert_int_equal(gpusim_capture_end(stream, &graph), GPUSIM_OK);
	assert_int_equal(gpusim_graph_instantiate(graph, &exec), GPUSIM_OK);
	assert_int_equal(gpusim_graph_destroy(graph), GPUSIM_OK);
	before = gpusim_now_ns();
	assert_int_equal(gpusim_graph_launch(exec, stream), GPUSIM_OK);
	after = launch(stream, quick_kernel);
	assert_true(after.start_ns >= before + 2 * SLOW);
	assert_int_equal(gpusim_graph_exec_destroy(exec), GPUSIM_OK);
	assert_int_equal(gpusim_graph_launch(exec, stream), GPUSIM_INVALID_HANDLE);
}

TEST(test_stream_joins_the_capture_of_an_event_it_waits_for)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_stream *other = new_stream(GPUSIM_STREAM_NON_BLOCKING);
	struct gpusim_graph *graph, *joined;
	struct gpusim_event *event;
	uint64_t id, other_id;
	size_t nodes = 0;

	assert_int_equal(gpusim_event_create(&event), GPUSIM_OK);
	assert_int_equal(gpusim_capture_begin(stream), GPUSIM_OK);
	assert_int_equal(gpusim_event_record(event, stream), GPUSIM_OK);
	assert_int_equal(gpusim_stream_wait_event(other, event), GPUSIM_OK);
	assert_int_equal(launch(other, slow_kernel).end_ns, 0);
	assert_int_equal(gpusim_capture_query(stream, &id, &graph), GPUSIM_OK);
	assert_int_equal(gpusim_capture_query(other, &other_id, &joined), GPUSIM_OK);
	assert_true(id && id == other_id && graph == joined);
	assert_int_equal(gpusim_capture_end(other, &joined), GPUSIM_ILLEGAL_STATE);
	assert_int_equal(gpusim_capture_end(stream, &graph), GPUSIM_OK);
	assert_int_equal(gpusim_graph_nodes(graph, &nodes), GPUSIM_OK);
	assert_int_equal(nodes, 1);
	assert_int_equal(gpusim_capture_query(other, &other_id, &joined), GPUSIM_OK);
	assert_int_equal(other_id, 0);
	assert_int_equal(gpusim_stream_wait_event(other, event), GPUSIM_OK);
	assert_true(launch(other, quick_kernel).end_ns != 0);
}

TEST(test_backed_memory_has_what_was_copied)
{
	char sent[] = "sixteen bytes...", got[sizeof(sent)] = "";
	uint64_t there, other;
	struct gpusim_allocation found;

	assert_int_equal(gpusim_memory_alloc(100, &there), GPUSIM_OK);
	assert_int_equal(gpusim_memory_alloc(100, &other), GPUSIM_OK);
	submit(NULL, (struct gpusim_work){ .kind = GPUSIM_COPY_HTOD, .bytes = sizeof(sent),
					   .to = there, .from = (uint64_t)(uintptr_t)sent });
	submit(NULL, (struct gpusim_work){ .kind = GPUSIM_SET, .bytes = 7, .to = there,
					   .value = 'x', .value_bytes = 1 });
	submit(NULL, (struct gpusim_work){ .kind = GPUSIM_COPY_DTOD, .bytes = sizeof(sent),
					   .to = other, .from = there });
	submit(NULL, (struct gpusim_work){ .kind = GPUSIM_COPY_DTOH, .bytes = sizeof(sent),
					   .to = (uint64_t)(uintptr_t)got, .from = other });
	assert_string_equal(got, "xxxxxxx bytes...");
	assert_true(gpusim_memory_find(other + 99, &found));
	assert_true(found.address == other && found.bytes == 100);
	assert_false(gpusim_memory_find(other + 100, &found));
	assert_int_equal(gpusim_memory_free(there), GPUSIM_OK);
	assert_int_equal(gpusim_memory_free(other), GPUSIM_OK);
}

TEST(test_registered_host_memory_is_page_locked)
{
	char buffer[64];
	uint64_t within = (uint64_t)(uintptr_t)buffer + 63;

	assert_int_equal(gpusim_host_register(buffer, sizeof(buffer)), GPUSIM_OK);
	assert_true(gpusim_host_is_pinned(within));
	assert_int_equal(gpusim_host_free(buffer), GPUSIM_INVALID_VALUE);
	assert_int_equal(gpusim_host_unregister(buffer), GPUSIM_OK);
	assert_false(gpusim_host_is_pinned(within));
	assert_int_equal(gpusim_host_unregister(buffer), GPUSIM_INVALID_VALUE);
}

TEST(test_hang_never_ends)
{
	struct gpusim_stream *stream = new_stream(GPUSIM_STREAM_NON_BLOCKING);

	assert_true(launch(stream, endless_kernel).end_ns == GPUSIM_FOREVER);
	assert_true(launch(stream, quick_kernel).end_ns == GPUSIM_FOREVER);
	assert_int_equal(gpusim_stream_query(stream), GPUSIM_NOT_READY);
}

TEST(test_devices_have_lasting_identities)
{
	unsigned char first[16], second[16];
	char name[32];

	assert_int_equal(gpusim_device_count(), 2);
	assert_int_equal(gpusim_device_uuid(0, first), GPUSIM_OK);
	assert_int_equal(gpusim_device_uuid(1, second), GPUSIM_OK);
	assert_memory_equal(first, "gpusim\0\0\0\0\0\0\0\0\0\0", 16);
	assert_memory_not_equal(first, second, 16);
	assert_int_equal(gpusim_device_name(1, name, sizeof(name)), GPUSIM_OK);
	assert_string_equal(name, "gpusim device 1");
}

TEST(test_forked_child_cannot_use_the_device)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(gpusim_init());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), GPUSIM_NOT_INITIALIZED);
}

static int start(void **state)
{
	unsigned int seed = (unsigned int)gpusim_now_ns();

	(void)state;
	print_message("seed of the random allocations: %u\n", seed);
	srand(seed);
	setenv("GPUSIM_SEED", "7", 1);
	setenv("GPUSIM_DEVICES", "2", 1);
	setenv("GPUSIM_COPY_GBPS", "10", 1);
	setenv("GPUSIM_MEMORY_BYTES", "1048576", 1);
	setenv("GPUSIM_BACKED", "1", 1);
	unsetenv("GPUSIM_HANG");
	gpusim_kernel_duration(quick_kernel, 1000);
	gpusim_kernel_duration(slow_kernel, SLOW);
	gpusim_kernel_duration(long_kernel, LONG);
	gpusim_kernel_duration(endless_kernel, GPUSIM_FOREVER);
	return gpusim_init();
}

TEST_GROUP(start, NULL);
