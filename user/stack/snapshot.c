// SPDX-License-Identifier: BSD-3-Clause
/*
 * Registers first, of all threads at once; then thread by thread the /proc state and the copy of
 * its stack; names last, when all volatile state has been read.
 */
#include "stack/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "elf/demangle.h"
#include "elf/elf.h"
#include "host/syscalls.h"
#include "probe/loader.h"
#include "probe/plan.h"
#include "stack/perfmap.h"
#include "target/target.h"

#define RETRIES 4u		/* looks at threads that ran while they were looked at */
#define MAX_VDSO (256u << 10)
#define MAX_FILE 4096u		/* of procfs */
#define MAX_POLLED 4u		/* files of one poll that are named */
#define SYSCALL_ARGS 6u

struct stack_snapshot {
	struct map by_tid;		/* index into regs */
	VEC(struct gp_thread_regs) regs;
	VEC(struct stack_thread) threads;
	struct strpool *names;
	struct stack_calls calls;	/* tier: CATALOG_TIERS without a limit */
	bool only_calls, failed;
	int regs_err;
};

struct process {		/* that is being added */
	struct stack_snapshot *s;
	pid_t pid;
	struct stack_memory *memory;
	struct stack_modules modules;
	struct python *python;	/* NULL: it maps none, or names are not wanted */
	size_t first;		/* its first thread in s->threads */
	bool denied;
	int err;
};

static void keep_regs(void *ctx, const struct gp_thread_regs *regs)
{
	struct stack_snapshot *s = ctx;
	struct map_slot *slot = map_put(&s->by_tid, regs->tid, NULL);
	struct gp_thread_regs *kept = slot ? VEC_PUSH(&s->regs) : NULL;

	s->failed |= !kept;
	if (!kept)
		return;
	*kept = *regs;
	slot->value = s->regs.n - 1;
}

static int read_regs(const struct stack_snapshot *s, const uint32_t *pids, size_t n,
		     loader_regs_fn fn, void *ctx)
{
	return s->only_calls ? s->calls.read(s->calls.ctx, pids, n, fn, ctx) :
			       loader_read_regs(pids, n, fn, ctx);
}

struct stack_snapshot *stack_snapshot_new(const uint32_t *pids, size_t n,
					  const struct stack_calls *calls)
{
	struct stack_snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->calls = calls ? *calls : (struct stack_calls){ .tier = CATALOG_TIERS };
	s->only_calls = calls;
	s->names = strpool_new();
	s->regs_err = s->names ? read_regs(s, pids, n, keep_regs, s) : -ENOMEM;
	if (s->names && !s->failed)
		return s;
	stack_snapshot_free(s);
	errno = ENOMEM;
	return NULL;
}

static void free_stacks(struct stack_thread *t)
{
	free(t->frames);
	VEC_FREE(&t->python.frame);
}

void stack_snapshot_free(struct stack_snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->threads.n; i++)
		free_stacks(&s->threads.v[i]);
	VEC_FREE(&s->threads);
	VEC_FREE(&s->regs);
	map_free(&s->by_tid);
	strpool_free(s->names);
	free(s);
}

int stack_snapshot_regs_error(const struct stack_snapshot *s)
{
	return s->regs_err;
}

size_t stack_snapshot_threads(const struct stack_snapshot *s)
{
	return s->threads.n;
}

const struct stack_thread *stack_snapshot_thread(const struct stack_snapshot *s, size_t i)
{
	return &s->threads.v[i];
}

/* ---- names ---------------------------------------------------------------------------------- */

/*
 * Each file is read once for all frames in it. Whether a function is of the catalogue is decided
 * by its symbol's address, since several names may stand for one address; in a program that has
 * a library inside it, by the names of its own symbols.
 */

struct place {			/* a frame in the file that is being named */
	struct stack_thread *thread;
	struct stack_frame *frame;
	/* of the instruction that is looked up; the frame's may be behind it */
	uint64_t offset;
};

struct visit {			/* one file */
	struct process *p;
	struct stack_file *file;
	VEC(struct place) places;
	struct elf_file *elf;
	bool asked;		/* its content, which costs a reading of its symbols */
	uint32_t libraries;	/* plan_libraries */
};

