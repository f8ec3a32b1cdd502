// SPDX-License-Identifier: BSD-3-Clause
/*
 * Between any two requests to the kernel gpuprof may die, and the thread then continues with the
 * registers set last: so they are always set at once, to something complete.
 */
#include "inject/remote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/proc.h"
#include "inject/filter.h"
#include "target/target.h"
#include "target/target_mapping.h"

#define STOP_NS (500 * NS_PER_MS)	/* a thread that waits stops at once */
#define CALL_NS (5 * NS_PER_SEC)	/* others may hold a lock that it wants */
#define EVENT_STOP 128			/* PTRACE_EVENT_STOP */
#define SYSCALL_STOP (SIGTRAP | 0x80)

/* Faults of its own are dealt with here; all others wait until it is where it was. */
static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
#define N_FAULTS (sizeof(faults) / sizeof(faults[0]))

int remote_write(const struct remote *r, uint64_t at, const void *data, size_t len)
{
	ssize_t n = pwrite(r->memory, data, len, (off_t)at);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EFAULT;
}

int remote_read(const struct remote *r, uint64_t at, void *data, size_t len)
{
	ssize_t n = pread(r->memory, data, len, (off_t)at);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EFAULT;
}

/*
 * Another thread of the process may execute another program, perhaps a set-user-ID one, while this
 * one is stopped: the file stays with the memory that there was when it was opened. To be followed
 * by a request to the thread: if that is still stopped, it was its memory.
 */
static int open_memory(struct remote *r)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", r->pid);
	r->memory = open(path, O_RDWR | O_CLOEXEC);
	return r->memory < 0 ? -errno : 0;
}

static int read_registers(pid_t tid, struct machine_state *out)
{
	struct iovec general = { out->general, machine.general_bytes };
	struct iovec vector = { out->vector, machine.vector_most };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &general) ||
	    ptrace(PTRACE_GETREGSET, tid, machine.vector_set, &vector))
		return -errno;
	out->vector_bytes = vector.iov_len;
	return vector.iov_len < machine.vector_least ? -ENOTSUP : 0;
}

static int write_general(pid_t tid, const struct machine_state *s)
{
	struct iovec general = { (void *)(uintptr_t)s->general, machine.general_bytes };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &general) ? -errno : 0;
}

static int write_vector(pid_t tid, const struct machine_state *s)
{
	struct iovec vector = { (void *)(uintptr_t)s->vector, s->vector_bytes };

	return ptrace(PTRACE_SETREGSET, tid, machine.vector_set, &vector) ? -errno : 0;
}

/* Until it stops. 0, -EAGAIN when time is up, -ESRCH when it has ended. */
static int wait_stop(struct remote *r, uint64_t end_ns, int *status)
{
	for (useconds_t us = 20;; us = (useconds_t)num_min(us * 2, 2000)) {
		pid_t got = waitpid(r->tid, status, __WALL | WNOHANG);

		if (got == r->tid && WIFSTOPPED(*status))
			return 0;
		if (got == r->tid || (got < 0 && errno != EINTR)) {
			r->place = REMOTE_GONE;
			return -ESRCH;
		}
		if (time_now_ns() >= end_ns)
			return -EAGAIN;
		usleep(us);
	}
}

static int go(struct remote *r, int how, int signal)
{
	if (!ptrace(how, r->tid, NULL, (void *)(long)signal))
		return 0;
	r->place = REMOTE_GONE;
	return -ESRCH;
}

/* Requests a trap and waits for it; a signal that comes before is delivered. Any stop ends the
 * request. */
static int trap(struct remote *r)
{
	uint64_t end = time_now_ns() + STOP_NS;
	int status, err;

	for (;;) {
		err = ptrace(PTRACE_INTERRUPT, r->tid, NULL, NULL) ? -errno : 0;
		if (err)
			return err;
		if (r->place != REMOTE_AWAY)
			err = go(r, PTRACE_CONT, 0);
		r->place = err ? REMOTE_GONE : REMOTE_AWAY;
		if (!err)
			err = wait_stop(r, end, &status);
		if (err)
			return err;
		if (status >> 16 == EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
			return -EBUSY;		/* a signal has stopped the process */
		if (status >> 16 == EVENT_STOP) {
			r->place = REMOTE_TRAPPED;
			return 0;
		}
		err = go(r, PTRACE_CONT, WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status));
		if (err)
			return err;
	}
}

