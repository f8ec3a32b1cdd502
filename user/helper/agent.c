// SPDX-License-Identifier: BSD-3-Clause
/*
 * The helper's life: virgin, arming, awake, drained, yielded, failed (design §5), and the one
 * thread that moves it from one to the next. It sleeps until a reader wakes it; while one watches
 * it flushes CUPTI, reads its clock, and looks whether the lease still holds. Everything here runs
 * on that thread, but for its entry points and what happens in a forked child, in which no CUPTI
 * call may ever be made: there the helper is gone. A child of a process that has not started CUDA
 * may start it, and a helper of its own.
 *
 * CUDA's driver calls InitializeInjection when it starts (CUDA_INJECTION64_PATH), each library's
 * copy of NVTX calls InitializeInjectionNvtx2 at its first use (NVTX_INJECTION64_PATH), in any
 * order. They always return 1: a target never fails because of us. In a process that runs
 * already gpuprof's thread enters by gpuprof_attach.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/load.h"
#include "gpuprof/ring.h"
#include "helper/clock.h"
#include "helper/collect.h"
#include "helper/cupti.h"
#include "helper/devices.h"
#include "helper/names.h"
#include "helper/nvtx.h"
#include "helper/ring.h"

#define PERIOD_NS 100000000ull		/* between flushes while a reader watches */
#define RETRY_NS 1000000000ull		/* after CUPTI was busy or failed */
#define DRIVER_NS 1000000ull		/* while cuInit runs: no work comes before its end */
#define DRIVER_MAX_NS 10000000000ull	/* after that it has failed */
#define ASLEEP_NS 60000000000ull	/* a wake that was missed costs no more */
#define READER_NS 1000000000ull		/* GPUPROF_ARM: so long the process waits for a reader */
/* ... that is known to live: on a busy machine it is slow */
#define READER_ALIVE_NS 10000000000ull
#define READER_LOOK_NS 100000000ull
#define END_MS 1000
#define ARMING_MS 10000
#define NO_CUPTI_NS 30000000000ull	/* at most, until libcupti is looked for again */
#define EVER 1				/* since an unknown time */

