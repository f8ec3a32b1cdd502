// SPDX-License-Identifier: BSD-3-Clause
/*
 * The laws of the simulated NCCL, between real processes: which rank waits for which and until when, what
 * groups mean, how faults on order look, and that no shared memory is left behind. The test itself
 * never starts the simulated device; its ranks are children that do.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sim/gpusim.h"
#include "../sim/nccl_api.h"
#include "lib/test.h"

enum { MS = 1000000, RANKS = 3, BYTES = 4 << 20 };

/* What ranks leave for the test to look at. */
static struct notes {
	uint64_t begin_ns[RANKS], end_ns[RANKS];
	volatile bool has_waited[RANKS];
} * notes;

static ncclUniqueId id;

#define CHECK(condition)                                                            \
	do {                                                                        \
		if (!(condition)) {                                                 \
			fprintf(stderr, "line %d: not %s\n", __LINE__, #condition); \
			_exit(1);                                                   \
		}                                                                   \
	} while (0)

static void sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

static pid_t start(void (*run)(int rank), int rank)
{
	pid_t child = fork();

	if (child)
		return child;
	alarm(20);
	run(rank);
	_exit(0);
}

/* Each rank in a process of its own; all must end well. */
static void run_ranks(void (*run)(int rank), int ranks)
{
	int rank, status, failed = 0;

	memset(notes, 0, sizeof(*notes));
	assert_int_equal(ncclGetUniqueId(&id), ncclSuccess);
	for (rank = 0; rank < ranks; rank++)
		assert_true(start(run, rank) > 0);
	for (rank = 0; rank < ranks; rank++) {
		assert_true(wait(&status) > 0);
		failed += status != 0;
	}
	assert_int_equal(failed, 0); /* all have been waited for: none is left to the next test */
}

static struct gpusim_stream *prepare(int rank, int ranks, ncclComm_t *comm)
{
	struct gpusim_context *context;
	struct gpusim_stream *stream;

	CHECK(!gpusim_context_primary(0, &context));
	CHECK(!gpusim_context_set_current(context));
	CHECK(!gpusim_stream_create(GPUSIM_STREAM_NON_BLOCKING, &stream));
	CHECK(ncclCommInitRank(comm, ranks, id, rank) == ncclSuccess);
	return stream;
}

static void all_reduce(ncclComm_t comm, struct gpusim_stream *stream)
{
	CHECK(ncclAllReduce(NULL, NULL, BYTES / 4, ncclFloat32, ncclSum, comm, stream) ==
	      ncclSuccess);
}

static void meet(int rank)
{
	ncclComm_t comm;

	sleep_ms(rank == 2 ? 60 : 0);
	notes->begin_ns[rank] = gpusim_now_ns();
	prepare(rank, RANKS, &comm);
	notes->end_ns[rank] = gpusim_now_ns();
	CHECK(ncclCommDestroy(comm) == ncclSuccess);
}

/* Whether the ranks' shared memory has a name. */
static bool segment_exists(const char *key)
{
	char path[200];

	snprintf(path, sizeof(path), "/dev/shm/gpusim-nccl-%s", key);
	return access(path, F_OK) == 0;
}

TEST(test_init_waits_for_all_ranks)
{
	int rank;

	run_ranks(meet, RANKS);
	for (rank = 0; rank < RANKS; rank++)
		assert_true(notes->end_ns[rank] >= notes->begin_ns[2]);
	assert_false(segment_exists(id.internal));
}

static void reduce_once(int rank)
{
	struct gpusim_stream *stream;
	ncclComm_t comm;
	const bool is_last = rank == RANKS - 1;

	stream = prepare(rank, RANKS, &comm);
	for (int i = 0; is_last && i < rank; i++)
		while (!notes->has_waited[i])
			sleep_ms(1);
	notes->begin_ns[rank] = gpusim_now_ns();
	all_reduce(comm, stream);
	CHECK(is_last || gpusim_stream_query(stream) == GPUSIM_NOT_READY);
	notes->has_waited[rank] = true;
	CHECK(!gpusim_stream_sync(stream));
	notes->end_ns[rank] = gpusim_now_ns();
	CHECK(ncclCommDestroy(comm) == ncclSuccess);
}

TEST(test_collective_ends_when_the_last_has_come)
{
	uint64_t end_ns;
	int rank;

	setenv("GPUSIM_NCCL_GBPS", "1", 1);
	run_ranks(reduce_once, RANKS);
	unsetenv("GPUSIM_NCCL_GBPS");
	end_ns = notes->begin_ns[RANKS - 1] + BYTES;
	for (rank = 0; rank < RANKS; rank++) {
		assert_true(notes->end_ns[rank] >= end_ns);
		assert_true(notes->end_ns[rank] < end_ns + 5000 * (uint64_t)MS);
	}
}

/*
 * Rank 1 comes 50 ms late on its device each time; what is behind a collective waits, on rank 0 too.
 * Rank 1 submits nothing before rank 0 has seen that its own work's time is not known.
 */
static void order_work(int rank)
{
	const struct gpusim_shape shape = { { 1, 1, 1 }, { 32, 1, 1 } };
	struct gpusim_work work = { .kind = GPUSIM_KERNEL, .entity = order_work, .shape = shape };
	struct gpusim_event *before, *after;
	struct gpusim_stream *stream;
	ncclComm_t comm;
	float ms;
	int i;

	stream = prepare(rank, 2, &comm);
	gpusim_kernel_duration(order_work, 2 * MS);
	CHECK(!gpusim_event_create(&before) && !gpusim_event_create(&after));
	CHECK(!gpusim_event_record(before, stream));
	while (rank == 1 && !notes->has_waited[0])
		sleep_ms(1);
	for (i = 0; i < 20; i++)
		all_reduce(comm, stream);
	CHECK(!gpusim_submit(stream, &work));
	CHECK(!gpusim_event_record(after, stream));
	if (rank == 0) {
		CHECK(work.pending);
		CHECK(gpusim_event_elapsed(&ms, before, after) == GPUSIM_NOT_READY);
		notes->has_waited[0] = true;
	}
	CHECK(!gpusim_event_sync(after));
	CHECK(!gpusim_event_elapsed(&ms, before, after));
	CHECK(ms >= 20 * 50 + 2);
	CHECK(!gpusim_context_sync());
	CHECK(!gpusim_submit(stream, &work) && !work.pending && work.end_ns);
	CHECK(ncclCommDestroy(comm) == ncclSuccess);
}

TEST(test_work_behind_a_collective_waits_for_it)
{
	setenv("GPUSIM_NCCL_LATE", "1:50", 1);
	run_ranks(order_work, 2);
	unsetenv("GPUSIM_NCCL_LATE");
}

static void exchange(int rank)
{
	struct gpusim_stream *stream;
	ncclComm_t comm;
	int round, peer;

	stream = prepare(rank, RANKS, &comm);
	for (round = 0; round < 100; round++) {
		CHECK(ncclGroupStart() == ncclSuccess);
		for (peer = 0; peer < RANKS; peer++) {
			CHECK(!ncclSend(NULL, 1000, ncclInt8, peer, comm, stream));
			CHECK(!ncclRecv(NULL, 1000, ncclInt8, peer, comm, stream));
		}
		all_reduce(comm, stream);
		all_reduce(comm, stream);
		if (round == 0 && rank == 0)
			CHECK(!gpusim_stream_query(stream)); /* nothing was submitted yet */
		CHECK(ncclGroupEnd() == ncclSuccess);
	}
	CHECK(!gpusim_stream_sync(stream));
	CHECK(ncclCommDestroy(comm) == ncclSuccess);
}

TEST(test_works_of_a_group_begin_together_at_its_end)
{
	run_ranks(exchange, RANKS);
}

static void hang(int rank)
{
	struct gpusim_stream *stream;
	ncclComm_t comm;

	stream = prepare(rank, 2, &comm);
	all_reduce(comm, stream);
	CHECK(!gpusim_stream_sync(stream));
	if (rank == 1) {
		alarm(1); /* it ends in its second collective, by the signal */
		all_reduce(comm, stream);
		CHECK(false);
	}
	all_reduce(comm, stream);
	sleep_ms(100);
	CHECK(gpusim_stream_query(stream) == GPUSIM_NOT_READY);
	CHECK(ncclCommAbort(comm) == ncclSuccess);
	CHECK(!gpusim_stream_sync(stream));
}

TEST(test_a_planted_hang_is_where_it_was_planted)
{
	int rank, status, by_alarm = 0, well = 0;

	setenv("GPUSIM_NCCL_HANG", "1:2", 1);
	assert_int_equal(ncclGetUniqueId(&id), ncclSuccess);
	for (rank = 0; rank < 2; rank++)
		assert_true(start(hang, rank) > 0);
	for (rank = 0; rank < 2; rank++) {
		assert_true(wait(&status) > 0);
		by_alarm += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
		well += status == 0;
	}
	unsetenv("GPUSIM_NCCL_HANG");
	assert_int_equal(by_alarm, 1);
	assert_int_equal(well, 1);
}

static void wait_alone(int rank)
{
	ncclComm_t comm;

	prepare(rank, 2, &comm); /* no other rank comes */
}

TEST(test_killed_ranks_leave_nothing)
{
	ncclUniqueId next;
	int status, tries;
	pid_t child;

	assert_int_equal(ncclGetUniqueId(&id), ncclSuccess);
	child = start(wait_alone, 0);
	for (tries = 0; tries < 500 && !segment_exists(id.internal); tries++)
		sleep_ms(10);
	assert_int_equal(ncclGetUniqueId(&next), ncclSuccess);
	assert_true(segment_exists(id.internal)); /* a rank still waits there */
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(ncclGetUniqueId(&next), ncclSuccess);
	assert_false(segment_exists(id.internal));
}

static void two_devices(int rank)
{
	struct gpusim_context *context;
	struct gpusim_stream *streams[2];
	ncclComm_t comms[2];
	int i, number;

	(void)rank;
	CHECK(ncclCommInitAll(comms, 2, NULL) == ncclSuccess);
	for (i = 0; i < 2; i++) {
		CHECK(!ncclCommCuDevice(comms[i], &number) && number == i);
		CHECK(!ncclCommUserRank(comms[i], &number) && number == i);
		CHECK(!ncclCommCount(comms[i], &number) && number == 2);
		CHECK(!gpusim_context_primary(i, &context));
		CHECK(!gpusim_context_set_current(context));
		CHECK(!gpusim_stream_create(0, &streams[i]));
	}
	CHECK(!ncclGroupStart());
	for (i = 0; i < 2; i++)
		all_reduce(comms[i], streams[i]);
	CHECK(!ncclGroupEnd());
	for (i = 0; i < 2; i++)
		CHECK(!gpusim_stream_sync(streams[i]) && !ncclCommDestroy(comms[i]));
}

TEST(test_one_process_with_several_devices)
{
	setenv("GPUSIM_DEVICES", "2", 1);
	run_ranks(two_devices, 1);
	unsetenv("GPUSIM_DEVICES");
}

static void see_devices(int rank)
{
	unsigned char uuid[16];

	(void)rank;
	CHECK(gpusim_device_count() == 2);
	CHECK(!gpusim_device_uuid(0, uuid) && uuid[15] == 3);
	CHECK(!gpusim_device_uuid(1, uuid) && uuid[15] == 1);
}

TEST(test_visible_devices_keep_their_identity)
{
	setenv("GPUSIM_DEVICES", "4", 1);
	setenv("CUDA_VISIBLE_DEVICES", "3,1,9,0", 1);
	run_ranks(see_devices, 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("GPUSIM_DEVICES");
}

static void misuse(int rank)
{
	struct gpusim_stream *stream;
	ncclComm_t comm, other;
	ncclUniqueId bad = { "../../etc/passwd" };
	char key[32];

	CHECK(ncclCommInitRank(&comm, 1, bad, 0) == ncclInvalidArgument);
	CHECK(ncclCommInitRank(&comm, 1, id, 1) == ncclInvalidArgument);
	memcpy(key, id.internal, sizeof(key));
	stream = prepare(rank, 1, &comm);
	CHECK(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, NULL, stream) ==
	      ncclInvalidArgument);
	CHECK(ncclAllReduce(NULL, NULL, 1, ncclNumTypes, ncclSum, comm, stream) ==
	      ncclInvalidArgument);
	CHECK(ncclSend(NULL, 1, ncclInt8, 1, comm, stream) == ncclInvalidArgument);
	CHECK(ncclGroupEnd() == ncclInvalidUsage);
	CHECK(ncclGroupStart() == ncclSuccess);
	CHECK(ncclBroadcast(NULL, NULL, 1, ncclInt8, 7, comm, stream) == ncclInvalidArgument);
	CHECK(ncclGroupEnd() == ncclInvalidArgument);
	CHECK(ncclCommDestroy(comm) == ncclSuccess);
	CHECK(ncclCommDestroy(NULL) == ncclInvalidArgument);
	CHECK(!ncclGetUniqueId(&id) && memcmp(key, id.internal, sizeof(key)) != 0);
	CHECK(!ncclGroupStart() && !ncclCommInitRank(&comm, 2, id, 0));
	CHECK(ncclCommInitRank(&other, 2, id, 0) == ncclInvalidUsage); /* that rank is taken */
	CHECK(!ncclCommInitRank(&other, 2, id, 1) && !ncclGroupEnd());
	CHECK(!ncclCommDestroy(comm) && !ncclCommDestroy(other));
}

TEST(test_misuse_has_the_real_codes)
{
	run_ranks(misuse, 1);
}

static int set_up_all(void **state)
{
	(void)state;
	setenv("GPUSIM_QUIET", "1", 1);
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (notes == MAP_FAILED)
		return -1;
	return 0;
}

TEST_GROUP(set_up_all, NULL);
