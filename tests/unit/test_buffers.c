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
	empty = buffers_take(&b, 10);
	old = buffers_take(&b, 20);
	new = buffers_take(&b, 30);
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
		waste = buffers_take(&b, 10);
	assert_true(buffers_is_waste(&b, waste));
	assert_int_equal(b.refused, 1);
	memset(waste, 1, 1000);
	assert_int_equal(buffers_kept(&b, 100).bytes, 0);
}
