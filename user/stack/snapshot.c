// SPDX-License-Identifier: BSD-3-Clause
/*
 * Registers first, of all threads at once; then thread by thread what /proc says and the copy of
 * its stack; names last, when nothing moves any more that matters.
 */
#include "stack/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "probe/loader_regs.h"
#include "target/target.h"
#include "stack/naming.h"
#include "stack/procfs.h"

#define RETRIES 4u		/* looks at threads that ran while they were looked at */

struct stack_snapshot {
	struct map by_tid;		/* index into regs */
	VEC(struct gp_thread_regs) regs;
	VEC(struct stack_thread) threads;
	struct strpool *names;
	struct stack_source from;
	unsigned int tier;
	bool only_calls;
	bool has_regs, failed;
	int regs_err;
};

struct process {		/* that is being added */
	struct stack_snapshot *s;
	pid_t pid;
	struct stack_memory *memory;
	struct stack_modules modules;
	size_t first;		/* its first thread in s->threads */
	bool denied;
	int err;
};

const char *stack_quality_name(enum stack_quality q)
{
	static const char *const names[] = {
		[STACK_IS_NONE] = "none", [STACK_IS_WHOLE] = "whole", [STACK_IS_CUT] = "cut",
		[STACK_IS_DEEP] = "deep", [STACK_IS_RUNNING] = "running",
	};

	return names[q];
}

static void keep_regs(void *ctx, const struct gp_thread_regs *regs)
{
	struct stack_snapshot *s = ctx;
	struct map_slot *slot = map_put(&s->by_tid, regs->tid, NULL);
	struct gp_thread_regs *kept = slot ? VEC_PUSH(&s->regs) : NULL;

	if (kept) {
		*kept = *regs;
		slot->value = s->regs.n - 1;
	}
	s->failed |= !kept;
}

static struct stack_snapshot *take(const uint32_t *pids, size_t n, struct stack_snapshot how)
{
	struct stack_snapshot *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = how;
	s->names = strpool_new();
	s->regs_err = s->names ? s->from.read(s->from.ctx, pids, n, keep_regs, s) : -ENOMEM;
	s->has_regs = !s->regs_err;
	if (s->names && !s->failed)
		return s;
	stack_snapshot_free(s);
	errno = ENOMEM;
	return NULL;
}

static int read_alone(void *ctx, const uint32_t *pids, size_t n, loader_regs_fn fn, void *fn_ctx)
{
	(void)ctx;
	return loader_read_regs(pids, n, fn, fn_ctx);
}

struct stack_snapshot *stack_snapshot_new(const uint32_t *pids, size_t n)
{
	return take(pids, n, (struct stack_snapshot){ .from.read = read_alone,
						      .tier = CATALOG_TIERS });
}

struct stack_snapshot *stack_snapshot_of_calls(const uint32_t *pids, size_t n,
					       const struct stack_source *from, unsigned int tier)
{
	return take(pids, n, (struct stack_snapshot){ .from = *from, .tier = tier,
						      .only_calls = true });
}

void stack_snapshot_free(struct stack_snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->threads.n; i++)
		free(s->threads.v[i].frames);
	VEC_FREE(&s->threads);
	VEC_FREE(&s->regs);
	map_free(&s->by_tid);
	strpool_free(s->names);
	free(s);
}

/* ---- one thread --------------------------------------------------------------------------- */

/*
 * Registers of a thread that has moved since are worth nothing; where it waits now, procfs knows
 * two of them. False: nothing is known.
 */
static bool choose_regs(const struct process *p, const struct stack_thread *t,
			const struct procfs_where *where, struct stack_regs *out)
{
	const struct map_slot *slot = map_find(&p->s->by_tid, (uint64_t)t->tid);
	const struct gp_thread_regs *r = slot ? &p->s->regs.v[slot->value] : NULL;

	*out = (struct stack_regs){ 0 };
	if (r && r->pid == (uint32_t)t->pid &&
	    (!where->blocked || (r->pc == where->pc && r->reg[stack_abi.sp] == where->sp))) {
		out->pc = r->pc;
		out->known = r->known;
		memcpy(out->reg, r->reg, sizeof(out->reg));
	} else if (where->blocked) {
		out->pc = where->pc;
		out->known = 1u << stack_abi.sp;
		out->reg[stack_abi.sp] = where->sp;
	}
	return out->pc;
}

static int keep_frames(struct stack_thread *t, const struct stack_step *steps, size_t n)
{
	t->frames = calloc(n, sizeof(*t->frames));
	if (!t->frames)
		return -ENOMEM;
	t->n_frames = n;
	for (size_t i = 0; i < n; i++)
		t->frames[i] = (struct stack_frame){
			.address = steps[i].pc, .sp = steps[i].sp, .offset = steps[i].pc, .exact = steps[i].exact,
			.signal = steps[i].signal, .guessed = steps[i].guessed,
		};
	return 0;
}

