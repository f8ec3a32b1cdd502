// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Nothing is asked where there is nothing to bring. */
#include "session/inject_targets.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/proc.h"
#include "inject/process.h"
#include "session/session_options.h"
#include "source/helper/life.h"
#include "source/helper/ring_reader.h"
#include "target/target.h"
#include "target/target_mapping.h"

struct inject_target {
	pid_t pid;
	bool is_named;		/* by -p */
	bool has_helper;
	bool is_copy;		/* forked with its parent's CUDA, which it cannot use */
	bool is_unknown;	/* what it maps could not be read, or it is us */
	uint64_t cuda_at;	/* where CUDA's library is mapped; 0: nowhere */
};

struct inject_list {
	VEC(struct inject_target) v;	/* who is named first */
	struct map known;		/* pid -> where in v */
};

/* ---- bring whom ---------------------------------------------------------------------------- */

/*
 * See the header. What a trainer forks for its data (PyTorch's loaders) maps CUDA's library where
 * its parent does, and could not use it; CUPTI's start there would be the trainer's copied state:
 * it is left alone.
 */

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

static bool is_copy(const struct inject_list *whom, const struct inject_target *one)
{
	const struct map_slot *parent =
		one->cuda_at ? map_find(&whom->known, (uint64_t)parent_of(one->pid)) : NULL;

	return parent && whom->v.v[parent->value].cuda_at == one->cuda_at;
}

static int add(struct inject_list *whom, pid_t pid, bool is_named)
{
	struct inject_target one = { .pid = pid, .is_named = is_named };
	struct gp_ring_head head;
	struct inject_target *slot;
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
	/* what is wrong with it is said later */
	one.has_helper = !err || err == -EBADMSG || err == -EPROTO;
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

static int read_targets(struct inject_list *whom, const struct session_options *o)
{
	int err = 0;

	*whom = (struct inject_list){ .v = { .n = 0 } };
	for (size_t i = 0; i < o->n_pids && !err; i++)
		err = add(whom, (pid_t)o->pids[i], true);
	/* Whom it cannot list are seen when they make calls. */
	for (size_t i = 0; i < o->n_pids && !err && !o->isolate; i++)
		err = target_each_descendant((pid_t)o->pids[i], add_below, whom) == -ENOMEM ?
			      -ENOMEM :
			      0;
	for (size_t i = 0; i < whom->v.n; i++)
		whom->v.v[i].is_copy = !whom->v.v[i].is_named && is_copy(whom, &whom->v.v[i]);
	return err;
}

static void free_targets(struct inject_list *whom)
{
	VEC_FREE(&whom->v);
	map_free(&whom->known);
}

/* Is the helper to be brought into it? Who is named and cannot be read is tried, so that it says
 * why. */
static bool needs_helper(const struct inject_target *one)
{
	if (one->has_helper || one->is_copy)
		return false;
	return one->is_unknown ? one->is_named : one->cuda_at;
}

/* Said, not asked: who started it with the helper wanted it to be watched. */
static void say_first_time(uint32_t pid)
{
	struct gp_ring_head head;

	if (!ring_reader_peek((pid_t)pid, &head) && head.state == GP_HELPER_VIRGIN &&
	    !helper_is_confined(&head, (pid_t)pid))
		log_info("the helper in process %u begins for the first time: CUPTI may stall "
			 "launches for "
			 "seconds, once",
			 pid);
}

static bool is_answered(void)
{
	char line[16] = "";

	fflush(stderr);
	return fgets(line, sizeof(line), stdin) && (*line == 'y' || *line == 'Y');
}

static int ask(uint32_t pid, size_t others)
{
	char more[32] = "";

	if (others)
		snprintf(more, sizeof(more), " and %zu more", others);
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		log_error("--inject would load the helper into process %u%s, whose launches may "
			  "then stall "
			  "for seconds; give --yes, as nobody can be asked here",
			  pid, more);
		return EXIT_USAGE;
	}
	fprintf(stderr,
		"gpuprof: this loads the helper into process %u%s by ptrace. It stays there, "
		"asleep, "
		"after gpuprof.\nWhen it begins to measure, CUPTI may stall the process's launches "
		"for seconds, once. Go on? [y/N] ",
		pid, more);
	if (is_answered())
		return EXIT_OK;
	log_error("nothing was done: it was not answered with y");
	return EXIT_FAIL;
}

