// SPDX-License-Identifier: BSD-3-Clause
/* One system call, with the kernel's attribute layout written out. */
#include "probe/uprobe_link.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

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

	/* One fewer than links: this thread closes, too. A helper that does not start is not missed. */
	while (started + 1 < n && started < CLOSERS_MAX &&
	       !pthread_create(&helpers[started], NULL, close_links, &c))
		started++;
	close_links(&c);
	while (started)
		pthread_join(helpers[--started], NULL);
}
