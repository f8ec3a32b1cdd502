// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the one iterator of bpf/regs.bpf.c and nothing else of the object: no probe program, no
 * ring. The second user of the skeleton beside the loader, of whose state it knows nothing.
 */
#include "probe/loader_regs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "host/proc.h"
/* Types that the skeleton speaks of. */
#include "gpuprof/control.h"
#include "gpuprof/row.h"
#include "gpuprof.skel.h"

static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

/* Rings and stores of other programs are not made: the largest takes 8 MiB. */
static void keep_needed(struct gpuprof_bpf *skel)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	for (prog = NULL; (prog = bpf_object__next_program(skel->obj, prog));)
		bpf_program__set_autoload(prog, prog == skel->progs.task_regs);
	for (map = NULL; (map = bpf_object__next_map(skel->obj, map));)
		bpf_map__set_autocreate(map, map == skel->maps.looked_at ||
					map == skel->maps.regs_buf ||
					map == skel->maps.threads || bpf_map__is_internal(map));
}

/* An iterator to read from, or -errno. */
static int start(struct gpuprof_bpf *skel, const uint32_t *pids, size_t n)
{
	uint32_t yes = 1;
	int err;

	keep_needed(skel);
	err = gpuprof_bpf__load(skel);
	for (size_t i = 0; i < n && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(skel->maps.looked_at), &pids[i], &yes,
					  BPF_ANY);
	return err ? err : loader_open_iterator(skel->progs.task_regs, NULL);
}

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

int loader_regs_each(int fd, loader_regs_fn fn, void *ctx)
{
	struct gp_thread_regs rec[32];
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, (char *)rec + have, sizeof(rec) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		for (size_t i = 0; i < have / sizeof(rec[0]); i++)
			fn(ctx, &rec[i]);
		memmove(rec, (char *)rec + have / sizeof(rec[0]) * sizeof(rec[0]),
			have % sizeof(rec[0]));
		have %= sizeof(rec[0]);
	}
	return 0;
}

int loader_read_regs(const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx)
{
	struct gpuprof_bpf *skel;
	int fd, err;

	if (!proc_pids_are_hosts())
		return -ENOTSUP;
	libbpf_set_print(print_nothing);
	skel = gpuprof_bpf__open();
	if (!skel)
		return -errno;
	fd = start(skel, pids, n);
	err = fd < 0 ? fd : loader_regs_each(fd, fn, ctx);
	if (fd >= 0)
		close(fd);
	gpuprof_bpf__destroy(skel);
	return err;
}
