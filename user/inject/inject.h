/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings the helper into a process. gpuprof carries it inside, so that no file must be where the
 * target can see it: a process that is started here inherits a descriptor of it.
 */
#ifndef INJECT_INJECT_H
#define INJECT_INJECT_H

/* A sealed memfd with the helper, close-on-exec. -errno. */
int inject_image_open(void);

/* In the child, before exec: lets fd live on and sets what makes the CUDA driver load it and the
 * helper wait for its reader. An injection that the user has asked for is loaded after ours. */
void inject_environment(int fd);

#endif
