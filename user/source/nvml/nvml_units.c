// SPDX-License-Identifier: BSD-3-Clause
/* Which devices there are, by the names that CUDA and the host give them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/device_number.h"
#include "source/nvml/nvml_reader.h"

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

/* Who is gone makes room when there is no other, since it may come back. NULL: there is none. */
static struct nvml_unit *make_unit(struct nvml_reader *r)
{
	if (r->n < NVML_UNITS_MAX)
		return &r->units[r->n++];
	for (size_t i = 0; i < r->n; i++)
		if (r->units[i].gone)
			return &r->units[i];
	return NULL;
}

static struct nvml_unit *find_unit(struct nvml_reader *r, const char *uuid)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->units[i].uuid, uuid))
			return &r->units[i];
	return NULL;
}

static bool is_taken(const struct nvml_reader *r, uint32_t number, const char *uuid)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->units[i].gone && r->units[i].number == number && strcmp(r->units[i].uuid, uuid) != 0)
			return true;
	return false;
}

/* Who was known before keeps its number, whatever its place is now; so a new one may find its own taken. */
static struct nvml_unit *place(struct nvml_reader *r, const struct nvml_unit *found)
{
	struct nvml_unit *u = find_unit(r, found->uuid);
	uint32_t number = u ? u->number : found->number;

	for (int i = 0; i < NVML_UNITS_MAX && is_taken(r, number, found->uuid); i++)
		number = device_number_next(number);
	u = u ? u : make_unit(r);
	if (!u)
		return NULL;
	nvml_gpm_close(r, u);
	*u = *found;
	u->number = number;
	u->seen = true;
	return u;
}

static void read_instance(struct nvml_reader *r, struct nvml_unit *u)
{
	const struct nvml_api *api = r->api;

	if (!api->gpu_instance || api->gpu_instance(u->handle, &u->gpu_instance))
		u->gpu_instance = NVML_NO_INSTANCE;
	if (!api->compute_instance || api->compute_instance(u->handle, &u->compute_instance))
		u->compute_instance = NVML_NO_INSTANCE;
}

/* It is there: as it was, again, or new. */
static void note_instance(struct nvml_reader *r, const struct nvml_unit *found, uint64_t now_ns)
{
	struct nvml_unit *u = find_unit(r, found->uuid);

	if (u && !u->gone) {
		u->seen = true;
		return;
	}
	u = place(r, found);
	if (!u)
		return;
	u->told_ns = now_ns;
	nvml_gpm_open(r, u, now_ns);
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

/* The mode that it is in. */
static unsigned int read_mode(const struct nvml_reader *r, struct nvml_unit *u, bool *divided)
{
	unsigned int mode = 0, pending = 0, code = NVML_FUNCTION_NOT_FOUND;

	if (r->api->mig_mode)
		code = r->api->mig_mode(u->handle, &mode, &pending);
	*divided = !code && mode == 1;
	return code;
}

/* It is there: for the first time, or again. */
static void note_gpu(struct nvml_reader *r, const struct nvml_unit *found, uint64_t now_ns)
{
	const struct nvml_unit *known = find_unit(r, found->uuid);
	bool was_lost = known && known->lost;
	struct nvml_unit *u = place(r, found);

	if (!u)
		return;
	u->told_ns = now_ns;
	if (was_lost)
		nvml_tell_fault(r, u, FAULT_BACK, 0, now_ns);
	nvml_gpm_open(r, u, now_ns);
	if (u->divided)
		find_instances(r, u, now_ns);
}

static void find_gpu(struct nvml_reader *r, unsigned int i, uint64_t (*clock)(void))
{
	struct nvml_unit u = { .gpu_instance = NVML_NO_INSTANCE,
			       .compute_instance = NVML_NO_INSTANCE };
	unsigned int code = r->api->device(i, &u.handle);

	if (code || !u.handle) {
		r->must_look |= code == NVML_GPU_IS_LOST;
		if (code != NVML_GPU_IS_LOST)
			nvml_note(r, "nvmlDeviceGetHandleByIndex_v2", code);
		return;		/* lost, or not ours to see */
	}
	if (!read_names(r, &u))
		return;
	if (r->api->index(u.handle, &u.number))
		u.number = i;
	u.gpu = u.handle;
	u.has_mode = !read_mode(r, &u, &u.divided);
	note_gpu(r, &u, clock());
}

int nvml_units_find(struct nvml_reader *r, uint64_t (*clock)(void))
{
	unsigned int n = 0, code = r->api->count(&n);

	if (code) {
		nvml_note(r, "nvmlDeviceGetCount_v2", code);
		return -EIO;
	}
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

/* What was a GPU's handle before its mode changed need not be one now. */
static void renew_gpu(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	bool divided = u->divided;
	unsigned int code = u->has_mode ? read_mode(r, u, &divided) : 0;

	if (nvml_lose(r, u, code, true, now_ns))
		return;
	r->must_look |= !code && divided != u->divided;
	if (u->divided)
		renew_instances(r, u, now_ns);
}

void nvml_units_renew(struct nvml_reader *r, uint64_t now_ns)
{
	for (size_t i = 0; i < r->n; i++)
		if (!device_number_is_instance(r->units[i].number) && !r->units[i].lost)
			renew_gpu(r, &r->units[i], now_ns);
}
