// SPDX-License-Identifier: BSD-3-Clause
/*
 * A training with one planted fault, or none but an odd shape: plant NAME [--ms T]. Its device is
 * busy all the time, two steps ahead of the host, but for what the plant costs: what idles between
 * its works is that. The last line on stdout is "plant: pid P, run delay N ns", of the main thread
 * by its schedstat. Here CUDA is the simulated one.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

#define MS 1000000ull

enum {
	KERNELS = 10,
	BLOCK = 256,
	NS_PER_BLOCK = BLOCK / 64,	/* gpusim_duration.c: 1 ns for 64 threads */
	AHEAD = 2,
	STREAMS_MAX = 4,
	LARGE = 64 << 20,
	HOLD_NS = 30000000,		/* how long a fault of a step is, and every fifth step has it */
	EVERY = 5,
	BATCH = 65536,			/* as much as a pipe holds */
	BATCHES = 4,
};

struct training;

struct plant {
	const char *name;
	void (*fork)(struct training *t);	/* before CUDA's first call; NULL: none, as the next */
	void *(*thread)(void *t);		/* beside, of this name */
	const char *thread_name;
	void (*prepare)(struct training *t);
	void (*step)(struct training *t);	/* behind the launches of a step */
	void (*kernel)(struct training *t);	/* behind each of its kernels */
	uint64_t every;				/* step: 0: EVERY */
	uint64_t kernel_ns, streams, kernels;	/* 0: 500 us, 1, KERNELS */
	bool is_blocking;			/* the streams wait for the default one */
};

struct training {
	const struct plant *plant;
	uint64_t step;
	cudaStream_t streams[STREAMS_MAX];
	size_t n_streams;
	cudaEvent_t done[AHEAD];
	void *device, *host;		/* LARGE bytes */
	int ends[2];			/* a pipe's or socket pair's */
	pthread_mutex_t lock;
	pthread_cond_t filled;
	bool is_full;
	size_t batches;			/* filled ahead */
	cudaGraphExec_t graph;
	FILE *log;
};

static __attribute__((noinline)) void kernel(uint64_t ns, cudaStream_t stream)
{
	CHECK(cudaLaunchKernel((const void *)kernel, (dim3){ (unsigned int)(ns / NS_PER_BLOCK), 1, 1 },
			       (dim3){ BLOCK, 1, 1 }, NULL, 0, stream));
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* On a CPU. */
static __attribute__((noinline)) void compute(uint64_t ns)
{
	const uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void start_thread(void *(*run)(void *), void *argument, const char *name)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument))
		fail("pthread_create");
	pthread_setname_np(thread, name);
}

/* ---- what a step waits for ------------------------------------------------------------------- */

static void do_sleep(struct training *t)
{
	(void)t;
	sleep_ns(HOLD_NS);
}

static void do_compute(struct training *t)
{
	(void)t;
	compute(HOLD_NS);
}

static void collect(struct training *t)
{
	(void)t;
	compute(3 * HOLD_NS);
}

/* Another thread has the lock, and computes. */
static void *hold(void *argument)
{
	struct training *t = argument;

	for (;;) {
		pthread_mutex_lock(&t->lock);
		while (!t->is_full)
			pthread_cond_wait(&t->filled, &t->lock);
		t->is_full = false;
		pthread_cond_broadcast(&t->filled);
		compute(HOLD_NS);
		pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

static void take_lock(struct training *t)
{
	pthread_mutex_lock(&t->lock);
	t->is_full = true;
	pthread_cond_broadcast(&t->filled);
	while (t->is_full)
		pthread_cond_wait(&t->filled, &t->lock);
	pthread_mutex_unlock(&t->lock);
	pthread_mutex_lock(&t->lock);
	pthread_mutex_unlock(&t->lock);
}

/* Another thread fills a batch, and says so. */
static void *load(void *argument)
{
	struct training *t = argument;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		while (t->is_full)
			pthread_cond_wait(&t->filled, &t->lock);
		pthread_mutex_unlock(&t->lock);
		sleep_ns(HOLD_NS);
		pthread_mutex_lock(&t->lock);
		t->is_full = true;
		pthread_cond_broadcast(&t->filled);
	}
	return NULL;
}

static void take_batch(struct training *t)
{
	pthread_mutex_lock(&t->lock);
	t->is_full = false;
	pthread_cond_broadcast(&t->filled);
	while (!t->is_full)
		pthread_cond_wait(&t->filled, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

/* Another process answers HOLD_NS later. */
static void serve(int end)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "server");
	while (read(end, &byte, 1) == 1) {
		sleep_ns(HOLD_NS);
		if (write(end, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* run does not return. */
static void start_child(void (*run)(int end), int end)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (!child)
		run(end);
}

static void fork_server(struct training *t)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, t->ends))
		fail("socketpair");
	start_child(serve, t->ends[1]);
}

static void receive(struct training *t)
{
	char byte = 0;

	if (write(t->ends[0], &byte, 1) != 1 || read(t->ends[0], &byte, 1) != 1)
		fail("server");
}

static void poll_server(struct training *t)
{
	struct pollfd wait = { .fd = t->ends[0], .events = POLLIN };
	char byte = 0;

	if (write(t->ends[0], &byte, 1) != 1 || poll(&wait, 1, -1) != 1 ||
	    read(t->ends[0], &byte, 1) != 1)
		fail("server");
}

/* Another process is one batch ahead, and slower than the device. */
static void feed(int end)
{
	static char batch[BATCH];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "feeder");
	do
		sleep_ns(HOLD_NS / 4);
	while (write(end, batch, BATCH) == BATCH);
	_exit(0);
}

