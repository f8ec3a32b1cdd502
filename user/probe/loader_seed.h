/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the loaded programs know of calls that began before their probes: registers of threads, and
 * which threads were in one. Used by one thread at a time.
 */
#ifndef PROBE_LOADER_SEED_H
#define PROBE_LOADER_SEED_H

#include <stdbool.h>

#include "probe/loader.h"
#include "probe/loader_regs.h"

/* As loader_read_regs, by the session's own programs: flags say which threads were seen. */
int loader_look(struct loader *l, const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx);

/* A thread that was in a call when its probes came: its end is sent though it makes no call that is
 * seen. 0 or -errno */
int loader_mark_in_flight(struct loader *l, uint32_t tid);
bool loader_is_in_flight(struct loader *l, uint32_t tid);	/* marked, and it has not ended */
void loader_forget_in_flight(struct loader *l, uint32_t tid);

#endif
