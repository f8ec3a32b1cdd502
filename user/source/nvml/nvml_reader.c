// SPDX-License-Identifier: BSD-3-Clause
/*
 * A turn: for each device its processes and its state, one function for each NVML query. NVML
 * begins and ends once and, for devices that are lost, again: each time costs every device a few
 * milliseconds that are in no sample, and on a host without the persistence mode seconds, so not
 * often.
 */
#include "source/nvml/nvml_reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/time.h"
#include "event/device_number.h"

#define PAUSE_MIN_NS NS_PER_SEC
#define PAUSE_MAX_NS (60 * NS_PER_SEC)
#define SHARE 20		/* of the time that it took it is left alone */
#define CLOSEST_NS (120 * NS_PER_MS)

/* ---- what goes wrong ------------------------------------------------------------------------- */

static bool is_refusal(unsigned int code)
{
	return code == NVML_NOT_SUPPORTED || code == NVML_NO_PERMISSION ||
	       code == NVML_INVALID_ARGUMENT || code == NVML_FUNCTION_NOT_FOUND ||
	       code == NVML_ARGUMENT_VERSION || code == NVML_DEPRECATED;
}

static void note_trouble(struct nvml_reader *r, const char *function, unsigned int code)
{
	const char *text = r->api->error ? r->api->error(code) : NULL;

	if (*r->trouble || code == NVML_NOT_SUPPORTED || code == NVML_FUNCTION_NOT_FOUND)
		return;
	snprintf(r->trouble, sizeof(r->trouble), "%s: %s (NVML error %u)", function,
		 text ? text : "unknown", code);
}

static bool is_instance(const struct nvml_unit *u)
{
	return device_number_is_instance(u->number);
}

/* ---- faults: NVML's events, when they happen ------------------------------------------------- */

