/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loader says when it cannot go on. */
#ifndef PROBE_LOADER_WHY_H
#define PROBE_LOADER_WHY_H

#include <stdbool.h>

bool loader_why_not_here(void);	/* true, and the reason was logged: this is no place to profile from */
bool loader_why_final(int err);	/* no other way of attaching would mend this -errno */
int loader_why(int err);	/* logs why no way worked; the errno to return: EPERM, ENOTSUP, ... */

#endif
