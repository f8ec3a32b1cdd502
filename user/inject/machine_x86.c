// SPDX-License-Identifier: BSD-3-Clause
/*
 * x86-64. The layouts are the kernel's: struct rt_sigframe (arch/x86/include/asm/sigframe.h) and
 * what XSAVE writes (Intel SDM 1, 13.4), standard form.
 */
#if defined(__x86_64__)
#include "inject/machine.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#define CARRY_AND_STATUS 0x8d5ull	/* of flags: those that a function expects to be clear */
#define DIRECTION 0x400ull
#define TRAP 0x100ull

/* The kernel's own, between it and ptrace. */
#define E_RESTARTSYS 512
#define E_RESTARTNOINTR 513
#define E_RESTARTNOHAND 514
#define E_RESTART_BLOCK 516

#define XSAVE_LEGACY 512u
#define XSAVE_HEADER 64u
/* in the legacy part: the kernel's description of a signal frame's */
#define XSAVE_SOFTWARE 464u
#define FP_MAGIC1 0x46505853u
#define FP_MAGIC2 0x46505845u

static const uint16_t machine_waits[] = { SYS_futex,	 SYS_poll,	   SYS_ppoll,
					  SYS_select,	 SYS_pselect6,	   SYS_clock_nanosleep,
					  SYS_nanosleep, SYS_wait4,	   SYS_waitid,
					  SYS_pause,	 MACHINE_WAITS_END };
static const uint16_t machine_waits_shown[] = { SYS_epoll_wait, SYS_epoll_pwait,
						MACHINE_WAITS_END };

struct kernel_context {		/* struct sigcontext_64 */
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
};

struct kernel_ucontext {
	uint64_t flags, link, stack[3];
	struct kernel_context context;
	uint64_t mask;
};
_Static_assert(sizeof(struct kernel_ucontext) == 304, "ABI of struct ucontext");
_Static_assert(sizeof(struct user_regs_struct) <= MACHINE_GENERAL_BYTES, "general registers");

struct software {		/* struct _fpx_sw_bytes */
	uint32_t magic1, extended_size;
	uint64_t features;
	uint32_t size, padding[7];
};

static struct user_regs_struct *regs_of(struct machine_state *s)
{
	return (struct user_regs_struct *)(void *)s->general;
}

static const struct user_regs_struct *regs_in(const struct machine_state *s)
{
	return (const struct user_regs_struct *)(const void *)s->general;
}

static int machine_write_entered(pid_t tid, const struct machine_state *s, long syscall)
{
	struct user_regs_struct regs = *regs_in(s);
	struct iovec general = { &regs, sizeof(regs) };

	regs.orig_rax = (unsigned long long)syscall;
	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &general) ? -errno : 0;
}

static uint64_t machine_sp(const struct machine_state *s)
{
	return regs_in(s)->rsp;
}

static uint64_t machine_thread_pointer(pid_t tid, const struct machine_state *s)
{
	(void)tid;
	return regs_in(s)->fs_base;
}

static void machine_to_unwind(const struct machine_state *s, struct stack_regs *out)
{
	const struct user_regs_struct *r = regs_in(s);
	const uint64_t in_order[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
				      r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
				      r->r12, r->r13, r->r14, r->r15 };

	*out = (struct stack_regs){ .pc = r->rip, .known = 0xffff };
	memcpy(out->reg, in_order, sizeof(in_order));
}

static bool restarts(const struct user_regs_struct *r)
{
	long result = -(long)r->rax;

	return (long)r->orig_rax >= 0 && (result == E_RESTARTSYS || result == E_RESTARTNOINTR ||
					  result == E_RESTARTNOHAND || result == E_RESTART_BLOCK);
}

static long machine_interrupted_call(pid_t tid, struct machine_state *s)
{
	struct user_regs_struct *r = regs_of(s);
	long call = (long)r->orig_rax;

	(void)tid;
	if ((call == SYS_epoll_wait || call == SYS_epoll_pwait) && (long)r->rax == -EINTR)
		r->rax = (unsigned long long)-E_RESTARTNOHAND;
	return restarts(r) ? call : -1;
}

static bool machine_step_back(struct machine_state *s)
{
	struct user_regs_struct *r = regs_of(s);

	r->rip -= 2;
	r->rax = r->orig_rax;
	r->orig_rax = (unsigned long long)-1;
	return true;
}

static void machine_go_on(struct machine_state *s, bool timed)
{
	struct user_regs_struct *r = regs_of(s);
	bool block = (long)r->rax == -E_RESTART_BLOCK;

	if (!restarts(r)) {
		r->orig_rax = (unsigned long long)-1;
		return;
	}
	machine_step_back(s);
	if (block && timed)
		r->rax = SYS_restart_syscall;
}

