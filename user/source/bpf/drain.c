// SPDX-License-Identifier: BSD-3-Clause
/* Four parts: the queue, the order in which two rings are delivered, the thread, and the source. */
#include "source/bpf/drain.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/caps.h"
#include "source/bpf/ring.h"

/* Records that no wakeup announced wait at most so long: where many come, and where none do. */
#define PERIOD_MS 10
#define PERIOD_QUIET_MS 80
#define ROUND_RECORDS 1000	/* between the two, a round finds so many */
#define LAST_ROUNDS 3		/* exits need two */
#define LAST_TRIES 1000		/* of a millisecond, for a program preempted inside a record */

/* ---- the queue: chunks go round: written, queued, taken, spare again ------------------------- */

/*
 * The bounded queue between the drain and the engine: items in chunks, one writer, one reader.
 * Knows nothing of the items.
 */
enum drain_item_kind {
	DRAIN_CALL = 1,		/* a record of the calls ring */
	DRAIN_TASK = 2,		/* a record of the tasks ring */
	DRAIN_MARK = 3,		/* u64: all that ended before this time has been delivered */
};

struct drain_item {
	uint32_t len;		/* of the data that follows, which is padded to 8 bytes */
	uint8_t kind;		/* enum drain_item_kind */
	uint8_t pad[3];
};

#define DRAIN_CHUNK_BYTES (128u << 10)
#define DRAIN_CHUNKS_MAX 128	/* 16 MiB */

struct drain_chunk {
	struct drain_chunk *next;
	uint32_t used;
	char data[DRAIN_CHUNK_BYTES] __attribute__((aligned(8)));
};

/* The lock is held for pointers only. */
struct drain_queue {
	int fd;			/* a semaphore: one for each queued chunk */
	struct drain_chunk *open;	/* the writer's */

	/* Under lock: the queue, its spare chunks, and how many chunks exist. */
	pthread_mutex_t lock;
	pthread_cond_t room;
	struct drain_chunk *first, **last, *spare;
	unsigned int n_chunks;
	unsigned int records;		/* since it was set; the writer's */
};

/* NULL + errno */
static struct drain_queue *drain_queue_new(void)
{
	struct drain_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0) {
		free(q);
		return NULL;
	}
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->room, NULL);
	return q;
}

static void free_chunks(struct drain_chunk *c)
{
	while (c) {
		struct drain_chunk *next = c->next;

		free(c);
		c = next;
	}
}

static void drain_queue_free(struct drain_queue *q)
{
	if (!q)
		return;
	free_chunks(q->first);
	free_chunks(q->spare);
	free(q->open);
	close(q->fd);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->room);
	free(q);
}

/* A spare chunk, or a new one while there may be more. */
static struct drain_chunk *get_chunk(struct drain_queue *q)
{
	struct drain_chunk *c;

	pthread_mutex_lock(&q->lock);
	while (!q->spare && q->n_chunks == DRAIN_CHUNKS_MAX)
		pthread_cond_wait(&q->room, &q->lock);
	c = q->spare;
	if (c) {
		q->spare = c->next;
	} else {
		c = malloc(sizeof(*c));
		q->n_chunks += c != NULL;
	}
	pthread_mutex_unlock(&q->lock);
	if (c) {
		c->next = NULL;
		c->used = 0;
	}
	return c;
}

static void drain_queue_flush(struct drain_queue *q)
{
	struct drain_chunk *c = q->open;

	if (!c || !c->used)
		return;
	q->open = NULL;
	pthread_mutex_lock(&q->lock);
	*q->last = c;
	q->last = &c->next;
	pthread_mutex_unlock(&q->lock);
	io_notify(q->fd);
}

/* The writer. put waits while DRAIN_CHUNKS_MAX chunks are in use; 0, -EMSGSIZE or -ENOMEM. Items
 * can be taken once their chunk is full or flushed. */
