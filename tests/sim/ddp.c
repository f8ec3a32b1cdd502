// SPDX-License-Identifier: BSD-3-Clause
/*
 * A small data-parallel training for demonstrations and tests: it starts its ranks as processes of
 * their own (RANK, LOCAL_RANK, WORLD_SIZE in their environment, as torchrun does), each computes
 * and all-reduces its gradients in every step. It knows the public functions of CUDA and NCCL
 * alone; here they are the simulated ones. Rank 0 hands the unique id to the others through memory
 * that all inherit.
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl_api.h"
#include "program.h"

enum { LAYERS = 4, MAX_RANKS = 16 };

struct options {
	uint64_t ranks, steps, bytes, pause_us, late_ms, idle_threads;
	const char *wait_file;
	bool two_streams, quiet;
};

/* What the ranks share before they can talk to each other. */
struct meeting {
	uint32_t id_is_there;
	ncclUniqueId id;
};

struct rank {
	const struct options *options;
	int number;
	ncclComm_t comm;
	cudaStream_t stream, collectives;	/* the same, unless two streams are asked for */
	cudaEvent_t event;			/* NULL: one stream */
	void *gradients, *loss;
};

static void check_nccl(ncclResult_t result, const char *what)
{
	if (result == ncclSuccess)
		return;
	fprintf(stderr, "ddp: %s: %s\n", what, ncclGetErrorString(result));
	exit(1);
}

#define NCCL(call) check_nccl((call), #call)

/* Kernels: as in compiled CUDA code, the host function of that name launches itself. */

static __attribute__((noinline)) void forward(const struct rank *rank)
{
	CHECK(cudaLaunchKernel((const void *)forward, (dim3){ 128, 1, 1 }, (dim3){ 256, 1, 1 }, NULL,
			      0, rank->stream));
}

static __attribute__((noinline)) void backward(const struct rank *rank)
{
	CHECK(cudaLaunchKernel((const void *)backward, (dim3){ 256, 1, 1 }, (dim3){ 256, 1, 1 },
			      NULL, 0, rank->stream));
}

static __attribute__((noinline)) void optimizer(const struct rank *rank)
{
	CHECK(cudaLaunchKernel((const void *)optimizer, (dim3){ 512, 1, 1 }, (dim3){ 256, 1, 1 },
			      NULL, 0, rank->stream));
}

/* Later launches into `then` run after everything in `first`. */
static void order(const struct rank *rank, cudaStream_t first, cudaStream_t then)
{
	if (!rank->event)
		return;
	CHECK(cudaEventRecord(rank->event, first));
	CHECK(cudaStreamWaitEvent(then, rank->event, 0));
}

/* All-reduces the gradients of half of the layers while the device computes those of the others. */
static void reduce_half(const struct rank *rank)
{
	order(rank, rank->stream, rank->collectives);
	NCCL(ncclAllReduce(rank->gradients, rank->gradients, rank->options->bytes / 8, ncclFloat32,
			   ncclSum, rank->comm, rank->collectives));
}

/* The loss goes through the name for tools: one function under two names. */
static void train_step(const struct rank *rank)
{
	int layer;

	for (layer = 0; layer < LAYERS; layer++)
		forward(rank);
	for (layer = 0; layer < LAYERS; layer++) {
		if (rank->event && layer == LAYERS / 2)
			reduce_half(rank);
		backward(rank);
	}
	order(rank, rank->stream, rank->collectives);
	NCCL(ncclAllReduce(rank->gradients, rank->gradients,
			   rank->options->bytes / (rank->event ? 8 : 4), ncclFloat32, ncclSum,
			   rank->comm, rank->collectives));
	NCCL(pncclAllReduce(rank->loss, rank->loss, 1, ncclFloat32, ncclAvg, rank->comm,
			    rank->collectives));
	order(rank, rank->collectives, rank->stream);
	optimizer(rank);
	CHECK(cudaStreamSynchronize(rank->stream));
	if (rank->options->pause_us)
		sleep_ns(rank->options->pause_us * 1000);
}

/* In a ring: each rank sends its number on and receives that of the one before. */
static void pass_round(const struct rank *rank)
{
	int ranks = (int)rank->options->ranks;

	NCCL(ncclGroupStart());
	NCCL(ncclSend(rank->loss, 1, ncclInt32, (rank->number + 1) % ranks, rank->comm,
		      rank->stream));
	NCCL(ncclRecv(rank->loss, 1, ncclInt32, (rank->number + ranks - 1) % ranks, rank->comm,
		      rank->stream));
	NCCL(ncclGroupEnd());
}

