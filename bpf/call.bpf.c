// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Calls of catalogue functions: entry and return of every row, by one pair of programs. The
 * attach cookie names the function (the row); the meaning of its arguments is user space's
 * business. Each call is sent as a record. The same programs follow operators, whose cookies name
 * them (op.bpf.h).
 *
 * Two ways to be attached, chosen by the loader: one session program (6.13+), which skips the
 * return leg of nested calls, or an entry and a return program on multi links (6.6+). Where a
 * return probe might kill its process (`returns`), a call is sent at entry and not followed.
 */
#include "any_reg.bpf.h"
#include "blocked.bpf.h"
#include "nest.bpf.h"
#include "gemm.bpf.h"
#include "module.bpf.h"
#include "stack.bpf.h"

struct calls_t calls SEC(".maps");
struct tasks_t tasks SEC(".maps");
struct threads_t threads SEC(".maps");
struct pids_t pids SEC(".maps");
struct in_flight_t in_flight SEC(".maps");
struct counts_t counts SEC(".maps");
struct code_t code SEC(".maps");
struct stacks_t stacks SEC(".maps");
struct copies_t copies SEC(".maps");
struct pythons_t pythons SEC(".maps");
struct askers_t askers SEC(".maps");
struct sent_t sent SEC(".maps");
struct ops_t ops SEC(".maps");
struct types_t types SEC(".maps");
struct named_t named SEC(".maps");

const volatile __u8 follow_all = 0;
const volatile __u8 follow_children = 0;
const volatile __u64 wake_bytes = 2 << 20;
const volatile __u32 stack_bytes = 0;
const volatile __u8 all_stacks = 0;
const volatile __u8 follow_ops = 0;
const volatile __u8 follow_shapes = 0;
const volatile struct gp_gemm_row gemms[GP_GEMM_ROWS] = {};
volatile struct gp_layout layouts[GP_LAYOUTS] = {};
volatile __u8 handed_over = 0;
volatile __u8 returns = GP_RETURNS_ALL;
volatile __u64 quiet = 0;
volatile __u64 gone_ns[GP_GROUPS] = {};
const volatile struct gp_row rows[GP_ROWS_MAX] = {};

/* Reads one word at the row's place. A fault is noted in the record: no register is free for it. */
static __always_inline void read_word(struct thread_state *st, __u32 i, const __u64 *from)
{
	if (bpf_probe_read_user(&st->rec.words[GP_REGS + i], 8, from))
		st->rec.head.flags |= GP_CALL_EXTRA_FAULT;
}

/*
 * The n words behind the first ones, of which the ABI has registers. Kernels before 6.2 forget
 * the bounds of values the compiler spills to the stack, so they are set where they are needed.
 */
static __always_inline void read_words(struct thread_state *st, __u32 first, __u32 n,
				       const __u64 *from)
{
	__u32 bytes = n * 8, most = (GP_EXTRA_MAX - first) * 8;

	asm volatile("" : "+r"(bytes));
	if (bytes > most)
		bytes = most;
	if (bpf_probe_read_user(&st->rec.words[GP_REGS + first], bytes, from))
		st->rec.head.flags |= GP_CALL_EXTRA_FAULT;
}

/* Arguments 6, 7, ...: those that the ABI has in registers, and the stack. */
static __always_inline void read_arguments(struct pt_regs *ctx, struct thread_state *st,
					   volatile const struct gp_row *row, __u32 n)
{
	const __u64 *stack = (void *)(st->sp + STACK_ARGS_OFFSET - 8 * MORE_REGS);

	if (row->extra == GP_EXTRA_STACK) {
		for (__u32 i = 0; i < MORE_REGS; i++)
			st->rec.words[GP_REGS + i] = more_reg(ctx, i);
		if (n > MORE_REGS)
			read_words(st, MORE_REGS, n - MORE_REGS, stack + MORE_REGS);
		return;
	}
	for (__u32 i = 0; i < GP_EXTRA_MAX && i < n; i++) {
		__u32 at = row->at[i];

		if (at < MORE_REGS)
			st->rec.words[GP_REGS + i] = more_reg(ctx, at);
		else
			read_word(st, i, stack + at);
	}
}

