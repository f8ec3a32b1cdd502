// SPDX-License-Identifier: BSD-3-Clause
/*
 * See the header. What a trainer forks for its data (PyTorch's loaders) maps CUDA's library where its parent does, and
 * could not use it; CUPTI's start there would be the trainer's copied state: it is left alone.
 */
#include "session/bring_whom.h"

#include <errno.h>
#include <fnmatch.h>
#include <unistd.h>

#include "base/str.h"
#include "source/helper/ring_reader.h"
#include "host/proc.h"
#include "target/target.h"
#include "target/target_mapping.h"

static int find_cuda(void *ctx, const struct target_mapping *m)
{
	uint64_t *at = ctx;

	if (fnmatch("libcuda.so*", str_basename(m->path), 0))
		return 0;
	*at = m->start;
	return 1;
}

static pid_t parent_of(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, &stat) ? stat.ppid : 0;
}

static bool is_copy(const struct bring_whom *whom, const struct bring_one *one)
{
	const struct map_slot *parent = one->cuda_at ? map_find(&whom->known, (uint64_t)parent_of(one->pid)) : NULL;

	return parent && whom->v.v[parent->value].cuda_at == one->cuda_at;
}

static int add(struct bring_whom *whom, pid_t pid, bool is_named)
{
	struct bring_one one = { .pid = pid, .is_named = is_named };
	struct gp_ring_head head;
	struct bring_one *slot;
	struct map_slot *known;
	bool is_new;
	int err;

	known = map_put(&whom->known, (uint64_t)pid, &is_new);
	if (!known)
		return -ENOMEM;
	if (!is_new)
		return 0;
	known->value = whom->v.n;
	one.is_unknown = target_each_mapping(pid, find_cuda, &one.cuda_at) < 0 || pid == getpid();
	err = ring_reader_peek(pid, &head);
	one.has_helper = !err || err == -EBADMSG || err == -EPROTO;	/* what is wrong with it is said later */
	slot = VEC_PUSH(&whom->v);
	if (!slot)
		return -ENOMEM;
	*slot = one;
	return 0;
}

static int add_below(void *ctx, pid_t pid)
{
	return add(ctx, pid, false);
}

int bring_whom_read(struct bring_whom *whom, const struct session_options *o)
{
	int err = 0;

	*whom = (struct bring_whom){ .v = { .n = 0 } };
	for (size_t i = 0; i < o->n_pids && !err; i++)
		err = add(whom, (pid_t)o->pids[i], true);
	/* Whom it cannot list are seen when they make calls. */
	for (size_t i = 0; i < o->n_pids && !err && !o->isolate; i++)
		err = target_each_descendant((pid_t)o->pids[i], add_below, whom) == -ENOMEM ? -ENOMEM : 0;
	for (size_t i = 0; i < whom->v.n; i++)
		whom->v.v[i].is_copy = !whom->v.v[i].is_named && is_copy(whom, &whom->v.v[i]);
	return err;
}

void bring_whom_free(struct bring_whom *whom)
{
	VEC_FREE(&whom->v);
	map_free(&whom->known);
}

bool bring_is_for(const struct bring_one *one)
{
	if (one->has_helper || one->is_copy)
		return false;
	return one->is_unknown ? one->is_named : one->cuda_at;
}
