// SPDX-License-Identifier: BSD-3-Clause
/*
 * Everything here runs on the helper's own thread, but for watch_start, watch_end and what happens
 * in a forked child, in which no CUPTI call may ever be made: there the helper is gone.
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

#include "helper/collect.h"
#include "helper/cupti.h"
#include "helper/ring.h"

#define RING_BYTES (8u << 20)
#define PERIOD_NS 100000000ull		/* between flushes while somebody watches */
#define RETRY_NS 1000000000ull		/* after CUPTI was busy or failed */
#define ASLEEP_NS 60000000000ull	/* a wake that was missed costs no more */
#define READER_NS 1000000000ull		/* GPUPROF_ARM=1: so long the process waits for a reader */
#define END_MS 1000

static struct watch {
	struct helper_ring ring;
	struct cupti cupti;
	bool has_cupti;
	pid_t owner;		/* whose we are: a child made without fork(3) has our memory too */
	bool ending;		/* the process exits */
	bool ended;		/* and the thread has done its last */
	uint32_t state;		/* GP_HELPER_*, as in the ring's head */
} watch;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void enter(uint32_t state)
{
	struct gp_ring_head *head = watch.ring.head;

	watch.state = state;
	__atomic_store_n(&head->state_ns, now_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&head->state, state, __ATOMIC_RELEASE);
}

static void fail(const char *reason, int code)
{
	struct gp_ring_head *head = watch.ring.head;
	const char *text = NULL;

	if (code && watch.cupti.result_string)
		watch.cupti.result_string(code, &text);
	head->code = (uint32_t)code;
	snprintf(head->reason, sizeof(head->reason), "%s%s%s", reason, text ? ": " : "",
		 text ? text : "");
	enter(GP_HELPER_FAILED);
}

/* ---- its states ----------------------------------------------------------------------------- */

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
		snprintf(watch.ring.head->occupant, sizeof(watch.ring.head->occupant),
			 "another CUPTI client");
		enter(GP_HELPER_YIELDED);
		return;
	}
	enter(GP_HELPER_ARMING);
	code = collect_arm(&watch.cupti, kinds, &what);
	if (code)
		fail(what, code);
	else
		enter(GP_HELPER_AWAKE);
}

static void drain(uint32_t flag)
{
	collect_drain(flag);
	collect_clock();
	enter(GP_HELPER_DRAINED);
}

/* One look: what is wanted, and one step towards it. Returns how long to sleep. */
static uint64_t step(void)
{
	uint32_t fresh, kinds = helper_ring_look(&watch.ring, now_ns(), &fresh);

	if (fresh)
		collect_introduce(fresh);
	if (fresh && watch.state == GP_HELPER_AWAKE)
		collect_clock();
	if (watch.state == GP_HELPER_AWAKE) {
		if (kinds) {
			collect_flush(0);
			collect_clock();
		} else {
			drain(0);
		}
		return kinds ? PERIOD_NS : ASLEEP_NS;
	}
	if (!kinds)
		return ASLEEP_NS;
	arm(kinds);
	return watch.state == GP_HELPER_AWAKE ? 0 : RETRY_NS;
}

static void sleep_for(uint64_t ns, uint32_t seen)
{
	struct timespec ts = { (time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull) };

	if (ns)
		syscall(SYS_futex, &watch.ring.head->wake, FUTEX_WAIT, seen, &ts, NULL, 0);
}

static void *live(void *ctx)
{
	(void)ctx;
	prctl(PR_SET_NAME, "gpuprof-helper");
	while (!__atomic_load_n(&watch.ending, __ATOMIC_ACQUIRE)) {
		uint32_t seen = __atomic_load_n(&watch.ring.head->wake, __ATOMIC_ACQUIRE);

		sleep_for(step(), seen);
	}
	if (watch.state == GP_HELPER_AWAKE)
		drain(CUPTI_FLUSH_FORCED);
	enter(GP_HELPER_ENDED);
	__atomic_store_n(&watch.ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- begin and end -------------------------------------------------------------------------- */

/* A child has our memory and not our thread, and CUDA does not work in it. What it shares with
 * readers it must let go. */
static void in_child(void)
{
	collect_forget();
	helper_ring_close(&watch.ring);
}

static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);	/* the thread is born with it */
	err = pthread_create(&thread, &attr, live, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

/* gpuprof has started this process and is about to watch it: nothing that it does is to be missed,
 * and no launch is to wait later. */
static void arm_for_reader(void)
{
	for (uint64_t end = now_ns() + READER_NS, now; (now = now_ns()) < end;) {
		uint32_t seen = __atomic_load_n(&watch.ring.head->wake, __ATOMIC_ACQUIRE), fresh;
		uint32_t kinds = helper_ring_look(&watch.ring, now, &fresh);

		if (kinds) {
			arm(kinds);
			return;
		}
		sleep_for(end - now, seen);
	}
}

bool watch_start(void)
{
	const char *arm_now = getenv("GPUPROF_ARM");

	if (helper_ring_open(&watch.ring, RING_BYTES, now_ns()))
		return false;
	watch.state = GP_HELPER_VIRGIN;
	watch.owner = getpid();
	if (collect_open(&watch.ring) || pthread_atfork(NULL, NULL, in_child)) {
		helper_ring_close(&watch.ring);
		return false;
	}
	if (arm_now && *arm_now == '1')
		arm_for_reader();
	if (start_thread()) {
		helper_ring_close(&watch.ring);
		return false;
	}
	return true;
}

void watch_end(void)
{
	if (!watch.ring.head || getpid() != watch.owner)
		return;
	__atomic_store_n(&watch.ending, true, __ATOMIC_RELEASE);
	__atomic_fetch_add(&watch.ring.head->wake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &watch.ring.head->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (int i = 0; i < END_MS && !__atomic_load_n(&watch.ended, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
}
