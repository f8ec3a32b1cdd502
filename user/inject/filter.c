// SPDX-License-Identifier: BSD-3-Clause
#include "inject/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "host/proc.h"
#include "target/target.h"

/* A program only goes forward; where an unknown value decides, both ways are followed. */

#define WAYS_MAX 256		/* that wait to be gone */
#define STEPS_MAX 65536u	/* over all ways */
#define INPUT_BYTES ((uint32_t)sizeof(struct seccomp_data))

struct value {
	uint32_t v;
	bool known;
};

struct way {
	size_t at;
	struct value a, x, mem[BPF_MEMWORDS];
};

struct run {
	const struct sock_filter *code;
	size_t n, n_ways;
	const struct cbpf_input *in;
	void (*answer)(void *ctx, uint32_t value, bool known);
	void *ctx;
	struct way *ways;
};

static struct value known(uint32_t v)
{
	return (struct value){ v, true };
}

static int load(const struct run *r, struct way *w, const struct sock_filter *f)
{
	const uint32_t ip = offsetof(struct seccomp_data, instruction_pointer);
	const uint32_t args = offsetof(struct seccomp_data, args);
	struct value *to = BPF_CLASS(f->code) == BPF_LD ? &w->a : &w->x;

	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		*to = known(f->k);
		return 0;
	case BPF_LEN:
		*to = known(INPUT_BYTES);
		return 0;
	case BPF_MEM:
		if (f->k >= BPF_MEMWORDS)
			return -EINVAL;
		*to = w->mem[f->k];
		return 0;
	case BPF_ABS:
		if (to != &w->a || BPF_SIZE(f->code) != BPF_W || f->k >= INPUT_BYTES || f->k % 4)
			return -EINVAL;
		memcpy(&to->v, (const char *)&r->in->data + f->k, sizeof(to->v));
		to->known = f->k >= args ? !(r->in->any >> ((f->k - args) / 8) & 1) :
					   f->k < ip || !r->in->any_ip;
		return 0;
	default:
		return -EINVAL;
	}
}

/* 0; 1: the program ends, returning 0; -EINVAL. */
static int compute(const struct run *r, struct way *w, const struct sock_filter *f)
{
	bool by_x = BPF_SRC(f->code) == BPF_X;
	struct value by = by_x ? w->x : known(f->k);

	w->a.known = w->a.known && (by.known || BPF_OP(f->code) == BPF_NEG);
	switch (BPF_OP(f->code)) {
	case BPF_ADD: w->a.v += by.v; return 0;
	case BPF_SUB: w->a.v -= by.v; return 0;
	case BPF_MUL: w->a.v *= by.v; return 0;
	case BPF_AND: w->a.v &= by.v; return 0;
	case BPF_OR: w->a.v |= by.v; return 0;
	case BPF_XOR: w->a.v ^= by.v; return 0;
	case BPF_NEG: w->a.v = -w->a.v; return 0;
	case BPF_LSH:
	case BPF_RSH:
		if (!by_x && by.v > 31)
			return -EINVAL;
		w->a.v = BPF_OP(f->code) == BPF_LSH ? w->a.v << (by.v & 31) : w->a.v >> (by.v & 31);
		return 0;
	case BPF_DIV:
		if (!by_x && !by.v)
			return -EINVAL;
		if (!by.known)
			r->answer(r->ctx, 0, true);	/* by nothing, perhaps */
		else if (!by.v)
			return 1;
		w->a.v = by.v ? w->a.v / by.v : 0;
		return 0;
	default:
		return -EINVAL;
	}
}

static int jump(struct run *r, struct way *w, const struct sock_filter *f)
{
	struct value by = BPF_SRC(f->code) == BPF_X ? w->x : known(f->k);
	bool yes;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		w->at += f->k;	/* the next one is checked */
		return 0;
	case BPF_JEQ: yes = w->a.v == by.v; break;
	case BPF_JGT: yes = w->a.v > by.v; break;
	case BPF_JGE: yes = w->a.v >= by.v; break;
	case BPF_JSET: yes = w->a.v & by.v; break;
	default: return -EINVAL;
	}
	if (!w->a.known || !by.known) {
		if (r->n_ways == WAYS_MAX)
			return -E2BIG;
		r->ways[r->n_ways] = *w;
		r->ways[r->n_ways++].at += f->jf;
		yes = true;
	}
	w->at += yes ? f->jt : f->jf;
	return 0;
}