static const struct {
	uint64_t type;
	enum fault_what what;
} faults[] = {
	{ NVML_EVENT_XID, FAULT_XID },
	{ NVML_EVENT_ECC_CORRECTED, FAULT_ECC_CORRECTED },
	{ NVML_EVENT_ECC_UNCORRECTED, FAULT_ECC_UNCORRECTED },
	{ NVML_EVENT_ECC_STORM, FAULT_ECC_STORM },
	{ NVML_EVENT_RETIRED, FAULT_RETIRED },
	{ NVML_EVENT_RETIRE_FAILED, FAULT_RETIRE_FAILED },
	{ NVML_EVENT_POISON, FAULT_POISON },
	{ NVML_EVENT_POISON_FATAL, FAULT_POISON_FATAL },
	{ NVML_EVENT_UNAVAILABLE, FAULT_UNAVAILABLE },
	{ NVML_EVENT_RECOVERY, FAULT_RECOVERY },
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static void register_unit(struct nvml_reader *r, const struct nvml_unit *u)
{
	unsigned long long supported = 0, wanted = 0;
	unsigned int code;

	for (size_t i = 0; i < FAULTS; i++)
		wanted |= faults[i].type;
	if (r->api->event_types(u->handle, &supported) || !(supported & wanted))
		return;
	code = r->api->event_register(u->handle, supported & wanted, r->events);
	if (code && code != NVML_NOT_SUPPORTED)
		note_trouble(r, "nvmlDeviceRegisterEvents", code);
}

static void faults_open(struct nvml_reader *r)
{
	const struct nvml_api *api = r->api;

	if (!api->event_set || !api->event_types || !api->event_register || !api->event_wait ||
	    !api->event_free)
		return;
	if (api->event_set(&r->events)) {
		r->events = NULL;
		return;
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->units[i].gpu_instance == NVML_NO_INSTANCE && !r->units[i].lost)
			register_unit(r, &r->units[i]);
}

static void push_fault(struct nvml_reader *r, const struct nvml_unit *u, enum fault_what what,
		     uint64_t number, uint64_t now_ns)
{
	const struct event ev = { .kind = EVENT_FAULT,
				  .fault.what = (uint8_t)what,
				  .start_ns = now_ns,
				  .fault.value = number,
				  .fault.number = u->number,
				  .fault.uuid = u->uuid,
				  .fault.name = *u->name ? u->name : NULL };

	r->sink.push(r->sink.ctx, &ev);
}

/* In MIG mode a fault may be of one instance, or of a GPU instance with all that are in it. */
static bool is_of(const struct nvml_event *e, const struct nvml_unit *u)
{
	return !u->gone && u->gpu == e->device && e->gpu_instance != NVML_NO_INSTANCE &&
	       u->gpu_instance == e->gpu_instance &&
	       (e->compute_instance == NVML_NO_INSTANCE ||
		u->compute_instance == e->compute_instance);
}

static void push_units(struct nvml_reader *r, const struct nvml_event *e, enum fault_what what,
		       uint64_t now_ns)
{
	uint64_t number = what == FAULT_XID ? e->data : 0;
	bool sent = false;

	for (size_t i = 0; i < r->n; i++) {
		if (!is_of(e, &r->units[i]))
			continue;
		push_fault(r, &r->units[i], what, number, now_ns);
		sent = true;
	}
	for (size_t i = 0; i < r->n && !sent; i++)
		if (r->units[i].handle == e->device)
			push_fault(r, &r->units[i], what, number, now_ns);
}

static void push_event(struct nvml_reader *r, const struct nvml_event *e, uint64_t now_ns)
{
	for (size_t i = 0; i < FAULTS && e->device; i++)
		if (e->type == faults[i].type)
			push_units(r, e, faults[i].what, now_ns);
}

bool nvml_reader_wait(struct nvml_reader *r, unsigned int ms, uint64_t (*clock)(void))
{
	struct nvml_event e = { .gpu_instance = NVML_NO_INSTANCE,
				.compute_instance = NVML_NO_INSTANCE };
	unsigned int code;

	if (!r->events)
		return false;
	code = r->api->event_wait(r->events, &e, ms);
	if (!code) {
		push_event(r, &e, clock());
		return true;
	}
	if (code == NVML_TIMEOUT)
		return true;
	/* A lost device ends a wait at once, each time; its sample identifies it. */
	r->renew_events = code == NVML_GPU_IS_LOST;
	if (!r->renew_events)
		note_trouble(r, "nvmlEventSetWait_v2", code);
	r->api->event_free(r->events);
	r->events = NULL;
	return false;
}

/* ---- activity by GPM, from Hopper on --------------------------------------------------------- */

/*
 * Counters of the whole device (or of a MIG GPU instance) are read at two times, and their
 * difference is a mean over all of it. The library refreshes them every 100 ms.
 */

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

static void gpm_close(const struct nvml_reader *r, struct nvml_unit *u)
{
	if (u->before)
		r->api->gpm_free(u->before);
	if (u->now)
		r->api->gpm_free(u->now);
	u->before = u->now = NULL;
}

static void gpm_open(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	struct nvml_gpm_support support = { .version = NVML_GPM_VERSION };
	const struct nvml_api *api = r->api;

	if (u->divided || !has_functions(api, u->gpu_instance != NVML_NO_INSTANCE) ||
	    api->gpm_supported(u->gpu, &support) || !support.supported)
		return;
	if (api->gpm_alloc(&u->before) || api->gpm_alloc(&u->now) || !u->before || !u->now) {
		gpm_close(r, u);
		return;
	}
	u->before_ns = take(r, u, u->before) ? 0 : now_ns;
}

/* Compute instances of one GPU instance: GPM measures all of them together, and so none. */
static bool shares_instance(const struct nvml_reader *r, const struct nvml_unit *u)
{
	for (size_t i = 0; u->gpu_instance != NVML_NO_INSTANCE && i < r->n; i++)
		if (&r->units[i] != u && r->units[i].gpu == u->gpu && !r->units[i].gone &&
		    r->units[i].gpu_instance == u->gpu_instance)
			return true;
	return false;
}

/* A percentage that can be one; a little above 100 is rounding of the library's. */
static void put_percent(struct device_sample *s, unsigned int field, double percent)
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
			put_percent(s, metrics[i].field, get->metric[i].value);
	if (code)
		note_trouble(r, "nvmlGpmMetricsGet", code);
	free(get);
}

