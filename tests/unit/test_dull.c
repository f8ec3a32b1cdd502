// SPDX-License-Identifier: BSD-3-Clause
/* Which files are not looked at again, and for how long. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"
#include "probe/recheck.h"

#define T0 (100 * NS_PER_SEC)

static struct target_event mapped(uint64_t file, uint64_t ns)
{
	return (struct target_event){ .kind = TARGET_MMAP, .file = file, .time_ns = ns };
}

static bool is_cached(const struct scan_cache *d, uint64_t file, uint64_t ns)
{
	const struct target_event ev = mapped(file, ns);

	return scan_cache_has(d, &ev);
}

TEST(a_process_without_libraries_is_skipped_for_a_second)
{
	const struct target_event first = mapped(7, T0);
	struct scan_cache d = { 0 };

	assert_false(is_cached(&d, 7, T0));
	scan_cache_add(&d, &first);
	assert_true(is_cached(&d, 7, T0 + 1));
	assert_true(is_cached(&d, 7, T0 + NS_PER_SEC - 1));
	assert_false(is_cached(&d, 7, T0 + NS_PER_SEC));
	assert_false(is_cached(&d, 8, T0 + 1));		/* the next file of the same inode */
	scan_cache_free(&d);
}

/* Its number may have been given to a library since. */
TEST(a_file_with_an_ambiguous_key_is_read)
{
	const struct target_event first = mapped(0, T0);
	struct scan_cache d = { 0 };

	scan_cache_add(&d, &first);
	assert_false(is_cached(&d, 0, T0 + 1));
	scan_cache_free(&d);
}

TEST(a_file_that_was_changed_just_now_is_looked_at)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	const struct target_file file = { .fd = memfd_create("new", MFD_CLOEXEC) };

	assert_true(file.fd >= 0);
	assert_false(scan_cache_may_add(&file));
	assert_int_equal(futimens(file.fd, long_ago), 0);
	assert_true(scan_cache_may_add(&file));
	close(file.fd);
	assert_false(scan_cache_may_add(&file));		/* whatever it is */
}
