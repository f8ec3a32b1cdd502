// SPDX-License-Identifier: BSD-3-Clause
/*
 * Everything here runs on the helper's own thread, but for its doors and what happens in a forked
 * child, in which no CUPTI call may ever be made: there the helper is gone. A child of a process
 * that has not started CUDA may start it, and a helper of its own.
 */
#include "helper/watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "helper/alone.h"
#include "helper/chain.h"
#include "helper/clock.h"
#include "helper/collect.h"
#include "helper/cupti.h"
#include "helper/devices.h"
#include "helper/filters.h"
#include "helper/kin.h"
#include "helper/names.h"
#include "helper/occupant.h"
#include "helper/ring.h"
#include "helper/thread.h"
#include "helper/too_new.h"

#define PERIOD_NS 100000000ull		/* between flushes while somebody watches */
#define RETRY_NS 1000000000ull		/* after CUPTI was busy or failed */
#define ASLEEP_NS 60000000000ull	/* a wake that was missed costs no more */
#define READER_NS 1000000000ull		/* GPUPROF_ARM: so long the process waits for a reader */
#define READER_ALIVE_NS 10000000000ull	/* ... that is known to live: on a busy machine it is slow */
#define READER_LOOK_NS 100000000ull
#define END_MS 1000
#define EVER 1				/* since when, if nobody knows */
#define QUIET_NS 1000000000ull		/* without a buffer: is it still us whom CUPTI calls? */
#define QUIET_MAX_NS 64000000000ull

