// SPDX-License-Identifier: BSD-3-Clause
/* The drain: in which order two rings are delivered, the queue behind them, the thread's life. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/bpf/drain.c"
#include "base/time.h"
#include "lib/test.h"
#include "unit/ring_source.h"

/* ---- the order of two rings --------------------------------------------------------------------- */

struct line {			/* what was delivered: "N7 C7 C7 X7 |" for thread 7 */
	char text[512];
	uint64_t mark_ns;
	bool full;
};

static int write_down(void *ctx, enum drain_item_kind kind, const void *data, size_t len)
{
	struct line *l = ctx;
	size_t n = strlen(l->text);
	const struct gp_task *task = data;
	const struct gp_call *call = data;

	if (l->full)
		return -ENOMEM;
	if (kind == DRAIN_MARK) {
		memcpy(&l->mark_ns, data, len);
		snprintf(l->text + n, sizeof(l->text) - n, "| ");
	} else if (kind == DRAIN_CALL) {
		snprintf(l->text + n, sizeof(l->text) - n, "C%u ", call->tid);
	} else {
		char letter = task->kind == GP_TASK_EXIT ? 'X' : task->kind == GP_TASK_EXEC ? 'E' : 'N';

		snprintf(l->text + n, sizeof(l->text) - n, "%c%u ", letter, task->tid);
	}
	return 0;
}

static struct {
	struct source calls, tasks;
	struct line line;
	struct drain_order order;
	unsigned int taken;
} p;

BEFORE_EACH
{
	memset(&p, 0, sizeof(p));
	source_open(&p.calls);
	source_open(&p.tasks);
	p.order = (struct drain_order){ .calls = &p.calls.ring, .tasks = &p.tasks.ring,
					.put = write_down, .ctx = &p.line };
}

AFTER_EACH
{
	drain_order_free(&p.order);
	source_close(&p.calls);
	source_close(&p.tasks);
}

static uint32_t *reserve_task(uint8_t kind, uint32_t tid)
{
	struct gp_task rec = { .kind = kind, .pid = tid, .tid = tid, .time_ns = 1 };

	return source_reserve(&p.tasks, &rec, sizeof(rec));
}

static uint32_t *reserve_call(uint32_t tid)
{
	struct gp_call rec = { .kind = GP_CALL, .pid = tid, .tid = tid };

	return source_reserve(&p.calls, &rec, sizeof(rec));
}

static void round_says(bool complete, const char *expected)
{
	p.line.text[0] = '\0';
	assert_int_equal(drain_order_round(&p.order), complete);
	assert_string_equal(p.line.text, expected);
}

TEST_TITLED("order: a thread's birth, its calls, a round later its exit",
	    order_new_before_calls_before_exit)
{
	source_commit(reserve_task(GP_TASK_NEW, 7));
	source_commit(reserve_call(7));
	source_commit(reserve_call(7));
	source_commit(reserve_task(GP_TASK_EXIT, 7));
	round_says(true, "N7 C7 C7 ");
	source_commit(reserve_call(8));
	round_says(true, "C8 X7 | ");
	round_says(true, "| ");
}

TEST_TITLED("order: a thread's exit, then who takes its number by exec",
	    order_exit_before_the_numbers_next_owner)
{
	source_commit(reserve_call(7));
	source_commit(reserve_task(GP_TASK_EXIT, 7));
	source_commit(reserve_task(GP_TASK_NEW, 7));
	source_commit(reserve_task(GP_TASK_NEW, 8));
	round_says(true, "N8 C7 ");
	round_says(true, "X7 N7 | ");
	source_commit(reserve_task(GP_TASK_EXIT, 7));
	round_says(true, "| ");
	source_commit(reserve_task(GP_TASK_NEW, 7));
	round_says(true, "X7 | ");
	round_says(true, "N7 | ");
}

static void commit_task(uint8_t kind, uint32_t tid, uint64_t process_ns)
{
	struct gp_task rec = { .kind = kind, .pid = 7, .tid = tid, .time_ns = 50,
			       .process_ns = process_ns };

	source_commit(source_reserve(&p.tasks, &rec, sizeof(rec)));
}

