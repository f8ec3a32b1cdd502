// SPDX-License-Identifier: BSD-3-Clause
/* Offsets are differences of u64 that wrap: the two clocks may be decades apart. */
#include "source/helper/clock.h"

#include <string.h>

#include "base/num.h"

#define SLEW_PPM 500
#define WIDTH_MAX 1000000000ull	/* a reading that took longer is useless */

static int64_t offset_of(const struct helper_clock *c, unsigned int i)
{
	return (int64_t)(c->reading[i].host_ns - c->reading[i].device_ns);
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* By how much the clock was set between readings i and i + 1; 0: a slew explains it. */
static uint64_t step_after(const struct helper_clock *c, unsigned int i)
{
	uint64_t moved = magnitude((int64_t)((uint64_t)offset_of(c, i + 1) -
					     (uint64_t)offset_of(c, i)));
	uint64_t passed = c->reading[i + 1].host_ns - c->reading[i].host_ns;
	uint64_t allowed =
		num_add(passed / 1000000 * SLEW_PPM + passed % 1000000 * SLEW_PPM / 1000000,
			num_add(c->reading[i].error_ns, c->reading[i + 1].error_ns));

	return moved > allowed ? moved : 0;
}

/* The host's time of a reading: by the previous offset, where the reading allows it. */
static uint64_t keep_offset(const struct helper_clock *c, const struct gp_ring_clock *r,
			    uint64_t middle_ns)
{
	uint64_t host_ns = c->n ? r->device_ns + (uint64_t)offset_of(c, c->n - 1) : middle_ns;

	return host_ns >= r->host_before_ns && host_ns <= r->host_after_ns ? host_ns : middle_ns;
}

bool helper_clock_add(struct helper_clock *c, const struct gp_ring_clock *reading)
{
	uint64_t width = reading->host_after_ns - reading->host_before_ns;
	uint64_t middle_ns = reading->host_before_ns + width / 2;
	uint64_t host_ns = keep_offset(c, reading, middle_ns);

	if (reading->host_after_ns < reading->host_before_ns || width > WIDTH_MAX ||
	    (c->n && host_ns <= c->reading[c->n - 1].host_ns))
		return false;
	if (c->n == HELPER_CLOCK_READINGS)
		memmove(c->reading, c->reading + 1, --c->n * sizeof(c->reading[0]));
	c->reading[c->n].host_ns = host_ns;
	c->reading[c->n].device_ns = reading->device_ns;
	c->reading[c->n++].error_ns = width - width / 2 +
				      magnitude((int64_t)(host_ns - middle_ns));
	if (c->n > 1 && step_after(c, c->n - 2))
		c->steps++;
	return true;
}

/* The last reading at or before the time, or the first one. A clock that was set back has a time
 * twice: the later one is meant, since records come soon. */
static unsigned int find(const struct helper_clock *c, uint64_t device_ns)
{
	unsigned int i = c->n - 1;

	while (i && c->reading[i].device_ns > device_ns)
		i--;
	return i;
}

bool helper_clock_host(const struct helper_clock *c, uint64_t device_ns, uint64_t *host_ns,
		       uint64_t *error_ns)
{
	unsigned int i;
	uint64_t step, passed, whole;
	int64_t drift;

	if (!c->n)
		return false;
	i = find(c, device_ns);
	*host_ns = device_ns + (uint64_t)offset_of(c, i);
	*error_ns = c->reading[i].error_ns;
	if (i + 1 == c->n || device_ns < c->reading[i].device_ns)
		return true;
	step = step_after(c, i);
	*error_ns = num_max(c->reading[i].error_ns, c->reading[i + 1].error_ns);
	if (step) {
		*error_ns = num_add(*error_ns, step);
		return true;
	}
	passed = device_ns - c->reading[i].device_ns;
	whole = c->reading[i + 1].device_ns - c->reading[i].device_ns;
	drift = (int64_t)((uint64_t)offset_of(c, i + 1) - (uint64_t)offset_of(c, i));
	*host_ns += (uint64_t)(int64_t)((__int128)drift * (__int128)passed / (__int128)whole);
	return true;
}
