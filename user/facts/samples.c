// SPDX-License-Identifier: BSD-3-Clause
/* Devices in a list, in the order of their first samples. */
#include "facts/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

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
		struct sampled_device *copy = VEC_NEW(&to->all);
		bool ok;

		if (!copy)
			return -ENOMEM;
		*copy = *d;
		ok = VEC_COPY(&copy->users, &d->users);
		if (!VEC_COPY(&copy->faults, &d->faults) || !ok)
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

/* ---- users ---------------------------------------------------------------------------------- */

static struct sample_user *find_user(const struct sampled_device *d, uint32_t process)
{
	for (size_t i = 0; i < d->users.n; i++)
		if (d->users.v[i].process == process)
			return &d->users.v[i];
	return NULL;
}

static int push_user(struct sampled_device *d, const struct event *ev)
{
	struct sample_user *u = find_user(d, ev->process);
	size_t kept = 0;

	/* Those that have gone keep their last figure while there is room. */
	if (!u && d->users.n == SAMPLES_USERS_MAX) {
		for (size_t i = 0; i < d->users.n; i++)
			if (d->users.v[i].seen_ns >= d->last_ns)
				d->users.v[kept++] = d->users.v[i];
		d->users.n = kept;
	}
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

/* A counter, which is none of the time before its first reading; it begins anew with the driver.
 * from_ns: of readings before it only the last one counts. */
static void add_energy(struct sampled_device *d, uint64_t mj, uint64_t at_ns, uint64_t from_ns)
{
	if (d->energy_at_ns >= num_max(from_ns, 1) && mj >= d->energy_last_mj) {
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

static void add_use(struct sampled_device *d, uint64_t ns)
{
	bool is_used = d->has_users && (d->nameless || count_users(d));
	bool empty = d->has_users && d->had_users && !is_used && !d->was_used;
	bool stayed = d->nameless && d->nameless_before;

	for (size_t i = 0; i < d->users.n; i++)
		stayed |= d->users.v[i].seen_ns == d->last_ns && d->users.v[i].stayed;
	if (d->has_busy ? !d->busy : empty)
		d->idle_ns = num_add(d->idle_ns, ns);
	else if (d->has_busy ? is_used : d->has_users && stayed)
		d->used_ns = num_add(d->used_ns, ns);
	d->had_users = d->has_users;
	d->was_used = is_used;
}

static int push_sample(struct sampled_device *d, const struct event *ev, uint64_t from_ns,
		       uint64_t until_ns)
{
	const struct device_sample *s = &ev->sample.values;
	uint64_t start_ns = num_max(ev->start_ns, from_ns), end_ns = num_min(ev->end_ns, until_ns);

	if (ev->start_ns >= ev->end_ns || ev->end_ns <= d->last_ns)
		return -EINVAL;
	d->last_ns = ev->end_ns;
	if (end_ns > start_ns)
		add_up(d, s, end_ns - start_ns);
	d->has_busy = has(s, SAMPLE_BUSY);
	d->busy = s->v[SAMPLE_BUSY] > 0;
	d->has_users = has(s, SAMPLE_USERS);
	d->nameless_before = d->nameless;
	d->nameless = num_sub(s->v[SAMPLE_USERS], count_users(d));
	if (has(s, SAMPLE_ENERGY_MJ) && ev->start_ns < until_ns)
		add_energy(d, s->v[SAMPLE_ENERGY_MJ], ev->end_ns, from_ns);
	add_use(d, num_sub(end_ns, start_ns));
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

int samples_push(struct samples *s, const struct event *ev, uint64_t from_ns, uint64_t until_ns,
		 struct sampled_device **d)
{
	const char *uuid = ev->sample.uuid;

	if (!uuid || !*uuid)
		return -EINVAL;
	if (!s->last || strcmp(s->last->uuid, uuid) != 0)
		s->last = (struct sampled_device *)(uintptr_t)samples_find(s, uuid);
	if (!s->last) {
		if (s->all.n == SAMPLES_DEVICES_MAX)
			return -EINVAL;
		s->last = VEC_NEW(&s->all);
		if (!s->last)
			return -ENOMEM;
		snprintf(s->last->uuid, sizeof(s->last->uuid), "%s", uuid);
	}
	*d = s->last;
	(*d)->number = ev->sample.number;
	if (ev->sample.name)
		snprintf((*d)->name, sizeof((*d)->name), "%s", ev->sample.name);
	if (ev->kind == EVENT_SAMPLE)
		return push_sample(*d, ev, from_ns, until_ns);
	if (ev->kind == EVENT_USER)
		return push_user(*d, ev);
	return ev->start_ns < from_ns || ev->start_ns >= until_ns ? 0 : push_fault(*d, ev);
}

static void subtract_faults(struct sampled_device *d, const struct sampled_device *earlier,
			    uint64_t since_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->faults.n; i++) {
		struct sample_fault *f = &d->faults.v[i];
		/* New ones are behind those that were there. */
		uint64_t before = i < earlier->faults.n ? earlier->faults.v[i].times : 0;

		if (f->times <= before)
			continue;
		f->times -= before;
		f->first_ns = before ? since_ns : f->first_ns;
		d->faults.v[kept++] = *f;
	}
	d->faults.n = kept;
	d->more_faults = num_sub(d->more_faults, earlier->more_faults);
}

static void subtract_device(struct sampled_device *d, const struct sampled_device *earlier,
			    uint64_t since_ns)
{
	d->sampled_ns = num_sub(d->sampled_ns, earlier->sampled_ns);
	for (unsigned int i = 0; i < SAMPLE_FIELDS; i++) {
		d->mean[i].ns = num_sub(d->mean[i].ns, earlier->mean[i].ns);
		d->mean[i].sum -= earlier->mean[i].sum;
	}
	d->energy_mj = num_sub(d->energy_mj, earlier->energy_mj);
	d->energy_ns = num_sub(d->energy_ns, earlier->energy_ns);
	d->reasons_ns = num_sub(d->reasons_ns, earlier->reasons_ns);
	for (unsigned int i = 0; i < SAMPLES_REASONS; i++)
		d->reason_ns[i] = num_sub(d->reason_ns[i], earlier->reason_ns[i]);
	d->idle_ns = num_sub(d->idle_ns, earlier->idle_ns);
	d->used_ns = num_sub(d->used_ns, earlier->used_ns);
	subtract_faults(d, earlier, since_ns);
}

void samples_subtract(struct samples *from, const struct samples *earlier, uint64_t since_ns)
{
	/* Later devices are behind the earlier ones. */
	for (size_t i = 0; i < earlier->all.n && i < from->all.n; i++)
		subtract_device(from->all.v[i], earlier->all.v[i], since_ns);
}

/* ---- reading --------------------------------------------------------------------------------- */

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
