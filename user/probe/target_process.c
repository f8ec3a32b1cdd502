// SPDX-License-Identifier: BSD-3-Clause
/*
 * What procfs tells of processes and threads: names, parents, ages. Owns the parsing of
 * /proc/PID/stat. Knows nothing of mappings.
 */
#include "probe/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/time.h"
#include "probe/target_internal.h"

#define STAT_MAX 4096
#define STATUS_MAX 65536

struct task_stat {
	char comm[16];
	char state;
	pid_t ppid;
	uint32_t threads;
	uint64_t start_ns;
};

/* Reading a file of a dying process gives ENOENT or ESRCH: both mean that it is gone. */
static int proc_error(int err)
{
	return err == ENOENT ? -ESRCH : -err;
}

/*
 * procfs counts from boot with suspended time (CLOCK_BOOTTIME). How much of it lay before the
 * start is not recorded; all of it is assumed, which is exact unless the host slept since.
 */
static uint64_t monotonic_of_ticks(uint64_t ticks)
{
	uint64_t per_sec = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t mono = time_now_ns(), boot = time_boot_ns();
	uint64_t asleep = boot > mono ? boot - mono : 0;
	uint64_t start = ticks / per_sec * NS_PER_SEC + ticks % per_sec * NS_PER_SEC / per_sec;

	/* Both clocks are read a moment apart: that is not sleep. */
	if (asleep < NS_PER_SEC / per_sec)
		asleep = 0;
	return start > asleep ? start - asleep : 0;
}

/* "12 (a) b) S 1 ...": the name may hold anything, so it ends at the last parenthesis. */
static int parse_stat(char *text, struct task_stat *out)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t ticks;

	if (!open || !close || close < open)
		return -EBADMSG;
	*close = '\0';
	snprintf(out->comm, sizeof(out->comm), "%s", open + 1);
	/* state ppid, 15 fields, num_threads, itrealvalue, starttime */
	if (sscanf(close + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
		   "%*d %" SCNu32 " %*d %" SCNu64, &out->state, &out->ppid, &out->threads,
		   &ticks) != 4)
		return -EBADMSG;
	out->start_ns = monotonic_of_ticks(ticks);
	return 0;
}

static int read_stat(const char *path, struct task_stat *out)
{
	char *text = io_read_file(path, STAT_MAX, NULL);
	int rc;

	if (!text)
		return proc_error(errno);
	rc = parse_stat(text, out);
	free(text);
	return rc;
}

/* The real user id; -ESRCH when pid is a thread of another process. */
static int read_status(pid_t pid, uid_t *uid)
{
	char path[40], *text, *line;
	int tgid = 0, rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	text = io_read_file(path, STATUS_MAX, NULL);
	if (!text)
		return proc_error(errno);
	/* The kernel escapes newlines in Name:, so a line start is a field. */
	line = strstr(text, "\nTgid:");
	if (!line || sscanf(line, "\nTgid: %d", &tgid) != 1)
		rc = -EBADMSG;
	line = strstr(text, "\nUid:");
	if (!rc && (!line || sscanf(line, "\nUid: %u", uid) != 1))
		rc = -EBADMSG;
	if (!rc && tgid != pid)
		rc = -ESRCH;
	free(text);
	return rc;
}

static void read_cmdline(pid_t pid, char *out, size_t size)
{
	char path[40];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, out, size - 1);
		close(fd);
	}
	if (n < 0)
		n = 0;
	while (n && (out[n - 1] == '\0' || out[n - 1] == ' '))
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (out[i] == '\0')
			out[i] = ' ';
	out[n] = '\0';
}

int target_process_parent(pid_t pid, pid_t *parent)
{
	struct task_stat stat;
	char path[40];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	rc = read_stat(path, &stat);
	*parent = rc ? 0 : stat.ppid;
	return rc;
}

int target_process_read(pid_t pid, struct target_process *out)
{
	struct task_stat stat;
	char path[40];
	int rc;

	*out = (struct target_process){ .pid = pid };
	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	rc = read_stat(path, &stat);
	if (!rc)
		rc = read_status(pid, &out->uid);
	if (rc)
		return rc;
	out->ppid = stat.ppid;
	out->threads = stat.threads;
	out->start_ns = stat.start_ns;
	memcpy(out->comm, stat.comm, sizeof(out->comm));
	read_cmdline(pid, out->cmdline, sizeof(out->cmdline));
	return 0;
}

/* Calls fn for every entry of dir that is a number. 0, fn's value, or -errno. */
static int each_number(const char *dir, int (*fn)(void *ctx, pid_t id), void *ctx)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int rc = 0;

	if (!d)
		return proc_error(errno);
	while (!rc && (entry = readdir(d)))
		if (isdigit((unsigned char)entry->d_name[0]))
			rc = fn(ctx, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(d);
	return rc;
}

int target_each_pid(int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	return each_number("/proc", fn, ctx);
}

struct thread_walk {
	pid_t pid;
	int (*fn)(void *ctx, pid_t tid, uint64_t start_ns, const char *comm);
	void *ctx;
};

static int read_thread(pid_t pid, pid_t tid, struct task_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	return read_stat(path, stat);
}

static int visit_thread(void *ctx, pid_t tid)
{
	struct thread_walk *tw = ctx;
	struct task_stat stat;
	int rc = read_thread(tw->pid, tid, &stat);

	if (rc)
		return rc == -ESRCH ? 0 : rc;	/* ended meanwhile */
	return tw->fn(tw->ctx, tid, stat.start_ns, stat.comm);
}

int target_each_thread(pid_t pid,
		       int (*fn)(void *ctx, pid_t tid, uint64_t start_ns, const char *comm),
		       void *ctx)
{
	struct thread_walk tw = { .pid = pid, .fn = fn, .ctx = ctx };
	char dir[40];

	if (pid <= 0)
		return -ESRCH;
	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	return each_number(dir, visit_thread, &tw);
}

/* A thread that went away while it was looked at counts as alive: it may have a new number. */
static int visit_state(void *ctx, pid_t tid)
{
	struct task_stat stat;

	if (read_thread(*(const pid_t *)ctx, tid, &stat))
		return 1;
	return stat.state != 'Z' && stat.state != 'X';
}

/*
 * A thread that calls exec takes the place of the first one in a single step: a walk across this
 * step meets neither, a second walk meets the new one.
 */
bool target_process_ended(pid_t pid)
{
	bool alive = false;
	char dir[40];

	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	for (int walk = 0; walk < 2 && !alive; walk++)
		alive = each_number(dir, visit_state, &pid) > 0;
	return !alive;
}
