/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of generated code, by the process's own /tmp/perf-PID.map (Java, node, PyPy, LuaJIT, XLA
 * ...): a line each, `START SIZE NAME`, numbers in hex. The file is untrusted: a process can lie
 * about its own names only. Private to the room.
 */
#ifndef STACK_PERFMAP_H
#define STACK_PERFMAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERFMAP_NAME_MAX 4096u		/* longer names are cut */
#define PERFMAP_BYTES_MAX (64u << 20)	/* the rest is not read */

struct perfmap_query {
	void *owner;		/* the caller's */
	uint64_t address;	/* in */
	uint64_t start;		/* out: where the function begins */
	char *name;		/* out: NULL: none. The caller frees */
};

/* Resolves n queries, which it sorts by address, in one pass. Of lines that overlap the last one
 * holds, since code is generated anew in the place of old code. 0 or -errno. */
int perfmap_name(int fd, struct perfmap_query *queries, size_t n);

/* Opens the map of a process as it sees it: its own mount and pid namespaces. A regular file that
 * its user or root owns, or -errno: ENOENT (there is none), EPERM (another user's), ENXIO (no
 * regular file) ... */
int perfmap_open(pid_t pid);

#endif
