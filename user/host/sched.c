// SPDX-License-Identifier: BSD-3-Clause
/* Three files of /proc/PID/task/TID, each read once and at once: they change meanwhile. */
#include "host/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

#define TEXT_MAX 512	/* of stat, up to the state it is far less */

/* Its beginning, as a string: 0 or -errno. */
static int read_start(pid_t pid, pid_t tid, const char *name, char text[TEXT_MAX])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
	text[n < 0 ? 0 : n] = '\0';
	io_close(&fd);
	return n >= 0 ? 0 : errno == ENOENT ? -ESRCH : -errno;
}

int sched_read_times(pid_t pid, pid_t tid, struct sched_times *out)
{
	char text[TEXT_MAX];
	int err = read_start(pid, tid, "schedstat", text);

	if (err)
		return err;
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &out->ran_ns, &out->delayed_ns) != 2 ||
	    !out->ran_ns)
		return -ENODATA;
	return 0;
}

char sched_read_state(pid_t pid, pid_t tid, long *number)
{
	char text[TEXT_MAX], state = 0;
	const char *close;

	if (number)
		*number = SCHED_UNKNOWN;
	if (read_start(pid, tid, "stat", text) || !(close = strrchr(text, ')')) ||
	    sscanf(close + 1, " %c", &state) != 1)
		return 0;
	if (!number || (state != 'S' && state != 'D'))
		return state;
	/* "202 0x7f...": its arguments follow; "running": it was woken meanwhile. */
	if (!read_start(pid, tid, "syscall", text) && sscanf(text, "%ld", number) != 1)
		*number = SCHED_UNKNOWN;
	return state;
}
