// SPDX-License-Identifier: BSD-3-Clause
/* Where the helper's file is put: what is made on the way, and that nothing is where others could replace it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/install.h"
#include "lib/test.h"

#define UID_NOBODY 65534

static char place[64];

BEFORE_EACH
{
	umask(022);
	snprintf(place, sizeof(place), "/tmp/gpuprof-install-XXXXXX");
	assert_true(mkdtemp(place) && !chdir(place));
}

AFTER_EACH
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", place);
	assert_true(!chdir("/") && !system(command));
}

static int install(const char *dir)
{
	char *path = NULL;
	int rc = install_helper(dir, &path);

	assert_true((rc >= 0) == (path != NULL));
	if (path)
		assert_int_equal(access(path, R_OK), 0);
	free(path);
	return rc;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_mode & 07777;
}

TEST(what_is_missing_is_made_readable_by_all)
{
	char dir[PATH_MAX];

	umask(077);
	snprintf(dir, sizeof(dir), "%s/a//b/./c/", place);
	assert_int_equal(install(dir), 0);
	assert_int_equal(install(dir), 1);
	assert_int_equal(mode_of("a"), 0755);
	assert_int_equal(mode_of("a/b/c"), 0755);
	assert_int_equal(mode_of("a/b/c/libgpuprof.so"), 0644);
	assert_int_equal(install("a/new/../b/d"), 0);
	assert_int_equal(mode_of("a/b/d/libgpuprof.so"), 0644);
	assert_int_equal(symlink("a/far", "link"), 0);
	assert_int_equal(install("link"), 0);
	assert_int_equal(mode_of("a/far/libgpuprof.so"), 0644);
}

/* What was made there its owner could replace by a link, before it was given its mode. */
TEST(nothing_is_made_where_others_can_write)
{
	assert_int_equal(mkdir("open", 0755) || chmod("open", 0777), 0);
	assert_int_equal(install("open/new/deep"), -EPERM);
	assert_int_equal(install("open/../open/new"), -EPERM);
	assert_int_equal(mode_of("open/new"), 0);
	if (geteuid())
		return;
	assert_int_equal(chmod("open", 0755) || chown("open", UID_NOBODY, UID_NOBODY), 0);
	assert_int_equal(install("open/new/deep"), -EPERM);
	assert_int_equal(mode_of("open/new"), 0);
}

TEST(no_other_users_link_is_followed)
{
	assert_int_equal(mkdir("ours", 0755) || symlink("ours", "link"), 0);
	if (geteuid())
		skip();
	assert_int_equal(lchown("link", UID_NOBODY, UID_NOBODY), 0);
	assert_int_equal(install("link/new"), -EPERM);
	assert_int_equal(mode_of("ours/new"), 0);
}

TEST(what_is_no_directory_is_refused)
{
	assert_int_equal(symlink("round", "round"), 0);
	assert_int_equal(install("round/new"), -ELOOP);
	assert_int_equal(mknod("file", S_IFREG | 0755, 0), 0);
	assert_int_equal(install("file"), -ENOTDIR);
	assert_int_equal(install("file/new"), -ENOTDIR);
	assert_int_equal(install(""), -ENOENT);
}
