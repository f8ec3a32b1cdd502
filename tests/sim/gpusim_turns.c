// SPDX-License-Identifier: BSD-3-Clause
/*
 * GPUSIM_TURNS=1: processes have a device in turns, none beside another, as without MPS. The turn of a
 * device is a file on the board (GPUSIM_BOARD/turn-N), mapped by all: a process that gives work while another
 * process has it waits until that one has nothing left, and has it then. No process is interrupted, and
 * works behind a collective that has not begun take no turn.
 */
#include "gpusim_turns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpusim_board.h"
#include "gpusim_internal.h"

/* The last turn that was given out: whose, and from when to when; turns follow each other. */
struct turn {
	uint64_t pid, from_ns, until_ns;
};

static struct {
	struct turn *turn;
	int fd;
} open_turns[GPUSIM_MAX_DEVICES * (1 + GPUSIM_INSTANCES)];

static struct turn *open_turn(int device)
{
	const char *directory = getenv("GPUSIM_BOARD");
	char path[PATH_MAX];
	void *memory;
	int fd;

	snprintf(path, sizeof(path), "%s/turn-%d", directory ? directory : "", device);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, sizeof(struct turn))) {
		fprintf(stderr, "gpusim: GPUSIM_TURNS=1: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	memory = mmap(NULL, sizeof(struct turn), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		abort();
	open_turns[device].fd = fd;
	return memory;
}

/* Held by the open file: a process that is killed lets go of it. */
static void lock_turn(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	while (fcntl(fd, F_OFD_SETLKW, &lock) && errno == EINTR)
		;
}

static bool is_over(const struct turn *turn)
{
	return !turn->pid || (kill((pid_t)turn->pid, 0) && errno == ESRCH);
}

uint64_t gpusim_turn_take(int device, uint64_t begin_ns, uint64_t ns)
{
	uint64_t own = (uint64_t)getpid();
	struct turn *turn;

	if (!gpusim_world.config.turns)
		return begin_ns;
	device = gpusim_world.config.physical[device] +
		 GPUSIM_MAX_DEVICES * gpusim_world.config.instance;
	if (!open_turns[device].turn)
		open_turns[device].turn = open_turn(device);
	turn = open_turns[device].turn;
	lock_turn(open_turns[device].fd, F_WRLCK);
	if (turn->pid != own) {
		if (!is_over(turn))
			begin_ns = gpusim_max(begin_ns, turn->until_ns);
		*turn = (struct turn){ own, begin_ns, begin_ns };
	}
	begin_ns = gpusim_max(begin_ns, turn->from_ns);
	turn->until_ns = gpusim_max(turn->until_ns, gpusim_later(begin_ns, ns));
	lock_turn(open_turns[device].fd, F_UNLCK);
	return begin_ns;
}
