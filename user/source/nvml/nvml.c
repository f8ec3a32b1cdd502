// SPDX-License-Identifier: BSD-3-Clause
/* The reader of devices, and the thread with its queue around it. */
#include "source/nvml/nvml.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "event/device_number.h"
#include "host/caps.h"
#include "host/proc.h"

/* ---- the reader ------------------------------------------------------------------------------ */

/*
 * The host's devices by NVML, read into events: EVENT_USERs and an EVENT_SAMPLE for each device
 * and turn, EVENT_FAULTs as they come. Any call may block for as long as the driver likes: a
 * caller that must not wait uses a thread of its own. Knows no library, only its functions.
 *
 * The instances of a GPU in MIG mode are devices of their own; NVML's figures of GPUs as a whole
 * (power, energy, clocks) are reported for their GPU, and never as theirs. A query that a device
 * does not support is left out for good at its first "not supported", "no permission" and the
 * like; after another failure it is left out once. The first of those failures that is not "not
 * supported" is kept for the report.
 *
 * A device that is lost (it fell off the bus, or is reset), or that enters or leaves MIG mode, may
 * come back for those only who begin anew: nvml_reader_reopen. It is known by its UUID, and keeps
 * its number.
 */

#define NVML_UNITS_MAX 512		/* GPUs of a host, and their MIG instances */
#define NVML_USERS_MAX 1024		/* processes of a device that are reported */

struct nvml_unit {			/* a GPU, or a MIG instance of one */
	struct nvmlDevice_st *handle, *gpu;
	char uuid[NVML_UUID_BYTES], name[NVML_NAME_BYTES];
	uint32_t number;		/* on the host: device_number.h */
	uint32_t gpu_instance, compute_instance;	/* NVML_NO_INSTANCE: it is a GPU */
	bool divided;			/* into instances: nothing runs on it but in these */
	bool has_mode;			/* ... and can be, or not */
	/* NVML reported it lost: it is not queried until it is found again */
	bool lost;
	bool gone;			/* an instance that is no more, or not now */
	bool seen;			/* when it was last looked for */
	bool users_refused;
	/* 1 << enum sample_field: not supported; a query succeeded */
	uint32_t refused, answered;
	uint64_t sampled_ns;		/* where its last sample ended */
	struct nvmlGpmSample_st *before, *now;	/* NULL: it has no GPM */
	uint64_t before_ns;		/* when `before` was taken; 0: it was not */
};

struct nvml_reader {
	const struct nvml_api *api;
	struct event_sink sink;		/* whatever it returns */
	bool pids_are_hosts;		/* else the processes are unknown, and none is reported */
	uint32_t own_pid;
	struct nvml_unit *units;
	size_t n;
	bool is_open;			/* between nvmlInit and nvmlShutdown */
	bool must_look;			/* devices are others than they were */
	uint64_t look_ns, pause_ns;	/* not before; then, not for so long */
	struct nvmlEventSet_st *events;	/* NULL: none can be waited for */
	bool renew_events;		/* they ended for a device that is lost */
	struct nvml_process *users;
	char trouble[160];		/* the first one; "" */
	char driver[NVML_VERSION_BYTES];
};

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
	const struct event ev = {
		.kind = EVENT_FAULT, .start_ns = now_ns,
		.fault = { .what = (uint8_t)what, .value = number, .number = u->number,
			   .uuid = u->uuid, .name = *u->name ? u->name : NULL } };

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

static void push_event(struct nvml_reader *r, const struct nvml_event *e, uint64_t now_ns)
{
	size_t i = 0;
	uint64_t number;
	bool sent = false;

	while (i < FAULTS && e->type != faults[i].type)
		i++;
	if (i == FAULTS || !e->device)
		return;
	number = faults[i].what == FAULT_XID ? e->data : 0;
	for (struct nvml_unit *u = r->units; u < r->units + r->n; u++)
		if (is_of(e, u)) {
			push_fault(r, u, faults[i].what, number, now_ns);
			sent = true;
		}
	for (struct nvml_unit *u = r->units; u < r->units + r->n && !sent; u++)
		if (u->handle == e->device)
			push_fault(r, u, faults[i].what, number, now_ns);
}

/* Waits for at most ms, for a fault if any can come, and pushes it. False: none can come, it did
 * not wait. */
