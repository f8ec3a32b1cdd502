// SPDX-License-Identifier: BSD-3-Clause
/*
 * arm64. The layout is the kernel's (arch/arm64/kernel/signal.c): siginfo, ucontext, and in it
 * records of which the first is the vector registers; above 128 bits they hold nothing where a
 * system call was made. A stopped thread's registers are already those with which the call begins
 * again.
 */
#if defined(__aarch64__)
#include "inject/machine.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

#define SVC_0 0xd4000001u
#define FPSIMD_MAGIC 0x46508001u

static const uint16_t machine_waits[] = { SYS_futex,	       SYS_ppoll,	 SYS_pselect6,
					  SYS_clock_nanosleep, SYS_nanosleep,	 SYS_wait4,
					  SYS_waitid,	       MACHINE_WAITS_END };
static const uint16_t machine_waits_shown[] = { MACHINE_WAITS_END };

struct kernel_frame {		/* struct rt_sigframe */
	uint8_t siginfo[128];
	uint64_t flags, link, stack[3];
	uint64_t mask;
	uint8_t unused[120], align[8];
	uint64_t fault_address, regs[31], sp, pc, pstate, align2;
	uint32_t magic, size;	/* struct fpsimd_context */
	uint32_t fpsr, fpcr;
	uint8_t v[512];
	uint8_t end[4096 - 528];	/* a record of no kind and no size ends them */
};
_Static_assert(offsetof(struct kernel_frame, fault_address) == 128 + 176, "ABI of struct ucontext");
_Static_assert(offsetof(struct kernel_frame, magic) == 128 + 176 + 288, "ABI of struct sigcontext");
_Static_assert(sizeof(struct user_pt_regs) <= MACHINE_GENERAL_BYTES, "general registers");

static struct user_pt_regs *regs_of(struct machine_state *s)
{
	return (struct user_pt_regs *)(void *)s->general;
}

static const struct user_pt_regs *regs_in(const struct machine_state *s)
{
	return (const struct user_pt_regs *)(const void *)s->general;
}

static int machine_write_entered(pid_t tid, const struct machine_state *s, long syscall)
{
	int nr = (int)syscall;
	struct iovec general = { (void *)(uintptr_t)s->general, sizeof(struct user_pt_regs) };
	struct iovec call = { &nr, sizeof(nr) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &general) ||
	       ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &call) ? -errno : 0;
}

static uint64_t machine_sp(const struct machine_state *s)
{
	return regs_in(s)->sp;
}

static uint64_t machine_thread_pointer(pid_t tid, const struct machine_state *s)
{
	uint64_t at = 0;
	struct iovec tls = { &at, sizeof(at) };

	(void)s;
	return ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &tls) ? 0 : at;
}

static void machine_to_unwind(const struct machine_state *s, struct stack_regs *out)
{
	const struct user_pt_regs *r = regs_in(s);

	*out = (struct stack_regs){ .pc = r->pc, .known = UINT32_MAX };
	memcpy(out->reg, r->regs, sizeof(r->regs));
	out->reg[31] = r->sp;
}

static long machine_interrupted_call(pid_t tid, struct machine_state *s)
{
	const struct user_pt_regs *r = regs_in(s);
	long code;

	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)r->pc, NULL);
	return errno || (uint32_t)code != SVC_0 ? -1 : (long)r->regs[8];
}

/* x7 marks a system call's entry. */
static bool machine_step_back(struct machine_state *s)
{
	(void)s;
	return false;
}

static void machine_go_on(struct machine_state *s, bool timed)
{
	(void)s;
	(void)timed;
}

static void machine_set_call(struct machine_state *s, const struct machine_call *call)
{
	struct user_pt_regs *r = regs_of(s);

	memcpy(r->regs, call->arg, sizeof(call->arg));
	if (call->syscall >= 0)
		r->regs[8] = (uint64_t)call->syscall;
	r->regs[30] = call->back;
	r->sp = call->sp;
	r->pc = call->at;
	r->pstate &= ~(uint64_t)PSR_BTYPE_MASK;
}

static int machine_build_frame(const struct machine_state *s, uint64_t mask, uint64_t below,
			       uint64_t back, struct machine_frame *out)
{
	const struct user_pt_regs *r = regs_in(s);
	struct user_fpsimd_state vector;
	struct kernel_frame f = { .mask = mask, .magic = FPSIMD_MAGIC, .size = 528 };

	(void)back;		/* it is in the link register */
	if (below < sizeof(f) + 64 || sizeof(f) > sizeof(out->bytes))
		return -EOVERFLOW;
	memcpy(&vector, s->vector, sizeof(vector));
	memcpy(f.regs, r->regs, sizeof(f.regs));
	f.sp = r->sp;
	f.pc = r->pc;
	f.pstate = r->pstate;
	f.fpsr = vector.fpsr;
	f.fpcr = vector.fpcr;
	memcpy(f.v, vector.vregs, sizeof(f.v));
	out->sp = out->return_sp = (below - sizeof(f)) & ~15ull;
	out->len = sizeof(f);
	memcpy(out->bytes, &f, sizeof(f));
	return 0;
}

static const uint32_t svc_ret[] = { SVC_0, 0xd65f03c0 };
static const uint32_t restore_rt[] = { 0xd2801168, SVC_0 };	/* mov x8, #139 */

const struct machine machine = {
	.general_bytes = sizeof(struct user_pt_regs),
	.vector_set = NT_PRFPREG,
	.vector_most = sizeof(struct user_fpsimd_state),
	.write_entered = machine_write_entered,
	.sp = machine_sp,
	.thread_pointer = machine_thread_pointer,
	.to_unwind = machine_to_unwind,
	.interrupted_call = machine_interrupted_call,
	.step_back = machine_step_back,
	.go_on = machine_go_on,
	.set_call = machine_set_call,
	.build_frame = machine_build_frame,
	.syscall_code = { svc_ret, sizeof(svc_ret) },
	.return_code = { restore_rt, sizeof(restore_rt) },
	.code_step = 4,
	.return_in_vdso = true,
	.can_begin_anew = false,
	.waits = machine_waits,
	.waits_shown = machine_waits_shown,
};

#endif
