// SPDX-License-Identifier: BSD-3-Clause
/*
 * What processes did on devices: works find their book, bucket and statistics; equal names are one
 * kernel; two processes on one ordinal are two.
 */
#include <stdio.h>
#include <string.h>

#include "ledger/devices.h"
#include "lib/test.h"
#include "lib/work_named.h"

static void push(struct devices *d, uint32_t pid, const struct work *w, const char *name,
		 uint64_t start, uint64_t end)
{
	struct event ev = { .kind = EVENT_WORK, .process = pid, .start_ns = start, .end_ns = end, .work = work_named(*w, name) };

	assert_int_equal(devices_push_work(d, &ev, NULL, 1000), 0);
}

TEST(works_find_their_book_and_statistics)
{
	struct work gemm = { .kind = WORK_KIND_KERNEL, .grid = { 1, 2, 3 }, .registers = 40 };
	struct work comm = { .kind = WORK_KIND_KERNEL, .stream = 2 };
	struct work copy = { .kind = WORK_KIND_COPY, .has = WORK_HAS_DIR, .dir = COPY_H2D,
			     .memory = MEMORY_PINNED, .bytes = 100 };
	struct work peer = { .kind = WORK_KIND_PEER, .has = WORK_HAS_DIR, .dir = COPY_D2D,
			     .bytes = 7 };
	struct work set = { .kind = WORK_KIND_SET, .bytes = 5 };
	struct devices *d = devices_new();
	const struct device_state *s;
	struct device_sum sum;

	push(d, 1, &gemm, "sgemm_kernel", 1010, 1030);
	gemm.grid[0] = 9;
	push(d, 1, &gemm, "sgemm_kernel", 1040, 1050);
	push(d, 1, &comm, "ncclDevKernel_AllReduce", 1020, 1045);
	push(d, 1, &copy, NULL, 1050, 1060);
	push(d, 1, &peer, NULL, 1060, 1065);
	push(d, 1, &set, NULL, 1070, 1072);
	push(d, 2, &gemm, NULL, 1000, 1001);
	assert_int_equal(devices_count(d), 2);
	s = devices_get(d, 0);
	assert_int_equal(kernels_count(&s->kernels), 2);
	assert_string_equal(kernels_at(&s->kernels, 0)->name, "sgemm_kernel");
	assert_int_equal(kernels_at(&s->kernels, 0)->time.count, 2);
	assert_int_equal(kernels_at(&s->kernels, 0)->time.total, 30);
	assert_int_equal(kernels_at(&s->kernels, 0)->last.registers, 40);
	assert_true(kernels_at(&s->kernels, 0)->mixed);
	assert_false(kernels_at(&s->kernels, 1)->mixed);
	assert_int_equal(s->copies[COPY_H2D][MEMORY_PINNED].bytes, 100);
	assert_int_equal(s->copies[COPY_DEFAULT + 1][MEMORY_UNKNOWN].total_ns, 5);
	assert_int_equal(s->sets.count, 1);
	assert_int_equal(device_book_read(s->member.book, 1100, &sum, NULL, NULL), 0);
	assert_int_equal(sum.owned_ns[DEVICE_KERNELS + KERNEL_GEMM], 30);
	assert_int_equal(sum.owned_ns[DEVICE_KERNELS + KERNEL_COMM], 10);
	assert_int_equal(sum.busy_ns[DEVICE_KERNELS + KERNEL_COMM], 25);
	assert_int_equal(sum.owned_ns[DEVICE_COPIES + COPY_H2D], 10);
	assert_int_equal(sum.owned_ns[DEVICE_COPIES_PEER], 5);
	assert_int_equal(sum.owned_ns[DEVICE_SETS], 2);
	assert_int_equal(sum.idle_ns, 100 - 57);
	assert_null(kernels_at(&devices_get(d, 1)->kernels, 0)->name);
	devices_free(d);
}

/* What has no row of its own is in the row of its class, and in the right bucket of the book. */
TEST(many_names_are_distinct_up_to_a_bound)
{
	enum { NAMES = 20000 };
	struct work w = { .kind = WORK_KIND_KERNEL };
	struct devices *d = devices_new();
	const struct kernels *ks;
	uint64_t count = 0, others[KERNEL_CLASSES] = { 0 };
	struct device_sum sum;
	char name[32];

	for (uint64_t i = 0; i < 2 * NAMES; i++) {
		snprintf(name, sizeof(name), i % 2 ? "sgemm_%llu" : "k%llu", (unsigned long long)(i / 2));
		push(d, 1, &w, name, 2000 + i, 2001 + i);
	}
	ks = &devices_get(d, 0)->kernels;
	assert_true(kernels_count(ks) > 2000 && kernels_count(ks) < NAMES);
	assert_string_equal(kernels_at(ks, 77)->name, "sgemm_38");
	for (size_t i = 0; i < kernels_count(ks); i++) {
		count += kernels_at(ks, i)->time.count;
		if (!strcmp(kernels_at(ks, i)->name, "[other]"))
			others[kernels_at(ks, i)->class] += kernels_at(ks, i)->time.count;
	}
	assert_int_equal(count, 2 * NAMES);
	assert_true(others[KERNEL_GEMM] > NAMES / 4);
	assert_int_equal(others[KERNEL_GEMM] + others[KERNEL_OTHER], 2 * NAMES - (kernels_count(ks) - 2));
	assert_int_equal(device_book_read(devices_get(d, 0)->member.book, 2000 + 2 * NAMES, &sum, NULL, NULL), 0);
	assert_int_equal(sum.owned_ns[DEVICE_KERNELS + KERNEL_GEMM], NAMES);
	devices_free(d);
}

TEST(every_row_of_buckets_has_a_name_of_its_own)
{
	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
		for (unsigned int k = 0; k < device_bucket_row(i); k++)
			assert_string_not_equal(device_bucket_name(i), device_bucket_name(k));
	assert_true(DEVICE_BUCKETS_END <= DEVICE_BUCKETS);
}
