// SPDX-License-Identifier: BSD-3-Clause
/*
 * Gives raw words their meaning, row by row. All rows go one way; shapes are a table of readers.
 * Why a thread was off the CPU is decided here, from the kernel's flags and the system call that it
 * was in.
 */
#include "source/bpf/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "catalog/gemms.h"
#include "catalog/tensor_types.h"
#include "host/syscalls.h"

struct decode_row {
	const struct catalog_row *row;	/* NULL: no such row */
	uint8_t n_words;
};

struct decoder {
	struct funcs funcs;
	struct decode_row rows[GP_ROWS_MAX];
};

struct decoder *decoder_new(void)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	catalog_funcs(&d->funcs);
	for (unsigned int i = 0; i < GP_ROWS_MAX; i++) {
		struct gp_row wire;

		d->rows[i].row = catalog_row(i);
		if (!d->rows[i].row)
			continue;
		catalog_wire_row(d->rows[i].row, &wire);
		d->rows[i].n_words = wire.words;
	}
	return d;
}

void decoder_free(struct decoder *d)
{
	free(d);
}

const struct funcs *decoder_funcs(const struct decoder *d)
{
	return &d->funcs;
}

/* ---- off the CPU ---------------------------------------------------------------------------- */

static const char *const files[] = {
	[1] = "pipe", [2] = "device", [4] = "directory", [6] = "disk", [8] = "file",
	[12] = "socket", [GP_FILE_ANONYMOUS] = "event",
};

static const uint8_t reasons[] = {
	[SYSCALL_FOR_OTHER] = OFF_OTHER, [SYSCALL_FOR_IO] = OFF_IO, [SYSCALL_FOR_LOCK] = OFF_LOCK,
	[SYSCALL_FOR_SLEEP] = OFF_SLEEP,
};

uint8_t decode_wait_reason(const struct syscall_row *call)
{
	return call ? reasons[call->why] : OFF_OTHER;
}

static uint8_t reason_of(const struct gp_off *rec, const struct syscall_row *call)
{
	if (rec->flags & GP_OFF_RUNNABLE)
		return OFF_RUNQUEUE;
	if (rec->flags & GP_OFF_IOWAIT)
		return OFF_DISK;
	if (rec->state & GP_OFF_STOPPED)
		return OFF_STOPPED;
	if (rec->syscall == GP_OFF_NO_SYSCALL)
		return OFF_PAGE_FAULT;
	return decode_wait_reason(call);
}

/* "read pipe", "futex", "syscall 999"; NULL: in none. */
static const char *what_of(const struct gp_off *rec, const struct syscall_row *call,
			   struct decode_off_texts *t)
{
	bool is_gil = call && call->why == SYSCALL_FOR_LOCK && rec->file == GP_FILE_GIL;
	bool has_file = call && call->waits == SYSCALL_FD &&
			rec->file < sizeof(files) / sizeof(files[0]);
	const char *file = is_gil ? "GIL" : has_file ? files[rec->file] : NULL;

	if (rec->syscall == GP_OFF_NO_SYSCALL)
		return NULL;
	if (call)
		snprintf(t->what, sizeof(t->what), "%s%s%s", call->name, file ? " " : "",
			 file ? file : "");
	else
		snprintf(t->what, sizeof(t->what), "syscall %d", rec->syscall);
	return t->what;
}

static void decode_waker(const struct gp_off *rec, struct decode_off_texts *t, struct event *out)
{
	const uint8_t reason = out->off.reason;

	if (rec->flags & GP_OFF_INTERRUPT)
		out->off.waker_name = "interrupt";
	if (!rec->waker_tid || out->off.waker_name)
		return;
	/* A sleep or a disk read ends by an interrupt: the thread it interrupted is no waker. */
	if (rec->flags & GP_OFF_MAYBE && (reason == OFF_SLEEP || reason == OFF_DISK))
		return;
	out->off.waker = (uint64_t)rec->waker_pid << 32 | rec->waker_tid;
	memcpy(t->waker, rec->waker_comm, GP_COMM_LEN);
	t->waker[GP_COMM_LEN] = '\0';
	if (rec->flags & GP_OFF_MAYBE)
		strcat(t->waker, "?");
	out->off.waker_name = t->waker;
}

