/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The Python functions that the current thread is in: include/gpuprof/python.h. Its thread state is
 * looked for once; then a stack takes two reads a frame.
 */
#ifndef GPUPROF_PYTHON_BPF_H
#define GPUPROF_PYTHON_BPF_H

#include "asker.bpf.h"
#include "stack_id.bpf.h"
#include "stack_send.bpf.h"

#define PYTHON_STATES 4096	/* looked at for one thread */
#define PYTHON_STEPS (4 * GP_PYTHON_FRAMES)	/* also over frames that are no function's */
#define PYTHON_TRIES 64		/* stacks until a thread without a state is looked up again */
#define PYTHON_RAW 1024u	/* bytes of memory that are read at a time */

struct python_code {
	struct gp_python_code head;
	__u8 lines[GP_PYTHON_LINES];
};

struct python_copy {
	struct gp_python_stack head;
	struct gp_python_frame frames[GP_PYTHON_FRAMES];
	__u64 code_at[GP_PYTHON_FRAMES];	/* addresses of their code objects */
	__u8 raw[PYTHON_RAW];	/* memory of the process */
	__u64 raw_at, raw_end;	/* its addresses */
	__u64 state;		/* 0: it has none, or was not looked for yet */
	__u32 tries;
	__u32 tid;		/* as its own pid namespace numbers it; 0: not looked up yet */
	struct python_code code;
};

struct pythons_t {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct python_copy);
};
extern struct pythons_t pythons SEC(".maps");

/* ---- the thread's state ---------------------------------------------------------------------- */

static __always_inline __u64 read_pointer(__u64 at)
{
	__u64 pointer;

	return bpf_probe_read_user(&pointer, sizeof(pointer), (void *)at) ? 0 : pointer;
}

static __always_inline bool is_state_of(const struct gp_python *py, __u64 state, __u32 tid)
{
	__u64 id = read_pointer(state + py->thread_id);
	__u32 inner;

	if (!py->pthread_id)
		return id == tid;
	return id && !bpf_probe_read_user(&inner, sizeof(inner), (void *)(id + py->pthread_id)) &&
	       inner == tid;
}

struct state_search {
	const struct gp_python *py;
	__u64 interpreter;
	__u64 state;
	__u32 tid;
	__u32 found;
};

static long look_at_state(__u32 i, struct state_search *s)
{
	const struct gp_python *py = s->py;

	if (!s->state) {
		s->interpreter = i ? read_pointer(s->interpreter + py->interpreter_next) :
				     read_pointer(py->interpreters);
		if (!s->interpreter)
			return 1;
		s->state = read_pointer(s->interpreter + py->interpreter_threads);
		return 0;
	}
	if (is_state_of(py, s->state, s->tid)) {
		s->found = 1;
		return 1;
	}
	s->state = read_pointer(s->state + py->thread_next);
	return 0;
}

static __noinline bool search_state(struct python_copy *copy, const struct gp_python *py)
{
	struct state_search s = { .py = py };

	if (!copy || !py)
		return false;
	s.tid = copy->tid;
	if (copy->tries++ % PYTHON_TRIES)
		return false;
	bpf_loop(PYTHON_STATES, look_at_state, &s, 0);
	copy->state = s.found ? s.state : 0;
	return s.found;
}

/* ---- frames ---------------------------------------------------------------------------------- */

struct python_walk {
	struct python_copy *copy;
	const struct gp_python *py;
	__u64 next;		/* the frame that is looked at next; 0: none */
};

/*
 * Where a frame is in `raw`; PYTHON_RAW: it cannot be read. Most stand in memory one behind the
 * other, the caller's first: those before it are read with it, as far as its page goes, since
 * another one may not be there, and a fault takes as long as ten frames.
 */
static __noinline __u32 find_raw(struct python_copy *copy, __u64 at, __u32 bytes)
{
	__u64 from = at & ~4095ull, len;

	if (!copy || bytes > GP_PYTHON_FRAME_BYTES)
		return PYTHON_RAW;
	if (copy->raw_at && at >= copy->raw_at && at + bytes <= copy->raw_end)
		return at - copy->raw_at;
	if (from < at + bytes - PYTHON_RAW)
		from = at + bytes - PYTHON_RAW;
	len = at + bytes - from;
	copy->raw_at = from;
	copy->raw_end = at + bytes;
	asm volatile("" : "+r"(len));
	if (len > PYTHON_RAW || bpf_probe_read_user(copy->raw, len, (void *)from))
		return PYTHON_RAW;
	return at - from;
}

/* A word there. */
static __always_inline __u64 raw_word(const struct python_copy *copy, __u32 at)
{
	return *(const __u64 *)&copy->raw[at & (PYTHON_RAW - 8)];
}

