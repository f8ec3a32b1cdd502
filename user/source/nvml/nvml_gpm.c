// SPDX-License-Identifier: BSD-3-Clause
/*
 * Activity by GPM, from Hopper on: counters of the whole device (or of a MIG GPU instance) are read at
 * two times, and what lies between is a mean over all of it. The library refreshes them every 100 ms.
 */
#include <math.h>
#include <stdlib.h>

#include "base/time.h"
#include "source/nvml/nvml_reader.h"

#define CLOSEST_NS (120 * NS_PER_MS)

static const struct {
	uint8_t metric, field;
} metrics[] = {
	{ NVML_METRIC_SM, SAMPLE_SM }, { NVML_METRIC_OCCUPANCY, SAMPLE_OCCUPANCY },
	{ NVML_METRIC_TENSOR, SAMPLE_TENSOR }, { NVML_METRIC_DRAM, SAMPLE_DRAM },
};
#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static bool has_functions(const struct nvml_api *api, bool mig)
{
	return api->gpm_supported && api->gpm_alloc && api->gpm_free && api->gpm_metrics &&
	       (mig ? api->gpm_mig_sample != NULL : api->gpm_sample != NULL);
}

static unsigned int take(const struct nvml_reader *r, const struct nvml_unit *u,
			 struct nvmlGpmSample_st *to)
{
	if (u->gpu_instance == NVML_NO_INSTANCE)
		return r->api->gpm_sample(u->handle, to);
	return r->api->gpm_mig_sample(u->gpu, u->gpu_instance, to);
}

void nvml_gpm_open(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	struct nvml_gpm_support support = { .version = NVML_GPM_VERSION };
	const struct nvml_api *api = r->api;

	if (u->divided || !has_functions(api, u->gpu_instance != NVML_NO_INSTANCE) ||
	    api->gpm_supported(u->gpu, &support) || !support.supported)
		return;
	if (api->gpm_alloc(&u->before) || api->gpm_alloc(&u->now) || !u->before || !u->now) {
		nvml_gpm_close(r, u);
		return;
	}
	u->before_ns = take(r, u, u->before) ? 0 : now_ns;
}

void nvml_gpm_close(const struct nvml_reader *r, struct nvml_unit *u)
{
	if (u->before)
		r->api->gpm_free(u->before);
	if (u->now)
		r->api->gpm_free(u->now);
	u->before = u->now = NULL;
}

/* Compute instances of one GPU instance: what GPM tells is of all of them, and so of none. */
static bool shares_instance(const struct nvml_reader *r, const struct nvml_unit *u)
{
	for (size_t i = 0; u->gpu_instance != NVML_NO_INSTANCE && i < r->n; i++)
		if (&r->units[i] != u && r->units[i].gpu == u->gpu && !r->units[i].gone &&
		    r->units[i].gpu_instance == u->gpu_instance)
			return true;
	return false;
}

/* A percentage that can be one; a little above 100 is rounding of the library's. */
static void put(struct device_sample *s, unsigned int field, double percent)
{
	double hundredths = round(percent * 100);

	if (!(hundredths >= 0) || hundredths > 1.01 * SAMPLE_FULL)
		return;
	s->v[field] = hundredths > SAMPLE_FULL ? SAMPLE_FULL : (uint64_t)hundredths;
	s->has |= 1u << field;
}

static void read_metrics(struct nvml_reader *r, const struct nvml_unit *u, struct device_sample *s)
{
	struct nvml_gpm_get *get = calloc(1, sizeof(*get));	/* 8 KiB are too much for a stack */
	unsigned int code;

	if (!get)
		return;
	get->version = NVML_GPM_VERSION;
	get->n = METRICS;
	get->before = u->before;
	get->after = u->now;
	for (size_t i = 0; i < METRICS; i++)
		get->metric[i].id = metrics[i].metric;
	code = r->api->gpm_metrics(get);
	for (size_t i = 0; !code && i < METRICS; i++)
		if (!get->metric[i].code && get->metric[i].id == metrics[i].metric)
			put(s, metrics[i].field, get->metric[i].value);
	if (code)
		nvml_note(r, "nvmlGpmMetricsGet", code);
	free(get);
}

void nvml_gpm_read(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns,
		   struct device_sample *s)
{
	struct nvmlGpmSample_st *last = u->before;
	unsigned int code;

	if (!u->before || (u->before_ns && now_ns - u->before_ns < CLOSEST_NS))
		return;
	code = take(r, u, u->now);
	if (code) {
		nvml_note(r, u->gpu_instance == NVML_NO_INSTANCE ? "nvmlGpmSampleGet" :
			  "nvmlGpmMigSampleGet", code);
		u->before_ns = 0;
		if (nvml_refuses(code))
			nvml_gpm_close(r, u);
		return;
	}
	/* It may have begun with a sample before, that was too short for one. */
	if (u->before_ns && u->told_ns - u->before_ns <= CLOSEST_NS && !shares_instance(r, u))
		read_metrics(r, u, s);
	u->before = u->now;
	u->now = last;
	u->before_ns = now_ns;
}
