/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the loaded programs do for calls that began before their probes: registers of threads with
 * what is known of them, seeds, and probes on the instructions that such calls return to. Used by
 * one thread at a time.
 */
#ifndef PROBE_LOADER_SEED_H
#define PROBE_LOADER_SEED_H

#include <stdbool.h>

#include "probe/loader.h"
#include "probe/loader_regs.h"

/* As loader_read_regs, by the session's own programs: flags say which threads were seen. */
int loader_look(struct loader *l, const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx);

/* From now on tid is known to be in a call; until it returns, ends, or is forgotten. 0 or -errno */
int loader_seed(struct loader *l, uint32_t tid, const struct gp_seed *seed);
bool loader_is_seeded(struct loader *l, uint32_t tid);
void loader_forget_seed(struct loader *l, uint32_t tid);

/* Probes an instruction of a file in process pid, which seeded calls return to. A link's fd, the
 * caller's; or -errno, not logged: -524 (ENOTSUPP) it cannot be probed, -ESRCH. */
int loader_attach_left(struct loader *l, const char *path, uint64_t offset, pid_t pid);
void loader_close_links(int *fds, size_t n);	/* all at once */
int loader_keep_link(struct loader *l, int fd);	/* closed by loader_detach from now on; 0 or -ENOMEM */

#endif