static enum decode_status decode_off(const void *data, size_t len, struct event *out,
				     struct decode_off_texts *texts)
{
	const struct gp_off *rec = data;
	const struct syscall_row *call;
	uint64_t dur_ns;

	if (len < sizeof(*rec) || !rec->pid || !rec->tid)
		return DECODE_INVALID;
	dur_ns = (uint64_t)rec->dur_hi << 32 | rec->dur_lo_ns;
	*out = (struct event){ .kind = EVENT_OFF, .pid = rec->pid, .tid = rec->tid, .seq = rec->seq,
			       .start_ns = rec->start_ns, .off.stack = rec->stack,
			       .has = rec->flags & GP_OFF_STILL ? 0 : HAS_END };
	if (__builtin_add_overflow(rec->start_ns, dur_ns, &out->end_ns))
		return DECODE_INVALID;
	if (rec->flags & GP_OFF_IN_CALL) {
		out->has = 0;
		out->off.reason = rec->state & GP_OFF_STOPPED ? OFF_CALL_STOPPED : OFF_CALL;
		out->off.blocked_ns = dur_ns;
		return DECODE_OK;
	}
	if (rec->flags & GP_OFF_END_UNKNOWN) {
		out->has = HAS_END;
		out->off.reason = OFF_NO_END;
		return DECODE_OK;
	}
	call = syscall_find(rec->syscall);
	out->off.reason = reason_of(rec, call);
	out->off.syscall = what_of(rec, call, texts);
	if (rec->woken_ns > rec->start_ns && rec->woken_ns < out->end_ns &&
	    out->off.reason != OFF_RUNQUEUE)
		out->off.woken_ns = out->end_ns - rec->woken_ns;
	decode_waker(rec, texts, out);
	return DECODE_OK;
}

/* ---- shapes: where a launch's grid, block and shared memory are ---------------------------- */

static void shape_dim3(const uint64_t *w, struct launch_shape *s)
{
	*s = (struct launch_shape){
		.grid = { (uint32_t)w[1], (uint32_t)(w[1] >> 32), (uint32_t)w[2] },
		.block = { (uint32_t)w[3], (uint32_t)(w[3] >> 32), (uint32_t)w[4] },
		.shared_bytes = w[6],
	};
}

static void shape_six(const uint64_t *w, struct launch_shape *s)
{
	*s = (struct launch_shape){
		.grid = { (uint32_t)w[1], (uint32_t)w[2], (uint32_t)w[3] },
		.block = { (uint32_t)w[4], (uint32_t)w[5], (uint32_t)w[6] },
		.shared_bytes = (uint32_t)w[7],
	};
}

/* cudaLaunchConfig_t: dim3 grid, dim3 block (six u32), size_t shared, stream */
static void shape_runtime_config(const uint64_t *w, struct launch_shape *s)
{
	memcpy(s->grid, &w[6], sizeof(s->grid));
	memcpy(s->block, (const char *)&w[6] + sizeof(s->grid), sizeof(s->block));
	s->shared_bytes = w[9];
}

/* CUlaunchConfig: six u32, u32 shared, (padding), stream */
static void shape_driver_config(const uint64_t *w, struct launch_shape *s)
{
	memcpy(s->grid, &w[6], sizeof(s->grid));
	memcpy(s->block, (const char *)&w[6] + sizeof(s->grid), sizeof(s->block));
	s->shared_bytes = (uint32_t)w[9];
}

/* cublas: m, n, k are arguments 3 to 5; the number of products is the extra word if there is
 * one. */
static void shape_gemm(const uint64_t *w, struct launch_shape *s)
{
	*s = (struct launch_shape){
		.grid = { (uint32_t)w[3], (uint32_t)w[4], (uint32_t)w[5] },
		.block = { 1, 1, 1 },
	};
}

static void shape_gemms(const uint64_t *w, struct launch_shape *s)
{
	shape_gemm(w, s);
	s->block[0] = (uint32_t)w[6];
}

static void (*const shapes[])(const uint64_t *, struct launch_shape *) = {
	[SHAPE_DIM3] = shape_dim3,
	[SHAPE_SIX] = shape_six,
	[SHAPE_RUNTIME_CONFIG] = shape_runtime_config,
	[SHAPE_DRIVER_CONFIG] = shape_driver_config,
	[SHAPE_GEMM] = shape_gemm,
	[SHAPE_GEMMS] = shape_gemms,
};

