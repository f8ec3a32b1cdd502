/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes map which files, now (procfs) and soon (files a command is going to load);
 * from now on: target_watch.h. Knows nothing of probes.
 *
 * Files are named by what opens them from here whatever the mount namespace:
 * /proc/PID/map_files/START-END where permitted (works for deleted files), else /proc/PID/root +
 * path.
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct target_file {
	pid_t pid;		/* 0: no process maps it yet (target_expect) */
	uint64_t dev, ino;	/* of fstat on the opened file */
	const char *path;	/* as the process sees it; for messages and names */
	int fd;			/* open for reading; closed after the callback (dup to keep) */
};

/* Returns 0 to go on; another value ends the walk and is passed on. */
typedef int (*target_file_fn)(void *ctx, const struct target_file *file);

/* Every distinct file that pid maps executable. 0, fn's value, or -errno: ESRCH (gone, not
 * logged), EACCES (needs its user, root or CAP_SYS_PTRACE; not logged either). path has no "
 * (deleted)" at its end. */
int target_each_file(pid_t pid, target_file_fn fn, void *ctx);

bool target_is_hidden(pid_t pid);	/* it exists, but /proc does not show it to us (hidepid) */

/* The file behind one mapping event, if it is still there. 0, fn's value, or -errno (ENOENT: it
 * was unmapped, ESRCH). */
int target_mapped_file(pid_t pid, uint64_t start, uint64_t len, const char *path,
		       target_file_fn fn, void *ctx);

/* The file of a mapping that is gone, which had this path in the root of its process: found by path
 * and inode number in the root of any process that lives. 0, fn's value, or -errno (ENOENT: it is
 * in none). */
int target_unmapped_file(pid_t pid, uint64_t ino, const char *path, target_file_fn fn, void *ctx);

struct target_link {		/* a process and whose child it is */
	pid_t pid, parent;
	uint64_t start_ns;
	bool has_ended;		/* its first thread */
};

/* The parent of each process now; for several lookups of one moment. NULL + errno. */
struct target_tree {
	VEC(struct target_link) links;
};
struct target_tree *target_tree_read(void);
void target_tree_free(struct target_tree *tree);

/* Every process below pid (its children, theirs, ...); not pid itself. 0, or fn's value. */
int target_tree_each_below(const struct target_tree *tree, pid_t pid,
			   int (*fn)(void *ctx, pid_t pid), void *ctx);

/* The same, now. As target_each_pid. */
int target_each_descendant(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx);

/* The children of pid, as the kernel lists them for each of its threads; one that is born meanwhile
 * may be missed. 0, fn's value, or -errno. */
int target_each_child(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx);

/* Every process (thread group) of the host. */
int target_each_pid(int (*fn)(void *ctx, pid_t pid), void *ctx);

/*
 * Files that a command will probably map: its executable (PATH, #! interpreters), the closure of
 * its DT_NEEDED as the dynamic linker of this host resolves it (RUNPATH/RPATH with $ORIGIN,
 * LD_LIBRARY_PATH, LD_PRELOAD, ld.so.cache, the default directories), and, for dlopen, files of
 * LD_LIBRARY_PATH, of ld.so.cache and of a Python interpreter's site-packages/nvidia/ * /lib
 * whose base name `wanted` accepts (NULL: none). env is the command's environment. Wrappers
 * (env, nice, timeout, ...) are followed. 0, fn's value, or -errno, not logged since running the
 * command will fail likewise: ENOENT (no such command), ENOEXEC (no program).
 */
int target_expect(char *const argv[], char *const env[], bool (*wanted)(const char *basename),
		  target_file_fn fn, void *ctx);

/* The known facts of a process. Strings are owned by the caller's struct. */
struct target_process {
	pid_t pid, ppid;
	uid_t uid;
	uint64_t start_ns;	/* CLOCK_MONOTONIC, to the clock tick (10 ms) */
	uint32_t threads;
	bool ended;		/* a zombie: most of it cannot be read any more */
	char comm[16];
	char cmdline[256];	/* arguments joined by spaces, cut */
};
/* 0 or -errno (ESRCH: gone, or a thread of another process). */
int target_process_read(pid_t pid, struct target_process *out);
struct proc;
int target_process_from(struct proc *p, struct target_process *out);	/* of host/proc.h */

/* No thread of pid runs any more (gone, or a zombie); of one that is a process's first the
 * others may. */
bool target_process_ended(pid_t pid);

/* Calls fn for every thread of pid with its start time and comm. */
int target_each_thread(pid_t pid,
		       int (*fn)(void *ctx, pid_t tid, uint64_t start_ns, const char *comm),
		       void *ctx);

#endif
