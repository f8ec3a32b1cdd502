// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the BPF object in the best way this kernel offers, and keeps its links. A way counts as
 * offered only when its programs load and a probe on ourselves attaches: some kernels load what
 * they then refuse to attach.
 */
#include "probe/loader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "catalog/catalog.h"
#include "probe/loader_internal.h"
#include "probe/loader_why.h"
#include "probe/uprobe_link.h"

#define STACK_RING_BYTES (8u << 20)
#define STACKS_SENT 32768u
#define STACK_PROCESSES 16384u
#define MANY_EVENTS 16		/* as many take long enough to wonder at */

/* The verifier's log comes as one text of many lines. */
static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text, *line, *rest;

	/* What fails here is expected while ways are tried; loader_new says what matters. */
	if (log_threshold < LOG_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, fmt, ap) < 0)
		return 0;
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (*line)
			log_debug("libbpf: %s", line);
	free(text);
	return 0;
}

/* Without stacks the programs' way to these maps is dead code. */
static void configure_stacks(struct gpuprof_bpf *skel, uint32_t bytes)
{
	struct bpf_map *maps[] = { skel->maps.stacks, skel->maps.copies, skel->maps.sent };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		bpf_map__set_autocreate(maps[i], bytes);
	skel->rodata->stack_bytes = bytes;
	if (!bytes)
		return;
	bpf_map__set_max_entries(skel->maps.stacks, STACK_RING_BYTES);
	bpf_map__set_max_entries(skel->maps.sent, STACKS_SENT);
	bpf_map__set_max_entries(skel->maps.code, STACK_PROCESSES);
}

static void configure(struct loader *l, const struct loader_options *o)
{
	struct gpuprof_bpf *skel = l->skel;
	struct bpf_program *always[] = { skel->progs.task_fork, skel->progs.task_exec,
					 skel->progs.task_exit, skel->progs.task_states,
					 skel->progs.task_files,
					 skel->progs.task_regs };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		bpf_program__set_autoload(always[i], true);
	if (l->off_cpu)
		loader_choose_sched(skel);
	loader_choose_programs(l);
	bpf_map__set_max_entries(skel->maps.calls, (uint32_t)o->ring_bytes);
	configure_stacks(skel, o->stack_bytes);
	skel->rodata->follow_all = o->follow_all;
	skel->rodata->follow_children = o->follow_children;
	skel->rodata->wake_bytes = o->ring_bytes / 4;
	for (unsigned int i = 0; i < catalog_n_rows(); i++)
		if (catalog_row(i))
			catalog_wire_row(catalog_row(i), (struct gp_row *)&skel->rodata->rows[i]);
}

static int try_way(struct loader *l, const struct loader_options *o, enum loader_way way)
{
	int err;

	l->skel = gpuprof_bpf__open();
	if (!l->skel)
		return -errno;
	l->way = way;
	configure(l, o);
	err = gpuprof_bpf__load(l->skel);
	if (!err)
		err = loader_test_self(l, o);
	if (!err)
		err = gpuprof_bpf__attach(l->skel);
	if (!err)
		return 0;
	log_debug("attach way %s does not work here: %s", loader_way_name(way), strerror(-err));
	gpuprof_bpf__destroy(l->skel);
	l->skel = NULL;
	return err;
}

/* 0 or -errno; o->way is what was tried last. */
static int try_each_way(struct loader *l, struct loader_options *o)
{
	static const enum loader_way best_first[] = { WAY_SESSION, WAY_MULTI, WAY_PERF };
	int err;

	if (o->way != WAY_AUTO)
		return try_way(l, o, o->way);
	for (size_t i = 0; i < sizeof(best_first) / sizeof(best_first[0]); i++) {
		o->way = best_first[i];
		err = try_way(l, o, o->way);
		if (!err || loader_why_final(err))
			break;
	}
	return err;
}

/* A kernel that refuses the scheduler's hooks may have all else. */
static int try_ways(struct loader *l, struct loader_options *o)
{
	enum loader_way asked = o->way;
	int err;

	l->off_cpu = o->off_cpu;
	err = try_each_way(l, o);
	if (!err || !l->off_cpu || loader_why_final(err))
		return err;
	l->off_cpu = false;
	o->way = asked;
	err = try_each_way(l, o);
	if (!err)
		log_warn("this kernel refuses the scheduler's hooks: why threads are off the CPU is not "
			 "known; -v says what it refuses");
	return err;
}

struct loader *loader_new(const struct loader_options *o)
{
	struct loader *l = calloc(1, sizeof(*l));
	struct loader_options tried = *o;
	int err;

	if (!l)
		return NULL;
	if (loader_why_not_here()) {
		free(l);
		errno = ENOTSUP;
		return NULL;
	}
	libbpf_set_print(print_libbpf);
	err = try_ways(l, &tried);
	if (!err)
		return l;
	err = loader_why(err, &loader_links_of(tried.way)->needs, o->way == WAY_AUTO);
	close_later_wait(&l->closing);
	free(l);
	errno = err;
	return NULL;
}

void loader_detach(struct loader *l)
{
	link_close_all(l->links.v, l->links.n);
	VEC_FREE(&l->links);
	if (l->events.n >= MANY_EVENTS)
		log_info("taking %zu probes off, which this kernel does one by one", l->events.n);
	close_later_add(&l->closing, l->events.v, l->events.n);
	VEC_FREE(&l->events);
	/* After the probes: until they are off, a thread that ends must be seen. */
	gpuprof_bpf__detach(l->skel);
}

void loader_free(struct loader *l)
{
	if (!l)
		return;
	loader_detach(l);
	gpuprof_bpf__destroy(l->skel);
	close_later_wait(&l->closing);
	free(l);
}

enum loader_way loader_way(const struct loader *l)
{
	return l->way;
}

size_t loader_probes_max(const struct loader *l)
{
	return loader_links_of(l->way)->probes_max;
}

int loader_calls_fd(const struct loader *l)
{
	return bpf_map__fd(l->skel->maps.calls);
}

int loader_tasks_fd(const struct loader *l)
{
	return bpf_map__fd(l->skel->maps.tasks);
}

int loader_follow(struct loader *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid, parent = 0;

	return bpf_map_update_elem(bpf_map__fd(l->skel->maps.pids), &key, &parent, BPF_ANY);
}

bool loader_follows(const struct loader *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid, parent;

	return !bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.pids), &key, &parent);
}

void loader_hand_over(struct loader *l)
{
	__atomic_store_n(&l->skel->bss->handed_over, 1, __ATOMIC_RELEASE);
}

uint64_t loader_call_cost_ns(const struct loader *l)
{
	return l->call_cost_ns;
}

uint64_t loader_nested_cost_ns(const struct loader *l)
{
	return l->nested_cost_ns;
}

uint64_t loader_step_cost_ns(const struct loader *l)
{
	return l->step_cost_ns;
}

unsigned int loader_returns(const struct loader *l)
{
	return l->returns;
}

int loader_stacks_fd(const struct loader *l)
{
	return l->skel->rodata->stack_bytes ? bpf_map__fd(l->skel->maps.stacks) : -1;
}

void loader_set_code(struct loader *l, pid_t pid, const struct gp_code *code)
{
	int fd = bpf_map__fd(l->skel->maps.code);
	uint32_t key = (uint32_t)pid;

	/* A process without a place has longer ids, and more of them. */
	if (code)
		bpf_map_update_elem(fd, &key, code, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
}