static ncclUniqueId agree_on_id(struct meeting *meeting, int rank)
{
	if (rank == 0) {
		NCCL(ncclGetUniqueId(&meeting->id));
		__atomic_store_n(&meeting->id_is_there, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &meeting->id_is_there, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	while (!__atomic_load_n(&meeting->id_is_there, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &meeting->id_is_there, FUTEX_WAIT, 0, NULL, NULL, 0);
	return meeting->id;
}

static void wait_for_start(const struct rank *rank)
{
	if (!rank->options->wait_file)
		return;
	printf("ddp: rank %d ready, pid %d\n", rank->number, (int)getpid());
	fflush(stdout);
	while (access(rank->options->wait_file, F_OK) != 0)
		sleep_ns(5000000);
}

static void *stay(void *argument)
{
	(void)argument;
	for (;;)
		pause();
	return NULL;
}

static void start_idle(uint64_t n)
{
	pthread_t thread;

	while (n--)
		if (pthread_create(&thread, NULL, stay, NULL))
			abort();
}

static int run_rank(const struct options *options, struct meeting *meeting, int number)
{
	struct rank rank = { .options = options, .number = number };
	uint64_t step;

	/* As programs do that are measured: the first call, which starts the driver, is no query. */
	CHECK(cudaMalloc(&rank.gradients, options->bytes));
	CHECK(cudaMalloc(&rank.loss, 4));
	CHECK(cudaStreamCreate(&rank.stream));
	rank.collectives = rank.stream;
	if (options->two_streams) {
		CHECK(cudaStreamCreate(&rank.collectives));
		CHECK(cudaEventCreate(&rank.event));
	}
	start_idle(options->idle_threads);
	wait_for_start(&rank);
	NCCL(ncclCommInitRank(&rank.comm, (int)options->ranks, agree_on_id(meeting, number),
			      number));
	NCCL(ncclBroadcast(rank.gradients, rank.gradients, options->bytes / 4, ncclFloat32, 0,
			   rank.comm, rank.stream));
	for (step = 0; step < options->steps; step++) {
		if (options->late_ms && number == (int)options->ranks - 1)
			sleep_ns(options->late_ms * 1000000);
		train_step(&rank);
	}
	pass_round(&rank);
	CHECK(cudaStreamSynchronize(rank.stream));
	NCCL(ncclCommDestroy(rank.comm));
	if (rank.event) {
		CHECK(cudaEventDestroy(rank.event));
		CHECK(cudaStreamDestroy(rank.collectives));
	}
	CHECK(cudaStreamDestroy(rank.stream));
	CHECK(cudaFree(rank.gradients));
	CHECK(cudaFree(rank.loss));
	return 0;
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	setenv(name, text, 1);
}

/* A rank is this program again, so that it is a process of its own from its first call on. */
static pid_t start_rank(char **argv, int rank, int ranks, int memory)
{
	char path[PATH_MAX] = "";
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	set_number("RANK", rank);
	set_number("LOCAL_RANK", rank);
	set_number("CUDA_VISIBLE_DEVICES", rank); /* each has a device of its own */
	set_number("WORLD_SIZE", ranks);
	set_number("DDP_MEMORY", memory);
	/* Not the link itself: the kernel names the process after what it was started as. */
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0)
		execv(path, argv);
	perror("ddp: exec");
	_exit(1);
}

static int wait_for_ranks(const struct options *options, const pid_t *pids)
{
	int status, worst = 0;
	uint64_t i;
	pid_t pid;

	while ((pid = wait(&status)) > 0) {
		for (i = 0; i < options->ranks && pids[i] != pid; i++)
			;
		if (!status)
			continue;
		worst = 1;
		fprintf(stderr, "ddp: rank %" PRIu64 " %s %d\n", i,
			WIFSIGNALED(status) ? "was ended by signal" : "failed with status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	return worst;
}

static int run_all(const struct options *options, char **argv)
{
	int memory = memfd_create("ddp", 0);
	pid_t pids[MAX_RANKS];
	uint64_t i;
	int worst;

	if (memory < 0 || ftruncate(memory, sizeof(struct meeting))) {
		perror("ddp: memfd");
		return 1;
	}
	set_number("GPUSIM_DEVICES", (int)options->ranks);
	for (i = 0; i < options->ranks; i++) {
		pids[i] = start_rank(argv, (int)i, (int)options->ranks, memory);
		if (pids[i] < 0) {
			perror("ddp: fork");
			return 1;
		}
	}
	unsetenv("GPUSIM_TRUTH"); /* only ranks have one */
	worst = wait_for_ranks(options, pids);
	if (!options->quiet)
		printf("ddp: %" PRIu64 " ranks, %" PRIu64 " steps of %" PRIu64 " bytes%s\n",
		       options->ranks, options->steps, options->bytes, worst ? ": failed" : "");
	return worst;
}

static int join_as(const struct options *options, const char *rank, const char *memory)
{
	struct meeting *meeting =
		mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(memory), 0);

	if (meeting == MAP_FAILED) {
		perror("ddp: DDP_MEMORY");
		return 1;
	}
	return run_rank(options, meeting, atoi(rank));
}

static int usage(void)
{
	fputs("usage: ddp [--ranks N] [--steps S] [--bytes B] [--pause-us U] [--late-ms M] "
	      "[--wait-file FILE] [--idle-threads N] [--two-streams] [--quiet]\n"
	      "N processes (4) that all-reduce B bytes (4 MiB) in each of S steps (50)\n"
	      "with --wait-file each says that it is ready, then waits until FILE exists\n"
	      "with --late-ms the last one sleeps so long before each step\n"
	      "with --two-streams half of the bytes are on their way while the rest is computed\n"
	      "with --idle-threads each has so many more threads, which make no call\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct options options = { .ranks = 4, .steps = 50, .bytes = 4 << 20 };
	const char *rank = getenv("RANK"), *memory = getenv("DDP_MEMORY");
	const struct program_option known[] = {
		{ "--ranks", .number = &options.ranks },
		{ "--steps", .number = &options.steps },
		{ "--bytes", .number = &options.bytes },
		{ "--pause-us", .number = &options.pause_us },
		{ "--late-ms", .number = &options.late_ms },
		{ "--idle-threads", .number = &options.idle_threads },
		{ "--wait-file", .text = &options.wait_file },
		{ "--two-streams", .flag = &options.two_streams },
		{ "--quiet", .flag = &options.quiet },
	};

	(void)argc;
	if (!PROGRAM_OPTIONS(known, argv))
		return usage();
	if (!options.ranks || options.ranks > MAX_RANKS || options.bytes < 4)
		return usage();
	if (rank && memory)
		return join_as(&options, rank, memory);
	return run_all(&options, argv);
}