static int unwind(struct process *p, struct stack_thread *t, const struct stack_regs *regs)
{
	static const uint8_t qualities[] = { [STACK_WHOLE] = STACK_IS_WHOLE,
					     [STACK_LOST] = STACK_IS_CUT,
					     [STACK_DEEP] = STACK_IS_DEEP };
	struct stack_space space = { .read = stack_memory_read, .ctx = p->memory,
				     .modules = p->modules.module.v,
				     .n_modules = p->modules.module.n };
	struct stack_step steps[STACK_DEPTH];
	enum stack_end end;
	int err = stack_memory_copy(p->memory, regs->reg[stack_abi.sp]), n;

	if (err == -EPERM)
		p->denied = true;
	if (err)
		return err == -ENOMEM ? err : 0;
	n = stack_unwind(&space, regs, steps, STACK_DEPTH, &end);
	if (n <= 0)
		return n;
	t->quality = (enum stack_quality)qualities[end];
	t->to_top = end == STACK_WHOLE;
	return keep_frames(t, steps, (size_t)n);
}

static int look_at(struct process *p, struct stack_thread *t)
{
	struct procfs_where where;
	struct stack_regs regs;
	int err;

	err = procfs_read_thread(t, p->s->names, p->memory, &where);
	if (err == -EACCES)
		p->denied = true;
	if (err && err != -EACCES)
		return err;
	if (!choose_regs(p, t, &where, &regs))
		return 0;
	err = unwind(p, t, &regs);
	if (!err && !where.blocked && t->n_frames)
		t->quality = STACK_IS_RUNNING;
	return err;
}

static int add_thread(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	struct process *p = ctx;
	struct stack_thread *t = VEC_PUSH(&p->s->threads);

	if (!t)
		return -ENOMEM;
	t->birth_ns = start_ns;
	t->pid = p->pid;
	t->tid = tid;
	strncpy(t->comm, comm, sizeof(t->comm) - 1);
	return look_at(p, t);
}

/* Its stack changed under its registers. */
static bool is_torn(const struct stack_thread *t)
{
	return t->quality == STACK_IS_RUNNING && !t->to_top;
}

/* At once, with registers that were just read. What is worse than before is not taken. */
static void look_again(void *ctx, const struct gp_thread_regs *regs)
{
	struct process *p = ctx;

	for (size_t i = p->first; i < p->s->threads.n && !p->err; i++) {
		struct stack_thread *t = &p->s->threads.v[i];
		struct stack_thread again = { .pid = t->pid, .tid = t->tid,
					      .birth_ns = t->birth_ns };

		if (t->tid != (pid_t)regs->tid || !is_torn(t))
			continue;
		keep_regs(p->s, regs);
		memcpy(again.comm, t->comm, sizeof(t->comm));
		p->err = p->s->failed ? -ENOMEM : look_at(p, &again);
		if (again.n_frames >= t->n_frames || again.to_top) {
			free(t->frames);
			*t = again;
		} else {
			free(again.frames);
		}
	}
}

static bool has_torn(const struct process *p)
{
	for (size_t i = p->first; i < p->s->threads.n; i++)
		if (is_torn(&p->s->threads.v[i]))
			return true;
	return false;
}

static int mend_torn(struct process *p)
{
	uint32_t pid = (uint32_t)p->pid;

	for (unsigned int i = 0; i < RETRIES && p->s->has_regs && has_torn(p) && !p->err; i++)
		p->s->from.read(p->s->from.ctx, &pid, 1, look_again, p);
	return p->err;
}

/* ---- one process -------------------------------------------------------------------------- */

static int add_threads(struct process *p)
{
	struct naming nm = { .pid = p->pid, .modules = &p->modules, .memory = p->memory,
			     .names = p->s->names, .only_calls = p->s->only_calls,
			     .tier = p->s->tier };
	int err = stack_modules_read(&p->modules, p->pid, p->memory);

	p->denied = err == -EACCES || err == -EPERM;
	if (err && !p->denied)
		return err;
	p->first = p->s->threads.n;
	err = target_each_thread(p->pid, add_thread, p);
	if (!err)
		err = mend_torn(p);
	if (err)
		return err;
	if (p->first < p->s->threads.n) {
		nm.threads = &p->s->threads.v[p->first];
		nm.n = p->s->threads.n - p->first;
	}
	return naming_run(&nm);
}

int stack_snapshot_add(struct stack_snapshot *s, pid_t pid)
{
	struct process p = { .s = s, .pid = pid };
	struct target_process who;
	int err = target_process_read(pid, &who);

	if (err)
		return err;
	p.memory = stack_memory_new(pid);
	if (!p.memory)
		return -ENOMEM;
	err = add_threads(&p);
	stack_modules_free(&p.modules);
	stack_memory_free(p.memory);
	return !err && p.denied ? -EACCES : err;
}

int stack_snapshot_regs_error(const struct stack_snapshot *s)
{
	return s->regs_err;
}

bool stack_snapshot_has_regs(const struct stack_snapshot *s)
{
	return s->has_regs;
}

size_t stack_snapshot_threads(const struct stack_snapshot *s)
{
	return s->threads.n;
}

const struct stack_thread *stack_snapshot_thread(const struct stack_snapshot *s, size_t i)
{
	return &s->threads.v[i];
}