/* 0, or -ETIMEDOUT: it has not stopped. */
static int detach(struct remote *r)
{
	bool held = r->place != REMOTE_GONE && ptrace(PTRACE_DETACH, r->tid, NULL, NULL) &&
		    r->place == REMOTE_AWAY && !syscall(SYS_tgkill, r->pid, r->tid, 0);

	r->place = REMOTE_GONE;
	io_close(&r->memory);
	return held ? -ETIMEDOUT : 0;
}

/* Stops it. 0, or -errno: EPERM (another tracer, too), ESRCH; EAGAIN: a signal has stopped it,
 * and it is released; ETIMEDOUT: it does not stop. A thread that does not stop cannot be
 * released by a request: the kernel does that, and drops the pending stop, when the thread that
 * called this has exited. */
static int remote_stop(struct remote *r, pid_t pid, pid_t tid)
{
	uint8_t found[MACHINE_GENERAL_BYTES];
	int err;

	memset(r, 0, sizeof(*r));
	r->pid = pid;
	r->tid = tid;
	r->memory = -1;
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD))
		return -errno;
	r->place = REMOTE_AWAY;
	r->since_ns = time_now_ns();
	err = trap(r);
	if (!err)
		err = open_memory(r);
	if (!err)
		err = read_registers(tid, &r->original);
	if (!err && ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(r->mask), &r->mask))
		err = -errno;
	if (!err) {
		/* A call that would report the interruption to the program is restarted, also if
		 * gpuprof is gone by then. */
		memcpy(found, r->original.general, sizeof(found));
		machine.interrupted_call(tid, &r->original);
		if (memcmp(found, r->original.general, sizeof(found)))
			err = write_general(tid, &r->original);
	}
	if (err && detach(r))
		return -ETIMEDOUT;
	return err == -EBUSY ? -EAGAIN : err;
}

static bool get_call(struct remote *r, struct __ptrace_syscall_info *info)
{
	return ptrace(PTRACE_GET_SYSCALL_INFO, r->tid, (void *)sizeof(*info), info) > 0;
}

/* Lets it run until it enters a system call, of which `is_quiet` likes one; 0, or as
 * remote_stop. */
static int remote_to_call(struct remote *r, uint64_t end_ns,
			  bool (*is_quiet)(struct remote *r, char *why))
{
	struct __ptrace_syscall_info info;
	char why[STACK_WHY_BYTES];
	int err = 0, signal = 0;

	while (!err && (signal || time_now_ns() < end_ns)) {	/* no signal is kept from it */
		int status;

		err = go(r, PTRACE_SYSCALL, signal);
		if (!err)
			err = wait_stop(r, end_ns, &status);
		if (err)
			break;
		signal = WSTOPSIG(status) == SYSCALL_STOP || status >> 16 ? 0 : WSTOPSIG(status);
		if (WSTOPSIG(status) != SYSCALL_STOP || !get_call(r, &info) ||
		    info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		r->place = REMOTE_ENTERED;
		if (read_registers(r->tid, &r->original) || !machine.step_back(&r->original))
			break;
		if (is_quiet(r, why))
			return 0;
	}
	if (err == -EAGAIN) {
		r->place = REMOTE_AWAY;
		err = trap(r);		/* it runs: a running thread cannot be released */
	}
	if (detach(r))
		return -ETIMEDOUT;
	return err == -ESRCH ? err : -EAGAIN;
}

/* struct rseq: the address of the sequence that it is in, or was in last, follows two numbers. */
static bool remote_in_sequence(const struct remote *r)
{
	struct __ptrace_rseq_configuration where = { 0 };
	uint64_t sequence = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, r->tid, (void *)sizeof(where), &where) < 0)
		return true;
	return where.rseq_abi_pointer &&
	       (remote_read(r, where.rseq_abi_pointer + 8, &sequence, sizeof(sequence)) ||
		sequence);
}

/* ---- a call --------------------------------------------------------------------------------- */

#define SETXID 33	/* the C library's own: setuid waits until every thread has had it */

static int set_mask(struct remote *r, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, r->tid, (void *)sizeof(mask), &mask) ? -errno : 0;
}

