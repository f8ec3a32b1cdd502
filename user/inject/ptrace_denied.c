// SPDX-License-Identifier: BSD-3-Clause
/* See the header. The order is that in which the kernel asks, but what nobody may comes first. */
#include "inject/ptrace_denied.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "host/caps.h"
#include "host/proc.h"

#define SCOPE "kernel.yama.ptrace_scope"
#define NOBODY 3	/* of it */

void denied_read(struct denied *d, pid_t pid)
{
	char path[64], *text = io_read_file("/proc/sys/kernel/yama/ptrace_scope", 64, NULL), *status;
	const char *uid;

	/* The owner of its files is root where it may not be dumped. */
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = io_read_file(path, 65536, NULL);
	uid = status ? proc_status_field(status, "Uid") : NULL;
	*d = (struct denied){ .own = geteuid(), .scope = text ? atoi(text) : -1,
			      .can = caps_have(CAP_SYS_PTRACE) };
	d->uid = uid ? (uid_t)strtoul(uid, NULL, 10) : d->own;
	free(text);
	free(status);
}

const char *denied_reading(void)
{
	return caps_have(CAP_SYS_PTRACE) ? "something forbids it although CAP_SYS_PTRACE is there (a security "
		"module, a user namespace; dmesg may tell)" : "run as its user or root, or with CAP_SYS_PTRACE";
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
