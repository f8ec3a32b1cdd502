// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Scheduler events of threads that make calls: since when and why they are off the CPU, their
 * wakers, and when they are back. Attached only on request, since these hooks run on every
 * switch and every wakeup of the host: a thread without BPF storage costs one load.
 *
 * They run with the run queue locked: nothing here may allocate memory or wake anybody up.
 */
#include "nest.bpf.h"
#include "stack.bpf.h"

/* magic of the file system that eventfd, epoll ... are in */
#define ANONYMOUS_INODES 0x09041934
#define FILE_TYPE_SHIFT 12

/* Bits of preempt_count: serving a soft interrupt, in a hard one, in an NMI. */
const volatile __u32 in_interrupt = 0;

volatile __u64 arrival_clock = 0;

/* Where x86-64 counts: a variable of its own, but from 6.2 to 6.14 a member. */
struct pcpu_hot {
	int preempt_count;
} __attribute__((preserve_access_index));
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

#if defined(__TARGET_ARCH_x86)
static __always_inline int preempt_count(void)
{
	if (bpf_ksym_exists(&__preempt_count))
		return *(const int *)bpf_this_cpu_ptr(&__preempt_count);
	if (bpf_ksym_exists(&pcpu_hot))
		return ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	return 0;
}
#else
static __always_inline int preempt_count(void)
{
	const struct task_struct___arm64 *task = (void *)bpf_get_current_task_btf();

	return (int)task->thread_info.preempt_count;
}
#endif

/*
 * The kind of file behind a descriptor of the task. Pointers whose type the verifier knows are
 * loaded without a helper, which costs ten times as much.
 */
static __noinline __u32 file_kind(struct task_struct *task, __u64 fd)
{
	struct files_struct *files = task->files;
	struct fdtable *fdt = files ? files->fdt : NULL;
	struct file *file = NULL;
	struct inode *inode;

	if (!fdt || fd >= fdt->max_fds ||
	    bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + fd) || !file)
		return GP_FILE_UNKNOWN;
	inode = BPF_CORE_READ(file, f_inode);
	if (BPF_CORE_READ(inode, i_sb, s_magic) == ANONYMOUS_INODES)
		return GP_FILE_ANONYMOUS;
	return BPF_CORE_READ(inode, i_mode) >> FILE_TYPE_SHIFT;
}

/* Python's lock is in _PyRuntime: so it waits for that. */
static __noinline int is_gil(__u32 pid, __u64 address)
{
	struct gp_code *where = stack_bytes ? bpf_map_lookup_elem(&code, &pid) : NULL;

	return where && address - where->python.runtime < where->python.runtime_bytes;
}

static __noinline __u32 waited_for(struct task_struct *task, __u64 argument)
{
	return is_gil(task->tgid, argument) ? GP_FILE_GIL : file_kind(task, argument);
}

/* It blocks: in which system call, for which file, called from where. */
static __noinline int describe_wait(struct task_struct *task, struct thread_state *st)
{
	struct gp_off *rec = &st->off.rec;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 state = task->__state;

	if (!regs)
		return 0;
	rec->state = state;
	rec->syscall = syscall_number(regs);
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		rec->flags = GP_OFF_IOWAIT;
	if (rec->syscall >= 0)
		rec->file = waited_for(task, syscall_argument(regs));
	if (is_stack_due(st, 0))
		rec->stack = take_stack(regs, 0, 0);
	return 0;
}

static __always_inline void describe(struct task_struct *task, bool preempted,
				     struct thread_state *st)
{
	struct gp_off *rec = &st->off.rec;

	rec->flags = 0;
	rec->syscall = GP_OFF_NO_SYSCALL;
	rec->state = 0;
	rec->file = GP_FILE_UNKNOWN;
	rec->woken_ns = 0;
	rec->waker_pid = 0;
	rec->waker_tid = 0;
	rec->stack = 0;
	/* Woken while it went to sleep: then it only waits for a CPU. */
	if (preempted || !task->__state)
		rec->flags = GP_OFF_RUNNABLE;
	else
		describe_wait(task, st);
}

/* Records held back, or not followed to their end, before the thread leaves again. */
static __always_inline void send_pending_off(struct thread_state *st,
					     const struct task_struct *task)
{
	if (st->off.until_ns)
		send_off(st, st->off.until_ns);
	else
		end_unreported(st, task);
}

/* All that is kept of it in an open call. It waits for a CPU if it was woken while it went to
 * sleep. */
static __always_inline void describe_in_call(struct task_struct *task, bool preempted,
					     struct off_state *off, __u64 now)
{
	__u32 state = preempted ? 0 : task->__state;

	off->stopped = state & GP_OFF_STOPPED;
	off->rec.woken_ns = !state || off->stopped ? now : 0;
}