/* ---- rows ---------------------------------------------------------------------------------- */

static const uint8_t fixed_dirs[] = {
	[DIR_H2D] = COPY_H2D, [DIR_D2H] = COPY_D2H, [DIR_D2D] = COPY_D2D,
	[DIR_DEFAULT] = COPY_DEFAULT,
};

/* ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, f16, f32, f64, bf16, fp8 twice */
static const uint8_t nccl_type_bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

static void decode_bytes(const struct catalog_row *row, const uint64_t *w, struct event *ev)
{
	uint64_t bytes = w[row->bytes - 1], unit = row->scale ? row->scale : 1;

	if (row->arrays && (w[row->arrays - 1] || w[row->arrays]))
		return;		/* the width counts the array's elements, whose size is not here */
	if (row->dtype) {
		uint32_t type = (uint32_t)w[row->dtype - 1];	/* the rest is undefined */

		if (type >= sizeof(nccl_type_bytes))
			return;		/* a type this version does not know: unknown, not zero */
		unit = nccl_type_bytes[type];
	}
	if (__builtin_mul_overflow(bytes, unit, &bytes))
		return;
	for (int i = 0; i < 2; i++)
		if (row->times[i] && __builtin_mul_overflow(bytes, w[row->times[i] - 1], &bytes))
			return;
	ev->call.bytes = bytes;
	ev->has |= HAS_BYTES;
}

/* From two CUmemorytypes: host, device, array (on the device), unified. */
static uint64_t dir_of_types(uint32_t from, uint32_t to)
{
	static const uint8_t dirs[2][2] = { { COPY_H2H, COPY_H2D }, { COPY_D2H, COPY_D2D } };
	enum { HOST = 1, ARRAY = 3, UNIFIED = 4 };

	if (from < HOST || to < HOST || from > UNIFIED || to > UNIFIED)
		return UINT64_MAX;
	return from > ARRAY || to > ARRAY ? COPY_DEFAULT : dirs[from != HOST][to != HOST];
}

static void decode_dir(const struct catalog_row *row, const uint64_t *w, struct event *ev)
{
	const uint64_t *word = &w[row->dir_word - 1];
	uint64_t dir;

	if (row->dir == DIR_WORD)
		dir = (uint32_t)word[0];
	else if (row->dir == DIR_TYPES)
		dir = dir_of_types((uint32_t)word[0], (uint32_t)word[1]);
	else
		dir = fixed_dirs[row->dir];
	if (dir > COPY_DEFAULT)
		return;		/* the call is about to fail with an invalid direction */
	ev->call.dir = (uint8_t)dir;
	ev->has |= HAS_DIR;
}

/* An allocation is known when the call has returned. */
static void decode_address(const struct catalog_row *row, const struct gp_call *rec,
			   const uint64_t *w, struct event *ev)
{
	bool returned = rec->kind == GP_CALL && !(rec->flags & GP_CALL_NO_RETURN);

	if (row->address && (!row->out || (returned && !rec->result)))
		ev->call.address = w[row->address - 1];
}

static bool is_register(unsigned int word)
{
	return word <= GP_REGS;
}

static void decode_words(const struct catalog_row *row, const uint64_t *w, bool extra_known,
			 struct event *ev)
{
	if (row->bytes && (extra_known || (is_register(row->bytes) && is_register(row->times[0]))))
		decode_bytes(row, w, ev);
	if (row->dir && (extra_known || is_register(row->dir_word)))
		decode_dir(row, w, ev);
	if (row->entity) {
		ev->call.entity = w[row->entity - 1];
		ev->has |= HAS_ENTITY;
	}
	if (row->shape && (extra_known || !row->extra)) {
		shapes[row->shape](w, &ev->call.shape);
		ev->has |= HAS_SHAPE;
	}
	if (row->stream && (extra_known || is_register(row->stream))) {
		ev->call.stream = w[row->stream - 1];
		ev->has |= HAS_STREAM;
	}
}

static enum decode_status decode_op(const void *data, size_t len, struct event *out)
{
	const struct gp_op *rec = data;

	if (len < sizeof(*rec) || !rec->pid || !rec->tid || !rec->op ||
	    rec->end_ns < rec->start_ns)
		return DECODE_INVALID;
	*out = (struct event){ .kind = EVENT_OP, .pid = rec->pid, .tid = rec->tid,
			       .start_ns = rec->start_ns, .end_ns = rec->end_ns,
			       .has = rec->flags & GP_OP_BOUND ? 0 : HAS_END,
			       .op = { rec->op, rec->inner_ns } };
	return DECODE_OK;
}

