/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which file an open file really is, for the kernel's uprobes: they belong to an inode, and on
 * overlayfs that is the inode below. fstat(2) shows another one for each overlay, so a file keyed
 * by it would be probed several times and every call counted as often.
 */
#ifndef PROBE_FILE_KEY_H
#define PROBE_FILE_KEY_H

#include <stdint.h>

#include "probe/loader.h"

struct file_key {
	uint64_t dev, ino;	/* dev in the kernel's own encoding: compare with keys only */
};

/* Maps a page of the file and asks the kernel what is mapped there. 0 or -errno, not logged. */
int file_key_read(const struct loader *l, int fd, struct file_key *out);

#endif
