/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper as it was built, which gpuprof carries inside. */
#ifndef INJECT_IMAGE_H
#define INJECT_IMAGE_H

#include <stddef.h>

#define INJECT_FILE "libgpuprof.so"	/* its name where it is a file */
#define IMAGE_MEMORY "gpuprof-helper"	/* ... and of the memfd */

const void *inject_image(size_t *len);

/* A sealed memfd with the helper, close-on-exec. -errno. */
int inject_image_open(void);

#endif
