// SPDX-License-Identifier: BSD-3-Clause
/*
 * _PyRuntime -> interpreters -> thread states -> frames -> code objects. Thread states and frames
 * change all the time and are read anew; code objects, their names and line tables do not, and are
 * read once.
 */
#include "stack/python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "elf/elf.h"
#include "host/proc.h"

#define MAX_INTERPRETERS 64u
#define MAX_THREADS 8192u
#define MAX_FRAMES 256u		/* of one stack: the innermost */
#define MAX_STEPS 1000u		/* also over frames that are not Python's; below IOV_MAX */
#define MAX_OFFSET (1u << 20)	/* in an interpreter's state, the largest of the structs */
#define MAX_FRAME_BYTES 128u
#define MAX_TEXT 1024u		/* characters of a name */
#define MAX_LINES (1u << 20)	/* bytes of a line table */
#define MAX_ALL_LINES (64u << 20)
#define MAX_READS (1u << 20)	/* of all threads together: about a second */
#define MAX_STATUS 8192u
#define MAX_STATES 4u		/* of one thread: one for each interpreter that it was in */
#define TRIES 16u		/* at the stack of a thread that runs meanwhile */

enum python_field {
	RUNTIME_INTERPRETERS,
	INTERPRETER_NEXT, INTERPRETER_THREADS,
	THREAD_NEXT, THREAD_INTERPRETER,
	THREAD_PTHREAD,		/* 3.10: its pthread_t; since then: */
	THREAD_NATIVE_ID,
	THREAD_CFRAME,		/* 3.11, 3.12: where FRAME_CURRENT is; else in the thread state */
	FRAME_CURRENT,
	FRAME_PREVIOUS, FRAME_CODE, FRAME_INSTRUCTION, FRAME_OWNER,
	FRAME_IS_ENTRY,		/* 3.11 */
	CODE_FILE, CODE_NAME, CODE_LINES, CODE_FIRST_LINE, CODE_INSTRUCTIONS,
	TEXT_LENGTH, TEXT_STATE,
	TEXT_ASCII,		/* where the characters of an ASCII string begin */
	BYTES_SIZE, BYTES_DATA,
	N_FIELDS
};

struct python_layout {
	uint8_t minor;
	bool in_debug_offsets;	/* `at` is where _Py_DebugOffsets has the offset */
	uint8_t shim_owner;	/* frames of this owner and above are the interpreter's; 0: none */
	uint8_t wide_extra;	/* how much later the characters of another string begin */
	uint32_t kind_bits, compact_bits, ascii_bits;	/* in TEXT_STATE */
	uint32_t at[N_FIELDS];
};

