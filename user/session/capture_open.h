/* SPDX-License-Identifier: BSD-3-Clause */
/* From the options to what keeps a session's events: one file, several, or memory. */
#ifndef SESSION_CAPTURE_OPEN_H
#define SESSION_CAPTURE_OPEN_H

#include <sys/types.h>

#include "session/session_options.h"
#include "capture/capture_sink.h"

/* Do options and the pattern of the name make sense? 0, or -EINVAL, logged: a usage error. */
int capture_options_check(const struct session_options *o, const char *pattern);

/* target: whose pid and environment the pattern means; 0: none. NULL, logged. */
struct capture_sink *capture_sink_open(const struct session_options *o, const char *pattern,
				       pid_t target, const struct funcs *funcs);

#endif