static enum decode_status decode_asks(const void *data, size_t len, struct event *out)
{
	const struct gp_op *rec = data;
	const bool ends = len >= sizeof(*rec) && rec->end_ns;

	if (len < sizeof(*rec) || !rec->pid || !rec->tid || (ends && rec->end_ns < rec->start_ns))
		return DECODE_INVALID;
	*out = (struct event){ .kind = EVENT_ASKS, .pid = rec->pid, .tid = rec->tid,
			       .start_ns = rec->start_ns,
			       .end_ns = ends ? rec->end_ns : rec->start_ns,
			       .has = ends ? HAS_END : 0 };
	return DECODE_OK;
}

static enum decode_status decode_module(const void *data, size_t len, struct event *out,
					struct decode_off_texts *texts)
{
	const struct gp_module *rec = data;

	if (len < sizeof(*rec) || rec->id < GP_OPS_FIRST)
		return DECODE_INVALID;
	memcpy(texts->what, rec->name, sizeof(rec->name));
	texts->what[sizeof(rec->name) - 1] = '\0';
	*out = (struct event){ .kind = EVENT_FRAME };
	out->frame.number = rec->id;
	out->frame.caller = rec->outer;
	out->frame.function = texts->what;
	out->frame.flags = FRAME_MODULE;
	return DECODE_OK;
}

/* "[8, 64] float32" */
static void describe(const struct gp_shape *rec, char *text, size_t size)
{
	char type[TENSOR_TYPE_NAME_MAX];
	int n = snprintf(text, size, "[");

	tensor_type_name(rec->type, type);
	for (unsigned int i = 0; i < rec->dims; i++)
		n += snprintf(text + n, size - (size_t)n, "%s%" PRIu64, i ? ", " : "",
			      rec->size[i]);
	snprintf(text + n, size - (size_t)n, "] %s", type);
}

static enum decode_status decode_shape(const void *data, size_t len, struct event *out,
				       struct decode_off_texts *texts)
{
	const struct gp_shape *rec = data;

	if (len < sizeof(*rec) || rec->id < GP_OPS_FIRST || rec->dims > GP_DIMS_MAX)
		return DECODE_INVALID;
	describe(rec, texts->what, sizeof(texts->what));
	*out = (struct event){ .kind = EVENT_FRAME };
	out->frame.number = rec->id;
	out->frame.offset = rec->op;
	out->frame.function = texts->what;
	out->frame.flags = FRAME_SHAPE;
	return DECODE_OK;
}

static enum decode_status decode_gemm(const void *data, size_t len, struct event *out,
				      struct decode_off_texts *texts)
{
	const struct gp_gemm *rec = data;

	if (len < sizeof(*rec) || rec->id < GP_OPS_FIRST || !gemm_write(rec, texts->what))
		return DECODE_INVALID;
	*out = (struct event){ .kind = EVENT_FRAME };
	out->frame.number = rec->id;
	out->frame.offset = rec->op;
	out->frame.function = texts->what;
	out->frame.flags = FRAME_GEMM;
	return DECODE_OK;
}

static const uint8_t call_kinds[GP_KINDS] = {
	[0] = EVENT_TAIL, [GP_CALL] = EVENT_CALL, [GP_ENTER] = EVENT_ENTER, [GP_OPEN] = EVENT_OPEN,
};

/* A flag's word, behind those of the flags before. */
static uint64_t word_of(const struct gp_call *rec, uint8_t flag, size_t *at, size_t len)
{
	size_t here = *at;

	if (!(rec->flags & flag) || len < sizeof(*rec) + 8 * (here + 1))
		return 0;
	++*at;
	return ((const uint64_t *)(rec + 1))[here];
}

