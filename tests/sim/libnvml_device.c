// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulated NVML's devices: which there are, their names and identities, also as MIG instances.
 */
#include "libnvml.h"

#include <stdio.h>
#include <string.h>

enum { UUID_BYTES = 64 };

/* As the simulated driver's bytes are: "gpusim", 0..., the device's number; before that the
 * instance. */
static void write_uuid(const struct nvml_device *device, char text[UUID_BYTES])
{
	snprintf(text, UUID_BYTES, "%s-67707573-696d-0000-0000-00000000%02x%02x",
		 device->instance < 0 ? "GPU" : "MIG", (unsigned int)(device->instance + 1) & 0xff,
		 (unsigned int)device->index & 0xff);
}

NVML_GET(nvmlDeviceGetCount_v2, (unsigned int *count), nvml_enter(__func__, count), count,
	(unsigned int)nvml_devices())

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvml_device **device)
{
	int result = nvml_enter(__func__, device);

	if (result)
		return result;
	if (index >= (unsigned int)nvml_devices())
		return NVML_INVALID_ARGUMENT;
	*device = nvml_handle((int)index, -1);
	return nvml_enter_device(__func__, *device, device);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **device)
{
	int result = nvml_enter(__func__, device), i, instance;
	char text[UUID_BYTES];

	if (result)
		return result;
	if (!uuid)
		return NVML_INVALID_ARGUMENT;
	for (i = 0; i < nvml_devices(); i++)
		for (instance = -1; instance < nvml_instances(i); instance++) {
			write_uuid(nvml_handle(i, instance), text);
			if (strcmp(text, uuid) != 0)
				continue;
			*device = nvml_handle(i, instance);
			return nvml_enter_device(__func__, *device, device);
		}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetUUID(struct nvml_device *device, char *text, unsigned int size)
{
	int result = nvml_enter_device(__func__, device, text);
	char uuid[UUID_BYTES];

	if (result)
		return result;
	write_uuid(device, uuid);
	return snprintf(text, size, "%s", uuid) < (int)size ? NVML_OK : NVML_INSUFFICIENT_SIZE;
}

int nvmlDeviceGetName(struct nvml_device *device, char *text, unsigned int size)
{
	int result = nvml_enter_device(__func__, device, text), length;

	if (result)
		return result;
	length = snprintf(text, size, "gpusim device %d%s", device->index,
			  device->instance < 0 ? "" : " MIG 1g.10gb");
	return length < (int)size ? NVML_OK : NVML_INSUFFICIENT_SIZE;
}

NVML_GET(nvmlDeviceGetIndex, (struct nvml_device *device, unsigned int *index),
	nvml_enter_device(__func__, device, index), index,
	(unsigned int)(device->instance < 0 ? device->index : device->instance))

static int enter_instance(const char *function, const struct nvml_device *device,
			  const void *argument)
{
	int result = nvml_enter_device(function, device, argument);

	return result                  ? result :
	       device->instance < 0 ? NVML_INVALID_ARGUMENT : NVML_OK;
}

int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned int *now, unsigned int *pending)
{
	int result = nvml_enter_whole(__func__, device, now && pending ? now : NULL);
	double mig;

	if (result)
		return result;
	result = nvml_fact_number("mig", device->index, 0, &mig);
	if (!result)
		*now = *pending = mig > 0;
	return result;
}

NVML_GET(nvmlDeviceGetMaxMigDeviceCount, (struct nvml_device *device, unsigned int *count),
	nvml_enter_whole(__func__, device, count), count,
	nvml_instances(device->index) ? GPUSIM_INSTANCES : 0)

int nvmlDeviceGetMigDeviceHandleByIndex(struct nvml_device *device, unsigned int index,
					struct nvml_device **mig)
{
	int result = nvml_enter_whole(__func__, device, mig);

	if (result)
		return result;
	if (!nvml_instances(device->index) || index >= GPUSIM_INSTANCES)
		return NVML_INVALID_ARGUMENT;
	if (index >= (unsigned int)nvml_instances(device->index))
		return NVML_NOT_FOUND;
	*mig = nvml_handle(device->index, (int)index);
	return NVML_OK;
}

NVML_GET(nvmlDeviceIsMigDeviceHandle, (struct nvml_device *device, unsigned int *is_mig),
	nvml_enter_device(__func__, device, is_mig), is_mig, device->instance >= 0)

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvml_device *mig,
						 struct nvml_device **device)
{
	int result = enter_instance(__func__, mig, device);

	if (!result)
		*device = nvml_handle(mig->index, -1);
	return result;
}

NVML_GET(nvmlDeviceGetGpuInstanceId, (struct nvml_device *device, unsigned int *id),
	enter_instance(__func__, device, id), id, (unsigned int)device->instance + 1)
NVML_GET(nvmlDeviceGetComputeInstanceId, (struct nvml_device *device, unsigned int *id),
	enter_instance(__func__, device, id), id, 0)