static int drain_queue_put(void *queue, enum drain_item_kind kind, const void *data, size_t len)
{
	struct drain_queue *q = queue;
	size_t need = sizeof(struct drain_item) + ((len + 7) & ~(size_t)7);
	struct drain_item *item;

	if (len > DRAIN_CHUNK_BYTES || need > DRAIN_CHUNK_BYTES)
		return -EMSGSIZE;
	if (q->open && q->open->used + need > DRAIN_CHUNK_BYTES)
		drain_queue_flush(q);
	if (!q->open)
		q->open = get_chunk(q);
	if (!q->open)
		return -ENOMEM;
	item = (struct drain_item *)(q->open->data + q->open->used);
	*item = (struct drain_item){ .len = (uint32_t)len, .kind = (uint8_t)kind };
	memcpy(item + 1, data, len);
	q->open->used += (uint32_t)need;
	q->records += kind != DRAIN_MARK;
	return 0;
}

/*
 * The reader: the oldest chunk, or NULL; until then it is to be called again. Each one goes back
 * with release. The fd is cleared first: a chunk may be taken before its notification comes, and
 * that may then find none.
 */
static struct drain_chunk *drain_queue_take(struct drain_queue *q)
{
	struct drain_chunk *c;

	io_clear(q->fd);
	pthread_mutex_lock(&q->lock);
	c = q->first;
	if (c) {
		q->first = c->next;
		if (!q->first)
			q->last = &q->first;
	}
	pthread_mutex_unlock(&q->lock);
	return c;
}

static void drain_queue_release(struct drain_queue *q, struct drain_chunk *c)
{
	pthread_mutex_lock(&q->lock);
	c->next = q->spare;
	q->spare = c;
	pthread_cond_signal(&q->room);
	pthread_mutex_unlock(&q->lock);
}

/* ---- the order ------------------------------------------------------------------------------- */

/*
 * In which order the records of two rings are delivered: a thread's GP_TASK_NEW before its first
 * call, its GP_TASK_EXIT after its last one and before records of its number's next owner, and a
 * mark once everything before it is through.
 * Works on any two rings; knows nothing of threads or queues.
 */
struct drain_waiting {
	struct gp_task *v;
	size_t n, cap;
};

struct drain_order {
	struct ring *calls, *tasks;
	int (*put)(void *ctx, enum drain_item_kind kind, const void *data, size_t len);
	void *ctx;

	/* From here on it starts zeroed. */
	/* exits (and births of their numbers' next owners) that may be delivered after this round's
	 * calls */
	struct drain_waiting held;
	struct drain_waiting fresh;	/* found since the last complete round */
	size_t births;			/* in both: items other than exits */
	uint64_t mark_ns;		/* when that round began; 0: there was none */
};

/* Positions noted in the right order are all it takes: no record is looked into but exits, and
 * calls only while a number waits for its next owner. */
static bool is_birth(const struct gp_task *task)
{
	return task->kind != GP_TASK_EXIT;
}

/* Delivers waiting events of the call's pid that happened before it: calls before those are
 * through, since they lie before this one in the ring. 0 or put's error. */
static int deliver_due(struct drain_order *o, struct drain_waiting *w, const struct gp_call *call)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct gp_task *task = &w->v[i];

		if (!err && task->pid == call->pid && task->time_ns <= call->start_ns) {
			err = o->put(o->ctx, DRAIN_TASK, task, sizeof(*task));
			if (!err) {
				o->births -= is_birth(task);
				continue;
			}
		}
		w->v[kept++] = *task;
	}
	w->n = kept;
	return err;
}

/* A number's next owner may call before the round in which its birth would be delivered. */
static int on_call(void *ctx, const void *rec, size_t len)
{
	struct drain_order *o = ctx;
	int err = 0;

	if (o->births && len >= sizeof(struct gp_call)) {
		err = deliver_due(o, &o->held, rec);
		if (!err)
			err = deliver_due(o, &o->fresh, rec);
	}
	return err ? err : o->put(o->ctx, DRAIN_CALL, rec, len);
}

