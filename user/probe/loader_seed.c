// SPDX-License-Identifier: BSD-3-Clause
/* Small wrappers of maps and links; see the header. Knows nothing of stacks. */
#include "probe/loader_seed.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "probe/loader_internal.h"
#include "host/proc.h"

static int read_regs(struct loader *l, loader_regs_fn fn, void *ctx)
{
	int fd = loader_open_iterator(l->skel->progs.task_regs, NULL), err;

	if (fd < 0)
		return fd;
	err = loader_regs_each(fd, fn, ctx);
	close(fd);
	return err;
}

int loader_look(struct loader *l, const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx)
{
	int map = bpf_map__fd(l->skel->maps.looked_at), err = 0;
	uint32_t yes = 1;

	if (!proc_pids_are_hosts())
		return -ENOTSUP;
	for (size_t i = 0; i < n && !err; i++)
		err = bpf_map_update_elem(map, &pids[i], &yes, BPF_ANY);
	if (!err)
		err = read_regs(l, fn, ctx);
	for (size_t i = 0; i < n; i++)
		bpf_map_delete_elem(map, &pids[i]);
	return err;
}

int loader_mark_in_flight(struct loader *l, uint32_t tid)
{
	uint32_t yes = 1;

	return bpf_map_update_elem(bpf_map__fd(l->skel->maps.in_flight), &tid, &yes, BPF_ANY);
}

bool loader_is_in_flight(struct loader *l, uint32_t tid)
{
	uint32_t yes;

	return !bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.in_flight), &tid, &yes);
}

void loader_forget_in_flight(struct loader *l, uint32_t tid)
{
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.in_flight), &tid);
}
