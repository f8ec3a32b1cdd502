// SPDX-License-Identifier: BSD-3-Clause
/*
 * The self-test and the calibration: functions of our own, probed as the target's will be. Tells
 * whether a way attaches here and what a call costs its thread. Reads its times off the clock, not
 * off the records.
 */
#include <bpf/bpf.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/time.h"
#include "catalog/catalog.h"
#include "probe/loader_internal.h"
#include "probe/loader_read.h"

#define FUNCTION(name, code)                                                                    \
	__asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n" code            \
		".size " name ", . - " name "\n")

/* Begins with an instruction that every kernel emulates (of x86-64 as the functions of the real
 * libraries do; arm64 steps nop up to 6.12), whatever the compiler would make of it; and one whose
 * first instruction the kernel single-steps. Both return where they return to. */
#if defined(__x86_64__)
FUNCTION("loader_probe_me", "push %rbp\nmov 8(%rsp), %rax\npop %rbp\nret\n");
FUNCTION("loader_step_me", "mov (%rsp), %rax\nret\n");
#else
FUNCTION("loader_probe_me", "b 1f\n1: mov x0, x30\nret\n");
FUNCTION("loader_step_me", "mov x0, x30\nret\n");
#endif

struct place {
	uintptr_t address;
	uint64_t offset;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;
	uint64_t vaddr = place->address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr < ph->p_vaddr + ph->p_filesz)
			place->offset = vaddr - ph->p_vaddr + ph->p_offset;
	}
	return 1;		/* the executable comes first; look no further */
}

/* The file offset of a function in this executable, stripped or not. */
static uint64_t offset_of(uintptr_t (*fn)(void))
{
	struct place place = { .address = (uintptr_t)fn };

	dl_iterate_phdr(find_place, &place);
	return place.offset;
}

/* What one call takes, in ns: the least of some batches. Few calls, so that their records fit the
 * smallest ring; whoever reads the rings begins behind them. */
static uint64_t time_calls(uintptr_t (*fn)(void), int calls)
{
	enum { BATCHES = 5 };
	uint64_t best = UINT64_MAX;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = time_now_ns(), ns;

		for (int i = 0; i < calls; i++)
			fn();
		ns = (time_now_ns() - start) / (uint64_t)calls;
		best = ns < best ? ns : best;
	}
	return best;
}

static uint64_t more_than(uint64_t bare, uint64_t probed)
{
	return probed > bare ? probed - bare : 0;
}

/* 0 would say that it could not be measured. */
static uint64_t at_least_one(uint64_t ns)
{
	return ns ? ns : 1;
}

/* A call that is hit in vain costs what nested ones do: here, because we are not followed at first. */
static int calibrate(struct loader *l, const struct loader_probes *p)
{
	enum { CALLS = 64, STEPS = 8 };
	uint64_t bare = time_calls(loader_probe_me, CALLS), hit;
	int err = loader_attach(l, p);

	if (err)
		return err;
	hit = time_calls(loader_probe_me, CALLS);
	l->nested_cost_ns = more_than(bare, hit);
	l->step_cost_ns = at_least_one(more_than(hit, time_calls(loader_step_me, STEPS)));
	err = loader_follow(l, getpid());
	if (!err)
		l->call_cost_ns = more_than(bare, time_calls(loader_probe_me, CALLS));
	return err;
}

/* A return that cannot be refused call by call is not probed at all: the kernel readies it in every
 * process that meets a breakpoint there, whosever link it is. */
static void decide_returns(struct loader *l, bool harmless)
{
	l->returns = harmless ? GP_RETURNS_ALL :
		     l->way == WAY_SESSION ? GP_RETURNS_NO_SECCOMP : GP_RETURNS_NONE;
	l->skel->bss->returns = l->returns;
}

/* Nothing more is told of this thread. */
static void forget_me(struct loader *l)
{
	int me = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (me < 0)
		return;
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.threads), &me);
	close(me);
}

int loader_test_self(struct loader *l, const struct loader_options *o)
{
	uint64_t offsets[] = { offset_of(loader_probe_me), offset_of(loader_step_me) };
	uint64_t rows[] = { catalog_first_row(0), catalog_first_row(0) };
	uint32_t me = (uint32_t)getpid();
	struct loader_probes p = { .path = "/proc/self/exe", .offsets = offsets, .rows = rows,
				   .n = 2, .pid = getpid() };
	int harmless, err;

	l->returns = GP_RETURNS_ALL;	/* whatever another way came to */
	harmless = o->returns_kill ? 0 : loader_test_returns(l, p);
	decide_returns(l, harmless > 0);
	err = harmless < 0 ? harmless : calibrate(l, &p);
	loader_detach(l);
	forget_me(l);
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.pids), &me);
	return err ? err : loader_counts(l, &l->before);
}
