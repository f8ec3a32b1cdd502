// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files are asked once for all frames in them. Whether a function is of the catalogue is decided
 * by where its symbol lies, since several names may stand for one address; in a program that has
 * a library inside it, by the names of its own symbols.
 */
#include "stack/symbolize.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sorted.h"
#include "elf/demangle.h"
#include "elf/elf.h"
#include "catalog/catalog.h"
#include "probe/plan.h"
#include "stack/perfmap.h"

#define MAX_VDSO (256u << 10)

struct place {			/* a frame in the file that is being named */
	struct stack_thread *thread;
	struct stack_frame *frame;
	/* of the instruction that is looked up; the frame's may be behind it */
	uint64_t offset;
};

struct visit {			/* one file */
	struct naming *nm;
	struct stack_file *file;
	VEC(struct place) places;
	struct elf_file *elf;
	bool asked;		/* what it holds, which costs a reading of its symbols */
	uint32_t libraries;	/* plan_libraries */
};

/* A return address may lie behind its function, when that never returns. */
static uint64_t look_up(const struct stack_frame *f)
{
	return f->address - (f->exact ? 0 : 1);
}

static const struct stack_module *module_of(const struct naming *nm, const struct stack_frame *f)
{
	struct stack_space space = { .modules = nm->modules->module.v,
				     .n_modules = nm->modules->module.n };

	return stack_find_module(&space, look_up(f));
}

static int collect(struct visit *v)
{
	const struct naming *nm = v->nm;
	size_t file = (size_t)(v->file - nm->modules->file.v);

	for (size_t i = 0; i < nm->n; i++) {
		for (size_t k = 0; k < nm->threads[i].n_frames; k++) {
			struct stack_frame *f = &nm->threads[i].frames[k];
			const struct stack_module *m = module_of(nm, f);
			struct place *p;

			if (!m || m->file != file)
				continue;
			p = VEC_PUSH(&v->places);
			if (!p)
				return -ENOMEM;
			*p = (struct place){ &nm->threads[i], f, look_up(f) - m->start + m->offset };
		}
	}
	return 0;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* Frames go from the innermost to the outermost, so the last one found is the call. */
static void set_call(const struct naming *nm, const struct place *p, unsigned int library,
		     const struct catalog_row *row)
{
	if (row->tier > nm->tier)
		return;
	/* Another file may have found one further out. */
	if (p->thread->call && p->frame < p->thread->frames + p->thread->call_frame)
		return;
	p->thread->call = row->name;
	p->thread->row = catalog_first_row(library) +
			 (unsigned int)(row - catalog_library(library)->rows);
	p->thread->call_frame = (size_t)(p->frame - p->thread->frames);
	p->thread->library = catalog_library(library)->name;
	p->thread->class = class_name(row->class);
}

static void match_places(struct visit *v, unsigned int library, const struct elf_symbol *s,
			 const struct catalog_row *row)
{
	uint64_t start = s->offset - s->skipped;

	for (size_t i = 0; s->offset && i < v->places.n; i++)
		if (v->places.v[i].offset >= start && v->places.v[i].offset - start < s->size)
			set_call(v->nm, &v->places.v[i], library, row);
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
	for (size_t i = 0; i < lib->n_rows && err > 0; i++)
		match_places(v, library, &symbol[i], &lib->rows[i]);
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
				set_call(v->nm, p, i, &lib->rows[k]);
	}
}

/* ---- functions ---------------------------------------------------------------------------- */

static const struct elf_address *find_address(const struct elf_address *a, size_t n,
					      uint64_t offset)
{
	return &a[SORTED_BELOW(a, n, offset, offset)];
}

/* shown: what people call the function at a; NULL: nothing. */
static void name_place(struct visit *v, const struct place *p, const struct elf_address *a,
		       const char *shown, bool is_library)
{
	if (!shown)
		return;
	p->frame->function = shown;
	p->frame->offset = a->into + (p->frame->exact ? 0 : 1);
	if (!is_library)
		find_static_call(v, p, a);
}

/* Many threads are in few functions: each is demangled once. */
static int show_all(struct strpool *names, const struct elf_address *a, const char **shown,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool same = i && a[i].name && a[i - 1].name &&
			    !strcmp(a[i].name, a[i - 1].name);

		if (!a[i].name)
			continue;
		shown[i] = same ? shown[i - 1] : elf_demangle_kept(names, a[i].name);
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
		a[i].offset = v->places.v[i].offset;
	if (!err)
		err = elf_name_addresses(v->elf, a, n);
	if (!err)
		err = show_all(v->nm->names, a, shown, n);
	for (size_t i = 0; i < n && !err; i++) {
		const struct elf_address *at = find_address(a, n, v->places.v[i].offset);

		name_place(v, &v->places.v[i], at, shown[at - a], is_library);
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
	const char *module = strpool_add(v->nm->names, str_basename(v->file->path));

	for (size_t i = 0; i < v->places.n; i++) {
		v->places.v[i].frame->module = module;
		v->places.v[i].frame->offset = v->places.v[i].offset +
					       (v->places.v[i].frame->exact ? 0 : 1);
	}
	return module ? 0 : -ENOMEM;
}

static int set_build_id(struct visit *v)
{
	char hex[2 * 64 + 1];
	const char *id;

	elf_build_id(v->elf, hex, sizeof(hex));
	id = *hex ? strpool_add(v->nm->names, hex) : NULL;
	for (size_t i = 0; i < v->places.n; i++)
		v->places.v[i].frame->build_id = id;
	return id || !*hex ? 0 : -ENOMEM;
}

static bool holds_library(struct visit *v)
{
	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++)
		if (holds(v, i))
			return true;
	return false;
}

