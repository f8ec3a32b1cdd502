// SPDX-License-Identifier: BSD-3-Clause
/*
 * Prints a snapshot of stacks. Text, a thread each, its call or wait and then its frames from
 * the innermost on:
 *
 *   thread 26322 (train) of process 26322: in cudaStreamSynchronize (sync), S, 1.337 s on CPUs
 *     in clock_nanosleep, wchan hrtimer_nanosleep
 *      0  clock_nanosleep+0x63         libc.so.6
 *      1  cudaStreamSynchronize+0x1f   libcudart.so.13
 */
#include "view/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/format.h"
#include "view/render.h"

enum { PID, TID, COMM, STATE, WCHAN, SYSCALL, FILE_NAME, CALL, CLASS, CPU, STACK, FRAMES,
       N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY,
		"process id on the host" },
	[TID] = { "tid", NULL, CELL_ID, 0, ROLE_KEY,
		"thread id on the host" },
	[COMM] = { "comm", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"name of the thread" },
	[STATE] = { "state", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"state of the thread, as in /proc: R, S, D, T, Z" },
	[WCHAN] = { "wchan", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"kernel function that it sleeps in" },
	[SYSCALL] = { "syscall", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"system call that it is in" },
	[FILE_NAME] = { "file", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"file that the system call waits for" },
	[CALL] = { "call", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"call of a GPU library that it is in" },
	[CLASS] = { "class", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"class of the call" },
	[CPU] = { "cpu_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"CPU time that it has used" },
	[STACK] = { "stack", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"how much of the stack is known" },
	[FRAMES] = { "frames", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"functions, innermost first" },
};

static const char *const notes[] = {
	[STACK_IS_NONE] = "no stack: it could not be read",
	[STACK_IS_WHOLE] = NULL,
	[STACK_IS_CUT] = "...: what called this cannot be told",
	[STACK_IS_DEEP] = "...: deeper than is shown",
	[STACK_IS_RUNNING] =
		"it was running: this is where it was at its last entry into the kernel",
};

/* ---- text --------------------------------------------------------------------------------- */

static void add_function(struct strbuf *out, const struct stack_frame *f)
{
	if (f->function) {
		format_safe(out, f->function);
		strbuf_addf(out, "+0x%" PRIx64, f->offset);
	} else {
		strbuf_addf(out, "0x%" PRIx64, f->address);
	}
}

static void print_frame(struct strbuf *out, size_t i, const struct stack_frame *f)
{
	size_t start = out->len;

	strbuf_addf(out, "  %3zu  ", i);
	add_function(out, f);
	do
		strbuf_addch(out, ' ');
	while (out->len - start < 48 && !out->failed);
	if (f->module)
		format_safe(out, f->module);
	if (f->module && !f->function)
		strbuf_addf(out, "+0x%" PRIx64, f->offset);
	if (f->guessed)
		strbuf_addstr(out, " (by frame pointer)");
	if (f->signal)
		strbuf_addstr(out, " (signal handler returns here)");
	strbuf_addch(out, '\n');
}

static void print_wait(struct strbuf *out, const struct stack_thread *t)
{
	if (!t->syscall && !t->wchan)
		return;
	strbuf_addstr(out, "  ");
	if (t->syscall)
		strbuf_addf(out, "in %s", t->syscall);
	if (t->file) {
		strbuf_addstr(out, " of ");
		format_safe(out, t->file);
	}
	if (t->wchan) {
		strbuf_addstr(out, t->syscall ? ", wchan " : "wchan ");
		format_safe(out, t->wchan);
	}
	strbuf_addch(out, '\n');
}

static void print_thread(struct strbuf *out, const struct stack_thread *t)
{
	strbuf_addf(out, "thread %d (", t->tid);
	format_safe(out, t->comm);
	strbuf_addf(out, ") of process %d: ", t->pid);
	if (t->call)
		strbuf_addf(out, "in %s (%s), ", t->call, t->class);
	strbuf_addf(out, "state %c", t->state ? t->state : '?');
	if (t->cpu_known) {
		strbuf_addstr(out, ", ");
		format_ns(out, t->cpu_ns);
		strbuf_addstr(out, " on CPUs");
	}
	strbuf_addch(out, '\n');
	print_wait(out, t);
	for (size_t i = 0; i < t->n_frames; i++)
		print_frame(out, i, &t->frames[i]);
	if (notes[t->quality])
		strbuf_addf(out, "       %s\n", notes[t->quality]);
	if (t->quality == STACK_IS_RUNNING && !t->to_top)
		strbuf_addf(out, "       %s\n", notes[STACK_IS_CUT]);
}

static void add_all_text(struct strbuf *out, const struct stack_snapshot *s)
{
	for (size_t i = 0; i < stack_snapshot_threads(s); i++) {
		if (i)
			strbuf_addch(out, '\n');
		print_thread(out, stack_snapshot_thread(s, i));
	}
}

/* ---- json --------------------------------------------------------------------------------- */

static void add_key(struct strbuf *out, const char *key)
{
	strbuf_addf(out, ", \"%s\": ", key);
}