static uint64_t look_up(const struct stack_frame *f)
{
	return stack_code_address(f->address, f->exact);
}

static const struct stack_module *module_at(const struct process *p, uint64_t address)
{
	return stack_find_module(p->modules.module.v, p->modules.module.n, address);
}

static int collect(struct visit *v)
{
	const struct process *p = v->p;
	size_t file = (size_t)(v->file - p->modules.file.v);

	for (size_t i = p->first; i < p->s->threads.n; i++) {
		struct stack_thread *t = &p->s->threads.v[i];

		for (size_t k = 0; k < t->n_frames; k++) {
			struct stack_frame *f = &t->frames[k];
			const struct stack_module *m = module_at(p, look_up(f));
			struct place *place;

			if (!m || m->file != file)
				continue;
			place = VEC_PUSH(&v->places);
			if (!place)
				return -ENOMEM;
			*place = (struct place){ t, f, look_up(f) - m->start + m->offset };
		}
	}
	return 0;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* Frames go from the innermost to the outermost, so the last one found is the call. */
static void set_call(const struct visit *v, const struct place *p, unsigned int library,
		     const struct catalog_row *row)
{
	struct stack_thread *t = p->thread;
	size_t frame = (size_t)(p->frame - t->frames);

	/* Another file may have found one further out. */
	if (row->tier > v->p->s->calls.tier || (t->call && frame < t->call_frame))
		return;
	t->call = row->name;
	t->row = catalog_first_row(library) + (unsigned int)(row - catalog_library(library)->rows);
	t->call_frame = frame;
	t->library = catalog_library(library)->name;
	t->class = class_name(row->class);
}

static int find_calls(struct visit *v, unsigned int library)
{
	const struct catalog_library *lib = catalog_library(library);
	struct elf_symbol *symbol = calloc(lib->n_rows, sizeof(*symbol));
	int err;

	if (!symbol)
		return -ENOMEM;
	for (size_t i = 0; i < lib->n_rows; i++)
		symbol[i].name = lib->rows[i].name;
	err = elf_find_symbols(v->elf, symbol, lib->n_rows);
	for (size_t i = 0; i < lib->n_rows && err > 0; i++) {
		uint64_t start = symbol[i].offset - symbol[i].skipped;

		for (size_t k = 0; symbol[i].offset && k < v->places.n; k++)
			if (v->places.v[k].offset >= start &&
			    v->places.v[k].offset - start < symbol[i].size)
				set_call(v, &v->places.v[k], library, &lib->rows[i]);
	}
	free(symbol);
	return err == -ENOMEM ? err : 0;
}

static bool holds(struct visit *v, unsigned int library)
{
	if (!v->asked)
		v->libraries = plan_libraries(v->elf, v->file->path);
	v->asked = true;
	return v->libraries & 1u << library;
}

/* A library inside another file: its functions are local symbols there, or the file is known to
 * hold it. */
static void find_static_call(struct visit *v, const struct place *p, const struct elf_address *a)
{
	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++) {
		const struct catalog_library *lib = catalog_library(i);

		for (size_t k = 0; lib->marker && k < lib->n_rows; k++)
			if (!strcmp(lib->rows[k].name, a->name) &&
			    (lib->marker_begins ? holds(v, i) : a->local))
				set_call(v, p, i, &lib->rows[k]);
	}
}

/* ---- functions ---------------------------------------------------------------------------- */

/* Many threads are in few functions: each is demangled once. */
static int show_all(struct strpool *names, const struct elf_address *a, const char **shown,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!a[i].name)
			continue;
		if (i && a[i - 1].name && !strcmp(a[i].name, a[i - 1].name))
			shown[i] = shown[i - 1];
		else
			shown[i] = elf_demangle_kept(names, a[i].name);
		if (!shown[i])
			return -ENOMEM;
	}
	return 0;
}

