// SPDX-License-Identifier: BSD-3-Clause
/* Groups of threads whose stacks are alike, and what the processes' states say together. */
#include "view/stacks_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "host/proc.h"
#include "view/color.h"
#include "view/render.h"

#define OUTER_FRAMES 6	/* that are named, next to the call */
#define NAMED_MAX 16	/* ranks or pids in a list */

struct group {			/* of threads that are alike */
	const struct stack_thread *first;
	size_t n;
};

struct screen {
	const struct stack_snapshot *s;
	const struct stacks_process *processes;
	size_t n_processes;
	struct group *groups;		/* those that wait in no call last */
	size_t n_groups;
	size_t *group_of;		/* of each thread; NOT_SHOWN */
	size_t hidden;			/* threads that are in none */
	bool has_color;
	struct strbuf *out;
};

#define NOT_SHOWN SIZE_MAX

/* ---- threads --------------------------------------------------------------------------------- */

/* What CUDA and gpuprof's helper start for themselves. */
static bool is_own(const struct stack_thread *t)
{
	return !t->call && (!strncmp(t->comm, "cuda", 4) || !strncmp(t->comm, "gpuprof", 7));
}

static bool are_python_alike(const struct python_stack *a, const struct python_stack *b)
{
	if (a->frame.n != b->frame.n)
		return false;
	for (size_t i = 0; i < a->frame.n; i++) {
		const struct python_frame *x = &a->frame.v[i], *y = &b->frame.v[i];

		if (x->line != y->line || strcmp(x->function, y->function) != 0 ||
		    strcmp(x->file, y->file) != 0)
			return false;
	}
	return true;
}

static bool are_alike(const struct stack_thread *a, const struct stack_thread *b)
{
	if (a->state != b->state || a->row != b->row || a->n_frames != b->n_frames ||
	    strcmp(a->comm, b->comm) != 0 || !are_python_alike(&a->python, &b->python))
		return false;
	for (size_t i = 0; i < a->n_frames; i++) {
		const char *x = a->frames[i].function, *y = b->frames[i].function;

		if (!x || !y ? x != y : strcmp(x, y) != 0)
			return false;
	}
	return true;
}

static void find_groups(struct screen *sc, bool all_threads)
{
	for (size_t i = 0; i < stack_snapshot_threads(sc->s); i++) {
		const struct stack_thread *t = stack_snapshot_thread(sc->s, i);
		size_t at = 0;

		sc->group_of[i] = NOT_SHOWN;
		if (!all_threads && is_own(t)) {
			sc->hidden++;
			continue;
		}
		while (at < sc->n_groups && !are_alike(sc->groups[at].first, t))
			at++;
		if (at == sc->n_groups)
			sc->groups[sc->n_groups++] = (struct group){ .first = t };
		sc->groups[at].n++;
		sc->group_of[i] = at;
	}
}

/* ---- processes ------------------------------------------------------------------------------- */

enum doing {			/* of a process, by bits */
	IS_STOPPED = 1,
	IN_COLLECTIVE = 2,	/* which it has not launched yet */
	IN_SYNC = 4,
	IS_ELSEWHERE = 8,	/* and has a rank */
};

static enum doing doing_of(const struct screen *sc, const struct stacks_process *p)
{
	enum doing doing = p->rank >= 0 ? IS_ELSEWHERE : 0;

	for (size_t i = 0; i < stack_snapshot_threads(sc->s); i++) {
		const struct stack_thread *t = stack_snapshot_thread(sc->s, i);

		if (t->pid != p->pid)
			continue;
		if (proc_is_stopped(t->state))
			return IS_STOPPED;
		if (t->class && !strcmp(t->class, "collective"))
			doing = IN_COLLECTIVE;
		else if (t->class && !strcmp(t->class, "sync") && doing != IN_COLLECTIVE)
			doing = IN_SYNC;
	}
	return doing;
}