/* Bytes into the code. */
static __always_inline __s32 instruction_at(const struct gp_python *py, __u64 instruction,
					    __u64 code)
{
	if (!py->code_instructions)
		return (__s32)instruction * (__s32)py->code_unit;
	return (__s32)(instruction - code - py->code_instructions);
}

/* 0: it is none. */
static __always_inline __u64 code_id(const struct gp_python *py, __u64 code, __u32 pid)
{
	__u64 names[2], id;

	if (!py || bpf_probe_read_user(names, sizeof(names), (void *)(code + py->code_name)))
		return 0;
	id = mix(mix(mix(pid, code), names[0]), names[1]);
	return id ? id : 1;
}

/* raw: where the frame is. False: it cannot be read. */
static __noinline bool add_frame(struct python_copy *copy, const struct gp_python *py, __u32 raw)
{
	__u64 code, id;
	__u32 n;

	if (!copy || !py)
		return false;
	n = copy->head.n;
	if (n >= GP_PYTHON_FRAMES) {
		copy->head.deep = 1;
		return true;
	}
	code = raw_word(copy, raw + py->frame_code) & ~7ull;
	id = code_id(py, code, copy->head.pid);
	if (!id)
		return false;
	copy->code_at[n] = code;
	copy->frames[n].code = id;
	copy->frames[n].at = instruction_at(py, raw_word(copy, raw + py->frame_instruction), code);
	copy->head.id = mix(copy->head.id ^ (__u32)copy->frames[n].at, id);
	copy->head.n = n + 1;
	return true;
}

/* 0 goes on. What cannot be read ends the walk, and there is no stack. */
static long walk_frame(__u32 i, struct python_walk *w)
{
	const struct gp_python *py = w->py;
	struct python_copy *copy = w->copy;
	__u32 raw;

	if (!w->next || copy->head.deep)
		return 1;
	raw = find_raw(copy, w->next, py->frame_bytes);
	if (raw >= PYTHON_RAW)
		return 1;
	if (!(py->shim_owner &&
	      copy->raw[(raw + py->frame_owner) & (PYTHON_RAW - 1)] >= py->shim_owner) &&
	    !add_frame(copy, py, raw))
		return 1;
	w->next = raw_word(copy, raw + py->frame_previous);
	return 0;
}

/* The innermost frame, by the thread's state; 0: it runs no Python. A state may be freed and be
 * another thread's later: then it is looked for again. */
static __noinline __u64 find_current(struct python_copy *copy, const struct gp_python *py)
{
	__u32 bytes;

	if (!copy || !py)
		return 0;
	bytes = py->state_bytes;
	asm volatile("" : "+r"(bytes));
	if (bytes > PYTHON_RAW ||
	    bpf_probe_read_user(copy->raw, bytes, (void *)(copy->state + py->state_from)) ||
	    (py->pthread_id ? !is_state_of(py, copy->state, copy->tid) :
			      raw_word(copy, py->thread_id - py->state_from) != copy->tid)) {
		copy->state = 0;
		copy->tries = 0;
		return 0;
	}
	if (py->thread_cframe) {
		__u64 cframe = raw_word(copy, py->thread_cframe - py->state_from);

		return cframe ? read_pointer(cframe + py->frame_current) : 0;
	}
	return raw_word(copy, py->frame_current - py->state_from);
}

/* Fills the record; false: the thread runs no Python now, or its frames cannot be read. */
static __noinline bool walk_frames(struct python_copy *copy, const struct gp_python *py)
{
	struct python_walk w = { .copy = copy, .py = py };

	if (!copy || !py)
		return false;
	w.next = copy->state ? find_current(copy, py) : 0;
	if (!copy->state && search_state(copy, py))
		w.next = find_current(copy, py);
	copy->raw_at = 0;
	copy->head.n = 0;
	copy->head.deep = 0;
	copy->head.id = 1;
	bpf_loop(PYTHON_STEPS, walk_frame, &w, 0);
	return copy->head.n && copy->head.id && (!w.next || copy->head.deep);
}

/* ---- code objects ---------------------------------------------------------------------------- */

/* The characters of a str object, at most as many bytes as there is room for (a power of two):
 * their number. */
static __always_inline __u32 read_text(const struct gp_python *py, __u64 object, char *to,
				       __u32 room, __u8 *kind)
{
	__u64 data = object + py->text_ascii, bytes = read_pointer(object + py->text_length);
	__u32 state;

	*kind = 0;
	if (bpf_probe_read_user(&state, sizeof(state), (void *)(object + py->text_state)) ||
	    !(state & py->compact_bits))
		return 0;
	if (!(state & py->ascii_bits))
		data += py->text_wide;
	*kind = state >> py->kind_shift & 7;
	if (bytes > room)
		bytes = room;
	bytes *= *kind;
	asm volatile("" : "+r"(bytes));
	if (bytes > room)
		bytes = room;
	if (bpf_probe_read_user(to, bytes, (void *)data))
		*kind = 0;
	return *kind ? bytes : 0;
}

