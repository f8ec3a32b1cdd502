// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Calls of catalogue functions: entry and return of every row, by one pair of programs. Which
 * function was hit is the attach cookie (the row); what its arguments mean is user space's
 * business. The outermost call of a thread is recorded, calls nested in it are counted.
 *
 * Two ways to be attached, chosen by the loader: one session program (6.13+), which skips the
 * return leg of nested calls, or an entry and a return program on multi links (6.6+), where
 * returns of nested calls are told apart by row and stack pointer.
 */
#include "maps.bpf.h"

struct calls_t calls SEC(".maps");
struct tasks_t tasks SEC(".maps");
struct threads_t threads SEC(".maps");
struct pids_t pids SEC(".maps");
struct counts_t counts SEC(".maps");

const volatile __u8 follow_all = 0;
const volatile __u8 follow_children = 0;
const volatile __u64 wake_bytes = 2 << 20;

/* What each row captures; index = cookie = row. */
const volatile struct gp_row rows[GP_ROWS_MAX] = {};

#if defined(__TARGET_ARCH_x86)
/* On entry the stack pointer is at the return address, which the return has popped. */
#define RET_POPS 8
#define STACK_ARGS_OFFSET 8
#else
#define RET_POPS 0
#define STACK_ARGS_OFFSET 0
#endif

enum { RETURN_LEG = 0, NO_RETURN_LEG = 1 };

static __always_inline struct thread_state *adopt_thread(struct task_struct *task)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32;
	struct thread_state *st;
	struct gp_task rec = {};

	if (!follow_all && !bpf_map_lookup_elem(&pids, &tgid)) {
		count(foreign);
		return NULL;
	}
	st = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st) {
		count(no_state);
		return NULL;
	}
	rec.kind = GP_TASK_NEW;
	rec.time_ns = bpf_ktime_get_ns();
	rec.start_ns = task->start_time;
	rec.pid = tgid;
	rec.tid = (__u32)id;
	bpf_get_current_comm(rec.comm, sizeof(rec.comm));
	send_task(&rec);
	return st;
}

/* Reads the words that the row wants beyond the six argument registers. */
static __always_inline void read_extra(struct thread_state *st, volatile const struct gp_row *row,
				       __u64 sp, __u64 arg0)
{
	const void *from = row->extra == GP_EXTRA_STACK ? (void *)(sp + STACK_ARGS_OFFSET)
							: (void *)arg0;
	__u32 n = row->extra_words;

	if (n > GP_EXTRA_MAX)
		n = GP_EXTRA_MAX;
	if (bpf_probe_read_user(&st->rec.words[GP_REGS], n * 8, from)) {
		__builtin_memset(&st->rec.words[GP_REGS], 0, GP_EXTRA_MAX * 8);
		st->rec.head.flags |= GP_CALL_EXTRA_FAULT;
	}
}

static __always_inline int on_entry(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = PT_REGS_SP(ctx), id;
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *st;
	volatile const struct gp_row *row;

	if (cookie >= GP_ROWS_MAX)
		return NO_RETURN_LEG;
	st = bpf_task_storage_get(&threads, task, 0, 0);
	if (!st) {
		st = adopt_thread(task);
		if (!st)
			return NO_RETURN_LEG;
	}
	if (st->open) {
		/* Equal: a tail call, as CUDA 13's __cudaLaunchKernel into cudaLaunchKernel. */
		if (sp <= st->sp) {
			count(nested);
			return NO_RETURN_LEG;
		}
		count(abandoned);	/* the stack was unwound past the open call */
		st->open = 0;
	}
	row = &rows[cookie];
	id = bpf_get_current_pid_tgid();
	st->sp = sp;
	st->rec.head.row = cookie;
	st->rec.head.flags = 0;
	st->rec.head.result = 0;
	st->rec.head.dur_lo_ns = 0;
	st->rec.head.dur_hi = 0;
	st->rec.head.pid = id >> 32;
	st->rec.head.tid = (__u32)id;
	st->rec.words[0] = PT_REGS_PARM1(ctx);
	st->rec.words[1] = PT_REGS_PARM2(ctx);
	st->rec.words[2] = PT_REGS_PARM3(ctx);
	st->rec.words[3] = PT_REGS_PARM4(ctx);
	if (row->words > GP_WORDS_SMALL) {
		st->rec.words[4] = PT_REGS_PARM5(ctx);
		st->rec.words[5] = PT_REGS_PARM6(ctx);
		if (row->extra)
			read_extra(st, row, sp, st->rec.words[0]);
	}
	st->rec.head.start_ns = bpf_ktime_get_ns();
	if (row->flags & GP_ROW_ENTRY_ONLY) {
		st->rec.head.flags |= GP_CALL_NO_RETURN;
		send_call(st, GP_CALL, row->words);
		return NO_RETURN_LEG;
	}
	st->open = 1;
	if (row->flags & GP_ROW_TWO)
		send_call(st, GP_ENTER, row->words);
	return RETURN_LEG;
}

static __always_inline void on_return(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), cookie = bpf_get_attach_cookie(ctx), dur;
	long sp = PT_REGS_SP(ctx), result = (__s32)PT_REGS_RC(ctx);
	struct thread_state *st;

	st = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (!st || !st->open || cookie >= GP_ROWS_MAX)
		return;
	if (st->rec.head.row != cookie || st->sp + RET_POPS != sp)
		return;		/* a nested call's return, seen on multi links */
	st->open = 0;
	dur = now - st->rec.head.start_ns;
	if (dur > GP_DUR_MAX)
		dur = GP_DUR_MAX;
	st->rec.head.dur_lo_ns = (__u32)dur;
	st->rec.head.dur_hi = dur >> 32;
	if (result > GP_RESULT_MAX)
		result = GP_RESULT_MAX;
	if (result < -GP_RESULT_MAX)
		result = -GP_RESULT_MAX;
	st->rec.head.result = result;
	send_call(st, GP_CALL, rows[cookie].words);
}

/* Up to 6.18 these kfuncs take nothing, later a context; the one that does not fit stays 0. */
extern bool bpf_session_is_return(void) __ksym __weak;
extern bool bpf_session_is_return___ctx(void *ctx) __ksym __weak;

static __always_inline bool is_return(void *ctx)
{
	if (bpf_ksym_exists(bpf_session_is_return))
		return bpf_session_is_return();
	if (bpf_ksym_exists(bpf_session_is_return___ctx))
		return bpf_session_is_return___ctx(ctx);
	return false;
}

SEC("?uprobe")
int call_session(struct pt_regs *ctx)
{
	if (is_return(ctx)) {
		on_return(ctx);
		return 0;
	}
	return on_entry(ctx);
}

SEC("?uprobe")
int call_entry(struct pt_regs *ctx)
{
	on_entry(ctx);
	return 0;
}

SEC("?uprobe")
int call_return(struct pt_regs *ctx)
{
	on_return(ctx);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
