/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source file with what its lines did (view/lines.c) beside them: `report --annotate FILE`. Lines
 * far from any that did something are left out unless all are wanted. Of several processes the sums
 * are shown. Sample:
 *
 *   /srv/train.py: of pid 402 (python3)
 *
 *       device        host        idle    syncs  launches
 *            -   210.4 us           -        -        40    12      y = model(x)
 *            -    12.30 ms   11.02 ms       40         -    13      loss = y.sum().item()
 *   ...
 */
#ifndef VIEW_ANNOTATE_H
#define VIEW_ANNOTATE_H

#include "model/snapshot.h"

/* path is the source as its user names it; a capture's files match by their last components.
 * EXIT_OK, or EXIT_FAIL, logged: it cannot be read, or no line of it is known. */
int annotate_add(struct strbuf *out, const struct snapshot *snap, const char *path, bool whole);

#endif
