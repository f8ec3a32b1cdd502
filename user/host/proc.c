// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads and parses the kernel's files about one process. Parts of them are the process's own
 * words (names, arguments, environment), so nothing is taken for more than bytes. Knows nothing
 * of its callers' purpose.
 */
#include "host/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/str.h"
#include "base/time.h"

#define KERNEL_THREAD 0x00200000u	/* PF_KTHREAD of linux/sched.h */
#define FORKED 0x40		/* PF_FORKNOEXEC */
#define OFFSETS_MAX 4096
#define HOST_PID_NAMESPACE 0xEFFFFFFCu	/* PROC_PID_INIT_INO of every kernel */

static const struct {
	const char *name;
	size_t max;		/* longer text is cut */
} files[PROC_FILES] = {
	[PROC_STAT] = { "stat", 4096 },
	[PROC_STATUS] = { "status", 65536 },
	[PROC_CMDLINE] = { "cmdline", 4096 },
	[PROC_CGROUP] = { "cgroup", 65536 },
	[PROC_ENVIRON] = { "environ", 4u << 20 },	/* the kernel's own limit is near */
};

/* Reading a file of a dying process gives ENOENT or ESRCH: both mean that it is gone. */
static int proc_error(int err)
{
	return err == ENOENT ? ESRCH : err;
}

int proc_open(struct proc *p, pid_t pid)
{
	char path[32];

	*p = (struct proc){ .pid = pid, .dir = -1 };
	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	p->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return p->dir < 0 ? -proc_error(errno) : 0;
}

void proc_close(struct proc *p)
{
	for (size_t i = 0; i < PROC_FILES; i++)
		free(p->file[i].text);
	io_close(&p->dir);
}

const char *proc_read(struct proc *p, enum proc_file file, size_t *len)
{
	int fd;

	if (!p->file[file].text && !p->file[file].err) {
		fd = openat(p->dir, files[file].name, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			p->file[file].text = io_read_start(fd, files[file].max, &p->file[file].len);
		if (!p->file[file].text)
			p->file[file].err = proc_error(errno);
		io_close(&fd);
	}
	if (len)
		*len = p->file[file].len;
	errno = p->file[file].err;
	return p->file[file].text;
}

bool proc_add_stopped(struct strbuf *out, pid_t pid, char state)
{
	if (state == 't')
		strbuf_addstr(out, "stopped by a debugger: it calls nothing until that lets it");
	else if (state == 'T')
		strbuf_addf(out, "stopped by a signal: it calls nothing until kill -CONT %d", pid);
	return proc_is_stopped(state);
}

bool proc_has_memory(const struct proc *p)
{
	int fd = openat(p->dir, "statm", O_RDONLY | O_CLOEXEC);
	char pages = '0';	/* the first digit */
	bool has = fd >= 0 && read(fd, &pages, 1) == 1 && pages != '0';

	io_close(&fd);
	return has;
}

/*
 * procfs counts from boot with suspended time (CLOCK_BOOTTIME). How much of it lay before the
 * start is not recorded; all of it is assumed, which is exact unless the host slept since. To a
 * reader in a time namespace it shows the times of that.
 */
static uint64_t monotonic_of_ticks(uint64_t ticks)
{
	uint64_t per_sec = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t mono = time_now_ns(), boot = time_boot_ns();
	uint64_t asleep = num_sub(boot, mono);
	uint64_t start = ticks / per_sec * NS_PER_SEC + ticks % per_sec * NS_PER_SEC / per_sec -
			 (uint64_t)time_own_shift()->boot_ns;

	/* Both clocks are read a moment apart: that is not sleep. */
	if (asleep < NS_PER_SEC / per_sec)
		asleep = 0;
	return num_sub(start, asleep);
}

/* "12 (a) b) S 1 ...": the name may hold anything, so it ends at the last parenthesis. */
int proc_parse_stat(const char *text, struct proc_stat *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned int flags;
	uint64_t ticks;

	if (!open || !close || close < open)
		return -EBADMSG;
	snprintf(out->comm, sizeof(out->comm), "%.*s", (int)(close - open - 1), open + 1);
	/* state ppid, 4 fields, flags, 10 fields, num_threads, itrealvalue, starttime */
	if (sscanf(close + 1, " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
		   "%*d %" SCNu32 " %*d %" SCNu64, &out->state, &out->ppid, &flags, &out->threads,
		   &ticks) != 5)
		return -EBADMSG;
	out->kernel = flags & KERNEL_THREAD;
	out->forked = flags & FORKED;
	out->start_ns = monotonic_of_ticks(ticks);
	return 0;
}

bool proc_stat_of(pid_t pid, struct proc_stat *out)
{
	struct proc p;
	const char *text = proc_open(&p, pid) ? NULL : proc_read(&p, PROC_STAT, NULL);
	bool is_read = text && !proc_parse_stat(text, out);

	proc_close(&p);
	return is_read;
}

bool proc_maps_any(pid_t pid, const char *const *parts, size_t n)
{
	char path[32], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && getline(&line, &size, maps) > 0)
		for (size_t i = 0; i < n && !found; i++)
			found = strstr(line, parts[i]);
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

const char *proc_status_field(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (text) {
		if (!strncmp(text, name, len) && text[len] == ':')
			return text + len + 1 + strspn(text + len + 1, " \t");
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

uint64_t proc_status_number(const char *text, const char *name)
{
	const char *at = proc_status_field(text, name);

	return at ? strtoull(at, NULL, 10) : 0;
}

/* "4711\t12": one number for each namespace, the host's first. */
uint32_t proc_inner_pid(const char *text)
{
	const char *pids = proc_status_field(text, "NSpid"), *last;

	last = pids ? memrchr(pids, '\t', strcspn(pids, "\n")) : NULL;
	return last ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
}

int64_t proc_clock_offset_ns(pid_t pid)
{
	char path[64], *text;
	int64_t ns;

	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", pid);
	text = io_read_file(path, OFFSETS_MAX, NULL);
	ns = text ? time_parse_shift(text).now_ns : 0;
	free(text);
	return ns;
}

bool proc_pids_are_hosts(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == HOST_PID_NAMESPACE;
}