/* "ranks 0, 1, 3 (pids 400, 401, 403)", "pid 402"; of those for which wanted. */
static void add_list(struct screen *sc, const bool *wanted, bool with_pids)
{
	size_t n = 0, ranked = 0, at = 0;

	for (size_t i = 0; i < sc->n_processes; i++) {
		n += wanted[i];
		ranked += wanted[i] && sc->processes[i].rank >= 0;
	}
	if (ranked == n) {
		strbuf_addf(sc->out, "rank%s", n > 1 ? "s" : "");
		for (size_t i = 0; i < sc->n_processes; i++)
			if (wanted[i] && at++ < NAMED_MAX)
				strbuf_addf(sc->out, "%s %" PRId64, at > 1 ? "," : "",
					    sc->processes[i].rank);
		if (n > NAMED_MAX)
			strbuf_addf(sc->out, " and %zu more", n - NAMED_MAX);
		if (!with_pids)
			return;
		strbuf_addstr(sc->out, " (");
	}
	strbuf_addf(sc->out, "pid%s", n > 1 ? "s" : "");
	at = 0;
	for (size_t i = 0; i < sc->n_processes; i++)
		if (wanted[i] && at++ < NAMED_MAX)
			strbuf_addf(sc->out, "%s %d", at > 1 ? "," : "", sc->processes[i].pid);
	if (n > NAMED_MAX)
		strbuf_addf(sc->out, " and %zu more", n - NAMED_MAX);
	if (ranked == n)
		strbuf_addch(sc->out, ')');
}

/* Those that do one of these; returns how many there are. */
static size_t mark(const struct screen *sc, unsigned int doing, bool *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < sc->n_processes; i++) {
		wanted[i] = doing_of(sc, &sc->processes[i]) & doing;
		n += wanted[i];
	}
	return n;
}

static bool are_ranked(const struct screen *sc, const bool *wanted)
{
	for (size_t i = 0; i < sc->n_processes; i++)
		if (wanted[i] && sc->processes[i].rank < 0)
			return false;
	return true;
}

static void color_from(struct screen *sc, size_t from, enum line_color color)
{
	if (sc->has_color)
		line_color_from(sc->out, from, color);
}

/* What one look shows: a process that is stopped, or ranks of which some wait and some do not. */
static void add_sentence(struct screen *sc, bool *waits, bool *others)
{
	size_t n_waits = mark(sc, IN_COLLECTIVE | IN_SYNC, waits), n;
	const size_t stopped = mark(sc, IS_STOPPED, others);
	const char *where = "in no call that waits";
	const size_t from = sc->out->len;

	if (stopped) {
		if (!are_ranked(sc, waits) || !are_ranked(sc, others))
			n_waits = 0;	/* they may have nothing to do with each other */
		if (n_waits) {
			strbuf_addstr(sc->out, "This job hangs: ");
			add_list(sc, waits, false);
			strbuf_addf(sc->out, " wait%s for ", n_waits > 1 ? "" : "s");
		}
		add_list(sc, others, true);
		strbuf_addf(sc->out, "%s %s STOPPED by a signal or a debugger.\n",
			    n_waits ? ", which" : "", stopped > 1 ? "are" : "is");
		color_from(sc, from, n_waits ? LINE_BOLD_RED : LINE_BOLD);
		strbuf_addstr(sc->out, "Go on with: kill -CONT");
		for (size_t i = 0; i < sc->n_processes; i++)
			if (others[i])
				strbuf_addf(sc->out, " %d", sc->processes[i].pid);
		strbuf_addstr(sc->out, "\n\n");
		return;
	}
	n = mark(sc, IS_ELSEWHERE, others);
	if (!n) {
		n = mark(sc, IN_COLLECTIVE, others);
		n_waits = mark(sc, IN_SYNC, waits);
		where = "in a collective that it has not launched yet";
	}
	if (!n_waits || !n || !are_ranked(sc, waits) || !are_ranked(sc, others))
		return;
	add_list(sc, waits, false);
	strbuf_addf(sc->out, " wait%s in a call; ", n_waits > 1 ? "" : "s");
	add_list(sc, others, true);
	strbuf_addf(sc->out, " %s %s.\nIf that lasts, this job hangs: the others wait for %s.\n\n",
		    n > 1 ? "are" : "is", where, n > 1 ? "these" : "it");
	color_from(sc, from, LINE_BOLD);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static const char *state_text(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "asleep";
	case 'D':
		return "asleep in the kernel, which no signal ends";
	case 'T':
		return "STOPPED by a signal";
	case 't':
		return "STOPPED by a debugger";
	case 'Z':
		return "ended, and not waited for by its parent";
	default:
		return "in an unknown state";
	}
}

