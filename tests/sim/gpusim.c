// SPDX-License-Identifier: BSD-3-Clause
/*
 * The world of the simulated GPU: its start, its clock, its devices and the pools that handles live
 * in. Knows nothing of CUDA's function names.
 */
#include "gpusim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "gpusim_board.h"
#include "gpusim_internal.h"

struct gpusim_world gpusim_world = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t started = PTHREAD_ONCE_INIT;
static bool up; /* the driver */
static pid_t owner_pid; /* who started the device; a child forked later may not use it */

static uint64_t env_number(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	char *end;
	uint64_t number;

	if (!text || !*text)
		return fallback;
	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || *end) {
		fprintf(stderr, "gpusim: %s=%s is not a number, taking %" PRIu64 "\n", name, text,
			fallback);
		return fallback;
	}
	return number;
}

static uint64_t draw_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint32_t)gpusim_now_ns();
	return seed;
}

static bool parse_instance(const char *text, unsigned int *instance, unsigned int *device)
{
	int length = 0;

	return sscanf(text, GPUSIM_MIG_UUID "%n", instance, device, &length) == 2 && !text[length];
}

/* As in CUDA: one MIG instance, by its UUID, is all that a process can have of such. */
static void read_instance(struct gpusim_config *config, const char *text)
{
	unsigned int instance, device;
	int on_host = config->devices;

	config->devices = 0;
	if (!parse_instance(text, &instance, &device) || !instance ||
	    instance > GPUSIM_INSTANCES || device >= (unsigned int)on_host)
		return;
	config->devices = 1;
	config->physical[0] = (int)device;
	config->instance = (int)instance;
}

/* As in CUDA: a list of numbers, which ends at the first that is no device; unset means all. */
static void read_visible(struct gpusim_config *config)
{
	const char *text = getenv("CUDA_VISIBLE_DEVICES");
	int on_host = config->devices;
	char *end;
	long number;

	if (!text) {
		for (number = 0; number < on_host; number++)
			config->physical[number] = (int)number;
		return;
	}
	if (!strncmp(text, "MIG-", 4)) {
		read_instance(config, text);
		return;
	}
	for (config->devices = 0; config->devices < GPUSIM_MAX_DEVICES; text = end + 1) {
		number = strtol(text, &end, 10);
		if (end == text || number < 0 || number >= on_host)
			return;
		config->physical[config->devices++] = (int)number;
		if (*end != ',')
			return;
	}
}

void gpusim_config_read(struct gpusim_config *config)
{
	uint64_t devices = env_number("GPUSIM_DEVICES", 1);

	config->devices = devices > GPUSIM_MAX_DEVICES ? GPUSIM_MAX_DEVICES : (int)devices;
	read_visible(config);
	config->seed = env_number("GPUSIM_SEED", GPUSIM_FOREVER);
	if (config->seed == GPUSIM_FOREVER)
		config->seed = draw_seed();
	config->memory_bytes = env_number("GPUSIM_MEMORY_BYTES", 16ULL << 30);
	config->memory_bytes /= config->instance ? GPUSIM_INSTANCES : 1;
	config->copy_gbps = gpusim_max(env_number("GPUSIM_COPY_GBPS", 25), 1);
	config->pageable_gbps = gpusim_max(env_number("GPUSIM_PAGEABLE_GBPS", 6), 1);
	config->hang_kernel = env_number("GPUSIM_HANG", 0);
	config->vanish_kernel = env_number("GPUSIM_VANISH", 0);
	config->speed = gpusim_max(env_number("GPUSIM_SPEED", 1), 1);
	config->scar_kernel = env_number("GPUSIM_SCAR", 0);
	config->spin = env_number("GPUSIM_SPIN", 0) != 0;
	config->backed = env_number("GPUSIM_BACKED", 0) != 0;
	config->turns = env_number("GPUSIM_TURNS", 0) != 0;
}

static void forget_owner(void)
{
	if (owner_pid)
		owner_pid = -1;
}

