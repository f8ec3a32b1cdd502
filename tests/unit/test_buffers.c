// SPDX-License-Identifier: BSD-3-Clause
/* The helper's buffers: what CUPTI got and did not give back is known, once something is in it. */
#include <string.h>

#include "helper/buffers.h"
#include "lib/test.h"

TEST(records_in_buffers_that_do_not_come_back_are_known)
{
	struct buffers b;
	uint8_t *empty, *old, *new;

	assert_int_equal(buffers_open(&b), 0);
	empty = buffers_take(&b, BUFFER_BYTES, false, 10);
	old = buffers_take(&b, BUFFER_BYTES, false, 20);
	new = buffers_take(&b, BUFFER_BYTES, false, 30);
	memset(empty + 64, 1, 8);	/* no record begins with 0 */
	assert_int_equal(buffers_kept(&b, 100).bytes, 0);
	assert_int_equal(buffers_kept(&b, 100).since_ns, 0);
	memset(old, 1, 1000);
	memset(new, 1, BUFFER_BYTES);
	assert_int_equal(buffers_kept(&b, 20).bytes, 0);
	assert_int_equal(buffers_kept(&b, 30).bytes, 1000);
	assert_int_equal(buffers_kept(&b, 100).bytes, 1000 + BUFFER_BYTES);
	assert_int_equal(buffers_kept(&b, 100).since_ns, 20);
	buffers_give(&b, old, 1000);
	assert_int_equal(buffers_kept(&b, 100).bytes, BUFFER_BYTES);
	assert_int_equal(buffers_kept(&b, 100).since_ns, 30);
	buffers_give(&b, new, BUFFER_BYTES);
	assert_int_equal(buffers_kept(&b, 100).bytes, 0);
}

TEST(without_a_free_buffer_discarded_records_are_never_kept)
{
	struct buffers b;
	uint8_t *waste = NULL;

	assert_int_equal(buffers_open(&b), 0);
	for (int i = 0; i <= BUFFERS_MAX; i++)
		waste = buffers_take(&b, BUFFER_BYTES, false, 10);
	assert_false(buffers_have(&b, waste));
	assert_int_equal(b.refused, 1);
	/* Of a CUPTI that a refusal does not end. */
	assert_null(buffers_take(&b, BUFFER_BYTES, true, 10));
	assert_int_equal(b.refused, 2);
	memset(waste, 1, 1000);
	assert_int_equal(buffers_kept(&b, 100).bytes, 0);
}

TEST(small_ones_take_their_size_of_the_pool_beside_large_ones)
{
	struct buffers b;
	uint8_t *large, *small, *again;

	assert_int_equal(buffers_open(&b), 0);
	large = buffers_take(&b, BUFFER_BYTES, true, 10);
	assert_non_null(large);
	memset(large, 1, BUFFER_BYTES);
	for (size_t i = 0; i < BUFFER_PARTS_MAX - BUFFER_PARTS; i++) {
		small = buffers_take(&b, BUFFER_PART_BYTES, true, 20);
		assert_non_null(small);
		assert_int_equal(*small, 0);
		memset(small, 1, BUFFER_PART_BYTES);
	}
	assert_null(buffers_take(&b, BUFFER_PART_BYTES, true, 20));
	assert_int_equal(b.refused, 1);
	assert_int_equal(buffers_kept(&b, 100).bytes, BUFFERS_MAX * BUFFER_BYTES);
	buffers_give(&b, small, BUFFER_PART_BYTES);
	assert_int_equal(buffers_kept(&b, 100).bytes,
			 BUFFERS_MAX * BUFFER_BYTES - BUFFER_PART_BYTES);
	again = buffers_take(&b, BUFFER_PART_BYTES, true, 30);
	assert_ptr_equal(again, small);
	assert_null(buffers_take(&b, BUFFER_BYTES, true, 30));
	buffers_give(&b, large, BUFFER_BYTES);
	assert_ptr_equal(buffers_take(&b, BUFFER_BYTES, true, 30), large);
	assert_int_equal(*large, 0);
	assert_true(buffers_are_out(&b));
}