static int name_functions(struct visit *v, bool is_library)
{
	size_t n = v->places.n;
	struct elf_address *a = calloc(n, sizeof(*a));
	const char **shown = calloc(n, sizeof(*shown));
	int err = a && shown ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		a[i] = (struct elf_address){ .owner = &v->places.v[i],
					     .offset = v->places.v[i].offset };
	if (!err)
		err = elf_name_addresses(v->elf, a, n);
	if (!err)
		err = show_all(v->p->s->names, a, shown, n);
	for (size_t i = 0; i < n && !err; i++) {
		const struct place *p = a[i].owner;

		if (!shown[i])
			continue;
		p->frame->function = shown[i];
		p->frame->offset = a[i].into + !p->frame->exact;
		if (!is_library)
			find_static_call(v, p, &a[i]);
	}
	for (size_t i = 0; a && i < n; i++)
		free(a[i].name);
	free(a);
	free(shown);
	return err == -ENOMEM ? err : 0;
}

/* ---- files -------------------------------------------------------------------------------- */

static int describe(struct visit *v)
{
	const char *module = strpool_add(v->p->s->names, str_basename(v->file->path));

	for (size_t i = 0; i < v->places.n; i++) {
		struct stack_frame *f = v->places.v[i].frame;

		f->module = module;
		f->offset = v->places.v[i].offset + !f->exact;
	}
	return module ? 0 : -ENOMEM;
}

static int name_file(struct visit *v, int fd)
{
	int library = catalog_library_of(str_basename(v->file->path)), err = 0;
	bool names = !v->p->s->only_calls;
	char hex[ELF_BUILD_ID_TEXT] = "";
	const char *id;

	v->elf = elf_file_open(fd, v->file->path);
	if (!v->elf)
		return errno == ENOMEM ? -ENOMEM : 0;
	if (names)
		elf_build_id(v->elf, hex, sizeof(hex));
	id = *hex ? strpool_add(v->p->s->names, hex) : NULL;
	if (*hex && !id)
		err = -ENOMEM;
	for (size_t i = 0; id && i < v->places.n; i++)
		v->places.v[i].frame->build_id = id;
	/* Calls of a library inside another file are found by their names. */
	for (unsigned int i = 0; i < CATALOG_LIBRARIES && library < 0 && !names; i++)
		names = holds(v, i);
	if (!err && names)
		err = name_functions(v, library >= 0);
	if (!err && library >= 0)
		err = find_calls(v, (unsigned int)library);
	elf_file_close(v->elf);
	return err;
}

/* The vdso is no file: it is copied into one. fd or -errno. */
static int copy_vdso(const struct process *p, uint64_t start, uint64_t len)
{
	int fd = memfd_create("gpuprof-vdso", MFD_CLOEXEC);
	char page[4096];

	if (fd < 0)
		return -errno;
	for (uint64_t at = 0; at < len && at < MAX_VDSO; at += sizeof(page))
		if (stack_memory_read(p->memory, start + at, page, sizeof(page)) ||
		    pwrite(fd, page, sizeof(page), (off_t)at) != sizeof(page))
			break;
	return fd;
}

/* Maps are walked once more, because only there a file can be opened. */
static int visit_mapping(void *ctx, const struct target_mapping *m)
{
	struct visit v = { .p = ctx };
	const struct stack_module *module = m->code ? module_at(v.p, m->start) : NULL;
	int err, fd = -1;

	if (!module || module->start != m->start)
		return 0;
	v.file = &v.p->modules.file.v[module->file];
	if (v.file->named || v.file->dev != m->dev || v.file->ino != m->ino)
		return 0;
	v.file->named = true;
	err = collect(&v);
	if (!err && v.places.n && !v.p->s->only_calls)
		err = describe(&v);
	if (!err && v.places.n && m->ino)
		fd = target_mapping_open(m);
	else if (!err && v.places.n && !v.p->s->only_calls && !strcmp(v.file->path, "[vdso]"))
		fd = copy_vdso(v.p, m->start, m->end - m->start);
	if (fd >= 0) {
		err = name_file(&v, fd);
		close(fd);
	}
	VEC_FREE(&v.places);
	return err;
}

/* ---- code that the process made itself ----------------------------------------------------- */

