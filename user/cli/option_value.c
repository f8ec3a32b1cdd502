// SPDX-License-Identifier: BSD-3-Clause
/* From the text of an option's value to a member of struct options. Knows no option by name. */
#include "cli/option_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "gpuprof/event.h"

#define PID_LIMIT (1u << 22)	/* the kernel's own PID_MAX_LIMIT */
#define SIZE_MIN (64ull << 10)
#define STACK_MIN 512u
#define INTERVAL_MIN_NS (250 * NS_PER_MS) /* it ends where all is known, up to 150 ms before */
#define RING_MAX (1ull << 30)
#define FILE_MAX (1ull << 50)

static void *member(struct options *o, const struct option_row *row)
{
	return (char *)o + row->at;
}

OPTION_SETTER(flag)
{
	(void)value;
	*(bool *)member(o, row) = true;
	return 0;
}

OPTION_SETTER(text)
{
	if (!*value)
		return -EINVAL;
	*(const char **)member(o, row) = value;
	return 0;
}

static int set_duration(uint64_t *to, const char *value, uint64_t min_ns)
{
	uint64_t ns;

	if (time_parse(value, &ns) || ns < min_ns)
		return -EINVAL;
	*to = ns;
	return 0;
}

OPTION_SETTER(duration)
{
	return set_duration(member(o, row), value, NS_PER_MS);
}

OPTION_SETTER(interval)
{
	return set_duration(member(o, row), value, INTERVAL_MIN_NS);
}

OPTION_SETTER(moment)
{
	return time_parse_moment(value, member(o, row));
}

/* Digits only: strtoull alone would take signs and spaces. */
static int parse_number(const char *s, char **end, uint64_t *n)
{
	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	*n = strtoull(s, end, 10);
	return errno ? -EINVAL : 0;
}

OPTION_SETTER(number)
{
	uint64_t n;
	char *end;

	if (parse_number(value, &end, &n) || *end || !n)
		return -EINVAL;
	*(uint64_t *)member(o, row) = n;
	return 0;
}

static const struct {
	const char *suffix;
	unsigned int shift;
} sizes[] = {
	{ "", 0 }, { "k", 10 }, { "m", 20 }, { "g", 30 }, { "K", 10 }, { "M", 20 }, { "G", 30 },
};

static int parse_size(const char *value, uint64_t min, uint64_t max, uint64_t *bytes)
{
	uint64_t n;
	char *end;

	if (parse_number(value, &end, &n))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (strcmp(end, sizes[i].suffix))
			continue;
		*bytes = n << sizes[i].shift;
		return n > max >> sizes[i].shift || *bytes < min ? -EINVAL : 0;
	}
	return -EINVAL;
}

OPTION_SETTER(stack)
{
	uint64_t bytes;

	if (parse_size(value, STACK_MIN, GP_STACK_BYTES_MAX, &bytes))
		return -EINVAL;
	*(uint64_t *)member(o, row) =
		(bytes + GP_STACK_BLOCK - 1) / GP_STACK_BLOCK * GP_STACK_BLOCK;
	return 0;
}

OPTION_SETTER(ring)
{
	uint64_t bytes, size = SIZE_MIN;

	if (parse_size(value, SIZE_MIN, RING_MAX, &bytes))
		return -EINVAL;
	while (size < bytes)
		size *= 2;
	*(uint64_t *)member(o, row) = size;
	return 0;
}

OPTION_SETTER(size)
{
	uint64_t bytes;

	if (parse_size(value, SIZE_MIN, FILE_MAX, &bytes))
		return -EINVAL;
	*(uint64_t *)member(o, row) = bytes;
	return 0;
}

OPTION_SETTER(percent)
{
	char *end;
	double x;

	if (*value < '0' || *value > '9' || value[strspn(value, "0123456789.%")])
		return -EINVAL;
	x = strtod(value, &end);
	if (*end == '%')
		end++;
	if (*end || !(x <= 100))
		return -EINVAL;
	*(double *)member(o, row) = x / 100;
	return 0;
}

OPTION_SETTER(budget)
{
	double *share = member(o, row);

	*share = 0;
	if (!strcmp(value, "off"))
		return 0;
	return option_set_percent(o, row, value) || !(*share > 0) ? -EINVAL : 0;
}

OPTION_SETTER(choice)
{
	for (int i = 0; row->choices[i]; i++) {
		if (strcmp(value, row->choices[i]))
			continue;
		*(int *)member(o, row) = i;
		return 0;
	}
	return -EINVAL;
}

static int add_pid(struct options *o, uint32_t pid)
{
	for (size_t i = 0; i < o->session.n_pids; i++)
		if (o->session.pids[i] == pid)
			return 0;
	if (o->session.n_pids == OPTIONS_PIDS_MAX)
		return -EINVAL;
	if (!o->session.pids)
		o->session.pids = calloc(OPTIONS_PIDS_MAX, sizeof(*o->session.pids));
	if (!o->session.pids)
		return -ENOMEM;
	o->session.pids[o->session.n_pids++] = pid;
	return 0;
}

#define BLANKS " \t\n"

/* Commas, or blanks and newlines, as pgrep prints them. */
OPTION_SETTER(pids)
{
	(void)row;
	for (;;) {
		uint64_t pid;
		char *end;
		int err;

		value += strspn(value, BLANKS);
		if (parse_number(value, &end, &pid) || !pid || pid > PID_LIMIT)
			return -EINVAL;
		err = add_pid(o, (uint32_t)pid);
		value = end + strspn(end, BLANKS);
		if (err || !*value)
			return err;
		if (*value == ',')
			value++;
		else if (value == end)
			return -EINVAL;
	}
}

/* The option is named like its kind. */
OPTION_SETTER(selector)
{
	enum select_kind kind = 0;

	while (strcmp(select_kind_name(kind), row->name))
		kind++;
	if (!o->session.selector)
		o->session.selector = selector_new();
	return o->session.selector ? selector_add(o->session.selector, kind, value) : -ENOMEM;
}