static void add_function(struct strbuf *out, const struct stack_frame *f)
{
	if (f->function)
		format_safef(out, "%s", f->function);
	else if (f->module)
		format_safef(out, "%s+0x%" PRIx64, f->module, f->offset);
	else
		strbuf_addf(out, "0x%" PRIx64, f->address);
}

/* " > 9 frames of libnccl.so.2, libgpusim.so": those inside of the call */
static void add_inner(struct strbuf *out, const struct stack_thread *t, size_t n)
{
	const char *modules[4] = { NULL };
	size_t n_modules = 0;

	if (!n)
		return;
	strbuf_addf(out, " > %zu frame%s", n, n > 1 ? "s" : "");
	for (size_t i = n; i-- > 0;) {
		const char *module = t->frames[i].module;
		size_t at = 0;

		while (at < n_modules && module && strcmp(modules[at], module) != 0)
			at++;
		if (!module || at < n_modules || n_modules == sizeof(modules) / sizeof(modules[0]))
			continue;
		format_safef(out, "%s%s", n_modules ? ", " : " of ", module);
		modules[n_modules++] = module;
	}
}

/* How a thread begins, before the program's own code. */
static bool is_start(const struct stack_frame *f)
{
	static const char *const names[] = { "_start", "__libc_start_main", "clone", "clone3",
					     "start_thread" };

	for (size_t i = 0; f->function && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(f->function, names[i]))
			return true;
	return !f->function && f->module && !strncmp(f->module, "libc.", 5);
}

/* How the interpreter calls a function of C: nothing that the program does. */
static bool is_calling(const struct stack_frame *f)
{
	static const char *const begin[] = { "PyObject_", "_PyObject_", "cfunction_vectorcall",
					     "method_vectorcall", "_PyFunction_Vectorcall",
					     "_PyVectorcall_", "PyVectorcall_" };

	for (size_t i = 0; f->function && i < sizeof(begin) / sizeof(begin[0]); i++)
		if (!strncmp(f->function, begin[i], strlen(begin[i])))
			return true;
	return false;
}

/* How many frames are inside of the innermost Python function, without those by which it calls,
 * down to the frame of the call; n_frames where the interpreter's frame is not known. */
static size_t inside_python(const struct stack_thread *t, size_t call)
{
	size_t n = 0;

	while (n < t->n_frames && !stack_frame_is_interpreter(&t->frames[n]))
		n++;
	if (n == t->n_frames)
		return n;
	while (n > call + 1 && is_calling(&t->frames[n - 1]))
		n--;
	return n;
}

/* How Python begins a thread, or a program with -m. */
static bool is_python_start(const struct python_frame *f)
{
	static const char *const names[] = { "run", "_bootstrap_inner", "_bootstrap" };
	const char *name = f->function + (strncmp(f->function, "Thread.", 7) ? 0 : 7);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return str_ends_in(f->file, "/threading.py");
	return !strcmp(f->file, "<frozen runpy>");
}

/* "... > Trainer.step (train.py:212)" */
static void add_python(struct strbuf *out, const struct python_stack *python)
{
	size_t n = python->frame.n;

	while (n > 1 && is_python_start(&python->frame.v[n - 1]))
		n--;
	if (n > OUTER_FRAMES) {
		strbuf_addstr(out, "... > ");
		n = OUTER_FRAMES;
	}
	for (size_t i = n; i-- > 0;) {
		const struct python_frame *f = &python->frame.v[i];

		format_safef(out, "%s (%s", f->function, str_basename(f->file));
		if (f->line)
			strbuf_addf(out, ":%" PRIu32, f->line);
		strbuf_addstr(out, i ? ") > " : ")");
	}
}

/* The frames from an outer one (not with it) to an inner one, which are at least one. */
static void add_native(struct strbuf *out, const struct stack_thread *t, size_t outer, size_t inner)
{
	if (outer - inner > OUTER_FRAMES + 1) {
		strbuf_addstr(out, "... > ");
		outer = inner + OUTER_FRAMES + 1;
	}
	for (size_t i = outer; i-- > inner;) {
		/* Between Python and a call, of ctypes or a stripped interpreter. */
		if (t->python.frame.n && i > inner && !t->frames[i].function)
			continue;
		add_function(out, &t->frames[i]);
		if (i > inner)
			strbuf_addstr(out, " > ");
	}
	add_inner(out, t, inner);
}

