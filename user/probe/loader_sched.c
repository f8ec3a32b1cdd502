// SPDX-License-Identifier: BSD-3-Clause
/* The scheduler's hooks: which of them this kernel can have. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "probe/loader_internal.h"

/* Where the kernel counts how often interrupts were disabled (in 7.x it does), that count has the bits
 * in which it counted the hard interrupts and NMIs that it is in, and these have others. */
#define IN_INTERRUPT 0x00ff0100u
#define IN_INTERRUPT_MOVED 0x1f000100u

static uint32_t bits_in_interrupt(const struct btf *kernel)
{
	return btf__find_by_name_kind(kernel, "local_interrupt_disable_state", BTF_KIND_VAR) < 0 ?
		       IN_INTERRUPT : IN_INTERRUPT_MOVED;
}

#if defined(__x86_64__)
/* May programs name this variable? BTF tells of it, but kernels without CONFIG_KALLSYMS_ALL know no
 * address, and refuse to load what names it. */
static bool has_variable(const struct btf *kernel, const char *name)
{
	int id = btf__find_by_name_kind(kernel, name, BTF_KIND_VAR), fd;
	const struct bpf_insn code[] = {
		{ .code = BPF_LD | BPF_DW, .dst_reg = BPF_REG_1,	/* BPF_IMM is 0 */
		  .src_reg = BPF_PSEUDO_BTF_ID, .imm = id },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	fd = id < 0 ? -1 : bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", code,
					 sizeof(code) / sizeof(code[0]), NULL);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Can a program tell whether it runs in an interrupt? */
static bool knows_interrupts(const struct btf *kernel)
{
	return has_variable(kernel, "__preempt_count") || has_variable(kernel, "pcpu_hot");
}
#else
/* It is with each thread. */
static bool knows_interrupts(const struct btf *kernel)
{
	(void)kernel;
	return true;
}
#endif

void loader_choose_sched(const struct gpuprof_bpf *skel)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	bool knows = kernel && knows_interrupts(kernel);

	if (knows)
		skel->rodata->in_interrupt = bits_in_interrupt(kernel);
	btf__free(kernel);
	bpf_program__set_autoload(skel->progs.off_switch, true);
	bpf_program__set_autoload(knows ? skel->progs.off_waking : skel->progs.off_waking_any, true);
	bpf_program__set_autoload(skel->progs.task_off, true);
}

bool loader_off_cpu(const struct loader *l)
{
	return l->off_cpu;
}

bool loader_knows_interrupts(const struct loader *l)
{
	return l->off_cpu && bpf_program__autoload(l->skel->progs.off_waking);
}
