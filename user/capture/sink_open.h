/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the sink of a capture: one file, several, or memory (the flight recorder). */
#ifndef CAPTURE_SINK_OPEN_H
#define CAPTURE_SINK_OPEN_H

#include <sys/types.h>

#include "base/str.h"
#include "capture/capture_sink.h"

/*
 * File names with placeholders: "run.%h.%r.gpr". Values come from other processes' environments:
 * only letters, digits and "._-" of them get into a name.
 */

/* The first letter after a % that has no meaning ('%' for a trailing %); 0: none. */
char pattern_unknown(const char *pattern);

struct pattern_value {
	char letter;
	const char *text;	/* NULL: unknown */
};

/* Appends the name. 0, or the letter whose value is missing from the n or unknown. */
char pattern_expand(struct strbuf *out, const char *pattern, const struct pattern_value *values,
		    size_t n);

/* When the flight recorder writes the held events. */
enum trigger { ON_UNSET = -1, ON_EXIT, ON_SIGNAL };

struct capture_sink_plan {
	const char *pattern;	/* of the file's name; see pattern_expand */
	pid_t target;		/* gives %p, %r and %j their values; 0: none */
	uint64_t max_bytes;	/* of a file, or of memory with before_ns; 0: no limit */
	uint64_t max_files;	/* 0: no limit */
	uint64_t before_ns;	/* hold that much in memory; 0: write all */
	enum trigger on;
};

/* Do the pattern and the limits fit together? 0, or -EINVAL, logged: a usage error. */
int capture_sink_plan_check(const struct capture_sink_plan *plan);

/* NULL, logged. */
struct capture_sink *capture_sink_open(const struct capture_sink_plan *plan,
				       const struct funcs *funcs);

#endif
