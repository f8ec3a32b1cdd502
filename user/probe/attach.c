// SPDX-License-Identifier: BSD-3-Clause
/*
 * From a file to its probes. Which functions a file may hold is decided by its name, or for
 * statically linked copies by a marker symbol; where they are, by its symbol tables; whether a
 * probe is affordable, by its first instruction.
 */
#include "probe/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "probe/catalog.h"
#include "probe/file_key.h"

#define KERNEL_ENOTSUPP 524	/* not in errno.h: an instruction that uprobes refuse */

struct known_file {
	uint64_t dev, ino;
	pid_t pid;
};

struct known_files {
	struct known_file *v;
	size_t n, cap;
};

struct attach {
	struct loader *loader;
	unsigned int tier;
	struct strpool *names;
	struct known_files seen;	/* as fstat shows them: with or without probes */
	struct known_files real;	/* as the kernel keys uprobes: with probes */
	VEC(struct attach_info) infos;
};

struct plan {			/* the probes of one file */
	uint64_t offsets[GP_ROWS_MAX];
	uint64_t rows[GP_ROWS_MAX];
	size_t n;
	unsigned int tier;	/* no rows above it */
};

struct attach *attach_new(struct loader *l)
{
	struct attach *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->loader = l;
	a->names = strpool_new();
	if (!a->names) {
		free(a);
		return NULL;
	}
	return a;
}

void attach_set_tier(struct attach *a, unsigned int tier)
{
	a->tier = tier;
}

void attach_free(struct attach *a)
{
	if (!a)
		return;
	strpool_free(a->names);
	VEC_FREE(&a->seen);
	VEC_FREE(&a->real);
	VEC_FREE(&a->infos);
	free(a);
}

/* 1: (file, filter) was not known and now is, 0: known, -ENOMEM. A file attached for all needs no
 * filter. */
static int remember(struct known_files *known, uint64_t dev, uint64_t ino, pid_t pid)
{
	struct known_file *k;

	for (size_t i = 0; i < known->n; i++) {
		k = &known->v[i];
		if (k->dev == dev && k->ino == ino && (k->pid == pid || k->pid == 0))
			return 0;
	}
	k = VEC_PUSH(known);
	if (!k)
		return -ENOMEM;
	*k = (struct known_file){ .dev = dev, .ino = ino, .pid = pid };
	return 1;
}

/* The same for the file below any overlay: under another name it may have its probes already. */
static int remember_real(struct attach *a, const struct target_file *file, pid_t pid)
{
	struct file_key key;
	int err = file_key_read(a->loader, file->fd, &key);

	if (!err)
		return remember(&a->real, key.dev, key.ino, pid);
	log_warn("cannot tell which file %s really is: %s; if it lies under several overlays, its "
		 "calls are counted once for each", file->path, strerror(-err));
	return 1;
}

static struct plan *plan_new(const struct attach *a)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (plan)
		plan->tier = a->tier;
	return plan;
}

static void plan_add(struct plan *plan, const struct elf_symbol *sym, unsigned int row,
		     struct attach_result *result)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->offsets[i] == sym->offset)
			return;		/* an alias: one probe */
	if (plan->n == GP_ROWS_MAX)
		return;
	if (sym->opening == ELF_REFUSED || sym->opening == ELF_UNKNOWN) {
		result->refused++;
		return;
	}
	if (sym->opening == ELF_STEP && !catalog_row(row)->rare) {
		result->stepped++;
		return;
	}
	plan->offsets[plan->n] = sym->offset;
	plan->rows[plan->n++] = row;
}

/*
 * Does the file hold a static copy of the library? Only if the marker is a local symbol, since an
 * executable may define functions of these names without holding the library (of
 * libcudart_static.a, some functions stay global and some become local).
 */
static bool is_inside(struct elf_file *ef, const struct catalog_library *lib)
{
	struct elf_symbol marker = { .name = lib->marker };

	return lib->marker && elf_find_symbols(ef, &marker, 1) == 1 && marker.local;
}

bool attach_holds(struct elf_file *ef, const char *path, unsigned int library)
{
	int named = catalog_library_of(str_basename(path));

	return named >= 0 ? library == (unsigned int)named
			  : is_inside(ef, catalog_library(library));
}

