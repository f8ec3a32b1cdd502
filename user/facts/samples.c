// SPDX-License-Identifier: BSD-3-Clause
/* Devices in a list, in the order of their first samples. */
#include "facts/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/device_number.h"

void samples_free(struct samples *s)
{
	for (size_t i = 0; i < s->all.n; i++) {
		VEC_FREE(&s->all.v[i]->users);
		VEC_FREE(&s->all.v[i]->faults);
		free(s->all.v[i]);
	}
	VEC_FREE(&s->all);
	s->last = NULL;
}

int samples_copy(struct samples *to, const struct samples *from)
{
	for (size_t i = 0; i < from->all.n; i++) {
		const struct sampled_device *d = from->all.v[i];
		struct sampled_device *copy = malloc(sizeof(*copy));
		struct sampled_device **place = copy ? VEC_PUSH(&to->all) : NULL;

		if (!place) {
			free(copy);
			return -ENOMEM;
		}
		*copy = *d;
		memset(&copy->faults, 0, sizeof(copy->faults));
		*place = copy;
		if (!VEC_COPY(&copy->users, &d->users) || !VEC_COPY(&copy->faults, &d->faults))
			return -ENOMEM;
	}
	return 0;
}

static const char *behind_dash(const char *uuid)
{
	const char *dash = strchr(uuid, '-');

	return dash ? dash + 1 : uuid;
}

bool sampled_device_is(const struct sampled_device *d, const char *uuid)
{
	return *uuid && !strcmp(behind_dash(d->uuid), behind_dash(uuid));
}

const struct sampled_device *samples_find(const struct samples *s, const char *uuid)
{
	for (size_t i = 0; i < s->all.n; i++)
		if (sampled_device_is(s->all.v[i], uuid))
			return s->all.v[i];
	return NULL;
}

/* NULL: out of memory, or (errno 0) there are too many. */
static struct sampled_device *make(struct samples *s, const char *uuid)
{
	struct sampled_device *d, **at;

	errno = 0;
	if (s->all.n == SAMPLES_DEVICES_MAX)
		return NULL;
	d = calloc(1, sizeof(*d));
	at = d ? VEC_PUSH(&s->all) : NULL;
	if (!at) {
		free(d);
		errno = ENOMEM;
		return NULL;
	}
	snprintf(d->uuid, sizeof(d->uuid), "%s", uuid);
	*at = d;
	return d;
}

static struct sampled_device *find_or_make(struct samples *s, const char *uuid)
{
	struct sampled_device *d = s->last;

	if (!d || strcmp(d->uuid, uuid) != 0)
		d = (struct sampled_device *)(uintptr_t)samples_find(s, uuid);
	return s->last = d ? d : make(s, uuid);
}

/* ---- users ---------------------------------------------------------------------------------- */

static struct sample_user *find_user(const struct sampled_device *d, uint32_t process)
{
	for (size_t i = 0; i < d->users.n; i++)
		if (d->users.v[i].process == process)
			return &d->users.v[i];
	return NULL;
}

/* Those that have gone keep their last figure while there is room. */
static void forget_gone(struct sampled_device *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->users.n; i++)
		if (d->users.v[i].seen_ns >= d->last_ns)
			d->users.v[kept++] = d->users.v[i];
	d->users.n = kept;
}

static int push_user(struct sampled_device *d, const struct event *ev)
{
	struct sample_user *u = find_user(d, ev->process);

	if (!u && d->users.n == SAMPLES_USERS_MAX)
		forget_gone(d);
	if (!u && d->users.n == SAMPLES_USERS_MAX)
		return -EINVAL;
	if (!u)
		u = VEC_PUSH(&d->users);
	if (!u)
		return -ENOMEM;
	u->stayed = u->process && d->last_ns && u->seen_ns == d->last_ns;
	u->process = ev->process;
	u->pid = ev->pid;
	u->seen_ns = ev->start_ns;
	if (ev->has & HAS_BYTES) {
		u->has_bytes = true;
		u->used_bytes = ev->user.bytes;
	}
	return 0;
}

static uint64_t count_users(const struct sampled_device *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->users.n; i++)
		n += d->users.v[i].seen_ns == d->last_ns;
	return n;
}

/* ---- how it is ------------------------------------------------------------------------------- */

static bool has(const struct device_sample *s, unsigned int field)
{
	return s->has >> field & 1;
}

/* The maximum of a rate. */
static const uint64_t most[SAMPLE_FIELDS] = {
	[SAMPLE_SM] = SAMPLE_FULL, [SAMPLE_OCCUPANCY] = SAMPLE_FULL, [SAMPLE_TENSOR] = SAMPLE_FULL,
	[SAMPLE_DRAM] = SAMPLE_FULL, [SAMPLE_POWER_MW] = UINT32_MAX, [SAMPLE_SM_MHZ] = UINT32_MAX,
	[SAMPLE_MEMORY_MHZ] = UINT32_MAX,
};

/* A counter, which is none of the time before its first reading; it begins anew with the driver. */
static void add_energy(struct sampled_device *d, uint64_t mj, uint64_t at_ns)
{
	if (d->energy_at_ns && mj >= d->energy_last_mj) {
		d->energy_mj = num_add(d->energy_mj, mj - d->energy_last_mj);
		d->energy_ns = num_add(d->energy_ns, at_ns - d->energy_at_ns);
	}
	d->energy_last_mj = mj;
	d->energy_at_ns = at_ns;
}

