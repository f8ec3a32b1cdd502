// SPDX-License-Identifier: BSD-3-Clause
/* What the programs keep for us: states of threads, mappings and counters. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/loader_internal.h"
#include "probe/loader_read.h"

int loader_open_iterator(struct bpf_program *prog, const struct bpf_iter_attach_opts *opts)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, opts);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

/* Records of one size, as an iterator writes them: each goes to fn. */
static int read_records(struct bpf_program *prog, size_t size, void (*fn)(void *, const void *, size_t),
			void *ctx)
{
	uint64_t buf[1024];
	int fd = loader_open_iterator(prog, NULL), err;
	char *at = (char *)buf;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read(fd, at + have, sizeof(buf) - have)) != 0) {
		size_t used = 0;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			break;
		for (have += (size_t)n; have - used >= size; used += size)
			fn(ctx, at + used, size);
		have -= used;
		memmove(at, at + used, have);
	}
	err = n < 0 ? -errno : 0;
	close(fd);
	return err;
}

struct state_reader {
	void (*fn)(void *ctx, const void *rec, size_t len);
	void *ctx;
};

static void on_state(void *ctx, const void *rec, size_t len)
{
	const struct state_reader *r = ctx;

	if (((const struct gp_call *)rec)->pid != (uint32_t)getpid())	/* the calibration's */
		r->fn(r->ctx, rec, len);
}

int loader_each_state(struct loader *l, void (*fn)(void *, const void *, size_t), void *ctx)
{
	struct state_reader r = { fn, ctx };

	return read_records(l->skel->progs.task_states, sizeof(struct loader_state), on_state, &r);
}

int loader_each_off(struct loader *l, void (*fn)(void *, const void *, size_t), void *ctx)
{
	if (!l->off_cpu)
		return 0;
	return read_records(l->skel->progs.task_off, sizeof(struct gp_off), fn, ctx);
}

int loader_open_mappings(const struct loader *l, pid_t pid)
{
	union bpf_iter_link_info of = { .task.pid = (uint32_t)pid };
	struct bpf_iter_attach_opts opts;

	memset(&opts, 0, sizeof(opts));		/* libbpf refuses padding that is not 0 */
	opts.sz = sizeof(opts);
	opts.link_info = &of;
	opts.link_info_len = sizeof(of);
	return loader_open_iterator(l->skel->progs.task_files, &opts);
}

int loader_counts(const struct loader *l, struct gp_counts *sum)
{
	enum { FIELDS = sizeof(*sum) / sizeof(uint64_t) };
	const uint64_t *before = (const uint64_t *)&l->before;
	int n_cpus = libbpf_num_possible_cpus(), err;
	uint64_t *per_cpu, *out = (uint64_t *)sum;
	uint32_t zero = 0;

	if (n_cpus < 0)
		return n_cpus;
	per_cpu = calloc((size_t)n_cpus, sizeof(*sum));
	if (!per_cpu)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.counts), &zero, per_cpu);
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t total = 0;

		for (size_t cpu = 0; !err && cpu < (size_t)n_cpus; cpu++)
			total += per_cpu[cpu * FIELDS + i];
		out[i] = total - before[i];
	}
	free(per_cpu);
	return err;
}
