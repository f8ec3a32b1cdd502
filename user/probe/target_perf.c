// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opens the perf events that watch a process or the host. Owns file descriptors, rings and the
 * words for what was refused; must not know what the records mean.
 *
 * An event of a CPU costs nobody anything but what it tells, an event of a thread costs that one
 * a microsecond each time it is switched in and out. So a process is watched through the whole
 * host, too, where that is permitted.
 *
 * Where it is not: a perf event belongs to one thread, and only an event of one CPU can be both
 * inherited and mapped. So a process takes an event per thread and CPU (those of one CPU share a
 * ring), and the threads and children to come inherit them.
 */
#include "probe/target_perf.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "probe/caps.h"

#define EVENTS_MAX 512		/* threads x CPUs before the whole host is cheaper */
#define PASSES_MAX 16		/* over the threads of a process that keeps making some */
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

static void log_refused(pid_t pid, bool filtered, int err)
{
	char what[80];

	if (pid > 0 && err == ESRCH)
		return;		/* whether that matters the caller knows */
	if (pid < 0)
		snprintf(what, sizeof(what), "the processes of this host");
	else
		snprintf(what, sizeof(what), "process %d%s", pid,
			 filtered ? " (through the whole host)" : "");
	log_error("cannot watch what %s will map: %s; %s", what, strerror(err), advice(err));
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

/* pid -1: of everybody on that CPU. 0 or -errno; ENODEV: the CPU is off. */
static int open_event(struct perf_set *set, pid_t pid, struct perf_cpu *cpu)
{
	struct perf_event_attr attr;
	int *slot, fd, rc;

	perf_ring_fill_attr(&attr);
	attr.inherit = pid > 0;
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu->id, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	slot = VEC_PUSH(&set->fds);
	if (!slot) {
		close(fd);
		return -ENOMEM;
	}
	*slot = fd;
	if (cpu->fd >= 0)
		rc = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->fd) ? -errno : 0;
	else
		rc = perf_ring_map(&cpu->ring, fd, ring_pages(set));
	if (!rc && cpu->fd < 0)
		cpu->fd = fd;
	return rc ? rc : add_fd(set, fd);
}

/* An event on every CPU. CPUs that are switched on later are not seen. */
static int open_everywhere(struct perf_set *set, pid_t pid)
{
	for (size_t i = 0; i < set->cpus.n; i++) {
		int rc = open_event(set, pid, &set->cpus.v[i]);

		if (rc && rc != -ENODEV)
			return rc;
	}
	return 0;
}

struct thread_pass {
	struct perf_set *set;
	size_t opened;
};

static int open_thread(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	struct thread_pass *pass = ctx;
	struct perf_set *set = pass->set;
	bool is_new = false;
	int rc;

	(void)start_ns, (void)comm;
	if (!map_put(&set->tids, (uint64_t)tid, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	if (set->tids.n * set->cpus.n > EVENTS_MAX)
		return -E2BIG;
	rc = open_everywhere(set, tid);
	pass->opened += !rc;
	return rc == -ESRCH ? 0 : rc;	/* the thread has ended */
}

/*
 * Threads that are made meanwhile inherit, or come from one that had no event yet: so until a
 * pass finds nobody new. A thread met both ways sends everything twice (see is_twin).
 */
static int open_process(struct perf_set *set, pid_t pid)
{
	for (int i = 0; i < PASSES_MAX; i++) {
		struct thread_pass pass = { .set = set };
		int rc = target_each_thread(pid, open_thread, &pass);

		if (rc)
			return rc;
		if (!pass.opened)
			return set->fds.n ? 0 : -ESRCH;
	}
	return -E2BIG;
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

static void close_events(struct perf_set *set)
{
	for (size_t i = 0; i < set->cpus.n; i++) {
		perf_ring_unmap(&set->cpus.v[i].ring);
		free((char *)set->cpus.v[i].last.ev.text);
		set->cpus.v[i].last = (struct perf_record){ 0 };
		set->cpus.v[i].fd = -1;
	}
	for (size_t i = 0; i < set->fds.n; i++)
		close(set->fds.v[i]);
	set->fds.n = 0;
}

static bool may_watch_host(void)
{
	return caps_have(CAP_PERFMON) || caps_have(CAP_SYS_ADMIN);
}

static int open_events(struct perf_set *set, pid_t pid, bool whole_host)
{
	set->whole_host = whole_host;
	return whole_host ? open_everywhere(set, -1) : open_process(set, pid);
}

/* The one way was refused where the other one may not be. */
static bool is_worth_other_way(const struct perf_set *set, int rc)
{
	return set->whole_host ? rc == -EACCES || rc == -EPERM : rc == -E2BIG || rc == -EMFILE;
}

int perf_set_open(struct perf_set *set, pid_t pid)
{
	int rc = list_cpus(set);

	if (!rc)
		rc = open_events(set, pid, pid < 0 || may_watch_host());
	if (pid > 0 && is_worth_other_way(set, rc)) {
		close_events(set);
		rc = open_events(set, pid, !set->whole_host);
	}
	if (rc)
		log_refused(pid, set->whole_host, -rc);
	return rc;
}

void perf_set_close(struct perf_set *set)
{
	close_events(set);
	VEC_FREE(&set->fds);
	VEC_FREE(&set->cpus);
	map_free(&set->tids);
}