/* 0; 1: this way has ended; -errno. */
static int step(struct run *r, struct way *w)
{
	const struct sock_filter *f = &r->code[w->at++];
	int got;

	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
	case BPF_LDX:
		return load(r, w, f);
	case BPF_ST:
	case BPF_STX:
		if (f->k >= BPF_MEMWORDS)
			return -EINVAL;
		w->mem[f->k] = BPF_CLASS(f->code) == BPF_ST ? w->a : w->x;
		return 0;
	case BPF_ALU:
		got = compute(r, w, f);
		if (got > 0)
			r->answer(r->ctx, 0, true);
		return got;
	case BPF_JMP:
		return jump(r, w, f);
	case BPF_RET:
		if (BPF_RVAL(f->code) != BPF_K && BPF_RVAL(f->code) != BPF_A)
			return -EINVAL;
		r->answer(r->ctx, BPF_RVAL(f->code) == BPF_K ? f->k : w->a.v,
			  BPF_RVAL(f->code) == BPF_K || w->a.known);
		return 1;
	default:
		if (BPF_MISCOP(f->code) == BPF_TAX)
			w->x = w->a;
		else
			w->a = w->x;
		return 0;
	}
}

static int run(struct run *r)
{
	unsigned int steps = 0;

	while (r->n_ways) {
		struct way w = r->ways[--r->n_ways];
		int got = 0;

		while (!got) {
			if (w.at >= r->n)
				return -EINVAL;
			if (++steps > STEPS_MAX)
				return -E2BIG;
			got = step(r, &w);
		}
		if (got < 0)
			return got;
	}
	return 0;
}

/* Calls `answer` with each result, some more than once; known false: any result is possible. 0;
 * -EINVAL: the kernel would not have accepted that program; -E2BIG: there are too many paths
 * through it. */
static int cbpf_run(const struct sock_filter *code, size_t n, const struct cbpf_input *in,
		    void (*answer)(void *ctx, uint32_t value, bool known), void *ctx)
{
	struct run r = { .code = code, .n = n, .in = in, .answer = answer, .ctx = ctx,
			 .n_ways = 1 };
	int err;

	if (!n || n > BPF_MAXINSNS)
		return -EINVAL;
	r.ways = calloc(WAYS_MAX, sizeof(*r.ways));
	if (!r.ways)
		return -ENOMEM;
	r.ways[0].a = r.ways[0].x = known(0);
	for (size_t i = 0; i < BPF_MEMWORDS; i++)
		r.ways[0].mem[i] = known(0);	/* a read before a write is refused by the kernel */
	err = run(&r);
	free(r.ways);
	return err;
}

/* ---- one program, one call ------------------------------------------------------------------ */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#define FILTERS_MAX 64
#define STATUS_MAX 65536

static const struct filter_call restart = { "restart_syscall", SYS_restart_syscall, .any = 0x3f };

static void keep_worst(void *ctx, uint32_t value, bool is_known)
{
	enum filter_answer *worst = ctx, got = FILTER_KILLS;
	uint32_t action = value & SECCOMP_RET_ACTION_FULL;

	if (is_known && (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG))
		got = FILTER_ALLOWS;
	else if (is_known && action == SECCOMP_RET_ERRNO)
		got = FILTER_FAILS;
	if (got > *worst)
		*worst = got;
}

/* The worst result of one program for the call (enum filter_answer), or -ENOMEM; pure. */
static int filter_judge(const struct sock_filter *code, size_t n, const struct filter_call *call)
{
	struct cbpf_input in = { .data = { .nr = call->nr, .arch = ARCHITECTURE }, .any = call->any,
				 .any_ip = true };
	enum filter_answer worst = FILTER_ALLOWS;
	int err;

	for (unsigned int i = 0; i < 6; i++)
		in.data.args[i] = call->arg[i];
	err = cbpf_run(code, n, &in, keep_worst, &worst);
	if (err == -E2BIG)
		return worst == FILTER_KILLS ? FILTER_KILLS : FILTER_UNKNOWN;
	return err == -ENOMEM ? err : err ? FILTER_KILLS : (int)worst;
}

/* ---- a thread's ----------------------------------------------------------------------------- */

struct seccomp {
	uint64_t mode, filters;		/* 0: also of a kernel without seccomp */
};

/* 0 or -errno; -ESRCH: it has ended. */
static int seccomp_of(pid_t pid, pid_t tid, struct seccomp *out)
{
	char path[64], *text;
	const char *state;
	bool has_ended;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	text = io_read_file(path, STATUS_MAX, NULL);
	if (!text)
		return errno == ENOENT ? -ESRCH : -errno;
	state = proc_status_field(text, "State");
	has_ended = state && (*state == 'Z' || *state == 'X');
	*out = (struct seccomp){ proc_status_number(text, "Seccomp"),
				 proc_status_number(text, "Seccomp_filters") };
	free(text);
	return has_ended ? -ESRCH : 0;
}

