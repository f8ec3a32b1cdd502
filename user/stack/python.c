// SPDX-License-Identifier: BSD-3-Clause
/*
 * _PyRuntime -> interpreters -> thread states -> frames -> code objects. Thread states and frames
 * change all the time and are read anew; code objects, their names and line tables do not, and are
 * read once.
 */
#include "stack/python.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "host/proc.h"
#include "stack/python_code.h"
#include "stack/python_runtime.h"

#define MAX_FRAMES 256u		/* of one stack: the innermost */
#define MAX_STEPS 1000u		/* also over frames that are not Python's; below IOV_MAX */
#define MAX_TEXT 1024u		/* characters of a name */
#define MAX_LINES (1u << 20)	/* bytes of a line table */
#define MAX_ALL_LINES (64u << 20)
#define MAX_STATUS 8192u
#define MAX_STATES 4u		/* of one thread: one for each interpreter that it was in */
#define TRIES 16u		/* at the stack of a thread that runs meanwhile */

struct python_code {
	struct python_frame names;	/* without line */
	uint64_t instructions;
	struct python_lines lines;
};

struct raw_frame {
	uint64_t at, previous, code, instruction;
	uint8_t owner;
	bool is_entry;
};

struct raw_chain {		/* innermost first */
	struct raw_frame frame[MAX_STEPS];
	size_t n;
};

struct python {
	struct python_runtime rt;
	bool has_inner_ids;	/* it is in another pid namespace */
	struct stack_memory *memory;
	struct strpool *names;
	VEC(struct python_code) code;
	struct map code_at;	/* address -> index into code */
	size_t line_bytes;	/* of all code */
	struct raw_chain chain[3];	/* two readings, and the best */
	char raw[MAX_STEPS * PYTHON_FRAME_BYTES + sizeof(uint64_t)];
};

/* ---- memory --------------------------------------------------------------------------------- */