static void machine_set_call(struct machine_state *s, const struct machine_call *call)
{
	struct user_regs_struct *r = regs_of(s);

	r->rip = call->at;
	r->rsp = call->sp;
	r->rax = call->syscall < 0 ? 0 : (unsigned long long)call->syscall;
	r->orig_rax = (unsigned long long)-1;
	r->eflags &= ~(CARRY_AND_STATUS | DIRECTION | TRAP);
	r->rdi = call->arg[0];
	r->rsi = call->arg[1];
	r->rdx = call->arg[2];
	r->rcx = r->r10 = call->arg[3];
	r->r8 = call->arg[4];
	r->r9 = call->arg[5];
}

/* How many bytes of the vector registers are in use: the largest frame of this thread depends on
 * what the kernel has granted it, but the part in use is always allowed. */
static size_t vector_used(const struct machine_state *s, uint64_t *features)
{
	size_t used = XSAVE_LEGACY + XSAVE_HEADER;

	memcpy(features, s->vector + XSAVE_LEGACY, sizeof(*features));
	for (unsigned int i = 2; i < 63; i++) {
		unsigned int size, offset, c, d;

		if (!(*features >> i & 1) || !__get_cpuid_count(0xd, i, &size, &offset, &c, &d))
			continue;
		if ((size_t)offset + size > used)
			used = (size_t)offset + size;
	}
	return used;
}

static void fill_context(struct kernel_context *c, const struct user_regs_struct *r)
{
	*c = (struct kernel_context){
		.r8 = r->r8, .r9 = r->r9, .r10 = r->r10, .r11 = r->r11,
		.r12 = r->r12, .r13 = r->r13, .r14 = r->r14, .r15 = r->r15,
		.di = r->rdi, .si = r->rsi, .bp = r->rbp, .bx = r->rbx,
		.dx = r->rdx, .ax = r->rax, .cx = r->rcx, .sp = r->rsp,
		.ip = r->rip, .flags = r->eflags, .cs = (uint16_t)r->cs, .ss = (uint16_t)r->ss,
	};
}

static int machine_build_frame(const struct machine_state *s, uint64_t mask, uint64_t below,
			       uint64_t back, struct machine_frame *out)
{
	struct kernel_ucontext uc = { .flags = 7, .mask = mask };	/* XSTATE, SS, STRICT_SS */
	struct software sw = { .magic1 = FP_MAGIC1 };
	size_t used = vector_used(s, &sw.features), total, at = 16 + sizeof(uc);
	const uint32_t magic2 = FP_MAGIC2;

	at = (at + 63) & ~(size_t)63;
	total = at + used + sizeof(magic2);
	if (used > s->vector_bytes || total > sizeof(out->bytes) || below < total + 64)
		return -EOVERFLOW;
	memset(out->bytes, 0, total);
	out->sp = ((below - total) & ~63ull) + 8;
	out->return_sp = out->sp + 8;
	out->len = total - 8;
	fill_context(&uc.context, regs_in(s));
	uc.context.fpstate = out->sp - 8 + at;
	sw.features |= 3;	/* x87 and SSE lie in the legacy part, used or not */
	sw.size = (uint32_t)used;
	sw.extended_size = (uint32_t)(used + sizeof(magic2));
	memcpy(out->bytes, &back, sizeof(back));
	memcpy(out->bytes + 8, &uc, sizeof(uc));
	memcpy(out->bytes + at - 8, s->vector, used);
	memcpy(out->bytes + at - 8 + XSAVE_SOFTWARE, &sw, sizeof(sw));
	memcpy(out->bytes + at - 8 + used, &magic2, sizeof(magic2));
	return 0;
}

static const uint8_t syscall_ret[] = { 0x0f, 0x05, 0xc3 };
static const uint8_t restore_rt[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

const struct machine machine = {
	.general_bytes = sizeof(struct user_regs_struct),
	.vector_set = NT_X86_XSTATE,
	.vector_most = MACHINE_VECTOR_BYTES,
	.vector_least = XSAVE_LEGACY + XSAVE_HEADER,
	.write_entered = machine_write_entered,
	.sp = machine_sp,
	.thread_pointer = machine_thread_pointer,
	.to_unwind = machine_to_unwind,
	.interrupted_call = machine_interrupted_call,
	.step_back = machine_step_back,
	.go_on = machine_go_on,
	.set_call = machine_set_call,
	.build_frame = machine_build_frame,
	.syscall_code = { syscall_ret, sizeof(syscall_ret) },
	.return_code = { restore_rt, sizeof(restore_rt) },
	.code_step = 1,
	.return_in_vdso = false,
	.can_begin_anew = true,
	.waits = machine_waits,
	.waits_shown = machine_waits_shown,
};

#endif
