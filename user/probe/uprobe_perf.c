// SPDX-License-Identifier: BSD-3-Clause
/* What sysfs says about the kernel's uprobe events, and two system calls. */
#include "probe/uprobe_perf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define PMU "/sys/bus/event_source/devices/uprobe/"

/* The number in a file of sysfs ("8", "config:0"). -1: there is none. */
static int read_number(const char *path)
{
	char *text = io_read_file(path, 64, NULL), *digits;
	int n = -1;

	digits = text ? text + strcspn(text, "0123456789") : NULL;
	if (digits && *digits)
		n = (int)strtol(digits, NULL, 10);
	free(text);
	return n;
}

int uprobe_perf_open(const struct uprobe_perf *probe)
{
	int type = read_number(PMU "type"), bit = read_number(PMU "format/retprobe");
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER1,	/* up to config2: nothing that 5.15 does not know */
		.type = (uint32_t)type,
		.config1 = (uintptr_t)probe->path,
		.config2 = probe->offset,
	};
	/* Without a process an event is a CPU's. That only matters to its samples: the program runs
	 * for each hit on any CPU. */
	int cpu = probe->pid ? -1 : sched_getcpu(), fd;

	if (type < 0 || bit < 0 || bit > 63)
		return -ENODEV;
	attr.config = (uint64_t)probe->is_return << bit;
	fd = (int)syscall(SYS_perf_event_open, &attr, probe->pid ? probe->pid : -1, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int uprobe_perf_link(int prog_fd, int event_fd, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int fd = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);

	return fd < 0 ? -errno : fd;
}