static void gpm_read(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns,
		   struct device_sample *s)
{
	struct nvmlGpmSample_st *last = u->before;
	unsigned int code;

	if (!u->before || (u->before_ns && now_ns - u->before_ns < CLOSEST_NS))
		return;
	code = take(r, u, u->now);
	if (code) {
		note_trouble(r, u->gpu_instance == NVML_NO_INSTANCE ? "nvmlGpmSampleGet" :
			  "nvmlGpmMigSampleGet", code);
		u->before_ns = 0;
		if (is_refusal(code))
			gpm_close(r, u);
		return;
	}
	/* It may have begun with a sample before, that was too short for one. */
	if (u->before_ns && u->sampled_ns - u->before_ns <= CLOSEST_NS && !shares_instance(r, u))
		read_metrics(r, u, s);
	u->before = u->now;
	u->now = last;
	u->before_ns = now_ns;
}

/* ---- lost devices ---------------------------------------------------------------------------- */

/* A handle of before a reset may be refused as none. */
static bool is_gone(unsigned int code, bool answered)
{
	return code == NVML_GPU_IS_LOST || code == NVML_RESET_REQUIRED ||
	       code == NVML_UNINITIALIZED || code == NVML_NOT_FOUND ||
	       (code == NVML_INVALID_ARGUMENT && answered);
}

static void lose_gpu(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	if (!u->lost)
		push_fault(r, u, FAULT_LOST, 0, now_ns);
	u->lost = true;
}

static bool note_lost(struct nvml_reader *r, struct nvml_unit *u, unsigned int code, bool answered,
	       uint64_t now_ns)
{
	const struct nvmlDevice_st *gpu = u->gpu;

	if (!is_gone(code, answered))
		return false;
	if (is_instance(u) && (code == NVML_NOT_FOUND || code == NVML_INVALID_ARGUMENT)) {
		gpm_close(r, u);	/* its GPU may be well */
		u->gone = true;
		return true;
	}
	for (size_t i = 0; i < r->n; i++) {
		if (r->units[i].gpu != gpu || r->units[i].gone)
			continue;
		if (is_instance(&r->units[i]))
			r->units[i].lost = true;
		else
			lose_gpu(r, &r->units[i], now_ns);
	}
	return true;
}

/* ---- which devices there are, by the names that CUDA and the host give them ------------------ */

/* The library wrote a text. */
static bool read_names(struct nvml_reader *r, struct nvml_unit *u)
{
	unsigned int code = r->api->uuid(u->handle, u->uuid, sizeof(u->uuid));

	u->uuid[sizeof(u->uuid) - 1] = '\0';
	if (code || !*u->uuid) {
		note_trouble(r, "nvmlDeviceGetUUID", code);
		return false;
	}
	if (r->api->name(u->handle, u->name, sizeof(u->name)))
		*u->name = '\0';
	u->name[sizeof(u->name) - 1] = '\0';
	return true;
}

/* A device that is gone gives up its place only when there is no other, since it may come back.
 * NULL: there is none. */
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
		if (!r->units[i].gone && r->units[i].number == number &&
		    strcmp(r->units[i].uuid, uuid) != 0)
			return true;
	return false;
}

/* A known device keeps its number, whatever its place is now; so a new one may find its own
 * taken. */
static struct nvml_unit *place(struct nvml_reader *r, const struct nvml_unit *found)
{
	struct nvml_unit *u = find_unit(r, found->uuid);
	uint32_t number = u ? u->number : found->number;

