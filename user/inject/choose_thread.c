// SPDX-License-Identifier: BSD-3-Clause
/* See the header. The ways are rows of `tries`: what is asked first disturbs least. */
#include "inject/choose_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/time.h"
#include "base/vec.h"
#include "inject/filter.h"
#include "inject/injectable.h"
#include "host/proc.h"
#include "target/target.h"

#define FIND_NS (3 * NS_PER_SEC)	/* for a thread that waits where it may be asked */
#define STEP_NS (200 * NS_PER_MS)	/* for one that runs, to enter a system call */
#define AGAIN_US 20000
#define STACK_BYTES (MACHINE_FRAME_BYTES + 8192u)	/* of its own stack: one frame */

#define RUNNING (-2)

static char *read_of(pid_t pid, pid_t tid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, file);
	return io_read_file(path, 4096, NULL);
}

/* The system call that the thread waits in; -1: none, or it is not known. */
static long call_of(pid_t pid, pid_t tid)
{
	char *text = read_of(pid, tid, "syscall");
	long nr = -1;

	if (text && !strncmp(text, "running", 7))
		nr = RUNNING;
	else if (text)
		nr = strtol(text, NULL, 10);
	free(text);
	return nr;
}

static bool is_among(long nr, const uint16_t *calls)
{
	for (; *calls != MACHINE_WAITS_END; calls++)
		if (nr == *calls)
			return true;
	return false;
}

/* Its registers are known: may it make our calls from here? */
static bool may_call(struct remote *r, char *why)
{
	struct stack_regs regs;

	if (!subject_has_stack(r->pid, machine_sp(&r->original),
			       machine_thread_pointer(r->tid, &r->original), r->tid == r->pid,
			       STACK_BYTES)) {
		snprintf(why, STACK_WHY_BYTES, "its stack is none of a plain thread, or too full");
		return false;
	}
	machine_to_unwind(&r->original, &regs);
	return !stack_is_quiet(r->pid, &regs, why);
}

static bool is_quiet_entry(struct remote *r)
{
	char why[STACK_WHY_BYTES];

	return may_call(r, why);
}

/* ---- one thread ----------------------------------------------------------------------------- */

/* What its filters allow can be seen when it is stopped only. */
static int ask_filters(struct pick *p, struct remote *r)
{
	bool begins_anew;
	int err = filter_check(p->pid, r->tid, &begins_anew, p->why, sizeof(p->why));

	p->may = !err;
	if (err == -ENOTSUP)
		p->final = err;
	if (err && begins_anew)
		remote_release_anew(r);
	else if (err)
		remote_release(r);
	return err;
}

static int stop(struct pick *p, struct remote *r, pid_t tid)
{
	int err = remote_stop(r, p->pid, tid);

	if (err == -EPERM)
		p->final = err;
	return err || p->may ? err : ask_filters(p, r);
}

/* To be stopped in a wait is dangerous where it can go on by restart_syscall only, which may be
 * filtered. */
static bool may_be_woken(const struct pick *p, pid_t tid)
{
	return p->may || machine_can_begin_anew || !filter_is_there(p->pid, tid);
}

static int leave(struct remote *r)
{
	remote_release(r);
	return -EAGAIN;
}

static int try_in(struct pick *p, struct remote *r, pid_t tid, const uint16_t *calls)
{
	int err = is_among(call_of(p->pid, tid), calls) && may_be_woken(p, tid) ? stop(p, r, tid) : -EAGAIN;

	if (err)
		return err;
	p->why_tid = tid;
	return is_among(machine_interrupted_call(tid, &r->original), calls) && may_call(r, p->quiet_why) ?
	       0 : leave(r);
}

static int try_waiting(struct pick *p, struct remote *r, pid_t tid)
{
	return try_in(p, r, tid, machine_waits);
}

static int try_shown(struct pick *p, struct remote *r, pid_t tid)
{
	return try_in(p, r, tid, machine_waits_shown);
}

/* One that waits elsewhere is left alone: its wait might be cut short. */
static int try_running(struct pick *p, struct remote *r, pid_t tid)
{
	int err = call_of(p->pid, tid) == RUNNING ? stop(p, r, tid) : -EAGAIN;

	return err ? err : remote_to_call(r, time_now_ns() + STEP_NS, is_quiet_entry);
}

