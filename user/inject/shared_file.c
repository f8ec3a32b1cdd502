// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "inject/shared_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/log.h"
#include "inject/image.h"
#include "inject/install.h"

/* Two that share a name would only replace each other. */
static uint64_t hash_image(void)
{
	size_t len;
	const void *image = inject_image(&len);

	return XXH64(image, len, 0);
}

/* Asked before anything is written there. */
static bool lets_execute(const char *place)
{
	struct statvfs fs;

	return !statvfs(place, &fs) && !(fs.f_flag & (ST_NOEXEC | ST_RDONLY));
}

/* A security module may still say no. */
static bool can_be_loaded(const char *path)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *code;

	if (fd < 0)
		return false;
	code = mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	io_close(&fd);
	return code != MAP_FAILED && !munmap(code, (size_t)page);
}

static char *make_in(const char *place)
{
	char dir[PATH_MAX], why[INSTALL_WHY_BYTES] = "", *path = NULL;

	/* Each user's own: in a directory for all, who is there first owns the name. */
	snprintf(dir, sizeof(dir), "%s/gpuprof-%u-%016" PRIx64, place, geteuid(), hash_image());
	if (install_helper_quietly(dir, &path, why) < 0)
		log_debug("%s", why);
	if (path && can_be_loaded(path))
		return path;
	free(path);
	return NULL;
}

char *shared_file_make_in(const char *const *places)
{
	char *path = NULL;

	for (; *places && !path; places++)
		if (lets_execute(*places))
			path = make_in(*places);
	return path;
}

/* Many hosts forbid programs in /run, containers in /dev/shm. */
char *shared_file_make(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *installed = install_default_dir(), *path;

	if (!geteuid())
		path = shared_file_make_in((const char *const[]){ "/run", "/dev/shm", NULL });
	else
		path = shared_file_make_in((const char *const[]){
			runtime && *runtime == '/' ? runtime : "/dev/shm", "/dev/shm", NULL });
	if (!path && installed)
		path = make_in(installed);	/* which is made if need be */
	free(installed);
	return path;
}
