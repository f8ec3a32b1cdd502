/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The raw BPF_LINK_CREATE call for uprobe multi and session links. Debian 12's linux/bpf.h does
 * not know them and libbpf 1.4 fills their attributes for one of the two only.
 */
#ifndef PROBE_UPROBE_LINK_H
#define PROBE_UPROBE_LINK_H

#include <stdbool.h>

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

#endif