	for (int i = 0; i < NVML_UNITS_MAX && is_taken(r, number, found->uuid); i++)
		number = device_number_next(number);
	u = u ? u : make_unit(r);
	if (!u)
		return NULL;
	gpm_close(r, u);
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
	u->sampled_ns = now_ns;
	gpm_open(r, u, now_ns);
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
	u->sampled_ns = now_ns;
	if (was_lost)
		push_fault(r, u, FAULT_BACK, 0, now_ns);
	gpm_open(r, u, now_ns);
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
			note_trouble(r, "nvmlDeviceGetHandleByIndex_v2", code);
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

static int find_units(struct nvml_reader *r, uint64_t (*clock)(void))
{
	unsigned int n = 0, code = r->api->count(&n);

	if (code) {
		note_trouble(r, "nvmlDeviceGetCount_v2", code);
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
		gpm_close(r, &r->units[i]);
		r->units[i].gone = true;
	}
}

/* A GPU's handle from before its mode changed need not be one now. */
static void renew_gpu(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	bool divided = u->divided;
	unsigned int code = u->has_mode ? read_mode(r, u, &divided) : 0;

	if (note_lost(r, u, code, true, now_ns))
		return;
	r->must_look |= !code && divided != u->divided;
	if (u->divided)
		renew_instances(r, u, now_ns);
}

static void renew_units(struct nvml_reader *r, uint64_t now_ns)
{
	for (size_t i = 0; i < r->n; i++)
		if (!device_number_is_instance(r->units[i].number) && !r->units[i].lost)
			renew_gpu(r, &r->units[i], now_ns);
}

/* ---- queries -------------------------------------------------------------------------------- */

struct asking {
	const struct nvml_api *api;
	struct nvmlDevice_st *d;
	struct device_sample *s;
};

static void put(struct device_sample *s, unsigned int field, uint64_t value)
{
	s->has |= 1u << field;
	s->v[field] = value;
}

static unsigned int ask_utilization(const struct asking *a)
{
	struct nvml_utilization u = { 0 };
	unsigned int code = a->api->utilization(a->d, &u);

	if (!code && u.gpu <= 100)
		put(a->s, SAMPLE_BUSY, u.gpu);
	if (!code && u.memory <= 100)
		put(a->s, SAMPLE_MEMORY_BUSY, u.memory);
	return code;
}

static unsigned int ask_memory(const struct asking *a)
{
	struct nvml_memory m = { .version = NVML_MEMORY_VERSION };
	unsigned int code = a->api->memory(a->d, &m);

	if (code)
		return code;
	put(a->s, SAMPLE_USED_BYTES, m.used);
	put(a->s, SAMPLE_TOTAL_BYTES, m.total);
	return 0;
}

static unsigned int ask_power(const struct asking *a)
{
	unsigned int mw = 0, code = a->api->power(a->d, &mw);

	if (!code)
		put(a->s, SAMPLE_POWER_MW, mw);
	return code;
}

static unsigned int ask_energy(const struct asking *a)
{
	unsigned long long mj = 0;
	unsigned int code = a->api->energy(a->d, &mj);

	if (!code)
		put(a->s, SAMPLE_ENERGY_MJ, mj);
	return code;
}

static unsigned int ask_clock(const struct asking *a, unsigned int type, unsigned int field)
{
	unsigned int mhz = 0, code = a->api->clock(a->d, type, &mhz);

	if (!code)
		put(a->s, field, mhz);
	return code;
}

static unsigned int ask_sm_clock(const struct asking *a)
{
	return ask_clock(a, NVML_SM_CLOCK, SAMPLE_SM_MHZ);
}

static unsigned int ask_memory_clock(const struct asking *a)
{
	return ask_clock(a, NVML_MEMORY_CLOCK, SAMPLE_MEMORY_MHZ);
}

/* It has a new name since CUDA 12.2. */
static unsigned int ask_clock_reasons(const struct asking *a)
{
	unsigned long long bits = 0;
	unsigned int code;

	if (!a->api->clock_reasons && !a->api->clock_reasons_old)
		return NVML_FUNCTION_NOT_FOUND;
	code = (a->api->clock_reasons ? a->api->clock_reasons : a->api->clock_reasons_old)(a->d,
											   &bits);
	if (!code)
		put(a->s, SAMPLE_CLOCK_REASONS, bits);
	return code;
}

#define AT(member) offsetof(struct nvml_api, member)

static const struct {
	const char *function;
	/* in struct nvml_api; 0: the query finds its function itself */
	size_t at;
	/* only a GPU as a whole has it; else not one that is divided */
	bool whole;
	unsigned int field;		/* by which it is refused */
	unsigned int (*ask)(const struct asking *a);
} questions[] = {
	{ "nvmlDeviceGetUtilizationRates", AT(utilization), true, SAMPLE_BUSY, ask_utilization },
	{ "nvmlDeviceGetMemoryInfo_v2", AT(memory), false, SAMPLE_USED_BYTES, ask_memory },
	{ "nvmlDeviceGetPowerUsage", AT(power), true, SAMPLE_POWER_MW, ask_power },
	{ "nvmlDeviceGetTotalEnergyConsumption", AT(energy), true, SAMPLE_ENERGY_MJ, ask_energy },
	{ "nvmlDeviceGetClockInfo", AT(clock), true, SAMPLE_SM_MHZ, ask_sm_clock },
	{ "nvmlDeviceGetClockInfo", AT(clock), true, SAMPLE_MEMORY_MHZ, ask_memory_clock },
	{ "nvmlDeviceGetCurrentClocksEventReasons", 0, true, SAMPLE_CLOCK_REASONS,
	  ask_clock_reasons },
};

static bool has_function(const struct nvml_api *api, size_t at)
{
	void *function = NULL;

	if (at)
		memcpy(&function, (const char *)api + at, sizeof(function));
	return !at || function;
}

/* ---- a device -------------------------------------------------------------------------------- */

static bool is_asked(const struct nvml_unit *u, bool whole)
{
	return whole ? u->gpu_instance == NVML_NO_INSTANCE : !u->divided;
}

static void ask_all(struct nvml_reader *r, struct nvml_unit *u, struct device_sample *s,
		    uint64_t now_ns)
{
	const struct asking a = { r->api, u->handle, s };

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]) && !u->lost && !u->gone;
	     i++) {
		uint32_t bit = 1u << questions[i].field;
		unsigned int code;

		if (!is_asked(u, questions[i].whole) || u->refused & bit ||
		    !has_function(r->api, questions[i].at))
			continue;
		code = questions[i].ask(&a);
		if (note_lost(r, u, code, u->answered & bit, now_ns))
			return;
		if (is_refusal(code))
			u->refused |= bit;
		if (!code)
			u->answered |= bit;
		else
			note_trouble(r, questions[i].function, code);
	}
}

