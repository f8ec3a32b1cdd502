// SPDX-License-Identifier: BSD-3-Clause
/*
 * From probes of a file to links of the kernel: which programs stand for a call in each way, what
 * their cookies say, and in which order they are attached. Knows nothing of files beyond a path.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/loader_internal.h"
#include "probe/uprobe_link.h"
#include "probe/uprobe_perf.h"

/* So many functions at a time: closing their events takes up to 0.1 s each (5.15: entry and return). */
#define PERF_PROBES_MAX 32

static int keep_fd(struct loader_fds *fds, int fd)
{
	int *slot;

	if (fd < 0)
		return fd;
	slot = VEC_PUSH(fds);
	if (!slot) {
		close(fd);
		return -ENOMEM;
	}
	*slot = fd;
	return 0;
}

static size_t session_legs(const struct gpuprof_bpf *skel, struct loader_leg legs[2])
{
	legs[0] = (struct loader_leg){ .prog = skel->progs.call_session };
	return 1;
}

static int session_add(struct loader *l, const struct loader_leg *leg,
		       const struct loader_probes *p)
{
	return keep_fd(&l->links, link_uprobes(bpf_program__fd(leg->prog), LINK_UPROBE_SESSION, false, p));
}

/* Returns first: an entry seen without its return would look like a call that hangs. */
static size_t pair_legs(const struct gpuprof_bpf *skel, struct loader_leg legs[2])
{
	legs[0] = (struct loader_leg){ .prog = skel->progs.call_return, .is_return = true };
	legs[1] = (struct loader_leg){ .prog = skel->progs.call_entry };
	return 2;
}

static int multi_add(struct loader *l, const struct loader_leg *leg, const struct loader_probes *p)
{
	return keep_fd(&l->links, link_uprobes(bpf_program__fd(leg->prog), LINK_UPROBE_MULTI,
					 leg->is_return, p));
}

static int perf_add_one(struct loader *l, int prog_fd, const struct uprobe_perf *probe,
			uint64_t cookie)
{
	int event_fd = uprobe_perf_open(probe), err;

	err = keep_fd(&l->events, event_fd);
	return err ? err : keep_fd(&l->links, uprobe_perf_link(prog_fd, event_fd, cookie));
}

static int perf_add(struct loader *l, const struct loader_leg *leg, const struct loader_probes *p)
{
	struct uprobe_perf probe = { .path = p->path, .is_return = leg->is_return, .pid = p->pid };
	int err = 0;

	for (size_t i = 0; i < p->n && !err; i++) {
		probe.offset = p->offsets[i];
		err = perf_add_one(l, bpf_program__fd(leg->prog), &probe, p->rows[i]);
	}
	return err;
}

static const struct loader_links ways[] = {
	[WAY_AUTO] = { .name = "auto" },
	[WAY_SESSION] = {
		.name = "session", .needs = { .what = "uprobe session links", .since = "6.13" },
		.attach_type = LINK_UPROBE_SESSION, .legs = session_legs, .add = session_add,
	},
	[WAY_MULTI] = {
		.name = "multi", .needs = { .what = "uprobe multi links", .since = "6.6" },
		.attach_type = LINK_UPROBE_MULTI, .legs = pair_legs, .add = multi_add,
	},
	[WAY_PERF] = {
		.name = "perf", .probes_max = PERF_PROBES_MAX, .legs = pair_legs, .add = perf_add,
		.needs = { .what = "uprobe events with BPF cookies", .since = "5.15",
			   .capability = CAP_SYS_ADMIN, .capability_name = "CAP_SYS_ADMIN" },
	},
};

const struct loader_links *loader_links_of(enum loader_way way)
{
	return &ways[way];
}

const char *loader_way_name(enum loader_way way)
{
	return ways[way].name;
}

static void choose(struct bpf_program *prog, unsigned int attach_type)
{
	bpf_program__set_autoload(prog, true);
	bpf_program__set_expected_attach_type(prog, attach_type);
}

void loader_choose_programs(const struct loader *l)
{
	const struct loader_links *way = &ways[l->way];
	struct loader_leg legs[2];

	for (size_t i = way->legs(l->skel, legs); i--;)
		choose(legs[i].prog, way->attach_type);
}

/* The cookies of one file's links. */
static uint64_t *make_cookies(const struct loader_probes *p)
{
	uint64_t flags = p->pid ? GP_COOKIE_FILTERED : p->waits ? GP_COOKIE_WAITING : 0;
	uint64_t *cookies = calloc(p->n, sizeof(*cookies));

	for (size_t i = 0; cookies && i < p->n; i++)
		cookies[i] = p->rows[i] | flags;
	return cookies;
}

static void drop_from(struct loader *l, size_t links, size_t events)
{
	link_close_all(l->links.v + links, l->links.n - links);
	l->links.n = links;
	close_later_add(&l->closing, l->events.v + events, l->events.n - events);
	l->events.n = events;
}

static int attach_links(struct loader *l, const struct loader_probes *p)
{
	const struct loader_links *way = &ways[l->way];
	struct loader_leg legs[2];
	size_t n = way->legs(l->skel, legs);
	size_t links = l->links.n, events = l->events.n;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (!legs[i].is_return || l->returns != GP_RETURNS_NONE)
			err = way->add(l, &legs[i], p);
	if (err)
		drop_from(l, links, events);
	return err;
}

int loader_attach(struct loader *l, const struct loader_probes *p)
{
	uint64_t *cookies = make_cookies(p);
	struct loader_probes with_cookies = *p;
	int err;

	if (!cookies)
		return -ENOMEM;
	with_cookies.rows = cookies;
	err = attach_links(l, &with_cookies);
	free(cookies);
	return err;
}
