/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to stderr, one line each: "gpuprof: what failed, on what: why; what to do". An error
 * is logged once, where its cause is known; callers pass the code on silently.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

extern enum log_level log_threshold;	/* default LOG_INFO */

void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* On a terminal: the last line, below all messages. The next replaces it; "": none is left. */
void log_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define log_error(...) log_msg(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_msg(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_msg(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)

#endif