static void push_user(struct nvml_reader *r, const struct nvml_unit *u,
		      const struct nvml_process *p, uint64_t now_ns)
{
	struct event ev = { .kind = EVENT_USER, .pid = p->pid, .tid = p->pid, .start_ns = now_ns,
			    .user.number = u->number, .user.uuid = u->uuid };

	if (p->used_bytes != NVML_NO_BYTES) {
		ev.user.bytes = p->used_bytes;
		ev.has = HAS_BYTES;
	}
	r->sink.push(r->sink.ctx, &ev);
}

/* In a pid namespace drivers report its pids, the host's, or none, depending on their version. */
static void read_users(struct nvml_reader *r, struct nvml_unit *u, struct device_sample *s,
		       uint64_t now_ns)
{
	unsigned int n = NVML_USERS_MAX, users = 0, code;

	if (!r->pids_are_hosts || !r->api->processes || u->users_refused || u->divided)
		return;
	code = r->api->processes(u->handle, &n, r->users);
	if (code == NVML_INSUFFICIENT_SIZE)
		return;		/* more than fit: none is better than some of them */
	if (note_lost(r, u, code, false, now_ns))
		return;
	if (code) {
		u->users_refused = is_refusal(code);
		note_trouble(r, "nvmlDeviceGetComputeRunningProcesses_v3", code);
		return;
	}
	for (unsigned int i = 0; i < n && i < NVML_USERS_MAX; i++) {
		if (r->users[i].pid == r->own_pid)
			continue;
		users++;
		if (r->users[i].pid)
			push_user(r, u, &r->users[i], now_ns);
	}
	put(s, SAMPLE_USERS, users);
}

