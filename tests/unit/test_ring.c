// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ring reader and the order it is used in, over rings in ordinary memory that a small writer
 * fills as the kernel does. The mapping of a real ring is tested where BPF maps may be made.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "event/drain.h"
#include "event/drain_order.h"
#include "event/ring.h"

#define BUSY (1u << 31)
#define DISCARDED (1u << 30)
#define RING_BYTES 4096

/* ---- a ring as the kernel writes it ------------------------------------------------------------ */

struct source {
	struct ring ring;
	uint64_t consumer, producer;
	int fd;
	char *data;
};

/* One page, mapped twice in a row, as the map's data is. */
static void source_open(struct source *s)
{
	int fd = memfd_create("ring", 0);

	*s = (struct source){ .fd = fd };
	assert_true(fd >= 0 && !ftruncate(fd, RING_BYTES));
	s->data = mmap(NULL, 2 * RING_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(s->data != MAP_FAILED);
	for (int i = 0; i < 2; i++)
		assert_true(mmap(s->data + i * RING_BYTES, RING_BYTES, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	s->ring = (struct ring){ .consumer = &s->consumer, .producer = &s->producer,
				 .data = s->data, .size = RING_BYTES };
}

static void source_close(struct source *s)
{
	munmap(s->data, 2 * RING_BYTES);
	close(s->fd);
}

/* The new record's length word, or NULL: the ring is full. */
static uint32_t *source_reserve(struct source *s, const void *data, uint32_t len)
{
	uint32_t *head = (uint32_t *)(s->data + s->producer % RING_BYTES);
	uint64_t need = (8 + len + 7) & ~7ull;

	if (s->producer + need - s->consumer > RING_BYTES)
		return NULL;
	head[0] = len | BUSY;
	head[1] = 0;
	memcpy(head + 2, data, len);
	s->producer += need;
	return head;
}

static void source_commit(uint32_t *head)
{
	assert_non_null(head);
	*head &= ~BUSY;
}

static void source_write(struct source *s, const void *data, uint32_t len)
{
	source_commit(source_reserve(s, data, len));
}

/* ---- the reader -------------------------------------------------------------------------------- */

struct taken {
	uint32_t n;		/* records */
	uint32_t stop_at;	/* the callback refuses this one */
	uint32_t value[1024];
	size_t len[1024];
};

static int take(void *ctx, const void *rec, size_t len)
{
	struct taken *t = ctx;

	if (t->n == t->stop_at)
		return -EAGAIN;
	memcpy(&t->value[t->n], rec, sizeof(t->value[0]));
	t->len[t->n++] = len;
	return 0;
}

static struct taken *taken_new(void)
{
	struct taken *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->stop_at = UINT32_MAX;
	return t;
}

static void ring_wraps(void **state)
{
	struct taken *t = taken_new();
	struct source s;
	char data[512];
	uint32_t sent = 0;

	(void)state;
	source_open(&s);
	while (s.producer < 10 * RING_BYTES) {
		uint32_t from = sent;

		for (uint32_t len = 4 + sent % 300;; len = 4 + sent % 300) {
			uint32_t *head;

			memset(data, (int)sent, sizeof(data));
			memcpy(data, &sent, sizeof(sent));
			head = source_reserve(&s, data, len);
			if (!head)
				break;
			source_commit(head);
			sent++;
		}
		t->n = 0;
		assert_int_equal(ring_consume(&s.ring, ring_produced(&s.ring), take, t), 1);
		assert_int_equal(t->n, sent - from);
		for (uint32_t i = 0; i < t->n; i++) {
			assert_int_equal(t->value[i], from + i);
			assert_int_equal(t->len[i], 4 + (from + i) % 300);
		}
		assert_int_equal(s.consumer, s.producer);
	}
	source_close(&s);
	free(t);
}

static void ring_stops_at_busy(void **state)
{
	struct taken *t = taken_new();
	uint32_t *busy, one = 1, two = 2, three = 3;
	struct source s;

	(void)state;
	source_open(&s);
	source_write(&s, &one, 4);
	busy = source_reserve(&s, &two, 4);
	source_write(&s, &three, 4);
	assert_int_equal(ring_consume(&s.ring, ring_produced(&s.ring), take, t), 0);
	assert_int_equal(t->n, 1);
	assert_int_equal(s.consumer, 16);
	assert_int_equal(ring_consume(&s.ring, ring_produced(&s.ring), take, t), 0);
	assert_int_equal(t->n, 1);
	source_commit(busy);
	assert_int_equal(ring_consume(&s.ring, ring_produced(&s.ring), take, t), 1);
	assert_int_equal(t->n, 3);
	assert_int_equal(t->value[2], 3);
	source_close(&s);
	free(t);
}

static void ring_skips_discarded(void **state)
{
	struct taken *t = taken_new();
	uint32_t *head, one = 1, two = 2;
	struct source s;
	char long_data[100] = { 0 };

	(void)state;
	source_open(&s);
	source_write(&s, &one, 4);
	head = source_reserve(&s, long_data, sizeof(long_data));
	*head = sizeof(long_data) | DISCARDED;
	source_write(&s, &two, 4);
	assert_int_equal(ring_consume(&s.ring, ring_produced(&s.ring), take, t), 1);
	assert_int_equal(t->n, 2);
	assert_int_equal(t->value[1], 2);
	source_close(&s);
	free(t);
}

static void ring_respects_limit(void **state)
{
	struct taken *t = taken_new();
	struct source s;
	uint64_t limit;

	(void)state;
	source_open(&s);
	for (uint32_t i = 0; i < 3; i++)
		source_write(&s, &i, 4);
	limit = ring_produced(&s.ring);
	for (uint32_t i = 3; i < 6; i++)
		source_write(&s, &i, 4);
	assert_int_equal(ring_consume(&s.ring, limit, take, t), 1);
	assert_int_equal(t->n, 3);
	assert_int_equal(s.consumer, limit);
	assert_int_equal(ring_consume(&s.ring, limit, take, t), 1);
	assert_int_equal(t->n, 3);
	source_close(&s);
	free(t);
}

static void ring_keeps_what_was_refused(void **state)
{
	struct taken *t = taken_new();
	struct source s;

	(void)state;
	source_open(&s);
	for (uint32_t i = 0; i < 3; i++)
		source_write(&s, &i, 4);
	t->stop_at = 1;
	assert_int_equal(ring_consume(&s.ring, ring_produced(&s.ring), take, t), -EAGAIN);
	assert_int_equal(s.consumer, 16);
	t->stop_at = UINT32_MAX;
	assert_int_equal(ring_consume(&s.ring, ring_produced(&s.ring), take, t), 1);
	assert_int_equal(t->n, 3);
	assert_int_equal(t->value[1], 1);
	source_close(&s);
	free(t);
}

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
		snprintf(l->text + n, sizeof(l->text) - n, "%c%u ",
			 task->kind == GP_TASK_EXIT ? 'X' : 'N', task->tid);
	}
	return 0;
}

struct pair {
	struct source calls, tasks;
	struct line line;
	struct drain_order order;
};

static void pair_open(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	source_open(&p->calls);
	source_open(&p->tasks);
	p->order = (struct drain_order){ .calls = &p->calls.ring, .tasks = &p->tasks.ring,
					 .put = write_down, .ctx = &p->line };
}

static void pair_close(struct pair *p)
{
	drain_order_free(&p->order);
	source_close(&p->calls);
	source_close(&p->tasks);
}

static uint32_t *reserve_task(struct pair *p, uint8_t kind, uint32_t tid)
{
	struct gp_task rec = { .kind = kind, .pid = tid, .tid = tid };

	return source_reserve(&p->tasks, &rec, sizeof(rec));
}

static uint32_t *reserve_call(struct pair *p, uint32_t tid)
{
	struct gp_call rec = { .kind = GP_CALL, .pid = tid, .tid = tid };

	return source_reserve(&p->calls, &rec, sizeof(rec));
}

static void round_says(struct pair *p, bool complete, const char *expected)
{
	p->line.text[0] = '\0';
	assert_int_equal(drain_order_round(&p->order), complete);
	assert_string_equal(p->line.text, expected);
}

static void order_new_before_calls_before_exit(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	source_commit(reserve_task(&p, GP_TASK_NEW, 7));
	source_commit(reserve_call(&p, 7));
	source_commit(reserve_call(&p, 7));
	source_commit(reserve_task(&p, GP_TASK_EXIT, 7));
	round_says(&p, true, "N7 C7 C7 ");
	source_commit(reserve_call(&p, 8));
	round_says(&p, true, "C8 X7 | ");
	round_says(&p, true, "| ");
	pair_close(&p);
}

static void order_call_waits_for_busy_new(void **state)
{
	struct pair p;
	uint32_t *busy;

	(void)state;
	pair_open(&p);
	busy = reserve_task(&p, GP_TASK_NEW, 7);
	source_commit(reserve_task(&p, GP_TASK_NEW, 8));
	source_commit(reserve_call(&p, 8));
	round_says(&p, false, "");
	source_commit(busy);
	round_says(&p, true, "N7 N8 C8 ");
	pair_close(&p);
}

static void order_exit_waits_for_busy_call(void **state)
{
	struct pair p;
	uint32_t *busy;

	(void)state;
	pair_open(&p);
	round_says(&p, true, "");
	busy = reserve_call(&p, 9);
	source_commit(reserve_call(&p, 7));
	source_commit(reserve_task(&p, GP_TASK_EXIT, 7));
	round_says(&p, false, "");
	round_says(&p, false, "");
	source_commit(busy);
	source_commit(reserve_task(&p, GP_TASK_EXIT, 9));
	round_says(&p, true, "C9 C7 | ");
	round_says(&p, true, "X7 X9 | ");
	pair_close(&p);
}

static void order_mark_is_the_round_before(void **state)
{
	struct timespec ts;
	uint64_t before;
	struct pair p;

	(void)state;
	pair_open(&p);
	round_says(&p, true, "");
	clock_gettime(CLOCK_MONOTONIC, &ts);
	before = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	source_commit(reserve_task(&p, GP_TASK_EXIT, 7));
	round_says(&p, true, "| ");
	/* The exit, which happened after `before`, has not been delivered. */
	assert_true(p.line.mark_ns <= before);
	round_says(&p, true, "X7 | ");
	assert_true(p.line.mark_ns >= before);
	pair_close(&p);
}

static void order_survives_refusals(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	source_commit(reserve_task(&p, GP_TASK_EXIT, 7));
	source_commit(reserve_task(&p, GP_TASK_EXIT, 8));
	round_says(&p, true, "");
	p.line.full = true;
	round_says(&p, false, "");
	source_commit(reserve_call(&p, 9));
	round_says(&p, false, "");
	p.line.full = false;
	round_says(&p, true, "C9 X7 X8 | ");
	pair_close(&p);
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

static void queue_keeps_order_when_full(void **state)
{
	struct drain_queue *q = drain_queue_new();
	struct drain_chunk *c, *kept = NULL;
	pthread_t writer;
	uint32_t next = 0;
	bool last = false;

	(void)state;
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

static void queue_refuses_what_no_chunk_holds(void **state)
{
	struct drain_queue *q = drain_queue_new();
	char *big = calloc(1, DRAIN_CHUNK_BYTES);

	(void)state;
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

/* ---- real maps (needs:bpf) ------------------------------------------------------------------------ */

static int make_map(enum bpf_map_type type, uint32_t entries)
{
	uint32_t size = type == BPF_MAP_TYPE_RINGBUF ? 0 : 4;
	int fd = bpf_map_create(type, "gp_test", size, size, entries, NULL);

	if (fd < 0) {
		print_message("SKIP needs:bpf: cannot make a BPF map: %s\n", strerror(errno));
		skip();
	}
	return fd;
}

static void ring_of_a_real_map(void **state)
{
	int fd = make_map(BPF_MAP_TYPE_RINGBUF, 65536), other;
	struct ring *r = ring_open(fd);
	struct taken *t = taken_new();

	(void)state;
	assert_non_null(r);
	assert_int_equal(r->size, 65536);
	assert_int_equal(ring_produced(r), 0);
	assert_int_equal(ring_consume(r, 0, take, t), 1);
	ring_close(r);
	close(fd);
	other = make_map(BPF_MAP_TYPE_ARRAY, 1);
	assert_null(ring_open(other));
	assert_int_equal(errno, EINVAL);
	close(other);
	assert_null(ring_open(-1));
	assert_true(errno == EBADF || errno == EBADFD);
	free(t);
}

static void take_all(void *ctx)
{
	struct drain *d = *(struct drain **)ctx;
	struct drain_chunk *c;

	while ((c = drain_take(d)))
		drain_release(d, c);
}

static void drain_of_real_maps(void **state)
{
	int calls = make_map(BPF_MAP_TYPE_RINGBUF, 65536), tasks = make_map(BPF_MAP_TYPE_RINGBUF, 4096);
	struct drain *d = drain_start(calls, tasks);

	(void)state;
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

int main(void)
{
#define SAYS(sentence, test) { sentence, test, NULL, NULL, NULL }
	const struct CMUnitTest tests[] = {
		SAYS("ring: records come whole and in order around the end", ring_wraps),
		SAYS("ring: nothing passes a record that is being written", ring_stops_at_busy),
		SAYS("ring: what was discarded is not delivered", ring_skips_discarded),
		SAYS("ring: nothing beyond the limit is delivered", ring_respects_limit),
		SAYS("ring: a refused record is delivered next time", ring_keeps_what_was_refused),
		SAYS("order: a thread's birth, its calls, a round later its exit",
		     order_new_before_calls_before_exit),
		SAYS("order: no call passes a birth that is being written",
		     order_call_waits_for_busy_new),
		SAYS("order: an exit waits for calls that are being written",
		     order_exit_waits_for_busy_call),
		SAYS("order: a mark says only what is so, also of exits",
		     order_mark_is_the_round_before),
		SAYS("order: without room nothing is lost or overtaken", order_survives_refusals),
		SAYS("queue: one million items through a full queue, in order",
		     queue_keeps_order_when_full),
		SAYS("queue: an item larger than a chunk is refused",
		     queue_refuses_what_no_chunk_holds),
		SAYS("ring: a real map opens empty, others are refused", ring_of_a_real_map),
		SAYS("drain: starts, ends and is freed on real maps", drain_of_real_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
