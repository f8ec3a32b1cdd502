// SPDX-License-Identifier: BSD-3-Clause
/* Three files of /proc/PID/task/TID, each read at once: they change meanwhile. Most of the cost is
 * to open them. */
#include "host/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

#define TEXT_MAX 512	/* of stat, up to the state it is far less */

enum { TIMES, STATE, SYSCALL };

static const char *const names[SCHED_FILES] = { [TIMES] = "schedstat", [STATE] = "stat",
						 [SYSCALL] = "syscall" };

/* Its beginning, as a string: 0 or -errno. */
static int read_start(struct sched_thread *t, int file, char text[TEXT_MAX])
{
	char path[64];
	ssize_t n;

	if (t->fd[file] < 0) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", t->pid, t->tid, names[file]);
		t->fd[file] = open(path, O_RDONLY | O_CLOEXEC);
	}
	n = t->fd[file] < 0 ? -1 : pread(t->fd[file], text, TEXT_MAX - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	return n >= 0 ? 0 : errno == ENOENT ? -ESRCH : -errno;
}

void sched_thread_close(struct sched_thread *t)
{
	for (int i = 0; i < SCHED_FILES; i++)
		io_close(&t->fd[i]);
}

int sched_read_times(struct sched_thread *t, struct sched_times *out)
{
	char text[TEXT_MAX];
	int err = read_start(t, TIMES, text);

	if (err)
		return err;
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &out->ran_ns, &out->delayed_ns) != 2 ||
	    !out->ran_ns)
		return -ENODATA;
	return 0;
}

char sched_read_state(struct sched_thread *t, long *number)
{
	char text[TEXT_MAX], state = 0;
	const char *close;

	if (number)
		*number = SCHED_UNKNOWN;
	if (read_start(t, STATE, text) || !(close = strrchr(text, ')')) ||
	    sscanf(close + 1, " %c", &state) != 1)
		return 0;
	if (!number || (state != 'S' && state != 'D'))
		return state;
	/* "202 0x7f...": its arguments follow; "running": it was woken meanwhile. */
	if (!read_start(t, SYSCALL, text) && sscanf(text, "%ld", number) != 1)
		*number = SCHED_UNKNOWN;
	return state;
}