static void sample_unit(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	struct event ev = { .kind = EVENT_SAMPLE, .start_ns = u->sampled_ns, .end_ns = now_ns,
			    .sample = { .number = u->number, .uuid = u->uuid,
					.name = *u->name ? u->name : NULL } };
	struct device_sample *s = &ev.sample.values;

	ask_all(r, u, s, now_ns);
	if (!u->lost && !u->gone)
		read_users(r, u, s, now_ns);
	if (u->lost || u->gone)
		return;
	gpm_read(r, u, now_ns, s);
	r->sink.push(r->sink.ctx, &ev);
	u->sampled_ns = now_ns;
}

void nvml_reader_sample(struct nvml_reader *r, uint64_t now_ns)
{
	renew_units(r, now_ns);
	for (size_t i = 0; i < r->n; i++) {
		struct nvml_unit *u = &r->units[i];

		if (!u->lost && !u->gone && now_ns > u->sampled_ns)
			sample_unit(r, u, now_ns);
	}
	if (r->renew_events)	/* of the other devices */
		faults_open(r);
	r->renew_events = false;
}

bool nvml_reader_has_gpm(const struct nvml_reader *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->units[i].before)
			return true;
	return false;
}

/* ---- the beginning and the end --------------------------------------------------------------- */

static int begin(struct nvml_reader *r, uint64_t (*clock)(void))
{
	unsigned int code = r->api->init();
	int err;

	if (code) {
		note_trouble(r, "nvmlInit_v2", code);
		if (!*r->trouble)
			snprintf(r->trouble, sizeof(r->trouble), "nvmlInit_v2: not supported");
		return -EIO;
	}
	r->is_open = true;
	if (r->api->driver_version(r->driver, sizeof(r->driver)))
		*r->driver = '\0';
	r->driver[sizeof(r->driver) - 1] = '\0';
	err = find_units(r, clock);
	if (!err)
		faults_open(r);
	return err;
}

/* No handle is good any more. Without nvmlShutdown if it never began. */
static void end(struct nvml_reader *r)
{
	if (r->events)
		r->api->event_free(r->events);
	r->events = NULL;
	for (size_t i = 0; i < r->n; i++) {
		struct nvml_unit *u = &r->units[i];

		gpm_close(r, u);
		u->handle = u->gpu = NULL;
		u->gone |= is_instance(u);
		u->seen = false;
	}
	if (r->is_open)
		r->api->shutdown();
	r->is_open = false;
}

int nvml_reader_open(struct nvml_reader *r, uint64_t (*clock)(void))
{
	r->users = calloc(NVML_USERS_MAX, sizeof(*r->users));
	r->units = calloc(NVML_UNITS_MAX, sizeof(*r->units));
	return r->users && r->units ? begin(r, clock) : -ENOMEM;
}

void nvml_reader_close(struct nvml_reader *r)
{
	end(r);
	free(r->units);
	free(r->users);
	r->units = NULL;
	r->users = NULL;
	r->n = 0;
}

/* ---- and comes back -------------------------------------------------------------------------- */

bool nvml_reader_must_reopen(const struct nvml_reader *r, uint64_t now_ns)
{
	bool must = r->must_look;

	for (size_t i = 0; i < r->n && !must; i++)
		must = r->units[i].lost && !r->units[i].gone;
	return must && now_ns >= r->look_ns;
}

/* After a minute without need the pause starts anew. */
static uint64_t next_pause(const struct nvml_reader *r, uint64_t now_ns)
{
	if (now_ns > num_add(r->look_ns, PAUSE_MAX_NS))
		return PAUSE_MIN_NS;
	return num_max(PAUSE_MIN_NS, num_min(2 * r->pause_ns, PAUSE_MAX_NS));
}

void nvml_reader_reopen(struct nvml_reader *r, uint64_t (*clock)(void))
{
	uint64_t began_ns = clock(), ended_ns;

	r->pause_ns = next_pause(r, began_ns);
	r->must_look = r->renew_events = false;
	end(r);
	begin(r, clock);	/* if not: nothing is seen, and all is lost for now */
	ended_ns = clock();
	for (size_t i = 0; i < r->n; i++)
		if (!r->units[i].seen && !is_instance(&r->units[i]))
			lose_gpu(r, &r->units[i], ended_ns);
	r->look_ns = ended_ns + num_max(r->pause_ns, SHARE * (ended_ns - began_ns));
}
