/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of processes as they happen: mappings, execs, forks and exits. */
#ifndef TARGET_TARGET_WATCH_H
#define TARGET_TARGET_WATCH_H

#include <stdint.h>
#include <sys/types.h>

enum target_event_kind { TARGET_MMAP = 1, TARGET_EXEC, TARGET_FORK, TARGET_EXIT, TARGET_MISSED };

struct target_event {
	uint8_t kind;		/* enum target_event_kind */
	pid_t pid;		/* thread group; FORK: the parent */
	pid_t child;		/* FORK of a process (not of a thread) */
	/* the watch's root that it is, or is below; 0: the whole host */
	pid_t root;
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	uint64_t start, len;	/* MMAP of an executable mapping */
	uint64_t ino;		/* MMAP: of the file, as the kernel shows it in maps */
	/* MMAP: another number, another file. 0: unknown whether the inode number was reused,
	 * for its file system has no generations of inodes */
	uint64_t file;
	const char *text;	/* MMAP: path; EXEC: comm; valid during the call */
	/* MISSED: how many events were lost, since time_ns or before (rescan) */
	uint64_t missed;
};

struct target_watch;

/* Watches pid, its descendants and their forks, or the whole host (pid -1). NULL + errno, logged
 * (EACCES/EPERM names CAP_PERFMON) but for ESRCH. */
struct target_watch *target_watch_new(pid_t pid);

/* Watches pid, too: 0, -ENOMEM, -ESRCH, or -EINVAL: this watch is of the whole host already. */
int target_watch_add(struct target_watch *w, pid_t pid);
int target_watch_fd(const struct target_watch *w);	/* an epoll fd: readable when events wait */
/*
 * Delivers waiting events, in the order of time, as long as they come; 0 or -ENOMEM. An event
 * that perf delivers late may still be older than one of the call before. EXIT is sent once the
 * last thread has exited, so possibly later than events that came after it; its time is right,
 * or, where it was lost, that of its discovery. MISSED comes last, and once a second at most,
 * however often events are lost.
 */
int target_watch_read(struct target_watch *w,
		      void (*fn)(void *ctx, const struct target_event *ev), void *ctx);
void target_watch_free(struct target_watch *w);

#endif
