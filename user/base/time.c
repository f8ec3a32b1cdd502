// SPDX-License-Identifier: BSD-3-Clause
/* Clock reads and the parser of durations. */
#include "base/time.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t time_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t time_boot_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

uint64_t time_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

static const struct {
	const char *unit;
	double ns;
} units[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	{ "", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
};

int time_parse(const char *text, uint64_t *ns)
{
	char *end;
	double x;

	if (*text < '0' || *text > '9')		/* no sign, space, "inf" or hex */
		return -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	x = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		x *= units[i].ns;
		if (!(x < 9e18))
			return -EINVAL;
		*ns = (uint64_t)llround(x);
		return 0;
	}
	return -EINVAL;
}