/* The kernel gave the number of thread 8 to the next thread of process 7 at once. */
TEST_TITLED("order: a thread's exit before the birth and the calls of the next of its number",
	    order_a_thread_before_the_next_of_its_number)
{
	struct gp_call old = { .kind = GP_CALL, .pid = 7, .tid = 8, .start_ns = 40 },
		       young = { .kind = GP_CALL, .pid = 7, .tid = 8, .start_ns = 60 };

	commit_task(GP_TASK_EXIT, 8, 10);
	commit_task(GP_TASK_NEW, 8, 10);
	source_commit(source_reserve(&p.calls, &old, sizeof(old)));
	source_commit(source_reserve(&p.calls, &young, sizeof(young)));
	round_says(true, "C8 X8 N8 C8 ");
	commit_task(GP_TASK_EXIT, 8, 10);
	commit_task(GP_TASK_NEW, 8, 10);
	round_says(true, "| ");
	round_says(true, "X8 N8 | ");
}

/* Process 7, with a thread 8, ends; another gets its pid, runs a program, has a thread 9, and calls. */
TEST_TITLED("order: a process is through before the next owner of its pid is told of",
	    order_a_process_before_the_next_of_its_pid)
{
	struct gp_call old = { .kind = GP_CALL, .pid = 7, .tid = 8, .start_ns = 40 },
		       young = { .kind = GP_CALL, .pid = 7, .tid = 9, .start_ns = 60 };

	commit_task(GP_TASK_EXIT, 8, 10);
	commit_task(GP_TASK_EXEC, 7, 45);
	commit_task(GP_TASK_NEW, 9, 45);
	source_commit(source_reserve(&p.calls, &old, sizeof(old)));
	round_says(true, "C8 ");
	round_says(true, "X8 E7 N9 | ");
	commit_task(GP_TASK_EXIT, 9, 45);
	commit_task(GP_TASK_EXEC, 7, 48);
	source_commit(source_reserve(&p.calls, &young, sizeof(young)));
	round_says(true, "X9 E7 C9 | ");
}

/* Thread 7's number goes to who calls exec, and is used before the round is over. */
TEST_TITLED("order: who takes a number by exec is known before it calls",
	    order_next_owner_before_its_first_call)
{
	struct gp_task leaves = { .kind = GP_TASK_EXIT, .pid = 7, .tid = 7, .time_ns = 50 },
		       takes = { .kind = GP_TASK_NEW, .pid = 7, .tid = 7, .time_ns = 50 };
	struct gp_call old = { .kind = GP_CALL, .pid = 7, .tid = 7, .start_ns = 40 },
		       young = { .kind = GP_CALL, .pid = 7, .tid = 7, .start_ns = 50 };

	source_commit(source_reserve(&p.calls, &old, sizeof(old)));
	source_commit(source_reserve(&p.tasks, &leaves, sizeof(leaves)));
	source_commit(source_reserve(&p.tasks, &takes, sizeof(takes)));
	source_commit(source_reserve(&p.calls, &young, sizeof(young)));
	source_commit(source_reserve(&p.calls, &young, sizeof(young)));
	source_commit(reserve_call(8));
	round_says(true, "C7 X7 N7 C7 C7 C8 ");
	round_says(true, "| ");
	assert_int_equal(p.order.births, 0);
	source_commit(source_reserve(&p.tasks, &leaves, sizeof(leaves)));
	round_says(true, "| ");
	source_commit(source_reserve(&p.tasks, &takes, sizeof(takes)));
	source_commit(source_reserve(&p.calls, &young, sizeof(young)));
	round_says(true, "X7 N7 C7 | ");
}

TEST_TITLED("order: no call passes a birth that is being written", order_call_waits_for_busy_new)
{
	uint32_t *busy;

	busy = reserve_task(GP_TASK_NEW, 7);
	source_commit(reserve_task(GP_TASK_NEW, 8));
	source_commit(reserve_call(8));
	round_says(false, "");
	source_commit(busy);
	round_says(true, "N7 N8 C8 ");
}

