// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program whose time off the CPU is known by construction. It looks as if libcudart were linked into
 * it (local functions of the runtime's names), does nothing on any device, and waits in known ways
 * between two launches: for each way it is known which system call, who wakes it, and how long it takes
 * at least, because who wakes it first sees it blocked and then takes its time. Knows nothing of
 * gpuprof; statically linked it runs where there is nothing else.
 *
 *	waits TRUTH READY GO WAY...	makes READY, waits for GO (an empty name: for neither), then waits
 *				in each WAY and says so in TRUTH: BUCKET LEAST_NS SYSCALL WAKER
 *				("*": any thread, not always the same);
 *				"late": late LEAST_NS MOST_NS, ready without a CPU in a sync
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LEAST_NS 50000000ll
#ifdef SYS_poll
#define SYS_POLL SYS_poll
#define POLL_NAME "poll"
#else				/* arm64 */
#define SYS_POLL SYS_ppoll
#define POLL_NAME "ppoll"
#endif
#define RUN_NS 60000000ll	/* of CPU, against another thread */

#define AS_IN_CUDART static __attribute__((noipa))

static void nap_ns(long long ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static int initialise(void)
{
	__asm__ volatile("");
	return 0;
}

typedef struct { unsigned int x, y, z; } dim3;

AS_IN_CUDART int cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
				  void *stream)
{
	(void)func, (void)grid, (void)block, (void)args, (void)shared, (void)stream;
	return initialise();
}

AS_IN_CUDART int cudaDeviceSynchronize(void)
{
	nap_ns(2 * LEAST_NS);
	return initialise();
}

/* One thread waits in it, and the thread that wakes it keeps the CPU. */
static void wait_late(void);

AS_IN_CUDART int cudaStreamSynchronize(void *stream)
{
	(void)stream;
	wait_late();
	return initialise();
}

static void launch(void)
{
	static char kernel;

	cudaLaunchKernel(&kernel, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL);
}

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long long now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* ---- who wakes ---- */

struct waker {
	const char *name;
	void (*wake)(void);
	pid_t waiting;		/* a thread of ours */
	long call;		/* in this system call; -1: in none */
};

/* Is the thread blocked where it should be? The number comes first; of one that runs there is none. */
static bool is_blocked(const struct waker *w)
{
	char path[64], text[256] = "", *end;
	long call;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", w->waiting);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		fail(path);
	close(fd);
	call = strtol(text, &end, 10);
	return end != text && call == w->call;
}

static void *run_waker(void *arg)
{
	const struct waker *w = arg;

	prctl(PR_SET_NAME, w->name);
	while (!is_blocked(w))
		nap_ns(1000000);
	nap_ns(LEAST_NS);
	w->wake();
	return NULL;
}

/* Between two launches: blocks in `wait` until the waker comes. */
static void wait_for_waker(const char *name, long call, void (*wait)(void), void (*wake)(void))
{
	struct waker w = { name, wake, gettid(), call };
	pthread_t thread;

	launch();
	if (pthread_create(&thread, NULL, run_waker, &w))
		fail("pthread_create");
	wait();
	launch();
	pthread_join(thread, NULL);
}

/* ---- ways ---- */

static uint32_t word;

static void wait_lock(void)
{
	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wake_lock(void)
{
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int ends[2];

static void wait_read(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		fail("read");
}

static void wait_poll(void)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };

	if (poll(&fd, 1, -1) != 1)
		fail("poll");
}

static void wake_write(void)
{
	if (write(ends[1], "x", 1) != 1)
		fail("write");
}

static volatile char *page;
static int fault_fd;

static void wait_fault(void)
{
	page[0]++;
}

static void wake_fault(void)
{
	static char zeros[1 << 16] __attribute__((aligned(1 << 16)));
	struct uffdio_copy copy = { .dst = (uintptr_t)page, .src = (uintptr_t)zeros,
				    .len = (uint64_t)sysconf(_SC_PAGESIZE) };

	if (ioctl(fault_fd, UFFDIO_COPY, &copy))
		fail("UFFDIO_COPY");
}

/* What it takes to fall asleep, and others that run meanwhile, are part of the time it asked for. */
static void sleep_way(void)
{
	launch();
	nap_ns(2 * LEAST_NS);
	launch();
}

static void sync_way(void)
{
	cudaDeviceSynchronize();
}

static void lock_way(void)
{
	wait_for_waker("holder", SYS_futex, wait_lock, wake_lock);
}

static void pipe_way(void)
{
	if (pipe(ends))
		fail("pipe");
	wait_for_waker("writer", SYS_read, wait_read, wake_write);
}

static void poll_way(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		fail("socketpair");
	wait_for_waker("sender", SYS_POLL, wait_poll, wake_write);
}

static void fault_way(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_register reg = { .range.len = bytes, .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	page = at;
	reg.range.start = (uintptr_t)at;
	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (fault_fd < 0)
		exit(77);	/* this kernel has none */
	if (ioctl(fault_fd, UFFDIO_API, &api) || ioctl(fault_fd, UFFDIO_REGISTER, &reg))
		fail("userfaultfd");
	wait_for_waker("pager", -1, wait_fault, wake_fault);
}

static FILE *truth;

/* For ever. */
static void hang_way(void)
{
	launch();
	if (pipe(ends))
		fail("pipe");
	fputs("hanging\n", truth);
	fflush(truth);
	wait_read();
}

static volatile bool done;

static void *run_rival(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "rival");
	while (!done)
		;
	return NULL;
}

static long long off_ns;	/* of the contended run, of the disk: as the program's clocks have it */

static void run_way(void)
{
	long long wall, cpu;
	cpu_set_t one;
	pthread_t thread;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) ||	/* the thread that is made has it too */
	    pthread_create(&thread, NULL, run_rival, NULL))
		fail("two threads on one CPU");
	launch();
	wall = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu < RUN_NS)
		;
	off_ns = now_ns(CLOCK_MONOTONIC) - wall - (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	launch();
	done = true;
	pthread_join(thread, NULL);
}

