// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads what the processes of the simulation wrote on the board. Each answer reads all files anew.
 */
#include "libnvml.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 1000, PROCESSES = 256 };

/* False: no board, or its process never ends to write it. */
static bool copy_whole(int fd, struct gpusim_board *out)
{
	uint32_t after;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (pread(fd, out, sizeof(*out), 0) != sizeof(*out) ||
		    pread(fd, &after, sizeof(after), offsetof(struct gpusim_board, changes)) !=
			    sizeof(after))
			return false;
		if (!(after & 1) && after == out->changes)
			return out->version == GPUSIM_BOARD_VERSION;
	}
	return false;
}

static int holder_of(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

static bool read_process(int directory, const char *name, int device, struct nvml_presence *out)
{
	struct gpusim_board board;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool whole;

	if (fd < 0)
		return false;
	whole = copy_whole(fd, &board);
	if (whole) {
		out->pid = holder_of(fd);
		out->device = board.devices[device];
	}
	close(fd);
	return whole;
}

unsigned int nvml_board_read(int device, struct nvml_presence *out, unsigned int room)
{
	const char *path = getenv("GPUSIM_BOARD");
	DIR *directory = path && *path ? opendir(path) : NULL;
	const struct dirent *entry;
	unsigned int count = 0;

	if (!directory)
		return 0;
	while (count < room && (entry = readdir(directory)))
		if (!strncmp(entry->d_name, GPUSIM_BOARD_PREFIX, strlen(GPUSIM_BOARD_PREFIX)) &&
		    read_process(dirfd(directory), entry->d_name, device, &out[count]))
			count++;
	closedir(directory);
	return count;
}

uint64_t nvml_board_busy_ns(struct nvml_device device, uint64_t now_ns)
{
	struct nvml_presence all[PROCESSES];
	unsigned int i, count = nvml_board_read(device.index, all, PROCESSES);
	uint64_t busy_ns = 0;

	for (i = 0; i < count; i++)
		if (device.instance < 0 || all[i].device.instance == (uint64_t)device.instance + 1)
			busy_ns += gpusim_board_busy_ns(&all[i].device, now_ns);
	return busy_ns;
}

bool nvml_board_vanished(int device)
{
	struct nvml_presence all[PROCESSES];
	unsigned int i, count = nvml_board_read(device, all, PROCESSES);

	for (i = 0; i < count; i++)
		if (all[i].device.vanished)
			return true;
	return false;
}
