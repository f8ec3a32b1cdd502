// SPDX-License-Identifier: BSD-3-Clause
/* A turn: for each device its processes and its state. One function for each thing that NVML is asked. */
#include "source/nvml/nvml_reader.h"

#include <stdio.h>
#include <string.h>

/* ---- what goes wrong -------------------------------------------------------------------------- */

bool nvml_refuses(unsigned int code)
{
	return code == NVML_NOT_SUPPORTED || code == NVML_NO_PERMISSION || code == NVML_INVALID_ARGUMENT ||
	       code == NVML_FUNCTION_NOT_FOUND || code == NVML_ARGUMENT_VERSION ||
	       code == NVML_DEPRECATED;
}

void nvml_note(struct nvml_reader *r, const char *function, unsigned int code)
{
	const char *said = r->api->error ? r->api->error(code) : NULL;

	if (*r->trouble || code == NVML_NOT_SUPPORTED || code == NVML_FUNCTION_NOT_FOUND)
		return;
	snprintf(r->trouble, sizeof(r->trouble), "%s: %s (NVML error %u)", function,
		 said ? said : "unknown", code);
}

/* ---- what is asked ---------------------------------------------------------------------------- */

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
	code = (a->api->clock_reasons ? a->api->clock_reasons : a->api->clock_reasons_old)(a->d, &bits);
	if (!code)
		put(a->s, SAMPLE_CLOCK_REASONS, bits);
	return code;
}

#define AT(member) offsetof(struct nvml_api, member)

static const struct {
	const char *function;
	size_t at;			/* in struct nvml_api; 0: ask looks itself */
	bool whole;			/* only a GPU as a whole has it; else not one that is divided */
	unsigned int field;		/* by which it is refused */
	unsigned int (*ask)(const struct asking *a);
} questions[] = {
	{ "nvmlDeviceGetUtilizationRates", AT(utilization), true, SAMPLE_BUSY, ask_utilization },
	{ "nvmlDeviceGetMemoryInfo_v2", AT(memory), false, SAMPLE_USED_BYTES, ask_memory },
	{ "nvmlDeviceGetPowerUsage", AT(power), true, SAMPLE_POWER_MW, ask_power },
	{ "nvmlDeviceGetTotalEnergyConsumption", AT(energy), true, SAMPLE_ENERGY_MJ, ask_energy },
	{ "nvmlDeviceGetClockInfo", AT(clock), true, SAMPLE_SM_MHZ, ask_sm_clock },
	{ "nvmlDeviceGetClockInfo", AT(clock), true, SAMPLE_MEMORY_MHZ, ask_memory_clock },
	{ "nvmlDeviceGetCurrentClocksEventReasons", 0, true, SAMPLE_CLOCK_REASONS, ask_clock_reasons },
};

static bool has_function(const struct nvml_api *api, size_t at)
{
	void *function = NULL;

	if (at)
		memcpy(&function, (const char *)api + at, sizeof(function));
	return !at || function;
}

/* ---- a device --------------------------------------------------------------------------------- */

static bool is_asked(const struct nvml_unit *u, bool whole)
{
	return whole ? u->gpu_instance == NVML_NO_INSTANCE : !u->divided;
}

static void ask_all(struct nvml_reader *r, struct nvml_unit *u, struct device_sample *s,
		    uint64_t now_ns)
{
	const struct asking a = { r->api, u->handle, s };

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]) && !u->lost && !u->gone; i++) {
		uint32_t bit = 1u << questions[i].field;
		unsigned int code;

		if (!is_asked(u, questions[i].whole) || u->refused & bit ||
		    !has_function(r->api, questions[i].at))
			continue;
		code = questions[i].ask(&a);
		if (nvml_lose(r, u, code, u->answered & bit, now_ns))
			return;
		if (nvml_refuses(code))
			u->refused |= bit;
		if (!code)
			u->answered |= bit;
		else
			nvml_note(r, questions[i].function, code);
	}
}

static void tell_user(struct nvml_reader *r, const struct nvml_unit *u,
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

/* In a pid namespace drivers tell numbers of it, of the host, or nobody, by their version. */
static void read_users(struct nvml_reader *r, struct nvml_unit *u, struct device_sample *s,
		       uint64_t now_ns)
{
	unsigned int n = NVML_USERS_MAX, users = 0, code;

	if (!r->pids_are_hosts || !r->api->processes || u->users_refused || u->divided)
		return;
	code = r->api->processes(u->handle, &n, r->users);
	if (code == NVML_INSUFFICIENT_SIZE)
		return;		/* more than we tell: nobody is better than some of them */
	if (nvml_lose(r, u, code, false, now_ns))
		return;
	if (code) {
		u->users_refused = nvml_refuses(code);
		nvml_note(r, "nvmlDeviceGetComputeRunningProcesses_v3", code);
		return;
	}
	for (unsigned int i = 0; i < n && i < NVML_USERS_MAX; i++) {
		if (r->users[i].pid == r->own_pid)
			continue;
		users++;
		if (r->users[i].pid)
			tell_user(r, u, &r->users[i], now_ns);
	}
	put(s, SAMPLE_USERS, users);
}

static void sample_unit(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	struct event ev = { .kind = EVENT_SAMPLE, .start_ns = u->told_ns, .end_ns = now_ns,
			    .sample = { .number = u->number, .uuid = u->uuid,
					.name = *u->name ? u->name : NULL } };
	struct device_sample *s = &ev.sample.values;

	ask_all(r, u, s, now_ns);
	if (!u->lost && !u->gone)
		read_users(r, u, s, now_ns);
	if (u->lost || u->gone)
		return;
	nvml_gpm_read(r, u, now_ns, s);
	r->sink.push(r->sink.ctx, &ev);
	u->told_ns = now_ns;
}

void nvml_reader_sample(struct nvml_reader *r, uint64_t now_ns)
{
	nvml_units_renew(r, now_ns);
	for (size_t i = 0; i < r->n; i++) {
		struct nvml_unit *u = &r->units[i];

		if (!u->lost && !u->gone && now_ns > u->told_ns)
			sample_unit(r, u, now_ns);
	}
	if (r->renew_events)	/* of the other devices */
		nvml_faults_open(r);
	r->renew_events = false;
}

bool nvml_reader_has_gpm(const struct nvml_reader *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->units[i].before)
			return true;
	return false;
}
