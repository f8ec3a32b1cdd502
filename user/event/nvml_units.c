// SPDX-License-Identifier: BSD-3-Clause
/* Which devices there are, by the names that CUDA and the host give them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/device_number.h"
#include "event/nvml_reader.h"

/* What the library wrote is a text. */
static bool read_names(struct nvml_reader *r, struct nvml_unit *u)
{
	unsigned int code = r->api->uuid(u->handle, u->uuid, sizeof(u->uuid));

	u->uuid[sizeof(u->uuid) - 1] = '\0';
	if (code || !*u->uuid) {
		nvml_note(r, "nvmlDeviceGetUUID", code);
		return false;
	}
	if (r->api->name(u->handle, u->name, sizeof(u->name)))
		*u->name = '\0';
	u->name[sizeof(u->name) - 1] = '\0';
	return true;
}

/* Who is gone makes room. NULL: there is none. */
static struct nvml_unit *add_unit(struct nvml_reader *r, const struct nvml_unit *u)
{
	size_t at = 0;

	while (at < r->n && !r->units[at].gone)
		at++;
	if (at == NVML_UNITS_MAX)
		return NULL;
	r->n += at == r->n;
	r->units[at] = *u;
	return &r->units[at];
}

static void read_instance(struct nvml_reader *r, struct nvml_unit *u)
{
	const struct nvml_api *api = r->api;

	if (!api->gpu_instance || api->gpu_instance(u->handle, &u->gpu_instance))
		u->gpu_instance = NVML_NO_INSTANCE;
	if (!api->compute_instance || api->compute_instance(u->handle, &u->compute_instance))
		u->compute_instance = NVML_NO_INSTANCE;
}

static struct nvml_unit *find_unit(struct nvml_reader *r, const struct nvml_unit *u)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->units[i].gpu == u->gpu && !strcmp(r->units[i].uuid, u->uuid))
			return &r->units[i];
	return NULL;
}

/* It is there: as it was, again, or new. */
static void note_instance(struct nvml_reader *r, const struct nvml_unit *found, uint64_t now_ns)
{
	struct nvml_unit *u = find_unit(r, found);

	if (!u || u->gone) {
		if (u)
			*u = *found;
		else
			u = add_unit(r, found);
		if (!u)
			return;
		u->told_ns = now_ns;
		nvml_gpm_open(r, u, now_ns);
	}
	u->seen = true;
}

/* A GPU in MIG mode without instances is no device that anything can run on. */
static void find_instances(struct nvml_reader *r, const struct nvml_unit *gpu, uint64_t now_ns)
{
	const struct nvml_api *api = r->api;
	unsigned int n = 0;

	if (!api->mig_max || !api->mig_device || api->mig_max(gpu->handle, &n))
		return;
	for (unsigned int i = 0; i < n && i < NVML_UNITS_MAX; i++) {
		struct nvml_unit u = { .gpu = gpu->handle,
				       .number = device_number_instance(gpu->number, i) };

		if (api->mig_device(gpu->handle, i, &u.handle) || !u.handle)
			continue;	/* places of instances need not be taken */
		read_instance(r, &u);
		if (read_names(r, &u))
			note_instance(r, &u, now_ns);
	}
}

static void find_gpu(struct nvml_reader *r, unsigned int i, uint64_t (*clock)(void))
{
	struct nvml_unit u = { .gpu_instance = NVML_NO_INSTANCE,
			       .compute_instance = NVML_NO_INSTANCE };
	unsigned int mode = 0, pending = 0;
	unsigned int code = r->api->device(i, &u.handle);
	struct nvml_unit *gpu;

	if (code || !u.handle) {
		nvml_note(r, "nvmlDeviceGetHandleByIndex_v2", code);
		return;		/* lost, or not ours to see */
	}
	if (!read_names(r, &u))
		return;
	if (r->api->index(u.handle, &u.number))
		u.number = i;
	u.gpu = u.handle;
	u.divided = r->api->mig_mode && !r->api->mig_mode(u.handle, &mode, &pending) && mode == 1;
	gpu = add_unit(r, &u);
	if (!gpu)
		return;
	gpu->told_ns = clock();
	nvml_gpm_open(r, gpu, gpu->told_ns);
	if (gpu->divided)
		find_instances(r, gpu, gpu->told_ns);
}

int nvml_units_find(struct nvml_reader *r, uint64_t (*clock)(void))
{
	unsigned int n = 0, code = r->api->count(&n);

	if (code) {
		nvml_note(r, "nvmlDeviceGetCount_v2", code);
		return -EIO;
	}
	r->units = calloc(NVML_UNITS_MAX, sizeof(*r->units));
	if (!r->units)
		return -ENOMEM;
	for (unsigned int i = 0; i < n && i < NVML_UNITS_MAX; i++)
		find_gpu(r, i, clock);
	return 0;
}

static void renew_instances(struct nvml_reader *r, const struct nvml_unit *gpu, uint64_t now_ns)
{
	for (size_t i = 0; i < r->n; i++)
		r->units[i].seen = &r->units[i] == gpu || r->units[i].gpu != gpu->handle;
	find_instances(r, gpu, now_ns);
	for (size_t i = 0; i < r->n; i++) {
		if (r->units[i].seen || r->units[i].gone)
			continue;
		nvml_gpm_close(r, &r->units[i]);
		r->units[i].gone = true;
	}
}

void nvml_units_renew(struct nvml_reader *r, uint64_t now_ns)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->units[i].divided && !r->units[i].lost)
			renew_instances(r, &r->units[i], now_ns);
}