/* Between any two instructions of a program that never waits. */
static int try_anywhere(struct pick *p, struct remote *r, pid_t tid)
{
	int err = call_of(p->pid, tid) == RUNNING ? stop(p, r, tid) : -EAGAIN;

	if (err)
		return err;
	p->why_tid = tid;
	return machine_interrupted_call(tid, &r->original) < 0 && !remote_in_sequence(r) &&
	       may_call(r, p->quiet_why) ? 0 : leave(r);
}

/* ---- all of them ---------------------------------------------------------------------------- */

struct threads {
	VEC(pid_t) all;
};

static int keep_thread(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	struct threads *t = ctx;
	pid_t *at = VEC_PUSH(&t->all);

	(void)start_ns;
	(void)comm;
	if (!at)
		return -ENOMEM;
	*at = tid;
	return 0;
}

static bool is_held(const struct pick *p, pid_t tid)
{
	for (unsigned int i = 0; i < p->n_held; i++)
		if (p->held[i] == tid)
			return true;
	return p->n_held == PICK_HELD;
}

static int try_all(struct pick *p, struct remote *r, int (*try)(struct pick *, struct remote *, pid_t))
{
	struct threads t = { .all = { 0 } };
	int err = target_each_thread(p->pid, keep_thread, &t);

	if (!err)
		err = t.all.n ? -EAGAIN : -ESRCH;
	for (size_t i = t.all.n; i-- > 0 && err == -EAGAIN && !p->final;) {
		if (is_held(p, t.all.v[i]))
			continue;
		err = try(p, r, t.all.v[i]);
		if (err == -ETIMEDOUT)
			p->held[p->n_held++] = t.all.v[i];
		else if (err && err != -ENOMEM)
			err = -EAGAIN;	/* also when that thread has ended */
	}
	VEC_FREE(&t.all);
	return err;
}

/* Of a thread that was nowhere to be asked: it never stopped, or it waits where nobody is asked. */
static void say_where(struct pick *p, char *out, size_t size)
{
	pid_t tid = p->n_held ? p->held[p->n_held - 1] : p->pid;
	char *wchan = read_of(p->pid, tid, "wchan"), *text = read_of(p->pid, tid, "stat");
	bool known = wchan && *wchan && strcmp(wchan, "0");
	struct proc_stat stat;

	if (!text || proc_parse_stat(text, &stat))
		stat.state = 'R';
	snprintf(out, size, "thread %d %s%s%s", tid, stat.state == 'D' ?
		 "waits in the kernel where no signal reaches it" : stat.state == 'R' ?
		 p->n_held ? "stays in the kernel" : "runs" : "waits in the kernel",
		 known ? ": " : "", known ? wchan : "");
	free(wchan);
	free(text);
}

static int nobody(struct pick *p)
{
	char where[160];

	if (*p->quiet_why && !p->n_held)
		snprintf(where, sizeof(where), "of thread %d: %.120s", p->why_tid, p->quiet_why);
	else
		say_where(p, where, sizeof(where));
	snprintf(p->why, sizeof(p->why), "none of its threads came to where it can be asked safely (%s); "
		 "try again", where);
	return -ENOTSUP;
}

void pick_begin(struct pick *p, pid_t pid)
{
	*p = (struct pick){ .pid = pid, .end_ns = time_now_ns() + FIND_NS };
}

int pick_thread(struct pick *p, struct remote *r)
{
	static int (*const tries[])(struct pick *, struct remote *, pid_t) = {
		try_waiting, try_anywhere, try_running, try_shown };
	int err = -EAGAIN;

	while (err == -EAGAIN && !p->final) {
		for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]) && err == -EAGAIN; i++)
			err = try_all(p, r, tries[i]);
		if ((err == -EAGAIN || err == -ETIMEDOUT) && time_now_ns() >= p->end_ns)
			return p->final ? p->final : nobody(p);
		if (err == -EAGAIN) {
			p->n_held = 0;
			usleep(AGAIN_US);
		}
	}
	return p->final ? p->final : err;
}