/* Of a thread whose number another one has just left, or of a process whose pid another one, by
 * its birth, had before. */
static bool follows_exit(const struct drain_waiting *w, const struct gp_task *task)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct gp_task *before = &w->v[i];
		bool same = task->kind == GP_TASK_NEW && before->tid == task->tid;
		bool successor = before->process_ns && task->process_ns &&
				 before->process_ns != task->process_ns;

		if (before->pid == task->pid && (same || successor))
			return true;
	}
	return false;
}

static int on_task(void *ctx, const void *rec, size_t len)
{
	struct drain_order *o = ctx;
	const struct gp_task *task = rec;
	struct gp_task *fresh;
	bool waits = false;

	if (len == sizeof(*task))
		waits = task->kind == GP_TASK_EXIT ||
			((task->kind == GP_TASK_NEW || task->kind == GP_TASK_EXEC) &&
			 (follows_exit(&o->held, task) || follows_exit(&o->fresh, task)));
	if (!waits)
		return o->put(o->ctx, DRAIN_TASK, rec, len);
	fresh = VEC_PUSH(&o->fresh);
	if (!fresh)
		return -ENOMEM;
	*fresh = *task;
	o->births += is_birth(task);
	return 0;
}

static bool deliver_exits(struct drain_order *o)
{
	size_t i = 0;

	while (i < o->held.n && !o->put(o->ctx, DRAIN_TASK, &o->held.v[i], sizeof(o->held.v[i])))
		o->births -= is_birth(&o->held.v[i++]);
	VEC_DROP_FIRST(&o->held, i);
	return !o->held.n;
}

/*
 * The position in the calls ring is noted first: every call before it has its thread's NEW in the
 * tasks ring already, so no call may pass while a record there is still being written. Every exit
 * found now has all its calls before the *next* round's position, so exits are delivered one round
 * later, and the mark, too, is the time of the round before. False: a record is still being
 * written, or put failed; the next round goes on there.
 */
static bool drain_order_round(struct drain_order *o)
{
	uint64_t now_ns = time_now_ns(), limit = ring_produced(o->calls);
	struct drain_waiting empty;

	if (ring_consume(o->tasks, ring_produced(o->tasks), on_task, o) != 1 ||
	    ring_consume(o->calls, limit, on_call, o) != 1 || !deliver_exits(o))
		return false;
	if (o->mark_ns && o->put(o->ctx, DRAIN_MARK, &o->mark_ns, sizeof(o->mark_ns)))
		return false;
	o->mark_ns = now_ns;
	empty = o->held;	/* its memory is reused */
	o->held = o->fresh;
	o->fresh = empty;
	return true;
}

static void drain_order_free(struct drain_order *o)
{
	VEC_FREE(&o->held);
	VEC_FREE(&o->fresh);
}

/* ---- the thread: when to look into the rings, and how to stop -------------------------------- */

struct drain {
	struct drain_queue *queue;
	struct drain_order order;	/* the thread's own */
	int epoll_fd, stop_fd, ask_fd;
	uint64_t asked, answered;	/* rounds: the engine's, the thread's */
	pthread_t thread;
	bool running;
};

static int next_period_ms(const struct drain *d, int period_ms)
{
	const uint64_t last_ms = (uint64_t)period_ms,
		       ms = last_ms * ROUND_RECORDS / num_max(d->queue->records, 1);

	if (d->order.held.n || d->order.fresh.n)
		return PERIOD_MS;
	return (int)num_max(PERIOD_MS, num_min(num_min(ms, 2 * last_ms), PERIOD_QUIET_MS));
}

/* False: a round that was asked for is not complete. */
static bool look_into_rings(struct drain *d)
{
	const uint64_t asked = __atomic_load_n(&d->asked, __ATOMIC_ACQUIRE);
	bool is_complete;

	d->queue->records = 0;
	is_complete = drain_order_round(&d->order);
	drain_queue_flush(d->queue);
	if (asked == d->answered || !is_complete)
		return asked == d->answered;
	__atomic_store_n(&d->answered, asked, __ATOMIC_RELEASE);
	io_notify(d->queue->fd);
	return true;
}

