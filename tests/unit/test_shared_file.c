// SPDX-License-Identifier: BSD-3-Clause
/* The helper's file for root's commands: where it is made, that it is whole, and what is passed over. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/install.c"
#include "base/io.h"
#include "lib/test.h"

static char place[64], first[80], second[80];
static const char *const places[] = { first, second, NULL };

BEFORE_EACH
{
	umask(077);
	snprintf(place, sizeof(place), "/tmp/gpuprof-shared-XXXXXX");
	assert_non_null(mkdtemp(place));
	snprintf(first, sizeof(first), "%s/first", place);
	snprintf(second, sizeof(second), "%s/second", place);
	assert_true(!mkdir(first, 0755) && !mkdir(second, 0755));
}

AFTER_EACH
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", place);
	assert_int_equal(system(command), 0);
}

static bool is_below(const char *path, const char *dir)
{
	return path && !strncmp(path, dir, strlen(dir)) && path[strlen(dir)] == '/';
}

static void must_be_whole(const char *path)
{
	size_t len, got;
	const void *image = inject_image(&len);
	char *text = io_read_file(path, len, &got), dir[PATH_MAX];
	struct stat st;

	assert_non_null(text);
	assert_int_equal(got, len);
	assert_memory_equal(text, image, len);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	free(text);
}

TEST(it_is_whole_and_for_all_to_read_and_the_same_again)
{
	char *path = shared_file_make_in(places), *again = shared_file_make_in(places);

	assert_true(is_below(path, first));
	assert_int_equal(setenv(INJECT_CUDA, path, 1), 0);
	assert_null(inject_foreign(INJECT_CUDA));
	unsetenv(INJECT_CUDA);
	assert_string_equal(path, again);
	must_be_whole(path);
	free(path);
	free(again);
}

TEST(what_is_damaged_is_made_anew)
{
	char *path = shared_file_make_in(places), *again;

	assert_non_null(path);
	assert_int_equal(truncate(path, 100), 0);
	again = shared_file_make_in(places);
	assert_string_equal(path, again);
	must_be_whole(again);
	free(path);
	free(again);
}

TEST(where_others_can_write_it_is_not)
{
	char *path;

	assert_int_equal(chmod(first, 0777), 0);
	path = shared_file_make_in(places);
	assert_true(is_below(path, second));
	assert_int_equal(rmdir(first), 0);
	free(path);
	assert_int_equal(chmod(second, 0777), 0);
	assert_null(shared_file_make_in(places));
}

/* As in a directory for all: who was there before us can replace what lies in it. */
TEST(what_another_made_under_its_name_is_not_used)
{
	char *path = shared_file_make_in(places), *dir, *other;

	assert_non_null(path);
	dir = strndup(path, (size_t)(strrchr(path, '/') - path));
	assert_non_null(dir);
	assert_int_equal(geteuid() ? chmod(dir, 0777) : chown(dir, 65534, 65534), 0);
	other = shared_file_make_in(places);
	assert_true(is_below(other, second));
	free(other);
	free(path);
	free(dir);
}

/* A user's is in the runtime directory, or, where that forbids programs, in one for all. */
TEST(a_user_has_one_of_their_own)
{
	char *path, *other;

	setenv("XDG_RUNTIME_DIR", first, 1);
	if (!geteuid()) {
		assert_int_equal(chmod(place, 0711) | chown(first, 65534, 65534) | seteuid(65534), 0);
		path = shared_file_make();
		unsetenv("XDG_RUNTIME_DIR");
		other = shared_file_make();
		assert_int_equal(seteuid(0), 0);
	} else {
		path = shared_file_make();
		unsetenv("XDG_RUNTIME_DIR");
		other = shared_file_make();
	}
	assert_true(is_below(path, first));
	assert_non_null(other);
	assert_false(is_below(other, first));
	assert_int_equal(unlink(other), 0);
	*strrchr(other, '/') = '\0';
	assert_int_equal(rmdir(other), 0);
	free(path);
	free(other);
}
