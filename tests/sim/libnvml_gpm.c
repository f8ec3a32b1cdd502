// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulated NVML's GPM: two samples, and metrics of the time between them.
 */
#include "libnvml.h"

#include <stdio.h>
#include <stdlib.h>

struct nvml_gpm_sample {
	struct nvml_device device; /* index -1: nothing taken yet */
	uint64_t at_ns, busy_ns;
};

/* As many as a user could ask for: the real array's length of CUDA 13. */
enum { METRICS = 477 };

static int supported(const struct nvml_device *device)
{
	double gpm;

	nvml_fact_number("gpm", device->index, 1, &gpm);
	return gpm > 0 ? NVML_OK : NVML_NOT_SUPPORTED;
}

int nvmlGpmQueryDeviceSupport(struct nvml_device *device, struct nvml_gpm_support *support)
{
	int result = nvml_enter_device(__func__, device, support);

	if (result)
		return result;
	if (support->version != NVML_GPM_VERSION)
		return NVML_VERSION_MISMATCH;
	support->supported = supported(device) == NVML_OK;
	return NVML_OK;
}

int nvmlGpmSampleAlloc(struct nvml_gpm_sample **sample)
{
	int result = nvml_enter(__func__, sample);

	if (result)
		return result;
	*sample = calloc(1, sizeof(**sample));
	if (!*sample)
		return NVML_NO_MEMORY;
	(*sample)->device.index = -1;
	return NVML_OK;
}

int nvmlGpmSampleFree(struct nvml_gpm_sample *sample)
{
	int result = nvml_enter(__func__, sample);

	if (!result)
		free(sample);
	return result;
}

static int get_sample(const char *function, const struct nvml_device *device, int instance,
		      struct nvml_gpm_sample *sample)
{
	int result = nvml_enter_device(function, device, sample);

	if (!result)
		result = supported(device);
	if (result)
		return result;
	sample->device = (struct nvml_device){ device->index, instance };
	sample->at_ns = nvml_now_ns();
	sample->busy_ns = nvml_board_busy_ns(sample->device, sample->at_ns);
	return NVML_OK;
}

/* In MIG mode the instance must be named. */
int nvmlGpmSampleGet(struct nvml_device *device, struct nvml_gpm_sample *sample)
{
	int result = get_sample(__func__, device, NVML_EVERY, sample);

	return !result && nvml_instances(device->index) ? NVML_NOT_SUPPORTED : result;
}

int nvmlGpmMigSampleGet(struct nvml_device *device, unsigned int instance,
			struct nvml_gpm_sample *sample)
{
	int result = get_sample(__func__, device, (int)instance - 1, sample);

	if (result)
		return result;
	return instance >= 1 && instance <= (unsigned int)nvml_instances(device->index) ?
		       NVML_OK :
		       NVML_INVALID_ARGUMENT;
}

static void get_metric(const struct nvml_gpm_get *get, struct nvml_gpm_metric *metric)
{
	uint64_t ns = get->second->at_ns - get->first->at_ns, busy_ns = 0;
	double value = -1;
	char name[16];

	if (get->second->busy_ns > get->first->busy_ns)
		busy_ns = get->second->busy_ns - get->first->busy_ns;
	if (metric->id == NVML_GPM_GRAPHICS || metric->id == NVML_GPM_SM)
		value = busy_ns < ns ? 100.0 * (double)busy_ns / (double)ns : 100;
	snprintf(name, sizeof(name), "gpm.%u", metric->id);
	metric->result = nvml_fact_of(name, get->second->device, value, &metric->value);
	if (!metric->result && metric->value < 0)
		metric->result = NVML_NOT_SUPPORTED;
	metric->short_name = metric->long_name = "gpusim";
	metric->unit = "%";
}

int nvmlGpmMetricsGet(struct nvml_gpm_get *get)
{
	int result = nvml_enter(__func__, get);
	unsigned int i;

	if (result)
		return result;
	if (get->version != NVML_GPM_VERSION)
		return NVML_VERSION_MISMATCH;
	if (!get->first || !get->second || get->first->device.index < 0 || !get->count ||
	    get->count > METRICS || get->first->device.index != get->second->device.index ||
	    get->first->device.instance != get->second->device.instance ||
	    get->second->at_ns <= get->first->at_ns)
		return NVML_INVALID_ARGUMENT;
	for (i = 0; i < get->count; i++)
		get_metric(get, &get->metrics[i]);
	return NVML_OK;
}
