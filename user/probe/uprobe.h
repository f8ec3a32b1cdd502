/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The raw BPF_LINK_CREATE call for uprobe multi and session links. Debian 12's linux/bpf.h does
 * not know them and libbpf 1.4 fills their attributes for one of the two only.
 */
#ifndef PROBE_UPROBE_H
#define PROBE_UPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/loader.h"

#define LINK_UPROBE_MULTI 48	/* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */
#define LINK_UPROBE_SESSION 57	/* BPF_TRACE_UPROBE_SESSION, Linux 6.13 */

/* A link's fd or -errno. */
int link_uprobes(int prog_fd, unsigned int attach_type, bool is_return,
		 const struct loader_probes *probes);

/*
 * Closes links, some at once: each close waits for all CPUs to leave the probes (30 to 70 ms), and
 * waits overlap. Returns when all are off.
 */
void link_close_all(int *fds, size_t n);

/*
 * One uprobe or uretprobe as a perf event, and the link that runs a BPF program for it with a
 * cookie (Linux 5.15). The breakpoint lives as long as the event's fd. Closing that takes some
 * 100 ms, one after the other in the whole system, as the kernel waits for all tasks under a lock
 * of its tracing; closing the link is quick, and from then on nothing runs for the probe.
 */

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

/*
 * Closes fds whose closing takes long, behind the back of who has no use for them any more. Knows
 * nothing of what they are.
 */

struct close_later;

/* Takes the fds (not the array): they are closed one after the other by a thread of their own, or,
 * if there is none to be had, before this returns. *c: NULL at first. One caller at a time. */
void close_later_add(struct close_later **c, const int *fds, size_t n);

void close_later_wait(struct close_later **c);	/* until all are closed; then *c is NULL */

#endif
