/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ELF files that processes run, kept open: their unwind tables and names can be read after they
 * were deleted and their processes have exited. One for each file, for all processes. Private to
 * the room.
 */
#ifndef STACK_IMAGES_H
#define STACK_IMAGES_H

#include "base/map.h"
#include "base/vec.h"
#include "target/target_mapping.h"

struct elf_file;
struct image_page;

struct image {
	int fd;
	char *file;		/* "93ac61ec /usr/lib/libc.so.6": build id and path */
	struct elf_file *elf;
	struct map names;	/* vaddr -> name, 0: none */
};

struct images {			/* start zeroed */
	VEC(struct image) all;	/* number - 1 */
	struct map by_key;	/* hash of device and inode -> number; 0: no ELF file */
	struct image_page *pages;	/* by hash; the newest stays; NULL: none yet */
};

void images_free(struct images *images);

/* The number of the mapped file, or of the vdso; 0: no ELF file, or there are too many. -ENOMEM. */
int images_find(struct images *images, const struct target_mapping *m);

static inline struct image *images_at(const struct images *images, unsigned int number)
{
	return &images->all.v[number - 1];
}

/* len bytes at vaddr (as in the file) when it is loaded. 0 or -EFAULT. */
int images_read(struct images *images, unsigned int image, uint64_t vaddr, void *buf, size_t len);

#endif
