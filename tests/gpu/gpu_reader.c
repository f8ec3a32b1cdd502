// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_reader PID SECONDS [nodes]: reads the process's helper for so long, or until SIGTERM, without probes
 * or privileges beyond the process's own, and prints what it found of CUPTI there (nodes: it asks for
 * each node of graphs, else whole graphs are enough):
 *
 *   state awake              as the ring's head has it; with why, where that is known
 *   arming_ns 12345678       from our wake until it was awake
 *   cupti 130000             its version
 *   kernel_bytes 224         the stride of its kernel records
 *   uncertainty_ns 420       half of the closest reading of both clocks; the median
 *   kernels 1000             records; with their copies, sets, graphs, API records
 *   unknown 0                records whose kind or size is not known
 *   lost 0                   records that CUPTI dropped or the ring had no room for
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "source/helper/ring_reader.h"
#include "gpuprof/work.h"

enum { CLOCKS_MAX = 4096 };

struct found {
	uint64_t kinds[GP_RING_KINDS];
	uint64_t unknown, dropped;
	uint64_t around_ns[CLOCKS_MAX];	/* of a reading of the device clock, by the host's */
	size_t clocks;
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct found *f = ctx;
	struct gp_ring_clock clock;
	struct gp_ring_loss loss;

	if (kind < GP_RING_KINDS)
		f->kinds[kind]++;
	if (kind == GP_RING_CLOCK && len >= sizeof(clock) && f->clocks < CLOCKS_MAX) {
		memcpy(&clock, payload, sizeof(clock));
		f->around_ns[f->clocks++] = clock.host_after_ns - clock.host_before_ns;
	}
	if (kind == GP_RING_LOSS && len >= sizeof(loss)) {
		memcpy(&loss, payload, sizeof(loss));
		*(loss.cause == GP_LOSS_UNKNOWN ? &f->unknown : &f->dropped) += loss.count;
	}
	return 0;
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[GP_HELPER_VIRGIN] = "virgin", [GP_HELPER_ARMING] = "arming",
		[GP_HELPER_AWAKE] = "awake", [GP_HELPER_DRAINED] = "drained",
		[GP_HELPER_YIELDED] = "yielded", [GP_HELPER_FAILED] = "failed",
		[GP_HELPER_ENDED] = "ended",
	};

	return state < sizeof(names) / sizeof(names[0]) && names[state] ? names[state] : "?";
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(struct found *f, const struct gp_ring_head *head, uint64_t arming_ns, uint64_t lost)
{
	if (f->clocks)
		qsort(f->around_ns, f->clocks, sizeof(*f->around_ns), compare);
	printf("state %s%s%s%s\n", state_name(head->state), *head->reason ? " " : "", head->reason,
	       head->occupant);
	printf("arming_ns %" PRIu64 "\n", arming_ns);
	printf("cupti %" PRIu32 "\n", head->cupti_version);
	printf("kernel_bytes %" PRIu32 "\n", head->kernel_bytes);
	if (f->clocks)
		printf("uncertainty_ns %" PRIu64 " %" PRIu64 "\n", f->around_ns[0] / 2,
		       f->around_ns[f->clocks / 2] / 2);
	printf("kernels %" PRIu64 " copies %" PRIu64 " sets %" PRIu64 " graphs %" PRIu64 " calls %" PRIu64
	       "\n", f->kinds[GP_RING_KERNEL], f->kinds[GP_RING_COPY], f->kinds[GP_RING_SET],
	       f->kinds[GP_RING_GRAPH], f->kinds[GP_RING_API]);
	printf("unknown %" PRIu64 "\nlost %" PRIu64 "\n", f->unknown, f->dropped + lost);
}

/* The ring's, and how long it took to be awake (0: it never was). */
static int watch(struct ring_reader *s, double seconds, struct found *f, uint64_t *arming_ns)
{
	uint64_t start = time_now_ns(), end = start + (uint64_t)(seconds * 1e9), now;
	struct gp_ring_head head;

	*arming_ns = 0;
	while ((now = time_now_ns()) < end && !stop) {
		if (ring_reader_renew(s, now) || ring_reader_read(s, take, f) < 0)
			return -1;
		ring_reader_head(s, &head);
		if (!*arming_ns && head.state == GP_HELPER_AWAKE)
			*arming_ns = now - start;
		usleep(1000);
	}
	usleep(300000);
	return ring_reader_read(s, take, f) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	static struct found found;
	uint32_t wants = GP_RING_WANT_KINDS | (argc == 4 ? GP_RING_WANT_NODES : 0);
	int pid = argc >= 3 ? atoi(argv[1]) : 0, fd = pid ? ring_reader_find(pid) : -1, err;
	struct ring_reader *s = fd >= 0 ? ring_reader_open(fd, pid, wants, 0) : NULL;
	uint64_t arming_ns, lost = 0;
	struct gp_ring_head head;

	if (!s) {
		puts("state none");
		return 1;
	}
	signal(SIGTERM, on_signal);
	err = watch(s, strtod(argv[2], NULL), &found, &arming_ns);
	ring_reader_head(s, &head);
	for (uint16_t kind = 0; kind < GP_RING_KINDS; kind++)
		lost += ring_reader_lost(s, 1u << kind);
	print(&found, &head, arming_ns, lost);
	ring_reader_close(s);
	return err != 0;
}