/* Behind the words of the row. */
static void decode_more(const struct gp_call *rec, size_t at, size_t len, struct event *out)
{
	unsigned int shift;
	uint64_t late;

	out->call.stack = word_of(rec, GP_CALL_STACK, &at, len);
	out->call.op = word_of(rec, GP_CALL_OP, &at, len);
	out->call.module = word_of(rec, GP_CALL_MODULE, &at, len);
	out->call.blocked_ns = word_of(rec, GP_CALL_BLOCKED, &at, len);
	late = word_of(rec, GP_CALL_LATE, &at, len);
	if (!(out->has & HAS_END))
		return;
	shift = late && rec->flags & GP_CALL_STOPPED ? GP_STOPPED_SHIFT : 0;
	out->call.late_ns = late >> 32 << shift;
	out->call.after_late_ns = out->call.late_ns ? (late & UINT32_MAX) << shift : 0;
	out->call.late_why = shift && out->call.late_ns ? OFF_STOPPED : OFF_RUNQUEUE;
}

enum decode_status decode_call(const struct decoder *d, const void *data, size_t len,
			       struct event *out, struct decode_off_texts *texts)
{
	const struct gp_call *rec = data;
	const struct decode_row *dr;
	const uint64_t *words = (const uint64_t *)(rec + 1);
	bool has_end;

	if (len && rec->kind == GP_OFF)
		return decode_off(data, len, out, texts);
	if (len && rec->kind == GP_OP)
		return decode_op(data, len, out);
	if (len && rec->kind == GP_ASKS)
		return decode_asks(data, len, out);
	if (len && rec->kind == GP_MODULE)
		return decode_module(data, len, out, texts);
	if (len && rec->kind == GP_SHAPE)
		return decode_shape(data, len, out, texts);
	if (len && rec->kind == GP_GEMM)
		return decode_gemm(data, len, out, texts);
	if (len < sizeof(*rec))
		return DECODE_INVALID;
	if (rec->kind >= GP_KINDS || (rec->kind && !call_kinds[rec->kind]))
		return DECODE_SKIP;
	*out = (struct event){ .kind = call_kinds[rec->kind], .pid = rec->pid, .tid = rec->tid,
			       .seq = rec->seq };
	if (!rec->pid || !rec->tid)
		return DECODE_INVALID;
	if (out->kind == EVENT_TAIL)
		return DECODE_OK;
	if (rec->row >= GP_ROWS_MAX)
		return DECODE_INVALID;
	dr = &d->rows[rec->row];
	if (!dr->row || len < sizeof(*rec) + 8u * dr->n_words)
		return DECODE_INVALID;
	out->func = rec->row;
	out->start_ns = out->end_ns = rec->start_ns;
	has_end = rec->kind == GP_CALL && !(rec->flags & GP_CALL_NO_RETURN);
	if (has_end) {
		if (__builtin_add_overflow(rec->start_ns,
					   (uint64_t)rec->dur_hi << 32 | rec->dur_lo_ns,
					   &out->end_ns))
			return DECODE_INVALID;
		out->call.result = rec->result;
		out->has = HAS_RESULT | HAS_END;
	}
	decode_more(rec, dr->n_words, len, out);
	decode_words(dr->row, words, !(rec->flags & GP_CALL_EXTRA_FAULT), out);
	decode_address(dr->row, rec, words, out);
	return DECODE_OK;
}

static const uint8_t task_kinds[GP_KINDS] = {
	[GP_TASK_NEW] = EVENT_THREAD, [GP_TASK_EXIT] = EVENT_EXIT, [GP_TASK_FORK] = EVENT_FORK,
	[GP_TASK_EXEC] = EVENT_PROCESS,
};

enum decode_status decode_task(const void *data, size_t len, struct event *out, char *comm)
{
	const struct gp_task *rec = data;

	if (len < sizeof(*rec))
		return DECODE_INVALID;
	if (rec->kind >= GP_KINDS || !task_kinds[rec->kind])
		return DECODE_SKIP;
	if (!rec->pid || !rec->tid || rec->start_ns > rec->time_ns ||
	    rec->process_ns > rec->time_ns)
		return DECODE_INVALID;
	memcpy(comm, rec->comm, GP_COMM_LEN);
	comm[GP_COMM_LEN] = '\0';
	*out = (struct event){ .kind = task_kinds[rec->kind], .pid = rec->pid, .tid = rec->tid,
			       .seq = rec->seq, .start_ns = rec->start_ns, .end_ns = rec->time_ns,
			       .task.comm = comm };
	out->task.process_ns = rec->process_ns;
	if (out->kind == EVENT_THREAD)
		out->task.own_tid = rec->own_tid;
	return DECODE_OK;
}