static void fork_feeder(struct training *t)
{
	if (pipe(t->ends))
		fail("pipe");
	start_child(feed, t->ends[1]);
}

static void read_batch(struct training *t)
{
	static char batch[BATCH];
	ssize_t part;

	for (size_t n = 0; n < BATCH; n += (size_t)part) {
		part = read(t->ends[0], batch + n, BATCH - n);
		if (part <= 0)
			fail("feeder");
	}
}

static void run_program(struct training *t)
{
	char *const arguments[] = { "sleep", "0.03", NULL };
	pid_t child;

	(void)t;
	if (posix_spawnp(&child, "sleep", NULL, NULL, arguments, NULL) ||
	    waitpid(child, NULL, 0) != child)
		fail("sleep");
}

/* A signal stops the process: another one lets it go on. */
static void fork_stopper(struct training *t)
{
	pid_t parent = getpid(), child;
	char byte;

	if (pipe(t->ends))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(t->ends[0], &byte, 1) == 1) {
		kill(parent, SIGSTOP);
		sleep_ns(HOLD_NS);
		kill(parent, SIGCONT);
	}
	_exit(0);
}

/* Ended by the stop, or shortly after it. */
static void be_stopped(struct training *t)
{
	char byte = 0;

	if (write(t->ends[1], &byte, 1) != 1)
		fail("stopper");
	compute(MS);
}

/* A thread of higher priority takes the CPU that the training is bound to. */
static void *hog(void *argument)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct training *t = argument;
	char byte;

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		fail("SCHED_FIFO");
	while (read(t->ends[0], &byte, 1) == 1)
		compute(HOLD_NS);
	return NULL;
}

static void prepare_hog(struct training *t)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(t->ends))
		fail("one CPU");
}

