// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The lives of followed processes and threads: forks (children join the set before they can make
 * a call), exec, exit (with the call that was open), and the reading of all thread states at the
 * end of a session. Nothing here runs on a call's path.
 */
#include "asker.bpf.h"
#include "blocked.bpf.h"
#include "nest.bpf.h"
#include "op.bpf.h"

struct op_buf_t {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gp_op);
} op_buf SEC(".maps");

static __always_inline struct gp_task *describe_task(__u8 kind, struct task_struct *p)
{
	struct gp_task *rec = reserve_task(kind);

	if (!rec)
		return NULL;
	rec->start_ns = p->start_time;
	rec->process_ns = p->group_leader->start_time;
	rec->pid = p->tgid;
	rec->tid = p->pid;
	bpf_probe_read_kernel_str(rec->comm, sizeof(rec->comm), p->comm);
	rec->own_tid = own_tid(p);
	return rec;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(task_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 ptgid = parent->tgid, tgid = child->tgid;
	struct gp_code *where;
	struct gp_task *rec;

	if (ptgid == tgid)
		return 0;
	where = bpf_map_lookup_elem(&code, &ptgid);
	if (where)
		bpf_map_update_elem(&code, &tgid, where, BPF_NOEXIST);
	if (!bpf_map_lookup_elem(&pids, &ptgid))
		return 0;
	if (follow_children && bpf_map_update_elem(&pids, &tgid, &ptgid, BPF_ANY))
		count(unfollowed);
	rec = describe_task(GP_TASK_FORK, child);
	if (!rec)
		return 0;
	rec->pid = ptgid;
	rec->tid = tgid;
	submit_task(rec);
	return 0;
}

/* The process runs another one, or none. */
static __always_inline void forget_program(__u32 tgid)
{
	bpf_map_delete_elem(&code, &tgid);
	if (stack_bytes)
		bpf_map_delete_elem(&askers, &tgid);
}

/* The thread will return from no operator any more. */
static __noinline int leave_ops(struct task_struct *p)
{
	struct thread_ops *t = follow_ops ? bpf_task_storage_get(&ops, p, 0, 0) : NULL;

	if (!t)
		return 0;
	leave_returned(&t->ops, ~0ull, bpf_ktime_get_ns());
	leave_returned(&t->modules, ~0ull, bpf_ktime_get_ns());
	return leave_returned(&t->gemms, ~0ull, bpf_ktime_get_ns());
}

/*
 * A thread that is not the first one calls exec: it takes the first one's number, whose own end was
 * recorded before. So its old number ends here and its new one begins, with a state of its own.
 */
static __always_inline void change_number(struct thread_state *st, struct task_struct *p, __u32 old)
{
	struct gp_task *rec = reserve_task(GP_TASK_EXIT);

	st->off.watched = 0;
	if (rec) {
		rec->pid = p->tgid;
		rec->tid = old;
		rec->seq = st->seq + 1;
		submit_task(rec);
	}
	st->seq = 0;
	rec = describe_task(GP_TASK_NEW, p);
	if (rec) {
		rec->start_ns = rec->time_ns;
		submit_task(rec);
	}
	st->off.since_ns = 0;
	enable_offcpu(st, (__u64)p->tgid << 32 | p->pid);
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *p, pid_t old_pid)
{
	__u32 tgid = p->tgid;
	struct thread_state *st = bpf_task_storage_get(&threads, p, 0, 0);
	struct gp_task *rec;

	forget_program(tgid);
	leave_ops(p);
	if (st)
		st->open = 0;	/* whatever was open went with the old program */
	if (st && old_pid != p->pid)
		change_number(st, p, old_pid);
	if (!st && !bpf_map_lookup_elem(&pids, &tgid))
		return 0;
	rec = describe_task(GP_TASK_EXEC, p);
	if (rec)
		submit_task(rec);
	return 0;
}

static __always_inline void add_open_blocked(struct thread_state *st)
{
	__u32 words = row_at(st->rec.head.row)->words;

	if (words <= GP_WORDS_LARGE)
		add_blocked(st, words, 0);
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *p)
{
	__u32 tgid = p->tgid, tid = p->pid;
	struct thread_state *st = bpf_task_storage_get(&threads, p, 0, 0);
	struct gp_task *rec;

	if (!st && is_in_flight(p))
		st = register_thread(p);	/* it ends inside a call that began before */
	bpf_map_delete_elem(&in_flight, &tid);
	leave_ops(p);
	if (p->signal->live.counter == 0) {	/* the last thread: its pid may be used again */
		bpf_map_delete_elem(&pids, &tgid);
		forget_program(tgid);
	}
	if (!st)
		return 0;
	st->off.watched = 0;
	if (st->open) {
		add_open_blocked(st);
		send_call(st, GP_OPEN, GP_WORDS_LARGE);
	}
	st->open = 0;
	st->seq++;
	rec = describe_task(GP_TASK_EXIT, p);
	if (!rec)
		return 0;
	rec->seq = st->seq;
	submit_task(rec);
	return 0;
}

/*
 * Run once, after the probes are detached (no program changes a state any more): writes a
 * gp_call for each thread, GP_OPEN with its words when a call is open, else only the last number
 * used (kind 0). The numbers are readings: they take none of their own.
 */
SEC("?iter/task")
int task_states(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *st;

	if (!task)
		return 0;
	st = bpf_task_storage_get(&threads, task, 0, 0);
	if (!st)
		return 0;
	if (st->open && is_left_behind(st))
		st->open = 0;
	st->rec.head.kind = st->open ? GP_OPEN : 0;
	if (st->open && st->off.since_ns && !st->off.until_ns)
		st->off.blocked_ns += bpf_ktime_get_ns() - st->off.since_ns;
	if (st->open)
		add_open_blocked(st);
	st->rec.head.seq = st->seq;
	st->rec.head.pid = task->tgid;
	st->rec.head.tid = task->pid;
	bpf_seq_write(ctx->meta->seq, &st->rec, sizeof(st->rec));
	return 0;
}

static __noinline int write_ops(struct bpf_iter__task *ctx, const struct op_stack *s)
{
	struct task_struct *task = ctx->task;
	__u32 zero = 0;
	struct gp_op *rec = bpf_map_lookup_elem(&op_buf, &zero);

	for (__u32 i = 0; task && rec && i < GP_OPS_DEPTH && i < s->n; i++) {
		rec->kind = GP_OP;
		rec->flags = GP_OP_BOUND;
		rec->op = s->v[i].op;
		rec->start_ns = s->v[i].start_ns;
		rec->inner_ns = s->v[i].inner_ns;
		rec->end_ns = bpf_ktime_get_ns();
		rec->pid = task->tgid;
		rec->tid = task->pid;
		bpf_seq_write(ctx->meta->seq, rec, sizeof(*rec));
	}
	return 0;
}

/* Operators and modules that the thread has not been seen to leave, the innermost last. */
SEC("?iter/task")
int task_ops(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_ops *t;

	if (!task)
		return 0;
	t = bpf_task_storage_get(&ops, task, 0, 0);
	if (!t)
		return 0;
	write_ops(ctx, &t->ops);
	write_ops(ctx, &t->modules);
	write_ops(ctx, &t->gemms);
	return 0;
}

/*
 * Which file a process really maps, and where: overlayfs shows one file under many device numbers,
 * to stat(2) and in /proc/PID/maps, but a mapping holds the file below it.
 */
SEC("?iter/task_vma")
int task_files(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct gp_mapping rec = {};

	if (!task || !vma || !vma->vm_file)
		return 0;
	rec.start = vma->vm_start;
	rec.pid = task->tgid;
	rec.ino = vma->vm_file->f_inode->i_ino;
	rec.dev = vma->vm_file->f_inode->i_sb->s_dev;
	bpf_seq_write(ctx->meta->seq, &rec, sizeof(rec));
	return 0;
}
