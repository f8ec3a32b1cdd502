/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The stack that a call stands on: its id, and, when the id is new, a copy of it. Frames are found
 * in user space: here is neither the time nor are there the tables for it.
 */
#ifndef GPUPROF_STACK_BPF_H
#define GPUPROF_STACK_BPF_H

#include "python.bpf.h"
#include "stack_rate.bpf.h"

/* Programs can be preempted, so that a copy is made in memory of the thread, not of the CPU. */
struct copies_t {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stack_copy);
};
extern struct copies_t copies SEC(".maps");

/* The first page above sp that cannot be read: there, the stack's mapping ends. */
static __noinline __u64 find_end(__u64 sp)
{
	__u64 page = (sp & ~4095ull) + 4096, word;

	for (int i = 0; i < GP_STACK_BYTES_MAX / 4096; i++, page += 4096)
		if (bpf_probe_read_user(&word, sizeof(word), (void *)page))
			break;
	return page;
}

/* A fault costs as much as all the rest, so the end is remembered once it was met. Looked for again
 * now and then: the page may have been swapped out. */
static __noinline __u32 copy_stack(struct stack_copy *copy, __u32 wanted)
{
	__u64 sp = copy->head.sp, left = copy->end - sp;

	if (wanted > stack_bytes)
		wanted = stack_bytes;
	if (left >= wanted || !(++copy->calls & 1023)) {
		if (!bpf_probe_read_user(copy->words, wanted, (void *)sp))
			return wanted;
		copy->end = find_end(sp);
		left = copy->end - sp;
	}
	left &= ~(GP_STACK_BLOCK - 1ull);
	if (left > wanted || !left || bpf_probe_read_user(copy->words, left, (void *)sp))
		return 0;
	return left;
}

static __noinline void send_copy(struct stack_copy *copy, struct pt_regs *ctx)
{
	__u32 len = copy->head.len;

	if (len > GP_STACK_BYTES_MAX)
		return;
	copy_regs(&copy->head.regs, ctx);
	if (!copy->head.row && is_behind_breakpoint(ctx))
		copy->head.regs.pc--;
	copy->head.kind = GP_STACK;
	copy->head.time_ns = bpf_ktime_get_ns();
	send_once(copy, sizeof(copy->head) + len, GP_STACK, copy->head.id);
}

/*
 * The id of the current stack, at the entry of the row's function or (row 0) where the thread
 * entered the kernel; 0: it could not be read. flags: BPF_LOCAL_STORAGE_GET_F_CREATE where memory
 * may be allocated.
 */
static __noinline __u64 take_stack(struct pt_regs *ctx, __u32 row, __u64 flags)
{
	struct stack_copy *copy = bpf_task_storage_get(&copies, bpf_get_current_task_btf(), 0,
						       flags);
	__u64 id = bpf_get_current_pid_tgid();
	const struct gp_code *where;
	__u32 pid = id >> 32;

	if (!copy)
		return 0;
	copy->head.pid = pid;
	copy->head.tid = (__u32)id;
	copy->head.row = row;
	copy->head.sp = PT_REGS_SP(ctx);
	where = bpf_map_lookup_elem(&code, &pid);
	if (!where)
		where = &any_code;
	copy->head.python =
		where->python.interpreters ? take_python(&where->python, pid, flags) : 0;
	copy->head.len = copy_stack(copy, copy->head.python ? GP_PYTHON_STACK_BYTES : stack_bytes);
	if (!copy->head.len)
		return 0;
	copy->head.asker = where->python.interpreters ? find_asker(pid) : 0;
	id = hash_words(copy, where,
			mix(mix(hash_regs(ctx), copy->head.python), copy->head.asker));
	copy->head.id = id;
	if (!bpf_map_lookup_elem(&sent, &id) &&
	    (!copy->head.python || send_python(&where->python)))
		send_copy(copy, ctx);
	return id;
}

#endif