static void wake_hog(struct training *t)
{
	char byte = 0;

	if (write(t->ends[1], &byte, 1) != 1)
		fail("hog");
	compute(MS / 10);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void allocate(struct training *t)
{
	void *memory;

	(void)t;
	for (int i = 0; i < 3000; i++) {
		CHECK(cudaMalloc(&memory, LARGE));
		CHECK(cudaFree(memory));
	}
}

static void leak(struct training *t)
{
	void *memory;

	if (t->step < 200)
		CHECK(cudaMalloc(&memory, 1 << 20));
}

/* .item(): waits until the device is dry, and looks at the result. */
static void look(struct training *t)
{
	float loss;

	CHECK(cudaMemcpyAsync(&loss, t->device, sizeof(loss), cudaMemcpyDeviceToHost,
			      t->streams[0]));
	CHECK(cudaStreamSynchronize(t->streams[0]));
	compute(MS / 3);
}

static void look_by_copy(struct training *t)
{
	float loss;

	CHECK(cudaMemcpy(&loss, t->device, sizeof(loss), cudaMemcpyDeviceToHost));
	compute(MS / 3);
}

static void wait_for_device(struct training *t)
{
	(void)t;
	CHECK(cudaDeviceSynchronize());
	compute(MS / 3);
}

static void wait_for_event(struct training *t)
{
	cudaEvent_t event = t->done[t->step % AHEAD];

	CHECK(cudaEventRecord(event, t->streams[0]));
	CHECK(cudaEventSynchronize(event));
	compute(MS / 3);
}

static void prepare_pageable(struct training *t)
{
	t->host = calloc(1, LARGE);
	if (!t->host)
		fail("calloc");
}

static void copy(struct training *t)
{
	CHECK(cudaMemcpy(t->device, t->host, LARGE, cudaMemcpyHostToDevice));
}

/* Longer than a kernel runs. */
static void hesitate(struct training *t)
{
	(void)t;
	compute(10000);
}

/* ---- shapes that are healthy ----------------------------------------------------------------- */

static void copy_beside(struct training *t)
{
	CHECK(cudaMemcpyAsync(t->device, t->host, 1 << 20, cudaMemcpyHostToDevice, t->streams[1]));
}

static void think(struct training *t)
{
	(void)t;
	compute(MS);
}

static void query(struct training *t)
{
	(void)cudaEventQuery(t->done[t->step % AHEAD]);
}

static void *watch_memory(void *unused)
{
	size_t is_free, all;

	for (;;) {
		CHECK(cudaMemGetInfo(&is_free, &all));
		sleep_ns(20 * MS);
	}
	return unused;
}

static void *sleep_on(void *unused)
{
	for (;;)
		sleep_ns(50 * MS);
	return unused;
}

/* One whose sync does no harm: the training is ahead. */
static void *sync_stream(void *argument)
{
	struct training *t = argument;

	for (;;) {
		CHECK(cudaStreamSynchronize(t->streams[0]));
		sleep_ns(3 * MS);
	}
	return NULL;
}

static void order_streams(struct training *t)
{
	CHECK(cudaEventRecord(t->done[0], t->streams[0]));
	CHECK(cudaStreamWaitEvent(t->streams[1], t->done[0], 0));
}

static void pool(struct training *t)
{
	void *memory;

	CHECK(cudaMallocAsync(&memory, 1 << 20, t->streams[0]));
	CHECK(cudaFreeAsync(memory, t->streams[0]));
}

static void prepare_graph(struct training *t)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(t->streams[0], 0));
	for (int i = 0; i < KERNELS; i++)
		kernel(MS / 2, t->streams[0]);
	CHECK(cudaStreamEndCapture(t->streams[0], &graph));
	CHECK(cudaGraphInstantiate(&t->graph, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

static void launch_graph(struct training *t)
{
	CHECK(cudaGraphLaunch(t->graph, t->streams[0]));
}

static void set(struct training *t)
{
	CHECK(cudaMemsetAsync(t->device, 0, 1 << 20, t->streams[0]));
}

/* A loss that is looked at later. */
static void read_back(struct training *t)
{
	CHECK(cudaMemcpyAsync(t->host, t->device, sizeof(float), cudaMemcpyDeviceToHost,
			      t->streams[0]));
}

static void write_log(struct training *t)
{
	if (!t->log)
		t->log = fopen("/dev/null", "we");
	if (!t->log || fprintf(t->log, "step %" PRIu64 "\n", t->step) < 0 || fflush(t->log))
		fail("log");
}

/* Another thread with a stream of its own, which it waits for. */
static void *drive(void *unused)
{
	cudaStream_t stream;

	CHECK(cudaStreamCreateWithFlags(&stream, 1));
	for (;;) {
		kernel(MS, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	return unused;
}

/* Fills batches ahead, faster than the device. */
static void *prefetch(void *argument)
{
	struct training *t = argument;

	for (;;) {
		sleep_ns(2 * MS);
		pthread_mutex_lock(&t->lock);
		while (t->batches == BATCHES)
			pthread_cond_wait(&t->filled, &t->lock);
		t->batches++;
		pthread_cond_broadcast(&t->filled);
		pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

static void take_prefetched(struct training *t)
{
	pthread_mutex_lock(&t->lock);
	while (!t->batches)
		pthread_cond_wait(&t->filled, &t->lock);
	t->batches--;
	pthread_cond_broadcast(&t->filled);
	pthread_mutex_unlock(&t->lock);
}

static const struct plant plants[] = {
	{ .name = "sleep", .step = do_sleep },
	{ .name = "compute", .step = do_compute },
	{ .name = "collect", .step = collect, .every = 3 * EVERY },
	{ .name = "lock", .thread = hold, .thread_name = "holder", .step = take_lock },
	{ .name = "loader", .thread = load, .thread_name = "loader", .step = take_batch },
	{ .name = "server", .fork = fork_server, .step = receive },
	{ .name = "poll", .fork = fork_server, .step = poll_server },
	{ .name = "pipe", .fork = fork_feeder, .step = read_batch, .every = 1 },
	{ .name = "program", .step = run_program },
	{ .name = "stop", .fork = fork_stopper, .step = be_stopped },
	{ .name = "hog", .prepare = prepare_hog, .thread = hog, .thread_name = "hog", .step = wake_hog },
	{ .name = "alloc", .step = allocate },
	{ .name = "leak", .step = leak, .every = 1 },
	{ .name = "item", .kernel = look },
	{ .name = "item-copy", .kernel = look_by_copy, .is_blocking = true },
	{ .name = "sync", .kernel = wait_for_device },
	{ .name = "event", .kernel = wait_for_event },
	{ .name = "pageable", .prepare = prepare_pageable, .step = copy, .every = 1, .is_blocking = true },
	{ .name = "pinned", .step = copy, .every = 1, .is_blocking = true },
	{ .name = "tiny", .kernel = hesitate, .kernel_ns = 4, .kernels = 1000 },

	{ .name = "healthy" },
	{ .name = "short-kernels", .kernel_ns = 40000, .kernels = 100 },
	{ .name = "long-kernels", .kernel_ns = 20 * MS, .kernels = 2 },
	{ .name = "two-streams", .streams = 2 },
	{ .name = "four-streams", .streams = 4 },
	{ .name = "ordered", .streams = 2, .kernel = order_streams },
	{ .name = "copies", .streams = 2, .kernel = copy_beside },
	{ .name = "thinks", .step = think, .every = 1 },
	{ .name = "queries", .kernel = query },
	{ .name = "watcher", .thread = watch_memory, .thread_name = "watcher" },
	{ .name = "sleeper", .thread = sleep_on, .thread_name = "sleeper" },
	{ .name = "syncer", .thread = sync_stream, .thread_name = "syncer" },
	{ .name = "pool", .kernel = pool },
	{ .name = "graph", .prepare = prepare_graph, .kernel = launch_graph, .kernels = 1 },
	{ .name = "sets", .kernel = set },
	{ .name = "read-back", .step = read_back, .every = 1 },
	{ .name = "log", .step = write_log, .every = 1 },
	{ .name = "epochs", .step = wait_for_device, .every = 50 },
	{ .name = "driver", .thread = drive, .thread_name = "driver" },
	{ .name = "prefetch", .thread = prefetch, .thread_name = "prefetch", .step = take_prefetched,
	  .every = 1 },
};

static const struct plant *find_plant(const char *name)
{
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
		if (name && !strcmp(plants[i].name, name))
			return &plants[i];
	return NULL;
}

/* ---- training -------------------------------------------------------------------------------- */

static void prepare(struct training *t)
{
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->filled, NULL);
	t->n_streams = t->plant->streams ? t->plant->streams : 1;
	if (t->plant->fork)
		t->plant->fork(t);
	for (size_t i = 0; i < t->n_streams; i++)
		CHECK(cudaStreamCreateWithFlags(&t->streams[i], !t->plant->is_blocking));
	for (size_t i = 0; i < AHEAD; i++)
		CHECK(cudaEventCreateWithFlags(&t->done[i], 0));
	CHECK(cudaMalloc(&t->device, LARGE));
	CHECK(cudaMallocHost(&t->host, LARGE));
	if (t->plant->prepare)
		t->plant->prepare(t);
	if (t->plant->thread)
		start_thread(t->plant->thread, t, t->plant->thread_name);
}

static void run_step(struct training *t)
{
	const struct plant *p = t->plant;
	uint64_t every = p->every ? p->every : EVERY, kernels = p->kernels ? p->kernels : KERNELS;

	if (t->step >= AHEAD)
		CHECK(cudaEventSynchronize(t->done[t->step % AHEAD]));
	for (uint64_t i = 0; i < kernels; i++) {
		kernel(p->kernel_ns ? p->kernel_ns : MS / 2, t->streams[i % t->n_streams]);
		if (p->kernel)
			p->kernel(t);
	}
	CHECK(cudaEventRecord(t->done[t->step % AHEAD], t->streams[(kernels - 1) % t->n_streams]));
	if (p->step && t->step % every == every - 1)
		p->step(t);
	t->step++;
}

static uint64_t run_delay_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	uint64_t ns = 0;

	if (!file || fscanf(file, "%*u %" SCNu64, &ns) != 1)
		fail("schedstat");
	fclose(file);
	return ns;
}

int main(int argc, char **argv)
{
	static struct training t;	/* threads go on when main has returned */
	uint64_t ms = 2000, end;
	const struct program_option known[] = { { "--ms", .number = &ms } };

	t.plant = find_plant(argc > 1 ? argv[1] : NULL);
	if (!t.plant || !PROGRAM_OPTIONS(known, argv + 1)) {
		fputs("usage: plant NAME [--ms T]\nnames:", stderr);
		for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
			fprintf(stderr, " %s", plants[i].name);
		fputc('\n', stderr);
		return 2;
	}
	prepare(&t);
	for (end = now_ns() + ms * MS; now_ns() < end;)
		run_step(&t);
	CHECK(cudaDeviceSynchronize());
	printf("plant: pid %d, run delay %" PRIu64 " ns\n", (int)getpid(), run_delay_ns());
	return 0;
}
