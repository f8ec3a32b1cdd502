// SPDX-License-Identifier: BSD-3-Clause
/* See the header. The order is that in which the kernel asks, but what nobody may comes first. */
#include "inject/denied.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "probe/caps.h"

#define SCOPE "kernel.yama.ptrace_scope"
#define NOBODY 3	/* of it */

void denied_read(struct denied *d, pid_t pid)
{
	char path[64], *text = io_read_file("/proc/sys/kernel/yama/ptrace_scope", 64, NULL);
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	*d = (struct denied){ .own = geteuid(), .scope = text ? atoi(text) : -1,
			      .can = caps_have(CAP_SYS_PTRACE) };
	d->uid = stat(path, &st) ? d->own : st.st_uid;
	free(text);
}

void denied_say(const struct denied *d, char *out, size_t size)
{
	static const char sudo[] = "run gpuprof as root or with sudo";

	if (d->scope >= NOBODY)
		snprintf(out, size, "nobody may trace a process here until the next boot (" SCOPE " is %d); start "
			 "it with `gpuprof env`", d->scope);
	else if (d->can)
		snprintf(out, size, "something forbids it although CAP_SYS_PTRACE is there (a security module, a "
			 "user namespace; dmesg may tell); start it with `gpuprof env`");
	else if (d->uid != d->own)
		snprintf(out, size, "it is user %u's, not yours, and CAP_SYS_PTRACE is missing; %s", d->uid, sudo);
	else if (d->scope > 0)
		snprintf(out, size, SCOPE " is %d: without CAP_SYS_PTRACE nobody may trace what runs already; %s",
			 d->scope, sudo);
	else
		snprintf(out, size, "it has rights that you have not, and CAP_SYS_PTRACE is missing; %s", sudo);
}
