// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process that is watched by one after another, as `gpuprof stat -p` again and again: however soon the
 * next comes, its records refer only to names that it was sent.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "lib/helper_run.h"

#define TURNS 12
#define KERNELS 20		/* after which a reader leaves */
#define WAIT_NS (20 * NS_PER_SEC)
#define NAMES 1024

struct got {
	uint64_t kernels, nameless, placeless;
	uint32_t devices;	/* bits */
	bool name[NAMES];
};

static int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	const struct gp_ring_device *device = payload;
	const struct gp_ring_kernel *kernel = payload;
	const struct gp_ring_name *name = payload;
	struct got *t = ctx;

	(void)len;
	if (kind == GP_RING_NAME_IS && name->id < NAMES)
		t->name[name->id] = true;
	if (kind == GP_RING_DEVICE)
		t->devices |= 1u << device->device;
	if (kind != GP_RING_KERNEL)
		return 0;
	t->kernels++;
	t->nameless += kernel->name >= NAMES || !t->name[kernel->name];
	t->placeless += !(t->devices >> kernel->device & 1);
	return 0;
}

/* As soon as it can have the slot, until it has seen enough. */
static void take_a_turn(pid_t pid, struct got *t)
{
	int fd = ring_reader_find(pid);
	struct ring_reader *s = fd < 0 ? NULL : ring_reader_open(fd, pid, GP_RING_WANT_KINDS, time_now_ns());

	assert_non_null(s);
	memset(t, 0, sizeof(*t));
	for (uint64_t end_ns = time_now_ns() + WAIT_NS; t->kernels < KERNELS && time_now_ns() < end_ns;
	     usleep(1000)) {
		assert_int_equal(ring_reader_renew(s, time_now_ns()), 0);
		assert_true(ring_reader_read(s, take, t) >= 0);
	}
	ring_reader_close(s);
}

TEST(each_of_many_readers_gets_names_and_devices)
{
	static struct got got;
	struct helper_run r;

	helper_run_start(&r, (const char *const[]){ "build/sim/pretrain", "--steps", "100000", NULL }, NULL);
	assert_int_equal(ring_reader_renew(r.source, time_now_ns()), 0);
	for (int i = 0; i < TURNS; i++) {
		take_a_turn(r.pid, &got);
		assert_true(got.kernels >= KERNELS);
		assert_int_equal(got.nameless, 0);
		assert_int_equal(got.placeless, 0);
		if (!i) {	/* from now on all have one slot */
			ring_reader_close(r.source);
			r.source = NULL;
		}
	}
	kill(r.pid, SIGKILL);
	assert_int_equal(waitpid(r.pid, NULL, 0), r.pid);
	close(r.out_fd);
}
