// SPDX-License-Identifier: BSD-3-Clause
/*
 * Contexts: one primary per device, others on request, one current per thread.
 */
#include "gpusim_board.h"
#include "gpusim_trace_internal.h"

static struct gpusim_context contexts[256];
static struct gpusim_pool pool = GPUSIM_POOL(contexts);
static __thread struct gpusim_context *current;
static bool any; /* was made, ever */

bool gpusim_context_is_any(void)
{
	return __atomic_load_n(&any, __ATOMIC_RELAXED);
}

static struct gpusim_context *context_new(int device)
{
	struct gpusim_context *context = gpusim_pool_take(&pool);

	if (!context)
		return NULL;
	__atomic_store_n(&any, true, __ATOMIC_RELAXED);
	context->device = device;
	context->legacy = gpusim_stream_new(context, 0);
	gpusim_board_context(device, 1);
	return context;
}

static int check_device(int device)
{
	if (gpusim_init())
		return GPUSIM_NOT_INITIALIZED;
	return device >= 0 && device < gpusim_world.config.devices ? GPUSIM_OK
								   : GPUSIM_INVALID_DEVICE;
}

int gpusim_context_create(int device, struct gpusim_context **out)
{
	struct gpusim_context *context;
	int result = check_device(device);

	if (!out)
		return GPUSIM_INVALID_VALUE;
	if (result)
		return result;
	gpusim_lock();
	context = context_new(device);
	gpusim_unlock();
	if (!context)
		return GPUSIM_OUT_OF_MEMORY;
	current = context;
	*out = context;
	return GPUSIM_OK;
}

int gpusim_context_destroy(struct gpusim_context *context)
{
	int result = GPUSIM_INVALID_CONTEXT;

	gpusim_lock();
	if (gpusim_pool_has(&pool, context) &&
	    gpusim_world.devices[context->device].primary != context) {
		gpusim_board_context(context->device, -1);
		gpusim_pool_give(context->legacy);
		gpusim_pool_give(context);
		result = GPUSIM_OK;
	}
	gpusim_unlock();
	if (!result && current == context)
		current = NULL;
	return result;
}

int gpusim_context_primary(int device, struct gpusim_context **out)
{
	struct gpusim_context **primary;
	int result = check_device(device);

	if (!out)
		return GPUSIM_INVALID_VALUE;
	if (result)
		return result;
	gpusim_lock();
	primary = &gpusim_world.devices[device].primary;
	if (!*primary)
		*primary = context_new(device);
	*out = *primary;
	gpusim_unlock();
	return *out ? GPUSIM_OK : GPUSIM_OUT_OF_MEMORY;
}

bool gpusim_context_is_primary_made(int device)
{
	bool made;

	if (check_device(device))
		return false;
	gpusim_lock();
	made = gpusim_world.devices[device].primary != NULL;
	gpusim_unlock();
	return made;
}

int gpusim_context_set_current(struct gpusim_context *context)
{
	bool known;

	if (gpusim_init())
		return GPUSIM_NOT_INITIALIZED;
	gpusim_lock();
	known = !context || gpusim_pool_has(&pool, context);
	gpusim_unlock();
	if (!known)
		return GPUSIM_INVALID_CONTEXT;
	current = context;
	return GPUSIM_OK;
}

struct gpusim_context *gpusim_context_current(void)
{
	return gpusim_init() ? NULL : current;
}

int gpusim_context_device(struct gpusim_context *context)
{
	return context->device;
}

int gpusim_context_sync(void)
{
	struct gpusim_context *context = gpusim_context_current();
	uint64_t until;

	if (!context)
		return GPUSIM_INVALID_CONTEXT;
	if (gpusim_world.devices[context->device].vanished)
		return GPUSIM_UNKNOWN;
	gpusim_lock();
	until = gpusim_time_wait(&context->busy_until);
	gpusim_unlock();
	gpusim_sleep_until(until);
	return GPUSIM_OK;
}

void gpusim_contexts_settle(const struct gpusim_gate *gate, uint64_t end_ns)
{
	size_t i;

	for (i = 0; i < pool.used; i++) {
		gpusim_time_settle(&contexts[i].busy_until, gate, end_ns);
		gpusim_time_settle(&contexts[i].blocking_busy_until, gate, end_ns);
	}
}

uint32_t gpusim_context_id(const struct gpusim_context *context)
{
	return (uint32_t)(context - contexts) + 1;
}
