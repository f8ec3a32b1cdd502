/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of -p: with --inject asks, then brings the helper into those that have none; says
 * which have one that begins for the first time. */
#ifndef SESSION_INJECT_TARGETS_H
#define SESSION_INJECT_TARGETS_H

#include "session/session_options.h"

/* EXIT_OK: go on; else logged */
int inject_targets_ask(const struct session_options *o);
int inject_targets(const struct session_options *o);	/* 0 or -errno, logged */

#endif