/* Who cannot be seen is refused, which needs no answer. */
static bool wants_answer(const struct inject_target *one)
{
	return needs_helper(one) && !(one->is_unknown && target_is_hidden(one->pid));
}

int inject_targets_ask(const struct session_options *o)
{
	struct inject_list whom;
	size_t lacking = 0;
	uint32_t first = 0;

	if (!o->inject || o->yes)
		return EXIT_OK;
	if (read_targets(&whom, o)) {
		free_targets(&whom);
		log_error("cannot look for processes to bring the helper into: out of memory");
		return EXIT_FAIL;
	}
	for (size_t i = 0; i < whom.v.n; i++)
		if (wants_answer(&whom.v.v[i]) && !lacking++)
			first = (uint32_t)whom.v.v[i].pid;
	free_targets(&whom);
	return lacking ? ask(first, lacking - 1) : EXIT_OK;
}

/* Who is named must have it; of what is below, some may not. */
static int inject_target(const struct inject_target *one)
{
	struct inject_outcome out;
	int err = inject_process(one->pid, one->is_named ? LOG_ERROR : LOG_WARN, &out);

	if (!err)
		log_info("the helper is in process %d; its thread %d was stopped for %.1f ms",
			 one->pid, out.tid, (double)out.stopped_ns / (double)NS_PER_MS);
	return err;
}

struct group {			/* told in one line */
	size_t n;
	pid_t first;
};

static void join(struct group *g, const struct inject_target *one, bool is_in)
{
	if (is_in && !g->n++)
		g->first = one->pid;
}

/* " and 3 more". */
static void count_others(const struct group *g, char out[32])
{
	*out = '\0';
	if (g->n > 1)
		snprintf(out, 32, " and %zu more", g->n - 1);
}

/* Why some have none: of what is below, most never use CUDA. */
static void say_others(const struct inject_list *whom)
{
	struct group without = { 0 }, copies = { 0 };
	char more[32];

	for (size_t i = 0; i < whom->v.n; i++) {
		const struct inject_target *one = &whom->v.v[i];

		join(&without, one,
		     one->is_named && !one->is_unknown && !one->has_helper && !one->cuda_at);
		join(&copies, one, one->is_copy && !one->has_helper);
	}
	count_others(&without, more);
	if (without.n)
		log_info("no CUDA (libcuda) is loaded yet in process %d%s: the helper is only in "
			 "those of -p, and below "
			 "them, that have it",
			 without.first, more);
	count_others(&copies, more);
	if (copies.n)
		log_info("process %d%s was forked with CUDA loaded, and is left without the "
			 "helper; if it uses a device "
			 "itself, name it: -p %d",
			 copies.first, more, copies.first);
}

/* 0: some process has it. */
static int bring_all(const struct inject_list *whom, const struct session_options *o)
{
	int err = 0, last = 0;
	bool any = false;

	for (size_t i = 0; i < whom->v.n; i++) {
		const struct inject_target *one = &whom->v.v[i];

		any |= one->has_helper;
		if (!needs_helper(one))
			continue;
		err = inject_target(one);
		if (err < 0 && (one->is_named || err == -ENOMEM))
			return err;
		any |= err >= 0;
		last = err < 0 ? err : last;
	}
	if (any) {
		say_others(whom);
		return 0;
	}
	if (last)
		log_error("no process of -p has the helper, nor one below them");
	return last ? last :
		      inject_target(&(struct inject_target){ .pid = (pid_t)o->pids[0],
							     .is_named = true });
}

int inject_targets(const struct session_options *o)
{
	struct inject_list whom;
	int err;

	for (size_t i = 0; !o->inject && i < o->n_pids; i++)
		say_first_time(o->pids[i]);
	if (!o->inject || !o->n_pids)
		return 0;
	err = read_targets(&whom, o);
	if (!err)
		err = bring_all(&whom, o);
	free_targets(&whom);
	return err < 0 ? err : 0;
}