static __always_inline __u32 read_lines(const struct gp_python *py, __u64 object, __u8 *to)
{
	__u64 bytes = read_pointer(object + py->bytes_size);

	asm volatile("" : "+r"(bytes));
	if (bytes > GP_PYTHON_LINES)
		bytes = GP_PYTHON_LINES;
	return bpf_probe_read_user(to, bytes, (void *)(object + py->bytes_data)) ? 0 : bytes;
}

static __noinline bool send_code(struct python_copy *copy, const struct gp_python *py, __u64 at,
				 __u64 id)
{
	struct python_code *code;
	__u32 lines;

	if (!copy || !py)
		return false;
	code = &copy->code;
	code->head.kind = GP_PYTHON_CODE;
	code->head.lines_are = py->lines_are;
	code->head.pid = copy->head.pid;
	code->head.id = id;
	if (bpf_probe_read_user(&code->head.first_line, sizeof(code->head.first_line),
				(void *)(at + py->code_first_line)))
		code->head.first_line = 0;
	code->head.file_bytes = read_text(py, read_pointer(at + py->code_file), code->head.file,
					  GP_PYTHON_FILE, &code->head.file_kind);
	code->head.name_bytes = read_text(py, read_pointer(at + py->code_name), code->head.name,
					  GP_PYTHON_NAME, &code->head.name_kind);
	lines = read_lines(py, read_pointer(at + py->code_name + 8), code->lines);
	code->head.lines_bytes = lines;
	if (lines > GP_PYTHON_LINES)
		return false;
	return send_once(code, sizeof(code->head) + lines, GP_PYTHON_CODE, id);
}

struct code_sending {
	struct python_copy *copy;
	const struct gp_python *py;
	__u64 failed;
};

static long send_new_code(__u32 i, struct code_sending *s)
{
	__u64 id;

	if (i >= GP_PYTHON_FRAMES)
		return 1;
	id = s->copy->frames[i].code;
	if (!bpf_map_lookup_elem(&sent, &id))
		s->failed |= !send_code(s->copy, s->py, s->copy->code_at[i], id);
	return 0;
}

static __noinline bool send_all_code(struct python_copy *copy, const struct gp_python *py)
{
	struct code_sending s = { .copy = copy, .py = py };

	if (!copy || !py)
		return false;
	bpf_loop(copy->head.n, send_new_code, &s, 0);
	return !s.failed;
}

/* Sends the current thread's Python functions, which take_python has found, unless they were.
 * False: there is no room. */
static __noinline bool send_python(const struct gp_python *py)
{
	struct python_copy *copy =
		bpf_task_storage_get(&pythons, bpf_get_current_task_btf(), 0, 0);
	__u64 id;
	__u32 n;

	if (!copy || !py)
		return false;
	id = copy->head.id;
	if (bpf_map_lookup_elem(&sent, &id))
		return true;
	if (!send_all_code(copy, py))
		return false;
	copy->head.kind = GP_PYTHON;
	n = copy->head.n;
	if (n > GP_PYTHON_FRAMES)
		return false;
	return send_once(copy, sizeof(copy->head) + n * sizeof(copy->frames[0]), GP_PYTHON, id);
}

/* The id of the Python functions of the current thread, of process pid; 0: it has none, or they
 * could not be read. flags: as take_stack. */
static __noinline __u64 take_python(const struct gp_python *py, __u32 pid, __u64 flags)
{
	struct python_copy *copy = bpf_task_storage_get(&pythons, bpf_get_current_task_btf(), 0,
							flags);

	if (!copy || !py)
		return 0;
	if (!copy->tid)
		copy->tid = own_tid(bpf_get_current_task_btf());
	copy->head.pid = pid;
	return walk_frames(copy, py) ? copy->head.id : 0;
}

/* ---- threads that others work for ------------------------------------------------------------ */

static __always_inline bool is_worker(void)
{
	static const char begin[] = "pt_autograd_";
	char name[16];

	bpf_get_current_comm(name, sizeof(name));
#pragma unroll
	for (unsigned int i = 0; i < sizeof(begin) - 1; i++)
		if (name[i] != begin[i])
			return false;
	return true;
}

/* The Python functions that the current thread works for; 0: none are known. */
static __noinline __u64 find_asker(__u32 pid)
{
	struct gp_asker *there = bpf_map_lookup_elem(&askers, &pid);

	return there && there->python && is_worker() ? there->python : 0;
}

#endif
