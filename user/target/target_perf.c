// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opens the perf events that watch the host. Owns file descriptors, rings and the words for what was
 * refused; must not know what the records mean, nor which processes matter.
 *
 * An event of a CPU costs nobody anything but what it tells, an event of a thread costs that one
 * a microsecond each time it is switched in and out. So processes are watched through the whole
 * host. That takes CAP_PERFMON, and so do the probes that a watch is for.
 */
#include "target/target_perf.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "host/caps.h"

#define PAGES_MAX 128		/* of a ring */
#define PAGES_MIN 8
#define PAGES_ALL 4096		/* of all rings: 16 MiB on a host with many CPUs */

/* ---- messages ----------------------------------------------------------------------------- */

static const char *advice(int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		if (caps_have(CAP_PERFMON) || caps_have(CAP_SYS_ADMIN))
			return "a seccomp filter or a security module forbids perf_event_open here";
		return "needs CAP_PERFMON, which this process lacks";
	case EMFILE:
		return "raise the limit of open files (ulimit -n)";
	case ENOBUFS:
		return "raise kernel.perf_event_mlock_kb or run with CAP_IPC_LOCK";
	default:
		return "run gpuprof doctor";
	}
}

static void log_refused(int err)
{
	log_error("cannot watch what the processes of this host will map: %s; %s", strerror(err), advice(err));
}

/* ---- perf events -------------------------------------------------------------------------- */

static int add_fd(struct perf_set *set, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(set->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static size_t ring_pages(const struct perf_set *set)
{
	size_t pages = PAGES_MAX;

	while (pages > PAGES_MIN && pages * set->cpus.n > PAGES_ALL)
		pages /= 2;
	return pages;
}

/* Of everybody on that CPU. 0 or -errno; ENODEV: the CPU is off. */
static int open_event(struct perf_set *set, struct perf_cpu *cpu)
{
	struct perf_event_attr attr;
	int rc;

	perf_ring_fill_attr(&attr);
	cpu->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu->id, -1, PERF_FLAG_FD_CLOEXEC);
	if (cpu->fd < 0)
		return -errno;
	rc = perf_ring_map(&cpu->ring, cpu->fd, ring_pages(set));
	return rc ? rc : add_fd(set, cpu->fd);
}

/* An event on every CPU. CPUs that are switched on later are not seen. */
static int open_events(struct perf_set *set)
{
	for (size_t i = 0; i < set->cpus.n; i++) {
		int rc = open_event(set, &set->cpus.v[i]);

		if (rc && rc != -ENODEV)
			return rc;
	}
	return 0;
}

/* "0-3,8" */
static int list_cpus(struct perf_set *set)
{
	char *text = io_read_file("/sys/devices/system/cpu/online", 65536, NULL);
	const char *p = text ? text : "0";
	struct perf_cpu *cpu = NULL;
	char *end;

	while (*p >= '0' && *p <= '9') {
		long first = strtol(p, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; first <= last && first < 65536; first++) {
			cpu = VEC_PUSH(&set->cpus);
			if (!cpu)
				break;
			cpu->id = (int)first;
			cpu->fd = -1;
		}
		p = *end == ',' ? end + 1 : "";
	}
	free(text);
	return cpu ? 0 : -ENOMEM;
}

int perf_set_open(struct perf_set *set)
{
	int rc = list_cpus(set);

	if (!rc)
		rc = open_events(set);
	if (rc)
		log_refused(-rc);
	return rc;
}

void perf_set_close(struct perf_set *set)
{
	for (size_t i = 0; i < set->cpus.n; i++) {
		perf_ring_unmap(&set->cpus.v[i].ring);
		io_close(&set->cpus.v[i].fd);
	}
	VEC_FREE(&set->cpus);
}
