/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that processes run, kept open: their unwind tables and names can be read after they were
 * deleted and their processes have ended. One of each file, whoever maps it. Private to the room.
 */
#ifndef STACK_IMAGE_H
#define STACK_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "target/target_mapping.h"

#define IMAGES_MAX 2048u	/* files kept open */

struct images;

struct images *images_new(void);	/* NULL + errno */
void images_free(struct images *is);

/* The image of a mapped file, or of the vdso: its number from 1, 0 (no ELF file, not to be opened,
 * or too many), or -ENOMEM. Within target_each_mapping only. */
int images_find(struct images *is, const struct target_mapping *m);

/* len bytes of what lies at vaddr (as in the file) when it is loaded; 0 or -EFAULT. */
int images_read(struct images *is, unsigned int image, uint64_t vaddr, void *buf, size_t len);

void images_each_loaded(const struct images *is, unsigned int image,
			void (*fn)(void *ctx, uint64_t vaddr, uint64_t len), void *ctx);

/* "93ac61ec /usr/lib/libc.so.6" (EVENT_FRAME's text2). */
const char *images_file(const struct images *is, unsigned int image);

/* Looks up names for n addresses of one image, in one pass over its symbols. 0 or -ENOMEM. */
int images_name(struct images *is, unsigned int image, const uint64_t *vaddrs, size_t n);

/* What images_name has found; NULL: no symbol covers it, or it was not asked for. */
const char *images_function(const struct images *is, unsigned int image, uint64_t vaddr);

#endif
