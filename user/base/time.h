/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, and times as people type them: durations ("10s", "500ms", "2m"; a bare number is
 * seconds), times of day ("09:15", "09:15:02.5"). */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_SEC 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull

/* The host's clocks, also inside of a time namespace. */
uint64_t time_now_ns(void);		/* CLOCK_MONOTONIC, the clock of all events */
uint64_t time_boot_ns(void);		/* CLOCK_BOOTTIME: with the time the host slept */
uint64_t time_wall_ns(void);		/* CLOCK_REALTIME */

/* On CPUs, by this thread, and by all threads of gpuprof. */
uint64_t time_thread_cpu_ns(void);
uint64_t time_own_cpu_ns(void);

/* The offsets of a time namespace to the host's clocks, from the text of
 * /proc/PID/timens_offsets. */
struct time_shift {
	int64_t now_ns, boot_ns;
};
struct time_shift time_parse_shift(const char *text);	/* missing offsets are 0 */
const struct time_shift *time_own_shift(void);		/* as procfs shows times to us */

int time_parse(const char *text, uint64_t *ns);	/* 0 or -EINVAL; ns, us, ms, s, m, h */

/* A duration from some beginning, or a time of day here. */
struct time_moment {
	bool is_given, is_clock;
	uint64_t ns;			/* is_clock: since midnight */
	const char *text;		/* as it was given */
};
int time_parse_moment(const char *text, struct time_moment *m);	/* 0 or -EINVAL */

/* The moment of the wall clock with that time of day, here, which is less than 12 hours before
 * near_ns, or after it. */
uint64_t time_of_day(uint64_t since_midnight_ns, uint64_t near_ns);

#endif
