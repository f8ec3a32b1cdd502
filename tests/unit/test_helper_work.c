// SPDX-License-Identifier: BSD-3-Clause
/* A helper's records as works: the device of a graph that begins on the host. */
#include "source/helper/decode.c"
#include "lib/test.h"

#define ON_HOST 0x7fffffffu

static struct work graph_of(uint32_t context, uint32_t device)
{
	const struct gp_ring_graph g = { .context = context, .device = device, .correlation = 7 };
	struct work w;

	helper_work_graph(&g, &w);
	assert_int_equal(w.kind, WORK_KIND_GRAPH);
	assert_int_equal(w.correlation, 7);
	return w;
}

TEST(a_graph_that_begins_on_the_host_is_of_its_contexts_device)
{
	struct helper_contexts c = { .n = 0 };
	struct work w = graph_of(2, ON_HOST);

	assert_false(helper_contexts_device(&c, &w));
	helper_contexts_note(&c, 2, 5);
	w = graph_of(2, ON_HOST);
	assert_true(helper_contexts_device(&c, &w));
	assert_int_equal(w.device, 5);
	w = graph_of(3, 1);
	assert_true(helper_contexts_device(&c, &w));
	assert_int_equal(w.device, 1);
	w = graph_of(3, ON_HOST);
	assert_true(helper_contexts_device(&c, &w));
	assert_int_equal(w.device, 1);
}

TEST(where_there_is_one_device_it_is_that)
{
	struct helper_contexts c = { .devices = 1, .device = 4 };
	struct work w = graph_of(2, ON_HOST);

	assert_true(helper_contexts_device(&c, &w));
	assert_int_equal(w.device, 4);
	c.devices = 2;
	w = graph_of(2, ON_HOST);
	assert_false(helper_contexts_device(&c, &w));
}

TEST(more_contexts_than_there_is_room_for_are_not_known)
{
	struct helper_contexts c = { .n = 0 };
	struct work w;

	for (uint32_t i = 0; i < HELPER_CONTEXTS_MAX + 10; i++)
		helper_contexts_note(&c, i, i + 100);
	w = graph_of(HELPER_CONTEXTS_MAX - 1, ON_HOST);
	assert_true(helper_contexts_device(&c, &w));
	assert_int_equal(w.device, HELPER_CONTEXTS_MAX + 99);
	w = graph_of(HELPER_CONTEXTS_MAX, ON_HOST);
	assert_false(helper_contexts_device(&c, &w));
}
