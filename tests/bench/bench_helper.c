// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the helper's hot paths cost: a record into the ring of one reader (who keeps up), a name that
 * is known, a range by NVTX unwatched and watched. One line each: its name and ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "source/helper/ring_reader.h"
#include "gpuprof/work.h"
#include "helper/names.h"
#include "helper/nvtx.h"
#include "helper/ring.h"

#define ROUNDS 50
#define BATCH 20000u	/* of the longest records, less than a ring */
#define RING (8u << 20)

typedef void (*place_fn)(void);

static place_fn push_place, pop_place;
static place_fn *places[16];

static int find_places(int module, place_fn ***out, unsigned int *n)
{
	places[9] = module == 1 ? &push_place : NULL;	/* nvtxRangePushA */
	places[11] = module == 1 ? &pop_place : NULL;
	*out = places;
	*n = 16;
	return 1;
}

static const void *export_table(uint32_t table)
{
	static const struct {
		size_t bytes;
		int (*places)(int module, place_fn ***out, unsigned int *n);
	} callbacks = { sizeof(callbacks), find_places };

	return table == 1 ? &callbacks : NULL;
}

struct bench {
	struct helper_ring ring;
	struct names *names;
	struct ring_reader *reader;
	uint64_t taken;	/* kernels and ranges */
};

static void send_kernel(struct bench *b)
{
	static const struct gp_ring_kernel kernel = { .start = 1, .end = 2 };

	helper_ring_send(&b->ring, GP_RING_KERNEL, &kernel, sizeof(kernel));
}

static void know_name(struct bench *b)
{
	uint32_t id;

	id = names_of(b->names, &b->ring, "void at::native::vectorized_elementwise_kernel<4>()");
	__asm__ volatile("" : : "r"(id));
}

static void push_pop(struct bench *b)
{
	(void)b;
	((int (*)(const char *))push_place)("step");
	((int (*)(void))pop_place)();
}

static int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	uint64_t *taken = ctx;

	(void)payload;
	(void)len;
	*taken += kind == GP_RING_KERNEL || kind == GP_RING_RANGE;
	return 0;
}

/* The helper knows of its reader as long as that renews its lease. */
static void renew(struct bench *b)
{
	uint64_t now_ns = time_now_ns();
	uint32_t fresh;

	if (ring_reader_renew(b->reader, now_ns))
		exit(1);
	helper_ring_look(&b->ring, now_ns, &fresh);
	helper_ring_admit(&b->ring);
}

/* The reader renews and reads between batches, which is not counted. */
static void measure(struct bench *b, const char *what, void (*fn)(struct bench *b), unsigned int each)
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start, ns;

		if (b->reader)
			renew(b);
		start = time_now_ns();
		for (unsigned int i = 0; i < BATCH; i++)
			fn(b);
		ns = time_now_ns() - start;
		best = ns < best ? ns : best;
		if (b->reader && ring_reader_read(b->reader, take, &b->taken) != 1)
			exit(1);
	}
	printf("%s %.1f\n", what, (double)best / BATCH / each);
}

int main(void)
{
	struct bench b = { .names = names_new() };

	if (!b.names || helper_ring_open(&b.ring, RING, 1))
		return 1;
	nvtx_open(&b.ring, b.names);
	nvtx_attach(export_table);
	measure(&b, "range-asleep", push_pop, 2);
	b.reader = ring_reader_open(dup(b.ring.fd), getpid(), GP_RING_WANT_KINDS, 0);
	if (!b.reader)
		return 1;
	measure(&b, "record", send_kernel, 1);
	measure(&b, "name", know_name, 1);
	measure(&b, "range", push_pop, 2);
	if (b.taken < 2 * ROUNDS * BATCH ||
	    ring_reader_lost(b.reader, 1u << GP_RING_KERNEL | 1u << GP_RING_RANGE))
		return 1;	/* what no reader wants or has no room costs less */
	ring_reader_close(b.reader);
	helper_ring_close(&b.ring);
	return 0;
}