/* The probes for one library's rows in this file. */
static int plan_library(struct elf_file *ef, unsigned int library, struct plan *plan,
			struct attach_result *result)
{
	const struct catalog_library *lib = catalog_library(library);
	struct elf_symbol *syms = calloc(lib->n_rows, sizeof(*syms));
	unsigned int first = catalog_first_row(library);
	int n;

	if (!syms)
		return -ENOMEM;
	for (size_t i = 0; i < lib->n_rows; i++)
		syms[i].name = lib->rows[i].name;
	n = elf_find_symbols(ef, syms, lib->n_rows);
	for (size_t i = 0; n > 0 && i < lib->n_rows; i++) {
		if (!syms[i].offset || lib->rows[i].tier > plan->tier)
			continue;
		result->found = true;
		plan_add(plan, &syms[i], first + (unsigned int)i, result);
	}
	free(syms);
	return n < 0 && n != -EBADMSG ? n : 0;
}

static int plan_file(struct elf_file *ef, const char *path, struct plan *plan,
		     struct attach_result *result)
{
	int err = 0;

	for (unsigned int i = 0; i < CATALOG_LIBRARIES && !err; i++)
		if (attach_holds(ef, path, i))
			err = plan_library(ef, i, plan, result);
	return err;
}

/*
 * Attaches n probes from `from` on; one that the kernel refuses fails the whole link and is not
 * named, so halve until it stands alone. (elf_classify foresees nearly all of them.)
 */
static int attach_range(struct attach *a, const char *path, struct plan *plan, size_t from, size_t n,
			pid_t pid, struct attach_result *result)
{
	struct loader_probes p = { .path = path, .offsets = plan->offsets + from,
				   .rows = plan->rows + from, .n = n, .pid = pid };
	int err;

	if (!n)
		return 0;
	err = loader_attach(a->loader, &p);
	if (!err)
		result->probes += (unsigned int)n;
	if (err != -KERNEL_ENOTSUPP)
		return err;
	if (n == 1) {
		result->refused++;
		return 0;
	}
	err = attach_range(a, path, plan, from, n / 2, pid, result);
	if (err)
		return err;
	return attach_range(a, path, plan, from + n / 2, n - n / 2, pid, result);
}

static int attach_plan(struct attach *a, const struct target_file *file, struct plan *plan,
		       pid_t pid, struct attach_result *result)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	err = attach_range(a, path, plan, 0, plan->n, pid, result);
	if (err == -ESRCH || !err)
		return err;
	log_error("cannot attach to %s: %s; see gpuprof doctor", file->path, strerror(-err));
	return err;
}

static int note_info(struct attach *a, const struct target_file *file, struct elf_file *ef,
		     pid_t pid, const struct attach_result *result)
{
	struct attach_info *info = VEC_PUSH(&a->infos);
	char hex[2 * 64 + 1];

	if (!info)
		return -ENOMEM;
	elf_build_id(ef, hex, sizeof(hex));
	*info = (struct attach_info){ .path = strpool_add(a->names, file->path),
				      .build_id = strpool_add(a->names, hex),
				      .result = *result, .pid = pid };
	return info->path && info->build_id ? 0 : -ENOMEM;
}

int attach_file(struct attach *a, const struct target_file *file, pid_t pid,
		struct attach_result *result)
{
	int err = remember(&a->seen, file->dev, file->ino, pid);
	struct elf_file *ef;
	struct plan *plan;

	*result = (struct attach_result){ 0 };
	if (err <= 0)
		return err;
	ef = elf_file_open(file->fd, file->path);
	if (!ef)
		return errno == ENOMEM ? -ENOMEM : 0;
	plan = plan_new(a);
	err = plan ? plan_file(ef, file->path, plan, result) : -ENOMEM;
	if (!err && plan->n) {
		err = remember_real(a, file, pid);
		if (!err)
			plan->n = 0;	/* known under another name */
		err = err < 0 ? err : 0;
	}
	if (!err)
		err = attach_plan(a, file, plan, pid, result);
	if (!err && result->found)
		err = note_info(a, file, ef, pid, result);
	free(plan);
	elf_file_close(ef);
	return err;
}

size_t attach_count(const struct attach *a)
{
	return a->infos.n;
}

const struct attach_info *attach_get(const struct attach *a, size_t i)
{
	return &a->infos.v[i];
}
