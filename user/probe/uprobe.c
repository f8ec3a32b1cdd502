// SPDX-License-Identifier: BSD-3-Clause
/* One system call, with the kernel's attribute layout written out. */
#include "probe/uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

/* ---- uprobe link --------------------------------------------------------------------------- */

/* One system call, with the kernel's attribute layout written out. */

#define CMD_LINK_CREATE 28
#define UPROBE_MULTI_RETURN 1
#define CLOSERS_MAX 16

struct link_attr {		/* bpf_attr.link_create with uprobe_multi */
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t cnt;
	uint32_t uflags;
	uint32_t pid;
	uint32_t pad;
};
_Static_assert(sizeof(struct link_attr) == 64, "bpf_attr.link_create.uprobe_multi");

int link_uprobes(int prog_fd, unsigned int attach_type, bool is_return,
		 const struct loader_probes *p)
{
	struct link_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = attach_type,
		.path = (uintptr_t)p->path,
		.offsets = (uintptr_t)p->offsets,
		.cookies = (uintptr_t)p->rows,
		.cnt = (uint32_t)p->n,
		.uflags = is_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)p->pid,
	};
	/* 60: the kernel refuses non-zero bytes that it does not know, not a shorter struct. */
	int fd = (int)syscall(SYS_bpf, CMD_LINK_CREATE, &attr, 60);

	return fd < 0 ? -errno : fd;
}

struct closing {
	int *fds;
	size_t n;
	atomic_size_t next;
};

static void *close_links(void *arg)
{
	struct closing *c = arg;

	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
		close(c->fds[i]);
	return NULL;
}

void link_close_all(int *fds, size_t n)
{
	struct closing c = { .fds = fds, .n = n };
	pthread_t helpers[CLOSERS_MAX];
	size_t started = 0;

	/* One fewer than links: this thread closes, too. A helper that does not start is not
	 * missed. */
	while (started + 1 < n && started < CLOSERS_MAX &&
	       !pthread_create(&helpers[started], NULL, close_links, &c))
		started++;
	close_links(&c);
	while (started)
		pthread_join(helpers[--started], NULL);
}

/* ---- uprobe perf --------------------------------------------------------------------------- */

/* What sysfs says about the kernel's uprobe events, and two system calls. */

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

/* ---- close later --------------------------------------------------------------------------- */

/* A thread for each batch; they are few. */

struct close_later {
	struct close_later *next;
	pthread_t thread;
	size_t n;
	int fds[];
};

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

static void *close_batch(void *arg)
{
	const struct close_later *batch = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	close_all(batch->fds, batch->n);
	return NULL;
}

void close_later_add(struct close_later **c, const int *fds, size_t n)
{
	struct close_later *batch;

	if (!n)
		return;
	batch = malloc(sizeof(*batch) + n * sizeof(*fds));
	if (batch) {
		batch->next = *c;
		batch->n = n;
		memcpy(batch->fds, fds, n * sizeof(*fds));
	}
	if (batch && !pthread_create(&batch->thread, NULL, close_batch, batch)) {
		*c = batch;
		return;
	}
	free(batch);
	close_all(fds, n);
}

void close_later_wait(struct close_later **c)
{
	while (*c) {
		struct close_later *batch = *c;

		*c = batch->next;
		pthread_join(batch->thread, NULL);
		free(batch);
	}
}
