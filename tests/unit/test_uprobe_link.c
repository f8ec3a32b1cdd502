// SPDX-License-Identifier: BSD-3-Clause
/* Closing links: every one, however many, and nothing else. Any file descriptor will do. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "probe/loader.c"
#include "lib/test.h"

TEST_TITLED("links: all are closed, some at once", closes_all)
{
	static const size_t counts[] = { 0, 1, 2, 17, 18, 100 };
	int fds[100], other = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(other >= 0);
	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		for (size_t i = 0; i < counts[k]; i++) {
			fds[i] = fcntl(other, F_DUPFD_CLOEXEC, 0);
			assert_true(fds[i] >= 0);
		}
		link_close_all(fds, counts[k]);
		for (size_t i = 0; i < counts[k]; i++) {
			assert_int_equal(fcntl(fds[i], F_GETFD), -1);
			assert_int_equal(errno, EBADF);
		}
		assert_true(fcntl(other, F_GETFD) >= 0);
	}
	close(other);
}
