// SPDX-License-Identifier: BSD-3-Clause
/*
 * Prints a snapshot of stacks. Text, a thread each, its call or wait and then its frames from
 * the innermost on:
 *
 *   thread 26322 (train) of process 26322: in cudaStreamSynchronize (sync), S, 1.337 s on CPUs
 *     in clock_nanosleep, wchan hrtimer_nanosleep
 *      0  clock_nanosleep+0x63         libc.so.6
 *      1  cudaStreamSynchronize+0x1f   libcudart.so.13
 *
 * Python functions stand below the frame of the interpreter that runs them:
 *
 *      7  _PyEval_EvalFrameDefault+0x5a2c  libpython3.11.so.1.0
 *         Trainer.step                     /srv/train.py:212
 */
#include "view/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "view/color.h"
#include "view/render.h"

enum { PID, TID, COMM, STATE, WCHAN, SYSCALL, FILE_NAME, CALL, CLASS, CPU, STACK, FRAMES,
       N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[TID] = { "tid", NULL, CELL_ID, 0, ROLE_KEY, "thread id on the host" },
	[COMM] = { "comm", NULL, CELL_TEXT, 0, ROLE_LABEL, "name of the thread" },
	[STATE] = { "state", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"state of the thread, as in /proc: R, S, D, T, Z" },
	[WCHAN] = { "wchan", NULL, CELL_TEXT, 0, ROLE_LABEL, "kernel function that it sleeps in" },
	[SYSCALL] = { "syscall", NULL, CELL_TEXT, 0, ROLE_LABEL, "system call that it is in" },
	[FILE_NAME] = { "file", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"file that the system call waits for" },
	[CALL] = { "call", NULL, CELL_TEXT, 0, ROLE_LABEL, "call of a GPU library that it is in" },
	[CLASS] = { "class", NULL, CELL_TEXT, 0, ROLE_LABEL, "class of the call" },
	[CPU] = { "cpu_ns", NULL, CELL_NS, 0, ROLE_SUM, "CPU time that it has used" },
	[STACK] = { "stack", NULL, CELL_TEXT, 0, ROLE_LABEL, "how much of the stack is known" },
	[FRAMES] = { "frames", NULL, CELL_TEXT, 0, ROLE_LABEL, "functions, innermost first" },
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

static void print_frame(struct strbuf *out, size_t i, const struct stack_frame *f)
{
	size_t start = out->len;

	strbuf_addf(out, "  %3zu  ", i);
	if (f->function)
		format_safef(out, "%s+0x%" PRIx64, f->function, f->offset);
	else
		strbuf_addf(out, "0x%" PRIx64, f->address);
	do
		strbuf_addch(out, ' ');
	while (out->len - start < 48 && !out->failed);
	if (f->module)
		format_safef(out, "%s", f->module);
	if (f->module && !f->function)
		strbuf_addf(out, "+0x%" PRIx64, f->offset);
	strbuf_addf(out, "%s%s\n", f->guessed ? " (by frame pointer)" : "",
		    f->signal ? " (signal handler returns here)" : "");
}

static void print_python_frame(struct strbuf *out, const struct python_frame *f)
{
	const size_t start = out->len;

	format_safef(out, "       %s", f->function);
	do
		strbuf_addch(out, ' ');
	while (out->len - start < 48 && !out->failed);
	format_safef(out, "%s", f->file);
	if (f->line)
		strbuf_addf(out, ":%" PRIu32, f->line);
	strbuf_addch(out, '\n');
}

/* Does each frame of the interpreter have its own Python functions? Otherwise the two are of
 * different moments, or frames are missing. */
static bool is_python_placed(const struct stack_thread *t)
{
	size_t native = 0, python = 0;

	for (size_t i = 0; i < t->n_frames; i++)
		native += stack_frame_is_interpreter(&t->frames[i]);
	for (size_t i = 0; i < t->python.frame.n; i++)
		python += t->python.frame.v[i].is_entry;
	return native == python;
}

static void print_frames(struct strbuf *out, const struct stack_thread *t)
{
	const bool is_placed = is_python_placed(t);
	const struct python_frame *python = t->python.frame.v;
	size_t k = 0, n = t->python.frame.n;

	for (size_t i = 0; i < t->n_frames; i++) {
		print_frame(out, i, &t->frames[i]);
		if (!stack_frame_is_interpreter(&t->frames[i]))
			continue;
		while (k < n) {
			print_python_frame(out, &python[k]);
			if (python[k++].is_entry && is_placed)
				break;
		}
	}
	while (k < n)
		print_python_frame(out, &python[k++]);
}

static void print_wait(struct strbuf *out, const struct stack_thread *t)
{
	if (!t->syscall && !t->wchan)
		return;
	strbuf_addstr(out, "  ");
	if (t->syscall)
		strbuf_addf(out, "in %s", t->syscall);
	if (t->file)
		format_safef(out, " of %s", t->file);
	if (t->wchan)
		format_safef(out, "%swchan %s", t->syscall ? ", " : "", t->wchan);
	strbuf_addch(out, '\n');
}

static void print_thread(struct strbuf *out, const struct stack_thread *t, bool has_color)
{
	const size_t from = out->len;

	format_safef(out, "thread %d (%s) of process %d: ", t->tid, t->comm, t->pid);
	if (t->call)
		strbuf_addf(out, "in %s (%s), ", t->call, t->class);
	strbuf_addf(out, "state %c", t->state ? t->state : '?');
	if (t->cpu_known)
		strbuf_addf(out, ", %s on CPUs", ns_text(t->cpu_ns).s);
	strbuf_addch(out, '\n');
	if (has_color)
		line_color_from(out, from, LINE_BOLD);
	print_wait(out, t);
	print_frames(out, t);
	if (notes[t->quality])
		strbuf_addf(out, "       %s\n", notes[t->quality]);
	if (t->quality == STACK_IS_RUNNING && !t->to_top)
		strbuf_addf(out, "       %s\n", notes[STACK_IS_CUT]);
}

/* ---- json --------------------------------------------------------------------------------- */

static void add_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_addf(out, ", \"%s\": ", key);
	if (text)
		render_json_string(out, text);
	else
		strbuf_addstr(out, "null");
}