TEST_TITLED("order: an exit waits for calls that are being written", order_exit_waits_for_busy_call)
{
	uint32_t *busy;

	round_says(true, "");
	busy = reserve_call(9);
	source_commit(reserve_call(7));
	source_commit(reserve_task(GP_TASK_EXIT, 7));
	round_says(false, "");
	round_says(false, "");
	source_commit(busy);
	source_commit(reserve_task(GP_TASK_EXIT, 9));
	round_says(true, "C9 C7 | ");
	round_says(true, "X7 X9 | ");
}

TEST_TITLED("order: a mark says only what is so, also of exits", order_mark_is_the_round_before)
{
	uint64_t before;

	round_says(true, "");
	before = time_now_ns();
	source_commit(reserve_task(GP_TASK_EXIT, 7));
	round_says(true, "| ");
	/* The exit, which happened after `before`, has not been delivered. */
	assert_true(p.line.mark_ns <= before);
	round_says(true, "X7 | ");
	assert_true(p.line.mark_ns >= before);
}

TEST_TITLED("order: without room nothing is lost or overtaken", order_survives_refusals)
{
	source_commit(reserve_task(GP_TASK_EXIT, 7));
	source_commit(reserve_task(GP_TASK_EXIT, 8));
	round_says(true, "");
	p.line.full = true;
	round_says(false, "");
	source_commit(reserve_call(9));
	round_says(false, "");
	p.line.full = false;
	round_says(true, "C9 X7 X8 | ");
}

/* ---- the queue ----------------------------------------------------------------------------------- */

#define ITEMS 1000000u

static void *fill_queue(void *ctx)
{
	struct drain_queue *q = ctx;
	uint32_t rec[32] = { 0 };

	for (uint32_t i = 0; i < ITEMS; i++) {
		rec[0] = i;
		if (drain_queue_put(q, DRAIN_CALL, rec, 4 + i % 125))
			break;
	}
	drain_queue_flush(q);
	return NULL;
}

/* Takes as an engine does; true: it was the last item. */
static bool read_chunk(const struct drain_chunk *c, uint32_t *next)
{
	for (uint32_t at = 0; at < c->used;) {
		const struct drain_item *item = (const struct drain_item *)(c->data + at);
		uint32_t value;

		memcpy(&value, item + 1, sizeof(value));
		assert_int_equal(value, *next);
		assert_int_equal(item->len, 4 + *next % 125);
		at += (uint32_t)sizeof(*item) + ((item->len + 7) & ~7u);
		(*next)++;
	}
	return *next == ITEMS;
}

TEST_TITLED("queue: one million items through a full queue, in order", queue_keeps_order_when_full)
{
	struct drain_queue *q = drain_queue_new();
	struct drain_chunk *c, *kept = NULL;
	pthread_t writer;
	uint32_t next = 0;
	bool last = false;

	assert_non_null(q);
	assert_int_equal(pthread_create(&writer, NULL, fill_queue, q), 0);
	usleep(200000);		/* more than fits is written meanwhile: the writer waits */
	while (!last) {
		c = drain_queue_take(q);
		if (!c) {
			usleep(100);
			continue;
		}
		last = read_chunk(c, &next);
		if (kept)
			drain_queue_release(q, kept);
		kept = c;
	}
	pthread_join(writer, NULL);
	assert_null(drain_queue_take(q));
	drain_queue_release(q, kept);
	drain_queue_free(q);
}

TEST_TITLED("queue: a notification that comes when its chunk is taken is cleared", queue_is_not_left_readable)
{
	struct drain_queue *q = drain_queue_new();
	struct pollfd fd = { .events = POLLIN };

	assert_non_null(q);
	fd.fd = q->fd;
	assert_int_equal(drain_queue_put(q, DRAIN_CALL, &fd, sizeof(fd)), 0);
	drain_queue_flush(q);
	assert_int_equal(poll(&fd, 1, 0), 1);
	drain_queue_release(q, drain_queue_take(q));
	io_notify(q->fd);
	assert_null(drain_queue_take(q));
	assert_int_equal(poll(&fd, 1, 0), 0);
	drain_queue_free(q);
}

