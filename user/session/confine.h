/* SPDX-License-Identifier: BSD-3-Clause */
/* What is given up once it is known what is still to be done (design §11). A failure is said, and is no
 * error: the work can be done without. */
#ifndef SESSION_CONFINE_H
#define SESSION_CONFINE_H

struct options;
struct session;

/*
 * When all is open and before other threads are started: keeps the capabilities that attaching to
 * what comes needs, and those of what this session has still to do. Not -- CMD, which was forked
 * before.
 */
void confine_session(const struct session *s);

/* Of a snapshot: before anything of other processes is read. */
void confine_stacks(const struct options *o);

/* Of a report: when the capture is open, and before anything of it is read. */
void confine_report(const struct options *o);

#endif