static void add_frame(struct strbuf *out, const struct stack_frame *f)
{
	strbuf_addf(out, "{\"address\": %" PRIu64, f->address);
	add_text(out, "function", f->function);
	strbuf_addf(out, ", \"offset\": %" PRIu64, f->offset);
	add_text(out, "module", f->module);
	add_text(out, "build_id", f->build_id);
	strbuf_addf(out, ", \"signal\": %s, \"by\": \"%s\"}", f->signal ? "true" : "false",
		    f->guessed ? "frame-pointer" : "table");
}

/* null: no thread of Python, or unknown */
static void add_python(struct strbuf *out, const struct stack_thread *t)
{
	strbuf_addstr(out, t->python.frame.n ? ", \"python\": [" : ", \"python\": null");
	for (size_t i = 0; i < t->python.frame.n; i++) {
		const struct python_frame *f = &t->python.frame.v[i];

		strbuf_addstr(out, i ? ",\n     {\"file\": " : "\n     {\"file\": ");
		render_json_string(out, f->file);
		if (f->line)
			strbuf_addf(out, ", \"line\": %" PRIu32, f->line);
		else
			strbuf_addstr(out, ", \"line\": null");
		add_text(out, "function", f->function);
		strbuf_addch(out, '}');
	}
	strbuf_addstr(out, t->python.frame.n ? "]" : "");
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
	if (t->cpu_known)
		strbuf_addf(out, ", \"cpu_ns\": %" PRIu64, t->cpu_ns);
	else
		strbuf_addstr(out, ", \"cpu_ns\": null");
	add_text(out, "stack", stack_quality_name(t->quality));
	strbuf_addstr(out, ", \"frames\": [");
	for (size_t i = 0; i < t->n_frames; i++) {
		strbuf_addstr(out, i ? ",\n     " : "\n     ");
		add_frame(out, &t->frames[i]);
	}
	strbuf_addstr(out, "]");
	add_python(out, t);
	strbuf_addstr(out, "}");
}

static void add_all_json(struct strbuf *out, const struct stack_snapshot *s,
			 const struct meta *meta)
{
	strbuf_addstr(out, "{\"schema_version\": 1,\n \"meta\": ");
	render_json_meta(out, meta);
	strbuf_addstr(out, ",\n \"tables\": {\n  \"stacks\": [");
	for (size_t i = 0; i < stack_snapshot_threads(s); i++) {
		strbuf_addstr(out, i ? ",\n   " : "\n   ");
		add_thread(out, stack_snapshot_thread(s, i));
	}
	strbuf_addstr(out, "\n  ]\n }}\n");
}

/* ---- table -------------------------------------------------------------------------------- */

/* "main;work;read" */
static void fill_frames(struct table *t, struct cell *c, const struct stack_thread *thread)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = thread->n_frames; i-- > 0;) {
		const struct stack_frame *f = &thread->frames[i];

		if (f->function)
			strbuf_addstr(&sb, f->function);
		else
			strbuf_addf(&sb, "0x%" PRIx64, f->address);
		if (i)
			strbuf_addch(&sb, ';');
	}
	cell_text(t, c, &sb);
}

static void add_row(struct table *t, const struct stack_thread *thread)
{
	struct cell *row = table_row(t);

	cell_u(&row[PID], (uint64_t)thread->pid);
	cell_u(&row[TID], (uint64_t)thread->tid);
	if (thread->cpu_known)
		cell_u(&row[CPU], thread->cpu_ns);
	cell_s(t, &row[COMM], thread->comm);
	if (thread->state)
		cell_f(t, &row[STATE], "%c", thread->state);
	cell_s(t, &row[WCHAN], thread->wchan);
	cell_s(t, &row[SYSCALL], thread->syscall);
	cell_s(t, &row[FILE_NAME], thread->file);
	cell_s(t, &row[CALL], thread->call);
	cell_s(t, &row[CLASS], thread->class);
	cell_s(t, &row[STACK], stack_quality_name(thread->quality));
	fill_frames(t, &row[FRAMES], thread);
}

int view_stacks(struct strbuf *out, const struct stack_snapshot *s, const struct meta *meta,
		enum format format, bool has_color)
{
	struct table *t;
	int err = 0;

	if (format == FORMAT_TEXT) {
		for (size_t i = 0; i < stack_snapshot_threads(s); i++) {
			strbuf_addstr(out, i ? "\n" : "");
			print_thread(out, stack_snapshot_thread(s, i), has_color);
		}
		return 0;
	}
	if (format == FORMAT_JSON) {
		add_all_json(out, s, meta);
		return 0;
	}
	t = table_new("stacks", columns, N_COLUMNS);
	if (!t)
		return -errno;
	for (size_t i = 0; i < stack_snapshot_threads(s); i++)
		add_row(t, stack_snapshot_thread(s, i));
	if (t->failed)
		err = -ENOMEM;
	else
		report_render(out, &(struct report){ .meta = meta, .tables = &t, .n_tables = 1 },
			      format);
	table_free(t);
	return err;
}