static void add_text(struct strbuf *out, const char *key, const char *text)
{
	add_key(out, key);
	if (text)
		render_json_string(out, text);
	else
		strbuf_addstr(out, "null");
}

static void add_frame(struct strbuf *out, const struct stack_frame *f)
{
	strbuf_addf(out, "{\"address\": %" PRIu64, f->address);
	add_text(out, "function", f->function);
	add_key(out, "offset");
	strbuf_addf(out, "%" PRIu64, f->offset);
	add_text(out, "module", f->module);
	add_text(out, "build_id", f->build_id);
	strbuf_addf(out, ", \"signal\": %s, \"by\": \"%s\"}", f->signal ? "true" : "false",
		    f->guessed ? "frame-pointer" : "table");
}

static void add_thread(struct strbuf *out, const struct stack_thread *t)
{
	char state[2] = { t->state };

	strbuf_addf(out, "{\"pid\": %d, \"tid\": %d", t->pid, t->tid);
	add_text(out, "comm", t->comm);
	add_text(out, "state", t->state ? state : NULL);
	add_text(out, "wchan", t->wchan);
	add_text(out, "syscall", t->syscall);
	add_text(out, "file", t->file);
	add_text(out, "call", t->call);
	add_text(out, "class", t->class);
	add_text(out, "library", t->library);
	add_key(out, "cpu_ns");
	if (t->cpu_known)
		strbuf_addf(out, "%" PRIu64, t->cpu_ns);
	else
		strbuf_addstr(out, "null");
	add_text(out, "stack", stack_quality_name(t->quality));
	add_key(out, "frames");
	strbuf_addch(out, '[');
	for (size_t i = 0; i < t->n_frames; i++) {
		strbuf_addstr(out, i ? ",\n     " : "\n     ");
		add_frame(out, &t->frames[i]);
	}
	strbuf_addstr(out, "]}");
}

static void add_all_json(struct strbuf *out, const struct stack_snapshot *s,
			 const struct meta *meta)
{
	size_t n = stack_snapshot_threads(s);

	strbuf_addstr(out, "{\"schema_version\": 1,\n \"meta\": ");
	render_json_meta(out, meta);
	strbuf_addstr(out, ",\n \"tables\": {\n  \"stacks\": [");
	for (size_t i = 0; i < n; i++) {
		strbuf_addstr(out, i ? ",\n   " : "\n   ");
		add_thread(out, stack_snapshot_thread(s, i));
	}
	strbuf_addstr(out, "\n  ]\n }}\n");
}

/* ---- table -------------------------------------------------------------------------------- */

static int add_folded(struct table *t, struct cell *c, const struct stack_thread *thread)
{
	struct strbuf sb = STRBUF_INIT;
	int err;

	for (size_t i = thread->n_frames; i-- > 0;) {
		const struct stack_frame *f = &thread->frames[i];

		if (f->function)
			strbuf_addstr(&sb, f->function);
		else
			strbuf_addf(&sb, "0x%" PRIx64, f->address);
		if (i)
			strbuf_addch(&sb, ';');
	}
	err = sb.failed ? -ENOMEM : cell_s(t, c, sb.len ? sb.s : NULL);
	strbuf_free(&sb);
	return err;
}

static int add_row(struct table *t, const struct stack_thread *thread)
{
	char state[2] = { thread->state };
	const struct {
		unsigned int column;
		const char *text;
	} texts[] = {
		{ COMM, thread->comm }, { STATE, thread->state ? state : NULL },
		{ WCHAN, thread->wchan }, { SYSCALL, thread->syscall }, { FILE_NAME, thread->file },
		{ CALL, thread->call }, { CLASS, thread->class },
		{ STACK, stack_quality_name(thread->quality) },
	};
	struct cell *row = table_row(t);
	int err = row ? 0 : -ENOMEM;

	if (err)
		return err;
	cell_u(&row[PID], (uint64_t)thread->pid);
	cell_u(&row[TID], (uint64_t)thread->tid);
	if (thread->cpu_known)
		cell_u(&row[CPU], thread->cpu_ns);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !err; i++)
		err = cell_s(t, &row[texts[i].column], texts[i].text);
	return err ? err : add_folded(t, &row[FRAMES], thread);
}

static struct table *fill_table(const struct stack_snapshot *s)
{
	struct table *t = table_new("stacks", columns, N_COLUMNS);
	int err = 0;

	if (!t)
		return NULL;
	for (size_t i = 0; i < stack_snapshot_threads(s) && !err; i++)
		err = add_row(t, stack_snapshot_thread(s, i));
	if (!err)
		return t;
	table_free(t);
	errno = -err;
	return NULL;
}

int view_stacks(struct strbuf *out, const struct stack_snapshot *s, const struct meta *meta,
		enum format format)
{
	struct table *t = NULL;

	if (format == FORMAT_TEXT) {
		add_all_text(out, s);
	} else if (format == FORMAT_JSON) {
		add_all_json(out, s, meta);
	} else {
		t = fill_table(s);
		if (!t)
			return -errno;
		report_render(out, &(struct report){ .meta = meta, .tables = &t, .n_tables = 1 },
			      format);
		table_free(t);
	}
	return 0;
}
