// SPDX-License-Identifier: BSD-3-Clause
/* A timer, the latest reading of each thread, and accounts that wait for the watermark. */
#include "session/sched_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/proc.h"
#include "host/sched.h"
#include "host/syscalls.h"
#include "source/bpf/decode.h"

#define ROUND_NS (200 * 1000 * NS_PER_US)	/* from half more to half less */
#define ROUND_MAX_NS (400 * 1000 * NS_PER_US)	/* where there are many threads */
#define THREAD_NS (2 * 1000 * NS_PER_US)	/* more for each */
#define TURN_NS (20 * 1000 * NS_PER_US)		/* the same, within a round */
#define TURN_THREADS 8
#define LAST_THREADS 512	/* when the session ends: others' last accounts are missing */
#define TICK_NS (10 * 1000 * NS_PER_US)	/* counted so late at most, of one on a CPU */
#define GOES_ON_NS (600 * 1000 * NS_PER_US)	/* in time for the devices' books */
#define FORGOTTEN 1024		/* readings of threads that may be gone, more than there are */
#define OPEN_MOST 128		/* threads whose files stay open */

/* The latest reading of a thread. */
struct reading {
	uint64_t at_ns;			/* 0: there is none */
	struct sched_times times;
	uint8_t state;			/* enum off_reason, as in event_sched */
};

struct watched {
	uint64_t number;		/* of the model's thread; tids are used again */
	struct sched_thread files;
	struct reading last;
};

struct sched_source {
	struct live_source live;
	const struct model *model;
	bool wanted;
	struct map threads;		/* tid -> struct watched */
	size_t at, round;		/* place in the model; threads of this round so far */
	size_t last_round;		/* of the one before */
	unsigned int seed;
	uint64_t watermark_ns, pushed;
	int err;
	VEC(struct event) waiting;	/* in order of their ends */
};

static struct sched_source *sched_of(struct live_source *l)
{
	return (struct sched_source *)l;
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* before: in what it was if it has not run since, so that it sleeps on in that unless it is ready
 * now. */
static uint8_t read_reason(struct sched_thread *thread, uint8_t before)
{
	const bool knows = before != OFF_RUNQUEUE && before != OFF_STOPPED;
	long number;
	const char state = sched_read_state(thread, knows ? NULL : &number);
	uint8_t reason;

	if (proc_is_stopped(state))
		return OFF_STOPPED;
	if (state != 'S' && state != 'D')
		return OFF_RUNQUEUE;
	if (knows)
		return before;
	if (number == SCHED_NO_SYSCALL)
		return OFF_PAGE_FAULT;
	reason = decode_wait_reason(syscall_find(number));
	return state == 'D' && reason == OFF_IO ? OFF_DISK : reason;
}

/* False: the account goes on, since a thread that is ready at its end may have waited for a CPU in
 * that time, or run, which is counted when it does the other. */
static bool is_over(const struct reading *then, const struct reading *now, uint64_t ran_ns,
		    uint64_t delayed_ns)
{
	const uint64_t wall_ns = now->at_ns - then->at_ns;

	if (now->state != OFF_RUNQUEUE || ran_ns + delayed_ns + TICK_NS >= wall_ns)
		return true;
	return wall_ns >= GOES_ON_NS && ran_ns + delayed_ns;
}

/* Of a thread that is ready, what is not counted yet: it waits again if it mostly did, else it may
 * have run. Later counts have it, too. */
static void count_rest(struct sched_times *now, uint64_t wall_ns, uint64_t *ran_ns,
		       uint64_t *delayed_ns)
{
	const uint64_t rest_ns = wall_ns - *ran_ns - *delayed_ns;
	const bool waits = rest_ns > TICK_NS && *delayed_ns > *ran_ns;

	*(waits ? &now->delayed_ns : &now->ran_ns) += rest_ns;
	*(waits ? delayed_ns : ran_ns) += rest_ns;
}

/* The account of the time since the last reading, which becomes now. False: there is none yet. */
static bool take_account(struct watched *thread, bool last, struct event *out)
{
	struct reading now = { .at_ns = time_now_ns() }, *then = &thread->last;
	const uint64_t wall_ns = now.at_ns - then->at_ns;
	uint64_t ran_ns, delayed_ns;

	if (sched_read_times(&thread->files, &now.times))
		return false;
	if (!then->at_ns) {
		*then = now;
		return false;
	}
	ran_ns = num_min(num_sub(now.times.ran_ns, then->times.ran_ns), wall_ns);
	delayed_ns = num_min(num_sub(now.times.delayed_ns, then->times.delayed_ns),
			     wall_ns - ran_ns);
	if (ran_ns + delayed_ns < wall_ns - wall_ns / 64)
		now.state = read_reason(&thread->files, ran_ns ? OFF_RUNQUEUE : then->state);
	if (!last && !is_over(then, &now, ran_ns, delayed_ns))
		return false;
	if (now.state == OFF_RUNQUEUE)
		count_rest(&now.times, wall_ns, &ran_ns, &delayed_ns);
	*out = (struct event){ .kind = EVENT_SCHED, .pid = (uint32_t)thread->files.pid,
			       .tid = (uint32_t)thread->files.tid,
			       .start_ns = then->at_ns, .end_ns = now.at_ns,
			       .sched = { .ran_ns = ran_ns, .delayed_ns = delayed_ns,
					  .first = then->state, .last = now.state } };
	*then = now;
	return true;
}

static void free_watched(void *ctx)
{
	struct watched *thread = ctx;

	if (thread)
		sched_thread_close(&thread->files);
	free(thread);
}

/* Its place; NULL: no memory. */
static struct watched *watched_of(struct sched_source *s, const struct model_driver *who)
{
	struct map_slot *slot = map_put(&s->threads, who->tid, NULL);
	struct watched *thread = slot ? (struct watched *)(uintptr_t)slot->value : NULL;