/* From the program's outermost frame, or its Python functions, to the call or the innermost. */
static void add_frames(struct strbuf *out, const struct stack_thread *t)
{
	const bool is_python = t->python.frame.n;
	size_t inner = t->row ? t->call_frame : 0, outer = t->n_frames;

	if (is_python) {
		outer = inside_python(t, inner);
		inner = outer > inner ? inner : 0;	/* the call runs Python */
	}
	while (!is_python && outer > inner + 1 && is_start(&t->frames[outer - 1]))
		outer--;
	if (!outer && !is_python) {
		strbuf_addstr(out, "    no stack: it could not be read\n");
		return;
	}
	strbuf_addstr(out, "    ");
	if (is_python) {
		add_python(out, &t->python);
		strbuf_addstr(out, outer ? " > " : "");
	} else if (t->quality == STACK_IS_CUT && outer - inner <= OUTER_FRAMES + 1) {
		strbuf_addstr(out, "... > ");
	}
	if (outer)
		add_native(out, t, outer, inner);
	strbuf_addch(out, '\n');
	if (t->quality == STACK_IS_RUNNING)
		strbuf_addstr(out, "    (it was running: this is its last entry into the "
			      "kernel)\n");
}

static void add_group(struct screen *sc, size_t at, bool *wanted)
{
	const struct group *g = &sc->groups[at];
	const struct stack_thread *t = g->first;
	const size_t from = sc->out->len;
	size_t processes = 0;

	for (size_t i = 0; i < sc->n_processes; i++)
		wanted[i] = false;
	for (size_t i = 0; i < stack_snapshot_threads(sc->s); i++)
		for (size_t k = 0; sc->group_of[i] == at && k < sc->n_processes; k++)
			wanted[k] |= sc->processes[k].pid == stack_snapshot_thread(sc->s, i)->pid;
	for (size_t i = 0; i < sc->n_processes; i++)
		processes += wanted[i];
	add_list(sc, wanted, true);
	format_safef(sc->out, ", thread \"%s\"", t->comm);
	if (g->n == 1 && t->tid != t->pid)
		strbuf_addf(sc->out, " (%d)", t->tid);
	if (g->n > processes)
		strbuf_addf(sc->out, ", %zu threads alike", g->n);
	color_from(sc, from, LINE_BOLD);
	strbuf_addf(sc->out, "\n    %s", state_text(t->state));
	if (t->syscall)
		strbuf_addf(sc->out, " in %s", t->syscall);
	if (t->file)
		format_safef(sc->out, " of %s", t->file);
	if (t->call)
		strbuf_addf(sc->out, ", inside of %s", t->call);
	strbuf_addch(sc->out, '\n');
	add_frames(sc->out, t);
}

/* ---- all of it ------------------------------------------------------------------------------- */

int stacks_screen_add(struct strbuf *out, const struct stack_snapshot *s,
		      const struct stacks_process *processes, size_t n,
		      const struct stacks_shape *shape)
{
	const size_t threads = stack_snapshot_threads(s);
	struct screen sc = { .s = s, .processes = processes, .n_processes = n, .out = out,
			     .has_color = shape->has_color };
	bool *waits = calloc(n + 1, sizeof(*waits)), *others = calloc(n + 1, sizeof(*others));

	sc.groups = calloc(threads + 1, sizeof(*sc.groups));
	sc.group_of = calloc(threads + 1, sizeof(*sc.group_of));
	if (waits && others && sc.groups && sc.group_of) {
		find_groups(&sc, shape->all_threads);
		add_sentence(&sc, waits, others);
		for (int in_call = 1; in_call >= 0; in_call--)
			for (size_t i = 0; i < sc.n_groups; i++)
				if (!!sc.groups[i].first->call == in_call)
					add_group(&sc, i, waits);
		strbuf_addch(out, '\n');
		if (sc.hidden)
			strbuf_addf(out, "%zu thread%s of CUDA and gpuprof %s not shown "
				    "(--all-threads); ", sc.hidden, sc.hidden > 1 ? "s" : "",
				    sc.hidden > 1 ? "are" : "is");
		strbuf_addstr(out, "--full: every frame\n");
	} else {
		out->failed = true;
	}
	free(sc.group_of);
	free(sc.groups);
	free(others);
	free(waits);
	return out->failed ? -ENOMEM : 0;
}