static __noinline int leave_cpu(struct task_struct *task, bool preempted)
{
	struct thread_state *st = bpf_task_storage_get(&threads, task, 0, 0);
	__u64 now;

	if (!st || !st->off.watched)
		return 0;
	if (st->off.since_ns) {
		if (st->off.recording)
			return 0;	/* it goes on with the held record */
		send_pending_off(st, task);
	}
	if (st->open && is_left_behind(st))
		st->open = 0;
	if (!st->open)
		describe(task, preempted, st);
	now = bpf_ktime_get_ns();
	if (st->open)
		describe_in_call(task, preempted, &st->off, now);
	if (st->off.back_ns && last_arrival(task))
		arrival_clock = st->off.back_ns - last_arrival(task);
	st->off.back_ns = 0;
	st->off.run_delay_ns = run_delay(task);
	st->off.until_ns = 0;
	st->off.since_ns = now;
	return 0;
}

/* It is back in its open call. A shorter runnable time is the latency of a wakeup. The longest
 * stop is kept. */
static __always_inline void note_late(struct off_state *off, __u64 now)
{
	__u64 ready = off->rec.woken_ns;

	if (!ready || now - ready < GP_LATE_MIN_NS)
		return;
	if (off->late_from_ns && off->late_stopped &&
	    (!off->stopped || now - ready < off->late_to_ns - off->late_from_ns))
		return;
	off->late_from_ns = ready;
	off->late_to_ns = now;
	off->late_stopped = off->stopped;
}

static __noinline int enter_cpu(struct task_struct *task)
{
	struct thread_state *st = bpf_task_storage_get(&threads, task, 0, 0);
	__u64 now;

	if (!st || !st->off.since_ns || !st->off.watched)
		return 0;
	now = bpf_ktime_get_ns();
	st->off.back_ns = now;
	if (st->off.recording) {
		st->off.until_ns = now;
	} else if (st->open) {
		st->off.blocked_ns += now - st->off.since_ns;
		st->off.since_ns = 0;
		note_late(&st->off, now);
	} else {
		send_off(st, now);
	}
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(off_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (prev->bpf_storage)
		leave_cpu(prev, preempt);
	if (next->bpf_storage)
		enter_cpu(next);
	return 0;
}

enum { WAKER_MAYBE, WAKER_THREAD, WAKER_INTERRUPT };

static __noinline int note_waker(struct task_struct *task, __u32 who)
{
	struct thread_state *st = bpf_task_storage_get(&threads, task, 0, 0);
	__u64 id = bpf_get_current_pid_tgid();
	struct gp_off *rec;

	if (!st || !st->off.watched || !st->off.since_ns || st->off.until_ns)
		return 0;
	rec = &st->off.rec;
	if (st->open) {
		if (!rec->woken_ns)
			rec->woken_ns = bpf_ktime_get_ns();
		return 0;
	}
	if (rec->woken_ns || rec->flags & GP_OFF_RUNNABLE)
		return 0;
	if (who == WAKER_MAYBE)
		rec->flags |= GP_OFF_MAYBE;
	if (who == WAKER_INTERRUPT || !id) {
		rec->flags |= GP_OFF_INTERRUPT;
	} else {
		rec->waker_pid = id >> 32;
		rec->waker_tid = (__u32)id;
		bpf_get_current_comm(rec->waker_comm, sizeof(rec->waker_comm));
	}
	rec->woken_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(off_waking, struct task_struct *task)
{
	if (task->bpf_storage)
		note_waker(task, preempt_count() & in_interrupt ? WAKER_INTERRUPT : WAKER_THREAD);
	return 0;
}

/* The same where the kernel has no symbol for the count: an interrupt may use any thread's name. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(off_waking_any, struct task_struct *task)
{
	if (task->bpf_storage)
		note_waker(task, WAKER_MAYBE);
	return 0;
}

/* The part of one thread that has no record yet: that it is off the CPU, or its open call's time
 * off it. */
static __always_inline bool read_off(const struct thread_state *st, struct gp_off *rec)
{
	__u64 since = st->off.since_ns, now = bpf_ktime_get_ns(), dur = since ? now - since : 0;

	__builtin_memcpy(rec, &st->off.rec, sizeof(*rec));
	rec->flags |= GP_OFF_STILL;
	rec->seq = st->seq;
	rec->start_ns = since;
	if (st->open) {
		dur += st->off.blocked_ns;
		rec->flags = GP_OFF_STILL | GP_OFF_IN_CALL;
		rec->state = since ? st->off.stopped : 0;
		rec->start_ns = st->rec.head.start_ns;
	}
	if (dur > GP_DUR_MAX)
		dur = GP_DUR_MAX;
	rec->dur_lo_ns = (__u32)dur;
	rec->dur_hi = dur >> 32;
	return dur && !st->off.until_ns;
}

/* A record is too large for the stack; one reader at a time, so one is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gp_off);
} off_buf SEC(".maps");

/* Writes a gp_off (GP_OFF_STILL) for each watched thread that is off the CPU or has been so in its
 * open call. The threads run on meanwhile. */
SEC("?iter/task")
int task_off(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *st;
	struct gp_off *rec;
	__u32 zero = 0;

	if (!task)
		return 0;
	st = bpf_task_storage_get(&threads, task, 0, 0);
	rec = bpf_map_lookup_elem(&off_buf, &zero);
	if (st && rec && st->off.watched && read_off(st, rec))
		bpf_seq_write(ctx->meta->seq, rec, sizeof(*rec));
	return 0;
}
