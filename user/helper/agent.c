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
#include "helper/agent.h"

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

/* ---- the helper's own threads ---------------------------------------------------------------- */

#define STACK_LEAST (1u << 20)	/* CUPTI's functions run on it */

static sigset_t program;	/* the signal mask of the thread that started ours */

/* The program's default stack size for its own threads may be small. */
static void set_stack_size(pthread_attr_t *attr)
{
	size_t bytes;

	if (!pthread_attr_getstacksize(attr, &bytes) && bytes < STACK_LEAST)
		pthread_attr_setstacksize(attr, STACK_LEAST);
}

int thread_start(void *(*run)(void *), void *ctx)
{
	pthread_attr_t attr;
	sigset_t all;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	set_stack_size(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &program);	/* the thread is born with it */
	err = pthread_create(&thread, &attr, run, ctx);
	pthread_sigmask(SIG_SETMASK, &program, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

/* For such a thread that is the last of the process. */
static void restore_signals(void)
{
	pthread_sigmask(SIG_SETMASK, &program, NULL);
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

/* How many seccomp filters the process has, as in gp_ring_head.filters. Only while libraries are
 * loaded: under a later filter reading the file could kill the process. */
static uint32_t seccomp_filters(void)
{
	uint64_t n;

	/* The line is there since Linux 5.9. */
	if (!status_number("/proc/thread-self/status", "\nSeccomp_filters:", 10, &n))
		return 0;
	return (uint32_t)n + 1;
}

/*
 * CUPTI starts threads because we use it: like ours they never exit by themselves and must keep no
 * process alive. They are those that were not there before and block all signals, as their creator
 * did.
 */
#define LISTED_THREADS_MAX 1024	/* of more it is unknown which are new */
#define CUPTI_THREADS_MAX 8

struct cupti_threads {
	int tid[CUPTI_THREADS_MAX];
	unsigned int n;
};

#define PROCESS_EXIT_NEVER UINT64_MAX

/*
 * Whether the helper's thread is the last of its process. LAST_THREAD: it may return, and the
 * process exits if all others have; also when the main thread has exited and the C library (before
 * 2.34) does not show how many others there are: better no helper than a process without end.
 * LAST_BESIDE_CUPTI: only CUPTI's threads are left, so the helper has to exit the process.
 */
enum last_thread { LAST_THREAD_NOT, LAST_THREAD, LAST_BESIDE_CUPTI };

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

#define COUNT "__nptl_nthreads"	/* for libthread_db; since glibc 2.34 it is found by name */
#define UNSEEN_NS 1000000000ull
#define SOON_NS 1000000ull	/* a thread that ends now is counted a moment longer */
#define OFTEN_NS 100000000ull
/* Not to be blocked: SIGKILL, SIGSTOP; the C library's own, 32 and 33. */
#define EVERY_SIGNAL (~(1ull << 8 | 1ull << 18 | 3ull << 31))

/* ---- CUPTI's threads ------------------------------------------------------------------------ */

/* Those there are now; 0: too many, or not to be read. */
static size_t process_exit_list_threads(int tids[LISTED_THREADS_MAX])
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
static void process_exit_add_threads(struct cupti_threads *cupti, const int *before,
				     size_t n_before)
{
	int now[LISTED_THREADS_MAX];
	size_t n = n_before ? process_exit_list_threads(now) : 0;

	for (size_t i = 0; i < n && cupti->n < CUPTI_THREADS_MAX; i++)
		if (!is_among(before, n_before, now[i]) && blocks_all_signals(now[i]))
			cupti->tid[cupti->n++] = now[i];
}

/* How many live beside the main thread, if all but the caller are CUPTI's; else 0. */
static size_t count_if_all_cupti(const struct cupti_threads *cupti)
{
	int now[LISTED_THREADS_MAX], self = (int)syscall(SYS_gettid), main_tid = getpid();
	size_t n = process_exit_list_threads(now), alive = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_cupti = is_among(cupti->tid, cupti->n, now[i]) &&
				blocks_all_signals(now[i]);

		if (now[i] != self && now[i] != main_tid && !is_cupti)
			return 0;
		alive += now[i] != main_tid;
	}
	return alive;
}

/* ---- the last thread ------------------------------------------------------------------------ */

static struct {
	const unsigned int *threads;	/* NULL: not known */
	void (*on_left)(void);
	pthread_key_t key;
	bool has_key;
	bool seen;		/* the main thread carries the key */
	bool left;		/* and has ended */
	uint64_t wait_ns;	/* since then */
} alone;

static void leave(void *value)
{
	(void)value;
	__atomic_store_n(&alone.left, true, __ATOMIC_RELEASE);
	alone.on_left();
}

/* As the helper comes. on_left: is called on the main thread when that ends before the process
 * does, if it was ever seen; also in a forked child. */
static void process_exit_open(void (*on_left)(void))
{
	alone.on_left = on_left;
	alone.seen = alone.left = false;
	alone.wait_ns = SOON_NS;
	alone.threads = dlsym(RTLD_DEFAULT, COUNT);
	if (!alone.threads)
		dlerror();	/* it is not the program's */
	if (!alone.has_key)
		alone.has_key = !pthread_key_create(&alone.key, leave);
}

/* By any thread that enters the helper: perhaps it is the main one. */
static void process_exit_note_thread(void)
{
	if (alone.has_key && syscall(SYS_gettid) == getpid() &&
	    !pthread_setspecific(alone.key, &alone))
		__atomic_store_n(&alone.seen, true, __ATOMIC_RELEASE);
}

static bool has_left(void)
{
	return __atomic_load_n(&alone.left, __ATOMIC_ACQUIRE);
}

static bool is_seen(void)
{
	return __atomic_load_n(&alone.seen, __ATOMIC_ACQUIRE);
}

static enum last_thread process_exit_look(const struct cupti_threads *cupti)
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
	return n <= 1 + cupti->n && count_if_all_cupti(cupti) == n ? LAST_BESIDE_CUPTI :
								     LAST_THREAD_NOT;
}

/* nanoseconds until the next check; PROCESS_EXIT_NEVER: until on_left */
static uint64_t process_exit_wait_ns(void)
{
	uint64_t wait_ns = alone.wait_ns;

	if (!has_left())
		return alone.threads && !is_seen() ? UNSEEN_NS : PROCESS_EXIT_NEVER;
	if (alone.wait_ns < OFTEN_NS)
		alone.wait_ns *= 2;
	return wait_ns;
}

/* ---- --- ----------------------------------------------------------------------------------- */

#define PERIOD_NS 100000000ull		/* between flushes while a reader watches */
#define RETRY_NS 1000000000ull		/* after CUPTI was busy or failed */
#define ASLEEP_NS 60000000000ull	/* a wake that was missed costs no more */
#define READER_NS 1000000000ull		/* GPUPROF_ARM: so long the process waits for a reader */
/* ... that is known to live: on a busy machine it is slow */
#define READER_ALIVE_NS 10000000000ull
#define READER_LOOK_NS 100000000ull
#define END_MS 1000
#define EVER 1				/* since an unknown time */
#define QUIET_NS 1000000000ull		/* without a buffer: does CUPTI still call us? */
#define QUIET_MAX_NS 64000000000ull

static struct agent {
	struct helper_ring ring;
	struct cupti cupti;
	struct names *names;
	struct devices devices;
	struct cupti_threads cupti_threads;
	pthread_mutex_t starting;	/* held while the helper comes into the process */
	pthread_mutex_t lock;		/* held while checking, arming and draining */
	pid_t owner;		/* whose we are: a child made without fork(3) has our memory too */
	bool hooked;		/* fork and exit are */
	bool forgotten;		/* in a child whose parent has used CUDA */
	uint64_t arrivals, quiet_since_ns, quiet_ns;	/* see has_lost_cupti */
	bool has_cupti;
	bool cuda;		/* has started */
	bool ending;		/* the process exits */
	bool ended;		/* and the thread has done its last */
	uint32_t state;		/* GP_HELPER_*, as in the ring's head */
	/* since when CUDA works unrecorded, not sent yet; 0: it does not */
	uint64_t unseen_ns;
} agent = { .starting = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

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

static void fail(const char *reason, int code)
{
	struct gp_ring_head *head = agent.ring.head;
	const char *text = NULL;

	if (code && agent.cupti.result_string)
		agent.cupti.result_string(code, &text);
	head->code = (uint32_t)code;
	if (!code || !cupti_describe_mismatch(head->reason, sizeof(head->reason),
					      head->cupti_version, agent.cupti.path))
		snprintf(head->reason, sizeof(head->reason), "%s%s%s", reason, text ? ": " : "",
			 text ? text : "");
	enter(GP_HELPER_FAILED);
}

/* ---- its states ----------------------------------------------------------------------------- */

static void yield(void)
{
	struct gp_ring_head *head = agent.ring.head;

	snprintf(head->occupant, sizeof(head->occupant), "%s", cupti_client_name());
	enter(GP_HELPER_YIELDED);
}

/* The time without recording: so far while it lasts, all of it once recording begins. */
static void send_unseen(bool goes_on)
{
	uint64_t now = clock_now_ns();

	if (agent.unseen_ns)
		collect_unseen(agent.unseen_ns == EVER ? 0 : agent.unseen_ns, now);
	agent.unseen_ns = goes_on ? now : 0;
}

static void be_awake(void)
{
	send_unseen(false);
	collect_clock();	/* if no flush ever comes back, works have times all the same */
	agent.arrivals = collect_arrivals();
	agent.quiet_since_ns = clock_now_ns();
	agent.quiet_ns = QUIET_NS;
	enter(GP_HELPER_AWAKE);
}

/* CUPTI silently calls the callbacks registered last. A period without buffers may mean that, or
 * a process that launches nothing; only a subscription attempt decides whether another client
 * has subscribed. Such an attempt could make another client's subscription fail, so it is made
 * ever more seldom. */
static bool has_lost_cupti(void)
{
	uint64_t arrivals = collect_arrivals(), now = clock_now_ns();

	if (arrivals != agent.arrivals) {
		agent.arrivals = arrivals;
		agent.quiet_since_ns = now;
		agent.quiet_ns = QUIET_NS;
		return false;
	}
	if (now - agent.quiet_since_ns < agent.quiet_ns)
		return false;
	if (agent.quiet_ns < QUIET_MAX_NS)
		agent.quiet_ns *= 2;
	return collect_is_occupied(&agent.cupti);
}

/* The other one has had what CUPTI gave since the last buffer that came to us. */
static void stand_down(void)
{
	collect_stand_down();
	agent.unseen_ns = agent.quiet_since_ns;
}

static void arm(uint32_t kinds)
{
	const char *what = NULL;
	int code;

	if (!agent.has_cupti) {
		what = cupti_load(&agent.cupti);
		if (what) {
			fail(what, 0);
			return;
		}
		agent.has_cupti = true;
		agent.cupti.version(&agent.ring.head->cupti_version);
	}
	if (collect_is_occupied(&agent.cupti)) {
		yield();
		return;
	}
	enter(GP_HELPER_ARMING);
	code = collect_arm(&agent.cupti, kinds, &what);
	if (code)
		fail(what, code);
	else
		be_awake();
}

/* CUPTI's threads are looked for where files are opened anyway: under a later filter that could be
 * the end. */
static void arm_and_note_threads(uint32_t kinds)
{
	int there[LISTED_THREADS_MAX];
	bool is_first = !agent.has_cupti;
	size_t n = is_first ? process_exit_list_threads(there) : 0;

	arm(kinds);
	if (is_first)
		process_exit_add_threads(&agent.cupti_threads, there, n);
}

static void drain(uint32_t flag)
{
	collect_drain(flag);
	collect_clock();
	agent.unseen_ns = clock_now_ns();
	enter(GP_HELPER_DRAINED);
}

/* Looks for readers; new ones are sent what records will refer to. Returns the kinds wanted. */
static uint32_t look(void)
{
	uint32_t fresh, kinds = helper_ring_look(&agent.ring, clock_now_ns(), &fresh);

	if (!fresh)
		return kinds;
	names_send(agent.names, &agent.ring, fresh & agent.ring.wanted[GP_RING_NAME_IS]);
	devices_send(&agent.devices, &agent.ring, fresh & agent.ring.wanted[GP_RING_DEVICE]);
	if (agent.state == GP_HELPER_AWAKE)
		collect_clock();
	helper_ring_admit(&agent.ring);
	return kinds;
}

/* One step towards the wanted state. Returns how long to sleep. */
static uint64_t step(void)
{
	uint32_t kinds = look();

	if (agent.state == GP_HELPER_AWAKE && !kinds) {
		drain(0);
		return ASLEEP_NS;
	}
	if (!kinds)
		return ASLEEP_NS;
	if (!agent.cuda)
		return PERIOD_NS;	/* ranges only */
	if (!agent.devices.known)
		devices_read(&agent.devices, agent.names, &agent.ring);
	if (agent.state == GP_HELPER_AWAKE) {
		collect_more(kinds);
		collect_flush(0);
		collect_renew(kinds);
		collect_clock();
		if (!has_lost_cupti())
			return PERIOD_NS;
		stand_down();
		send_unseen(true);
		yield();
		return RETRY_NS;
	}
	arm_and_note_threads(kinds);
	if (agent.state == GP_HELPER_AWAKE)
		return 0;
	send_unseen(true);
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
	if (kinds && agent.cuda && !agent.devices.known)
		devices_read(&agent.devices, agent.names, &agent.ring);	/* CUDA started just now */
	since_ns = clock_now_ns();	/* later launches of other threads are not recorded */
	if (agent.state == GP_HELPER_AWAKE) {
		drain(CUPTI_FLUSH_FORCED);
		agent.unseen_ns = 0;
	}
	send_unseen(false);
	pthread_mutex_unlock(&agent.lock);
	enter_since(GP_HELPER_ENDED, since_ns);
	__atomic_store_n(&agent.ended, true, __ATOMIC_RELEASE);
}

static bool is_ending(void)
{
	return __atomic_load_n(&agent.ending, __ATOMIC_ACQUIRE);
}

/* Where it is the last thread, the process exits when it returns. */
static void *live(void *ctx)
{
	enum last_thread last = LAST_THREAD_NOT;

	(void)ctx;
	prctl(PR_SET_NAME, "gpuprof-helper");
	while (!is_ending() && !last) {
		uint32_t seen = __atomic_load_n(&agent.ring.head->wake, __ATOMIC_ACQUIRE);
		uint64_t ns, wait_ns;

		pthread_mutex_lock(&agent.lock);
		ns = step();
		pthread_mutex_unlock(&agent.lock);
		last = process_exit_look(&agent.cupti_threads);
		wait_ns = last ? 0 : process_exit_wait_ns();
		sleep_for(ns < wait_ns ? ns : wait_ns, seen);
	}
	if (last)
		restore_signals();	/* no other thread can receive SIGTERM */
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
	agent.cupti_threads.n = 0;
	agent.owner = 0;
}

static void wake(void)
{
	__atomic_fetch_add(&agent.ring.head->wake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &agent.ring.head->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The helper's thread checks which threads are left. */
static void on_main_left(void)
{
	if (agent.ring.head && getpid() == agent.owner)
		wake();
}

/* GPUPROF_ARM: 0 or unset: this process was not started to be watched. Else it was: by gpuprof
 * by its pid, as this process sees it if they share a namespace, or 1. */
static bool is_started_for_us(void)
{
	const char *arm_now = getenv("GPUPROF_ARM");

	return arm_now && *arm_now && strcmp(arm_now, "0");
}

/* How long nothing that this process does is to be missed. */
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

/* The process exits: delivers what CUPTI holds, within a second. */
static void agent_end(void)
{
	if (!agent.ring.head || getpid() != agent.owner)
		return;
	__atomic_store_n(&agent.ending, true, __ATOMIC_RELEASE);
	wake();
	for (int i = 0; i < END_MS && !__atomic_load_n(&agent.ended, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
	if (!__atomic_load_n(&agent.ended, __ATOMIC_ACQUIRE))
		collect_note_kept(clock_now_ns());
}

static bool hook(void)
{
	if (!agent.hooked && !pthread_atfork(NULL, NULL, in_child) && !atexit(agent_end))
		agent.hooked = true;
	return agent.hooked;
}

static bool start(void)
{
	if (!agent.names)
		agent.names = names_new();
	if (!agent.names || !hook() ||
	    helper_ring_open(&agent.ring, GP_RING_BYTES_USUAL, clock_now_ns()))
		return false;
	agent.ring.head->filters = seccomp_filters();
	agent.state = GP_HELPER_VIRGIN;
	process_exit_open(on_main_left);
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
	if (started)
		process_exit_note_thread();
	pthread_mutex_unlock(&agent.starting);
	return started;
}

/* CUDA starts in this process, and calls us: with GPUPROF_ARM and a reader arms now. Or it has
 * worked already, for an unknown time. */
enum cuda_state { CUDA_STARTS, CUDA_RUNS };

static void agent_note_cuda(enum cuda_state when)
{
	bool first;

	pthread_mutex_lock(&agent.lock);
	first = !agent.cuda;
	if (first && is_started_for_us() && !is_ending()) {
		uint32_t kinds = look();

		/* On this thread, so that no launch has to wait for it later. */
		if (kinds)
			arm_and_note_threads(kinds);
	}
	agent.cuda = true;
	if (first && agent.state != GP_HELPER_AWAKE)
		agent.unseen_ns = when == CUDA_RUNS ? EVER : clock_now_ns();
	pthread_mutex_unlock(&agent.lock);
	if (!first)
		return;
	wake();
	agent_load_chained(agent.ring.head->chained, sizeof(agent.ring.head->chained));
}

/* ---- another tool's injection --------------------------------------------------------------- */

/*
 * As CUDA itself loads one; it stays loaded. One that is missing or fails changes nothing. A
 * program that has more rights than its caller (set-user-ID) loads none that the caller names.
 */
void agent_load_chained(char *out, size_t size)
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
 * A thread that is to be cancelled is not cancelled in here: our locks, and NVTX's word that it is
 * being made ready, would be held for ever.
 */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx2(nvtx_export_fn export_table);
EXPORTED int gpuprof_attach(const struct gp_load *l);	/* 0: it is there */

static int stay(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

EXPORTED int InitializeInjection(void)
{
	int before = stay();

	if (agent_start())
		agent_note_cuda(CUDA_STARTS);
	pthread_setcancelstate(before, NULL);
	return 1;
}

EXPORTED int InitializeInjectionNvtx2(nvtx_export_fn export_table)
{
	int before = stay();

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