static void start(void)
{
	gpusim_config_read(&gpusim_world.config);
	owner_pid = getpid();
	pthread_atfork(NULL, NULL, forget_owner);
	if (env_number("GPUSIM_QUIET", 0) == 1)
		return;
	fprintf(stderr, "gpusim: simulated GPU (no real device), GPUSIM_SEED=%" PRIu64 "\n",
		gpusim_world.config.seed);
}

int gpusim_init(void)
{
	pthread_once(&started, start);
	return owner_pid == -1 ? GPUSIM_NOT_INITIALIZED : GPUSIM_OK;
}

void gpusim_driver_is_up(void)
{
	__atomic_store_n(&up, true, __ATOMIC_RELEASE);
}

bool gpusim_is_up(void)
{
	return __atomic_load_n(&up, __ATOMIC_ACQUIRE);
}

uint64_t gpusim_seed(void)
{
	gpusim_init();
	return gpusim_world.config.seed;
}

void gpusim_sleep_until(uint64_t time_ns)
{
	struct timespec until = { .tv_sec = INT32_MAX };

	if (time_ns != GPUSIM_FOREVER) {
		until.tv_sec = (time_t)(time_ns / 1000000000);
		until.tv_nsec = (long)(time_ns % 1000000000);
	}
	while (gpusim_now_ns() < time_ns)
		if (!gpusim_world.config.spin)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

void gpusim_lock(void)
{
	pthread_mutex_lock(&gpusim_world.lock);
}

void gpusim_unlock(void)
{
	pthread_mutex_unlock(&gpusim_world.lock);
}

void *gpusim_pool_take(struct gpusim_pool *pool)
{
	struct gpusim_slot *slot;
	size_t tried, index;

	for (tried = 0; tried < pool->count; tried++) {
		index = pool->next;
		slot = (void *)((char *)pool->slots + index * pool->slot_size);
		pool->next = (index + 1) % pool->count;
		if (!slot->alive) {
			memset(slot, 0, pool->slot_size);
			pool->used = gpusim_max(pool->used, index + 1);
			slot->alive = true;
			return slot;
		}
	}
	return NULL;
}

bool gpusim_pool_has(const struct gpusim_pool *pool, const void *slot)
{
	uintptr_t offset = (uintptr_t)slot - (uintptr_t)pool->slots;

	if (offset >= pool->slot_size * pool->count || offset % pool->slot_size)
		return false;
	return ((const struct gpusim_slot *)slot)->alive;
}

void gpusim_pool_give(void *slot)
{
	((struct gpusim_slot *)slot)->alive = false;
}

int gpusim_device_count(void)
{
	return gpusim_init() ? 0 : gpusim_world.config.devices;
}

static bool device_exists(int device)
{
	return device >= 0 && device < gpusim_device_count();
}

int gpusim_device_name(int device, char *name, size_t size)
{
	if (!name || !size)
		return GPUSIM_INVALID_VALUE;
	if (!device_exists(device))
		return GPUSIM_INVALID_DEVICE;
	snprintf(name, size, "gpusim device %d%s", device,
		 gpusim_world.config.instance ? " MIG 1g.10gb" : "");
	return GPUSIM_OK;
}

/* The same in every process and run: "gpusim", the number of its MIG instance, the device's on the
 * host. */
int gpusim_device_uuid(int device, unsigned char uuid[16])
{
	static const unsigned char maker[] = { 'g', 'p', 'u', 's', 'i', 'm' };

	if (!uuid)
		return GPUSIM_INVALID_VALUE;
	if (!device_exists(device))
		return GPUSIM_INVALID_DEVICE;
	memset(uuid, 0, 16);
	memcpy(uuid, maker, sizeof(maker));
	uuid[14] = (unsigned char)gpusim_world.config.instance;
	uuid[15] = (unsigned char)gpusim_world.config.physical[device];
	return GPUSIM_OK;
}

bool gpusim_device_is_instance(int device)
{
	return device_exists(device) && gpusim_world.config.instance;
}

int gpusim_device_memory(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
	if (!device_exists(device))
		return GPUSIM_INVALID_DEVICE;
	gpusim_lock();
	*total_bytes = gpusim_world.config.memory_bytes;
	*free_bytes = *total_bytes - gpusim_world.devices[device].memory_used;
	gpusim_unlock();
	return GPUSIM_OK;
}
