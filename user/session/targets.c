// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes by pid, by selector and below others; and bringing the helper into those that lack
 * it. Their probes: probe_source.c.
 */
#include "session/targets.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/str.h"
#include "base/time.h"
#include "host/proc.h"
#include "inject/process.h"
#include "source/helper/helpers.h"
#include "source/helper/ring_reader.h"
#include "target/selection.h"
#include "target/target.h"
#include "target/target_mapping.h"

bool targets_has_ended(pid_t pid)
{
	struct target_process p;
	struct proc proc;
	int err = proc_open(&proc, pid);
	bool gone = err == -ESRCH || err == -ENOENT;

	if (!err)
		gone = target_process_from(&proc, &p) == -ESRCH ||
		       (p.ended && target_process_ended(pid));
	proc_close(&proc);
	return gone;
}

/* ---- families -------------------------------------------------------------------------------- */

static int add_member(struct family *f, pid_t pid, pid_t named)
{
	struct family_member *m;
	struct map_slot *slot;
	bool is_new;

	slot = map_put(&f->known, (uint64_t)pid, &is_new);
	if (!slot)
		return -ENOMEM;
	if (!is_new)
		return 0;
	slot->value = f->members.n;
	m = VEC_PUSH(&f->members);
	if (!m)
		return -ENOMEM;
	*m = (struct family_member){ .pid = pid, .named = named };
	return f->on_new ? f->on_new(f->ctx, pid) : 0;
}

struct walk {
	struct family *family;
	pid_t named;
};

static int add_below(void *ctx, pid_t pid)
{
	const struct walk *w = ctx;

	return add_member(w->family, pid, w->named);
}

int family_add(struct family *f, const uint32_t *named, size_t n, bool below)
{
	struct target_tree *tree;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = add_member(f, (pid_t)named[i], (pid_t)named[i]);
	if (err || !below)
		return err;
	tree = target_tree_read();
	err = tree ? 0 : -errno;
	for (size_t i = 0; i < n && !err; i++) {
		struct walk w = { f, (pid_t)named[i] };

		err = target_tree_each_below(tree, w.named, add_below, &w);
	}
	target_tree_free(tree);
	return err;
}

/* ---- lists for verbs ------------------------------------------------------------------------- */

/* 0, or EXIT_FAIL, logged. */
static int own_pids(struct target_list *c, size_t n)
{
	uint32_t *own = calloc(n + 1, sizeof(*own));

	if (!own) {
		log_error("cannot list processes: out of memory");
		return EXIT_FAIL;
	}
	free(c->own);
	c->pids = c->own = own;
	c->n = n;
	return 0;
}

int target_list_find(struct target_list *c, const struct session_options *o)
{
	struct selection found = { .denied = 0 };
	struct strbuf sb = STRBUF_INIT;
	int err, rc = EXIT_FAIL;

	*c = (struct target_list){ .pids = o->pids, .n = o->n_pids, .n_named = o->n_pids };
	if (!o->selector)
		return 0;
	err = selection_find(&found, o->selector, !o->isolate);
	selection_describe(&found, o->selector, &sb);
	if (err)
		log_error("cannot list processes: %s", strerror(-err));
	else if (!found.matches)
		log_error("%s; gpuprof doctor says what can be measured", sb.s);
	else
		rc = own_pids(c, found.all.n);
	for (size_t i = 0; !rc && i < c->n; i++)
		c->own[i] = (uint32_t)found.all.v[i].pid;
	if (!rc)
		log_info("%s", sb.s);
	strbuf_free(&sb);
	selection_free(&found);
	return rc;
}

int target_list_add_children(struct target_list *c)
{
	struct family f = { .known = { 0 } };
	size_t n_named = c->n;
	int rc = 0, err = family_add(&f, c->pids, c->n, true);

	if (err) {
		log_error("cannot list the processes below: %s", strerror(-err));
		rc = EXIT_FAIL;
	} else {
		rc = own_pids(c, f.members.n);
	}
	for (size_t i = 0; !rc && i < c->n; i++)
		c->own[i] = (uint32_t)f.members.v[i].pid;
	if (!rc)
		c->n_named = n_named;
	family_free(&f);
	return rc;
}