/* Returns early for what needs that. False: the thread is to stop. */
static bool wait_for(const struct drain *d, int ms)
{
	struct epoll_event ev[4];
	int n = epoll_wait(d->epoll_fd, ev, 4, ms);
	bool goes_on = true;

	for (int i = 0; i < n; i++) {
		if (ev[i].data.fd == d->ask_fd)
			io_clear(d->ask_fd);
		goes_on &= ev[i].data.fd != d->stop_fd;
	}
	return goes_on;
}

static void *drain_main(void *ctx)
{
	struct drain *d = ctx;
	int period_ms = PERIOD_MS;
	bool is_answered;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	caps_keep(0);		/* it reads memory that is mapped */
	do {
		is_answered = look_into_rings(d);
		period_ms = next_period_ms(d, period_ms);
	} while (wait_for(d, is_answered ? period_ms : 1));
	/* The probes are detached: the rings' content is final. */
	for (int rounds = 0, tries = 0; rounds < LAST_ROUNDS && tries < LAST_TRIES; tries++) {
		bool complete = drain_order_round(&d->order);

		drain_queue_flush(d->queue);
		if (complete)
			rounds++;
		else
			usleep(1000);
	}
	return NULL;
}

/* Edge-triggered: a ring that always has data would else turn the wait into a busy loop. */
static int watch(struct drain *d, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static int open_all(struct drain *d, int calls_fd, int tasks_fd)
{
	d->queue = drain_queue_new();
	if (!d->queue)
		return -errno;
	d->order.put = drain_queue_put;
	d->order.ctx = d->queue;
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll_fd < 0)
		return -errno;
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->stop_fd < 0)
		return -errno;
	d->ask_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->ask_fd < 0)
		return -errno;
	d->order.calls = ring_open(calls_fd);
	if (!d->order.calls)
		return -errno;
	d->order.tasks = ring_open(tasks_fd);
	if (!d->order.tasks)
		return -errno;
	if (watch(d, calls_fd, EPOLLIN | EPOLLET) || watch(d, tasks_fd, EPOLLIN | EPOLLET) ||
	    watch(d, d->stop_fd, EPOLLIN) || watch(d, d->ask_fd, EPOLLIN))
		return -errno;
	return 0;
}

struct drain *drain_start(int calls_fd, int tasks_fd)
{
	struct drain *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return NULL;
	d->epoll_fd = d->stop_fd = d->ask_fd = -1;
	err = open_all(d, calls_fd, tasks_fd);
	if (!err)
		err = -pthread_create(&d->thread, NULL, drain_main, d);
	if (err) {
		drain_free(d);
		errno = -err;
		return NULL;
	}
	d->running = true;
	return d;
}

int drain_fd(const struct drain *d)
{
	return d->queue->fd;
}

void drain_catch_up(struct drain *d, void (*taken)(void *), void *ctx)
{
	const uint64_t asked = __atomic_add_fetch(&d->asked, 1, __ATOMIC_RELEASE);
	const uint64_t until_ns = time_now_ns() + CATCH_UP_MS * NS_PER_MS;
	struct pollfd queue = { .fd = d->queue->fd, .events = POLLIN };

	io_notify(d->ask_fd);
	while (__atomic_load_n(&d->answered, __ATOMIC_ACQUIRE) < asked &&
	       time_now_ns() < until_ns) {
		poll(&queue, 1, 1);
		taken(ctx);
	}
	taken(ctx);
}

void drain_finish(struct drain *d, void (*taken)(void *), void *ctx)
{
	if (!d->running)
		return;
	io_notify(d->stop_fd);
	/* It may be waiting for room, which only the engine makes. */
	while (pthread_tryjoin_np(d->thread, NULL) == EBUSY) {
		taken(ctx);
		usleep(1000);
	}
	d->running = false;
	taken(ctx);
}

