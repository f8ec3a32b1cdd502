/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of one process in /proc: each is read when it is first needed, and once. All are of
 * the same process, also when its pid is reused meanwhile: then they are missing.
 */
#ifndef HOST_PROC_H
#define HOST_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum proc_file { PROC_STAT, PROC_STATUS, PROC_CMDLINE, PROC_CGROUP, PROC_ENVIRON, PROC_FILES };

struct strbuf;

struct proc {
	pid_t pid;
	int dir;		/* /proc/PID */
	struct {
		char *text;	/* NUL-terminated, cut at a limit; NULL: not read yet, or err */
		size_t len;
		int err;
	} file[PROC_FILES];
};

int proc_open(struct proc *p, pid_t pid);	/* 0, or -errno: ESRCH; close it in both cases */
void proc_close(struct proc *p);

/* The text of a file, or NULL + errno: ESRCH (gone), EACCES, ENOMEM. Lives until proc_close. */
const char *proc_read(struct proc *p, enum proc_file file, size_t *len);

struct proc_stat {
	char comm[16];
	char state;
	bool kernel;		/* a thread of the kernel's own */
	bool forked;		/* it runs its parent's program */
	pid_t ppid;
	uint32_t threads;
	uint64_t start_ns;	/* CLOCK_MONOTONIC, to the clock tick (10 ms) */
};

int proc_parse_stat(const char *text, struct proc_stat *out);	/* 0 or -EBADMSG */
/* false: it is gone, or cannot be read */
bool proc_stat_of(pid_t pid, struct proc_stat *out);

/* Does it map a file whose path (or [name]) holds one of these n parts? false also when its maps
 * cannot be read. */
bool proc_maps_any(pid_t pid, const char *const *parts, size_t n);

/* Not of one that is about to end: what is read of it from when its memory goes until it is a
 * zombie has no environment, and no open files. */
bool proc_has_memory(const struct proc *p);

/* Of a state as stat has it: by a signal, or a debugger. */
static inline bool proc_is_stopped(char state)
{
	return state == 'T' || state == 't';
}

/* Appends the reason why a process of this state (of its stat) is stopped and the way to
 * continue it; false: it is not. */
bool proc_add_stopped(struct strbuf *out, pid_t pid, char state);

/* A line "Name:  value" of the file `status` or of another one in procfs: the value behind the name
 * and white space, up to its line's end; NULL: there is none, or no text. The kernel escapes
 * newlines in names, so a line start is one. */
const char *proc_status_field(const char *text, const char *name);

/* The number (decimal, not below 0) that begins a line's value; 0: there is no such line. */
uint64_t proc_status_number(const char *text, const char *name);

/* Of the file `status`: the pid in the process's own namespace; 0: it has none but ours. */
uint32_t proc_inner_pid(const char *text);

/* Its time namespace's offset to the host's CLOCK_MONOTONIC; 0: none, or it is gone. */
int64_t proc_clock_offset_ns(pid_t pid);

/* Are pids here those of the host, which are all that BPF knows? */
bool proc_pids_are_hosts(void);

#endif
