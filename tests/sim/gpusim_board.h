/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes of the simulation report of themselves to the simulated NVML, which is read by others:
 * with GPUSIM_BOARD=DIRECTORY each process that makes a context writes a file process-XXXXXX
 * there, mapped, as below. It is alive while it holds a lock (fcntl) on that file, which names it
 * in the pid namespace of the process that asks; a process cannot ask about itself. Devices are by the
 * host's number. Without GPUSIM_BOARD, or when it cannot be written (said on stderr), nothing is
 * reported.
 */
#ifndef GPUSIM_BOARD_H
#define GPUSIM_BOARD_H

#include <stdbool.h>
#include <stdint.h>

enum { GPUSIM_BOARD_VERSION = 2, GPUSIM_BOARD_DEVICES = 16 };

#define GPUSIM_BOARD_PREFIX "process-"

/* Of MIG: the instances of a device, each such a part of it; the UUID of one, by its number from 1
 * and the device's. */
#define GPUSIM_INSTANCES 7
#define GPUSIM_MIG_UUID "MIG-67707573-696d-0000-0000-00000000%2x%2x"

/* It was busy for before_ns in all until from_ns, and is from then until until_ns without a gap.
 * Works that several streams do at once are one; exact unless one is given out of order before a
 * gap. */
struct gpusim_board_device {
	uint64_t contexts, memory_bytes;
	uint64_t before_ns, from_ns, until_ns;
	uint64_t vanished;
	uint64_t instance; /* of MIG, from 1, that the process is in; 0: it has the whole device */
};

struct gpusim_board {
	uint32_t version;
	uint32_t changes; /* odd while it is written */
	struct gpusim_board_device devices[GPUSIM_BOARD_DEVICES];
};

static inline uint64_t gpusim_board_busy_ns(const struct gpusim_board_device *device,
					    uint64_t now_ns)
{
	uint64_t until_ns = now_ns < device->until_ns ? now_ns : device->until_ns;

	return device->before_ns + (until_ns > device->from_ns ? until_ns - device->from_ns : 0);
}

/* The writer's half, in libgpusim.so, with the world's lock held; devices as the process numbers
 * them. */
void gpusim_board_context(int device, int change);
void gpusim_board_memory(int device, uint64_t bytes);
void gpusim_board_work(int device, uint64_t start_ns, uint64_t end_ns);
void gpusim_board_vanished(int device);
bool gpusim_board_is_wanted(void); /* there is one to write */
void gpusim_board_leave(void); /* at exit: what was given does not run on */

#endif
