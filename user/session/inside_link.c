// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes on the instructions that calls return to: in a file that the process maps, at bytes that
 * callsite.h vouches for, for this process alone. What cannot be probed keeps no link.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "session/inside_internal.h"
#include "target/target_mapping.h"
#include "stack/callsite.h"

#if defined(__x86_64__)
#define RETURN_POPS 8u		/* at its entry the stack pointer is at the return address */
#else
#define RETURN_POPS 0u
#endif

void inside_mark(struct inside *in, const struct inside_call *c, uint64_t sp)
{
	struct gp_seed seed = { .sp = sp ? sp - RETURN_POPS : 0, .start_ns = c->since_ns,
				.row = c->row, .pid = (uint32_t)c->pid };
	int err = loader_seed(in->loader, (uint32_t)c->tid, &seed);

	if (err)
		log_debug("thread %d: cannot tell BPF of its call: error %d", c->tid, err);
}

/* Index, or INSIDE_NO_LINK: new to us and no memory. */
static size_t find_link(struct inside *in, const struct inside_call *c, bool *is_new)
{
	struct inside_link *l;
	size_t free_slot = in->links.n;

	for (size_t i = 0; i < in->links.n; i++) {
		l = &in->links.v[i];
		*is_new = false;
		if (l->users && l->pid == c->pid && l->returns_to == c->returns_to)
			return i;
		if (!l->users && free_slot == in->links.n)
			free_slot = i;
	}
	*is_new = true;
	l = free_slot < in->links.n ? &in->links.v[free_slot] : VEC_PUSH(&in->links);
	if (!l)
		return INSIDE_NO_LINK;
	*l = (struct inside_link){ .pid = c->pid, .returns_to = c->returns_to, .fd = -1 };
	return (size_t)(l - in->links.v);
}

static int probe(struct inside *in, const struct inside_call *c, const struct target_mapping *m)
{
	uint64_t offset = c->returns_to - m->start + m->offset;
	char path[32];
	int fd = target_mapping_open(m), link;

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	link = callsite_check(c->pid, c->returns_to, fd, offset);
	if (!link)
		link = loader_attach_left(in->loader, path, offset, c->pid);
	close(fd);
	return link;
}

static void link_call(struct inside *in, struct inside_call *c, const struct target_mapping *m)
{
	bool is_new;
	size_t at = find_link(in, c, &is_new);
	struct inside_link *l;

	if (at == INSIDE_NO_LINK)
		return;
	l = &in->links.v[at];
	if (is_new) {
		l->fd = probe(in, c, m);
		if (l->fd < 0)
			log_debug("the return of a call of thread %d cannot be probed: error %d",
				  c->tid, l->fd);
	}
	if (l->fd < 0)
		return;
	l->users++;
	c->link = at;
}

struct linking {
	struct inside *in;
	pid_t pid;
};

static int on_mapping(void *ctx, const struct target_mapping *m)
{
	struct linking *linking = ctx;
	struct inside *in = linking->in;

	if (!m->code || !m->ino)
		return 0;
	for (size_t i = 0; i < in->calls.n; i++) {
		struct inside_call *c = &in->calls.v[i];

		if (c->state == CALL_FOUND && c->link == INSIDE_NO_LINK &&
		    c->pid == linking->pid && c->returns_to >= m->start && c->returns_to < m->end)
			link_call(in, c, m);
	}
	return 0;
}

void inside_link_process(struct inside *in, pid_t pid)
{
	struct linking linking = { in, pid };

	for (size_t i = 0; i < in->calls.n; i++)
		in->calls.v[i].tried |= in->calls.v[i].pid == pid;
	target_each_mapping(pid, on_mapping, &linking);
}

void inside_unlink(struct inside *in, struct inside_call *c)
{
	if (c->link != INSIDE_NO_LINK)
		in->links.v[c->link].users--;
	c->link = INSIDE_NO_LINK;
}

void inside_close_links(struct inside *in, bool unused)
{
	enum { AT_ONCE = 64 };
	int fds[AT_ONCE];
	size_t n = 0;

	for (size_t i = 0; i < in->links.n; i++) {
		struct inside_link *l = &in->links.v[i];

		if (l->fd < 0 || (unused && l->users))
			continue;
		fds[n++] = l->fd;
		l->fd = -1;
		if (n == AT_ONCE) {
			loader_close_links(fds, n);
			n = 0;
		}
	}
	loader_close_links(fds, n);
}

void inside_leave_links(struct inside *in)
{
	for (size_t i = 0; i < in->links.n; i++) {
		struct inside_link *l = &in->links.v[i];

		if (l->fd >= 0 && !loader_keep_link(in->loader, l->fd))
			l->fd = -1;
	}
}
