// SPDX-License-Identifier: BSD-3-Clause
/* The ring reader, over rings in ordinary memory, and the opening of real ones. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/test.h"
#include "source/bpf/ring.h"
#include "unit/ring_source.h"

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

static struct taken taken;
static struct source s;

BEFORE_EACH
{
	taken = (struct taken){ .stop_at = UINT32_MAX };
	source_open(&s);
}

AFTER_EACH
{
	source_close(&s);
}

static int consume(void)
{
	return ring_consume(&s.ring, ring_produced(&s.ring), take, &taken);
}

TEST_TITLED("ring: records come whole and in order around the end", ring_wraps)
{
	char data[512];
	uint32_t sent = 0;

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
		taken.n = 0;
		assert_int_equal(consume(), 1);
		assert_int_equal(taken.n, sent - from);
		for (uint32_t i = 0; i < taken.n; i++) {
			assert_int_equal(taken.value[i], from + i);
			assert_int_equal(taken.len[i], 4 + (from + i) % 300);
		}
		assert_int_equal(s.consumer, s.producer);
	}
}

TEST_TITLED("ring: nothing passes a record that is being written", ring_stops_at_busy)
{
	uint32_t *busy, one = 1, two = 2, three = 3;

	source_write(&s, &one, 4);
	busy = source_reserve(&s, &two, 4);
	source_write(&s, &three, 4);
	assert_int_equal(consume(), 0);
	assert_int_equal(taken.n, 1);
	assert_int_equal(s.consumer, 16);
	assert_int_equal(consume(), 0);
	assert_int_equal(taken.n, 1);
	source_commit(busy);
	assert_int_equal(consume(), 1);
	assert_int_equal(taken.n, 3);
	assert_int_equal(taken.value[2], 3);
}

TEST_TITLED("ring: what was discarded is not delivered", ring_skips_discarded)
{
	uint32_t *head, one = 1, two = 2;
	char long_data[100] = { 0 };

	source_write(&s, &one, 4);
	head = source_reserve(&s, long_data, sizeof(long_data));
	*head = sizeof(long_data) | DISCARDED;
	source_write(&s, &two, 4);
	assert_int_equal(consume(), 1);
	assert_int_equal(taken.n, 2);
	assert_int_equal(taken.value[1], 2);
}

TEST_TITLED("ring: nothing beyond the limit is delivered", ring_respects_limit)
{
	uint64_t limit;

	for (uint32_t i = 0; i < 3; i++)
		source_write(&s, &i, 4);
	limit = ring_produced(&s.ring);
	for (uint32_t i = 3; i < 6; i++)
		source_write(&s, &i, 4);
	assert_int_equal(ring_consume(&s.ring, limit, take, &taken), 1);
	assert_int_equal(taken.n, 3);
	assert_int_equal(s.consumer, limit);
	assert_int_equal(ring_consume(&s.ring, limit, take, &taken), 1);
	assert_int_equal(taken.n, 3);
}

TEST_TITLED("ring: a refused record is delivered next time", ring_keeps_what_was_refused)
{
	for (uint32_t i = 0; i < 3; i++)
		source_write(&s, &i, 4);
	taken.stop_at = 1;
	assert_int_equal(consume(), -EAGAIN);
	assert_int_equal(s.consumer, 16);
	taken.stop_at = UINT32_MAX;
	assert_int_equal(consume(), 1);
	assert_int_equal(taken.n, 3);
	assert_int_equal(taken.value[1], 1);
}

/* ---- real maps (needs:bpf) ------------------------------------------------------------------------ */

TEST_TITLED("ring: a real map opens empty, others are refused", ring_of_a_real_map)
{
	int fd = make_map(BPF_MAP_TYPE_RINGBUF, 65536), other;
	struct ring *r = ring_open(fd);

	assert_non_null(r);
	assert_int_equal(r->size, 65536);
	assert_int_equal(ring_produced(r), 0);
	assert_int_equal(ring_consume(r, 0, take, &taken), 1);
	ring_close(r);
	close(fd);
	other = make_map(BPF_MAP_TYPE_ARRAY, 1);
	assert_null(ring_open(other));
	assert_int_equal(errno, EINVAL);
	close(other);
	assert_null(ring_open(-1));
	assert_true(errno == EBADF || errno == EBADFD);
}
