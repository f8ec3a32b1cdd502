// SPDX-License-Identifier: BSD-3-Clause
/* What the host's devices tell of themselves, and what follows for who had them. */
#include <errno.h>

#include "ledger/model_state.h"

int sample_push(struct model *m, const struct event *ev)
{
	uint64_t until_ns = m->session.stop_ns ? m->session.stop_ns : UINT64_MAX;
	struct sampled_device *d;
	int err = samples_push(&m->samples, ev, until_ns, &d);

	if (err == -EINVAL) {
		m->counts.invalid[ev->kind]++;
		return 0;
	}
	if (err || ev->kind != EVENT_SAMPLE)
		return err;
	/* An interval is told as far as works are; who else was there is known up to a second later. */
	return devices_sample(m->devices, d, ev->start_ns, !m->intervals);
}

const struct samples *model_samples(const struct model *m)
{
	return &m->samples;
}

uint32_t model_device_number(const struct model *m, uint32_t pid, uint32_t device)
{
	const struct device_state *s = devices_find(m->devices, pid, device);
	const struct sampled_device *sampled = NULL;

	if (s && s->has_facts)
		sampled = samples_find(&m->samples, s->facts.uuid);
	if (sampled)
		return sampled->number;
	return s ? s->ordinal : device;
}