/* Of an object that does not change. */
static int read_kept(const struct python *py, uint64_t object, enum python_field field, void *buf,
		     size_t len)
{
	return stack_memory_read(py->memory, object + py->rt.layout.at[field], buf, len);
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* A str object's characters are of 1, 2 or 4 bytes each. -EFAULT: it is none. */
static int read_text(const struct python *py, uint64_t object, struct strbuf *out)
{
	const struct python_layout *l = &py->rt.layout;
	uint64_t length, data = object + l->at[TEXT_ASCII];
	char raw[MAX_TEXT * 4];
	uint32_t state, kind;

	if (read_kept(py, object, TEXT_LENGTH, &length, sizeof(length)) ||
	    read_kept(py, object, TEXT_STATE, &state, sizeof(state)))
		return -EFAULT;
	kind = (state & l->kind_bits) >> __builtin_ctz(l->kind_bits);
	if (!(state & l->compact_bits) || kind > 4 || length > MAX_TEXT)
		return -EFAULT;
	if (!(state & l->ascii_bits))
		data += l->wide_extra;
	if (stack_memory_read(py->memory, data, raw, length * kind))
		return -EFAULT;
	return python_add_text(out, raw, length, kind);
}

static int read_name(const struct python *py, uint64_t code, enum python_field field,
		     const char **name)
{
	struct strbuf text = STRBUF_INIT;
	uint64_t object;
	int err = read_kept(py, code, field, &object, sizeof(object));

	if (!err)
		err = read_text(py, object, &text);
	if (!err) {
		*name = strpool_add(py->names, text.s);
		err = *name ? 0 : -ENOMEM;
	}
	strbuf_free(&text);
	return err;
}

/* ---- code ----------------------------------------------------------------------------------- */

/* Without a table frames have no line. */
static int read_lines(struct python *py, uint64_t code, struct python_code *out)
{
	uint64_t object, size;

	if (read_kept(py, code, CODE_LINES, &object, sizeof(object)) ||
	    read_kept(py, object, BYTES_SIZE, &size, sizeof(size)) || !size || size > MAX_LINES ||
	    py->line_bytes + size > MAX_ALL_LINES)
		return 0;
	py->line_bytes += size;
	out->lines.table = malloc(size);
	if (!out->lines.table)
		return -ENOMEM;
	out->lines.n = read_kept(py, object, BYTES_DATA, out->lines.table, size) ? 0 : size;
	return 0;
}

static int read_code(struct python *py, uint64_t at, struct python_code *out)
{
	int32_t first_line;
	int err = read_name(py, at, CODE_FILE, &out->names.file);

	if (!err)
		err = read_name(py, at, CODE_NAME, &out->names.function);
	if (!err)
		err = read_kept(py, at, CODE_FIRST_LINE, &first_line, sizeof(first_line));
	if (err)
		return err;
	out->lines.first = first_line;
	out->lines.are = python_lines_are(&py->rt.layout);
	out->instructions = at + py->rt.layout.at[CODE_INSTRUCTIONS];
	return read_lines(py, at, out);
}

/* -EFAULT: there is no code object. */
static int find_code(struct python *py, uint64_t at, const struct python_code **out)
{
	struct map_slot *slot = map_find(&py->code_at, at);
	struct python_code code = { 0 };
	int err = slot ? 0 : read_code(py, at, &code);

	if (!slot && !err) {
		struct python_code *kept = VEC_PUSH(&py->code);

		slot = kept ? map_put(&py->code_at, at, NULL) : NULL;
		if (kept)
			*kept = code;
		else
			free(code.lines.table);
		if (!slot)
			return -ENOMEM;
		slot->value = py->code.n - 1;
	} else if (err) {
		free(code.lines.table);
		return err;
	}
	*out = &py->code.v[slot->value];
	return 0;
}

/* ---- frames --------------------------------------------------------------------------------- */

static void parse_frame(const struct python *py, uint64_t at, const char *raw,
			struct raw_frame *out)
{
	const uint32_t *offset = py->rt.layout.at;

	out->at = at;
	memcpy(&out->previous, raw + offset[FRAME_PREVIOUS], sizeof(out->previous));
	memcpy(&out->code, raw + offset[FRAME_CODE], sizeof(out->code));
	memcpy(&out->instruction, raw + offset[FRAME_INSTRUCTION], sizeof(out->instruction));
	out->owner = (uint8_t)raw[offset[FRAME_OWNER]];
	out->is_entry = python_has_frame_objects(&py->rt.layout) ||
			(offset[FRAME_IS_ENTRY] && raw[offset[FRAME_IS_ENTRY]]);
	out->code &= ~7ull;	/* 3.14: bits of a reference's kind */
}

/* Where the pointer to the innermost frame is; 0: nowhere. -EFAULT: it cannot be read. */
static int find_current(struct python *py, uint64_t state, uint64_t *at)
{
	uint64_t holder = state;

	if (py->rt.layout.at[THREAD_CFRAME] &&
	    python_read_field(&py->rt, state, THREAD_CFRAME, &holder))
		return -EFAULT;
	*at = holder ? holder + py->rt.layout.at[FRAME_CURRENT] : 0;
	return 0;
}

/* One by one. false: what is there is no stack of frames. */
static bool read_chain(struct python *py, uint64_t current, struct raw_chain *out)
{
	const size_t size = python_frame_bytes(&py->rt.layout);
	uint64_t at;

	out->n = 0;
	if (size > PYTHON_FRAME_BYTES || python_read(&py->rt, current, &at, sizeof(at)))
		return false;
	while (at && out->n < MAX_STEPS) {
		char raw[PYTHON_FRAME_BYTES];

		if (python_read(&py->rt, at, raw, size))
			return false;
		parse_frame(py, at, raw, &out->frame[out->n]);
		at = out->frame[out->n++].previous;
	}
	return true;
}

/*
 * The same frames in one call, which takes a few hundred nanoseconds for each: the outermost first,
 * then the pointer to the innermost. A frame that was left keeps its content: those further inside
 * than the pointer then says are past. false: it says something else, or cannot be read.
 */
static bool read_chain_again(struct python *py, uint64_t current, const struct raw_chain *from,
			     struct raw_chain *out)
{
	const size_t n = from->n, size = python_frame_bytes(&py->rt.layout), total = n * size;
	struct iovec local = { py->raw, total + sizeof(uint64_t) }, remote[MAX_STEPS + 1];
	uint64_t innermost;
	size_t past = 0;

	for (size_t i = 0; i < n; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)from->frame[n - 1 - i].at, size };
	remote[n] = (struct iovec){ (void *)(uintptr_t)current, sizeof(innermost) };
	if (process_vm_readv(py->rt.pid, &local, 1, remote, n + 1, 0) != (ssize_t)local.iov_len)
		return false;
	memcpy(&innermost, py->raw + total, sizeof(innermost));
	while (past < n && from->frame[past].at != innermost)
		past++;
	out->n = n - past;
	for (size_t i = 0; i < out->n; i++)
		parse_frame(py, from->frame[past + i].at, py->raw + (out->n - 1 - i) * size,
			    &out->frame[i]);
	return past < n;
}

/*
 * How many of the outer frames are sure in the second of two readings. A thread that runs meanwhile
 * may return from a function and call another while its frames are read, which gives chains of
 * calls that never were. Frames that did not move from the first reading to the second were there
 * all the time; the next one is in the same function, perhaps elsewhere in it.
 */
