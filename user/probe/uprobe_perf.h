/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One uprobe or uretprobe as a perf event, and the link that runs a BPF program for it with a
 * cookie (Linux 5.15). The breakpoint lives as long as the event's fd. Closing that takes some
 * 100 ms, one after the other in the whole system, as the kernel waits for all tasks under a lock
 * of its tracing; closing the link is quick, and from then on nothing runs for the probe.
 */
#ifndef PROBE_UPROBE_PERF_H
#define PROBE_UPROBE_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct uprobe_perf {
	const char *path;
	uint64_t offset;
	bool is_return;
	pid_t pid;		/* 0: all processes */
};

/* An event's fd or -errno: EACCES (without CAP_SYS_ADMIN), -524 (an instruction that cannot be
 * probed), ESRCH, ENODEV (this kernel has no such events). */
int uprobe_perf_open(const struct uprobe_perf *probe);

int uprobe_perf_link(int prog_fd, int event_fd, uint64_t cookie);	/* a link's fd or -errno */

#endif