static struct agent {
	struct helper_ring ring;
	struct names *names;
	struct devices devices;
	pthread_mutex_t starting;	/* held while the helper comes into the process */
	pthread_mutex_t lock;		/* held while checking, arming and draining */
	pid_t owner;		/* whose we are: a child made without fork(3) has our memory too */
	bool hooked;		/* fork and exit are */
	bool forgotten;		/* in a child whose parent has used CUDA */
	bool has_cupti;
	bool cuda;		/* has started */
	bool ending;		/* the process exits */
	bool ended;		/* and the thread has done its last */
	uint32_t state;		/* GP_HELPER_*, as in the ring's head */
	/* since when CUDA works unrecorded, not sent yet; 0: it does not */
	uint64_t unseen_ns;
	uint64_t retry_ns;	/* after the last failure to arm */
	uint64_t early_ns;	/* since when arming waits for the driver; 0: it does not */
	bool was_free;		/* at the last look, after another client had been found */
} agent = { .starting = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

static void wake(void)
{
	__atomic_fetch_add(&agent.ring.head->wake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &agent.ring.head->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- the helper's own threads ---------------------------------------------------------------- */

#define STACK_LEAST (1u << 20)	/* CUPTI's functions run on it */

static sigset_t program;	/* the signal mask of the thread that started ours */

/* A thread that is detached and blocks all signals, which are the application's. 0 or an errno. */
static int thread_start(void *(*run)(void *), void *ctx)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	size_t bytes;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	/* The program's default for its own threads may be small. */
	if (!pthread_attr_getstacksize(&attr, &bytes) && bytes < STACK_LEAST)
		pthread_attr_setstacksize(&attr, STACK_LEAST);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &program);	/* the thread is born with it */
	err = pthread_create(&thread, &attr, run, ctx);
	pthread_sigmask(SIG_SETMASK, &program, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

/* A number in a thread's file `status`, after field, which is "\nName:". False: there is no such
 * line, or the file cannot be read. */
static bool status_number(const char *path, const char *field, int base, uint64_t *out)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	at = strstr(text, field);
	if (at)
		*out = strtoull(at + strlen(field), NULL, base);
	return at;
}

/*
 * ---- the end of the process -------------------------------------------------------------------
 *
 * The C library ends a process when its last thread ends; if that is ours, which never ends by
 * itself, the process would not end either. A key's destructor reports the main thread's exit. The
 * C library counts its threads, since it has to know the last, and exports the count for debuggers.
 * Nothing here makes a system call (a filter might forbid it) before only CUPTI's threads can be
 * left. Those are found in /proc, which is read while CUPTI is initialised and when all other
 * threads have exited. A thread that returns without need does no harm: the process goes on.
 */

#define LISTED_THREADS_MAX 1024	/* of more it is unknown which are new */
#define CUPTI_THREADS_MAX 8
#define COUNT "__nptl_nthreads"	/* for libthread_db; since glibc 2.34 it is found by name */
#define UNSEEN_NS 1000000000ull
#define SOON_NS 1000000ull	/* a thread that ends now is counted a moment longer */
#define OFTEN_NS 100000000ull
/* Not to be blocked: SIGKILL, SIGSTOP; the C library's own, 32 and 33. */
#define EVERY_SIGNAL (~(1ull << 8 | 1ull << 18 | 3ull << 31))

/*
 * Whether the helper's thread is the last of its process. LAST_THREAD: it may return, and the
 * process exits if all others have; also when the main thread has exited and the C library (before
 * 2.34) does not show how many others there are: better no helper than a process without end.
 * LAST_BESIDE_CUPTI: only CUPTI's threads are left, so the helper has to exit the process.
 */
enum last_thread { LAST_THREAD_NOT, LAST_THREAD, LAST_BESIDE_CUPTI };

static struct {
	const unsigned int *threads;	/* NULL: not known */
	pthread_key_t key;
	bool has_key;
	bool seen;		/* the main thread carries the key */
	bool left;		/* and has ended */
	uint64_t wait_ns;	/* since then */
	/*
	 * CUPTI starts threads because we use it: like ours they never exit by themselves and must
	 * keep no process alive. They are those that were not there before and block all signals,
	 * as their creator did.
	 */
	int cupti_tid[CUPTI_THREADS_MAX];
	unsigned int n_cupti;
} alone;

/* The threads there are now; 0: too many, or not to be read. */
static size_t list_threads(int tids[LISTED_THREADS_MAX])
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		int tid = atoi(entry->d_name);

		if (tid > 0 && n == LISTED_THREADS_MAX) {
			n = 0;
			break;
		}
		if (tid > 0)
			tids[n++] = tid;
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool is_among(const int *tids, size_t n, int tid)
{
	for (size_t i = 0; i < n; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

static bool blocks_all_signals(int tid)
{
	char path[64];
	uint64_t blocked;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	return status_number(path, "\nSigBlk:", 16, &blocked) &&
	       (blocked & EVERY_SIGNAL) == EVERY_SIGNAL;
}

/* Adds the threads started since the list was made. */
static void add_cupti_threads(const int *before, size_t n_before)
{
	int now[LISTED_THREADS_MAX];
	size_t n = n_before ? list_threads(now) : 0;

	for (size_t i = 0; i < n && alone.n_cupti < CUPTI_THREADS_MAX; i++)
		if (!is_among(before, n_before, now[i]) && blocks_all_signals(now[i]))
			alone.cupti_tid[alone.n_cupti++] = now[i];
}

/* How many live beside the main thread, if all but the caller are CUPTI's; else 0. */
static size_t count_if_all_cupti(void)
{
	int now[LISTED_THREADS_MAX], self = (int)syscall(SYS_gettid), main_tid = getpid();
	size_t n = list_threads(now), alive = 0;

	for (size_t i = 0; i < n; i++) {
		if (now[i] != self && now[i] != main_tid &&
		    !(is_among(alone.cupti_tid, alone.n_cupti, now[i]) &&
		      blocks_all_signals(now[i])))
			return 0;
		alive += now[i] != main_tid;
	}
	return alive;
}

/* On the main thread, when that ends before the process does: the helper's thread checks which
 * threads are left. */
static void leave(void *value)
{
	(void)value;
	__atomic_store_n(&alone.left, true, __ATOMIC_RELEASE);
	if (agent.ring.head && getpid() == agent.owner)
		wake();
}

/* As the helper comes, also in a forked child. */
static void watch_exit(void)
{
	alone.n_cupti = 0;
	alone.seen = alone.left = false;
	alone.wait_ns = SOON_NS;
	alone.threads = dlsym(RTLD_DEFAULT, COUNT);
	if (!alone.threads)
		dlerror();	/* it is not the program's */
	if (!alone.has_key)
		alone.has_key = !pthread_key_create(&alone.key, leave);
}

static bool has_left(void)
{
	return __atomic_load_n(&alone.left, __ATOMIC_ACQUIRE);
}

static bool is_seen(void)
{
	return __atomic_load_n(&alone.seen, __ATOMIC_ACQUIRE);
}

static enum last_thread look_for_last(void)
{
	unsigned int n;

	if (is_seen() && !has_left())
		return LAST_THREAD_NOT;
	if (!alone.threads)
		return has_left() ? LAST_THREAD : LAST_THREAD_NOT;
	n = __atomic_load_n(alone.threads, __ATOMIC_ACQUIRE);
	if (n == 1)
		return LAST_THREAD;
	/* A main thread that lives is counted there, and not here. */
	return n <= 1 + alone.n_cupti && count_if_all_cupti() == n ? LAST_BESIDE_CUPTI :
								     LAST_THREAD_NOT;
}

/* nanoseconds until the next check; UINT64_MAX: until the main thread ends */
static uint64_t last_wait_ns(void)
{
	uint64_t wait_ns = alone.wait_ns;

	if (!has_left())
		return alone.threads && !is_seen() ? UNSEEN_NS : UINT64_MAX;
	if (alone.wait_ns < OFTEN_NS)
		alone.wait_ns *= 2;
	return wait_ns;
}

/* ---- its states ----------------------------------------------------------------------------- */

static void enter_since(uint32_t state, uint64_t since_ns)
{
	struct gp_ring_head *head = agent.ring.head;

	agent.state = state;
	__atomic_store_n(&head->state_ns, since_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&head->state, state, __ATOMIC_RELEASE);
}

static void enter(uint32_t state)
{
	enter_since(state, clock_now_ns());
}

static void send_unseen_until(uint64_t until_ns)
{
	if (agent.unseen_ns)
		collect_unseen(agent.unseen_ns == EVER ? 0 : agent.unseen_ns, until_ns);
	agent.unseen_ns = 0;
}

/* The time without recording: so far while it lasts, all of it once recording begins. */
static void send_unseen(bool goes_on)
{
	uint64_t now = clock_now_ns();

	send_unseen_until(now);
	agent.unseen_ns = goes_on ? now : 0;
}

/* A profiler disables its kinds before its last flush. In between CUPTI seems to be free, and a
 * client that registers its callbacks then is given that profiler's records: after one, two looks
 * have to find it free. */
static bool is_free_for_long(void)
{
	bool was_free = agent.was_free || agent.state != GP_HELPER_YIELDED;

	agent.was_free = !was_free;
	return was_free;
}

/* CUPTI's threads are looked for where files are opened anyway: under a later filter that could be
 * the end. */
static void arm(uint32_t kinds, bool starts)
{
	static const uint32_t states[] = { [COLLECT_READY] = GP_HELPER_AWAKE,
					   [COLLECT_OCCUPIED] = GP_HELPER_YIELDED,
					   [COLLECT_FAILED] = GP_HELPER_FAILED };
	int there[LISTED_THREADS_MAX];
	bool is_first = !agent.has_cupti;
	size_t n = is_first ? list_threads(there) : 0;
	uint64_t now = clock_now_ns(), since_ns = now;
	bool waits = !agent.early_ns || now - agent.early_ns < DRIVER_MAX_NS;
	enum collect_result got = collect_prepare(waits);

	if (got == COLLECT_TOO_EARLY) {
		agent.early_ns = agent.early_ns ? agent.early_ns : now;
		return;
	}
	if (got != COLLECT_FAILED)
		agent.early_ns = 0;
	agent.has_cupti = got != COLLECT_FAILED;
	if (got == COLLECT_READY && !is_free_for_long())
		return;
	agent.was_free = false;
	if (got == COLLECT_READY) {
		enter(GP_HELPER_ARMING);
		got = collect_arm(kinds, starts, &since_ns);
	}
	if (got == COLLECT_READY) {
		send_unseen_until(since_ns);
		collect_clock();	/* works have times even if no flush ever comes back */
	}
	enter(states[got]);
	if (is_first)
		add_cupti_threads(there, n);
}

static void drain(bool is_end)
{
	collect_drain(is_end);
	collect_clock();
	agent.unseen_ns = clock_now_ns();
	enter(GP_HELPER_DRAINED);
}

static void send_devices(uint32_t slots)
{
	for (uint32_t i = 0; i < agent.devices.n; i++)
		helper_ring_send_to(&agent.ring, slots, GP_RING_DEVICE, &agent.devices.v[i],
				    sizeof(agent.devices.v[i]));
}

/* Once the driver answers: reads all devices and sends them to every reader that wants them. */
static void read_devices(void)
{
	if (agent.devices.known || !devices_read(&agent.devices, agent.names, &agent.ring))
		return;
	/* Before the devices: a reader that has them looks for it. */
	__atomic_store_n(&agent.ring.head->cuda_version, agent.devices.cuda_version,
			 __ATOMIC_RELEASE);
	send_devices(__atomic_load_n(&agent.ring.wanted[GP_RING_DEVICE], __ATOMIC_ACQUIRE));
}

/* Looks for readers; new ones are sent what records will refer to. Returns the kinds wanted. */
static uint32_t look(void)
{
	uint32_t fresh, kinds = helper_ring_look(&agent.ring, clock_now_ns(), &fresh);

	if (!fresh)
		return kinds;
	names_send(agent.names, &agent.ring, fresh & agent.ring.wanted[GP_RING_NAME_IS]);
	send_devices(fresh & agent.ring.wanted[GP_RING_DEVICE]);
	if (agent.state == GP_HELPER_AWAKE)
		collect_clock();
	helper_ring_admit(&agent.ring);
	return kinds;
}

/* One step towards the wanted state. Returns how long to sleep. */
static uint64_t step(void)
{
	uint32_t kinds = look();
	uint64_t lost_ns;

	if (agent.state == GP_HELPER_AWAKE && !kinds)
		drain(false);
	if (!kinds)
		return ASLEEP_NS;
	if (!agent.cuda)
		return PERIOD_NS;	/* ranges only */
	read_devices();
	if (agent.state != GP_HELPER_AWAKE) {
		arm(kinds, false);
		if (agent.state == GP_HELPER_AWAKE)
			return 0;
		if (agent.early_ns && agent.state != GP_HELPER_FAILED)
			return DRIVER_NS;
		send_unseen(true);
		/* Looking for libcupti opens twenty files: ever more seldom. */
		agent.retry_ns = agent.has_cupti ? RETRY_NS : agent.retry_ns * 2 + RETRY_NS;
		if (agent.retry_ns > NO_CUPTI_NS)
			agent.retry_ns = NO_CUPTI_NS;
		return agent.retry_ns;
	}
	lost_ns = collect_step(kinds);
	if (!lost_ns)
		return PERIOD_NS;
	agent.unseen_ns = lost_ns;
	send_unseen(true);
	enter(GP_HELPER_YIELDED);
	return RETRY_NS;
}

static void sleep_for(uint64_t ns, uint32_t seen)
{
	struct timespec ts = { (time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull) };

	if (ns)
		syscall(SYS_futex, &agent.ring.head->wake, FUTEX_WAIT, seen, &ts, NULL, 0);
}

/* Its last. */
static void end(void)
{
	uint64_t since_ns;
	uint32_t kinds;

	pthread_mutex_lock(&agent.lock);
	kinds = look();		/* a reader that came with the end gets it too */
	if (kinds && agent.cuda)
		read_devices();	/* CUDA started just now */
	since_ns = clock_now_ns();	/* later launches of other threads are not recorded */
	if (agent.state == GP_HELPER_AWAKE) {
		drain(true);
		agent.unseen_ns = 0;
	}
	send_unseen(false);
	pthread_mutex_unlock(&agent.lock);
	enter_since(GP_HELPER_ENDED, since_ns);
	__atomic_store_n(&agent.ended, true, __ATOMIC_RELEASE);
}

/* Where it is the last thread, the process exits when it returns. */
static void *live(void *ctx)
{
	/* Before the end is looked for: what wakes for that then keeps it from sleeping. */
	uint32_t seen = __atomic_load_n(&agent.ring.head->wake, __ATOMIC_ACQUIRE);
	enum last_thread last = LAST_THREAD_NOT;

	(void)ctx;
	prctl(PR_SET_NAME, "gpuprof-helper");
	while (!__atomic_load_n(&agent.ending, __ATOMIC_ACQUIRE) && !last) {
		uint64_t ns, wait_ns;

		pthread_mutex_lock(&agent.lock);
		ns = step();
		pthread_mutex_unlock(&agent.lock);
		last = look_for_last();
		wait_ns = last ? 0 : last_wait_ns();
		sleep_for(ns < wait_ns ? ns : wait_ns, seen);
		seen = __atomic_load_n(&agent.ring.head->wake, __ATOMIC_ACQUIRE);
	}
	if (last)
		/* No other thread can receive SIGTERM. */
		pthread_sigmask(SIG_SETMASK, &program, NULL);
	__atomic_store_n(&agent.ending, true, __ATOMIC_RELEASE);
	end();
	if (last == LAST_BESIDE_CUPTI)
		exit(0);
	return NULL;
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* A forked child has our memory but not our thread, and CUDA's state does not work in it. It
 * must release what it shares with readers. Threads that do not exist here may hold locks. */
static void in_child(void)
{
	if (agent.cuda)
		collect_forget();
	helper_ring_close(&agent.ring);
	agent.starting = agent.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	agent.forgotten |= agent.cuda;
	agent.owner = 0;
}

/* GPUPROF_ARM: 0 or unset: this process was not started to be watched. Else it was: by gpuprof
 * by its pid, as this process sees it if they share a namespace, or 1. */
static bool is_started_for_us(void)
{
	const char *arm_now = getenv("GPUPROF_ARM");

	return arm_now && *arm_now && strcmp(arm_now, "0");
}

/* How long nothing that this process does is to be missed: longer while gpuprof lives. */
static uint64_t patience_ns(void)
{
	const char *arm_now = getenv("GPUPROF_ARM");
	long pid = arm_now ? strtol(arm_now, NULL, 10) : 0;

	return pid > 1 && (!kill((pid_t)pid, 0) || errno == EPERM) ? READER_ALIVE_NS : READER_NS;
}

/* gpuprof has started this process and is about to watch it. */
static void wait_for_reader(void)
{
	uint64_t since = clock_now_ns();
	uint32_t kinds = 0;

	while (is_started_for_us() && !kinds && clock_now_ns() - since < patience_ns()) {
		uint32_t seen = __atomic_load_n(&agent.ring.head->wake, __ATOMIC_ACQUIRE);

		kinds = look();
		if (!kinds)
			sleep_for(READER_LOOK_NS, seen);
	}
}

static bool is_arming(void)
{
	return __atomic_load_n(&agent.ring.head->state, __ATOMIC_ACQUIRE) == GP_HELPER_ARMING;
}

/* The process exits: delivers what CUPTI holds, within a second. Called as soon as CUDA allows it,
 * and again without effect: see agent_note_cuda. */
static void agent_end(void)
{
	if (!agent.ring.head || getpid() != agent.owner)
		return;
	__atomic_store_n(&agent.ending, true, __ATOMIC_RELEASE);
	wake();
	/* What arms may have instrumented half of the modules: the first enabling takes seconds. */
	for (int i = 0; i < (is_arming() ? ARMING_MS : END_MS) &&
			!__atomic_load_n(&agent.ended, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
	if (!__atomic_load_n(&agent.ended, __ATOMIC_ACQUIRE))
		collect_note_kept(clock_now_ns());
}

static bool start(void)
{
	uint64_t filters;

	if (!agent.names)
		agent.names = names_new();
	if (!agent.names)
		return false;
	if (!agent.hooked && (pthread_atfork(NULL, NULL, in_child) || atexit(agent_end)))
		return false;
	agent.hooked = true;
	if (helper_ring_open(&agent.ring, GP_RING_BYTES_USUAL, clock_now_ns()))
		return false;
	/* Only while libraries are loaded: under a later filter reading the file could kill the
	 * process. The line is there since Linux 5.9. */
	if (status_number("/proc/thread-self/status", "\nSeccomp_filters:", 10, &filters))
		agent.ring.head->filters = (uint32_t)filters + 1;
	agent.state = GP_HELPER_VIRGIN;
	watch_exit();
	if (!collect_open(&agent.ring, agent.names)) {
		nvtx_open(&agent.ring, agent.names);
		wait_for_reader();
		if (!thread_start(live, NULL))
			return true;
	}
	helper_ring_close(&agent.ring);
	return false;
}

/* By whichever way the helper came in, once a process: makes the ring and starts the thread, and
 * with GPUPROF_ARM=1 waits a second for its reader, with its pid up to ten while that lives. Calls
 * nothing of CUDA or CUPTI. False: this process has no helper (and is none the worse). */
static bool agent_start(void)
{
	bool started;

	pthread_mutex_lock(&agent.starting);
	if (!agent.owner && !agent.forgotten && start())
		agent.owner = getpid();
	started = agent.owner == getpid();
	/* Any thread may enter the helper: perhaps it is the main one. */
	if (started && alone.has_key && syscall(SYS_gettid) == getpid() &&
	    !pthread_setspecific(alone.key, &alone))
		__atomic_store_n(&alone.seen, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&agent.starting);
	return started;
}

/*
 * Loads another tool's injection, which the user had configured before ours: CUDA loads only one.
 * As CUDA itself does: it stays loaded; one that is missing or fails changes nothing. A program
 * that has more rights than its caller (set-user-ID) loads none that the caller names. Writes the
 * result to `out`: "" without GPUPROF_CHAIN_INJECTION.
 */
static void agent_load_chained(char *out, size_t size)
{
	const char *path = secure_getenv("GPUPROF_CHAIN_INJECTION");
	int (*initialize)(void) = NULL;
	void *library, *at;

	*out = '\0';
	if (!path || !*path)
		return;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	at = library ? dlsym(library, "InitializeInjection") : NULL;
	memcpy(&initialize, &at, sizeof(at));
	snprintf(out, size, "%s", !library ? "it cannot be loaded" :
		 !initialize ? "it has no InitializeInjection" : GP_CHAIN_LOADED);
	if (initialize && !initialize())
		snprintf(out, size, "its InitializeInjection failed");
}

/* CUDA starts in this process, and calls us: with GPUPROF_ARM and a reader arms now. Or it has
 * worked already, for an unknown time. */
enum cuda_state { CUDA_STARTS, CUDA_RUNS };

static void agent_note_cuda(enum cuda_state when)
{
	bool first;

	pthread_mutex_lock(&agent.lock);
	first = !agent.cuda;
	if (first && is_started_for_us() && !__atomic_load_n(&agent.ending, __ATOMIC_ACQUIRE)) {
		uint32_t kinds = look();

		/* On this thread, so that no launch has to wait for it later. */
		if (kinds)
			arm(kinds, when == CUDA_STARTS);
	}
	agent.cuda = true;
	/* Exit handlers run in reverse order: this one before those that CUDA has registered by
	 * now, also where the helper came earlier, with NVTX. */
	if (first && when == CUDA_STARTS)
		atexit(agent_end);
	if (first && agent.state != GP_HELPER_AWAKE)
		agent.unseen_ns = when == CUDA_RUNS ? EVER : clock_now_ns();
	pthread_mutex_unlock(&agent.lock);
	if (!first)
		return;
	wake();
	agent_load_chained(agent.ring.head->chained, sizeof(agent.ring.head->chained));
}

/* ---- how it comes into a process ------------------------------------------------------------ */

/* The loading thread runs from the memory to be unmapped, so another thread unmaps it and exits. */
static void *clean_up(void *ctx)
{
	struct gp_load *l = ctx;

	pthread_join((pthread_t)l->thread, NULL);
	for (int i = 0; i < 2; i++)
		munmap((void *)(uintptr_t)l->area[i], l->area_bytes[i]);
	free(l);
	return NULL;
}

/* Unmaps the memory that the loading thread ran from and used, once it has exited. */
static void unmap_loader(const struct gp_load *l)
{
	struct gp_load *copy = malloc(sizeof(*copy));

	if (!copy)
		return;		/* a few pages stay */
	*copy = *l;
	if (thread_start(clean_up, copy))
		free(copy);
}

/*
 * Cancellation is held off in these functions: a cancelled thread would keep our locks for ever,
 * and NVTX would remain in its initialisation.
 */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx2(nvtx_export_fn export_table);
EXPORTED int gpuprof_attach(const struct gp_load *l);	/* 0: it is there */

EXPORTED int InitializeInjection(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (agent_start())
		agent_note_cuda(CUDA_STARTS);
	pthread_setcancelstate(before, NULL);
	return 1;
}

EXPORTED int InitializeInjectionNvtx2(nvtx_export_fn export_table)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (agent_start())
		nvtx_attach(export_table);
	pthread_setcancelstate(before, NULL);
	return 1;
}

EXPORTED int gpuprof_attach(const struct gp_load *l)
{
	bool started = agent_start();

	if (started)
		agent_note_cuda(CUDA_RUNS);
	unmap_loader(l);
	return !started;
}
