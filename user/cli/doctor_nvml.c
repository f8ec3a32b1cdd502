// SPDX-License-Identifier: BSD-3-Clause
/* Is there an NVML, does it answer, and what does it tell? */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "cli/doctor.h"
#include "event/nvml.h"

#define ANSWER_NS (5 * NS_PER_SEC)	/* a driver that keeps no state takes seconds to wake a GPU */
#define LOOK_US 10000

static void wait_for_answer(struct nvml *n, struct nvml_status *st)
{
	uint64_t until_ns = time_now_ns() + ANSWER_NS;

	do {
		usleep(LOOK_US);
		nvml_status(n, st);
	} while (st->state == NVML_STARTING && time_now_ns() < until_ns);
}

static void say(struct doctor *d, const struct nvml_status *st)
{
	if (st->state == NVML_STARTING)
		doctor_say(d, WORSE, "NVML", "does not answer for %llu s while %s; nvidia-smi would "
			   "hang as well; dmesg may tell why", (unsigned long long)(ANSWER_NS / NS_PER_SEC), st->doing);
	else if (st->state == NVML_FAILED)
		doctor_say(d, WORSE, "NVML", "%s: how active devices are, who else is on them and their "
			   "faults are not known", st->why);
	else if (*st->why)
		doctor_say(d, WORSE, "NVML", "driver %s, %u device%s; %s", st->driver, st->devices,
			   st->devices == 1 ? "" : "s", st->why);
	else
		doctor_say(d, GOOD, "NVML", "driver %s, %u device%s, %s%s", st->driver, st->devices,
			   st->devices == 1 ? "" : "s", st->gpm ? "activity by GPM" : "without their activity (GPM, from Hopper on)",
			   st->pids_are_hosts ? "" : ", without processes (in a pid namespace)");
}

void doctor_nvml(struct doctor *d)
{
	struct nvml *n = nvml_start(nvml_load);
	struct nvml_status st;

	if (!n) {
		doctor_say(d, WORSE, "NVML", "cannot be asked: %s", strerror(errno));
		return;
	}
	wait_for_answer(n, &st);
	say(d, &st);
	nvml_stop(n);
	nvml_wait(n, 1000);
	nvml_free(n);
}