static struct watch {
	struct helper_ring ring;
	struct cupti cupti;
	struct names *names;
	struct devices devices;
	struct kin kin;
	pthread_mutex_t starting;	/* held while the helper comes into the process */
	pthread_mutex_t lock;		/* held by who looks, arms and drains */
	pid_t owner;		/* whose we are: a child made without fork(3) has our memory too */
	bool hooked;		/* fork and exit are */
	bool forgotten;		/* in a child whose parent has used CUDA */
	uint64_t arrivals, quiet_since_ns, quiet_ns;	/* see has_lost_cupti */
	bool has_cupti;
	bool cuda;		/* has started */
	bool ending;		/* the process exits */
	bool ended;		/* and the thread has done its last */
	uint32_t state;		/* GP_HELPER_*, as in the ring's head */
	uint64_t unseen_ns;	/* since when CUDA works unrecorded, and nobody was told; 0: it does not */
} watch = { .starting = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

static void enter_since(uint32_t state, uint64_t since_ns)
{
	struct gp_ring_head *head = watch.ring.head;

	watch.state = state;
	__atomic_store_n(&head->state_ns, since_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&head->state, state, __ATOMIC_RELEASE);
}

static void enter(uint32_t state)
{
	enter_since(state, clock_now_ns());
}

static void fail(const char *reason, int code)
{
	struct gp_ring_head *head = watch.ring.head;
	const char *text = NULL;

	if (code && watch.cupti.result_string)
		watch.cupti.result_string(code, &text);
	head->code = (uint32_t)code;
	if (!code || !too_new_say(head->reason, sizeof(head->reason), head->cupti_version, watch.cupti.path))
		snprintf(head->reason, sizeof(head->reason), "%s%s%s", reason, text ? ": " : "",
			 text ? text : "");
	enter(GP_HELPER_FAILED);
}

/* ---- its states ----------------------------------------------------------------------------- */

static void yield(void)
{
	struct gp_ring_head *head = watch.ring.head;

	snprintf(head->occupant, sizeof(head->occupant), "%s", occupant_name());
	enter(GP_HELPER_YIELDED);
}

/* While nobody records, what is known so far; and once somebody does, up to then. */
static void tell_unseen(bool goes_on)
{
	uint64_t now = clock_now_ns();

	if (watch.unseen_ns)
		collect_unseen(watch.unseen_ns == EVER ? 0 : watch.unseen_ns, now);
	watch.unseen_ns = goes_on ? now : 0;
}

static void be_awake(void)
{
	tell_unseen(false);
	collect_clock();	/* if no flush ever comes back, works have times all the same */
	watch.arrivals = collect_arrivals();
	watch.quiet_since_ns = clock_now_ns();
	watch.quiet_ns = QUIET_NS;
	enter(GP_HELPER_AWAKE);
}

/* CUPTI calls the callbacks that were registered last, and tells nobody. No buffer for a while may
 * be that, or a process that launches nothing: whether another has subscribed decides. Asking is a
 * subscription of a moment, which another's would meet and fail: so it is asked ever more seldom. */
static bool has_lost_cupti(void)
{
	uint64_t arrivals = collect_arrivals(), now = clock_now_ns();

	if (arrivals != watch.arrivals) {
		watch.arrivals = arrivals;
		watch.quiet_since_ns = now;
		watch.quiet_ns = QUIET_NS;
		return false;
	}
	if (now - watch.quiet_since_ns < watch.quiet_ns)
		return false;
	if (watch.quiet_ns < QUIET_MAX_NS)
		watch.quiet_ns *= 2;
	return collect_is_occupied(&watch.cupti);
}

/* The other one has had what CUPTI gave since the last buffer that came to us. */
static void stand_down(void)
{
	collect_stand_down();
	watch.unseen_ns = watch.quiet_since_ns;
}

static void arm(uint32_t kinds)
{
	const char *what = NULL;
	int code;

	if (!watch.has_cupti) {
		what = cupti_load(&watch.cupti);
		if (what) {
			fail(what, 0);
			return;
		}
		watch.has_cupti = true;
		watch.cupti.version(&watch.ring.head->cupti_version);
	}
	if (collect_is_occupied(&watch.cupti)) {
		yield();
		return;
	}
	enter(GP_HELPER_ARMING);
	code = collect_arm(&watch.cupti, kinds, &what);
	if (code)
		fail(what, code);
	else
		be_awake();
}

/* CUPTI's threads are looked for where files are opened anyway: under a later filter that could be the end. */
static void arm_with_kin(uint32_t kinds)
{
	int there[KIN_THREADS];
	bool is_first = !watch.has_cupti;
	size_t n = is_first ? kin_list(there) : 0;

	arm(kinds);
	if (is_first)
		kin_add(&watch.kin, there, n);
}

static void drain(uint32_t flag)
{
	collect_drain(flag);
	collect_clock();
	watch.unseen_ns = clock_now_ns();
	enter(GP_HELPER_DRAINED);
}

/* Who is there now; new readers are told what records will speak of. Returns the kinds wanted. */
static uint32_t look(void)
{
	uint32_t fresh, kinds = helper_ring_look(&watch.ring, clock_now_ns(), &fresh);

	if (!fresh)
		return kinds;
	names_tell(watch.names, &watch.ring, fresh & watch.ring.wanted[GP_RING_NAME_IS]);
	devices_tell(&watch.devices, &watch.ring, fresh & watch.ring.wanted[GP_RING_DEVICE]);
	if (watch.state == GP_HELPER_AWAKE)
		collect_clock();
	helper_ring_admit(&watch.ring);
	return kinds;
}

/* One step towards what is wanted. Returns how long to sleep. */
static uint64_t step(void)
{
	uint32_t kinds = look();

	if (watch.state == GP_HELPER_AWAKE && !kinds) {
		drain(0);
		return ASLEEP_NS;
	}
	if (!kinds)
		return ASLEEP_NS;
	if (!watch.cuda)
		return PERIOD_NS;	/* ranges only */
	if (!watch.devices.known)
		devices_read(&watch.devices, watch.names, &watch.ring);
	if (watch.state == GP_HELPER_AWAKE) {
		collect_more(kinds);
		collect_flush(0);
		collect_renew(kinds);
		collect_clock();
		if (!has_lost_cupti())
			return PERIOD_NS;
		stand_down();
		tell_unseen(true);
		yield();
		return RETRY_NS;
	}
	arm_with_kin(kinds);
	if (watch.state == GP_HELPER_AWAKE)
		return 0;
	tell_unseen(true);
	return RETRY_NS;
}

static void sleep_for(uint64_t ns, uint32_t seen)
{
	struct timespec ts = { (time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull) };

	if (ns)
		syscall(SYS_futex, &watch.ring.head->wake, FUTEX_WAIT, seen, &ts, NULL, 0);
}

/* Its last. */
static void end(void)
{
	uint64_t since_ns;
	uint32_t kinds;

	pthread_mutex_lock(&watch.lock);
	kinds = look();		/* a reader that came with the end gets it too */
	if (kinds && watch.cuda && !watch.devices.known)
		devices_read(&watch.devices, watch.names, &watch.ring);	/* CUDA started just now */
	since_ns = clock_now_ns();	/* what other threads launch from now on is not recorded */
	if (watch.state == GP_HELPER_AWAKE) {
		drain(CUPTI_FLUSH_FORCED);
		watch.unseen_ns = 0;
	}
	tell_unseen(false);
	pthread_mutex_unlock(&watch.lock);
	enter_since(GP_HELPER_ENDED, since_ns);
	__atomic_store_n(&watch.ended, true, __ATOMIC_RELEASE);
}

static bool is_ending(void)
{
	return __atomic_load_n(&watch.ending, __ATOMIC_ACQUIRE);
}

/* Where it is the last thread, the process exits when it returns. */
static void *live(void *ctx)
{
	enum alone_how alone = ALONE_NOT;

	(void)ctx;
	prctl(PR_SET_NAME, "gpuprof-helper");
	while (!is_ending() && !alone) {
		uint32_t seen = __atomic_load_n(&watch.ring.head->wake, __ATOMIC_ACQUIRE);
		uint64_t ns, alone_ns;

		pthread_mutex_lock(&watch.lock);
		ns = step();
		pthread_mutex_unlock(&watch.lock);
		alone = alone_is(&watch.kin);
		alone_ns = alone ? 0 : alone_wait_ns();
		sleep_for(ns < alone_ns ? ns : alone_ns, seen);
	}
	if (alone)
		thread_hear();	/* who else is there to be told to end */
	__atomic_store_n(&watch.ending, true, __ATOMIC_RELEASE);
	end();
	if (alone == ALONE_WITH_KIN)
		exit(0);
	return NULL;
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* A child has our memory and not our thread, and what CUDA had does not work in it. What it shares
 * with readers it must let go. Locks may be held by threads that are not here. */
static void in_child(void)
{
	if (watch.cuda)
		collect_forget();
	helper_ring_close(&watch.ring);
	watch.starting = watch.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	watch.forgotten |= watch.cuda;
	watch.kin.n = 0;
	watch.owner = 0;
}

static void wake(void)
{
	__atomic_fetch_add(&watch.ring.head->wake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &watch.ring.head->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The thread looks who is left. */
static void on_main_left(void)
{
	if (watch.ring.head && getpid() == watch.owner)
		wake();
}

/* GPUPROF_ARM: 0 or unset: nobody has started this process to watch it. Else somebody has: gpuprof by
 * its pid, as this process sees it if they share a namespace, or 1. */
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
		uint32_t seen = __atomic_load_n(&watch.ring.head->wake, __ATOMIC_ACQUIRE);

		kinds = look();
		if (!kinds)
			sleep_for(READER_LOOK_NS, seen);
	}
}

static bool hook(void)
{
	if (!watch.hooked && !pthread_atfork(NULL, NULL, in_child) && !atexit(watch_end))
		watch.hooked = true;
	return watch.hooked;
}

static bool start(void)
{
	if (!watch.names)
		watch.names = names_new();
	if (!watch.names || !hook() || helper_ring_open(&watch.ring, GP_RING_BYTES_USUAL, clock_now_ns()))
		return false;
	watch.ring.head->filters = filters_count();
	watch.state = GP_HELPER_VIRGIN;
	alone_open(on_main_left);
	if (!collect_open(&watch.ring, watch.names)) {
		nvtx_open(&watch.ring, watch.names);
		wait_for_reader();
		if (!thread_start(live, NULL))
			return true;
	}
	helper_ring_close(&watch.ring);
	return false;
}

bool watch_start(void)
{
	bool started;

	pthread_mutex_lock(&watch.starting);
	if (!watch.owner && !watch.forgotten && start())
		watch.owner = getpid();
	started = watch.owner == getpid();
	if (started)
		alone_see();
	pthread_mutex_unlock(&watch.starting);
	return started;
}

void watch_cuda(enum watch_when when)
{
	bool first;

	pthread_mutex_lock(&watch.lock);
	first = !watch.cuda;
	if (first && is_started_for_us() && !is_ending()) {
		uint32_t kinds = look();

		/* On this thread, so that no launch has to wait for it later. */
		if (kinds)
			arm_with_kin(kinds);
	}
	watch.cuda = true;
	if (first && watch.state != GP_HELPER_AWAKE)
		watch.unseen_ns = when == CUDA_RUNS ? EVER : clock_now_ns();
	pthread_mutex_unlock(&watch.lock);
	if (!first)
		return;
	wake();
	chain_load(watch.ring.head->chained, sizeof(watch.ring.head->chained));
}

void watch_nvtx(nvtx_export_fn export_table)
{
	nvtx_attach(export_table);
}

void watch_end(void)
{
	if (!watch.ring.head || getpid() != watch.owner)
		return;
	__atomic_store_n(&watch.ending, true, __ATOMIC_RELEASE);
	wake();
	for (int i = 0; i < END_MS && !__atomic_load_n(&watch.ended, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
	if (!__atomic_load_n(&watch.ended, __ATOMIC_ACQUIRE))
		collect_tell_kept(clock_now_ns());
}
