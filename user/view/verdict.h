/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report's first words, in at most three sentences: the largest avoidable loss, its cause and
 * share, its evidence, what removing it saves at most, and the next command. Made of findings;
 * where nothing is known of devices, the reason, and bounds by the calls of the launching
 * thread. Sample:
 *
 *   28.1 % of device 0 (pid 12, train) is lost to input-stall: thread 12 (train) is in no call ...
 *   Evidence: 30 times, 19.1 ms each, 40.2 ms at most; without it at most 28.1 % is gained.
 *   Next: gpuprof stacks -p 12
 */
#ifndef VIEW_VERDICT_H
#define VIEW_VERDICT_H

#include "model/snapshot.h"

/* Appends the sentences, each on lines of its own without the last newline; nothing where
 * nothing was seen. 0 or -errno. */
int verdict_add(struct strbuf *out, const struct snapshot *snap);

#endif
