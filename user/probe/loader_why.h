/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loader says when it cannot go on. */
#ifndef PROBE_LOADER_WHY_H
#define PROBE_LOADER_WHY_H

#include <stdbool.h>

bool loader_why_not_here(void);	/* true, and the reason was logged: this is no place to profile from */
bool loader_why_final(int err);	/* no other way of attaching would mend this -errno */

/* What a way of attaching needs beside what all need. */
struct loader_needs {
	const char *what;		/* "uprobe multi links" */
	const char *since;		/* the Linux that brought it: "6.6" */
	unsigned int capability;	/* CAP_*; 0: none */
	const char *capability_name;
};

/* Logs why no way worked; `last` was tried last, as the only one unless `all`. The errno to return:
 * EPERM, ENOTSUP, ... */
int loader_why(int err, const struct loader_needs *last, bool all);

#endif
