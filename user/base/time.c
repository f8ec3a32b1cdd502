// SPDX-License-Identifier: BSD-3-Clause
/* Clock reads, conversion of times of a time namespace, and the parser of durations. */
#include "base/time.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/io.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

static int64_t parse_clock(const char *text, const char *name)
{
	long long s = 0, ns = 0;
	const char *line = strstr(text, name);

	if (!line || sscanf(line + strlen(name), "%lld %lld", &s, &ns) != 2 ||
	    s > INT64_MAX / 2000000000ll || s < INT64_MIN / 2000000000ll || ns < 0 ||
	    ns >= 1000000000)
		return 0;
	return s * (int64_t)NS_PER_SEC + ns;
}

struct time_shift time_parse_shift(const char *text)
{
	return (struct time_shift){ parse_clock(text, "monotonic "),
				    parse_clock(text, "boottime ") };
}

static struct time_shift own_shift;
static pthread_once_t own_shift_once = PTHREAD_ONCE_INIT;

static void read_own_shift(void)
{
	size_t len;
	char *text = io_read_file("/proc/self/timens_offsets", 4096, &len);

	if (text)
		own_shift = time_parse_shift(text);
	free(text);
}

const struct time_shift *time_own_shift(void)
{
	pthread_once(&own_shift_once, read_own_shift);
	return &own_shift;
}

uint64_t time_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC) - (uint64_t)time_own_shift()->now_ns;
}

uint64_t time_boot_ns(void)
{
	return read_clock(CLOCK_BOOTTIME) - (uint64_t)time_own_shift()->boot_ns;
}

uint64_t time_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t time_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t time_own_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
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

	/* no sign, space, "inf" or hex */
	if (*text < '0' || *text > '9' || (*text == '0' && (text[1] == 'x' || text[1] == 'X')))
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

/* Two digits, at most max; NULL: they are not. */
static const char *parse_two(const char *text, unsigned int max, unsigned int *n)
{
	for (int i = 0; i < 2; i++)
		if (text[i] < '0' || text[i] > '9')
			return NULL;
	*n = (unsigned int)(text[0] - '0') * 10 + (unsigned int)(text[1] - '0');
	return *n <= max ? text + 2 : NULL;
}

/* ".25", or nothing */
static int parse_fraction(const char *text, uint64_t *ns)
{
	uint64_t digit_ns = NS_PER_SEC / 10;

	*ns = 0;
	if (!*text)
		return 0;
	if (*text != '.' || !text[1])
		return -EINVAL;
	for (text++; *text >= '0' && *text <= '9'; text++, digit_ns /= 10)
		*ns += (uint64_t)(*text - '0') * digit_ns;
	return *text ? -EINVAL : 0;
}

int time_parse_moment(const char *text, struct time_moment *m)
{
	unsigned int hour, minute, second = 0;
	const char *at = parse_two(text, 23, &hour);
	uint64_t ns;

	if (!at || *at != ':') {
		*m = (struct time_moment){ .is_given = true, .text = text };
		return time_parse(text, &m->ns);
	}
	at = parse_two(at + 1, 59, &minute);
	if (at && *at == ':')
		at = parse_two(at + 1, 59, &second);
	if (!at || parse_fraction(at, &ns))
		return -EINVAL;
	ns += (3600ull * hour + 60 * minute + second) * NS_PER_SEC;
	*m = (struct time_moment){ true, true, ns, text };
	return 0;
}

uint64_t time_of_day(uint64_t since_midnight_ns, uint64_t near_ns)
{
	const time_t near = (time_t)(near_ns / NS_PER_SEC);
	const int s = (int)(since_midnight_ns / NS_PER_SEC);
	struct tm tm;
	time_t t;

	if (!localtime_r(&near, &tm))
		return near_ns;
	for (int i = 0; i < 2; i++) {
		tm.tm_hour = s / 3600;
		tm.tm_min = s / 60 % 60;
		tm.tm_sec = s % 60;
		tm.tm_isdst = -1;
		t = mktime(&tm);
		if (t + 43200 > near)
			break;
		tm.tm_mday++;
	}
	return (uint64_t)t * NS_PER_SEC + since_midnight_ns % NS_PER_SEC;
}