bool filter_is_there(pid_t pid, pid_t tid)
{
	struct seccomp its;

	return seccomp_of(pid, tid, &its) || its.mode != SECCOMP_MODE_DISABLED;
}

struct others {
	pid_t pid;
	struct seccomp like;
};

/* 0: yes, or it has ended. */
static int is_unlike(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	const struct others *o = ctx;
	struct seccomp its;
	int err = seccomp_of(o->pid, tid, &its);

	(void)start_ns;
	(void)comm;
	return err ? err != -ESRCH : its.mode != o->like.mode || its.filters != o->like.filters;
}

#define BY_ENV "; start it with `gpuprof env`"

static int refuse(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return -ENOTSUP;
}

static int unreadable(char *why, size_t size, int err)
{
	if (err == EACCES || err == EPERM)
		return refuse(why, size, "it has a seccomp filter, and to see what that allows, "
			      "gpuprof needs CAP_SYS_ADMIN and no filter of its own; run it as "
			      "root on the host");
	if (err == E2BIG)
		return refuse(why, size, "it has more seccomp filters than gpuprof reads" BY_ENV);
	return refuse(why, size, "it has a seccomp filter, and this kernel does not show what that "
		      "allows (CONFIG_CHECKPOINT_RESTORE)" BY_ENV);
}

/* Of one filter. */
static int judge_all(const struct sock_filter *code, size_t n, char *why, size_t size)
{
	for (const struct filter_call *c = filter_calls; c->name; c++) {
		int got = filter_judge(code, n, c);

		if (got < 0)
			return got;
		if (got == FILTER_UNKNOWN)
			return refuse(why, size,
				      "its seccomp filter is too long to be judged" BY_ENV);
		if (got == FILTER_KILLS || (got == FILTER_FAILS && !c->may_fail)) {
			snprintf(why, size, "its seccomp filter does not let pass %s, which the "
				 "helper needs; allow it there (docker: --security-opt "
				 "seccomp=FILE), or leave --inject out", c->name);
			return -ENOTSUP;
		}
	}
	return 0;
}

/* Each filter may forbid something. *begins_anew: see filter_check. */
static int check_filters(pid_t tid, struct sock_filter *code, bool *begins_anew, char *why,
			 size_t size)
{
	bool may_go_on = true;
	int err = 0;

	for (unsigned long i = 0; i < FILTERS_MAX; i++) {
		long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, NULL);

		if (n < 0 && errno == ENOENT && i) {
			*begins_anew = !may_go_on;
			return err;
		}
		if (n <= 0 || n > BPF_MAXINSNS ||
		    ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, code) != n)
			return unreadable(why, size, n < 0 ? errno : EINVAL);
		may_go_on &= filter_judge(code, (size_t)n, &restart) == FILTER_ALLOWS;
		err = err ? err : judge_all(code, (size_t)n, why, size);
	}
	return unreadable(why, size, E2BIG);
}

int filter_check(pid_t pid, pid_t tid, bool *begins_anew, char *why, size_t size)
{
	struct sock_filter *code;
	struct seccomp its;
	int err;

	*begins_anew = true;
	err = seccomp_of(pid, tid, &its);
	if (err)
		return err;
	*begins_anew = its.mode != SECCOMP_MODE_DISABLED;
	/* The helper's code runs on other threads, too, where CUPTI or NVTX calls it. */
	if (target_each_thread(pid, is_unlike, &(struct others){ pid, its }))
		return refuse(why, size,
			      "some of its threads have seccomp filters of their own" BY_ENV);
	if (!*begins_anew)
		return 0;
	code = calloc(BPF_MAXINSNS, sizeof(*code));
	if (!code)
		return -ENOMEM;
	err = check_filters(tid, code, begins_anew, why, size);
	free(code);
	return err;
}

/*
 * ---- the system calls made for the helper ------------------------------------------------------
 *
 * The first part was observed when the helper was brought in, woken and left (tests/unit/
 * test_gpusim_helper_filter.c checks that none is missing), with the calls that other versions of
 * the C library use instead. The calls of a real CUPTI were not observed: its own imports (11.8 to
 * 13.0) are the last part, and all of them may fail.
 */

#define ANY 0x3f
#define ALL_BUT(...) (uint8_t)(ANY & ~(__VA_ARGS__))
#define MUST(call) { #call, SYS_##call, .any = ANY }
#define MAY(call) { #call, SYS_##call, .any = ANY, .may_fail = true }
/* Of a mapping and a protection: the third, or the third and fourth argument. */
#define MAPS(prot, flags) \
	{ "mmap", SYS_mmap, .any = ALL_BUT(4 | 8), .arg = { 0, 0, (prot), (flags) } }