static void discard(void *ctx)
{
	struct drain_queue *q = ctx;
	struct drain_chunk *c;

	while ((c = drain_queue_take(q)))
		drain_queue_release(q, c);
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	drain_finish(d, discard, d->queue);
	ring_close(d->order.calls);
	ring_close(d->order.tasks);
	drain_order_free(&d->order);
	drain_queue_free(d->queue);
	io_close(&d->epoll_fd);
	io_close(&d->stop_fd);
	io_close(&d->ask_fd);
	free(d);
}

/* ---- the source ------------------------------------------------------------------------------ */

static void push(struct bpf_source *l, const struct event *ev)
{
	if (!l->err)
		l->err = l->sink.push(l->sink.ctx, ev);
}

static void pump_item(struct bpf_source *l, const struct drain_item *item)
{
	const uint8_t *data = (const uint8_t *)(item + 1);
	const uint8_t kind = item->len ? data[0] : 0;
	char comm[GP_COMM_LEN + 1];
	struct decode_off_texts texts;
	enum decode_status status;
	struct event ev;

	if (item->kind == DRAIN_MARK) {
		ev = (struct event){ .kind = EVENT_WATERMARK };
		memcpy(&ev.end_ns, data, sizeof(ev.end_ns));
		push(l, &ev);
		return;
	}
	if (item->kind == DRAIN_CALL)
		status = decode_call(l->decoder, data, item->len, &ev, &texts);
	else
		status = decode_task(data, item->len, &ev, comm);
	l->invalid += status == DECODE_INVALID;
	l->skipped += status == DECODE_SKIP;
	if (kind < GP_KINDS)
		l->received[kind]++;
	if (status == DECODE_OK)
		push(l, &ev);
}

int bpf_source_pump(struct bpf_source *l)
{
	struct drain_chunk *c;

	while ((c = drain_queue_take(l->drain->queue))) {
		for (uint32_t at = 0; at < c->used;) {
			const struct drain_item *item = (const struct drain_item *)(c->data + at);

			pump_item(l, item);
			at += (uint32_t)sizeof(*item) + ((item->len + 7) & ~7u);
		}
		drain_queue_release(l->drain->queue, c);
	}
	return l->err;
}

void bpf_source_push_state(struct bpf_source *l, const void *rec, size_t len, uint64_t now_ns)
{
	struct decode_off_texts texts;
	struct event ev;

	if (decode_call(l->decoder, rec, len, &ev, &texts) != DECODE_OK)
		return;
	push(l, &(struct event){ .kind = EVENT_TAIL, .pid = ev.pid, .tid = ev.tid, .seq = ev.seq,
				 .end_ns = now_ns });
	if (ev.kind != EVENT_OPEN)
		return;
	ev.end_ns = now_ns;
	push(l, &ev);
}

void bpf_source_push_off(struct bpf_source *l, const void *rec, size_t len, uint64_t until_ns)
{
	struct decode_off_texts texts;
	struct event ev;
	uint64_t over;

	if (decode_call(l->decoder, rec, len, &ev, &texts) != DECODE_OK || ev.kind != EVENT_OFF ||
	    ev.start_ns >= until_ns)
		return;
	over = num_sub(ev.end_ns, until_ns);
	ev.end_ns -= over;
	ev.off.woken_ns -= num_min(over, ev.off.woken_ns);
	push(l, &ev);
}

void bpf_source_push_op(struct bpf_source *l, const void *rec, size_t len, uint64_t until_ns)
{
	struct decode_off_texts texts;
	struct event ev;

	if (decode_call(l->decoder, rec, len, &ev, &texts) != DECODE_OK || ev.kind != EVENT_OP ||
	    ev.start_ns >= until_ns)
		return;
	ev.end_ns = num_min(ev.end_ns, until_ns);
	push(l, &ev);
}