static int name_own_code(const struct process *p)
{
	VEC(struct perfmap_query) queries = { 0 };	/* owner: struct stack_frame */
	const char *jit = strpool_add(p->s->names, "[jit]");
	int err = jit ? 0 : -ENOMEM, fd = -1;

	for (size_t i = p->first; i < p->s->threads.n; i++) {
		const struct stack_thread *t = &p->s->threads.v[i];

		for (size_t k = 0; k < t->n_frames && !err; k++) {
			struct stack_frame *f = &t->frames[k];
			struct perfmap_query *q;

			/* a symbol covers it, or a file that has a build id */
			if (f->function || f->build_id)
				continue;
			q = VEC_PUSH(&queries);
			err = q ? 0 : -ENOMEM;
			if (q)
				*q = (struct perfmap_query){ .owner = f, .address = look_up(f) };
		}
	}
	if (!err && queries.n)
		fd = perfmap_open(p->pid);
	if (fd >= 0) {
		err = perfmap_name(fd, queries.v, queries.n);
		close(fd);
	}
	for (size_t i = 0; i < queries.n; i++) {
		const struct perfmap_query *q = &queries.v[i];
		struct stack_frame *f = q->owner;

		if (!err && q->name) {
			f->function = elf_demangle_kept(p->s->names, q->name);
			f->module = jit;
			f->offset = f->address - q->start;
			err = f->function ? 0 : -ENOMEM;
		}
		free(q->name);
	}
	VEC_FREE(&queries);
	return err;
}

/* ---- procfs -------------------------------------------------------------------------------- */

/* The small files of a thread in /proc are made by the kernel, but their names and links hold what
 * the target chose. */

struct procfs_where {		/* of /proc/PID/task/TID/syscall */
	bool blocked;		/* sp and pc are those of a thread that waits in the kernel */
	uint64_t sp, pc;
};

struct in_syscall {
	long number;
	uint64_t arg[SYSCALL_ARGS];
};

/* NULL + errno. */
static char *read_text(const struct stack_thread *t, const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", t->pid, t->tid, name);
	return io_read_file(path, MAX_FILE, NULL);
}

static int read_wchan(struct stack_thread *t, struct strpool *names)
{
	char *text = read_text(t, "wchan");
	int err = 0;

	/* "0": on a CPU, or unknown. */
	if (text && *text && strcmp(text, "0")) {
		text[strcspn(text, "\n")] = '\0';
		t->wchan = strpool_add(names, text);
		err = t->wchan ? 0 : -ENOMEM;
	}
	free(text);
	return err;
}