/* ---- which processes lack the helper --------------------------------------------------------- */

/*
 * A trainer's forked data loaders (PyTorch's) map CUDA's library where their parent does, and
 * cannot use it; starting CUPTI there would run on the trainer's copied state: they are left alone.
 */

struct inject_target {
	pid_t pid;
	bool is_named;		/* by -p */
	bool has_helper;
	bool is_copy;		/* forked with its parent's CUDA, which it cannot use */
	bool is_unknown;	/* its mappings could not be read, or it is us */
	uint64_t cuda_at;	/* where CUDA's library is mapped; 0: nowhere */
};

struct inject_list {
	struct family family;
	VEC(struct inject_target) v;	/* in the order of family.members */
};

static int find_cuda(void *ctx, const struct target_mapping *m)
{
	uint64_t *at = ctx;

	if (fnmatch("libcuda.so*", str_basename(m->path), 0))
		return 0;
	*at = m->start;
	return 1;
}

static bool is_copy(const struct inject_list *list, const struct inject_target *one)
{
	const struct map_slot *parent = NULL;
	struct proc_stat stat;

	if (one->cuda_at && proc_stat_of(one->pid, &stat))
		parent = map_find(&list->family.known, (uint64_t)stat.ppid);
	return parent && list->v.v[parent->value].cuda_at == one->cuda_at;
}

static int read_one(struct inject_list *list, const struct family_member *m)
{
	struct inject_target *one = VEC_PUSH(&list->v);
	struct gp_ring_head head;
	int err;

	if (!one)
		return -ENOMEM;
	*one = (struct inject_target){ .pid = m->pid, .is_named = m->pid == m->named };
	one->is_unknown = target_each_mapping(m->pid, find_cuda, &one->cuda_at) < 0 ||
			  m->pid == getpid();
	err = ring_reader_peek(m->pid, &head);
	/* its fault is reported later */
	one->has_helper = !err || err == -EBADMSG || err == -EPROTO;
	return 0;
}

static int read_targets(struct inject_list *list, const struct session_options *o)
{
	int err;

	*list = (struct inject_list){ .v = { .n = 0 } };
	/* Those that cannot be listed are seen when they make calls. */
	err = family_add(&list->family, o->pids, o->n_pids, !o->isolate) == -ENOMEM ? -ENOMEM : 0;
	for (size_t i = 0; i < list->family.members.n && !err; i++)
		err = read_one(list, &list->family.members.v[i]);
	for (size_t i = 0; i < list->v.n; i++)
		list->v.v[i].is_copy = !list->v.v[i].is_named && is_copy(list, &list->v.v[i]);
	return err;
}

static void free_targets(struct inject_list *list)
{
	VEC_FREE(&list->v);
	family_free(&list->family);
}

/* A named process that cannot be read is tried, so that the error has the reason. */
static bool needs_helper(const struct inject_target *one)
{
	if (one->has_helper || one->is_copy)
		return false;
	return one->is_unknown ? one->is_named : one->cuda_at;
}

/* ---- --inject -------------------------------------------------------------------------------- */

struct group {			/* reported in one line */
	size_t n;
	pid_t first;
};

static void add_to_group(struct group *g, const struct inject_target *one, bool is_in)
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

/* No confirmation: it was started with the helper in order to be watched. */
static void report_first_time(uint32_t pid)
{
	struct gp_ring_head head;

	if (!ring_reader_peek((pid_t)pid, &head) && head.state == GP_HELPER_VIRGIN &&
	    !helper_is_confined(&head, (pid_t)pid))
		log_info("the helper in process %u begins for the first time: CUPTI may stall "
			 "launches for seconds, once", pid);
}

