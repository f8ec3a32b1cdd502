// SPDX-License-Identifier: BSD-3-Clause
/*
 * See the header. Between any two requests to the kernel gpuprof may die, and the thread then goes
 * on with what was set last: so the registers are always set at once, to something complete.
 */
#include "inject/remote.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "base/time.h"

#define STOP_NS (500 * NS_PER_MS)	/* a thread that waits stops at once */
#define CALL_NS (5 * NS_PER_SEC)	/* others may hold a lock that it wants */
#define EVENT_STOP 128			/* PTRACE_EVENT_STOP */
#define SYSCALL_STOP (SIGTRAP | 0x80)

/* Faults of its own are dealt with here; all others wait until it is where it was. */
static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
#define N_FAULTS (sizeof(faults) / sizeof(faults[0]))

int remote_write(pid_t pid, uint64_t at, const void *data, size_t len)
{
	struct iovec local = { (void *)(uintptr_t)data, len };
	struct iovec there = { (void *)(uintptr_t)at, len };
	ssize_t n = process_vm_writev(pid, &local, 1, &there, 1, 0);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EFAULT;
}

int remote_read(pid_t pid, uint64_t at, void *data, size_t len)
{
	struct iovec local = { data, len }, there = { (void *)(uintptr_t)at, len };
	ssize_t n = process_vm_readv(pid, &local, 1, &there, 1, 0);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EFAULT;
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

static bool is_trap(int status)
{
	return status >> 16 == EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

/* Asks for a trap and waits for it; a signal that comes before is delivered. Any stop ends the
 * asking. */
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
		if (is_trap(status)) {
			r->place = REMOTE_TRAPPED;
			return 0;
		}
		if (status >> 16 == EVENT_STOP)
			return -EBUSY;		/* a signal has stopped the process */
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
	return held ? -ETIMEDOUT : 0;
}

/* A call that would tell the program that we came begins again, also if we are gone by then. */
static int undo_interruption(struct remote *r)
{
	const struct machine_state found = r->original;

	machine_interrupted_call(r->tid, &r->original);
	return memcmp(found.general, r->original.general, sizeof(found.general)) ?
		       machine_write_general(r->tid, &r->original) : 0;
}

int remote_stop(struct remote *r, pid_t pid, pid_t tid)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->pid = pid;
	r->tid = tid;
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD))
		return -errno;
	r->place = REMOTE_AWAY;
	r->since_ns = time_now_ns();
	err = trap(r);
	if (!err)
		err = machine_read(tid, &r->original);
	if (!err && ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(r->mask), &r->mask))
		err = -errno;
	if (!err)
		err = undo_interruption(r);
	if (err && detach(r))
		return -ETIMEDOUT;
	return err == -EBUSY ? -EAGAIN : err;
}

static bool get_call(struct remote *r, struct __ptrace_syscall_info *info)
{
	return ptrace(PTRACE_GET_SYSCALL_INFO, r->tid, (void *)sizeof(*info), info) > 0;
}

int remote_to_call(struct remote *r, uint64_t end_ns, bool (*is_quiet)(struct remote *r))
{
	struct __ptrace_syscall_info info;
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
		if (machine_read(r->tid, &r->original) || !machine_step_back(&r->original))
			break;
		if (is_quiet(r))
			return 0;
	}
	if (err == -EAGAIN) {
		r->place = REMOTE_AWAY;
		err = trap(r);		/* it runs: what is not stopped cannot be let go */
	}
	if (detach(r))
		return -ETIMEDOUT;
	return err == -ESRCH ? err : -EAGAIN;
}

/* struct rseq: the address of the sequence that it is in, or was in last, follows two numbers. */
bool remote_in_sequence(const struct remote *r)
{
	struct __ptrace_rseq_configuration where = { 0 };
	uint64_t sequence = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, r->tid, (void *)sizeof(where), &where) < 0)
		return true;
	return where.rseq_abi_pointer &&
	       (remote_read(r->pid, where.rseq_abi_pointer + 8, &sequence, sizeof(sequence)) || sequence);
}

/* ---- a call --------------------------------------------------------------------------------- */

#define SETXID 33	/* the C library's own: setuid waits until every thread has had it */

static uint64_t all_but_faults(void)
{
	uint64_t mask = ~(1ull << (SETXID - 1));

	for (size_t i = 0; i < N_FAULTS; i++)
		mask &= ~(1ull << (faults[i] - 1));
	return mask;
}

static int set_mask(struct remote *r, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, r->tid, (void *)sizeof(mask), &mask) ? -errno : 0;
}

/*
 * It is at the entry of a call that is not to be. To make it none at all, a seccomp filter would be
 * asked about call -1, and would answer in its registers: it becomes one that changes nothing.
 * Behind it the frame brings the thread back, should nobody come any more.
 */
static int pass_entry(struct remote *r)
{
	struct machine_call none = { .at = r->back, .syscall = -1, .sp = r->return_sp, .back = r->back };
	uint64_t end = time_now_ns() + CALL_NS;
	struct machine_state s = r->original;
	int err, status;

	machine_set_call(&s, &none);
	err = machine_write_entered(r->tid, &s, SYS_getpid);
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
	int err;

	machine_go_on(&s, false);
	err = machine_build_frame(&s, r->mask, call->below, call->back, frame);
	if (!err)
		err = remote_write(r->pid, frame->sp, frame->bytes, frame->len);
	if (err)
		return err;
	r->return_sp = frame->return_sp;
	r->back = call->back;
	err = r->place == REMOTE_ENTERED ? pass_entry(r) : 0;
	if (err)
		return err;
	to.sp = frame->sp;
	memcpy(to.arg, call->arg, sizeof(to.arg));
	machine_set_call(&s, &to);
	err = machine_write_general(r->tid, &s);
	r->used |= !err;
	return err ? err : set_mask(r, all_but_faults());
}

static bool is_own_fault(struct remote *r, int signal)
{
	siginfo_t info;

	for (size_t i = 0; i < N_FAULTS; i++)
		if (faults[i] == signal)
			return !ptrace(PTRACE_GETSIGINFO, r->tid, NULL, &info) && info.si_code > 0;
	return false;
}

/* At the stop that `status` tells of. 1: it has returned; 0: go on; -errno. */
static int on_stop(struct remote *r, const struct machine_frame *frame, const struct remote_call *call,
		   long *nr, long *result)
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

/* Stopped where it would restore itself: instead we do, since what is left of a timed wait is known
 * until then. The trap is where the kernel decides on calls to begin again, and on signals. */
static void bring_back(struct remote *r)
{
	struct machine_state s = r->original;

	machine_go_on(&s, true);
	if (r->place == REMOTE_ENTERED && pass_entry(r))
		return;
	if (set_mask(r, r->mask) || machine_write_vector(r->tid, &r->original) ||
	    machine_write_general(r->tid, &s))
		return;
	if (trap(r))
		return;
	machine_write_general(r->tid, &r->original);
}

void remote_release(struct remote *r)
{
	if (r->place == REMOTE_AWAY) {
		trap(r);
	} else if (r->place == REMOTE_SIGNALLED) {
		set_mask(r, r->mask);
		machine_write_vector(r->tid, &r->original);
		machine_write_general(r->tid, &r->original);
	} else if (r->used) {
		bring_back(r);
	}
	detach(r);
}

void remote_release_anew(struct remote *r)
{
	struct machine_state s = r->original;

	if (r->place == REMOTE_TRAPPED && !r->used) {
		machine_go_on(&s, false);
		machine_write_general(r->tid, &s);
	}
	detach(r);
}
