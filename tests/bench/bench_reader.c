// SPDX-License-Identifier: BSD-3-Clause
/* bench_reader PID: watches the process's helper until stdin ends; says "awake" when it is. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "source/helper/ring_reader.h"

static int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	(void)ctx;
	(void)kind;
	(void)payload;
	(void)len;
	return 0;
}

int main(int argc, char **argv)
{
	int pid = argc == 2 ? atoi(argv[1]) : 0, fd = pid ? ring_reader_find(pid) : -1;
	struct ring_reader *s = fd >= 0 ? ring_reader_open(fd, pid, GP_RING_WANT_KINDS, 0) : NULL;
	struct pollfd end = { .events = POLLIN };
	struct gp_ring_head head;
	int said = 0;

	if (!s)
		return 1;
	while (!poll(&end, 1, 5)) {
		if (ring_reader_renew(s, time_now_ns()) || ring_reader_read(s, take, NULL) < 0)
			return 1;
		ring_reader_head(s, &head);
		if (!said && head.state == GP_HELPER_AWAKE)
			said = puts("awake") >= 0 && !fflush(stdout);
	}
	ring_reader_close(s);
	return 0;
}
