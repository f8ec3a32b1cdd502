// SPDX-License-Identifier: BSD-3-Clause
/*
 * A library refuses numbers that are newer than itself, so single refusals mean nothing; one that
 * refuses all of them cannot choose.
 */
#include "helper/calls.h"

#include "helper/calls_wanted.h"

#include "gpuprof/ring.h"

#define NUMBER(n) n,
static const uint16_t runtime[] = { CALLS_WANTED_RUNTIME(NUMBER) };
static const uint16_t driver[] = { CALLS_WANTED_DRIVER(NUMBER) };
static const uint16_t runtime_others[] = { CALLS_OTHERS_RUNTIME(NUMBER) };
static const uint16_t driver_others[] = { CALLS_OTHERS_DRIVER(NUMBER) };

#define N(list) (sizeof(list) / sizeof((list)[0]))

/* Returns how many it took. */
static size_t choose(int (*one)(uint32_t cbid, uint8_t enable), const uint16_t *cbids, size_t n,
		     uint8_t on)
{
	size_t taken = 0;

	for (size_t i = 0; one && i < n; i++)
		taken += one(cbids[i], on) == CUPTI_OK;
	return taken;
}

static size_t choose_wanted(const struct cupti *c, uint8_t on)
{
	return choose(c->enable_runtime_api, runtime, N(runtime), on) +
	       choose(c->enable_driver_api, driver, N(driver), on);
}

static void choose_others(const struct cupti *c, uint8_t on)
{
	choose(c->enable_runtime_api, runtime_others, N(runtime_others), on);
	choose(c->enable_driver_api, driver_others, N(driver_others), on);
}

int calls_enable(const struct cupti *c, bool others, const char **what)
{
	int code;

	*what = "cuptiActivityEnable";
	if (choose_wanted(c, 1)) {
		if (others)
			choose_others(c, 1);
		return GP_CALLS_SINGLE;
	}
	code = c->enable(CUPTI_RUNTIME);
	if (!code)
		code = c->enable(CUPTI_DRIVER);
	return code ? -code : GP_CALLS_WHOLE;
}

void calls_disable(const struct cupti *c)
{
	if (choose_wanted(c, 0)) {
		choose_others(c, 0);
		return;
	}
	c->disable(CUPTI_RUNTIME);
	c->disable(CUPTI_DRIVER);
}