static void add_file(struct strbuf *out, const struct stack_thread *t, int fd)
{
	char path[80], link[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", t->pid, t->tid, fd);
	n = readlink(path, link, sizeof(link));
	if (n > 0) {
		strbuf_addstr(out, out->len ? ", " : "");
		strbuf_add(out, link, (size_t)n);
	}
}

static void add_polled(struct strbuf *out, const struct stack_thread *t,
		       const struct in_syscall *in, struct stack_memory *memory)
{
	struct pollfd fds[MAX_POLLED];
	uint64_t n = in->arg[1] < MAX_POLLED ? in->arg[1] : MAX_POLLED;

	if (stack_memory_read(memory, in->arg[0], fds, n * sizeof(fds[0])))
		return;
	for (uint64_t i = 0; i < n; i++)
		if (fds[i].fd >= 0)
			add_file(out, t, fds[i].fd);
	if (in->arg[1] > MAX_POLLED)
		strbuf_addstr(out, ", ...");
}

static int name_syscall(struct stack_thread *t, const struct in_syscall *in,
			struct strpool *names, struct stack_memory *memory)
{
	const struct syscall_row *row = syscall_find(in->number);
	struct strbuf file = STRBUF_INIT;
	char other[32];
	int err = 0;

	snprintf(other, sizeof(other), "syscall_%ld", in->number);
	t->syscall = strpool_add(names, row ? row->name : other);
	if (row && row->waits == SYSCALL_FD)
		add_file(&file, t, (int)in->arg[0]);
	else if (row && row->waits == SYSCALL_POLL)
		add_polled(&file, t, in, memory);
	if (file.len)
		t->file = strpool_add(names, file.s);
	if (!t->syscall || file.failed || (file.len && !t->file))
		err = -ENOMEM;
	strbuf_free(&file);
	return err;
}

/* "35 0x.. 0x.. 0x.. 0x.. 0x.. 0x.. SP PC"; "-1 SP PC" (blocked, but in no call); "running". The
 * kernel's own threads are never in a call: theirs is all zeros. */
static bool parse_syscall(const char *text, struct in_syscall *in, struct procfs_where *where)
{
	uint64_t *arg = in->arg;

	if (sscanf(text,
		   "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64,
		   &in->number, &arg[0], &arg[1], &arg[2], &arg[3], &arg[4], &arg[5], &where->sp,
		   &where->pc) == 9 &&
	    in->number >= 0) {
		where->blocked = where->pc;
		return where->pc;
	}
	where->blocked = sscanf(text, "-1 %" SCNx64 " %" SCNx64, &where->sp, &where->pc) == 2;
	return false;
}

/* Fills state, cpu, wchan, syscall, file; what cannot be read stays unknown. 0, -ENOMEM, or -EACCES
 * when `where` is denied. */
static int procfs_read_thread(struct stack_thread *t, struct strpool *names,
			      struct stack_memory *memory, struct procfs_where *where)
{
	char *text = read_text(t, "stat");
	const char *end = text ? strrchr(text, ')') : NULL;
	struct in_syscall in = { 0 };
	int err;

	*where = (struct procfs_where){ 0 };
	/* "12 (comm) S ..."; a comm may hold anything, also parentheses. */
	if (end && end[1] == ' ' && end[2])
		t->state = end[2];
	free(text);
	text = read_text(t, "schedstat");
	t->cpu_known = text && sscanf(text, "%" SCNu64, &t->cpu_ns) == 1;
	free(text);
	err = read_wchan(t, names);
	if (err)
		return err;
	text = read_text(t, "syscall");
	if (!text)
		return errno == EPERM || errno == EACCES ? -EACCES : 0;
	if (parse_syscall(text, &in, where))
		err = name_syscall(t, &in, names, memory);
	free(text);
	return err;
}

/* ---- one thread --------------------------------------------------------------------------- */

/*
 * Registers of a thread that has moved since are worth nothing; where it waits now, procfs knows
 * two of them. False: nothing is known.
 */
static bool choose_regs(const struct process *p, const struct stack_thread *t,
			const struct procfs_where *where, struct stack_regs *out)
{
	const struct map_slot *slot = map_find(&p->s->by_tid, (uint64_t)t->tid);
	const struct gp_thread_regs *r = slot ? &p->s->regs.v[slot->value] : NULL;

	*out = (struct stack_regs){ 0 };
	if (r && r->pid == (uint32_t)t->pid &&
	    (!where->blocked || (r->pc == where->pc && r->reg[stack_abi.sp] == where->sp))) {
		*out = stack_regs_of(r);
	} else if (where->blocked) {
		out->pc = where->pc;
		out->known = 1u << stack_abi.sp;
		out->reg[stack_abi.sp] = where->sp;
	}
	return out->pc;
}

static int unwind(struct process *p, struct stack_thread *t, const struct stack_regs *regs)
{
	static const uint8_t qualities[] = { [STACK_WHOLE] = STACK_IS_WHOLE,
					     [STACK_LOST] = STACK_IS_CUT,
					     [STACK_DEEP] = STACK_IS_DEEP };
	struct stack_space space = { .read = stack_memory_read, .ctx = p->memory,
				     .modules = p->modules.module.v,
				     .n_modules = p->modules.module.n };
	struct stack_step steps[STACK_DEPTH];
	enum stack_end end;
	int err = stack_memory_copy(p->memory, regs->reg[stack_abi.sp]), n;

	if (err == -EPERM)
		p->denied = true;
	if (err)
		return err == -ENOMEM ? err : 0;
	n = stack_unwind(&space, regs, steps, STACK_DEPTH, &end);
	if (n <= 0)
		return n;
	t->quality = (enum stack_quality)qualities[end];
	t->to_top = end == STACK_WHOLE;
	t->frames = calloc((size_t)n, sizeof(*t->frames));
	if (!t->frames)
		return -ENOMEM;
	t->n_frames = (size_t)n;
	for (int i = 0; i < n; i++)
		t->frames[i] = (struct stack_frame){
			.address = steps[i].pc, .sp = steps[i].sp, .offset = steps[i].pc,
			.exact = steps[i].exact, .signal = steps[i].signal,
			.guessed = steps[i].guessed,
		};
	return 0;
}

static int look_at(struct process *p, struct stack_thread *t)
{
	struct procfs_where where;
	struct stack_regs regs;
	int err;

	err = procfs_read_thread(t, p->s->names, p->memory, &where);
	if (err == -EACCES)
		p->denied = true;
	if (err && err != -EACCES)
		return err;
	err = choose_regs(p, t, &where, &regs) ? unwind(p, t, &regs) : 0;
	if (!err && !where.blocked && t->n_frames)
		t->quality = STACK_IS_RUNNING;
	/* At once, so that both are of one moment. */
	if (!err && p->python)
		err = python_read_thread(p->python, t->tid, &t->python);
	return err;
}

static int add_thread(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	struct process *p = ctx;
	struct stack_thread *t = VEC_PUSH(&p->s->threads);

	if (!t)
		return -ENOMEM;
	t->birth_ns = start_ns;
	t->pid = p->pid;
	t->tid = tid;
	strncpy(t->comm, comm, sizeof(t->comm) - 1);
	return look_at(p, t);
}

/* Its stack changed under its registers. */
static bool is_torn(const struct stack_thread *t)
{
	return t->quality == STACK_IS_RUNNING && !t->to_top;
}

/* At once, with registers that were just read. What is worse than before is not taken. */
static void look_again(void *ctx, const struct gp_thread_regs *regs)
{
	struct process *p = ctx;

	for (size_t i = p->first; i < p->s->threads.n && !p->err; i++) {
		struct stack_thread *t = &p->s->threads.v[i];
		struct stack_thread again = { .pid = t->pid, .tid = t->tid,
					      .birth_ns = t->birth_ns };

		if (t->tid != (pid_t)regs->tid || !is_torn(t))
			continue;
		keep_regs(p->s, regs);
		memcpy(again.comm, t->comm, sizeof(t->comm));
		p->err = p->s->failed ? -ENOMEM : look_at(p, &again);
		if (again.n_frames >= t->n_frames || again.to_top) {
			free_stacks(t);
			*t = again;
		} else {
			free_stacks(&again);
		}
	}
}

static int mend_torn(struct process *p)
{
	uint32_t pid = (uint32_t)p->pid;

	for (unsigned int i = 0; i < RETRIES && !p->s->regs_err && !p->err; i++) {
		size_t k = p->first;

		while (k < p->s->threads.n && !is_torn(&p->s->threads.v[k]))
			k++;
		if (k == p->s->threads.n)
			break;
		read_regs(p->s, &pid, 1, look_again, p);
	}
	return p->err;
}

static int find_python(struct process *p)
{
	if (p->s->only_calls || p->denied)
		return 0;
	p->python = python_new(p->pid, &p->modules, p->memory, p->s->names);
	return p->python || errno != ENOMEM ? 0 : -ENOMEM;
}

static int add_threads(struct process *p)
{
	int err = stack_modules_read(&p->modules, p->pid, p->memory);

	p->denied = err == -EACCES || err == -EPERM;
	if (err && !p->denied)
		return err;
	err = find_python(p);
	if (err)
		return err;
	p->first = p->s->threads.n;
	err = target_each_thread(p->pid, add_thread, p);
	if (!err)
		err = mend_torn(p);
	if (err)
		return err;
	err = target_each_mapping(p->pid, visit_mapping, p);
	if (err != -ENOMEM && !p->s->only_calls)
		err = name_own_code(p);
	return err == -ENOMEM ? err : 0;
}

int stack_snapshot_add(struct stack_snapshot *s, pid_t pid)
{
	struct process p = { .s = s, .pid = pid };
	struct target_process who;
	int err = target_process_read(pid, &who);

	if (err)
		return err;
	p.memory = stack_memory_new(pid);
	if (!p.memory)
		return -ENOMEM;
	err = add_threads(&p);
	python_free(p.python);
	stack_modules_free(&p.modules);
	stack_memory_free(p.memory);
	return !err && p.denied ? -EACCES : err;
}
