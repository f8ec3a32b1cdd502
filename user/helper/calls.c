// SPDX-License-Identifier: BSD-3-Clause
/*
 * A library refuses numbers that are newer than itself, so single refusals mean nothing; one that
 * refuses all of them cannot choose.
 */
#include "helper/calls.h"

#include "helper/calls_wanted.h"

#define NUMBER(n) n,
static const uint16_t runtime[] = { CALLS_WANTED_RUNTIME(NUMBER) };
static const uint16_t driver[] = { CALLS_WANTED_DRIVER(NUMBER) };

/* Returns how many it took. */
static size_t choose(int (*one)(uint32_t cbid, uint8_t enable), const uint16_t *cbids, size_t n,
		     uint8_t on)
{
	size_t taken = 0;

	for (size_t i = 0; one && i < n; i++)
		taken += one(cbids[i], on) == CUPTI_OK;
	return taken;
}

static size_t choose_all(const struct cupti *c, uint8_t on)
{
	return choose(c->enable_runtime_api, runtime, sizeof(runtime) / sizeof(runtime[0]), on) +
	       choose(c->enable_driver_api, driver, sizeof(driver) / sizeof(driver[0]), on);
}

int calls_enable(const struct cupti *c, const char **what)
{
	*what = "cuptiActivityEnable";
	return choose_all(c, 1) ? CUPTI_OK : c->enable(CUPTI_RUNTIME);
}

void calls_disable(const struct cupti *c)
{
	if (!choose_all(c, 0))
		c->disable(CUPTI_RUNTIME);
}
