/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of elf/: objects made by the compiler, and copies of them to tamper with. */
#ifndef TESTS_ELF_OBJECT_H
#define TESTS_ELF_OBJECT_H

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf.h"
#include "lib/cmocka.h"
#include "lib/emulated.h"
#include "lib/scratch.h"

struct object {
	char dir[64];
	char path[96];
};

/* Compiles source with these arguments; the test is skipped where there is no compiler. */
static inline struct object object_build(const char *source, const char *args)
{
	const char *cc = getenv("CC") ? getenv("CC") : "gcc";
	struct object o = { .dir = "/tmp/gpuprof-elf-XXXXXX" };
	char command[1024];
	FILE *f;

	snprintf(command, sizeof(command), "command -v %s >/dev/null", cc);
	if (system(command)) {
		print_message("skipped: no compiler (%s)\n", cc);
		skip();
	}
	assert_true(scratch_dir(o.dir));
	snprintf(o.path, sizeof(o.path), "%s/source.c", o.dir);
	f = fopen(o.path, "w");
	assert_non_null(f);
	assert_true(fputs(source, f) >= 0 && !fclose(f));
	snprintf(o.path, sizeof(o.path), "%s/object", o.dir);
	snprintf(command, sizeof(command), "%s -w -O1 -fno-stack-protector -o %s %s/source.c %s",
		 cc, o.path, o.dir, args);
	if (system(command))
		fail_msg("cannot build: %s", command);
	return o;
}

static inline void object_remove(const struct object *o)
{
	char path[96];

	unlink(o->path);
	snprintf(path, sizeof(path), "%s/source.c", o->dir);
	unlink(path);
	rmdir(o->dir);
}

struct opened {			/* that was built, and is read */
	struct object object;
	int fd;
	struct elf_file *ef;
};

static inline struct opened open_built(const char *source, const char *args)
{
	struct opened o = { .object = object_build(source, args) };

	o.fd = open(o.object.path, O_RDONLY | O_CLOEXEC);
	assert_true(o.fd >= 0);
	o.ef = elf_file_open(o.fd, o.object.path);
	assert_non_null(o.ef);
	return o;
}

static inline void close_built(struct opened *o)
{
	elf_file_close(o->ef);
	close(o->fd);
	object_remove(&o->object);
}

struct image {			/* a file's bytes, to be changed and then opened */
	uint8_t *byte;
	size_t size;
};

static inline struct image image_load(const char *path)
{
	struct image im = { 0 };
	struct stat st = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	im.size = (size_t)st.st_size;
	im.byte = calloc(1, im.size);
	assert_non_null(im.byte);
	assert_int_equal(read(fd, im.byte, im.size), st.st_size);
	close(fd);
	return im;
}

static inline struct image image_build(const char *source, const char *args)
{
	struct object o = object_build(source, args);
	struct image im = image_load(o.path);

	object_remove(&o);
	return im;
}

static inline int image_fd(const struct image *im)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, im->byte, im->size), (ssize_t)im->size);
	return fd;
}

static inline Elf64_Ehdr *image_header(struct image *im)
{
	return (Elf64_Ehdr *)im->byte;
}

static inline Elf64_Phdr *image_segment(struct image *im, uint32_t type)
{
	Elf64_Phdr *ph = (Elf64_Phdr *)(im->byte + image_header(im)->e_phoff);

	for (size_t i = 0; i < image_header(im)->e_phnum; i++)
		if (ph[i].p_type == type)
			return &ph[i];
	fail_msg("no segment of type %u", type);
	return NULL;
}

static inline Elf64_Shdr *image_section(struct image *im, uint32_t type)
{
	Elf64_Shdr *sh = (Elf64_Shdr *)(im->byte + image_header(im)->e_shoff);

	for (size_t i = 0; i < image_header(im)->e_shnum; i++)
		if (sh[i].sh_type == type)
			return &sh[i];
	fail_msg("no section of type %u", type);
	return NULL;
}

static inline Elf64_Dyn *image_dynamic(struct image *im, int64_t tag)
{
	Elf64_Dyn *d = (Elf64_Dyn *)(im->byte + image_segment(im, PT_DYNAMIC)->p_offset);

	for (; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d;
	fail_msg("no dynamic tag %ld", (long)tag);
	return NULL;
}

/* By name, in .dynsym. */
static inline Elf64_Sym *image_symbol(struct image *im, const char *name)
{
	Elf64_Shdr *sh = image_section(im, SHT_DYNSYM);
	Elf64_Shdr *strings = (Elf64_Shdr *)(im->byte + image_header(im)->e_shoff) + sh->sh_link;
	Elf64_Sym *sym = (Elf64_Sym *)(im->byte + sh->sh_offset);

	for (size_t i = 0; i < sh->sh_size / sizeof(*sym); i++)
		if (!strcmp((char *)im->byte + strings->sh_offset + sym[i].st_name, name))
			return &sym[i];
	fail_msg("no symbol %s", name);
	return NULL;
}

/* What elf_find_symbols says of one name in an image: 1, 0, -errno, or -1000 when not opened. */
static inline int image_find(const struct image *im, struct elf_symbol *sym)
{
	int fd = image_fd(im);
	struct elf_file *ef = elf_file_open(fd, "image");
	int n = ef ? elf_find_symbols(ef, sym, 1) : -1000;

	elf_file_close(ef);
	close(fd);
	return n;
}

#endif
