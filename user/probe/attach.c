// SPDX-License-Identifier: BSD-3-Clause
/*
 * From a file to its links: which files are known already, under whatever names, and for which
 * processes. What to probe in a file is plan.c's decision.
 */
#include "probe/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "probe/file_key.h"
#include "probe/plan.h"

#define KERNEL_ENOTSUPP 524	/* not in errno.h: an instruction that uprobes refuse */

struct known_file {
	uint64_t dev, ino;
	pid_t pid;
};

struct known_files {
	struct known_file *v;
	size_t n, cap;
};

/* A file with a process filter on its probes: what it takes to attach to it again without. */
struct filtered {
	int fd;			/* our own */
	struct file_key key;
	struct plan *plan;
};

struct attach {
	struct loader *loader;
	struct plan_rules rules;
	VEC(struct filtered) filtered;
	bool handed_over;	/* no filters any more */
	struct strpool *names;
	struct known_files seen;	/* as fstat shows them: with or without probes */
	struct known_files real;	/* as the kernel keys uprobes: with probes */
	VEC(struct attach_info) infos;
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
	a->rules.tier = tier;
}

void attach_free(struct attach *a)
{
	if (!a)
		return;
	strpool_free(a->names);
	for (size_t i = 0; i < a->filtered.n; i++) {
		close(a->filtered.v[i].fd);
		free(a->filtered.v[i].plan);
	}
	VEC_FREE(&a->filtered);
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

/* The file below any overlay; a poor substitute where the kernel does not tell. */
static struct file_key real_key(struct attach *a, const struct target_file *file)
{
	struct file_key key = { .dev = file->dev, .ino = file->ino };
	int err = file_key_read(a->loader, file->fd, &key);

	if (err)
		log_warn("cannot tell which file %s really is: %s; if it lies under several "
			 "overlays, its calls are counted once for each", file->path,
			 strerror(-err));
	return key;
}

/*
 * Attaches n probes from `from` on; one that the kernel refuses fails the whole link and is not
 * named, so halve until it stands alone. (elf_classify foresees nearly all of them.)
 */
static int attach_range(struct attach *a, const struct loader_probes *whole, size_t from, size_t n,
			struct attach_result *result)
{
	struct loader_probes p = *whole;
	int err;

	p.offsets += from;
	p.rows += from;
	p.n = n;
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
	err = attach_range(a, whole, from, n / 2, result);
	if (err)
		return err;
	return attach_range(a, whole, from + n / 2, n - n / 2, result);
}

static int attach_plan(struct attach *a, int fd, const struct plan *plan,
		       const struct loader_probes *how, struct attach_result *result)
{
	struct loader_probes p = *how;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	p.path = path;
	p.offsets = plan->offsets;
	p.rows = plan->rows;
	return attach_range(a, &p, 0, plan->n, result);
}

/* Takes the plan. 0 or -errno. */
static int remember_filtered(struct attach *a, int fd, struct file_key key, struct plan *plan)
{
	struct filtered *f = VEC_PUSH(&a->filtered);

	if (!f) {
		free(plan);
		return -ENOMEM;
	}
	*f = (struct filtered){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .key = key, .plan = plan };
	return f->fd < 0 ? -errno : 0;
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

/* The plan has probes: makes their links, unless the file has them already under another name. */
static int attach_planned(struct attach *a, const struct target_file *file, struct plan *plan,
			  pid_t pid, struct attach_result *result)
{
	struct file_key key = real_key(a, file);
	int err = remember(&a->real, key.dev, key.ino, pid);

	if (err == 1)
		err = attach_plan(a, file->fd, plan, &(struct loader_probes){ .pid = pid }, result);
	if (err && err != -ESRCH)
		log_error("cannot attach to %s: %s; see gpuprof doctor", file->path,
			  strerror(-err));
	if (err || !result->probes || !pid) {
		free(plan);
		return err;
	}
	return remember_filtered(a, file->fd, key, plan);
}

static int attach_elf(struct attach *a, const struct target_file *file, struct elf_file *ef,
		      pid_t pid, struct attach_result *result)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	int err = plan ? plan_file(plan, ef, file->path, &a->rules) : -ENOMEM;

	if (plan)
		*result = (struct attach_result){ .found = plan->found, .stepped = plan->stepped,
						  .refused = plan->refused };
	if (err || !plan->n)
		free(plan);
	else
		err = attach_planned(a, file, plan, pid, result);
	return !err && result->found ? note_info(a, file, ef, pid, result) : err;
}

int attach_file(struct attach *a, const struct target_file *file, pid_t pid,
		struct attach_result *result)
{
	struct elf_file *ef;
	int err;

	*result = (struct attach_result){ 0 };
	if (a->handed_over)
		pid = 0;
	err = remember(&a->seen, file->dev, file->ino, pid);
	if (err <= 0)
		return err;
	ef = elf_file_open(file->fd, file->path);
	if (!ef)
		return errno == ENOMEM ? -ENOMEM : 0;
	err = attach_elf(a, file, ef, pid, result);
	elf_file_close(ef);
	return err;
}

int attach_hand_over(struct attach *a)
{
	struct loader_probes how = { .waits = true };
	int err = 0;

	if (a->handed_over)
		return 0;
	for (size_t i = 0; i < a->filtered.n; i++) {
		struct filtered *f = &a->filtered.v[i];
		struct attach_result result = { 0 };
		int is_new = remember(&a->real, f->key.dev, f->key.ino, 0);

		if (is_new == 1)
			is_new = attach_plan(a, f->fd, f->plan, &how, &result);
		err = is_new < 0 ? is_new : err;
	}
	if (err)
		log_error("cannot attach for all processes: %s; children are not measured",
			  strerror(-err));
	else
		loader_hand_over(a->loader);
	a->handed_over = !err;
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