static bool nvml_reader_wait(struct nvml_reader *r, unsigned int ms, uint64_t (*clock)(void))
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

static void lose_gpu(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	if (!u->lost)
		push_fault(r, u, FAULT_LOST, 0, now_ns);
	u->lost = true;
}

/* Is the device lost, by what a query returned? A handle of before a reset may be refused as
 * none. */
static bool note_lost(struct nvml_reader *r, struct nvml_unit *u, unsigned int code, bool answered,
		      uint64_t now_ns)
{
	const struct nvmlDevice_st *gpu = u->gpu;

	if (code != NVML_GPU_IS_LOST && code != NVML_RESET_REQUIRED && code != NVML_UNINITIALIZED &&
	    code != NVML_NOT_FOUND && !(code == NVML_INVALID_ARGUMENT && answered))
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

static struct nvml_unit *find_unit(struct nvml_reader *r, const char *uuid)
{
	for (struct nvml_unit *u = r->units; u && u < r->units + r->n; u++)
		if (!strcmp(u->uuid, uuid))
			return u;
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
 * taken. NULL: there is no room. */
static struct nvml_unit *place(struct nvml_reader *r, const struct nvml_unit *found)
{
	struct nvml_unit *u = find_unit(r, found->uuid);
	uint32_t number = u ? u->number : found->number;

	for (int i = 0; i < NVML_UNITS_MAX && is_taken(r, number, found->uuid); i++)
		number = device_number_next(number);
	if (!u && r->n < NVML_UNITS_MAX)
		u = &r->units[r->n++];
	/* A device that is gone gives up its place only when there is no other, since it may come
	 * back. */
	for (size_t i = 0; !u && i < r->n; i++)
		if (r->units[i].gone)
			u = &r->units[i];
	if (!u)
		return NULL;
	gpm_close(r, u);
	*u = *found;
	u->number = number;
	u->seen = true;
	return u;
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
		if (!api->gpu_instance || api->gpu_instance(u.handle, &u.gpu_instance))
			u.gpu_instance = NVML_NO_INSTANCE;
		if (!api->compute_instance || api->compute_instance(u.handle, &u.compute_instance))
			u.compute_instance = NVML_NO_INSTANCE;
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

/* ---- queries -------------------------------------------------------------------------------- */

struct asking {
	const struct nvml_api *api;
	struct nvmlDevice_st *d;
	unsigned int field;
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

static unsigned int ask_clock(const struct asking *a)
{
	unsigned int type = a->field == SAMPLE_SM_MHZ ? NVML_SM_CLOCK : NVML_MEMORY_CLOCK;
	unsigned int mhz = 0, code = a->api->clock(a->d, type, &mhz);

	if (!code)
		put(a->s, a->field, mhz);
	return code;
}

/* It has a new name since CUDA 12.2. */
static unsigned int ask_clock_reasons(const struct asking *a)
{
	unsigned int (*reasons)(struct nvmlDevice_st *, unsigned long long *) =
		a->api->clock_reasons ? a->api->clock_reasons : a->api->clock_reasons_old;
	unsigned long long bits = 0;
	unsigned int code = reasons ? reasons(a->d, &bits) : NVML_FUNCTION_NOT_FOUND;

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
	{ "nvmlDeviceGetClockInfo", AT(clock), true, SAMPLE_SM_MHZ, ask_clock },
	{ "nvmlDeviceGetClockInfo", AT(clock), true, SAMPLE_MEMORY_MHZ, ask_clock },
	{ "nvmlDeviceGetCurrentClocksEventReasons", 0, true, SAMPLE_CLOCK_REASONS,
	  ask_clock_reasons },
};

/* ---- a device -------------------------------------------------------------------------------- */

static void ask_all(struct nvml_reader *r, struct nvml_unit *u, struct device_sample *s,
		    uint64_t now_ns)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]) && !u->lost && !u->gone;
	     i++) {
		const struct asking a = { r->api, u->handle, questions[i].field, s };
		const uint32_t bit = 1u << questions[i].field;
		void *function = NULL;
		unsigned int code;

		if (questions[i].at)
			memcpy(&function, (const char *)r->api + questions[i].at, sizeof(function));
		if (u->refused & bit || (questions[i].at && !function) ||
		    (questions[i].whole ? u->gpu_instance != NVML_NO_INSTANCE : u->divided))
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

/* A turn. */
static void nvml_reader_sample(struct nvml_reader *r, uint64_t now_ns)
{
	for (size_t i = 0; i < r->n; i++)
		if (!is_instance(&r->units[i]) && !r->units[i].lost)
			renew_gpu(r, &r->units[i], now_ns);
	for (size_t i = 0; i < r->n; i++) {
		struct nvml_unit *u = &r->units[i];

		if (!u->lost && !u->gone && now_ns > u->sampled_ns)
			sample_unit(r, u, now_ns);
	}
	if (r->renew_events)	/* of the other devices */
		faults_open(r);
	r->renew_events = false;
}

static bool nvml_reader_has_gpm(const struct nvml_reader *r)
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
static void shut_down(struct nvml_reader *r)
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

/* Initialises NVML and finds the devices; faults are waited for from here on, where their first
 * samples begin. 0, or -errno with why in r->trouble; close it in both cases. Zeroed but for api,
 * sink, pids_are_hosts, own_pid. */
static int nvml_reader_open(struct nvml_reader *r, uint64_t (*clock)(void))
{
	r->users = calloc(NVML_USERS_MAX, sizeof(*r->users));
	r->units = calloc(NVML_UNITS_MAX, sizeof(*r->units));
	return r->users && r->units ? begin(r, clock) : -ENOMEM;
}

static void nvml_reader_close(struct nvml_reader *r)
{
	shut_down(r);
	free(r->units);
	free(r->users);
	r->units = NULL;
	r->users = NULL;
	r->n = 0;
}

/* ---- and comes back -------------------------------------------------------------------------- */

/* Is a device lost, or another than it was, and is it time to look for it? At once, then after 1 s,
 * 2 s, 4 s, at last each minute, and never for more than a 20th of the time. */
static bool nvml_reader_must_reopen(const struct nvml_reader *r, uint64_t now_ns)
{
	bool must = r->must_look;

	for (size_t i = 0; i < r->n && !must; i++)
		must = r->units[i].lost && !r->units[i].gone;
	return must && now_ns >= r->look_ns;
}

/* NVML ends and begins anew. Right after a turn, so that no sample is missed: the time it takes
 * is in none. */
static void nvml_reader_reopen(struct nvml_reader *r, uint64_t (*clock)(void))
{
	uint64_t began_ns = clock(), ended_ns;

	r->pause_ns = num_max(PAUSE_MIN_NS, num_min(2 * r->pause_ns, PAUSE_MAX_NS));
	if (began_ns > num_add(r->look_ns, PAUSE_MAX_NS))	/* a minute without need */
		r->pause_ns = PAUSE_MIN_NS;
	r->must_look = r->renew_events = false;
	shut_down(r);
	begin(r, clock);	/* if not: nothing is seen, and all is lost for now */
	ended_ns = clock();
	for (size_t i = 0; i < r->n; i++)
		if (!r->units[i].seen && !is_instance(&r->units[i]))
			lose_gpu(r, &r->units[i], ended_ns);
	r->look_ns = ended_ns + num_max(r->pause_ns, SHARE * (ended_ns - began_ns));
}

/* Each turn is twice as long as the one before, up to TURN_NS: so short sessions, too, know the
 * devices after the start. */
#define FIRST_TURN_NS (150 * NS_PER_MS)
#define TURN_NS NS_PER_SEC
#define WAIT_MS 100		/* at most, so that an end is noticed */
#define BURST 64		/* events of devices in such a time; more come later */
#define QUEUE_MAX 8192		/* events: a second of 8 devices with a thousand processes each */

struct nvml {
	int (*load)(struct nvml_api *api, char *why, unsigned int why_bytes);
	pthread_t thread;

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct nvml_status status;
	VEC(struct event *) queue;	/* clones */
	VEC(struct nvml_instance) instances;
	bool stop, over;	/* over: the thread will touch this no more */
	bool left;		/* the thread frees it */
};

/* ---- the thread ------------------------------------------------------------------------------ */

static void enter(struct nvml *n, const char *what)
{
	pthread_mutex_lock(&n->lock);
	n->status.doing = what;
	n->status.since_ns = time_now_ns();
	pthread_mutex_unlock(&n->lock);
}

static int enqueue(void *ctx, const struct event *ev)
{
	struct nvml *n = ctx;
	struct event *own = event_clone(ev), **slot;

	pthread_mutex_lock(&n->lock);
	slot = own && n->queue.n < QUEUE_MAX ? VEC_PUSH(&n->queue) : NULL;
	if (slot)
		*slot = own;
	n->status.sent += slot != NULL;
	n->status.dropped += slot == NULL;
	pthread_mutex_unlock(&n->lock);
	if (!slot)
		free(own);
	return 0;
}

static bool is_stopped(struct nvml *n)
{
	bool stop;

	pthread_mutex_lock(&n->lock);
	stop = n->stop;
	pthread_mutex_unlock(&n->lock);
	return stop;
}

/* With the lock held. */
static void sleep_until(struct nvml *n, uint64_t until_ns, const bool *end)
{
	struct timespec ts = { .tv_sec = (time_t)(until_ns / NS_PER_SEC),
			       .tv_nsec = (long)(until_ns % NS_PER_SEC) };

	while (!*end && pthread_cond_timedwait(&n->changed, &n->lock, &ts) != ETIMEDOUT)
		;
}

static void note_state(struct nvml *n, const struct nvml_reader *r, enum nvml_state state)
{
	pthread_mutex_lock(&n->lock);
	n->status.state = state;
	n->status.devices = 0;
	n->instances.n = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct nvml_unit *u = &r->units[i];
		struct nvml_instance *to;

		n->status.devices += !u->divided && !u->gone;
		to = is_instance(u) && !u->gone ? VEC_PUSH(&n->instances) : NULL;
		if (!to)
			continue;
		*to = (struct nvml_instance){ u->number, u->gpu_instance, u->compute_instance, "" };
		memcpy(to->uuid, u->uuid, sizeof(to->uuid));
	}
	n->status.gpm = nvml_reader_has_gpm(r);
	n->status.pids_are_hosts = r->pids_are_hosts;
	if (*r->trouble && !*n->status.why)
		snprintf(n->status.why, sizeof(n->status.why), "%s", r->trouble);
	snprintf(n->status.driver, sizeof(n->status.driver), "%s", r->driver);
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
}

/* A wait of NVML's may end at once, each time: then it is slept. */
static void wait_turn(struct nvml *n, struct nvml_reader *r, uint64_t due_ns)
{
	uint64_t now_ns = time_now_ns();
	uint64_t until_ns = num_min(due_ns, now_ns + WAIT_MS * NS_PER_MS);

	for (int i = 0; i < BURST && until_ns > now_ns + NS_PER_MS; i++, now_ns = time_now_ns())
		if (!nvml_reader_wait(r, (unsigned int)((until_ns - now_ns) / NS_PER_MS),
				      time_now_ns))
			break;
	pthread_mutex_lock(&n->lock);
	sleep_until(n, until_ns, &n->stop);
	pthread_mutex_unlock(&n->lock);
}

static void read_devices(struct nvml *n, struct nvml_reader *r, uint64_t now_ns)
{
	enter(n, "it reads devices");
	nvml_reader_sample(r, now_ns);
	note_state(n, r, NVML_RUNNING);
	if (!nvml_reader_must_reopen(r, now_ns) || is_stopped(n))
		return;
	enter(n, "it begins anew, since a device was lost or divided");
	nvml_reader_reopen(r, time_now_ns);
	note_state(n, r, NVML_RUNNING);
}

static void run(struct nvml *n, struct nvml_reader *r)
{
	uint64_t due_ns = time_now_ns(), turn_ns = FIRST_TURN_NS;

	while (!is_stopped(n)) {
		uint64_t now_ns = time_now_ns();

		if (now_ns >= due_ns) {
			read_devices(n, r, now_ns);
			due_ns = num_max(due_ns + turn_ns, time_now_ns());
			turn_ns = num_min(2 * turn_ns, TURN_NS);
		}
		enter(n, "it waits for events of devices");
		wait_turn(n, r, due_ns);
	}
	enter(n, "it reads devices");
	nvml_reader_sample(r, time_now_ns());	/* first: their users are about to be gone */
	enter(n, "it reads the last events of devices");
	for (int i = 0; i < BURST; i++) {	/* until it had to wait for one */
		uint64_t end_ns = time_now_ns() + NS_PER_MS;

		if (!nvml_reader_wait(r, 1, time_now_ns) || time_now_ns() >= end_ns)
			break;
	}
	note_state(n, r, NVML_RUNNING);
}

static int open_all(struct nvml *n, struct nvml_api *api, struct nvml_reader *r)
{
	int err;

	enter(n, "it is loaded");
	err = n->load(api, r->trouble, sizeof(r->trouble));
	pthread_mutex_lock(&n->lock);
	n->status.unloaded = err;
	pthread_mutex_unlock(&n->lock);
	if (err)
		return err;
	enter(n, "it initialises");
	return nvml_reader_open(r, time_now_ns);
}

static void destroy(struct nvml *n)
{
	for (size_t i = 0; i < n->queue.n; i++)
		free(n->queue.v[i]);
	VEC_FREE(&n->queue);
	VEC_FREE(&n->instances);
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

static void *nvml_main(void *ctx)
{
	struct nvml *n = ctx;
	struct nvml_api api = { 0 };
	struct nvml_reader r = { .api = &api, .sink = { enqueue, n }, .own_pid = (uint32_t)getpid(),
				 .pids_are_hosts = proc_pids_are_hosts() };
	sigset_t all;
	bool left;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	caps_keep(0);		/* the loaded library is not ours */
	err = open_all(n, &api, &r);
	note_state(n, &r, err ? NVML_FAILED : NVML_RUNNING);
	if (!err)
		run(n, &r);
	enter(n, "it ends");
	nvml_reader_close(&r);
	pthread_mutex_lock(&n->lock);
	n->over = true;
	if (n->status.state == NVML_RUNNING)
		n->status.state = NVML_ENDED;
	left = n->left;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	if (left)
		destroy(n);
	return NULL;
}

/* ---- the engine ------------------------------------------------------------------------------ */

struct nvml *nvml_start(int (*load)(struct nvml_api *api, char *why, unsigned int why_bytes))
{
	struct nvml *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;
	int err;

	if (!n)
		return NULL;
	n->load = load;
	n->status.doing = "it is loaded";
	n->status.since_ns = time_now_ns();
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&n->thread, NULL, nvml_main, n);
	if (!err)
		return n;
	destroy(n);
	errno = err;
	return NULL;
}

int nvml_pump(struct nvml *n, const struct event_sink *sink)
{
	VEC(struct event *) got;
	int err = 0;

	pthread_mutex_lock(&n->lock);
	memcpy(&got, &n->queue, sizeof(got));
	memset(&n->queue, 0, sizeof(n->queue));
	pthread_mutex_unlock(&n->lock);
	for (size_t i = 0; i < got.n; i++) {
		err = err ? err : sink->push(sink->ctx, got.v[i]);
		free(got.v[i]);
	}
	VEC_FREE(&got);
	return err;
}

void nvml_status(struct nvml *n, struct nvml_status *out)
{
	pthread_mutex_lock(&n->lock);
	*out = n->status;
	pthread_mutex_unlock(&n->lock);
}

size_t nvml_instances(struct nvml *n, struct nvml_instance *out, size_t max)
{
	size_t count;

	pthread_mutex_lock(&n->lock);
	count = num_min(n->instances.n, max);
	if (count)
		memcpy(out, n->instances.v, count * sizeof(*out));
	pthread_mutex_unlock(&n->lock);
	return count;
}

void nvml_stop(struct nvml *n)
{
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
}

bool nvml_wait(struct nvml *n, unsigned int ms)
{
	bool over;

	pthread_mutex_lock(&n->lock);
	sleep_until(n, time_now_ns() + ms * NS_PER_MS, &n->over);
	over = n->over;
	pthread_mutex_unlock(&n->lock);
	return over;
}

/* The library's own ways to end, and the loader's, may wait for the call the thread is in. */
static void leave_at_once(int status, void *unused)
{
	(void)unused;
	fflush(NULL);
	_exit(status);
}

void nvml_free(struct nvml *n)
{
	bool over;

	if (!n)
		return;
	nvml_stop(n);
	pthread_mutex_lock(&n->lock);
	over = n->over;
	n->left = !over;
	if (!over)
		pthread_detach(n->thread);
	pthread_mutex_unlock(&n->lock);
	if (over) {
		pthread_join(n->thread, NULL);
		destroy(n);
		return;
	}
	/* It may have ended by now, and with it what n is. */
	on_exit(leave_at_once, NULL);
}