#define PROTECTS(prot) { "mprotect", SYS_mprotect, .any = ALL_BUT(4), .arg = { 0, 0, (prot) } }

#define PRIVATE MAP_PRIVATE
#define OF_NOTHING (MAP_PRIVATE | MAP_ANONYMOUS)
#define OF_LIBRARY (MAP_PRIVATE | MAP_DENYWRITE)
#define RW (PROT_READ | PROT_WRITE)
#define RX (PROT_READ | PROT_EXEC)
#define MEMFD(flags) { "memfd_create", SYS_memfd_create, .any = ALL_BUT(2), .arg = { 0, (flags) } }
#define THREAD_FLAGS 0x3d0f00	/* of the C library's clone */

const struct filter_call filter_calls[] = {
	/* The thread that makes the calls, and the one it starts. */
	MUST(getpid), MUST(restart_syscall), MUST(rt_sigreturn), MUST(rt_sigprocmask), MUST(munmap),
	MUST(close), MAPS(RW, OF_NOTHING), MAPS(RX, PRIVATE),
	MAPS(PROT_NONE, OF_NOTHING | MAP_STACK), MAPS(PROT_NONE, OF_NOTHING | MAP_NORESERVE),
	MAPS(RW, OF_NOTHING | MAP_STACK), MAPS(RW, OF_NOTHING | MAP_NORESERVE), PROTECTS(RW),
	PROTECTS(PROT_READ), PROTECTS(PROT_NONE), MEMFD(3), MEMFD(0x13),
	{ "clone", SYS_clone, .any = ALL_BUT(1), .arg = { THREAD_FLAGS } },
	MAY(clone3), MAY(set_robust_list), MAY(rseq), MAY(madvise), MAY(brk), MAY(mremap),
	MAY(getrandom), MUST(futex), MUST(exit), MUST(gettid),
	/* The dynamic linker. */
	{ "openat", SYS_openat, .any = ALL_BUT(4), .arg = { 0, 0, 02000000 } },
	MAY(openat), MUST(read), MUST(pread64), MUST(newfstatat), MUST(fstat), MAY(readlinkat),
	MAY(getcwd), MAY(faccessat), MAPS(PROT_NONE, OF_NOTHING), MAPS(PROT_READ, PRIVATE),
	MAPS(PROT_READ, OF_LIBRARY), MAPS(RX, OF_LIBRARY), MAPS(RX, OF_LIBRARY | MAP_FIXED),
	MAPS(PROT_READ, OF_LIBRARY | MAP_FIXED), MAPS(RW, OF_LIBRARY | MAP_FIXED),
	MAPS(RW, OF_NOTHING | MAP_FIXED),
	/* The helper. */
	{ "fcntl", SYS_fcntl, .any = ALL_BUT(2), .arg = { 0, 1033 } },	/* F_ADD_SEALS */
	MAPS(RW, MAP_SHARED), MUST(ftruncate), MUST(write), MUST(clock_nanosleep), MAY(nanosleep),
	MAY(clock_gettime), MAY(sched_yield), MAY(uname), MAY(rt_sigtimedwait),
	{ "prctl", SYS_prctl, .any = ALL_BUT(1), .arg = { PR_SET_NAME }, .may_fail = true },
#if defined(__x86_64__)
	MAY(open), MAY(stat), MAY(lstat), MAY(access), MAY(readlink), MAY(poll), MAY(pipe),
	MAY(unlink), MAY(arch_prctl), MAY(time),
#elif defined(__aarch64__)
	/* BTI */
	{ "mprotect", SYS_mprotect, .any = ALL_BUT(4), .arg = { 0, 0, RX | 0x10 },
		.may_fail = true },
#endif
	/* CUPTI. */
	MAY(ioctl), MAY(fcntl), MAY(lseek), MAY(writev), MAY(pwrite64), MAY(pipe2), MAY(ppoll),
	MAY(sysinfo), MAY(sched_getaffinity), MAY(statfs), MAY(fstatfs), MAY(getdents64),
	MAY(geteuid), MAY(getuid), MAY(getegid), MAY(gettimeofday), MAY(dup), MAY(statx),
	MAY(unlinkat), MAY(prlimit64), MAY(mlock), MAY(munlock), MAY(shmget), MAY(shmat),
	MAY(shmctl), MAY(shmdt), MAY(eventfd2), MAY(tgkill), MAY(rt_sigaction),
	MAY(sched_setaffinity), MAY(sched_getparam), MAY(sched_getscheduler),
	{ .name = NULL },
};