static size_t count_steady(const struct raw_chain *a, const struct raw_chain *b)
{
	size_t n = 0;

	while (n < b->n) {
		const struct raw_frame *x = &a->frame[a->n - 1 - n], *y = &b->frame[b->n - 1 - n];

		if (x->previous != y->previous || x->code != y->code)
			break;
		n++;
		if (x->instruction != y->instruction)
			break;
	}
	return n;
}

/* Reads a thread's frames until all are steady, or takes the most that were. */
static void read_steady_chain(struct python *py, const struct python_thread *t,
			      struct raw_chain *best)
{
	struct raw_chain *a = &py->chain[0], *b = &py->chain[1];
	uint64_t id, current;

	best->n = 0;
	for (unsigned int i = 0; i < TRIES; i++) {
		size_t n;

		if (python_read_thread_id(&py->rt, t->state, &id) || id != t->id)
			return;
		if (find_current(py, t->state, &current) || !current)
			return;
		if (!read_chain(py, current, a) || !read_chain_again(py, current, a, b))
			continue;
		n = count_steady(a, b);
		if (n > best->n) {
			best->n = n;
			memcpy(best->frame, &b->frame[b->n - n], n * sizeof(best->frame[0]));
		}
		if (n == a->n)
			return;
	}
}

/* A frame's instruction is the one it is in; before 3.13 it is the last that has begun; up to 3.10
 * it is a number, in the lower half of what was read. */
static int add_frame(struct python *py, const struct raw_frame *raw, struct python_stack *out)
{
	const struct python_code *code;
	struct python_frame *f;
	int64_t at;
	int err = find_code(py, raw->code, &code);

	if (err)
		return err;
	f = VEC_PUSH(&out->frame);
	if (!f)
		return -ENOMEM;
	*f = code->names;
	f->is_entry = raw->is_entry;
	at = python_has_frame_objects(&py->rt.layout) ?
		(int32_t)raw->instruction * (int64_t)python_unit(&py->rt.layout) :
		(int64_t)(raw->instruction - code->instructions);
	f->line = python_line(&code->lines, at);
	return 0;
}

/* A frame that cannot be read makes the whole stack unknown. */
static int read_stack(struct python *py, const struct python_thread *t, struct python_stack *out)
{
	const uint8_t shim = py->rt.layout.shim_owner;
	struct raw_chain *chain = &py->chain[2];
	int err = 0;

	read_steady_chain(py, t, chain);
	for (size_t i = 0; i < chain->n && !err && out->frame.n < MAX_FRAMES; i++) {
		const struct raw_frame *raw = &chain->frame[i];

		if (!shim || raw->owner < shim)
			err = add_frame(py, raw, out);
		else if (out->frame.n)
			out->frame.v[out->frame.n - 1].is_entry = true;
	}
	if (err)
		out->frame.n = 0;
	return err == -ENOMEM ? err : 0;
}

/* ---- threads -------------------------------------------------------------------------------- */

static uint64_t inner_id(const struct python *py, pid_t tid)
{
	char path[64], *text;
	uint64_t id;

	if (!py->has_inner_ids)
		return (uint64_t)tid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", py->rt.pid, tid);
	text = io_read_file(path, MAX_STATUS, NULL);
	id = text ? proc_inner_pid(text) : 0;
	free(text);
	return id;
}

/* The states of a thread are idle but for one. */
int python_read_thread(struct python *py, pid_t tid, struct python_stack *out)
{
	const uint64_t id = inner_id(py, tid);
	unsigned int states = 0;
	int err = 0;

	for (size_t i = 0; id && i < py->rt.thread.n && !err && !out->frame.n; i++)
		if (py->rt.thread.v[i].id == id && states++ < MAX_STATES)
			err = read_stack(py, &py->rt.thread.v[i], out);
	return err;
}

struct python *python_new(pid_t pid, const struct stack_modules *modules,
			  struct stack_memory *memory, struct strpool *names)
{
	struct python *py = calloc(1, sizeof(*py));
	char path[64], *status;
	int err;

	if (!py)
		return NULL;
	py->memory = memory;
	py->names = names;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = io_read_file(path, MAX_STATUS, NULL);
	py->has_inner_ids = status && proc_inner_pid(status);
	free(status);
	err = python_runtime_find(&py->rt, pid, modules);
	if (!err)
		return py;
	python_free(py);
	errno = -err;
	return NULL;
}

void python_free(struct python *py)
{
	if (!py)
		return;
	for (size_t i = 0; i < py->code.n; i++)
		free(py->code.v[i].lines.table);
	VEC_FREE(&py->code);
	python_runtime_free(&py->rt);
	map_free(&py->code_at);
	free(py);
}
