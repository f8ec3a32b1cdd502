/* SPDX-License-Identifier: BSD-3-Clause */
/* --inject: asks, then brings the helper into the processes of -p that have none. */
#ifndef CLI_BRING_H
#define CLI_BRING_H

#include "cli/options.h"

int bring_ask(const struct options *o);		/* EXIT_OK: go on; else logged */
int bring_helpers(const struct options *o);	/* 0 or -errno, logged */

#endif
