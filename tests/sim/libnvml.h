/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside libnvidia-ml.so.1, the simulated NVML. Its devices are those of the simulated GPU
 * (GPUSIM_DEVICES, GPUSIM_MEMORY_BYTES; not CUDA_VISIBLE_DEVICES, as with the real one), its
 * processes those on GPUSIM_BOARD (gpusim_board.h); the rest is as ordered:
 *
 * GPUSIM_NVML=FACTS, and more of them in the file `facts` of GPUSIM_BOARD, which is read anew at
 * every call: what is appended there while a program runs holds from then on. A fact is
 * NAME[@DEVICE[/INSTANCE]]=VALUE[:FROM_MS[:UNTIL_MS]], of these the last one that holds; they stand
 * apart by commas, blanks or lines, the times count from nvmlInit. INSTANCE (from 0, of gpm.N and of
 * events): only for it. NAMEs, `none` as a value: not supported:
 *   utilization, memory_utilization   percent (of kernels on the board since it was last asked; 0)
 *   energy_mj (power_mw since nvmlInit), power_mw (100000), clock.N (1000 of each), throttle (0; bits)
 *   gpm (1; 0: the device has none), gpm.N   the metric N (1 and 2: of the board's kernels; none)
 *   context_bytes (0)                 what each process has of memory for its contexts
 *   mig (0)                           so many MIG instances, and the mode is on
 *   process=PID[/BYTES[/INSTANCE]]    another process on the device
 *   xid, ecc_single, ecc_double, clock_event=DATA   an event, once for each set that had registered
 *                                     before its time, FROM_MS
 *   lost=1                            the device is lost; so is one that vanished (GPUSIM_VANISH),
 *                                     with an Xid of 79
 *   reset=CODE                        it is reset from FROM_MS to UNTIL_MS: whatever is asked of it is
 *                                     answered by CODE (15: lost) until a program that had begun
 *                                     before begins anew, after UNTIL_MS
 *   error.FUNCTION=CODE, hang.FUNCTION=1
 *
 * GPM's values are those at the second sample. All functions are thread-safe.
 */
#ifndef LIBNVML_H
#define LIBNVML_H

#include <stdbool.h>

#include "gpusim_board.h"
#include "nvml_api.h"

#define NVML_HIDDEN __attribute__((visibility("hidden")))

enum { NVML_FACTS = 64, NVML_EVERY = -1 };

struct nvml_device {
	int index;
	int instance; /* MIG's, from 0; -1: the whole device */
};

struct nvml_fact {
	char name[56];
	char value[64];
	int device; /* NVML_EVERY */
	int instance; /* NVML_EVERY: also of the whole device */
	uint64_t from_ms, until_ms; /* since nvmlInit */
};

/* In their order; the environment's come first. */
struct nvml_facts {
	unsigned int count;
	struct nvml_fact all[NVML_FACTS];
};

/* libnvml_facts.c; ms is the time since nvmlInit. */
void nvml_facts_read(struct nvml_facts *facts) NVML_HIDDEN;
bool nvml_fact_is(const struct nvml_fact *fact, const char *name,
		  struct nvml_device device) NVML_HIDDEN;
const char *nvml_fact_find(const struct nvml_facts *facts, const char *name,
			   struct nvml_device device,
			   uint64_t ms) NVML_HIDDEN; /* NULL: nothing is ordered */
/* NVML_OK, or NVML_NOT_SUPPORTED where it says so; without a fact, or of no number, the fallback.
 * */
int nvml_fact_of(const char *name, struct nvml_device device, double fallback,
		 double *number) NVML_HIDDEN;
int nvml_fact_number(const char *name, int device, double fallback, double *number) NVML_HIDDEN;

/* libnvml_board.c; busy_ns: of kernels of all processes that ever were on the board, or that were in
 * the instance. */
struct nvml_presence {
	int pid; /* in our namespace; 0: ended, or ourselves */
	struct gpusim_board_device device;
};
unsigned int nvml_board_read(int device, struct nvml_presence *out, unsigned int room) NVML_HIDDEN;
uint64_t nvml_board_busy_ns(struct nvml_device device, uint64_t now_ns) NVML_HIDDEN;
bool nvml_board_vanished(int device) NVML_HIDDEN;

/* libnvml.c: how every function begins. The result that it has to give, NVML_OK: go on. */
int nvml_enter(const char *function, const void *argument) NVML_HIDDEN; /* not NULL, as a rule */
int nvml_enter_device(const char *function, const struct nvml_device *device,
		      const void *argument) NVML_HIDDEN;
int nvml_enter_whole(const char *function, const struct nvml_device *device,
		     const void *argument) NVML_HIDDEN; /* no MIG instance, of which it has nothing */
uint64_t nvml_now_ns(void) NVML_HIDDEN;
uint64_t nvml_started_ns(void) NVML_HIDDEN; /* the first nvmlInit */
uint64_t nvml_ms(void) NVML_HIDDEN; /* since nvmlInit, the first */
int nvml_devices(void) NVML_HIDDEN;
int nvml_instances(int device) NVML_HIDDEN; /* of MIG; 0: it is off */
struct nvml_device *nvml_handle(int device, int instance) NVML_HIDDEN;

/* A function that gives one value, if it may be entered. */
#define NVML_GET(name, parameters, entered, out, value)                       \
	int name parameters                                                   \
	{                                                                     \
		int result = entered;                                         \
                                                                              \
		if (!result)                                                  \
			*(out) = (value);                                     \
		return result;                                                \
	}

#endif