/* The word that an argument points to. */
static __always_inline void read_pointed(struct thread_state *st,
					 volatile const struct gp_row *row, __u32 n)
{
	__u32 word = row->from;
	const __u64 *from = (void *)st->rec.words[word < GP_REGS ? word : 0];

	if (row->extra == GP_EXTRA_DEREF) {
		read_words(st, 0, n, from);
		return;
	}
	for (__u32 i = 0; i < GP_EXTRA_MAX && i < n; i++)
		read_word(st, i, from + row->at[i]);
}

/* Reads the words that the row wants beyond the six argument registers. A function of its own for
 * the size of the frame. */
static __noinline void read_extra(struct pt_regs *ctx, struct thread_state *st,
				  volatile const struct gp_row *row)
{
	__u8 extra = row->extra;
	__u32 n = row->extra_words;

	if (n > GP_EXTRA_MAX)
		n = GP_EXTRA_MAX;
	if (extra == GP_EXTRA_STACK || extra == GP_EXTRA_STACK_AT)
		read_arguments(ctx, st, row, n);
	else
		read_pointed(st, row, n);
	if (st->rec.head.flags & GP_CALL_EXTRA_FAULT)
		__builtin_memset(&st->rec.words[GP_REGS], 0, GP_EXTRA_MAX * 8);
}

/* Of a marked place: its arguments instead of a function's. */
static __noinline void read_operands(struct pt_regs *ctx, struct thread_state *st, __u64 cookie)
{
	cookie >>= GP_COOKIE_OPERANDS_SHIFT;
	for (__u32 i = 0; i < GP_OPERANDS; i++, cookie >>= GP_OPERAND_BITS)
		st->rec.words[i] = any_reg(ctx, cookie & GP_OPERAND_NONE);
}