static int ask_user(const struct group *lacking)
{
	char more[32], line[16] = "";

	count_others(lacking, more);
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		log_error("--inject would load the helper into process %d%s, whose launches may "
			  "then stall for seconds; give --yes: there is no terminal to ask on",
			  lacking->first, more);
		return EXIT_USAGE;
	}
	fprintf(stderr, "gpuprof: this loads the helper into process %d%s by ptrace. It stays "
		"there, asleep, after gpuprof.\nWhen it begins to measure, CUPTI may stall the "
		"process's launches for seconds, once. Go on? [y/N] ", lacking->first, more);
	fflush(stderr);
	if (fgets(line, sizeof(line), stdin) && (*line == 'y' || *line == 'Y'))
		return EXIT_OK;
	log_error("aborted: the answer was not y");
	return EXIT_FAIL;
}

int targets_ask_inject(const struct session_options *o)
{
	struct inject_list list;
	struct group lacking = { 0 };

	if (!o->inject || o->yes)
		return EXIT_OK;
	if (read_targets(&list, o)) {
		free_targets(&list);
		log_error("cannot look for processes to bring the helper into: out of memory");
		return EXIT_FAIL;
	}
	for (size_t i = 0; i < list.v.n; i++) {
		const struct inject_target *one = &list.v.v[i];

		/* A hidden process is refused, without confirmation. */
		add_to_group(&lacking, one, needs_helper(one) &&
			     !(one->is_unknown && target_is_hidden(one->pid)));
	}
	free_targets(&list);
	return lacking.n ? ask_user(&lacking) : EXIT_OK;
}

/* Named processes must get it; some below them may not. */
static int inject_target(const struct inject_target *one, bool insists)
{
	struct inject_outcome out;
	int err = inject_process(one->pid, insists, one->is_named ? LOG_ERROR : LOG_WARN, &out);

	if (!err)
		log_info("the helper is in process %d; its thread %d was stopped for %.1f ms",
			 one->pid, out.tid, (double)out.stopped_ns / (double)NS_PER_MS);
	return err;
}

/* Why some have none: most processes below never use CUDA. */
static void report_others(const struct inject_list *list)
{
	struct group without = { 0 }, copies = { 0 };
	char more[32];

	for (size_t i = 0; i < list->v.n; i++) {
		const struct inject_target *one = &list->v.v[i];

		add_to_group(&without, one,
			     one->is_named && !one->is_unknown && !one->has_helper &&
				     !one->cuda_at);
		add_to_group(&copies, one, one->is_copy && !one->has_helper);
	}
	count_others(&without, more);
	if (without.n)
		log_info("no CUDA (libcuda) is loaded yet in process %d%s: the helper is only in "
			 "those of -p, and below them, that have it", without.first, more);
	count_others(&copies, more);
	if (copies.n)
		log_info("process %d%s was forked with CUDA loaded, and is left without the "
			 "helper; if it uses a device itself, name it: -p %d",
			 copies.first, more, copies.first);
}

/* 0: some process has it. */
static int inject_all(const struct inject_list *list, const struct session_options *o)
{
	int err = 0, last = 0;
	bool any = false;

	for (size_t i = 0; i < list->v.n; i++) {
		const struct inject_target *one = &list->v.v[i];

		any |= one->has_helper;
		if (!needs_helper(one))
			continue;
		err = inject_target(one, o->force);
		if (err < 0 && (one->is_named || err == -ENOMEM))
			return err;
		any |= err >= 0;
		last = err < 0 ? err : last;
	}
	if (any) {
		report_others(list);
		return 0;
	}
	if (last)
		log_error("no process of -p has the helper, nor one below them");
	return last ? last :
		      inject_target(&(struct inject_target){ .pid = (pid_t)o->pids[0],
							     .is_named = true }, o->force);
}

int targets_inject(const struct session_options *o)
{
	struct inject_list list;
	int err;

	for (size_t i = 0; !o->inject && i < o->n_pids; i++)
		report_first_time(o->pids[i]);
	if (!o->inject || !o->n_pids)
		return 0;
	err = read_targets(&list, o);
	if (!err)
		err = inject_all(&list, o);
	free_targets(&list);
	return err < 0 ? err : 0;
}
