/* SPDX-License-Identifier: BSD-3-Clause */
/* What is given up once it is known what is still to be done (design §11). A failure is said, and
 * is no error: the work can be done without. */
#ifndef SESSION_PRIVILEGES_H
#define SESSION_PRIVILEGES_H

#include <stdbool.h>

struct session;

/*
 * When all is open and before other threads are started: keeps the capabilities that attaching to
 * what comes needs, and those of what this session has still to do. Not -- CMD, which was forked
 * before.
 */
void privileges_drop_session(const struct session *s);

/* Of a snapshot that is written to output (NULL: standard output): before anything of other
 * processes is read. */
void privileges_drop_stacks(const char *output);

/* Of a report: when the capture is open, and before anything of it is read. */
void privileges_drop_report(const char *output, bool lines);

#endif
