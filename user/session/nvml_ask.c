// SPDX-License-Identifier: BSD-3-Clause
/* Looks again until there is an answer. */
#include "session/nvml_ask.h"

#include <unistd.h>

#include "base/time.h"

#define LOOK_US 10000
#define END_MS 1000

void nvml_ask(struct nvml *n, struct nvml_status *st)
{
	uint64_t until_ns = time_now_ns() + NVML_ASK_S * NS_PER_SEC;

	do {
		usleep(LOOK_US);
		nvml_status(n, st);
	} while (st->state == NVML_STARTING && time_now_ns() < until_ns);
}

void nvml_ask_end(struct nvml *n)
{
	nvml_stop(n);
	nvml_wait(n, END_MS);
	nvml_free(n);
}
