// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "inject/environment.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/str.h"
#include "inject/image.h"

bool inject_is_ours(const char *path)
{
	return !strcmp(str_basename(path), INJECT_FILE) || !fnmatch("/proc/*/fd/*", path, FNM_PATHNAME);
}

const char *inject_foreign(const char *name)
{
	const char *path = getenv(name);

	return path && *path && !inject_is_ours(path) ? path : NULL;
}

#define HIGH 1000	/* a limit of 1024 is usual */

/* One that outlives exec. Programs that the command starts may close it and give its number to a pipe of
 * theirs: CUDA would wait there for the helper's first bytes. So high that they do not get there. */
static int keep_for_programs(int fd)
{
	for (int least = HIGH; least; least /= 2) {
		int kept = fcntl(fd, F_DUPFD, least);

		if (kept >= 0)
			return kept;
	}
	return -1;
}

/* After exec: may it look into other users' processes? */
static bool will_see_others(void)
{
	return geteuid() ? prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SYS_PTRACE, 0, 0) > 0 :
			   prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) != 0;
}

/* What the command starts may have closed its descriptors (Python does, and so torchrun, mpirun): it finds
 * the helper in the command, which is its user's. When that has ended, its pid may be another user's: who
 * could see what that one lays there finds the helper in itself only. So does who has another /proc. */
static void name_file(int fd, char *out, size_t size)
{
	char self[24] = "";

	if (will_see_others() || readlink("/proc/self", self, sizeof(self) - 1) < 0 ||
	    atoi(self) != getpid())
		snprintf(self, sizeof(self), "self");
	snprintf(out, size, "/proc/%s/fd/%d", self, fd);
}

void inject_environment(const char *file, int fd)
{
	const char *before = inject_foreign(INJECT_CUDA);
	int kept = file ? -1 : keep_for_programs(fd);
	char path[64], reader[24];

	if (!file && kept < 0)
		return;
	if (!file)
		name_file(kept, path, sizeof(path));
	if (before)
		setenv(INJECT_CHAIN, before, 1);
	setenv(INJECT_CUDA, file ? file : path, 1);
	if (!inject_foreign(INJECT_NVTX))
		setenv(INJECT_NVTX, file ? file : path, 1);
	snprintf(reader, sizeof(reader), "%d", (int)getppid());
	setenv("GPUPROF_ARM", reader, 0);
}