static void add_up(struct sampled_device *d, const struct device_sample *s, uint64_t ns)
{
	d->sampled_ns = num_add(d->sampled_ns, ns);
	for (unsigned int i = 0; i < SAMPLE_FIELDS; i++) {
		if (!has(s, i) || !most[i] || s->v[i] > most[i])
			continue;
		d->mean[i].ns = num_add(d->mean[i].ns, ns);
		d->mean[i].sum += (double)s->v[i] * (double)ns;
	}
	if (!has(s, SAMPLE_CLOCK_REASONS))
		return;
	d->reasons_ns = num_add(d->reasons_ns, ns);
	for (unsigned int i = 0; i < SAMPLES_REASONS; i++)
		if (s->v[SAMPLE_CLOCK_REASONS] >> i & 1)
			d->reason_ns[i] = num_add(d->reason_ns[i], ns);
}

static bool has_stayed(const struct sampled_device *d)
{
	for (size_t i = 0; i < d->users.n; i++)
		if (d->users.v[i].seen_ns == d->last_ns && d->users.v[i].stayed)
			return true;
	return d->nameless && d->nameless_before;
}

static void add_use(struct sampled_device *d, uint64_t ns)
{
	bool is_used = d->has_users && (d->nameless || count_users(d));
	bool empty = d->has_users && d->had_users && !is_used && !d->was_used;

	if (d->has_busy ? !d->busy : empty)
		d->idle_ns = num_add(d->idle_ns, ns);
	else if (d->has_busy ? is_used : d->has_users && has_stayed(d))
		d->used_ns = num_add(d->used_ns, ns);
	d->had_users = d->has_users;
	d->was_used = is_used;
}

static int push_sample(struct sampled_device *d, const struct event *ev, uint64_t until_ns)
{
	const struct device_sample *s = &ev->sample.values;
	uint64_t end_ns = num_min(ev->end_ns, until_ns);
	uint64_t named;

	if (ev->start_ns >= ev->end_ns || ev->end_ns <= d->last_ns)
		return -EINVAL;
	d->last_ns = ev->end_ns;
	if (end_ns > ev->start_ns)
		add_up(d, s, end_ns - ev->start_ns);
	d->has_busy = has(s, SAMPLE_BUSY);
	d->busy = s->v[SAMPLE_BUSY] > 0;
	d->has_users = has(s, SAMPLE_USERS);
	named = count_users(d);
	d->nameless_before = d->nameless;
	d->nameless = s->v[SAMPLE_USERS] > named ? s->v[SAMPLE_USERS] - named : 0;
	if (has(s, SAMPLE_ENERGY_MJ))
		add_energy(d, s->v[SAMPLE_ENERGY_MJ], ev->end_ns);
	add_use(d, end_ns > ev->start_ns ? end_ns - ev->start_ns : 0);
	return 0;
}

static int push_fault(struct sampled_device *d, const struct event *ev)
{
	uint64_t number = ev->fault.what == FAULT_XID ? ev->fault.value : 0;
	struct sample_fault *f;

	if (!ev->fault.what || ev->fault.what >= FAULT_WHAT_END)
		return -EINVAL;
	for (size_t i = 0; i < d->faults.n; i++)
		if (d->faults.v[i].what == ev->fault.what && d->faults.v[i].number == number) {
			d->faults.v[i].times++;
			return 0;
		}
	d->more_faults += d->faults.n == SAMPLES_FAULTS_MAX;
	if (d->faults.n == SAMPLES_FAULTS_MAX)
		return 0;
	f = VEC_PUSH(&d->faults);
	if (!f)
		return -ENOMEM;
	*f = (struct sample_fault){ ev->fault.what, number, ev->start_ns, 1 };
	return 0;
}

int samples_push(struct samples *s, const struct event *ev, uint64_t until_ns,
		 struct sampled_device **d)
{
	*d = ev->sample.uuid && *ev->sample.uuid ? find_or_make(s, ev->sample.uuid) : NULL;
	if (!*d)
		return ev->sample.uuid && *ev->sample.uuid && errno == ENOMEM ? -ENOMEM : -EINVAL;
	(*d)->number = ev->sample.number;
	if (ev->sample.name)
		snprintf((*d)->name, sizeof((*d)->name), "%s", ev->sample.name);
	if (ev->kind == EVENT_SAMPLE)
		return push_sample(*d, ev, until_ns);
	return ev->kind == EVENT_USER ? push_user(*d, ev) : push_fault(*d, ev);
}

void samples_cut(struct samples *s)
{
	for (size_t i = 0; i < s->all.n; i++) {
		struct sampled_device *d = s->all.v[i];

		d->sampled_ns = d->reasons_ns = d->more_faults = 0;
		d->idle_ns = d->used_ns = d->energy_mj = d->energy_ns = 0;
		memset(d->mean, 0, sizeof(d->mean));
		memset(d->reason_ns, 0, sizeof(d->reason_ns));
		d->faults.n = 0;
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

const char *samples_uuid(const struct samples *s, const char *uuid)
{
	const struct sampled_device *d = samples_find(s, uuid);

	return d ? d->uuid : uuid;
}

const struct sampled_device *samples_gpu_of(const struct samples *s, const struct sampled_device *d)
{
	for (size_t i = 0; device_number_is_instance(d->number) && i < s->all.n; i++)
		if (s->all.v[i]->number == device_number_gpu(d->number))
			return s->all.v[i];
	return NULL;
}

const struct sample_user *samples_user(const struct sampled_device *d, uint32_t process)
{
	return process ? find_user(d, process) : NULL;
}

bool samples_mean(const struct sampled_device *d, unsigned int field, double *mean)
{
	const struct sample_mean *m = &d->mean[field];

	if (!m->ns)
		return false;
	*mean = m->sum / (double)m->ns;
	return true;
}