/* The id follows the row's words. A function of its own for the size of the frame. */
static __noinline void note_stack(struct pt_regs *ctx, struct thread_state *st)
{
	__u64 id = take_stack(ctx, st->rec.head.row, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 words = row_at(st->rec.head.row)->words;

	if (!id || words > GP_WORDS_LARGE)
		return;
	st->rec.words[words] = id;
	st->rec.head.flags |= GP_CALL_STACK;
}

/* The operator (or its product) and the module that the call is made in follow. The same. */
static __noinline void note_op(struct pt_regs *ctx, struct thread_state *st)
{
	struct thread_ops *t =
		bpf_task_storage_get(&ops, bpf_get_current_task_btf(), 0, 0);
	__u32 at = row_at(st->rec.head.row)->words;
	const struct op_frame *in;

	if (!t || at > GP_WORDS_LARGE)
		return;
	at += !!(st->rec.head.flags & GP_CALL_STACK);
	in = op_at(&t->gemms, innermost_op(&t->gemms, st->sp));
	if (!in)
		in = calling_op(ctx, &t->ops, st->sp);
	if (in) {
		st->rec.words[at++] = in->op;
		st->rec.head.flags |= GP_CALL_OP;
	}
	in = op_at(&t->modules, innermost_op(&t->modules, st->sp));
	if (in) {
		st->rec.words[at] = in->op;
		st->rec.head.flags |= GP_CALL_MODULE;
	}
}

/* The record of a call that begins: all but its time. A function of its own for the sake of its
 * caller's frame, as the next one. */
static __noinline void begin_record(struct pt_regs *ctx, struct thread_state *st, __u64 cookie)
{
	volatile const struct gp_row *row = row_at(st->rec.head.row);
	__u64 id = bpf_get_current_pid_tgid();

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
	if (row->extra == GP_EXTRA_OPERANDS)
		read_operands(ctx, st, cookie);
	if (row->words <= GP_WORDS_SMALL)
		return;
	st->rec.words[4] = PT_REGS_PARM5(ctx);
	st->rec.words[5] = PT_REGS_PARM6(ctx);
	if (row->extra)
		read_extra(ctx, st, row);
}

/* Taken as late as possible: all that follows is booked inside the call. If the thread was
 * descheduled since recording_begin, that counts as time in the call. */
static __always_inline __u64 entry_time(const struct thread_state *st)
{
	__u64 now = bpf_ktime_get_ns(), since = st->off.since_ns;

	return *(volatile const __u64 *)&st->off.until_ns && since && since < now ? since : now;
}

/*
 * The record of a call that begins, made first; then the time is taken, for it and for the call's
 * last one. size is one that the compiler knows: others cannot be reserved. It never wakes the
 * reader, which is an interrupt: the next record does. False: the ring is full.
 */
static __always_inline bool submit_enter(struct thread_state *st, __u64 size)
{
	struct gp_call *rec = bpf_ringbuf_reserve(&calls, size, 0);

	if (!rec)
		return false;
	__builtin_memcpy(rec, &st->rec, size);
	st->rec.head.start_ns = entry_time(st);
	rec->start_ns = st->rec.head.start_ns;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return true;
}

/* A call that may block has begun. Its record has room for a stack's id, an operator and a
 * module, whether there are any or not. */
static __noinline int send_enter(struct thread_state *st, __u32 words)
{
	__u32 zero = 0;
	struct gp_counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (!c)
		return 0;
	number_call(st, c, GP_ENTER);
	if (words <= GP_WORDS_SMALL) {
		if (submit_enter(st, sizeof(struct gp_call) + 8 * (GP_WORDS_SMALL + 3)))
			return 0;
	} else if (submit_enter(st, sizeof(struct gp_call) + 8 * (GP_WORDS_LARGE + 3))) {
		return 0;
	}
	__sync_fetch_and_add(&c->lost[GP_ENTER], 1);
	st->rec.head.start_ns = entry_time(st);
	return 0;
}

/* A call whose return is not followed. */
static __noinline void send_entry_only(struct pt_regs *ctx, struct thread_state *st)
{
	volatile const struct gp_row *row = row_at(st->rec.head.row);

	st->jumps_with = row->flags & GP_ROW_JUMPS ? return_address(ctx) : 0;
	st->rec.head.flags |= GP_CALL_NO_RETURN;
	send_call(st, GP_CALL, row->words);
}

/* ---- threads that others work for ------------------------------------------------------------ */

/* Others work for the thread from now on; or, as of end_ns, no more. */
static __noinline int send_asks(__u64 end_ns)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct gp_op *rec = bpf_ringbuf_reserve(&calls, sizeof(*rec), 0);

	count(hits[GP_ASKS]);
	if (!rec) {
		count(lost[GP_ASKS]);
		return 0;
	}
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->kind = GP_ASKS;
	rec->start_ns = end_ns ? end_ns : bpf_ktime_get_ns();
	rec->end_ns = end_ns;
	rec->pid = id >> 32;
	rec->tid = (__u32)id;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Backward in backward, on one thread, is the outer one's. Of several threads that are in it no one
 * knows whose work a worker does. */
static __noinline int asker_enter(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;
	struct gp_code *where = bpf_map_lookup_elem(&code, &pid);
	struct gp_asker *there, one = { .tid = (__u32)id, .n = 1 };

	if (!is_followed(pid))
		return 0;
	send_asks(0);
	if (!stack_bytes || !where || !where->python.interpreters)
		return 0;
	one.python = take_python(&where->python, pid, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (one.python && !send_python(&where->python))
		one.python = 0;
	if (!bpf_map_update_elem(&askers, &pid, &one, BPF_NOEXIST))
		return 0;
	there = bpf_map_lookup_elem(&askers, &pid);
	if (!there)
		return 0;
	if (there->tid != one.tid)
		there->python = 0;
	__sync_fetch_and_add(&there->n, 1);
	return 0;
}

static __noinline int asker_leave(void)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct gp_asker *there = stack_bytes ? bpf_map_lookup_elem(&askers, &pid) : NULL;

	if (is_followed(pid))
		send_asks(bpf_ktime_get_ns());
	if (there && __sync_fetch_and_add(&there->n, -1) <= 1)
		bpf_map_delete_elem(&askers, &pid);
	return 0;
}

/* ---- entry and return ------------------------------------------------------------------------ */

/* Of an operator, a module or a product; the last two are not followed without their return. False:
 * that is not of interest. */
static __always_inline bool enter_by_cookie(struct pt_regs *ctx, __u64 cookie)
{
	bool followed = !(cookie & GP_COOKIE_OP_ENTRY) && !skips_return();
	__u64 op = cookie & GP_COOKIE_OP_BITS;

	if (op == GP_OP_MODULE)
		return followed && module_enter(ctx);
	if (op - GP_OP_GEMM < GP_GEMM_ROWS)
		return followed && gemm_enter(ctx, op - GP_OP_GEMM);
	op_enter(ctx, cookie);
	return followed;
}

static __always_inline void return_by_cookie(struct pt_regs *ctx, __u64 cookie)
{
	__u64 op = cookie & GP_COOKIE_OP_BITS;

	if (op == GP_OP_MODULE)
		module_return(ctx);
	else if (op - GP_OP_GEMM < GP_GEMM_ROWS)
		gemm_return(ctx);
	else
		op_return(ctx);
}

static __always_inline int on_entry(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 row_id = cookie;
	volatile const struct gp_row *row;
	struct thread_state *st;

	if (link_is_inactive(cookie)) {
		count(silent);
		return NO_RETURN_LEG;
	}
	if (cookie & GP_COOKIE_OP)
		return enter_by_cookie(ctx, cookie) ? RETURN_LEG : NO_RETURN_LEG;
	if (row_id >= GP_ROWS_MAX)
		return NO_RETURN_LEG;
	if (row_at(row_id)->asks) {
		if (skips_return())
			return NO_RETURN_LEG;
		asker_enter();
		op_enter(ctx, GP_OP_BACKWARD);
		return RETURN_LEG;
	}
	st = call_enter(ctx, row_id);
	if (!st)
		return NO_RETURN_LEG;
	begin_record(ctx, st, cookie);
	if (is_stack_due(st, row_id))
		note_stack(ctx, st);
	if (follow_ops)
		note_op(ctx, st);
	row = row_at(row_id);
	recording_begin(st);
	st->off.blocked_ns = 0;
	st->off.late_from_ns = 0;
	if (row->flags & GP_ROW_ENTRY_ONLY || skips_return()) {
		st->rec.head.start_ns = entry_time(st);
		send_entry_only(ctx, st);
		recording_end(st);
		return NO_RETURN_LEG;
	}
	if (row->flags & GP_ROW_TWO)
		send_enter(st, row->words);
	else
		st->rec.head.start_ns = entry_time(st);
	st->open = 1;
	recording_end(st);
	return RETURN_LEG;
}

static __always_inline void set_end(struct thread_state *st, __u64 now, long result)
{
	__u64 dur = now - st->rec.head.start_ns;

	if (dur > GP_DUR_MAX)
		dur = GP_DUR_MAX;
	st->rec.head.dur_lo_ns = (__u32)dur;
	st->rec.head.dur_hi = dur >> 32;
	if (result > GP_RESULT_MAX)
		result = GP_RESULT_MAX;
	if (result < -GP_RESULT_MAX)
		result = -GP_RESULT_MAX;
	st->rec.head.result = result;
}

/* Where a call stored its result object. A function of its own for the size of the frame. */
static __noinline void read_out(struct thread_state *st, __u32 flags)
{
	__u64 *word = flags & GP_ROW_OUT_SECOND ? &st->rec.words[1] : &st->rec.words[0];

	if (st->rec.head.result || bpf_probe_read_user(word, 8, (void *)*word))
		*word = 0;
}

/* A function of its own for the sake of its callers' frames. */
static __noinline int send_return(struct thread_state *st, __u32 words, __u64 end_ns)
{
	if (words > GP_WORDS_LARGE)
		return 0;
	add_blocked(st, words, end_ns);
	send_call(st, GP_CALL, words);
	recording_end(st);
	return 0;
}

static __always_inline void on_return(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	/* silent links finish the calls they began */
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 row_id = cookie;
	long sp = PT_REGS_SP(ctx), result = (__s32)PT_REGS_RC(ctx);
	struct thread_state *st;

	if (cookie & GP_COOKIE_OP) {
		return_by_cookie(ctx, cookie);
		return;
	}
	if (row_id >= GP_ROWS_MAX)
		return;
	if (row_at(row_id)->asks) {
		asker_leave();
		op_return(ctx);
		return;
	}
	st = call_exit(row_id, sp);
	if (!st)
		return;
	set_end(st, now, result);
	if (row_at(row_id)->flags & GP_ROW_OUT)
		read_out(st, row_at(row_id)->flags);
	send_return(st, row_at(row_id)->words, now);
}

/* Up to 6.18 this kfunc takes nothing, later a context; the one that does not fit stays 0. */
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
