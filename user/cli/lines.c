// SPDX-License-Identifier: BSD-3-Clause
/*
 * Frames by file, and each file's debug info once. A file is found by its build id, so that no
 * other version of it can be read, wherever the report is made.
 */
#include "cli/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "base/exit.h"
#include "elf/elf.h"
#include "elf/lines.h"

struct group {			/* frames of one file */
	const char *file;	/* "BUILD-ID PATH" */
	VEC(struct elf_line) lines;
	VEC(uint64_t) numbers;	/* of the frames, in the same order */
};

static void free_group(struct group *g)
{
	for (size_t i = 0; i < g->lines.n; i++)
		free(g->lines.v[i].text);
	VEC_FREE(&g->lines);
	VEC_FREE(&g->numbers);
}

static int compare_frames(const void *a, const void *b)
{
	const struct stacks_frame *x = *(const struct stacks_frame *const *)a;
	const struct stacks_frame *y = *(const struct stacks_frame *const *)b;

	return strcmp(x->file, y->file);
}

/* Where the build id ends, the file's path begins. */
static int open_file(const char *file)
{
	const char *blank = strchr(file, ' ');
	char build_id[ELF_BUILD_ID_TEXT];

	if (!blank || (size_t)(blank - file) >= sizeof(build_id))
		return -ENOENT;
	memcpy(build_id, file, (size_t)(blank - file));
	build_id[blank - file] = '\0';
	return elf_open_debug(blank + 1, build_id);
}

static int set_lines(struct stacks *s, const struct group *g)
{
	int err = 0;

	for (size_t i = 0; i < g->lines.n && err != -ENOMEM; i++)
		if (g->lines.v[i].text)
			err = stacks_set_lines(s, g->numbers.v[i], g->lines.v[i].text);
	return err == -ENOMEM ? err : 0;
}

static int ask(struct stacks *s, struct group *g)
{
	int fd = open_file(g->file), err = fd;

	if (fd >= 0) {
		err = elf_find_lines(fd, g->lines.v, g->lines.n);
		close(fd);
	}
	if (err == -ENOMEM || err == -ENOTSUP)
		return err;
	if (err == -ETIME || err == -EBADMSG)
		log_warn("cannot read all debug info of %s: %s; what was read is used", g->file,
			 err == -ETIME ? "it takes too long" : "it is damaged");
	else if (err)
		log_debug("no debug info of %s here", g->file);
	return set_lines(s, g);
}

static int ask_group(struct stacks *s, const struct stacks_frame *const *frames, size_t n)
{
	struct group g = { .file = frames[0]->file };
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct elf_line *line = VEC_PUSH(&g.lines);
		uint64_t *number = VEC_PUSH(&g.numbers);

		err = line && number ? 0 : -ENOMEM;
		if (err)
			break;
		line->vaddr = frames[i]->offset;
		*number = frames[i]->number;
	}
	if (!err)
		err = ask(s, &g);
	free_group(&g);
	return err;
}

static int ask_all(struct stacks *s, const struct stacks_frame **frames, size_t n)
{
	size_t k;
	int err = 0;

	if (n)
		qsort(frames, n, sizeof(*frames), compare_frames);
	for (size_t i = 0; i < n && !err; i += k) {
		for (k = 1; i + k < n && !compare_frames(&frames[i + k], &frames[i]); k++)
			;
		err = ask_group(s, &frames[i], k);
	}
	return err;
}

int lines_find(struct stacks *s)
{
	const struct stacks_frame **frames = calloc(s->frames.n + 1, sizeof(*frames));
	size_t n = 0;
	int err = frames ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->frames.n && frames; i++)
		if (s->frames.v[i].file)
			frames[n++] = &s->frames.v[i];
	if (!err)
		err = ask_all(s, frames, n);
	free(frames);
	if (err == -ENOTSUP)
		log_error("cannot tell source lines: this gpuprof was built without libdw");
	else if (err)
		log_error("cannot tell source lines: %s", strerror(-err));
	return err == -ENOTSUP ? EXIT_UNSUPPORTED : err ? EXIT_FAIL : 0;
}