static int name_file(struct visit *v, int fd)
{
	int library = catalog_library_of(str_basename(v->file->path)), err = 0;

	v->elf = elf_file_open(fd, v->file->path);
	if (!v->elf)
		return errno == ENOMEM ? -ENOMEM : 0;
	if (!v->nm->only_calls)
		err = set_build_id(v);
	/* Calls of a library inside another file are found by their names. */
	if (!err && (!v->nm->only_calls || (library < 0 && holds_library(v))))
		err = name_functions(v, library >= 0);
	if (!err && library >= 0)
		err = find_calls(v, (unsigned int)library);
	elf_file_close(v->elf);
	return err;
}

/* The vdso is no file: it is copied into one. fd or -errno. */
static int copy_vdso(const struct naming *nm, uint64_t start, uint64_t len)
{
	int fd = memfd_create("gpuprof-vdso", MFD_CLOEXEC);
	char page[4096];

	if (fd < 0)
		return -errno;
	for (uint64_t at = 0; at < len && at < MAX_VDSO; at += sizeof(page))
		if (stack_memory_read(nm->memory, start + at, page, sizeof(page)) ||
		    pwrite(fd, page, sizeof(page), (off_t)at) != sizeof(page))
			break;
	return fd;
}

static struct stack_file *file_at(const struct naming *nm, uint64_t start)
{
	struct stack_space space = { .modules = nm->modules->module.v,
				     .n_modules = nm->modules->module.n };
	const struct stack_module *m = stack_find_module(&space, start);

	return m && m->start == start ? &nm->modules->file.v[m->file] : NULL;
}

/* Maps are walked once more, because only there a file can be opened. */
static int visit_mapping(void *ctx, const struct target_mapping *m)
{
	struct visit v = { .nm = ctx };
	int err, fd = -1;

	v.file = m->code ? file_at(v.nm, m->start) : NULL;
	if (!v.file || v.file->named || v.file->dev != m->dev || v.file->ino != m->ino)
		return 0;
	v.file->named = true;
	err = collect(&v);
	if (!err && v.places.n && !v.nm->only_calls)
		err = describe(&v);
	if (!err && v.places.n && m->ino)
		fd = target_mapping_open(m);
	else if (!err && v.places.n && !v.nm->only_calls && !strcmp(v.file->path, "[vdso]"))
		fd = copy_vdso(v.nm, m->start, m->end - m->start);
	if (fd >= 0) {
		err = name_file(&v, fd);
		close(fd);
	}
	VEC_FREE(&v.places);
	return err;
}

/* ---- code that the process made itself ----------------------------------------------------- */

struct own_code {
	VEC(struct perfmap_query) queries;
	VEC(struct stack_frame *) frames;
};

/* No symbol covers it, and no file that has a build id. */
static bool is_own_code(const struct stack_frame *f)
{
	return !f->function && !f->build_id;
}

static int collect_own(const struct naming *nm, struct own_code *own)
{
	for (size_t i = 0; i < nm->n; i++) {
		for (size_t k = 0; k < nm->threads[i].n_frames; k++) {
			struct stack_frame *f = &nm->threads[i].frames[k], **frame;
			struct perfmap_query *q;

			if (!is_own_code(f))
				continue;
			q = VEC_PUSH(&own->queries);
			frame = VEC_PUSH(&own->frames);
			if (!q || !frame)
				return -ENOMEM;
			q->address = look_up(f);
			*frame = f;
		}
	}
	return 0;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct stack_frame *x = *(struct stack_frame *const *)a;
	const struct stack_frame *y = *(struct stack_frame *const *)b;
	uint64_t left = look_up(x), right = look_up(y);

	return (left > right) - (left < right);
}

/* Both are in the order of addresses, so that the i-th query is the i-th frame's. */
static int name_own(const struct naming *nm, struct own_code *own)
{
	const char *jit = strpool_add(nm->names, "[jit]");
	int err = jit ? 0 : -ENOMEM;

	qsort(own->frames.v, own->frames.n, sizeof(*own->frames.v), compare_addresses);
	for (size_t i = 0; i < own->queries.n && !err; i++) {
		const struct perfmap_query *q = &own->queries.v[i];
		struct stack_frame *f = own->frames.v[i];

		if (!q->name)
			continue;
		f->function = elf_demangle_kept(nm->names, q->name);
		f->module = jit;
		f->offset = f->address - q->start;
		err = f->function ? 0 : -ENOMEM;
	}
	return err;
}

static int name_own_code(const struct naming *nm)
{
	struct own_code own = { 0 };
	int err = collect_own(nm, &own), fd = -1;

	if (!err && own.queries.n)
		fd = perfmap_open(nm->pid);
	if (fd >= 0) {
		err = perfmap_name(fd, own.queries.v, own.queries.n);
		if (!err)
			err = name_own(nm, &own);
		close(fd);
	}
	for (size_t i = 0; i < own.queries.n; i++)
		free(own.queries.v[i].name);
	VEC_FREE(&own.queries);
	VEC_FREE(&own.frames);
	return err;
}

int naming_run(struct naming *nm)
{
	int err = target_each_mapping(nm->pid, visit_mapping, nm);

	if (err != -ENOMEM && !nm->only_calls)
		err = name_own_code(nm);
	return err == -ENOMEM ? err : 0;
}