/* ---- ready without a CPU ---- */

static long long run_delay_ns;	/* of the sync: as the scheduler has it */

/* Of the calling thread so far. */
static long long read_run_delay(void)
{
	char path[64];
	long long ran, delay;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", gettid());
	file = fopen(path, "re");
	if (!file)
		exit(77);	/* this kernel does not count it */
	if (fscanf(file, "%lld %lld", &ran, &delay) != 2)
		fail(path);
	fclose(file);
	return delay;
}

/* ---- the disk ---- */

static char sectors[1 << 20] __attribute__((aligned(1 << 16)));

/* Not from the page cache. Its name is gone when it is open. */
static int open_on_disk(void)
{
	char path[] = "waits-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		fail(path);
	unlink(path);
	if (write(fd, sectors, sizeof(sectors)) != sizeof(sectors) || fsync(fd))
		fail("write");
	if (fcntl(fd, F_SETFL, O_DIRECT))
		exit(77);	/* this file system has no way past it */
	return fd;
}

static long times_blocked(void)
{
	struct rusage use;

	getrusage(RUSAGE_THREAD, &use);
	return use.ru_nvcsw;
}

static void disk_way(void)
{
	long long wall, cpu, delay;
	int fd = open_on_disk();
	long blocked = times_blocked(), reads = 0;

	launch();
	delay = read_run_delay();
	wall = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (; now_ns(CLOCK_MONOTONIC) - wall < 2 * LEAST_NS; reads++)
		if (pread(fd, sectors, sizeof(sectors), 0) != sizeof(sectors))
			fail("pread");
	off_ns = now_ns(CLOCK_MONOTONIC) - wall - (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) -
		 (read_run_delay() - delay);
	launch();
	if (times_blocked() - blocked < reads)
		exit(77);	/* memory is behind it: nothing waits */
	close(fd);
}

static void *run_greedy(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct waker w = { "greedy", NULL, *(pid_t *)arg, SYS_futex };
	long long start;

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		exit(77);	/* not allowed here */
	prctl(PR_SET_NAME, w.name);
	while (!is_blocked(&w))
		nap_ns(1000000);
	wake_lock();
	for (start = now_ns(CLOCK_MONOTONIC); now_ns(CLOCK_MONOTONIC) - start < LEAST_NS;)
		;
	return NULL;
}

static void wait_late(void)
{
	wait_lock();
}

static void late_way(void)
{
	pid_t waiting = gettid();
	cpu_set_t one, all;
	pthread_t thread;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	word = 0;
	if (sched_getaffinity(0, sizeof(all), &all) || sched_setaffinity(0, sizeof(one), &one) ||
	    pthread_create(&thread, NULL, run_greedy, &waiting))
		fail("two threads on one CPU");
	launch();
	run_delay_ns = read_run_delay();
	cudaStreamSynchronize(NULL);
	run_delay_ns = read_run_delay() - run_delay_ns;
	launch();
	pthread_join(thread, NULL);
	word = 0;
	if (sched_setaffinity(0, sizeof(all), &all))
		fail("sched_setaffinity");
}

static const struct way {
	const char *name;
	void (*run)(void);
	const char *bucket, *call, *waker;
} ways[] = {
	{ "sleep", sleep_way, "sleep", "clock_nanosleep", "interrupt" },
	{ "sync", sync_way, "sync", "-", "-" },
	{ "lock", lock_way, "lock", "futex", "holder" },
	{ "pipe", pipe_way, "io", "read", "writer" },
	{ "poll", poll_way, "io", POLL_NAME, "sender" },
	{ "fault", fault_way, "page-fault", "-", "pager" },
	{ "disk", disk_way, "disk", "pread64", "*" },
	{ "late", late_way, "sync", "-", "-" },
	{ "run", run_way, "runqueue", "-", "-" },
	{ "hang", hang_way, "io", "read", "-" },
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < N_WAYS; i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	fprintf(stderr, "waits: no way %s\n", name);
	exit(2);
}

static void wait_for_go(const char *ready, const char *go)
{
	int fd = *ready ? open(ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (*ready && fd < 0)
		fail(ready);
	close(fd);
	while (*go && access(go, F_OK))
		nap_ns(5000000);
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: waits TRUTH READY GO WAY...\n");
		return 2;
	}
	truth = fopen(argv[1], "we");
	if (!truth)
		fail(argv[1]);
	wait_for_go(argv[2], argv[3]);
	for (int i = 4; i < argc; i++) {
		const struct way *w = find_way(argv[i]);

		w->run();
		/* The program's own clocks and the scheduler's differ by a tick here and there. */
		fprintf(truth, "%s %lld %s %s\n", w->bucket,
			w->run == run_way || w->run == disk_way ? off_ns - off_ns / 5 : LEAST_NS, w->call, w->waker);
		if (w->run == late_way)
			fprintf(truth, "late %lld %lld\n", LEAST_NS, run_delay_ns);
	}
	fprintf(truth, "thread %d\n", gettid());
	return fclose(truth) ? 1 : 0;
}