/*
 * It is at the entry of a call that must not run. Cancelling it would make a seccomp filter
 * judge call -1, and write its result to the registers: it becomes a call that changes nothing.
 * The frame behind it brings the thread back if gpuprof dies.
 */
static int pass_entry(struct remote *r)
{
	struct machine_call none = { .at = r->back, .syscall = -1, .sp = r->return_sp,
				     .back = r->back };
	uint64_t end = time_now_ns() + CALL_NS;
	struct machine_state s = r->original;
	int err, status;

	machine.set_call(&s, &none);
	err = machine.write_entered(r->tid, &s, SYS_getpid);
	if (!err)
		err = go(r, PTRACE_SYSCALL, 0);
	if (!err)
		err = wait_stop(r, end, &status);
	if (err) {
		r->place = err == -EAGAIN ? REMOTE_AWAY : REMOTE_GONE;
		return err == -EAGAIN ? -ETIMEDOUT : err;
	}
	r->place = REMOTE_TRAPPED;
	return 0;
}

static int send_off(struct remote *r, const struct remote_call *call, struct machine_frame *frame)
{
	struct machine_state s = r->original;
	struct machine_call to = { .at = call->at, .syscall = call->syscall, .back = call->back };
	uint64_t mask = ~(1ull << (SETXID - 1));
	int err;

	machine.go_on(&s, false);
	err = machine.build_frame(&s, r->mask, call->below, call->back, frame);
	if (!err)
		err = remote_write(r, frame->sp, frame->bytes, frame->len);
	if (err)
		return err;
	r->return_sp = frame->return_sp;
	r->back = call->back;
	err = r->place == REMOTE_ENTERED ? pass_entry(r) : 0;
	if (err)
		return err;
	to.sp = frame->sp;
	memcpy(to.arg, call->arg, sizeof(to.arg));
	machine.set_call(&s, &to);
	err = write_general(r->tid, &s);
	r->used |= !err;
	for (size_t i = 0; i < N_FAULTS; i++)
		mask &= ~(1ull << (faults[i] - 1));
	return err ? err : set_mask(r, mask);
}

static bool is_own_fault(struct remote *r, int signal)
{
	siginfo_t info;

	for (size_t i = 0; i < N_FAULTS; i++)
		if (faults[i] == signal)
			return !ptrace(PTRACE_GETSIGINFO, r->tid, NULL, &info) && info.si_code > 0;
	return false;
}

/* At the stop that `status` describes. 1: it has returned; 0: go on; -errno. */
static int on_stop(struct remote *r, const struct machine_frame *frame,
		   const struct remote_call *call, long *nr, long *result)
{
	struct __ptrace_syscall_info info;

	if (!get_call(r, &info))
		return -EIO;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		*nr = (long)info.entry.nr;
		if (*nr != SYS_rt_sigreturn || info.stack_pointer != frame->return_sp)
			return 0;
		r->place = REMOTE_ENTERED;
		return 1;
	}
	if (*nr >= 0 && (*nr == call->syscall || (call->syscall < 0 &&
	    (*nr == call->result_of[0] || *nr == call->result_of[1]))))
		*result = (long)info.exit.rval;
	*nr = -1;
	return 0;
}

static int run(struct remote *r, const struct machine_frame *frame, const struct remote_call *call,
	       long *result)
{
	uint64_t end = time_now_ns() + CALL_NS;
	long nr = -1;
	int signal = 0, got = 0;

	while (!got) {
		int status;

		got = go(r, PTRACE_SYSCALL, signal);
		if (!got)
			got = wait_stop(r, end, &status);
		if (got)
			break;
		signal = 0;
		if (WSTOPSIG(status) == SYSCALL_STOP) {
			got = on_stop(r, frame, call, &nr, result);
		} else if (!(status >> 16)) {
			signal = WSTOPSIG(status);
			r->place = is_own_fault(r, signal) ? REMOTE_SIGNALLED : r->place;
			got = r->place == REMOTE_SIGNALLED ? -EFAULT : 0;
		}
	}
	if (got == -EAGAIN) {
		r->place = REMOTE_AWAY;
		return -ETIMEDOUT;
	}
	return got < 0 ? got : 0;
}

int remote_do(struct remote *r, const struct remote_call *call, long *result)
{
	struct machine_frame frame;
	int err = send_off(r, call, &frame);

	*result = -EIO;
	return err ? err : run(r, &frame, call, result);
}