	if (thread && thread->number == who->number)
		return thread;
	free_watched(thread);
	thread = slot ? malloc(sizeof(*thread)) : NULL;
	if (thread)
		*thread = (struct watched){
			.number = who->number,
			.files = SCHED_THREAD((pid_t)who->pid, (pid_t)who->tid) };
	if (slot)
		slot->value = (uintptr_t)thread;
	return thread;
}

/* 0 or -ENOMEM. */
static int read_thread(struct sched_source *s, const struct model_driver *who, bool last)
{
	struct watched *thread = watched_of(s, who);
	struct event account, *place;
	bool has_account;

	if (!thread)
		return -ENOMEM;
	has_account = take_account(thread, last, &account);
	if (s->threads.n > OPEN_MOST)
		sched_thread_close(&thread->files);
	if (!has_account)
		return 0;
	place = VEC_PUSH(&s->waiting);
	if (!place)
		return -ENOMEM;
	*place = account;
	return 0;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static uint64_t random_part(struct sched_source *s, uint64_t ns)
{
	return ns / 2 + (uint64_t)rand_r(&s->seed) % ns;
}

static void wait_for_turn(struct sched_source *s, uint64_t ns)
{
	const struct itimerspec t = { .it_value = { .tv_nsec = (long)random_part(s, ns) } };

	timerfd_settime(s->live.fds[0], 0, &t, NULL);
}

/* Some threads; the next ones have the next turn. */
static int take_turn(struct sched_source *s, size_t threads, bool last)
{
	struct model_driver who;
	int err = 0;

	for (size_t i = 0; i < threads && !err; i++) {
		if (!model_next_driver(s->model, &s->at, &who)) {
			s->at = 0;
			break;
		}
		s->round++;
		err = read_thread(s, &who, last);
	}
	if (s->at)
		return err;
	if (s->threads.n > s->round + FORGOTTEN)
		map_free_each(&s->threads, free_watched);
	s->last_round = s->round;
	s->round = 0;
	return err;
}

static int push_known(struct sched_source *s, uint64_t until_ns)
{
	size_t n = 0;
	int err = 0;

	while (!err && n < s->waiting.n && s->waiting.v[n].end_ns <= until_ns)
		err = s->live.sink->push(s->live.sink->ctx, &s->waiting.v[n++]);
	VEC_DROP_FIRST(&s->waiting, n);
	s->pushed += n;
	return err;
}

/* ---- the course of a session ----------------------------------------------------------------- */

static int on_event(struct live_source *l, const struct event *ev)
{
	struct sched_source *s = sched_of(l);

	if (ev->kind == EVENT_WATERMARK)
		s->watermark_ns = ev->end_ns;
	if (ev->kind != EVENT_FACT || strcmp(ev->fact.key, "off_cpu") ||
	    strcmp(ev->fact.value, SCHED_SAMPLED))
		return 0;
	s->wanted = true;
	wait_for_turn(s, TURN_NS);
	return 0;
}

static void pump(struct live_source *l)
{
	struct sched_source *s = sched_of(l);
	uint64_t times;

	if (!s->wanted || s->err || read(l->fds[0], &times, sizeof(times)) != sizeof(times))
		return;
	s->err = take_turn(s, TURN_THREADS, false);
	wait_for_turn(s, s->at ? TURN_NS :
			 num_min(ROUND_NS + s->last_round * THREAD_NS, ROUND_MAX_NS));
}

static int push_accounts(struct live_source *l)
{
	struct sched_source *s = sched_of(l);

	return s->err ? s->err : push_known(s, s->watermark_ns);
}

/* All calls have come: the last accounts end now. */
static int stop(struct live_source *l, uint64_t now_ns)
{
	struct sched_source *s = sched_of(l);
	int err = s->err;

	(void)now_ns;
	if (!s->wanted)
		return 0;
	s->at = 0;
	if (!err)
		err = take_turn(s, LAST_THREADS, true);
	if (!err)
		err = push_known(s, UINT64_MAX);
	return err ? err : live_push_count(l->sink, "procfs", "sched", s->pushed, 0);
}

static void push_counts(struct live_source *l, const struct event_sink *to)
{
	if (sched_of(l)->wanted)
		live_push_count(to, "procfs", "sched", sched_of(l)->pushed, 0);
}

static void release(struct live_source *l)
{
	struct sched_source *s = sched_of(l);

	io_close(&l->fds[0]);
	map_free_each(&s->threads, free_watched);
	VEC_FREE(&s->waiting);
}

static void free_source(struct live_source *l)
{
	free(l);
}

static const struct live_source_ops ops = {
	.on_event = on_event, .pump = pump, .read = push_accounts, .stop = stop,
	.push_counts = push_counts, .release = release, .free = free_source,
};

struct live_source *sched_source_new(const struct event_sink *sink, const struct model *model)
{
	struct sched_source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->model = model;
	s->seed = (unsigned int)time_now_ns();
	s->live = (struct live_source){ .ops = &ops, .sink = sink, .fds = { -1, -1 } };
	s->live.fds[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->live.fds[0] >= 0)
		return &s->live;
	free(s);
	return NULL;
}
