// SPDX-License-Identifier: BSD-3-Clause
/* Is there an NVML, does it answer, and what does it tell? */
#include <errno.h>
#include <string.h>

#include "cli/doctor.h"
#include "session/nvml_ask.h"

static void say(struct doctor *d, const struct nvml_status *st)
{
	if (st->state == NVML_STARTING)
		doctor_say(d, WORSE, "NVML", "does not answer for %u s while %s; nvidia-smi would "
			   "hang as well; dmesg may tell why", NVML_ASK_S, st->doing);
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
	nvml_ask(n, &st);
	say(d, &st);
	nvml_ask_end(n);
}
