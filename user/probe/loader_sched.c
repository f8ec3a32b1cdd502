// SPDX-License-Identifier: BSD-3-Clause
/* The scheduler's hooks: which of them this kernel can have. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "probe/loader_internal.h"

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
static bool knows_interrupts(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	bool knows = kernel && (has_variable(kernel, "__preempt_count") ||
				has_variable(kernel, "pcpu_hot"));

	btf__free(kernel);
	return knows;
}
#else
/* It is with each thread. */
static bool knows_interrupts(void)
{
	return true;
}
#endif

void loader_choose_sched(const struct gpuprof_bpf *skel)
{
	bpf_program__set_autoload(skel->progs.off_switch, true);
	bpf_program__set_autoload(knows_interrupts() ? skel->progs.off_waking :
						       skel->progs.off_waking_any, true);
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