TEST_TITLED("queue: an item larger than a chunk is refused", queue_refuses_what_no_chunk_holds)
{
	struct drain_queue *q = drain_queue_new();
	char *big = calloc(1, DRAIN_CHUNK_BYTES);

	assert_non_null(q);
	assert_non_null(big);
	assert_int_equal(drain_queue_put(q, DRAIN_CALL, big, DRAIN_CHUNK_BYTES), -EMSGSIZE);
	assert_int_equal(drain_queue_put(q, DRAIN_CALL, big, SIZE_MAX), -EMSGSIZE);
	assert_int_equal(drain_queue_put(q, DRAIN_CALL, big, DRAIN_CHUNK_BYTES - 8), 0);
	drain_queue_flush(q);
	drain_queue_release(q, drain_queue_take(q));
	drain_queue_free(q);
	free(big);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static void take_all(void *ctx)
{
	struct drain_queue *q = (*(struct drain **)ctx)->queue;
	struct drain_chunk *c;

	while ((c = drain_queue_take(q)))
		drain_queue_release(q, c);
}

TEST_TITLED("drain: starts, ends and is freed on real maps", drain_of_real_maps)
{
	int calls = make_map(BPF_MAP_TYPE_RINGBUF, 65536), tasks = make_map(BPF_MAP_TYPE_RINGBUF, 4096);
	struct drain *d = drain_start(calls, tasks);

	assert_non_null(d);
	drain_finish(d, take_all, &d);
	drain_finish(d, take_all, &d);
	drain_free(d);
	d = drain_start(calls, tasks);		/* freed while it runs */
	assert_non_null(d);
	drain_free(d);
	assert_null(drain_start(calls, -1));
	assert_true(errno == EBADF || errno == EBADFD);
	close(calls);
	close(tasks);
}

static void count_all(void *ctx)
{
	struct drain *d = *(struct drain **)ctx;
	struct drain_chunk *c;

	while ((c = drain_queue_take(d->queue))) {
		for (uint32_t at = 0; at < c->used;) {
			const struct drain_item *item = (const void *)(c->data + at);

			p.taken += item->kind != DRAIN_MARK;
			at += (uint32_t)sizeof(*item) + ((item->len + 7) & ~7u);
		}
		drain_queue_release(d->queue, c);
	}
}

/* The thread, on rings in memory. */
static struct drain *start_on_memory(void)
{
	struct drain *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	assert_int_equal(open_all(d, make_map(BPF_MAP_TYPE_RINGBUF, 65536),
				  make_map(BPF_MAP_TYPE_RINGBUF, 4096)), 0);
	ring_close(d->order.calls);
	ring_close(d->order.tasks);
	d->order.calls = &p.calls.ring;
	d->order.tasks = &p.tasks.ring;
	assert_int_equal(pthread_create(&d->thread, NULL, drain_main, d), 0);
	d->running = true;
	return d;
}

static void end_on_memory(struct drain *d)
{
	drain_finish(d, count_all, &d);
	d->order.calls = d->order.tasks = NULL;
	drain_free(d);
}

TEST_TITLED("drain: asked to catch up it hands on all that is complete", drain_catches_up)
{
	struct drain *d = start_on_memory();
	uint32_t *head;

	for (unsigned int i = 1; i <= 100; i++) {
		source_commit(reserve_call(7));
		drain_catch_up(d, count_all, &d);
		assert_int_equal(p.taken, i);
	}
	head = reserve_call(7);			/* is being written */
	drain_catch_up(d, count_all, &d);
	assert_int_equal(p.taken, 100);
	source_commit(head);
	source_commit(reserve_task(GP_TASK_NEW, 8));
	drain_catch_up(d, count_all, &d);
	assert_int_equal(p.taken, 102);
	end_on_memory(d);
}

TEST_TITLED("drain: a notification that comes after its answer is taken, or it would never sleep again",
	    a_late_notification)
{
	struct drain *d = start_on_memory();
	struct pollfd ask = { .fd = d->ask_fd, .events = POLLIN };

	__atomic_add_fetch(&d->asked, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&d->answered, __ATOMIC_ACQUIRE) < 1)
		usleep(1000);
	io_notify(d->ask_fd);
	for (int i = 0; i < 10000 && poll(&ask, 1, 0) == 1; i++)
		usleep(1000);
	assert_int_equal(poll(&ask, 1, 0), 0);
	end_on_memory(d);
}
