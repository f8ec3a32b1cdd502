// SPDX-License-Identifier: BSD-3-Clause
/*
 * This process's file on the board: made with its first context, mapped until the process ends.
 */
#include "gpusim_board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpusim_internal.h"

static struct gpusim_board *board;
static bool tried;

static struct gpusim_board *open_board(const char *directory)
{
	struct flock alive = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	void *memory;
	int fd;

	snprintf(path, sizeof(path), "%s/" GPUSIM_BOARD_PREFIX "XXXXXX", directory);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0644) || ftruncate(fd, sizeof(struct gpusim_board)) ||
	    fcntl(fd, F_SETLK, &alive))
		return NULL;
	memory = mmap(NULL, sizeof(struct gpusim_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* The lock lasts as long as the descriptor. */
	return memory == MAP_FAILED ? NULL : memory;
}

static void open_once(void)
{
	const char *directory = getenv("GPUSIM_BOARD");

	if (tried || !directory || !*directory)
		return;
	tried = true;
	board = open_board(directory);
	if (board)
		board->version = GPUSIM_BOARD_VERSION;
	else
		fprintf(stderr, "gpusim: GPUSIM_BOARD=%s: cannot write there: %s\n", directory,
			strerror(errno));
}

bool gpusim_board_is_wanted(void)
{
	return board;
}

static struct gpusim_board_device *begin(int device)
{
	__atomic_add_fetch(&board->changes, 1, __ATOMIC_ACQ_REL);
	return &board->devices[gpusim_world.config.physical[device]];
}

static void end(void)
{
	__atomic_add_fetch(&board->changes, 1, __ATOMIC_RELEASE);
}

void gpusim_board_context(int device, int change)
{
	struct gpusim_board_device *got;

	open_once();
	if (!board)
		return;
	got = begin(device);
	got->contexts += (uint64_t)(int64_t)change;
	got->instance = (uint64_t)gpusim_world.config.instance;
	end();
}

void gpusim_board_memory(int device, uint64_t bytes)
{
	if (!board)
		return;
	begin(device)->memory_bytes = bytes;
	end();
}

void gpusim_board_work(int device, uint64_t start_ns, uint64_t end_ns)
{
	struct gpusim_board_device *got;

	if (!board)
		return;
	got = begin(device);
	if (start_ns > got->until_ns) {
		got->before_ns += got->until_ns - got->from_ns;
		got->from_ns = start_ns;
	} else if (start_ns < got->from_ns) {
		got->before_ns += (end_ns < got->from_ns ? end_ns : got->from_ns) - start_ns;
	}
	got->until_ns = gpusim_max(got->until_ns, end_ns);
	end();
}

void gpusim_board_vanished(int device)
{
	if (!board)
		return;
	begin(device)->vanished = true;
	end();
}

void gpusim_board_leave(void)
{
	uint64_t now_ns = gpusim_now_ns();
	int i;

	if (!board || gpusim_init()) /* a forked child shares its parent's */
		return;
	for (i = 0; i < gpusim_world.config.devices; i++) {
		struct gpusim_board_device *got = begin(i);

		if (got->until_ns > now_ns)
			got->until_ns = gpusim_max(got->from_ns, now_ns);
		end();
	}
}
