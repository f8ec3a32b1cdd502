// SPDX-License-Identifier: BSD-3-Clause
/*
 * The self-test and the calibration: one function of our own, probed as the target's will be. Tells
 * whether a way attaches here and what a call costs its thread. Reads its times off the clock, not
 * off the records.
 */
#include <bpf/bpf.h>
#include <link.h>
#include <unistd.h>

#include "base/time.h"
#include "probe/catalog.h"
#include "probe/loader_internal.h"

/* What the self-test and the calibration probe: begins like the functions of the real libraries
 * (a push on x86-64), whatever the compiler would make of it. */
void loader_probe_me(void);
__asm__(".text\n.globl loader_probe_me\n.type loader_probe_me, %function\nloader_probe_me:\n"
#if defined(__x86_64__)
	"push %rbp\npop %rbp\nret\n"
#else
	"nop\nret\n"
#endif
	".size loader_probe_me, . - loader_probe_me\n");

/* The file offset of loader_probe_me in this executable, stripped or not. */
static int find_me(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t vaddr = (uintptr_t)loader_probe_me - info->dlpi_addr, *offset = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr < ph->p_vaddr + ph->p_filesz)
			*offset = vaddr - ph->p_vaddr + ph->p_offset;
	}
	return 1;		/* the executable comes first; look no further */
}

/* What one call of loader_probe_me takes, in ns: the least of some batches. Few calls, so that
 * their records fit the smallest ring; whoever reads the rings begins behind them. */
static uint64_t time_calls(void)
{
	enum { BATCHES = 5, CALLS = 64 };
	uint64_t best = UINT64_MAX;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = time_now_ns(), ns;

		for (int i = 0; i < CALLS; i++)
			loader_probe_me();
		ns = (time_now_ns() - start) / CALLS;
		best = ns < best ? ns : best;
	}
	return best;
}

static uint64_t more_than(uint64_t bare, uint64_t probed)
{
	return probed > bare ? probed - bare : 0;
}

/* A call that is hit in vain costs what nested ones do: here, because we are not followed at first. */
int loader_test_self(struct loader *l)
{
	uint64_t offset = 0, row = catalog_first_row(0), bare;
	uint32_t me = (uint32_t)getpid();
	struct loader_probes p = { .path = "/proc/self/exe", .offsets = &offset, .rows = &row,
				   .n = 1, .pid = getpid() };
	int err;

	dl_iterate_phdr(find_me, &offset);
	bare = time_calls();
	err = loader_attach(l, &p);
	if (!err) {
		l->nested_cost_ns = more_than(bare, time_calls());
		err = loader_follow(l, getpid());
	}
	if (!err)
		l->call_cost_ns = more_than(bare, time_calls());
	loader_detach(l);
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.pids), &me);
	return err ? err : loader_counts(l, &l->before);
}