static const struct python_layout layouts[] = {
#include "stack/python_offsets.inc"
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

struct python_thread {
	uint64_t id;		/* as its own pid namespace numbers it */
	uint64_t state;
};

struct python_code {
	struct python_frame names;	/* without line */
	uint64_t instructions;
	int64_t first_line;
	uint8_t *lines;		/* may be NULL */
	size_t n_lines;
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
	pid_t pid;
	bool has_inner_ids;	/* it is in another pid namespace */
	struct stack_memory *memory;
	struct strpool *names;
	struct python_layout layout;
	VEC(struct python_thread) thread;
	VEC(struct python_code) code;
	struct map code_at;	/* address -> index into code */
	size_t line_bytes;	/* of all code */
	unsigned int reads;
	struct raw_chain chain[3];	/* two readings, and the best */
	char raw[MAX_STEPS * MAX_FRAME_BYTES + sizeof(uint64_t)];
};

/* ---- memory --------------------------------------------------------------------------------- */

static int read_now(struct python *py, uint64_t at, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)at, len };

	if (py->reads++ >= MAX_READS)
		return -EFAULT;
	return process_vm_readv(py->pid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

static int read_field(struct python *py, uint64_t object, enum python_field field, uint64_t *value)
{
	return read_now(py, object + py->layout.at[field], value, sizeof(*value));
}

/* Of an object that does not change. */
static int read_kept(const struct python *py, uint64_t object, enum python_field field, void *buf,
		     size_t len)
{
	return stack_memory_read(py->memory, object + py->layout.at[field], buf, len);
}

/*
 * 3.10 has no ids of the kernel. A pthread_t of glibc is the address of a struct that has one, at
 * the same place in all its versions since 2.17; another library's has no id of this process there.
 */
#if defined(__aarch64__)
#define PTHREAD_TID 208u
#else
#define PTHREAD_TID 720u
#endif

static int read_thread_id(struct python *py, uint64_t state, uint64_t *id)
{
	uint64_t pthread;
	uint32_t tid;

	if (!py->layout.at[THREAD_PTHREAD])
		return read_field(py, state, THREAD_NATIVE_ID, id);
	if (read_field(py, state, THREAD_PTHREAD, &pthread) ||
	    read_now(py, pthread + PTHREAD_TID, &tid, sizeof(tid)))
		return -EFAULT;
	*id = tid;
	return 0;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void add_utf8(struct strbuf *out, uint32_t c)
{
	if (!c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = '?';
	if (c < 0x80) {
		strbuf_addch(out, (char)c);
		return;
	}
	if (c < 0x800) {
		strbuf_addch(out, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		strbuf_addch(out, (char)(0xe0 | c >> 12));
		strbuf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		strbuf_addch(out, (char)(0xf0 | c >> 18));
		strbuf_addch(out, (char)(0x80 | (c >> 12 & 0x3f)));
		strbuf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	strbuf_addch(out, (char)(0x80 | (c & 0x3f)));
}

/* A str object's characters are of 1, 2 or 4 bytes each. -EFAULT: it is none. */
static int read_text(const struct python *py, uint64_t object, struct strbuf *out)
{
	const struct python_layout *l = &py->layout;
	uint64_t length, data = object + l->at[TEXT_ASCII];
	char raw[MAX_TEXT * 4];
	uint32_t state, kind;

	if (read_kept(py, object, TEXT_LENGTH, &length, sizeof(length)) ||
	    read_kept(py, object, TEXT_STATE, &state, sizeof(state)))
		return -EFAULT;
	kind = (state & l->kind_bits) >> __builtin_ctz(l->kind_bits);
	if (!(state & l->compact_bits) || (kind != 1 && kind != 2 && kind != 4) || !length ||
	    length > MAX_TEXT)
		return -EFAULT;
	if (!(state & l->ascii_bits))
		data += l->wide_extra;
	if (stack_memory_read(py->memory, data, raw, length * kind))
		return -EFAULT;
	for (size_t i = 0; i < length; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + i * kind, kind);	/* little-endian, as all we run on */
		add_utf8(out, c);
	}
	return out->failed ? -ENOMEM : 0;
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

/* ---- lines ---------------------------------------------------------------------------------- */

/*
 * co_linetable since 3.11: an entry for each run of instructions. Its first byte alone has bit 7
 * set: bits 3 to 6 are its kind, bits 0 to 2 the code units (of 2 bytes) that it covers, less one.
 * Kinds 0 to 9 stay on the line, 10 to 12 are 0 to 2 lines on, 13 and 14 have a signed number of
 * lines next, 15 is of no line. What follows is columns. Numbers have 6 bits a byte, the lowest
 * first, bit 6: more follow; the sign is bit 0.
 */
#define LINE_UNIT 2u

static int64_t read_signed(const uint8_t *table, size_t n, size_t at)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; at < n && shift < 36; shift += 6) {
		value |= (uint64_t)(table[at] & 0x3f) << shift;
		if (!(table[at++] & 0x40))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* 0: it is none. */
static uint32_t valid_line(int64_t line)
{
	return line > 0 && line <= INT_MAX ? (uint32_t)line : 0;
}

/* The line of the instruction at an offset into the code; 0: it has none. */
static uint32_t find_location(const uint8_t *table, size_t n, int64_t first_line, int64_t offset)
{
	int64_t line = first_line, end = 0;
	size_t at = 0;

	if (offset < 0)		/* not begun yet */
		return valid_line(first_line);
	while (at < n) {
		unsigned int kind = table[at] >> 3 & 0xf;

		end += ((table[at] & 7) + 1) * LINE_UNIT;
		if (kind == 13 || kind == 14)
			line += read_signed(table, n, at + 1);
		else if (kind >= 10 && kind <= 12)
			line += kind - 10;
		if (offset < end)
			return kind == 15 ? 0 : valid_line(line);
		do
			at++;
		while (at < n && !(table[at] & 0x80));
	}
	return 0;
}

/* 3.10: a pair for each run of instructions, its bytes and by how many lines it is on; -128: it is
 * of no line. */
static uint32_t find_range(const uint8_t *table, size_t n, int64_t first_line, int64_t offset)
{
	int64_t line = first_line, end = 0;

	if (offset < 0)
		return valid_line(first_line);
	for (size_t at = 0; at + 1 < n; at += 2) {
		const int8_t lines = (int8_t)table[at + 1];

		end += table[at];
		if (lines != INT8_MIN)
			line += lines;
		if (offset < end)
			return lines == INT8_MIN ? 0 : valid_line(line);
	}
	return 0;
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
	out->lines = malloc(size);
	if (!out->lines)
		return -ENOMEM;
	out->n_lines = read_kept(py, object, BYTES_DATA, out->lines, size) ? 0 : size;
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
	out->first_line = first_line;
	out->instructions = at + py->layout.at[CODE_INSTRUCTIONS];
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
			free(code.lines);
		if (!slot)
			return -ENOMEM;
		slot->value = py->code.n - 1;
	} else if (err) {
		free(code.lines);
		return err;
	}
	*out = &py->code.v[slot->value];
	return 0;
}

/* ---- frames --------------------------------------------------------------------------------- */

/* 3.10: frames are objects, and the interpreter is entered for each. */
static bool has_frame_objects(const struct python_layout *l)
{
	return l->minor <= 10;
}

/* Bytes of a frame up to the last field; too many: MAX_FRAME_BYTES + 1. */
static size_t frame_bytes(const struct python_layout *l)
{
	size_t n = l->at[FRAME_OWNER] + 1;

	for (int i = FRAME_PREVIOUS; i <= FRAME_INSTRUCTION; i++)
		if (n < l->at[i] + sizeof(uint64_t))
			n = l->at[i] + sizeof(uint64_t);
	return n <= MAX_FRAME_BYTES ? n : MAX_FRAME_BYTES + 1;
}

static void parse_frame(const struct python *py, uint64_t at, const char *raw,
			struct raw_frame *out)
{
	const uint32_t *offset = py->layout.at;

	out->at = at;
	memcpy(&out->previous, raw + offset[FRAME_PREVIOUS], sizeof(out->previous));
	memcpy(&out->code, raw + offset[FRAME_CODE], sizeof(out->code));
	memcpy(&out->instruction, raw + offset[FRAME_INSTRUCTION], sizeof(out->instruction));
	out->owner = (uint8_t)raw[offset[FRAME_OWNER]];
	out->is_entry = has_frame_objects(&py->layout) ||
			(offset[FRAME_IS_ENTRY] && raw[offset[FRAME_IS_ENTRY]]);
	out->code &= ~7ull;	/* 3.14: bits of a reference's kind */
}

/* Where the pointer to the innermost frame is; 0: nowhere. -EFAULT: it cannot be read. */
static int find_current(struct python *py, uint64_t state, uint64_t *at)
{
	uint64_t holder = state;

	if (py->layout.at[THREAD_CFRAME] && read_field(py, state, THREAD_CFRAME, &holder))
		return -EFAULT;
	*at = holder ? holder + py->layout.at[FRAME_CURRENT] : 0;
	return 0;
}

/* One by one. false: what is there is no stack of frames. */
static bool read_chain(struct python *py, uint64_t current, struct raw_chain *out)
{
	const size_t size = frame_bytes(&py->layout);
	uint64_t at;

	out->n = 0;
	if (size > MAX_FRAME_BYTES || read_now(py, current, &at, sizeof(at)))
		return false;
	while (at && out->n < MAX_STEPS) {
		char raw[MAX_FRAME_BYTES];

		if (read_now(py, at, raw, size))
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
	const size_t n = from->n, size = frame_bytes(&py->layout), total = n * size;
	struct iovec local = { py->raw, total + sizeof(uint64_t) }, remote[MAX_STEPS + 1];
	uint64_t innermost;
	size_t past = 0;

	for (size_t i = 0; i < n; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)from->frame[n - 1 - i].at, size };
	remote[n] = (struct iovec){ (void *)(uintptr_t)current, sizeof(innermost) };
	if (process_vm_readv(py->pid, &local, 1, remote, n + 1, 0) != (ssize_t)local.iov_len)
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

		if (read_thread_id(py, t->state, &id) || id != t->id)
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

/* A frame's instruction is the one it is in; before 3.13 it is the last that has begun; in 3.10 it
 * is a number of code units, in the lower half of what was read. */
static int add_frame(struct python *py, const struct raw_frame *raw, struct python_stack *out)
{
	const struct python_code *code;
	struct python_frame *f;
	int err = find_code(py, raw->code, &code);

	if (err)
		return err;
	f = VEC_PUSH(&out->frame);
	if (!f)
		return -ENOMEM;
	*f = code->names;
	f->is_entry = raw->is_entry;
	f->line = has_frame_objects(&py->layout) ?
			  find_range(code->lines, code->n_lines, code->first_line,
				     (int32_t)raw->instruction * (int64_t)LINE_UNIT) :
			  find_location(code->lines, code->n_lines, code->first_line,
					(int64_t)(raw->instruction - code->instructions));
	return 0;
}

/* A frame that cannot be read makes the whole stack unknown. */
static int read_stack(struct python *py, const struct python_thread *t, struct python_stack *out)
{
	const uint8_t shim = py->layout.shim_owner;
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
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", py->pid, tid);
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

	for (size_t i = 0; id && i < py->thread.n && !err && !out->frame.n; i++)
		if (py->thread.v[i].id == id && states++ < MAX_STATES)
			err = read_stack(py, &py->thread.v[i], out);
	return err;
}

/* Every state points back to its interpreter, which shows a wrong layout. */
static int add_threads(struct python *py, uint64_t interpreter)
{
	uint64_t state, back;

	if (read_field(py, interpreter, INTERPRETER_THREADS, &state))
		return -EFAULT;
	for (unsigned int i = 0; state && i < MAX_THREADS; i++) {
		struct python_thread t = { .state = state }, *kept;

		if (read_field(py, state, THREAD_INTERPRETER, &back) || back != interpreter ||
		    read_thread_id(py, state, &t.id) ||
		    read_field(py, state, THREAD_NEXT, &state))
			return -EFAULT;
		kept = VEC_PUSH(&py->thread);
		if (!kept)
			return -ENOMEM;
		*kept = t;
	}
	return 0;
}

/* A list that changes while it is read may end early: what is there till then is taken. */
static int read_threads(struct python *py, uint64_t runtime)
{
	uint64_t interpreter;
	int err = read_field(py, runtime, RUNTIME_INTERPRETERS, &interpreter);

	py->thread.n = 0;
	for (unsigned int i = 0; !err && interpreter && i < MAX_INTERPRETERS &&
	     py->thread.n < MAX_THREADS; i++) {
		err = add_threads(py, interpreter);
		if (!err)
			err = read_field(py, interpreter, INTERPRETER_NEXT, &interpreter);
	}
	if (err == -ENOMEM)
		return err;
	return py->thread.n ? 0 : -ENOENT;
}

/* ---- versions ------------------------------------------------------------------------------- */

/* The version is PY_VERSION_HEX: 0x030d00f0 is 3.13.0. Alphas and betas (0xa0, 0xb0) had other
 * structs. */
static int read_debug_offsets(struct python *py, uint64_t runtime, const struct python_layout *l,
			      const uint64_t head[3])
{
	if (head[1] >> 24 != 3 || (head[1] >> 16 & 0xff) != l->minor || (head[1] & 0xf0) < 0xc0 ||
	    head[2])
		return -ENOENT;
	py->layout = *l;
	for (int i = 0; i < N_FIELDS; i++) {
		uint64_t offset;

		if (!l->at[i])
			continue;
		if (read_now(py, runtime + l->at[i], &offset, sizeof(offset)) ||
		    offset >= MAX_OFFSET)
			return -ENOENT;
		py->layout.at[i] = (uint32_t)offset;
	}
	return read_threads(py, runtime);
}

/* 0, -ENOENT or -ENOMEM. */
static int choose_layout(struct python *py, uint64_t runtime)
{
	uint64_t head[3];	/* cookie, version, whether it is free-threaded */
	int err = read_now(py, runtime, head, sizeof(head)) ? -EFAULT : -ENOENT;
	bool has_cookie = err == -ENOENT && !memcmp(head, "xdebugpy", sizeof(head[0]));

	for (size_t i = 0; i < N_LAYOUTS && err == -ENOENT; i++) {
		if (layouts[i].in_debug_offsets != has_cookie)
			continue;
		if (has_cookie) {
			err = read_debug_offsets(py, runtime, &layouts[i], head);
		} else {
			py->layout = layouts[i];
			err = read_threads(py, runtime);
		}
	}
	return err;
}

struct search {			/* for _PyRuntime, which has a section of its own */
	struct python *py;
	const struct stack_modules *modules;
	char exe[PATH_MAX];
};

/* libpython3.11.so.1.0, python3.11, or a program with CPython in it. */
static bool may_hold_python(const struct search *s, const struct target_mapping *m)
{
	const char *name = str_basename(m->path);

	return m->code && m->ino && (!strncmp(name, "libpython3", 10) || !strcmp(m->path, s->exe));
}

static uint64_t find_runtime(const struct search *s, const struct target_mapping *m)
{
	const struct stack_module *module =
		stack_find_module(s->modules->module.v, s->modules->module.n, m->start);
	int fd = module && module->bias_known ? target_mapping_open(m) : -1;
	struct elf_file *ef = fd < 0 ? NULL : elf_file_open(fd, m->path);
	uint64_t at = ef ? elf_section_address(ef, ".PyRuntime") : 0;

	elf_file_close(ef);
	if (fd >= 0)
		close(fd);
	return at ? module->bias + at : 0;
}

/* 1: found. */
static int visit_mapping(void *ctx, const struct target_mapping *m)
{
	const struct search *s = ctx;
	uint64_t runtime = may_hold_python(s, m) ? find_runtime(s, m) : 0;
	int err = runtime ? choose_layout(s->py, runtime) : -ENOENT;

	if (err == -ENOMEM)
		return err;
	return err ? 0 : 1;
}

struct python *python_new(pid_t pid, const struct stack_modules *modules,
			  struct stack_memory *memory, struct strpool *names)
{
	struct python *py = calloc(1, sizeof(*py));
	struct search s = { .py = py, .modules = modules };
	char path[64], *status;
	int found;

	if (!py)
		return NULL;
	py->pid = pid;
	py->memory = memory;
	py->names = names;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (readlink(path, s.exe, sizeof(s.exe) - 1) < 0)
		*s.exe = '\0';
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = io_read_file(path, MAX_STATUS, NULL);
	py->has_inner_ids = status && proc_inner_pid(status);
	free(status);
	found = target_each_mapping(pid, visit_mapping, &s);
	if (found > 0)
		return py;
	python_free(py);
	errno = found == -ENOMEM ? ENOMEM : ENOENT;
	return NULL;
}

void python_free(struct python *py)
{
	if (!py)
		return;
	for (size_t i = 0; i < py->code.n; i++)
		free(py->code.v[i].lines);
	VEC_FREE(&py->code);
	VEC_FREE(&py->thread);
	map_free(&py->code_at);
	free(py);
}