/* ---- back ----------------------------------------------------------------------------------- */

/* Stopped where it would restore itself: we do so instead, since the remaining time of a wait is
 * known until then. The trap is where the kernel decides on restarting calls and on signals. */
static void bring_back(struct remote *r)
{
	struct machine_state s = r->original;

	machine.go_on(&s, true);
	if (r->place == REMOTE_ENTERED && pass_entry(r))
		return;
	if (set_mask(r, r->mask) || write_vector(r->tid, &r->original) ||
	    write_general(r->tid, &s))
		return;
	if (trap(r))
		return;
	write_general(r->tid, &r->original);
}

void remote_release(struct remote *r)
{
	if (r->place == REMOTE_AWAY) {
		trap(r);
	} else if (r->place == REMOTE_SIGNALLED) {
		set_mask(r, r->mask);
		write_vector(r->tid, &r->original);
		write_general(r->tid, &r->original);
	} else if (r->used) {
		bring_back(r);
	}
	detach(r);
}

/* ---- which thread is chosen ------------------------------------------------------------------ */

#define FIND_NS (3 * NS_PER_SEC)	/* for a thread that waits where it may make calls */
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

/* The system call that the thread waits in; -1: none, or unknown. */
static long call_of(pid_t pid, pid_t tid)
{
	char *text = read_of(pid, tid, "syscall");
	long nr = -1;

	if (text)
		nr = strncmp(text, "running", 7) ? strtol(text, NULL, 10) : RUNNING;
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

struct stack_question {
	uint64_t sp, thread_pointer;
	bool is_main;
};

/* The C library keeps a thread's descriptor at the upper end of its stack; the first thread's is
 * elsewhere. */
static int on_stack_mapping(void *ctx, const struct target_mapping *m)
{
	const struct stack_question *q = ctx;

	if (q->sp < m->start || q->sp >= m->end)
		return 0;
	if (m->ino || q->sp - m->start < STACK_BYTES)
		return -ENOTSUP;
	if (q->is_main)
		return strcmp(m->path, "[stack]") ? -ENOTSUP : 1;
	return q->thread_pointer > q->sp && q->thread_pointer < m->end ? 1 : -ENOTSUP;
}

/* Its registers are known: may it make our calls from here? Only on the stack of that thread, if
 * it has room there: coroutines and signal stacks are others. */
static bool may_call(struct remote *r, char *why)
{
	struct stack_question q = { .sp = machine.sp(&r->original),
				    .thread_pointer = machine.thread_pointer(r->tid, &r->original),
				    .is_main = r->tid == r->pid };
	struct stack_regs regs;

	if (target_each_mapping(r->pid, on_stack_mapping, &q) != 1) {
		snprintf(why, STACK_WHY_BYTES, "its stack is none of a plain thread, or too full");
		return false;
	}
	machine.to_unwind(&r->original, &regs);
	return !stack_is_quiet(r->pid, &regs, why);
}

/* ---- one thread ----------------------------------------------------------------------------- */

/* Its filters can be read only when it is stopped. */
static int ask_filters(struct pick *p, struct remote *r)
{
	bool begins_anew;
	int err = filter_check(p->pid, r->tid, &begins_anew, p->why, sizeof(p->why));

	p->may = !err;
	if (err == -ENOTSUP)
		p->final = err;
	if (err && begins_anew) {
		struct machine_state s = r->original;

		/* Without the kernel's part of its wait: a wait for a time begins anew. */
		machine.go_on(&s, false);
		write_general(r->tid, &s);
		detach(r);
	} else if (err) {
		remote_release(r);
	}
	return err;
}

static int stop(struct pick *p, struct remote *r, pid_t tid)
{
	int err = remote_stop(r, p->pid, tid);

	if (err == -EPERM)
		p->final = err;
	return err || p->may ? err : ask_filters(p, r);
}

/* It is stopped, at a right place or not. */
static int keep_or_leave(struct pick *p, struct remote *r, bool right)
{
	p->why_tid = r->tid;
	if (right && may_call(r, p->quiet_why))
		return 0;
	remote_release(r);
	return -EAGAIN;
}

static int try_in(struct pick *p, struct remote *r, pid_t tid, const uint16_t *calls)
{
	int err = is_among(call_of(p->pid, tid), calls) ? 0 : -EAGAIN;

	/* To be stopped in a wait is dangerous where it can go on by restart_syscall only, which
	 * may be filtered. */
	if (!err && !p->may && !machine.can_begin_anew && filter_is_there(p->pid, tid))
		err = -EAGAIN;
	if (!err)
		err = stop(p, r, tid);
	return err ? err : keep_or_leave(p, r, is_among(machine.interrupted_call(tid, &r->original),
							calls));
}

static int try_waiting(struct pick *p, struct remote *r, pid_t tid)
{
	return try_in(p, r, tid, machine.waits);
}

static int try_shown(struct pick *p, struct remote *r, pid_t tid)
{
	return try_in(p, r, tid, machine.waits_shown);
}

/* One that waits elsewhere is left alone: its wait might be cut short. */
static int try_running(struct pick *p, struct remote *r, pid_t tid)
{
	int err = call_of(p->pid, tid) == RUNNING ? stop(p, r, tid) : -EAGAIN;

	return err ? err : remote_to_call(r, time_now_ns() + STEP_NS, may_call);
}

/* Between any two instructions of a program that never waits. */
static int try_anywhere(struct pick *p, struct remote *r, pid_t tid)
{
	int err = call_of(p->pid, tid) == RUNNING ? stop(p, r, tid) : -EAGAIN;

	return err ? err : keep_or_leave(p, r, machine.interrupted_call(tid, &r->original) < 0 &&
					       !remote_in_sequence(r));
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

static int try_all(struct pick *p, struct remote *r,
		   int (*try)(struct pick *, struct remote *, pid_t))
{
	struct threads t = { .all = { 0 } };
	int err = target_each_thread(p->pid, keep_thread, &t);

	if (!err)
		err = t.all.n ? -EAGAIN : -ESRCH;
	for (size_t i = t.all.n; i-- > 0 && err == -EAGAIN && !p->final;) {
		bool held = p->n_held == PICK_HELD;

		for (unsigned int k = 0; k < p->n_held; k++)
			held |= p->held[k] == t.all.v[i];
		if (held)
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

/* A thread that could not be used: it never stopped, or it waits at an unsafe place. */
static void say_where(struct pick *p, char *out, size_t size)
{
	pid_t tid = p->n_held ? p->held[p->n_held - 1] : p->pid;
	char *wchan = read_of(p->pid, tid, "wchan"), *text = read_of(p->pid, tid, "stat");
	bool known = wchan && *wchan && strcmp(wchan, "0");
	const char *does = "waits in the kernel";
	struct proc_stat stat;

	if (!text || proc_parse_stat(text, &stat) || stat.state == 'R')
		does = p->n_held ? "stays in the kernel" : "runs";
	else if (stat.state == 'D')
		does = "waits in the kernel where no signal reaches it";
	snprintf(out, size, "thread %d %s%s%s", tid, does, known ? ": " : "", known ? wchan : "");
	free(wchan);
	free(text);
}

static int no_thread(struct pick *p)
{
	char where[160];

	if (*p->quiet_why && !p->n_held)
		snprintf(where, sizeof(where), "of thread %d: %.120s", p->why_tid, p->quiet_why);
	else
		say_where(p, where, sizeof(where));
	snprintf(p->why, sizeof(p->why), "none of its threads came to where it can be asked "
		 "safely (%s); try again", where);
	return -ENOTSUP;
}

void pick_begin(struct pick *p, pid_t pid)
{
	*p = (struct pick){ .pid = pid, .end_ns = time_now_ns() + FIND_NS };
}

int pick_thread(struct pick *p, struct remote *r)
{
	/* The least disturbing comes first. */
	static int (*const tries[])(struct pick *, struct remote *, pid_t) = {
		try_waiting, try_anywhere, try_running, try_shown };
	int err = -EAGAIN;

	while (err == -EAGAIN && !p->final) {
		for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]) && err == -EAGAIN; i++)
			err = try_all(p, r, tries[i]);
		if ((err == -EAGAIN || err == -ETIMEDOUT) && time_now_ns() >= p->end_ns)
			return p->final ? p->final : no_thread(p);
		if (err == -EAGAIN) {
			p->n_held = 0;
			usleep(AGAIN_US);
		}
	}
	return p->final ? p->final : err;
}
