/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device tells of itself once in a while, as every source delivers it: the details of
 * EVENT_SAMPLE and EVENT_FAULT. Pure data; the numbers leave the process in captures: append only.
 */
#ifndef EVENT_SAMPLE_H
#define EVENT_SAMPLE_H

#include <stdint.h>

enum sample_field {
	/* Of the whole device (a MIG instance is one: what only GPUs have, as power, is in their own), in
	 * hundredths of a percent, means over the sample's time. */
	SAMPLE_SM = 0,			/* multiprocessors that had any work */
	SAMPLE_OCCUPANCY = 1,		/* warps of those that could be */
	SAMPLE_TENSOR = 2,		/* tensor cores at work */
	SAMPLE_DRAM = 3,		/* bandwidth of its memory that was used */
	/* In percent of a period that ended with the sample and is up to a second long. */
	SAMPLE_BUSY = 4,		/* any kernel ran */
	SAMPLE_MEMORY_BUSY = 5,		/* memory was read or written */
	/* At the sample's end. */
	SAMPLE_USED_BYTES = 6,
	SAMPLE_TOTAL_BYTES = 7,
	SAMPLE_POWER_MW = 8,
	SAMPLE_ENERGY_MJ = 9,		/* since the driver was loaded */
	SAMPLE_SM_MHZ = 10,
	SAMPLE_MEMORY_MHZ = 11,
	SAMPLE_CLOCK_REASONS = 12,	/* CLOCK_*: why clocks are what they are */
	SAMPLE_USERS = 13,		/* processes; EVENT_USERs have told of those that have a pid */
	SAMPLE_FIELDS
};

/* SAMPLE_CLOCK_REASONS, NVML's bits. */
#define CLOCK_IDLE 0x1ull
#define CLOCK_SETTING 0x2ull		/* of applications */
#define CLOCK_POWER_CAP 0x4ull
#define CLOCK_HARDWARE 0x8ull		/* with one of the two below, or for currents */
#define CLOCK_SYNC_BOOST 0x10ull	/* as slow as another device */
#define CLOCK_THERMAL 0x20ull
#define CLOCK_THERMAL_HARDWARE 0x40ull
#define CLOCK_POWER_BRAKE 0x80ull	/* the power supply asks for it */

struct device_sample {
	uint32_t has;			/* 1 << enum sample_field */
	uint32_t pad;
	uint64_t v[SAMPLE_FIELDS];	/* 0 where it is not there */
};

#define SAMPLE_FULL 10000u		/* 100 %, in hundredths */

enum fault_what {
	FAULT_XID = 1,			/* bytes = its number */
	FAULT_ECC_CORRECTED = 2,
	FAULT_ECC_UNCORRECTED = 3,
	FAULT_ECC_STORM = 4,		/* so many corrected ones that they are not told one by one */
	FAULT_RETIRED = 5,		/* a part of its memory is not used any more */
	FAULT_RETIRE_FAILED = 6,
	FAULT_POISON = 7,
	FAULT_POISON_FATAL = 8,
	FAULT_UNAVAILABLE = 9,
	FAULT_RECOVERY = 10,		/* what is to be done so that it can be used again changed */
	FAULT_LOST = 11,		/* NVML cannot reach it any more */
	FAULT_BACK = 12,		/* it can again: no fault, but the end of one */
	FAULT_WHAT_END
};

#endif
